//! The report of a run: how it ended, the books of all item types, and what the run met on its way.
//!
//! It is data only. [`super::ending`] fills it in; `cli` prints it, for people or as JSON.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use dynafold_format::{counted_as, float};
use dynafold_mapping::claim::Claim;
use dynafold_mapping::item::{Expiry, Folded};
use dynafold_mapping::model::Model;
use dynafold_target::Consumed;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::failure::{Failure, shared};
use super::{ItemAction, KeyCheck};

/// How a run ended.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Outcome {
    /// Every row is an item in the table, or left out as the mapping says.
    Complete,
    /// The run went to its end; some rows are in the rejects file.
    CompleteWithRejects,
    /// More rows were rejected than allowed; the rest was not read.
    Stopped {
        /// One line: what was exceeded.
        reason: String,
    },
    /// The run was cancelled; what was in flight is written.
    Interrupted,
    /// The source, the target or the rejects file failed.
    Failed(#[serde(serialize_with = "shared")] Arc<Failure>),
}

impl Outcome {
    /// Whether the run read every row to its end.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        matches!(self, Self::Complete | Self::CompleteWithRejects)
    }
}

/// What happened between sending and done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Traffic {
    /// Requests answered, for good or ill.
    pub requests: u64,
    /// Requests that the service refused because of throttling.
    pub throttled: u64,
    /// Requests that failed for a passing reason.
    pub transient: u64,
    /// Items that an answer listed as unprocessed, counted each time.
    pub unprocessed: u64,
    /// Batches that were split to find an item that the service refused.
    pub splits: u64,
    /// Write capacity units that the answers say were used; `None` where they say nothing.
    pub consumed_units: Option<f64>,
    /// Seconds that writers waited before sending again, all writers together.
    pub backoff_seconds: f64,
}

impl Traffic {
    /// Enters an answer that left so many items unprocessed.
    pub(super) fn answered(&mut self, unprocessed: u64, consumed: Option<Consumed>) {
        self.requests += 1;
        self.unprocessed += unprocessed;
        if let Some(consumed) = consumed {
            *self.consumed_units.get_or_insert(0.0) += consumed.total;
        }
    }
}

/// What kept the run from being faster.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitedBy {
    /// Waiting for rows.
    #[default]
    Source,
    /// Making items.
    Fold,
    /// Waiting for the target to take items.
    Target,
    /// Waiting because the target throttles.
    Throttling,
    /// Waiting because of the ceiling that the caller set.
    Ceiling,
    /// Waiting for partitions that take no more.
    Partition,
}

/// Where the time went, as the fold saw it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct WaitTimes {
    /// Seconds of waiting for rows.
    pub source_seconds: f64,
    /// Seconds of making items.
    pub fold_seconds: f64,
    /// Seconds of waiting for the target.
    pub target_seconds: f64,
}

/// A reject, as the report names the first of them.
#[derive(Debug, Clone, Serialize)]
pub struct RejectNote {
    /// The item type's name.
    pub item_type: String,
    /// The row: row key columns and their values.
    pub row: Box<RawValue>,
    /// Stable kebab-case code, or the service's error code.
    pub code: String,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
    /// The attribute at fault.
    pub attribute: Option<String>,
}

/// How it is known that no item overwrote another.
#[derive(Debug, Clone, Default, Serialize)]
pub struct KeysReport {
    /// How shared keys were looked for.
    pub check: KeyCheck,
    /// Keys that were compared; none where the schema proved them.
    pub compared: u64,
    /// Items beyond the first of their keys, found before the first write.
    pub shared: u64,
    /// Rows that make no item, found before the first write as far as the reading of keys met them.
    pub faults: u64,
    /// Items that were written over another, found after the last write.
    pub overwritten: u64,
    /// Bytes of keys that went to disk.
    pub spilled_bytes: u64,
}

/// Stale items that a run has left in the table, by what has become of their rows. Without `--prune`
/// they are not looked for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct RemainingStale {
    /// `where` leaves their rows out.
    pub filtered: u64,
    /// The view, the query or the table with row security that their rows come from, or are joined to, does not return them.
    pub not_returned: u64,
    /// Their rows are rejected.
    pub rejected: u64,
    /// Their rows have expired, and are not loaded.
    pub expired: u64,
    /// Whether they are the mapping's cannot be told.
    pub unclear: u64,
    /// Of a load that went on: items that it has not sent.
    #[serde(skip)]
    pub(super) others: u64,
    /// Of a load that went on: deleted items that it has sent, of no item type of the mapping.
    #[serde(skip)]
    pub(super) strangers: u64,
}

/// Why it cannot be told whether an item is the mapping's.
pub const UNCLEAR_WHY: &str = "it is unknown whether they belong to the mapping, because the table has no type attribute, and it is not known which texts their keys may have: SQLite stores text in numeric columns too, and only the database knows the texts of inet, interval, time, JSON and similar types";

