//! Requests in flight: as many as shorten the load, and no more.
//!
//! The limit grows by one with every answer while it is used, later by one with as many answers as it
//! counts. It falls when answers take clearly longer than they did: by their mean, not by single
//! ones, and by more than a crowded processor of our own explains. What is refused is the pace's
//! affair.

/// At the begin, and at least.
const START: f64 = 8.0;
/// Of the limit, after a fall.
const FALL: f64 = 0.8;
/// Seconds from one fall to the next.
const BETWEEN: f64 = 0.5;
/// How many times as long, and how many seconds more, answers take when it is clear.
const TIMES: f64 = 2.5;
const MORE: f64 = 0.03;
/// The weight of one answer in the mean.
const WEIGHT: f64 = 0.04;
/// Seconds over which the lowest mean is remembered, at least; at most twice as long.
const MEMORY: f64 = 15.0;

#[derive(Debug)]
pub(super) struct InFlightLimit {
    most: f64,
    limit: f64,
    flying: f64,
    /// Whether the limit has been reached since the last answer.
    full: bool,
    /// Whether it has never fallen.
    fresh: bool,
    mean: Option<f64>,
    /// The lowest mean in this memory and in the last one.
    lowest: (f64, f64),
    turned: f64,
    fell: f64,
}

impl InFlightLimit {
    pub(super) fn new(most: usize) -> Self {
        let most = f64::from(u32::try_from(most.max(1)).unwrap_or(u32::MAX));
        Self {
            most,
            limit: most.min(START),
            flying: 0.0,
            full: false,
            fresh: true,
            mean: None,
            lowest: (f64::INFINITY, f64::INFINITY),
            turned: 0.0,
            fell: f64::NEG_INFINITY,
        }
    }

    pub(super) fn is_full(&mut self) -> bool {
        let full = self.flying + 1.0 > self.limit.max(1.0);
        self.full |= full;
        full
    }

    pub(super) fn take(&mut self) {
        self.flying += 1.0;
    }

    /// `latency`: only of requests that were processed.
    pub(super) fn answered(&mut self, now: f64, latency: Option<f64>) {
        let full = std::mem::take(&mut self.full);
        self.flying = (self.flying - 1.0).max(0.0);
        let Some(latency) = latency else { return };
        if self.is_slow(now, latency) {
            if now - self.fell >= BETWEEN {
                self.limit = (self.limit * FALL).max(START.min(self.most));
                self.fell = now;
                self.fresh = false;
            }
        } else if full {
            let step = if self.fresh { 1.0 } else { 2.0 / self.limit };
            self.limit = (self.limit + step).min(self.most);
        }
    }

    fn is_slow(&mut self, now: f64, latency: f64) -> bool {
        let mean = self
            .mean
            .map_or(latency, |mean| mean + (latency - mean) * WEIGHT);
        self.mean = Some(mean);
        if now - self.turned > MEMORY {
            self.turned = now;
            self.lowest = (mean, self.lowest.0);
        }
        self.lowest.0 = self.lowest.0.min(mean);
        let lowest = self.lowest.0.min(self.lowest.1);
        mean > lowest * TIMES + MORE
    }
}
