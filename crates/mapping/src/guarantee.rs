//! What a relational database guarantees for the tables of a mapping, and what replaces each guarantee in DynamoDB.
//!
//! DynamoDB itself allows one item for each key, and refuses an item without its key attributes. Everything else needs a
//! condition on a write, or the application. Text, JSON and documents are printed from one record for each guarantee.

use serde::Serialize;

/// All guarantees for the tables of a mapping.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Guarantees {
    /// The guarantees, table by table in the catalog's order.
    pub guarantees: Vec<Guarantee>,
    /// What could not be read, and for which tables.
    pub not_read: Vec<String>,
}

/// One guarantee, and what replaces it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Guarantee {
    /// The table's name, for people.
    pub table: String,
    /// What is guaranteed.
    #[serde(rename = "guarantee")]
    pub kind: GuaranteeKind,
    /// The name of the constraint, index or trigger, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Columns, or the expressions of an index; empty if the catalog does not list them.
    pub columns: Vec<String>,
    /// The declaration for people, such as `UNIQUE (email)`.
    pub declared: String,
    /// Why rows may still break it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doubt: Option<String>,
    /// What replaces it.
    pub kept_by: KeptBy,
    /// The item type whose key or item replaces it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub item_type: Option<String>,
    /// How it is replaced, for people.
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
    /// A column of an enum type: one of a list of names.
    Enum,
    /// A default.
    Default,
    /// A column whose numbers the database assigns.
    Numbered,
    /// A generated column.
    Generated,
    /// A trigger.
    Trigger,
}

/// What replaces a guarantee.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum KeptBy {
    /// The key of an item type: a put with the condition that no item has the key; or that each item needs a key.
    Key,
    /// The item of the parent, in which the row is embedded.
    Item,
    /// A condition on the parent's item, in the same transaction.
    ConditionCheck,
    /// A further item with the value as its key, written in the same transaction.
    GuardItem,
    /// The application.
    Application,
}

impl KeptBy {
    /// The name for people, such as "a guard item".
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
