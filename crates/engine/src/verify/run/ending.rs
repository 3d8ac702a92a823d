//! The report of a comparison that has ended.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use std::time::Duration;

use dynafold_dynamodb::{Item, Table, partition_fingerprint};
use dynafold_format::{counted, counted_as, whole};
use dynafold_mapping::claim::{Claim, ClaimKind, ClaimVerdict};
use dynafold_mapping::model::{ItemType, Model};
use parking_lot::Mutex;
use xxhash_rust::xxh3::xxh3_64;

use super::super::report::{ComparedBooks, Finding, FindingKind, VerifyOutcome, VerifyReport};
use super::{Verify, VerifyOptions, VerifyRun};
use crate::load::{
    ChunkId, ChunkPart, ChunkPlan, ClosedLedger, EndReason, Failure, Indistinguishable,
    ItemTypeMarks, RejectNote, STRANGER, StaleCause, StrayItem, TableScan, Ticket, UNCLEAR_WHY,
    compare, rate, raw, selected, subject,
};
use crate::proof::Proof;

impl VerifyRun {
    pub(super) fn report(self, elapsed: Duration) -> VerifyReport {
        let verify = &self.verify;
        let found = std::mem::replace(&mut *self.ledger.lock(), RunFindings::new(0, 0, 0));
        let item_types = books(&verify.model, found.books, &self.mended);
        let mut total = ComparedBooks::default();
        for books in &item_types {
            total.add(books);
        }
        let unexpected = self.unexpected;
        let outcome = outcome(self.halt.why(), &total, &unexpected);
        let mut findings = found.findings.into_vec();
        findings.extend(unexpected.findings);
        findings.truncate(verify.examples);
        let mut rejects = found.rejects.into_vec();
        rejects.extend(self.mended.notes);
        let balanced = item_types.iter().all(ComparedBooks::balances);
        let mut report = VerifyReport {
            outcome,
            claims: Vec::new(),
            table: verify.model.table.name.clone(),
            place: verify.target.place(),
            now: verify.context.now.to_string(),
            balanced,
            sample: verify.options.sample,
            unexpected: unexpected.items,
            unexpected_why_not: unexpected.why_not,
            elsewhere: unexpected.elsewhere,
            unclear: unexpected.unclear,
            lingering: unexpected.lingering,
            // A missing item may have expired too: then the number is not known.
            expired_meanwhile: match total.amiss() {
                0 => unexpected.lapsed.saturating_sub(total.gone),
                _ => 0,
            },
            findings,
            rejects,
            repair: verify.options.repair.then_some(self.mended.traffic),
            warnings: self.warnings,
            elapsed_seconds: elapsed.as_secs_f64(),
            items_per_second: rate(total.compared(), elapsed),
            total,
            item_types,
        };
        report.claims = vec![claim(&report, verify, self.whole)];
        report
    }
}

/// What the comparison claims. `whole`: every chunk was read.
fn claim(report: &VerifyReport, verify: &Verify, whole: bool) -> Claim {
    let (verdict, mut because) = verdict(report, whole);
    let hiding = verify.model.row_security();
    let hidden_columns = verify.model.hidden_columns();
    if !matches!(report.outcome, VerifyOutcome::Failed(_)) {
        if !hidden_columns.is_empty() {
            because.insert_str(0, "of the columns that this reader may read: ");
        }
        if !hiding.is_empty() {
            because.insert_str(0, "of the rows that row security lets this reader see: ");
        }
    }
    let of = subject(&verify.model, verify.options.partition.as_ref());
    let mut part = of.item_types.clone();
    part.extend(
        of.partition
            .as_ref()
            .map(|it| format!("the partition {it}")),
    );
    if !part.is_empty() && !matches!(report.outcome, VerifyOutcome::Failed(_)) {
        because.insert_str(0, &format!("of {}: ", part.join(", ")));
    }
    let total = &report.total;
    let mut facts = vec![
        format!("{} read", counted(total.rows_read, "row")),
        format!("{} compared", counted(total.compared(), "item")),
    ];
    if report.unexpected.is_some() {
        facts.push("the keys of all items in the table read".to_owned());
    }
    let hiding = hiding.into_iter();
    facts.extend(hiding.map(|table| format!("row security may hide rows of {table}")));
    facts.extend(hidden_columns.into_iter().map(str::to_owned));
    let example = report.findings.first().map(|finding| {
        let item_type = finding.item_type.as_deref().unwrap_or("item");
        format!("{item_type} {}", finding.key)
    });
    Claim {
        kind: ClaimKind::TableEqual,
        of,
        verdict,
        because,
        facts,
        example,
    }
}

