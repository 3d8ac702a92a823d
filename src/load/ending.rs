//! How a run ends: the report.

use tokio::time::Duration;

use super::Load;
use super::books::Books;
use super::claims::claims;
use super::halt::Why;
use super::ledger::Closed;
use super::life::odd;
use super::report::{KeysReport, Left, LimitedBy, Outcome, Report, Waits, rate};
use super::times::Times;
use crate::throttle::Limit;

/// The share of a run's time that it waited for hot partitions alone, from which they held it back.
const HOT: f64 = 0.2;

/// What a report is made from, besides the ledger.
pub(super) struct Ending<'e> {
    pub(super) why: Option<Why>,
    pub(super) times: &'e Times,
    pub(super) warnings: Vec<String>,
    pub(super) left: Left,
    pub(super) rows: u64,
    pub(super) elapsed: Duration,
    pub(super) keys: KeysReport,
    pub(super) paced: Limit,
    /// How long the run waited for nothing but hot partitions.
    pub(super) hot: Duration,
    /// Whether the run came to its first row.
    pub(super) begun: bool,
    /// Whether an earlier attempt had done a part.
    pub(super) resumed: bool,
}

impl Ending<'_> {
    pub(super) fn report(self, load: &Load, closed: Closed) -> Report {
        let why = match (self.why, closed.failure) {
            (Some(Why::Failed(failure)), _) | (_, Some(failure)) => Some(Why::Failed(failure)),
            (why, None) => why,
        };
        let mut total = Books::default();
        for books in &closed.books {
            total.add(books);
        }
        let outcome = match why {
            Some(Why::Cancelled) => Outcome::Interrupted,
            Some(Why::TooManyRejects) => Outcome::Stopped {
                reason: match (self.begun, self.keys.faults, self.keys.shared) {
                    (true, ..) => "there are more rejects than --max-rejects allows".to_owned(),
                    (false, faults, shared) => {
                        let rows = match (faults, shared) {
                            (0, _) => "rows share keys",
                            (_, 0) => "rows make no item",
                            _ => "rows make no item or share keys",
                        };
                        let what = if self.resumed {
                            "nothing more"
                        } else {
                            "nothing"
                        };
                        format!("{rows}, and {what} was written")
                    }
                },
            },
            Some(Why::Failed(failure)) => Outcome::Failed(failure),
            None if self.keys.overwritten > 0 => Outcome::CompleteWithRejects,
            None if total.rejected == 0 => Outcome::Complete,
            None => Outcome::CompleteWithRejects,
        };
        let waits = Waits {
            source_seconds: self.times.source().as_secs_f64(),
            fold_seconds: self.times.fold().as_secs_f64(),
            target_seconds: self.times.target().as_secs_f64(),
        };
        let hot = self.hot > self.elapsed.mul_f64(HOT);
        let sent = &closed.traffic;
        // More than there is of noise, where the requests were too few for a pace.
        let throttled = sent.throttled * 5 > sent.requests + sent.throttled + sent.transient;
        let mut report = Report {
            outcome,
            claims: Vec::new(),
            table: load.model.table.name.clone(),
            place: load.target.place(),
            now: load.context.now.to_string(),
            doing: load.options.doing,
            resumed: self.resumed,
            keys: self.keys,
            warnings: [self.warnings, odd(&closed.books)].concat(),
            left: self.left,
            total,
            balanced: false,
            rejects: closed.notes,
            rejects_file: closed.rejects_file,
            archive_file: closed.archive_file,
            limited_by: limit(&waits, self.paced, throttled, hot),
            throttled_by: closed.reasons,
            traffic: closed.traffic,
            waits,
            elapsed_seconds: self.elapsed.as_secs_f64(),
            rows_per_second: rate(self.rows, self.elapsed),
            item_types: closed.books,
        };
        report.balanced = report.balances();
        report.claims = claims(load, &report);
        report
    }
}

fn limit(waits: &Waits, paced: Limit, throttled: bool, hot: bool) -> LimitedBy {
    let Waits {
        source_seconds,
        fold_seconds,
        target_seconds,
    } = *waits;
    if target_seconds >= source_seconds && target_seconds >= fold_seconds {
        match paced {
            Limit::Ceiling => LimitedBy::Ceiling,
            _ if hot => LimitedBy::Partition,
            Limit::Table => LimitedBy::Throttling,
            Limit::Nothing if throttled => LimitedBy::Throttling,
            Limit::Nothing => LimitedBy::Target,
        }
    } else if fold_seconds >= source_seconds {
        LimitedBy::Fold
    } else {
        LimitedBy::Source
    }
}
