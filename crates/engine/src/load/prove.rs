//! The proof that no two items have one key, made before the first write.
//!
//! Where `check` has not proved it from the schema, the same snapshot is read once for the keys
//! alone; their fingerprints go to sorted runs on disk ([`crate::proof`]). Only what
//! is an item has a key: where keys are shared, all rows are read again and folded whole, and the keys
//! of items alone are compared. If some are shared still, the rows are looked for by reading once more,
//! so that both can be named.
//!
//! A run of some item types reads the keys of others too, where `check` has not proved that these differ: their items
//! may be in the table. Of rows with one key, it loads the one that a load of all item types would.
//!
//! Rows that make no item are counted on the way, and noted: a load that may not reject so many ends
//! here, before anything is written.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::sync::Arc;

use dynafold_dynamodb::Item;
use dynafold_mapping::item::{DUPLICATE_KEY, Folded, Folder, Reject};
use dynafold_mapping::model::{AttributeNode, ChildContainer, Expired, ItemType, Model, Pass};
use dynafold_mapping::template::Context;
use dynafold_relational::scan::{Scan, ScanColumn};
use dynafold_relational::value::{Value, write_document};
use dynafold_source::{Row, Source};
use parking_lot::Mutex;
use xxhash_rust::xxh3::xxh3_64;

use super::ending::{Cancel, EndReason};
use super::failure::Failure;
use super::feed::{FeedEnd, RowFeed, RowOutcome};
use super::plan::{ChunkId, ChunkPlan, rivals};
use super::rejects::{BlockingRejects, Rejected};
use super::report::{KeysReport, Progress, RunStep};
use super::row::{RowKey, json, key_json, row_json, row_key};
use super::scope::RunSelection;
use crate::proof::{self, DuplicateGroups, Proof, ProofError};

/// Keys whose rows are looked for, where the run does not begin because of them.
const NAMED_KEYS: usize = 10_000;

/// What the proof needs.
pub(crate) struct KeyPass<'k> {
    pub(crate) model: &'k Model,
    pub(crate) context: &'k Context,
    pub(crate) plan: &'k ChunkPlan,
    /// The rows and items that the run is about: no other is rejected, though it may win.
    pub(crate) selection: &'k RunSelection,
    /// The item types that the run leaves out and whose keys are compared too: [`KeyPass::prove`] finds them.
    pub(crate) rivals: &'k [usize],
    pub(crate) lanes: usize,
    pub(crate) options: proof::ProofOptions,
    /// Rejects beyond which nothing is loaded; `None`: every shared key has a winner.
    pub(crate) max_rejects: Option<u64>,
    pub(crate) cancel: &'k Cancel,
    pub(crate) progress: &'k dyn Progress,
}

/// What the proof found.
#[derive(Debug, Default)]
pub(crate) struct Proved {
    /// What there is to say of the keys.
    pub(super) keys: KeysReport,
    /// Who wins.
    pub(crate) contest: ContestedKeys,
    /// What is known of the rejected rows: those without an item, and where keys are shared those of
    /// the first keys.
    pub(super) rejects: BlockingRejects,
}

impl Proved {
    /// Whether a load that may reject so many rows begins.
    pub(crate) fn begins(&self, max_rejects: Option<u64>) -> bool {
        max_rejects.is_none_or(|most| self.keys.faults + self.keys.all_shared() <= most)
    }

    /// Takes the shared keys in, and who wins them. A run that does not begin needs no winners but
    /// for those that are named: memory is not to grow with the data.
    fn take(
        &mut self,
        groups: &mut DuplicateGroups,
        max_rejects: Option<u64>,
    ) -> Result<(), ProofError> {
        self.keys.spilled_bytes = groups.spilled();
        loop {
            // The first wins, be it outside; of the others those inside lose, and those outside may be replaced.
            let (mut losers, mut replaced) = (0, 0);
            let group = groups.next_group(2, |at| {
                losers += u64::from(at & 1 == 0);
                replaced += at & 1;
            })?;
            let Some(group) = group else { return Ok(()) };
            if group.locators.first().is_some_and(|at| at & 1 == 1) {
                self.keys.shared_left_out += replaced;
                replaced = 0;
            }
            if losers + replaced == 0 {
                continue;
            }
            self.keys.shared += losers;
            self.keys.shared_outside += replaced;
            if self.begins(max_rejects) || self.contest.len() < NAMED_KEYS {
                self.contest.enter(group.fingerprint, &group.locators);
            }
        }
    }
}

