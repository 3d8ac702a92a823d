//! Chooses the example items that the document shows from the items that were read.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

use dynafold_dynamodb::partition_fingerprint;
use dynafold_mapping::sample::{ItemTypeSample, SampleItem};

/// The items that the document shows.
#[derive(Debug, Default)]
pub(super) struct ShownItems<'g> {
    /// By index of the item type.
    by_type: Vec<Vec<&'g SampleItem>>,
}

/// An item collection, as far as its items were read.
#[derive(Default)]
struct Collection {
    /// Its position among the collections, in the order in which their first items were read.
    position: usize,
    /// The indices of its item types.
    types: BTreeSet<usize>,
}

impl<'g> ShownItems<'g> {
    /// Chooses at most `limit` items of each type. Items of collections with many item types come first. One collection gives
    /// at most half of the items of a type, rounded up, unless there are too few others. `partition`: the table's partition
    /// key attribute.
    pub(super) fn choose(samples: &'g [ItemTypeSample], partition: &str, limit: usize) -> Self {
        let key = |item: &SampleItem| partition_fingerprint(item.item.get(partition));
        let mut collections: HashMap<u128, Collection> = HashMap::new();
        for (item_type, sample) in samples.iter().enumerate() {
            for item in &sample.items {
                let position = collections.len();
                let collection = collections.entry(key(item)).or_insert(Collection {
                    position,
                    ..Collection::default()
                });
                collection.types.insert(item_type);
            }
        }
        let rank = |item: &SampleItem| match collections.get(&key(item)) {
            Some(found) => (Reverse(found.types.len()), found.position),
            None => (Reverse(0), usize::MAX),
        };
        let limit_of_collection = limit.div_ceil(2);
        let by_type = samples.iter().map(|sample| {
            let mut items: Vec<&SampleItem> = sample.items.iter().collect();
            items.sort_by_cached_key(|item| rank(item));
            let mut seen: HashMap<u128, usize> = HashMap::new();
            let (mut chosen, mut spare) = (Vec::new(), Vec::new());
            for item in items {
                let seen_of_collection = seen.entry(key(item)).or_default();
                *seen_of_collection += 1;
                if *seen_of_collection <= limit_of_collection && chosen.len() < limit {
                    chosen.push(item);
                } else if spare.len() < limit {
                    spare.push(item);
                }
            }
            let missing = limit - chosen.len();
            chosen.extend(spare.into_iter().take(missing));
            chosen
        });
        Self {
            by_type: by_type.collect(),
        }
    }

    /// The items of one type; none for an unknown index.
    pub(super) fn of_type(&self, item_type: usize) -> impl Iterator<Item = &'g SampleItem> {
        self.by_type.get(item_type).into_iter().flatten().copied()
    }
}

#[cfg(test)]
mod tests {
    use dynafold_dynamodb::{Attribute, Item};
    use dynafold_mapping::model::Expired;
    use serde_json::value::RawValue;

    use super::*;

    /// A sample whose items have these partition key values.
    fn sample(partitions: &[&str]) -> ItemTypeSample {
        let items = partitions.iter().map(|value| SampleItem {
            row: RawValue::from_string("{}".to_owned()).unwrap(),
            size: 0,
            units: 1,
            compressed: Vec::new(),
            item: Item {
                attributes: vec![("PK".into(), Attribute::S((*value).into()))],
            },
        });
        ItemTypeSample {
            item_type: "T".to_owned(),
            from: "t".to_owned(),
            items: items.collect(),
            on_expiry: Expired::Load,
            expired: Vec::new(),
            rejects: Vec::new(),
            read: 0,
            is_cut: false,
        }
    }

    fn chosen(samples: &[ItemTypeSample], item_type: usize, limit: usize) -> Vec<String> {
        let shown = ShownItems::choose(samples, "PK", limit);
        let keys = shown
            .of_type(item_type)
            .map(|shown| match shown.item.get("PK") {
                Some(Attribute::S(text)) => text.to_string(),
                other => panic!("{other:?}"),
            });
        keys.collect()
    }

    #[test]
    fn one_collection_gives_at_most_half_of_the_items_where_there_are_others() {
        let samples = [sample(&["a", "a", "a", "b"])];
        assert_eq!(chosen(&samples, 0, 4), ["a", "a", "b", "a"]);
        assert_eq!(chosen(&samples, 0, 3), ["a", "a", "b"]);
        assert_eq!(chosen(&samples, 0, 1), ["a"]);
    }

    #[test]
    fn items_beside_other_item_types_come_first() {
        let samples = [sample(&["a", "b"]), sample(&["b"])];
        assert_eq!(chosen(&samples, 0, 1), ["b"]);
        assert_eq!(chosen(&samples, 1, 2), ["b"]);
        assert!(chosen(&samples, 2, 1).is_empty());
    }
}
