//! A workload made from the statements that a database has counted.

use std::collections::BTreeSet;

use dynafold_format::{each_once, float, free_name, has_word, text_if};
use dynafold_relational::catalog::{Catalog, Table, TableName};
use dynafold_sql::{Lists, SqlQuery, identifier, parametrized, table, write_statement};

use crate::facts::significant;
use crate::workload::Statement;

/// Statements that are taken at most: those with the most calls.
const MAX_STATEMENTS: usize = 200;
/// Columns that a statement's name has at most.
const MAX_NAME_COLUMNS: usize = 3;
/// First words of statements that read or write rows.
const FIRST_WORDS: [&str; 9] = [
    "select", "with", "insert", "update", "delete", "replace", "merge", "table", "values",
];
/// Words that show of a statement which cannot be read that it asks the database's own tables.
const FROM_SYSTEM_TABLES: [&str; 4] = [
    "from pg_catalog.",
    "from information_schema.",
    "from performance_schema.",
    "from mysql.",
];

/// What was counted.
#[derive(Debug, Clone, Default)]
pub struct Counts {
    /// Statements as the database normalizes them, each with how often it ran.
    pub statements: Vec<(String, u64)>,
    /// For how many seconds they were counted; `None` where that is not known: the statements then have no rates.
    pub seconds: Option<f64>,
    /// For each table, the rows that were inserted, updated and deleted a second.
    pub writes: Vec<(TableName, [f64; 3])>,
}

/// The workload that was counted.
#[derive(Debug, Clone, Default)]
pub struct CountedWorkload {
    /// Its statements, by name.
    pub statements: Vec<Statement>,
    /// Statements with fewer calls, for which there was no room.
    pub left_out: usize,
}

/// Makes a workload of the statements over the catalog's tables. Rows that were written count for tables that no statement
/// writes.
pub fn counted(catalog: &Catalog, counts: &Counts) -> CountedWorkload {
    let named = counts.statements.iter().filter_map(|(sql, calls)| {
        let sql = without_prefix(sql.trim().trim_end_matches(';'));
        Some((base_name(catalog, sql)?, sql, *calls))
    });
    let mut named: Vec<(String, &str, u64)> = named.collect();
    named.sort_by(|a, b| b.2.cmp(&a.2).then(a.1.cmp(b.1)));
    let left_out = named.len().saturating_sub(MAX_STATEMENTS);
    named.truncate(MAX_STATEMENTS);
    // Statements with one base name are numbered in the order of their SQL: a name does not depend on the number of calls.
    named.sort();
    let mut taken: BTreeSet<String> = BTreeSet::new();
    let mut statements: Vec<Statement> = Vec::new();
    let mut written: BTreeSet<&TableName> = BTreeSet::new();
    for (base, sql, calls) in named {
        if let Some(write) = write_statement(sql, catalog.dbms)
            && let Some(table) = table(catalog, write.schema.as_ref(), &write.table)
        {
            written.insert(&table.name);
        }
        let name = free_name(&base, &|name| taken.contains(name));
        taken.insert(name.clone());
        statements.push(Statement {
            name,
            rate: counts
                .seconds
                .map(|seconds| significant(float(calls) / seconds, 3)),
            sql: sql.to_owned(),
            ..Statement::default()
        });
    }
    // Counted rows without any statement are no workload.
    if !statements.is_empty() {
        for (name, rates) in &counts.writes {
            if !written.contains(name) && catalog.table(name).is_some() {
                statements.extend(rows_written(catalog, name, *rates));
            }
        }
    }
    statements.sort_by(|a, b| a.name.cmp(&b.name));
    CountedWorkload {
        statements,
        left_out,
    }
}

/// A statement without the comments before it, and without the words that prepare it or open its cursor.
pub(crate) fn without_prefix(sql: &str) -> &str {
    let mut sql = sql.trim_start();
    while let Some((_, rest)) = match sql.as_bytes() {
        [b'/', b'*', ..] => sql.split_once("*/"),
        [b'-', b'-', ..] => sql.split_once('\n'),
        _ => None,
    } {
        sql = rest.trim_start();
    }
    let lower = sql.to_ascii_lowercase();
    let opening = match lower.split_whitespace().next() {
        Some("prepare") => " as ",
        Some("declare") if has_word(&lower, "cursor") => " for ",
        _ => return sql,
    };
    let own = lower
        .find(opening)
        .and_then(|at| sql.get(at + opening.len()..));
    own.map_or(sql, without_prefix)
}

