//! What differs between the databases' SQL.

use dynafold_relational::catalog::{DataType, Dbms, TableName};
use dynafold_relational::scan::Relation;

use super::literal::RangeLiteral;

/// What differs between the databases' SQL.
pub trait Dialect: Send + Sync {
    /// Whose SQL it is; that of MySQL is MariaDB's too.
    fn dbms(&self) -> Dbms;

    /// Quotes an identifier, as standard SQL does.
    fn quote(&self, identifier: &str) -> String {
        format!("\"{}\"", identifier.replace('"', "\"\""))
    }

    /// The expression that asks for a column of this type in the form that the decoder reads.
    /// `column` is quoted and qualified already.
    fn expression(&self, column: &str, data_type: &DataType) -> String {
        let _ = data_type;
        column.to_owned()
    }

    /// A condition as it is asked, both for a value and in a WHERE. `plain`: it is one of [`Scan::plain`].
    ///
    /// [`Scan::plain`]: dynafold_relational::scan::Scan::plain
    fn condition(&self, condition: &str, plain: bool) -> String {
        let _ = plain;
        format!("({condition}\n)")
    }

    /// A table's name in full.
    fn table(&self, name: &TableName) -> String {
        format!("{}.{}", self.quote(&name.schema), self.quote(&name.name))
    }

    /// What is read from, for a FROM.
    fn relation(&self, from: &Relation) -> String {
        match from {
            Relation::Table(name) => self.table(name),
            Relation::Query(sql) => format!("({}\n)", alone(sql)),
        }
    }

    /// The expression that counts rows.
    fn count(&self) -> &'static str {
        "count(*)"
    }

    /// Whether a UNION wants a type for every NULL of its first part.
    fn types_nulls(&self) -> bool {
        false
    }

    /// Whether a column of a UNION may hold values of several types.
    fn shares_columns(&self) -> bool {
        false
    }

    /// A value of a range as a literal.
    fn literal(&self, value: &str) -> String {
        RangeLiteral::parse(value).sql()
    }

    /// The name of the place where a row lies.
    fn place(&self) -> &'static str {
        "_rowid_"
    }

    /// Whether an index is used for the comparison of rows: `(a, b) > (1, 2)`.
    fn compares_rows(&self) -> bool {
        true
    }

    /// Joins children (a derived table of this name) to the few parents before them, so that no more
    /// children are read than those have.
    fn children(&self, derived: &str, name: &str, on: &str) -> String {
        let _ = name;
        format!("CROSS JOIN {derived} ON {on}")
    }
}

/// A query without the sign that may end it.
pub(super) fn alone(sql: &str) -> &str {
    sql.trim().trim_end_matches(';')
}
