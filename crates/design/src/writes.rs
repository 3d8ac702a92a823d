//! The writes of a workload.

use std::collections::BTreeMap;

use dynafold_relational::catalog::Table;
use dynafold_sql::{Constant, WriteKind};

/// The writes of a table.
#[derive(Debug, Clone, Default)]
pub(crate) struct Writes {
    /// Writes a second.
    pub(crate) all: f64,
    /// Those of its columns that updates set.
    pub(crate) columns: BTreeMap<String, f64>,
    pub(crate) statements: Vec<Write>,
}

/// Values that a statement says of a row, by column.
pub(crate) type Values = BTreeMap<String, Constant>;

/// What a statement says of a row that it writes.
#[derive(Debug, Clone, Default)]
pub(crate) struct SaidValues {
    /// The values that an UPDATE or DELETE finds.
    pub(crate) before: Values,
    /// Those that an INSERT or UPDATE leaves.
    pub(crate) after: Values,
}

/// A statement that writes.
#[derive(Debug, Clone)]
pub(crate) struct Write {
    /// Its place among all.
    pub(crate) at: usize,
    pub(crate) name: String,
    pub(crate) kind: WriteKind,
    /// Rows a second, as far as the statement says how many it writes.
    pub(crate) rate: f64,
    /// Whether it is an INSERT of several rows, or of those that a query gives.
    pub(crate) inserts_several: bool,
    /// Whether it is an INSERT that computes a number from the greatest one.
    pub(crate) numbers: bool,
    /// The columns that it sets.
    pub(crate) columns: Vec<String>,
    /// What it says of the row.
    pub(crate) said: SaidValues,
    /// Those that it computes from what they were.
    pub(crate) from_itself: Vec<String>,
    /// Of an upsert the columns by which its row is there already.
    pub(crate) upserts_by: Option<Vec<String>>,
    /// The columns that its WHERE holds equal to something.
    pub(crate) found_by: Vec<String>,
    /// The columns to which an INSERT gives the time or the date at which it runs, or that a WHERE holds equal to that.
    pub(crate) now: Vec<String>,
    /// The columns that its WHERE holds below something: rows before a time.
    pub(crate) below: Vec<String>,
}

impl Write {
    /// Whether its WHERE gives the whole key of a row.
    pub(crate) fn gives_row(&self, table: &Table) -> bool {
        let mut key = table.row_key().iter();
        !table.row_key().is_empty() && key.all(|column| self.found_by.contains(column))
    }

    /// Whether it changes copies of a column. `may_come`: whether a row that comes or goes changes them too.
    pub(crate) fn changes(&self, column: &str, may_come: impl FnOnce() -> bool) -> bool {
        match self.kind {
            WriteKind::Update => self.columns.iter().any(|one| one == column),
            WriteKind::Insert | WriteKind::Delete => may_come(),
        }
    }

    /// Whether it says by constants what all of these columns are, one at least, in the rows that it writes.
    pub(crate) fn says_all<'n>(&self, columns: impl IntoIterator<Item = &'n String>) -> bool {
        let values = match self.kind {
            WriteKind::Insert => &self.said.after,
            WriteKind::Update | WriteKind::Delete => &self.said.before,
        };
        let is_said = |column: &String| {
            let value = values.get(column);
            value.is_some_and(|value| !matches!(value, Constant::Other | Constant::Null))
        };
        let mut columns = columns.into_iter().peekable();
        columns.peek().is_some() && columns.all(is_said)
    }
}
