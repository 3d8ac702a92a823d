//! The columns of a read, those that it compares and those to which it gives values, and the conditions by which it takes rows.

use std::collections::BTreeSet;

use dynafold_relational::catalog::{Catalog, Table, TableName};
use dynafold_sql::Comparator;

use crate::ask::{Ask, Asked, Equal, Filter, RangeAsk, Test, Value, When, of_equal, of_range};
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

/// A column with a value that it is compared with.
pub(super) struct Compared {
    pub(super) path: Path,
    pub(super) value: Asked,
    /// Whether this is a lower bound.
    pub(super) is_low: bool,
}

/// The values that a filter compares its column with; of a list it is not known which.
pub(super) fn values_of_filter(filter: &Filter) -> Vec<Compared> {
    fn values(test: &Test) -> Vec<(&Value, bool)> {
        match test {
            Test::Compare(comparator, value) => {
                let is_low = matches!(comparator, Comparator::Greater | Comparator::GreaterOrEqual);
                vec![(value, is_low)]
            }
            Test::BeginsWith(value) => vec![(value, false)],
            Test::All(tests) => tests.iter().flat_map(values).collect(),
            Test::Exists | Test::Missing | Test::In { .. } | Test::Any(_) => Vec::new(),
        }
    }
    let found = values(&filter.test).into_iter();
    let found = found.map(|(value, is_low)| Compared {
        path: filter.path.clone(),
        value: match value {
            Value::Parameter(name) => Asked::Parameter(name.clone()),
            Value::Text(text) => Asked::Constant(text.clone()),
            Value::Number(number) => Asked::Constant(number.to_string()),
            Value::Boolean(value) => Asked::Constant(value.to_string()),
        },
        is_low,
    });
    found.collect()
}

/// The values that a read compares columns with.
pub(super) fn values(ask: &Ask<'_>) -> Vec<Compared> {
    let equal = ask.equal.iter().map(|equal| Compared {
        path: equal.path.clone(),
        value: equal.value.clone(),
        is_low: false,
    });
    let range = ask.range.iter().flat_map(|range| {
        let low = range.low.iter().map(|(name, _)| (name, true));
        let high = range.high.iter().map(|(name, _)| name);
        let others = high.chain(&range.prefix).map(|name| (name, false));
        low.chain(others).map(move |(name, is_low)| Compared {
            path: range.path.clone(),
            value: Asked::Parameter(name.clone()),
            is_low,
        })
    });
    let filters = ask.filters.iter().chain(constants(ask));
    equal
        .chain(range)
        .chain(filters.flat_map(values_of_filter))
        .collect()
}

/// Two columns of `root`, or two bounds of one, that an access pattern, `own`, compares with one parameter, and a read may compare with
/// two.
pub(super) fn split_parameter(
    root: &Table,
    own: &[Compared],
    reads: &[&Ask<'_>],
) -> Option<String> {
    let pairs = own.iter().enumerate().flat_map(|(at, one)| {
        let before = own.iter().take(at);
        before.map(move |before| [before, one])
    });
    let mut pairs = pairs.filter_map(|[one, other]| {
        let is_named = matches!(&one.value, Asked::Parameter(name) if !name.is_empty());
        let is_one_bound = one.is_low == other.is_low && is_one_value(&one.path, &other.path);
        let is_shared = is_named && one.value == other.value && !is_one_bound;
        is_shared.then_some([&one.path, &other.path])
    });
    let has_one = |ask: &Ask<'_>, [one, other]: [&Path; 2]| {
        let all = values(ask);
        let of = |path: &Path| {
            let of_it = all.iter().filter(|known| is_one_value(&known.path, path));
            of_it.map(|known| &known.value).collect::<Vec<_>>()
        };
        let (of_one, of_other) = (of(one), of(other));
        if is_one_value(one, other) {
            of_one.windows(2).all(|two| two.first() == two.last())
        } else {
            of_one.iter().any(|value| of_other.contains(value))
        }
    };
    let [one, other] = pairs.find(|pair| !reads.iter().any(|ask| has_one(ask, *pair)))?;
    Some(if is_one_value(one, other) {
        format!("{} twice", named(root, one))
    } else {
        format!("{} and {}", named(root, one), named(root, other))
    })
}

