//! Reads SQLite 3 files.
//!
//! The file is opened read-only and never made. A database in WAL mode may still get its `-shm` and
//! `-wal` files beside it, because that is how SQLite reads one; where the folder does not allow
//! that and no write-ahead log is there, the file is read as one that nobody changes. The snapshot
//! is a read transaction: without WAL, writers wait until the run ends.

mod catalog;
mod cut;
mod decode;
mod scan;
mod state;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use futures_util::stream::BoxStream;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteRow};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, Executor as _, SqlSafeStr as _};

use self::scan::{Disagreements, SqliteDialect, UTF8, cell, relation_name};
pub use self::state::create;
use crate::chunk::{answer, chunks, numbers};
use crate::layout::ScanLayout;
use dynafold_format::address;
use dynafold_relational::catalog::{Catalog, Column, DataType};
use dynafold_relational::scan::{Range, Scan};

use self::state::{FileId, FileStamp, FileState, log_of};
use super::watch::{ServerActivity, Work};
use super::{
    Canceller, Chunk, Dialect, Result, Row, Source, SourceError, SourceIdentity, UrlError, range,
    statement,
};

/// How long a reader waits for a writer that holds the whole file.
const BUSY_TIMEOUT: Duration = Duration::from_secs(30);
/// Rows that SQLite's thread may be ahead of the decoder. Half a million rows took 2.3 s with the
/// driver's 50, 0.6 s with 512, and no less with 4096.
const ROWS_AHEAD: usize = 512;
/// Instructions of SQLite's machine between two looks whether to stop: about a tenth of a
/// millisecond.
const STOP_INTERVAL: i32 = 10_000;
/// How often a file is opened anew that is written to meanwhile.
const ATTEMPTS: u32 = 10;

/// A SQLite file, open for reading.
pub struct Sqlite {
    connection: SqliteConnection,
    options: SqliteConnectOptions,
    file: PathBuf,
    /// Which file that is, whatever its name comes to mean.
    opened: Option<FileId>,
    /// What there was to see of it before the first page of it was read.
    seen: Option<FileStamp>,
    /// Whether it is read as a file that nobody changes.
    immutable: bool,
    dialect: &'static SqliteDialect,
    disagreements: Disagreements,
    /// Interrupts whatever runs, once it is true.
    stop: Arc<AtomicBool>,
    /// Proves that a file was not changed since the snapshot.
    stamp: Option<String>,
    /// Whether the system alone can tell that nobody writes to the file.
    unguarded: bool,
    /// The schema that the mapping was checked against.
    checked: Option<Catalog>,
    schema: Option<i64>,
}

// The driver's thread would finish a sort for nobody.
impl Drop for Sqlite {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

impl Sqlite {
    /// Opens `sqlite:FILE`, `sqlite:///absolute/file` or `sqlite://relative/file`.
    ///
    /// # Errors
    ///
    /// [`SourceError::Url`] for an in-memory database or an unknown parameter,
    /// [`SourceError::Connect`] when the file is not there or is no SQLite database.
    pub async fn connect(url: &str) -> Result<Self> {
        address::check_file(url.strip_prefix("sqlite:").unwrap_or(url))?;
        let options: SqliteConnectOptions = url.parse().map_err(UrlError::Driver)?;
        let named = options.get_filename().to_owned();
        if named.as_os_str().is_empty()
            || named.to_string_lossy().starts_with("file:sqlx-in-memory")
        {
            return Err(UrlError::InMemory.into());
        }
        let options = options
            .in_memory(false)
            .shared_cache(false)
            .create_if_missing(false)
            .read_only(true)
            .busy_timeout(BUSY_TIMEOUT)
            .row_buffer_size(ROWS_AHEAD)
            .disable_statement_logging();
        let refused = |file: &Path, cause: sqlx::Error| SourceError::Connect {
            place: format!("sqlite:{}", named.display()),
            help: help(file, &cause).to_owned(),
            cause,
        };
        let file = match readable(&named).await {
            Ok(found) => found,
            Err(cause) => return Err(refused(&named, sqlx::Error::Io(cause))),
        };
        let seen = FileStamp::named(&file);
        let opened = seen.map(|seen| seen.id);
        let mut options = options.filename(&file);
        let stop = Arc::new(AtomicBool::new(false));
        let (opened_as, immutable) = match open(&options, &stop).await {
            Err(cause) if wants_to_write(&cause) && !has_log(&file) => {
                options = options.immutable(true);
                (open(&options, &stop).await, true)
            }
            opened => (opened, false),
        };
        let mut connection = opened_as.map_err(|cause| refused(&file, cause))?;
        let encoding = sqlx::query_scalar("PRAGMA encoding").fetch_one(&mut connection);
        let encoding: String = encoding.await.map_err(|cause| refused(&file, cause))?;
        let dialect = match encoding.as_str() {
            "UTF-8" => &UTF8,
            _ => &SqliteDialect { is_utf16: true },
        };
        Ok(Self {
            connection,
            options,
            file,
            opened,
            seen,
            immutable,
            dialect,
            disagreements: Disagreements::default(),
            stop,
            stamp: None,
            unguarded: false,
            checked: None,
            schema: None,
        })
    }

