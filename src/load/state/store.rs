//! The file: rows under a seal.
//!
//! A SQLite database in write-ahead mode, synced with every transaction. Its tables are written
//! only through [`Change`], which carries a checksum over all rows along: the sum of the rows'
//! hashes and their number, in a row of its own. A file that was cut off, zeroed or overwritten in
//! places gives another sum; one that lost its last transactions is an earlier state, which is
//! true as well.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::types::{Value, ValueRef};
use rusqlite::{
    Connection, Error, OpenFlags, OptionalExtension as _, Row, Transaction, params_from_iter,
};
use xxhash_rust::xxh3::Xxh3;

use super::StateError;

/// The format that this version reads and writes.
pub(super) const FORMAT: i64 = 1;
/// Tells the file from other SQLite databases: `dyfo`.
pub(super) const APPLICATION: i32 = 0x6479_666f;
/// How long another program's transaction is waited for.
const PATIENCE: Duration = Duration::from_secs(2);

/// `SQLITE_IOERR_SHORT_READ`: the file ends where it should not.
const SHORT_READ: i32 = 522;

/// A table: its name, its columns, and how many of them are its key.
#[derive(Debug, Clone, Copy)]
pub(super) struct Table {
    pub(super) name: &'static str,
    columns: &'static [&'static str],
    keys: usize,
}

const fn table(name: &'static str, keys: usize, columns: &'static [&'static str]) -> Table {
    Table {
        name,
        columns,
        keys,
    }
}

/// Words about the run.
pub(super) const WORD: Table = table("word", 1, &["name text", "value text"]);
/// What the run is known by.
pub(super) const FACT: Table = table(
    "fact",
    1,
    &["number integer", "name text", "value text", "shown text"],
);
/// The run's beginnings: the first one and those after interruptions.
pub(super) const ATTEMPT: Table = table(
    "attempt",
    1,
    &[
        "number integer",
        "stamp text",
        "now text",
        "ground text",
        "begun text",
        "traffic text",
    ],
);
/// The plan's passes.
pub(super) const PASS: Table = table("pass", 1, &["number integer", "name text"]);
/// The passes' chunks.
pub(super) const CHUNK: Table = table(
    "chunk",
    2,
    &[
        "pass integer",
        "number integer",
        "range text",
        "attempt integer",
        "books text",
        "finished text",
    ],
);
/// Files that grow with the run.
pub(super) const ANNEX: Table = table("annex", 1, &["name text", "length integer", "tail text"]);
/// What the last full run of each table selected.
pub(super) const SELECTION: Table = table("selection", 1, &["place text", "selection text"]);

const TABLES: [Table; 7] = [WORD, FACT, ATTEMPT, PASS, CHUNK, ANNEX, SELECTION];

/// Stands in every version of the format, so that a version is told from damage.
const FORMAT_TABLE: &str =
    "CREATE TABLE format (number integer not null, seal text not null) STRICT";
const SEAL_TABLE: &str = "CREATE TABLE seal (rows integer not null, sum text not null) STRICT";

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

/// What ends a change without a trace.
#[derive(Debug)]
pub(super) enum Fault {
    Sqlite(Error),
    State(StateError),
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Sqlite(error)
    }
}

/// Rows being changed, with their seal.
pub(super) struct Change<'a> {
    transaction: Transaction<'a>,
    rows: i64,
    sum: u128,
}

impl<'a> Change<'a> {
    fn begin(transaction: Transaction<'a>) -> Result<Self, Error> {
        let (rows, sum) = transaction.query_row("select rows, sum from seal", [], |row| {
            Ok((row.get(0)?, row.get::<_, String>(1)?))
        })?;
        let sum = u128::from_str_radix(&sum, 16)
            .map_err(|error| Error::ToSqlConversionFailure(Box::new(error)))?;
        Ok(Self {
            transaction,
            rows,
            sum,
        })
    }

    /// Writes a row in the place of the one with its key, if there is one.
    pub(super) fn put(&mut self, table: Table, values: &[Value]) -> Result<(), Error> {
        let keys = values.get(..table.keys).unwrap_or_default();
        if let Some(old) = self.find(table, keys, |row| hash(table, row))? {
            self.sum = self.sum.wrapping_sub(old);
            self.rows -= 1;
        }
        let marks = vec!["?"; values.len()].join(", ");
        let statement = format!("replace into {} values ({marks})", table.name);
        self.transaction
            .prepare_cached(&statement)?
            .execute(params_from_iter(values))?;
        self.sum = self
            .sum
            .wrapping_add(hash_values(table, values.iter().map(ValueRef::from)));
        self.rows += 1;
        Ok(())
    }

