//! Whether a read gives what the key of an access pattern asks for, and whether that one's SQL, or its `limit` and its `filter`, leave out
//! rows of it.

use dynafold_dynamodb::Attribute;
use dynafold_mapping::model::{
    AccessPattern, AttributeNode, FilterCondition, FilterOperand, ItemType,
};
use dynafold_mapping::template::{Context, Placeholder, canonical};
use dynafold_relational::catalog::Catalog;
use dynafold_relational::scan::Scan;
use dynafold_relational::value::{self, Number};
use dynafold_sql::{
    ColumnRef, Comparator, Condition, Constant, InResult, Name, Operand, OperandValue, RowLimit,
    Select, SelectOutput, SortKey, SqlQuery,
};

use super::columns::{
    Compared, RowTest, conditions, constants, gives, is_one_value, meets_filter, named, row_tests,
    split_parameter, values_of_filter,
};
use super::made::{KeyAsked, asked_of};
use super::{Priced, conditions_of_index, path};
use crate::ask::{Ask, Asked, Equal, Filter, Test, Value, When};
use crate::existing::Existing;
use crate::facts::Facts;
use crate::path::Path;

impl<'d> Priced<'d> {
    /// A column that the key of an access pattern without SQL asks for and a read does not say; `said`: the read, its literals meant.
    /// One item type of the read's table, or else one whose items hold its rows, and one way to read it, is enough.
    pub(super) fn key_not_given(
        &self,
        pattern: &AccessPattern,
        asked: &[Ask<'_>],
        said: &[Ask<'_>],
    ) -> Option<String> {
        let lacked = |ask: &Ask<'_>| {
            let root = &ask.root.name;
            let reads = both_ways(ask, said);
            let items = self.answered(pattern);
            let items = items.filter_map(|item| Some((item, self.scan(item)?)));
            let items: Vec<_> = items.collect();
            let is_own = |scan: &Scan| scan.from.table() == Some(root);
            let has_own = items.iter().any(|(_, scan)| is_own(scan));
            let lacked = items.into_iter().filter_map(|(item, scan)| {
                let holder =
                    (!is_own(scan)).then(|| self.made_of(item, scan, None, &KeyAsked::default()));
                if let Some(made) = &holder
                    && (has_own || !made.has_some(root))
                {
                    return None;
                }
                let mut asked = self.asked_by_key(pattern, item, scan).into_iter();
                let lacked = asked.find(|(equal, value)| {
                    let own = match &holder {
                        Some(made) => made.matched_in(root, &equal.path),
                        None => vec![equal.path.clone()],
                    };
                    let is_given =
                        |path: &Path| reads.iter().any(|ask| given(ask, path, equal, value));
                    !own.iter().any(is_given)
                });
                let table = self.table_of(&scan.from).unwrap_or(ask.root);
                Some(lacked.map(|(equal, _)| named(table, &equal.path)))
            });
            let lacked: Option<Vec<String>> = lacked.collect();
            lacked?.into_iter().next()
        };
        let lacked: Option<Vec<String>> = asked.iter().map(lacked).collect();
        let column = lacked?.into_iter().next()?;
        Some(format!(
            "its key asks for {column}, which the read does not give"
        ))
    }

    /// The columns of an item type that the key condition of an access pattern holds to one value, with the values of the key that are
    /// made of them; those whose value a filter loses count as folded. What `where` holds to one constant is known.
    fn asked_by_key(
        &self,
        pattern: &AccessPattern,
        item: &'d ItemType,
        scan: &Scan,
    ) -> Vec<(Equal, &'d Placeholder)> {
        let table = self.table_of(&scan.from);
        let condition = self.model.condition(item).zip(table);
        let fixed = condition.map(|(one, table)| self.facts.conditions(one, scan, table));
        let fixed = fixed.into_iter().flatten().filter_map(|when| when.filter);
        let fixed: Vec<Filter> = fixed.filter(|one| one.own_value().is_some()).collect();
        let mut found = Vec::new();
        for (key, asked, is_begun) in KeyAsked::of(pattern, None).fixed {
            let Some(made) = item.template(key) else {
                continue;
            };
            let exact = item.domains.recoverable_placeholders(made);
            let is_exact = |value: &Placeholder| {
                let mut exact = exact.iter();
                value.filters.is_empty() || exact.any(|one| std::ptr::eq(one.placeholder, value))
            };
            let values = asked_of(made, asked, is_begun).into_iter();
            let values =
                values.filter(|value| !value.begins && value.placeholder.shards().is_none());
            found.extend(values.filter_map(|asked| {
                let value = asked.placeholder;
                let equal = Equal {
                    path: path(value, scan)?,
                    value: asked.asked,
                    folds: !value.place.path.is_empty() || !is_exact(value),
                    folds_parameter: false,
                    when: None,
                };
                Some((equal, value))
            }));
        }
        found.retain(|(equal, _)| !fixed.iter().any(|one| is_one_value(&one.path, &equal.path)));
        found
    }

    /// That an access pattern leaves out, by its `limit` alone, rows that a read asks for; `said`: the read, its literals meant.
    pub(super) fn cut_off(
        &self,
        pattern: &AccessPattern,
        query: &SqlQuery,
        asked: &[Ask<'_>],
        said: &[Ask<'_>],
    ) -> Option<String> {
        let is_one = |ask: &Ask<'_>| ask.children.is_empty() && self.facts.asks_for_key(ask);
        let most = pattern.limit.filter(|_| !asked.iter().any(is_one))?;
        // One greatest or least value has no LIMIT in its SQL.
        let is_extreme =
            |ask: &Ask<'_>| query.limit == RowLimit::None && ask.limit == Some(1) && !ask.is_page;
        let needed = match (&query.limit, &query.offset) {
            (RowLimit::None, RowLimit::None) => asked.iter().any(is_extreme).then_some(1),
            (RowLimit::Rows(rows), RowLimit::None) => Some(*rows),
            (RowLimit::Rows(rows), RowLimit::Rows(skipped)) => Some(rows.saturating_add(*skipped)),
            _ => None,
        };
        if needed.is_none_or(|needed| needed > u64::from(most)) {
            return Some("its access pattern has a smaller `limit`".to_owned());
        }
        let takes_first = |ask: &Ask<'_>| {
            let mut ask = ask.clone();
            if is_extreme(&ask) {
                ask.order.truncate(1);
            }
            self.takes_first(pattern, &ask)
        };
        let is_first = asked.iter().chain(said).any(takes_first);
        (!is_first).then(|| NOT_FIRST.to_owned())
    }

    /// That an access pattern without SQL compares two columns, or two bounds of one, with one parameter, and a read may compare them with
    /// two; `said`: the read, its literals meant. One item type of the read's table, and one way to read it, is enough.
    pub(super) fn parameter_split(
        &self,
        pattern: &AccessPattern,
        asked: &[Ask<'_>],
        said: &[Ask<'_>],
    ) -> Option<String> {
        let lacked = |ask: &Ask<'_>| {
            let reads = both_ways(ask, said);
            let items = self.answered(pattern);
            let items = items.filter_map(|item| Some((item, self.scan(item)?)));
            let items = items.filter(|(_, scan)| scan.from.table() == Some(&ask.root.name));
            let lacked = items.map(|(item, scan)| {
                let columns = split_parameter(ask.root, &compared(pattern, item, scan), &reads)?;
                Some(format!(
                    "its access pattern compares {columns} with one parameter, which the statement does not"
                ))
            });
            let lacked: Option<Vec<String>> = lacked.collect();
            lacked?.into_iter().next()
        };
        let lacked: Option<Vec<String>> = asked.iter().map(lacked).collect();
        lacked?.into_iter().next()
    }

    /// Whether the items that an access pattern takes are the first rows of a read, whatever its `limit`: those that meet all
    /// conditions of the read, in its order.
    fn takes_first(&self, pattern: &AccessPattern, ask: &Ask<'_>) -> bool {
        let mut types = self.answered(pattern);
        let (Some(item), None) = (types.next(), types.next()) else {
            return false;
        };
        let scan = self.scan(item);
        let Some(scan) = scan.filter(|scan| scan.from.table() == Some(&ask.root.name)) else {
            return false;
        };
        let Some(filters) = filter_conditions(pattern, item, scan) else {
            return false;
        };
        let index = self.index(pattern.index.as_deref());
        let of_index = index.map(|index| conditions_of_index(item, scan, index));
        let conditions = of_index.into_iter().flatten();
        let conditions = conditions.chain(self.model.condition(item));
        let conditions = conditions.flat_map(|one| self.facts.conditions(one, scan, ask.root));
        let conditions: Vec<When> = conditions.collect();
        let by_key = self.asked_by_key(pattern, item, scan).into_iter();
        let by_key: Vec<Equal> = by_key.map(|(equal, _)| equal).collect();
        let by_key = by_key.iter().filter(|equal| !equal.folds);
        let has_only_values = |filter: &Filter| {
            let of_conditions = conditions.iter().filter_map(|when| when.filter.as_ref());
            let mut all = filters.iter().map(|(one, _)| one).chain(of_conditions);
            // In DynamoDB, an attribute that is not there differs from every value.
            !matches!(filter.test, Test::Compare(Comparator::NotEqual, _))
                || !filter.path.may_be_null(ask.root, self.facts.catalog)
                || all.any(|one| one.test == Test::Exists && one.path == filter.path)
        };
        let known = filters.iter();
        let known = known.filter(|(filter, is_whole)| *is_whole && has_only_values(filter));
        let own = by_key.flat_map(RowTest::of_equal);
        let own = own.chain(known.flat_map(|(filter, _)| RowTest::of(filter)));
        let own: Vec<RowTest<'_>> = own
            .chain(conditions.iter().flat_map(RowTest::of_condition))
            .collect();
        let existing = Existing {
            model: self.model,
            catalog: self.facts.catalog,
        };
        !ask.merges()
            && !ask.sorts
            && ask.children.is_empty()
            && ask.required.is_empty()
            && row_tests(ask).iter().all(|test| own.contains(test))
            && existing.is_in_order(item, &pattern.order, ask, pattern.descending)
    }

    /// That an access pattern without SQL leaves out, by its `filter`, rows that a read asks for; `said`: the read, its literals meant.
    /// One way to read it that has all rows is enough.
    pub(super) fn filtered_out(
        &self,
        pattern: &AccessPattern,
        asked: &[Ask<'_>],
        said: &[Ask<'_>],
    ) -> Option<String> {
        pattern.filter.as_ref()?;
        let items = self.answered(pattern);
        let items = items.filter_map(|item| Some((item, self.scan(item)?)));
        let items: Vec<(&ItemType, &Scan)> = items.collect();
        let lacked = |ask: &Ask<'_>| {
            let reads = both_ways(ask, said);
            let is_read = |scan: &Scan| {
                let mut tables = ask.tables();
                tables.any(|table| scan.from.table() == Some(&table.name))
            };
            let has_read = items.iter().any(|(_, scan)| is_read(scan));
            let mut items = items.iter().filter(|(_, scan)| is_read(scan) || !has_read);
            items.find_map(|(item, scan)| {
                let Some(filters) = filter_conditions(pattern, item, scan) else {
                    return Some(
                        "its access pattern has a filter that is not understood".to_owned(),
                    );
                };
                let is_own = scan.from.table() == Some(&ask.root.name);
                let is_met = |filter: &Filter, is_whole: bool| {
                    let is_compared = || {
                        let mut compared = reads.iter().flat_map(|ask| conditions(ask));
                        compared.any(|path| is_one_value(path, &filter.path))
                    };
                    is_own
                        && if is_whole {
                            meets_filter(self.facts, &reads, ask.root, filter)
                        } else {
                            is_compared()
                        }
                };
                let mut filters = filters.into_iter();
                let (lacked, _) = filters.find(|(filter, is_whole)| !is_met(filter, *is_whole))?;
                Some(format!(
                    "its access pattern has a filter on {} that the statement does not have",
                    lacked.path.column
                ))
            })
        };
        let lacked: Option<Vec<String>> = asked.iter().map(lacked).collect();
        lacked?.into_iter().next()
    }
}

/// The values that an access pattern compares columns of an item type with, by its key and its filter.
fn compared(pattern: &AccessPattern, item: &ItemType, scan: &Scan) -> Vec<Compared> {
    let by_key = pattern.conditions().flat_map(|(key, operator, asked)| {
        let made = item.template(&key.name);
        asked.into_iter().enumerate().flat_map(move |(nth, asked)| {
            let is_low = nth == 0 && matches!(operator, ">" | ">=" | "between");
            let values = made.into_iter();
            let values = values.flat_map(move |made| asked_of(made, asked, true));
            let values = values.filter(|value| value.placeholder.shards().is_none());
            values.filter_map(move |value| {
                Some(Compared {
                    path: path(value.placeholder, scan)?,
                    value: value.asked,
                    is_low,
                })
            })
        })
    });
    let filters = filter_conditions(pattern, item, scan).unwrap_or_default();
    let by_filter = filters.iter();
    let by_filter = by_filter.flat_map(|(filter, _)| values_of_filter(filter));
    by_key.chain(by_filter).collect()
}

/// The conditions of an access pattern's filter on the columns of an item type, each with whether the attribute is the column as it
/// is. `None` where one is not understood.
fn filter_conditions(
    pattern: &AccessPattern,
    item: &ItemType,
    scan: &Scan,
) -> Option<Vec<(Filter, bool)>> {
    let Some(filter) = &pattern.filter else {
        return Some(Vec::new());
    };
    let conditions = filter.conditions()?.into_iter();
    let filters = conditions.map(|condition| {
        let node = item.node(condition.attribute)?;
        let is_always = !matches!(node, AttributeNode::When { .. });
        let value = node.template().filter(|_| is_always)?.single()?;
        let filter = Filter {
            path: path(value, scan)?,
            test: test_of(&condition, pattern)?,
        };
        let is_whole = value.filters.is_empty() && value.place.path.is_empty();
        let is_known = is_whole || !filter.test.parameters().is_empty();
        is_known.then_some((filter, is_whole))
    });
    filters.collect()
}

/// A read with its literals as examples, and the same read of that table with its literals meant.
fn both_ways<'a, 'c>(ask: &'a Ask<'c>, said: &'a [Ask<'c>]) -> Vec<&'a Ask<'c>> {
    let said = said.iter().filter(|one| one.root.name == ask.root.name);
    std::iter::once(ask).chain(said).collect()
}

/// Why an access pattern with a `limit` serves no read that may want other rows.
const NOT_FIRST: &str = "its access pattern has a `limit`, and its items are not known to be the first rows of the read";

/// A condition of a filter expression as a test; `None` of what no read says.
fn test_of(condition: &FilterCondition<'_>, pattern: &AccessPattern) -> Option<Test> {
    let value = |operand: &&FilterOperand| {
        Some(match operand {
            FilterOperand::Parameter(at) => {
                Value::Parameter(pattern.parameters.get(*at)?.name.to_string())
            }
            FilterOperand::Constant(Attribute::S(text)) => Value::Text(text.to_string()),
            FilterOperand::Constant(Attribute::N(number)) => Value::Number(number.clone()),
            FilterOperand::Constant(Attribute::Bool(value)) => Value::Boolean(*value),
            FilterOperand::Constant(_) => return None,
        })
    };
    let values: Vec<Value> = condition.values.iter().map(value).collect::<Option<_>>()?;
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
            list: values.clone(),
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

/// Whether a read gives a column of its table what a key asks for: the value of a parameter, or a text; `value`: what the key makes of
/// the column.
fn given(ask: &Ask<'_>, path: &Path, asked: &Equal, value: &Placeholder) -> bool {
    match &asked.value {
        Asked::Constant(text) => says(ask, path, text, value),
        Asked::Parameter(_) => {
            gives(ask, path, asked.folds)
                || asked.folds && conditions(ask).any(|known| is_one_value(known, path))
        }
    }
}

/// Whether a read holds a column to a constant of which a key makes this text.
fn says(ask: &Ask<'_>, path: &Path, text: &str, value: &Placeholder) -> bool {
    let filters = ask.filters.iter().chain(constants(ask));
    let filters = filters.filter(|filter| is_one_value(&filter.path, path));
    let equal = ask.equal.iter();
    let equal = equal.filter(|equal| is_one_value(&equal.path, path) && !equal.folds);
    let texts = equal.filter_map(|equal| match &equal.value {
        Asked::Constant(text) => Some(Constant::Text(text.clone())),
        Asked::Parameter(_) => None,
    });
    let mut said = filters.filter_map(Filter::own_value).chain(texts);
    said.any(|constant| text_in_key(value, &constant).as_deref() == Some(text))
}

/// The text that a value of a key has where its column has a constant.
fn text_in_key(placeholder: &Placeholder, constant: &Constant) -> Option<String> {
    let own = match constant {
        Constant::Text(text) => value::Value::Text(text.as_str().into()),
        Constant::Number(number) => value::Value::Number(Number::parse(number).ok()?),
        Constant::Boolean(value) => value::Value::Bool(*value),
        Constant::Null | Constant::Other => return None,
    };
    let context = Context::default();
    let mut filters = placeholder.filters.iter();
    let made = filters.try_fold(own, |own, filter| filter.apply(own, &context));
    canonical(&made.ok()?).map(str::to_owned)
}

/// Whether the SQL of an access pattern, `own`, merges rows, skips them or cuts them by a LIMIT, and a read asks for others.
pub(super) fn returns_fewer(
    facts: Facts<'_>,
    (own, asks): (&SqlQuery, &[Ask<'_>]),
    (read, asked): (&SqlQuery, &[Ask<'_>]),
) -> bool {
    if asks.iter().any(Ask::merges) {
        return merges_otherwise(own, read, facts.catalog);
    }
    let skips = matches!(own.offset, RowLimit::Rows(rows) if rows > 0);
    if skips && own.offset != read.offset {
        return true;
    }
    // One greatest or least value has no LIMIT in its SQL.
    let is_extreme = |query: &SqlQuery, ask: &Ask<'_>| {
        query.limit == RowLimit::None && ask.limit == Some(1) && !ask.is_page
    };
    let has_extreme =
        |query: &SqlQuery, asks: &[Ask<'_>]| asks.iter().any(|ask| is_extreme(query, ask));
    let most = |query: &SqlQuery, asks: &[Ask<'_>]| match query.limit {
        RowLimit::Rows(rows) => Some(rows),
        _ => has_extreme(query, asks).then_some(1),
    };
    let is_one = |ask: &Ask<'_>| ask.children.is_empty() && facts.asks_for_key(ask);
    let Some(cut) = most(own, asks).filter(|_| !asks.iter().any(is_one)) else {
        return false;
    };
    // The LIMIT of a read that merges rows counts the merged ones.
    if asked.iter().any(Ask::merges) {
        return true;
    }
    let skipped = match read.offset {
        _ if skips => Some(0),
        RowLimit::None => Some(0),
        RowLimit::Rows(rows) => Some(rows),
        _ => None,
    };
    let needed = most(read, asked).zip(skipped);
    if needed.is_none_or(|(most, skipped)| most.saturating_add(skipped) > cut) {
        return true;
    }
    let order = |ask: &Ask<'_>| {
        let columns = if is_extreme(read, ask) { 1 } else { usize::MAX };
        ask.order.iter().take(columns).cloned().collect::<Vec<_>>()
    };
    let is_sorted = |ask: &&Ask<'_>| !ask.sorts && ask.children.is_empty();
    let sorts_so = |one: &Ask<'_>| {
        let mut own = asks.iter().filter(is_sorted);
        own.any(|ask| ask.order.starts_with(&order(one)))
    };
    // A greatest or least value is sorted for without ORDER BY.
    let is_same_order = keys(own, facts.catalog) == keys(read, facts.catalog)
        && !has_extreme(own, asks)
        && !has_extreme(read, asked);
    !is_same_order && !asked.iter().filter(is_sorted).any(sorts_so)
}

/// Whether an access pattern has a `limit` by which it gives fewer rows than its SQL, `own`.
pub(super) fn cuts_more(pattern: &AccessPattern, own: &SqlQuery, asks: &[Ask<'_>]) -> bool {
    pattern.limit.is_some_and(|most| match own.limit {
        RowLimit::Rows(rows) => rows > u64::from(most),
        // One greatest or least value has no LIMIT in its SQL.
        RowLimit::None => asks.iter().all(|ask| ask.limit.is_none()),
        RowLimit::Parameter(_) | RowLimit::Unknown => true,
    })
}

/// A column as a query names it, whatever it calls the table.
fn resolved(column: &ColumnRef, select: &Select, catalog: &Catalog) -> ColumnRef {
    let name = |text: String| Name {
        text,
        is_exact: true,
    };
    let origin = select.origin(column, catalog);
    origin.map_or_else(
        || column.clone(),
        |(at, table, found)| ColumnRef {
            schema: None,
            owner: Some(name(format!("{} {at}", table.name.name))),
            name: name(found.name.clone()),
        },
    )
}

/// What a query sorts by, wherever that stands in its text.
fn keys(query: &SqlQuery, catalog: &Catalog) -> Vec<SortKey> {
    let keys = query.order.iter().flatten();
    let keys = keys.map(|key| {
        let column = key.column.as_ref().zip(query.select());
        let column = column.map(|(column, select)| resolved(column, select, catalog));
        SortKey {
            result: match &column {
                Some(_) => InResult::Expression,
                None => key.result.clone(),
            },
            column,
            span: 0..0,
            ..key.clone()
        }
    });
    keys.collect()
}

/// Whether SQL that merges rows, `own`, is not known to give all merged rows that a read asks for, with what it asks of them.
fn merges_otherwise(own: &SqlQuery, read: &SqlQuery, catalog: &Catalog) -> bool {
    let Some((ours, asked)) = own.select().zip(read.select()) else {
        return true;
    };
    let is_cut = own.limit != RowLimit::None || own.offset != RowLimit::None;
    // Its ORDER BY decides which rows there are.
    let picks = is_cut || ours.distinct_on.is_some();
    let merged = |select: &Select| {
        let of = |column: &ColumnRef| resolved(column, select, catalog);
        // A column with one value in all rows tells no groups apart.
        let fixed = select.conditions.iter().filter_map(Condition::fixed);
        let fixed: Vec<ColumnRef> = fixed.map(of).collect();
        let outputs = select.outputs.iter().filter(|output| match output {
            SelectOutput::One { value, .. } => {
                let mut own = value.column().into_iter();
                picks || !own.any(|column| fixed.contains(&of(column)))
            }
            SelectOutput::All | SelectOutput::AllOf(_) => true,
        });
        let computed = outputs.clone();
        let outputs = outputs.map(|output| match output {
            SelectOutput::One { name, value } => SelectOutput::One {
                // ORDER BY may sort by the names of what is selected.
                name: name.clone().filter(|_| picks),
                value: match &value.value {
                    OperandValue::Column(column) => Operand {
                        value: OperandValue::Column(of(column)),
                        ..value.clone()
                    },
                    _ => value.clone(),
                },
            },
            output => output.clone(),
        });
        // An expression has the names of the query in it.
        let computed = computed.flat_map(|output| match output {
            SelectOutput::One { value, .. } => value.columns(),
            SelectOutput::All | SelectOutput::AllOf(_) => &[],
        });
        let grouped = select.grouped_by.as_ref().map(|by| {
            let all = by.iter().map(of);
            all.filter(|column| !fixed.contains(column))
                .collect::<Vec<_>>()
        });
        (
            outputs.collect::<Vec<_>>(),
            computed.map(of).collect::<Vec<_>>(),
            (select.groups, grouped),
            select.distinct,
            select.distinct_on.clone(),
        )
    };
    let tables = |query: &SqlQuery| {
        let names = query.tables.iter().map(|table| table.name.clone());
        names.collect::<Vec<_>>()
    };
    let mut sorted = read.order.iter().flatten();
    ours.having
        || asked.having
        || ours.grouped_by.is_none()
        || sorted.any(|key| key.result == InResult::Expression && key.column.is_none())
        || merged(ours) != merged(asked)
        || tables(own) != tables(read)
        || picks
            && (&own.limit, &own.offset, keys(own, catalog))
                != (&read.limit, &read.offset, keys(read, catalog))
}
