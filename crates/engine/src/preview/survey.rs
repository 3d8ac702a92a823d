//! Reads every row, folds it, and adds up what comes of it. Writes nothing.
//!
//! One pass over the source; a second one, as far as needed, to name the rows that share keys.
//! Memory does not grow with the data: keys go to disk ([`crate::proof`]), partition key values
//! into sketches ([`super::Sketch`]), and rows that are named are bounded in number.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use dynafold_dynamodb::{
    Item, STORED_OVERHEAD, Table, partition_fingerprint, write_item, write_units,
};
use dynafold_format::whole;
use dynafold_mapping::PatternProof;
use dynafold_mapping::forecast::{HotKey, PlaceForecast, PlaceKind};
use dynafold_mapping::item::{Folded, Folder};
use dynafold_mapping::model::{ItemType, Model};
use dynafold_mapping::template::Context;
use dynafold_source::Source;

use super::forecast::{Forecast, ItemCollections, LargeItem, SizeClass};
use super::places::{PlaceSurvey, heaviest_keys, hot_key, key_text};
use super::reads::ReadSurvey;
use super::sketch::Sketch;
use crate::load::{Cancel, Progress, RowKey, raw, row_json};
use crate::proof;

/// A survey to be made.
pub struct Survey {
    /// The source; its snapshot is not open yet.
    pub source: Box<dyn Source>,
    /// The mapping.
    pub model: Arc<Model>,
    /// How each access pattern is served ([`Proofs::patterns`](dynafold_mapping::Proofs::patterns)). Of others nothing is
    /// said.
    pub patterns: Vec<PatternProof>,
    /// What templates need besides the row.
    pub context: Context,
    /// Memory and disk of the comparison of keys.
    pub proof: proof::ProofOptions,
    /// Where rejects go, if they are wanted. The file is made when there is one.
    pub rejects_file: Option<PathBuf>,
    /// Keys that several items have and whose rows are named; all are counted.
    pub named: usize,
    /// Who takes the items, if anybody wants them.
    pub items: Option<Box<dyn ItemSink>>,
    /// The caller's way to end it.
    pub cancel: Cancel,
    /// Who hears how it goes.
    pub progress: Arc<dyn Progress>,
}

/// Takes the items as they are made, those of rows that share a key among them.
pub trait ItemSink: Send {
    /// Takes one item.
    ///
    /// # Errors
    ///
    /// When it cannot; the survey fails. [`io::ErrorKind::BrokenPipe`] says that nobody wants any
    /// more: the survey goes on without.
    fn item(&mut self, item: &SurveyedItem<'_>) -> io::Result<()>;

    /// Takes no more: everything is where it belongs afterwards.
    ///
    /// # Errors
    ///
    /// As for [`ItemSink::item`].
    fn finish(&mut self) -> io::Result<()>;
}

/// An item with what is known of it.
#[derive(Debug)]
pub struct SurveyedItem<'s> {
    /// Its item type.
    pub item_type: &'s ItemType,
    /// The item.
    pub item: &'s Item,
    /// The item as DynamoDB JSON.
    pub json: &'s str,
    /// Bytes that DynamoDB counts for it.
    pub size: usize,
    /// Write units, those of index entries included.
    pub units: u64,
    pub(super) row: &'s RowKey,
}

impl SurveyedItem<'_> {
    /// The row: row key columns and their values, as a JSON object.
    pub fn row_json(&self) -> String {
        row_json(self.item_type, self.row)
    }
}

/// Whether items are still wanted.
pub(super) fn unless_unwanted(written: io::Result<()>) -> io::Result<bool> {
    match written {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(error),
    }
}

/// Items that the report names as the largest.
const NAMED_ITEMS: usize = 10;

/// The largest items, the largest first; of equal ones the first met. Bytes, item type, and row as JSON.
#[derive(Debug, Default)]
struct LargestItems(Vec<(u64, usize, String)>);

impl LargestItems {
    /// `row` is asked for when the item is among the largest so far.
    fn add(&mut self, bytes: u64, item_type: usize, row: impl FnOnce() -> String) {
        let at = self.0.partition_point(|item| item.0 >= bytes);
        if at < NAMED_ITEMS {
            self.0.insert(at, (bytes, item_type, row()));
            self.0.truncate(NAMED_ITEMS);
        }
    }
}

/// Bytes of the largest item of each class. A write unit is a KB begun, and 400 KB are the most.
const CLASSES: [u64; 13] = [
    128, 256, 512, 1_024, 2_048, 4_096, 8_192, 16_384, 32_768, 65_536, 131_072, 262_144, 409_600,
];

/// Counts items by their sizes; classes beyond that of the largest item are not there.
#[derive(Debug, Default)]
struct SizeHistogram(Vec<SizeClass>);

impl SizeHistogram {
    fn add(&mut self, size: u64) {
        let at = CLASSES.partition_point(|up_to| *up_to < size);
        // Nothing is larger than the last class: the fold has refused it.
        let at = at.min(CLASSES.len() - 1);
        let missing = CLASSES.iter().take(at + 1).skip(self.0.len());
        self.0.extend(missing.map(|up_to| SizeClass {
            up_to: *up_to,
            items: 0,
            bytes: 0,
        }));
        if let Some(class) = self.0.get_mut(at) {
            class.items += 1;
            class.bytes += size;
        }
    }
}