impl KeyPass<'_> {
    /// Reads all keys. `source` has the snapshot open, and is given back where it still has.
    pub(crate) async fn prove(
        &self,
        source: &mut Option<Box<dyn Source>>,
    ) -> Result<Proved, EndReason> {
        self.progress.step(RunStep::ProvingKeys);
        let rivals = rivals(self.model);
        let Some(lent) = source.as_mut().filter(|_| !rivals.is_empty()) else {
            return self.prove_all(source).await;
        };
        let model = with(self.model, &rivals);
        let plan = tokio::select! {
            biased;
            () = self.cancel.cancelled() => return Err(EndReason::Cancelled),
            plan = ChunkPlan::cut(lent.as_mut(), &model, None) => plan?,
        };
        let wide = KeyPass {
            model: &model,
            plan: &plan,
            rivals: &rivals,
            options: self.options.clone(),
            ..*self
        };
        wide.prove_all(source).await
    }

    /// Reads all keys of the item types that the model's passes make.
    async fn prove_all(&self, source: &mut Option<Box<dyn Source>>) -> Result<Proved, EndReason> {
        let narrow = Arc::new(narrow(self.model));
        let mut proved = self.compare(&narrow, source).await?;
        if proved.keys.all_shared() + proved.keys.shared_left_out > 0 {
            // A row that is rejected for another attribute than its key is no item, and has none.
            self.progress.step(RunStep::NamingDuplicates);
            let whole = Arc::new(self.model.clone());
            proved = self.compare(&whole, source).await?;
            if proved.keys.all_shared() > 0 {
                self.name(&whole, source, &mut proved).await?;
            }
        }
        Ok(proved)
    }

    /// Reads and compares keys until no connection breaks on the way: rows that came twice would look
    /// as if they shared a key.
    async fn compare(
        &self,
        model: &Arc<Model>,
        source: &mut Option<Box<dyn Source>>,
    ) -> Result<Proved, EndReason> {
        loop {
            let mut proof = Proof::new(self.options.clone());
            let mut proved = Proved::default();
            let read = self
                .walk(model)
                .each(source, |index, item_type, row, outcome| {
                    let taken =
                        self.meet((index, item_type), row, outcome, &mut proof, &mut proved);
                    taken.map(ControlFlow::Continue)
                });
            if read.await? == FeedEnd::ConnectionLost {
                continue;
            }
            self.progress.step(RunStep::ComparingKeys);
            proved.keys.compared = proof.keys();
            let mut groups = tokio::task::spawn_blocking(|| proof.finish())
                .await
                .map_err(|_| Failure::Internal("the comparison of keys died"))??;
            proved.take(&mut groups, self.max_rejects)?;
            return Ok(proved);
        }
    }

    /// Takes what became of a row: the key of its item, or that it makes none.
    fn meet(
        &self,
        (index, item_type): (usize, &ItemType),
        row: &Row,
        outcome: RowOutcome,
        proof: &mut Proof,
        proved: &mut Proved,
    ) -> Result<(), EndReason> {
        // Keys of other partitions are other keys.
        if !self.selection.holds_item(&self.model.table, outcome.item()) {
            return Ok(());
        }
        let outside = !self.selects(index, item_type, row);
        match outcome {
            RowOutcome::Made(folded) => {
                let at = locator(index, item_type, &row_key(item_type, row), &folded.item);
                proof.push(folded.fingerprint, (at << 1) | u64::from(outside))?;
            }
            RowOutcome::Rejected(reject) if !outside => {
                proved.keys.faults += 1;
                // A reading that rejects as many as it likes says so when it loads.
                if self.max_rejects.is_some() {
                    let reject = Rejected::new(index, row_key(item_type, row), *reject);
                    proved.rejects.write_reject(self.model, &reject)?;
                }
            }
            RowOutcome::Filtered | RowOutcome::Rejected(_) | RowOutcome::Expired(_) => {}
        }
        Ok(())
    }

    /// Whether a row is one that the run loads, if its key is its own.
    fn selects(&self, index: usize, item_type: &ItemType, row: &[Value]) -> bool {
        !self.rivals.contains(&index) && self.selection.holds_row(item_type, row)
    }

    /// Looks for the rows that share keys. Where the run does not begin, all but the one that is loaded are rejects.
    async fn name(
        &self,
        model: &Arc<Model>,
        source: &mut Option<Box<dyn Source>>,
        proved: &mut Proved,
    ) -> Result<(), EndReason> {
        let lists_rejects = !proved.begins(self.max_rejects);
        let Proved {
            contest, rejects, ..
        } = proved;
        let read = self
            .walk(model)
            .each(source, |index, item_type, row, outcome| {
                let RowOutcome::Made(folded) = outcome else {
                    return Ok(ControlFlow::Continue(()));
                };
                if !contest.is_contested(folded.fingerprint) {
                    return Ok(ControlFlow::Continue(()));
                }
                let key = row_key(item_type, row);
                let at = locator(index, item_type, &key, &folded.item);
                // A row outside is listed where a row of the run would replace its item.
                let is_listed = lists_rejects
                    && (self.selects(index, item_type, row) || contest.selects(folded.fingerprint));
                let (_, rejected) = contest.meet(at, is_listed, (index, key, folded));
                for (index, key, folded) in rejected {
                    let reject = contest.reject(model, index, key, &folded);
                    rejects.write_reject(model, &reject)?;
                }
                Ok(ControlFlow::Continue(()))
            });
        // Where a connection breaks on the way, what was named stays so, and the rest is counted.
        read.await?;
        for (index, key, folded) in contest.take_waiting() {
            let reject = contest.reject(model, index, key, &folded);
            rejects.write_reject(model, &reject)?;
        }
        Ok(())
    }

    /// All rows of the plan, folded by this mapping.
    pub(crate) fn walk<'w>(&'w self, model: &'w Arc<Model>) -> RowFeed<'w> {
        RowFeed {
            model,
            folder: Arc::new(Folder::new(model, self.context.clone())),
            plan: self.plan,
            lanes: self.lanes,
            cancel: self.cancel,
        }
    }
}