impl RemainingStale {
    /// What there is to say of them.
    pub(super) fn sentences(&self) -> Vec<String> {
        let lines = [
            (
                self.filtered,
                "`where` leaves their rows out; --prune=filtered deletes them",
            ),
            (
                self.not_returned,
                "their rows come from, or are joined to, a view, a query or a table with row security, which may leave rows out, so it is unknown whether the rows are gone; --prune=filtered deletes the items",
            ),
            (self.rejected, "their rows are rejected"),
            (self.expired, "their rows have expired"),
        ];
        let some = lines.into_iter().filter(|(items, _)| *items > 0);
        let stale = some.map(|(items, why)| {
            let items = counted_as(items, "stale item stays", "stale items stay");
            format!("{items} in the table: {why}")
        });
        let (one, many) = (
            "item that no row makes stays",
            "items that no row makes stay",
        );
        let unclear = (self.unclear > 0).then(|| {
            let items = counted_as(self.unclear, one, many);
            format!("{items} in the table: {UNCLEAR_WHY}")
        });
        stale.chain(unclear).collect()
    }
}

fn reasons<S: serde::Serializer>(
    reasons: &BTreeMap<(String, String), u64>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Given<'r> {
        reason: &'r str,
        resource: &'r str,
        times: u64,
    }
    serializer.collect_seq(reasons.iter().map(|((reason, resource), times)| Given {
        reason,
        resource,
        times: *times,
    }))
}

/// All that there is to say about a run. As JSON its field names are stable.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// How it ended.
    pub outcome: Outcome,
    /// What it claims: that its books balance, and that no two of its items have one key.
    pub claims: Vec<Claim>,
    /// The table's name.
    pub table: String,
    /// Where the table is.
    pub place: String,
    /// The run's clock, in RFC 3339: by it items have expired or not.
    pub now: String,
    /// What was done with items.
    pub doing: ItemAction,
    /// Whether an earlier attempt had done a part of it; its books are among these.
    pub resumed: bool,
    /// How it is known that no item overwrote another.
    pub keys: KeysReport,
    /// The books of each item type, in the order of the mapping.
    pub item_types: Vec<Books>,
    /// All item types together; a row that serves two item types counts twice.
    pub total: Books,
    /// Whether all books add up.
    #[serde(skip)]
    pub balanced: bool,
    /// What the source found odd in its values: those that are not as their columns declare them;
    /// and what the run found odd in the items' TTL.
    pub warnings: Vec<String>,
    /// Stale items that are still in the table, where --prune has looked for them.
    pub left: RemainingStale,
    /// The first rejects.
    pub rejects: Vec<RejectNote>,
    /// Where all rejects are; `None` where there are none.
    pub rejects_file: Option<PathBuf>,
    /// Where the archived items are; `None` where there are none.
    pub archive_file: Option<PathBuf>,
    /// Requests and retries.
    pub traffic: Traffic,
    /// How often each reason was given for throttling, and for what.
    #[serde(serialize_with = "reasons")]
    pub throttled_by: BTreeMap<(String, String), u64>,
    /// Where the time went.
    pub waits: WaitTimes,
    /// What kept the run from being faster.
    pub limited_by: LimitedBy,
    /// Time from the first row to the end.
    pub elapsed_seconds: f64,
    /// Rows of the passes read each second.
    pub rows_per_second: f64,
}

impl Report {
    /// Whether a plan would change anything.
    #[must_use]
    pub fn would_change(&self) -> bool {
        self.doing == ItemAction::Plan && self.total.planned + self.total.deleted > 0
    }

    /// Whether every row and every item is accounted for.
    #[must_use]
    pub fn balances(&self) -> bool {
        self.item_types.iter().all(Books::balances)
    }
}

/// Things each second.
#[must_use]
pub(crate) fn rate(count: u64, elapsed: Duration) -> f64 {
    let seconds = elapsed.as_secs_f64();
    if seconds > 0.0 {
        float(count) / seconds
    } else {
        0.0
    }
}

// The books: what became of every row and every item. They must add up.

/// What became of the rows of an item type before they are items.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Counts {
    pub(crate) rows_read: u64,
    pub(crate) filtered: u64,
    /// Rows without an element.
    pub(crate) empty: u64,
    /// Elements beyond the first of their rows.
    pub(crate) expanded: u64,
    /// Children of embeds that have no parent, and those beyond their limit.
    pub(crate) orphans: u64,
    pub(crate) cut: u64,
}

