//! The DynamoDB side: one trait, a real or local endpoint or the engine in the process.
//!
//! # The protocol
//!
//! A [`Target`] is one table's endpoint, shared between writers. [`Target::describe`] tells what is
//! there; [`Target::create`] makes the table with its indexes and TTL and returns when it is ACTIVE.
//! [`Target::write`] sends one batch once: no retry happens below it. Its answer says which items
//! of the batch were not processed, which is an ordinary answer; only those may be sent again. An
//! error says by its class what to do with the whole batch: send it again, split it, or give up.
//! A write whose answer was lost may have happened; puts are idempotent, so sending it again is
//! safe. An item is done when an answer came that does not list it.
//!
//! [`Target::batch_limit`] may grow between [`Target::start`] and [`Target::finish`]: ask after
//! starting.
//!
//! [`Target::read`] and [`Target::scan_keys`] read strongly consistently and retry by themselves.

mod compare;
mod difference;
mod dynamodb;
mod local;
mod spec;

pub use compare::compare;
pub use difference::Difference;
pub use spec::{SpecError, TargetSpec, connect};

use std::fmt;

use futures_util::future::BoxFuture;

use crate::item::{Attribute, Item};
use crate::mapping::model::Table;

/// An item ready to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prepared {
    /// The item as DynamoDB JSON.
    pub json: String,
    /// Bytes that DynamoDB counts for it.
    pub size: usize,
    /// Index of its item type in the model.
    pub item_type: usize,
    /// 128 bits that stand for its key (see [`crate::item::Item`]).
    pub fingerprint: u128,
}

/// Items within the target's [`BatchLimit`], no two with one key.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Batch {
    /// The items.
    pub items: Vec<Prepared>,
}

/// How much a batch may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchLimit {
    /// Most items.
    pub items: usize,
    /// Most bytes on the wire: the items' JSON and what stands around it.
    pub bytes: usize,
}

impl BatchLimit {
    /// BatchWriteItem's own (limits.md 6 and 7). The bytes are 16 MB counted in thousands, less
    /// what frames the items, so that they hold however the service counts.
    pub const BATCH_WRITE: Self = Self {
        items: 25,
        bytes: 15_990_000,
    };
}

/// What became of a batch that was answered.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Written {
    /// Indices into the batch of the items that were not processed.
    pub unprocessed: Vec<usize>,
    /// Write capacity units that the answer says were used, indexes included.
    pub consumed: Option<f64>,
}

/// What to do about an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorClass {
    /// Throttled: send again, later and slower.
    Throttle,
    /// The server or the network failed: send again.
    Transient,
    /// The batch as a whole was refused because of one of its items: split it to find it.
    Invalid,
    /// Nothing that is sent will be taken: stop.
    Fatal,
}

/// How a target failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct TargetError {
    /// What to do about it.
    pub class: ErrorClass,
    /// The service's error code, or one of ours: `Connection`, `Credentials`, `Region`, `File`.
    pub code: String,
    /// One line: what happened. No secrets.
    pub message: String,
    /// What the user can do about it.
    pub help: Option<String>,
}

impl fmt::Display for TargetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// A table that exists, as far as a mapping says anything about it.
#[derive(Debug, Clone, PartialEq)]
pub struct TableDescription {
    /// `ACTIVE`, `CREATING` and so on.
    pub status: String,
    /// Keys, indexes, TTL and billing in the model's words.
    pub table: Table,
    /// Whether the TTL could be read; its permission is a separate one.
    pub ttl_known: bool,
    /// Items, as the service counts them now and then.
    pub item_count: Option<u64>,
}

/// The key of an item: partition, and sort where the table has one.
pub type Key = (Attribute, Option<Attribute>);

/// Keys, and the token of the page after them.
pub type KeyPage = (Vec<Key>, Option<Key>);

/// A DynamoDB endpoint. See the module's text for the protocol.
pub trait Target: Send + Sync {
    /// Where it is, for people: `dynamodb in eu-west-1`, `local:demo.db`, `http://127.0.0.1:8000`.
    fn place(&self) -> String;

    /// Whether writing costs money: real AWS.
    fn is_billed(&self) -> bool;

    /// How many batches may usefully be in flight.
    fn concurrency(&self) -> usize;

    /// How much one batch may hold, as things stand.
    fn batch_limit(&self) -> BatchLimit {
        BatchLimit::BATCH_WRITE
    }

    /// Describes a table; `None` where there is none.
    fn describe<'a>(
        &'a self,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Option<TableDescription>, TargetError>>;

    /// Makes a table with its indexes, TTL and settings, and waits until it is ACTIVE. Gives the
    /// settings that the table does not show afterwards; none of them fails it.
    fn create<'a>(
        &'a self,
        table: &'a Table,
    ) -> BoxFuture<'a, Result<Vec<Difference>, TargetError>>;

    /// Compares the settings that the mapping names with those of a table that exists. What the
    /// endpoint does not tell is among the differences.
    fn compare_settings<'a>(&'a self, _table: &'a Table) -> BoxFuture<'a, Vec<Difference>> {
        Box::pin(async { Vec::new() })
    }

    /// Says that a load of a table begins. `fresh`: this run has just made the table, so that the
    /// target may load in bulk. [`Target::finish`] ends it.
    fn start<'a>(&'a self, table: &'a Table, fresh: bool)
    -> BoxFuture<'a, Result<(), TargetError>>;

    /// Says that the load has ended, for good or ill; what was written is durable afterwards.
    fn finish(&self) -> BoxFuture<'_, Result<(), TargetError>>;

    /// Sends one batch, once.
    fn write<'a>(
        &'a self,
        table: &'a Table,
        batch: &'a Batch,
    ) -> BoxFuture<'a, Result<Written, TargetError>>;

    /// Reads items by their keys, at most 100; those that are missing are left out.
    fn read<'a>(
        &'a self,
        table: &'a Table,
        keys: &'a [Key],
    ) -> BoxFuture<'a, Result<Vec<Item>, TargetError>>;

    /// Reads the keys of all items of a table, a page at a time. `from` is the page token that the
    /// last call gave; the returned token is `None` at the end.
    fn scan_keys<'a>(
        &'a self,
        table: &'a Table,
        from: Option<Key>,
    ) -> BoxFuture<'a, Result<KeyPage, TargetError>>;
}