fn verdict(report: &VerifyReport, whole: bool) -> (ClaimVerdict, String) {
    let total = &report.total;
    let not_proved = |because: String| (ClaimVerdict::NotProved, because);
    let not_searched = match &report.unexpected_why_not {
        Some(why) if report.sample.is_none() => {
            format!("; items that the source does not make were not looked for: {why}")
        }
        _ => String::new(),
    };
    match &report.outcome {
        VerifyOutcome::Failed(failure) => return not_proved(failure.to_string()),
        VerifyOutcome::Interrupted => {
            return not_proved("interrupted before everything was compared".to_owned());
        }
        VerifyOutcome::Different => {
            let because = "the table differs from what the source makes";
            return (ClaimVerdict::Differs, because.to_owned());
        }
        VerifyOutcome::NothingCompared => {
            let why = nothing_to_compare(total);
            return not_proved(format!("nothing was compared: {why}{not_searched}"));
        }
        VerifyOutcome::Equal | VerifyOutcome::Repaired => {}
    }
    let expired = total.gone + report.expired_meanwhile;
    let gone = match expired {
        0 => String::new(),
        items => format!(", except {} that had expired", counted(items, "item")),
    };
    let of = match report.sample {
        Some(_) => format!("the sample of {}", counted(total.expected, "item")),
        None => "every item".to_owned(),
    };
    let compared = format!("{of} is as the source makes it{gone}");
    if total.rejected > 0 {
        return not_proved(format!("{compared}, but {}", without_item(total)));
    }
    if report.sample.is_some() {
        let verdict = ClaimVerdict::Agrees {
            asked: total.expected - total.gone,
            possible: whole.then_some(total.expected + total.unsampled),
        };
        return (verdict, compared);
    }
    if !not_searched.is_empty() {
        return not_proved(compared + &not_searched);
    }
    if report.unclear > 0 {
        let items = counted(report.unclear, "item");
        return not_proved(format!(
            "the table holds what the source makes{gone}, and also {items}: {UNCLEAR_WHY}"
        ));
    }
    let mut beside = Vec::new();
    if let Some(items @ 1..) = report.elsewhere {
        let are = if items == 1 { "is" } else { "are" };
        let items = counted(items, "item");
        beside.push(format!("{items} that {are} not from the mapping"));
    }
    if report.lingering > 0 {
        let items = counted(report.lingering, "expired item");
        beside.push(format!("{items} that DynamoDB has yet to delete"));
    }
    if expired > 0 {
        let mut because = format!("the table holds what the source makes{gone}");
        if !beside.is_empty() {
            because.push_str(&format!("; it also holds {}", beside.join(", and ")));
        }
        let verdict = ClaimVerdict::Agrees {
            asked: total.expected - total.gone,
            possible: Some(total.expected),
        };
        return (verdict, because);
    }
    let because = if beside.is_empty() {
        "the table holds exactly what the source makes".to_owned()
    } else {
        format!(
            "the table holds what the source makes, and {}",
            beside.join(", and ")
        )
    };
    (ClaimVerdict::Proved, because)
}

/// Why no item was compared.
fn nothing_to_compare(total: &ComparedBooks) -> String {
    let mut why = Vec::new();
    if total.rejected > 0 {
        why.push(without_item(total));
    }
    if total.gone > 0 {
        let (one, many) = ("item had expired and is", "items had expired and are");
        let items = counted_as(total.gone, one, many);
        why.push(format!("{items} not in the table"));
    }
    if why.is_empty() {
        return "no row makes an item".to_owned();
    }
    why.join(", and ")
}

/// How many rows were rejected.
fn without_item(total: &ComparedBooks) -> String {
    counted_as(total.rejected, "row makes", "rows make") + " no item"
}

/// The books with their names, and with what was repaired.
fn books(model: &Model, found: Vec<ComparedBooks>, mended: &ClosedLedger) -> Vec<ComparedBooks> {
    let mut all = Vec::with_capacity(model.item_types.len());
    let mut found = found.into_iter();
    for (index, item_type) in model.item_types.iter().enumerate() {
        let mut books = found.next().unwrap_or_default();
        books.item_type = item_type.name.to_string();
        books.from = model
            .passes
            .get(item_type.pass)
            .map(|pass| pass.name.clone())
            .unwrap_or_default();
        if let Some(mended) = mended.books.get(index) {
            books.repaired = mended.written;
            books.refused = mended.rejected_by_service;
        }
        all.push(books);
    }
    all
}

