//! Access patterns: what a table is asked, as it was checked.

use std::sync::Arc;

use super::{KeyAttribute, Placeholder, Template};
use crate::catalog::TableName;
use crate::item::Attribute;
use crate::value::TimeKind;

/// An access pattern. Its templates are over parameters: [`super::Place::column`] is an index into
/// [`AccessPattern::parameters`], or [`AccessPattern::SHARD`].
#[derive(Debug, Clone, PartialEq)]
pub struct AccessPattern {
    /// Its name in the mapping.
    pub name: Arc<str>,
    /// What it is for.
    pub description: Option<String>,
    /// The item types that come back; empty where the mapping does not say.
    pub items: Vec<Arc<str>>,
    /// The index that is asked; the table itself without it.
    pub index: Option<Arc<str>>,
    /// The partition key attributes, each with what it equals.
    pub partition: Vec<(KeyAttribute, Template)>,
    /// Conditions on the first of the sort key attributes, in their order; all but the last are
    /// equalities.
    pub sort: Vec<(KeyAttribute, SortCondition)>,
    /// All sort key attributes of what is asked: the order in which items come.
    pub order: Vec<KeyAttribute>,
    /// Whether that order descends.
    pub descending: bool,
    /// What the caller gives.
    pub parameters: Vec<Parameter>,
    /// How many shards of the partition key are asked, each by a request of its own.
    pub shards: Option<u32>,
    /// Most items of an answer.
    pub limit: Option<u32>,
    /// What leaves items out after they were read.
    pub filter: Option<FilterExpression>,
    /// Whether reads are strongly consistent.
    pub consistent: bool,
    /// The relational query that it replaces.
    pub sql: Option<String>,
    /// Where values of parameters come from, as `params` says it; of those that the relational query
    /// alone has too.
    pub origins: Vec<(Arc<str>, Origin)>,
    /// Attributes with the SQL columns that they are called otherwise.
    pub answer: Vec<(String, String)>,
    /// Requests a second at peak.
    pub rate: Option<f64>,
}

impl AccessPattern {
    /// The place of the shard's number, which no caller gives.
    pub const SHARD: usize = usize::MAX;

    /// Whether it names the table's whole key: one item at most can come back.
    #[must_use]
    pub fn is_whole_key(&self) -> bool {
        let equal = self
            .sort
            .iter()
            .filter(|(_, condition)| condition.is_equality());
        self.index.is_none() && equal.count() == self.order.len()
    }

    /// The values that its key condition takes.
    pub fn placeholders(&self) -> impl Iterator<Item = &Placeholder> {
        let partition = self.partition.iter().map(|(_, template)| template);
        let sort = self
            .sort
            .iter()
            .flat_map(|(_, condition)| condition.templates());
        partition.chain(sort).flat_map(Template::placeholders)
    }
}

/// What is asked of a sort key attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SortCondition {
    /// That it is this.
    Is(Template),
    /// That it begins with this.
    BeginsWith(Template),
    /// That it is between these two, both included.
    Between(Template, Template),
    /// That it is less.
    Less(Template),
    /// That it is less or equal.
    LessOrEqual(Template),
    /// That it is greater.
    Greater(Template),
    /// That it is greater or equal.
    GreaterOrEqual(Template),
}

impl SortCondition {
    /// Whether it is an equality.
    #[must_use]
    pub fn is_equality(&self) -> bool {
        matches!(self, Self::Is(_))
    }

    /// Its templates, in the order in which they are written.
    #[must_use]
    pub fn templates(&self) -> Vec<&Template> {
        match self {
            Self::Is(one)
            | Self::BeginsWith(one)
            | Self::Less(one)
            | Self::LessOrEqual(one)
            | Self::Greater(one)
            | Self::GreaterOrEqual(one) => vec![one],
            Self::Between(low, high) => vec![low, high],
        }
    }

    /// The same, to be changed.
    pub(crate) fn templates_mut(&mut self) -> Vec<&mut Template> {
        match self {
            Self::Is(one)
            | Self::BeginsWith(one)
            | Self::Less(one)
            | Self::LessOrEqual(one)
            | Self::Greater(one)
            | Self::GreaterOrEqual(one) => vec![one],
            Self::Between(low, high) => vec![low, high],
        }
    }
}

/// What a caller gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: Arc<str>,
    /// How its text is read.
    pub kind: ParameterKind,
    /// What it is without a caller's word: a moment that is counted from the clock. Its one place
    /// is the clock.
    pub from_clock: Option<Template>,
    /// Whether only a schema tells how it is read, and there was none.
    pub needs_schema: bool,
}

/// Where the values of a parameter come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// A column of the source.
    Column {
        /// The table.
        table: TableName,
        /// The column.
        column: String,
    },
    /// A moment that is counted from the clock. Its one place is the clock.
    Clock(Template),
}

/// How the text of a parameter is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterKind {
    /// As it is.
    Text,
    /// As an exact number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// As a date or time; of a column's kind and fractional digits, where they are known.
    Time(Option<(TimeKind, u8)>),
    /// As base64.
    Binary,
    /// Bytes as hexadecimal digits, which `hex` makes of them.
    Hex,
}

impl ParameterKind {
    /// The word for it where a value stands in a synopsis.
    #[must_use]
    pub fn placeholder(self) -> &'static str {
        match self {
            Self::Text => "TEXT",
            Self::Number => "NUMBER",
            Self::Boolean => "BOOL",
            Self::Time(Some((TimeKind::Date, _))) => "DATE",
            Self::Time(_) => "TIME",
            Self::Binary => "BASE64",
            Self::Hex => "HEX",
        }
    }
}

/// A filter expression in DynamoDB's words, every name and value replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilterExpression {
    /// The expression: `#f0 = :f0 AND attribute_exists(#f1)`.
    pub text: String,
    /// What `#f0` and so on stand for.
    pub names: Vec<Arc<str>>,
    /// What `:f0` and so on stand for.
    pub values: Vec<Operand>,
}

/// A value of a filter expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operand {
    /// The parameter of this index.
    Parameter(usize),
    /// A constant.
    Constant(Attribute),
}
