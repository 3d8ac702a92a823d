//! DynamoDB's limits on one item, checked before it is sent (limits.md 1-19).

use std::collections::HashSet;
use std::sync::Arc;

use super::fault::Fault;
use super::{Attribute, Item};
use crate::mapping::model::{Index, KeyAttribute, KeyType, Projection, Table};

/// Most bytes of an item, and of an item together with its local index entries.
pub const MAX_ITEM_BYTES: usize = 409_600;
/// Most bytes of a partition key's value.
pub const MAX_PARTITION_BYTES: usize = 2048;
/// Most bytes of a sort key's value.
pub const MAX_SORT_BYTES: usize = 1024;
/// Most bytes of an attribute's name.
pub const MAX_NAME_BYTES: usize = 65_535;
/// Levels of nesting; a value at the top of the item is at the first.
pub const MAX_LEVELS: usize = 32;

/// The code of an item that has too many bytes.
pub(super) const TOO_LARGE: &str = "item-too-large";

/// The limits as they apply to one table.
#[derive(Debug, Clone)]
pub(super) struct Limits {
    keys: Vec<(KeyAttribute, &'static str, usize)>,
    index_keys: Vec<IndexKey>,
    entries: Vec<Entry>,
}

/// An attribute that is a key of an index.
#[derive(Debug, Clone)]
struct IndexKey {
    attribute: KeyAttribute,
    max_bytes: usize,
    index: String,
}

/// What an index holds of an item.
#[derive(Debug, Clone)]
struct Entry {
    local: bool,
    keys: Vec<Arc<str>>,
    /// `None`: every attribute.
    attributes: Option<HashSet<Arc<str>>>,
}

impl Entry {
    /// Bytes that the index holds of an item of this size; `None` without one of its keys.
    fn held(&self, item: &Item, size: usize) -> Option<usize> {
        if self.keys.iter().any(|name| item.get(name).is_none()) {
            return None;
        }
        Some(match &self.attributes {
            None => size,
            Some(names) => {
                let held = item.attributes.iter().filter(|a| names.contains(&a.0));
                held.map(|(name, value)| name.len() + value.size()).sum()
            }
        })
    }
}

/// What an item measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Measure {
    pub(super) size: usize,
    pub(super) units: u64,
}

impl Limits {
    pub(super) fn new(table: &Table) -> Self {
        let mut keys = vec![(table.partition.clone(), "partition", MAX_PARTITION_BYTES)];
        keys.extend(
            table
                .sort
                .clone()
                .map(|sort| (sort, "sort", MAX_SORT_BYTES)),
        );
        let mut limits = Self {
            keys,
            index_keys: Vec::new(),
            entries: Vec::new(),
        };
        for index in &table.indexes {
            limits.add(table, index, false);
        }
        for index in &table.local_indexes {
            limits.add(table, index, true);
        }
        limits
    }

    fn add(&mut self, table: &Table, index: &Index, local: bool) {
        let partition: &[KeyAttribute] = if local {
            std::slice::from_ref(&table.partition)
        } else {
            &index.partition
        };
        let with_limit = |keys: &[KeyAttribute], max_bytes| {
            let keys = keys.iter().map(move |attribute| IndexKey {
                attribute: attribute.clone(),
                max_bytes,
                index: index.name.clone(),
            });
            keys.collect::<Vec<_>>()
        };
        self.index_keys
            .extend(with_limit(partition, MAX_PARTITION_BYTES));
        self.index_keys
            .extend(with_limit(&index.sort, MAX_SORT_BYTES));
        let keys: Vec<Arc<str>> = partition
            .iter()
            .chain(&index.sort)
            .map(|key| key.name.clone())
            .collect();
        let table_keys = self.keys.iter().map(|(key, _, _)| key.name.clone());
        let attributes = match &index.projection {
            Projection::All => None,
            Projection::Keys => Some(keys.iter().cloned().chain(table_keys).collect()),
            Projection::Include(names) => Some(
                keys.iter()
                    .cloned()
                    .chain(table_keys)
                    .chain(names.iter().map(|name| Arc::from(name.as_str())))
                    .collect(),
            ),
        };
        self.entries.push(Entry {
            local,
            keys,
            attributes,
        });
    }