/// The mapping with the items of these item types made too, which a selection has left out.
fn with(model: &Model, rivals: &[usize]) -> Model {
    let mut wide = model.clone();
    for index in rivals {
        let pass = wide.item_types.get(*index).map(|item_type| item_type.pass);
        if let Some(pass) = pass.and_then(|pass| wide.passes.get_mut(pass)) {
            pass.item_types.push(*index);
        }
    }
    wide
}

// A mapping with nothing left but what its keys need: for the pass that proves them.
//
// Columns that no key is made from stay NULL, so that the database need not send them; children
// are not read at all. A row whose item would be rejected for another attribute still has a key
// here: where keys are shared, [`super::prove`] folds the rows whole. Item types whose rows have no key are left as they are.

/// Leaves out of a mapping what the keys of its items do not need. Row keys, conditions and what
/// tells expired items stay.
pub(crate) fn narrow(model: &Model) -> Model {
    let mut narrow = model.clone();
    let keys: Vec<&str> = model.table.key().map(|key| &*key.name).collect();
    // Items stand for rows without a key: they must be whole.
    let keyed = |item_type: &&mut ItemType| !item_type.is_keyless();
    for item_type in narrow.item_types.iter_mut().filter(keyed) {
        let ttl = model.table.ttl.as_deref();
        let ttl = ttl.filter(|_| item_type.expired != Expired::Load);
        let wanted = |name: &str| keys.contains(&name) || ttl == Some(name);
        item_type.attributes.retain(|(name, _)| wanted(name));
        // Where the TTL is not declared, it may come out of a document.
        if ttl.is_none_or(|ttl| item_type.attributes.iter().any(|(name, _)| &**name == ttl)) {
            item_type.spreads.clear();
        }
        item_type.compress.clear();
    }
    for pass in &mut narrow.passes {
        let used = used(pass, &narrow.item_types);
        thin(&mut pass.scan, &used);
    }
    narrow
}

