//! What the proof of access patterns found.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use dynafold_format::{counted, shell_word};
use dynafold_mapping::access::given;
use dynafold_mapping::claim::Claim;
use serde::Serialize;

use super::call::DrawReason;
use crate::load::{Failure, shared};

/// The proof of a mapping's access patterns.
#[derive(Debug, Clone, Serialize)]
pub struct PatternsReport {
    /// The table's name.
    pub table: String,
    /// The target, as people read it: `dynamodb in eu-west-1`.
    pub place: String,
    /// The moment from which moments are counted.
    pub now: String,
    /// What is claimed of each pattern with SQL.
    pub claims: Vec<Claim>,
    /// What was asked and answered, for each pattern in the order of the file.
    pub patterns: Vec<PatternReport>,
    /// Patterns whose answers are those of their SQL, whatever is asked.
    pub proved: usize,
    /// Patterns whose answers are those of their SQL, as far as they were asked.
    pub agrees: usize,
    /// Patterns whose answers differ from those of their SQL.
    pub different: usize,
    /// Patterns with SQL whose answers could not be compared, or not all of them.
    pub not_proved: usize,
    /// Patterns without SQL.
    pub without_sql: usize,
    /// Seconds that it took.
    pub elapsed_seconds: f64,
    /// How it ended.
    pub outcome: PatternsOutcome,
}

/// How the proof ended.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum PatternsOutcome {
    /// Every pattern that was asked about and has SQL is proved.
    Proved,
    /// Every one of them is proved or agrees.
    Agrees,
    /// Some are not proved, and none differs.
    NotProved,
    /// Some differ.
    Different,
    /// It was stopped.
    Interrupted,
    /// It ended with this failure.
    Failed(#[serde(serialize_with = "shared")] Arc<Failure>),
}

/// The proof of one access pattern.
#[derive(Debug, Clone, Default, Serialize)]
pub struct PatternReport {
    /// The access pattern.
    pub pattern: String,
    /// Calls that were compared.
    pub calls: usize,
    /// How many of them have each reason for being drawn.
    pub drawn: BTreeMap<DrawReason, usize>,
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
    /// What else is to be known, a line each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Calls with differences.
    pub different_calls: usize,
    /// How many differences the answers have.
    pub differences: usize,
    /// The first of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<DifferentCall>,
}

impl PatternsReport {
    /// What is claimed of a pattern; `None` where it has no SQL.
    pub fn claim(&self, pattern: &PatternReport) -> Option<&Claim> {
        let mut claims = self.claims.iter();
        claims.find(|claim| claim.of.pattern.as_ref() == Some(&pattern.pattern))
    }
}

impl PatternReport {
    pub(super) fn facts(&self) -> Vec<String> {
        let how = if self.in_order {
            "in order"
        } else {
            "in any order"
        };
        let mut facts = vec![format!(
            "{}: its SQL gave {} and the table {}, compared {how}",
            counted(self.calls, "call"),
            counted(self.rows, "row"),
            counted(self.items, "item")
        )];
        for of in &self.item_types {
            let mut fact = format!("{} by {}", of.item_type, of.compared.join(", "));
            if !of.not_compared.is_empty() {
                fact.push_str(&format!("; not compared: {}", of.not_compared.join(", ")));
            }
            facts.push(fact);
        }
        facts
    }
}

/// What was compared of an item type.
#[derive(Debug, Clone, Serialize)]
pub struct ComparedType {
    /// The name of the item type.
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
    /// Its parameters, as `query` takes them in a shell.
    pub parameters: BTreeMap<String, String>,
    /// Why they were drawn.
    pub drawn: DrawReason,
    /// Rows that the SQL answered.
    pub rows: usize,
    /// Items that the table answered.
    pub items: usize,
    /// How many differences there are.
    pub differences: usize,
    /// The first of them.
    pub examples: Vec<Example>,
}

/// A difference between the answers of a call, as an example of all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Example {
    /// In which way the answers differ.
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
    /// The SQL gives it once more than the pattern's answer has it.
    Repeated,
}

impl Example {
    pub(super) fn new(kind: ExampleKind, item_type: Option<&str>, key: String) -> Self {
        Self {
            kind,
            item_type: item_type.map(str::to_owned),
            key,
            attributes: Vec::new(),
        }
    }
}

impl fmt::Display for Example {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            ExampleKind::Missing => "missing",
            ExampleKind::Extra => "extra",
            ExampleKind::Differs => "differs",
            ExampleKind::Order => "out of order",
            ExampleKind::Repeated => "repeated by the SQL",
        };
        let item_type = self.item_type.as_deref().unwrap_or("item");
        write!(f, "{what}: {item_type} {}", self.key)?;
        for (at, name) in self.attributes.iter().enumerate() {
            write!(f, "{} `{name}`", if at == 0 { ":" } else { "," })?;
        }
        Ok(())
    }
}

impl fmt::Display for DifferentCall {
    /// Its parameters, as `query` takes them in a shell.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.parameters.is_empty() {
            return f.write_str("without parameters");
        }
        for (at, (name, value)) in self.parameters.iter().enumerate() {
            let space = if at == 0 { "" } else { " " };
            write!(f, "{space}{}", given(name, &shell_word(value)))?;
        }
        Ok(())
    }
}
