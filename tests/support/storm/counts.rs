//! What the endpoint counts.
//!
//! Every request is received, and then answered well, refused with an error, or left without a
//! whole answer: `received` is the sum of the others once nothing is in flight.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use serde::Serialize;

use super::gauge::Reason;
use super::image::Charge;
use super::schema::Schema;

/// The window of the ceiling test.
const WINDOW: Duration = Duration::from_secs(5);

/// All counts, since the start or the last reset.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct Counts {
    pub(crate) seconds: f64,
    /// By operation.
    pub(crate) requests: BTreeMap<String, Requests>,
    /// Faults that struck, by kind.
    pub(crate) faults: BTreeMap<String, u64>,
    pub(crate) items: Items,
    /// Refused writes of items, by reason; one may have several.
    pub(crate) reasons: BTreeMap<String, u64>,
    pub(crate) units: Units,
    /// The five seconds with the most units.
    pub(crate) window: Window,
    pub(crate) tables: BTreeMap<String, TableCounts>,
}

/// Requests of one operation.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct Requests {
    pub(crate) received: u64,
    pub(crate) answered: u64,
    /// By code.
    pub(crate) errors: BTreeMap<String, u64>,
    /// Without a whole answer, whatever was done.
    pub(crate) unanswered: u64,
}

#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct Items {
    /// Puts that were done, those over another item among them.
    pub(crate) put: u64,
    /// Puts over an item that was there.
    pub(crate) replaced: u64,
    /// Deletions that were done, also of items that were not there.
    pub(crate) deleted: u64,
    /// Writes that a limit refused.
    pub(crate) refused: u64,
    /// Writes that a fault left unprocessed.
    pub(crate) left: u64,
    /// Writes that were done, and whose answer did not tell.
    pub(crate) untold: u64,
}

/// Write capacity units of the writes that were done.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct Units {
    pub(crate) total: f64,
    /// Of the tables without their indexes.
    pub(crate) tables: f64,
    /// By `table/index`.
    pub(crate) indexes: BTreeMap<String, f64>,
    pub(crate) each_second: Vec<f64>,
}

#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct Window {
    pub(crate) seconds: u64,
    pub(crate) most_units: f64,
    /// Seconds since the begin.
    pub(crate) ended: f64,
}

#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct TableCounts {
    pub(crate) items: u64,
    /// How many partitions there are, or were seen.
    pub(crate) partitions: u64,
    pub(crate) splits: u64,
    /// Those with most traffic, the busiest first.
    pub(crate) busiest: Vec<PartitionCounts>,
    /// The same for each global index.
    pub(crate) indexes: BTreeMap<String, Vec<PartitionCounts>>,
}

#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct PartitionCounts {
    /// The first hash; or the partition key, where each is a partition of its own.
    pub(crate) partition: String,
    pub(crate) accepted: f64,
    pub(crate) refused: f64,
    /// Accepted units, by second of the endpoint's clock.
    pub(crate) each_second: Vec<(u64, f64)>,
}

/// Counts while they grow.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    begun: Duration,
    counts: Counts,
    window: VecDeque<(Duration, f64)>,
    in_window: f64,
}

/// A write that was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WriteOutcome {
    Put,
    Replaced,
    Deleted,
}

/// How a request ended.
#[derive(Debug)]
pub(crate) enum RequestEnd<'a> {
    Answered,
    Error(&'a str),
    Unanswered,
}

impl Recorder {
    pub(crate) fn new(begun: Duration) -> Self {
        Self {
            begun,
            ..Self::default()
        }
    }

    /// The counts without those that the tables keep themselves.
    pub(crate) fn counts(&self, now: Duration) -> Counts {
        let mut counts = self.counts.clone();
        counts.seconds = now.saturating_sub(self.begun).as_secs_f64();
        counts.window.seconds = WINDOW.as_secs();
        counts
    }

    pub(crate) fn received(&mut self, operation: &str) {
        self.of(operation).received += 1;
    }

    pub(crate) fn ended(&mut self, operation: &str, ending: &RequestEnd<'_>) {
        let requests = self.of(operation);
        match ending {
            RequestEnd::Answered => requests.answered += 1,
            RequestEnd::Unanswered => requests.unanswered += 1,
            RequestEnd::Error(code) => *requests.errors.entry((*code).to_owned()).or_default() += 1,
        }
    }

    fn of(&mut self, operation: &str) -> &mut Requests {
        if !self.counts.requests.contains_key(operation) {
            let new = Requests::default();
            self.counts.requests.insert(operation.to_owned(), new);
        }
        self.counts
            .requests
            .entry(operation.to_owned())
            .or_default()
    }

    pub(crate) fn struck(&mut self, fault: String) {
        *self.counts.faults.entry(fault).or_default() += 1;
    }

    pub(crate) fn refused(&mut self, reasons: &[Reason]) {
        self.counts.items.refused += 1;
        for reason in reasons {
            let count = self.counts.reasons.entry(reason.reason.clone());
            *count.or_default() += 1;
        }
    }

    pub(crate) fn left(&mut self) {
        self.counts.items.left += 1;
    }

    pub(crate) fn untold(&mut self, writes: u64) {
        self.counts.items.untold += writes;
    }

    pub(crate) fn done(
        &mut self,
        now: Duration,
        done: WriteOutcome,
        schema: &Schema,
        charge: &Charge,
    ) {
        let items = &mut self.counts.items;
        match done {
            WriteOutcome::Put => items.put += 1,
            WriteOutcome::Replaced => {
                items.put += 1;
                items.replaced += 1;
            }
            WriteOutcome::Deleted => items.deleted += 1,
        }
        let total = charge.total();
        let units = &mut self.counts.units;
        units.total += total;
        units.tables += charge.table;
        for used in &charge.indexes {
            if let Some(index) = schema.indexes.get(used.index) {
                let name = format!("{}/{}", schema.name, index.name);
                *units.indexes.entry(name).or_default() += used.units;
            }
        }
        self.count_units(now, total);
    }

    fn count_units(&mut self, now: Duration, units: f64) {
        let since = now.saturating_sub(self.begun);
        let second = usize::try_from(since.as_secs()).unwrap_or(usize::MAX);
        let each = &mut self.counts.units.each_second;
        if each.len() <= second && second < 1_000_000 {
            each.resize(second + 1, 0.0);
        }
        if let Some(in_second) = each.get_mut(second) {
            *in_second += units;
        }
        self.window.push_back((now, units));
        self.in_window += units;
        while let Some((at, gone)) = self.window.front().copied() {
            if now.saturating_sub(at) < WINDOW {
                break;
            }
            self.in_window -= gone;
            self.window.pop_front();
        }
        if self.in_window > self.counts.window.most_units {
            self.counts.window.most_units = self.in_window;
            self.counts.window.ended = since.as_secs_f64();
        }
    }
}