/// The places of a pass's rows that its item types need.
fn used(pass: &Pass, item_types: &[ItemType]) -> HashSet<usize> {
    let mut used = HashSet::new();
    for item_type in pass
        .item_types
        .iter()
        .filter_map(|index| item_types.get(*index))
    {
        used.extend(item_type.row_key.iter().map(|(_, column)| *column));
        used.extend(
            item_type
                .explodes
                .iter()
                .map(|explode| explode.array.column),
        );
        used.extend(item_type.spreads.iter().map(|place| place.column));
        for (_, node) in &item_type.attributes {
            used.extend(node.places().iter().map(|place| place.column));
            node.visit(&mut |node| match node {
                AttributeNode::Embed(embed) => {
                    if let ChildContainer::Map(name) = &embed.container {
                        used.extend(name.placeholders().map(|name| name.place.column));
                    }
                    used.insert(embed.column);
                }
                AttributeNode::When { flag, .. } => {
                    used.insert(*flag);
                }
                _ => {}
            });
        }
    }
    used
}

fn thin(scan: &mut Scan, used: &HashSet<usize>) {
    let embeds = scan.embeds().any(|(column, _)| used.contains(&column));
    for (index, column) in scan.columns.iter_mut().enumerate() {
        let keyed = embeds && scan.key.contains(&index);
        if !used.contains(&index) && !keyed {
            *column = ScanColumn::Slot;
        }
    }
    if !embeds {
        scan.key.clear();
    }
    let needs_joins = scan.columns.iter().any(|column| match column {
        ScanColumn::Column { join, .. } => join.is_some(),
        ScanColumn::Flag(_) => true,
        ScanColumn::Embed(_) | ScanColumn::Slot => false,
    });
    // Those that may give a row several times give its key several times.
    let are_single = scan.joins.iter().all(|join| join.is_single);
    if !needs_joins && !embeds && scan.conditions.is_empty() && are_single {
        scan.joins.clear();
    }
}

// Rows that share a key: which of them is loaded, and what is said of the others.
//
// Of the rows that make one key, one is loaded, the same in every run: the one with the least
// numbers as its row key, or else the one whose row key's hash is the least, or, where the table has
// no key, the one whose item's hash is. So it does not depend
// on the order in which rows are read, nor on how many readers there are.

/// Item types that a locator tells apart.
const TYPES: u64 = 1 << 16;
/// Bits of a row's place among those that share a key, but for the one that tells hashes.
const BITS: u32 = 46;
/// From here on places come from hashes.
const HASHED: u64 = 1 << BITS;

/// What stands for a row among those that share a key: the least is loaded. `index`: that of the
/// item type. Where a row has no key its item stands for it.
pub(crate) fn locator(index: usize, item_type: &ItemType, row: &[Value], item: &Item) -> u64 {
    let place = if item_type.is_keyless() {
        hashed(&json(item))
    } else {
        numbers(row).unwrap_or_else(|| {
            let text: Vec<String> = row.iter().map(write_document).collect();
            hashed(&text.join("\u{1f}"))
        })
    };
    let index = u64::try_from(index).unwrap_or(TYPES - 1);
    place * TYPES + index.min(TYPES - 1)
}

/// The index of the item type of a located row.
pub(crate) fn item_type_of(locator: u64) -> usize {
    usize::try_from(locator % TYPES).unwrap_or(usize::MAX)
}

fn hashed(text: &str) -> u64 {
    HASHED | (xxh3_64(text.as_bytes()) & (HASHED - 1))
}

