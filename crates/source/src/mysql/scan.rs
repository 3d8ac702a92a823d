//! Asks MySQL and MariaDB for rows, in the text protocol: what the server prints is exact for every
//! type but FLOAT, and the same in both products.

use dynafold_relational::catalog::{Column, DataType};
use dynafold_relational::scan::{Relation, Scan};
use dynafold_relational::value::Value;
use futures_util::stream::{self, BoxStream, StreamExt as _, TryStreamExt as _};
use sqlx::mysql::{MySqlConnection, MySqlRow, MySqlStatement};
use sqlx::{
    AssertSqlSafe, Connection as _, Decode, Executor as _, MySql, Row as _, SqlSafeStr as _,
    ValueRef as _,
};

use super::catalog::{self, rows};
use super::decode::decode;
use crate::chunk::chunks;
use crate::identity::Watch;
use crate::layout::{Layout, Output, TAG};
use crate::range::{Literal, hexadecimal};
use crate::select::alone;
use crate::{Chunk, Dialect, Row, SourceError, statement};

/// The SQL of MySQL and MariaDB.
#[derive(Debug, Clone, Copy)]
pub(super) struct MysqlDialect;

impl Dialect for MysqlDialect {
    fn quote(&self, identifier: &str) -> String {
        format!("`{}`", identifier.replace('`', "``"))
    }

    fn expression(&self, column: &str, data_type: &DataType) -> String {
        match data_type {
            // A single is printed with six digits, a double with all that it needs.
            DataType::Float { bits: 32 } => format!("({column} + 0e0)"),
            // With NO_ZERO_IN_DATE, MySQL makes zeros of 2020-00-10 where it puts dates aside to sort them.
            DataType::Date | DataType::Timestamp { .. } => format!("CAST({column} AS CHAR)"),
            DataType::Printed => format!("ST_AsText({column})"),
            // The driver does not know MySQL's type for a vector, which it prints as bytes.
            DataType::Array { .. } => format!("CAST({column} AS BINARY)"),
            DataType::Text { .. } => text(column),
            _ => column.to_owned(),
        }
    }

    // Hexadecimal means the same in every SQL mode.
    fn literal(&self, value: &str) -> String {
        match Literal::parse(value) {
            Literal::Text(text) => format!("_utf8mb4 x'{}'", hexadecimal(text.as_bytes())),
            // In this form bytes are equal to a BIT in MariaDB too.
            Literal::Bytes(digits) if !digits.is_empty() => format!("0x{digits}"),
            other => other.sql(),
        }
    }

    fn compares_rows(&self) -> bool {
        false
    }

    fn children(&self, derived: &str, _name: &str, on: &str) -> String {
        format!("STRAIGHT_JOIN {derived} ON {on}")
    }
}

/// Asks for a text in UTF-8. The servers turn what is no character of its set into `?` or leave it out:
/// such a text comes behind a byte that no UTF-8 has.
fn text(column: &str) -> String {
    let converted = format!("CONVERT({column} USING utf8mb4)");
    let others = |text: &str| format!("CHAR_LENGTH(REPLACE({text}, '?', ''))");
    format!(
        "CASE WHEN CHARSET({column}) IN ('utf8mb4', 'utf8mb3', 'latin1', 'binary') \
         OR CHAR_LENGTH({column}) = CHAR_LENGTH({converted}) AND {} = {} \
         THEN CAST({converted} AS BINARY) WHEN {column} IS NOT NULL \
         THEN CONCAT(x'FF', CAST({column} AS BINARY)) END",
        others(column),
        others(&converted)
    )
}

/// The words for a relation in messages.
pub(super) fn object(from: &Relation) -> String {
    match from {
        Relation::Table(name) => name.to_string(),
        Relation::Query(_) => "the mapping's query".to_owned(),
    }
}

/// Statements that stay prepared.
pub(super) const STATEMENTS: usize = 256;

/// Has the server prepare a statement, of which it takes one only. Statements are closed many at a
/// time: the server does not answer that, and the network holds back what comes next for as long as
/// an acknowledgement takes, which is 40 ms.
pub(super) async fn prepare(
    connection: &mut MySqlConnection,
    sql: &str,
) -> Result<MySqlStatement, sqlx::Error> {
    if connection.cached_statements_size() >= STATEMENTS {
        connection.clear_cached_statements().await?;
    }
    let sql = AssertSqlSafe(sql.to_owned()).into_sql_str();
    connection.prepare(sql).await
}

