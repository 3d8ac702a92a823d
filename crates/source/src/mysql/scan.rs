//! Asks MySQL and MariaDB for rows, in the text protocol: what the server prints is exact for every
//! type but FLOAT, and the same in both products.

use dynafold_relational::catalog::{Column, DataType};
use dynafold_relational::scan::{Relation, Scan};
use dynafold_relational::value::Value;
use futures_util::stream::{self, BoxStream, StreamExt as _, TryStreamExt as _};
use sqlx::AssertSqlSafe;
use sqlx::mysql::{MySqlConnection, MySqlRow};

use super::decode::decode;
use super::dialect::MysqlDialect;
use super::statement::{bytes, prepare, rows};
use crate::chunk::{answer, chunks, numbers};
use crate::dialect::alone;
use crate::identity::Watch;
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
    let fault = move |cause| fault(object(&scan.from), cause);
    chunks(rows, Some(watch), scan, cell, fault)
}

/// Runs one query and reads all of its rows.
pub(super) async fn ask(
    connection: &mut MySqlConnection,
    sql: &str,
    columns: &[Column],
) -> sqlx::Result<Vec<Row>> {
    let sql = alone(sql);
    // SQL from outside: preparing takes one statement only. Without the sign there is but one.
    if sql.contains(';') {
        prepare(connection, sql).await?;
    }
    answer(&rows(connection, sql).await?, columns, cell)
}

/// The numbers that a query of ours gives.
pub(super) async fn read_numbers(
    connection: &mut MySqlConnection,
    sql: &str,
) -> sqlx::Result<Vec<Vec<u64>>> {
    // SQL from outside may be in it: preparing takes one statement only.
    prepare(connection, sql).await?;
    numbers(&rows(connection, sql).await?, cell)
}

fn cell(row: &MySqlRow, at: usize, data_type: &DataType) -> sqlx::Result<(Value, usize)> {
    let bytes = bytes(row, at)?;
    Ok((decode(bytes, data_type), 8 + bytes.map_or(0, <[u8]>::len)))
}
