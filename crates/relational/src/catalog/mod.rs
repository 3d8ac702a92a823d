//! The relational schema as plain data: what `inspect` prints and a mapping is checked against.
//!
//! The same types are written as JSON by `inspect --format json` and read back by
//! `check --catalog FILE`. Lists are in the database's own order (columns by position, tables by
//! schema and name), so that two readings of one schema are equal.

mod data_type;
#[cfg(feature = "sample")]
pub mod sample;

pub use data_type::{DataType, TypeFamily};

use std::{fmt, iter};

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
    /// What people call it.
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
    /// The tables that inherit from it, also by way of others (PostgreSQL). Their rows are read with its own, and its
    /// keys do not hold over them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub heirs: Vec<TableName>,
    /// Whether row security may hide rows of it from the connected user (PostgreSQL).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub row_security: bool,
    /// Whether it is read as it is at the moment, also within a snapshot: its storage engine has none
    /// (`MyISAM`, Aria, `MEMORY`), or foreign tables are a part of it (PostgreSQL).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub live: bool,
    /// The columns, by position.
    pub columns: Vec<Column>,
    /// The primary key's columns, in key order; empty without one.
    pub primary_key: Vec<String>,
    /// Whether rows with equal values may be let into the primary key: see [`UniqueKey::lax`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lax_primary_key: bool,
    /// Whether the primary key takes more for equal than its columns do: see [`UniqueKey::coarse`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub coarse_primary_key: bool,
    /// Unique keys and unique indexes over plain columns without a condition, the primary key left out.
    /// Rows with a NULL in one are not kept apart by it.
    pub unique_keys: Vec<UniqueKey>,
    /// Foreign keys from this table, by name.
    pub foreign_keys: Vec<ForeignKey>,
    /// Other indexes.
    pub indexes: Vec<Index>,
    /// `CHECK` constraints, by name; `None` where they were not read, as in a catalog's file of an older version.
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
    /// Rows as the database estimates them; exact for SQLite; absent where it does not know.
    pub estimated_rows: Option<u64>,
    /// Bytes on disk without indexes, as the database estimates them.
    pub estimated_bytes: Option<u64>,
}

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

