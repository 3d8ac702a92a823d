//! The rows of which an access pattern finds the items, item type by item type.

use dynafold_dynamodb::Attribute;
use dynafold_mapping::model::{
    AccessPattern, AttributeNode, Expired, FilterCondition, FilterOperand, ItemType,
};
use dynafold_relational::catalog::Table;
use dynafold_relational::scan::Scan;
use dynafold_sql::Comparator;

use super::conditions::{By, ColumnTest, Reads, Taken};
use super::made::{MadeOf, key_values};
use super::{Priced, conditions_of_index, path};
use crate::ask::{Ask, Test, Value};
use crate::path::Path;

/// The rows of an item type that an access pattern answers.
pub(super) struct ItemRows<'d> {
    pub(super) item: &'d ItemType,
    /// Their table; `None` of a query's rows.
    pub(super) table: Option<&'d Table>,
    pub(super) made: MadeOf<'d>,
    /// Those that its key and its filter take.
    pub(super) asked: Taken<'d>,
    /// Those that are items, and stand in its index.
    pub(super) there: Taken<'d>,
}

impl<'d> Priced<'d> {
    /// The rows of the item types that an access pattern answers; `root`: the table that stands for that of a query.
    pub(super) fn rows_of(&self, pattern: &AccessPattern, root: &'d Table) -> Vec<ItemRows<'d>> {
        let items = self.answered(pattern).filter_map(|item| {
            let scan = self.scan(item)?;
            let table = self.table_of(&scan.from);
            let mut asked = Taken::all(table.unwrap_or(root));
            asked.tests = self.key_tests(pattern, item, scan);
            if add_filter(&mut asked, pattern, item, scan).is_none() {
                asked.tests.push(ColumnTest::unknown(By::Filter));
            }
            Some(ItemRows {
                item,
                table,
                made: self.made_of(item, scan, Some(pattern)),
                there: self.there(pattern, item, scan, asked.root),
                asked,
            })
        });
        items.collect()
    }

    /// What a key asks of the columns that it is made of. What `where` holds to one constant is known.
    fn key_tests(
        &self,
        pattern: &AccessPattern,
        item: &'d ItemType,
        scan: &Scan,
    ) -> Vec<ColumnTest<'d>> {
        let fixed = self.fixed(item, scan);
        let tests = key_values(pattern, item).into_iter().filter_map(|value| {
            let is_one = value.comparator == Comparator::Equal && !value.begins;
            let place = &value.placeholder.place;
            let path = path(value.placeholder, scan)?;
            let is_fixed = path.steps.is_empty() && fixed.contains(&path.column.as_str());
            Some(ColumnTest {
                path,
                test: Test::Compare(value.comparator, value.asked),
                folds: !place.path.is_empty() || !value.is_exact,
                by: if is_one && !is_fixed {
                    By::Key
                } else {
                    By::KeyRange
                },
                made: Some(value.placeholder),
            })
        });
        tests.collect()
    }

    /// The rows of an item type that are items, and stand in the index of an access pattern.
    fn there(
        &self,
        pattern: &AccessPattern,
        item: &ItemType,
        scan: &Scan,
        root: &'d Table,
    ) -> Taken<'d> {
        let mut there = Taken::all(root);
        let index = self.index(pattern.index.as_deref());
        let of_index = index.map(|index| conditions_of_index(item, scan, index));
        let conditions = of_index.into_iter().flatten();
        for condition in conditions.chain(self.model.condition(item)) {
            let known = self.facts.conditions(condition, scan, root);
            if known.is_empty() {
                there.tests.push(ColumnTest::unknown(By::Items));
            }
            known
                .iter()
                .for_each(|when| there.add_when(when, By::Items));
        }
        // Rows without elements make no item.
        if !item.explodes.is_empty() || item.expired != Expired::Load {
            there.tests.push(ColumnTest::unknown(By::Items));
        }
        let Some(index) = index.filter(|_| scan.from.table().is_some()) else {
            return there;
        };
        for key in index.key() {
            let Some(node) = item.node(&key.name) else {
                there.tests.push(ColumnTest::unknown(By::Items));
                continue;
            };
            node.visit(&mut |node| {
                let AttributeNode::Template(template) = node else {
                    return;
                };
                for value in template.mandatory().filter(|one| !one.replaces_null()) {
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
            });
        }
        there
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
        let is_there = |path: &Path| {
            let mut all = one.asked.tests.iter().chain(&one.there.tests);
            !path.may_be_null(ask.root, self.facts.catalog)
                || all.any(|one| one.test == Test::Exists && one.path == *path)
        };
        let mut own = one.there.clone();
        own.tests.extend(one.asked.tests.iter().filter_map(|one| {
            // In DynamoDB, an attribute that is not there differs from every value.
            let may_lack = matches!(one.test, Test::Compare(Comparator::NotEqual, _));
            let is_known = one.by != By::KeyRange && !one.folds;
            (is_known && (!may_lack || is_there(&one.path))).then(|| one.clone())
        }));
        one.table.is_some_and(|table| table.name == ask.root.name)
            && !ask.merges()
            && !ask.sorts
            && ask.children.is_empty()
            && ask.required.is_empty()
            && taken.is_within(&own)
    }
}

impl<'d> ItemRows<'d> {
    pub(super) fn is_of(&self, table: &Table) -> bool {
        self.table.is_some_and(|own| own.name == table.name)
    }

    /// Why the key, or the filter, does not take the rows that a read of `root` asks for, whose items these are or which they hold.
    pub(super) fn lacks(&self, root: &Table, reads: &Reads<'_>) -> Option<String> {
        if self.is_of(root) {
            return reads.unmet(&self.asked, "its access pattern");
        }
        let is_met = |test: &ColumnTest<'_>| {
            let paths = self.made.matched_in(&root.name, &test.path).into_iter();
            let mut tests = paths.map(|path| ColumnTest {
                path,
                ..test.clone()
            });
            test.by == By::KeyRange || tests.any(|test| reads.meet(root, &test))
        };
        let lacked = self.asked.tests.iter().find(|test| !is_met(test))?;
        Some(lacked.lacked(self.asked.root))
    }
}

/// Adds the conditions of an access pattern's filter on the columns of an item type; `None` where one is not understood.
fn add_filter(
    taken: &mut Taken<'_>,
    pattern: &AccessPattern,
    item: &ItemType,
    scan: &Scan,
) -> Option<()> {
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
