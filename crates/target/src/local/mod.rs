//! The embedded engine: a table in memory or in one file, no server, no port, no account.
//!
//! Everything goes the way it goes to DynamoDB: the SDK serializes, the engine answers in place of
//! the network (`connector`), and errors are classified by their codes. Only what a load puts
//! goes another way: the engine's import, many items to a transaction (`bulk`). Its result is the
//! same, in an empty table and over other items, which a test proves.
//!
//! Several processes may use one file; each write waits for the others' for some seconds. What was
//! committed survives a killed process, and a table is created or deleted whole or not at all. After a power
//! cut the file is whole and holds everything up to some commit; with [`Target::finish`], everything.

mod connector;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use aws_sdk_dynamodb::config::timeout::TimeoutConfig;
use aws_sdk_dynamodb::config::{BehaviorVersion, Builder as ConfigBuilder, Region};
use aws_smithy_runtime_api::client::http::{SharedHttpConnector, http_client_fn};
use dynafold_dynamodb::Table;
use dynoxide::storage::Storage;
use dynoxide::types::{Item as EngineItem, MAX_ITEM_SIZE};
use dynoxide::{Database, DynoxideError, ImportOptions};
use futures_util::FutureExt as _;
use parking_lot::Mutex;
use rusqlite::{Connection, Error as SqliteError, ErrorCode, OpenFlags};

use super::TargetErrorKind::{DiskFull, File, Locked, Refused, TableMissing};
use super::dynamodb::{
    Dynamodb, ServiceLocation, Vault, made_up_credentials, service, without_values,
};
use super::error::ServiceText;
use super::{Action, Batch, BatchEntry, BatchLimit, BatchOutcome, ErrorClass, Result, TargetError};
use crate::private;
use connector::{Connector, unreadable};

/// The embedded engine, as far as it is another endpoint than DynamoDB's.
#[derive(Debug)]
pub(super) struct Engine {
    opener: Arc<Opener>,
    bulk: AtomicBool,
}

/// Opens the engine in memory, or on a file.
pub(super) async fn open(file: Option<&Path>) -> Result<Dynamodb> {
    let opener = Arc::new(Opener::new(file)?);
    let early = Arc::clone(&opener);
    blocking(move || early.existing().map(drop)).await?;
    let connector = SharedHttpConnector::new(Connector(Arc::clone(&opener)));
    let config = ConfigBuilder::new()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::from_static("local"))
        .endpoint_url("http://local.invalid")
        .timeout_config(TimeoutConfig::disabled())
        .http_client(http_client_fn(move |_, _| connector.clone()));
    let wire = service(&config, Vault::new(made_up_credentials()));
    let place = ServiceLocation {
        name: match file {
            Some(file) => format!("local:{}", file.display()),
            None => "local (memory)".to_owned(),
        },
        billed_in: None,
        profile: None,
    };
    let bulk = AtomicBool::new(false);
    Ok(Dynamodb::new(wire, place, Some(Engine { opener, bulk })))
}

impl Engine {
    /// One writes while the other's items are parsed.
    pub(super) const IN_FLIGHT: usize = 2;

    pub(super) fn ends_with_process(&self) -> bool {
        self.opener.file.is_none()
    }

    /// Whether a load is under way that may go by the import.
    pub(super) fn is_bulk(&self) -> bool {
        self.bulk.load(Ordering::Relaxed)
    }

    pub(super) fn batch_limit(&self) -> BatchLimit {
        if self.is_bulk() {
            LIMIT
        } else {
            BatchLimit::BATCH_WRITE
        }
    }

    pub(super) async fn start(&self, bulk: bool) -> Result<()> {
        self.bulk.store(bulk, Ordering::Relaxed);
        let opener = Arc::clone(&self.opener);
        blocking(move || opener.writable()).await
    }

    pub(super) async fn finish(&self) -> Result<()> {
        self.bulk.store(false, Ordering::Relaxed);
        let opener = Arc::clone(&self.opener);
        blocking(move || opener.settle()).await
    }

