//! Conditions on the rows of a table: those of a read, and those that all rows of an access pattern meet.

use std::collections::BTreeSet;

use dynafold_format::has_word;
use dynafold_mapping::template::{Context, Filter, Placeholder, canonical};
use dynafold_relational::catalog::{Catalog, Table, TableName};
use dynafold_relational::value;
use dynafold_sql::Comparator;

use crate::ask::{Ask, Asked, Test, Value, When, is_loose};
use crate::facts::Facts;
use crate::path::{Path, Step};

/// The table and the column that a path ends at.
pub(super) fn place<'p>(root: &'p Table, path: &'p Path) -> (&'p TableName, &'p str) {
    let step = path.steps.last();
    let table = step.map_or(&root.name, |step| &step.table);
    (table, path.column.as_str())
}

/// A path in words: its column, and the way to a parent.
pub(super) fn named(root: &Table, path: &Path) -> String {
    let way = path.steps.last().map(|step| step.columns.join(", "));
    let way = way.map_or_else(String::new, |columns| format!(" by {columns}"));
    format!("{}{way}", column(root, path))
}

/// A path in words without the way to a parent.
fn column(root: &Table, path: &Path) -> String {
    let (table, column) = place(root, path);
    format!("{}.{column}", table.name)
}

/// Whether two paths of one table end at the same value.
pub(super) fn is_one_value(one: &Path, other: &Path) -> bool {
    one.clone().shortened() == other.clone().shortened()
}

/// Where an access pattern has a condition.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum By {
    Sql,
    Key,
    Filter,
    /// In its item type or its index.
    Items,
}

/// A condition on a column.
#[derive(Clone)]
pub(super) struct ColumnTest<'c> {
    pub(super) path: Path,
    pub(super) test: Test,
    /// Whether it is about the column in lower case, or about what filters leave of it.
    pub(super) folds: bool,
    pub(super) by: By,
    /// The value of a key that is to be so.
    pub(super) made: Option<&'c Placeholder>,
}

impl ColumnTest<'_> {
    /// One that is not understood: no row is known to meet it.
    pub(super) fn unknown(by: By) -> Self {
        Self {
            path: Path::own(""),
            test: Test::Any(Vec::new()),
            folds: false,
            by,
            made: None,
        }
    }

    /// Whether it says the same as another, whatever parameters are called.
    fn is_same(&self, other: &Self) -> bool {
        is_one_value(&self.path, &other.path)
            && self.folds == other.folds
            && self.test.unnamed() == other.test.unnamed()
    }

    /// What it compares the column with; of a list it is not known which.
    fn value(&self) -> Option<&Value> {
        match &self.test {
            Test::Compare(_, value) | Test::BeginsWith(value) => Some(value),
            _ => None,
        }
    }

    fn is_low(&self) -> bool {
        matches!(self.test, Test::Compare(comparator, _) if is_low(comparator))
    }

    /// Whether it takes only values of which a key makes texts that compare so with this one.
    fn says(&self, key: &Placeholder, comparator: Comparator, text: &str) -> bool {
        let (asked, own) = match &self.test {
            Test::Compare(asked, own) if !self.folds => (*asked, own),
            _ => return false,
        };
        let own = match own {
            Value::Text(text) => value::Value::Text(text.as_str().into()),
            Value::Number(number) => value::Value::Number(number.clone()),
            Value::Boolean(value) => value::Value::Bool(*value),
            Value::Parameter(_) => return false,
        };
        let is_number = matches!(own, value::Value::Number(_));
        let context = Context::default();
        let mut filters = key.filters.iter();
        let made = filters.try_fold(own, |own, filter| filter.apply(own, &context));
        let Ok(made) = made else {
            return false;
        };
        let Some(made) = canonical(&made) else {
            return false;
        };
        let takes_same = matches!(
            comparator,
            Comparator::Equal | Comparator::LessOrEqual | Comparator::GreaterOrEqual
        );
        if asked == Comparator::Equal {
            // Where one text begins with the other, what stands behind it in the key decides.
            let is_apart = !made.starts_with(text) && !text.starts_with(made);
            let is_beyond = if is_low(comparator) {
                made > text
            } else {
                made < text
            };
            return made == text && takes_same || comparator.is_range() && is_apart && is_beyond;
        }
        // Of constants, ranges are of numbers and dates alone.
        let is_sorted = match key.filters.as_slice() {
            [Filter::Pad { .. } | Filter::Ordered] => is_number,
            [] => !is_number,
            _ => false,
        };
        let is_strict = matches!(asked, Comparator::Less | Comparator::Greater);
        asked.is_range()
            && comparator.is_range()
            && is_sorted
            && made == text
            && is_low(asked) == is_low(comparator)
            && (is_strict || takes_same)
    }

    /// That the rows of `root` which a read takes do not meet it.
    pub(super) fn lacked(&self, root: &Table) -> String {
        let path = &self.path;
        match self.by {
            By::Key if self.test == Self::unknown(self.by).test => OUT_OF_RANGE.to_owned(),
            By::Key if !self.test.gives_values() => {
                format!("{OUT_OF_RANGE}, by {}", named(root, path))
            }
            By::Sql if self.test == Test::Exists => leaves_out(root, path),
            By::Sql => sql_has(&format!("on {}", column(root, path))),
            By::Filter if self.test == Self::unknown(self.by).test => UNKNOWN_FILTER.to_owned(),
            By::Filter => format!(
                "its access pattern has a filter on {} that the statement does not have",
                path.column
            ),
            By::Key => format!(
                "its key asks for {}, which the read does not give",
                named(root, path)
            ),
            By::Items => LEFT_OUT.to_owned(),
        }
    }
}

