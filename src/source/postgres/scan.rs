//! Reads rows: one SELECT streamed as text, decoded column by column into chunks.

use futures_util::stream::BoxStream;
use sqlx::postgres::PgRow;
use sqlx::{AssertSqlSafe, Row as _, ValueRef as _};

use super::cut::{BY_ANY_WAY, BY_INDEX};
use super::decode::Decoder;
use super::error::{self, Subject};
use super::{Postgres, Sql};
use crate::catalog::Column;
use crate::source::chunk::chunks;
use crate::source::layout::{Layout, Output};
use crate::source::{
    Chunk, Dialect as _, Relation, Row, Scan, Source as _, SourceError, statement,
};
use crate::value::Value;

/// Sends a scan's SELECT and hands out its rows.
pub(super) async fn open<'a>(
    source: &'a mut Postgres,
    scan: &'a Scan,
) -> Result<BoxStream<'a, Result<Chunk, SourceError>>, SourceError> {
    source.open_snapshot().await?;
    if scan.has_foreign_sql() {
        // SQL from outside: the plan proves that it is one statement.
        source.prepare(scan).await?;
    }
    // A part of a table is read by its index; all of one as the planner likes.
    let by_index = scan.range.is_some();
    let setting = match (by_index, std::mem::replace(&mut source.by_index, by_index)) {
        (true, false) => BY_INDEX,
        (false, true) => BY_ANY_WAY,
        _ => "",
    };
    let sql = format!("{setting}{}", statement(&Sql, scan));
    let layout = Layout::new(scan);
    let decoders: Vec<Decoder> = layout
        .outputs
        .iter()
        .map(|output| match output {
            Output::Column { data_type, .. } => Decoder::new(data_type),
            Output::Flag => Decoder::Boolean,
            Output::Tag => Decoder::Number,
        })
        .collect();
    let watch = source.watch_from_elsewhere();
    let Postgres {
        connection, user, ..
    } = source;
    let rows = sqlx::raw_sql(AssertSqlSafe(sql)).fetch(connection);
    Ok(chunks(
        rows,
        watch,
        layout,
        move |row, output| read(row, output, &decoders),
        move |cause| error::query(cause, &Subject::Scan(scan), user),
    ))
}

fn read(row: &PgRow, output: usize, decoders: &[Decoder]) -> Result<(Value, usize), sqlx::Error> {
    let raw = row.try_get_raw(output)?;
    let Some(decoder) = decoders.get(output).filter(|_| !raw.is_null()) else {
        return Ok((Value::Null, 0));
    };
    let raw = raw.as_bytes().map_err(sqlx::Error::Decode)?;
    Ok((decoder.read(raw), raw.len()))
}

/// Runs one query and reads all of its rows.
pub(super) async fn ask(
    source: &mut Postgres,
    sql: &str,
    columns: &[Column],
) -> Result<Vec<Row>, SourceError> {
    let subject = Subject::Query(sql);
    let alone = sql.trim().trim_end_matches(';');
    // SQL from outside: the plan proves that it is one statement.
    source.explain(alone, &subject).await?;
    let rows = sqlx::raw_sql(AssertSqlSafe(alone.to_owned()));
    let rows = rows.fetch_all(&mut source.connection).await;
    let decoders = columns.iter();
    let decoders: Vec<Decoder> = decoders
        .map(|column| Decoder::new(&column.data_type))
        .collect();
    let decode = |row: &PgRow| {
        let values = (0..decoders.len()).map(|output| Ok(read(row, output, &decoders)?.0));
        values.collect::<Result<Row, sqlx::Error>>()
    };
    let rows = rows.and_then(|rows| rows.iter().map(decode).collect());
    rows.map_err(|cause| error::query(cause, &subject, &source.user))
}

/// Counts a relation's rows. The order of nothing hangs on it, so it may use the server's workers.
pub(super) async fn count(source: &mut Postgres, from: &Relation) -> Result<u64, SourceError> {
    source.open_snapshot().await?;
    let from_sql = match from {
        Relation::Table(name) => Sql.table(name),
        Relation::Query(sql) => format!("({}\n) AS q", sql.trim().trim_end_matches(';')),
    };
    let sql = format!("SELECT pg_catalog.count(*) FROM {from_sql}");
    let subject = Subject::Relation(from);
    source.step_aside().await?;
    let counted = match source.explain(&sql, &subject).await {
        Ok(_) => {
            let sql = format!("SET LOCAL max_parallel_workers_per_gather TO DEFAULT; {sql}");
            let row = sqlx::raw_sql(AssertSqlSafe(sql)).fetch_one(&mut source.connection);
            let read = |row: PgRow| {
                let raw = row.try_get_raw(0)?;
                let text = raw.as_str().map_err(sqlx::Error::Decode)?;
                text.parse().map_err(|e| sqlx::Error::Decode(Box::new(e)))
            };
            let count = row.await.and_then(read);
            count.map_err(|cause| error::query(cause, &subject, &source.user))
        }
        Err(refused) => Err(refused),
    };
    // Going back to the savepoint also takes the setting back.
    source.step_back(counted).await
}
