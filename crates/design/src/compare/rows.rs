//! The rows of which an access pattern finds the items, item type by item type.

use std::cmp::Ordering;

use dynafold_dynamodb::Attribute;
use dynafold_format::each_once;
use dynafold_mapping::model::{
    AccessPattern, AttributeNode, Expired, FilterCondition, FilterOperand, ItemType, Placeholder,
    SortCondition, Template, TemplatePart,
};
use dynafold_relational::catalog::{Catalog, Dbms, Table};
use dynafold_sql::Comparator;

use super::conditions::{By, ColumnTest, Reads, Taken, is_one_value, named};
use super::made::{MadeOf, PARAMETER, asked_text, asked_value, key_values};
use super::{ItemScan, Priced, path};
use crate::ask::{Ask, Test, Value, When};
use crate::path::Path;

/// The rows of an item type that an access pattern answers.
pub(super) struct ItemRows<'d> {
    pub(super) of: ItemScan<'d>,
    pub(super) made: MadeOf<'d>,
    /// Those that its key and its filter take.
    pub(super) asked: Taken<'d>,
    /// Those that are items, and stand in its index.
    pub(super) there: Taken<'d>,
}

impl<'d> Priced<'d> {
    /// The rows of the item types that an access pattern answers and may find; `root`: the table that stands for that of a query.
    pub(super) fn rows_of(&self, pattern: &AccessPattern, root: &'d Table) -> Vec<ItemRows<'d>> {
        let found = self.answered(pattern);
        let found = found.filter(|of| may_find(pattern, of.item)).map(|of| {
            let mut asked = Taken::all(of.table.unwrap_or(root));
            asked.tests = self.key_tests(pattern, of);
            if add_filter(&mut asked, pattern, of).is_none() {
                asked.tests.push(ColumnTest::unknown(By::Filter));
            }
            ItemRows {
                of,
                made: self.made_of(of, Some(pattern)),
                there: self.there(pattern, of, asked.root),
                asked,
            }
        });
        found.collect()
    }

    /// What a key asks of the columns that it is made of. What `where` holds to one constant is known.
    fn key_tests(&self, pattern: &AccessPattern, of: ItemScan<'d>) -> Vec<ColumnTest<'d>> {
        let ItemScan { item, scan, .. } = of;
        let fixed = self.fixed(of);
        let values = key_values(pattern, item).into_iter();
        let values = values.filter(|value| value.comparator == Comparator::Equal);
        let equal = values.map(|value| {
            let test = if value.begins {
                Test::BeginsWith(value.asked)
            } else {
                Test::Compare(value.comparator, value.asked)
            };
            Some((value.placeholder, test, value.is_exact))
        });
        let ranges = pattern.sort.iter().flat_map(|(key, condition)| {
            let made = item.template(&key.name);
            made.map_or_else(Vec::new, |made| range_tests(item, made, condition))
        });
        let tests = equal.chain(ranges).filter_map(|asked| {
            let unknown = ColumnTest::unknown(By::Key);
            let Some((placeholder, test, is_exact)) = asked else {
                return Some(unknown);
            };
            let Some(path) = path(placeholder, scan) else {
                return (!test.gives_values()).then_some(unknown);
            };
            let is_fixed = path.steps.is_empty() && fixed.contains(&path.column.as_str());
            (!is_fixed).then(|| ColumnTest {
                path,
                test,
                folds: !placeholder.place.path.is_empty() || !is_exact,
                by: By::Key,
                made: Some(placeholder),
            })
        });
        tests.collect()
    }

    /// The rows of an item type that are items, and stand in the index of an access pattern.
    fn there(&self, pattern: &AccessPattern, of: ItemScan<'_>, root: &'d Table) -> Taken<'d> {
        let ItemScan { item, scan, .. } = of;
        let mut there = Taken::all(root);
        let index = self.index(pattern.index.as_deref());
        let of_index = index.map(|index| of.conditions_of_index(index));
        let conditions = of_index.into_iter().flatten();
        for condition in conditions.chain(self.model.condition(item)) {
            let known = self.facts.conditions(condition, scan, root);
            if known.is_empty() {
                there.tests.push(ColumnTest::unknown(By::Items));
            }
            for when in &known {
                there.add_when(when, By::Items);
            }
        }
        // Rows without elements make no item.
        if !item.explodes.is_empty() || item.expired != Expired::Load {
            there.tests.push(ColumnTest::unknown(By::Items));
        }
        let Some(index) = index.filter(|_| of.table.is_some()) else {
            return there;
        };
        for key in index.key() {
            if item.node(&key.name).is_none() {
                there.tests.push(ColumnTest::unknown(By::Items));
            }
            for value in of.needed(&key.name) {
                // What is no column is no value of the database.
                let Some(path) = path(value, scan) else {
                    continue;
                };
                let column = path.column_of(root, self.facts.catalog);
                let may_be_absent = column.is_none_or(|one| one.data_type.may_be_absent());
                if may_be_absent || !value.place.path.is_empty() {
                    there.tests.push(ColumnTest::unknown(By::Items));
                } else {
                    there.add(&path, &Test::Exists, false, By::Items);
                }
            }
        }
        there
    }

    /// The columns without which a `<>` of the filter takes items too.
    pub(super) fn absent(&self, pattern: &AccessPattern, root: &'d Table) -> Vec<String> {
        let (rows, catalog) = (self.rows_of(pattern, root), self.facts.catalog);
        let columns = rows.iter().flat_map(|one| {
            let tests = one.asked.tests.iter();
            let taken = tests.filter(move |test| one.takes_absent(test, catalog));
            taken.map(move |test| named(one.asked.root, &test.path))
        });
        each_once(columns)
    }

    /// Whether the items that an access pattern takes are those which meet all conditions of a read, and no others.
    pub(super) fn takes_no_others(
        &self,
        rows: &[ItemRows<'d>],
        ask: &Ask<'_>,
        taken: &Taken<'_>,
    ) -> bool {
        let [one] = rows else {
            return false;
        };
        let mut own = one.there.clone();
        let asked = one.asked.tests.iter();
        let exact = asked.filter(|test| !test.folds);
        let exact = exact.filter(|test| !one.takes_absent(test, self.facts.catalog));
        own.tests.extend(exact.cloned());
        one.of.is_of(ask.root)
            && !ask.merges()
            && !ask.sorts
            && ask.children.is_empty()
            && ask.required.is_empty()
            && taken.is_within(&own)
    }
}

impl ItemRows<'_> {
    /// Whether it is a `<>` of the filter that takes items without the attribute too: in DynamoDB, what is not there differs from every
    /// value.
    fn takes_absent(&self, test: &ColumnTest<'_>, catalog: &Catalog) -> bool {
        let is_unequal = |one: &ColumnTest<'_>| {
            one.by == By::Filter && matches!(one.test, Test::Compare(Comparator::NotEqual, _))
        };
        let mut all = self.asked.tests.iter().chain(&self.there.tests);
        is_unequal(test)
            && test.path.may_be_null(self.asked.root, catalog)
            && !all.any(|one| {
                one.path == test.path && !is_unequal(one) && one.test.implies(&Test::Exists)
            })
    }