/// Whole numbers in the order of the columns, as one number below [`HASHED`], where they fit.
fn numbers(row: &[Value]) -> Option<u64> {
    let bits = BITS.checked_div(u32::try_from(row.len()).ok()?)?;
    row.iter().try_fold(0, |before: u64, value| {
        let Value::Number(number) = value else {
            return None;
        };
        let number = u64::try_from(number.to_i64()?).ok()?;
        (number >> bits == 0).then_some(before << bits | number)
    })
}

/// Bytes of rejects that wait for the row that is loaded, so that it can be named.
const HELD: usize = 32 << 20;
/// Bytes that a reject takes beside those of its item and its row key, as measured: the memory around all values.
const HELD_BESIDE: usize = 256;

/// A row that shares its key: the index of its item type, its row key, and its item.
pub(crate) type SharingRow = (usize, RowKey, Folded);

/// Bytes that a reject takes while it waits.
fn held_bytes((_, row, folded): &SharingRow) -> usize {
    folded.size + row.iter().map(Value::size).sum::<usize>() + HELD_BESIDE
}

/// The keys that several rows make, each with the row that is loaded.
#[derive(Debug, Default)]
pub(crate) struct ContestedKeys {
    winners: HashMap<u128, LoadedRow>,
    /// Whether nothing tells the first two rows of some key apart.
    ties: bool,
    /// By their key, other rows that were met before the row that is loaded.
    waiting: HashMap<u128, Vec<SharingRow>>,
    /// Bytes of the rows that wait.
    held: usize,
}

#[derive(Debug)]
struct LoadedRow {
    locator: u64,
    /// Whether the run loads it; else it is outside, and loaded already or by another run.
    is_selected: bool,
    /// Rows that nothing tells apart have one locator: the first of them is loaded. It may come
    /// again, in another attempt at its chunk.
    taken: Mutex<Option<(ChunkId, u64)>>,
    /// The row, where it was looked for.
    row: Option<(usize, RowKey)>,
}

impl ContestedKeys {
    /// Enters a key and its first rows, of which the least is loaded: the locator of each, and in the last bit whether it is outside.
    pub(crate) fn enter(&mut self, fingerprint: u128, rows: &[u64]) {
        let first = rows.first().copied().unwrap_or_default();
        self.ties |= rows.get(1) == Some(&first);
        self.winners.insert(
            fingerprint,
            LoadedRow {
                locator: first >> 1,
                is_selected: first & 1 == 0,
                taken: Mutex::default(),
                row: None,
            },
        );
    }

    /// Whether no row shares its key with another.
    pub(super) fn is_empty(&self) -> bool {
        self.winners.is_empty()
    }

    /// Keys that were entered.
    pub(super) fn len(&self) -> usize {
        self.winners.len()
    }

    /// Whether it depends on the order of reading which of some rows is loaded.
    pub(super) fn has_ties(&self) -> bool {
        self.ties
    }

    /// Whether the row that is loaded is one of the run.
    fn selects(&self, fingerprint: u128) -> bool {
        let winner = self.winners.get(&fingerprint);
        winner.is_some_and(|winner| winner.is_selected)
    }

    pub(crate) fn is_contested(&self, fingerprint: u128) -> bool {
        self.winners.contains_key(&fingerprint)
    }

    /// Takes a row of a contested key, as it is read. Says whether it is the one that is loaded, and gives the rows to reject
    /// now: one that `is_listed` waits for the row that is loaded, which its reject names, unless too many wait.
    pub(crate) fn meet(
        &mut self,
        at: u64,
        is_listed: bool,
        row: SharingRow,
    ) -> (bool, Vec<SharingRow>) {
        let fingerprint = row.2.fingerprint;
        let Some(winner) = self.winners.get_mut(&fingerprint) else {
            return (false, Vec::new());
        };
        if winner.locator == at && winner.row.is_none() {
            winner.row = Some((row.0, row.1));
            let waiting = self.waiting.remove(&fingerprint).unwrap_or_default();
            self.held -= waiting.iter().map(held_bytes).sum::<usize>();
            return (true, waiting);
        }
        let mut rejected = Vec::new();
        if is_listed && (winner.row.is_some() || self.held >= HELD) {
            rejected.push(row);
        } else if is_listed {
            self.held += held_bytes(&row);
            self.waiting.entry(fingerprint).or_default().push(row);
        }
        (false, rejected)
    }

