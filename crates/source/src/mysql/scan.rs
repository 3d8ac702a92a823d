//! Asks MySQL and MariaDB for rows, in the text protocol: what the server prints is exact for every
//! type but FLOAT, and the same in both products.

use dynafold_relational::catalog::Column;
use dynafold_relational::scan::{Relation, Scan};
use dynafold_relational::value::Value;
use futures_util::stream::{self, BoxStream, StreamExt as _, TryStreamExt as _};
use sqlx::mysql::{MySqlConnection, MySqlRow};
use sqlx::{AssertSqlSafe, Row as _};

use super::decode::decode;
use super::dialect::MysqlDialect;
use super::statement::{bytes, prepare, rows, text};
use crate::chunk::chunks;
use crate::dialect::alone;
use crate::identity::Watch;
use crate::layout::{OutputColumn, ScanLayout, TAG};
use crate::{Chunk, Result, Row, SourceError, statement};

/// The words for a relation in messages.
pub(super) fn object(from: &Relation) -> String {
    match from {
        Relation::Table(name) => name.to_string(),
        Relation::Query(_) => "the mapping's query".to_owned(),
    }
}

pub(super) fn scan<'a>(
    connection: &'a mut MySqlConnection,
    watch: Watch,
    scan: &'a Scan,
    fault: impl Fn(String, sqlx::Error) -> SourceError + Send + 'a,
) -> BoxStream<'a, Result<Chunk>> {
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
    let layout = ScanLayout::new(scan);
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
) -> sqlx::Result<Vec<Row>> {
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
        values.collect::<sqlx::Result<Row>>()
    };
    rows.iter().map(row).collect()
}

/// The numbers that a query of ours gives.
pub(super) async fn numbers(
    connection: &mut MySqlConnection,
    sql: &str,
) -> sqlx::Result<Vec<Vec<u64>>> {
    // SQL from outside may be in it: preparing takes one statement only.
    prepare(connection, sql).await?;
    let number = |row: &MySqlRow, index: usize| {
        let number = text(row, index)?.parse();
        number.map_err(|error| sqlx::Error::Decode(Box::new(error)))
    };
    let read = |row: &MySqlRow| (0..row.len()).map(|index| number(row, index)).collect();
    rows(connection, sql).await?.iter().map(read).collect()
}

fn read(
    row: &MySqlRow,
    output: usize,
    outputs: &[OutputColumn<'_>],
) -> sqlx::Result<(Value, usize)> {
    let bytes = bytes(row, output)?;
    let value = match outputs.get(output) {
        Some(OutputColumn::Column { data_type, .. }) => decode(bytes, data_type),
        Some(OutputColumn::Tag) => decode(bytes, &TAG),
        _ => Value::Bool(bytes == Some(b"1")),
    };
    Ok((value, 8 + bytes.map_or(0, <[u8]>::len)))
}
