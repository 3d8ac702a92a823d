//! One call's two answers, held against each other: the items of each type against what the rows say
//! of them, as bags or in the order that the SQL asks for. Every row and every item is accounted for.

use std::collections::{HashMap, HashSet, hash_map};
use std::sync::Arc;

use dynafold_dynamodb::{Attribute, Item, Table, write_attribute};
use dynafold_mapping::item::Folder;
use dynafold_relational::value::Value;
use dynafold_source::Row;

use super::expected::{Certainty, Expected};
use super::projection::Projection;
use super::report::{Example, ExampleKind};
use crate::load::Owners;

/// What both answers are held against.
pub(super) struct Judge<'a> {
    pub(super) projections: &'a [Projection],
    pub(super) owners: Option<&'a Owners>,
    pub(super) folder: &'a Folder,
    pub(super) table: &'a Table,
    /// The columns that the SQL orders by; `None` where it promises no order. A key that is no
    /// column is missing from the list.
    pub(super) order: Option<Order>,
}

/// What a query is ordered by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Order {
    pub(super) columns: Vec<usize>,
    /// Whether it is ordered by columns alone, so that rows that are equal under it can be told.
    pub(super) is_known: bool,
}

/// What the comparison of a call found.
#[derive(Debug, Default)]
pub(super) struct Judged {
    pub(super) examples: Vec<Example>,
    pub(super) unheld: Unheld,
}

/// Rows and items that no comparison accounts for.
#[derive(Debug, Default)]
pub(super) struct Unheld {
    /// Rows of which no item type has an item, or not for sure.
    pub(super) left_out: usize,
    /// Rows that say nothing which another row does not say too, where the SQL may well mean one item by
    /// several rows.
    pub(super) repeated: usize,
    /// Items that may be those of rows whose keys do not tell.
    pub(super) undecided: usize,
}

/// What the rows of a call say of the items of a type.
#[derive(Default)]
struct Said<'r> {
    /// Each item once.
    entries: Vec<Entry<'r>>,
    /// What rows say, by their numbers, of whom it is not told whether, or by what, they have an item.
    unsure: Vec<(usize, Expected)>,
}

/// An entry of what a type should answer.
struct Entry<'r> {
    expected: Expected,
    /// The row from which it was first made.
    row: &'r Row,
    /// The numbers of all rows that say it.
    rows: Vec<usize>,
}

impl Said<'_> {
    /// Whether an item may be that of a row that does not tell its item.
    fn may_be(&self, projection: &Projection, item: &Item) -> bool {
        let mut unsure = self.unsure.iter();
        unsure.any(|(_, expected)| projection.differences(expected, item).is_empty())
    }
}

