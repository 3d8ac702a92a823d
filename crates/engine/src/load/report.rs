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
use dynafold_target::Consumed;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::books::{Books, add_fields};
use super::failure::{Failure, shared};
use super::plan::not_compared;
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
    pub fn is_finished(&self) -> bool {
        matches!(self, Self::Complete | Self::CompleteWithRejects)
    }
}

/// What happened between sending and done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
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
    /// Write capacity units that the answers say were used; `None` unless every answer says it.
    pub consumed_units: Option<f64>,
    /// Whether an answer has not said it.
    #[serde(skip)]
    is_unmetered: bool,
    /// Seconds that writers waited before sending again, all writers together.
    pub backoff_seconds: f64,
}

impl Traffic {
    /// Adds that of another part of the load.
    pub(super) fn add(&mut self, other: &Self) {
        if other.requests > 0 {
            self.meter(other.consumed_units);
        }
        add_fields!(self += other: requests, throttled, transient, unprocessed, splits);
        self.backoff_seconds += other.backoff_seconds;
    }

    /// Enters an answer that left so many items unprocessed.
    pub(super) fn answered(&mut self, unprocessed: u64, consumed: Option<Consumed>) {
        self.requests += 1;
        self.unprocessed += unprocessed;
        self.meter(consumed.map(|consumed| consumed.total));
    }

    fn meter(&mut self, units: Option<f64>) {
        self.is_unmetered |= units.is_none();
        let sum = self.consumed_units.unwrap_or_default();
        self.consumed_units = units
            .filter(|_| !self.is_unmetered)
            .map(|units| sum + units);
    }
}

/// What kept the run from being faster.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
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
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct WaitTimes {
    /// Seconds of waiting for rows.
    pub source_seconds: f64,
    /// Seconds of making items.
    pub fold_seconds: f64,
    /// Seconds of waiting for the target.
    pub target_seconds: f64,
}

impl WaitTimes {
    pub(super) fn add(&mut self, other: &Self) {
        add_fields!(self += other: source_seconds, fold_seconds, target_seconds);
    }
}

/// A reject, as the report names the first of them.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RejectNote {
    /// The item type's name.
    pub item_type: String,
    /// The row: row key columns and their values.
    pub row: Box<RawValue>,
    /// Stable kebab-case code, or the service's error code.
    pub code: String,
    /// What is wrong with the row, without its values beyond the key.
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
    /// Items that the run leaves out, whose keys items that it loads have; found before the first write.
    #[serde(skip_serializing_if = "is_zero")]
    pub shared_outside: u64,
    /// Rows that the run leaves out and that have the key of another such row; found before the first write.
    #[serde(skip_serializing_if = "is_zero")]
    pub shared_left_out: u64,
    /// Rows that make no item, found before the first write as far as the reading of keys met them.
    pub faults: u64,
    /// Items that have the key of another of the run, found after the last write: each was written over it, unless it was
    /// unchanged.
    pub overwritten: u64,
    /// Bytes of keys that went to disk.
    pub spilled_bytes: u64,
    /// Who compared the keys of workers; `None` where one process made them all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compared_by: Option<KeyComparer>,
    /// The item types of which the run leaves out all or some rows, whose keys may be among its own and were not compared.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_compared: Vec<String>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands over a reference"
)]
pub(crate) fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl KeysReport {
    /// Items with a key of another that were found before the first write, be they of the run or not.
    pub fn all_shared(&self) -> u64 {
        self.shared + self.shared_outside
    }

    /// What there is to say where only rows that the run leaves out share keys.
    pub fn left_out(&self) -> String {
        let rows = counted_as(
            self.shared_left_out,
            "row that was not selected has",
            "rows that were not selected have",
        );
        format!("{rows} the key of another such row, and no selected row shares its key")
    }

    /// What there is to say of items that the run leaves out.
    pub(super) fn remarks(&self) -> Vec<String> {
        let replaced = (self.shared_outside > 0).then(|| {
            let items = counted_as(
                self.shared_outside,
                "item that was not selected has",
                "items that were not selected have",
            );
            format!(
                "{items} the key of a selected item, and the table can hold only one of the two; a load without --max-rejects stops and names them"
            )
        });
        let unknown = (!self.not_compared.is_empty()).then(|| {
            format!(
                "{}, and `check` does not prove that all of them differ from those of this load, which replaces items that have the same keys",
                not_compared(&self.not_compared)
            )
        });
        replaced.into_iter().chain(unknown).collect()
    }
}

/// Who compares the keys of workers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyComparer {
    /// Whoever ends the load, from the files of all workers.
    Finish,
    /// The job that handed the chunks out, which says so.
    Job,
}

