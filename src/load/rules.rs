//! What a run does with the rows and items that it is given: all of them or a selection, blindly
//! or only where the table differs, and whether their keys are remembered.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;

use super::Prune;
use super::contest::Contest;
use super::failure::Failure;
use super::feed::row_key;
use super::prune::selected;
use super::rejects::row_json;
use crate::item::{Attribute, Item};
use crate::mapping::model::{ItemType, Model, Table};
use crate::proof::Proof;
use crate::value::Value;

/// What is done with items.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Doing {
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
pub struct Selection {
    /// Items with this partition key value alone.
    pub partition: Option<Attribute>,
    /// These rows alone: item types, by their names, and row keys as JSON, without the positions of
    /// elements.
    pub rows: Option<HashSet<(Arc<str>, String)>>,
}

impl Selection {
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

/// The rules of a run.
#[derive(Debug)]
pub(super) struct Rules {
    pub(super) doing: Doing,
    pub(super) selection: Selection,
    pub(super) contest: Contest,
    embeds: Vec<Vec<usize>>,
    /// Where the keys of all items go, where somebody wants them at the end.
    keys: Option<Mutex<Proof>>,
    /// Whether items of rows that are left out must not be deleted.
    keep_filtered: bool,
    /// Whether items of rows that are rejected, or have expired, must not be deleted.
    keep_rejected: bool,
    /// The item types of which rows were rejected whose keys are not known.
    spared: Vec<AtomicBool>,
}

impl Rules {
    pub(super) fn new(model: &Model, doing: Doing, selection: Selection, contest: Contest) -> Self {
        Self {
            doing,
            selection,
            contest,
            embeds: model.item_types.iter().map(ItemType::embeds).collect(),
            keys: None,
            keep_filtered: false,
            keep_rejected: false,
            spared: model.item_types.iter().map(|_| false.into()).collect(),
        }
    }

    /// Has the keys of all items remembered, and of rows that make none what is left alone by `prune`.
    /// Without it only the run's own items are deleted, and none but those that it makes are to stay.
    pub(super) fn with_keys(mut self, proof: Proof, prune: Option<&Prune>) -> Self {
        self.keys = Some(Mutex::new(proof));
        self.keep_filtered = prune.is_some_and(|prune| !prune.filtered);
        self.keep_rejected = prune.is_some();
        self
    }

    /// The places of an item type's embeds in the row.
    pub(super) fn embeds(&self, item_type: usize) -> &[usize] {
        self.embeds.get(item_type).map_or(&[], Vec::as_slice)
    }

    pub(super) fn wants_keys(&self) -> bool {
        self.keys.is_some()
    }

    pub(super) fn keeps_filtered(&self) -> bool {
        self.keep_filtered && self.wants_keys()
    }

    pub(super) fn keeps_rejected(&self) -> bool {
        self.keep_rejected && self.wants_keys()
    }

    /// Says that a row of an item type was rejected before its keys were made: any item of the type
    /// may be its.
    pub(super) fn spare(&self, item_type: usize) {
        if let Some(spared) = self.spared.get(item_type) {
            spared.store(true, Ordering::Relaxed);
        }
    }

    /// The item types of which items may be deleted, and what is to be said of those whose rows make
    /// that impossible.
    pub(super) fn prunable(&self, model: &Model) -> (Vec<bool>, Vec<String>) {
        let mut prunable = selected(model);
        let mut said = Vec::new();
        let all = prunable.iter_mut().zip(&self.spared).zip(&model.item_types);
        for ((prunable, spared), item_type) in all {
            if *prunable && spared.load(Ordering::Relaxed) {
                *prunable = false;
                said.push(format!(
                    "{}: no items were deleted, because rows were rejected before their keys were made, and which items are theirs cannot be told",
                    item_type.name
                ));
            }
        }
        (prunable, said)
    }

    /// Remembers keys.
    pub(super) fn take_keys(&self, keys: &[(u128, u64)]) -> Result<(), Failure> {
        let proof = self.keys.as_ref();
        proof.map_or(Ok(()), |proof| take_keys(proof, keys))
    }

    /// The keys that were remembered.
    pub(super) fn into_keys(self) -> Option<Proof> {
        let keys = self.keys?;
        Some(keys.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Remembers the keys of a block.
pub(crate) fn take_keys(proof: &Mutex<Proof>, keys: &[(u128, u64)]) -> Result<(), Failure> {
    let mut proof = proof.lock().unwrap_or_else(PoisonError::into_inner);
    for (fingerprint, locator) in keys {
        let pushed = proof.push(*fingerprint, *locator);
        pushed.map_err(|error| Failure::new("keys", &error, Some(error.help())))?;
    }
    Ok(())
}
