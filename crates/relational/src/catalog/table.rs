//! Tables and views, and the keys that tell their rows apart.

use std::iter;

use serde::{Deserialize, Serialize};

use super::{Check, Column, Dbms, ForeignKey, TableName, Trigger, UniqueKey};

/// What kind of relation a [`Table`] is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TableKind {
    /// An ordinary table.
    #[default]
    Table,
    /// A partitioned table, seen as one; its partitions are not listed.
    Partitioned,
    /// A view.
    View,
    /// A materialized view.
    MaterializedView,
    /// A foreign table.
    Foreign,
}

impl TableKind {
    /// The kind in words, such as "materialized view".
    pub fn word(self) -> &'static str {
        match self {
            Self::Table => "table",
            Self::Partitioned => "partitioned table",
            Self::View => "view",
            Self::MaterializedView => "materialized view",
            Self::Foreign => "foreign table",
        }
    }
}

/// A table or view.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Table {
    /// Schema and name.
    #[serde(flatten)]
    pub name: TableName,
    /// What kind of relation it is.
    pub kind: TableKind,
    /// Whether the connected user may read it; without it columns may be missing too.
    pub readable: bool,
    /// The columns that the connected user may not read, by position, where it may read others; `None` where it may read
    /// all. They are not among `columns`. MySQL and MariaDB hide the names of most of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hidden_columns: Option<Vec<String>>,
    /// Whether it may have invisible columns that the connected user may not read, besides those that are told: MySQL neither
    /// names them to that user nor refuses `*`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub may_hide_invisible: bool,
    /// The tables that inherit from it, directly or through others (PostgreSQL). Their rows are read with its own, and its
    /// keys do not cover them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub heirs: Vec<TableName>,
    /// Whether row security may hide rows of it from the connected user (PostgreSQL).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub row_security: bool,
    /// Whether a snapshot does not cover it, so that each read sees its current rows: its storage engine has no snapshots
    /// (`MyISAM`, Aria, `MEMORY`), or foreign tables are a part of it (PostgreSQL).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub live: bool,
    /// The columns, by position.
    pub columns: Vec<Column>,
    /// The primary key's columns, in key order; empty without one.
    pub primary_key: Vec<String>,
    /// Whether rows may have equal values in the primary key: see [`UniqueKey::lax`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lax_primary_key: bool,
    /// Whether the primary key treats some different values as equal: see [`UniqueKey::coarse`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub coarse_primary_key: bool,
    /// Unique keys, and unique indexes over plain columns without a condition; not the primary key.
    /// Rows with a NULL in one may be equal in it.
    pub unique_keys: Vec<UniqueKey>,
    /// Foreign keys from this table, by name.
    pub foreign_keys: Vec<ForeignKey>,
    /// Other indexes.
    pub indexes: Vec<Index>,
    /// `CHECK` constraints, by name; `None` where they were not read, as in a catalog file of an older version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checks: Option<Vec<Check>>,
    /// Exclusion constraints (PostgreSQL), by name; read where `checks` are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exclusions: Vec<Check>,
    /// Triggers, by name; `None` where they were not read: MySQL and MariaDB show them to those with the privilege TRIGGER.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub triggers: Option<Vec<Trigger>>,
    /// The comment, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// Rows, as the database estimates them; exact for SQLite; `None` where it has no estimate.
    pub estimated_rows: Option<u64>,
    /// Bytes on disk without indexes, as the database estimates them.
    pub estimated_bytes: Option<u64>,
}

/// An index that is not a unique key over plain columns.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Index {
    /// The name as the database stores it, without quotes.
    pub name: String,
    /// Columns or expressions, in index order.
    pub columns: Vec<String>,
    /// Whether it is unique (then it has an expression or a condition).
    pub unique: bool,
    /// The condition of a partial index.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
}

impl Table {
    /// A readable relation without columns.
    pub fn new(name: TableName, kind: TableKind) -> Self {
        Self {
            name,
            kind,
            readable: true,
            ..Self::default()
        }
    }