/// The books of one item type.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Books {
    /// The item type's name.
    pub item_type: String,
    /// What its rows are read from, as the mapping writes it.
    pub from: String,
    /// Rows of that relation.
    pub rows_read: u64,
    /// Rows left out by the item type's `where`.
    pub filtered: u64,
    /// Rows and elements left out because their items have expired.
    pub expired: u64,
    /// Rows and elements whose items went to the archive file because they have expired.
    pub archived: u64,
    /// Rows of which no element became an item, because the arrays to explode are empty or NULL.
    pub empty: u64,
    /// Elements beyond the first of their rows, where rows are exploded.
    pub expanded: u64,
    /// Children of embeds that have no parent.
    pub orphans: u64,
    /// Children of embeds beyond their `$limit`.
    pub cut: u64,
    /// Rows and elements that became no item, and items that the service refused to take or to
    /// delete.
    pub rejected: u64,
    /// Of those, the items that the service refused to take.
    pub rejected_by_service: u64,
    /// The rejects by their codes.
    pub rejects_by_code: BTreeMap<String, u64>,
    /// Items made.
    pub made: u64,
    /// Items of which the target has said that they are written.
    pub written: u64,
    /// Items that the table held already as they should be; nothing was written.
    pub unchanged: u64,
    /// Items that a plan would write.
    pub planned: u64,
    /// Of the items written or planned, those of which the table held another version, as far as
    /// it was looked at.
    pub changed: u64,
    /// Items deleted, because no row makes them any more; those that a plan would delete.
    pub deleted: u64,
    /// Items that were to be deleted and that the service refused to delete; they are among the
    /// rejected.
    pub undeleted: u64,
    /// Items made and not known to be written, because the run ended before.
    pub unwritten: u64,
    /// Bytes of the items made, as DynamoDB counts them.
    pub bytes: u64,
    /// Write capacity units of the items made, index entries included, by their sizes.
    pub write_units: u64,
    /// Of the items made, those with attributes that were compressed.
    pub compressed: u64,
    /// Of the items made, those that have expired already: DynamoDB deletes them again.
    pub made_expired: u64,
    /// Of the items made, those that expired more than five years ago: DynamoDB never deletes
    /// them.
    pub made_too_old: u64,
    /// Of the items made, those whose TTL is in milliseconds: DynamoDB never deletes them.
    pub made_in_milliseconds: u64,
    /// The largest item made.
    pub largest: Option<LargestItem>,
}

/// The largest item of an item type.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct LargestItem {
    /// Its bytes, as DynamoDB counts them.
    pub bytes: u64,
    /// The row it was made from: row key columns and their values.
    pub row: Box<RawValue>,
}

impl Books {
    /// Whether every row and every item is accounted for.
    #[must_use]
    pub fn balances(&self) -> bool {
        let refused = self.rejected_by_service + self.undeleted;
        let rejected_at_fold = self.rejected.checked_sub(refused);
        let by_code: u64 = self.rejects_by_code.values().sum();
        rejected_at_fold.is_some_and(|at_fold| {
            self.rows_read + self.expanded
                == self.filtered + self.empty + self.expired + self.archived + at_fold + self.made
                && self.made
                    == self.written
                        + self.unchanged
                        + self.planned
                        + self.rejected_by_service
                        + self.unwritten
                && self.rejected == by_code
        })
    }

    /// Empty books of an item type.
    pub(super) fn of(model: &Model, index: usize) -> Self {
        let item_type = model.item_types.get(index);
        let pass = item_type.and_then(|item_type| model.passes.get(item_type.pass));
        Self {
            item_type: item_type.map(|t| t.name.to_string()).unwrap_or_default(),
            from: pass.map(|pass| pass.name.clone()).unwrap_or_default(),
            ..Self::default()
        }
    }

    /// Adds what became of rows before they were items.
    pub(super) fn count(&mut self, counts: &Counts) {
        self.rows_read += counts.rows_read;
        self.filtered += counts.filtered;
        self.empty += counts.empty;
        self.expanded += counts.expanded;
        self.orphans += counts.orphans;
        self.cut += counts.cut;
    }

    pub(super) fn reject(&mut self, code: &str) {
        self.rejected += 1;
        *self.rejects_by_code.entry(code.to_owned()).or_default() += 1;
    }

    /// Adds books of the same item type, the largest item too.
    pub(super) fn take(&mut self, other: Self) {
        self.add(&other);
        let larger =
            |mine: &LargestItem| other.largest.as_ref().is_some_and(|l| l.bytes > mine.bytes);
        if self.largest.as_ref().is_none_or(larger) && other.largest.is_some() {
            self.largest = other.largest;
        }
    }

    /// Mean bytes of an item; 0 without items.
    #[must_use]
    pub fn mean_bytes(&self) -> u64 {
        self.bytes.checked_div(self.made).unwrap_or(0)
    }

