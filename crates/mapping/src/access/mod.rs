//! Access patterns at work: from a pattern and the values of its parameters to the requests that
//! DynamoDB is sent, as data. Pure: a target sends them.
//!
//! A pattern that names the table's whole key is a `GetItem`, any other a `Query`. One over all
//! shards of a partition key is a `Query` for each, whose answers [`merge`] puts in the order of the
//! sort key.

mod json;
mod merge;
mod option;
mod parameter;
mod plan;
mod recover;

pub use json::object;
pub use json::to_json;
pub use merge::{Shard, merge};
pub use option::{OPTIONS, given, has_option};
pub use parameter::{ParameterError, moment, read};
pub use plan::{PlanError, plan};
pub use recover::{end_of_range, recover};

use std::sync::Arc;

use dynafold_dynamodb::Attribute;

/// Attributes with their values: a key, or where a page ended.
pub type Position = Vec<(Arc<str>, Attribute)>;

/// What is asked for one call of an access pattern.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The requests: one, or one for each shard in the order of their numbers.
    pub requests: Vec<Request>,
    /// The attributes by whose values answers of several requests are merged.
    pub order: Vec<Arc<str>>,
    /// Whether that order descends.
    pub descending: bool,
    /// Most items of the answer.
    pub limit: Option<u32>,
}

/// One request.
#[derive(Debug, Clone, PartialEq)]
pub enum Request {
    /// The item of a key.
    Get {
        /// The whole key of the table.
        key: Position,
        /// Whether the read is strongly consistent.
        consistent: bool,
    },
    /// The items that a key condition finds.
    Query(Query),
}

/// A Query.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// The index; the table itself without it.
    pub index: Option<Arc<str>>,
    /// The key condition expression.
    pub condition: String,
    /// The filter expression.
    pub filter: Option<String>,
    /// What `#…` stands for.
    pub names: Vec<(String, Arc<str>)>,
    /// What `:…` stands for.
    pub values: Vec<(String, Attribute)>,
    /// Whether the order of the sort key descends.
    pub descending: bool,
    /// Most items to read. With a filter there is none: it would count what the filter leaves out.
    pub limit: Option<u32>,
    /// Whether the read is strongly consistent.
    pub consistent: bool,
}
