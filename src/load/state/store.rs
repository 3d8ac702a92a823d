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
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use super::{
    Attempt, Chunk, ChunkDone, Done, Earlier, Ending, Extent, Fact, Ground, Identity, PassPlan,
    Selection, StateError,
};
use crate::private;

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
    if more.contains(OpenFlags::SQLITE_OPEN_CREATE) {
        private::make(path);
    }
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

// The rows of a state, and what they say.

type Changed = Result<(), Fault>;

const ENDING: &str = "ending";

/// The present time in UTC, as it is kept and shown.
pub(super) fn clock() -> String {
    jiff::Timestamp::now()
        .strftime("%Y-%m-%dT%H:%M:%SZ")
        .to_string()
}

/// The rows of a run that has not begun.
pub(super) fn begin(
    change: &mut Change<'_>,
    identity: &Identity,
    selections: &[Selection],
    taken_over: Option<&Attempt>,
) -> Changed {
    if let Some(attempt) = taken_over {
        put_attempt(change, attempt)?;
    }
    for (number, fact) in identity.facts().iter().enumerate() {
        let row = [
            integer(number),
            text(&fact.name),
            text(&fact.value),
            text(&fact.shown),
        ];
        change.put(FACT, &row)?;
    }
    selections
        .iter()
        .try_for_each(|selection| keep(change, selection))
}

pub(super) fn plan(change: &mut Change<'_>, passes: &[PassPlan]) -> Changed {
    change.clear(PASS)?;
    change.clear(CHUNK)?;
    for (pass, plan) in passes.iter().enumerate() {
        change.put(PASS, &[integer(pass), text(&plan.name)])?;
        for (number, range) in plan.chunks.iter().enumerate() {
            let range = range.as_deref().map_or(Value::Null, text);
            let open = [Value::Null, Value::Null, Value::Null];
            let [attempt, books, finished] = open;
            let row = [
                integer(pass),
                integer(number),
                range,
                attempt,
                books,
                finished,
            ];
            change.put(CHUNK, &row)?;
        }
    }
    Ok(())
}

pub(super) fn begin_attempt(change: &mut Change<'_>, attempt: &Attempt) -> Changed {
    change.clear(WORD)?;
    put_attempt(change, attempt)
}

/// Of a run that has begun nothing an earlier one is taken over no more.
pub(super) fn forget_attempts(change: &mut Change<'_>) -> Changed {
    Ok(change.clear(ATTEMPT)?)
}

fn put_attempt(change: &mut Change<'_>, attempt: &Attempt) -> Changed {
    let row = [
        Value::from(attempt.number),
        attempt.stamp.as_deref().map_or(Value::Null, text),
        text(&attempt.now),
        text(attempt.ground.word()),
        text(&attempt.begun),
        attempt.table_id.as_deref().map_or(Value::Null, text),
    ];
    Ok(change.put(ATTEMPT, &row)?)
}