impl Catalog {
    /// Finds a table by its full name.
    pub fn table(&self, name: &TableName) -> Option<&Table> {
        self.tables.iter().find(|table| &table.name == name)
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

    /// Whether the database gives the next number to a row that comes without one.
    pub fn is_numbered(&self) -> bool {
        let default = self.default.as_deref().unwrap_or_default();
        let begins = ["GENERATED ", AUTO_INCREMENT];
        // The number may be a part of a text: `'O-' || nextval('orders')`.
        self.rowid
            || begins.iter().any(|begin| default.starts_with(begin))
            || default.contains("nextval(")
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

/// Whether a collation that a query asks for sorts by bytes.
pub fn sorts_by_bytes(name: &str, dbms: Dbms) -> bool {
    let name = name.to_ascii_lowercase();
    match dbms {
        Dbms::Postgres => matches!(
            name.as_str(),
            "c" | "posix" | "ucs_basic" | "c.utf8" | "c.utf-8" | "pg_c_utf8" | "pg_unicode_fast"
        ),
        Dbms::Mysql | Dbms::Mariadb => {
            let is_unicode = name.starts_with("utf8") || name.starts_with("ascii");
            is_unicode && name.ends_with("_bin") || name == "binary"
        }
        Dbms::Sqlite => name == "binary",
    }
}

/// Texts of this collation as a database sorts them by the bytes that they have in UTF-8. MySQL has a collation for that without
/// `PAD SPACE` for utf8mb4 alone: in others a text is equal to the same with blanks at the end.
pub fn sorted_by_bytes(written: &str, collation: &str, dbms: Dbms) -> String {
    // A collation begins with its character set.
    let charset = collation.split('_').next().unwrap_or_default();
    // The collation of MySQL's utf8mb3 pads.
    let is_whole = charset == "utf8mb4" || dbms == Dbms::Mariadb && charset == "utf8mb3";
    match dbms {
        Dbms::Postgres if ["citext", "bpchar"].contains(&collation) => {
            format!("{written}::text COLLATE \"C\"")
        }
        Dbms::Postgres => format!("{written} COLLATE \"C\""),
        Dbms::Sqlite => format!("{written} COLLATE BINARY"),
        Dbms::Mysql | Dbms::Mariadb if !is_whole => {
            let written = format!("CONVERT({written} USING utf8mb4)");
            sorted_by_bytes(&written, "utf8mb4", dbms)
        }
        Dbms::Mysql => format!("{written} COLLATE utf8mb4_0900_bin"),
        Dbms::Mariadb => format!("{written} COLLATE {charset}_nopad_bin"),
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

impl Table {
    /// Whether it keeps rows of its own, and enforces its constraints on them: views and foreign tables do not.
    pub fn is_stored(&self) -> bool {
        matches!(self.kind, TableKind::Table | TableKind::Partitioned)
    }

    /// A relation that can be read, of which nothing else is known yet.
    pub fn new(name: TableName, kind: TableKind) -> Self {
        Self {
            name,
            kind,
            readable: true,
            ..Self::default()
        }
    }

    /// Adds an index: among the unique keys where it is one, over columns alone and over all rows.
    pub fn add_index(&mut self, index: Index, key: Option<UniqueKey>) {
        match key {
            Some(key) if index.unique => self.unique_keys.push(key),
            _ => self.indexes.push(index),
        }
    }

    /// What is not as in a later reading of the same table, in words. What decides on no row and no proof may
    /// differ: estimates, comments, defaults, the values that a CHECK lists, and indexes that are no keys.
    pub fn change(&self, now: &Self) -> Option<&'static str> {
        let bare = |column: &Column| Column {
            comment: None,
            default: None,
            listed: Vec::new(),
            distinct: None,
            nulls: None,
            ..column.clone()
        };
        let columns = |table: &Self| -> Vec<Column> { table.columns.iter().map(bare).collect() };
        let keys = |table: &Self| {
            let (primary, unique) = (table.primary_key.clone(), table.unique_keys.clone());
            let claims = (table.lax_primary_key, table.coarse_primary_key);
            (primary, claims, unique)
        };
        let facts = [
            ("kind", self.kind != now.kind || self.live != now.live),
            ("permissions", self.readable != now.readable),
            ("inheritance", self.heirs != now.heirs),
            ("row security", self.row_security != now.row_security),
            ("columns", columns(self) != columns(now)),
            ("keys", keys(self) != keys(now)),
            ("foreign keys", self.foreign_keys != now.foreign_keys),
        ];
        let changed = facts.into_iter().find(|(_, changed)| *changed);
        changed.map(|(what, _)| what)
    }

    /// Finds a column.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// Finds a column, to complete it.
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

    /// Its keys, the primary key first. None where tables inherit from it: keys do not reach their rows.
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

    /// Whether no two rows have equal values in these columns: they hold a key that the database enforces at all times.
    pub fn is_unique(&self, columns: &[String], dbms: Dbms) -> bool {
        let mut keys = self.keys(dbms).filter(|key| key.doubt.is_none());
        keys.any(|key| key.is_within(columns))
    }

    /// Whether these columns are declared unique: they hold a key. Equal rows may be in it all the same, see [`Key::doubt`].
    pub fn is_declared_unique(&self, columns: &[String], dbms: Dbms) -> bool {
        self.keys(dbms).any(|key| key.is_within(columns))
    }
}

/// The primary key or a unique key of a table.
#[derive(Debug, Clone, Copy)]
pub struct Key<'t> {
    /// A unique key's name; the primary key has none.
    pub name: Option<&'t str>,
    /// Its columns, in key order; one at least.
    pub columns: &'t [String],
    /// Why equal rows may be in it; nothing where the database enforces it at all times.
    pub doubt: Option<&'static str>,
}

impl Key<'_> {
    fn is_within(&self, columns: &[String]) -> bool {
        self.columns.iter().all(|name| columns.contains(name))
    }
}
