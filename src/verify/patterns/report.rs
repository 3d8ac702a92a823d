//! What the proof of access patterns found.

use std::collections::BTreeMap;

use serde::Serialize;

use super::draw::Why;
use crate::load::Failure;

/// The proof of a mapping's access patterns.
#[derive(Debug, Clone, Serialize)]
pub struct PatternsReport {
    /// The table.
    pub table: String,
    /// Where it is.
    pub place: String,
    /// The moment from which moments are counted.
    pub now: String,
    /// The patterns, in the order of the file.
    pub patterns: Vec<PatternReport>,
    /// Patterns whose answers are those of their SQL.
    pub proved: usize,
    /// Patterns whose answers differ from those of their SQL.
    pub different: usize,
    /// Patterns with SQL that could not be compared.
    pub not_proved: usize,
    /// Patterns without SQL.
    pub without_sql: usize,
    /// Seconds that it took.
    pub elapsed_seconds: f64,
    /// How it ended.
    pub outcome: PatternsOutcome,
}

/// How the proof ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum PatternsOutcome {
    /// Every pattern that was asked about and has SQL is proved.
    Proved,
    /// Some are not proved, and none differs.
    NotProved,
    /// Some differ.
    Different,
    /// It was stopped.
    Interrupted,
    /// It failed.
    Failed(Failure),
}

/// The proof of one access pattern.
#[derive(Debug, Clone, Default, Serialize)]
pub struct PatternReport {
    /// The access pattern.
    pub pattern: String,
    /// What became of it.
    pub state: PatternState,
    /// Why it is not proved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Calls that were compared.
    pub calls: usize,
    /// How many of them have each reason for being drawn.
    pub drawn: BTreeMap<Why, usize>,
    /// Whether the calls are all that the source's values allow.
    pub all_values: bool,
    /// Calls that neither side has an answer to.
    pub empty_calls: usize,
    /// Rows that the SQL answered.
    pub rows: usize,
    /// Items that the table answered.
    pub items: usize,
    /// Read units that the calls took, where the answers say so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_units: Option<f64>,
    /// Whether answers were compared in order.
    pub in_order: bool,
    /// What was compared of each item type.
    pub item_types: Vec<ComparedType>,
    /// Columns of the SQL that are no attribute.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unused_columns: Vec<String>,
    /// What else is to be known, a line each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Calls with differences.
    pub different_calls: usize,
    /// Differences.
    pub differences: usize,
    /// The first of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<DifferentCall>,
}

/// What became of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PatternState {
    /// Its answers are those of its SQL.
    Proved,
    /// They differ.
    Different,
    /// They could not be compared.
    #[default]
    NotProved,
    /// It has no SQL.
    WithoutSql,
}

/// What was compared of an item type.
#[derive(Debug, Clone, Serialize)]
pub struct ComparedType {
    /// The item type.
    pub item_type: String,
    /// Attributes that were compared.
    pub compared: Vec<String>,
    /// Attributes that were not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_compared: Vec<String>,
}

/// A call whose answers differ.
#[derive(Debug, Clone, Serialize)]
pub struct DifferentCall {
    /// Its parameters, as `query --param` takes them.
    pub parameters: BTreeMap<String, String>,
    /// Why they were drawn.
    pub drawn: Why,
    /// Rows that the SQL answered.
    pub rows: usize,
    /// Items that the table answered.
    pub items: usize,
    /// How many differences there are.
    pub differences: usize,
    /// The first of them.
    pub examples: Vec<Example>,
}

/// A difference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Example {
    /// What it is.
    pub kind: ExampleKind,
    /// The item type, where it is known.
    pub item_type: Option<String>,
    /// The item's key, or what the SQL says of it.
    pub key: String,
    /// The attributes that differ.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub attributes: Vec<String>,
}

/// What a difference is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ExampleKind {
    /// The SQL has it and the pattern's answer does not.
    Missing,
    /// The pattern's answer has it and the SQL does not.
    Extra,
    /// Both have it, and attributes differ.
    Differs,
    /// It stands in another place than in the SQL's order.
    Order,
}
