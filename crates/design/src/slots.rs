//! In which of the indexes a structure stands, where any will do. An index projects attributes by name: each item that stands in it has
//! all of those there that it has itself, copies too, whichever item type they are projected for. That costs writes when they change,
//! reads, since entries are larger, and storage.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use dynafold_format::float;
use dynafold_relational::catalog::{Table, TableName};

use crate::OTHER;
use crate::choose::connected;
use crate::facts::rows;
use crate::path::Path;
use crate::pricing::{PROJECTED, Pricing, read_units};
use crate::structure::{Part, Structure};
use crate::written::{Placed, Wanted};

/// US dollars a month that an exchange between two indexes has to save.
const WORTH: f64 = 0.1;
/// Structures in indexes up to which exchanges of two at once are tried.
const PAIRED: usize = 48;
/// Costs of a structure in an index that are asked for until no further exchange is tried: about a second.
const COSTS: usize = 200_000;

/// The places of structures, exchanged between indexes while that makes these cheaper; with a further index, up to `most`, where that
/// saves more than its stated price. `reads`: those that are served.
pub(crate) fn arranged<'a, 'c>(
    slots: &BTreeMap<usize, usize>,
    structures: &'a [Structure<'c>],
    reads: [&'a [Placed<'a, 'c>]; 2],
    wanted: &'a Wanted,
    pricing: &'a Pricing<'a>,
    most: usize,
) -> BTreeMap<usize, usize> {
    let used = slots.values().max().copied().unwrap_or(0);
    let mut indexes: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); used + 1];
    for (structure, slot) in slots {
        if let Some(members) = indexes.get_mut(*slot) {
            members.insert(*structure);
        }
    }
    let base_table = indexes.remove(0);
    let has_pairs = indexes.iter().map(BTreeSet::len).sum::<usize>() <= PAIRED;
    let arranging = Arranging::new(&indexes, structures, reads, wanted, pricing);
    let clash = |one: &usize, other: &usize| arranging.clash(*one, *other);
    let cost = |members: &BTreeSet<usize>| arranging.cost(members);
    while arranging.asked.get() < COSTS {
        if indexes.len() < most && indexes.iter().all(|members| !members.is_empty()) {
            indexes.push(BTreeSet::new());
        }
        let mut best = best_exchange(&indexes, false, &clash, &cost);
        if best.is_none() && has_pairs {
            best = best_exchange(&indexes, true, &clash, &cost);
        }
        let Some(Exchange { places, .. }) = best else {
            break;
        };
        for (at, members) in places {
            if let Some(place) = indexes.get_mut(at) {
                *place = members;
            }
        }
    }
    indexes.retain(|members| !members.is_empty());
    let places = (1..).zip(indexes);
    let places = places.flat_map(|(slot, members)| members.into_iter().map(move |one| (one, slot)));
    places
        .chain(base_table.into_iter().map(|structure| (structure, 0)))
        .collect()
}

/// An exchange of structures between two indexes.
struct Exchange {
    /// US dollars a month.
    saved: f64,
    /// Both indexes, with what stands in them then.
    places: [(usize, BTreeSet<usize>); 2],
}

/// The exchange between two indexes that saves the most; `None` if none saves [`WORTH`]. Structures that clash cannot stand in one index:
/// they change their places together. `in_pairs`: two structures at once. `cost`: what the structures of one index cost a month there.
fn best_exchange(
    indexes: &[BTreeSet<usize>],
    in_pairs: bool,
    clash: &dyn Fn(&usize, &usize) -> bool,
    cost: &dyn Fn(&BTreeSet<usize>) -> f64,
) -> Option<Exchange> {
    let of_each = |members: &BTreeSet<usize>| -> f64 {
        let each = members.iter().map(|at| cost(&BTreeSet::from([*at])));
        each.sum()
    };
    // What the structures of an index cost each other: no exchange saves more, but for one that makes an index empty.
    let shared = indexes
        .iter()
        .map(|members| cost(members) - of_each(members));
    let shared: Vec<f64> = shared.collect();
    let with_rent =
        |members: &BTreeSet<usize>| cost(members) + if members.is_empty() { 0.0 } else { OTHER };
    let mut best: Option<Exchange> = None;
    let numbered = || indexes.iter().zip(&shared).enumerate();
    for (first, (own, own_shared)) in numbered() {
        for (second, (other, other_shared)) in numbered().skip(first + 1) {
            let least = best.as_ref().map_or(WORTH, |best| best.saved);
            if own_shared + other_shared <= least {
                continue;
            }
            let mut ways = connected(own.union(other).copied(), clash);
            if in_pairs {
                ways = (ways.iter().enumerate())
                    .flat_map(|(at, group)| {
                        let others = ways.iter().skip(at + 1);
                        others.map(move |other| [group.as_slice(), other.as_slice()].concat())
                    })
                    .collect();
            }
            let before = with_rent(own) + with_rent(other);
            for way in ways {
                let moved: BTreeSet<usize> = way.into_iter().collect();
                let exchanged = |one: &BTreeSet<usize>| -> BTreeSet<usize> {
                    one.symmetric_difference(&moved).copied().collect()
                };
                let (one, two) = (exchanged(own), exchanged(other));
                let saved = before - with_rent(&one) - with_rent(&two);
                if saved > best.as_ref().map_or(WORTH, |best| best.saved + 1e-9) {
                    best = Some(Exchange {
                        saved,
                        places: [(first, one), (second, two)],
                    });
                }
            }
        }
    }
    best
}

