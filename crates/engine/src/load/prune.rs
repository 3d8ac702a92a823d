//! Finds stale items, which no row makes any more, and has them deleted where that is asked for.
//!
//! The table's keys are scanned, side by side in segments, and compared with those of the run: the
//! fingerprints of both go to sorted runs on disk, so that memory does not grow with the table. An
//! item is deleted only where its item type is one of the mapping's that the run was about, no row
//! makes its key, and what has become of its row is what was asked for. Items from elsewhere are never
//! touched. What earlier loads have done decides nothing: the same command does the same again. A load
//! that goes on deletes without being asked what plain `--prune` would, of that what the journal says that
//! it has sent, as it is.

use std::collections::HashSet;
use std::fs::File;
use std::io::{BufReader, BufWriter, Seek as _, SeekFrom, Write as _};
use std::sync::Arc;

use dynafold_dynamodb::{Attribute, DigestKey, Item, Table, fingerprints, write_item};
use dynafold_format::{each_once, whole};
use dynafold_mapping::item::is_past;
use dynafold_mapping::model::{AttributeNode, ItemType, KeyTexts, Model};
use dynafold_target::{Action, BatchEntry, Page, ScanRequest, Target, TargetError};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::Prune;
use super::ending::{Cancel, EndReason};
use super::failure::{Failure, Indistinguishable};
use super::journal::Journal;
use super::outbox::Outbox;
use super::plan::selected;
use super::report::RemainingStale;
use super::row::{RowKey, key_item};
use super::scope::{EXPIRED, FILTERED, ItemAction, REJECTED, SENT, attempt_and_ttl};
use super::ticket::Ticket;
use super::writer::Delivery;
use crate::proof::{Proof, ProofOptions};

/// Segments that are scanned side by side.
const SEGMENTS: u32 = 4;
/// Pages that wait to be taken in.
const PAGES_AHEAD: usize = 2;
/// Marks the locators of items that the table holds; those of rows are below.
const IN_TABLE: u64 = 1 << 63;
/// Stands for the item type of items from elsewhere.
pub(crate) const STRANGER: usize = usize::MAX;

/// What has become of the row of a stale item.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum StaleCause {
    /// No row that was read makes its key.
    #[default]
    Gone,
    /// `where` leaves it out.
    Filtered,
    /// It makes no item that DynamoDB would take.
    Rejected,
    /// It has expired, and is not to be loaded.
    Expired,
}

/// Reads the table's keys.
pub(crate) struct TableScan<'s> {
    pub(crate) target: &'s Arc<dyn Target>,
    pub(crate) model: &'s Arc<Model>,
    /// What tells the item types apart; without it every item is a stranger.
    pub(crate) owners: Option<&'s ItemTypeMarks>,
    /// Whether items from elsewhere are taken in too, as of the type [`STRANGER`].
    pub(crate) strangers: bool,
    /// The partition that the run is about.
    pub(crate) partition: Option<Attribute>,
    /// Under which digests of whole items are made, where they are wanted.
    pub(crate) secret: Option<DigestKey>,
    /// The run's clock, in seconds since 1970.
    pub(crate) now: i64,
    pub(crate) cancel: &'s Cancel,
}

/// An item of the table; where the comparison gives it out, one that no row makes.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct StrayItem {
    /// Its item type by its type attribute or key, or [`STRANGER`].
    pub(crate) item_type: usize,
    /// Whether it is unknown if the mapping, or one of the item types that are looked at, makes it.
    pub(crate) unclear: bool,
    /// Whether it may be of a selected item type whose items are not looked at, because rows without a known key were
    /// rejected.
    spared: bool,
    /// Stands for its partition key, as in the items that are put.
    pub(super) partition: u64,
    pub(crate) json: String,
    /// What has become of its row.
    pub(crate) stale: StaleCause,
    /// Whether its TTL is over: DynamoDB deletes it when it comes to it.
    pub(crate) past: bool,
    /// Stands for all that it holds.
    digest: u128,
    /// Whether an attempt of this run has sent it, as it is.
    #[serde(skip)]
    sent: bool,
    /// Whether a reading that was begun again has made it: it is not deleted.
    #[serde(skip)]
    read_again: bool,
}

/// The items of the table on disk, as JSON.
#[derive(Debug)]
pub(crate) struct ItemSpool {
    file: BufWriter<File>,
    length: u64,
    line: Vec<u8>,
}

