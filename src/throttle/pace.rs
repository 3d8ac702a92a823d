//! The rate that a table, or one partition, takes: found by what it refuses.
//!
//! There is no limit until the first refusal, or one that doubles. From then on the rate is that
//! at which units were accepted of late, and a little less: what is refused has to be sent again.
//! It is held for a while and then raised by small steps until something is refused again; a table
//! that saves up what is not used, as DynamoDB does, loses nothing by that. When nothing has been
//! refused for long the steps grow, so that a raise of the table's capacity is found.
//!
//! A refusal is evidence against the rate at which the request was sent, not against a lower one
//! that was set since. Where lower rates are refused no less, the refusals are noise: that share of
//! them is passed over from then on, and the rate is looked for again.

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
/// Seconds, for what comes at one time.
const LEAST: f64 = 0.001;
/// Answers from which a rate can be told at all, and well.
const FEW: u32 = 4;
const MANY: u32 = 8;
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
/// Cuts in a row after which no less is refused that show that they do not help, the rate that they
/// leave of the first one's, and answers between them.
const VAIN: u32 = 3;
const VAIN_RATE: f64 = 0.8;
const VAIN_ANSWERS: u32 = 24;
/// The most that noise can be, as a share.
const NOISE: f64 = 0.6;
/// Where the table has a limit, as much is accepted of more: what is less, of what was accepted
/// before; and how many times the rate may be raised before more has to be accepted, and how much.
const ACCEPTED_LESS: f64 = 0.95;
const RAISED: f64 = 1.2;
const ACCEPTED_MORE: f64 = 1.1;
/// Of the share refused before the first one, what is less, and what is more.
const LESS: f64 = 0.5;
const MORE: f64 = 2.0;
/// How many times its own deviation a share may be above the noise.
const DEVIATIONS: f64 = 2.0;
/// Answers that tell that there is less noise than was thought, and how fast it is believed.
const TELL_LESS: u32 = 16;
const BELIEVED: f64 = 0.1;

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
    vain: Vain,
    /// The share that is refused whatever the rate, and the rate and what was accepted a second
    /// when that was found.
    noise: f64,
    found: (f64, f64),
}

/// Cuts in a row that did not help.
#[derive(Debug, Default)]
struct Vain {
    cuts: u32,
    /// When the first one was, and before it the rate, the share refused, and the units accepted a
    /// second.
    first: f64,
    rate: f64,
    share: f64,
    accepted: f64,
    /// Between the first one and the last one, and since then.
    between: Sums,
    since: Sums,
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
            vain: Vain::default(),
            noise: 0.0,
            found: (0.0, 0.0),
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

    /// Enters an answer to a request that was sent so many seconds before; whether it speaks
    /// against the rate.
    pub(super) fn answered(&mut self, now: f64, latency: f64, accepted: f64, refused: f64) -> bool {
        self.meter.enter(now, accepted, refused);
        if now - latency < self.cut {
            return false;
        }
        self.vain.since.add(accepted, refused, 1);
        if self.noise > 0.0 {
            let recent = self.meter.since(self.cut.max(now - 1.0));
            if self.is_noise(recent) {
                return false;
            }
        }
        if refused <= 0.0 {
            return false;
        }
        if self.rate.is_infinite() {
            self.first(now, latency);
            return true;
        }
        let mut sums = self.meter.since(self.cut.max(now - 1.0));
        if sums.answers < MANY {
            sums = self.meter.since(self.cut);
        }
        let gone = now - self.cut;
        self.refused = now;
        let heavy =
            sums.share() > HEAVY && sums.answers >= FEW && gone >= TELLING.max(latency * 1.5);
        if heavy || gone >= BETWEEN {
            self.lower(now, sums);
        }
        true
    }

    /// Whether no more was refused than is whatever the rate.
    fn is_noise(&mut self, recent: Sums) -> bool {
        let share = recent.share();
        if recent.answers >= TELL_LESS && share < self.noise {
            let weight = BELIEVED / f64::from(recent.answers);
            self.noise += (share - self.noise) * weight;
        }
        let answers = f64::from(recent.answers.max(1));
        let deviation = (self.noise * (1.0 - self.noise) / answers).sqrt();
        share <= self.noise + DEVIATIONS * deviation
    }

    /// Before there is a rate. What the table takes from the first refusal on is what it takes, if
    /// enough is refused to tell: what it took before may have been saved up. Where little is
    /// refused that takes longer.
    fn first(&mut self, now: f64, latency: f64) {
        let begun = self.begun.unwrap_or(now);
        let doubt = *self.doubt.get_or_insert(now);
        let sums = self.meter.since(doubt);
        let gone = now - doubt;
        let much = sums.share() > HEAVY && sums.answers >= FEW;
        let told = sums.answers >= MANY * 2 || gone >= TELLING.max(latency * 1.5);
        if !told || !much && gone < BETWEEN {
            return;
        }
        let gone = gone.max(LEAST);
        if gone > 2.0 {
            // That was long ago.
            self.doubt = Some(now);
            return;
        }
        let recent = self.meter.since(now - 1.0);
        let offered = (recent.accepted + recent.refused) / (now - begun).clamp(TELLING, 1.0);
        let guess = (sums.accepted / gone).max(offered / 16.0).max(SLOWEST);
        self.searching = much;
        self.bucket = Bucket::new(guess, BURST);
        self.set(now, guess);
        self.raised = now;
    }

    fn lower(&mut self, now: f64, sums: Sums) {
        let span = (now - sums.since).max(TELLING);
        let a_second = sums.accepted / span;
        let (rate, accepted) = self.found;
        if self.rate >= rate * RAISED && a_second < accepted * ACCEPTED_MORE {
            // It was the table after all.
            self.noise = 0.0;
        }
        if self.is_vain(now, sums.share(), a_second) {
            self.noise = self.vain.between.share();
            self.found = (self.rate, a_second);
            self.vain = Vain::default();
            self.searching = true;
            self.cut = now;
            return;
        }
        // What noise refuses may be sent on top of what the table takes.
        let taking = 1.0 - self.noise;
        let left = self.rate * ((1.0 - sums.share_at_least()) / taking).min(1.0);
        let accepted = a_second / taking;
        let taken = if sums.answers >= MANY && self.waits(now, BETWEEN) {
            accepted
        } else {
            // Little is known, or less was sent than the pace allowed.
            accepted.max(left)
        };
        let floor = self.rate / 8.0;
        // Where the floor holds, the rate is not known.
        self.searching = taken < floor;
        self.set(now, (taken * MARGIN).clamp(floor, self.rate * MARGIN));
    }

    /// Whether the cuts before this one have changed nothing but what is accepted. Before this one
    /// this share was refused, and so many units accepted a second.
    fn is_vain(&mut self, now: f64, share: f64, accepted: f64) -> bool {
        let vain = &mut self.vain;
        let since = std::mem::take(&mut vain.since);
        let mut between = vain.between;
        between.add(since.accepted, since.refused, since.answers);
        let more = since.share() > vain.share * MORE;
        let less = between.answers >= VAIN_ANSWERS && between.share() < vain.share * LESS;
        if self.rate >= vain.rate || more || less || vain.share > NOISE {
            *vain = Vain {
                first: now,
                rate: self.rate,
                share,
                accepted,
                ..Vain::default()
            };
            return false;
        }
        vain.cuts += 1;
        vain.between = between;
        vain.cuts >= VAIN
            && between.answers >= VAIN_ANSWERS
            && self.rate <= vain.rate * VAIN_RATE
            && between.accepted / (now - vain.first) <= vain.accepted * ACCEPTED_LESS
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