    /// The rows that still wait when all are read: the one that is loaded was not met.
    pub(crate) fn take_waiting(&mut self) -> Vec<SharingRow> {
        self.held = 0;
        let waiting = std::mem::take(&mut self.waiting);
        waiting.into_values().flatten().collect()
    }

    /// Whether a row's item is loaded. Asked once for each row that is folded. `index`: that of its
    /// item type. `reading`: the chunk
    /// that the row is in, and which attempt at it.
    pub(crate) fn wins(
        &self,
        folded: &Folded,
        index: usize,
        item_type: &ItemType,
        row: &[Value],
        reading: (ChunkId, u64),
    ) -> bool {
        let Some(winner) = self.winners.get(&folded.fingerprint) else {
            return true;
        };
        if winner.locator != locator(index, item_type, row, &folded.item) {
            return false;
        }
        let mut taken = winner.taken.lock();
        let free = taken.is_none_or(|(chunk, attempt)| chunk == reading.0 && attempt < reading.1);
        if free {
            *taken = Some(reading);
        }
        free
    }

    /// The reject of a row that is not loaded.
    pub(crate) fn reject(
        &self,
        model: &Model,
        item_type: usize,
        row: RowKey,
        folded: &Folded,
    ) -> Rejected {
        let winner = self.winners.get(&folded.fingerprint);
        let named = winner
            .and_then(|winner| winner.row.as_ref())
            .and_then(|(index, row)| Some((model.item_types.get(*index)?, row)));
        let reject = shares_key(model, named, &folded.item);
        Rejected::new(item_type, row, reject)
    }
}

/// The reject of a row whose item has the key of another row's item, which may be known.
pub(crate) fn shares_key(
    model: &Model,
    other: Option<(&ItemType, &RowKey)>,
    item: &Item,
) -> Reject {
    let is_keyless = other.is_some_and(|(item_type, _)| item_type.is_keyless());
    let other = match other {
        // Such a row has no other name than its item's key.
        Some((item_type, _)) if is_keyless => format!(
            "another row of {}: {}",
            item_type.name,
            key_json(&model.table, item)
        ),
        Some((item_type, row)) => format!("{} {}", item_type.name, row_json(item_type, row)),
        None => "another row".to_owned(),
    };
    let help = if is_keyless {
        "add a column that differs between these rows to the key template, or leave one of them out with `where`; to merge rows that are equal in all columns, use from: { sql: SELECT DISTINCT …, key: [column] }"
    } else {
        "add a column that differs between these rows to the key template, for example one of the primary key, or leave one of them out with `where`; a load with --max-rejects loads the other row"
    };
    Reject {
        code: DUPLICATE_KEY.into(),
        message: format!("the item has the same key as that of {other}"),
        help: Some(help.to_owned()),
        attribute: Some(model.table.partition.name.to_string()),
        item_so_far: Some(item.clone()),
    }
}

#[cfg(test)]
mod tests {
    use dynafold_testing::model::{item_type, model, number, pass, text};

    use super::*;

