//! In which of the indexes a structure stands, where any will do. An index projects attributes by name: an update of one that it
//! projects for one item type is written in it for every item type that has an attribute of that name, also a copy.

use std::collections::{BTreeMap, BTreeSet};

use dynafold_relational::catalog::{Table, TableName};

use crate::OTHER;
use crate::ask::Ask;
use crate::choose::connected;
use crate::facts::rows;
use crate::path::{Path, Step};
use crate::pricing::{PROJECTED, Pricing};
use crate::structure::{Part, Structure};

/// The places of structures, moved and exchanged between indexes while that makes writes cheaper; to a further index up to so many,
/// where that saves more than its stated price. `reads`: those that are served, each with its structure.
pub(crate) fn arranged<'a, 'c: 'a>(
    slots: &BTreeMap<usize, usize>,
    structures: &[Structure<'_>],
    reads: impl Iterator<Item = (usize, &'a Ask<'c>)>,
    pricing: &Pricing<'_>,
    most: usize,
) -> BTreeMap<usize, usize> {
    let mut arranging = Arranging {
        structures,
        pricing,
        held: BTreeMap::new(),
        copies: BTreeMap::new(),
        ways: BTreeMap::new(),
    };
    let reads: Vec<(usize, &Ask<'_>)> = reads.collect();
    for (_, ask) in &reads {
        for (table, outputs) in ask.types() {
            for (path, _) in outputs {
                let place = (table.name.clone(), path.column.clone());
                let ways = arranging.ways.entry(place).or_default();
                ways.insert(path.steps.clone());
            }
        }
    }
    for (structure, ask) in reads {
        arranging.add(structure, ask);
    }
    let used = slots.values().max().copied().unwrap_or(0);
    let mut indexes: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); used + 1];
    for (structure, slot) in slots {
        if let Some(members) = indexes.get_mut(*slot) {
            members.insert(*structure);
        }
    }
    let base_table = indexes.remove(0);
    // Where nothing is written for others, no place is better.
    let in_vain = indexes
        .iter()
        .filter(|members| arranging.is_in_vain(members));
    let movable: Vec<usize> = in_vain.flatten().copied().collect();
    let mut is_better = true;
    for _ in 0..8 {
        if !std::mem::take(&mut is_better) {
            break;
        }
        for structure in &movable {
            is_better |= arranging.improve(&mut indexes, *structure, most);
        }
    }
    indexes.retain(|members| !members.is_empty());
    let places = (1..).zip(indexes);
    let places = places.flat_map(|(slot, members)| members.into_iter().map(move |one| (one, slot)));
    places
        .chain(base_table.into_iter().map(|structure| (structure, 0)))
        .collect()
}

/// What decides where structures stand.
struct Arranging<'d> {
    structures: &'d [Structure<'d>],
    pricing: &'d Pricing<'d>,
    /// The attributes that the reads of each structure want an index to hold.
    held: BTreeMap<usize, BTreeSet<String>>,
    /// The columns of parents of which an item type has copies.
    copies: BTreeMap<TableName, BTreeSet<(TableName, String)>>,
    /// Whose columns of a name an item type has.
    ways: BTreeMap<(TableName, String), BTreeSet<Vec<Step>>>,
}

