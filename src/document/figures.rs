//! Sizes, capacity and cost of a definition, as plain data.

use serde::Serialize;

use crate::price::{Monthly, Prices, Rates};

/// What the table comes to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figures {
    /// What they are made from.
    pub basis: Basis,
    /// The item types, in the order of the mapping.
    pub item_types: Vec<TypeFigures>,
    /// The table and its indexes.
    pub places: Vec<PlaceFigures>,
    /// The table and its indexes together, where all of it is known.
    pub total: Option<Total>,
    /// What the declared rates come to; empty without rates.
    pub steady: Vec<SteadyPlace>,
    /// All of `steady` together.
    pub steady_total: Option<SteadyPlace>,
    /// What one unit of reads, and one of writes, costs if it is used all the time.
    pub one_read: Monthly,
    /// The same of writes.
    pub one_write: Monthly,
    /// Partition keys that take more than others.
    pub hot: Vec<HotPlace>,
    /// The prices that were used.
    pub prices: Prices,
}

/// What figures are made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// Every row.
    AllRows,
    /// The catalog's counts of rows times the mean of the first rows.
    Estimate,
    /// Nothing was read.
    Nothing,
}

/// What an item type comes to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TypeFigures {
    /// Its name.
    pub name: String,
    /// Its items.
    pub items: Option<u64>,
    /// Whether there may be fewer: a condition leaves rows out, and how many is not known.
    pub at_most: bool,
    /// Whether they are counted by what became of the first rows: some of these became no item.
    pub about: bool,
    /// Rows that are rejected; known where all rows were read.
    pub rejected: u64,
    /// Mean bytes of an item.
    pub mean_bytes: Option<u64>,
    /// Bytes of all of them.
    pub bytes: Option<u64>,
    /// Write units to load them, those of index entries included.
    pub write_units: Option<u64>,
}

/// What the table or an index holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlaceFigures {
    /// Its name.
    pub name: String,
    /// Items or entries.
    pub items: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Write units that loading them takes.
    pub write_units: u64,
}

/// The table with its indexes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Total {
    /// Bytes that are billed as stored.
    pub stored_bytes: u64,
    /// US dollars a month for them.
    pub storage_usd_per_month: Option<f64>,
    /// Write units of a load.
    pub write_units: u64,
    /// US dollars for them on demand.
    pub load_usd: Option<f64>,
}

/// The declared rates at the table or at an index.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SteadyPlace {
    /// Its name.
    pub name: String,
    /// Units a second.
    pub rates: Rates,
    /// What they cost.
    pub cost: Monthly,
    /// Whether reads, and with them the cost, are lower bounds.
    pub at_least: bool,
}

/// The table or an index with partition keys that take more than others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HotPlace {
    /// Its name.
    pub name: String,
    /// What is known of them, a line each.
    pub lines: Vec<String>,
}
