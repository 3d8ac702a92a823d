//! The columns of a read, those that it compares and those to which it gives values, and the conditions by which it takes rows.

use std::collections::BTreeSet;

use dynafold_relational::catalog::{Table, TableName};
use dynafold_sql::Comparator;

use crate::ask::{Ask, Asked, Equal, Filter, RangeAsk, Test, When, of_equal, of_range};
use crate::facts::Facts;
use crate::path::{Path, Step};

/// A column, with its table.
pub(super) type Place<'p> = (&'p TableName, &'p str);

/// The table and the column that a path ends at.
pub(super) fn place<'p>(root: &'p Table, path: &'p Path) -> Place<'p> {
    let step = path.steps.last();
    let table = step.map_or(&root.name, |step| &step.table);
    (table, path.column.as_str())
}

/// A path in words: its column, and the way to a parent.
pub(super) fn named(root: &Table, path: &Path) -> String {
    let (table, column) = place(root, path);
    let way = path.steps.last().map(|step| step.columns.join(", "));
    let way = way.map_or_else(String::new, |columns| format!(" by {columns}"));
    format!("{}.{column}{way}", table.name)
}

/// The paths of the conditions of a read.
pub(super) fn conditions<'a>(ask: &'a Ask<'_>) -> impl Iterator<Item = &'a Path> {
    let equal = ask.equal.iter().map(|equal| &equal.path);
    let range = ask.range.iter().map(|range| &range.path);
    let when = ask.when.iter().filter_map(|when| when.filter.as_ref());
    let filters = ask.filters.iter().chain(when).map(|filter| &filter.path);
    equal.chain(range).chain(filters)
}

/// What a read asks of columns by constants.
pub(super) fn constants<'a>(ask: &'a Ask<'_>) -> impl Iterator<Item = &'a Filter> {
    ask.conditions().filter_map(|when| when.filter.as_ref())
}

/// Whether two paths of one table end at the same value.
pub(super) fn is_one_value(one: &Path, other: &Path) -> bool {
    one.clone().shortened() == other.clone().shortened()
}

/// Whether a read gives a column values by `=` or IN where an access pattern asks for one; `folds`: in lower case.
pub(super) fn gives(ask: &Ask<'_>, path: &Path, folds: bool) -> bool {
    let mut equal = ask.equal.iter();
    let filters = ask.filters.iter().chain(constants(ask));
    let mut filters = filters.filter(|filter| filter.test.gives_values());
    equal.any(|one| is_one_value(&one.path, path) && (folds || !one.folds))
        || filters.any(|filter| is_one_value(&filter.path, path))
}

/// Whether all rows of a read meet a filter.
fn passes(ask: &Ask<'_>, own: &Filter) -> bool {
    let is_it = |path: &Path| is_one_value(path, &own.path);
    let equal = ask.equal.iter().map(|equal| &equal.path);
    let range = ask.range.iter().map(|range| &range.path);
    let filters = ask.filters.iter().chain(constants(ask));
    let mut filters = filters.filter(|one| is_it(&one.path));
    // NULL meets no comparison.
    own.test == Test::Exists && equal.chain(range).any(is_it)
        || filters.any(|one| one.test.implies(&own.test))
}

/// Whether all rows of a read of `root` meet a filter; `reads`: the read, as it is understood. Of a range or a list of parameters any
/// condition on the column is enough.
pub(super) fn meets_filter(
    facts: Facts<'_>,
    reads: &[&Ask<'_>],
    root: &Table,
    own: &Filter,
) -> bool {
    let is_never_null = || !own.path.may_be_null(root, facts.catalog);
    let is_met = |ask: &&Ask<'_>| match &own.test {
        test if test.parameters().is_empty() => passes(ask, own),
        Test::Compare(Comparator::Equal, _) => gives(ask, &own.path, false),
        _ => conditions(ask).any(|known| is_one_value(known, &own.path)),
    };
    own.test == Test::Exists && is_never_null() || reads.iter().any(is_met)
}

/// Whether all rows of a read of `root` meet a condition.
pub(super) fn meets(facts: Facts<'_>, reads: &[&Ask<'_>], root: &Table, own: &When) -> bool {
    let mut known = reads.iter().flat_map(|ask| ask.conditions());
    let filter = own.filter.as_ref();
    known.any(|one| one == own)
        || filter.is_some_and(|filter| meets_filter(facts, reads, root, filter))
}

/// A condition of a read, whatever its parameters are called.
#[derive(PartialEq)]
pub(super) enum RowTest<'a> {
    Of(Filter),
    /// An equality that no filter says, such as one in lower case.
    Equal(Equal),
    /// A range that no filter says.
    Range(RangeAsk),
    /// Another condition that no filter says.
    Said(&'a When),
}

impl<'a> RowTest<'a> {
    /// The conditions that a filter consists of.
    pub(super) fn of(filter: &Filter) -> Vec<Self> {
        let path = filter.path.clone().shortened();
        let of = |test: &Test| {
            Self::Of(Filter {
                path: path.clone(),
                test: test.unnamed(),
            })
        };
        match &filter.test {
            Test::All(tests) => tests.iter().map(of).collect(),
            test => vec![of(test)],
        }
    }

    pub(super) fn of_condition(when: &'a When) -> Vec<Self> {
        match &when.filter {
            Some(filter) => Self::of(filter),
            None => vec![Self::Said(when)],
        }
    }

    pub(super) fn of_equal(equal: &Equal) -> Vec<Self> {
        if let Some(filter) = of_equal(equal) {
            return Self::of(&filter);
        }
        let mut equal = equal.clone();
        if let Asked::Parameter(name) = &mut equal.value {
            name.clear();
        }
        equal.path = equal.path.shortened();
        equal.when = None;
        vec![Self::Equal(equal)]
    }

    fn of_range(range: &RangeAsk) -> Vec<Self> {
        if let Some(filter) = of_range(range) {
            return Self::of(&filter);
        }
        let mut range = range.clone();
        let bounds = [&mut range.low, &mut range.high].into_iter().flatten();
        let names = bounds.map(|(name, _)| name).chain(&mut range.prefix);
        names.for_each(String::clear);
        range.path = range.path.shortened();
        vec![Self::Range(range)]
    }
}

/// The conditions by which a read takes rows of its table.
pub(super) fn row_tests<'a>(ask: &'a Ask<'_>) -> Vec<RowTest<'a>> {
    let equal = ask.equal.iter().flat_map(RowTest::of_equal);
    let range = ask.range.iter().flat_map(RowTest::of_range);
    let filters = ask.filters.iter().flat_map(RowTest::of);
    let when = ask.when.iter().flat_map(RowTest::of_condition);
    equal.chain(range).chain(filters).chain(when).collect()
}

/// The ways to the parents without which it takes no row.
fn required<'a>(ask: &'a Ask<'_>) -> BTreeSet<&'a [Step]> {
    ask.required.iter().map(|path| &*path.steps).collect()
}

/// Whether two reads take the same rows, by the same conditions.
pub(super) fn takes_same_rows(one: &Ask<'_>, other: &Ask<'_>) -> bool {
    let (own, theirs) = (row_tests(one), row_tests(other));
    let children = one.children.iter().zip(&other.children);
    let mut children =
        children.map(|(one, other)| (&one.table.name, &one.way) == (&other.table.name, &other.way));
    one.root.name == other.root.name
        && one.children.len() == other.children.len()
        && children.all(|is_same| is_same)
        && required(one) == required(other)
        && own.iter().all(|test| theirs.contains(test))
        && theirs.iter().all(|test| own.contains(test))
}
