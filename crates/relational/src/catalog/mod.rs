//! The relational schema as plain data: what `inspect` prints and a mapping is checked against.
//!
//! The same types are written as JSON by `inspect --format json` and read back by
//! `check --catalog FILE`. Lists are in the database's own order (columns by position, tables by
//! schema and name), so that two readings of one schema are equal.

mod collation;
mod column;
mod constraints;
mod data_type;
#[cfg(any(test, feature = "sample"))]
pub mod sample;
mod table;

pub use collation::{in_byte_order, sorts_by_bytes};
pub use column::{AUTO_INCREMENT, Column};
pub use constraints::{Check, Enforcement, ForeignKey, ReferentialAction, Trigger, UniqueKey};
pub use data_type::{DataType, TypeFamily};
pub use table::{Index, Key, Table, TableKind, hidden_in_words};

use std::fmt;

use serde::{Deserialize, Serialize};

/// The database products that Dynafold reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dbms {
    /// PostgreSQL 13 and later.
    Postgres,
    /// MySQL 8 and later.
    Mysql,
    /// MariaDB 10.6 and later.
    Mariadb,
    /// SQLite 3.
    Sqlite,
}

impl fmt::Display for Dbms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Postgres => "PostgreSQL",
            Self::Mysql => "MySQL",
            Self::Mariadb => "MariaDB",
            Self::Sqlite => "SQLite",
        })
    }
}

/// Everything that one database connection can see.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Catalog {
    /// The product.
    pub dbms: Dbms,
    /// The server's version, as it prints it.
    pub version: String,
    /// The database's name, or the file's for SQLite.
    pub database: String,
    /// Schemas in which a bare table name is looked up, in order. For MySQL the database, for
    /// SQLite `main`.
    pub search_path: Vec<String>,
    /// Functions that somebody made under the name of one of the database's: which one a call means depends on its
    /// arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub own_functions: Vec<String>,
    /// Whether somebody made operators or casts, which SQL calls without naming a function. Those of extensions do not count.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub own_operators: bool,
    /// Tables and views, sorted by schema and name.
    pub tables: Vec<Table>,
    /// What could not be read, and why: objects that the user lacks permission for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
}

/// A table's name in full. Written `schema.table`; SQL quoting is a source's affair.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TableName {
    /// The schema; for MySQL the database, for SQLite `main`.
    pub schema: String,
    /// The table.
    pub name: String,
}

impl fmt::Display for TableName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.schema, self.name)
    }
}

impl Catalog {
    /// Finds a table by its full name.
    pub fn table(&self, name: &TableName) -> Option<&Table> {
        let sorted = self.tables.binary_search_by(|table| table.name.cmp(name));
        match sorted {
            Ok(at) => self.tables.get(at),
            // A design adds tables behind those of the schema.
            Err(_) => self.tables.iter().find(|table| &table.name == name),
        }
    }

    /// Finds a table by a bare name, along the search path.
    pub fn find(&self, name: &str) -> Option<&Table> {
        self.search_path.iter().find_map(|schema| {
            self.tables
                .iter()
                .find(|table| &table.name.schema == schema && table.name.name == name)
        })
    }

    /// Whether the search path finds this table by its bare name, and not another one that is called the same.
    pub fn finds(&self, name: &TableName) -> bool {
        let found = self.find(&name.name);
        found.is_some_and(|found| &found.name == name)
    }

    /// How people write a table's name: bare where the search path finds it, else with its schema.
    pub fn display_name(&self, name: &TableName) -> String {
        if self.finds(name) {
            name.name.clone()
        } else {
            name.to_string()
        }
    }

    /// Whether a table may have columns that the user may not read and whose names the server hides.
    pub fn may_hide_names(&self, table: &Table) -> bool {
        let is_mysql = matches!(self.dbms, Dbms::Mysql | Dbms::Mariadb);
        let hidden = table.hidden_columns.as_ref();
        table.may_hide_invisible || hidden.is_some_and(|names| is_mysql || names.is_empty())
    }

    /// What keys a column is part of, as an ERD marks it; a key that another table refers to counts as unique.
    pub fn keys_of(&self, table: &Table, column: &Column) -> Vec<&'static str> {
        let name = &column.name;
        let foreign = |key: &ForeignKey| key.columns.contains(name);
        let refers_here = |key: &ForeignKey| {
            key.references == table.name && key.referenced_columns.contains(name)
        };
        let is_primary = table.primary_key.contains(name);
        let mut unique_keys = table.unique_keys.iter();
        let mut all_foreign = self.tables.iter().flat_map(|table| &table.foreign_keys);
        let is_unique =
            unique_keys.any(|key| key.columns == [name.as_str()]) || all_foreign.any(refers_here);
        let marks = [
            (is_primary, "PK"),
            (table.foreign_keys.iter().any(foreign), "FK"),
            (is_unique && !is_primary, "UK"),
        ]
        .into_iter();
        marks.filter_map(|(is, mark)| is.then_some(mark)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_found_wherever_it_stands() {
        let mut catalog = sample::shop();
        let names: Vec<TableName> = catalog.tables.iter().map(|one| one.name.clone()).collect();
        catalog.tables.reverse();
        for name in &names {
            let found = catalog.table(name).map(|table| &table.name);
            assert_eq!(found, Some(name));
        }
        assert!(catalog.table(&TableName::default()).is_none());
    }
}
