//! All that the definition document says, as plain data: made once from the model, the catalog and
//! what was read, then written in each form. Nothing in it depends on the clock or the machine.

mod pattern;

pub use pattern::{Answer, Parameter, Pattern, PatternCost, Request, Units};

use serde::{Deserialize, Serialize};

use super::figures::Figures;
use crate::catalog::{Catalog, TableName};

/// The definition of one table.
#[derive(Debug, Clone, PartialEq, Serialize)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Examples {
    /// Most rows of an item type that were read.
    pub rows: u64,
    /// Whether these are all rows of all item types.
    pub whole: bool,
    /// Where the table is that answered, if it was not made from these rows.
    pub asked: Option<String>,
}

/// A table of the source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SourceTable {
    /// Its name in the catalog.
    #[serde(skip)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
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

/// What a place is that holds items and has a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PlaceKind {
    /// The table.
    Table,
    /// A global secondary index.
    Global,
    /// A local secondary index.
    Local,
}

/// The table or an index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Key {
    /// Its name.
    pub name: String,
    /// Its type: S, N or B.
    pub key_type: &'static str,
}

/// An item type in an index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Member {
    /// The index, or the item type: what the list is not about.
    pub name: String,
    /// What it depends on that an item is in it; `None`: every item is.
    pub when: Option<String>,
    /// The one partition key value that all items of the type share.
    pub single_partition: Option<String>,
}

/// Example items that share a partition key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Collection {
    /// The values of the partition key.
    pub partition: Vec<Cell>,
    /// The items, in the order of the sort key.
    pub items: Vec<Entry>,
}

/// An item in the table or in an index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// Its item type.
    pub item_type: String,
    /// The values of the sort key.
    pub sort: Vec<Cell>,
    /// Its other attributes that are there.
    pub attributes: Vec<Cell>,
}

/// An attribute of an item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Cell {
    /// Its name.
    pub name: String,
    /// Its DynamoDB type.
    pub data_type: &'static str,
    /// Its value as people read it; the beginning where it is long.
    pub value: String,
}

/// An item type.
#[derive(Debug, Clone, PartialEq, Serialize)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
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
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct Origin {
    /// The table, as people write it; the item type's query where it is read from one.
    pub table: String,
    /// The column.
    pub column: String,
    /// Its type, in the database's words; empty where it is not known.
    pub declared: String,
    /// The table in the catalog.
    #[serde(skip)]
    pub id: Option<TableName>,
}

/// A warning of `check`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
