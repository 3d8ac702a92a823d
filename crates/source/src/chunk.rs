//! Gathers a driver's rows into chunks, the same for all databases.

use dynafold_relational::catalog::{Column, DataType};
use dynafold_relational::scan::Scan;
use dynafold_relational::value::Value;
use futures_util::stream::{self, BoxStream};

use super::family::Family;
use super::layout::{NUMBER, ScanLayout};
use super::watch::{Watch, next_row};
use super::{Chunk, Result, Row, SourceError};

/// Most rows of a chunk.
const ROWS: usize = 256;
/// Bytes, as the decoder counts them, after which a chunk is handed out.
const BYTES: usize = 1 << 20;

/// Decodes rows and hands them out in chunks. `cell` reads one output of a row under its type and says
/// about how many bytes it has; `fault` puts a driver's error into the protocol's words.
pub(super) fn chunks<'a, R: Send + 'a>(
    rows: BoxStream<'a, sqlx::Result<R>>,
    watch: Option<Watch>,
    scan: &'a Scan,
    mut cell: impl FnMut(&R, usize, &DataType) -> sqlx::Result<(Value, usize)> + Send + 'a,
    fault: impl Fn(sqlx::Error) -> SourceError + Send + 'a,
) -> BoxStream<'a, Result<Chunk>> {
    let layout = ScanLayout::new(scan);
    let types = layout.outputs.iter().map(|output| output.data_type);
    let types: Vec<&DataType> = types.collect();
    let read = move |row: &R, at: usize| match types.get(at) {
        Some(data_type) => cell(row, at, data_type),
        None => Ok((Value::Null, 0)),
    };
    let state = (rows, watch, read, fault, Family::new(layout));
    Box::pin(stream::try_unfold(
        state,
        |(mut rows, watch, mut read, fault, mut family)| async move {
            let mut chunk = Chunk::default();
            let mut bytes = 0;
            while chunk.rows.len() < ROWS && bytes < BYTES {
                let taken = match next_row(&mut rows, watch.as_ref()).await {
                    Ok(Some(row)) => family.take(&mut chunk, |at| read(&row, at)),
                    Ok(None) => {
                        family.end(&mut chunk);
                        break;
                    }
                    Err(error) => Err(error),
                };
                bytes += taken.map_err(&fault)?;
            }
            family.report_left_behind(&mut chunk);
            let some = !chunk.rows.is_empty() || !chunk.left.is_empty() || bytes > 0;
            Ok(some.then_some((chunk, (rows, watch, read, fault, family))))
        },
    ))
}

/// Decodes all rows of a query under its columns.
pub(super) fn answer<R>(
    rows: &[R],
    columns: &[Column],
    cell: impl Fn(&R, usize, &DataType) -> sqlx::Result<(Value, usize)>,
) -> sqlx::Result<Vec<Row>> {
    let row = |row: &R| {
        let columns = columns.iter().enumerate();
        let values = columns.map(|(at, column)| Ok(cell(row, at, &column.data_type)?.0));
        values.collect()
    };
    rows.iter().map(row).collect()
}

/// Decodes all rows of a query of ours, which gives whole numbers only.
pub(super) fn numbers<R: sqlx::Row>(
    rows: &[R],
    cell: impl Fn(&R, usize, &DataType) -> sqlx::Result<(Value, usize)>,
) -> sqlx::Result<Vec<Vec<u64>>> {
    let number = |row: &R, at: usize| match cell(row, at, &NUMBER)?.0 {
        Value::Number(number) => (number.as_str().parse())
            .map_err(|error: std::num::ParseIntError| sqlx::Error::Decode(error.into())),
        other => Err(sqlx::Error::Decode(
            format!("{} stands where a number was asked for", other.kind()).into(),
        )),
    };
    let row = |row: &R| (0..row.len()).map(|at| number(row, at)).collect();
    rows.iter().map(row).collect()
}
