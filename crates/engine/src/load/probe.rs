//! When to ask for the reason of throttling.
//!
//! A batch that is taken in part says of the rest only that it is unprocessed. One of these items,
//! put alone, is refused with the reason, or is written. That is asked now and then, by one task.

use parking_lot::Mutex;
use tokio::time::{Duration, Instant};

/// Answers that left items without a break before the question is worth a request.
const ANSWERS: u32 = 2;
/// Between two questions of a run.
const PAUSE: Duration = Duration::from_secs(3);

/// Says when.
#[derive(Debug, Default)]
pub(super) struct Probe(Mutex<Option<Instant>>);

impl Probe {
    /// Whether one item is to be put alone now. `left`: how many answers in a row have left items
    /// of this batch.
    pub(super) fn is_due(&self, left: u32) -> bool {
        if left < ANSWERS {
            return false;
        }
        let mut last = self.0.lock();
        let due = last.is_none_or(|last| last.elapsed() >= PAUSE);
        if due {
            *last = Some(Instant::now());
        }
        due
    }
}
