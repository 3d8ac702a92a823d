//! Hot partitions: those that refuse writes while others accept them.
//!
//! DynamoDB gives no reason for unprocessed items. Whether the table or one partition refused them is inferred: a table, and
//! noise, refuse items of all partitions alike. A partition is hot if its share of refused writes would come about by chance
//! less than once in a million times, were it refused like the others. Only partitions that have refused something are
//! remembered, at most `MAX_SUSPECTS` of them, and not for long.

use std::collections::HashMap;
use std::time::Duration;

use super::pace::RateControl;
use super::{Admission, at};

/// The natural logarithm of a million, rounded up: a result less likely than once in a million is not taken for chance.
const EVIDENCE: f64 = 14.0;
/// The most partitions that are under suspicion at one time.
const MAX_SUSPECTS: usize = 256;
/// Seconds without a sign of its limit after which a partition is no longer hot; seconds without an answer after which a
/// suspicion is dropped.
const COOL_SECONDS: f64 = 5.0;
/// Answers after which a suspicion that was not confirmed is dropped.
const MAX_ANSWERS: f64 = 48.0;

/// The hot partitions, and those under suspicion. A partition is named by a hash of its key.
#[derive(Debug, Default)]
pub struct HotPartitions {
    suspects: HashMap<u64, SuspectedPartition>,
    hot: HashMap<u64, RateControl>,
    /// The answers of all partitions that are not hot, since the start.
    all: AnswerTally,
    /// When old entries were last removed, in seconds.
    swept: f64,
}

/// A partition under suspicion: its answers since its first refusal.
#[derive(Debug)]
struct SuspectedPartition {
    own: AnswerTally,
    /// Units that were accepted.
    accepted: f64,
    /// The answers of all partitions at the first refusal: those since then are what it is compared with.
    before: AnswerTally,
    /// When the suspicion began, in seconds.
    since: f64,
    /// When the last answer came, in seconds.
    last: f64,
}

/// A number of answers, and the sum of their refused shares: an answer that refuses half of its units adds 0.5.
#[derive(Debug, Default, Clone, Copy)]
struct AnswerTally {
    answers: f64,
    refused: f64,
}

impl AnswerTally {
    fn add(&mut self, accepted: f64, refused: f64) {
        self.answers += 1.0;
        if refused > 0.0 {
            self.refused += refused / (accepted + refused);
        }
    }
}

impl HotPartitions {
    /// Takes an answer into account: `accepted` and `refused` are pairs of a partition and units. The caller reports every
    /// answer while [`HotPartitions::is_watching`], and otherwise each one that refuses something. Returns the units that
    /// partitions which are not hot have refused.
    pub fn judge(
        &mut self,
        now: Duration,
        latency: Duration,
        accepted: &[(u64, f64)],
        refused: &[(u64, f64)],
    ) -> f64 {
        let (now, latency) = (now.as_secs_f64(), latency.as_secs_f64());
        self.remove_old(now);
        // A batch has at most 25 items, so a linear search is quick.
        let mut partitions: Vec<(u64, f64, f64)> = Vec::new();
        let pairs = accepted.iter().map(|(of, units)| (*of, *units, 0.0));
        for (of, accepted_units, refused_units) in
            pairs.chain(refused.iter().map(|(of, units)| (*of, 0.0, *units)))
        {
            match partitions.iter_mut().find(|(other, ..)| *other == of) {
                Some((_, accepted, refused)) => {
                    *accepted += accepted_units;
                    *refused += refused_units;
                }
                None => partitions.push((of, accepted_units, refused_units)),
            }
        }
        let mut others = 0.0;
        for (partition, accepted, refused) in partitions {
            if let Some(pace) = self.hot.get_mut(&partition) {
                pace.answered(now, latency, accepted, refused);
                continue;
            }
            others += refused;
            self.all.add(accepted, refused);
            if let Some(suspect) = self.suspects.get_mut(&partition) {
                suspect.own.add(accepted, refused);
                suspect.accepted += accepted;
                suspect.last = now;
                self.decide(now, partition);
            } else if refused > 0.0 {
                // The first refusal begins the count and is not part of it: a partition without one is not counted at all.
                self.make_room();
                let suspect = SuspectedPartition {
                    own: AnswerTally::default(),
                    accepted: 0.0,
                    before: self.all,
                    since: now,
                    last: now,
                };
                self.suspects.insert(partition, suspect);
            }
        }
        others
    }

