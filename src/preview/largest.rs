//! The largest items that were met.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// How many are kept.
const MOST: usize = 10;

/// An item: bytes, when it was met, item type, and row as JSON.
type Met = (u64, Reverse<u64>, usize, String);

/// The largest items; of equal ones the first met.
#[derive(Debug, Default)]
pub(super) struct Largest {
    heap: BinaryHeap<Reverse<Met>>,
    met: u64,
}

impl Largest {
    /// `row` is asked for when the item is among the largest so far.
    pub(super) fn add(&mut self, bytes: u64, item_type: usize, row: impl FnOnce() -> String) {
        self.met += 1;
        let smallest = self.heap.peek().map(|Reverse(item)| item.0);
        if self.heap.len() >= MOST && smallest.is_some_and(|smallest| bytes <= smallest) {
            return;
        }
        let item = (bytes, Reverse(self.met), item_type, row());
        self.heap.push(Reverse(item));
        if self.heap.len() > MOST {
            self.heap.pop();
        }
    }

    /// Bytes, item type and row, the largest first.
    pub(super) fn sorted(self) -> Vec<(u64, usize, String)> {
        let sorted = self.heap.into_sorted_vec().into_iter();
        sorted
            .map(|Reverse((bytes, _, item_type, row))| (bytes, item_type, row))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_come_first_and_of_equal_ones_the_first_met() {
        let mut largest = Largest::default();
        for (at, bytes) in [5, 9, 5, 1, 9, 2, 3, 4, 6, 7, 8, 5, 5]
            .into_iter()
            .enumerate()
        {
            largest.add(bytes, at, || format!("{at}"));
        }
        let sorted = largest.sorted();
        let sorted: Vec<(u64, usize)> = sorted.iter().map(|item| (item.0, item.1)).collect();
        assert_eq!(
            sorted,
            [
                (9, 1),
                (9, 4),
                (8, 10),
                (7, 9),
                (6, 8),
                (5, 0),
                (5, 2),
                (5, 11),
                (5, 12),
                (4, 7)
            ]
        );
    }
}
