//! All that the definition document says, as plain data: made once from the model, the catalog and
//! what was read, then written in each form. Nothing in it depends on the clock or the machine.

use dynafold_dynamodb::price::{Monthly, Prices, Rates};
use dynafold_mapping::forecast::PlaceKind;
use dynafold_relational::catalog::{Catalog, TableName};
use serde::Deserialize;

/// The definition of one table.
#[derive(Debug, Clone, PartialEq)]
pub struct Definition {
    /// The mapping's file name.
    pub mapping: String,
    /// The table's name.
    pub table: String,
    /// The relational schema.
    pub catalog: Catalog,
    /// What becomes of each of its tables, in the catalog's order.
    pub sources: Vec<SourceTable>,
    /// The table, its global indexes, its local ones.
    pub places: Vec<Place>,
    /// What the table has besides keys and indexes: a name and what is said of it.
    pub settings: Vec<(&'static str, String)>,
    /// The item types, in the order of the mapping.
    pub item_types: Vec<ItemType>,
    /// The access patterns, in the order of the mapping.
    pub patterns: Vec<Pattern>,
    /// Where examples and answers are from; `None` where no value of a row is shown.
    pub examples: Option<Examples>,
    /// Sizes, capacity and cost.
    pub figures: Figures,
    /// The warnings of `check`.
    pub warnings: Vec<Warning>,
    /// Those that the mapping accepts.
    pub accepted: Vec<Warning>,
}

/// Where example items and answers are from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Examples {
    /// Most rows of an item type that were read.
    pub rows: u64,
    /// Whether these are all rows of all item types.
    pub whole: bool,
    /// Where the table is that answered, if it was not made from these rows.
    pub asked: Option<String>,
}

/// A table of the source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceTable {
    /// Its name in the catalog.
    pub id: TableName,
    /// How people write its name.
    pub name: String,
    /// What kind of relation it is, unless it is a table.
    pub kind: Option<&'static str>,
    /// Rows, as the catalog estimates them.
    pub rows: Option<u64>,
    /// What the mapping does with it.
    pub part: Part,
    /// Item types that its values are in, in the order of the mapping.
    pub item_types: Vec<String>,
    /// Access patterns that find one of these.
    pub patterns: Vec<String>,
    /// Its columns.
    pub columns: Vec<SourceColumn>,
}

/// What a mapping does with a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Item types are made from its rows, or look into them.
    Read,
    /// A query of the mapping names it. What it takes is not traced.
    Queried,
    /// Nothing is read from it, but a foreign key leads from or to one that is read.
    Beside,
    /// Nothing is read from it.
    Unread,
}

/// A column of the source, and what carries it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceColumn {
    /// Its name.
    pub name: String,
    /// Its type, in the database's words.
    pub declared: String,
    /// Whether parents or children are found by it.
    pub leads: bool,
    /// Item types, each with the attributes that carry it.
    pub carriers: Vec<(String, Vec<String>)>,
}

/// The table or an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: PlaceKind,
    /// The partition key.
    pub partition: Vec<Key>,
    /// The sort key.
    pub sort: Vec<Key>,
    /// What of an item is in it.
    pub projection: String,
    /// How its capacity is paid for.
    pub billing: String,
    /// The item types in it.
    pub members: Vec<Member>,
    /// Example items by partition key.
    pub collections: Vec<Collection>,
}

impl Place {
    /// Whether an attribute is of its key.
    #[must_use]
    pub fn has_key(&self, attribute: &str) -> bool {
        let mut keys = self.partition.iter().chain(&self.sort);
        keys.any(|key| key.name == attribute)
    }
}

/// A key attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// Its name.
    pub name: String,
    /// Its type: S, N or B.
    pub key_type: &'static str,
}

/// An item type in an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// The index, or the item type: what the list is not about.
    pub name: String,
    /// What it depends on that an item is in it; `None`: every item is.
    pub when: Option<String>,
    /// The one partition key value that all items of the type share.
    pub single_partition: Option<String>,
}