impl ItemSpool {
    fn new() -> std::io::Result<Self> {
        Ok(Self {
            file: BufWriter::new(tempfile::tempfile()?),
            length: 0,
            line: Vec::new(),
        })
    }

    /// Appends an item; gives its place.
    fn push(&mut self, stray: &StrayItem) -> std::io::Result<u64> {
        self.line.clear();
        serde_json::to_writer(&mut self.line, stray)?;
        self.file.write_all(&self.line)?;
        let place = self.length;
        self.length += whole(self.line.len());
        Ok(place)
    }

    fn reader(self) -> std::io::Result<BufReader<File>> {
        let file = self
            .file
            .into_inner()
            .map_err(std::io::IntoInnerError::into_error)?;
        Ok(BufReader::new(file))
    }
}

/// The item at a place.
fn read_item(file: &mut BufReader<File>, place: u64) -> std::io::Result<StrayItem> {
    file.seek(SeekFrom::Start(place))?;
    let mut rest = serde_json::Deserializer::from_reader(file);
    Ok(StrayItem::deserialize(&mut rest)?)
}

impl TableScan<'_> {
    /// Adds the keys of the table's items to those of the run; `wanted` says of which item types.
    pub(crate) async fn read(
        self,
        keys: &mut Proof,
        wanted: &[bool],
    ) -> Result<ItemSpool, EndReason> {
        let (sender, mut pages) = mpsc::channel(PAGES_AHEAD);
        let mut tasks = JoinSet::new();
        let segments = if self.partition.is_some() {
            1
        } else {
            SEGMENTS
        };
        for segment in 0..segments {
            let wanted = ScanRequest {
                segment,
                segments,
                partition: self.partition.clone(),
                ..self.wanted()
            };
            let (target, model) = (self.target.clone(), self.model.clone());
            tasks.spawn(scan(target, model, wanted, sender.clone()));
        }
        drop(sender);
        let is_wanted = |item_type: usize| wanted.get(item_type).copied().unwrap_or_default();
        let selected = selected(self.model);
        let is_spared = |item_type: usize| {
            selected.get(item_type).copied().unwrap_or_default() && !is_wanted(item_type)
        };
        let spares = (0..selected.len()).any(is_spared);
        let mut spool = ItemSpool::new()?;
        let mut held = StrayItem::default();
        loop {
            let page = tokio::select! {
                biased;
                () = self.cancel.cancelled() => return Err(EndReason::Cancelled),
                page = pages.recv() => page,
            };
            let Some(page) = page else { return Ok(spool) };
            for item in page?.items {
                let owner = self.owners.and_then(|owners| owners.owner(&item));
                let may_be = |of: &dyn Fn(usize) -> bool| {
                    self.owners.is_some_and(|owners| owners.may_be(&item, of))
                };
                // Of two item types that may make the key, only one may be looked at.
                held.unclear = match owner {
                    None => may_be(&|_| true),
                    Some(owner) => may_be(&|other| is_wanted(other) != is_wanted(owner)),
                };
                if !held.unclear && !owner.map_or(self.strangers, is_wanted) {
                    continue;
                }
                held.spared = spares
                    && (self.owners.is_none()
                        || owner.is_some_and(is_spared)
                        || may_be(&is_spared));
                held.item_type = owner.unwrap_or(STRANGER);
                held.past = self.is_past(&item);
                held.digest = self.secret.map_or(0, |secret| secret.item(&item));
                let key = key_item(&self.model.table, &item);
                let mut values = key.attributes.iter().map(|(_, value)| value);
                let Some(partition) = values.next() else {
                    continue;
                };
                let fingerprint;
                (fingerprint, held.partition) = fingerprints(partition, values.next());
                held.json.clear();
                write_item(&mut held.json, &key);
                keys.push(fingerprint, IN_TABLE | spool.push(&held)?)?;
            }
        }
    }

    /// What must be known of the items.
    fn wanted(&self) -> ScanRequest {
        if self.secret.is_some() {
            return ScanRequest::all();
        }
        let table = &self.model.table;
        let mut names: Vec<Arc<str>> = match self.owners {
            None => keys(table),
            Some(owners) => owners.attributes(),
        };
        if let Some(ttl) = &table.ttl
            && !names.iter().any(|name| **name == **ttl)
        {
            names.push(ttl.as_str().into());
        }
        ScanRequest {
            attributes: Some(names),
            ..ScanRequest::all()
        }
    }

    /// Whether an item's TTL is over.
    fn is_past(&self, item: &Item) -> bool {
        let ttl = self.model.table.ttl.as_ref().and_then(|ttl| item.get(ttl));
        ttl.is_some_and(|moment| is_past(moment, self.now))
    }
}

