//! The table and its indexes: what is written to each, and where it is hot.

use std::collections::HashMap;
use std::sync::Arc;

use dynafold_dynamodb::price::PARTITION_WRITES;
use dynafold_dynamodb::{
    Attribute, Item, KeyAttribute, Table, partition_fingerprint, readable, write_units,
};
use dynafold_format::{float, joined, whole};
use dynafold_mapping::forecast::{HeaviestKeys, HotKey, PlaceForecast, PlaceKind, RatedWrites};

use super::sketch::{HeavyKey, Sketch};

/// Counters of the sketch of a place: a figure is off by 1/4096 of the place's total at most.
const COUNTERS: usize = 4096;
/// Counters of the sketch of one rated item type in a place.
const RATED_COUNTERS: usize = 512;
/// Standard deviations by which the writes of a key must be over what a partition takes.
const DEVIATIONS: f64 = 3.0;
/// Hot keys that the report names.
pub(super) const NAMED_KEYS: usize = 10;

/// The table or an index.
#[derive(Debug)]
pub(super) struct PlaceSurvey {
    name: String,
    pub(super) kind: PlaceKind,
    partition: Vec<Arc<str>>,
    items: u64,
    bytes: u64,
    write_units: u64,
    /// Partition keys by write units; `None` for a local index, which shares the table's partitions.
    hot: Option<Sketch>,
    /// The same for each item type that has a write rate.
    rated: Vec<Option<Sketch>>,
}

impl PlaceSurvey {
    /// The table, its global indexes, its local ones, in this order.
    pub(super) fn of_table(table: &Table, rates: &[Option<f64>]) -> Vec<Self> {
        let place = |name: &str, kind, partition: &[KeyAttribute]| Self {
            name: name.to_owned(),
            kind,
            partition: partition.iter().map(|key| key.name.clone()).collect(),
            items: 0,
            bytes: 0,
            write_units: 0,
            hot: (kind != PlaceKind::LocalIndex).then(|| Sketch::new(COUNTERS)),
            rated: rates
                .iter()
                .map(|rate| {
                    let rated = rate.is_some() && kind != PlaceKind::LocalIndex;
                    rated.then(|| Sketch::new(RATED_COUNTERS))
                })
                .collect(),
        };
        let own = std::slice::from_ref(&table.partition);
        let mut all = vec![place(&table.name, PlaceKind::Table, own)];
        let global = table.indexes.iter();
        all.extend(global.map(|i| place(&i.name, PlaceKind::GlobalIndex, &i.partition)));
        let local = table.local_indexes.iter();
        all.extend(local.map(|i| place(&i.name, PlaceKind::LocalIndex, own)));
        all
    }

    /// Counts an item, or its entry in an index.
    pub(super) fn add(&mut self, bytes: usize) {
        self.items += 1;
        self.bytes += whole(bytes);
        self.write_units += write_units(bytes);
    }

    /// Adds write units to the item's partition key value.
    pub(super) fn add_units(&mut self, item_type: usize, item: &Item, units: u64) {
        let Some(hot) = &mut self.hot else { return };
        let values = || self.partition.iter().filter_map(|name| item.get(name));
        let fingerprint = partition_fingerprint(values());
        hot.add(fingerprint, units, || key_text(values()));
        if let Some(Some(rated)) = self.rated.get_mut(item_type) {
            rated.add(fingerprint, units, || key_text(values()));
        }
    }

    /// `items`: how many items of each type were folded.
    pub(super) fn forecast(&self, rates: &[Option<f64>], items: &[u64]) -> PlaceForecast {
        PlaceForecast {
            name: self.name.clone(),
            kind: self.kind,
            items: self.items,
            bytes: self.bytes,
            write_units: self.write_units,
            hottest: self.hot.as_ref().map(heaviest_keys),
            rated: self.rated_writes(rates, items),
            reads: None,
        }
    }