    /// Drops the suspect with the fewest refusals if there are too many.
    fn make_room(&mut self) {
        if self.suspects.len() < MAX_SUSPECTS {
            return;
        }
        let refused = |suspect: &SuspectedPartition| suspect.own.refused;
        let suspects = self.suspects.iter();
        let least = suspects.min_by(|(_, one), (_, other)| refused(one).total_cmp(&refused(other)));
        if let Some(partition) = least.map(|(partition, _)| *partition) {
            self.suspects.remove(&partition);
        }
    }

    /// Makes a suspect hot if the evidence is enough.
    fn decide(&mut self, now: f64, partition: u64) {
        let Some(suspect) = self.suspects.get(&partition) else {
            return;
        };
        let AnswerTally { answers, refused } = suspect.own;
        let others = |all: f64, before: f64, own: f64| (all - before - own).max(0.0);
        let others_refused = others(self.all.refused, suspect.before.refused, refused);
        let others_answers = others(self.all.answers, suspect.before.answers, answers);
        // Laplace's rule, one more of each outcome: a few answers of others say little about the usual share.
        let usual_share = (others_refused + 1.0) / (others_answers + 2.0);
        let share = refused / answers;
        if share <= usual_share || answers * surprise(share, usual_share) < EVIDENCE {
            if answers > MAX_ANSWERS {
                self.suspects.remove(&partition);
            }
            return;
        }
        let rate = suspect.accepted / (now - suspect.since).max(0.1);
        self.suspects.remove(&partition);
        self.hot
            .insert(partition, RateControl::new(now, Some(rate)));
    }

    /// Removes suspects and hot partitions that have been quiet for [`COOL_SECONDS`], at most twice a second.
    fn remove_old(&mut self, now: f64) {
        if now - self.swept < 0.5 {
            return;
        }
        self.swept = now;
        self.suspects
            .retain(|_, suspect| now - suspect.last < COOL_SECONDS);
        self.hot.retain(|_, pace| pace.calm(now) < COOL_SECONDS);
    }

    /// Whether a partition is hot: its writes are admitted by [`HotPartitions::admit`] too.
    pub fn is_hot(&self, partition: u64) -> bool {
        self.hot.contains_key(&partition)
    }

    /// Whether any partition is hot.
    pub fn any_hot(&self) -> bool {
        !self.hot.is_empty()
    }

    /// The most units that a batch for a partition should hold now; infinite for one that is not hot.
    pub fn batch_units(&self, partition: u64) -> f64 {
        let pace = self.hot.get(&partition);
        pace.map_or(f64::INFINITY, RateControl::batch_units)
    }

    /// Whether answers that refuse nothing must be reported too.
    pub fn is_watching(&self) -> bool {
        !self.hot.is_empty() || !self.suspects.is_empty()
    }

    /// Asks to send units to a partition. If it may, the table's gate is asked next; units that are admitted here and not sent
    /// only slow the partition down for a moment.
    pub fn admit(&mut self, now: Duration, partition: u64, units: f64) -> Admission {
        let Some(pace) = self.hot.get_mut(&partition) else {
            return Admission::Go;
        };
        let wait = pace.wait(now.as_secs_f64());
        if wait > 0.0 {
            return Admission::At(at(now, wait));
        }
        pace.take(units);
        Admission::Go
    }
}

/// The relative entropy of two shares, in nats: how much one answer says against `usual` when `seen` was observed. By
/// Chernoff's bound, n answers show `seen` by chance at most once in e^(n × surprise) times.
fn surprise(seen: f64, usual: f64) -> f64 {
    let term = |one: f64, other: f64| {
        if one > 0.0 {
            one * (one / other).ln()
        } else {
            0.0
        }
    };
    term(seen, usual) + term(1.0 - seen, 1.0 - usual)
}
