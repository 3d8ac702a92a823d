//! DynamoDB's limits on one item, checked before it is sent (limits.md 1-19).

use std::collections::HashSet;
use std::sync::Arc;

use dynafold_dynamodb::{
    Attribute, Index, Item, KeyAttribute, KeyType, MAX_ITEM_BYTES, MAX_LEVELS, MAX_NAME_BYTES,
    MAX_PARTITION_BYTES, MAX_SORT_BYTES, Projection, Table, write_units,
};

use super::fault::{Fault, KEY_NULL};

/// The code of an item that has too many bytes.
pub(super) const TOO_LARGE: &str = "item-too-large";

/// The limits as they apply to one table.
#[derive(Debug, Clone)]
pub(super) struct ItemLimits {
    /// The table's: the partition key, and the sort key where it has one.
    keys: Vec<KeyLimit>,
    index_keys: Vec<KeyLimit>,
    entries: Vec<IndexLimits>,
}

/// What the indexes of a table hold of an item.
#[derive(Debug, Clone)]
pub struct IndexEntrySizes(ItemLimits);

impl IndexEntrySizes {
    /// Of a table's indexes.
    pub fn of(table: &Table) -> Self {
        Self(ItemLimits::new(table))
    }

    /// Bytes of an item's entry in each index, the global ones first, in the order of the table's
    /// description; `None` where the index does not hold the item. `size` is the item's.
    pub fn of_item<'a>(
        &'a self,
        item: &'a Item,
        size: usize,
    ) -> impl Iterator<Item = Option<usize>> + 'a {
        self.0.entries(item, size)
    }
}

/// A key attribute of the table or of an index, with its limit.
#[derive(Debug, Clone)]
pub(super) struct KeyLimit {
    attribute: KeyAttribute,
    max_bytes: usize,
    /// Its name in messages: `the partition key`.
    label: String,
}

/// An index: which items it holds, and which of their attributes.
#[derive(Debug, Clone)]
struct IndexLimits {
    local: bool,
    keys: Vec<Arc<str>>,
    /// `None`: every attribute.
    attributes: Option<HashSet<Arc<str>>>,
}

impl IndexLimits {
    /// Bytes that the index holds of an item of this size; `None` without one of its keys.
    fn entry_bytes(&self, item: &Item, size: usize) -> Option<usize> {
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

/// The size of an item, and the write units that it takes with its index entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ItemMeasure {
    pub(super) size: usize,
    pub(super) units: u64,
}

impl ItemLimits {
    pub(super) fn new(table: &Table) -> Self {
        let key = |attribute: &KeyAttribute, max_bytes, role| KeyLimit {
            attribute: attribute.clone(),
            max_bytes,
            label: format!("the {role} key"),
        };
        let partition = key(&table.partition, MAX_PARTITION_BYTES, "partition");
        let sort = table.sort.as_ref();
        let sort = sort.map(|sort| key(sort, MAX_SORT_BYTES, "sort"));
        let mut limits = Self {
            keys: std::iter::once(partition).chain(sort).collect(),
            index_keys: Vec::new(),
            entries: Vec::new(),
        };
        for index in &table.indexes {
            limits.add(index, false);
        }
        for index in &table.local_indexes {
            limits.add(index, true);
        }
        limits
    }

