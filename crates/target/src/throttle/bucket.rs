//! A bucket of units that fills up at a rate that may change.

/// Gives as long as there is anything in it, and is in debt afterwards: large requests need not
/// wait behind small ones. Time is in seconds.
#[derive(Debug, Clone)]
pub(super) struct Bucket {
    rate: f64,
    /// Seconds' units that it holds at most.
    burst: f64,
    units: f64,
    at: f64,
}

impl Bucket {
    /// Full.
    pub(super) fn new(now: f64, rate: f64, burst: f64) -> Self {
        Self {
            rate,
            burst,
            units: rate * burst,
            at: now,
        }
    }

    /// How long to wait until there is something in it.
    pub(super) fn wait(&mut self, now: f64) -> f64 {
        self.fill(now);
        if self.units >= 0.0 {
            0.0
        } else {
            -self.units / self.rate
        }
    }

    /// Takes units, or puts some back.
    pub(super) fn take(&mut self, units: f64) {
        self.units = (self.units - units).min(self.rate * self.burst);
    }

    /// Sets another rate. Debts stay as long as they were in time.
    pub(super) fn set_rate(&mut self, now: f64, rate: f64) {
        self.fill(now);
        let seconds = self.units / self.rate;
        self.units = if seconds.is_finite() {
            seconds.min(self.burst) * rate
        } else {
            0.0
        };
        self.rate = rate;
    }

    /// Gives nothing for so many seconds.
    pub(super) fn pause(&mut self, now: f64, seconds: f64) {
        self.fill(now);
        self.units = self.units.min(-seconds * self.rate);
    }

    fn fill(&mut self, now: f64) {
        let elapsed = (now - self.at).max(0.0);
        self.at = self.at.max(now);
        self.units = (self.units + elapsed * self.rate).min(self.rate * self.burst);
    }
}
