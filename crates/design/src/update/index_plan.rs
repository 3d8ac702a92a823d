//! The additions that a mapping needs for new indexes, or for further item types in existing ones.

use std::collections::{BTreeMap, BTreeSet};

use dynafold_dynamodb::{Index, KeyType, Projection};
use dynafold_format::joined;
use dynafold_relational::catalog::{Table, TableName};

use super::{MappingDraft, copied_attributes, item_additions};
use crate::edit::Addition;
use crate::structure::{Part, Structure};
use crate::writes::Writes;
use crate::written::{IndexNames, Item, Placed, Projected, Writing, within_limit};

/// The indexes to add, and the reads that they serve.
pub(super) struct IndexPlan<'d, 'u> {
    pub(super) draft: &'d MappingDraft<'u>,
    /// The tables that have item types.
    pub(super) known: &'d BTreeSet<TableName>,
    pub(super) reads: &'d [Placed<'d, 'u>],
    pub(super) structures: &'d [Structure<'u>],
    pub(super) slots: &'d BTreeMap<usize, usize>,
    pub(super) writes: &'d BTreeMap<TableName, Writes>,
}

/// What the mapping needs for new indexes.
pub(super) struct IndexAdditions {
    pub(super) additions: Vec<Addition>,
    pub(super) projected: Projected,
    /// The changes for each read, for the report.
    pub(super) changes: Vec<Vec<String>>,
}

