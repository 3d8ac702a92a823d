//! What a comparison found.

use std::sync::Arc;

use dynafold_mapping::claim::Claim;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::load::{Failure, RejectNote, RowCounts, Traffic, add_fields, is_zero, shared};

/// The books of one item type.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ComparedBooks {
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
    /// Items that the source makes and that are not in the sample.
    pub unsampled: u64,
    /// Items that the source makes and that are compared.
    pub expected: u64,
    /// Items that are in the table as they should be.
    pub equal: u64,
    /// Items that are not in the table.
    pub missing: u64,
    /// Items that are not in the table because they have expired: DynamoDB has deleted them.
    pub gone: u64,
    /// Items that are in the table otherwise than they should be.
    pub different: u64,
    /// Of those, the ones that something else has made: another item type of the mapping, or none
    /// of it. They are not repaired.
    pub foreign: u64,
    /// Items that were not compared, because the run ended before.
    pub uncompared: u64,
    /// Of the missing and the different items, those that were written as they should be.
    pub repaired: u64,
    /// Of them, those that the service refused to take.
    pub refused: u64,
}

impl ComparedBooks {
    /// Whether every row and every item is accounted for.
    pub fn balances(&self) -> bool {
        self.rows_read + self.expanded
            == self.filtered
                + self.empty
                + self.expired
                + self.rejected
                + self.unsampled
                + self.expected
            && self.expected
                == self.equal + self.missing + self.gone + self.different + self.uncompared
            && self.foreign <= self.different
            && self.repaired + self.refused <= self.missing + self.different - self.foreign
    }

    /// Items of which the table's was compared with the source's, or is missing.
    pub fn compared(&self) -> u64 {
        self.equal + self.missing + self.different
    }

    /// Items that are not in the table as they should be, after what was repaired.
    pub fn amiss(&self) -> u64 {
        (self.missing + self.different).saturating_sub(self.repaired)
    }

    /// Adds what became of rows before they were items.
    pub(super) fn count_rows(&mut self, counts: &RowCounts) {
        add_fields!(self += counts: rows_read, filtered, empty, expanded);
    }

    pub(super) fn add(&mut self, other: &Self) {
        add_fields!(
            self += other:
            rows_read, filtered, empty, expanded, expired, rejected, unsampled, expected, equal,
            missing, gone, different, foreign, uncompared, repaired, refused
        );
    }
}

/// How a comparison ended.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum VerifyOutcome {
    /// The table holds what the source makes, but for what has expired. Of a sample: the items
    /// compared are.
    Equal,
    /// It does now: everything that was missing or different was written.
    Repaired,
    /// Something is missing, different or unexpected, and was not repaired.
    Different,
    /// There was no item to compare, or all had expired and are gone, and the table was not searched.
    NothingCompared,
    /// The run was cancelled before everything was compared.
    Interrupted,
    /// The source or the target failed.
    Failed(#[serde(serialize_with = "shared")] Arc<Failure>),
}

/// An item that is not as it should be.
#[derive(Debug, Clone, Serialize)]
pub struct Finding {
    /// What is wrong with it.
    pub kind: FindingKind,
    /// The item type's name; of an unexpected item, as far as its attributes and key tell.
    pub item_type: Option<String>,
    /// The row: row key columns and their values; `None` for an unexpected item.
    pub row: Option<Box<RawValue>>,
    /// The item's key as DynamoDB JSON.
    pub key: Box<RawValue>,
    /// What differs, for an item that is different.
    pub attributes: Vec<AttributeFinding>,
    /// Why a stale item is stale.
    pub stale: Option<&'static str>,
    /// Another item type of the mapping, where the table's item is one of its. Such are not
    /// repaired.
    pub made_by: Option<String>,
    /// The type attribute, where the table's item has it not, or with a name that is no item type's
    /// of the mapping: something else has made it. Such are not repaired.
    pub foreign: Option<String>,
}

/// What is wrong with an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
    /// The source makes it and the table does not have it.
    Missing,
    /// Its attributes differ.
    Different,
    /// It is of an item type of the mapping, and the source does not make it any more.
    Stale,
    /// The source does not make it, and whose it is cannot be told.
    Unexpected,
}

/// What is wrong with an attribute. Says types, never values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AttributeFinding {
    /// The attribute's name, with the path into it: `address.city`, `orders[2].total`.
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
    /// It has the same elements in another order.
    Order,
    /// It has another value of the same type.
    Value,
}

/// All that there is to say about a comparison. As JSON its field names are stable.
#[derive(Debug, Clone, Serialize)]
pub struct VerifyReport {
    /// How it ended.
    pub outcome: VerifyOutcome,
    /// What it claims: that the table holds what the source makes.
    pub claims: Vec<Claim>,
    /// The table's name.
    pub table: String,
    /// Where the table is.
    pub place: String,
    /// The run's clock, in RFC 3339: by it items have expired or not.
    pub now: String,
    /// The books of each item type, in the order of the mapping.
    pub item_types: Vec<ComparedBooks>,
    /// All item types together.
    pub total: ComparedBooks,
    /// Whether all books add up.
    pub balanced: bool,
    /// Items that were to be compared, where not all were.
    pub sample: Option<u64>,
    /// Items in the table that the source does not make, though they are of the mapping's item
    /// types; all that it does not make, where these cannot be told. `None` if they were not
    /// looked for to the end, or the table is not known to be the same at the end.
    pub unexpected: Option<u64>,
    /// Why they were not looked for.
    pub unexpected_why_not: Option<String>,
    /// Items in the table that are of no item type of the mapping. `None` where they cannot be
    /// told or were not looked for.
    pub elsewhere: Option<u64>,
    /// Items in the table that no row of the run makes and of which it cannot be told whether they are of its item types.
    pub unclear: u64,
    /// Items in the table whose rows are left out because they have expired: DynamoDB deletes them
    /// when it comes to it, for their TTL is over. They are neither expected nor unexpected.
    pub lingering: u64,
    /// Items whose TTL was over, or ended during the run, and that were gone when the keys of the table were read, though not when they were
    /// compared or repaired.
    #[serde(skip_serializing_if = "is_zero")]
    pub expired_meanwhile: u64,
    /// The first findings.
    pub findings: Vec<Finding>,
    /// The first rows that make no item, and the first items that the service refused.
    pub rejects: Vec<RejectNote>,
    /// The requests of what was repaired; `None` where nothing was to be.
    pub repair: Option<Traffic>,
    /// What the source found odd in its values.
    pub warnings: Vec<String>,
    /// Time in all.
    pub elapsed_seconds: f64,
    /// Items compared each second.
    pub items_per_second: f64,
}

impl VerifyReport {
    /// Whether every row and every item is accounted for.
    pub fn balances(&self) -> bool {
        self.item_types.iter().all(ComparedBooks::balances)
    }
}
