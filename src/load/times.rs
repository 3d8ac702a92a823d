//! Where the time of a run goes, over all its tasks.

use std::sync::atomic::{AtomicU64, Ordering};

use tokio::time::Duration;

/// Microseconds, counted by whoever waits or works.
#[derive(Debug, Default)]
pub(super) struct Times {
    source: AtomicU64,
    fold: AtomicU64,
    target: AtomicU64,
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

impl Times {
    pub(super) fn add_source(&self, time: Duration) {
        self.source.fetch_add(micros(time), Ordering::Relaxed);
    }

    pub(super) fn add_fold(&self, time: Duration) {
        self.fold.fetch_add(micros(time), Ordering::Relaxed);
    }

    pub(super) fn add_target(&self, time: Duration) {
        self.target.fetch_add(micros(time), Ordering::Relaxed);
    }

    /// Waiting for rows.
    pub(super) fn source(&self) -> Duration {
        Duration::from_micros(self.source.load(Ordering::Relaxed))
    }

    /// Making items.
    pub(super) fn fold(&self) -> Duration {
        Duration::from_micros(self.fold.load(Ordering::Relaxed))
    }

    /// Waiting for the target to take items.
    pub(super) fn target(&self) -> Duration {
        Duration::from_micros(self.target.load(Ordering::Relaxed))
    }
}
