//! What a run is about, and what it does: all rows and items or a selection, blindly or only where the table differs;
//! and what is remembered of keys under which no item is made.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dynafold_dynamodb::{Attribute, Item, Table};
use dynafold_format::counted_as;
use dynafold_mapping::model::ItemType;
use dynafold_relational::value::Value;
use serde::Serialize;

use super::row::{row_json, row_key};

/// Rows of a rejects file that are named if they are not found; more are counted.
const NAMED: usize = 5;

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
    /// These rows alone.
    pub rows: Option<Arc<SelectedRows>>,
}

/// An item type's name, and a row key as JSON, without the positions of elements.
type NamedRow = (Arc<str>, String);

/// Rows that a run is about, and which of them it has read.
#[derive(Debug, Default)]
pub struct SelectedRows(HashMap<NamedRow, AtomicBool>);

impl FromIterator<NamedRow> for SelectedRows {
    fn from_iter<T: IntoIterator<Item = NamedRow>>(rows: T) -> Self {
        let rows = rows.into_iter();
        Self(rows.map(|row| (row, AtomicBool::default())).collect())
    }
}

impl SelectedRows {
    fn holds(&self, row: &NamedRow) -> bool {
        let read = self.0.get(row);
        read.is_some_and(|read| {
            read.store(true, Ordering::Relaxed);
            true
        })
    }

    /// Says which rows of these item types were not read; `None` where all were.
    fn unread(&self, loaded: &[&str], resumed: bool) -> Option<String> {
        let of_loaded = self.0.iter().filter(|((of, _), _)| loaded.contains(&&**of));
        let unread = of_loaded.filter(|(_, read)| !read.load(Ordering::Relaxed));
        let mut named: Vec<&NamedRow> = unread.map(|(row, _)| row).collect();
        named.sort();
        let first = named.iter().take(NAMED);
        let first: Vec<String> = first.map(|(of, key)| format!("{of} {key}")).collect();
        let rows = counted_as(
            named.len(),
            "row of the rejects file was not loaded",
            "rows of the rejects file were not loaded",
        );
        let why = if resumed {
            "an earlier attempt may have loaded it, or its key is not in the source any more, or `where` leaves it out"
        } else {
            "its key is not in the source any more, or `where` leaves it out"
        };
        let first = first.join(", ");
        (!named.is_empty())
            .then(|| format!("{rows} ({first}): {why}; `verify` tells what the table lacks"))
    }
}

impl RunSelection {
    /// Whether a row is among them.
    pub(crate) fn holds_row(&self, item_type: &ItemType, row: &[Value]) -> bool {
        self.rows.as_ref().is_none_or(|rows| {
            // Its elements are still to come.
            let key = row_key(item_type, row);
            let own = key.get(..item_type.key_columns()).unwrap_or(&key);
            let key = row_json(item_type, own);
            rows.holds(&(item_type.name.clone(), key))
        })
    }

    /// What is to be said of a run that has read all rows of these item types. `resumed`: some of them in an earlier attempt.
    pub(super) fn remark(&self, loaded: &[&str], resumed: bool) -> Option<String> {
        self.rows.as_ref()?.unread(loaded, resumed)
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
