//! Constraints and triggers of tables: unique keys, foreign keys, checks.

use serde::{Deserialize, Serialize};

use super::TableName;

/// A unique key: no two rows are equal in its columns as the columns' own types and collations compare.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UniqueKey {
    /// The constraint's or index's name.
    pub name: String,
    /// Its columns, in key order.
    pub columns: Vec<String>,
    /// Whether rows with equal values may be let into it (PostgreSQL): it is deferrable, so that a trigger keeps it, which a
    /// session may switch off, or it compares by an operator class that somebody made.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lax: bool,
    /// Whether it takes more for equal than its columns do: it has only the beginning of one (MySQL's `name(10)`), or a
    /// collation of its own that is not that of bytes (`COLLATE NOCASE` in the index).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub coarse: bool,
    /// Whether it takes NULLs for equal (PostgreSQL's `NULLS NOT DISTINCT`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub nulls_equal: bool,
}

/// A `CHECK` or an exclusion constraint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// The constraint's name; empty where the database keeps none (SQLite).
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// What must hold, in the database's words.
    pub expression: String,
    /// How far it is enforced.
    #[serde(default, skip_serializing_if = "Enforcement::is_default")]
    pub enforcement: Enforcement,
}

/// How far a constraint is enforced by its own declaration.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Enforcement {
    /// For every row.
    #[default]
    Enforced,
    /// For rows that are written from now on: `NOT VALID` (PostgreSQL).
    NotValid,
    /// For none: `NOT ENFORCED` (PostgreSQL from 18 on, MySQL).
    NotEnforced,
}

impl Enforcement {
    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "serde hands in a reference"
    )]
    fn is_default(&self) -> bool {
        *self == Self::Enforced
    }
}

/// A trigger of a table, as far as it may change or refuse rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trigger {
    /// The name as the database stores it, without quotes.
    pub name: String,
    /// When it fires, such as `BEFORE INSERT OR UPDATE`; empty where that is not known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub event: String,
}

/// A foreign key of a table: its columns, and the table that they reference.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForeignKey {
    /// The constraint's name; made up where the database keeps none (SQLite).
    pub name: String,
    /// The columns here, in key order.
    pub columns: Vec<String>,
    /// The table it leads to.
    pub references: TableName,
    /// The columns there, in the same order.
    pub referenced_columns: Vec<String>,
    /// What becomes of a row when its parent is deleted.
    #[serde(default, skip_serializing_if = "ReferentialAction::is_default")]
    pub on_delete: ReferentialAction,
    /// What becomes of a row when the columns of its parent that it refers to change; `None` where it was not read, as in a
    /// catalog's file of an older version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_update: Option<ReferentialAction>,
    /// How far it is enforced by its declaration.
    #[serde(default, skip_serializing_if = "Enforcement::is_default")]
    pub enforcement: Enforcement,
}

impl ForeignKey {
    /// The column that one of its columns references.
    pub fn referenced(&self, column: &str) -> Option<&str> {
        let mut pairs = self.columns.iter().zip(&self.referenced_columns);
        let (_, referenced) = pairs.find(|(own, _)| *own == column)?;
        Some(referenced)
    }
}

/// The `ON DELETE` or `ON UPDATE` of a foreign key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReferentialAction {
    /// It is refused, `RESTRICT` among them.
    #[default]
    NoAction,
    /// The row is deleted, or changed, too.
    Cascade,
    /// Its columns become NULL.
    SetNull,
    /// Its columns get their defaults.
    SetDefault,
}

impl ReferentialAction {
    /// Reads the words of SQL.
    pub fn read(words: &str) -> Self {
        match words {
            "CASCADE" => Self::Cascade,
            "SET NULL" => Self::SetNull,
            "SET DEFAULT" => Self::SetDefault,
            _ => Self::NoAction,
        }
    }

    /// The words of SQL.
    pub fn word(self) -> &'static str {
        match self {
            Self::NoAction => "NO ACTION",
            Self::Cascade => "CASCADE",
            Self::SetNull => "SET NULL",
            Self::SetDefault => "SET DEFAULT",
        }
    }

    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "serde hands in a reference"
    )]
    fn is_default(&self) -> bool {
        *self == Self::NoAction
    }
}