async fn scan(
    target: Arc<dyn Target>,
    model: Arc<Model>,
    wanted: ScanRequest,
    pages: mpsc::Sender<Result<Page, TargetError>>,
) {
    let mut from = None;
    loop {
        let page = target.scan(&model.table, &wanted, from.take()).await;
        from = page.as_ref().ok().and_then(|page| page.next.clone());
        if pages.send(page).await.is_err() || from.is_none() {
            return;
        }
    }
}

/// What a comparison of keys has counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ComparedKeys {
    /// Items that several rows have written over each other.
    pub(crate) overwritten: u64,
    /// Items that rows make and the table does not hold.
    pub(crate) absent: u64,
    /// Those whose TTL is over: DynamoDB may have deleted them. They are not among the `absent`.
    pub(crate) lapsed: u64,
}

/// Compares the keys; `each` takes every item that no row makes, and says whether to go on.
/// `forgotten`: the attempts whose rows came again under another one.
pub(crate) async fn compare(
    keys: Proof,
    spool: ItemSpool,
    forgotten: &HashSet<u64>,
    mut each: impl AsyncFnMut(StrayItem) -> Result<bool, EndReason>,
) -> Result<ComparedKeys, EndReason> {
    let died = |_| Failure::Internal("the comparison of keys died");
    let mut groups = tokio::task::spawn_blocking(|| keys.finish())
        .await
        .map_err(died)??;
    let mut file = spool.reader()?;
    let now = u64::try_from(Timestamp::now().as_second()).unwrap_or_default();
    let mut compared = ComparedKeys::default();
    loop {
        let (mut rows, mut place, mut has_expired) = (0_u64, None, false);
        let (mut read_again, mut sent, mut stale) = (false, false, StaleCause::Gone);
        let found = groups.next_any(|locator| match locator {
            REJECTED => stale = StaleCause::Rejected,
            EXPIRED if stale != StaleCause::Rejected => stale = StaleCause::Expired,
            FILTERED if stale == StaleCause::Gone => stale = StaleCause::Filtered,
            EXPIRED | FILTERED => {}
            SENT => sent = true,
            place_in_table if place_in_table >= IN_TABLE => place = Some(place_in_table - IN_TABLE),
            of_row => match attempt_and_ttl(of_row) {
                (attempt, _) if forgotten.contains(&attempt) => read_again = true,
                (_, ttl) => {
                    rows += 1;
                    has_expired |= ttl.is_some_and(|ttl| ttl < now);
                }
            },
        })?;
        if !found {
            return Ok(compared);
        }
        compared.overwritten += rows.saturating_sub(1);
        if rows > 0 && place.is_none() {
            let gone = if has_expired {
                &mut compared.lapsed
            } else {
                &mut compared.absent
            };
            *gone += 1;
        }
        let Some(place) = place.filter(|_| rows == 0) else {
            continue;
        };
        let stray = read_item(&mut file, place)?;
        // Where the journal is compared, its row was looked for before.
        let stale = if stale == StaleCause::Gone {
            stray.stale
        } else {
            stale
        };
        let stray = StrayItem {
            stale,
            sent,
            read_again,
            ..stray
        };
        if !each(stray).await? {
            return Err(EndReason::Cancelled);
        }
    }
}

/// What is looked for in the table, and what is done with it.
pub(super) struct Pruning<'p> {
    /// What is deleted; `None`: what an attempt of this run has sent, and nothing else.
    pub(super) prune: Option<&'p Prune>,
    /// The table's items. What this run has sent is known without what tells item types apart.
    pub(super) scan: TableScan<'p>,
    /// The item types that are looked at.
    pub(super) wanted: &'p [bool],
    /// Memory and disk of the comparison with the journal.
    pub(super) proof: &'p ProofOptions,
    pub(super) doing: ItemAction,
}