fn outcome(
    why: Option<EndReason>,
    total: &ComparedBooks,
    unexpected: &UnexpectedItems,
) -> VerifyOutcome {
    let internal = |what| VerifyOutcome::Failed(Arc::new(Failure::Internal(what)));
    match why {
        Some(EndReason::Cancelled | EndReason::TooManyRejects) => VerifyOutcome::Interrupted,
        Some(EndReason::Failed(failure)) => VerifyOutcome::Failed(failure),
        None if unexpected.items.is_none() && unexpected.why_not.is_none() => {
            internal("the table was not scanned to its end")
        }
        None if total.uncompared > 0 => internal("not every item was compared"),
        None if total.amiss() == 0 && unexpected.absent > 0 => {
            let items = unexpected.absent;
            VerifyOutcome::Failed(Arc::new(Failure::ItemsGone { items }))
        }
        None if total.amiss() > 0 || unexpected.items.is_some_and(|items| items > 0) => {
            VerifyOutcome::Different
        }
        None if total.repaired > 0 => VerifyOutcome::Repaired,
        None if unexpected.items.is_none() && total.expected == total.gone => {
            VerifyOutcome::NothingCompared
        }
        None => VerifyOutcome::Equal,
    }
}

// Sheets: what was found of one chunk. They are added up when nobody holds them any more, so that
// what was found of a chunk that is read again counts once.

/// Where something comes from, in an order that does not depend on who read it when: pass, chunk,
/// block, and place in the block.
pub(super) type FindingPlace = (usize, usize, u64, u64);

/// The first of many things.
#[derive(Debug)]
pub(super) struct FirstFew<T> {
    most: usize,
    held: Vec<(FindingPlace, T)>,
}

impl<T> FirstFew<T> {
    fn new(most: usize) -> Self {
        Self {
            most,
            held: Vec::new(),
        }
    }

    /// Whether something from there is among the first, as far as is known.
    pub(super) fn wants(&self, place: FindingPlace) -> bool {
        self.held.len() < self.most || self.held.last().is_some_and(|(last, _)| place < *last)
    }

    pub(super) fn push(&mut self, place: FindingPlace, thing: T) {
        if self.wants(place) {
            let at = self.held.partition_point(|(other, _)| *other <= place);
            self.held.insert(at, (place, thing));
            self.held.truncate(self.most);
        }
    }

    fn take(&mut self, other: Self) {
        for (place, thing) in other.held {
            self.push(place, thing);
        }
    }

    pub(super) fn into_vec(self) -> Vec<T> {
        self.held.into_iter().map(|(_, thing)| thing).collect()
    }
}

/// All that was found, of a chunk or of the run.
#[derive(Debug)]
pub(super) struct RunFindings {
    /// By item type.
    pub(super) books: Vec<ComparedBooks>,
    pub(super) findings: FirstFew<Finding>,
    pub(super) rejects: FirstFew<RejectNote>,
}

impl RunFindings {
    pub(super) fn new(item_types: usize, findings: usize, rejects: usize) -> Self {
        Self {
            books: vec![ComparedBooks::default(); item_types],
            findings: FirstFew::new(findings),
            rejects: FirstFew::new(rejects),
        }
    }

    fn empty_like(&self) -> Self {
        Self::new(self.books.len(), self.findings.most, self.rejects.most)
    }

    /// The books of an item type.
    pub(super) fn with(&mut self, item_type: usize, change: impl FnOnce(&mut ComparedBooks)) {
        if let Some(books) = self.books.get_mut(item_type) {
            change(books);
        }
    }

    /// Keeps the first rejects.
    pub(super) fn reject(&mut self, place: FindingPlace, reject: impl FnOnce() -> RejectNote) {
        if self.rejects.wants(place) {
            self.rejects.push(place, reject());
        }
    }

    pub(super) fn take(&mut self, other: Self) {
        for (mine, theirs) in self.books.iter_mut().zip(&other.books) {
            mine.add(theirs);
        }
        self.findings.take(other.findings);
        self.rejects.take(other.rejects);
    }
}

/// What the sheets are added up in.
pub(super) type FindingsLedger = Arc<Mutex<RunFindings>>;

/// The sheet of an attempt at a chunk.
#[derive(Debug)]
pub(super) struct FindingsSheet {
    pub(super) id: ChunkId,
    /// No two sheets of a run have one number.
    pub(super) attempt: u64,
    /// Where what is repaired is counted.
    pub(super) ticket: Option<Arc<Ticket>>,
    /// `None`: nothing of it counts.
    found: Mutex<Option<RunFindings>>,
    ledger: FindingsLedger,
}

