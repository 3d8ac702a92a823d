//! What is said of an access pattern.

use serde::Serialize;

use super::{Cell, Origin};

/// An access pattern.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pattern {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// The item types that it finds.
    pub finds: Vec<String>,
    /// `GetItem` or `Query`.
    pub operation: &'static str,
    /// The index that is asked; the table itself without it.
    pub index: Option<String>,
    /// The key condition as people write it.
    pub condition: String,
    /// What it takes.
    pub parameters: Vec<Parameter>,
    /// The attributes in whose order items come, and whether that descends.
    pub order: Option<(String, bool)>,
    /// Most items of an answer.
    pub limit: Option<u32>,
    /// The filter expression, its names and parameters put in.
    pub filter: Option<String>,
    /// Whether reads are strongly consistent.
    pub consistent: bool,
    /// Calls a second at peak.
    pub rate: Option<f64>,
    /// How many partitions are asked.
    pub partitions: u32,
    /// Read units of a call.
    pub units: Units,
    /// What it costs.
    pub cost: PatternCost,
    /// The relational query that it replaces.
    pub sql: Option<String>,
    /// The request: that of the answer, else with its templates where values would be.
    pub request: Option<Request>,
    /// The command that asks it.
    pub command: String,
    /// What it answers.
    pub answer: Option<Answer>,
}

/// Read units of a call.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Units {
    /// Fewest: nothing is found.
    pub least: f64,
    /// Most; `None` without a limit.
    pub most: Option<f64>,
    /// Those of the example's answer.
    pub example: Option<f64>,
    /// Whether the usual ones are a lower bound: there is no example, or it was asked of a part of
    /// what the table will hold.
    pub at_least: bool,
}

impl Units {
    /// What a call is taken to use: the example's units, else the fewest.
    #[must_use]
    pub fn usual(&self) -> f64 {
        self.example.unwrap_or(self.least)
    }
}

/// What an access pattern costs on demand, at its usual units.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PatternCost {
    /// US dollars for a million calls; `None` where the prices do not say it.
    pub usd_per_million: Option<f64>,
    /// US dollars a month at its rate, all the time; `None` also without a rate.
    pub usd_per_month: Option<f64>,
}

/// A parameter of an access pattern.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// How its text is read: TEXT, NUMBER and so on.
    pub kind: &'static str,
    /// How it is written into a key, where that is not as it is: `{userId | pad(3)}`.
    pub written: Option<String>,
    /// The columns whose values it takes.
    pub origins: Vec<Origin>,
    /// What it is without a caller's word: `{now | plus(-7d)}`.
    pub clock: Option<String>,
}

/// How an access pattern is asked of DynamoDB.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Request {
    /// The operation.
    pub operation: &'static str,
    /// The request as JSON; the first of several.
    pub json: String,
    /// Further requests, one for each shard.
    pub more: usize,
}

/// What an access pattern answered.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answer {
    /// The parameters with their values.
    pub parameters: Vec<(String, String)>,
    /// What was asked.
    pub request: Request,
    /// Whether values of the parameters or the request are cut, for they are long.
    pub is_cut: bool,
    /// The first items.
    pub items: Vec<Vec<Cell>>,
    /// How many items came.
    pub found: usize,
    /// Whether there were more pages.
    pub more: bool,
    /// Read units that it took, where the table says so.
    pub units: Option<f64>,
}
