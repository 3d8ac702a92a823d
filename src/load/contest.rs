//! Rows that share a key: which of them is loaded, and what is said of the others.
//!
//! Of the rows that make one key, one is loaded, the same in every run: the one with the least
//! numbers as its row key, or else the one whose row key's hash is the least, or, where the table has
//! no key, the one whose item's hash is. So it does not depend
//! on the order in which rows are read, nor on how many readers there are.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use xxhash_rust::xxh3::xxh3_64;

use super::feed::RowKey;
use super::rejects::{Rejected, json, row_json};
use super::ticket::ChunkId;
use crate::item::{Folded, Item};
use crate::mapping::model::{ItemType, Model};
use crate::value::{Value, write_document};

/// The code of such rejects.
pub(crate) const CODE: &str = "duplicate-key";

/// Item types that a locator tells apart.
const TYPES: u64 = 1 << 16;
/// Bits of a row's place among those that share a key, but for the one that tells hashes.
const BITS: u32 = 46;
/// From here on places come from hashes.
const HASHED: u64 = 1 << BITS;

/// What stands for a row among those that share a key: the least is loaded. `index`: that of the
/// item type. Where a row has no key its item stands for it.
pub(crate) fn locator(index: usize, item_type: &ItemType, row: &[Value], item: &Item) -> u64 {
    let place = if item_type.is_keyless() {
        hashed(&json(item))
    } else {
        numbers(row).unwrap_or_else(|| {
            let text: Vec<String> = row.iter().map(write_document).collect();
            hashed(&text.join("\u{1f}"))
        })
    };
    let index = u64::try_from(index).unwrap_or(TYPES - 1);
    place * TYPES + index.min(TYPES - 1)
}

fn hashed(text: &str) -> u64 {
    HASHED | (xxh3_64(text.as_bytes()) & (HASHED - 1))
}

/// Whole numbers in the order of the columns, as one number below [`HASHED`], where they fit.
fn numbers(row: &[Value]) -> Option<u64> {
    let bits = BITS.checked_div(u32::try_from(row.len()).ok()?)?;
    row.iter().try_fold(0, |before: u64, value| {
        let Value::Number(number) = value else {
            return None;
        };
        let number = u64::try_from(number.to_i64()?).ok()?;
        (number >> bits == 0).then_some(before << bits | number)
    })
}

/// The keys that several rows make, each with the row that is loaded.
#[derive(Debug, Default)]
pub(crate) struct Contest {
    winners: HashMap<u128, Winner>,
    /// Whether nothing tells the first two rows of some key apart.
    ties: bool,
}

#[derive(Debug)]
struct Winner {
    locator: u64,
    /// Rows that nothing tells apart have one locator: the first of them is loaded. It may come
    /// again, in another attempt at its chunk.
    taken: Mutex<Option<(ChunkId, u64)>>,
    /// The row, where it was looked for.
    row: Option<(usize, RowKey)>,
}

impl Contest {
    /// Enters a key and the locators of its first rows; the least is loaded.
    pub(super) fn enter(&mut self, fingerprint: u128, locators: &[u64]) {
        let locator = locators.first().copied().unwrap_or_default();
        self.ties |= locators.get(1) == Some(&locator);
        self.winners.insert(
            fingerprint,
            Winner {
                locator,
                taken: Mutex::default(),
                row: None,
            },
        );
    }

    /// Keys that were entered.
    pub(super) fn len(&self) -> usize {
        self.winners.len()
    }

    /// Whether it depends on the order of reading which of some rows is loaded.
    pub(super) fn has_ties(&self) -> bool {
        self.ties
    }

    /// Whether the row that is loaded has been met.
    pub(super) fn is_named(&self, fingerprint: u128) -> bool {
        let winner = self.winners.get(&fingerprint);
        winner.is_some_and(|winner| winner.row.is_some())
    }

    pub(super) fn is_contested(&self, fingerprint: u128) -> bool {
        self.winners.contains_key(&fingerprint)
    }

    /// Looks at a row of a contested key: `true`, and it is remembered, where it is the one that is
    /// loaded.
    pub(super) fn name(&mut self, fingerprint: u128, at: u64, index: usize, row: &RowKey) -> bool {
        match self.winners.get_mut(&fingerprint) {
            Some(winner) if winner.locator == at && winner.row.is_none() => {
                winner.row = Some((index, row.clone()));
                true
            }
            _ => false,
        }
    }

    /// Whether a row's item is loaded. Asked once for each row that is folded. `index`: that of its
    /// item type. `reading`: the chunk
    /// that the row is in, and which attempt at it.
    pub(crate) fn wins(
        &self,
        folded: &Folded,
        index: usize,
        item_type: &ItemType,
        row: &[Value],
        reading: (ChunkId, u64),
    ) -> bool {
        let Some(winner) = self.winners.get(&folded.fingerprint) else {
            return true;
        };
        if winner.locator != locator(index, item_type, row, &folded.item) {
            return false;
        }
        let mut taken = winner.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let free = taken.is_none_or(|(chunk, attempt)| chunk == reading.0 && attempt < reading.1);
        if free {
            *taken = Some(reading);
        }
        free
    }

    /// The reject of a row that is not loaded.
    pub(crate) fn reject(
        &self,
        model: &Model,
        item_type: usize,
        row: RowKey,
        folded: &Folded,
    ) -> Rejected {
        let winner = self.winners.get(&folded.fingerprint);
        let named = winner
            .and_then(|winner| winner.row.as_ref())
            .and_then(|(index, row)| Some((model.item_types.get(*index)?, row)));
        let message = match named {
            Some((item_type, row)) => format!(
                "the item has the same key as that of {} {}",
                item_type.name,
                row_json(item_type, row)
            ),
            None => "the item has the same key as that of another row".to_owned(),
        };
        Rejected {
            item_type,
            row,
            code: Cow::Borrowed(CODE),
            message,
            help: Some(
                "make the key template tell these rows apart, for example by a column of the \
                 primary key, or leave one of them out with `where`; with --max-rejects the other \
                 row is the one that is loaded"
                    .to_owned(),
            ),
            attribute: Some(model.table.partition.name.to_string()),
            item: Some(json(&folded.item)),
        }
    }
}