impl FindingsSheet {
    pub(super) fn new(
        id: ChunkId,
        attempt: u64,
        ticket: Option<Arc<Ticket>>,
        ledger: FindingsLedger,
    ) -> Self {
        let empty = ledger.lock().empty_like();
        Self {
            id,
            attempt,
            ticket,
            found: Mutex::new(Some(empty)),
            ledger,
        }
    }

    pub(super) fn place(&self, block: u64, nth: u64) -> FindingPlace {
        (self.id.pass, self.id.chunk, block, nth)
    }

    pub(super) fn enter(&self, change: impl FnOnce(&mut RunFindings)) {
        let mut found = self.found.lock();
        if let Some(found) = &mut *found {
            change(found);
        }
    }

    pub(super) fn count(&self, item_type: usize, change: impl FnOnce(&mut ComparedBooks)) {
        self.enter(|found| found.with(item_type, change));
    }

    /// The chunk will be read again: nothing of this counts.
    pub(super) fn forget(&self) {
        self.found.lock().take();
    }
}

impl Drop for FindingsSheet {
    fn drop(&mut self) {
        if let Some(found) = self.found.get_mut().take() {
            self.ledger.lock().take(found);
        }
    }
}

// A sample: some of the items, from all over the source, the same ones every time.
//
// Large tables have some of their chunks read, chosen by hash. Of the keys in these, those with the
// least hashes are compared: as many as were asked for, of whatever item type, whether rows are
// left out by conditions or make many items.

/// Fewest chunks of a pass that are read, where it has as many, and the least share of them.
const CHUNKS: u64 = 8;
const SHARE: u64 = 8;
/// Rows that are read for each item, at least, as far as rows can be counted.
const ROWS: u64 = 4;

/// Leaves chunks out that a sample need not read.
pub(super) fn thin(mut plan: ChunkPlan, sample: u64, model: &Model) -> ChunkPlan {
    let rows = |pass: usize| model.passes.get(pass)?.estimated_rows;
    let items = |pass: usize| {
        let types = model.passes.get(pass).map_or(0, |p| p.item_types.len());
        rows(pass).unwrap_or(0) * whole(types)
    };
    let all: u64 = (0..plan.passes.len()).map(items).sum();
    for (pass, parts) in plan.passes.iter_mut().enumerate() {
        let chunks = whole(parts.len());
        let needed = match rows(pass) {
            // So much of it that the sample is in there several times over.
            Some(1..) => chunks
                .saturating_mul(sample.saturating_mul(ROWS))
                .div_ceil(all.max(1)),
            _ => chunks,
        };
        let needed = needed.max(chunks.div_ceil(SHARE)).max(CHUNKS);
        if needed < chunks {
            keep(parts, pass, needed);
        }
    }
    plan
}

fn keep(parts: &mut Vec<ChunkPart>, pass: usize, needed: u64) {
    let hash = |at: usize| xxh3_64(format!("{pass}/{at}").as_bytes());
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by_key(|at| hash(*at));
    order.truncate(usize::try_from(needed).unwrap_or(usize::MAX));
    let mut at = 0;
    parts.retain(|_| {
        at += 1;
        order.contains(&(at - 1))
    });
}

/// Finds out up to which hash keys are in the sample.
#[derive(Debug)]
pub(super) struct SampleThreshold {
    most: usize,
    /// Of rows that share a key one is compared at most, and so each key counts once.
    least: BTreeSet<u64>,
    /// Whether there were more keys than are wanted.
    pub(super) full: bool,
}

impl SampleThreshold {
    pub(super) fn new(sample: u64) -> Self {
        Self {
            most: usize::try_from(sample).unwrap_or(usize::MAX),
            least: BTreeSet::new(),
            full: false,
        }
    }

    pub(super) fn take(&mut self, place: u128) {
        self.least.insert(order(place));
        if self.least.len() > self.most {
            self.least.pop_last();
            self.full = true;
        }
    }

    /// The last hash that is in the sample.
    pub(super) fn last(&self) -> u64 {
        match self.least.last() {
            Some(last) if self.full => *last,
            _ => u64::MAX,
        }
    }
}

/// What stands for an item's key in a sample, the same in every run.
pub(super) fn place(table: &Table, item: &Item) -> u128 {
    partition_fingerprint(table.key().filter_map(|key| item.get(&key.name)))
}

/// The order in which items are taken into a sample.
pub(super) fn order(place: u128) -> u64 {
    xxh3_64(&place.to_le_bytes())
}

