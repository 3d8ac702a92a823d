//! The ceiling: in any five seconds at most five times its units are used, and one item.
//!
//! A bucket spreads the units evenly; the bound is held by a count. A request is done at some
//! time between its sending and its answer. So all that was done in the five seconds before any
//! moment is either still in flight when the last of it is let in, or was answered less than five
//! seconds before; and as much as that, with what is let in, is never more than the bound. It
//! follows that the bound holds however long answers take, as long as estimates are right.
//!
//! They are not always: an item that overwrites another costs what the larger one does. What is
//! reserved is the estimate times the highest ratio seen lately, and what was used in fact is
//! entered when the answer tells.

use std::collections::VecDeque;

use super::bucket::Bucket;

/// The window, in seconds.
const WINDOW: f64 = 5.0;
/// Of the ceiling that is used: the rest is for estimates that are wrong.
const SHARE: f64 = 0.95;
/// Seconds' units that may be sent at once, and in one batch.
const BURST: f64 = 0.08;
/// How much of the way the ratio falls with each answer.
const FALL: f64 = 0.05;

#[derive(Debug)]
pub(super) struct Ceiling {
    units: f64,
    bucket: Bucket,
    /// When requests of the last five seconds were answered, and the units that they used.
    answered: VecDeque<(f64, f64)>,
    in_window: f64,
    /// Reserved for what is in flight, as estimated.
    in_flight: f64,
    /// Used for one estimated.
    ratio: f64,
}

impl Ceiling {
    pub(super) fn new(units: f64) -> Self {
        let units = units.max(f64::MIN_POSITIVE);
        Self {
            units,
            bucket: Bucket::new(0.0, units * SHARE, BURST),
            answered: VecDeque::new(),
            in_window: 0.0,
            in_flight: 0.0,
            ratio: 1.0,
        }
    }

    /// The most units of a batch. A request that has half as many more is one item.
    pub(super) fn batch_units(&self) -> f64 {
        self.units * BURST / self.ratio
    }

    /// How long a request has to wait at least.
    pub(super) fn wait(&mut self, now: f64, units: f64) -> f64 {
        self.forget(now);
        let need = (units * self.ratio).min(self.units * BURST * 1.5);
        let used = self.in_window + self.in_flight * self.ratio;
        let wait = self.bucket.wait(now);
        if used <= 0.0 || used + need <= self.units * WINDOW {
            return wait;
        }
        // Until the first of them is five seconds old; or what is in flight is answered.
        let first = self.answered.front().map_or(now, |(at, _)| at + WINDOW);
        wait.max(first - now).max(0.001)
    }

    pub(super) fn take(&mut self, units: f64) {
        self.in_flight += units;
        self.bucket.take(units * self.ratio);
    }

    /// Settles. `used`: as far as it is known.
    pub(super) fn answered(&mut self, now: f64, estimated: f64, refused: f64, used: Option<f64>) {
        self.in_flight = (self.in_flight - estimated).max(0.0);
        let reserved = estimated * self.ratio;
        let done = (estimated - refused).max(0.0);
        let units = used.unwrap_or(done * self.ratio);
        self.bucket.take(units - reserved);
        if let Some(used) = used
            && done > 0.0
        {
            let ratio = (used / done).max(1.0);
            self.ratio = if ratio > self.ratio {
                ratio
            } else {
                self.ratio + (ratio - self.ratio) * FALL
            };
        }
        self.in_window += units;
        self.answered.push_back((now, units));
    }

    fn forget(&mut self, now: f64) {
        while let Some((at, units)) = self.answered.front().copied() {
            if now - at <= WINDOW {
                break;
            }
            self.in_window -= units;
            self.answered.pop_front();
        }
        if self.answered.is_empty() {
            self.in_window = 0.0;
        }
    }
}
