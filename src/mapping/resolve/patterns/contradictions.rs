//! What a pattern says otherwise than its SQL: the order of what comes back, how much of it, and what the index does not
//! hold of it. Only what is plain to see is told; the rest is left to `verify`.

use super::align::Make;
use super::bind::Binder;
use super::keys::Keys;
use crate::catalog::{Catalog, TableName};
use crate::diagnostic::{Code, Diagnostic};
use crate::mapping::model::{Placeholder, Projection};
use crate::mapping::resolve::anchor::Anchor;
use crate::mapping::template::Filter;
use crate::sql::{
    ColumnRef, Comparator, Condition, Limit, Operand, Output, Query, Select, SortKey, Test, Value,
};

/// How the sort key of an item type stands to the column that the SQL sorts by.
enum Sorts {
    /// It begins with the column, behind what the SQL fixes; and whether the key turns the order around.
    By { turned: bool },
    /// It does not have the column.
    Otherwise,
    /// It is not plain to see.
    Unknown,
}

impl Binder<'_> {
    /// Tells of an order and a limit that contradict the SQL's.
    pub(super) fn contradictions(&mut self, keys: &Keys<'_>) {
        let (Some(sql), Some(query)) = (&self.raw.sql, &self.query) else {
            return;
        };
        let mut found = Vec::new();
        if let Some((message, key)) = self.other_order(query, keys) {
            found.push((Anchor::of(sql).range(&key.span), message));
        }
        if let (Some(limit), Limit::Rows(rows)) = (&self.raw.limit, &query.limit)
            && limit.value != *rows
        {
            let message = format!(
                "the limit is {}, and that of its SQL is {rows}",
                limit.value
            );
            found.push((limit.span.clone(), message));
        }
        let warnings = found.into_iter().map(|(span, message)| {
            Diagnostic::new(Code::OtherOrder, span, message)
                .with_other(self.raw.name.span.clone(), "this pattern answers otherwise than its SQL")
                .with_help("say the same in both; if the application minds the difference: accept: [other-order]")
        });
        self.warnings.extend(warnings);
    }

    /// What is said of the order of a query that the sort key does not have.
    fn other_order<'q>(&self, query: &'q Query, keys: &Keys<'_>) -> Option<(String, &'q SortKey)> {
        let select = query.select()?;
        let is_fixed = |column: &ColumnRef| {
            let mut fixed = select.conditions.iter().filter_map(fixed);
            fixed.any(|other| is_same(column, other, select))
        };
        let mut terms = query.order.iter().flatten();
        let key = terms.find(|key| !key.column.as_ref().is_some_and(is_fixed))?;
        let column = key.column.as_ref()?;
        select.origin(column, self.ground.catalog?)?;
        let written = column.name.text.as_str();
        if keys.sort.is_empty() && keys.index.is_some() {
            let message = format!(
                "its SQL sorts by `{written}`, and {} has no sort key",
                keys.called()
            );
            return Some((message, key));
        }
        let mut sorts = self
            .promised()
            .map(|make| sorts(make, keys, column, select, &is_fixed));
        let first = sorts.next()?;
        let rest: Vec<Sorts> = sorts.collect();
        let are = |is: &dyn Fn(&Sorts) -> bool| is(&first) && rest.iter().all(is);
        if are(&|sorts| matches!(sorts, Sorts::Otherwise)) {
            let called: Vec<&str> = keys.sort.iter().map(|key| &*key.name).collect();
            let message = format!(
                "its SQL sorts by `{written}`, which `{}` does not hold",
                called.join("`, `")
            );
            return Some((message, key));
        }
        let upside_down = key.descending != self.raw.descending;
        if are(&|sorts| matches!(sorts, Sorts::By { turned } if *turned != upside_down)) {
            let (own, other) = if key.descending {
                ("downwards", "upwards")
            } else {
                ("upwards", "downwards")
            };
            let message = format!("its SQL sorts `{written}` {own}, and the pattern {other}");
            return Some((message, key));
        }
        None
    }

    /// The item types that the pattern promises.
    fn promised(&self) -> impl Iterator<Item = &Make> {
        let is_promised = |make: &&Make| {
            let mut items = self.raw.items.iter();
            self.raw.items.is_empty() || items.any(|item| *item.value == *make.name)
        };
        self.ground.makes.iter().filter(is_promised)
    }

    /// Tells of columns that the SQL selects, and that the index does not hold though the items have them.
    pub(super) fn projected(&mut self, keys: &Keys<'_>) {
        let (Some(sql), Some(query), Some(catalog)) =
            (&self.raw.sql, &self.query, self.ground.catalog)
        else {
            return;
        };
        if keys
            .index
            .is_none_or(|(index, _)| index.projection == Projection::All)
        {
            return;
        }
        // What `answer` calls otherwise is held against the index there.
        let outputs = query.selects.iter().flat_map(|select| &select.outputs);
        let answered: Vec<String> = outputs
            .filter_map(|output| match output {
                Output::One {
                    name: Some(name),
                    value,
                } => {
                    let mut said = self.raw.answer.iter().map(|(_, said)| &said.value);
                    let column = value.column().filter(|_| said.any(|said| name.is(said)))?;
                    Some(column.name.text.clone())
                }
                _ => None,
            })
            .collect();
        let mut missing: Vec<String> = Vec::new();
        for (table, column) in query
            .selects
            .iter()
            .flat_map(|select| selected(select, catalog))
        {
            let of = |make: &Make| {
                let mut carried = make.carried.iter();
                let holding = carried.find(|(own, name, _)| own == table && *name == column);
                holding.map(|(_, _, names)| {
                    names.iter().any(|name| keys.holds(name, self.ground.table))
                })
            };
            let held: Vec<bool> = self.promised().filter_map(of).collect();
            let said = answered.contains(&column);
            let known = missing.contains(&column);
            if !held.is_empty() && !held.contains(&true) && !said && !known {
                missing.push(column);
            }
        }
        if missing.is_empty() {
            return;
        }
        let (what, names) = (keys.called(), missing.join("`, `"));
        let message = format!("its SQL selects `{names}`, not projected into {what}");
        self.diagnostics.push(
            Diagnostic::new(Code::NotProjected, sql.span.clone(), message)
                .with_other(self.raw.name.span.clone(), "what this pattern answers lacks it")
                .with_help(format!("project it: add `{names}` to `project` of {what}; or ask the table, or select less")),
        );
    }
}