    /// Opens the transaction of a run over the file as it is at the first read.
    async fn open_snapshot(&mut self) -> Result<()> {
        self.execute("BEGIN; SELECT count(*) FROM main.sqlite_schema")
            .await?;
        if FileStamp::named(&self.file).map(|seen| seen.id) != self.opened {
            return Err(SourceError::moved(
                "another file took the place of the database after it was opened",
            ));
        }
        let schema = self.schema().await?;
        if self.schema.is_some_and(|checked| checked != schema) {
            return Err(SourceError::moved(
                "the schema was changed after the mapping was checked against it",
            ));
        }
        let mode = sqlx::query_scalar("PRAGMA main.journal_mode").fetch_one(&mut self.connection);
        let mode: String = checked("the file", mode.await)?;
        // With a log others write while this reads, and move what they have written into the file.
        self.unguarded = self.immutable || mode != "wal";
        Ok(())
    }

    /// Reads a file afresh that was written to after it was opened, and its schema with it. What SQLite has read of
    /// it may be of the file before, where a copy was written over it; a writer that uses SQLite cannot be told from that.
    async fn open_afresh(&mut self, scans: &[&Scan]) -> Result<()> {
        for _ in 0..ATTEMPTS {
            let Some(seen) = FileStamp::named(&self.file) else {
                return Ok(());
            };
            let connection = open(&self.options, &self.stop).await;
            self.connection = checked("the file", connection)?;
            self.seen = Some(seen);
            self.open_snapshot().await?;
            if FileStamp::named(&self.file).as_ref() != Some(&seen) {
                continue;
            }
            return match self.checked.take() {
                Some(checked) => {
                    let now = self.catalog().await?;
                    super::same_schema(&checked, &now, scans)
                }
                None => Ok(()),
            };
        }
        Err(SourceError::moved(
            "the file is written to again and again before it can be read",
        ))
    }

    /// A number that grows with each change of the schema.
    async fn schema(&mut self) -> Result<i64> {
        let version = sqlx::query_scalar("PRAGMA main.schema_version");
        checked("the schema", version.fetch_one(&mut self.connection).await)
    }

    async fn execute(&mut self, sql: &'static str) -> Result<()> {
        let done = sqlx::raw_sql(sql).execute(&mut self.connection).await;
        checked("the file", done.map(drop))
    }
}

#[async_trait]
impl Source for Sqlite {
    async fn catalog(&mut self) -> Result<Catalog> {
        // All of it is of one moment, which is the run's own where that has begun.
        self.execute("SAVEPOINT catalog").await?;
        let read = catalog::read(&mut self.connection, &self.file).await;
        self.schema = Some(self.schema().await?);
        self.execute("RELEASE catalog").await?;
        let catalog = checked("the schema", read)?;
        self.checked = Some(catalog.clone());
        Ok(catalog)
    }

    async fn describe(&mut self, sql: &str) -> Result<Vec<Column>> {
        let described = catalog::describe(&mut self.connection, sql).await;
        checked("the mapping's query", described)
    }

