//! What all rows come to: the report of a survey.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Serialize;
use serde_json::value::RawValue;

use crate::claim::Claim;
use crate::load::DUPLICATE_KEY;
use crate::load::{Failure, RejectNote};

/// What all rows come to.
#[derive(Debug, Clone, Serialize)]
pub struct Forecast {
    /// How the reading ended. Unless it is complete, all figures are of what was read until then.
    pub outcome: ForecastOutcome,
    /// What it claims: that no two items have one key.
    pub claims: Vec<Claim>,
    /// The table's name.
    pub table: String,
    /// Each item type, in the order of the mapping.
    pub item_types: Vec<ItemTypeForecast>,
    /// All of them together; names are empty.
    pub total: ItemTypeForecast,
    /// How many items there are of which size.
    pub sizes: Vec<SizeClass>,
    /// The largest items, the largest first.
    pub largest: Vec<LargeItem>,
    /// The table and its indexes: what is written to each, and its hottest partition keys.
    pub places: Vec<PlaceForecast>,
    /// The largest item collections, where a local index limits them to 10 GB.
    pub collections: Option<Collections>,
    /// Items that share a key.
    pub collisions: Collisions,
    /// The first rejected rows of each item type and code; those that share keys stand in
    /// `collisions`.
    pub rejects: Vec<RejectNote>,
    /// The file that holds all of them, if one was asked for and there are any.
    pub rejects_file: Option<PathBuf>,
    /// Bytes of all items as DynamoDB JSON, a line each: what an import from S3 is billed by.
    pub import_bytes: u64,
    /// What the source has to say.
    pub warnings: Vec<String>,
    /// From the first row to the end.
    pub elapsed_seconds: f64,
}

/// How a survey ended.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum ForecastOutcome {
    /// Every row was read.
    Complete,
    /// The caller ended it.
    Interrupted,
    /// The source, a file or the proof of the keys failed.
    Failed(Failure),
}

/// What the rows of one item type come to.
///
/// `rows_read + expanded = filtered + empty + expired + archived + rejected + made`, once the keys
/// are proved.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ItemTypeForecast {
    /// The item type's name.
    pub item_type: String,
    /// What its rows are read from, as the mapping writes it.
    pub from: String,
    /// Rows of that relation.
    pub rows_read: u64,
    /// Rows left out by the item type's `where`.
    pub filtered: u64,
    /// Rows whose arrays to explode have no elements.
    pub empty: u64,
    /// Elements beyond the first of their rows, where rows are exploded.
    pub expanded: u64,
    /// Children of embeds that have no parent.
    pub orphans: u64,
    /// Children of embeds beyond their `$limit`.
    pub cut: u64,
    /// Rows and elements that are skipped because their items have expired.
    pub expired: u64,
    /// Rows and elements whose items have expired and go to the archive.
    pub archived: u64,
    /// Items that are compressed, because they are too large otherwise.
    pub compressed: u64,
    /// Rows and elements that became no item, those with the key of an earlier one among them.
    pub rejected: u64,
    /// The rejects by their codes.
    pub rejects_by_code: BTreeMap<String, u64>,
    /// Items.
    pub made: u64,
    /// Their bytes, as DynamoDB counts them; like the units with those of rows that share keys.
    pub bytes: u64,
    /// Write units, those of index entries included.
    pub write_units: u64,
    /// Bytes of the largest item.
    pub largest: u64,
}

impl ItemTypeForecast {
    /// Adds another item type; names are left aside.
    pub(super) fn add(&mut self, other: &Self) {
        self.rows_read += other.rows_read;
        self.filtered += other.filtered;
        self.empty += other.empty;
        self.expanded += other.expanded;
        self.orphans += other.orphans;
        self.cut += other.cut;
        self.expired += other.expired;
        self.archived += other.archived;
        self.compressed += other.compressed;
        self.rejected += other.rejected;
        for (code, count) in &other.rejects_by_code {
            *self.rejects_by_code.entry(code.clone()).or_default() += count;
        }
        self.made += other.made;
        self.bytes += other.bytes;
        self.write_units += other.write_units;
        self.largest = self.largest.max(other.largest);
    }

    pub(super) fn reject(&mut self, code: &str, count: u64) {
        self.rejected += count;
        match self.rejects_by_code.get_mut(code) {
            Some(counted) => *counted += count,
            None => {
                self.rejects_by_code.insert(code.to_owned(), count);
            }
        }
    }

