//! A writer's batches.

use dynafold_target::throttle::OutcomeKind;

use super::{ENOUGH, Event, HOT, ITEMS, Item, Simulation};

#[derive(Debug, Default)]
pub(super) struct Writer {
    pub(super) batch: Vec<Item>,
    /// Of its batch, what is sent after it.
    pub(super) waiting: Vec<Item>,
    pub(super) left: Vec<Item>,
    /// Left by answers that took most.
    pub(super) kept: Vec<Item>,
    pub(super) failures: u32,
    pub(super) sent: f64,
    pub(super) answer: Option<(OutcomeKind, f64, f64)>,
}

impl Simulation<'_> {
    pub(super) fn fill(&mut self, writer: usize, hot: bool) -> bool {
        let mut batch = std::mem::take(&mut self.writers[writer].waiting);
        let mut sum = 0.0;
        if !batch.is_empty() {
            // What was split off is sent first.
        } else if self.writers[writer].kept.len() >= ENOUGH {
            batch = std::mem::take(&mut self.writers[writer].kept);
        } else if hot {
            while let Some(item) = self.parked.front().copied() {
                if batch.len() == ITEMS
                    || (sum > 0.0 && sum + item.units > self.heat.batch_units(HOT))
                {
                    break;
                }
                self.parked.pop_front();
                sum += item.units;
                batch.push(item);
            }
            self.draining = !batch.is_empty();
            if batch.is_empty() {
                return false;
            }
        } else {
            if let Some(rate) = self.case.load.offered
                && self.offered > rate * self.now
            {
                self.later(self.offered / rate, Event::Writer(writer));
                return false;
            }
            let most = self.gate.batch_units();
            while batch.len() < ITEMS {
                let load = &self.case.load;
                let units = load.units[self.random.usize(..load.units.len())];
                if !batch.is_empty() && sum + units > most {
                    break;
                }
                let partition = if self.random.f64() < load.hot {
                    HOT
                } else {
                    self.random.u64(..load.partitions)
                };
                sum += units;
                batch.push(Item { partition, units });
            }
            self.offered += sum;
        }
        let writer = &mut self.writers[writer];
        writer.batch = batch;
        writer.failures = 0;
        true
    }

    /// Sends no more at one time than batches should hold by now.
    pub(super) fn trim(&mut self, writer: usize) {
        let most = self.gate.batch_units();
        let writer = &mut self.writers[writer];
        let all: f64 = writer.batch.iter().map(|item| item.units).sum();
        if all <= most * 1.5 {
            return;
        }
        let mut sum = 0.0;
        let fits = writer.batch.iter().take_while(|item| {
            sum += item.units;
            sum <= most
        });
        let fits = fits.count().max(1);
        writer.waiting.extend(writer.batch.drain(fits..));
    }

    pub(super) fn units(&self, writer: usize) -> f64 {
        self.writers[writer]
            .batch
            .iter()
            .map(|item| item.units)
            .sum()
    }
}
