//! Hot partitions: those that refuse while others take.
//!
//! A batch that is taken in part carries no reason. Whether the table or one partition refused is
//! inferred: a table refuses items of all partitions alike; a hot partition's items come back again
//! and again while nearly all others pass. Only partitions of which something was refused are
//! remembered, the newest of them, and what is remembered fades.

use std::collections::HashMap;
use std::time::Duration;

use super::pace::Pace;
use super::{Admission, at};

/// Units a second that DynamoDB's partitions take.
const MOST: f64 = 1_000.0;
/// Seconds in which what is remembered fades to a third.
const FADE: f64 = 2.0;
/// Partitions that are remembered.
const REMEMBERED: usize = 256;
/// Refusing answers and seconds from which a partition is called hot.
const ANSWERS: u32 = 3;
const SECONDS: f64 = 0.15;
/// How many times as large a share as of the others is refused, and of all that is refused.
const TIMES: f64 = 4.0;
const SHARE: f64 = 0.25;
/// Seconds without a refusal, and without waiting, after which a partition is not hot any more.
const COOL: f64 = 5.0;
const IDLE: f64 = 2.0;

/// Which partitions are hot.
#[derive(Debug, Default)]
pub struct Heat {
    suspects: HashMap<u64, Suspect>,
    hot: HashMap<u64, Pace>,
    /// Of all partitions that are not hot.
    all: Fading,
    swept: f64,
}

/// Who refused.
#[derive(Debug)]
pub struct Verdict {
    /// Units that the table as a whole refused, and no hot partition.
    pub table_refused: f64,
}

#[derive(Debug)]
struct Suspect {
    units: Fading,
    answers: u32,
    since: f64,
}

/// Units accepted and refused of late.
#[derive(Debug, Default, Clone, Copy)]
struct Fading {
    accepted: f64,
    refused: f64,
    at: f64,
}

impl Fading {
    fn fade(&mut self, now: f64) {
        let kept = (-(now - self.at).max(0.0) / FADE).exp();
        self.accepted *= kept;
        self.refused *= kept;
        self.at = self.at.max(now);
    }

    fn less(&self, other: &Self) -> Self {
        Self {
            accepted: (self.accepted - other.accepted).max(0.0),
            refused: (self.refused - other.refused).max(0.0),
            at: self.at,
        }
    }

    /// The share that was refused, of one unit more than there was: little says little.
    fn share(&self) -> f64 {
        self.refused / (self.accepted + self.refused).max(f64::MIN_POSITIVE)
    }
}

impl Suspect {
    fn new(now: f64) -> Self {
        Self {
            units: Fading {
                at: now,
                ..Fading::default()
            },
            answers: 0,
            since: now,
        }
    }

    /// Whether it explains what is refused, so that the table need not.
    fn explains(&self, all: &Fading) -> bool {
        let others = all.less(&self.units);
        let own = self.units.share();
        others.accepted > 0.0
            && self.units.refused >= all.refused * SHARE
            && own > TIMES * others.share()
    }

    /// Units that it takes in a second.
    fn rate(&self, now: f64) -> f64 {
        let seconds = (now - self.since).max(SECONDS);
        self.units.accepted / (FADE * (1.0 - (-seconds / FADE).exp()))
    }
}

impl Heat {
    /// Judges an answer: pairs of a partition and units. Every answer is to be told while
    /// [`Heat::is_watching`], and at any time those that refuse something.
    pub fn judge(
        &mut self,
        now: Duration,
        accepted: &[(u64, f64)],
        refused: &[(u64, f64)],
    ) -> Verdict {
        let now = now.as_secs_f64();
        self.sweep(now);
        self.all.fade(now);
        let mut heated: Vec<(u64, f64, f64)> = Vec::new();
        let mut seen: Vec<u64> = Vec::new();
        let mut of_table = 0.0;
        let entries = accepted.iter().map(|entry| (entry, true));
        for (&(partition, units), took) in entries.chain(refused.iter().map(|entry| (entry, false)))
        {
            if self.hot.contains_key(&partition) {
                let at = heated.iter().position(|(hot, ..)| *hot == partition);
                let mut sums = at.map_or((partition, 0.0, 0.0), |at| heated.swap_remove(at));
                *(if took { &mut sums.1 } else { &mut sums.2 }) += units;
                heated.push(sums);
                continue;
            }
            if !took {
                of_table += units;
                if !seen.contains(&partition) {
                    seen.push(partition);
                }
            }
            self.enter(now, partition, units, took);
        }
        for (partition, accepted, refused) in heated {
            if let Some(pace) = self.hot.get_mut(&partition) {
                pace.answered(now, 0.0, accepted, refused);
            }
        }
        let mut explained = 0.0;
        for partition in seen {
            if self.explains(now, partition) {
                let own = refused.iter().filter(|(other, _)| *other == partition);
                explained += own.map(|(_, units)| units).sum::<f64>();
            }
        }
        Verdict {
            table_refused: if of_table - explained > 1e-9 {
                of_table - explained
            } else {
                0.0
            },
        }
    }

    fn enter(&mut self, now: f64, partition: u64, units: f64, took: bool) {
        let suspect = if took {
            self.suspects.get_mut(&partition)
        } else {
            self.room(partition);
            Some(
                self.suspects
                    .entry(partition)
                    .or_insert_with(|| Suspect::new(now)),
            )
        };
        let of = suspect.map(|suspect| &mut suspect.units);
        for fading in of.into_iter().chain([&mut self.all]) {
            fading.fade(now);
            if took {
                fading.accepted += units;
            } else {
                fading.refused += units;
            }
        }
    }

    /// Makes room for one more: the least refused goes.
    fn room(&mut self, partition: u64) {
        if self.suspects.len() < REMEMBERED || self.suspects.contains_key(&partition) {
            return;
        }
        let least = self.suspects.iter().min_by(|(_, one), (_, other)| {
            let (one, other) = (one.units.refused, other.units.refused);
            one.total_cmp(&other)
        });
        if let Some(least) = least.map(|(partition, _)| *partition) {
            self.suspects.remove(&least);
        }
    }

    /// Counts a refusing answer of a partition; whether that explains it. It may be hot from now.
    fn explains(&mut self, now: f64, partition: u64) -> bool {
        let alone = self.suspects.len() == 1;
        let Some(suspect) = self.suspects.get_mut(&partition) else {
            return false;
        };
        suspect.answers += 1;
        suspect.units.fade(now);
        // One answer alone may be anybody's; the very first one is left open.
        if !suspect.explains(&self.all) || (suspect.answers < 2 && !alone) {
            return false;
        }
        if suspect.answers >= ANSWERS && now - suspect.since >= SECONDS {
            let rate = suspect.rate(now);
            let units = suspect.units;
            self.all = self.all.less(&units);
            self.suspects.remove(&partition);
            self.hot.insert(partition, Pace::known(now, rate, MOST));
        }
        true
    }

    fn sweep(&mut self, now: f64) {
        if now - self.swept < 0.5 {
            return;
        }
        self.swept = now;
        self.suspects.retain(|_, suspect| {
            suspect.units.fade(now);
            suspect.units.refused > 0.05
        });
        if self.suspects.is_empty() {
            self.all = Fading::default();
        }
        self.hot.retain(|_, pace| {
            let quiet = now - pace.refused() >= COOL;
            !quiet || (pace.waits(now, IDLE) && !pace.is_fastest())
        });
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