impl Judge<'_> {
    /// Compares. `may`: for each projection, which rows may be of it.
    pub(super) fn judge(&self, rows: &[Row], may: &[Vec<Option<bool>>], items: &[Item]) -> Judged {
        let mut judged = Judged::default();
        let mut said: Vec<Said<'_>> = Vec::new();
        let mut has_item = vec![false; rows.len()];
        let mut untold = vec![false; rows.len()];
        for (at, projection) in self.projections.iter().enumerate() {
            let may = may.get(at).map_or(&[][..], Vec::as_slice);
            said.push(self.said(projection, rows, may, &mut has_item, &mut untold));
        }
        let mut of_type: Vec<Vec<&Item>> = vec![Vec::new(); self.projections.len()];
        for item in items {
            let owner = self.owner(item, &said);
            let is_own =
                |(projection, said): (&Projection, &Said<'_>)| said.may_be(projection, item);
            match owner.and_then(|owner| of_type.get_mut(owner)) {
                Some(own) => own.push(item),
                None if self.projections.iter().zip(&said).any(is_own) => {
                    judged.unheld.undecided += 1;
                }
                None => judged
                    .examples
                    .push(self.of_item(ExampleKind::Extra, None, item)),
            }
        }
        for ((projection, said), found) in self.projections.iter().zip(&said).zip(&of_type) {
            self.compare(projection, said, found, &mut judged);
        }
        self.repetitions(rows, &said, &mut judged);
        let is_left = |(has, untold): &(&bool, &bool)| !**has || **untold;
        judged.unheld.left_out = has_item.iter().zip(&untold).filter(is_left).count();
        // Of types that share a relation each row is of one at least: their `where` forgets it.
        if may.iter().any(|may| may.contains(&Some(false))) {
            let forgotten = rows.iter().zip(&has_item).enumerate();
            for (number, _) in forgotten.filter(|(_, (_, has))| !**has) {
                let of = |wanted| may.iter().any(|may| may.get(number) == Some(&wanted));
                if of(Some(false)) && !of(None) {
                    judged.unheld.left_out -= 1;
                    let key = format!("row {} of the SQL, which no item type takes", number + 1);
                    let missing = Example::new(ExampleKind::Missing, None, key);
                    judged.examples.push(missing);
                }
            }
        }
        judged
    }

    /// Answers are bags: a row that the SQL gives twice, and the table once, is a difference. Of a join that
    /// answers with several item types each row says something that no other says. Rows that are alike but for keys
    /// that hold NULL may be of several source rows.
    fn repetitions(&self, rows: &[Row], said: &[Said<'_>], judged: &mut Judged) {
        let mut shared: HashMap<usize, (&Projection, &Entry<'_>)> = HashMap::new();
        let mut own = HashSet::new();
        let mut unsure = HashSet::new();
        for (projection, said) in self.projections.iter().zip(said) {
            unsure.extend(said.unsure.iter().map(|(number, _)| *number));
            for entry in &said.entries {
                match entry.rows.as_slice() {
                    [only] => {
                        own.insert(*only);
                    }
                    several => {
                        for row in several.iter().skip(1) {
                            shared.entry(*row).or_insert((projection, entry));
                        }
                    }
                }
            }
        }
        let mut seen = HashSet::new();
        for (number, row) in rows.iter().enumerate() {
            let is_again = !seen.insert(format!("{row:?}"));
            let Some((projection, entry)) = shared.get(&number).filter(|_| !own.contains(&number))
            else {
                continue;
            };
            let is_one = self.projections.len() == 1 && !projection.has_children;
            if is_one || is_again && !unsure.contains(&number) {
                let (name, key) = (Some(&*projection.name), projection.shown(entry.row));
                let repeated = Example::new(ExampleKind::Repeated, name, key);
                judged.examples.push(repeated);
            } else {
                judged.unheld.repeated += 1;
            }
        }
    }

    /// What the rows say of the items of a type.
    fn said<'r>(
        &self,
        projection: &Projection,
        rows: &'r [Row],
        may: &[Option<bool>],
        has_item: &mut [bool],
        untold: &mut [bool],
    ) -> Said<'r> {
        let Said {
            mut entries,
            mut unsure,
        } = Said::default();
        let mut seen: HashMap<(Option<String>, String), usize> = HashMap::new();
        for (number, row) in rows.iter().enumerate() {
            let expected = projection.expect(row, self.folder);
            let may = may.get(number).copied().flatten();
            let Some(expected) = expected.filter(|_| may != Some(false)) else {
                continue;
            };
            if may.is_none() || expected.certainty != Certainty::Sure {
                if let Some(untold) = untold.get_mut(number) {
                    *untold |= expected.certainty != Certainty::Perhaps;
                }
                unsure.push((number, expected));
                continue;
            }
            if let Some(has) = has_item.get_mut(number) {
                *has = true;
            }
            // Rows of which no item can be made are told by their own keys.
            let without = expected.identity.is_none();
            let own = without.then(|| projection.shown(row));
            match seen.entry((own, format!("{expected:?}"))) {
                hash_map::Entry::Occupied(known) => {
                    if let Some(entry) = entries.get_mut(*known.get()) {
                        entry.rows.push(number);
                    }
                }
                hash_map::Entry::Vacant(place) => {
                    place.insert(entries.len());
                    let rows = vec![number];
                    entries.push(Entry {
                        expected,
                        row,
                        rows,
                    });
                }
            }
        }
        Said { entries, unsure }
    }

    /// The type of an item: the only one, the one whose mark it bears, or the one whose key it has.
    fn owner(&self, item: &Item, said: &[Said<'_>]) -> Option<usize> {
        if self.projections.len() == 1 {
            return Some(0);
        }
        let marked = self.owners.and_then(|owners| owners.owner(item));
        if marked.is_some() {
            return marked;
        }
        let mut types = self.projections.iter().zip(said);
        types.position(|(projection, said)| {
            let identity = projection.identity(item);
            projection.may_own(item)
                && identity.is_some()
                && said
                    .entries
                    .iter()
                    .any(|entry| entry.expected.identity == identity)
        })
    }

    fn compare(
        &self,
        projection: &Projection,
        said: &Said<'_>,
        found: &[&Item],
        judged: &mut Judged,
    ) {
        let entries = &said.entries;
        let mut examples = Vec::new();
        let mut by_identity: HashMap<String, usize> = HashMap::new();
        let mut extra: Vec<usize> = Vec::new();
        for (at, item) in found.iter().enumerate() {
            let identity = projection.identity(item);
            match identity.map(|identity| by_identity.entry(identity)) {
                Some(hash_map::Entry::Vacant(fresh)) => {
                    fresh.insert(at);
                }
                _ => extra.push(at),
            }
        }
        let mut matched = HashSet::new();
        for entry in entries {
            let identity = entry.expected.identity.as_ref();
            let Some(at) = identity.and_then(|identity| by_identity.get(identity)) else {
                let (name, key) = (Some(&*projection.name), projection.shown(entry.row));
                examples.push(Example::new(ExampleKind::Missing, name, key));
                continue;
            };
            matched.insert(*at);
            let Some(item) = found.get(*at) else { continue };
            let attributes = projection.differences(&entry.expected, item);
            if !attributes.is_empty() {
                let name = Some(&projection.name);
                let mut example = self.of_item(ExampleKind::Differs, name, item);
                example.attributes = attributes;
                examples.push(example);
            }
        }
        extra.extend((0..found.len()).filter(|at| !matched.contains(at)));
        extra.sort_unstable();
        extra.dedup();
        let mut is_whole = extra.is_empty();
        for item in extra.iter().filter_map(|at| found.get(*at)) {
            if said.may_be(projection, item) {
                judged.unheld.undecided += 1;
            } else {
                examples.push(self.of_item(ExampleKind::Extra, Some(&projection.name), item));
            }
        }
        is_whole &= examples
            .iter()
            .all(|example| example.kind == ExampleKind::Differs);
        if let Some(order) = self.order.as_ref().filter(|_| is_whole)
            && let Some(at) = disorder(order, projection, entries, found)
            && let Some(item) = found.get(at)
        {
            examples.push(self.of_item(ExampleKind::Order, Some(&projection.name), item));
        }
        judged.examples.extend(examples);
    }

    fn of_item(&self, kind: ExampleKind, item_type: Option<&Arc<str>>, item: &Item) -> Example {
        let key = self.table.key().map(|key| match item.get(&key.name) {
            Some(Attribute::S(text)) => format!("{text:?}"),
            Some(other) => {
                let mut text = String::new();
                write_attribute(&mut text, other);
                text
            }
            None => "?".to_owned(),
        });
        let key = key.collect::<Vec<_>>().join(", ");
        Example::new(kind, item_type.map(|name| &**name), key)
    }
}

/// The first item that stands where the SQL's order does not have it. Items whose rows are equal under
/// that order may stand in any order among themselves.
fn disorder(
    order: &Order,
    projection: &Projection,
    entries: &[Entry<'_>],
    found: &[&Item],
) -> Option<usize> {
    let sorted_by = |row: &Row| -> Vec<Value> {
        let values = order.columns.iter().filter_map(|column| row.get(*column));
        values.cloned().collect()
    };
    let mut seen = HashSet::new();
    let mut at = 0;
    let mut rest = entries
        .iter()
        .filter(|entry| seen.insert(entry.expected.identity.clone()))
        .peekable();
    while let Some(first) = rest.next() {
        let mut run: HashSet<&str> = first.expected.identity.as_deref().into_iter().collect();
        if order.is_known {
            let values = sorted_by(first.row);
            while let Some(next) = rest.next_if(|next| sorted_by(next.row) == values) {
                run.extend(next.expected.identity.as_deref());
            }
        }
        for place in at..at + run.len() {
            let identity = found.get(place).and_then(|item| projection.identity(item));
            if identity.is_none_or(|identity| !run.contains(identity.as_str())) {
                return Some(place.min(found.len().saturating_sub(1)));
            }
        }
        at += run.len();
    }
    None
}
