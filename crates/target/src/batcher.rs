//! Gathers requests into batches that a target takes. Pure.
//!
//! A batch keeps within the target's [`BatchLimit`], and within a limit in write units where there
//! is one. It never holds two requests for one key, which DynamoDB would refuse as a whole.
//! Requests come out in the order they went in, each exactly once; a single one that is larger than
//! a limit comes out alone, for the target to refuse or for the rate to wait for.

use std::collections::HashSet;
use std::mem;

use dynafold_dynamodb::BuildFingerprintHasher;

use crate::{Batch, BatchEntry, BatchLimit};

/// Gathers requests into batches.
#[derive(Debug)]
pub struct Batcher {
    limit: BatchLimit,
    max_units: f64,
    batch: Batch,
    fingerprints: HashSet<u128, BuildFingerprintHasher>,
    units: u64,
    /// Bytes of the largest batch so far, with the request that did not fit: the capacity of the next one.
    largest: usize,
}

impl Batcher {
    /// Makes an empty batcher.
    pub fn new(limit: BatchLimit) -> Self {
        Self {
            limit,
            max_units: f64::INFINITY,
            batch: Batch::new(),
            fingerprints: HashSet::default(),
            units: 0,
            largest: 0,
        }
    }

    /// Sets the most write units that a batch may hold, from the next request on. A batch holds at
    /// least one request, whatever its units.
    pub fn limit_units(&mut self, units: f64) {
        self.max_units = units;
    }

    /// Takes a request, whose item or key `write` appends as DynamoDB JSON; gives back a batch when
    /// one is full, with or without the new request.
    pub fn push(&mut self, entry: BatchEntry, write: impl FnOnce(&mut String)) -> Option<Batch> {
        let fits = self.batch.len() < self.limit.items
            && self.fits(entry.units)
            && self.fingerprints.insert(entry.fingerprint);
        let mut full = if fits { None } else { self.finish() };
        if self.batch.is_empty() {
            // A target may take far more items in a batch: then it grows.
            let entries = self.limit.items.min(BatchLimit::BATCH_WRITE.items);
            self.batch = Batch::with_capacity(self.largest, entries);
        }
        self.batch.push(entry, write);
        self.largest = self.largest.max(self.batch.bytes());
        if self.batch.bytes() > self.limit.bytes && self.batch.len() > 1 {
            // The bytes of a request are known only when it is written. There is no other full
            // batch: after one, this request would stand alone.
            let last = self.batch.take_last(self.largest);
            full = self.finish();
            self.batch = last;
        }
        if !fits || full.is_some() {
            self.fingerprints.insert(entry.fingerprint);
        }
        self.units = self.units.saturating_add(entry.units);
        match full {
            None if self.batch.len() >= self.limit.items => self.finish(),
            full => full,
        }
    }

    /// Gives back the batch that is being filled, unless it is empty.
    pub fn finish(&mut self) -> Option<Batch> {
        self.fingerprints.clear();
        self.units = 0;
        let mut batch = mem::take(&mut self.batch);
        batch.seal();
        (!batch.is_empty()).then_some(batch)
    }