    /// Writes a batch by the import. What that cannot take goes in batches of the ordinary size.
    pub(super) async fn write(
        &self,
        protocol: &Dynamodb,
        table: &Table,
        batch: &Batch,
    ) -> Result<BatchOutcome> {
        if batch.entries().iter().all(|e| e.action == Action::Put) {
            let (opener, name) = (Arc::clone(&self.opener), table.name.clone());
            let batch = batch.clone();
            return blocking(move || import(&opener, &name, &batch)).await;
        }
        let mut all = BatchOutcome::default();
        let indices: Vec<usize> = (0..batch.len()).collect();
        for part in indices.chunks(BatchLimit::BATCH_WRITE.items) {
            let written = protocol.write_batch(table, &batch.part(part)).await?;
            let left = written.unprocessed.iter();
            all.unprocessed
                .extend(left.filter_map(|at| part.get(*at).copied()));
            if let Some(part) = written.consumed {
                let consumed = all.consumed.get_or_insert_default();
                consumed.total += part.total;
            }
        }
        Ok(all)
    }
}

/// Runs what waits for a disk, or for the engine's lock, where waiting is allowed.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => Err(
            TargetError::of_file(File, "the embedded engine stopped unexpectedly")
                .with_cause(error, 0),
        ),
    }
}

// What a load puts into a table: the engine's import.
//
// The import checks keys and values as a BatchWriteItem does, and writes a batch in one
// transaction, all of it or nothing. It does not check the size of items; that is done here.
//
// The engine's own bulk settings stay off. They stop SQLite from syncing: a power cut could then
// lose, or damage, what the run's state already counts as written. Larger transactions gain most
// of what they would: 40,000 items a second on a file, against 50,000.

/// Enough items to a transaction that its sync costs little; the bytes bound the memory.
const LIMIT: BatchLimit = BatchLimit {
    items: 2500,
    bytes: 4_000_000,
};

/// Writes a batch of puts in one transaction.
fn import(opener: &Opener, table: &str, batch: &Batch) -> Result<BatchOutcome> {
    let items = batch.entries().iter().enumerate();
    let parsed = items.map(|(index, entry)| parse(entry, batch.json(index)));
    let parsed = parsed.collect::<Result<Vec<_>, _>>();
    let database = opener.open_or_create()?;
    parsed
        .and_then(|items| database.import_items(table, items, ImportOptions::default()))
        .map(|_| BatchOutcome::default())
        .map_err(|error| refused(opener, table, error))
}

fn parse(entry: &BatchEntry, json: &str) -> Result<EngineItem, DynoxideError> {
    if entry.size > MAX_ITEM_SIZE {
        return Err(DynoxideError::ValidationException(
            "Item size has exceeded the maximum allowed size".to_owned(),
        ));
    }
    serde_json::from_str(json).map_err(|error| unreadable(&error))
}

fn refused(opener: &Opener, table: &str, error: DynoxideError) -> TargetError {
    if error.status_code() == 500 {
        return opener.error(error);
    }
    let code = error.error_type();
    let code = code.rsplit_once('#').map_or(code, |(_, code)| code);
    let (kind, class, what) = match error {
        DynoxideError::ResourceNotFoundException(_) => {
            (TableMissing, ErrorClass::Fatal, "there is no such table")
        }
        _ => (Refused, ErrorClass::Invalid, "refused"),
    };
    let message = format!("write to table {table}: {what} ({code})");
    TargetError::new(kind, class, code, message)
        .with_cause(ServiceText(without_values(&error.to_string())), 0)
}

// The file under the embedded engine: looked at before it is opened, made only by a table's
// creation.
//
// The engine would write its tables into any SQLite database, be it the source that was named by
// mistake, and would make a file for a name that was mistyped. Both are refused here.

/// How long another process's transaction is waited for.
const PATIENCE: Duration = Duration::from_secs(5);
const OTHER_FILE: &str = "name another file; a missing file is created";

/// Opens the engine when it is first needed.
struct Opener {
    file: Option<PathBuf>,
    /// The engine, once it is open, and which file it has opened.
    open: Mutex<Option<(Database, Option<FileId>)>>,
}

/// Without the engine, which has no words for itself.
impl std::fmt::Debug for Opener {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Opener").field(&self.file).finish()
    }
}

