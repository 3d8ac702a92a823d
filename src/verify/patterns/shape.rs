//! What an access pattern's SQL says of its result: which table's column each of its columns is, which of its
//! conditions hold a parameter, and which conditions nothing in the pattern says.

use std::collections::HashSet;

use super::joins::Joins;
use crate::catalog::{Catalog, Column, DataType, Dbms, Table, TableKind};
use crate::sql::{
    Around, ColumnRef, Comparator, Condition, Limit, Name, Output, Query, Select, Set, Source,
    Test, Value, table,
};

/// A query whose columns are known.
pub(super) struct Shape<'a> {
    pub(super) query: Query,
    /// What its one SELECT reads; `None` for what is no table. Empty where there are several SELECTs.
    relations: Vec<Option<&'a Table>>,
    /// Where each column of the result comes from.
    pub(super) outputs: Vec<Whence<'a>>,
    /// Columns that are equal, to the byte, wherever a row has both: by their relations' numbers.
    pub(super) equated: Vec<[(usize, &'a str); 2]>,
}

/// Where a column of a result comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Whence<'a> {
    /// It is a column of a table, by the number of the relation in FROM; and whether it goes by a name of its own.
    Column {
        relation: usize,
        table: &'a Table,
        column: &'a Column,
        is_renamed: bool,
    },
    /// The query makes it, or it is not known.
    Made,
}

impl<'a> Shape<'a> {
    /// `columns`: those of the result, as the database tells them.
    pub(super) fn new(query: Query, catalog: &'a Catalog, columns: &[Column]) -> Self {
        let mut shape = Self {
            query,
            relations: Vec::new(),
            outputs: vec![Whence::Made; columns.len()],
            equated: Vec::new(),
        };
        let Some(select) = shape.query.select() else {
            return shape;
        };
        let relations = select
            .relations
            .iter()
            .map(|relation| match &relation.source {
                Source::Table { schema, name } => table(catalog, schema.as_ref(), name),
                Source::With(_) | Source::Query | Source::Other => None,
            });
        let relations: Vec<Option<&Table>> = relations.collect();
        let outputs = outputs(select, &relations).filter(|outputs| outputs.len() == columns.len());
        let fits = |(whence, given): (&Whence<'_>, &Column)| match whence {
            Whence::Column {
                column, is_renamed, ..
            } => *is_renamed || column.name.eq_ignore_ascii_case(&given.name),
            Whence::Made => true,
        };
        if let Some(found) = outputs.filter(|found| found.iter().zip(columns).all(fits)) {
            shape.outputs = found;
        }
        let on = select.relations.iter().flat_map(|relation| &relation.on);
        let pairs =
            select
                .conditions
                .iter()
                .chain(on)
                .filter_map(|condition| match &condition.test {
                    Test::Compare {
                        left,
                        op: Comparator::Equal,
                        right,
                    } => {
                        let (of, left_table, left) = resolved(left.column()?, select, &relations)?;
                        let (other, right_table, right) =
                            resolved(right.column()?, select, &relations)?;
                        let exact = is_exact(left_table, left, catalog.dbms)
                            && is_exact(right_table, right, catalog.dbms);
                        exact.then_some([(of, left.name.as_str()), (other, right.name.as_str())])
                    }
                    _ => None,
                });
        shape.equated = pairs.collect();
        shape
            .equated
            .extend(using(select, &relations, catalog.dbms));
        shape.relations = relations;
        shape
    }

    /// Whether the query reads a table, itself or in a query within it.
    pub(super) fn reads(&self, wanted: &Table) -> bool {
        let mut tables = self.query.tables.iter();
        tables.any(|read| {
            read.name.is(&wanted.name.name)
                && read
                    .schema
                    .as_ref()
                    .is_none_or(|schema| schema.is(&wanted.name.schema))
        })
    }

