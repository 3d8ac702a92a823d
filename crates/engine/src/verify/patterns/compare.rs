//! One call's two answers, held against each other: the items of each type against what the rows say
//! of them, as bags or in the order that the SQL asks for. Every row and every item is accounted for.

use std::collections::{BTreeSet, HashMap, HashSet, hash_map};
use std::sync::Arc;

use dynafold_dynamodb::{Attribute, Item, attribute_json};
use dynafold_format::whole;
use dynafold_mapping::item::Folder;
use dynafold_mapping::model::{Expired, Model};
use dynafold_relational::value::Value;
use dynafold_source::Row;

use super::projection::{Certainty, ExpectedItem, ItemProjection};
use super::report::{Example, ExampleKind};
use crate::load::{ItemTypeMarks, may_be_deleted};

/// Compares the answer of the SQL with the answer of the table.
pub(super) struct AnswerComparer<'a> {
    pub(super) projections: &'a [ItemProjection<'a>],
    pub(super) owners: Option<&'a ItemTypeMarks>,
    pub(super) folder: &'a Folder,
    pub(super) model: &'a Model,
    /// What tells all item types of the mapping apart; `None` where nothing does.
    pub(super) marks: Option<&'a ItemTypeMarks>,
    /// The columns that the SQL orders by; `None` where it promises no order. A key that is no
    /// column is missing from the list.
    pub(super) order: Option<QueryOrder>,
    /// Whether the table deletes what has expired.
    pub(super) expires: bool,
    /// Whether the SQL or the pattern has a limit: other items take the places of those that are deleted.
    pub(super) limited: bool,
    /// The limit of the SQL, where its order leaves rows equal, of which it may answer any; 0 where it is not known.
    pub(super) cut: Option<u64>,
}

/// What a query is ordered by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct QueryOrder {
    pub(super) columns: Vec<usize>,
    /// Whether it is ordered by columns alone, so that rows that are equal under it can be told.
    pub(super) is_known: bool,
}

impl QueryOrder {
    fn values(&self, row: &Row) -> Vec<Value> {
        let values = self.columns.iter().filter_map(|column| row.get(*column));
        values.cloned().collect()
    }
}

/// Rows and items that no comparison accounts for.
#[derive(Debug, Default)]
pub(super) struct Unaccounted {
    /// Rows of which no item type has an item, or not for sure.
    pub(super) left_out: usize,
    /// Rows that say nothing which another row does not say too, where the SQL may well mean one item by
    /// several rows.
    pub(super) repeated: usize,
    /// Items that may be those of rows whose keys do not tell.
    pub(super) undecided: usize,
    /// Rows whose items have expired and are not in the table any more.
    pub(super) gone: usize,
    /// Rows without an item that do not tell whether it has expired, and items that a limit let in for such as have.
    pub(super) perhaps_expired: usize,
    /// Columns that have a value, or NULL, in a row whose items do not hold it.
    pub(super) lost: BTreeSet<usize>,
    /// Rows in whose places a limit may let in others, since they are equal under the order, and items that it let in.
    pub(super) tied: usize,
}

impl Unaccounted {
    /// Why equal answers prove nothing. `rows`: of all answers of the SQL.
    pub(super) fn doubts(&self, rows: usize) -> Vec<String> {
        let doubts = [
            (
                self.repeated,
                "make only items that other rows make too, such as rows that share a key",
            ),
            (
                self.gone,
                "have items that would have expired and that the answer lacks: the load leaves such items out, or DynamoDB has deleted them",
            ),
        ];
        let doubts = doubts.into_iter().filter(|(of, _)| *of > 0);
        doubts
            .map(|(of, why)| format!("{of} of {rows} rows of its SQL {why}"))
            .collect()
    }
}

/// Whether the table may have deleted the item of a row because it has expired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Deleted {
    No,
    Yes,
    Untold,
}