/// What structures cost in an index, each with the attributes there that its items have; `None` for all.
type Costs = BTreeMap<(usize, Option<BTreeSet<String>>), f64>;

/// What decides where structures stand.
struct Arranging<'a, 'c> {
    structures: &'a [Structure<'c>],
    pricing: &'a Pricing<'a>,
    wanted: &'a Wanted,
    /// The reads that each structure serves.
    reads: BTreeMap<usize, Vec<&'a Placed<'a, 'c>>>,
    /// The item types of each structure.
    tables: BTreeMap<usize, BTreeSet<&'a TableName>>,
    /// The attributes that the items of each structure have.
    attributes: BTreeMap<usize, BTreeSet<&'a String>>,
    /// What is known already.
    costs: RefCell<Costs>,
    /// How often the cost of a structure was asked for.
    asked: Cell<usize>,
}

impl<'a, 'c> Arranging<'a, 'c> {
    fn new(
        indexes: &[BTreeSet<usize>],
        structures: &'a [Structure<'c>],
        reads: [&'a [Placed<'a, 'c>]; 2],
        wanted: &'a Wanted,
        pricing: &'a Pricing<'a>,
    ) -> Self {
        let mut by_structure: BTreeMap<usize, Vec<&Placed<'_, '_>>> = BTreeMap::new();
        for read in reads.into_iter().flatten() {
            by_structure.entry(read.structure).or_default().push(read);
        }
        let mut tables: BTreeMap<usize, BTreeSet<&TableName>> = BTreeMap::new();
        let mut attributes: BTreeMap<usize, BTreeSet<&String>> = BTreeMap::new();
        for at in indexes.iter().flatten() {
            let parts = structures.get(*at).into_iter().flat_map(|one| &one.parts);
            let parts: Vec<&Part<'_>> = parts.collect();
            let names = parts.iter().map(|part| &part.table.name);
            tables.insert(*at, names.collect());
            let own = parts.iter().flat_map(|part| &part.table.columns);
            let copies = parts.iter().flat_map(|part| wanted.copies_in(part.table));
            let names = own.map(|column| &column.name);
            let names = names.chain(copies.map(|(_, attribute)| attribute));
            attributes.insert(*at, names.collect());
        }
        Self {
            structures,
            pricing,
            wanted,
            reads: by_structure,
            tables,
            attributes,
            costs: RefCell::default(),
            asked: Cell::new(0),
        }
    }

    /// Whether two structures have an item type in common: one index has it once.
    fn clash(&self, one: usize, other: usize) -> bool {
        let tables = self.tables.get(&one).zip(self.tables.get(&other));
        tables.is_some_and(|(one, other)| !one.is_disjoint(other))
    }

    /// US dollars a month for structures in one index: their writes, their reads and their storage there.
    fn cost(&self, members: &BTreeSet<usize>) -> f64 {
        let names = members
            .iter()
            .filter_map(|at| self.wanted.attributes.get(at));
        let names: BTreeSet<&String> = names.flatten().collect();
        let names = Some(names).filter(|names| names.len() <= PROJECTED);
        let each = members
            .iter()
            .map(|at| self.structure_cost(*at, names.as_ref()));
        each.fold(0.0, |sum, cost| sum + cost)
    }

    /// The same of one structure in an index that projects these attributes; `None` for all.
    fn structure_cost(&self, structure: usize, names: Option<&BTreeSet<&String>>) -> f64 {
        self.asked.set(self.asked.get() + 1);
        let own = self.attributes.get(&structure);
        let held = names.zip(own).map(|(names, own)| {
            let held = names.intersection(own).copied().cloned();
            held.collect::<BTreeSet<String>>()
        });
        let place = (structure, held);
        let known = self.costs.borrow().get(&place).copied();
        if let Some(cost) = known {
            return cost;
        }
        let cost = self.priced(structure, place.1.as_ref());
        self.costs.borrow_mut().insert(place, cost);
        cost
    }

