//! Which of the items that were read are shown.

use std::collections::{BTreeSet, HashMap};

use dynafold_dynamodb::{Table, partition_fingerprint};
use dynafold_mapping::sample::{ItemTypeSample, SampleItem};

/// The items that are shown, by item type.
#[derive(Debug, Default)]
pub(super) struct Choice<'g> {
    chosen: Vec<Vec<&'g SampleItem>>,
}

/// What is known of one partition key value.
#[derive(Default)]
struct PartitionValue {
    /// When it was met first.
    met: usize,
    types: BTreeSet<usize>,
}

impl<'g> Choice<'g> {
    /// Chooses at most `shown` items of each type; of one collection no more than half of them,
    /// unless there are no others.
    pub(super) fn of(samples: &'g [ItemTypeSample], table: &Table, shown: usize) -> Self {
        let key = |item: &SampleItem| partition_fingerprint(item.item.get(&table.partition.name));
        let mut partitions: HashMap<u128, PartitionValue> = HashMap::new();
        for (item_type, sample) in samples.iter().enumerate() {
            for item in &sample.items {
                let met = partitions.len();
                let shared = partitions.entry(key(item)).or_insert(PartitionValue {
                    met,
                    ..PartitionValue::default()
                });
                shared.types.insert(item_type);
            }
        }
        let rank = |item: &SampleItem| match partitions.get(&key(item)) {
            Some(shared) => (usize::MAX - shared.types.len(), shared.met),
            None => (usize::MAX, usize::MAX),
        };
        let most = shown.div_ceil(2);
        let chosen = samples.iter().map(|sample| {
            let mut items: Vec<&SampleItem> = sample.items.iter().collect();
            items.sort_by_cached_key(|item| rank(item));
            let mut taken: HashMap<u128, usize> = HashMap::new();
            let (mut first, mut rest) = (Vec::new(), Vec::new());
            for item in items {
                let taken = taken.entry(key(item)).or_default();
                *taken += 1;
                if *taken <= most && first.len() < shown {
                    first.push(item);
                } else if rest.len() < shown {
                    rest.push(item);
                }
            }
            let missing = shown - first.len();
            first.extend(rest.into_iter().take(missing));
            first
        });
        Self {
            chosen: chosen.collect(),
        }
    }

    /// The items of one type.
    pub(super) fn of_type(&self, item_type: usize) -> impl Iterator<Item = &'g SampleItem> {
        self.chosen.get(item_type).into_iter().flatten().copied()
    }
}