/// Deletes what no row makes, or counts it where the run only plans. Gives the items that were written
/// over others, and what was left.
pub(super) async fn prune(
    delivery: &Arc<Delivery>,
    mut keys: Proof,
    pruning: Pruning<'_>,
) -> Result<(u64, RemainingStale), EndReason> {
    let (model, cancel) = (&delivery.model, pruning.scan.cancel);
    // Who asks for a deletion is not asked who has written the item.
    let journal = delivery.journal.as_ref();
    let journal = journal.filter(|_| pruning.prune.is_none());
    let scan = TableScan {
        secret: journal.map(Journal::secret),
        ..pruning.scan
    };
    let spool = scan.read(&mut keys, pruning.wanted).await?;
    let forgotten = delivery.ledger.forgotten();
    let (keys, spool, overwritten) = match journal {
        None => (keys, spool, 0),
        Some(journal) => {
            let mut digests = Proof::new(pruning.proof.clone());
            let mut strays = ItemSpool::new()?;
            let compared = compare(keys, spool, &forgotten, async |stray| {
                if !stray.read_again {
                    digests.push(stray.digest, IN_TABLE | strays.push(&stray)?)?;
                }
                Ok(!cancel.is_cancelled())
            })
            .await?;
            if strays.length > 0 {
                journal.read(&mut digests)?;
            }
            (digests, strays, compared.overwritten)
        }
    };
    let mut deletions = Deletions::new(delivery, pruning.doing);
    let mut left = RemainingStale::default();
    let may_hide_rows = |item_type: usize| {
        let item_type = model.item_types.get(item_type);
        match item_type.and_then(|item_type| model.passes.get(item_type.pass)) {
            Some(pass) => pass.may_hide_rows,
            // Of no item type that is told apart, and so of any of them.
            None => model.passes.iter().any(|pass| pass.may_hide_rows),
        }
    };
    let compared = compare(keys, spool, &forgotten, async |stray| {
        let deletes = match pruning.prune {
            None => left.is_own(&stray, &may_hide_rows),
            Some(prune) => left.asked_for(prune, &stray, &may_hide_rows),
        };
        if deletes {
            left.deletions += u64::from(pruning.doing != ItemAction::Plan);
            deletions.delete(&stray).await;
        }
        Ok(!cancel.is_cancelled() && !delivery.halt.has_failed())
    })
    .await;
    deletions.end().await;
    compared.map(|more| (overwritten + more.overwritten, left))
}

impl RemainingStale {
    /// Whether an item is deleted where nobody has asked for it: only what the run has sent itself, and whose row is
    /// gone.
    /// `may_hide_rows`: whether a row of an item type may be there though it was not read.
    fn is_own(&mut self, stray: &StrayItem, may_hide_rows: &dyn Fn(usize) -> bool) -> bool {
        if stray.sent {
            let deletes = self.asked_for(&Prune::default(), stray, may_hide_rows);
            self.strangers += u64::from(deletes && stray.item_type == STRANGER);
            return deletes;
        }
        match stray.item_type {
            _ if stray.unclear => *self.unknown(stray) += 1,
            STRANGER => {}
            _ => self.others += 1,
        }
        false
    }

    /// Whether what has become of an item's row is what is asked for.
    fn asked_for(
        &mut self,
        prune: &Prune,
        stray: &StrayItem,
        may_hide_rows: &dyn Fn(usize) -> bool,
    ) -> bool {
        let left = match stray.stale {
            _ if stray.read_again => return false,
            _ if stray.unclear && !stray.sent => self.unknown(stray),
            StaleCause::Rejected => &mut self.rejected,
            StaleCause::Expired => &mut self.expired,
            StaleCause::Gone if stray.spared => &mut self.may_be_rejected,
            _ if prune.filtered => return true,
            StaleCause::Filtered => &mut self.filtered,
            StaleCause::Gone if may_hide_rows(stray.item_type) => &mut self.not_returned,
            StaleCause::Gone => return true,
        };
        *left += 1;
        false
    }

    /// The count of an item of which it is unknown whether it is to be deleted.
    fn unknown(&mut self, stray: &StrayItem) -> &mut u64 {
        if stray.spared {
            &mut self.may_be_rejected
        } else {
            &mut self.unclear
        }
    }
}

/// Looks for items that were written over another, where all were written already.
pub(super) async fn overwritten(keys: Proof, forgotten: &HashSet<u64>) -> Result<u64, EndReason> {
    let compared = compare(keys, ItemSpool::new()?, forgotten, async |_| Ok(true)).await?;
    Ok(compared.overwritten)
}