    fn priced(&self, at: usize, names: Option<&BTreeSet<String>>) -> f64 {
        let Some(structure) = self.structures.get(at) else {
            return 0.0;
        };
        let pricing = self.pricing;
        let (mut written, mut stored) = (0.0, 0.0);
        for part in &structure.parts {
            let share = pricing.share(structure, part);
            let own = pricing.statements(part.table);
            let own = own.map(|write| write.rate * pricing.in_index(structure, part, write, names));
            written += own.sum::<f64>() + self.copied(part.table, names) * share;
            stored += rows(part.table) * share * self.bytes(part.table, names);
        }
        let reads = self.reads.get(&at).into_iter().flatten();
        let read = reads.map(|read| self.units(read, names));
        pricing.usd_writes(written)
            + pricing.usd_reads(read.sum())
            + pricing.prices.storage(stored).unwrap_or_default()
    }

    /// Bytes of an item's entry that holds these attributes.
    fn bytes(&self, table: &Table, names: Option<&BTreeSet<String>>) -> f64 {
        let is_held = |name: &String| names.is_none_or(|names| names.contains(name));
        let own = table.columns.iter().map(|column| &column.name);
        let own = own.filter(|name| is_held(name)).map(|name| Path::own(name));
        let copies = self.wanted.copies_in(table);
        let copies = copies.filter(|(_, attribute)| is_held(attribute));
        let paths: Vec<Path> = own.chain(copies.map(|(path, _)| path.clone())).collect();
        self.pricing.facts.entry(table, paths.iter())
    }

    /// Read units a second of a read of an index that holds these attributes.
    fn units(&self, read: &Placed<'_, '_>, names: Option<&BTreeSet<String>>) -> f64 {
        let ask = read.ask;
        let found = self.pricing.facts.found(ask) * float(ask.items_of_row());
        let children = ask
            .children
            .iter()
            .map(|child| rows(child.table) / rows(ask.root) * self.bytes(child.table, names));
        let bytes = found * self.bytes(ask.root, names) + children.sum::<f64>();
        read_units(bytes) * 0.5 * float(ask.requests) * Pricing::rate(read.statement)
    }

    /// Write units a second that updates of parents cause in an index that holds these attributes of a table's items.
    fn copied(&self, table: &Table, names: Option<&BTreeSet<String>>) -> f64 {
        let copies = self.wanted.copies_in(table);
        let held =
            copies.filter(|(_, attribute)| names.is_none_or(|names| names.contains(attribute)));
        let mut by_parent: BTreeMap<&TableName, BTreeSet<&String>> = BTreeMap::new();
        for (path, _) in held {
            if let Some(step) = path.steps.last() {
                let columns = by_parent.entry(&step.table).or_default();
                columns.insert(&path.column);
            }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_structures_are_exchanged_where_neither_saves_anything_by_itself() {
        // What two structures cost each other in one index.
        let pairs = BTreeMap::from([
            ((0, 1), 3.0),
            ((2, 3), 3.0),
            ((0, 2), 2.2),
            ((1, 3), 2.2),
            ((0, 3), 1.0),
            ((1, 2), 1.0),
        ]);
        let cost = |members: &BTreeSet<usize>| -> f64 {
            let both =
                |(one, other): &(usize, usize)| members.contains(one) && members.contains(other);
            let costs = pairs.iter().filter(|(pair, _)| both(pair));
            costs.map(|(_, cost)| cost).sum()
        };
        let indexes = [BTreeSet::from([0, 1]), BTreeSet::from([2, 3])];
        assert!(best_exchange(&indexes, false, &|_, _| false, &cost).is_none());
        let best = best_exchange(&indexes, true, &|_, _| false, &cost).unwrap();
        assert!((best.saved - 4.0).abs() < 1e-9, "{}", best.saved);
        let mut places = best.places.map(|(_, members)| members);
        places.sort();
        assert_eq!(places, [BTreeSet::from([0, 3]), BTreeSet::from([1, 2])]);
        for in_pairs in [false, true] {
            assert!(best_exchange(&places, in_pairs, &|_, _| false, &cost).is_none());
        }
        // Those that have an item type in common change their places together.
        let clash = |one: &usize, other: &usize| one % 2 == other % 2;
        let best = best_exchange(&indexes, false, &clash, &cost).unwrap();
        let clashing = best.places.iter().any(|(_, members)| {
            let odd = members.iter().filter(|at| *at % 2 == 1).count();
            odd != 1
        });
        assert!(!clashing, "{:?}", best.places);
    }

    #[test]
    fn a_further_index_has_to_save_its_price() {
        let both = BTreeSet::from([0, 1]);
        for (saved, is_better) in [(OTHER + 1.0, true), (OTHER - 1.0, false)] {
            let cost = |members: &BTreeSet<usize>| if *members == both { saved } else { 0.0 };
            let indexes = [both.clone(), BTreeSet::new()];
            let best = best_exchange(&indexes, false, &|_, _| false, &cost);
            assert_eq!(best.is_some(), is_better, "{saved}");
        }
    }
}
