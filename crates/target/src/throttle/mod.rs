//! How fast to write: a ceiling that is kept, the rate that the table takes, requests in flight,
//! and partitions that take less than the others. Pure: time is told, as the time since the run's
//! begin, and randomness is not needed.
//!
//! A [`Gate`] lets requests in, and is told how each was answered; every request that it lets in
//! must be answered to it once. It is three things together: the ceiling, which the user sets; the
//! pace, which follows what the table refuses; and the flight, which follows latency. [`HotPartitions`]
//! finds the partitions that refuse while others take, and paces each of them on its own.

mod bucket;
mod ceiling;
mod flight;
mod gate;
mod heat;
mod pace;
mod recent;
mod toll;

use std::time::Duration;

pub use gate::Gate;
pub use heat::HotPartitions;
pub use toll::Toll;

/// What is known before the first request.
#[derive(Debug, Clone, Copy, Default)]
pub struct ThrottleSettings {
    /// Write units that may be used in a second, on an average of five seconds.
    pub ceiling: Option<f64>,
    /// Write units a second to begin with, where the table takes no more at first.
    pub start: Option<f64>,
    /// Requests in flight at most.
    pub most_in_flight: usize,
}

/// Whether a request may be sent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Admission {
    /// It may, and is counted.
    Go,
    /// Not yet: ask again then.
    At(Duration),
    /// Not before another request is answered.
    Full,
}

/// How a request ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutcomeKind {
    /// With an ordinary answer, which may have left items unprocessed.
    Took,
    /// Refused as a whole, for lack of throughput.
    Throttled,
    /// Without an answer, or with an error: whether it was done is not known.
    Failed,
}

/// How a request was answered. Units are write units, indexes included.
#[derive(Debug, Clone, Copy)]
pub struct RequestOutcome {
    /// As it was let in.
    pub estimated: f64,
    /// As the service counted, where it did.
    pub consumed: Option<f64>,
    /// Of the items that were not taken, as estimated.
    pub refused: f64,
    /// From the sending to the answer.
    pub latency: Duration,
    /// Whether the table took it, throttled it, or it failed.
    pub kind: OutcomeKind,
}

/// What held a run back most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bottleneck {
    /// Nothing that is counted here.
    Nothing,
    /// The limit that the user or the table's provisioned capacity sets.
    Ceiling,
    /// What the table takes.
    Table,
}

/// So many seconds after the begin; an hour from `now` where that is not a time.
fn at(now: Duration, seconds: f64) -> Duration {
    let hour = Duration::from_hours(1);
    let wait = Duration::try_from_secs_f64(seconds).map_or(hour, |wait| wait.min(hour));
    // A nanosecond more: what was rounded down must not be asked for in vain.
    now + wait + Duration::from_nanos(1)
}
