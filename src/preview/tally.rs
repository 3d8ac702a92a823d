//! Adds up what items measure. Its memory is bounded whatever comes.

use super::forecast::{Collections, Hot, LargeItem, PlaceForecast, PlaceKind, SizeClass};
use super::largest::Largest;
use super::places::{NAMED, Place, heaviness, hot, text};
use super::sizes::Sizes;
use super::sketch::Sketch;
use crate::item::{Folded, Folder, partition_fingerprint, write_item, write_units};
use crate::load::raw;
use crate::mapping::model::{Model, Table};

/// Most bytes of an item collection, where there is a local index (limits.md 25).
const COLLECTION_LIMIT: u64 = 10 << 30;
/// Bytes that DynamoDB adds to an item, and to an index entry, where it measures storage.
pub(super) const OVERHEAD: u64 = 100;
/// Counters of the sketch of collections. What is over the limit is found for certain while all
/// bytes together are less than 4096 limits: 40 TB.
const COUNTERS: usize = 4096;
/// Collections over the limit that are named.
const OVER: usize = 100;

/// All figures of the items so far.
#[derive(Debug)]
pub(super) struct Tally {
    places: Vec<Place>,
    rates: Vec<Option<f64>>,
    sizes: Sizes,
    largest: Largest,
    /// Bytes of each partition key value, where local indexes limit them.
    collections: Option<Sketch>,
    import_bytes: u64,
    json: String,
    /// Items folded of each type.
    items: Vec<u64>,
}

/// The figures at the end.
#[derive(Debug)]
pub(super) struct Totals {
    pub(super) sizes: Vec<SizeClass>,
    pub(super) largest: Vec<LargeItem>,
    pub(super) places: Vec<PlaceForecast>,
    pub(super) collections: Option<Collections>,
    pub(super) import_bytes: u64,
}

impl Tally {
    pub(super) fn new(table: &Table, rates: Vec<Option<f64>>) -> Self {
        let limited = !table.local_indexes.is_empty();
        Self {
            places: Place::all(table, &rates),
            sizes: Sizes::new(),
            largest: Largest::default(),
            collections: limited.then(|| Sketch::new(COUNTERS)),
            import_bytes: 0,
            json: String::new(),
            items: vec![0; rates.len()],
            rates,
        }
    }

    /// Takes an item in; gives it as DynamoDB JSON. `row` is asked for when the item is large.
    pub(super) fn add(
        &mut self,
        table: &Table,
        folder: &Folder,
        item_type: usize,
        folded: &Folded,
        row: impl FnOnce() -> String,
    ) -> &str {
        let item = &folded.item;
        let size = u64::try_from(folded.size).unwrap_or(u64::MAX);
        self.sizes.add(size);
        self.largest.add(size, item_type, row);
        if let Some(items) = self.items.get_mut(item_type) {
            *items += 1;
        }
        let mut stored = size + OVERHEAD;
        let mut partition_units = write_units(folded.size);
        let Some((own, indexes)) = self.places.split_first_mut() else {
            return "";
        };
        for (place, held) in indexes.iter_mut().zip(folder.entries(item, folded.size)) {
            let Some(held) = held else { continue };
            place.add(item_type, held);
            if place.kind() == PlaceKind::LocalIndex {
                partition_units += write_units(held);
                stored += u64::try_from(held).unwrap_or(u64::MAX) + OVERHEAD;
            } else {
                place.heat(item_type, item, write_units(held));
            }
        }
        own.add(item_type, folded.size);
        own.heat(item_type, item, partition_units);
        if let Some(collections) = &mut self.collections {
            let value = || item.get(&table.partition.name).into_iter();
            let fingerprint = partition_fingerprint(value());
            collections.add(fingerprint, stored, || text(value()));
        }
        self.json.clear();
        write_item(&mut self.json, item);
        // An import reads `{"Item":…}` and a newline.
        self.import_bytes += u64::try_from(self.json.len()).unwrap_or(u64::MAX) + 10;
        &self.json
    }

    pub(super) fn finish(self, model: &Model) -> Totals {
        let name = |index: usize| {
            let item_type = model.item_types.get(index);
            item_type.map_or(String::new(), |item_type| item_type.name.to_string())
        };
        let largest = self.largest.sorted().into_iter();
        let places = self.places.iter();
        Totals {
            sizes: self.sizes.classes(),
            largest: largest
                .map(|(bytes, item_type, row)| LargeItem {
                    item_type: name(item_type),
                    bytes,
                    row: raw(row),
                })
                .collect(),
            places: places
                .map(|place| place.forecast(&self.rates, &self.items))
                .collect(),
            collections: self.collections.as_ref().map(collections),
            import_bytes: self.import_bytes,
        }
    }
}

fn collections(sketch: &Sketch) -> Collections {
    let over = sketch.heaviest(OVER).into_iter();
    let over: Vec<Hot> = over
        .filter(|heavy| heavy.most > COLLECTION_LIMIT)
        .map(|heavy| hot(heavy, sketch.total()))
        .collect();
    Collections {
        limit: COLLECTION_LIMIT,
        largest: heaviness(sketch, NAMED),
        complete: sketch.error() <= COLLECTION_LIMIT && over.len() < OVER,
        over,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GB: u64 = 1 << 30;

    #[test]
    fn a_collection_over_10_gb_is_named_among_millions_of_small_ones() {
        let mut sketch = Sketch::new(COUNTERS);
        for small in 0..200_000_u128 {
            sketch.add(small << 64, GB / 1000, || "small".to_owned());
            if small % 10_000 == 0 {
                sketch.add(u128::MAX, GB, || "large".to_owned());
            }
        }
        let found = collections(&sketch);
        assert!(found.complete && found.largest.error > 0);
        let over: Vec<&str> = found.over.iter().map(|hot| hot.key.as_str()).collect();
        assert_eq!(over, ["large"]);
        assert!(found.over[0].least > 19 * GB && found.over[0].most >= 20 * GB);
    }

    #[test]
    fn what_may_be_over_the_limit_is_told_from_what_is() {
        let mut sketch = Sketch::new(1);
        sketch.add(1 << 64, 11 * GB, || "a".to_owned());
        sketch.add(2 << 64, 9 * GB, || "b".to_owned());
        let found = collections(&sketch);
        assert_eq!(found.over.len(), 1);
        assert!(found.complete && found.over[0].least > found.limit);
        // Of three keys one is forgotten, and may have weighed as much as what was taken.
        sketch.add(3 << 64, 2 * GB, || "c".to_owned());
        let found = collections(&sketch);
        assert!(found.over.iter().any(|hot| hot.least <= found.limit));
        sketch.add(4 << 64, 40 * GB, || "d".to_owned());
        sketch.add(5 << 64, 41 * GB, || "e".to_owned());
        sketch.add(6 << 64, 41 * GB, || "f".to_owned());
        assert!(!collections(&sketch).complete);
    }
}
