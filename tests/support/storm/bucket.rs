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

#[cfg(test)]
mod tests {
    use super::*;

    /// Units granted in so many seconds to one who always wants more, a thousand times a second.
    fn granted(mut bucket: Bucket, seconds: u64, units: f64) -> f64 {
        let mut all = 0.0;
        for millisecond in 0..seconds * 1_000 {
            let now = Duration::from_millis(millisecond);
            for _ in 0..5 {
                if bucket.has(now, units) {
                    bucket.take(units);
                    all += units;
                }
            }
        }
        all
    }

    #[test]
    fn a_bucket_grants_its_rate_and_one_second_at_once() {
        for (rate, units) in [(1_000.0, 1.0), (1_000.0, 7.0), (10.0, 1.0), (50.0, 400.0)] {
            let bucket = Bucket::new(rate, 1.0, Duration::ZERO);
            let share = granted(bucket, 200, units) / (rate * 201.0);
            assert!((0.98..=1.02).contains(&share), "{rate} by {units}: {share}");
        }
    }

    #[test]
    fn no_more_is_saved_up_than_the_burst() {
        let mut bucket = Bucket::new(10.0, 30.0, Duration::ZERO);
        assert!(!bucket.has(Duration::ZERO, 11.0));
        assert!(bucket.has(Duration::from_secs(1_000), 300.0));
        bucket.take(300.0);
        assert!(!bucket.has(Duration::from_secs(1_000), 1.0));
    }
}
