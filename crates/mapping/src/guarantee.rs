//! What a relational database guarantees of the tables that a mapping uses, and what takes its place in DynamoDB.
//!
//! DynamoDB itself keeps one item to a key, and refuses an item without its key attributes. All else is kept by a condition
//! on a write, or by the application. One record for each guarantee; text, JSON and documents are printed from these.

use serde::Serialize;

/// All guarantees of the tables that a mapping uses.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Guarantees {
    /// The guarantees, table by table in the catalog's order.
    pub guarantees: Vec<Guarantee>,
    /// What was not read, and of which tables.
    pub not_read: Vec<String>,
}

/// One guarantee, and what takes its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Guarantee {
    /// The table, as people write it.
    pub table: String,
    /// What is guaranteed.
    #[serde(rename = "guarantee")]
    pub kind: GuaranteeKind,
    /// The name of the constraint, index or trigger, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Columns, or the expressions of an index; empty where the catalog does not say them apart.
    pub columns: Vec<String>,
    /// The declaration for people, such as `UNIQUE (email)`.
    pub declared: String,
    /// Why rows may break it all the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doubt: Option<String>,
    /// What takes its place.
    pub kept_by: KeptBy,
    /// The item type whose key or item it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub item_type: Option<String>,
    /// How, for people.
    pub how: String,
}

/// What a database guarantees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GuaranteeKind {
    /// A primary key.
    PrimaryKey,
    /// A unique constraint or a unique index.
    Unique,
    /// A foreign key.
    ForeignKey,
    /// Columns that are not NULL.
    NotNull,
    /// A `CHECK`.
    Check,
    /// An exclusion constraint.
    Exclusion,
    /// One of a list of names.
    Enum,
    /// A default.
    Default,
    /// A column that the database numbers.
    Numbered,
    /// A generated column.
    Generated,
    /// A trigger.
    Trigger,
}

/// What takes the place of a guarantee.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum KeptBy {
    /// The key of an item type, on a put with the condition that no item has it; or that no item is without a key.
    Key,
    /// The item of the parent, in which the row is embedded.
    Item,
    /// A condition on the parent's item, in the transaction of the write.
    ConditionCheck,
    /// One more item that stands for the value, written in the transaction of the write.
    GuardItem,
    /// The application.
    Application,
}

impl KeptBy {
    /// The words for it.
    pub fn words(self) -> &'static str {
        match self {
            Self::Key => "the key",
            Self::Item => "the parent's item",
            Self::ConditionCheck => "a condition check",
            Self::GuardItem => "a guard item",
            Self::Application => "the application",
        }
    }
}
