//! What a query says beyond the pattern that it stands for.

use std::collections::HashSet;

use dynafold_relational::catalog::{Dbms, TableName};
use dynafold_sql::{
    Around, ColumnRef, Comparator, Condition, Output, Select, Set, Source, Test, Value,
};

use super::joins::Joins;
use super::shape::{Shape, parts};

/// What the key condition of a pattern has of an item type.
pub(super) struct Keyed<'a> {
    /// The table of its rows; `None` where they come from a query.
    pub(super) table: Option<&'a TableName>,
    /// The pattern's parameters, each with the column of that table that the item's key has in its place, written alike.
    pub(super) pairs: Vec<(&'a str, &'a str)>,
}

impl Shape<'_> {
    /// What the query says beyond the pattern and the item types' own conditions, in its own words. `conditions`: those
    /// of each item type. `bases`: the relations that stand for them. `needed`: columns of these without which no item type has the
    /// keys. `keyed`: what the key condition has of each item type.
    pub(super) fn further(
        &self,
        conditions: &[Vec<&str>],
        bases: &HashSet<usize>,
        needed: &[&str],
        keyed: &[Keyed<'_>],
        dbms: Dbms,
    ) -> Vec<String> {
        // What one item type says and another does not, may leave out rows of the other.
        let mut said = conditions.iter().map(|all| {
            let parts = all.iter().flat_map(|sql| parts(sql, dbms));
            parts.map(|part| part.text).collect::<Vec<String>>()
        });
        let mut known = said.next().unwrap_or_default();
        said.for_each(|other| known.retain(|part| other.contains(part)));
        let mut named = Vec::new();
        if self.query.set != Set::One {
            named.push("it puts several SELECTs together".to_owned());
        }
        let strange = self.query.selects.iter().flat_map(|select| &select.strange);
        for strange in self.query.strange.iter().chain(strange) {
            named.push((*strange).to_owned());
        }
        for select in &self.query.selects {
            let joins = Joins::of(self, select, bases, dbms);
            let of_bases = bases.iter().filter_map(|at| select.relations.get(*at));
            // What an outer join asks takes no rows of the other side away.
            let on = of_bases
                .filter(|_| !joins.keeps_rows)
                .flat_map(|relation| &relation.on);
            let conditions = select.conditions.iter().chain(on);
            // A parameter is of the key once; what else it is compared with is more.
            let mut bound: HashSet<&str> = HashSet::new();
            for condition in conditions {
                // On the other side of an outer join a condition makes it an inner one.
                let is_of_bases = select.relations.len() == 1
                    || condition.columns().is_some_and(|columns| {
                        columns.into_iter().all(|column| {
                            let origin = select.origin(column, self.catalog);
                            origin.is_some_and(|(at, ..)| bases.contains(&at))
                        })
                    });
                let is_key = key(condition).is_some_and(|(column, names)| {
                    let of_key = names
                        .iter()
                        .filter(|name| self.is_keyed(select, (column, name), bases, keyed, &joins));
                    let is_key = is_of_bases && of_key.count() == names.len();
                    is_key && names.into_iter().all(|name| bound.insert(name))
                });
                let is_known = is_of_bases && known.contains(&condition.text);
                if !is_key && !is_known && !self.is_needed(condition, select, bases, needed) {
                    named.push(format!("`{}`", condition.text));
                }
            }
            for (is, what) in [
                (select.distinct, "DISTINCT"),
                (select.groups, "GROUP BY"),
                (select.having, "HAVING"),
                (!joins.keeps_rows, "its joins"),
            ] {
                named.extend(is.then(|| what.to_owned()));
            }
            let queries = select
                .relations
                .iter()
                .filter(|relation| !matches!(relation.source, Source::Table { .. }));
            named.extend(queries.map(|_| "a query within it".to_owned()));
            named.extend(select.outputs.iter().flat_map(made));
        }
        named.dedup();
        named
    }

    /// Whether the key of each item type of a SELECT has a column, or one that is equal to it, in a parameter's place.
    fn is_keyed(
        &self,
        select: &Select,
        (column, parameter): (&ColumnRef, &str),
        bases: &HashSet<usize>,
        keyed: &[Keyed<'_>],
        joins: &Joins<'_>,
    ) -> bool {
        let Some((at, _, column)) = select.origin(column, self.catalog) else {
            return false;
        };
        let is_alone = select.relations.len() == 1;
        let own = |item: &Keyed<'_>| {
            (0..select.relations.len()).find(|at| {
                let table = select.table(*at, self.catalog).map(|table| &table.name);
                (is_alone || bases.contains(at)) && table.is_some() && table == item.table
            })
        };
        let is_keyed = |item: &Keyed<'_>, of: usize| {
            item.pairs.iter().any(|(name, key)| {
                *name == parameter && joins.equate((of, key), (at, &column.name))
            })
        };
        let mut items = keyed.iter().map(|item| (item, own(item)));
        // Of several SELECTs each is of its own item types.
        let is_one = self.query.set == Set::One;
        items.clone().any(|(_, of)| of.is_some())
            && items.all(|(item, of)| of.map_or(!is_one, |of| is_keyed(item, of)))
    }
}

/// The column that a condition holds against parameters, as a key condition may too.
fn key(condition: &Condition) -> Option<(&ColumnRef, Vec<&str>)> {
    match &condition.test {
        Test::Compare { left, right, op } if *op != Comparator::NotEqual => {
            Some((left.column()?, vec![right.parameter()?]))
        }
        Test::Between {
            operand,
            negated: false,
            low,
            high,
        } => Some((operand.column()?, vec![low.parameter()?, high.parameter()?])),
        _ => None,
    }
}

/// Functions that make one value of the values of several rows. Others that are not of one row may change what a query
/// answers, as far as is known.
const OF_ROWS: [&str; 5] = ["avg", "count", "max", "min", "sum"];

/// What a column of the result takes beside the row's own values.
fn made(output: &Output) -> Vec<String> {
    let Output::One { value, .. } = output else {
        return Vec::new();
    };
    let around = value.around.iter().filter_map(|around| match around {
        Around::Function(name) => Some(name),
        _ => None,
    });
    let mut functions: Vec<&String> = around.collect();
    let mut named = Vec::new();
    if let Value::Expression(expression) = &value.value {
        functions.extend(&expression.functions);
        named.extend(expression.has_query.then(|| "a query within it".to_owned()));
        named.extend(
            expression
                .has_window
                .then(|| "a window function".to_owned()),
        );
    }
    let of_rows = functions
        .into_iter()
        .filter(|name| OF_ROWS.contains(&name.as_str()));
    named.extend(of_rows.map(|name| format!("`{name}()` in its SELECT")));
    named
}
