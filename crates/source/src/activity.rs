//! What a database counts of itself: the statements that it ran, the rows that were written.

use dynafold_relational::catalog::TableName;

/// What was counted.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Activity {
    /// The statements, each text once, with signs of the driver in the place of its values; and how often each ran.
    pub statements: Vec<(String, u64)>,
    /// For how many seconds they were counted; `None` where the database does not say.
    pub seconds: Option<f64>,
    /// For each table, the rows that were inserted, updated and deleted a second; none where the database does not say since
    /// when it counts them.
    pub writes: Vec<(TableName, [f64; 3])>,
    /// What a person should know of the figures, a line each.
    pub notices: Vec<String>,
}

impl Activity {
    /// Adds a statement. Texts that are there already, of other users, are counted together.
    pub(crate) fn count(&mut self, sql: String, calls: u64) {
        match self.statements.iter_mut().find(|(known, _)| *known == sql) {
            Some((_, counted)) => *counted += calls,
            None => self.statements.push((sql, calls)),
        }
    }
}
