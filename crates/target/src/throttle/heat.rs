//! Hot partitions: those that refuse while others take.
//!
//! A batch that is taken in part carries no reason. Whether the table or one partition refused is
//! inferred: a table, and noise, refuse items of all partitions alike. A partition is hot where so
//! much of it is refused that chance would not do it once in a million, if it were refused as the
//! others are. Only partitions of which something was refused are remembered, and what is
//! remembered fades.

use std::collections::HashMap;
use std::time::Duration;

use super::pace::RateControl;
use super::{Admission, at};

/// The logarithm of a million: what is less likely is no chance.
const NO_CHANCE: f64 = 14.0;
/// Partitions that are remembered.
const REMEMBERED: usize = 256;
/// Seconds without a sign of its limit after which a partition is not hot any more; and without an
/// answer, after which a suspicion is forgotten.
const COOL: f64 = 5.0;
/// Answers after which a suspicion that has come to nothing begins anew.
const ANSWERS: f64 = 48.0;

/// Which partitions are hot.
#[derive(Debug, Default)]
pub struct HotPartitions {
    suspects: HashMap<u64, SuspectedPartition>,
    hot: HashMap<u64, RateControl>,
    /// Of all partitions that are not hot, since the begin.
    all: AnswerTally,
    swept: f64,
}

/// What became of a partition in each answer that it was in, from its first refusal on.
#[derive(Debug)]
struct SuspectedPartition {
    own: AnswerTally,
    accepted: f64,
    /// Of all when it began: compared is what happened in the same time.
    before: AnswerTally,
    since: f64,
    last: f64,
}

/// Answers, and how many of them were refused, each counted by its share.
#[derive(Debug, Default, Clone, Copy)]
struct AnswerTally {
    answers: f64,
    refused: f64,
}

impl AnswerTally {
    fn enter(&mut self, accepted: f64, refused: f64) {
        self.answers += 1.0;
        if refused > 0.0 {
            self.refused += refused / (accepted + refused);
        }
    }
}

impl HotPartitions {
    /// Judges an answer: pairs of a partition and units. Every answer is to be told while
    /// [`HotPartitions::is_watching`], and at any time those that refuse something. Gives the units that
    /// were refused by no hot partition.
    pub fn judge(
        &mut self,
        now: Duration,
        latency: Duration,
        accepted: &[(u64, f64)],
        refused: &[(u64, f64)],
    ) -> f64 {
        let (now, latency) = (now.as_secs_f64(), latency.as_secs_f64());
        self.sweep(now);
        // A batch has 25 items at most, so that to look for each is quick.
        let mut partitions: Vec<(u64, f64, f64)> = Vec::new();
        let pairs = accepted.iter().map(|(of, units)| (*of, *units, 0.0));
        for (of, took, left) in pairs.chain(refused.iter().map(|(of, units)| (*of, 0.0, *units))) {
            match partitions.iter_mut().find(|(other, ..)| *other == of) {
                Some((_, accepted, refused)) => {
                    *accepted += took;
                    *refused += left;
                }
                None => partitions.push((of, took, left)),
            }
        }
        let mut others = 0.0;
        for (partition, accepted, refused) in partitions {
            if let Some(pace) = self.hot.get_mut(&partition) {
                pace.answered(now, latency, accepted, refused);
                continue;
            }
            others += refused;
            self.all.enter(accepted, refused);
            if let Some(suspect) = self.suspects.get_mut(&partition) {
                suspect.own.enter(accepted, refused);
                suspect.accepted += accepted;
                suspect.last = now;
                self.suspect(now, partition);
            } else if refused > 0.0 {
                // The first refusal only begins the count: without one nobody would look.
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

    /// Forgets the least suspect where there are too many.
    fn make_room(&mut self) {
        if self.suspects.len() < REMEMBERED {
            return;
        }
        let refused = |suspect: &SuspectedPartition| suspect.own.refused;
        let least = self.suspects.iter();
        let least = least.min_by(|(_, one), (_, other)| refused(one).total_cmp(&refused(other)));
        if let Some(least) = least.map(|(partition, _)| *partition) {
            self.suspects.remove(&least);
        }
    }

    /// Makes a suspect hot where that is no chance.
    fn suspect(&mut self, now: f64, partition: u64) {
        let Some(suspect) = self.suspects.get(&partition) else {
            return;
        };
        let AnswerTally { answers, refused } = suspect.own;
        let others = |all: f64, before: f64, own: f64| (all - before - own).max(0.0);
        let usual = (
            others(self.all.refused, suspect.before.refused, refused),
            others(self.all.answers, suspect.before.answers, answers),
        );
        // As likely as one more of each would make it: few answers say little.
        let usual = (usual.0 + 1.0) / (usual.1 + 2.0);
        let share = refused / answers;
        if share <= usual || answers * surprise(share, usual) < NO_CHANCE {
            if answers > ANSWERS {
                self.suspects.remove(&partition);
            }
            return;
        }
        let rate = suspect.accepted / (now - suspect.since).max(0.1);
        self.suspects.remove(&partition);
        self.hot
            .insert(partition, RateControl::new(now, Some(rate)));
    }

    fn sweep(&mut self, now: f64) {
        if now - self.swept < 0.5 {
            return;
        }
        self.swept = now;
        self.suspects.retain(|_, suspect| now - suspect.last < COOL);
        self.hot.retain(|_, pace| pace.calm(now) < COOL);
    }

    /// Whether a partition is to be paced on its own.
    #[must_use]
    pub fn is_hot(&self, partition: u64) -> bool {
        self.hot.contains_key(&partition)
    }

    /// Whether any is.
    #[must_use]
    pub fn any_hot(&self) -> bool {
        !self.hot.is_empty()
    }

    /// The most units that a batch of one partition should hold as things stand.
    #[must_use]
    pub fn batch_units(&self, partition: u64) -> f64 {
        let pace = self.hot.get(&partition);
        pace.map_or(f64::INFINITY, RateControl::batch_units)
    }

    /// Whether answers that refuse nothing are to be told too.
    #[must_use]
    pub fn is_watching(&self) -> bool {
        !self.hot.is_empty() || !self.suspects.is_empty()
    }

    /// Asks to send units to a hot partition; the gate is to be asked after that. What is let in
    /// here and never sent only makes the partition slower for a moment.
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

/// How much one answer says against a share where this one was seen: the relative entropy. By
/// Chernoff's bound, so many answers show it by chance once in e to the power of their sum at most.
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