/// What the rows of a call say of the items of a type.
struct ExpectedAnswer<'r> {
    projection: &'r ItemProjection<'r>,
    /// Each item once.
    entries: Vec<ExpectedEntry<'r>>,
    /// What rows say, by their numbers, of whom it is not told whether, or by what, they have an item.
    unsure: Vec<(usize, ExpectedItem)>,
    /// The items of the type in the answer.
    found: Vec<&'r Item>,
}

/// An entry of what a type should answer.
struct ExpectedEntry<'r> {
    expected: ExpectedItem,
    /// The row from which it was first made.
    row: &'r Row,
    /// The numbers of all rows that say it.
    rows: Vec<usize>,
}

impl ExpectedAnswer<'_> {
    /// Whether an item may be that of a row that does not tell its item.
    fn may_be(&self, item: &Item) -> bool {
        let mut unsure = self.unsure.iter();
        unsure.any(|(_, expected)| self.projection.differences(expected, item).is_empty())
    }
}

/// What is known of each value of the rows, row after row: whether its column belongs to an item type of the row's items, or
/// is compared with an attribute of them, and whether these hold it.
#[derive(Debug)]
struct HeldValues<'r> {
    rows: &'r [Row],
    columns: usize,
    values: Vec<HeldValue>,
}

#[derive(Debug, Clone, Copy, Default)]
struct HeldValue {
    is_taken: bool,
    is_compared: bool,
    is_held: bool,
}

/// Enters what is known of the values of some columns.
fn mark(
    values: &mut [HeldValue],
    columns: impl IntoIterator<Item = usize>,
    of: fn(&mut HeldValue) -> &mut bool,
) {
    for at in columns {
        if let Some(value) = values.get_mut(at) {
            *of(value) = true;
        }
    }
}

impl<'r> HeldValues<'r> {
    fn of(rows: &'r [Row]) -> Self {
        let columns = rows.iter().map(|row| row.len()).max().unwrap_or(0);
        Self {
            rows,
            columns,
            values: vec![HeldValue::default(); rows.len() * columns],
        }
    }

    fn of_row(&mut self, number: usize) -> &mut [HeldValue] {
        let from = number * self.columns;
        self.values
            .get_mut(from..from + self.columns)
            .unwrap_or_default()
    }

    /// Adds what the item of some rows holds.
    fn add(
        &mut self,
        projection: &ItemProjection<'_>,
        entry: &ExpectedEntry<'_>,
        found: Option<&Item>,
        folder: &Folder,
    ) {
        for number in &entry.rows {
            let Some(row) = self.rows.get(*number) else {
                continue;
            };
            let values = self.of_row(*number);
            let recovered = projection.recovered_columns(row, &entry.expected, found, folder);
            let compared = projection.compared_columns();
            mark(values, projection.related_columns(), |it| &mut it.is_taken);
            mark(values, compared, |it| &mut it.is_compared);
            mark(values, recovered, |it| &mut it.is_held);
        }
    }

    /// The columns that have a value in a row whose items do not hold it. NULL counts if the attribute that it is compared
    /// with has a value.
    fn lost(&self) -> BTreeSet<usize> {
        let values = self.values.chunks(self.columns.max(1)).zip(self.rows);
        let values = values.flat_map(|(known, row)| known.iter().zip(row).enumerate());
        let lost = values.filter(|(_, (known, value))| {
            known.is_taken && !known.is_held && (known.is_compared || !value.is_null())
        });
        lost.map(|(at, _)| at).collect()
    }
}

