//! What all rows come to, for each item type, the table and each index. Plain data: `preview` fills it in, and the
//! definition document is made from it.

use std::collections::BTreeMap;

use dynafold_dynamodb::Table;
use dynafold_dynamodb::price::{LoadDemand, WriteDemand};
use dynafold_format::{bytes, count, counted, float};
use serde::Serialize;

use crate::item::DUPLICATE_KEY;

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
    /// Children of embeds whose parent is missing or not read.
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
    /// Counts rejected rows under their code.
    pub fn reject(&mut self, code: &str, count: u64) {
        self.rejected += count;
        *self.rejects_by_code.entry(code.to_owned()).or_default() += count;
    }

    /// Mean bytes of an item; 0 without items.
    pub fn mean_bytes(&self) -> u64 {
        let sharing = self.rejects_by_code.get(DUPLICATE_KEY);
        let sharing = sharing.copied().unwrap_or(0);
        self.bytes.checked_div(self.made + sharing).unwrap_or(0)
    }
}

/// What holds items under a partition key of its own: the table or an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PlaceKind {
    /// The table itself, not an index.
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
    /// Whether this is the table, a global or a local index.
    pub kind: PlaceKind,
    /// Items or entries.
    pub items: u64,
    /// The bytes of these items, as DynamoDB counts them.
    pub bytes: u64,
    /// Write units that loading them takes.
    pub write_units: u64,
    /// The hottest partition key values, by write units; `None` for local indexes, whose units
    /// count to the table's partitions.
    pub hottest: Option<HeaviestKeys>,
    /// The hottest partition key values by the item types' write rates; `None` without rates.
    pub rated: Option<RatedWrites>,
    /// The hottest partition key values by the access patterns' rates; `None` without rates, and for local indexes, which
    /// are read in the table's partitions.
    pub reads: Option<RatedReads>,
}

/// What a load has to write: to the table with its local indexes, and to each global index. Without the heaviest keys of a
/// place, nothing is said of its hottest partition.
pub fn load_demand(places: &[PlaceForecast], table: &Table, import_bytes: u64) -> LoadDemand {
    let provisioned = |name: &str| {
        let own = table.index(name).and_then(|index| index.throughput);
        let of_table = table.billing.provisioned()?;
        Some(float(own.unwrap_or(of_table).write))
    };
    let is_local = |place: &&PlaceForecast| place.kind == PlaceKind::LocalIndex;
    let (locals, others): (Vec<_>, Vec<_>) = places.iter().partition(is_local);
    let local_units: u64 = locals.iter().map(|place| place.write_units).sum();
    let needs = others.into_iter().map(|place| {
        let is_table = place.kind == PlaceKind::Table;
        let keys = place.hottest.as_ref().map(|hottest| &hottest.keys);
        let hottest = keys.and_then(|keys| keys.first());
        WriteDemand {
            name: place.name.clone(),
            units: float(place.write_units + if is_table { local_units } else { 0 }),
            hottest: hottest.map_or(0.0, |key| float(key.least)),
            provisioned: provisioned(&place.name),
        }
    });
    LoadDemand {
        needs: needs.collect(),
        import_bytes: float(import_bytes),
    }
}

/// The heaviest keys, and how exact their weights are.
#[derive(Debug, Clone, Serialize)]
pub struct HeaviestKeys {
    /// What is shared out: write units, or bytes.
    pub total: u64,
    /// By how much the weight of a key may be too low. 0: all figures are exact.
    pub error: u64,
    /// How many keys there are, where that is known.
    pub distinct: Option<u64>,
    /// The heaviest keys, the heaviest first. Only those that no forgotten key can outweigh.
    pub keys: Vec<HotKey>,
    /// No other key weighs more than this.
    pub others_at_most: u64,
}

/// A heavy key. Its weight lies between `least` and `most`.
#[derive(Debug, Clone, Serialize)]
pub struct HotKey {
    /// The partition key's value; several attributes are joined by ` | `.
    pub key: String,
    /// Its weight at least.
    pub least: u64,
    /// Its weight at most.
    pub most: u64,
    /// `least` as a share of the total, 0 to 1.
    pub share: f64,
}

