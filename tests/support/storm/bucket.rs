//! A bucket of units that fills up at a steady rate.

use std::time::Duration;

/// Refuses what it does not hold. What is larger than the whole bucket passes when it is full, and
/// the bucket is in debt afterwards: an item may cost more than a second's units.
#[derive(Debug, Clone)]
pub(crate) struct Bucket {
    rate: f64,
    burst: f64,
    units: f64,
    at: Duration,
}

impl Bucket {
    /// `burst`: seconds' units that it holds at most; there is one second's to begin with.
    pub(crate) fn new(rate: f64, burst: f64, now: Duration) -> Self {
        Self {
            rate,
            burst,
            units: rate * burst.min(1.0),
            at: now,
        }
    }

    pub(crate) fn has(&mut self, now: Duration, units: f64) -> bool {
        self.fill(now);
        self.units >= units.min(self.rate * self.burst)
    }

    pub(crate) fn take(&mut self, units: f64) {
        self.units -= units;
    }

    pub(crate) fn set_rate(&mut self, now: Duration, rate: f64) {
        self.fill(now);
        self.rate = rate;
    }

    /// Leaves half of the units to another.
    pub(crate) fn halve(&mut self) -> Self {
        self.units /= 2.0;
        self.clone()
    }

    fn fill(&mut self, now: Duration) {
        let gone = now.saturating_sub(self.at).as_secs_f64();
        self.at = self.at.max(now);
        self.units = (self.units + gone * self.rate).min(self.rate * self.burst);
    }
}
