//! The file: rows under a seal.
//!
//! A SQLite database in write-ahead mode, synced with every transaction. Its tables are written
//! only through [`Change`], which carries a checksum over all rows along: the sum of the rows'
//! hashes and their number, in a row of its own. A file that was cut off, zeroed or overwritten in
//! places gives another sum; one that lost its last transactions is an earlier state, which is
//! true as well.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, Error, OpenFlags, Row};

use super::StateError;
use super::change::{Change, Fault};
use super::table::{count, format_seal, hex, schema};

/// The format that this version reads and writes.
pub(super) const FORMAT: i64 = 2;
/// Tells the file from other SQLite databases: `dyfo`.
pub(super) const APPLICATION: i32 = 0x6479_666f;
/// How long another program's transaction is waited for.
const PATIENCE: Duration = Duration::from_secs(2);

/// `SQLITE_IOERR_SHORT_READ`: the file ends where it should not.
const SHORT_READ: i32 = 522;

/// The open file.
#[derive(Debug)]
pub(super) struct Store {
    connection: Connection,
    path: PathBuf,
}

/// Why a file is not read.
#[derive(Debug)]
pub(super) enum Unread {
    /// It is not what was written.
    Damaged(String),
    /// Another version's.
    Format(i64),
    /// The system is in the way; the file may be whole.
    Failed(Error),
}

impl From<Error> for Unread {
    /// Damage shows itself in many ways; what is listed here is none.
    fn from(error: Error) -> Self {
        use rusqlite::ErrorCode as Code;
        match error.sqlite_error_code() {
            Some(
                Code::PermissionDenied
                | Code::DatabaseBusy
                | Code::DatabaseLocked
                | Code::OutOfMemory
                | Code::ReadOnly
                | Code::SystemIoFailure
                | Code::DiskFull
                | Code::CannotOpen
                | Code::FileLockingProtocolFailed
                | Code::NoLargeFileSupport,
            ) if error
                .sqlite_error()
                .is_none_or(|code| code.extended_code != SHORT_READ) =>
            {
                Self::Failed(error)
            }
            _ => Self::Damaged(error.to_string()),
        }
    }
}

impl Store {
    /// Makes an empty file. There must be none.
    pub(super) fn create(path: &Path) -> Result<Self, Error> {
        let connection = connect(path, OpenFlags::SQLITE_OPEN_CREATE)?;
        let begun = connection.unchecked_transaction()?;
        begun.pragma_update(None, "application_id", APPLICATION)?;
        begun.execute_batch(&schema().join(";\n"))?;
        begun.execute(
            "insert into format values (?, ?)",
            (FORMAT, format_seal(FORMAT)),
        )?;
        begun.execute("insert into seal values (0, ?)", [hex(0)])?;
        begun.commit()?;
        Ok(Self {
            connection,
            path: path.to_owned(),
        })
    }

    /// Opens a file and proves that it is what was written.
    pub(super) fn open(path: &Path) -> Result<Self, Unread> {
        let store = Self {
            connection: connect(path, OpenFlags::empty())?,
            path: path.to_owned(),
        };
        store.prove()?;
        Ok(store)
    }

    /// Reads rows. What the statement reads has been proved when the file was opened.
    pub(super) fn read<T>(
        &self,
        statement: &str,
        row: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StateError> {
        let read = || -> Result<Vec<T>, Error> {
            let mut statement = self.connection.prepare_cached(statement)?;
            statement.query_map([], row)?.collect()
        };
        read().map_err(|cause| StateError::sqlite(&self.path, cause))
    }

    /// Changes rows in one transaction, which is on disk when this returns.
    pub(super) fn change<T>(
        &mut self,
        change: impl FnOnce(&mut Change<'_>) -> Result<T, Fault>,
    ) -> Result<T, StateError> {
        let path = &self.path;
        let change = || -> Result<T, Fault> {
            let mut open = Change::begin(self.connection.transaction()?)?;
            let done = change(&mut open)?;
            open.commit()?;
            Ok(done)
        };
        change().map_err(|fault| match fault {
            Fault::Sqlite(cause) => StateError::sqlite(path, cause),
            Fault::State(error) => error,
        })
    }

    /// Ends with everything in the one file.
    pub(super) fn close(self) -> Result<(), StateError> {
        let Self { connection, path } = self;
        connection
            .close()
            .map_err(|(_, cause)| StateError::sqlite(&path, cause))
    }

    fn prove(&self) -> Result<(), Unread> {
        let connection = &self.connection;
        let found: String = connection.query_row("pragma quick_check(1)", [], |row| row.get(0))?;
        if found != "ok" {
            return Err(Unread::Damaged(found));
        }
        let (format, seal): (i64, String) =
            connection.query_row("select number, seal from format", [], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })?;
        if seal != format_seal(format) {
            return Err(damaged("the seal of the format is broken"));
        }
        if format != FORMAT {
            return Err(Unread::Format(format));
        }
        let mut statement = connection.prepare("select sql from sqlite_schema")?;
        let found: Vec<String> = statement
            .query_map([], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        if found != schema() {
            return Err(damaged("its tables are not those that were made"));
        }
        let sealed = connection.query_row("select rows, sum from seal", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
        if sealed != count(connection)? {
            return Err(damaged("its rows are not those that were written"));
        }
        Ok(())
    }
}

/// Exclusive, so that no file of shared memory is needed, which network disks do not have.
fn connect(path: &Path, more: OpenFlags) -> Result<Connection, Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | more;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(PATIENCE)?;
    connection.execute_batch(
        "pragma locking_mode = exclusive;
         pragma cell_size_check = on;
         pragma trusted_schema = off;
         pragma journal_mode = wal;
         pragma synchronous = full;",
    )?;
    Ok(connection)
}

fn damaged(what: &str) -> Unread {
    Unread::Damaged(what.to_owned())
}

/// Makes a file look as if another version had written it.
#[cfg(test)]
pub(super) fn pretend_format(path: &Path, format: i64) {
    let connection = Connection::open(path).unwrap();
    connection
        .execute(
            "update format set number = ?, seal = ?",
            (format, format_seal(format)),
        )
        .unwrap();
}