/// Why an access pattern serves no read of rows of which some may be no items of it.
pub(super) const LEFT_OUT: &str = "the `where`, `explode` or `expired` of its items, or the condition of its index, may leave out rows that it asks for";

/// Why an access pattern serves no read of which its filter may leave out rows.
pub(super) const UNKNOWN_FILTER: &str = "its access pattern has a filter that is not understood";

const OUT_OF_RANGE: &str = "the range of its key may leave out rows that it asks for";

fn is_low(comparator: Comparator) -> bool {
    matches!(comparator, Comparator::Greater | Comparator::GreaterOrEqual)
}

fn sql_has(condition: &str) -> String {
    format!(
        "the SQL of its access pattern has a condition {condition} that the statement does not have"
    )
}

fn leaves_out(root: &Table, path: &Path) -> String {
    format!(
        "the SQL of its access pattern leaves out rows without {}, which the statement does not",
        column(root, path)
    )
}

/// Rows of a table, by the conditions that they meet.
#[derive(Clone)]
pub(super) struct Taken<'c> {
    pub(super) root: &'c Table,
    pub(super) tests: Vec<ColumnTest<'c>>,
    /// Conditions that no test of one column says.
    pub(super) said: Vec<When>,
    /// Columns of the parents without which there is no row.
    pub(super) required: Vec<Path>,
}

impl<'c> Taken<'c> {
    pub(super) fn all(root: &'c Table) -> Self {
        Self {
            root,
            tests: Vec::new(),
            said: Vec::new(),
            required: Vec::new(),
        }
    }

    /// The rows that a read takes.
    pub(super) fn of(ask: &Ask<'c>) -> Self {
        let mut taken = Self::all(ask.root);
        taken.required.clone_from(&ask.required);
        for equal in &ask.equal {
            let said = equal.when.as_ref().and_then(|when| when.filter.as_ref());
            let value = match &equal.value {
                Asked::Parameter(name) => Value::Parameter(name.clone()),
                Asked::Constant(text) => Value::Text(text.clone()),
            };
            let own = Test::Compare(Comparator::Equal, value);
            let test = said.map_or(own, |one| one.test.clone());
            taken.add(&equal.path, &test, equal.folds, By::Sql);
        }
        if let Some(range) = &ask.range {
            taken.add(&range.path, &range.test(), range.folds, By::Sql);
        }
        for filter in &ask.filters {
            taken.add(&filter.path, &filter.test, false, By::Sql);
        }
        for when in &ask.when {
            taken.add_when(when, By::Sql);
        }
        taken
    }

    /// Adds a test, or those that it consists of.
    pub(super) fn add(&mut self, path: &Path, test: &Test, folds: bool, by: By) {
        if let Test::All(tests) = test {
            for test in tests {
                self.add(path, test, folds, by);
            }
            return;
        }
        self.tests.push(ColumnTest {
            path: path.clone(),
            test: test.clone(),
            folds,
            by,
            made: None,
        });
    }

    pub(super) fn add_when(&mut self, when: &When, by: By) {
        match &when.filter {
            Some(filter) => self.add(&filter.path, &filter.test, false, by),
            None => self.said.push(when.clone()),
        }
    }