    fn add(&mut self, index: &Index, local: bool) {
        for (keys, max_bytes) in [
            (&index.partition, MAX_PARTITION_BYTES),
            (&index.sort, MAX_SORT_BYTES),
        ] {
            self.index_keys
                .extend(keys.iter().map(|attribute| KeyLimit {
                    attribute: attribute.clone(),
                    max_bytes,
                    label: format!("the key of index {}", index.name),
                }));
        }
        let keys: Vec<Arc<str>> = index.key().map(|key| key.name.clone()).collect();
        let (_, included) = index.projection.service_words();
        let table_keys = self.keys.iter().map(|key| key.attribute.name.clone());
        let held = keys.iter().cloned().chain(table_keys);
        let held = held.chain(included.iter().map(|name| name.as_str().into()));
        let attributes = (index.projection != Projection::All).then(|| held.collect());
        self.entries.push(IndexLimits {
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
        self.entries
            .iter()
            .map(move |entry| entry.entry_bytes(item, size))
    }

    /// The names of the table's keys.
    pub(super) fn table_keys(&self) -> impl Iterator<Item = &Arc<str>> {
        self.keys.iter().map(|key| &key.attribute.name)
    }

    /// What an attribute must be as a key of the table and of indexes; nothing where it is none.
    pub(super) fn of_key(&self, name: &str) -> impl Iterator<Item = &KeyLimit> {
        let all = self.keys.iter().chain(&self.index_keys);
        all.filter(move |key| key.is(name))
    }

    /// Of each index, in the order of its entries: the attributes without which it does not hold an item, and
    /// those that it holds of one; `None` for all.
    pub(super) fn indexes(
        &self,
    ) -> impl Iterator<Item = (&[Arc<str>], Option<&HashSet<Arc<str>>>)> {
        let entries = self.entries.iter();
        entries.map(|entry| (entry.keys.as_slice(), entry.attributes.as_ref()))
    }

    /// Whether an attribute is a key of the table or of an index.
    pub(super) fn is_key(&self, name: &str) -> bool {
        self.is_table_key(name) || self.index_keys.iter().any(|key| key.is(name))
    }

    /// Whether an attribute is a key of the table itself.
    pub(super) fn is_table_key(&self, name: &str) -> bool {
        self.keys.iter().any(|key| key.is(name))
    }

    /// The values of the table's key.
    pub(super) fn key<'i>(&self, item: &'i Item) -> (Option<&'i Attribute>, Option<&'i Attribute>) {
        let mut values = self.keys.iter().map(|key| item.get(&key.attribute.name));
        (values.next().flatten(), values.next().flatten())
    }

    pub(super) fn has_sort(&self) -> bool {
        self.keys.len() > 1
    }

    pub(super) fn check(&self, item: &Item) -> Result<ItemMeasure, Fault> {
        for key in &self.keys {
            let name = &key.attribute.name;
            match item.get(name) {
                None | Some(Attribute::Null) => {
                    return Err(Fault::new(KEY_NULL, format!("{} is NULL", key.label))
                        .help("leave such rows out with `where`, or use `| default(x)`")
                        .at(name));
                }
                Some(value) => key.check(value)?,
            }
        }
        for key in &self.index_keys {
            if let Some(value) = item.get(&key.attribute.name) {
                key.check(value).map_err(Fault::of_index)?;
            }
        }
        for (name, value) in &item.attributes {
            check_name(name)
                .and_then(|()| check_value(value, 0))
                .map_err(|fault| fault.at(name))?;
        }
        self.measure_item(item)
    }

    /// What an item comes to.
    pub(super) fn measure_item(&self, item: &Item) -> Result<ItemMeasure, Fault> {
        let size = item.size();
        self.measure(size, self.entries(item, size))
    }

    /// What an item of so many bytes comes to, with those of its entry in each index.
    pub(super) fn measure(
        &self,
        size: usize,
        held: impl Iterator<Item = Option<usize>>,
    ) -> Result<ItemMeasure, Fault> {
        if size > MAX_ITEM_BYTES {
            return Err(Fault::new(
                TOO_LARGE,
                format!("the item has {size} bytes; DynamoDB allows {MAX_ITEM_BYTES}"),
            )
            .help("compress large attributes with `oversize`, leave them out with `omit`, or keep them elsewhere and store a link"));
        }
        let mut units = write_units(size);
        let mut with_local = size;
        for (entry, held) in self.entries.iter().zip(held) {
            let Some(held) = held else {
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
                    "the item and its entries in local indexes have {with_local} bytes; DynamoDB allows {MAX_ITEM_BYTES}"
                ),
            )
            .help("project fewer attributes into the local indexes, or make them global ones"));
        }
        Ok(ItemMeasure { size, units })
    }
}

impl KeyLimit {
    fn is(&self, name: &str) -> bool {
        *self.attribute.name == *name
    }

    pub(super) fn check(&self, value: &Attribute) -> Result<(), Fault> {
        let (what, most) = (&self.label, self.max_bytes);
        let bytes = match (self.attribute.key_type, value) {
            (KeyType::S, Attribute::S(text)) => Some(text.len()),
            (KeyType::B, Attribute::B(bytes)) => Some(bytes.len()),
            // A number is never empty and never long.
            (KeyType::N, Attribute::N(_)) => Some(1),
            _ => None,
        };
        let (code, message, help) = match bytes {
            None => {
                let (expected, is) = (self.attribute.key_type.word(), value.type_name());
                (
                    "key-type",
                    format!("{what} is declared as {expected}, but the value is {is}"),
                    "make the value fit with `| string` or `| number`, or declare the key's type in `table`",
                )
            }
            Some(0) => (
                "key-empty",
                format!("{what} is empty"),
                "use `| default(x)`, put literal text before it, or leave such rows out with `where`",
            ),
            Some(bytes) if bytes > most => (
                "key-too-long",
                format!("{what} has {bytes} bytes; DynamoDB allows {most}"),
                "shorten it with `| truncate(n)`, or use another column",
            ),
            Some(_) => return Ok(()),
        };
        Err(Fault::new(code, message)
            .help(help)
            .at(&self.attribute.name))
    }
}

pub(super) fn check_name(name: &str) -> Result<(), Fault> {
    if (1..=MAX_NAME_BYTES).contains(&name.len()) {
        return Ok(());
    }
    Err(Fault::new(
        "attribute-name",
        format!(
            "an attribute's name has {} bytes; DynamoDB allows 1 to {MAX_NAME_BYTES}",
            name.len()
        ),
    )
    .help("keep the document as text with `| string`"))
}

/// Walks a value; `level` counts the lists and maps around it.
pub(super) fn check_value(value: &Attribute, level: usize) -> Result<(), Fault> {
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

/// [`super::to_attribute`] makes the members unique.
fn check_set<T>(members: &[T]) -> Result<(), Fault> {
    if members.is_empty() {
        return Err(Fault::new("set-empty", "a set inside a document is empty")
            .help("DynamoDB has no empty sets; leave it out or make it a list"));
    }
    Ok(())
}
