//! What a table and its indexes hold of an item, and what a write of it costs.
//!
//! A write costs the larger of the item before and after, in whole units of 1 KB. An index costs
//! nothing where its entry stays as it was; a new, a gone or a changed entry costs its own size, and
//! an entry that moves to another key costs both.

use dynoxide::types::{AttributeValue, Item, item_size, normalize_number_for_sort};
use xxhash_rust::xxh3::xxh3_64;

use super::schema::{IndexSchema, Projection, Schema};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Image {
    size: usize,
    /// For each index of the schema.
    entries: Box<[Option<IndexEntry>]>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct IndexEntry {
    partition: u64,
    key: u64,
    size: usize,
    content: u64,
}

/// What a write costs.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Charge {
    /// The table alone.
    pub(crate) table: f64,
    pub(crate) indexes: Vec<IndexCharge>,
}

/// What a write costs in one partition of an index.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct IndexCharge {
    /// Its place in the schema.
    pub(crate) index: usize,
    pub(crate) partition: u64,
    pub(crate) units: f64,
}

impl Image {
    pub(crate) fn of(schema: &Schema, item: &Item) -> Self {
        let entries = schema.indexes.iter();
        Self {
            size: item_size(item),
            entries: entries.map(|index| entry(schema, index, item)).collect(),
        }
    }

    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// The same under a schema whose indexes were these before; None is a new one.
    pub(crate) fn reshape(&mut self, before: &[Option<usize>]) {
        let entry = |index: &Option<usize>| self.entries.get((*index)?).cloned().flatten();
        self.entries = before.iter().map(entry).collect();
    }
}

impl Charge {
    pub(crate) fn of(old: Option<&Image>, new: Option<&Image>) -> Self {
        let size = |image: Option<&Image>| image.map_or(0, |image| image.size);
        let entry = |image: Option<&Image>, index: usize| {
            image.and_then(|image| image.entries.get(index).cloned().flatten())
        };
        let number = old.or(new).map_or(0, |image| image.entries.len());
        let mut indexes = Vec::new();
        for index in 0..number {
            let mut add = |entry: &IndexEntry, units| {
                let partition = entry.partition;
                indexes.push(IndexCharge {
                    index,
                    partition,
                    units,
                });
            };
            match (entry(old, index), entry(new, index)) {
                (None, None) => {}
                (Some(one), None) | (None, Some(one)) => add(&one, units(one.size)),
                (Some(old), Some(new)) if old.key != new.key => {
                    add(&old, units(old.size));
                    add(&new, units(new.size));
                }
                (Some(old), Some(new)) if old.content == new.content => {}
                (Some(old), Some(new)) => add(&new, units(old.size.max(new.size))),
            }
        }
        Self {
            table: units(size(old).max(size(new))),
            indexes,
        }
    }

    pub(crate) fn total(&self) -> f64 {
        self.table + self.indexes.iter().map(|index| index.units).sum::<f64>()
    }
}

/// Whole units of 1 KB, at least one.
fn units(size: usize) -> f64 {
    f64::from(u32::try_from(size.div_ceil(1024).max(1)).unwrap_or(u32::MAX))
}

fn entry(schema: &Schema, index: &IndexSchema, item: &Item) -> Option<IndexEntry> {
    let hash = |names: &[String]| {
        names.iter().try_fold(0, |hash: u64, name| {
            let text = item.get(name)?.to_key_string()?;
            Some(mix(hash, xxh3_64(text.as_bytes())))
        })
    };
    let partition = hash(&index.partition)?;
    let key = mix(partition, hash(&index.sort)?);
    let held = |name: &String| match &index.projection {
        Projection::All => true,
        Projection::Only(named) => {
            *name == schema.partition
                || schema.sort.as_ref() == Some(name)
                || index.partition.contains(name)
                || index.sort.contains(name)
                || named.contains(name)
        }
    };
    let (mut size, mut content) = (0, 0_u64);
    for (name, value) in item.iter().filter(|(name, _)| held(name)) {
        size += name.len() + value.size();
        content = content.wrapping_add(mix(xxh3_64(name.as_bytes()), digest(value)));
    }
    Some(IndexEntry {
        partition,
        key,
        size,
        content,
    })
}

fn mix(a: u64, b: u64) -> u64 {
    let mut bytes = [0; 16];
    let (first, second) = bytes.split_at_mut(8);
    first.copy_from_slice(&a.to_le_bytes());
    second.copy_from_slice(&b.to_le_bytes());
    xxh3_64(&bytes)
}

/// The same for values that are the same to DynamoDB: members of maps and sets in any order.
fn digest(value: &AttributeValue) -> u64 {
    let number = |text: &String| xxh3_64(normalize_number_for_sort(text).as_bytes());
    let set = |tag, members: u64| mix(tag, members);
    match value {
        AttributeValue::S(text) => mix(1, xxh3_64(text.as_bytes())),
        AttributeValue::N(text) => mix(2, number(text)),
        AttributeValue::B(bytes) => mix(3, xxh3_64(bytes)),
        AttributeValue::BOOL(is) => mix(4, u64::from(*is)),
        AttributeValue::NULL(_) => 5,
        AttributeValue::SS(all) => set(6, sum(all.iter().map(|text| xxh3_64(text.as_bytes())))),
        AttributeValue::NS(all) => set(7, sum(all.iter().map(number))),
        AttributeValue::BS(all) => set(8, sum(all.iter().map(|bytes| xxh3_64(bytes)))),
        AttributeValue::L(all) => all.iter().fold(9, |hash, one| mix(hash, digest(one))),
        AttributeValue::M(all) => set(
            10,
            sum(all
                .iter()
                .map(|(name, one)| mix(xxh3_64(name.as_bytes()), digest(one)))),
        ),
    }
}

fn sum(hashes: impl Iterator<Item = u64>) -> u64 {
    hashes.fold(0, u64::wrapping_add)
}
