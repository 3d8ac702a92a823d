//! Access patterns at work: from a pattern and the values of its parameters to the requests that
//! DynamoDB is sent, as data. Pure: a target sends them.
//!
//! A pattern that names the table's whole key is a `GetItem`, any other a `Query`. One over all
//! shards of a partition key is a `Query` for each, whose answers [`merge`](dynafold_dynamodb::merge) puts in the order of the
//! sort key.

mod parameter;
mod plan;
mod recover;

pub use parameter::{OPTIONS, ParameterError, clock_default, clock_value, given, has_option, read};
pub use plan::{PlanError, plan};
pub use recover::{end_of_range, recover};