    /// The declared write rates as units a second. A write goes to a random item of its type, so each key gets the share of the
    /// rate that it has of the type's write units. The items stand for those that will be written, and few of them do so badly:
    /// a share p of n items has the standard deviation √(p(1 − p)/n).
    fn rated_writes(&self, rates: &[Option<f64>], items: &[u64]) -> Option<RatedWrites> {
        if self.rated.iter().all(Option::is_none) {
            return None;
        }
        let (mut units_per_second, mut error) = (0.0, 0.0);
        let mut keys: HashMap<u128, RatedKey> = HashMap::new();
        for ((sketch, rate), items) in self.rated.iter().zip(rates).zip(items) {
            let (Some(sketch), Some(rate)) = (sketch, *rate) else {
                continue;
            };
            // Without items there are no units either.
            let items = float((*items).max(1));
            let total = units_at_rate(rate, sketch.total, items);
            units_per_second += total;
            error += units_at_rate(rate, sketch.error, items);
            for heavy in sketch.held() {
                let key = keys.entry(heavy.fingerprint).or_insert(RatedKey {
                    text: heavy.text,
                    units: 0.0,
                    variance: 0.0,
                });
                let own = units_at_rate(rate, heavy.least, items);
                key.units += own;
                key.variance += own * (total - own) / items;
            }
        }
        let mut heaviest: Vec<RatedKey> = keys.into_values().collect();
        heaviest.sort_by(|one, other| {
            let by_units = other.units.total_cmp(&one.units);
            by_units.then_with(|| one.text.cmp(&other.text))
        });
        let too_few_rows = heaviest.first().is_some_and(|key| {
            key.units > PARTITION_WRITES
                && key.units - DEVIATIONS * key.variance.sqrt() <= PARTITION_WRITES
        });
        let most = if too_few_rows { 0 } else { NAMED_KEYS };
        let named = heaviest.into_iter().take(most);
        Some(RatedWrites {
            units_per_second,
            error,
            too_few_rows,
            keys: named.map(|key| (key.text.into(), key.units)).collect(),
        })
    }
}

/// A partition key value at the declared write rates.
struct RatedKey {
    text: Box<str>,
    /// Write units a second.
    units: f64,
    variance: f64,
}

/// Write units a second at a rate, where `items` items took `units` in all. The multiplication comes first, so that one unit an
/// item gives exactly the rate.
fn units_at_rate(rate: f64, units: u64, items: f64) -> f64 {
    rate * float(units) / items
}

/// The heaviest keys of a sketch, of which it is certain that they are the heaviest.
pub(super) fn heaviest_keys(sketch: &Sketch) -> HeaviestKeys {
    let mut heaviest = sketch.heaviest(NAMED_KEYS + 1);
    let certain = heaviest.partition_point(|heavy| heavy.least > sketch.error);
    let named = certain.min(NAMED_KEYS);
    let others_at_most = heaviest.get(named).map_or(sketch.error, |next| next.most);
    heaviest.truncate(named);
    HeaviestKeys {
        total: sketch.total,
        error: sketch.error,
        distinct: sketch.distinct(),
        keys: heaviest
            .into_iter()
            .map(|heavy| hot_key(heavy, sketch.total))
            .collect(),
        others_at_most,
    }
}

pub(super) fn hot_key(heavy: HeavyKey, total: u64) -> HotKey {
    HotKey {
        key: heavy.text.into(),
        least: heavy.least,
        most: heavy.most,
        share: if total == 0 {
            0.0
        } else {
            float(heavy.least) / float(total)
        },
    }
}

/// The values of a partition key as people read them.
pub(super) fn key_text<'a>(values: impl Iterator<Item = &'a Attribute>) -> String {
    joined(values.map(readable), " | ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_unit_an_item_never_gives_more_than_the_rate() {
        let all = (1..10_000).map(|items| units_at_rate(1_000.0, items, float(items)));
        assert!(all.fold(0.0, f64::max) <= 1_000.0);
    }

    /// What 20,000 writes a second come to where rows are spread like this.
    fn rated(keys: &[u64]) -> RatedWrites {
        let mut sketch = Sketch::new(RATED_COUNTERS);
        for (key, rows) in keys.iter().enumerate() {
            let fingerprint = u128::try_from(key).unwrap();
            sketch.add(fingerprint, *rows, || key.to_string());
        }
        let place = PlaceSurvey {
            name: "votes".to_owned(),
            kind: PlaceKind::Table,
            partition: Vec::new(),
            items: 0,
            bytes: 0,
            write_units: 0,
            hot: None,
            rated: vec![Some(sketch)],
        };
        let all = keys.iter().sum();
        place.rated_writes(&[Some(20_000.0)], &[all]).unwrap()
    }

    #[test]
    fn few_rows_do_not_tell_which_of_many_keys_is_hot() {
        // 36 rows over shards by chance.
        let few = rated(&[4, 3, 3, 3, 3, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1]);
        assert!(few.too_few_rows && few.keys.is_empty(), "{few:?}");
        // Whatever rows come, there is one key.
        let one = rated(&[36]);
        assert!(!one.too_few_rows, "{one:?}");
        assert_eq!(one.keys, [("0".to_owned(), 20_000.0)]);
        let many = rated(&[400, 300, 300, 300, 300, 2_000]);
        assert!(!many.too_few_rows, "{many:?}");
        // No key is too hot.
        assert_eq!(rated(&[1; 40]).keys.len(), NAMED_KEYS);
    }
}
