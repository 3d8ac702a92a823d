//! Reads rows: one SELECT streamed as text, decoded column by column into chunks.

use futures_util::stream::{self, BoxStream, Stream, StreamExt as _};
use sqlx::postgres::PgRow;
use sqlx::{AssertSqlSafe, Row as _, ValueRef as _};

use super::decode::Decoder;
use super::error::{self, Subject};
use super::{Postgres, Sql};
use crate::source::{Chunk, Dialect as _, Relation, Row, Scan, Source as _, SourceError, select};
use crate::value::Value;

/// Most rows of a chunk.
const CHUNK_ROWS: usize = 256;
/// Bytes of text from which on a chunk is full.
const CHUNK_BYTES: usize = 1 << 20;

/// A scan under way.
struct Reader<'a> {
    rows: BoxStream<'a, Result<PgRow, sqlx::Error>>,
    decoders: Vec<Decoder>,
    scan: &'a Scan,
    user: String,
    ended: bool,
}

/// Sends a scan's SELECT and hands out its rows.
pub(super) async fn open<'a>(
    source: &'a mut Postgres,
    scan: &'a Scan,
) -> Result<impl Stream<Item = Result<Chunk, SourceError>> + 'a, SourceError> {
    source.open_snapshot().await?;
    if !scan.conditions.is_empty() || matches!(scan.from, Relation::Query(_)) {
        // SQL from outside: the plan proves that it is one statement.
        source.prepare(scan).await?;
    }
    let columns = scan.columns.iter();
    let reader = Reader {
        decoders: columns
            .map(|column| Decoder::new(&column.data_type))
            .chain(scan.conditions.iter().map(|_| Decoder::Boolean))
            .collect(),
        scan,
        user: source.user.clone(),
        ended: false,
        rows: sqlx::raw_sql(AssertSqlSafe(select(&Sql, scan))).fetch(&mut source.connection),
    };
    Ok(stream::try_unfold(reader, |mut reader| async move {
        let chunk = reader.chunk().await?;
        Ok((!chunk.is_empty()).then_some((chunk, reader)))
    }))
}

impl Reader<'_> {
    /// Reads the next chunk; an empty one at the end.
    async fn chunk(&mut self) -> Result<Chunk, SourceError> {
        let mut chunk = Vec::new();
        let mut bytes = 0;
        while !self.ended && chunk.len() < CHUNK_ROWS && bytes < CHUNK_BYTES {
            let row = match self.rows.next().await {
                Some(Ok(row)) => self.row(&row, &mut bytes),
                Some(Err(cause)) => Err(cause),
                None => {
                    self.ended = true;
                    break;
                }
            };
            let failed = |cause| error::query(cause, &Subject::Scan(self.scan), &self.user);
            chunk.push(row.map_err(failed)?);
        }
        Ok(chunk)
    }

    fn row(&self, row: &PgRow, bytes: &mut usize) -> Result<Row, sqlx::Error> {
        let mut values = Vec::with_capacity(self.decoders.len());
        for (index, decoder) in self.decoders.iter().enumerate() {
            let raw = row.try_get_raw(index)?;
            if raw.is_null() {
                values.push(Value::Null);
                continue;
            }
            let raw = raw.as_bytes().map_err(sqlx::Error::Decode)?;
            *bytes += raw.len();
            values.push(decoder.read(raw));
        }
        Ok(values.into_boxed_slice())
    }
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
        Ok(()) => {
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
