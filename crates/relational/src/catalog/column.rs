//! Columns of tables, and what is known of their values.

use serde::{Deserialize, Serialize};

use super::{DataType, Dbms};

/// The default of a MySQL or MariaDB column that the server numbers.
pub const AUTO_INCREMENT: &str = "AUTO_INCREMENT";

/// A column.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    /// The name as the database stores it, without quotes.
    pub name: String,
    /// The type as it was declared, in the database's words.
    pub declared: String,
    /// What that type means to Dynafold.
    pub data_type: DataType,
    /// Whether NULL may be read: the database does not keep it out at all times, for whatever reason.
    pub nullable: bool,
    /// The default's expression.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// The expression of a generated column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generated: Option<String>,
    /// Whether `SELECT *` leaves it out: MySQL's and MariaDB's INVISIBLE.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub invisible: bool,
    /// The comment, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// The character set, where it may have several codes for one character: texts that differ to
    /// the database may be one text when read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ambiguous_charset: Option<String>,
    /// The collation, where it orders text otherwise than by the bytes of UTF-8, as DynamoDB does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collation: Option<String>,
    /// Whether texts that differ are equal to the database: in case, accents, blanks at the end. To
    /// DynamoDB they are two.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub insensitive: bool,
    /// Whether what PostgreSQL prints of a value is looked up as it is read: the names of tables and roles, the locale's currency.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub prints_names: bool,
    /// The values that a CHECK lists for it, as text; NULL is let in beside them. Sessions may switch checks off, so that
    /// nothing is proved by them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub listed: Vec<String>,
    /// About how many values it has, NULL left out, where the database keeps statistics of that. They may be old, and of a
    /// sample: nothing is proved by them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distinct: Option<u64>,
    /// About how many rows have NULL in it, by the same statistics.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nulls: Option<u64>,
    /// Whether it is SQLite's rowid by another name, which holds whole numbers alone. A catalog's file does not say it.
    #[serde(skip)]
    pub rowid: bool,
}

impl Column {
    /// A column that may be NULL, of which nothing else is known.
    pub fn new(name: String, declared: String, data_type: DataType) -> Self {
        Self {
            name,
            declared,
            data_type,
            nullable: true,
            ..Self::default()
        }
    }

    /// Takes the values that a CHECK lists; of several lists the shortest counts.
    pub fn list(&mut self, values: Vec<String>) {
        if self.listed.is_empty() || values.len() < self.listed.len() {
            self.listed = values;
        }
    }

    /// Whether each row has a value of this column.
    pub fn is_never_absent(&self) -> bool {
        !self.nullable && !self.data_type.may_be_absent()
    }

    /// Whether the database gives the next number to a row that comes without one.
    pub fn is_numbered(&self) -> bool {
        let default = self.default.as_deref().unwrap_or_default();
        let begins = ["GENERATED ", AUTO_INCREMENT];
        // The number may be a part of a text: `'O-' || nextval('orders')`.
        self.rowid
            || begins.iter().any(|begin| default.starts_with(begin))
            || default.contains("nextval(")
    }

    /// Whether it has texts that differ and are equal to the database. Those of UUIDs are written one way, and to a collation
    /// of bytes it is blanks at the end alone that make no difference.
    pub fn has_insensitive_text(&self) -> bool {
        let is_text = match self.data_type {
            DataType::Text { max_chars } => {
                max_chars != Some(36) || !self.declared.starts_with("char(")
            }
            DataType::Dynamic => true,
            _ => false,
        };
        self.insensitive && is_text && self.collation.is_some()
    }

    /// Whether it is a column of text and nothing else: citext, `character`, inet and xml of PostgreSQL, and INET6 of MariaDB,
    /// are text here too.
    pub fn is_plain_text(&self, dbms: Dbms) -> bool {
        let declared = self.declared.to_lowercase();
        let is_plain = match dbms {
            Dbms::Postgres => declared == "text" || declared.starts_with("character varying"),
            Dbms::Mysql | Dbms::Mariadb => declared.contains("char") || declared.contains("text"),
            Dbms::Sqlite => true,
        };
        is_plain && matches!(self.data_type, DataType::Text { .. })
    }

    /// Whether it is a column of integers that are equal to the database where their digits are the same. YEAR of MySQL takes 5 for
    /// 2005, and an oid of PostgreSQL -1 for its largest; a domain, of which only the name is declared, may be over either.
    pub fn is_plain_integer(&self, dbms: Dbms) -> bool {
        let declared = self.declared.to_lowercase();
        let name = declared.split(['(', ' ']).next().unwrap_or_default();
        matches!(self.data_type, DataType::Integer { .. })
            && (dbms == Dbms::Sqlite || INTEGERS.contains(&name))
    }
}

/// The types of integers of PostgreSQL, MySQL and MariaDB.
const INTEGERS: [&str; 6] = [
    "tinyint",
    "smallint",
    "mediumint",
    "int",
    "integer",
    "bigint",
];