/// What was found of items of the table that the source does not make.
#[derive(Debug, Default)]
pub(super) struct UnexpectedItems {
    /// `None` where they were not looked for to the end.
    pub(super) items: Option<u64>,
    pub(super) why_not: Option<String>,
    pub(super) elsewhere: Option<u64>,
    pub(super) unclear: u64,
    pub(super) lingering: u64,
    /// Items that the rows make and that were not among the keys of the table.
    pub(super) absent: u64,
    /// Those of them that may have expired by then.
    pub(super) lapsed: u64,
    pub(super) findings: Vec<Finding>,
}

/// Why they are not looked for.
pub(super) fn excused(
    options: &VerifyOptions,
    model: &Model,
    owners: &Result<ItemTypeMarks, Indistinguishable>,
) -> Option<String> {
    if options.sample.is_some() {
        return Some("a sample was compared".to_owned());
    }
    match owners {
        Err(unowned) if selected(model).contains(&false) => Some(unowned.to_string()),
        _ => None,
    }
}

/// Scans the table and compares its keys with those that the rows make.
pub(super) async fn look(
    verify: &Verify,
    owners: Option<&ItemTypeMarks>,
    mut keys: Proof,
    forgotten: &HashSet<u64>,
) -> Result<UnexpectedItems, EndReason> {
    let model: &Arc<Model> = &verify.model;
    let selected = selected(model);
    // Where only some item types are looked at, it is not asked what others have made.
    let whole = !selected.contains(&false);
    let scan = TableScan {
        target: &verify.target,
        model,
        owners,
        strangers: whole,
        partition: verify.options.partition.clone(),
        secret: None,
        now: verify.context.now.as_second(),
        cancel: &verify.cancel,
    };
    let spool = scan.read(&mut keys, &selected).await?;
    let (mut items, mut elsewhere) = (0_u64, 0_u64);
    let mut found = UnexpectedItems::default();
    let compared = compare(keys, spool, forgotten, async |stray: StrayItem| {
        if stray.item_type == STRANGER && !stray.unclear && owners.is_some() {
            elsewhere += 1;
        } else if stray.stale == StaleCause::Expired && stray.past {
            // Its key is that of a row, so it is the mapping's, whatever its form tells.
            found.lingering += 1;
        } else if stray.unclear {
            found.unclear += 1;
        } else {
            items += 1;
            if found.findings.len() < verify.examples {
                found.findings.push(finding(verify, stray));
            }
        }
        Ok(!verify.cancel.is_cancelled())
    });
    let compared = compared.await?;
    Ok(UnexpectedItems {
        absent: compared.absent,
        lapsed: compared.lapsed,
        items: Some(items),
        elsewhere: owners.filter(|_| whole).map(|_| elsewhere),
        ..found
    })
}

fn finding(verify: &Verify, stray: StrayItem) -> Finding {
    let item_type = name(&verify.model, stray.item_type);
    let (kind, stale) = match item_type {
        None => (FindingKind::Unexpected, None),
        Some(_) => (FindingKind::Stale, Some(stale(stray.stale, &verify.model))),
    };
    Finding {
        kind,
        item_type,
        row: None,
        key: raw(stray.json),
        attributes: Vec::new(),
        stale,
        made_by: None,
        foreign: None,
    }
}

/// What has become of a stale item's row, as far as a reading of the rows that make items tells.
fn stale(stale: StaleCause, model: &Model) -> &'static str {
    match stale {
        StaleCause::Gone | StaleCause::Filtered if !model.row_security().is_empty() => {
            "no row that row security lets this reader see makes it"
        }
        StaleCause::Gone | StaleCause::Filtered => "no row makes it",
        StaleCause::Rejected => "its row makes no item",
        StaleCause::Expired => "its row has expired, and its TTL is not over",
    }
}

/// The name of an item type.
pub(super) fn name(model: &Model, index: usize) -> Option<String> {
    let name = |item_type: &ItemType| item_type.name.to_string();
    model.item_types.get(index).map(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draw_takes_as_many_as_it_is_asked_for_and_all_where_there_are_fewer() {
        for (keys, sample) in [(1_000_u128, 10), (1_000, 1_000), (5, 10), (11, 10), (1, 1)] {
            let mut draw = SampleThreshold::new(sample);
            // Two rows make each key.
            (0..keys).chain(0..keys).for_each(|key| draw.take(key));
            let last = draw.last();
            let taken = (0..keys).filter(|key| order(*key) <= last).count();
            assert_eq!(whole(taken), sample.min(u64::try_from(keys).unwrap()));
        }
    }
}