    /// Whether it keeps rows of its own, and enforces its constraints on them: views and foreign tables do not.
    pub fn is_stored(&self) -> bool {
        matches!(self.kind, TableKind::Table | TableKind::Partitioned)
    }

    /// Adds an index. `key`: the same as a unique key, if it is over plain columns and all rows.
    pub fn add_index(&mut self, index: Index, key: Option<UniqueKey>) {
        match key {
            Some(key) if index.unique => self.unique_keys.push(key),
            _ => self.indexes.push(index),
        }
    }

    /// The first difference from `now`, a later reading of the same table. Ignores what changes neither rows nor proofs:
    /// estimates, comments, defaults, the values that a CHECK lists, and indexes that are no keys.
    pub fn first_difference(&self, now: &Self) -> Option<&'static str> {
        let keys = |table: &Self| {
            let (primary, unique) = (table.primary_key.clone(), table.unique_keys.clone());
            let claims = (table.lax_primary_key, table.coarse_primary_key);
            (primary, claims, unique)
        };
        let facts = [
            ("kind", self.kind != now.kind || self.live != now.live),
            (
                "permissions",
                self.readable != now.readable || self.hidden_columns != now.hidden_columns,
            ),
            ("inheritance", self.heirs != now.heirs),
            ("row security", self.row_security != now.row_security),
            ("columns", self.bare_columns() != now.bare_columns()),
            ("keys", keys(self) != keys(now)),
            ("foreign keys", self.foreign_keys != now.foreign_keys),
        ];
        let changed = facts.into_iter().find(|(_, changed)| *changed);
        changed.map(|(what, _)| what)
    }

    /// What decides which rows and values the connected user reads from it. Without keys: who may only read is not shown all of them.
    /// Without `nullable` and expressions, which MySQL writes anew for a new index, and for views whose tables are altered.
    #[must_use]
    pub fn as_read(&self) -> Self {
        let columns = self.bare_columns().into_iter();
        let columns = columns.map(|column| Column {
            nullable: true,
            generated: None,
            ..column
        });
        Self {
            name: self.name.clone(),
            kind: self.kind,
            readable: self.readable,
            hidden_columns: self.hidden_columns.clone(),
            heirs: self.heirs.clone(),
            row_security: self.row_security,
            live: self.live,
            columns: columns.collect(),
            ..Self::default()
        }
    }

    fn bare_columns(&self) -> Vec<Column> {
        let bare = |column: &Column| Column {
            comment: None,
            default: None,
            listed: Vec::new(),
            distinct: None,
            nulls: None,
            ..column.clone()
        };
        self.columns.iter().map(bare).collect()
    }

    /// The columns that the connected user may not read, in words; `None` where it may read all.
    pub fn hidden_in_words(&self) -> Option<String> {
        self.hidden_columns.as_deref().map(hidden_in_words)
    }

    /// Whether none of these columns is hidden from the connected user. A key or a foreign key with a hidden column
    /// cannot be used.
    pub fn shows(&self, columns: &[String]) -> bool {
        let hidden = self.hidden_columns.as_ref();
        !hidden.is_some_and(|hidden| columns.iter().any(|name| hidden.contains(name)))
    }

    /// Finds a column.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// Finds a column, to change it.
    pub fn column_mut(&mut self, name: &str) -> Option<&mut Column> {
        self.columns.iter_mut().find(|column| column.name == name)
    }

    /// The columns that tell rows apart: the primary key, else the first unique key whose columns
    /// are all NOT NULL, else nothing.
    pub fn row_key(&self) -> &[String] {
        if !self.primary_key.is_empty() {
            return &self.primary_key;
        }
        let not_null = |name: &String| self.column(name).is_some_and(|column| !column.nullable);
        self.unique_keys
            .iter()
            .find(|key| key.columns.iter().all(not_null))
            .map_or(&[], |key| &key.columns)
    }

    /// Its keys, the primary key first. There are none if tables inherit from it, because keys do not cover their rows.
    pub fn keys(&self, dbms: Dbms) -> impl Iterator<Item = Key<'_>> {
        let is_mysql = matches!(dbms, Dbms::Mysql | Dbms::Mariadb);
        let exchanged = (is_mysql && self.kind == TableKind::Partitioned)
            .then_some("a partition may have been exchanged without validation");
        let unchecked = is_mysql.then_some(
            "a session that turns `unique_checks` off may put equal rows into all but the primary key",
        );
        let lax = |is_lax: bool| {
            is_lax.then_some(
                "a deferrable key, or one with a user-defined operator class, may hold equal rows",
            )
        };
        let primary = Key {
            name: None,
            columns: &self.primary_key,
            doubt: exchanged.or(lax(self.lax_primary_key)),
        };
        let unique = self.unique_keys.iter().map(move |key| Key {
            name: Some(&key.name),
            columns: &key.columns,
            doubt: exchanged.or(unchecked).or(lax(key.lax)),
        });
        let keys = iter::once(primary).chain(unique);
        keys.filter(|key| !key.columns.is_empty() && self.heirs.is_empty())
    }

    /// Whether no two rows have equal values in these columns: they include a key that the database always enforces.
    pub fn is_unique(&self, columns: &[String], dbms: Dbms) -> bool {
        let mut keys = self.keys(dbms).filter(|key| key.doubt.is_none());
        keys.any(|key| key.is_within(columns))
    }

    /// Whether these columns include a key. Two rows may still be equal in it: see [`Key::doubt`].
    pub fn is_declared_unique(&self, columns: &[String], dbms: Dbms) -> bool {
        self.keys(dbms).any(|key| key.is_within(columns))
    }
}