    /// The column of the result that a column of a relation is, or is equal to where there is a row of that relation.
    pub(super) fn column(&self, wanted: usize, name: &str) -> Option<usize> {
        let find = |wanted: usize, name: &str| {
            self.outputs.iter().position(|whence| {
                matches!(whence, Whence::Column { relation, column, .. } if *relation == wanted && column.name == name)
            })
        };
        // Whether there is a row is then told by a column of its primary key.
        let is_told = || {
            let mut own = self.outputs.iter();
            own.any(|whence| match whence {
                Whence::Column {
                    relation,
                    table,
                    column,
                    ..
                } => *relation == wanted && table.primary_key.contains(&column.name),
                Whence::Made => false,
            })
        };
        let equal = || {
            let mut same = vec![(wanted, name)];
            let mut at = 0;
            while let Some(own) = same.get(at).copied() {
                at += 1;
                if let Some(found) = find(own.0, own.1) {
                    return Some(found);
                }
                for [a, b] in &self.equated {
                    for (from, to) in [(a, b), (b, a)] {
                        if *from == own && !same.contains(to) {
                            same.push(*to);
                        }
                    }
                }
            }
            None
        };
        find(wanted, name).or_else(|| (!self.may_be_missing(wanted) || is_told()).then(equal)?)
    }

    /// The relation of the FROM that is a table; of several the one alone whose columns are in the result.
    pub(super) fn relation(&self, wanted: &Table) -> Option<usize> {
        let all = self.relations.iter().enumerate();
        let all = all.filter(|(_, table)| table.is_some_and(|table| table.name == wanted.name));
        let all: Vec<usize> = all.map(|(at, _)| at).collect();
        let given = |at: &&usize| {
            let mut outputs = self.outputs.iter();
            outputs
                .any(|whence| matches!(whence, Whence::Column { relation, .. } if relation == *at))
        };
        let shown: Vec<&usize> = all.iter().filter(given).collect();
        match (all.as_slice(), shown.as_slice()) {
            ([only], _) => Some(*only),
            (_, [only]) => Some(**only),
            _ => None,
        }
    }

    /// Whether a row of the result may be without a row of this relation.
    pub(super) fn may_be_missing(&self, relation: usize) -> bool {
        let select = self.query.select();
        let found = select.and_then(|select| select.relations.get(relation));
        found.is_none_or(|relation| relation.may_be_missing)
    }

    /// The column of a table that every row of the result has equal to a parameter, both as they are; and in which
    /// relation. Then no value that the column does not hold gives a row.
    pub(super) fn equal(&self, parameter: &str) -> Option<(usize, &'a Table, &'a Column)> {
        let select = self.query.select()?;
        select
            .conditions
            .iter()
            .find_map(|condition| match &condition.test {
                Test::Compare {
                    left,
                    op: Comparator::Equal,
                    right,
                } if right.parameter() == Some(parameter) => {
                    resolved(left.column()?, select, &self.relations)
                }
                _ => None,
            })
    }

