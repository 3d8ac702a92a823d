//! Whether a read gives what the key of an access pattern asks for, and whether that one's SQL returns all of its rows.

use dynafold_mapping::model::{
    AccessPattern, AttributeNode, ItemType, SortCondition, TemplatePart,
};
use dynafold_relational::scan::Scan;
use dynafold_sql::{InResult, OperandValue, RowLimit, Select, SelectOutput, SortKey, SqlQuery};

use super::columns::{conditions, gives, is_one_value, named};
use super::{Priced, path};
use crate::ask::{Ask, Asked, Equal, Filter};
use crate::facts::Facts;

impl Priced<'_> {
    /// A column that the key of an access pattern without SQL asks for and a read does not say; `said`: the read, its literals meant.
    /// One item type of the read's table, and one way to read it, is enough.
    pub(super) fn key_not_given(
        &self,
        pattern: &AccessPattern,
        asked: &[Ask<'_>],
        said: &[Ask<'_>],
    ) -> Option<String> {
        let lacked = |ask: &Ask<'_>| {
            let said = said.iter().filter(|one| one.root.name == ask.root.name);
            let reads: Vec<&Ask<'_>> = std::iter::once(ask).chain(said).collect();
            let items = self.answered(pattern).filter_map(|item| {
                let scan = self.scan(item)?;
                (scan.from.table() == Some(&ask.root.name)).then_some((item, scan))
            });
            let lacked = items.map(|(item, scan)| {
                let asked = self.asked_by_key(pattern, item, scan).into_iter();
                let mut lacked = asked.filter(|equal| {
                    let is_given = |ask: &&Ask<'_>| {
                        gives(ask, equal)
                            || equal.folds
                                && conditions(ask).any(|path| is_one_value(path, &equal.path))
                    };
                    !reads.iter().any(is_given)
                });
                lacked.next().map(|equal| named(ask.root, &equal.path))
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

    /// The columns of an item type that stand where the key condition of an access pattern asks for one value; those that a filter
    /// changes count as folded. What `where` holds to one constant is known.
    fn asked_by_key(&self, pattern: &AccessPattern, item: &ItemType, scan: &Scan) -> Vec<Equal> {
        let partition = pattern.partition.iter().map(|(key, asked)| (key, asked));
        let sort = pattern.sort.iter().filter_map(|(key, asked)| match asked {
            SortCondition::Is(asked) => Some((key, asked)),
            _ => None,
        });
        let table = self.table_of(&scan.from);
        let condition = self.model.condition(item).zip(table);
        let fixed = condition.map(|(one, table)| self.facts.conditions(one, scan, table));
        let fixed = fixed.into_iter().flatten().filter_map(|when| when.filter);
        let fixed: Vec<Filter> = fixed.filter(|one| one.own_value().is_some()).collect();
        let mut found = Vec::new();
        for (key, asked) in partition.chain(sort) {
            let Some(node) = item.node(&key.name) else {
                continue;
            };
            node.visit(&mut |node| {
                let AttributeNode::Template(made) = node else {
                    return;
                };
                let both = made.flat().into_iter().zip(asked.flat());
                let both = both.filter_map(|both| match both {
                    (TemplatePart::Value(made), TemplatePart::Value(asked)) => Some((made, asked)),
                    _ => None,
                });
                let both = both.filter(|(made, asked)| {
                    made.shards().is_none() && pattern.parameters.get(asked.place.column).is_some()
                });
                found.extend(both.filter_map(|(made, _)| {
                    Some(Equal {
                        path: path(made, scan)?,
                        value: Asked::Parameter(String::new()),
                        folds: !made.filters.is_empty() || !made.place.path.is_empty(),
                        folds_parameter: false,
                        when: None,
                    })
                }));
            });
        }
        found.retain(|equal| !fixed.iter().any(|one| is_one_value(&one.path, &equal.path)));
        found
    }
}

/// Whether the SQL of an access pattern, `own`, merges rows, skips them or cuts them by a LIMIT, and a read asks for others.
pub(super) fn returns_fewer(
    facts: Facts<'_>,
    (own, asks): (&SqlQuery, &[Ask<'_>]),
    (read, asked): (&SqlQuery, &[Ask<'_>]),
) -> bool {
    if asks.iter().any(Ask::merges) {
        return merges_otherwise(own, read);
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
    let is_same_order =
        keys(own) == keys(read) && !has_extreme(own, asks) && !has_extreme(read, asked);
    !is_same_order && !asked.iter().filter(is_sorted).any(sorts_so)
}

/// What a query sorts by, wherever that stands in its text.
fn keys(query: &SqlQuery) -> Vec<SortKey> {
    let keys = query.order.iter().flatten().cloned();
    keys.map(|key| SortKey { span: 0..0, ..key }).collect()
}

/// Whether SQL that merges rows, `own`, is not known to give all merged rows that a read asks for, with what it asks of them.
fn merges_otherwise(own: &SqlQuery, read: &SqlQuery) -> bool {
    let Some((ours, asked)) = own.select().zip(read.select()) else {
        return true;
    };
    let is_cut = own.limit != RowLimit::None || own.offset != RowLimit::None;
    // Its ORDER BY decides which rows there are.
    let picks = is_cut || ours.distinct_on.is_some();
    let merged = |select: &Select| {
        // ORDER BY may sort by the names of what is selected.
        let outputs = select.outputs.iter().map(|output| match output {
            SelectOutput::One { value, .. } if !picks => SelectOutput::One {
                name: None,
                value: value.clone(),
            },
            output => output.clone(),
        });
        (
            outputs.collect::<Vec<_>>(),
            select.grouped_by.clone(),
            select.distinct,
            select.distinct_on.clone(),
        )
    };
    let tables = |query: &SqlQuery| {
        let names = query.tables.iter().map(|table| table.name.clone());
        names.collect::<Vec<_>>()
    };
    // What is computed of columns is known only by the columns that it takes.
    let is_computed = |output: &SelectOutput| {
        matches!(output, SelectOutput::One { value, .. }
            if matches!(value.value, OperandValue::Expression(_)) && !value.columns().is_empty())
    };
    let mut sorted = read.order.iter().flatten();
    ours.having
        || asked.having
        || ours.grouped_by.is_none()
        || ours.outputs.iter().any(is_computed)
        || sorted.any(|key| key.result == InResult::Expression && key.column.is_none())
        || merged(ours) != merged(asked)
        || tables(own) != tables(read)
        || picks && (&own.limit, &own.offset, keys(own)) != (&read.limit, &read.offset, keys(read))
}
