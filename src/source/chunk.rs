//! Gathers a driver's rows into chunks, the same for all databases.

use futures_util::TryStreamExt;
use futures_util::stream::{self, BoxStream};

use super::{Chunk, Row, SourceError};

/// Most rows of a chunk.
const ROWS: usize = 256;
/// Bytes, as the decoder counts them, after which a chunk is handed out.
const BYTES: usize = 1 << 20;

/// Decodes rows and hands them out in chunks. `decode` also says about how many bytes a row has;
/// `fault` puts a driver's error into the protocol's words.
pub(super) fn chunks<'a, R: Send + 'a>(
    rows: BoxStream<'a, Result<R, sqlx::Error>>,
    decode: impl FnMut(&R) -> Result<(Row, usize), sqlx::Error> + Send + 'a,
    fault: impl Fn(sqlx::Error) -> SourceError + Send + 'a,
) -> BoxStream<'a, Result<Chunk, SourceError>> {
    let state = (rows, decode, fault);
    Box::pin(stream::try_unfold(
        state,
        |(mut rows, mut decode, fault)| async move {
            let mut chunk = Chunk::new();
            let mut bytes = 0;
            while chunk.len() < ROWS && bytes < BYTES {
                let decoded = match rows.try_next().await {
                    Ok(Some(row)) => decode(&row),
                    Ok(None) => break,
                    Err(error) => Err(error),
                };
                let (row, size) = decoded.map_err(&fault)?;
                chunk.push(row);
                bytes += size;
            }
            Ok((!chunk.is_empty()).then_some((chunk, (rows, decode, fault))))
        },
    ))
}