    fn fits(&self, units: u64) -> bool {
        let all = self.units.saturating_add(units);
        // Units beyond 2^32 are beyond every limit that a rate can set.
        u32::try_from(all).map_or(self.max_units.is_infinite(), |all| {
            f64::from(all) <= self.max_units
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn entry(fingerprint: u128, units: u64) -> BatchEntry {
        BatchEntry {
            units,
            fingerprint,
            ..BatchEntry::default()
        }
    }

    type PlannedRequest = (u128, usize, u64);

    fn batches_of(limit: BatchLimit, units: f64, requests: &[PlannedRequest]) -> Vec<Batch> {
        let mut batcher = Batcher::new(limit);
        batcher.limit_units(units);
        let mut all = Vec::new();
        for (fingerprint, length, units) in requests {
            all.extend(batcher.push(entry(*fingerprint, *units), |out| {
                out.push_str(&"x".repeat(*length));
            }));
        }
        all.extend(batcher.finish());
        assert!(batcher.batch.is_empty());
        all
    }

    fn sizes(batches: &[Batch]) -> Vec<usize> {
        batches.iter().map(Batch::len).collect()
    }

    const UNLIMITED: f64 = f64::INFINITY;

    #[test]
    fn batches_are_filled() {
        let requests: Vec<PlannedRequest> = (0..60).map(|n| (n, 100, 1)).collect();
        let batches = batches_of(BatchLimit::BATCH_WRITE, UNLIMITED, &requests);
        assert_eq!(sizes(&batches), [25, 25, 10]);
    }

    #[test]
    fn wire_bytes_end_a_batch_before_25_items() {
        // 400 KB of binary is 546,136 characters of base64: 25 of them stay below 16 MB, but 25
        // items of escaped control characters do not.
        let requests: Vec<PlannedRequest> = (0..25).map(|n| (n, 2_400_000, 1)).collect();
        let batches = batches_of(BatchLimit::BATCH_WRITE, UNLIMITED, &requests);
        assert_eq!(sizes(&batches), [6, 6, 6, 6, 1]);
    }

    #[test]
    fn one_key_twice_is_two_batches() {
        let requests = [(1, 1, 1), (2, 1, 1), (1, 2, 1), (3, 1, 1)];
        let batches = batches_of(BatchLimit::BATCH_WRITE, UNLIMITED, &requests);
        let keys: Vec<Vec<u128>> = batches
            .iter()
            .map(|batch| batch.entries().iter().map(|e| e.fingerprint).collect())
            .collect();
        assert_eq!(keys, [vec![1, 2], vec![1, 3]]);
    }

    #[test]
    fn units_end_a_batch_and_a_single_request_may_have_more() {
        let units = [3, 3, 3, 20, 1, 9, 1];
        let requests = (0..).zip(units).map(|(n, units)| (n, 1, units));
        let batches = batches_of(
            BatchLimit::BATCH_WRITE,
            10.0,
            &requests.collect::<Vec<PlannedRequest>>(),
        );
        assert_eq!(sizes(&batches), [3, 1, 2, 1]);
    }

    #[test]
    fn a_limit_below_one_unit_sends_requests_one_by_one() {
        let requests: Vec<PlannedRequest> = (0..3).map(|n| (n, 1, 1)).collect();
        let batches = batches_of(BatchLimit::BATCH_WRITE, 0.5, &requests);
        assert_eq!(sizes(&batches), [1, 1, 1]);
    }

    proptest! {
        #[test]
        fn every_request_comes_out_once_and_no_batch_is_above_its_limits(
            requests in prop::collection::vec((0_u128..40, 0_usize..900, 0_u64..9), 0..200),
            most in 1_usize..30,
            bytes in 100_usize..2_000,
            units in 1_u32..60,
        ) {
            let limit = BatchLimit { items: most, bytes };
            let batches = batches_of(limit, f64::from(units), &requests);
            for batch in &batches {
                prop_assert!(!batch.is_empty() && batch.len() <= most);
                prop_assert!(batch.bytes() <= bytes || batch.len() == 1);
                let all: u64 = batch.entries().iter().map(|e| e.units).sum();
                prop_assert!(all <= u64::from(units) || batch.len() == 1);
                let keys: HashSet<u128> = batch.entries().iter().map(|e| e.fingerprint).collect();
                prop_assert_eq!(keys.len(), batch.len());
            }
            let out: Vec<PlannedRequest> = batches
                .iter()
                .flat_map(|batch| {
                    let entries = batch.entries().iter().enumerate();
                    entries.map(|(n, e)| (e.fingerprint, batch.json(n).len(), e.units))
                })
                .collect();
            prop_assert_eq!(out, requests);
        }
    }
}
