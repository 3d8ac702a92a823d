//! What was counted in rows of the source.

use std::collections::BTreeMap;

use dynafold_relational::catalog::{Catalog, Table, TableName};

/// What was counted in rows of the source.
#[derive(Debug, Clone, Default)]
pub struct Observed {
    /// By table and column.
    pub columns: BTreeMap<(TableName, String), ColumnSample>,
    /// By table and condition: the share of rows that meet it.
    pub conditions: BTreeMap<(TableName, String), f64>,
}

impl Observed {
    /// What was counted of a column; `None` where nothing was, or there were no rows.
    pub(crate) fn column(&self, table: &Table, column: &str) -> Option<&ColumnSample> {
        let place = (table.name.clone(), column.to_owned());
        self.columns.get(&place).filter(|sample| sample.rows > 0)
    }

    /// Gives tables the number of their rows as it was counted: a database's estimate may be of any time. Of a table that has
    /// more rows than were counted, the greater of both.
    pub fn give_rows(&self, catalog: &mut Catalog) {
        for ((name, _), sample) in &self.columns {
            let mut tables = catalog.tables.iter_mut();
            if let Some(table) = tables.find(|table| table.name == *name) {
                let estimate = table.estimated_rows.filter(|_| !sample.is_all);
                table.estimated_rows = Some(estimate.unwrap_or(0).max(sample.rows));
            }
        }
    }

    /// Whether all texts of a column are ASCII, of which every database knows the lower case. Not known where not all rows
    /// were looked at.
    pub(crate) fn is_ascii(&self, table: &Table, column: &str) -> bool {
        let sample = self.column(table, column);
        sample.is_some_and(|sample| sample.is_all && sample.chars == sample.bytes)
    }

    /// Whether some text of a column was seen that is not ASCII.
    pub(crate) fn is_beyond_ascii(&self, table: &Table, column: &str) -> bool {
        let sample = self.column(table, column);
        sample.is_some_and(|sample| sample.chars < sample.bytes && sample.chars > 0)
    }

    /// Whether escaped keys have all texts of a column as they are. Not known where not all rows were looked at.
    pub(crate) fn is_unescaped(&self, table: &Table, column: &str) -> bool {
        let sample = self.column(table, column);
        sample.is_some_and(|sample| sample.is_all && sample.unescaped == sample.present)
    }

    /// Whether nothing is mixed in a column: of one without a type, all values are texts, or none is, and none a BLOB. Not known where not
    /// all rows were looked at.
    pub(crate) fn is_of_one_kind(&self, table: &Table, column: &str) -> bool {
        let sample = self.column(table, column);
        sample.is_some_and(|sample| sample.is_all && sample.mixed == 0)
    }

    /// Whether a column holds values of several kinds or forms, which SQLite allows: each of its numbers is less than each text, it
    /// compares times as they are written, and DynamoDB compares values of one type alone.
    pub(crate) fn is_mixed(&self, table: &Table, column: &str) -> bool {
        self.column(table, column)
            .is_some_and(|sample| sample.mixed > 0)
    }
}

/// What was counted of a column.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ColumnSample {
    /// Rows.
    pub rows: u64,
    /// Rows in which it is not NULL.
    pub present: u64,
    /// Its different values; 0 where they are not counted.
    pub distinct: u64,
    /// The bytes of all its values as text.
    pub bytes: u64,
    /// The characters of all its texts; 0 of what is no text.
    pub chars: u64,
    /// The bytes of its longest value.
    pub longest: u64,
    /// Its texts that are nothing but digits.
    pub digits: u64,
    /// Its texts without capital letters of ASCII, `_`, `#`, `%` and control characters: where keys are escaped, they stand there
    /// as they are.
    pub unescaped: u64,
    /// Its texts that begin with a date whose year is last: `31/12/2025`, `12.31.2025`.
    pub day_first: u64,
    /// Different offsets from UTC of its texts that are times: `Z`, `+09:00`.
    pub offsets: u64,
    /// Only in SQLite: its values that are not of the declared type, and for times the forms beyond the first in which they are
    /// written. Of a column of texts or without a type: of its texts and of its other values the number of those that are fewer,
    /// or of its BLOBs if they are more.
    pub mixed: u64,
    /// The rows that have its most frequent value; 0 where that was not counted.
    pub most: u64,
    /// Whether these are all rows of the table.
    pub is_all: bool,
}

impl ColumnSample {
    /// Whether its different values were counted.
    pub fn is_told_apart(&self) -> bool {
        self.distinct > 0 || self.present == 0
    }
}
