//! A sample: some of the items, from all over the source, the same ones every time.
//!
//! Large tables have some of their chunks read, chosen by hash. Of the keys in these, those with the
//! least hashes are compared: as many as were asked for, of whatever item type, whether rows are
//! left out by conditions or make many items.

use std::collections::BinaryHeap;

use xxhash_rust::xxh3::xxh3_64;

use crate::load::{Part, Plan};
use crate::mapping::model::Model;

/// Fewest chunks of a pass that are read, where it has as many, and the least share of them.
const CHUNKS: u64 = 8;
const SHARE: u64 = 8;
/// Rows that are read for each item, at least, as far as rows can be counted.
const ROWS: u64 = 4;

/// Leaves chunks out that a sample need not read.
pub(super) fn thin(mut plan: Plan, sample: u64, model: &Model, estimates: &[Option<u64>]) -> Plan {
    let rows = |pass: usize| estimates.get(pass).copied().flatten();
    let items = |pass: usize| {
        let types = model.passes.get(pass).map_or(0, |p| p.item_types.len());
        rows(pass).unwrap_or(0) * count(types)
    };
    let all: u64 = (0..plan.passes.len()).map(items).sum();
    for (pass, parts) in plan.passes.iter_mut().enumerate() {
        let whole = count(parts.len());
        let needed = match rows(pass) {
            // So much of it that the sample is in there several times over.
            Some(1..) => whole
                .saturating_mul(sample.saturating_mul(ROWS))
                .div_ceil(all.max(1)),
            _ => whole,
        };
        let needed = needed.max(whole.div_ceil(SHARE)).max(CHUNKS);
        if needed < whole {
            keep(parts, pass, needed);
        }
    }
    plan
}

fn keep(parts: &mut Vec<Part>, pass: usize, needed: u64) {
    let hash = |at: usize| xxh3_64(format!("{pass}/{at}").as_bytes());
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by_key(|at| hash(*at));
    order.truncate(usize::try_from(needed).unwrap_or(usize::MAX));
    let mut at = 0;
    parts.retain(|_| {
        at += 1;
        order.contains(&(at - 1))
    });
}

/// Finds out up to which hash keys are in the sample.
#[derive(Debug)]
pub(super) struct Draw {
    most: usize,
    least: BinaryHeap<u64>,
    /// Whether there were more keys than are wanted.
    full: bool,
}

impl Draw {
    pub(super) fn new(sample: u64) -> Self {
        Self {
            most: usize::try_from(sample).unwrap_or(usize::MAX),
            least: BinaryHeap::new(),
            full: false,
        }
    }

    pub(super) fn take(&mut self, fingerprint: u128) {
        let hash = order(fingerprint);
        if self.least.len() < self.most {
            self.least.push(hash);
        } else if let Some(mut last) = self.least.peek_mut() {
            self.full = true;
            if hash < *last {
                *last = hash;
            }
        }
    }

    /// The last hash that is in the sample.
    pub(super) fn last(&self) -> u64 {
        match self.least.peek() {
            Some(last) if self.full => *last,
            _ => u64::MAX,
        }
    }
}

/// The order in which items are taken into a sample.
pub(super) fn order(fingerprint: u128) -> u64 {
    xxh3_64(&fingerprint.to_le_bytes())
}

fn count(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draw_takes_as_many_as_it_is_asked_for_and_all_where_there_are_fewer() {
        for (keys, sample) in [(1_000_u128, 10), (1_000, 1_000), (5, 10), (11, 10), (1, 1)] {
            let mut draw = Draw::new(sample);
            (0..keys).for_each(|key| draw.take(key));
            let last = draw.last();
            let taken = (0..keys).filter(|key| order(*key) <= last).count();
            assert_eq!(count(taken), sample.min(u64::try_from(keys).unwrap()));
        }
    }
}