// Deletions on their way: gathered into batches and delivered like items that are written, at the
// same pace. What is deleted [`super::prune`] has found.

/// Bytes of the largest item that there can be.
const LARGEST: u64 = 400 << 10;

/// Items on their way out of the table.
struct Deletions {
    doing: ItemAction,
    ticket: Arc<Ticket>,
    outbox: Outbox,
}

impl Deletions {
    /// Begins; the pace hears what a deletion may cost at most.
    fn new(delivery: &Arc<Delivery>, doing: ItemAction) -> Self {
        let table = &delivery.model.table;
        let entries = whole(table.all_indexes().count() + 1);
        let largest = delivery.ledger.largest().unwrap_or(LARGEST);
        let most = largest.div_ceil(1024) * entries;
        delivery.pace.expect_deletions(entries, most);
        Self {
            ticket: delivery.ledger.issue_beside(&delivery.model),
            outbox: Outbox::new(delivery, delivery.target.concurrency()),
            doing,
        }
    }

    /// Deletes an item, with others; counts it where the run only plans.
    async fn delete(&mut self, stray: &StrayItem) {
        if self.doing == ItemAction::Plan {
            self.ticket
                .count(stray.item_type, |books| books.deleted += 1);
            return;
        }
        let json = &stray.json;
        // Keys of one table differ in their JSON as they differ in their values.
        let (fingerprint, _) = fingerprints(&Attribute::S(json.as_str().into()), None);
        let entry = BatchEntry {
            action: Action::Delete,
            size: json.len(),
            units: self.outbox.delivery.pace.deletion_units(),
            item_type: stray.item_type,
            fingerprint,
            partition: stray.partition,
            digest: 0,
        };
        let (ticket, row) = (self.ticket.clone(), RowKey::none());
        let write = |out: &mut String| out.push_str(json);
        self.outbox.push(entry, ticket, row, write).await;
    }

    /// Waits until everything is deleted.
    async fn end(mut self) {
        self.outbox.flush().await;
        let delivery = self.outbox.delivery;
        delivery.park.settle(&delivery.halt).await;
        // Its books are added up when the ledger closes; no chunk of the plan is done with it.
    }
}

// Whose an item of the table is: which item type has made it, told by its type attribute, or else by
// what all its items have in common and the keys that its templates can make.

/// What all items of each item type have in common.
#[derive(Debug)]
pub struct ItemTypeMarks {
    marks: Vec<ItemTypeMark>,
    keys: Vec<Arc<str>>,
    /// The attribute that names the item type in every item, where the mapping has one.
    type_attribute: Option<Arc<str>>,
}

#[derive(Debug)]
struct ItemTypeMark {
    name: Arc<str>,
    /// Attributes that are the same text in every item, the type attribute among them.
    constants: Vec<(Arc<str>, String)>,
    /// Of each key attribute: the texts that it can have.
    texts: Vec<KeyTexts>,
}