    /// What makes the answer of one call another each time, or a matter of chance.
    pub(super) fn chance(&self) -> Option<&'static str> {
        if self.query.limit != Limit::None || self.query.offset != Limit::None {
            return Some(
                "its SQL has a LIMIT, which may cut between rows that are equal to its ORDER BY",
            );
        }
        None
    }

    /// A table of the query, by its number in FROM.
    pub(super) fn table(&self, relation: usize) -> Option<&'a Table> {
        self.relations.get(relation).copied().flatten()
    }

    /// The column of a table that the query means.
    pub(super) fn resolve(
        &self,
        wanted: &ColumnRef,
        select: &Select,
    ) -> Option<(usize, &'a Table, &'a Column)> {
        resolved(wanted, select, &self.relations)
    }

    /// Whether a condition says only that a column is there without which there is no item.
    fn is_needed(
        &self,
        condition: &Condition,
        select: &Select,
        bases: &HashSet<usize>,
        needed: &[&str],
    ) -> bool {
        let Test::Null {
            operand,
            negated: true,
        } = &condition.test
        else {
            return false;
        };
        let column = operand
            .column()
            .and_then(|column| self.resolve(column, select));
        column.is_some_and(|(at, _, column)| {
            bases.contains(&at) && needed.contains(&column.name.as_str())
        })
    }

    /// What the query says beyond the pattern and the item types' `where`, in its own words. `bases`: the relations
    /// that stand for the item types. `needed`: columns of these without which no item type has the keys.
    pub(super) fn further(
        &self,
        wheres: &[&str],
        bases: &HashSet<usize>,
        needed: &[&str],
        dbms: Dbms,
    ) -> Vec<String> {
        let mut known: Vec<String> = Vec::new();
        for sql in wheres {
            // A `where` is a condition; as the only one of a query it is taken apart like others.
            if let Ok(query) = Query::read(&format!("SELECT 1 FROM t WHERE {sql}\n"), Some(dbms)) {
                let conditions = query
                    .selects
                    .into_iter()
                    .flat_map(|select| select.conditions);
                known.extend(conditions.map(|condition| condition.text));
            }
        }
        let mut named = Vec::new();
        if self.query.set != Set::One {
            named.push("it puts several SELECTs together".to_owned());
        }
        let strange = self.query.selects.iter().flat_map(|select| &select.strange);
        for strange in self.query.strange.iter().chain(strange) {
            named.push(strange.what.clone());
        }
        for select in &self.query.selects {
            let joins = Joins::of(self, select, bases, dbms);
            let of_bases = bases.iter().filter_map(|at| select.relations.get(*at));
            let conditions = select.conditions.iter();
            let conditions = conditions.chain(of_bases.flat_map(|relation| &relation.on));
            // A parameter is of the key once; what else it is compared with is more.
            let mut bound: HashSet<&str> = HashSet::new();
            for condition in conditions {
                let names = key(condition);
                let is_key = names.is_some_and(|names| {
                    let again = names.into_iter().filter(|name| !bound.insert(name));
                    again.count() == 0
                });
                if !is_key
                    && !known.contains(&condition.text)
                    && !joins.say(self, select, condition, dbms)
                    && !self.is_needed(condition, select, bases, needed)
                {
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
}

/// The parameters that a condition holds against a column, as the key condition does too.
fn key(condition: &Condition) -> Option<Vec<&str>> {
    match &condition.test {
        Test::Compare { left, right, op } if *op != Comparator::NotEqual => {
            left.column()?;
            Some(vec![right.parameter()?])
        }
        Test::Between {
            operand,
            negated: false,
            low,
            high,
        } => {
            operand.column()?;
            Some(vec![low.parameter()?, high.parameter()?])
        }
        _ => None,
    }
}

/// Functions that make one value of the values of one row.
const OF_ONE_ROW: [&str; 24] = [
    "abs",
    "cast",
    "char_length",
    "coalesce",
    "concat",
    "convert",
    "date",
    "date_format",
    "date_trunc",
    "datetime",
    "extract",
    "hex",
    "ifnull",
    "json_extract",
    "length",
    "lower",
    "nullif",
    "replace",
    "round",
    "strftime",
    "substr",
    "substring",
    "trim",
    "upper",
];

/// What a column of the result takes beside the row's own values.
fn made(output: &Output) -> Vec<String> {
    let Output::One { value, .. } = output else {
        return Vec::new();
    };
    let mut named = Vec::new();
    let around = value.around.iter().filter_map(|around| match around {
        Around::Function(name) => Some(name),
        _ => None,
    });
    let mut functions: Vec<&String> = around.collect();
    if let Value::Expression(expression) = &value.value {
        functions.extend(&expression.functions);
        if expression.has_query {
            named.push("a query within it".to_owned());
        }
        if expression.has_window {
            named.push("a window function".to_owned());
        }
    }
    let others = functions.into_iter();
    let others = others.filter(|name| !OF_ONE_ROW.contains(&name.as_str()));
    named.extend(others.map(|name| format!("`{name}()` in its SELECT")));
    named
}

/// The columns of a result; `None` where that is not plain to see.
fn outputs<'a>(select: &Select, relations: &[Option<&'a Table>]) -> Option<Vec<Whence<'a>>> {
    let all = |at: usize| {
        let table: &'a Table = (*relations.get(at)?)?;
        let columns = table.columns.iter().map(move |column| Whence::Column {
            relation: at,
            table,
            column,
            is_renamed: false,
        });
        Some(columns)
    };
    let mut found = Vec::new();
    for output in &select.outputs {
        match output {
            Output::All => {
                for at in 0..relations.len() {
                    found.extend(all(at)?);
                }
            }
            Output::AllOf(path) => found.extend(all(named(path.last()?, select)?)?),
            Output::One { name, value } => {
                let column = value
                    .column()
                    .and_then(|column| resolved(column, select, relations));
                found.push(column.map_or(Whence::Made, |(relation, table, column)| {
                    Whence::Column {
                        relation,
                        table,
                        column,
                        is_renamed: name.as_ref().is_some_and(|name| !name.is(&column.name)),
                    }
                }));
            }
        }
    }
    Some(found)
}