    /// The columns of the conditions.
    pub(super) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.tests.iter().map(|one| &one.path)
    }

    /// The paths without whose values there is no row.
    fn present(&self) -> impl Iterator<Item = &Path> {
        let tests = self.tests.iter();
        let tests = tests.filter(|one| one.test.implies(&Test::Exists));
        tests.map(|one| &one.path).chain(&self.required)
    }

    /// Whether all conditions of these rows are among those of others.
    pub(super) fn is_within(&self, others: &Self) -> bool {
        let has = |own: &ColumnTest<'_>| others.tests.iter().any(|one| one.is_same(own));
        self.tests.iter().all(has) && self.said.iter().all(|when| others.said.contains(when))
    }

    /// Whether these are the same rows as others, by the same conditions.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let ways = |one: &'_ Self| -> BTreeSet<Vec<Step>> {
            one.required.iter().map(|path| path.steps.clone()).collect()
        };
        self.root.name == other.root.name
            && ways(self) == ways(other)
            && self.is_within(other)
            && other.is_within(self)
    }

    /// Whether each row has the parent at the end of a way.
    pub(super) fn requires(&self, way: &[Step], facts: Facts<'_>) -> bool {
        let is_there = |path: &Path| {
            !path.may_be_null(self.root, facts.catalog)
                || self.present().any(|known| is_one_value(known, path))
        };
        self.present().any(|known| known.steps.starts_with(way))
            || is_referred(self.root, way, facts, &is_there)
    }
}

/// The columns that a read asks for by values, and that equal more than one text in the database; not those that it compares in lower
/// case.
pub(super) fn compared_loosely(asks: &[Ask<'_>], catalog: &Catalog) -> Vec<String> {
    let names = asks.iter().flat_map(|ask| {
        let tests = Taken::of(ask).tests.into_iter();
        let tests = tests.filter(|one| !one.folds && one.test.gives_values());
        tests.filter_map(|one| {
            let (_, column) = one.path.find(ask.root, catalog)?;
            let name = || self::column(ask.root, &one.path);
            is_loose(column, catalog.dbms).then(name)
        })
    });
    let names: BTreeSet<String> = names.collect();
    names.into_iter().collect()
}

/// Whether the database sees to it that rows of `root` have the parent at the end of a way; `has`: whether a column on it has a value.
fn is_referred(root: &Table, way: &[Step], facts: Facts<'_>, has: &dyn Fn(&Path) -> bool) -> bool {
    let Some((step, before)) = way.split_last() else {
        return true;
    };
    let child = match before.last() {
        Some(before) => facts.catalog.table(&before.table),
        None => Some(root),
    };
    let mut references = step.columns.iter().map(|column| Path::of(before, column));
    child.is_some_and(|child| step.is_enforced(child, facts.catalog))
        && references.all(|path| has(&path))
}

/// Whether values say of a row of `root` that it has the parent at the end of a way: those of a column of the parent that is never NULL,
/// or of a reference that the database keeps; `has`: whether a column is among them.
pub(super) fn tells_parent(
    root: &Table,
    way: &[Step],
    facts: Facts<'_>,
    has: &dyn Fn(&Path) -> bool,
) -> bool {
    let parent = way.last().and_then(|step| facts.catalog.table(&step.table));
    let columns = parent.into_iter().flat_map(|parent| &parent.columns);
    let mut columns = columns.filter(|column| column.is_never_absent());
    columns.any(|column| has(&Path::of(way, &column.name))) || is_referred(root, way, facts, has)
}

/// The rows of a table that a read takes, in each of its ways.
pub(super) struct Reads<'a> {
    pub(super) facts: Facts<'a>,
    pub(super) ways: Vec<&'a Taken<'a>>,
}