/// Example items that share a partition key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Collection {
    /// The values of the partition key.
    pub partition: Vec<Cell>,
    /// The items, in the order of the sort key.
    pub items: Vec<Entry>,
}

/// An item in the table or in an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its item type.
    pub item_type: String,
    /// The values of the sort key.
    pub sort: Vec<Cell>,
    /// Its other attributes that are there.
    pub attributes: Vec<Cell>,
}

/// An attribute of an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    /// Its name.
    pub name: String,
    /// Its DynamoDB type.
    pub data_type: &'static str,
    /// Its value as people read it; the beginning where it is long.
    pub value: String,
}

/// An item type.
#[derive(Debug, Clone, PartialEq)]
pub struct ItemType {
    /// Its name.
    pub name: String,
    /// What its rows are read from, as the mapping writes it.
    pub from: String,
    /// The query that its rows are read by, where it is not a table.
    pub query: Option<String>,
    /// The condition on rows, in SQL.
    pub condition: Option<String>,
    /// Parents that are looked up: alias, table, and how they are found.
    pub joins: Vec<(String, String, String)>,
    /// Arrays of which each element makes an item.
    pub explodes: Vec<String>,
    /// What else the mapping says of it.
    pub notes: Vec<String>,
    /// Its attributes, those of the table's key first.
    pub attributes: Vec<Attribute>,
    /// The indexes it is in.
    pub indexes: Vec<Member>,
    /// The access patterns that find it.
    pub patterns: Vec<String>,
    /// Most bytes of an item; `None` without a limit below that of DynamoDB.
    pub most_bytes: Option<usize>,
    /// Example items.
    pub examples: Vec<Vec<Cell>>,
}

/// An attribute of an item type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attribute {
    /// Its name; where a document gives several, what they are.
    pub name: String,
    /// What it is for: partition key, sort key of an index, TTL.
    pub roles: Vec<String>,
    /// Its DynamoDB type.
    pub data_type: String,
    /// What it is made from, as the mapping says it.
    pub made: String,
    /// The columns that it is made from.
    pub origins: Vec<Origin>,
}

/// A column that a value is from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Origin {
    /// The table, as people write it; the item type's query where it is read from one.
    pub table: String,
    /// The column.
    pub column: String,
    /// Its type, in the database's words; empty where it is not known.
    pub declared: String,
    /// The table in the catalog.
    pub id: Option<TableName>,
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

// What is said of an access pattern.

/// An access pattern.
#[derive(Debug, Clone, PartialEq)]
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
#[derive(Debug, Clone, Copy, PartialEq)]
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
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PatternCost {
    /// US dollars for a million calls; `None` where the prices do not say it.
    pub usd_per_million: Option<f64>,
    /// US dollars a month at its rate, all the time; `None` also without a rate.
    pub usd_per_month: Option<f64>,
}

/// A parameter of an access pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The operation.
    pub operation: &'static str,
    /// The request as JSON; the first of several.
    pub json: String,
    /// Further requests, one for each shard.
    pub more: usize,
}

/// What an access pattern answered.
#[derive(Debug, Clone, PartialEq)]
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

// Sizes, capacity and cost of a definition, as plain data.

/// What the table comes to.
#[derive(Debug, Clone, PartialEq)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// Every row.
    AllRows,
    /// The catalog's counts of rows times the mean of the first rows.
    Estimate,
    /// Nothing was read.
    Nothing,
}

/// What an item type comes to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
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
#[derive(Debug, Clone, PartialEq, Eq)]
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
#[derive(Debug, Clone, Copy, PartialEq)]
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
#[derive(Debug, Clone, PartialEq, Default)]
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HotPlace {
    /// Its name.
    pub name: String,
    /// What is known of them, a line each.
    pub lines: Vec<String>,
}