    /// Bytes of an item's entry in each index, the global ones first, in the order of the table's
    /// description; `None` where the index does not hold the item.
    pub(super) fn entries<'a>(
        &'a self,
        item: &'a Item,
        size: usize,
    ) -> impl Iterator<Item = Option<usize>> + 'a {
        self.entries.iter().map(move |entry| entry.held(item, size))
    }

    /// Whether an attribute is a key of the table or of an index.
    pub(super) fn is_key(&self, name: &str) -> bool {
        let index_keys = self.index_keys.iter().map(|key| &key.attribute);
        let mut keys = self.keys.iter().map(|key| &key.0).chain(index_keys);
        keys.any(|key| key.name.as_ref() == name)
    }

    /// Whether an attribute is a key of the table itself.
    pub(super) fn is_table_key(&self, name: &str) -> bool {
        self.keys
            .iter()
            .any(|(key, _, _)| key.name.as_ref() == name)
    }

    /// The values of the table's key.
    pub(super) fn key<'i>(&self, item: &'i Item) -> (Option<&'i Attribute>, Option<&'i Attribute>) {
        let mut values = self.keys.iter().map(|(key, _, _)| item.get(&key.name));
        (values.next().flatten(), values.next().flatten())
    }

    pub(super) fn has_sort(&self) -> bool {
        self.keys.len() > 1
    }

    pub(super) fn check(&self, item: &Item) -> Result<Measure, Fault> {
        for (key, what, max_bytes) in &self.keys {
            match item.get(&key.name) {
                None | Some(Attribute::Null) => {
                    return Err(Fault::new("key-null", format!("the {what} key is NULL"))
                        .help("leave such rows out with `where`, or say `| default(x)`")
                        .at(&key.name));
                }
                Some(value) => check_key(key, value, *max_bytes, &format_args!("the {what} key"))
                    .map_err(|fault| fault.at(&key.name))?,
            }
        }
        for key in &self.index_keys {
            if let Some(value) = item.get(&key.attribute.name) {
                let what = format_args!("the key of index {}", key.index);
                check_key(&key.attribute, value, key.max_bytes, &what)
                    .map_err(|fault| fault.of_index().at(&key.attribute.name))?;
            }
        }
        for (name, value) in &item.attributes {
            check_name(name)
                .and_then(|()| check_value(value, 0))
                .map_err(|fault| fault.at(name))?;
        }
        self.measure(item)
    }

    pub(super) fn measure(&self, item: &Item) -> Result<Measure, Fault> {
        let size = item.size();
        if size > MAX_ITEM_BYTES {
            return Err(Fault::new(
                TOO_LARGE,
                format!("the item has {size} bytes; DynamoDB takes {MAX_ITEM_BYTES}"),
            )
            .help("compress large attributes with `oversize`, leave them out with `omit`, or keep them elsewhere and store a link"));
        }
        let mut units = write_units(size);
        let mut with_local = size;
        for entry in &self.entries {
            let Some(held) = entry.held(item, size) else {
                continue;
            };
            units += write_units(held);
            if entry.local {
                with_local += held;
            }
        }
        if with_local > MAX_ITEM_BYTES {
            return Err(Fault::new(
                TOO_LARGE,
                format!(
                    "the item and its entries in local indexes have {with_local} bytes; \
                     DynamoDB takes {MAX_ITEM_BYTES}"
                ),
            )
            .help("project fewer attributes into the local indexes, or make them global ones"));
        }
        Ok(Measure { size, units })
    }
}

/// Write capacity units of an item or index entry of this size: one for each KB begun.
#[must_use]
pub fn write_units(size: usize) -> u64 {
    u64::try_from(size.div_ceil(1024).max(1)).unwrap_or(u64::MAX)
}

fn check_key(
    key: &KeyAttribute,
    value: &Attribute,
    max_bytes: usize,
    what: &dyn std::fmt::Display,
) -> Result<(), Fault> {
    let (expected, bytes) = match (key.key_type, value) {
        (KeyType::S, Attribute::S(text)) => ("S", Some(text.len())),
        (KeyType::B, Attribute::B(bytes)) => ("B", Some(bytes.len())),
        // A number is never empty and never long.
        (KeyType::N, Attribute::N(_)) => ("N", Some(1)),
        (KeyType::S, _) => ("S", None),
        (KeyType::N, _) => ("N", None),
        (KeyType::B, _) => ("B", None),
    };
    match bytes {
        None => Err(Fault::new(
            "key-type",
            format!(
                "{what} is declared as {expected} and the value is {}",
                value.type_name()
            ),
        )
        .help("make the value fit with `| string` or `| number`, or declare the key's type in `table`")),
        Some(0) => Err(Fault::new("key-empty", format!("{what} is empty"))
            .help("say `| default(x)`, put literal text before it, or leave such rows out with `where`")),
        Some(bytes) if bytes > max_bytes => Err(Fault::new(
            "key-too-long",
            format!("{what} has {bytes} bytes; DynamoDB takes {max_bytes}"),
        )
        .help("shorten it with `| truncate(n)`, or use another column")),
        Some(_) => Ok(()),
    }
}

fn check_name(name: &str) -> Result<(), Fault> {
    if (1..=MAX_NAME_BYTES).contains(&name.len()) {
        return Ok(());
    }
    Err(Fault::new(
        "attribute-name",
        format!(
            "an attribute's name has {} bytes; DynamoDB takes 1 to {MAX_NAME_BYTES}",
            name.len()
        ),
    )
    .help("keep the document as text with `| string`"))
}

/// Walks a value; `level` counts the lists and maps around it.
fn check_value(value: &Attribute, level: usize) -> Result<(), Fault> {
    if level >= MAX_LEVELS {
        return Err(Fault::new(
            "nested-too-deep",
            format!("the document nests deeper than {MAX_LEVELS} levels"),
        )
        .help("keep the document as text with `| string`"));
    }
    match value {
        Attribute::L(elements) => elements.iter().try_for_each(|e| check_value(e, level + 1)),
        Attribute::M(members) => members.iter().try_for_each(|(name, member)| {
            check_name(name)?;
            check_value(member, level + 1)
        }),
        Attribute::Ss(members) => check_set(members),
        Attribute::Ns(members) => check_set(members),
        Attribute::Bs(members) => check_set(members),
        _ => Ok(()),
    }
}

/// Members are unique by the way sets are made; see [`super::to_attribute`].
fn check_set<T>(members: &[T]) -> Result<(), Fault> {
    if members.is_empty() {
        return Err(Fault::new("set-empty", "a set inside a document is empty")
            .help("DynamoDB has no empty sets; leave it out or make it a list"));
    }
    Ok(())
}
