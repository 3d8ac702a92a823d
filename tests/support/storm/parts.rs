//! The partitions of a table or an index, each with a bucket of its own.

use std::collections::BTreeMap;
use std::time::Duration;

use super::bucket::Bucket;
use super::counts::PartitionCounts;
use super::settings::Limits;

/// A pause in the refusals that ends a partition's heat.
const PAUSE: Duration = Duration::from_secs(2);

/// Units that go to one partition.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Load<'k> {
    /// The hash of the partition key.
    pub(crate) hash: u64,
    /// The partition key, for people.
    pub(crate) key: &'k str,
    pub(crate) units: f64,
}

/// Partitions by the first hash of each.
#[derive(Debug)]
pub(crate) struct Parts {
    wcu: Option<f64>,
    burst: f64,
    split_after: Option<Duration>,
    ranges: bool,
    all: BTreeMap<u64, Part>,
    splits: u64,
}

#[derive(Debug)]
struct Part {
    label: String,
    bucket: Option<Bucket>,
    hot_since: Option<Duration>,
    hot_until: Duration,
    accepted: f64,
    refused: f64,
    each_second: Vec<(u64, f64)>,
}

impl Parts {
    /// None where partitions have no limit and no number: nothing is to be held or told then.
    pub(crate) fn new(limits: &Limits, wcu: Option<f64>, now: Duration) -> Option<Self> {
        if wcu.is_none() && limits.partitions.is_none() {
            return None;
        }
        let mut new = Self {
            wcu,
            burst: limits.burst_seconds,
            split_after: limits.split_after_seconds.map(Duration::from_secs_f64),
            ranges: limits.partitions.is_some(),
            all: BTreeMap::new(),
            splits: 0,
        };
        let number = u64::from(limits.partitions.unwrap_or(0).max(1));
        for index in 0..limits.partitions.map_or(0, |_| number) {
            let start = u64::MAX / number * index;
            new.all
                .insert(start, new.part(format!("{start:016x}"), now));
        }
        Some(new)
    }

    fn part(&self, label: String, now: Duration) -> Part {
        Part {
            label,
            bucket: self.wcu.map(|wcu| Bucket::new(wcu, self.burst, now)),
            hot_since: None,
            hot_until: Duration::ZERO,
            accepted: 0.0,
            refused: 0.0,
            each_second: Vec::new(),
        }
    }

    fn find(&mut self, now: Duration, load: &Load<'_>) -> Option<&mut Part> {
        if !self.ranges && !self.all.contains_key(&load.hash) {
            let part = self.part(load.key.to_owned(), now);
            self.all.insert(load.hash, part);
        }
        self.all
            .range_mut(..=load.hash)
            .next_back()
            .map(|(_, part)| part)
    }

    /// Whether the partition has units left.
    pub(crate) fn has(&mut self, now: Duration, load: &Load<'_>) -> bool {
        let bucket = self.find(now, load).and_then(|part| part.bucket.as_mut());
        bucket.is_none_or(|bucket| bucket.has(now, load.units))
    }

    /// Takes units; fewer than none are given back.
    pub(crate) fn take(&mut self, now: Duration, load: &Load<'_>) {
        let Some(part) = self.find(now, load) else {
            return;
        };
        part.accepted += load.units;
        if let Some(bucket) = &mut part.bucket {
            bucket.take(load.units);
        }
        match part.each_second.last_mut() {
            Some((second, units)) if *second == now.as_secs() => *units += load.units,
            _ => part.each_second.push((now.as_secs(), load.units)),
        }
    }

    /// Says that the partition refused units, which heats it.
    pub(crate) fn refused(&mut self, now: Duration, load: &Load<'_>) {
        let split_after = self.split_after.filter(|_| self.ranges);
        let Some(part) = self.find(now, load) else {
            return;
        };
        part.refused += load.units;
        if now.saturating_sub(part.hot_until) > PAUSE {
            part.hot_since = None;
        }
        part.hot_until = now;
        let since = *part.hot_since.get_or_insert(now);
        if split_after.is_some_and(|after| now.saturating_sub(since) >= after) {
            self.split(load.hash, now);
        }
    }

    /// Cuts the range that holds a hash in the middle.
    fn split(&mut self, hash: u64, now: Duration) {
        let Some(start) = self.all.range(..=hash).next_back().map(|(start, _)| *start) else {
            return;
        };
        let after = self.all.range(hash..).find(|(next, _)| **next > start);
        let end = after.map_or(u64::MAX, |(next, _)| *next);
        let middle = start + (end - start) / 2;
        if middle == start {
            return;
        }
        let mut new = self.part(format!("{middle:016x}"), now);
        if let Some(old) = self.all.get_mut(&start) {
            old.hot_since = None;
            new.bucket = old.bucket.as_mut().map(Bucket::halve);
        }
        self.all.insert(middle, new);
        self.splits += 1;
    }

    pub(crate) fn splits(&self) -> u64 {
        self.splits
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// The partitions with most traffic, the busiest first.
    pub(crate) fn counts(&self, most: usize) -> Vec<PartitionCounts> {
        let mut busiest: Vec<&Part> = self.all.values().collect();
        busiest.sort_by(|a, b| (b.accepted + b.refused).total_cmp(&(a.accepted + a.refused)));
        busiest.truncate(most);
        let counts = busiest.into_iter().map(|part| PartitionCounts {
            partition: part.label.clone(),
            accepted: part.accepted,
            refused: part.refused,
            each_second: part.each_second.clone(),
        });
        counts.collect()
    }

    pub(crate) fn reset_counts(&mut self) {
        for part in self.all.values_mut() {
            part.accepted = 0.0;
            part.refused = 0.0;
            part.each_second.clear();
        }
    }
}