/// Most bytes of an item collection, where there is a local index (limits.md 25).
const COLLECTION_LIMIT: u64 = 10 << 30;
/// Counters of the sketch of collections. What is over the limit is found for certain while all
/// bytes together are less than 4096 limits: 40 TB.
const COUNTERS: usize = 4096;
/// Collections over the limit that the report names.
const NAMED_COLLECTIONS: usize = 100;

/// All figures of the items so far. Its memory is bounded whatever comes.
#[derive(Debug)]
pub(super) struct SurveyTally {
    places: Vec<PlaceSurvey>,
    reads: ReadSurvey,
    /// Bytes of an item's entries in the indexes.
    held: Vec<Option<usize>>,
    rates: Vec<Option<f64>>,
    sizes: SizeHistogram,
    largest: LargestItems,
    /// Bytes of each partition key value, where local indexes limit them.
    collections: Option<Sketch>,
    import_bytes: u64,
    json: String,
    /// Items folded of each type.
    items: Vec<u64>,
}

impl SurveyTally {
    pub(super) fn new(model: &Model, patterns: &[PatternProof]) -> Self {
        let (table, rates) = (&model.table, model.write_rates());
        let limited = !table.local_indexes.is_empty();
        Self {
            places: PlaceSurvey::of_table(table, &rates),
            reads: ReadSurvey::new(model, patterns),
            held: Vec::new(),
            sizes: SizeHistogram::default(),
            largest: LargestItems::default(),
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
        let size = whole(folded.size);
        self.sizes.add(size);
        self.largest.add(size, item_type, row);
        if let Some(items) = self.items.get_mut(item_type) {
            *items += 1;
        }
        let mut stored = size + STORED_OVERHEAD;
        let mut partition_units = write_units(folded.size);
        let Some((own, indexes)) = self.places.split_first_mut() else {
            return "";
        };
        self.held.clear();
        self.held.extend(folder.entries(item, folded.size));
        self.reads.add(item_type, item, folded.size, &self.held);
        for (place, held) in indexes.iter_mut().zip(&self.held) {
            let Some(held) = *held else { continue };
            place.add(held);
            if place.kind == PlaceKind::LocalIndex {
                partition_units += write_units(held);
                stored += whole(held) + STORED_OVERHEAD;
            } else {
                place.add_units(item_type, item, write_units(held));
            }
        }
        own.add(folded.size);
        own.add_units(item_type, item, partition_units);
        if let Some(collections) = &mut self.collections {
            let value = || item.get(&table.partition.name).into_iter();
            let fingerprint = partition_fingerprint(value());
            collections.add(fingerprint, stored, || key_text(value()));
        }
        self.json.clear();
        write_item(&mut self.json, item);
        // An import reads `{"Item":…}` and a newline.
        self.import_bytes += whole(self.json.len()) + 10;
        &self.json
    }

    /// Enters the figures into the report.
    pub(super) fn finish(self, model: &Model, forecast: &mut Forecast) {
        let name = |index: usize| {
            let item_type = model.item_types.get(index);
            item_type.map_or(String::new(), |item_type| item_type.name.to_string())
        };
        let largest = self
            .largest
            .0
            .into_iter()
            .map(|(bytes, item_type, row)| LargeItem {
                item_type: name(item_type),
                bytes,
                row: raw(row),
            });
        let mut places: Vec<PlaceForecast> = self
            .places
            .iter()
            .map(|place| place.forecast(&self.rates, &self.items))
            .collect();
        for (place, reads) in places.iter_mut().zip(self.reads.rated()) {
            place.reads = reads;
        }
        let books = forecast.item_types.iter().zip(&self.items);
        let sums: Vec<(u64, u64)> = books.map(|(books, items)| (*items, books.bytes)).collect();
        forecast.wide = self.reads.wide(model, &sums);
        forecast.sizes = self.sizes.0;
        forecast.largest = largest.collect();
        forecast.places = places;
        forecast.collections = self.collections.as_ref().map(collections);
        forecast.import_bytes = self.import_bytes;
    }
}

fn collections(sketch: &Sketch) -> ItemCollections {
    let over: Vec<HotKey> = sketch
        .heaviest(NAMED_COLLECTIONS)
        .into_iter()
        .filter(|heavy| heavy.most > COLLECTION_LIMIT)
        .map(|heavy| hot_key(heavy, sketch.total))
        .collect();
    ItemCollections {
        limit: COLLECTION_LIMIT,
        largest: heaviest_keys(sketch),
        complete: sketch.error <= COLLECTION_LIMIT && over.len() < NAMED_COLLECTIONS,
        over,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GB: u64 = 1 << 30;

    #[test]
    fn the_largest_come_first_and_of_equal_ones_the_first_met() {
        let mut largest = LargestItems::default();
        for (at, bytes) in [5, 9, 5, 1, 9, 2, 3, 4, 6, 7, 8, 5, 5]
            .into_iter()
            .enumerate()
        {
            largest.add(bytes, at, || format!("{at}"));
        }
        let sorted: Vec<(u64, usize)> = largest.0.iter().map(|item| (item.0, item.1)).collect();
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

    #[test]
    fn a_class_ends_with_its_largest_size() {
        let mut sizes = SizeHistogram::default();
        for size in [1, 128, 129, 1_024, 1_025] {
            sizes.add(size);
        }
        let counts: Vec<(u64, u64)> = sizes.0.iter().map(|c| (c.up_to, c.items)).collect();
        assert_eq!(
            counts,
            [(128, 2), (256, 1), (512, 0), (1_024, 1), (2_048, 1)]
        );
        sizes.add(409_600);
        assert_eq!(sizes.0.len(), CLASSES.len());
    }

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
