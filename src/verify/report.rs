//! What a comparison found.

use serde::Serialize;
use serde_json::value::RawValue;

use crate::load::Failure;

/// The books of one item type.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Compared {
    /// The item type's name.
    pub item_type: String,
    /// What its rows are read from, as the mapping writes it.
    pub from: String,
    /// Rows of that relation.
    pub rows_read: u64,
    /// Rows left out by the item type's `where`.
    pub filtered: u64,
    /// Rows without an element to explode.
    pub empty: u64,
    /// Elements to explode beyond the first of their rows.
    pub expanded: u64,
    /// Rows whose items have expired and are not to be in the table.
    pub expired: u64,
    /// Rows that make no item, those with the key of an earlier row among them.
    pub rejected: u64,
    /// Items that the source makes.
    pub expected: u64,
    /// Items that are in the table as they should be.
    pub equal: u64,
    /// Items that are not in the table.
    pub missing: u64,
    /// Items that are not in the table because they have expired: DynamoDB has deleted them.
    pub gone: u64,
    /// Items that are in the table otherwise than they should be.
    pub different: u64,
    /// Items that were not compared, because the run ended before.
    pub uncompared: u64,
}

impl Compared {
    /// Whether every row and every item is accounted for.
    #[must_use]
    pub fn balances(&self) -> bool {
        self.rows_read + self.expanded
            == self.filtered + self.empty + self.expired + self.rejected + self.expected
            && self.expected
                == self.equal + self.missing + self.gone + self.different + self.uncompared
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.rows_read += other.rows_read;
        self.filtered += other.filtered;
        self.empty += other.empty;
        self.expanded += other.expanded;
        self.expired += other.expired;
        self.rejected += other.rejected;
        self.expected += other.expected;
        self.equal += other.equal;
        self.missing += other.missing;
        self.gone += other.gone;
        self.different += other.different;
        self.uncompared += other.uncompared;
    }
}

/// How a comparison ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum VerifyOutcome {
    /// The table holds exactly what the source makes, but for what has expired.
    Equal,
    /// Something is missing, different or unexpected.
    Different,
    /// The run was cancelled before everything was compared.
    Interrupted,
    /// The source or the target failed.
    Failed(Failure),
}

/// An item that is not as it should be.
#[derive(Debug, Clone, Serialize)]
pub struct Finding {
    /// What is wrong with it.
    pub kind: FindingKind,
    /// The item type's name; `None` for an unexpected item.
    pub item_type: Option<String>,
    /// The row: row key columns and their values; `None` for an unexpected item.
    pub row: Option<Box<RawValue>>,
    /// The item's key as DynamoDB JSON.
    pub key: Box<RawValue>,
    /// What differs, for an item that is different.
    pub attributes: Vec<AttributeFinding>,
}

/// What is wrong with an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
    /// The source makes it and the table does not have it.
    Missing,
    /// Its attributes differ.
    Different,
    /// The table has it and the source does not make it.
    Unexpected,
}

/// What is wrong with an attribute. Says types, never values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AttributeFinding {
    /// The attribute's name, with the path into it where it is a map.
    pub name: String,
    /// What is wrong with it.
    #[serde(flatten)]
    pub difference: AttributeDifference,
}

/// How an attribute differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "difference", rename_all = "snake_case")]
pub enum AttributeDifference {
    /// The table's item lacks it.
    Missing,
    /// Only the table's item has it.
    Unexpected,
    /// It is of another type.
    Type {
        /// The type that the source makes.
        expected: &'static str,
        /// The type in the table.
        found: &'static str,
    },
    /// It has another value of the same type.
    Value,
}

/// All that there is to say about a comparison. As JSON its field names are stable.
#[derive(Debug, Clone, Serialize)]
pub struct VerifyReport {
    /// How it ended.
    pub outcome: VerifyOutcome,
    /// The table's name.
    pub table: String,
    /// Where the table is.
    pub place: String,
    /// The run's clock, in RFC 3339: by it items have expired or not.
    pub now: String,
    /// The books of each item type, in the order of the mapping.
    pub item_types: Vec<Compared>,
    /// All item types together.
    pub total: Compared,
    /// Items in the table that the source does not make; `None` if they were not looked for to
    /// the end.
    pub unexpected: Option<u64>,
    /// Items in the table whose rows are left out because they have expired: DynamoDB deletes them
    /// when it comes to it. They are neither expected nor unexpected.
    pub lingering: u64,
    /// The first findings.
    pub findings: Vec<Finding>,
    /// Time in all.
    pub elapsed_seconds: f64,
    /// Items compared each second.
    pub items_per_second: f64,
}

impl VerifyReport {
    /// Whether the table holds exactly what the source makes.
    #[must_use]
    pub fn all_equal(&self) -> bool {
        self.outcome == VerifyOutcome::Equal
    }

    /// Whether every row and every item is accounted for.
    #[must_use]
    pub fn balances(&self) -> bool {
        self.item_types.iter().all(Compared::balances)
    }
}
