//! Writes a [`Scan`] as a SELECT, the same shape for the three databases.

use std::fmt::Write as _;

use super::{Relation, Scan};
use crate::catalog::{DataType, TableName};

/// What differs between the databases' SQL.
pub trait Dialect {
    /// Quotes an identifier.
    fn quote(&self, identifier: &str) -> String;

    /// The expression that asks for a column of this type in the form that the decoder reads.
    /// `column` is quoted and qualified already.
    fn expression(&self, column: &str, data_type: &DataType) -> String {
        let _ = data_type;
        column.to_owned()
    }

    /// A condition as an expression that is 1, or 0 for false and NULL alike.
    fn flag(&self, condition: &str) -> String {
        format!("CASE WHEN ({condition}\n) THEN 1 ELSE 0 END")
    }

    /// A table's name in full.
    fn table(&self, name: &TableName) -> String {
        format!("{}.{}", self.quote(&name.schema), self.quote(&name.name))
    }
}

/// Writes a scan as one SELECT statement.
///
/// The base table goes by its own name, a query by `q`, parents by their aliases: so conditions
/// may name columns as the mapping does. A newline ends each condition, so that one that ends in a
/// comment cannot swallow what follows.
#[must_use]
pub fn select(dialect: &dyn Dialect, scan: &Scan) -> String {
    let (from, base) = match &scan.from {
        Relation::Table(name) => (dialect.table(name), dialect.quote(&name.name)),
        Relation::Query(sql) => (
            format!("({}\n)", sql.trim().trim_end_matches(';')),
            dialect.quote("q"),
        ),
    };
    let owner = |join: Option<usize>| {
        join.and_then(|index| scan.joins.get(index))
            .map_or_else(|| base.clone(), |join| dialect.quote(&join.alias))
    };
    let mut outputs: Vec<String> = scan
        .columns
        .iter()
        .map(|column| {
            let qualified = format!("{}.{}", owner(column.join), dialect.quote(&column.name));
            dialect.expression(&qualified, &column.data_type)
        })
        .collect();
    outputs.extend(scan.conditions.iter().map(|c| dialect.flag(c)));
    if outputs.is_empty() {
        outputs.push("1".to_owned());
    }
    let mut sql = String::from("SELECT ");
    for (index, output) in outputs.iter().enumerate() {
        // Writing to a String cannot fail.
        let _ = write!(
            sql,
            "{}{output} AS c{index}",
            if index == 0 { "" } else { ", " }
        );
    }
    let _ = write!(sql, "\nFROM {from} AS {base}");
    for join in &scan.joins {
        let alias = dialect.quote(&join.alias);
        let _ = write!(
            sql,
            "\nLEFT JOIN {} AS {alias} ON ",
            dialect.table(&join.table)
        );
        for (index, (ours, theirs)) in join.on.iter().enumerate() {
            let _ = write!(
                sql,
                "{}{alias}.{} = {base}.{}",
                if index == 0 { "" } else { " AND " },
                dialect.quote(theirs),
                dialect.quote(ours)
            );
        }
    }
    if !scan.keep_unmatched && !scan.conditions.is_empty() {
        let any: Vec<String> = scan.conditions.iter().map(|c| format!("({c}\n)")).collect();
        let _ = write!(sql, "\nWHERE {}", any.join(" OR "));
    }
    if let Some(limit) = scan.limit {
        let _ = write!(sql, "\nLIMIT {limit}");
    }
    sql
}