/// What a statement is called before it gets a number; `None` where it is about none of the tables.
fn base_name(catalog: &Catalog, sql: &str) -> Option<String> {
    let dbms = catalog.dbms;
    if let Some(write) = write_statement(sql, dbms) {
        let table = table(catalog, write.schema.as_ref(), &write.table)?;
        let kind = match write.kind {
            dynafold_sql::WriteKind::Insert => "insert",
            dynafold_sql::WriteKind::Update => "update",
            dynafold_sql::WriteKind::Delete => "delete",
        };
        return Some(plain(&format!("{kind}_{}", table.name.name)));
    }
    let first = sql
        .split(|c: char| !c.is_alphabetic())
        .find(|word| !word.is_empty())?;
    if !FIRST_WORDS.contains(&&*first.to_ascii_lowercase()) {
        return None;
    }
    let prepared = parametrized(sql, dbms, Lists::Split).ok();
    let query = prepared.and_then(|prepared| SqlQuery::read(&prepared.sql, Some(dbms)).ok());
    let Some(query) = query else {
        // A statement that cannot be read is kept if it names one of the tables: the report lists it.
        let lower = sql.to_lowercase();
        if FROM_SYSTEM_TABLES.iter().any(|words| lower.contains(words)) {
            return None;
        }
        let mut tables = catalog.tables.iter();
        let found = tables.find(|table| has_word(&lower, &table.name.name))?;
        return Some(plain(&format!("{}_query", found.name.name)));
    };
    let mut tables = query.tables.iter();
    let found = tables.find_map(|read| table(catalog, read.schema.as_ref(), &read.name))?;
    let columns = query.comparisons.iter();
    let columns = columns.map(|comparison| comparison.column.name.text.to_lowercase());
    let mut columns = each_once(columns);
    columns.truncate(MAX_NAME_COLUMNS);
    let name = &found.name.name;
    Some(plain(&if columns.is_empty() {
        name.clone()
    } else {
        format!("{name}_by_{}", columns.join("_"))
    }))
}

/// A name in lower case, with `_` for everything but ASCII letters and digits.
fn plain(name: &str) -> String {
    let is_odd = |c: char| !c.is_ascii_alphanumeric();
    name.replace(is_odd, "_").to_ascii_lowercase()
}