    /// Whether its key finds one row at most.
    pub(super) fn has_one(&self, dbms: Dbms) -> bool {
        let is_given = |column: &String| {
            let mut tests = self.asked.tests.iter();
            tests.any(|one| {
                let is_equal = matches!(one.test, Test::Compare(Comparator::Equal, _));
                one.by == By::Key && is_equal && !one.folds && one.path == Path::own(column)
            })
        };
        let mut keys = self.of.table.into_iter().flat_map(|table| table.keys(dbms));
        keys.any(|key| key.columns.iter().all(is_given))
    }

    /// Whether all that its key finds meets a condition of a read that this serves: by the key, or because only such rows are there.
    pub(super) fn limits(&self, when: &When) -> bool {
        let Some(filter) = &when.filter else {
            return self.there.said.contains(when);
        };
        let mut all = self.asked.tests.iter().chain(&self.there.tests);
        all.any(|one| {
            let is_met = one.by == By::Key || one.by == By::Items && one.test.implies(&filter.test);
            is_met && is_one_value(&one.path, &filter.path)
        })
    }

    /// The columns of which its key asks for ranges that bounds of the values themselves say.
    pub(super) fn ranges(&self) -> impl Iterator<Item = &Path> {
        let ranges = self.asked.tests.iter().filter(|one| {
            let is_range =
                matches!(one.test, Test::Compare(comparator, _) if comparator.is_range());
            one.by == By::Key && is_range && !one.folds
        });
        ranges.map(|one| &one.path)
    }