impl ItemTypeMarks {
    /// Marks of which a type attribute alone tells the item types apart.
    pub fn of_type_attribute<'n>(
        name: &Arc<str>,
        item_types: impl IntoIterator<Item = &'n Arc<str>>,
        table: &Table,
    ) -> Self {
        let marks = item_types.into_iter().map(|item_type| ItemTypeMark {
            name: item_type.clone(),
            constants: vec![(name.clone(), item_type.to_string())],
            texts: Vec::new(),
        });
        Self {
            marks: marks.collect(),
            keys: keys(table),
            type_attribute: Some(name.clone()),
        }
    }

    /// Finds what tells the item types of a mapping apart.
    ///
    /// # Errors
    ///
    /// [`Indistinguishable`] where nothing does.
    pub fn of(model: &Model) -> Result<Self, Indistinguishable> {
        for item in &model.item_types {
            if mark(item, &model.table).constants.is_empty() && !begins(item, &model.table) {
                return Err(Indistinguishable::Anything(item.name.clone()));
            }
        }
        Self::among(model.item_types.iter(), model, &|_| true)
    }

    /// Finds what tells some item types from one another, by the attributes that are held.
    pub(crate) fn among<'m>(
        item_types: impl Iterator<Item = &'m ItemType>,
        model: &Model,
        holds: &dyn Fn(&str) -> bool,
    ) -> Result<Self, Indistinguishable> {
        let marks: Vec<ItemTypeMark> = item_types
            .map(|item| {
                let mut mark = mark(item, &model.table);
                mark.constants.retain(|(name, _)| holds(name));
                mark
            })
            .collect();
        for (at, mark) in marks.iter().enumerate() {
            if let Some(other) = marks
                .iter()
                .skip(at + 1)
                .find(|other| !are_distinguishable(mark, other))
            {
                return Err(Indistinguishable::Alike(
                    mark.name.clone(),
                    other.name.clone(),
                ));
            }
        }
        Ok(Self {
            type_attribute: model.type_attribute.clone().filter(|name| holds(name)),
            marks,
            keys: keys(&model.table),
        })
    }

    /// The attributes that must be known of an item.
    pub(crate) fn attributes(&self) -> Vec<Arc<str>> {
        let constants = self.marks.iter().flat_map(|mark| &mark.constants);
        let marks = constants.map(|(name, _)| name);
        each_once(self.keys.iter().chain(marks).cloned())
    }

    /// The type attribute, where an item does not say in it that it is of an item type: then
    /// something else has made it.
    pub(crate) fn foreign(&self, item_type: usize, item: &Item) -> Option<&Arc<str>> {
        let name = self.type_attribute.as_ref()?;
        let mark = self.marks.get(item_type)?;
        (!says(item, name, &mark.name)).then_some(name)
    }

    /// The item type that has made an item; `None` for items from elsewhere. A type attribute says it,
    /// whatever the key: the mapping may have made other keys before. Without one it is an item type
    /// that can make the key.
    pub(crate) fn owner(&self, item: &Item) -> Option<usize> {
        match &self.type_attribute {
            Some(name) => {
                let mut marks = self.marks.iter();
                marks.position(|mark| says(item, name, &mark.name))
            }
            None => self.maker(item, KeyTexts::own, &|_| true),
        }
    }

    /// Whether an item may be of one of these item types, be it taken for another's: by text in a column of numbers, or one
    /// that only the database would know.
    fn may_be(&self, item: &Item, of: &dyn Fn(usize) -> bool) -> bool {
        self.type_attribute.is_none() && self.maker(item, KeyTexts::may_own, of).is_some()
    }

    fn maker(
        &self,
        item: &Item,
        takes: fn(&[KeyTexts], &[&Attribute]) -> bool,
        of: &dyn Fn(usize) -> bool,
    ) -> Option<usize> {
        let key: Option<Vec<&Attribute>> = self.keys.iter().map(|name| item.get(name)).collect();
        let key = key?;
        self.marks.iter().enumerate().position(|(at, mark)| {
            let mut constants = mark.constants.iter();
            of(at)
                && constants.all(|(name, text)| says(item, name, text))
                && takes(&mark.texts, &key)
        })
    }
}

fn says(item: &Item, name: &str, text: &str) -> bool {
    matches!(item.get(name), Some(Attribute::S(found)) if **found == *text)
}

fn keys(table: &Table) -> Vec<Arc<str>> {
    table.key().map(|key| key.name.clone()).collect()
}

/// Whether the keys of an item type begin with a text of their own.
fn begins(item_type: &ItemType, table: &Table) -> bool {
    let keys = keys(table);
    let mut attributes = item_type.attributes.iter();
    attributes.any(|(name, node)| {
        let begins =
            matches!(node, AttributeNode::Template(template) if !template.prefix().0.is_empty());
        begins && keys.contains(name)
    })
}

fn mark(item_type: &ItemType, table: &Table) -> ItemTypeMark {
    let keys = keys(table);
    let attributes = item_type.attributes.iter();
    let constants = attributes.filter(|(name, _)| !keys.contains(name));
    ItemTypeMark {
        name: item_type.name.clone(),
        constants: constants
            .filter_map(|(name, node)| Some((name.clone(), node.constant_text()?)))
            .collect(),
        texts: item_type.key_texts.clone(),
    }
}

fn are_distinguishable(one: &ItemTypeMark, other: &ItemTypeMark) -> bool {
    let differs = |(name, value): &(Arc<str>, String)| {
        let mut others = other.constants.iter();
        others.any(|(other, theirs)| other == name && theirs != value)
    };
    let mut keys = one.texts.iter().zip(&other.texts);
    one.constants.iter().any(differs) || keys.any(|(one, other)| !one.meets(other))
}

#[cfg(test)]
mod tests;