impl AnswerComparer<'_> {
    /// Compares the two answers to a call. Returns the differences, and counts in `unaccounted` what could not be compared.
    /// `row_types`: for each projection, which rows are of it; `None` where the row does not show it.
    pub(super) fn compare_answers(
        &self,
        rows: &[Row],
        row_types: &[Vec<Option<bool>>],
        items: &[Item],
        unaccounted: &mut Unaccounted,
    ) -> Vec<Example> {
        let mut examples = Vec::new();
        let types = self.projections.iter().zip(row_types);
        let mut answers: Vec<ExpectedAnswer<'_>> = types
            .map(|(projection, rows_of_type)| self.expected(projection, rows, rows_of_type))
            .collect();
        for item in items {
            let owner = self.owner(item, &answers);
            let is_undecided = owner.is_none() && answers.iter().any(|answer| answer.may_be(item));
            match owner.and_then(|owner| answers.get_mut(owner)) {
                Some(own) => own.found.push(item),
                None if is_undecided => unaccounted.undecided += 1,
                None => examples.push(self.of_item(ExampleKind::Extra, self.item_type(item), item)),
            }
        }
        let mut held = HeldValues::of(rows);
        for answer in &answers {
            let is_cut = self.cut.is_some_and(|most| whole(rows.len()) >= most);
            examples.extend(self.compare(answer, is_cut, &mut held, unaccounted));
        }
        unaccounted.lost.extend(held.lost());
        examples.extend(self.repetitions(rows, &answers, unaccounted));
        let entries = answers.iter().flat_map(|answer| &answer.entries);
        let has_item: HashSet<usize> = entries.flat_map(|one| one.rows.iter().copied()).collect();
        let unsure = answers.iter().flat_map(|answer| &answer.unsure);
        let without_key: HashSet<usize> = unsure
            .filter(|(_, expected)| expected.certainty != Certainty::Perhaps)
            .map(|(number, _)| *number)
            .collect();
        for number in 0..rows.len() {
            let of = |wanted| {
                let mut types = row_types.iter();
                types.any(|rows_of_type| rows_of_type.get(number) == Some(&wanted))
            };
            let has_none = !has_item.contains(&number);
            // Of types that share a relation each row is of one at least: their `where` forgets it.
            if has_none && of(Some(false)) && !of(None) {
                let key = format!(
                    "row {} of the SQL, which belongs to no item type",
                    number + 1
                );
                examples.push(Example::new(ExampleKind::Missing, None, key));
            } else if has_none || without_key.contains(&number) {
                unaccounted.left_out += 1;
            }
        }
        examples
    }

    /// Answers are bags: a row that the SQL gives twice, and the table once, is a difference. Of a join that
    /// answers with several item types each row says something that no other says. Rows that are alike but for keys
    /// that hold NULL may be of several source rows.
    fn repetitions(
        &self,
        rows: &[Row],
        answers: &[ExpectedAnswer<'_>],
        unaccounted: &mut Unaccounted,
    ) -> Vec<Example> {
        let mut examples = Vec::new();
        let mut shared: HashMap<usize, (&ItemProjection<'_>, &ExpectedEntry<'_>)> = HashMap::new();
        let mut own = HashSet::new();
        let mut unsure = HashSet::new();
        for answer in answers {
            unsure.extend(answer.unsure.iter().map(|(number, _)| *number));
            for entry in &answer.entries {
                if let [only] = entry.rows.as_slice() {
                    own.insert(*only);
                }
                for row in entry.rows.iter().skip(1) {
                    shared.entry(*row).or_insert((answer.projection, entry));
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
            let is_one = self.projections.len() == 1 && projection.item.embeds().is_empty();
            if is_one || is_again && !unsure.contains(&number) {
                let (name, key) = (Some(&*projection.item.name), projection.shown(entry.row));
                examples.push(Example::new(ExampleKind::Repeated, name, key));
            } else {
                unaccounted.repeated += 1;
            }
        }
        examples
    }

    /// What the rows say of the items of a type.
    fn expected<'r>(
        &self,
        projection: &'r ItemProjection<'r>,
        rows: &'r [Row],
        rows_of_type: &[Option<bool>],
    ) -> ExpectedAnswer<'r> {
        let (mut entries, mut unsure) = (Vec::<ExpectedEntry<'_>>::new(), Vec::new());
        let mut seen: HashMap<(Option<String>, String), usize> = HashMap::new();
        for (number, row) in rows.iter().enumerate() {
            let expected = projection.expect(row, self.folder);
            let is_of_type = rows_of_type.get(number).copied().flatten();
            let Some(expected) = expected.filter(|_| is_of_type != Some(false)) else {
                continue;
            };
            if is_of_type.is_none() || expected.certainty != Certainty::Sure {
                unsure.push((number, expected));
                continue;
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
                    entries.push(ExpectedEntry {
                        expected,
                        row,
                        rows,
                    });
                }
            }
        }
        ExpectedAnswer {
            projection,
            entries,
            unsure,
            found: Vec::new(),
        }
    }

    /// The type of an item: the only one, the one whose mark it bears, or the one whose key it has.
    fn owner(&self, item: &Item, answers: &[ExpectedAnswer<'_>]) -> Option<usize> {
        if self.projections.len() == 1 {
            return Some(0);
        }
        let marked = self.owners.and_then(|owners| owners.owner(item));
        if marked.is_some() {
            return marked;
        }
        let mut types = answers.iter();
        types.position(|answer| {
            let identity = answer.projection.identity(item);
            let is_it = |entry: &ExpectedEntry<'_>| entry.expected.identity == identity;
            identity.is_some()
                && answer.projection.may_own(item)
                && answer.entries.iter().any(is_it)
        })
    }

    /// `is_cut`: whether the SQL answered as many rows as its limit allows, so that there may be others.
    fn compare(
        &self,
        answer: &ExpectedAnswer<'_>,
        is_cut: bool,
        held: &mut HeldValues<'_>,
        unaccounted: &mut Unaccounted,
    ) -> Vec<Example> {
        let ExpectedAnswer {
            projection,
            entries,
            found,
            ..
        } = answer;
        let mut examples = Vec::new();
        let mut by_identity: HashMap<String, usize> = HashMap::new();
        for (at, item) in found.iter().enumerate() {
            if let Some(identity) = projection.identity(item) {
                by_identity.entry(identity).or_insert(at);
            }
        }
        let position = |entry: &ExpectedEntry<'_>| {
            let identity = entry.expected.identity.as_ref()?;
            by_identity.get(identity).copied()
        };
        let matched: HashSet<usize> = entries.iter().filter_map(&position).collect();
        let mut others = found.len() - matched.len();
        let (mut present, mut gone, mut tied) = (Vec::new(), 0, 0);
        let (is_alone, last) = (self.projections.len() == 1, entries.last());
        // Without an order any of the rows may be the last.
        let is_at_the_cut = |entry: &ExpectedEntry<'_>| match (&self.order, last) {
            _ if !is_cut || !is_alone => false,
            (None, _) => true,
            (Some(order), Some(last)) => {
                order.is_known && order.values(entry.row) == order.values(last.row)
            }
            (Some(_), None) => false,
        };
        for entry in entries {
            let item = position(entry).and_then(|at| found.get(at).copied());
            held.add(projection, entry, item, self.folder);
            let Some(item) = item else {
                let deleted = self.deleted(projection, &entry.expected);
                gone += usize::from(deleted != Deleted::No);
                match deleted {
                    // Only where another item stands in its place.
                    Deleted::No if others > 0 && is_at_the_cut(entry) => {
                        others -= 1;
                        tied += 1;
                        unaccounted.tied += entry.rows.len();
                    }
                    Deleted::No => {
                        let (name, key) =
                            (Some(&*projection.item.name), projection.shown(entry.row));
                        examples.push(Example::new(ExampleKind::Missing, name, key));
                    }
                    Deleted::Yes => unaccounted.gone += entry.rows.len(),
                    Deleted::Untold => unaccounted.perhaps_expired += entry.rows.len(),
                }
                continue;
            };
            present.push(entry);
            let attributes = projection.differences(&entry.expected, item);
            if !attributes.is_empty() {
                let name = Some(&projection.item.name);
                let mut example = self.of_item(ExampleKind::Differs, name, item);
                example.attributes = attributes;
                examples.push(example);
            }
        }
        for (_, item) in found
            .iter()
            .enumerate()
            .filter(|(at, _)| !matched.contains(at))
        {
            if answer.may_be(item) {
                unaccounted.undecided += 1;
            } else if self.limited && gone > 0 {
                unaccounted.perhaps_expired += 1;
            } else if tied > 0 {
                tied -= 1;
                unaccounted.tied += 1;
            } else {
                examples.push(self.of_item(ExampleKind::Extra, self.item_type(item), item));
            }
        }
        let mut kinds = examples.iter().map(|example| example.kind);
        let is_whole =
            matched.len() == found.len() && kinds.all(|kind| kind == ExampleKind::Differs);
        if let Some(order) = self.order.as_ref().filter(|_| is_whole)
            && let Some(at) = disorder(order, projection, &present, found)
            && let Some(item) = found.get(at)
        {
            examples.push(self.of_item(ExampleKind::Order, Some(&projection.item.name), item));
        }
        examples
    }

    /// Whether the item of a row may have been deleted, or left out, by the rule of `verify`: it has expired by now, and the
    /// table's TTL is on, or by the run's clock, and the mapping loads no such item.
    fn deleted(&self, projection: &ItemProjection<'_>, expected: &ExpectedItem) -> Deleted {
        let leaves_out = projection.item.expired != Expired::Load;
        let ttl = self.model.table.ttl.as_ref();
        let Some(ttl) = ttl.filter(|_| self.expires || leaves_out) else {
            return Deleted::No;
        };
        if projection.item.node(ttl).is_none() && projection.spreads.is_empty() {
            return Deleted::No;
        }
        let readings = projection.readings(expected, ttl);
        let mut moments = readings.iter().flatten();
        let is_gone = |moment: &Attribute| {
            let expiry = self.folder.expiry(moment);
            self.expires && may_be_deleted(moment, expiry) || leaves_out && expiry.is_past()
        };
        if moments.any(is_gone) {
            Deleted::Yes
        } else if readings.is_empty() {
            Deleted::Untold
        } else {
            Deleted::No
        }
    }

    /// The item type of an item, which need not be one of the pattern's.
    fn item_type(&self, item: &Item) -> Option<&Arc<str>> {
        let at = self.marks?.owner(item)?;
        self.model.item_types.get(at).map(|one| &one.name)
    }

    fn of_item(&self, kind: ExampleKind, item_type: Option<&Arc<str>>, item: &Item) -> Example {
        let key = self.model.table.key().map(|key| match item.get(&key.name) {
            Some(Attribute::S(text)) => format!("{text:?}"),
            Some(other) => attribute_json(other),
            None => "?".to_owned(),
        });
        let key = key.collect::<Vec<_>>().join(", ");
        Example::new(kind, item_type.map(|name| &**name), key)
    }
}

/// The first item that stands where the SQL's order does not have it. Items whose rows are equal under
/// that order may stand in any order among themselves.
fn disorder(
    order: &QueryOrder,
    projection: &ItemProjection<'_>,
    entries: &[&ExpectedEntry<'_>],
    found: &[&Item],
) -> Option<usize> {
    let mut seen = HashSet::new();
    let mut at = 0;
    let mut rest = entries
        .iter()
        .filter(|entry| seen.insert(entry.expected.identity.clone()))
        .peekable();
    while let Some(first) = rest.next() {
        let mut run: HashSet<&str> = first.expected.identity.as_deref().into_iter().collect();
        if order.is_known {
            let values = order.values(first.row);
            while let Some(next) = rest.next_if(|next| order.values(next.row) == values) {
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