    /// Why the key, or the filter, does not take the rows that a read of `root` asks for, whose items these are or which they hold.
    pub(super) fn lacks(&self, root: &Table, reads: &Reads<'_>) -> Option<String> {
        if self.of.is_of(root) || self.of.table.is_none() {
            return reads.unmet(&self.asked, "its access pattern");
        }
        let is_met = |test: &ColumnTest<'_>| {
            let paths = self.made.matched_in(&root.name, &test.path).into_iter();
            let mut tests = paths.map(|path| ColumnTest {
                path,
                ..test.clone()
            });
            tests.any(|test| reads.meet(root, &test))
        };
        let lacked = self.asked.tests.iter().find(|test| !is_met(test))?;
        Some(lacked.lacked(self.asked.root))
    }
}

/// Whether a key may have the text that an access pattern asks for: the constants with which both begin do not contradict.
fn may_find(pattern: &AccessPattern, item: &ItemType) -> bool {
    pattern.conditions().all(|(key, operator, asked)| {
        let is_equal = operator == "=";
        let made = item.template(&key.name).zip(asked.first());
        let Some((made, asked)) = made.filter(|_| is_equal || operator == "begins_with") else {
            return true;
        };
        let ((own, is_all), (text, is_whole)) = (made.prefix(), asked.prefix());
        text.starts_with(own) && (!is_all || text == own)
            || own.starts_with(text) && !(is_equal && is_whole)
    })
}

/// A value of a key, a test of it that a key condition stands for, and whether the test says all that the condition asks of the value.
type KeyTest<'t> = (&'t Placeholder, Test, bool);

/// What a range of keys asks of the values that the keys are made of; `None` in the place of what is not understood.
fn range_tests<'t>(
    item: &ItemType,
    made: &'t Template,
    condition: &SortCondition,
) -> Vec<Option<KeyTest<'t>>> {
    let bounds = match condition {
        SortCondition::Is(_) | SortCondition::BeginsWith(_) => Vec::new(),
        SortCondition::Between(low, high) => vec![(low, true, true), (high, false, true)],
        SortCondition::Less(high) => vec![(high, false, false)],
        SortCondition::LessOrEqual(high) => vec![(high, false, true)],
        SortCondition::Greater(low) => vec![(low, true, false)],
        SortCondition::GreaterOrEqual(low) => vec![(low, true, true)],
    };
    let compared: Vec<_> = bounds
        .iter()
        .map(|(bound, ..)| compared(made, bound))
        .collect();
    let exact = item.domains.recoverable_placeholders(made);
    let is_given = |asked: &Value| !matches!(asked, Value::Parameter(name) if name.is_empty());
    let is_exact = |value: &Placeholder, asked: &Value| {
        let mut exact = exact.iter();
        let mut is_whole = || exact.any(|one| std::ptr::eq(one.placeholder, value));
        is_given(asked) && (value.filters.is_empty() || is_whole())
    };
    // All keys between two bounds begin as both do.
    let same = match compared.as_slice() {
        [(low, _), (high, _)] => {
            let pairs = low.iter().zip(high);
            let same = pairs.take_while(|(low, high)| low.1 == high.1 && is_given(&low.1));
            low.get(..same.count())
        }
        _ => None,
    };
    let same = same.unwrap_or_default();
    let equal = same.iter().map(|(value, asked)| {
        let test = Test::Compare(Comparator::Equal, asked.clone());
        let value: &'t Placeholder = value;
        Some((value, test, is_exact(value, asked)))
    });
    let mut tests: Vec<Option<KeyTest<'t>>> = equal.collect();
    for ((_, is_low, is_in), (values, ordering)) in bounds.iter().zip(&compared) {
        let takes = match ordering {
            Some(Ordering::Equal) => *is_in,
            Some(Ordering::Greater) => *is_low,
            Some(Ordering::Less) => !*is_low,
            None => {
                tests.push(None);
                continue;
            }
        };
        let values = values.get(same.len()..).unwrap_or_default();
        if values.is_empty() && !takes {
            tests.push(None);
        }
        for (nth, (value, asked)) in values.iter().enumerate() {
            let comparator = match (*is_low, takes || nth + 1 < values.len()) {
                (true, true) => Comparator::GreaterOrEqual,
                (true, false) => Comparator::Greater,
                (false, true) => Comparator::LessOrEqual,
                (false, false) => Comparator::Less,
            };
            let value: &'t Placeholder = value;
            let test = Test::Compare(comparator, asked.clone());
            tests.push(Some((value, test, nth == 0 && is_exact(value, asked))));
        }
    }
    tests
}

