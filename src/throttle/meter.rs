//! Units accepted and refused in the last second, or longer where there are few answers.

use std::collections::VecDeque;

/// Answers are counted together over so many seconds.
const GRAIN: f64 = 0.05;
/// Seconds that are looked back on.
const SPAN: f64 = 1.0;
/// The same, where there are fewer answers than `FEW`.
const LONG: f64 = 10.0;
const FEW: u32 = 8;

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sums {
    pub(super) accepted: f64,
    pub(super) refused: f64,
    pub(super) answers: u32,
    /// Since when, in seconds.
    pub(super) since: f64,
}

impl Sums {
    pub(super) fn add(&mut self, accepted: f64, refused: f64, answers: u32) {
        self.accepted += accepted;
        self.refused += refused;
        self.answers += answers;
    }

    /// The share refused that so few answers show at least: one deviation less.
    pub(super) fn share_at_least(&self) -> f64 {
        let share = self.share();
        let deviation = (share * (1.0 - share) / f64::from(self.answers.max(1))).sqrt();
        (share - deviation).max(0.0)
    }

    pub(super) fn share(&self) -> f64 {
        let all = self.accepted + self.refused;
        if all > 0.0 { self.refused / all } else { 0.0 }
    }
}

#[derive(Debug, Default)]
pub(super) struct Meter {
    slots: VecDeque<Sums>,
}

impl Meter {
    pub(super) fn enter(&mut self, now: f64, accepted: f64, refused: f64) {
        match self.slots.back_mut() {
            Some(slot) if now - slot.since < GRAIN => {
                slot.add(accepted, refused, 1);
            }
            _ => self.slots.push_back(Sums {
                accepted,
                refused,
                answers: 1,
                since: now,
            }),
        }
        let mut answers: u32 = self.slots.iter().map(|slot| slot.answers).sum();
        while let Some(first) = self.slots.front() {
            let age = now - first.since;
            let enough = answers - first.answers >= FEW && age > SPAN;
            if !enough && age <= LONG {
                break;
            }
            answers -= first.answers;
            self.slots.pop_front();
        }
    }

    /// What was counted since a time, or in the last second.
    pub(super) fn since(&self, time: f64) -> Sums {
        let first = self.slots.front().map_or(time, |slot| slot.since);
        let mut sums = Sums {
            since: first.max(time),
            ..Sums::default()
        };
        for slot in self.slots.iter().filter(|slot| slot.since >= time) {
            sums.add(slot.accepted, slot.refused, slot.answers);
        }
        sums
    }
}