    /// Reads the row with a key.
    pub(super) fn find<T>(
        &self,
        table: Table,
        keys: &[Value],
        row: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, Error> {
        let names: Vec<String> = table.keys().map(|name| format!("{name} = ?")).collect();
        let statement = format!("select * from {} where {}", table.name, names.join(" and "));
        let mut statement = self.transaction.prepare_cached(&statement)?;
        statement.query_row(params_from_iter(keys), row).optional()
    }

    /// Removes all rows of a table.
    pub(super) fn clear(&mut self, table: Table) -> Result<(), Error> {
        let (rows, sum) = count_table(&self.transaction, table)?;
        self.rows -= rows;
        self.sum = self.sum.wrapping_sub(sum);
        self.transaction
            .execute(&format!("delete from {}", table.name), [])?;
        Ok(())
    }

    fn commit(self) -> Result<(), Error> {
        self.transaction
            .prepare_cached("update seal set rows = ?, sum = ?")?
            .execute((self.rows, hex(self.sum)))?;
        self.transaction.commit()
    }
}

impl Table {
    fn keys(self) -> impl Iterator<Item = &'static str> {
        let names = self.columns.iter().take(self.keys);
        names.map(|column| column.split_once(' ').map_or(*column, |(name, _)| name))
    }

    fn create(self) -> String {
        let keys: Vec<&str> = self.keys().collect();
        format!(
            "CREATE TABLE {} ({}, primary key ({})) STRICT, WITHOUT ROWID",
            self.name,
            self.columns.join(", "),
            keys.join(", ")
        )
    }
}

fn schema() -> Vec<String> {
    let mut all = vec![FORMAT_TABLE.to_owned(), SEAL_TABLE.to_owned()];
    all.extend(TABLES.into_iter().map(Table::create));
    all
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

fn count(connection: &Connection) -> Result<(i64, String), Error> {
    let mut all = (0, 0_u128);
    for table in TABLES {
        let (rows, sum) = count_table(connection, table)?;
        all = (all.0 + rows, all.1.wrapping_add(sum));
    }
    Ok((all.0, hex(all.1)))
}

fn count_table(connection: &Connection, table: Table) -> Result<(i64, u128), Error> {
    let mut statement = connection.prepare(&format!("select * from {}", table.name))?;
    let mut rows = statement.query([])?;
    let mut all = (0, 0_u128);
    while let Some(row) = rows.next()? {
        all = (all.0 + 1, all.1.wrapping_add(hash(table, row)?));
    }
    Ok(all)
}

fn hash(table: Table, row: &Row<'_>) -> rusqlite::Result<u128> {
    let values = (0..table.columns.len()).map(|index| row.get_ref(index));
    let values: Vec<ValueRef<'_>> = values.collect::<Result<_, _>>()?;
    Ok(hash_values(table, values.into_iter()))
}

fn hash_values<'a>(table: Table, values: impl Iterator<Item = ValueRef<'a>>) -> u128 {
    let mut hasher = Xxh3::new();
    let mut text = |kind: u8, bytes: &[u8]| {
        hasher.update(&[kind]);
        hasher.update(&bytes.len().to_le_bytes());
        hasher.update(bytes);
    };
    text(0, table.name.as_bytes());
    for value in values {
        match value {
            ValueRef::Null => text(1, &[]),
            ValueRef::Integer(number) => text(2, &number.to_le_bytes()),
            ValueRef::Real(number) => text(3, &number.to_le_bytes()),
            ValueRef::Text(bytes) => text(4, bytes),
            ValueRef::Blob(bytes) => text(5, bytes),
        }
    }
    hasher.digest128()
}

fn format_seal(format: i64) -> String {
    let text = format!("dynafold state {format}");
    hex(xxhash_rust::xxh3::xxh3_128(text.as_bytes()))
}

pub(super) fn hex(sum: u128) -> String {
    format!("{sum:032x}")
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
