//! Asks SQLite for rows.

use futures_util::stream::BoxStream;
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use sqlx::{AssertSqlSafe, Decode, Row as _, Sqlite};

use super::decode::{decode, stored};
use super::fault;
use crate::catalog::{DataType, Family};
use crate::source::chunk::chunks;
use crate::source::{Chunk, Dialect, Relation, Row, Scan, SourceError, select};
use crate::value::Value;

/// SQLite's SQL.
#[derive(Debug, Clone, Copy)]
pub(super) struct SqliteDialect;

impl Dialect for SqliteDialect {
    fn quote(&self, identifier: &str) -> String {
        format!("\"{}\"", identifier.replace('"', "\"\""))
    }

    fn expression(&self, column: &str, data_type: &DataType) -> String {
        match data_type {
            // A document may be stored in SQLite's binary form, which only SQLite reads. What is
            // neither text nor that form comes as it is stored.
            DataType::Json => format!(
                "CASE WHEN typeof({column}) = 'blob' AND json_valid({column}, 8) \
                 THEN json({column}) ELSE {column} END"
            ),
            _ => column.to_owned(),
        }
    }
}

/// Values that were not as their column's declared type says, counted for each column.
#[derive(Debug, Default)]
pub(super) struct Disagreements(Vec<Disagreement>);

#[derive(Debug)]
struct Disagreement {
    object: String,
    column: String,
    family: Family,
    count: u64,
}

impl Disagreements {
    /// Starts counting for a scan and forgets what an earlier scan found in the same columns.
    /// Returns the index of the first column's counter.
    fn start(&mut self, scan: &Scan) -> usize {
        let fresh: Vec<Disagreement> = scan
            .columns
            .iter()
            .map(|column| Disagreement {
                object: column
                    .join
                    .and_then(|join| scan.joins.get(join))
                    .map_or_else(|| object(&scan.from), |join| join.table.name.clone()),
                column: column.name.clone(),
                family: column.data_type.family(),
                count: 0,
            })
            .collect();
        self.0.retain(|old| {
            let again = |new: &Disagreement| new.object == old.object && new.column == old.column;
            old.count > 0 && !fresh.iter().any(again)
        });
        let first = self.0.len();
        self.0.extend(fresh);
        first
    }

    /// One line for each column in which something was found.
    pub(super) fn lines(&self) -> Vec<String> {
        let found = self.0.iter().filter(|column| column.count > 0);
        found
            .map(|column| {
                let (are, they) = if column.count == 1 {
                    ("value is", "it was")
                } else {
                    ("values are", "they were")
                };
                format!(
                    "column `{}` of {}: {} {are} not {}, which the declared type says; {they} read as stored",
                    column.column,
                    column.object,
                    column.count,
                    column.family.name(),
                )
            })
            .collect()
    }
}

/// The words for a relation in messages.
pub(super) fn object(from: &Relation) -> String {
    match from {
        Relation::Table(name) => name.name.clone(),
        Relation::Query(_) => "the mapping's query".to_owned(),
    }
}

/// Reads rows.
pub(super) fn scan<'a>(
    connection: &'a mut SqliteConnection,
    disagreements: &'a mut Disagreements,
    scan: &'a Scan,
) -> BoxStream<'a, Result<Chunk, SourceError>> {
    let first = disagreements.start(scan);
    let sql = select(&SqliteDialect, scan);
    let rows = sqlx::raw_sql(AssertSqlSafe(sql)).fetch(connection);
    chunks(
        rows,
        move |row| read(row, scan, disagreements, first),
        move |cause| fault(object(&scan.from), cause),
    )
}

fn read(
    row: &SqliteRow,
    scan: &Scan,
    disagreements: &mut Disagreements,
    first: usize,
) -> Result<(Row, usize), sqlx::Error> {
    let mut values = Vec::with_capacity(scan.columns.len() + scan.conditions.len());
    let mut bytes = 0;
    for (index, column) in scan.columns.iter().enumerate() {
        let stored = stored(row.try_get_raw(index)?).map_err(sqlx::Error::Decode)?;
        bytes += stored.size();
        let (value, agrees) = decode(stored, &column.data_type);
        if !agrees && let Some(counter) = disagreements.0.get_mut(first + index) {
            counter.count += 1;
        }
        values.push(value);
    }
    for index in scan.columns.len()..(scan.columns.len() + scan.conditions.len()) {
        let flag = row.try_get_raw(index)?;
        let flag = <i64 as Decode<Sqlite>>::decode(flag).map_err(sqlx::Error::Decode)?;
        values.push(Value::Bool(flag != 0));
    }
    Ok((values.into_boxed_slice(), bytes))
}