pub(super) fn chunks_done(
    change: &mut Change<'_>,
    attempt: u32,
    done: &[ChunkDone<'_>],
) -> Changed {
    let finished = clock();
    for done in done {
        let (pass, chunk) = (done.pass, done.chunk);
        let key = [integer(pass), integer(chunk)];
        let Some(range) = change.find(CHUNK, &key, |row| row.get::<_, Value>("range"))? else {
            return Err(Fault::State(StateError::Unplanned { pass, chunk }));
        };
        let [pass, chunk] = key;
        let attempt = Value::from(attempt);
        let row = [
            pass,
            chunk,
            range,
            attempt,
            text(done.books_json),
            text(&finished),
        ];
        change.put(CHUNK, &row)?;
        for (name, extent) in done.annexes {
            let length = Value::from(i64::try_from(extent.length).unwrap_or(i64::MAX));
            change.put(ANNEX, &[text(name), length, text(&extent.tail)])?;
        }
    }
    Ok(())
}

pub(super) fn forget_annexes(change: &mut Change<'_>) -> Changed {
    Ok(change.clear(ANNEX)?)
}

pub(super) fn note_table(change: &mut Change<'_>, attempt: u32, id: &str) -> Changed {
    let key = [Value::from(attempt)];
    let found = change.find(ATTEMPT, &key, |row| {
        let values = (0..5).map(|column| row.get::<_, Value>(column));
        values.collect::<Result<Vec<Value>, _>>()
    })?;
    if let Some(mut row) = found {
        row.push(text(id));
        change.put(ATTEMPT, &row)?;
    }
    Ok(())
}

pub(super) fn finish(
    change: &mut Change<'_>,
    ending: Ending,
    selection: Option<&Selection>,
) -> Changed {
    change.put(WORD, &[text(ENDING), text(ending.word())])?;
    selection.map_or(Ok(()), |selection| keep(change, selection))
}

pub(super) fn earlier(store: &Store) -> Result<Earlier, StateError> {
    let word = format!("select value from word where name = '{ENDING}'");
    let ending = store.read(&word, |row| row.get::<_, String>(0))?;
    Ok(Earlier {
        attempts: store.read("select * from attempt order by number", attempt)?,
        passes: store.read("select name from pass order by number", |row| row.get(0))?,
        annexes: store.read("select * from annex order by name", annex)?,
        ending: ending.first().map(|word| Ending::read(word)),
    })
}

pub(super) fn identity(store: &Store) -> Result<Identity, StateError> {
    let facts = store.read(
        "select name, value, shown from fact order by number",
        |row| {
            Ok(Fact {
                name: row.get(0)?,
                value: row.get(1)?,
                shown: row.get(2)?,
            })
        },
    )?;
    Ok(facts.into_iter().collect())
}

pub(super) fn selections(store: &Store) -> Result<Vec<Selection>, StateError> {
    store.read(
        "select place, selection from selection order by place",
        |row| {
            Ok(Selection {
                place: row.get(0)?,
                json: row.get(1)?,
            })
        },
    )
}

pub(super) fn chunks(store: &Store) -> Result<Vec<Chunk>, StateError> {
    store.read("select * from chunk order by pass, number", |row| {
        let attempt: Option<u32> = row.get("attempt")?;
        let done = attempt.map(|attempt| -> rusqlite::Result<Done> {
            Ok(Done {
                attempt,
                books: row.get("books")?,
                finished: row.get("finished")?,
            })
        });
        Ok(Chunk {
            pass: row.get("pass")?,
            chunk: row.get("number")?,
            range: row.get("range")?,
            done: done.transpose()?,
        })
    })
}

fn attempt(row: &Row<'_>) -> rusqlite::Result<Attempt> {
    Ok(Attempt {
        number: row.get("number")?,
        stamp: row.get("stamp")?,
        now: row.get("now")?,
        ground: Ground::read(&row.get::<_, String>("ground")?),
        begun: row.get("begun")?,
        table_id: row.get("table_id")?,
    })
}

fn annex(row: &Row<'_>) -> rusqlite::Result<(String, Extent)> {
    let extent = Extent {
        length: row.get("length")?,
        tail: row.get("tail")?,
    };
    Ok((row.get("name")?, extent))
}

fn keep(change: &mut Change<'_>, selection: &Selection) -> Changed {
    Ok(change.put(SELECTION, &[text(&selection.place), text(&selection.json)])?)
}

fn text(text: &str) -> Value {
    Value::Text(text.into())
}

fn integer(number: usize) -> Value {
    Value::Integer(i64::try_from(number).unwrap_or(i64::MAX))
}

// Rows being changed, with their seal.

/// What ends a change without a trace.
#[derive(Debug)]
pub(super) enum Fault {
    /// The database is in the way.
    Sqlite(Error),
    /// The caller is.
    State(StateError),
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Sqlite(error)
    }
}

/// A transaction that carries the seal along.
pub(super) struct Change<'a> {
    transaction: Transaction<'a>,
    rows: i64,
    sum: u128,
}