impl Opener {
    /// Remembers the file. Absolute, so that SQLite reads it neither as a URI nor as `:memory:`.
    fn new(file: Option<&Path>) -> Result<Self> {
        let file = file.map(std::path::absolute).transpose().map_err(|error| {
            TargetError::of_file(File, "cannot make the file name absolute").with_cause(error, 0)
        })?;
        Ok(Self {
            file,
            open: Mutex::default(),
        })
    }

    /// The engine, if there is anything in it: in memory, or on a file that exists.
    fn existing(&self) -> Result<Option<Database>> {
        match &self.file {
            // One that is open already was removed.
            Some(file) if self.open.lock().is_none() && !file.exists() => Ok(None),
            _ => self.open_or_create().map(Some),
        }
    }

    /// The engine; its file is made if it is missing.
    fn open_or_create(&self) -> Result<Database> {
        let mut open = self.open.lock();
        if let Some((database, opened)) = &*open {
            if let Some(file) = &self.file {
                require_same(file, *opened)?;
            }
            return Ok(database.clone());
        }
        let opened = match &self.file {
            None => Database::memory().map_err(|error| translate(None, error))?,
            Some(file) => {
                inspect(file)?;
                let name = file.to_str().ok_or_else(|| {
                    TargetError::of_file(File, "the file's name is not UTF-8").with_help(OTHER_FILE)
                })?;
                private::create_empty(file);
                Database::new(name).map_err(|error| translate(Some(file), error))?
            }
        };
        let id = self.file.as_deref().and_then(file_id);
        *open = Some((opened.clone(), id));
        Ok(opened)
    }

    /// Creates or deletes a table in one transaction. The engine's own calls take several: a process that is killed
    /// between two of them would leave a table that is listed and not there, and of two processes that create
    /// one table each would find that it is missing.
    fn at_once<A>(
        &self,
        change: impl AsyncFnOnce(&Storage) -> Result<A, DynoxideError>,
    ) -> Result<A, DynoxideError> {
        let name = self.file.as_deref().and_then(Path::to_str);
        let storage = Storage::new(name.unwrap_or_default())?;
        storage.begin_transaction()?;
        // Nothing that the engine does has to be waited for. What is not committed is taken back.
        let changed = change(&storage).now_or_never().ok_or_else(|| {
            DynoxideError::InternalServerError("the engine has not answered".to_owned())
        })??;
        storage.commit()?;
        // The open engine remembers the tables that it has met.
        *self.open.lock() = None;
        Ok(changed)
    }

    /// Refuses a file that can be read and not written: the engine would find out with the first
    /// item.
    fn writable(&self) -> Result<()> {
        // A transaction alone may begin on such a file; this one changes a page, and takes it back.
        self.aside(|connection| {
            connection.execute_batch("BEGIN IMMEDIATE; PRAGMA user_version = 0; ROLLBACK")
        })
    }

    /// Moves what was committed from the write-ahead log into the file and syncs it.
    fn settle(&self) -> Result<()> {
        // A reader in another process may keep the log from being emptied; it is synced anyway.
        self.aside(|connection| {
            connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        })
    }

    /// Does something over another connection than the engine's, if there is a file.
    fn aside(&self, work: impl FnOnce(&Connection) -> Result<(), SqliteError>) -> Result<()> {
        let Some(file) = self.file.as_deref() else {
            return Ok(());
        };
        let opened = self.open.lock().as_ref().and_then(|(_, id)| *id);
        require_same(file, opened)?;
        if !file.exists() {
            return Ok(());
        }
        let done = || -> Result<(), SqliteError> {
            let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
            let connection = Connection::open_with_flags(file, flags)?;
            connection.busy_timeout(PATIENCE)?;
            work(&connection)
        };
        done().map_err(|error| sqlite(file, error))
    }

    /// What an error of the running engine means for its file.
    fn error(&self, error: DynoxideError) -> TargetError {
        translate(self.file.as_deref(), error)
    }
}

/// What tells a file from others that have had its name: its device and its inode.
type FileId = (u64, u64);

/// `None` where there is no file.
#[cfg(unix)]
fn file_id(file: &Path) -> Option<FileId> {
    use std::os::unix::fs::MetadataExt as _;
    let found = fs::metadata(file).ok()?;
    Some((found.dev(), found.ino()))
}

/// Other systems do not tell.
#[cfg(not(unix))]
fn file_id(_: &Path) -> Option<FileId> {
    None
}

