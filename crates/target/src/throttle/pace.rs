//! The rate that a table, or one partition, takes: found by what becomes of refusals when less is
//! sent.
//!
//! Below a limit nothing is refused any more; noise (a proxy, a service in trouble) refuses the same
//! share at any rate. A refusal alone does not tell one from the other, so every cut is a test. The
//! rate falls to what was accepted, where a limit refuses nothing, and is held there. Where as much is
//! refused then as before the cut, that share is noise: it is passed over from then on, and the rate is
//! what it was. Where less is refused, but still more than noise explains, it falls again. What is
//! refused is tested again now and then, so that a limit is never taken for noise for long; and while
//! no limit is known, a little that is refused is no reason to look for one at once.
//!
//! In between the rate grows, twice as fast again and again, and half as fast after each limit: so it
//! is back soon from wherever it was.

use super::bucket::Bucket;
use super::recent::RecentAnswers;

/// Of what was accepted, what is sent during a test: clearly less than a limit.
const MARGIN: f64 = 0.98;
/// Seconds and answers that a test takes at least, and seconds after which fewer answers will do.
const TEST: f64 = 0.5;
const ANSWERS: f64 = 24.0;
const LONG: f64 = 2.0;
/// The share refused that is tested at once where no limit is known; and the most that is ever noise.
const MUCH: f64 = 0.2;
const NOISE: f64 = 0.5;
/// Seconds after which what is refused is tested in any case.
const AGAIN: f64 = 5.0;
/// Deviations that are no chance.
const DEVIATIONS: f64 = 2.0;
/// The fastest growth of the rate, as a logarithm a second, and the seconds in which the growth doubles.
const FAST: f64 = 2.0;
const DOUBLING: f64 = 1.5;
/// The slowest rate, in units a second: DynamoDB has no lower one.
const SLOWEST: f64 = 1.0;
/// Seconds' units that may be sent at once, and in one batch.
const BURST: f64 = 0.05;
/// Seconds after which a request that waits asks again, since the rate grows.
const PATIENCE: f64 = 0.1;

#[derive(Debug)]
pub(super) struct RateControl {
    /// Units a second; infinite while no limit is known.
    rate: f64,
    bucket: Bucket,
    /// When the rate last grew, and how fast it does.
    grown: f64,
    growth: f64,
    /// What requests sent since the last cut were answered, and when that was.
    recent: RecentAnswers,
    cut: f64,
    test: Option<CutTrial>,
    /// What tests showed that is refused whatever the rate.
    noise: RecentAnswers,
    /// When a limit last showed itself.
    limited: f64,
    /// When a request last had to wait.
    waited: f64,
}

/// A cut whose effect is not known yet.
#[derive(Debug, Clone, Copy)]
struct CutTrial {
    before: RecentAnswers,
    /// The units accepted a second then.
    accepted: f64,
    /// The rate before the first of the cuts that followed each other.
    rate: f64,
}

impl RateControl {
    /// Without a limit, or beginning at so many units a second.
    pub(super) fn new(now: f64, start: Option<f64>) -> Self {
        let rate = start.map_or(f64::INFINITY, |rate| rate.max(SLOWEST));
        Self {
            rate,
            bucket: Bucket::new(now, rate.min(f64::MAX), BURST),
            grown: now,
            growth: FAST,
            recent: RecentAnswers::since(now),
            cut: f64::NEG_INFINITY,
            test: None,
            noise: RecentAnswers::default(),
            limited: now,
            waited: f64::NEG_INFINITY,
        }
    }

    /// Seconds since a limit last showed itself.
    pub(super) fn calm(&self, now: f64) -> f64 {
        now - self.limited
    }

    pub(super) fn batch_units(&self) -> f64 {
        self.rate * BURST
    }

    /// How long a request has to wait at least.
    pub(super) fn wait(&mut self, now: f64) -> f64 {
        if self.rate.is_infinite() {
            return 0.0;
        }
        if self.bucket.wait(now) > 0.0 {
            self.waited = now;
        }
        self.grow(now);
        self.bucket.wait(now).min(PATIENCE)
    }

    pub(super) fn take(&mut self, units: f64) {
        if self.rate.is_finite() {
            self.bucket.take(units);
        }
    }