impl<'a> Change<'a> {
    /// Begins with the seal as it stands.
    pub(super) fn begin(transaction: Transaction<'a>) -> Result<Self, Error> {
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
        let names: Vec<String> = table
            .key_names()
            .map(|name| format!("{name} = ?"))
            .collect();
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

    /// Ends with the new seal, on disk.
    pub(super) fn commit(self) -> Result<(), Error> {
        self.transaction
            .prepare_cached("update seal set rows = ?, sum = ?")?
            .execute((self.rows, hex(self.sum)))?;
        self.transaction.commit()
    }
}

// The tables of a state, and the hashes of their rows.

/// A table: its name, its columns, and how many of them are its key.
#[derive(Debug, Clone, Copy)]
pub(super) struct Table {
    pub(super) name: &'static str,
    columns: &'static str,
    pub(super) keys: usize,
}

const fn table(name: &'static str, keys: usize, columns: &'static str) -> Table {
    Table {
        name,
        columns,
        keys,
    }
}

/// Words about the run.
pub(super) const WORD: Table = table("word", 1, "name text, value text");
/// What the run is known by.
pub(super) const FACT: Table = table(
    "fact",
    1,
    "number integer, name text, value text, shown text",
);
/// The run's beginnings: the first one and those after interruptions.
pub(super) const ATTEMPT: Table = table(
    "attempt",
    1,
    "number integer, stamp text, now text, ground text, begun text, table_id text",
);
/// The plan's passes.
pub(super) const PASS: Table = table("pass", 1, "number integer, name text");
/// The passes' chunks.
pub(super) const CHUNK: Table = table(
    "chunk",
    2,
    "pass integer, number integer, range text, attempt integer, books text, finished text",
);
/// Files that grow with the run.
pub(super) const ANNEX: Table = table("annex", 1, "name text, length integer, tail text");
/// What the last full run of each table selected.
pub(super) const SELECTION: Table = table("selection", 1, "place text, selection text");

const TABLES: [Table; 7] = [WORD, FACT, ATTEMPT, PASS, CHUNK, ANNEX, SELECTION];

/// Stands in every version of the format, so that a version is told from damage.
const FORMAT_TABLE: &str =
    "CREATE TABLE format (number integer not null, seal text not null) STRICT";
const SEAL_TABLE: &str = "CREATE TABLE seal (rows integer not null, sum text not null) STRICT";

impl Table {
    /// The names of its key's columns.
    pub(super) fn key_names(self) -> impl Iterator<Item = &'static str> {
        let columns = self.columns.split(", ").take(self.keys);
        columns.map(|column| column.split_once(' ').map_or(column, |(name, _)| name))
    }

    fn create(self) -> String {
        let keys: Vec<&str> = self.key_names().collect();
        format!(
            "CREATE TABLE {} ({}, primary key ({})) STRICT, WITHOUT ROWID",
            self.name,
            self.columns,
            keys.join(", ")
        )
    }
}

/// The statements that make all tables, in their order.
pub(super) fn schema() -> Vec<String> {
    let mut all = vec![FORMAT_TABLE.to_owned(), SEAL_TABLE.to_owned()];
    all.extend(TABLES.into_iter().map(Table::create));
    all
}

/// What the seal has to say: the rows of all tables and the sum of their hashes.
pub(super) fn count(connection: &Connection) -> Result<(i64, String), Error> {
    let mut all = (0, 0_u128);
    for table in TABLES {
        let (rows, sum) = count_table(connection, table)?;
        all = (all.0 + rows, all.1.wrapping_add(sum));
    }
    Ok((all.0, hex(all.1)))
}

/// The rows of a table and the sum of their hashes.
pub(super) fn count_table(connection: &Connection, table: Table) -> Result<(i64, u128), Error> {
    let mut statement = connection.prepare(&format!("select * from {}", table.name))?;
    let mut rows = statement.query([])?;
    let mut all = (0, 0_u128);
    while let Some(row) = rows.next()? {
        all = (all.0 + 1, all.1.wrapping_add(hash(table, row)?));
    }
    Ok(all)
}

/// The hash of a row as it was read.
pub(super) fn hash(table: Table, row: &Row<'_>) -> rusqlite::Result<u128> {
    let values = (0..row.as_ref().column_count()).map(|index| row.get_ref(index));
    let values: Vec<ValueRef<'_>> = values.collect::<Result<_, _>>()?;
    Ok(hash_values(table, values.into_iter()))
}

/// The hash of a row's values: of their types, lengths and bytes.
pub(super) fn hash_values<'a>(table: Table, values: impl Iterator<Item = ValueRef<'a>>) -> u128 {
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

/// What stands beside the format's number.
pub(super) fn format_seal(format: i64) -> String {
    let text = format!("dynafold state {format}");
    hex(xxh3_128(text.as_bytes()))
}

/// A hash as it is kept.
pub(super) fn hex(sum: u128) -> String {
    format!("{sum:032x}")
}

#[cfg(test)]
mod table_tests {
    use super::*;

    #[test]
    fn tables_that_are_others_have_a_format_of_another_number() {
        let tables = schema().join("\n");
        let known = (2, String::from("e75053113dfb9eb9f8a60e4d618578e5"));
        assert_eq!(
            (
                super::super::store::FORMAT,
                hex(xxh3_128(tables.as_bytes()))
            ),
            known
        );
    }
}
