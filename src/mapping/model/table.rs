//! The table: keys, indexes, TTL, capacity.

use std::sync::Arc;

use super::{Autoscale, Settings};

/// A DynamoDB table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// Its name.
    pub name: String,
    /// Its partition key.
    pub partition: KeyAttribute,
    /// Its sort key.
    pub sort: Option<KeyAttribute>,
    /// Global secondary indexes.
    pub indexes: Vec<Index>,
    /// Local secondary indexes: the table's partition key, a sort key of their own.
    pub local_indexes: Vec<Index>,
    /// The attribute that holds the expiry time.
    pub ttl: Option<String>,
    /// How capacity is paid for.
    pub billing: Billing,
    /// What no item depends on: stream, backups, tags and so on.
    pub settings: Settings,
}

/// A key attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyAttribute {
    /// The attribute's name.
    pub name: Arc<str>,
    /// Its type.
    pub key_type: KeyType,
}

/// The types that a key attribute can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyType {
    /// String.
    S,
    /// Number.
    N,
    /// Binary.
    B,
}

impl KeyType {
    /// DynamoDB's word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::S => "S",
            Self::N => "N",
            Self::B => "B",
        }
    }
}

/// A secondary index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Index {
    /// Its name.
    pub name: String,
    /// Partition key attributes: one, or up to four for a multi-attribute key.
    pub partition: Vec<KeyAttribute>,
    /// Sort key attributes: none to four.
    pub sort: Vec<KeyAttribute>,
    /// What is copied into it.
    pub projection: Projection,
    /// Its own provisioned capacity; the table's where it has none of its own.
    pub throughput: Option<Throughput>,
    /// How that capacity follows the load; the table's policy where it has none of its own.
    pub autoscale: Option<Autoscale>,
}

/// What an index holds besides keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Projection {
    /// Every attribute.
    All,
    /// Keys alone.
    Keys,
    /// Keys and these attributes.
    Include(Vec<String>),
}

/// How capacity is paid for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Billing {
    /// By request.
    OnDemand,
    /// By the hour, for this much.
    Provisioned(Throughput),
}

/// Provisioned capacity, in units a second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Throughput {
    /// Read capacity units.
    pub read: u64,
    /// Write capacity units.
    pub write: u64,
}
