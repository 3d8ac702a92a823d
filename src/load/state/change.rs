//! Rows being changed, with their seal.

use rusqlite::types::{Value, ValueRef};
use rusqlite::{Error, OptionalExtension as _, Row, Transaction, params_from_iter};

use super::StateError;
use super::table::{Table, count_table, hash, hash_values, hex};

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
