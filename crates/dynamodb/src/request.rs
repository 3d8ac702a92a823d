//! What DynamoDB is asked for one call of an access pattern, as data: a target sends it.

use std::sync::Arc;

use crate::{Attribute, KeyAttribute};

/// Attributes with their values: a key, or where a page ended.
pub type Position = Vec<(Arc<str>, Attribute)>;

/// What is asked for one call of an access pattern.
#[derive(Debug, Clone, PartialEq)]
pub struct CallPlan {
    /// The requests: one, or one for each shard in the order of their numbers.
    pub requests: Vec<Request>,
    /// The attributes by whose values answers of several requests are merged.
    pub order: Vec<Arc<str>>,
    /// Whether that order descends.
    pub descending: bool,
    /// Most items of the answer.
    pub limit: Option<u32>,
    /// Whether the items that are found are then read whole by their keys: with whether that is strongly consistent.
    pub fetch: Option<bool>,
}

/// A request that serves an access pattern.
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

/// The parameters of a `Query`.
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

impl Query {
    /// Adds a condition on one attribute; names and values are numbered in their order. `operator`: DynamoDB's sign or word
    /// for it.
    pub fn ask(&mut self, key: &KeyAttribute, operator: &str, values: Vec<Attribute>) {
        let name = format!("#k{}", self.names.len());
        self.names.push((name.clone(), key.name.clone()));
        let mut places = Vec::new();
        for value in values {
            let place = format!(":k{}", self.values.len());
            self.values.push((place.clone(), value));
            places.push(place);
        }
        if !self.condition.is_empty() {
            self.condition.push_str(" AND ");
        }
        let places = places.as_slice();
        self.condition.push_str(&match (operator, places) {
            ("begins_with", [prefix]) => format!("begins_with({name}, {prefix})"),
            ("between", [low, high]) => format!("{name} BETWEEN {low} AND {high}"),
            (operator, places) => format!("{name} {operator} {}", places.join(" ")),
        });
    }
}
