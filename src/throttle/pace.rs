//! The rate that a table, or one partition, takes: found by what it refuses.
//!
//! There is no limit until the first refusal, or one that doubles. From then on the rate is that
//! at which units were accepted of late, and a little less: what is refused has to be sent again.
//! It is held for a while and then raised by small steps until something is refused again; a table
//! that saves up what is not used, as DynamoDB does, loses nothing by that. When nothing has been
//! refused for long the steps grow, so that a raise of the table's capacity is found.
//!
//! A refusal is evidence against the rate at which the request was sent, not against a lower one
//! that was set since. Refusals that come whatever the rate are taken for noise in the end.

use super::bucket::Bucket;
use super::meter::{Meter, Sums};

/// Of the rate at which units were accepted.
const MARGIN: f64 = 0.985;
/// Seconds' units that may be sent at once, and in one batch.
const BURST: f64 = 0.04;
const BATCH: f64 = 0.05;
/// Seconds from one cut to the next, unless most is refused.
const BETWEEN: f64 = 0.5;
/// The share refused that is most, and the seconds that it takes to tell.
const HEAVY: f64 = 0.2;
const TELLING: f64 = 0.1;
/// Answers from which a rate can be told.
const FEW: u32 = 4;
/// Seconds without a refusal before the rate is raised, and before it is raised faster.
const HOLD: f64 = 1.0;
const QUIET: f64 = 4.0;
/// Raise in a second: as a rule, at most, and while the rate is looked for.
const STEP: f64 = 0.02;
const FASTEST: f64 = 0.5;
const SEARCH: f64 = 1.2;
/// Seconds in which the raise doubles when it is quiet.
const DOUBLING: f64 = 1.5;
/// No pace is slower: units a second.
const SLOWEST: f64 = 0.5;
/// Cuts in a row, within so many seconds of each other, that show that they do not help.
const STREAK: u32 = 5;
const SOON: f64 = 1.5;
/// The most that noise can be, as a share; seconds in which it is forgotten by half.
const NOISE: f64 = 0.05;
const MEMORY: f64 = 60.0;

#[derive(Debug)]
pub(super) struct Pace {
    /// Units a second; infinite before the first refusal.
    rate: f64,
    bucket: Bucket,
    meter: Meter,
    /// Whether the rate is not known yet.
    searching: bool,
    begun: Option<f64>,
    raised: f64,
    cut: f64,
    refused: f64,
    /// When refusals began that were left without consequences.
    doubt: Option<f64>,
    /// When a request last had to wait.
    waited: f64,
    streak: u32,
    /// The share that is refused whatever the rate.
    noise: f64,
}

impl Pace {
    /// Without a limit, or beginning at so many units a second.
    pub(super) fn new(start: Option<f64>) -> Self {
        let rate = start.map_or(f64::INFINITY, |rate| rate.max(SLOWEST));
        Self {
            rate,
            bucket: Bucket::new(rate.min(f64::MAX), BURST),
            meter: Meter::default(),
            searching: true,
            begun: None,
            raised: 0.0,
            cut: 0.0,
            refused: 0.0,
            doubt: None,
            waited: f64::NEG_INFINITY,
            streak: 0,
            noise: 0.0,
        }
    }

    /// For a partition that was seen to take so many units a second.
    pub(super) fn known(now: f64, rate: f64) -> Self {
        let mut pace = Self::new(Some(rate * MARGIN));
        pace.searching = false;
        pace.begun = Some(now);
        pace.raised = now;
        pace.cut = now;
        pace.refused = now;
        pace.bucket.pause(now, 0.0);
        pace
    }

    /// Whether requests had to wait in the seconds before.
    pub(super) fn waits(&self, now: f64, seconds: f64) -> bool {
        now - self.waited < seconds
    }

    /// When something was last refused.
    pub(super) fn refused(&self) -> f64 {
        self.refused
    }

    pub(super) fn batch_units(&self) -> f64 {
        self.rate * BATCH
    }

    /// How long a request has to wait at least.
    pub(super) fn wait(&mut self, now: f64) -> f64 {
        self.begun.get_or_insert(now);
        if self.rate.is_infinite() {
            return 0.0;
        }
        self.raise(now);
        let wait = self.bucket.wait(now);
        if wait > 0.0 {
            self.waited = now;
        }
        wait
    }

