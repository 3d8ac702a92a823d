//! What a database counts of itself: the statements that it ran, the rows that were written.

use dynafold_relational::catalog::TableName;

/// What was counted.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Activity {
    /// The statements, each text once, with signs of the driver in the place of its values.
    pub statements: Vec<CountedStatement>,
    /// For how many seconds they were counted; `None` where the database does not say.
    pub seconds: Option<f64>,
    /// The rows that were written, by table; none where the database does not say since when it counts them.
    pub writes: Vec<CountedWrites>,
    /// What a person should know of the figures, a line each.
    pub notices: Vec<String>,
}

/// A statement that ran.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CountedStatement {
    /// Its SQL.
    pub sql: String,
    /// How often it ran.
    pub calls: u64,
}

/// Rows that were written, each a second.
#[derive(Debug, Clone, PartialEq)]
pub struct CountedWrites {
    /// Their table.
    pub table: TableName,
    /// Rows that came.
    pub inserts: f64,
    /// Rows that were changed.
    pub updates: f64,
    /// Rows that went.
    pub deletes: f64,
}

impl Activity {
    /// Adds a statement. Texts that are there already, of other users, are counted together.
    pub(crate) fn count(&mut self, sql: String, calls: u64) {
        match self.statements.iter_mut().find(|known| known.sql == sql) {
            Some(known) => known.calls += calls,
            None => self.statements.push(CountedStatement { sql, calls }),
        }
    }
}

impl CountedWrites {
    /// So many rows in so many seconds.
    pub(crate) fn of(
        table: TableName,
        [inserts, updates, deletes]: [f64; 3],
        seconds: f64,
    ) -> Self {
        Self {
            table,
            inserts: inserts / seconds,
            updates: updates / seconds,
            deletes: deletes / seconds,
        }
    }
}
