//! The tables of a state, and the hashes of their rows.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Error, Row};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

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
mod tests {
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
