//! Gathers prepared items into batches that a target takes. Pure.
//!
//! A batch keeps within the target's [`BatchLimit`] and never holds two items with one key, which
//! DynamoDB would refuse as a whole. Items come out in the order they went in, each exactly once;
//! a single item that is larger than the limit comes out alone, for the target to refuse.

use std::collections::HashSet;
use std::mem;

use crate::target::{Batch, BatchLimit, Prepared};

/// What stands around an item on the wire: `{"PutRequest":{"Item":` … `}},`.
const FRAME: usize = 25;

/// Gathers items into batches.
#[derive(Debug)]
pub struct Batcher {
    limit: BatchLimit,
    items: Vec<Prepared>,
    fingerprints: HashSet<u128>,
    bytes: usize,
}

impl Batcher {
    /// Makes an empty batcher.
    #[must_use]
    pub fn new(limit: BatchLimit) -> Self {
        Self {
            limit,
            items: Vec::new(),
            fingerprints: HashSet::new(),
            bytes: 0,
        }
    }

    /// Takes an item; gives back a batch when one is full, with or without the new item.
    pub fn push(&mut self, item: Prepared) -> Option<Batch> {
        let bytes = wire_size(&item);
        let fits = self.bytes + bytes <= self.limit.bytes
            && !self.fingerprints.contains(&item.fingerprint);
        let full = if fits { None } else { self.finish() };
        self.bytes += bytes;
        self.fingerprints.insert(item.fingerprint);
        self.items.push(item);
        match full {
            None if self.items.len() >= self.limit.items => self.finish(),
            full => full,
        }
    }

    /// Gives back what is left; `None` where that is nothing.
    pub fn finish(&mut self) -> Option<Batch> {
        self.bytes = 0;
        self.fingerprints.clear();
        let items = mem::take(&mut self.items);
        (!items.is_empty()).then_some(Batch { items })
    }

    /// How many items wait for their batch.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.items.len()
    }
}

/// Bytes that an item adds to a request.
#[must_use]
pub fn wire_size(item: &Prepared) -> usize {
    item.json.len() + FRAME
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn item(fingerprint: u128, length: usize) -> Prepared {
        Prepared {
            json: "x".repeat(length),
            size: length,
            item_type: 0,
            fingerprint,
        }
    }

    fn all(limit: BatchLimit, items: &[Prepared]) -> Vec<Batch> {
        let mut batcher = Batcher::new(limit);
        let mut all: Vec<Batch> = items
            .iter()
            .filter_map(|item| batcher.push(item.clone()))
            .collect();
        all.extend(batcher.finish());
        assert_eq!(batcher.waiting(), 0);
        all
    }

    #[test]
    fn batches_are_filled() {
        let items: Vec<Prepared> = (0..60).map(|n| item(n, 100)).collect();
        let sizes: Vec<usize> = all(BatchLimit::BATCH_WRITE, &items)
            .iter()
            .map(|batch| batch.items.len())
            .collect();
        assert_eq!(sizes, [25, 25, 10]);
    }

    #[test]
    fn wire_bytes_end_a_batch_before_25_items() {
        // 400 KB of binary is 546,136 characters of base64: 25 of them stay below 16 MB, but 25
        // items of escaped control characters do not.
        let items: Vec<Prepared> = (0..25).map(|n| item(n, 2_400_000)).collect();
        let batches = all(BatchLimit::BATCH_WRITE, &items);
        assert_eq!(batches.len(), 5);
        assert_eq!(batches[0].items.len(), 6);
    }

    #[test]
    fn one_key_twice_is_two_batches() {
        let batches = all(
            BatchLimit::BATCH_WRITE,
            &[item(1, 1), item(2, 1), item(1, 2), item(3, 1)],
        );
        let keys: Vec<Vec<u128>> = batches
            .iter()
            .map(|batch| batch.items.iter().map(|i| i.fingerprint).collect())
            .collect();
        assert_eq!(keys, [vec![1, 2], vec![1, 3]]);
    }

    proptest! {
        #[test]
        fn every_item_comes_out_once_and_no_batch_is_above_its_limit(
            items in prop::collection::vec((0_u128..40, 0_usize..900), 0..200),
            most in 1_usize..30,
            bytes in 100_usize..2_000,
        ) {
            let items: Vec<Prepared> = items.into_iter().map(|(key, length)| item(key, length)).collect();
            let limit = BatchLimit { items: most, bytes };
            let batches = all(limit, &items);
            for batch in &batches {
                prop_assert!(!batch.items.is_empty() && batch.items.len() <= most);
                let wire: usize = batch.items.iter().map(wire_size).sum();
                prop_assert!(wire <= bytes || batch.items.len() == 1);
                let keys: HashSet<u128> = batch.items.iter().map(|i| i.fingerprint).collect();
                prop_assert_eq!(keys.len(), batch.items.len());
            }
            let out: Vec<Prepared> = batches.into_iter().flat_map(|batch| batch.items).collect();
            prop_assert_eq!(out, items);
        }
    }
}