    pub(super) fn take(&mut self, units: f64) {
        if self.rate.is_finite() {
            self.bucket.take(units);
        }
    }

    /// Enters an answer to a request that was sent so many seconds before.
    pub(super) fn answered(&mut self, now: f64, latency: f64, accepted: f64, refused: f64) {
        self.meter.enter(now, accepted, refused);
        if refused <= 0.0 || now - latency < self.cut {
            return;
        }
        if self.rate.is_infinite() {
            self.first(now);
            return;
        }
        let sums = self.meter.since(self.cut.max(now - 1.0));
        let recent = self.meter.since(now - 1.0).share();
        let gone = now - self.cut;
        if recent <= self.noise * (-gone / MEMORY).exp2() {
            return;
        }
        self.refused = now;
        let heavy =
            sums.share() > HEAVY && sums.answers >= FEW && gone >= TELLING.max(latency * 1.5);
        if heavy || gone >= BETWEEN {
            self.lower(now, sums, recent);
        }
    }

    /// Before there is a rate. Where much is refused at once the table is full, and what it took
    /// before may have been saved up: a second's units, as if a whole second had passed, are a
    /// guess from which the rate is looked for. Where little is refused, but for some time, the
    /// rate is known.
    fn first(&mut self, now: f64) {
        let begun = self.begun.unwrap_or(now);
        let much = self.meter.since(now - TELLING).share() > HEAVY;
        let doubt = *self.doubt.get_or_insert(now);
        if !much && now - doubt < BETWEEN {
            return;
        }
        let sums = self.meter.since(now - 1.0);
        let span = (now - begun).clamp(TELLING, 1.0);
        let offered = (sums.accepted + sums.refused) / span;
        let guess = if much {
            sums.accepted.max(offered / 16.0)
        } else if now - doubt < 2.0 {
            sums.accepted / span
        } else {
            // That was long ago.
            self.doubt = Some(now);
            return;
        };
        self.searching = much;
        let guess = guess.max(SLOWEST);
        self.bucket = Bucket::new(guess, BURST);
        self.set(now, guess);
        self.raised = now;
    }

    fn lower(&mut self, now: f64, sums: Sums, recent: f64) {
        let span = (now - sums.since).max(TELLING);
        let left = self.rate * (1.0 - sums.share());
        let accepted = sums.accepted / span;
        let taken = if sums.answers < FEW {
            left.max(self.rate / 2.0)
        } else if self.waits(now, BETWEEN) {
            accepted
        } else {
            // Less was sent than the pace allowed.
            accepted.max(left)
        };
        let floor = self.rate / 8.0;
        // Where the floor holds, the rate is not known.
        self.searching = taken < floor;
        let soon = now - self.cut < SOON;
        if soon && sums.share() < HEAVY {
            self.streak += 1;
        } else {
            self.streak = 0;
        }
        if self.streak >= STREAK {
            self.noise = (recent * 2.0).min(NOISE);
            self.streak = 0;
        }
        self.set(now, (taken * MARGIN).clamp(floor, self.rate * MARGIN));
    }

    fn set(&mut self, now: f64, rate: f64) {
        self.rate = rate.max(SLOWEST);
        self.bucket.set_rate(now, self.rate);
        // What the table has none of now, it will have then.
        self.bucket.pause(now, BURST);
        self.cut = now;
        self.refused = now;
    }

    fn raise(&mut self, now: f64) {
        let gone = (now - self.raised).clamp(0.0, 0.25);
        if gone < 0.01 {
            return;
        }
        self.raised = now;
        if !self.waits(now, BETWEEN) {
            return;
        }
        let quiet = now - self.refused;
        let step = if self.searching {
            SEARCH
        } else if quiet < HOLD {
            0.0
        } else {
            (STEP * ((quiet - QUIET).max(0.0) / DOUBLING).exp2()).min(FASTEST)
        };
        let rate = self.rate * (step * gone).exp();
        if rate > self.rate {
            self.rate = rate;
            self.bucket.set_rate(now, rate);
        }
    }
}
