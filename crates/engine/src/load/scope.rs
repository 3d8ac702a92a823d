//! What a run is about, and what it does: all rows and items or a selection, blindly or only where the table differs;
//! and what is remembered of keys under which no item is made.

use std::collections::HashSet;
use std::sync::Arc;

use dynafold_dynamodb::{Attribute, Item, Table};
use dynafold_mapping::model::ItemType;
use dynafold_relational::value::Value;
use serde::Serialize;

use super::row::{row_json, row_key};

/// What is done with items.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ItemAction {
    /// They are written.
    #[default]
    Put,
    /// Those are written that the table does not hold as they are.
    Changes,
    /// Nothing is written: it is counted what would be.
    Plan,
}

/// Which rows and items a run is about.
#[derive(Debug, Clone, Default)]
pub struct RunSelection {
    /// Items with this partition key value alone.
    pub partition: Option<Attribute>,
    /// These rows alone: item types, by their names, and row keys as JSON, without the positions of
    /// elements.
    pub rows: Option<HashSet<(Arc<str>, String)>>,
}

impl RunSelection {
    /// Whether a row is among them.
    pub(crate) fn holds_row(&self, item_type: &ItemType, row: &[Value]) -> bool {
        self.rows.as_ref().is_none_or(|rows| {
            // Its elements are still to come.
            let key = row_key(item_type, row);
            let own = key.get(..item_type.key_columns()).unwrap_or(&key);
            let key = row_json(item_type, own);
            rows.contains(&(item_type.name.clone(), key))
        })
    }

    /// Whether an item is, be it one that was rejected: only where its partition key is made is it
    /// known to be another's.
    pub(crate) fn holds_item(&self, table: &Table, item: Option<&Item>) -> bool {
        self.partition.as_ref().is_none_or(|wanted| {
            let found = item.and_then(|item| item.get(&table.partition.name));
            found.is_none_or(|found| found == wanted)
        })
    }
}

/// The locators of keys that rows have which make no item under them, by why they make none.
pub(crate) const REJECTED: u64 = (1 << 63) - 1;
/// The rows have expired: DynamoDB deletes such items when it comes to it.
pub(crate) const EXPIRED: u64 = REJECTED - 1;
/// `where` leaves the rows out.
pub(super) const FILTERED: u64 = EXPIRED - 1;
/// The locator of keys of items that an attempt of this run has sent.
pub(crate) const SENT: u64 = FILTERED - 1;
