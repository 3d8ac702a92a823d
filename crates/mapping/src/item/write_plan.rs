//! An item type, prepared to be written as DynamoDB JSON.

use std::sync::Arc;

use dynafold_dynamodb::{Attribute, DigestKey, DigestSeed};
use dynafold_relational::value::quote;

use super::limits::{ItemLimits, KeyLimit};
use crate::model::ItemType;

/// An item type, prepared to be written.
#[derive(Debug, Clone)]
pub(super) struct WritePlan {
    /// The attributes, in the item type's order.
    pub(super) attributes: Vec<PlannedAttribute>,
    /// The places of the table's keys among them.
    pub(super) keys: Vec<usize>,
    /// Of each index of the table: what it holds of an item; `None` for one that holds none of the type.
    entries: Vec<Option<PlannedEntry>>,
}

#[derive(Debug, Clone)]
pub(super) struct PlannedAttribute {
    pub(super) name: PlannedName,
    pub(super) keep_null: bool,
    /// What it must be as a key of the table and of indexes.
    limits: Vec<KeyLimit>,
    /// Whether it is the moment of expiry.
    pub(super) is_expiry: bool,
}

/// What of an attribute's name is the same for all rows.
#[derive(Debug, Clone)]
pub(super) struct PlannedName {
    /// The name as JSON.
    pub(super) quoted: String,
    /// Where the digest of its value begins, where digests are wanted.
    pub(super) seed: Option<DigestSeed>,
}

/// What an index holds, by the places of the attributes.
#[derive(Debug, Clone)]
struct PlannedEntry {
    keys: Vec<usize>,
    /// `None`: every attribute.
    held: Option<Vec<usize>>,
}

impl PlannedAttribute {
    /// Whether nothing is decided on its value.
    pub(super) fn is_plain(&self) -> bool {
        self.limits.is_empty() && !self.is_expiry
    }

    /// Whether a value can be a key of all that it is a key of.
    pub(super) fn fits(&self, value: &Attribute) -> bool {
        self.limits.iter().all(|limit| limit.check(value).is_ok())
    }
}

impl WritePlan {
    /// `None` for an item type whose attributes have names that only its rows tell.
    pub(super) fn new(
        item_type: &ItemType,
        limits: &ItemLimits,
        expiry: Option<&str>,
    ) -> Option<Self> {
        if !item_type.spreads.is_empty() {
            return None;
        }
        let place = |name: &Arc<str>| {
            let mut names = item_type.attributes.iter();
            names.position(|(other, _)| other == name)
        };
        let attributes = item_type.attributes.iter().map(|(name, _)| {
            let mut quoted = String::new();
            quote(&mut quoted, name);
            PlannedAttribute {
                name: PlannedName { quoted, seed: None },
                // Never for keys, where DynamoDB refuses NULL.
                keep_null: item_type.keep_nulls && !limits.is_key(name),
                limits: limits.of_key(name).cloned().collect(),
                is_expiry: expiry == Some(&**name),
            }
        });
        let entries = limits.indexes().map(|(keys, held)| {
            let keys = keys.iter().map(place).collect::<Option<Vec<_>>>()?;
            let held = held.map(|names| names.iter().filter_map(place).collect());
            Some(PlannedEntry { keys, held })
        });
        Some(Self {
            attributes: attributes.collect(),
            keys: limits.table_keys().map(place).collect::<Option<_>>()?,
            entries: entries.collect(),
        })
    }

    /// Has digests made under a key.
    pub(super) fn digest(&mut self, item_type: &ItemType, key: DigestKey) {
        let seed = key.seed();
        for ((name, _), planned) in item_type.attributes.iter().zip(&mut self.attributes) {
            planned.name.seed = Some(seed.member(name));
        }
    }

    /// Bytes of an item's entry in each index, from those of its attributes.
    pub(super) fn entries(
        &self,
        sizes: &[Option<usize>],
        size: usize,
    ) -> impl Iterator<Item = Option<usize>> {
        let of = move |place: &usize| sizes.get(*place).copied().flatten();
        self.entries.iter().map(move |entry| {
            let entry = entry.as_ref()?;
            if entry.keys.iter().any(|place| of(place).is_none()) {
                return None;
            }
            let held = entry.held.as_ref();
            Some(held.map_or(size, |held| held.iter().filter_map(of).sum()))
        })
    }
}
