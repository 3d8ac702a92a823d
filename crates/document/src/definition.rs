//! The definition document, and what its caller has read for it.

use serde::Deserialize;

use super::tree::{ItemCell, Section};

/// The document that defines one table. Nothing in it depends on the clock or the machine.
#[derive(Debug)]
pub struct Definition {
    /// The mapping's file name.
    pub(super) mapping: String,
    pub(super) table: String,
    pub(super) sections: Vec<Section>,
}

/// Where example items and answers are from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Examples {
    /// Most rows of an item type that were read.
    pub rows: u64,
    /// Whether these are all rows of all item types.
    pub whole: bool,
    /// Where the table is that was asked, if it was not made from these rows.
    pub asked: Option<String>,
}

/// A warning of `check`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Warning {
    /// Its stable code.
    pub code: String,
    /// What is wrong.
    pub message: String,
    /// The line of the mapping, from 1.
    pub line: usize,
    /// The place in that line, from 1.
    pub column: usize,
    /// What stands there.
    pub label: String,
    /// How to mend it.
    pub help: Option<String>,
}

/// How an access pattern is asked of DynamoDB.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExampleRequest {
    /// `GetItem` or `Query`.
    pub operation: &'static str,
    /// The request as JSON; the first of several.
    pub json: String,
    /// The number of further requests, one for each other shard.
    pub further_requests: usize,
}

/// What an access pattern answered.
#[derive(Debug, Clone, PartialEq)]
pub struct ExampleAnswer {
    /// The parameters with their values.
    pub parameters: Vec<(String, String)>,
    /// What was asked.
    pub request: ExampleRequest,
    /// Whether long values of the parameters or the request are cut.
    pub is_cut: bool,
    /// The first items, as many as are shown.
    pub items: Vec<Vec<ItemCell>>,
    /// How many items the read page has.
    pub found: usize,
    /// Whether there are further pages, which were not read.
    pub has_more_pages: bool,
    /// Read units that it took, where the table says so.
    pub units: Option<f64>,
}