/// Reads rows.
pub(super) fn scan<'a>(
    connection: &'a mut MySqlConnection,
    watch: Watch,
    scan: &'a Scan,
    fault: impl Fn(String, sqlx::Error) -> SourceError + Send + 'a,
) -> BoxStream<'a, Result<Chunk, SourceError>> {
    let opened = async move {
        let sql = statement(&MysqlDialect, scan);
        if scan.has_foreign_sql() {
            // SQL from outside: preparing takes one statement only, the text protocol takes many,
            // and a second one could make the session writable.
            prepare(connection, &sql).await?;
        }
        let rows = sqlx::raw_sql(AssertSqlSafe(sql)).fetch(connection);
        Ok::<_, sqlx::Error>(rows)
    };
    let rows = stream::once(opened).try_flatten().boxed();
    let layout = Layout::new(scan);
    let outputs = layout.outputs.clone();
    chunks(
        rows,
        Some(watch),
        layout,
        move |row, output| read(row, output, &outputs),
        move |cause| fault(object(&scan.from), cause),
    )
}

/// Runs one query and reads all of its rows.
pub(super) async fn ask(
    connection: &mut MySqlConnection,
    sql: &str,
    columns: &[Column],
) -> Result<Vec<Row>, sqlx::Error> {
    let sql = alone(sql).to_owned();
    // SQL from outside: preparing takes one statement only. Without the sign there is but one.
    if sql.contains(';') {
        prepare(connection, &sql).await?;
    }
    let rows = sqlx::raw_sql(AssertSqlSafe(sql))
        .fetch_all(connection)
        .await?;
    let row = |row: &MySqlRow| {
        let columns = columns.iter().enumerate();
        let values = columns.map(|(at, column)| Ok(decode(bytes(row, at)?, &column.data_type)));
        values.collect::<Result<Row, sqlx::Error>>()
    };
    rows.iter().map(row).collect()
}

/// The numbers that a query of ours gives.
pub(super) async fn numbers(
    connection: &mut MySqlConnection,
    sql: &str,
) -> Result<Vec<Vec<u64>>, sqlx::Error> {
    // SQL from outside may be in it: preparing takes one statement only.
    prepare(connection, sql).await?;
    let number = |row: &MySqlRow, index: usize| {
        let number = catalog::text(row, index)?.parse();
        number.map_err(|error| sqlx::Error::Decode(Box::new(error)))
    };
    let read = |row: &MySqlRow| (0..row.len()).map(|index| number(row, index)).collect();
    rows(connection, sql).await?.iter().map(read).collect()
}

/// What the server sent for one column.
pub(super) fn bytes(row: &MySqlRow, index: usize) -> Result<Option<&[u8]>, sqlx::Error> {
    let value = row.try_get_raw(index)?;
    if value.is_null() {
        return Ok(None);
    }
    let bytes = <&[u8] as Decode<MySql>>::decode(value);
    bytes.map(Some).map_err(sqlx::Error::Decode)
}

fn read(
    row: &MySqlRow,
    output: usize,
    outputs: &[Output<'_>],
) -> Result<(Value, usize), sqlx::Error> {
    let bytes = bytes(row, output)?;
    let value = match outputs.get(output) {
        Some(Output::Column { data_type, .. }) => decode(bytes, data_type),
        Some(Output::Tag) => decode(bytes, &TAG),
        _ => Value::Bool(bytes == Some(b"1")),
    };
    Ok((value, 8 + bytes.map_or(0, <[u8]>::len)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_of_a_range_depends_on_what_the_sql_mode_makes_of_a_backslash() {
        for (value, sql) in [
            (r"'\'", "_utf8mb4 x'5c'"),
            ("'it''s'", "_utf8mb4 x'69742773'"),
            ("''", "_utf8mb4 x''"),
            ("x'00ff'", "0x00ff"),
            ("-1.5", "-1.5"),
        ] {
            assert_eq!(MysqlDialect.literal(value), sql);
        }
    }
}