/// The columns of tables that a query selects as they are. Of a table that it reads twice it is not known which of the
/// two an item is of.
fn selected<'c>(select: &Select, catalog: &'c Catalog) -> Vec<(&'c TableName, String)> {
    let tables: Vec<_> = (0..select.relations.len())
        .filter_map(|at| select.table(at, catalog))
        .collect();
    let origins = select
        .origins(catalog)
        .unwrap_or_default()
        .into_iter()
        .flatten();
    let once = |name: &TableName| tables.iter().filter(|table| table.name == *name).count() == 1;
    let found = origins.filter(|(_, table, _)| once(&table.name));
    found
        .map(|(_, table, column)| (&table.name, column.name.clone()))
        .collect()
}

/// The column that a condition holds to one value.
fn fixed(condition: &Condition) -> Option<&ColumnRef> {
    match &condition.test {
        Test::Compare {
            left,
            op: Comparator::Equal,
            right,
        } => {
            let is_value = matches!(right.value, Value::Parameter(_) | Value::Constant(_));
            left.column().filter(|_| is_value)
        }
        _ => None,
    }
}

/// Whether two columns have one value in every row: they are one column, or the query says so.
fn is_same(one: &ColumnRef, other: &ColumnRef, select: &Select) -> bool {
    let joined = |condition: &Condition| match &condition.test {
        Test::Compare {
            left,
            op: Comparator::Equal,
            right,
        } => {
            let pair = |a: &Operand, b: &Operand| {
                let is = |operand: &Operand, column: &ColumnRef| {
                    operand.column().is_some_and(|own| own.may_be(column))
                };
                is(a, one) && is(b, other)
            };
            pair(left, right) || pair(right, left)
        }
        _ => false,
    };
    one.may_be(other) || select.conditions.iter().any(joined)
}

/// How the sort key of an item type stands to a column.
fn sorts(
    make: &Make,
    keys: &Keys<'_>,
    column: &ColumnRef,
    select: &Select,
    is_fixed: &dyn Fn(&ColumnRef) -> bool,
) -> Sorts {
    let templates: Option<Vec<_>> = keys
        .sort
        .iter()
        .map(|key| make.template(&key.name))
        .collect();
    let Some(templates) = templates else {
        return Sorts::Unknown;
    };
    // A placeholder names a column of the item's own row, or of a parent's.
    let is = |placeholder: &Placeholder, column: &ColumnRef| {
        let own = placeholder
            .place
            .written
            .rsplit('.')
            .next()
            .unwrap_or_default();
        let conditions = select.conditions.iter();
        let sides = conditions.filter_map(|condition| match &condition.test {
            Test::Compare {
                left,
                op: Comparator::Equal,
                right,
            } => Some([left.column()?, right.column()?]),
            _ => None,
        });
        let mut others = sides
            .flatten()
            .filter(|other| is_same(other, column, select));
        column.name.is(own) || others.any(|other| other.name.is(own))
    };
    let fixed: Vec<&ColumnRef> = select
        .conditions
        .iter()
        .filter_map(fixed)
        .filter(|column| is_fixed(column))
        .collect();
    let placeholders: Vec<&Placeholder> = templates
        .iter()
        .flat_map(|template| template.placeholders())
        .collect();
    // What a query makes goes by any name.
    let is_carried = |placeholder: &&Placeholder| {
        let own = placeholder
            .place
            .written
            .rsplit('.')
            .next()
            .unwrap_or_default();
        make.carried.iter().any(|(_, name, _)| name == own)
    };
    if !placeholders.iter().all(is_carried) {
        return Sorts::Unknown;
    }
    let mut varying = placeholders
        .iter()
        .filter(|one| !fixed.iter().any(|column| is(one, column)));
    match varying.next() {
        None => Sorts::Unknown,
        Some(first) if is(first, column) => {
            let turns = first
                .filters
                .iter()
                .filter(|filter| matches!(filter, Filter::Desc { .. }))
                .count();
            let keeps = |filter: &Filter| {
                !matches!(
                    filter,
                    Filter::Map { .. }
                        | Filter::Replace { .. }
                        | Filter::Format(_)
                        | Filter::Shard(_)
                )
            };
            if first.filters.iter().all(keeps) {
                Sorts::By {
                    turned: turns % 2 == 1,
                }
            } else {
                Sorts::Unknown
            }
        }
        Some(_) if placeholders.iter().any(|one| is(one, column)) => Sorts::Unknown,
        Some(_) => Sorts::Otherwise,
    }
}
