//! Whether a read gives what the key of an access pattern asks for, and whether that one's SQL returns all of its rows.

use dynafold_dynamodb::Attribute;
use dynafold_mapping::model::{AccessPattern, FilterExpression, FilterOperand, ItemType};
use dynafold_mapping::template::Placeholder;
use dynafold_relational::catalog::Catalog;
use dynafold_relational::scan::Scan;
use dynafold_sql::{
    ColumnRef, Constant, InResult, Name, Operand, OperandValue, RowLimit, Select, SelectOutput,
    SortKey, SqlQuery,
};

use super::columns::{conditions, constants, gives, is_one_value, named};
use super::made::{KeyAsked, asked_of};
use super::{Priced, path};
use crate::ask::{Ask, Asked, Equal, Filter};
use crate::facts::Facts;
use crate::path::Path;

impl Priced<'_> {
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
            let said = said.iter().filter(|one| one.root.name == *root);
            let reads: Vec<&Ask<'_>> = std::iter::once(ask).chain(said).collect();
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
                let lacked = asked.find(|equal| {
                    let own = match &holder {
                        Some(made) => made.matched_in(root, &equal.path),
                        None => vec![equal.path.clone()],
                    };
                    let is_given = |path: &Path| reads.iter().any(|ask| given(ask, path, equal));
                    !own.iter().any(is_given)
                });
                let table = self.table_of(&scan.from).unwrap_or(ask.root);
                Some(lacked.map(|equal| named(table, &equal.path)))
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

    /// The columns of an item type that the key condition of an access pattern holds to one value; those whose value a filter loses
    /// count as folded. What `where` holds to one constant is known.
    fn asked_by_key(&self, pattern: &AccessPattern, item: &ItemType, scan: &Scan) -> Vec<Equal> {
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
            let values = values.filter(|(value, _)| value.shards().is_none());
            found.extend(values.filter_map(|(value, asked)| {
                Some(Equal {
                    path: path(value, scan)?,
                    value: asked,
                    folds: !value.place.path.is_empty() || !is_exact(value),
                    folds_parameter: false,
                    when: None,
                })
            }));
        }
        found.retain(|equal| !fixed.iter().any(|one| is_one_value(&one.path, &equal.path)));
        found
    }

    /// That an access pattern without SQL leaves out, by its `limit` or its `filter`, rows that a read asks for; `said`: the read,
    /// its literals meant.
    pub(super) fn cut_off(
        &self,
        pattern: &AccessPattern,
        query: &SqlQuery,
        asked: &[Ask<'_>],
        said: &[Ask<'_>],
    ) -> Option<String> {
        let is_one = |ask: &Ask<'_>| ask.children.is_empty() && self.facts.asks_for_key(ask);
        // One greatest or least value has no LIMIT in its SQL.
        let is_extreme = |ask: &Ask<'_>| ask.limit == Some(1) && !ask.is_page;
        let needed = match (&query.limit, &query.offset) {
            (RowLimit::None, RowLimit::None) => asked.iter().any(is_extreme).then_some(1),
            (RowLimit::Rows(rows), RowLimit::None) => Some(*rows),
            (RowLimit::Rows(rows), RowLimit::Rows(skipped)) => Some(rows.saturating_add(*skipped)),
            _ => None,
        };
        let limit = pattern.limit.filter(|_| !asked.iter().any(is_one));
        if limit.is_some_and(|most| needed.is_none_or(|needed| needed > u64::from(most))) {
            return Some("its access pattern has a smaller `limit`".to_owned());
        }
        let filter = pattern.filter.as_ref()?;
        let reads = || asked.iter().chain(said);
        let types: Vec<&ItemType> = self.answered(pattern).collect();
        let filtered = self.key_condition(pattern, &types).filtered;
        let is_compared = |column: &&str| {
            let mut paths = reads().flat_map(|ask| conditions(ask));
            let mut others = reads().flat_map(|ask| &ask.clauses.compared);
            paths.any(|path| path.column == **column) || others.any(|(_, one)| one == *column)
        };
        let mut columns = filtered.iter().map(String::as_str);
        let lacked = columns.find(|column| !is_compared(column));
        let lacked = lacked.map(str::to_owned).or_else(|| {
            let mut equal = constants_of(filter).into_iter();
            equal.find_map(|(name, text)| {
                let made = types.iter().filter_map(|item| {
                    let value = item.template(name)?.single()?;
                    path(value, self.scan(item)?)
                });
                let made: Vec<Path> = made.collect();
                let is_said = |path: &Path| reads().any(|ask| says(ask, path, &text));
                let is_lacked = !made.is_empty() && !made.iter().any(is_said);
                is_lacked.then(|| name.to_owned())
            })
        })?;
        Some(format!(
            "its access pattern has a filter on {lacked} that it does not have"
        ))
    }
}

/// Whether a read gives a column of its table what a key asks for: the value of a parameter, or a text.
fn given(ask: &Ask<'_>, path: &Path, asked: &Equal) -> bool {
    let own = Equal {
        path: path.clone(),
        ..asked.clone()
    };
    match &own.value {
        Asked::Constant(text) => says(ask, path, text),
        Asked::Parameter(_) => {
            gives(ask, &own) || own.folds && conditions(ask).any(|known| is_one_value(known, path))
        }
    }
}

/// Whether a read holds a column to a constant that has this text.
fn says(ask: &Ask<'_>, path: &Path, text: &str) -> bool {
    let is_text = |filter: &Filter| match filter.own_value() {
        Some(Constant::Text(value) | Constant::Number(value)) => value == text,
        Some(Constant::Boolean(value)) => value.to_string() == text,
        _ => false,
    };
    let mut filters = ask.filters.iter().chain(constants(ask));
    let is_it = |equal: &Equal| match &equal.value {
        Asked::Constant(value) => value == text && is_one_value(&equal.path, path),
        Asked::Parameter(_) => false,
    };
    ask.equal.iter().any(is_it)
        || filters.any(|filter| is_one_value(&filter.path, path) && is_text(filter))
}

/// The attributes that a filter expression holds to constants, with the texts of these.
fn constants_of(filter: &FilterExpression) -> Vec<(&str, String)> {
    let at = |text: &str, sign: &str| text.strip_prefix(sign)?.parse::<usize>().ok();
    let equal = filter.text.split(" AND ").filter_map(|condition| {
        let (name, value) = condition.split_once(" = ")?;
        let name = filter.names.get(at(name, "#f")?)?;
        let text = match filter.values.get(at(value, ":f")?)? {
            FilterOperand::Constant(Attribute::S(text)) => text.to_string(),
            FilterOperand::Constant(Attribute::N(number)) => number.to_string(),
            FilterOperand::Constant(Attribute::Bool(value)) => value.to_string(),
            _ => return None,
        };
        Some((&**name, text))
    });
    equal.collect()
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
        let outputs = select.outputs.iter().map(|output| match output {
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
        let computed = select.outputs.iter().flat_map(|output| match output {
            SelectOutput::One { value, .. } => value.columns(),
            SelectOutput::All | SelectOutput::AllOf(_) => &[],
        });
        let grouped = select.grouped_by.as_ref();
        (
            outputs.collect::<Vec<_>>(),
            computed.map(of).collect::<Vec<_>>(),
            grouped.map(|by| by.iter().map(of).collect::<Vec<_>>()),
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