/// Refuses a file that was removed or replaced since the engine has opened it: the engine writes to the old one.
fn require_same(file: &Path, opened: Option<FileId>) -> Result<()> {
    if opened.is_none() || opened == file_id(file) {
        return Ok(());
    }
    let message = format!("{} was removed or replaced during the run", file.display());
    Err(TargetError::of_file(File, message).with_help(
        "what was written is in the file that is gone; start the same command again when nothing else changes the file",
    ))
}

/// Refuses what is no file of the engine's, without changing it.
fn inspect(file: &Path) -> Result<()> {
    let shown = file.display();
    if file.is_dir() {
        return Err(
            TargetError::of_file(File, format!("{shown} is a folder")).with_help(OTHER_FILE)
        );
    }
    let length = match fs::metadata(file) {
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    };
    if length == 0 {
        return match file.parent() {
            Some(folder) if !folder.is_dir() => {
                let message = format!("there is no folder {}", folder.display());
                Err(TargetError::of_file(File, message).with_help("create the folder first"))
            }
            _ => Ok(()),
        };
    }
    let count = |access| -> Result<(u32, u32), SqliteError> {
        let flags = access | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(file, flags)?;
        connection.busy_timeout(PATIENCE)?;
        connection.query_row(
            "select count(*), count(*) filter (where name in ('_config', '_tables')) \
             from sqlite_master where type = 'table'",
            [],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
    };
    let mut counted = count(OpenFlags::SQLITE_OPEN_READ_ONLY);
    // A process that was killed in a transaction has left a journal, which only a writer can roll back.
    if counted
        .as_ref()
        .is_err_and(|error| error.sqlite_error_code() == Some(ErrorCode::ReadOnly))
    {
        counted = count(OpenFlags::SQLITE_OPEN_READ_WRITE);
    }
    match counted {
        Ok((0, _) | (_, 2)) => Ok(()),
        Ok(_) => {
            let message =
                format!("{shown} is a SQLite database, but not one that holds DynamoDB tables");
            Err(TargetError::of_file(File, message).with_help(OTHER_FILE))
        }
        Err(error) => Err(sqlite(file, error)),
    }
}

fn translate(file: Option<&Path>, error: DynoxideError) -> TargetError {
    let file = file.unwrap_or(Path::new("the table in memory"));
    if let DynoxideError::SqliteError(error) = error {
        return sqlite(file, error);
    }
    // Below its API the engine keeps SQLite's words alone.
    let text = error.to_string();
    let codes = [
        ("is locked", ErrorCode::DatabaseLocked),
        ("is full", ErrorCode::DiskFull),
        ("readonly database", ErrorCode::ReadOnly),
    ];
    let code = codes.into_iter().find(|(words, _)| text.contains(words));
    of_code(file, code.map(|(_, code)| code)).with_cause(error, 0)
}

fn sqlite(file: &Path, error: SqliteError) -> TargetError {
    let failure = of_code(file, error.sqlite_error_code());
    match error {
        // The code says the same as the text, and ours has said it.
        SqliteError::SqliteFailure(code, _) if failure.help.is_some() => {
            failure.with_cause(code, 0)
        }
        error => failure.with_cause(error, 0),
    }
}

/// What SQLite's code means for a file.
fn of_code(file: &Path, code: Option<ErrorCode>) -> TargetError {
    let shown = file.display();
    let (kind, message, help) = match code {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => (
            Locked,
            format!("{shown} is locked by another process"),
            "wait for the other process to end",
        ),
        Some(ErrorCode::NotADatabase) => {
            (File, format!("{shown} is not a database file"), OTHER_FILE)
        }
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => (
            File,
            format!("{shown} cannot be opened for writing"),
            "look at the permissions of the file and of its folder, which must be writable too",
        ),
        Some(ErrorCode::DiskFull) => (
            DiskFull,
            format!("no space is left for {shown}"),
            "free some disk space and start the same command again",
        ),
        Some(ErrorCode::DatabaseCorrupt) => (
            File,
            format!("{shown} is damaged"),
            "delete it and load again",
        ),
        _ => return TargetError::of_file(File, format!("{shown} cannot be read or written")),
    };
    TargetError::of_file(kind, message).with_help(help)
}