    async fn describe_answer(&mut self, sql: &str) -> Result<Vec<Column>> {
        let described = catalog::describe_answer(&mut self.connection, sql.to_owned()).await;
        checked("the mapping's query", described)
    }

    async fn prepare(&mut self, scan: &Scan) -> Result<()> {
        let sql = AssertSqlSafe(statement(&UTF8, scan)).into_sql_str();
        let prepared = self.connection.prepare(sql).await;
        checked(relation_name(&scan.from), prepared.map(drop))
    }

    async fn begin(&mut self, scans: &[&Scan]) -> Result<()> {
        let began = SystemTime::now();
        let before = FileState::of(&self.file);
        self.open_snapshot().await?;
        if FileStamp::named(&self.file) != self.seen {
            self.open_afresh(scans).await?;
        }
        self.stamp = FileState::stamp(before, FileState::of(&self.file), began);
        Ok(())
    }

    async fn confirm(&mut self) -> Result<()> {
        match &self.seen {
            Some(seen) if self.unguarded && seen.now(&self.file).as_ref() != Some(seen) => Err(
                SourceError::moved("the file was written to while it was read"),
            ),
            _ => Ok(()),
        }
    }

    async fn numbers(&mut self, sql: &str, scan: &Scan) -> Result<Vec<Vec<u64>>> {
        let sql = AssertSqlSafe(sql.to_owned());
        let rows = sqlx::raw_sql(sql).fetch_all(&mut self.connection).await;
        let numbers = rows.and_then(|rows| numbers(&rows, cell));
        checked(relation_name(&scan.from), numbers)
    }

    fn scan<'a>(&'a mut self, scan: &'a Scan) -> BoxStream<'a, Result<Chunk>> {
        let first = self.disagreements.start(scan);
        let columns = ScanLayout::new(scan).shared_columns();
        let sql = AssertSqlSafe(statement(self.dialect, scan));
        let rows = sqlx::raw_sql(sql).fetch(&mut self.connection);
        let disagreements = &mut self.disagreements;
        let cell = move |row: &SqliteRow, at: usize, data_type: &DataType| {
            let column = columns.get(at).copied().unwrap_or(at);
            disagreements.cell(row, column, data_type, first + at)
        };
        let fault = |cause| fault(relation_name(&scan.from), cause);
        chunks(rows, None, scan, cell, fault)
    }

    fn dialect(&self) -> &'static dyn Dialect {
        self.dialect
    }

    async fn ask(&mut self, sql: &str, columns: &[Column]) -> Result<Vec<Row>> {
        let sql = AssertSqlSafe(sql.to_owned());
        let rows = sqlx::raw_sql(sql).fetch_all(&mut self.connection).await;
        let rows = rows.and_then(|rows| answer(&rows, columns, cell));
        checked("the mapping's query", rows)
    }

    async fn cut(&mut self, scan: &Scan, rows: u64) -> Result<Vec<Range>> {
        range::cut(self, scan, rows).await
    }

    async fn identity(&mut self) -> Result<SourceIdentity> {
        Ok(SourceIdentity {
            name: format!("sqlite:{}", self.file.display()),
            stamp: self.stamp.clone(),
            user: None,
        })
    }

    fn canceller(&self) -> Option<Canceller> {
        Some(Canceller(Arc::new(Interrupt(Arc::clone(&self.stop)))))
    }

    fn warnings(&self) -> Vec<String> {
        self.disagreements.lines()
    }
}

/// Interrupts what runs on a file.
struct Interrupt(Arc<AtomicBool>);

#[async_trait]
impl Work for Interrupt {
    async fn activity(&self) -> sqlx::Result<ServerActivity> {
        Ok(ServerActivity::Busy)
    }

    async fn cancel(&self) -> sqlx::Result<()> {
        self.0.store(true, Ordering::Relaxed);
        Ok(())
    }
}

