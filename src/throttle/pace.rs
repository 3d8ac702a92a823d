//! The rate that a table, or one partition, takes: found by what becomes of refusals when less is
//! sent.
//!
//! Below a limit nothing is refused any more; noise (a proxy, a service in trouble) refuses the same
//! share at any rate. A refusal alone does not tell one from the other, so every cut is a test. The
//! rate falls to what was accepted, where a limit refuses nothing, and is held there. What is still
//! refused then, as much as before the cut, is noise: that share is passed over from then on, and
//! the rate is what it was before, but for half as much again as is accepted without noise. Noise is
//! tested again now and then, so that a limit is never taken for noise for long; and while no limit is
//! known, a little that is refused is no reason to look for one at once.
//!
//! In between the rate grows: slowly where a limit was just found, and twice as fast again and
//! again while nothing speaks against it. One refusal slows it but little: few answers are no proof.
//! So it is back soon from wherever it was.

use super::bucket::Bucket;
use super::recent::Recent;

/// Of what was accepted, what is sent during a test: clearly less than a limit.
const MARGIN: f64 = 0.985;
/// Seconds and answers that a test takes at least, and seconds after which fewer answers will do; seconds
/// that it takes where more than this share is refused.
const TEST: f64 = 0.5;
const ANSWERS: f64 = 24.0;
const LONG: f64 = 2.0;
const SOON: f64 = 0.1;
const MUCH: f64 = 0.2;
/// The share refused that is more than noise.
const NOISE: f64 = 0.6;
/// Deviations that are no chance.
const DEVIATIONS: f64 = 2.5;
/// Deviations by which a test must help to have found a limit: it need not be sure, but one refusal
/// among some tens of answers is no sign.
const SIGN: f64 = 1.5;
/// What is sent where noise was found, for what was accepted without it.
const MORE: f64 = 1.5;
/// Seconds after which what is refused is tested again.
const AGAIN: f64 = 5.0;
/// Growth of the rate, as a logarithm a second: after a limit was found, and at most; and the seconds in
/// which it doubles.
const SLOW: f64 = 0.02;
const FAST: f64 = 1.2;
const DOUBLING: f64 = 1.5;
/// The deepest cut, since what was seen may have been a bad moment; and the slowest rate, in units a
/// second, of which DynamoDB has no lower one.
const DEEPEST: f64 = 0.125;
const SLOWEST: f64 = 1.0;
/// Seconds' units that may be sent at once, and in one batch.
const BURST: f64 = 0.04;
const BATCH: f64 = 0.05;
/// Seconds after which a request that waits asks again, and after which that is forgotten.
const PATIENCE: f64 = 0.1;
const WAITED: f64 = 0.5;

#[derive(Debug)]
pub(super) struct Pace {
    /// Units a second; infinite before anything is refused.
    rate: f64,
    bucket: Bucket,
    /// When the rate last grew, and how fast it does.
    grown: f64,
    growth: f64,
    /// What requests sent since the last cut were answered, and when that was.
    recent: Recent,
    cut: f64,
    test: Option<Test>,
    /// What tests showed that is refused whatever the rate.
    noise: Recent,
    /// When a limit last showed itself.
    limited: f64,
    /// When a request last had to wait.
    waited: f64,
}

/// A cut whose effect is not known yet.
#[derive(Debug, Clone, Copy)]
struct Test {
    /// Before it.
    before: Recent,
    /// The units accepted a second then, and the rate.
    accepted: f64,
    sent: f64,
    /// Whether more was refused than noise explains.
    over: bool,
    /// The rate before the first test, where this one follows one that did not help.
    rate: Option<f64>,
}

impl Pace {
    /// Without a limit, or beginning at so many units a second.
    pub(super) fn new(now: f64, start: Option<f64>) -> Self {
        let rate = start.map_or(f64::INFINITY, |rate| rate.max(SLOWEST));
        Self {
            rate,
            bucket: Bucket::new(now, rate.min(f64::MAX), BURST),
            grown: now,
            growth: FAST,
            recent: Recent::since(now),
            cut: f64::NEG_INFINITY,
            test: None,
            noise: Recent::default(),
            limited: now,
            waited: f64::NEG_INFINITY,
        }
    }

    /// Whether requests had to wait of late, so that the rate is what is sent.
    fn is_used(&self, now: f64) -> bool {
        now - self.waited < WAITED
    }

    /// Seconds since a limit last showed itself.
    pub(super) fn calm(&self, now: f64) -> f64 {
        now - self.limited
    }

