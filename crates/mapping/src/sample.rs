//! The first items of each item type. Plain data: `preview` reads them, and documents show them.

use std::sync::Arc;

use dynafold_dynamodb::{Item, item_value};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::item::Reject;
use crate::model::Expired;

/// What the first rows of an item type become.
#[derive(Debug, Clone, Serialize)]
pub struct ItemTypeSample {
    /// The item type's name.
    pub item_type: String,
    /// What its rows are read from, as the mapping writes it.
    pub from: String,
    /// The items, in the order of the rows.
    pub items: Vec<SampleItem>,
    /// What becomes of rows whose items have expired.
    #[serde(skip)]
    pub on_expiry: Expired,
    /// The items of such rows, where they are not loaded, in the order of the rows.
    pub expired: Vec<SampleItem>,
    /// The rows that became no item.
    pub rejects: Vec<SampleReject>,
    /// The rows that were read, those that the item type's `where` leaves out not counted.
    #[serde(skip)]
    pub read: u64,
    /// Whether fewer rows were read than were asked for and are there: the items were large.
    #[serde(skip)]
    pub is_cut: bool,
}

/// An item of a sample.
#[derive(Debug, Clone, Serialize)]
pub struct SampleItem {
    /// The row: row key columns and their values, as a JSON object.
    pub row: Box<RawValue>,
    /// Bytes that DynamoDB counts for it.
    pub size: usize,
    /// Write capacity units, index entries included.
    #[serde(rename = "write_units")]
    pub units: u64,
    /// The attributes that were compressed, because the item was too large otherwise.
    #[serde(serialize_with = "names")]
    pub compressed: Vec<Arc<str>>,
    /// The item.
    #[serde(serialize_with = "dynamodb_json")]
    pub item: Item,
}

/// A row of a sample that became no item.
#[derive(Debug, Clone, Serialize)]
pub struct SampleReject {
    /// The row: row key columns and their values, as a JSON object.
    pub row: Box<RawValue>,
    /// What is wrong with it.
    #[serde(flatten)]
    pub reject: Reject,
}

fn names<S: Serializer>(names: &[Arc<str>], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(names.iter().map(|name| &**name))
}

fn dynamodb_json<S: Serializer>(item: &Item, serializer: S) -> Result<S::Ok, S::Error> {
    item_value(item).serialize(serializer)
}
