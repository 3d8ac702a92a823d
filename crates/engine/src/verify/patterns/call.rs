//! The calls of an access pattern, with why each was drawn, and what they are drawn for.

use std::sync::Arc;

use dynafold_mapping::access::ParameterError;
use dynafold_mapping::model::Model;
use dynafold_mapping::template::Context;
use dynafold_relational::catalog::{Catalog, TableName};
use dynafold_relational::scan::Relation;
use dynafold_relational::value::Value;
use dynafold_source::SourceError;
use dynafold_sql::Sql;
use serde::Serialize;

/// What calls are drawn for.
#[derive(Debug, Clone, Copy)]
pub struct DrawContext<'a> {
    /// The schema.
    pub catalog: &'a Catalog,
    /// The mapping.
    pub model: &'a Model,
    /// The run's clock and zone.
    pub context: &'a Context,
}

impl DrawContext<'_> {
    /// The condition on a table's rows that the `where` of an item type does not hold for them; `None` where none
    /// asks of this table alone.
    pub(super) fn left_out(&self, table: &TableName) -> Option<String> {
        let model = self.model;
        let conditions = model.item_types.iter().filter_map(|item| {
            let scan = &model.passes.get(item.pass)?.scan;
            let is_of_table = matches!(&scan.from, Relation::Table(name) if name == table);
            (is_of_table && scan.joins.is_empty()).then(|| model.condition(item))?
        });
        let conditions: Vec<String> = conditions
            .map(|condition| format!("(({condition}\n) IS NOT TRUE)"))
            .collect();
        (!conditions.is_empty()).then(|| format!("({})", conditions.join(" OR ")))
    }
}

/// One call of an access pattern.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DrawnCall {
    /// The values of the pattern's parameters, in their order.
    pub values: Vec<Value>,
    /// The same as `query --param` takes them, and those of the SQL alone.
    pub given: Vec<(Arc<str>, String)>,
    /// Why they were drawn.
    pub why: DrawReason,
    /// The literals of the SQL's parameters.
    pub(super) literals: Vec<(Arc<str>, String)>,
}

impl DrawnCall {
    /// The pattern's SQL with the values in it.
    pub(crate) fn sql(&self, sql: &Sql) -> String {
        sql.fill(&|name| {
            let mut literals = self.literals.iter();
            let found = literals.find(|(other, _)| **other == *name);
            found.map(|(_, literal)| literal.clone())
        })
    }
}

/// Why values were drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DrawReason {
    /// All that there are were drawn, or there are none to be drawn.
    All,
    /// Most rows have them.
    Common,
    /// Fewest rows have them.
    Rare,
    /// They are the smallest.
    Smallest,
    /// They are the largest.
    Largest,
    /// The `where` of an item type leaves out rows that have them.
    LeftOut,
    /// Bounds beyond all values.
    Beyond,
    /// One of them is a variant of one that occurs: in another case, longer, shorter.
    Variant,
    /// One of them does not occur.
    Absent,
}

/// The calls of an access pattern.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct DrawnCalls {
    /// The calls, in the order in which they were drawn.
    pub calls: Vec<DrawnCall>,
    /// How many calls have values that occur together.
    pub asked: u64,
    /// How many there are; `None` where nobody can count them.
    pub possible: Option<u64>,
    /// Drawn values of which no request can be made.
    pub refused: u64,
    /// Why the first of them makes none.
    pub refusal: Option<String>,
    /// The parameters with the columns from which their values are.
    pub origins: Vec<(Arc<str>, TableName, String)>,
    /// What could not be drawn, a line each.
    pub notes: Vec<String>,
}

impl DrawnCalls {
    /// Why a value that was not asked may have another answer.
    pub(super) fn doubts(&self) -> Vec<String> {
        let known = self.asked + self.refused;
        let more = self.possible.is_some_and(|possible| possible > known);
        let more = more.then(|| "there are more values".to_owned());
        let refused = self.refusal.as_ref().map(|first| {
            let refused = self.refused;
            format!("no DynamoDB request can be made of {refused} of the drawn values: {first}")
        });
        more.into_iter().chain(refused).collect()
    }
}

/// Why nothing can be drawn.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DrawError {
    /// When the mapping does not say where the values of a parameter come from.
    #[error(
        "it is not known where values of `{0}` come from; name the column under `params`: {{ {0}: table.column }}"
    )]
    Unknown(Arc<str>),
    /// When a moment cannot be counted.
    #[error("the time `{0}` cannot be computed")]
    Moment(Arc<str>, #[source] ParameterError),
    /// When the source fails.
    #[error(transparent)]
    Source(#[from] SourceError),
}
