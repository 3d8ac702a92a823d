//! The report of a survey.

use std::path::PathBuf;
use std::sync::Arc;

use dynafold_mapping::claim::Claim;
use dynafold_mapping::forecast::{
    HeaviestKeys, HotKey, ItemTypeForecast, PlaceForecast, WideItems,
};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::load::{Failure, RejectNote, shared};

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
    /// All item types together; its names are empty.
    pub total: ItemTypeForecast,
    /// How many items there are of which size.
    pub sizes: Vec<SizeClass>,
    /// The largest items, the largest first.
    pub largest: Vec<LargeItem>,
    /// Item types of whose large items some access pattern needs little.
    pub wide: Vec<WideItems>,
    /// The table and its indexes: what is written to each, and its hottest partition keys.
    pub places: Vec<PlaceForecast>,
    /// The largest item collections, where a local index limits them to 10 GB.
    pub collections: Option<ItemCollections>,
    /// Items that share a key.
    pub collisions: Collisions,
    /// The first rejected rows of each item type and code; those that share keys stand in
    /// `collisions`.
    pub rejects: Vec<RejectNote>,
    /// The file of rejected rows, if one was asked for and there are any.
    pub rejects_file: Option<PathBuf>,
    /// How many rows are in that file. If some are not, a warning says why.
    pub rejects_in_file: u64,
    /// Bytes of all items as DynamoDB JSON, a line each: what an import from S3 is billed by.
    pub import_bytes: u64,
    /// Warnings of the source, which item types may have keys of the selected ones, and why rejected rows are not in the file.
    pub warnings: Vec<String>,
    /// Seconds from the first row to the end.
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
    Failed(#[serde(serialize_with = "shared")] Arc<Failure>),
}

/// Items of about one size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct SizeClass {
    /// Bytes of its largest items; the smallest have one more than those of the class before.
    pub up_to: u64,
    /// How many items have such a size.
    pub items: u64,
    /// The bytes of these items, as DynamoDB counts them.
    pub bytes: u64,
}

/// One of the largest items.
#[derive(Debug, Clone, Serialize)]
pub struct LargeItem {
    /// The name of its item type.
    pub item_type: String,
    /// Bytes, as DynamoDB counts them.
    pub bytes: u64,
    /// The row that it is made from.
    pub row: Box<RawValue>,
}

/// Item collections, where local indexes limit them to 10 GB. What counts is the bytes of items and local index entries with
/// the same partition key value, and 100 more for each.
#[derive(Debug, Clone, Serialize)]
pub struct ItemCollections {
    /// The limit, in bytes.
    pub limit: u64,
    /// The largest ones. One with `least` over the limit is too large, one with only `most` over it
    /// may be.
    pub largest: HeaviestKeys,
    /// Those that may be over the limit, as their `most` is.
    pub over: Vec<HotKey>,
    /// Whether `over` names every collection that is over the limit. It does not where they are too many, or where sizes may be
    /// wrong by more than the limit.
    pub complete: bool,
}

/// Items that share a key.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Collisions {
    /// Keys that several items have.
    pub keys: u64,
    /// All but the first of each key: the items that would be rejected.
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
    /// The rows, in the order in which they were read; only the first of many.
    pub rows: Vec<SourceRow>,
}

/// A row, and the type of the item that it makes.
#[derive(Debug, Clone, Serialize)]
pub struct SourceRow {
    /// The name of the item type.
    pub item_type: String,
    /// The columns of the row's key, with their values.
    pub row: Box<RawValue>,
}