    #[test]
    fn rejects_wait_for_the_row_that_is_loaded_and_name_it() {
        let user = item_type("USER", 0, &[("PK", "USER#{1}"), ("SK", "USER#")]);
        let model = model(vec![pass("users", 2, &[0])], vec![user]);
        let folder = Folder::new(&model, Context::default());
        let sharing = |id: i64| -> (u64, SharingRow) {
            let row = [number(id), text("ann")];
            let folded = folder.fold(0, &row).unwrap();
            let key = row_key(&model.item_types[0], &row);
            let at = locator(0, &model.item_types[0], &key, &folded.item);
            (at, (0, key, folded))
        };
        let (loaded, (index, _, folded)) = sharing(1);
        let mut contest = ContestedKeys::default();
        contest.enter(folded.fingerprint, &[loaded << 1]);
        for (id, is_listed, expected) in [
            (3, true, (false, vec![])),
            (2, false, (false, vec![])),
            (1, true, (true, vec![3])),
            (4, true, (false, vec![4])),
        ] {
            let (at, row) = sharing(id);
            let (is_loaded, rejected) = contest.meet(at, is_listed, row);
            let ids: Vec<i64> = rejected
                .iter()
                .filter_map(|(_, key, _)| match &key[0] {
                    Value::Number(id) => id.to_i64(),
                    _ => None,
                })
                .collect();
            assert_eq!((is_loaded, ids), expected, "{id}");
        }
        assert_eq!((contest.take_waiting().len(), contest.held), (0, 0));
        let (_, (_, key, _)) = sharing(3);
        let reject = contest.reject(&model, index, key, &folded);
        let wanted = r#"the item has the same key as that of USER {"id":1}"#;
        assert_eq!(reject.message, wanted);

        // The row that is loaded does not come, and there is room for one row alone.
        let mut contest = ContestedKeys::default();
        contest.enter(folded.fingerprint, &[loaded << 1]);
        contest.held = HELD - 1;
        for (id, rejected) in [(3, 0), (4, 1)] {
            let (at, row) = sharing(id);
            assert_eq!(contest.meet(at, true, row).1.len(), rejected, "{id}");
        }
        assert_eq!((contest.take_waiting().len(), contest.held), (1, 0));
    }

    #[test]
    fn a_contested_key_has_no_room_for_rows_that_wait() {
        // A load that begins holds all of them, and no row waits in it.
        let row = size_of::<Option<(usize, RowKey)>>();
        assert!(size_of::<LoadedRow>() < row + 80);
    }

    #[test]
    fn a_run_that_does_not_begin_holds_no_more_keys_than_are_named() {
        let shared = u64::try_from(NAMED_KEYS).unwrap() + 100;
        for (max_rejects, held) in [
            (Some(0), NAMED_KEYS),
            (Some(shared - 50), NAMED_KEYS + 50),
            (Some(shared), NAMED_KEYS + 100),
            (None, NAMED_KEYS + 100),
        ] {
            let mut proof = Proof::new(proof::ProofOptions::default());
            for key in 0..shared {
                proof.push(key.into(), 1).unwrap();
                proof.push(key.into(), 2).unwrap();
            }
            let mut proved = Proved::default();
            proved
                .take(&mut proof.finish().unwrap(), max_rejects)
                .unwrap();
            assert_eq!((proved.keys.shared, proved.contest.len()), (shared, held));
        }
    }

    #[test]
    fn an_item_that_is_left_out_counts_where_one_that_is_loaded_would_replace_it() {
        let at = |place: u64, index: u64, is_outside: bool| {
            ((place * TYPES + index) << 1) | u64::from(is_outside)
        };
        for (locators, counted) in [
            (vec![at(1, 0, false), at(2, 1, true)], (0, 1)),
            (vec![at(1, 1, true), at(2, 0, false)], (1, 0)),
            (vec![at(1, 1, true), at(2, 2, true)], (0, 0)),
            (
                vec![at(1, 0, false), at(2, 0, false), at(3, 1, true)],
                (1, 1),
            ),
            // A row that is not selected replaces nothing, and may be of an item type that is.
            (vec![at(1, 0, true), at(2, 1, true)], (0, 0)),
            (vec![at(1, 0, false), at(2, 0, true)], (0, 1)),
        ] {
            let mut proof = Proof::new(proof::ProofOptions::default());
            for locator in &locators {
                proof.push(7, *locator).unwrap();
            }
            let mut proved = Proved::default();
            let groups = &mut proof.finish().unwrap();
            proved.take(groups, Some(0)).unwrap();
            let keys = &proved.keys;
            assert_eq!((keys.shared, keys.shared_outside), counted, "{locators:?}");
            let left_out = u64::from(counted == (0, 0));
            assert_eq!(keys.shared_left_out, left_out, "{locators:?}");
            let is_contested = !proved.contest.is_empty();
            assert_eq!(is_contested, counted != (0, 0), "{locators:?}");
        }
    }
}