    pub(super) fn batch_units(&self) -> f64 {
        self.rate * BATCH
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
        // Not too long, since the rate grows.
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
        if gone < SOON || few && (self.test.is_none() || gone < LONG) {
            return;
        }
        let refused_for_long = share > 0.0 && gone > AGAIN;
        match self.test {
            Some(test) if gone >= TEST || share > MUCH && test.rate.is_none() => {
                self.conclude(now, test);
            }
            Some(_) => {}
            // Where no limit is known, a little is tested when it has gone on for a while.
            None if share > self.chance() && (self.rate.is_finite() || share > MUCH)
                || refused_for_long =>
            {
                self.lower(now, None);
            }
            None => {}
        }
    }

    /// The most that noise refuses by chance.
    fn chance(&self) -> f64 {
        let noise = self.noise.share();
        let deviation = self
            .recent
            .deviation(noise)
            .hypot(self.noise.deviation(noise));
        noise + DEVIATIONS * deviation
    }

    /// Begins a test.
    fn lower(&mut self, now: f64, rate: Option<f64>) {
        let share = self.recent.share();
        let mut accepted = self.recent.accepted / self.recent.seconds.max(SOON);
        if self.is_used(now) && self.rate.is_finite() {
            accepted = accepted.min(self.rate * (1.0 - share));
        }
        let over = share > self.chance();
        if over {
            self.limited = now;
        }
        self.test = Some(Test {
            before: self.recent,
            accepted,
            sent: self.rate,
            over,
            rate,
        });
        let floor = if self.rate.is_finite() {
            self.rate * DEEPEST
        } else {
            SLOWEST
        };
        self.set(now, (accepted * MARGIN).max(floor));
        self.begin(now);
    }

    fn begin(&mut self, now: f64) {
        self.cut = now;
        self.recent = Recent::since(now);
    }

    /// Ends a test.
    fn conclude(&mut self, now: f64, test: Test) {
        let share = self.recent.share();
        let noise = self.noise.share();
        let rate;
        if share <= self.chance() {
            if share + DEVIATIONS * self.recent.deviation(noise) < noise {
                self.noise = Recent::default();
            }
            self.noise.fade(0.5);
            self.noise.add(&self.recent);
            if test.over {
                let less = if self.has_helped(&test) {
                    4.0
                } else if test.before.refused > 1.0 {
                    2.0
                } else {
                    1.5
                };
                self.growth = (self.growth / less).max(SLOW);
            }
            // What noise refuses may be sent on top of what the table takes.
            let margin = if test.over { MARGIN } else { 1.0 };
            rate = test.accepted * margin / (1.0 - self.noise.share().min(NOISE));
        } else {
            let before = test.before.share();
            let same = DEVIATIONS * self.recent.deviation(before);
            let is_noise = share <= NOISE && (share - before).abs() <= same;
            let Some(first) = test.rate.filter(|_| is_noise) else {
                self.lower(now, test.rate.or(Some(test.sent)));
                return;
            };
            self.noise = self.recent;
            rate = first.min(test.accepted * MORE / (1.0 - share));
        }
        self.test = None;
        self.grown = now;
        self.set(now, rate.max(self.rate));
    }

    /// Whether less is refused than before, by more than chance explains.
    fn has_helped(&self, test: &Test) -> bool {
        let (before, after) = (&test.before, &self.recent);
        let mut both = *before;
        both.add(after);
        let share = both.share();
        let chance = before.deviation(share).hypot(after.deviation(share));
        before.share() - after.share() > SIGN * chance
    }

    fn set(&mut self, now: f64, rate: f64) {
        let rate = rate.max(SLOWEST);
        if self.rate.is_infinite() {
            self.bucket = Bucket::new(now, rate, BURST);
        }
        let lower = rate < self.rate;
        self.rate = rate;
        self.bucket.set_rate(now, rate);
        if lower {
            // What the table has none of now, it will have then.
            self.bucket.pause(now, BURST);
        }
    }

    fn grow(&mut self, now: f64) {
        let gone = (now - self.grown).clamp(0.0, WAITED);
        if gone < 0.01 {
            return;
        }
        self.grown = now;
        if self.test.is_some() || !self.is_used(now) {
            return;
        }
        self.set(now, self.rate * (self.growth * gone).exp());
        self.growth = (self.growth * (gone / DOUBLING).exp2()).min(FAST);
    }
}