/// The columns that a read asks for by values, and that equal more than one text in the database; not those that it compares in lower
/// case.
pub(super) fn compared_loosely(asked: &[Ask<'_>], catalog: &Catalog) -> Vec<String> {
    let columns = asked.iter().flat_map(|ask| {
        let equal = ask.equal.iter().filter(|equal| !equal.folds);
        let filters = ask.filters.iter().chain(constants(ask));
        let filters = filters.filter(|filter| filter.test.gives_values());
        let paths = equal.map(|equal| &equal.path);
        let paths = paths.chain(filters.map(|filter| &filter.path));
        let found = paths.filter_map(move |path| path.find(ask.root, catalog));
        found.filter(|(_, column)| column.insensitive)
    });
    let names = columns.map(|(table, column)| format!("{}.{}", table.name.name, column.name));
    let names: BTreeSet<String> = names.collect();
    names.into_iter().collect()
}

/// Whether each row of a read has the parent at the end of a way.
pub(super) fn requires(ask: &Ask<'_>, way: &[Step], facts: Facts<'_>) -> bool {
    let Some((step, before)) = way.split_last() else {
        return true;
    };
    let is_there = |path: &Path| present(ask).any(|known| is_one_value(known, path));
    let reference = |column: &String| Path {
        steps: before.to_vec(),
        column: column.clone(),
    };
    let mut references = step.columns.iter().map(reference);
    present(ask).any(|known| known.steps.starts_with(way))
        || is_enforced(ask.root, step, before, facts)
            && references.all(|path| !path.may_be_null(ask.root, facts.catalog) || is_there(&path))
}

/// Whether values say of a row of `root` that it has the parent at the end of a way: those of a column of the parent that is never NULL,
/// or of a reference that the database keeps; `has`: whether a column is among them.
pub(super) fn tells_parent(
    root: &Table,
    way: &[Step],
    facts: Facts<'_>,
    has: &dyn Fn(&Path) -> bool,
) -> bool {
    let Some((step, before)) = way.split_last() else {
        return true;
    };
    let at = |steps: &[Step], column: &str| Path {
        steps: steps.to_vec(),
        column: column.to_owned(),
    };
    let parent = facts.catalog.table(&step.table);
    let columns = parent.into_iter().flat_map(|parent| &parent.columns);
    let mut columns = columns.filter(|column| column.is_never_absent());
    columns.any(|column| has(&at(way, &column.name)))
        || is_enforced(root, step, before, facts)
            && step.columns.iter().all(|column| has(&at(before, column)))
}

/// Whether the database sees to it that a reference leads to a parent, if it is not NULL.
fn is_enforced(root: &Table, step: &Step, before: &[Step], facts: Facts<'_>) -> bool {
    let child = match before.last() {
        Some(before) => facts.catalog.table(&before.table),
        None => Some(root),
    };
    child.is_some_and(|child| step.is_enforced(child, facts.catalog))
}

/// The paths without whose values a read takes no row.
pub(super) fn present<'a>(ask: &'a Ask<'_>) -> impl Iterator<Item = &'a Path> {
    let equal = ask.equal.iter().map(|equal| &equal.path);
    let range = ask.range.iter().map(|range| &range.path);
    let filters = ask.filters.iter().chain(constants(ask));
    let filters = filters.filter(|filter| filter.test.implies(&Test::Exists));
    let filters = filters.map(|filter| &filter.path);
    equal.chain(range).chain(filters).chain(&ask.required)
}

/// Whether all rows of a read meet a filter.
fn passes(ask: &Ask<'_>, own: &Filter) -> bool {
    let is_it = |path: &Path| is_one_value(path, &own.path);
    let filters = ask.filters.iter().chain(constants(ask));
    let mut filters = filters.filter(|one| is_it(&one.path));
    // NULL meets no comparison.
    own.test == Test::Exists && present(ask).any(is_it)
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