    /// Adds another item type's books; names and largest item are left aside.
    pub fn add(&mut self, other: &Self) {
        self.rows_read += other.rows_read;
        self.filtered += other.filtered;
        self.expired += other.expired;
        self.archived += other.archived;
        self.empty += other.empty;
        self.expanded += other.expanded;
        self.orphans += other.orphans;
        self.cut += other.cut;
        self.rejected += other.rejected;
        self.rejected_by_service += other.rejected_by_service;
        for (code, count) in &other.rejects_by_code {
            *self.rejects_by_code.entry(code.clone()).or_default() += count;
        }
        self.made += other.made;
        self.written += other.written;
        self.unchanged += other.unchanged;
        self.planned += other.planned;
        self.changed += other.changed;
        self.deleted += other.deleted;
        self.undeleted += other.undeleted;
        self.unwritten += other.unwritten;
        self.bytes += other.bytes;
        self.write_units += other.write_units;
        self.compressed += other.compressed;
        self.made_expired += other.made_expired;
        self.made_too_old += other.made_too_old;
        self.made_in_milliseconds += other.made_in_milliseconds;
    }
}

// Where the time of a run goes, over all its tasks.

/// Where the time of a run goes.
#[derive(Debug, Default)]
pub(super) struct RunTimes {
    /// Waiting for rows.
    pub(super) source: Timer,
    /// Making items.
    pub(super) fold: Timer,
    /// Waiting for the target to take items.
    pub(super) target: Timer,
}

/// Microseconds, counted by whoever waits or works.
#[derive(Debug, Default)]
pub(super) struct Timer(AtomicU64);

impl Timer {
    pub(super) fn add(&self, time: Duration) {
        let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        self.0.fetch_add(micros, Ordering::Relaxed);
    }

    pub(super) fn total(&self) -> Duration {
        Duration::from_micros(self.0.load(Ordering::Relaxed))
    }
}

// What is odd about the TTL of items.

/// Enters what is to be said of an item's TTL, and whether it was compressed.
pub(super) fn enter(books: &mut Books, folded: &Folded) {
    books.compressed += u64::from(!folded.compressed.is_empty());
    match folded.expiry {
        Expiry::Ahead => {}
        Expiry::Past => books.made_expired += 1,
        Expiry::TooOld => books.made_too_old += 1,
        Expiry::Milliseconds => books.made_in_milliseconds += 1,
    }
}

/// What is odd about the TTL of items that were made, a sentence for each kind and item type.
pub(super) fn ttl_remarks(books: &[Books]) -> Vec<String> {
    let mut all = Vec::new();
    for books in books {
        let mut say = |items: u64, text: &str| {
            let plural = if items == 1 { "" } else { "s" };
            if items > 0 {
                all.push(format!("{}: {items} item{plural} {text}", books.item_type));
            }
        };
        say(
            books.made_expired,
            "had already expired; DynamoDB deletes such items again, and `expired: skip` leaves them out",
        );
        say(
            books.made_too_old,
            "expired more than five years ago; DynamoDB never deletes such items, and `expired: skip` leaves them out",
        );
        say(
            books.made_in_milliseconds,
            "with a TTL in milliseconds; DynamoDB reads seconds, as `epoch` gives them, and never deletes such items",
        );
    }
    all
}

// What a run tells while it goes on. The command line draws bars from it; nothing is drawn here.

/// Hears how a run goes. Called for each chunk or batch, never for each row; every method may be
/// called from any thread.
#[expect(unused_variables, reason = "nobody has to hear everything")]
pub trait Progress: Send + Sync {
    /// A pass begins: its index and name, the item types that it serves, and about how many rows
    /// it will read.
    fn pass(&self, pass: usize, name: &str, item_types: &[usize], estimated_rows: Option<u64>) {}

    /// So many more rows were read for an item type.
    fn rows(&self, item_type: usize, rows: u64) {}

    /// So many more rows of an item type became no item.
    fn rejected(&self, item_type: usize, rows: u64) {}

    /// So many more items of an item type are in the table (or compared, for `verify`).
    fn written(&self, item_type: usize, items: u64) {}

    /// So many items were held back by throttling and wait to be sent again.
    fn throttled(&self, items: u64) {}

    /// The run turns to something else than reading and writing.
    fn step(&self, step: RunStep) {}
}

/// What a run does besides reading and writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunStep {
    /// Reading the keys of all items before the first write.
    ProvingKeys,
    /// Looking for equal keys among all that were made.
    ComparingKeys,
    /// Reading again to name the rows that share a key.
    NamingDuplicates,
    /// Ending the load on the target.
    Finishing,
    /// Looking for items in the table that the source does not make.
    LookingForUnexpected,
}

/// Nobody listens.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoProgress;

impl Progress for NoProgress {}
