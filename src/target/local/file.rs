//! The file under the embedded engine: looked at before it is opened, made only by a table's
//! creation.
//!
//! The engine would write its tables into any SQLite database, be it the source that was named by
//! mistake, and would make a file for a name that was mistyped. Both are refused here.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use dynoxide::{Database, DynoxideError};
use rusqlite::{Connection, Error as SqliteError, ErrorCode, OpenFlags};

use crate::private;
use crate::target::{ErrorClass, TargetError};

/// How long another process's transaction is waited for.
const PATIENCE: Duration = Duration::from_secs(5);
const OTHER_FILE: &str = "name another file; one that is missing is made";

/// Opens the engine when it is first needed.
#[derive(Debug)]
pub(super) struct Opener {
    file: Option<PathBuf>,
    open: Mutex<Slot>,
}

/// The engine, once it is open.
#[derive(Default)]
struct Slot(Option<Database>);

impl std::fmt::Debug for Slot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_some() { "open" } else { "not open" })
    }
}

impl Opener {
    /// Remembers the file. Absolute, so that SQLite reads it neither as a URI nor as `:memory:`.
    pub(super) fn new(file: Option<&Path>) -> Result<Self, TargetError> {
        let file = file
            .map(std::path::absolute)
            .transpose()
            .map_err(|error| failure(&format!("the file's name is not usable: {error}"), None))?;
        Ok(Self {
            file,
            open: Mutex::new(Slot::default()),
        })
    }

    /// Whether there is a file under the engine.
    pub(super) fn has_file(&self) -> bool {
        self.file.is_some()
    }

    /// The engine, if there is anything in it: in memory, or on a file that exists.
    pub(super) fn existing(&self) -> Result<Option<Database>, TargetError> {
        match &self.file {
            Some(file) if !file.exists() => Ok(None),
            _ => self.made().map(Some),
        }
    }

    /// The engine; its file is made if it is missing.
    pub(super) fn made(&self) -> Result<Database, TargetError> {
        let mut slot = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(open) = &slot.0 {
            return Ok(open.clone());
        }
        let opened = match &self.file {
            None => Database::memory().map_err(|error| translate(None, &error))?,
            Some(file) => {
                inspect(file)?;
                let name = file
                    .to_str()
                    .ok_or_else(|| failure("the file's name is not UTF-8", Some(OTHER_FILE)))?;
                private::make(file);
                Database::new(name).map_err(|error| translate(Some(file), &error))?
            }
        };
        slot.0 = Some(opened.clone());
        Ok(opened)
    }

    /// Refuses a file that can be read and not written: the engine would find out with the first
    /// item.
    pub(super) fn writable(&self) -> Result<(), TargetError> {
        // A transaction alone may begin on such a file; this one changes a page, and takes it back.
        self.aside(|connection| {
            connection.execute_batch("BEGIN IMMEDIATE; PRAGMA user_version = 0; ROLLBACK")
        })
    }

    /// Moves what was committed from the write-ahead log into the file and syncs it.
    pub(super) fn settle(&self) -> Result<(), TargetError> {
        // A reader in another process may keep the log from being emptied; it is synced anyway.
        self.aside(|connection| {
            connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        })
    }

    /// Does something over another connection than the engine's, if there is a file.
    fn aside(
        &self,
        work: impl FnOnce(&Connection) -> Result<(), SqliteError>,
    ) -> Result<(), TargetError> {
        let Some(file) = self.file.as_deref().filter(|file| file.exists()) else {
            return Ok(());
        };
        let done = || -> Result<(), SqliteError> {
            let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
            let connection = Connection::open_with_flags(file, flags)?;
            connection.busy_timeout(PATIENCE)?;
            work(&connection)
        };
        done().map_err(|error| sqlite(file, &error))
    }

    /// What an error of the running engine means for its file.
    pub(super) fn error(&self, error: &DynoxideError) -> TargetError {
        translate(self.file.as_deref(), error)
    }
}

/// Refuses what is no file of the engine's, without changing it.
fn inspect(file: &Path) -> Result<(), TargetError> {
    let shown = file.display();
    if file.is_dir() {
        return Err(failure(&format!("{shown} is a folder"), Some(OTHER_FILE)));
    }
    let length = match fs::metadata(file) {
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    };
    if length == 0 {
        return match file.parent() {
            Some(folder) if !folder.is_dir() => Err(failure(
                &format!("there is no folder {}", folder.display()),
                Some("make the folder first"),
            )),
            _ => Ok(()),
        };
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let count = || -> Result<(u32, u32), SqliteError> {
        let connection = Connection::open_with_flags(file, flags)?;
        connection.busy_timeout(PATIENCE)?;
        connection.query_row(
            "select count(*), count(*) filter (where name in ('_config', '_tables')) \
             from sqlite_master where type = 'table'",
            [],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
    };
    match count() {
        Ok((0, _) | (_, 2)) => Ok(()),
        Ok(_) => Err(failure(
            &format!("{shown} is a SQLite database, but not one that holds DynamoDB tables"),
            Some(OTHER_FILE),
        )),
        Err(error) => Err(sqlite(file, &error)),
    }
}

fn translate(file: Option<&Path>, error: &DynoxideError) -> TargetError {
    let file = file.unwrap_or(Path::new("the table in memory"));
    match error {
        DynoxideError::SqliteError(error) => sqlite(file, error),
        // Below its API the engine keeps SQLite's words alone.
        other => by_words(file, &other.to_string()),
    }
}

fn sqlite(file: &Path, error: &SqliteError) -> TargetError {
    let shown = file.display();
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => locked(file),
        Some(ErrorCode::NotADatabase) => {
            failure(&format!("{shown} is not a database file"), Some(OTHER_FILE))
        }
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
            unwritable(file)
        }
        Some(ErrorCode::DiskFull) => full(file),
        Some(ErrorCode::DatabaseCorrupt) => failure(
            &format!("{shown} is damaged"),
            Some("delete it and load again"),
        ),
        _ => failure(&format!("{shown}: {error}"), None),
    }
}

fn by_words(file: &Path, text: &str) -> TargetError {
    if text.contains("is locked") {
        locked(file)
    } else if text.contains("is full") {
        full(file)
    } else if text.contains("readonly database") {
        unwritable(file)
    } else {
        failure(&format!("{}: {text}", file.display()), None)
    }
}

fn locked(file: &Path) -> TargetError {
    TargetError {
        class: ErrorClass::Transient,
        ..failure(
            &format!("{} is locked by another process", file.display()),
            Some("wait for the other process to end"),
        )
    }
}

fn unwritable(file: &Path) -> TargetError {
    failure(
        &format!("{} cannot be opened for writing", file.display()),
        Some("look at the permissions of the file and of its folder, which must be writable too"),
    )
}

fn full(file: &Path) -> TargetError {
    failure(
        &format!("the disk under {} is full", file.display()),
        Some("free some space and run again"),
    )
}

/// An error about the file, or about the engine itself.
pub(super) fn failure(message: &str, help: Option<&str>) -> TargetError {
    TargetError {
        class: ErrorClass::Fatal,
        code: "File".to_owned(),
        message: message.to_owned(),
        help: help.map(str::to_owned),
        throttles: Vec::new(),
    }
}
