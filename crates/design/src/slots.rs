//! In which of its indexes a structure stands, where any will do. An index projects attributes by name: an update of one that it
//! projects for one item type is written in it for every item type that has an attribute of that name.

use std::collections::{BTreeMap, BTreeSet};

use dynafold_relational::catalog::TableName;

use crate::ask::Ask;
use crate::pricing::{PROJECTED, Pricing};
use crate::structure::Structure;

/// The places of structures, exchanged between indexes while that makes updates cheaper. `reads`: those that are served, each
/// with its structure.
pub(crate) fn arranged<'a, 'c: 'a>(
    slots: BTreeMap<usize, usize>,
    structures: &[Structure<'_>],
    reads: impl Iterator<Item = (usize, &'a Ask<'c>)>,
    pricing: &Pricing<'_>,
) -> BTreeMap<usize, usize> {
    let mut held: BTreeMap<usize, Held> = BTreeMap::new();
    for (structure, ask) in reads {
        held.entry(structure).or_default().add(ask);
    }
    // Write units a second for what other structures in the same index project.
    let in_vain = |slots: &BTreeMap<usize, usize>| {
        let mut by_slot: BTreeMap<usize, Held> = BTreeMap::new();
        for (structure, slot) in slots {
            if let Some(own) = held.get(structure) {
                by_slot.entry(*slot).or_default().join(own);
            }
        }
        let mut sum = 0.0;
        for (at, slot) in slots.iter().filter(|(_, slot)| **slot > 0) {
            let (Some(structure), Some(own), Some(all)) =
                (structures.get(*at), held.get(at), by_slot.get(slot))
            else {
                continue;
            };
            for part in &structure.parts {
                for write in pricing.statements(part.table) {
                    let units = [all, own]
                        .map(|held| pricing.in_index(structure, part, write, held.names(), 0.0));
                    sum += write.rate * (units[0] - units[1]).max(0.0);
                }
            }
        }
        sum
    };
    let mut least = in_vain(&slots);
    if least <= 0.0 {
        return slots;
    }
    let most = slots.values().max().copied().unwrap_or(0);
    let groups = groups(&slots, structures);
    let mut best = slots;
    for _ in 0..4 {
        let before = least;
        for group in &groups {
            for (one, other) in (1..=most).flat_map(|one| (1..one).map(move |other| (one, other))) {
                let mut tried = best.clone();
                for (at, slot) in &mut tried {
                    if group.contains(at) {
                        *slot = match *slot {
                            slot if slot == one => other,
                            slot if slot == other => one,
                            slot => slot,
                        };
                    }
                }
                let found = in_vain(&tried);
                if found < least - 1e-9 {
                    (best, least) = (tried, found);
                }
            }
        }
        if least >= before {
            break;
        }
    }
    best
}

/// What reads want an index to hold.
#[derive(Debug, Clone, Default)]
struct Held {
    columns: BTreeSet<String>,
    is_whole: bool,
}

impl Held {
    fn add(&mut self, ask: &Ask<'_>) {
        let children = ask.children.iter().flat_map(|child| &child.outputs);
        let outputs = ask.held().iter().chain(children).map(|(path, _)| path);
        let filters = ask.filters.iter().map(|filter| &filter.path);
        let names = outputs.chain(filters).map(|path| path.column.clone());
        self.columns.extend(names);
        self.is_whole |= self.columns.len() > PROJECTED;
    }

    fn join(&mut self, other: &Self) {
        self.columns.extend(other.columns.iter().cloned());
        self.is_whole |= other.is_whole || self.columns.len() > PROJECTED;
    }

    /// Their names; `None` for all.
    fn names(&self) -> Option<&BTreeSet<String>> {
        (!self.is_whole).then_some(&self.columns)
    }
}

/// Structures in indexes that have item types in common, by way of others too: they stand in different ones.
fn groups(slots: &BTreeMap<usize, usize>, structures: &[Structure<'_>]) -> Vec<BTreeSet<usize>> {
    let mut found: Vec<(BTreeSet<&TableName>, BTreeSet<usize>)> = Vec::new();
    for at in slots
        .iter()
        .filter(|(_, slot)| **slot > 0)
        .map(|(at, _)| at)
    {
        let parts = structures.get(*at).into_iter().flat_map(|one| &one.parts);
        let mut tables: BTreeSet<&TableName> = parts.map(|part| &part.table.name).collect();
        let mut group = BTreeSet::from([*at]);
        found.retain(|(others, members)| {
            let is_apart = others.is_disjoint(&tables);
            if !is_apart {
                tables.extend(others.iter().copied());
                group.extend(members.iter().copied());
            }
            is_apart
        });
        found.push((tables, group));
    }
    found.into_iter().map(|(_, group)| group).collect()
}