/// The values that a bound has in the places of the values of a key, and how a key with the same values compares with it; `None` where
/// that is not known.
fn compared<'t>(
    made: &'t Template,
    bound: &Template,
) -> (Vec<(&'t Placeholder, Value)>, Option<Ordering>) {
    let text = asked_text(bound);
    let mut given = bound.placeholders();
    let (mut rest, mut values) = (text.as_str(), Vec::new());
    let mut parts = made.parts.iter().peekable();
    while let Some(part) = parts.next() {
        let placeholder = match part {
            TemplatePart::Optional(_) => return (values, None),
            TemplatePart::Text(own) => {
                if let Some(after) = rest.strip_prefix(own.as_str()) {
                    rest = after;
                    continue;
                }
                let mut pairs = own.chars().zip(rest.chars());
                let differ = pairs.find(|(one, other)| one != other);
                let is_given = differ.is_some_and(|(_, other)| other == PARAMETER);
                return (values, (!is_given).then(|| own.as_str().cmp(rest)));
            }
            TemplatePart::Value(_) if rest.is_empty() => return (values, Some(Ordering::Greater)),
            TemplatePart::Value(placeholder) => placeholder,
        };
        let next = parts.peek().copied();
        let (value, after) = asked_value(rest, placeholder, next, &mut given);
        values.push((placeholder, value));
        rest = after;
    }
    let ordering = if rest.is_empty() {
        Ordering::Equal
    } else {
        Ordering::Less
    };
    (values, Some(ordering))
}

/// Adds the conditions of an access pattern's filter on the columns of an item type; `None` where one is not understood.
fn add_filter(taken: &mut Taken<'_>, pattern: &AccessPattern, of: ItemScan<'_>) -> Option<()> {
    let ItemScan { item, scan, .. } = of;
    let Some(filter) = &pattern.filter else {
        return Some(());
    };
    for condition in filter.conditions()? {
        let node = item.node(condition.attribute)?;
        let is_always = !matches!(node, AttributeNode::When { .. });
        let value = node.template().filter(|_| is_always)?.single()?;
        let is_whole = value.filters.is_empty() && value.place.path.is_empty();
        let test = test_of(&condition, pattern)?;
        if !is_whole && test.parameters().is_empty() {
            return None;
        }
        match test {
            // With `nulls: keep` the attribute is there for NULL too.
            Test::Exists if item.keep_nulls => continue,
            Test::Missing if item.keep_nulls => return None,
            _ => {}
        }
        taken.add(&path(value, scan)?, &test, !is_whole, By::Filter);
    }
    Some(())
}

/// A condition of a filter expression as a test; `None` of what no read says.
fn test_of(condition: &FilterCondition<'_>, pattern: &AccessPattern) -> Option<Test> {
    let values = condition.values.iter().map(|operand| match operand {
        FilterOperand::Parameter(at) => {
            let name = &pattern.parameters.get(*at)?.name;
            Some(Value::Parameter(name.to_string()))
        }
        FilterOperand::Constant(Attribute::S(text)) => Some(Value::Text(text.to_string())),
        FilterOperand::Constant(Attribute::N(number)) => Some(Value::Number(number.clone())),
        FilterOperand::Constant(Attribute::Bool(value)) => Some(Value::Boolean(*value)),
        FilterOperand::Constant(_) => None,
    });
    let values: Vec<Value> = values.collect::<Option<_>>()?;
    let compare = |comparator, value: &Value| Test::Compare(comparator, value.clone());
    Some(match (condition.operator, values.as_slice()) {
        ("attribute_exists", []) => Test::Exists,
        ("attribute_not_exists", []) => Test::Missing,
        ("begins_with", [begin]) => Test::BeginsWith(begin.clone()),
        ("BETWEEN", [low, high]) => Test::All(vec![
            compare(Comparator::GreaterOrEqual, low),
            compare(Comparator::LessOrEqual, high),
        ]),
        ("IN", _) => Test::In {
            list: values,
            negated: false,
        },
        ("=", [value]) => compare(Comparator::Equal, value),
        ("<>", [value]) => compare(Comparator::NotEqual, value),
        ("<", [value]) => compare(Comparator::Less, value),
        ("<=", [value]) => compare(Comparator::LessOrEqual, value),
        (">", [value]) => compare(Comparator::Greater, value),
        (">=", [value]) => compare(Comparator::GreaterOrEqual, value),
        _ => return None,
    })
}