    /// Enters an answer to a request that was sent so many seconds before.
    pub(super) fn answered(&mut self, now: f64, latency: f64, accepted: f64, refused: f64) {
        let sent = now - latency;
        if sent < self.cut {
            // It speaks of a rate that is no more.
            return;
        }
        if self.rate.is_infinite() && self.cut.is_infinite() {
            if refused > 0.0 {
                // What was accepted before may have been saved up.
                self.begin(now);
            }
            return;
        }
        self.recent.enter(sent, accepted, refused);
        let (share, gone) = (self.recent.share(), sent - self.cut);
        let few = self.recent.answers < ANSWERS;
        match self.test {
            Some(test) if gone > LONG || !few && (gone > TEST || share > NOISE) => {
                self.conclude(now, test);
            }
            None if !few => {
                let over = share > self.chance();
                // Every answer asks this: without the deviation, chance would reach it in one load of a hundred.
                let much = MUCH + DEVIATIONS * self.recent.deviation(MUCH);
                if over && (self.rate.is_finite() || share > much) || share > 0.0 && gone > AGAIN {
                    if over {
                        self.limited = now;
                    }
                    self.lower(now, self.rate);
                }
            }
            _ => {}
        }
    }

    /// The most that noise refuses by chance.
    fn chance(&self) -> f64 {
        let noise = self.noise.share();
        let (now, then) = (self.recent.deviation(noise), self.noise.deviation(noise));
        noise + DEVIATIONS * root_of_squares(now, then)
    }

    /// Begins a test. `rate`: that before the first cut.
    fn lower(&mut self, now: f64, rate: f64) {
        let accepted = self.recent.accepted / self.recent.seconds.max(BURST);
        self.test = Some(CutTrial {
            before: self.recent,
            accepted,
            rate,
        });
        self.set(now, accepted * MARGIN);
        self.begin(now);
    }

    fn begin(&mut self, now: f64) {
        self.cut = now;
        self.recent = RecentAnswers::since(now);
    }

    fn conclude(&mut self, now: f64, test: CutTrial) {
        let rate = if self.recent.share() <= self.chance() || self.recent.refused < 1.0 {
            // It was a limit. What noise refuses may be sent on top of what the table takes.
            self.noise.fade(0.5);
            self.noise.add(&self.recent);
            self.growth /= 2.0;
            test.accepted * MARGIN / (1.0 - self.noise.share())
        } else if self.differs_from(&test.before) || self.recent.share() > NOISE {
            self.limited = now;
            self.lower(now, test.rate);
            return;
        } else {
            self.noise = self.recent;
            test.rate
        };
        self.test = None;
        self.grown = now;
        self.set(now, rate.min(test.rate).max(self.rate));
    }

    /// Whether another share is refused than before, by more than the deviation.
    fn differs_from(&self, before: &RecentAnswers) -> bool {
        let mut both = *before;
        both.add(&self.recent);
        let share = both.share();
        let deviation = root_of_squares(before.deviation(share), self.recent.deviation(share));
        (before.share() - self.recent.share()).abs() > deviation
    }

    fn set(&mut self, now: f64, rate: f64) {
        let rate = rate.max(SLOWEST);
        let lower = rate < self.rate;
        if rate.is_infinite() {
            self.begin(now);
        } else if self.rate.is_infinite() {
            self.bucket = Bucket::new(now, rate, BURST);
        } else {
            self.bucket.set_rate(now, rate);
        }
        self.rate = rate;
        if lower {
            // What the table has none of now, it will have then.
            self.bucket.pause(now, BURST);
        }
    }

    /// Lets the rate grow while it is what is sent: while requests wait.
    fn grow(&mut self, now: f64) {
        let elapsed = (now - self.grown).clamp(0.0, TEST);
        self.grown = now;
        if self.test.is_some() || now - self.waited > TEST {
            return;
        }
        self.set(now, self.rate * (self.growth * elapsed).exp());
        self.growth = (self.growth * (elapsed / DOUBLING).exp2()).min(FAST);
    }
}

/// How far two deviations that do not hang together add up. Not `f64::hypot`, which would have the program need glibc 2.35.
fn root_of_squares(one: f64, other: f64) -> f64 {
    one.mul_add(one, other * other).sqrt()
}
