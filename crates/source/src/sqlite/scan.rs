//! Asks SQLite for rows.

use dynafold_relational::catalog::{Column, DataType};
use dynafold_relational::scan::{Range, Relation, Scan};
use dynafold_relational::value::Value;
use futures_util::stream::BoxStream;
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use sqlx::{AssertSqlSafe, Decode, Row as _, Sqlite};

use super::decode::{decode, stored};
use super::fault;
use crate::chunk::chunks;
use crate::layout::{OutputColumn, ScanLayout, TAG};
use crate::{Chunk, Dialect, Result, Row, statement};

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

/// SQLite's SQL for a file in UTF-16. On the way to UTF-8 half a surrogate pair would become another
/// character together with what follows; alone at the end it becomes what is no UTF-8.
#[derive(Debug, Clone, Copy)]
pub(super) struct Utf16Dialect;

impl Dialect for Utf16Dialect {
    fn quote(&self, identifier: &str) -> String {
        SqliteDialect.quote(identifier)
    }

    fn expression(&self, column: &str, data_type: &DataType) -> String {
        format!(
            "CASE WHEN typeof({column}) = 'text' AND replace({column}, 'x', 'x') <> {column} COLLATE BINARY \
             THEN CAST(x'D8D8' AS TEXT) ELSE {} END",
            SqliteDialect.expression(column, data_type)
        )
    }
}

/// Values that were not as their column's declared type says, counted for each column and each part
/// of the table.
#[derive(Debug, Default)]
pub(super) struct Disagreements(Vec<Disagreement>);

#[derive(Debug, Default)]
struct Disagreement {
    object: String,
    column: String,
    /// What the declared type says.
    kind: &'static str,
    /// The part of the base relation that was read.
    range: Option<Range>,
    count: u64,
}

impl Disagreement {
    /// Whether both are of one column.
    fn is_of(&self, other: &Self) -> bool {
        self.column == other.column && self.object == other.object
    }
}

impl Disagreements {
    /// Starts counting for a scan's outputs and forgets what an earlier scan found in the same columns
    /// of the same part: keys are proved by reading what is loaded after that. Returns the index of
    /// the first column's counter.
    fn start(&mut self, outputs: &[OutputColumn<'_>], range: Option<&Range>) -> usize {
        let counter = |output: &OutputColumn<'_>| {
            let OutputColumn::Column {
                scan,
                join,
                name,
                data_type,
            } = output
            else {
                return Disagreement::default();
            };
            let parent = join.and_then(|join| scan.joins.get(join));
            Disagreement {
                object: parent.map_or_else(|| object(&scan.from), |join| join.table.name.clone()),
                column: (*name).to_owned(),
                kind: data_type.family().name(),
                range: range.cloned(),
                count: 0,
            }
        };
        let fresh: Vec<Disagreement> = outputs.iter().map(counter).collect();
        self.0.retain(|old| {
            let again = |new: &Disagreement| new.is_of(old) && new.range == old.range;
            old.count > 0 && !fresh.iter().any(again)
        });
        let first = self.0.len();
        self.0.extend(fresh);
        first
    }

    /// One line for each column in which something was found.
    pub(super) fn lines(&self) -> Vec<String> {
        let found = self.0.iter().filter(|column| column.count > 0);
        let mut columns: Vec<(&Disagreement, u64)> = Vec::new();
        for part in found {
            match columns.iter_mut().find(|(column, _)| column.is_of(part)) {
                Some((_, count)) => *count += part.count,
                None => columns.push((part, part.count)),
            }
        }
        columns
            .into_iter()
            .map(|(column, count)| {
                let (are, they) = if count == 1 {
                    ("value is", "it was")
                } else {
                    ("values are", "they were")
                };
                format!(
                    "column `{}` of {}: {count} {are} not {}, which the declared type says; {they} read as stored",
                    column.column,
                    column.object,
                    column.kind,
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

pub(super) fn scan<'a>(
    connection: &'a mut SqliteConnection,
    dialect: &'static dyn Dialect,
    disagreements: &'a mut Disagreements,
    scan: &'a Scan,
) -> BoxStream<'a, Result<Chunk>> {
    let layout = ScanLayout::new(scan);
    let outputs = layout.outputs.clone();
    let first = disagreements.start(&outputs, scan.range.as_ref());
    let sql = statement(dialect, scan);
    let rows = sqlx::raw_sql(AssertSqlSafe(sql)).fetch(connection);
    chunks(
        rows,
        None,
        layout,
        move |row, output| read(row, output, &outputs, disagreements, first),
        move |cause| fault(object(&scan.from), cause),
    )
}

/// Runs one query and reads all of its rows.
pub(super) async fn ask(
    connection: &mut SqliteConnection,
    sql: &str,
    columns: &[Column],
) -> sqlx::Result<Vec<Row>> {
    let rows = sqlx::raw_sql(AssertSqlSafe(sql.to_owned()));
    let rows = rows.fetch_all(connection).await?;
    let value = |row: &SqliteRow, at: usize, column: &Column| {
        let stored = stored(row.try_get_raw(at)?).map_err(sqlx::Error::Decode)?;
        Ok(decode(stored, &column.data_type).0)
    };
    let decoded = rows.iter().map(|row| {
        let columns = columns.iter().enumerate();
        let values = columns.map(|(at, column)| value(row, at, column));
        values.collect::<sqlx::Result<Row>>()
    });
    decoded.collect()
}

/// The numbers that a query of ours gives.
pub(super) async fn numbers(
    connection: &mut SqliteConnection,
    sql: &str,
) -> sqlx::Result<Vec<Vec<u64>>> {
    let number = |row: &SqliteRow, index: usize| {
        let number = row.try_get::<i64, _>(index)?;
        Ok::<_, sqlx::Error>(u64::try_from(number).unwrap_or_default())
    };
    let read = |row: &SqliteRow| (0..row.len()).map(|index| number(row, index)).collect();
    let rows = sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).fetch_all(connection);
    rows.await?.iter().map(read).collect()
}

fn read(
    row: &SqliteRow,
    output: usize,
    outputs: &[OutputColumn<'_>],
    disagreements: &mut Disagreements,
    first: usize,
) -> sqlx::Result<(Value, usize)> {
    let raw = row.try_get_raw(output)?;
    let data_type = match outputs.get(output) {
        Some(OutputColumn::Column { data_type, .. }) => data_type,
        Some(OutputColumn::Tag) => &TAG,
        _ => {
            let flag = <i64 as Decode<Sqlite>>::decode(raw).map_err(sqlx::Error::Decode)?;
            return Ok((Value::Bool(flag != 0), 0));
        }
    };
    let stored = stored(raw).map_err(sqlx::Error::Decode)?;
    let bytes = stored.size();
    let (value, agrees) = decode(stored, data_type);
    if !agrees && let Some(counter) = disagreements.0.get_mut(first + output) {
        counter.count += 1;
    }
    Ok((value, bytes))
}