/// Opens the file, to be interrupted once `stop` is true.
async fn open(
    options: &SqliteConnectOptions,
    stop: &Arc<AtomicBool>,
) -> sqlx::Result<SqliteConnection> {
    let mut connection = SqliteConnection::connect_with(options).await?;
    sqlx::raw_sql("PRAGMA query_only = ON; SELECT count(*) FROM main.sqlite_schema")
        .execute(&mut connection)
        .await?;
    let stop = Arc::clone(stop);
    let mut handle = connection.lock_handle().await?;
    handle.set_progress_handler(STOP_INTERVAL, move || !stop.load(Ordering::Relaxed));
    drop(handle);
    Ok(connection)
}

/// Asks the operating system for the file, whose answers are plainer than SQLite's. Gives the name
/// that no link stands for: SQLite keeps the write-ahead log beside that one.
async fn readable(file: &Path) -> std::io::Result<PathBuf> {
    let found = tokio::fs::File::open(file).await?.metadata().await?;
    if found.is_dir() {
        return Err(std::io::ErrorKind::IsADirectory.into());
    }
    #[cfg(unix)]
    if let names @ 2.. = std::os::unix::fs::MetadataExt::nlink(&found) {
        let cause = format!("the file has {names} names (hard links)");
        return Err(std::io::Error::new(std::io::ErrorKind::TooManyLinks, cause));
    }
    tokio::fs::canonicalize(file).await
}

/// SQLite's extended result code; its lowest byte is the primary one.
fn code(cause: &sqlx::Error) -> Option<u32> {
    cause.as_database_error()?.code()?.parse().ok()
}

/// Whether SQLite wanted to make the files of WAL mode and could not: `SQLITE_CANTOPEN` or
/// `SQLITE_READONLY_DIRECTORY`.
fn wants_to_write(cause: &sqlx::Error) -> bool {
    matches!(code(cause), Some(14 | 1544))
}

/// Whether a write-ahead log with something in it lies beside the file.
fn has_log(file: &Path) -> bool {
    std::fs::metadata(log_of(file)).is_ok_and(|log| log.len() > 0)
}

/// What to do about a file that cannot be opened.
fn help(file: &Path, cause: &sqlx::Error) -> &'static str {
    use std::io::ErrorKind::{IsADirectory, NotFound, PermissionDenied, TooManyLinks};
    let kind = match cause {
        sqlx::Error::Io(error) => Some(error.kind()),
        _ => None,
    };
    match (kind, code(cause).map(|code| (code, code % 256))) {
        (Some(NotFound), _) => {
            "there is no such file; a relative name counts from the current folder"
        }
        (Some(PermissionDenied), _) => {
            "this user may not reach the file; check its permissions and its folder's"
        }
        (Some(IsADirectory), _) => "this is a folder; name the file in it",
        (Some(TooManyLinks), _) => {
            "copy the file by the name that writers use, and read the copy: sqlite3 NAME \"VACUUM INTO 'copy.db'\"; under another name, changes in the write-ahead log cannot be seen"
        }
        (_, Some((_, 5))) => "another program holds the file; end it or wait for it",
        (_, Some((_, 26))) => "this is not a SQLite 3 database, or it is encrypted",
        (_, Some((776, _))) => "open it once with sqlite3, which rolls back an interrupted write",
        (_, Some((_, 8 | 14))) if has_log(file) => {
            "its last changes are still in the -wal file beside it, and the folder does not let \
             SQLite read them; copy both files to a folder of your own and read from there"
        }
        _ => "check that this user may read the file and write in its folder",
    }
}

/// Puts the error of what was done with something into the protocol's words.
fn checked<T>(object: impl Into<String>, done: sqlx::Result<T>) -> Result<T> {
    done.map_err(|cause| fault(object.into(), cause))
}

fn fault(object: String, cause: sqlx::Error) -> SourceError {
    match &cause {
        sqlx::Error::Io(_) | sqlx::Error::WorkerCrashed => SourceError::Lost { object, cause },
        // Interrupted.
        _ if code(&cause).is_some_and(|code| code % 256 == 9) => {
            SourceError::Lost { object, cause }
        }
        _ => SourceError::Query { object, cause },
    }
}