/// Statements for rows that none of the counted statements wrote: COPY, a trigger or a cascade did.
fn rows_written(catalog: &Catalog, name: &TableName, rates: [f64; 3]) -> Vec<Statement> {
    let dbms = catalog.dbms;
    let table = format!(
        "{}.{}",
        identifier(&name.schema, dbms),
        identifier(&name.name, dbms)
    );
    let in_schema = catalog.table(name);
    let first = in_schema.and_then(|table| table.columns.first());
    let column = first.map_or_else(String::new, |column| identifier(&column.name, dbms));
    // It is not known how the rows were found: each counts as found by its key.
    let key = in_schema.map_or(&[][..], Table::row_key).iter().enumerate();
    let equalities = key.map(|(at, one)| format!("{} = :k{at}", identifier(one, dbms)));
    let equalities: Vec<String> = equalities.collect();
    let by_key = text_if(
        !equalities.is_empty(),
        format!(" WHERE {}", equalities.join(" AND ")),
    );
    // Nor is it known which columns an UPDATE set: a column that is set to itself counts as none.
    let all = [
        ("inserted", format!("INSERT INTO {table} DEFAULT VALUES")),
        (
            "updated",
            format!("UPDATE {table} SET {column} = {column}{by_key}"),
        ),
        ("deleted", format!("DELETE FROM {table}{by_key}")),
    ];
    let written = all.into_iter().zip(rates).filter(|(_, rate)| *rate > 0.0);
    written
        .map(|((done, sql), rate)| Statement {
            name: plain(&format!("rows_{done}_{}", name.name)),
            rate: Some(significant(rate, 3)),
            about: "the database counted these writes, but no statement of the workload makes them"
                .to_owned(),
            sql,
            ..Statement::default()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dynafold_relational::catalog::Dbms;
    use dynafold_relational::catalog::sample::shop;

    fn workload(statements: &[(&str, u64)], writes: &[(&str, [f64; 3])]) -> CountedWorkload {
        let shop = shop();
        let counts = Counts {
            statements: statements
                .iter()
                .map(|(sql, calls)| ((*sql).to_owned(), *calls))
                .collect(),
            seconds: Some(100.0),
            writes: writes
                .iter()
                .map(|(name, rates)| (shop.find(name).unwrap().name.clone(), *rates))
                .collect(),
        };
        counted(&shop, &counts)
    }

    #[test]
    fn statements_over_the_tables_are_named_and_rated() {
        let found = workload(
            &[
                (
                    "SELECT id FROM orders WHERE user_id = $1 AND placed_at >= $2 LIMIT $3",
                    12_345,
                ),
                (
                    "SELECT * FROM orders WHERE user_id = $1 AND placed_at >= $2",
                    50,
                ),
                ("UPDATE orders SET placed_at = $1 WHERE id = $2", 1),
                ("SELECT id FROM orders WHERE (user_id = $1;", 7),
                ("SELECT count(*) FROM pg_catalog.pg_class", 900),
                ("SELECT $1", 900),
                ("BEGIN", 900),
                (
                    "/*action='list'*/ -- of a user\n(SELECT id FROM orders WHERE user_id = $1)",
                    300,
                ),
                (
                    "PREPARE one (int) AS SELECT user_id FROM orders WHERE id = $1",
                    200,
                ),
                (
                    "DECLARE c NO SCROLL CURSOR FOR SELECT id FROM orders WHERE id = $1::pg_catalog.int4",
                    100,
                ),
                (
                    "MERGE INTO orders USING users ON true WHEN MATCHED THEN DELETE",
                    30,
                ),
                ("SELECT * FROM elsewhere WHERE id = $1", 900),
            ],
            &[("users", [0.5, 4.0, 2.0]), ("orders", [9.0, 0.0, 0.0])],
        );
        let told = |one: &Statement| format!("{} {}", one.name, one.rate.unwrap());
        let told: Vec<String> = found.statements.iter().map(told).collect();
        assert_eq!(
            told,
            [
                "orders_by_id 1",
                "orders_by_id_2 2",
                "orders_by_user_id 3",
                "orders_by_user_id_placed_at 0.5",
                "orders_by_user_id_placed_at_2 123",
                "orders_query 0.3",
                "orders_query_2 0.07",
                "rows_deleted_users 2",
                "rows_inserted_users 0.5",
                "rows_updated_users 4",
                "update_orders 0.01",
            ]
        );
        assert_eq!(found.left_out, 0);
        for statement in found
            .statements
            .iter()
            .filter(|one| one.name.starts_with("rows_"))
        {
            let write = write_statement(&statement.sql, Dbms::Postgres).unwrap();
            assert!(write.columns.is_empty(), "{statement:?}");
        }
    }

    #[test]
    fn of_too_many_those_with_the_most_calls_are_taken() {
        let all: Vec<(String, u64)> = (1..=MAX_STATEMENTS + 5)
            .map(|at| {
                (
                    format!("SELECT {at} FROM orders WHERE id = $1"),
                    u64::try_from(at).unwrap(),
                )
            })
            .collect();
        let all: Vec<(&str, u64)> = all
            .iter()
            .map(|(sql, calls)| (sql.as_str(), *calls))
            .collect();
        let found = workload(&all, &[]);
        assert_eq!(
            (found.statements.len(), found.left_out),
            (MAX_STATEMENTS, 5)
        );
        let mut sql = found.statements.iter().map(|one| &one.sql);
        assert!(!sql.any(|sql| sql.starts_with("SELECT 5 ")));
    }
}
