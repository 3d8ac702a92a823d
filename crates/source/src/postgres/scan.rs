//! Reads rows: one SELECT streamed as text, decoded column by column into chunks.

use std::sync::Arc;

use dynafold_relational::catalog::{Column, DataType};
use dynafold_relational::scan::Scan;
use dynafold_relational::value::Value;
use futures_util::stream::BoxStream;
use sqlx::postgres::PgRow;
use sqlx::{AssertSqlSafe, Row as _, ValueRef as _};

use super::cut::{BY_ANY_WAY, BY_INDEX};
use super::decode::Decoder;
use super::error::ReadSubject;
use super::{Postgres, PostgresSql, error};
use crate::chunk::{answer, chunks};
use crate::dialect::alone;
use crate::layout::ScanLayout;
use crate::watch::Watch;
use crate::{Chunk, Result, Row, Source as _, statement};

/// Sends a scan's SELECT and hands out its rows.
pub(super) async fn open<'a>(
    source: &'a mut Postgres,
    scan: &'a Scan,
) -> Result<BoxStream<'a, Result<Chunk>>> {
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
    let sql = format!("{setting}{}", statement(&PostgresSql, scan));
    let layout = ScanLayout::new(scan);
    let types = layout.outputs.iter().map(|output| output.data_type);
    let decoders: Vec<Decoder> = types.map(Decoder::new).collect();
    let watch = source.backend.clone().map(|backend| Watch {
        patience: source.patience,
        work: Arc::new((source.options.clone(), backend)),
    });
    let Postgres {
        connection, user, ..
    } = source;
    let rows = sqlx::raw_sql(AssertSqlSafe(sql)).fetch(connection);
    Ok(chunks(
        rows,
        watch,
        scan,
        move |row, at, _| read(row, at, decoders.get(at)),
        move |cause| error::query(cause, &ReadSubject::Scan(scan), user),
    ))
}

fn read(row: &PgRow, at: usize, decoder: Option<&Decoder>) -> sqlx::Result<(Value, usize)> {
    let raw = row.try_get_raw(at)?;
    let Some(decoder) = decoder.filter(|_| !raw.is_null()) else {
        return Ok((Value::Null, 0));
    };
    let raw = raw.as_bytes().map_err(sqlx::Error::Decode)?;
    Ok((decoder.read(raw), raw.len()))
}

/// Reads a value of which there are too few for a decoder of their own.
pub(super) fn cell(row: &PgRow, at: usize, data_type: &DataType) -> sqlx::Result<(Value, usize)> {
    read(row, at, Some(&Decoder::new(data_type)))
}

/// Runs one query and reads all of its rows.
pub(super) async fn ask(source: &mut Postgres, sql: &str, columns: &[Column]) -> Result<Vec<Row>> {
    let subject = ReadSubject::Query(sql);
    let alone = alone(sql);
    // SQL from outside: the plan proves that it is one statement.
    source.explain(alone, &subject).await?;
    let rows = sqlx::raw_sql(AssertSqlSafe(alone.to_owned()));
    let rows = rows.fetch_all(&mut source.connection).await;
    let decoders = columns.iter().map(|column| Decoder::new(&column.data_type));
    let decoders: Vec<Decoder> = decoders.collect();
    let rows =
        rows.and_then(|rows| answer(&rows, columns, |row, at, _| read(row, at, decoders.get(at))));
    rows.map_err(|cause| error::query(cause, &subject, &source.user))
}