impl Reads<'_> {
    /// Whether all of its rows meet a condition of an access pattern on a column of `root`. Of a range or a list of parameters any
    /// condition on the column is enough.
    pub(super) fn meet(&self, root: &Table, own: &ColumnTest<'_>) -> bool {
        let any = |is_met: &dyn Fn(&ColumnTest<'_>) -> bool| {
            let mut tests = self.ways.iter().flat_map(|way| &way.tests);
            tests.any(|one| is_one_value(&one.path, &own.path) && is_met(one))
        };
        let is_as_it_is = |one: &ColumnTest<'_>| own.folds || !one.folds;
        match (&own.test, own.made) {
            (Test::Compare(comparator, Value::Text(text)), Some(made)) => {
                any(&|one| one.says(made, *comparator, text))
            }
            (Test::BeginsWith(Value::Text(text)), Some(made)) => {
                // What filters make of a text may begin otherwise.
                let is_plain = !own.folds && made.filters.is_empty();
                any(&|one| {
                    one.says(made, Comparator::Equal, text)
                        || is_plain && !one.folds && one.test.implies(&own.test)
                })
            }
            (Test::Exists, _) => {
                let mut present = self.ways.iter().flat_map(|way| way.present());
                !own.path.may_be_null(root, self.facts.catalog)
                    || present.any(|known| is_one_value(known, &own.path))
            }
            (test, _) if test.parameters().is_empty() => {
                any(&|one| is_as_it_is(one) && one.test.implies(test))
            }
            (Test::Compare(Comparator::Equal, _), _) if !own.folds || own.by == By::Sql => {
                any(&|one| is_as_it_is(one) && one.test.gives_values())
            }
            _ => any(&|_| true),
        }
    }

    /// Why these are not all among the rows of an access pattern; `by`: what compares them.
    pub(super) fn unmet(&self, own: &Taken<'_>, by: &str) -> Option<String> {
        let root = own.root;
        let test = own.tests.iter().find(|test| !self.meet(root, test));
        let split = || {
            let columns = self.split_parameter(own)?;
            Some(format!(
                "{by} compares {columns} with one parameter, which the statement does not"
            ))
        };
        let parent = || {
            let mut required = own.required.iter();
            let is_there = |path: &Path| {
                let mut ways = self.ways.iter();
                ways.any(|way| way.requires(&path.steps, self.facts))
            };
            Some(leaves_out(root, required.find(|path| !is_there(path))?))
        };
        let said = || {
            let is_met = |when: &When| self.ways.iter().any(|way| way.said.contains(when));
            let when = own.said.iter().find(|when| !is_met(when))?;
            Some(sql_has(&format!("`{}`", when.said)))
        };
        test.map(|test| {
            self.told_otherwise(root, test)
                .unwrap_or_else(|| test.lacked(root))
        })
        .or_else(split)
        .or_else(parent)
        .or_else(said)
    }

    /// That the read has a condition on the column of one that it does not meet, whose meaning is not known.
    fn told_otherwise(&self, root: &Table, own: &ColumnTest<'_>) -> Option<String> {
        let (owner, has) = match own.by {
            By::Sql => ("the SQL of its access pattern", "a condition"),
            By::Filter => ("its access pattern", "a filter"),
            By::Key | By::Items => return None,
        };
        let mut said = self.ways.iter().flat_map(|way| &way.said);
        let when = said.find(|when| has_word(&when.said, &own.path.column))?;
        Some(format!(
            "{owner} has {has} on {}, which rows that meet `{}` are not known to meet",
            column(root, &own.path),
            when.said
        ))
    }

    /// Two columns, or two bounds of one, that an access pattern compares with one parameter, and the read may compare with two.
    fn split_parameter(&self, own: &Taken<'_>) -> Option<String> {
        let is_named = |one: &&ColumnTest<'_>| matches!(one.value(), Some(Value::Parameter(name)) if !name.is_empty());
        let named_tests: Vec<_> = own.tests.iter().filter(is_named).collect();
        let pairs = named_tests.iter().enumerate().flat_map(|(at, one)| {
            let before = named_tests.iter().take(at);
            before.map(move |before| [*before, *one])
        });
        let is_column = |[one, other]: [&ColumnTest<'_>; 2]| is_one_value(&one.path, &other.path);
        let mut shared = pairs.filter(|pair| {
            let [one, other] = *pair;
            let is_bound = one.is_low() == other.is_low() && is_column(*pair);
            one.value() == other.value() && !is_bound
        });
        let has_one = |way: &Taken<'_>, pair: [&ColumnTest<'_>; 2]| {
            let [of_one, of_other] = pair.map(|one| {
                let tests = way.tests.iter();
                let tests = tests.filter(|known| is_one_value(&known.path, &one.path));
                tests.filter_map(ColumnTest::value).collect::<Vec<_>>()
            });
            if is_column(pair) {
                of_one.windows(2).all(|two| two.first() == two.last())
            } else {
                of_one.iter().any(|value| of_other.contains(value))
            }
        };
        let pair = shared.find(|pair| !self.ways.iter().any(|way| has_one(way, *pair)))?;
        let [one, other] = pair.map(|test| named(own.root, &test.path));
        Some(if is_column(pair) {
            format!("{one} twice")
        } else {
            format!("{one} and {other}")
        })
    }
}
