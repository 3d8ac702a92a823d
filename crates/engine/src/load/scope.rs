//! What a run is about, and what it does: all rows and items or a selection, blindly or only where the table differs;
//! and what is remembered of keys under which no item is made.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use dynafold_dynamodb::{Attribute, Item, Table};
use dynafold_format::counted_as;
use dynafold_mapping::model::ItemType;
use dynafold_relational::value::Value;
use serde::Serialize;

use super::row::{row_json, row_key};

/// Rows of a rejects file that are named if they are not found; more are counted.
const NAMED_ROWS: usize = 5;

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

/// Rows that a run is about, and how many rows it has loaded for each.
#[derive(Debug, Default)]
pub struct SelectedRows {
    rows: HashMap<NamedRow, AtomicU64>,
    /// Whether rows came twice, because a connection broke.
    read_again: AtomicBool,
}

impl FromIterator<NamedRow> for SelectedRows {
    fn from_iter<T: IntoIterator<Item = NamedRow>>(rows: T) -> Self {
        let rows = rows.into_iter();
        Self {
            rows: rows.map(|row| (row, AtomicU64::default())).collect(),
            read_again: AtomicBool::default(),
        }
    }
}

impl SelectedRows {
    /// How many rows of these item types were loaded so often, and the names of the first; `None` without any.
    fn named(&self, item_types: &[&str], so_often: fn(u64) -> bool) -> Option<(usize, String)> {
        let rows = self.rows.iter();
        let rows = rows.filter(|((of, _), loaded)| {
            item_types.contains(&&**of) && so_often(loaded.load(Ordering::Relaxed))
        });
        let mut named: Vec<&NamedRow> = rows.map(|(row, _)| row).collect();
        named.sort();
        let first = named.iter().take(NAMED_ROWS);
        let first: Vec<String> = first.map(|(of, key)| format!("{of} {key}")).collect();
        (!named.is_empty()).then(|| (named.len(), first.join(", ")))
    }

    /// Says which rows of these item types were not loaded; `None` where all were.
    fn unread(&self, item_types: &[&str], resumed: bool) -> Option<String> {
        let (count, first) = self.named(item_types, |loaded| loaded == 0)?;
        let rows = counted_as(
            count,
            "row of the rejects file was not loaded",
            "rows of the rejects file were not loaded",
        );
        let (by, why) = if resumed {
            (
                " by this attempt",
                "an earlier attempt has loaded such rows, the source no longer has their keys, or `where` leaves them out",
            )
        } else {
            (
                "",
                "the source no longer has such keys, or `where` leaves these rows out",
            )
        };
        Some(format!(
            "{rows}{by} ({first}): {why}; `verify` tells what the table lacks"
        ))
    }

    /// Says which rows of these item types stand for several rows of the source; `None` where none does.
    fn ambiguous(&self, item_types: &[&str]) -> Option<String> {
        if self.read_again.load(Ordering::Relaxed) {
            return None;
        }
        let (count, first) = self.named(item_types, |loaded| loaded > 1)?;
        let rows = counted_as(
            count,
            "row of the rejects file has",
            "rows of the rejects file have",
        );
        Some(format!(
            "{rows} a key that several rows of the source have ({first}): all of these were loaded, because the file does not tell which one was rejected"
        ))
    }
}

impl RunSelection {
    /// Whether a row is among them.
    pub(crate) fn holds_row(&self, item_type: &ItemType, row: &[Value]) -> bool {
        let rows = self.rows.as_ref();
        rows.is_none_or(|rows| rows.rows.contains_key(&named_row(item_type, row)))
    }

    /// The same for a row that is loaded, which is counted.
    pub(super) fn takes_row(&self, item_type: &ItemType, row: &[Value]) -> bool {
        self.rows.as_ref().is_none_or(|rows| {
            let loaded = rows.rows.get(&named_row(item_type, row));
            loaded.is_some_and(|loaded| {
                loaded.fetch_add(1, Ordering::Relaxed);
                true
            })
        })
    }

    /// Says that rows come again that were read: their counts are not known any more.
    pub(super) fn reads_again(&self) {
        if let Some(rows) = &self.rows {
            rows.read_again.store(true, Ordering::Relaxed);
        }
    }

    /// What is to be said of a run that has read all rows of these item types. `resumed`: some of them in an earlier attempt.
    pub(super) fn remarks(&self, item_types: &[&str], resumed: bool) -> Vec<String> {
        self.rows.as_ref().map_or_else(Vec::new, |rows| {
            let unread = rows.unread(item_types, resumed).into_iter();
            unread.chain(rows.ambiguous(item_types)).collect()
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

/// A row without its elements, which are still to come.
fn named_row(item_type: &ItemType, row: &[Value]) -> NamedRow {
    let key = row_key(item_type, row);
    let own = key.get(..item_type.key_columns()).unwrap_or(&key);
    (item_type.name.clone(), row_json(item_type, own))
}

/// The locators of keys that rows have which make no item under them, by why they make none.
pub(crate) const REJECTED: u64 = (1 << 63) - 1;
/// The rows have expired: DynamoDB deletes such items when it comes to it.
pub(crate) const EXPIRED: u64 = REJECTED - 1;
/// `where` leaves the rows out.
pub(super) const FILTERED: u64 = EXPIRED - 1;
/// The locator of keys of items that an attempt of this run has sent.
pub(crate) const SENT: u64 = FILTERED - 1;
/// Marks the locators of keys that rows make of items with a TTL; bit 63 marks items of the table.
const EXPIRES: u64 = 1 << 62;
/// How many bits hold the second at which the TTL ends (up to the year 2514). The attempt is in the bits above, up to bit 60:
/// with bit 61 too it could be one of the locators above.
const SECONDS: u32 = 34;

/// The locator of a key that a row makes: which attempt has read the row, and when the TTL of the item ends, in seconds since 1970.
pub(crate) fn made_locator(attempt: u64, ttl: Option<i64>) -> u64 {
    let ttl = ttl.and_then(|ttl| u64::try_from(ttl).ok());
    match ttl.filter(|ttl| ttl >> SECONDS == 0 && attempt >> (61 - SECONDS) == 0) {
        Some(ttl) => EXPIRES | attempt << SECONDS | ttl,
        None => attempt,
    }
}

/// The attempt and the TTL in a locator that [`made_locator`] gives.
pub(super) fn attempt_and_ttl(locator: u64) -> (u64, Option<u64>) {
    if locator & EXPIRES == 0 {
        return (locator, None);
    }
    let ttl = locator & ((1 << SECONDS) - 1);
    ((locator & !EXPIRES) >> SECONDS, Some(ttl))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_locator_gives_its_attempt_and_a_ttl_that_fits_beside_it() {
        for (attempt, ttl, held) in [
            (7, None, None),
            (7, Some(0), Some(0)),
            (
                (1 << 27) - 1,
                Some((1 << SECONDS) - 1),
                Some((1 << SECONDS) - 1),
            ),
            // These do not fit, and the TTL is not known.
            (1 << 27, Some(0), None),
            (7, Some(1 << SECONDS), None),
            (7, Some(-1), None),
        ] {
            let locator = made_locator(attempt, ttl);
            assert_eq!(attempt_and_ttl(locator), (attempt, held));
            assert!(locator < SENT, "{attempt} {ttl:?}");
        }
    }
}