impl Arranging<'_> {
    /// What the attribute of a column is called in items of a table: a copy otherwise than a column of the table itself, and than a
    /// copy of another parent's column.
    fn attribute(&self, table: &Table, path: &Path) -> String {
        let place = (table.name.clone(), path.column.clone());
        let is_one_of_several = self.ways.get(&place).is_some_and(|ways| ways.len() > 1);
        match path.steps.last() {
            Some(step) if is_one_of_several || table.column(&path.column).is_some() => {
                format!("{}_{}", step.table.name, path.column)
            }
            _ => path.column.clone(),
        }
    }

    fn add(&mut self, structure: usize, ask: &Ask<'_>) {
        let children = ask
            .children
            .iter()
            .map(|child| (child.table, &*child.outputs));
        let types = std::iter::once((ask.root, ask.held())).chain(children);
        let outputs =
            types.flat_map(|(table, outputs)| outputs.iter().map(move |(path, _)| (table, path)));
        let filters = ask.filters.iter().map(|filter| (ask.root, &filter.path));
        let names = outputs
            .chain(filters)
            .map(|(table, path)| self.attribute(table, path));
        let names: BTreeSet<String> = names.collect();
        self.held.entry(structure).or_default().extend(names);
        for (table, outputs) in ask.types() {
            let copies = outputs.iter().filter_map(|(path, _)| {
                let parent = path.steps.last()?.table.clone();
                // It is called otherwise beside a column of its own.
                let is_free = table.column(&path.column).is_none();
                is_free.then(|| (parent, path.column.clone()))
            });
            let known = self.copies.entry(table.name.clone()).or_default();
            known.extend(copies);
        }
    }

    /// Moves a structure to the index in which that makes writes cheapest, in exchange for those that cannot stand beside it.
    fn improve(&self, indexes: &mut Vec<BTreeSet<usize>>, structure: usize, most: usize) -> bool {
        let Some(from) = indexes.iter().position(|one| one.contains(&structure)) else {
            return false;
        };
        if indexes.len() < most && indexes.iter().all(|members| !members.is_empty()) {
            indexes.push(BTreeSet::new());
        }
        let mut best: Option<(f64, usize, [BTreeSet<usize>; 2])> = None;
        for (at, other) in indexes.iter().enumerate().filter(|(at, _)| *at != from) {
            let Some(own) = indexes.get(from) else {
                continue;
            };
            let moved = self.chain(structure, own, other);
            let exchanged =
                |one: &BTreeSet<usize>| one.symmetric_difference(&moved).copied().collect();
            let both = [exchanged(own), exchanged(other)];
            let cost = |[one, other]: [&BTreeSet<usize>; 2]| self.cost(one) + self.cost(other);
            let saved = cost([own, other]) - cost(both.each_ref());
            if saved > best.as_ref().map_or(1e-9, |(most, ..)| *most) {
                best = Some((saved, at, both));
            }
        }
        let is_better = best.is_some();
        if let Some((_, at, [one, other])) = best {
            for (at, members) in [(from, one), (at, other)] {
                if let Some(place) = indexes.get_mut(at) {
                    *place = members;
                }
            }
        }
        is_better
    }

    /// A structure with all those of two indexes that have to change their places with it: one index has an item type once.
    fn chain(
        &self,
        structure: usize,
        one: &BTreeSet<usize>,
        other: &BTreeSet<usize>,
    ) -> BTreeSet<usize> {
        let tables = |at: usize| -> BTreeSet<&TableName> {
            self.parts(at).map(|part| &part.table.name).collect()
        };
        let all = one.union(other).map(|at| (*at, tables(*at)));
        let groups = connected(all, |(_, tables), (_, others)| !tables.is_disjoint(others));
        let mut groups = groups.into_iter();
        let chain = groups.find(|group| group.iter().any(|(at, _)| *at == structure));
        chain.into_iter().flatten().map(|(at, _)| at).collect()
    }

    fn parts(&self, structure: usize) -> impl Iterator<Item = &Part<'_>> {
        let structure = self.structures.get(structure);
        structure.into_iter().flat_map(|one| &one.parts)
    }

    /// US dollars a month for the writes of an index with these structures, and what it has to save.
    fn cost(&self, members: &BTreeSet<usize>) -> f64 {
        if members.is_empty() {
            return 0.0;
        }
        let names = self.names(members);
        let units = members.iter().map(|at| self.units(*at, &names));
        let units = units.fold(0.0, |sum, units| sum + units);
        self.pricing.usd_writes(units) + OTHER
    }

    /// Whether a structure is written for what others project.
    fn is_in_vain(&self, members: &BTreeSet<usize>) -> bool {
        let names = self.names(members);
        members.iter().any(|at| {
            let own = self.names(&BTreeSet::from([*at]));
            self.units(*at, &names) > self.units(*at, &own) + 1e-9
        })
    }

    fn names(&self, members: &BTreeSet<usize>) -> BTreeSet<String> {
        let held = members.iter().filter_map(|at| self.held.get(at));
        held.flatten().cloned().collect()
    }

    /// Write units a second of a structure in an index that projects these attributes.
    fn units(&self, structure: usize, names: &BTreeSet<String>) -> f64 {
        let Some(structure) = self.structures.get(structure) else {
            return 0.0;
        };
        let names = Some(names).filter(|names| names.len() <= PROJECTED);
        let parts = structure.parts.iter().map(|part| {
            let own = self.pricing.statements(part.table);
            let own =
                own.map(|write| write.rate * self.pricing.in_index(structure, part, write, names));
            let copied = self.copied(part.table, names);
            own.sum::<f64>() + copied * self.pricing.share(structure, part)
        });
        parts.sum()
    }

    /// Write units a second that updates of parents cause in an index that holds these attributes of a table's items.
    fn copied(&self, table: &Table, names: Option<&BTreeSet<String>>) -> f64 {
        let copies = self.copies.get(&table.name).into_iter().flatten();
        let held = copies.filter(|(_, column)| names.is_none_or(|names| names.contains(column)));
        let mut by_parent: BTreeMap<&TableName, BTreeSet<&String>> = BTreeMap::new();
        for (parent, column) in held {
            by_parent.entry(parent).or_default().insert(column);
        }
        let units = by_parent.into_iter().filter_map(|(parent, columns)| {
            let parent = self.pricing.facts.catalog.table(parent)?;
            let each = (rows(table) / rows(parent)).max(1.0);
            let writes = self.pricing.statements(parent);
            let writes = writes.filter(|write| {
                let mut set = write.columns.iter();
                set.any(|column| columns.contains(column))
            });
            Some(each * writes.map(|write| write.rate).sum::<f64>())
        });
        units.sum()
    }
}