/// [`Table::hidden_columns`], or some of them, in words.
pub fn hidden_in_words(names: &[String]) -> String {
    let of_user = "columns that this user may not read";
    match names {
        [] => format!("{of_user} (the server does not name them)"),
        names => format!("{of_user}: {}", names.join(", ")),
    }
}

/// The primary key or a unique key of a table.
#[derive(Debug, Clone, Copy)]
pub struct Key<'t> {
    /// A unique key's name; the primary key has none.
    pub name: Option<&'t str>,
    /// Its columns, in key order; at least one.
    pub columns: &'t [String],
    /// Why rows may be equal in it; `None` if the database always enforces it.
    pub doubt: Option<&'static str>,
}

impl Key<'_> {
    fn is_within(&self, columns: &[String]) -> bool {
        self.columns.iter().all(|name| columns.contains(name))
    }
}

#[cfg(test)]
mod tests {
    use super::super::DataType;
    use super::*;

    #[test]
    fn columns_that_are_hidden_or_shown_later_change_the_permissions() {
        let before = Table::new(TableName::default(), TableKind::Table);
        let hiding = |names: &[&str]| Table {
            hidden_columns: Some(names.iter().map(|name| (*name).to_owned()).collect()),
            ..before.clone()
        };
        let changed = |now: &Table| before.first_difference(now);
        assert_eq!(changed(&before), None);
        for now in [hiding(&["a"]), hiding(&[])] {
            assert_eq!(changed(&now), Some("permissions"));
            assert_eq!(now.first_difference(&before), Some("permissions"));
        }
        let words = hiding(&["a", "b"]).hidden_in_words();
        let expected = "columns that this user may not read: a, b";
        assert_eq!(words.as_deref(), Some(expected));
    }

    /// MySQL says `concat(k, _utf8mb3'x')` of a column, and after CREATE INDEX `concat(k, _utf8mb4'x')`; and of a view's column
    /// that it may be NULL, until a table of the view is altered.
    #[test]
    fn what_a_server_writes_anew_changes_nothing_that_is_read() {
        let with = |declared: &str, nullable, generated: &str| Table {
            columns: vec![Column {
                nullable,
                generated: Some(generated.to_owned()),
                ..Column::new("c".to_owned(), declared.to_owned(), DataType::Dynamic)
            }],
            ..Table::new(TableName::default(), TableKind::Table)
        };
        let before = with("text", true, "concat(k, _utf8mb3'x')").as_read();
        let anew = with("text", false, "concat(k, _utf8mb4'x')");
        assert_eq!(before, anew.as_read());
        assert_ne!(before, with("blob", true, "k").as_read());
    }
}