    /// Mean bytes of an item; 0 without items.
    #[must_use]
    pub fn mean_bytes(&self) -> u64 {
        let sharing = self
            .rejects_by_code
            .get(DUPLICATE_KEY)
            .copied()
            .unwrap_or(0);
        self.bytes.checked_div(self.made + sharing).unwrap_or(0)
    }
}

/// Items of one class of sizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct SizeClass {
    /// Bytes of its largest items; the smallest have one more than those of the class before.
    pub up_to: u64,
    /// Items.
    pub items: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// One of the largest items.
#[derive(Debug, Clone, Serialize)]
pub struct LargeItem {
    /// Its item type.
    pub item_type: String,
    /// Bytes, as DynamoDB counts them.
    pub bytes: u64,
    /// The row that it is made from.
    pub row: Box<RawValue>,
}

/// What something is that holds items and has a partition key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PlaceKind {
    /// The table.
    Table,
    /// A global secondary index.
    GlobalIndex,
    /// A local secondary index. Its entries lie in the table's partitions.
    LocalIndex,
}

/// What is written to the table or to an index.
#[derive(Debug, Clone, Serialize)]
pub struct PlaceForecast {
    /// The table's or the index's name.
    pub name: String,
    /// What it is.
    pub kind: PlaceKind,
    /// Items or entries.
    pub items: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Write units that loading them takes.
    pub write_units: u64,
    /// The hottest partition key values, by write units; `None` for local indexes, whose units
    /// count to the table's partitions.
    pub hottest: Option<Heaviness>,
    /// The hottest partition key values by the item types' write rates; `None` without rates.
    pub rated: Option<Rated>,
}

/// The heaviest keys, with what is guaranteed of them.
#[derive(Debug, Clone, Serialize)]
pub struct Heaviness {
    /// What is shared out: write units, or bytes.
    pub total: u64,
    /// By how much the weight of a key may be too low. 0: all figures are exact.
    pub error: u64,
    /// How many keys there are, where that is known.
    pub distinct: Option<u64>,
    /// The heaviest keys, the heaviest first: those of which it is certain that no key that was
    /// forgotten is heavier.
    pub keys: Vec<Hot>,
    /// No other key weighs more than this.
    pub others_at_most: u64,
}

/// A heavy key. Its weight lies between `least` and `most`.
#[derive(Debug, Clone, Serialize)]
pub struct Hot {
    /// The partition key's value; several attributes are joined by ` | `.
    pub key: String,
    /// Its weight at least.
    pub least: u64,
    /// Its weight at most.
    pub most: u64,
    /// `least` as a share of the total, 0 to 1.
    pub share: f64,
}

/// Expected writes, from the item types' `write_rate`: each write is of a row taken at random.
#[derive(Debug, Clone, Serialize)]
pub struct Rated {
    /// Write units a second, all partitions together.
    pub units_per_second: f64,
    /// By how many write units a second a key may be too low. 0: exact.
    pub error: f64,
    /// The hottest keys: write units a second, at least.
    pub keys: Vec<(String, f64)>,
}

/// Item collections, where they are limited to 10 GB: bytes of items and local index entries with
/// the same partition key value, and 100 more for each.
#[derive(Debug, Clone, Serialize)]
pub struct Collections {
    /// The limit, in bytes.
    pub limit: u64,
    /// The largest ones. One with `least` over the limit is too large, one with only `most` over it
    /// may be.
    pub largest: Heaviness,
    /// Those that may be over the limit: `most` is.
    pub over: Vec<Hot>,
    /// Whether `over` names every collection that is over the limit: its error is below it.
    pub complete: bool,
}

/// Items that share a key. All but the first of each key would be rejected.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Collisions {
    /// Keys that several items have.
    pub keys: u64,
    /// Items that would be rejected for it: all but the first of each key.
    pub items: u64,
    /// The first of these keys, with their rows.
    pub named: Vec<Collision>,
    /// Bytes that the comparison put on disk.
    pub spilled_bytes: u64,
}

/// A key that several items have.
#[derive(Debug, Clone, Serialize)]
pub struct Collision {
    /// The key, as DynamoDB JSON; `null` where the rows could not be read again.
    pub key: Box<RawValue>,
    /// How many items have it.
    pub items: u64,
    /// The rows, the first met first; not all of them where there are many.
    pub rows: Vec<SourceRow>,
}

/// A row, and the item type that it makes an item of.
#[derive(Debug, Clone, Serialize)]
pub struct SourceRow {
    /// The item type.
    pub item_type: String,
    /// Row key columns and their values.
    pub row: Box<RawValue>,
}
