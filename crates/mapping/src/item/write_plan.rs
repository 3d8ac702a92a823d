//! An item type, prepared to be written as DynamoDB JSON.

use std::sync::Arc;

use dynafold_dynamodb::{Attribute, DigestKey, DigestSeed};
use dynafold_relational::value::quote;

use super::limits::{ItemLimits, KeyLimit};
use crate::model::ItemType;

/// What writing an item needs that is the same for all rows of its type.
#[derive(Debug, Clone)]
pub(super) struct WritePlan {
    /// The attributes, in the item type's order.
    pub(super) attributes: Vec<PlannedAttribute>,
    /// The positions of the table's keys among `attributes`.
    pub(super) keys: Vec<usize>,
    /// For each index of the table, what it holds of an item; `None` if it holds no items of this type.
    index_entries: Vec<Option<PlannedEntry>>,
}

#[derive(Debug, Clone)]
pub(super) struct PlannedAttribute {
    pub(super) name: PlannedName,
    pub(super) keep_null: bool,
    /// What DynamoDB demands of it, as a key of the table or of an index.
    limits: Vec<KeyLimit>,
    /// Whether it is the table's TTL.
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

/// What an index holds of an item, by the positions of its attributes.
#[derive(Debug, Clone)]
struct PlannedEntry {
    keys: Vec<usize>,
    /// `None`: every attribute.
    held: Option<Vec<usize>>,
}

impl PlannedAttribute {
    /// Whether its value may be written unseen: it is no key, and no TTL.
    pub(super) fn is_plain(&self) -> bool {
        self.limits.is_empty() && !self.is_expiry
    }

    /// Whether DynamoDB takes a value as the keys that this attribute is.
    pub(super) fn fits(&self, value: &Attribute) -> bool {
        self.limits.iter().all(|limit| limit.check(value).is_ok())
    }
}

impl WritePlan {
    /// `None` for an item type some of whose attributes take their names from the rows.
    pub(super) fn new(
        item_type: &ItemType,
        limits: &ItemLimits,
        expiry: Option<&str>,
    ) -> Option<Self> {
        if !item_type.spreads.is_empty() {
            return None;
        }
        let position = |name: &Arc<str>| {
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
        let index_entries = limits.indexes().map(|(keys, held)| {
            let keys = keys.iter().map(position).collect::<Option<Vec<_>>>()?;
            let held = held.map(|names| names.iter().filter_map(position).collect());
            Some(PlannedEntry { keys, held })
        });
        Some(Self {
            attributes: attributes.collect(),
            keys: limits.table_keys().map(position).collect::<Option<_>>()?,
            index_entries: index_entries.collect(),
        })
    }

    /// Has a digest of each item made with this key.
    pub(super) fn set_digest_key(&mut self, item_type: &ItemType, key: DigestKey) {
        let seed = key.seed();
        for ((name, _), planned) in item_type.attributes.iter().zip(&mut self.attributes) {
            planned.name.seed = Some(seed.member(name));
        }
    }

    /// Bytes of an item's entry in each index, from the bytes of its attributes and of the whole item.
    pub(super) fn index_entries(
        &self,
        sizes: &[Option<usize>],
        size: usize,
    ) -> impl Iterator<Item = Option<usize>> {
        let size_at = move |position: &usize| sizes.get(*position).copied().flatten();
        self.index_entries.iter().map(move |entry| {
            let entry = entry.as_ref()?;
            if entry.keys.iter().any(|key| size_at(key).is_none()) {
                return None;
            }
            let held = entry.held.as_ref();
            Some(held.map_or(size, |held| held.iter().filter_map(size_at).sum()))
        })
    }
}