impl KeyComparer {
    /// The words for it.
    pub fn words(self) -> &'static str {
        match self {
            Self::Finish => "by finish",
            Self::Job => "by the job that handed out the chunks",
        }
    }
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
    /// Rows were rejected before their keys were made, and they may be the items of these.
    pub may_be_rejected: u64,
    /// Whether they are of the run's item types cannot be told.
    pub unclear: u64,
    /// Of a load that went on: items that it has not sent.
    #[serde(skip)]
    pub(super) others: u64,
    /// Of a load that went on: deleted items that it has sent, and whose item type nothing tells.
    #[serde(skip)]
    pub(super) strangers: u64,
    /// Items whose deletion was asked for.
    #[serde(skip)]
    pub(super) deletions: u64,
}

/// Why it cannot be told whether an item is of the item types of a run.
pub const UNCLEAR_WHY: &str = "it is unknown whether the item types of this run make such items: the table has no type attribute, and the keys do not always tell. SQLite stores text in numeric columns too, and only the database knows how it prints inet, interval, time, JSON and similar types";

/// Why it cannot be told whether the row of an item is gone.
const MAY_BE_REJECTED_WHY: &str = "some rows were rejected before their keys were made, and it is unknown whether these make such items";

impl RemainingStale {
    /// What there is to say of them.
    pub(super) fn sentences(&self) -> Vec<String> {
        let stale = [
            (
                self.filtered,
                "`where` leaves their rows out; --prune=filtered deletes the items",
            ),
            (
                self.not_returned,
                "their rows come from, or are joined to, a view, a query or a table with row security, which may leave rows out, so it is unknown whether the rows are gone; --prune=filtered deletes the items",
            ),
            (self.rejected, "their rows are rejected"),
            (self.expired, "their rows have expired"),
        ];
        let unknown = [
            (self.may_be_rejected, MAY_BE_REJECTED_WHY),
            (self.unclear, UNCLEAR_WHY),
        ];
        let sentences = |lines: &[(u64, &str)], one, many| -> Vec<String> {
            let some = lines.iter().filter(|(items, _)| *items > 0);
            some.map(|(items, why)| {
                format!("{} in the table: {why}", counted_as(*items, one, many))
            })
            .collect()
        };
        let stale = sentences(&stale, "stale item stays", "stale items stay");
        let (one, many) = (
            "item that no row of this run makes stays",
            "items that no row of this run makes stay",
        );
        [stale, sentences(&unknown, one, many)].concat()
    }
}

fn reasons<S: serde::Serializer>(
    reasons: &BTreeMap<(String, String), u64>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct ThrottleReason<'r> {
        reason: &'r str,
        resource: &'r str,
        times: u64,
    }
    serializer.collect_seq(
        reasons
            .iter()
            .map(|((reason, resource), times)| ThrottleReason {
                reason,
                resource,
                times: *times,
            }),
    )
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
    /// Values of the source that are not as their columns declare them; what the run found odd in the items' TTL; keys of item
    /// types that were not selected; and an archive that is not of this run.
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
    pub fn would_change(&self) -> bool {
        self.doing == ItemAction::Plan && self.total.planned + self.total.deleted > 0
    }

    /// Whether every row and every item is accounted for.
    pub fn balances(&self) -> bool {
        self.item_types.iter().all(Books::balances)
    }
}

/// Things each second.
pub(crate) fn rate(count: u64, elapsed: Duration) -> f64 {
    let seconds = elapsed.as_secs_f64();
    if seconds > 0.0 {
        float(count) / seconds
    } else {
        0.0
    }
}

/// Where the time of a run goes, over all its tasks.
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

/// Hears how a run goes: the command line draws bars from it. Called for each chunk or batch, never for each row; every method may be
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_summed_only_where_every_answer_reports_them() {
        let reported = || {
            Some(Consumed {
                total: 2.0,
                ..Consumed::default()
            })
        };
        let mut traffic = Traffic::default();
        traffic.answered(0, reported());
        traffic.answered(0, reported());
        assert_eq!(traffic.consumed_units, Some(4.0));
        let (mut sum, whole) = (Traffic::default(), traffic);
        traffic.answered(0, None);
        traffic.answered(0, reported());
        assert_eq!(traffic.consumed_units, None);
        for (part, units) in [
            (whole, Some(4.0)),
            (Traffic::default(), Some(4.0)),
            (traffic, None),
            (whole, None),
        ] {
            sum.add(&part);
            assert_eq!(sum.consumed_units, units);
        }
    }
}
