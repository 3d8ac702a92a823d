//! Gathers a driver's rows into chunks, the same for all databases.

use dynafold_relational::value::Value;
use futures_util::stream::{self, BoxStream};

use super::family::Family;
use super::identity::{self, Watch};
use super::layout::ScanLayout;
use super::{Chunk, Result, SourceError};

/// Most rows of a chunk.
const ROWS: usize = 256;
/// Bytes, as the decoder counts them, after which a chunk is handed out.
const BYTES: usize = 1 << 20;

/// Decodes rows and hands them out in chunks. `decode` reads one output of a row and says about how
/// many bytes it has; `fault` puts a driver's error into the protocol's words.
pub(super) fn chunks<'a, R: Send + 'a>(
    rows: BoxStream<'a, sqlx::Result<R>>,
    watch: Option<Watch>,
    layout: ScanLayout<'a>,
    decode: impl FnMut(&R, usize) -> sqlx::Result<(Value, usize)> + Send + 'a,
    fault: impl Fn(sqlx::Error) -> SourceError + Send + 'a,
) -> BoxStream<'a, Result<Chunk>> {
    let state = (rows, watch, decode, fault, Family::new(layout));
    Box::pin(stream::try_unfold(
        state,
        |(mut rows, watch, mut decode, fault, mut family)| async move {
            let mut chunk = Chunk::default();
            let mut bytes = 0;
            while chunk.rows.len() < ROWS && bytes < BYTES {
                let taken = match identity::next(&mut rows, watch.as_ref()).await {
                    Ok(Some(row)) => family.take(&mut chunk, |output| decode(&row, output)),
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
            Ok(some.then_some((chunk, (rows, watch, decode, fault, family))))
        },
    ))
}