impl<'u> IndexPlan<'_, 'u> {
    /// What the mapping needs for indexes of these names.
    pub(super) fn additions(&self, names: &[IndexNames]) -> IndexAdditions {
        let draft = self.draft;
        let writing = draft.writing(self.reads, self.structures, self.slots, names, self.writes);
        let before = draft.existing_items();
        let mut items = before.clone();
        let mut projected = Projected::new();
        // The first pass finds the attributes to copy.
        for read in self.reads {
            writing.pattern(read, &mut items, &mut projected);
        }
        let mut pattern = |read: &Placed<'_, 'u>| {
            let lines = writing.pattern(read, &mut items, &mut projected);
            Addition::block("access_patterns", read.name(), lines)
        };
        let patterns: Vec<Addition> = self.reads.iter().map(&mut pattern).collect();
        for (slot, index) in (1_usize..).zip(names) {
            let keys = draft.model.table.key().map(|key| &*key.name);
            let keys: Vec<&str> = keys.chain([&*index.partition, &*index.sort]).collect();
            if let Some(Some(names)) = projected.get_mut(&slot) {
                names.retain(|name| !keys.contains(&name.as_str()));
            }
        }
        let indexes = draft.model.table.indexes.iter();
        let named = indexes.map(|index| index.projection.service_words().1.len());
        within_limit(&mut projected, named.sum());
        let mut additions: Vec<Addition> = Vec::new();
        let within = ["table", "indexes"];
        for (slot, index) in (1..).zip(names).filter(|(_, index)| !index.is_shared) {
            let (entry, reads) = writing.index_entry(slot, &projected);
            additions.push(Addition::line(&within, &index.name, entry, reads));
        }
        let new_tables = self.add_keys(&writing, &mut items, &mut additions);
        for table in new_tables {
            let item = items.entry(table.name.clone()).or_default();
            let lines = writing.item(table, item).trim_end().to_owned();
            let name = draft.names.item_type(&table.name);
            additions.push(Addition::block("items", name, lines));
        }
        additions.extend(item_additions(&writing, &before, &mut items));
        additions.extend(patterns);
        let existing = draft.existing();
        let changes = self.reads.iter().map(|read| {
            let mut changes = self.changes(read, names);
            changes.extend(copied_attributes(
                &writing,
                existing,
                &before,
                &items,
                read.name(),
            ));
            changes
        });
        IndexAdditions {
            changes: changes.collect(),
            additions,
            projected,
        }
    }

    /// Adds keys in the indexes to existing item types. Returns the tables that need a new item type.
    fn add_keys(
        &self,
        writing: &Writing<'_, 'u>,
        items: &mut BTreeMap<TableName, Item>,
        additions: &mut Vec<Addition>,
    ) -> Vec<&'u Table> {
        let names = &self.draft.names;
        let mut new_tables: Vec<&'u Table> = Vec::new();
        for (at, slot) in self.slots {
            for (place, part) in self.parts(*at).enumerate() {
                let table = &part.table.name;
                if !self.known.contains(table) {
                    if !new_tables.iter().any(|known| known.name == *table) {
                        new_tables.push(part.table);
                    }
                    continue;
                }
                let item = items.entry(table.clone()).or_default();
                let key = writing.index_key(part.table, item, *slot, (*at, place));
                let Some((value, sort_value, when)) = key else {
                    continue;
                };
                let within = ["items", names.item_type(table), "attributes"];
                let (partition, sort) = writing.key_names(*slot);
                let value = match when {
                    Some(when) => format!("{{ $value: {value}, $when: {when} }}"),
                    None => value,
                };
                let reads = self.reads_of(*at);
                additions.push(Addition::line(&within, &partition, value, reads));
                additions.push(Addition::line(&within, &sort, sort_value, String::new()));
            }
        }
        new_tables
    }

    fn parts(&self, structure: usize) -> impl Iterator<Item = &Part<'u>> {
        let structure = self.structures.get(structure).into_iter();
        structure.flat_map(|one| &one.parts)
    }

    /// The reads that a structure serves.
    fn reads_of(&self, at: usize) -> String {
        let reads = self.reads.iter().filter(|read| read.structure == at);
        joined(reads.map(Placed::name), ", ")
    }

    /// What is added for a read, in words, except attributes.
    fn changes(&self, read: &Placed<'_, 'u>, names: &[IndexNames]) -> Vec<String> {
        let tables = self.parts(read.structure).map(|part| &part.table.name);
        let types = tables.map(|table| (table, self.draft.names.item_type(table)));
        let types: Vec<(&TableName, &str)> = types.collect();
        let new = types
            .iter()
            .filter(|(table, _)| !self.known.contains(table));
        let mut changes: Vec<String> = new
            .map(|(_, name)| format!("the item type {name}"))
            .collect();
        let slot = self.slots.get(&read.structure).copied().unwrap_or(0);
        let index = slot.checked_sub(1).and_then(|at| names.get(at));
        match index {
            Some(index) if index.is_shared => {
                let types = joined(types.iter().map(|(_, name)| *name), " and ");
                changes.push(format!("{types} in the index {}", index.name));
            }
            Some(index) => changes.push(format!("the index {}", index.name)),
            None => {}
        }
        let place = index.map_or("the table", |index| &index.name);
        changes.push(format!("an access pattern on {place}"));
        changes
    }

    /// These names, with existing indexes in place of new ones where possible: none of the item types has a key there yet, and the
    /// index projects everything that is read. `None` if no existing index can be used.
    pub(super) fn in_existing_indexes(
        &self,
        new: &[IndexNames],
        projected: &Projected,
    ) -> Option<Vec<IndexNames>> {
        let model = &self.draft.model;
        let whole = self.draft.existing().whole();
        let mut names = new.to_vec();
        let mut taken: Vec<&str> = Vec::new();
        for (slot, own) in (1_usize..).zip(&mut names) {
            let here = self.slots.iter().filter(|(_, at)| **at == slot);
            let parts = here.flat_map(|(structure, _)| self.parts(*structure));
            let tables: Vec<&TableName> = parts.map(|part| &part.table.name).collect();
            let fits = |index: &Index| {
                let ([partition], [sort]) = (&*index.partition, &*index.sort) else {
                    return false;
                };
                let is_text = partition.key_type == KeyType::S && sort.key_type == KeyType::S;
                let mut items = whole.iter().filter(|one| tables.contains(&&one.table.name));
                let is_free = items.all(|one| {
                    let mut keys = [partition, sort].into_iter();
                    one.item.spreads.is_empty()
                        && keys.all(|key| one.item.node(&key.name).is_none())
                });
                let holds_all = match projected.get(&slot) {
                    Some(Some(names)) => names.iter().all(|name| model.table.projects(index, name)),
                    _ => index.projection == Projection::All,
                };
                is_text && is_free && holds_all
            };
            let mut indexes = model.table.indexes.iter();
            let index = indexes.find(|index| !taken.contains(&&*index.name) && fits(index));
            if let Some(index) = index {
                taken.push(&index.name);
                *own = IndexNames {
                    name: index.name.clone(),
                    partition: index.partition.first()?.name.to_string(),
                    sort: index.sort.first()?.name.to_string(),
                    is_shared: true,
                };
            }
        }
        (!taken.is_empty()).then_some(names)
    }
}