/// The columns that `USING` holds equal, where no other relation has one of that name.
fn using<'a>(
    select: &Select,
    relations: &[Option<&'a Table>],
    dbms: Dbms,
) -> Vec<[(usize, &'a str); 2]> {
    let on = select.relations.iter().flat_map(|relation| &relation.on);
    let names = select
        .conditions
        .iter()
        .chain(on)
        .filter_map(|condition| match &condition.test {
            Test::Using(name) => Some(name),
            _ => None,
        });
    let names: Vec<&Name> = names.collect();
    let mut found = Vec::new();
    for name in &names {
        let having = relations.iter().enumerate().filter_map(|(at, table)| {
            let table: &'a Table = (*table)?;
            let column = table.columns.iter().find(|column| name.is(&column.name))?;
            is_exact(table, column, dbms).then_some((at, column.name.as_str()))
        });
        let having: Vec<(usize, &str)> = having.collect();
        let joins = names.iter().filter(|other| other.text == name.text).count();
        if having.len() == joins + 1 && relations.iter().all(Option::is_some) {
            found.extend(
                having
                    .windows(2)
                    .filter_map(|pair| Some([*pair.first()?, *pair.get(1)?])),
            );
        }
    }
    found
}

fn named(owner: &Name, select: &Select) -> Option<usize> {
    let called = |name: &Name| name.is(&owner.text);
    let mut relations = select.relations.iter();
    relations.position(|relation| relation.called.as_ref().is_some_and(called))
}

/// The column of a table that a query means.
fn resolved<'a>(
    wanted: &ColumnRef,
    select: &Select,
    relations: &[Option<&'a Table>],
) -> Option<(usize, &'a Table, &'a Column)> {
    let column = |at: usize| {
        let table = (*relations.get(at)?)?;
        let column = table
            .columns
            .iter()
            .find(|column| wanted.name.is(&column.name))?;
        Some((at, table, column))
    };
    match &wanted.owner {
        Some(owner) => column(named(owner, select)?),
        // Of what is no table it is not known which columns it has.
        None if relations.iter().any(Option::is_none) => None,
        None => {
            let mut found = (0..relations.len()).filter_map(column);
            let first = found.next()?;
            found.next().is_none().then_some(first)
        }
    }
}

/// Whether values of a column are equal to the database exactly where their texts are, to the byte. Of a view's column
/// that is not told.
pub(super) fn is_exact(table: &Table, column: &Column, dbms: Dbms) -> bool {
    let is_told = matches!(table.kind, TableKind::Table | TableKind::Partitioned);
    let declared = column.declared.to_lowercase();
    match &column.data_type {
        // YEAR of MySQL takes 5 for 2005.
        DataType::Integer { .. } => declared.contains("int"),
        DataType::Text { .. } => {
            // Other types are text here too: citext, `character` and inet of PostgreSQL, INET6 of MariaDB.
            let is_plain = match dbms {
                Dbms::Postgres => declared == "text" || declared.starts_with("character varying"),
                Dbms::Mysql | Dbms::Mariadb => {
                    declared.contains("char") || declared.contains("text")
                }
                Dbms::Sqlite => true,
            };
            is_told && is_plain && !column.insensitive && column.ambiguous_charset.is_none()
        }
        _ => false,
    }
}