/// Expected writes, from the item types' `write_rate`, if each write is of a random row.
#[derive(Debug, Clone, Serialize)]
pub struct RatedWrites {
    /// Write units a second, all partitions together.
    pub units_per_second: f64,
    /// By how many write units a second a key may be too low. 0: exact.
    pub error: f64,
    /// Whether there are too few rows to tell the hottest keys, so that none are named.
    pub too_few_rows: bool,
    /// The hottest keys: write units a second, at least.
    pub keys: Vec<(String, f64)>,
}

/// Instead of the hottest keys where there are too few rows.
pub const TOO_FEW_ROWS: &str = "too few rows to tell how the writes spread over partition keys";

/// Expected reads, from the access patterns' `rate`: each request asks for the partition key value of a random item that the
/// pattern finds.
#[derive(Debug, Clone, Serialize)]
pub struct RatedReads {
    /// By how many read units a second a key may be too low because keys were forgotten.
    pub error: f64,
    /// The hottest keys.
    pub keys: Vec<ReadKey>,
}

/// What to do where one partition key value is read more often than a partition can answer.
pub const HOT_READS_HELP: &str = "ask by a key with more values, keep copies of the items under several keys and ask one at random, or cache the answers (DAX, or in the application)";

/// A partition key value that is read.
#[derive(Debug, Clone, Serialize)]
pub struct ReadKey {
    /// The partition key's value; several attributes are joined by ` | `.
    pub key: String,
    /// Read units a second, at least.
    pub units_per_second: f64,
    /// The same of each access pattern.
    pub patterns: BTreeMap<String, f64>,
}

/// An item type most of whose bytes are in items larger than a read unit (4 KB), of which some access pattern needs little.
#[derive(Debug, Clone, Serialize)]
pub struct WideItems {
    /// The item type's name.
    pub item_type: String,
    /// Items that are larger than a read unit.
    pub large: u64,
    /// All items of the type.
    pub items: u64,
    /// Mean bytes of a large item.
    pub mean_bytes: u64,
    /// Mean write units of a large item in the table alone, rounded up.
    pub mean_write_units: u64,
    /// The patterns that need little of them.
    pub patterns: Vec<LittleRead>,
}

/// What to do about them.
pub const WIDE_ITEMS_HELP: &str = "divide such a row into several items under one partition key, each with the attributes that are read or written together (vertical partitioning)";

impl WideItems {
    /// How many are large, and how large: the end of a sentence that begins with the item type.
    pub fn sizes(&self) -> String {
        format!(
            "{} of {} are larger than 4 KB: {} and {} each on average",
            count(self.large),
            counted(self.items, "item"),
            bytes(self.mean_bytes),
            counted(self.mean_write_units, "write unit"),
        )
    }

    /// What one of its patterns needs: the end of a sentence that begins with the pattern.
    pub fn need(&self, read: &LittleRead) -> String {
        format!(
            "needs {} of each; as an item of its own, that part takes {} read units instead of {:.2}, and {} instead of {}",
            bytes(read.mean_bytes),
            at_least_a_hundredth(read.read_units_apart),
            read.read_units,
            counted(read.write_units_apart, "write unit"),
            count(self.mean_write_units),
        )
    }
}

/// Two digits, and no zero for what is not nothing.
fn at_least_a_hundredth(units: f64) -> String {
    if units > 0.0 && units < 0.01 {
        return "less than 0.01".to_owned();
    }
    format!("{units:.2}")
}

/// What an access pattern needs of large items: by the columns of its SQL and its filter.
#[derive(Debug, Clone, Serialize)]
pub struct LittleRead {
    /// The access pattern.
    pub pattern: String,
    /// Mean bytes of the attributes that it needs, those of the table's key among them.
    pub mean_bytes: u64,
    /// Read units that one item costs it.
    pub read_units: f64,
    /// Read units that an item of these attributes alone would cost it.
    pub read_units_apart: f64,
    /// Write units of such an item.
    pub write_units_apart: u64,
}
