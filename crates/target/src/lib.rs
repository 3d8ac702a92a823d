//! The DynamoDB side: one trait for a real endpoint, a local one, and the engine inside the process.
//!
//! # The protocol
//!
//! A [`Target`] is one table's endpoint, shared between writers. [`Target::describe`] tells what is
//! there; [`Target::create`] makes the table with its indexes and TTL and returns when it is ACTIVE;
//! [`Target::add_index`] asks for one more global index and returns at once: DynamoDB then fills it.
//! [`Target::write`] sends one batch once: no retry happens below it. Its answer says which items
//! of the batch were not processed, which is an ordinary answer; only those may be sent again. An
//! error says by its class what to do with the whole batch: send it again, split it, or give up.
//! A write whose answer was lost may have happened; puts and deletes are idempotent, so sending it
//! again is safe. An item is done when an answer came that does not list it.
//!
//! [`Target::batch_limit`] may grow between [`Target::start`] and [`Target::finish`]: ask after
//! starting.
//!
//! [`Target::scan`] reads strongly consistently and retries by itself. [`Target::read`] and [`Target::ask`] retry too; they
//! read as they are told. [`answer`] asks whatever an access
//! pattern takes.

mod answer;
mod batch;
mod batcher;
mod compare;
mod connect;
mod dynamodb;
mod error;
mod local;
pub mod parts;
mod persist;
pub mod private;
pub mod retry;
pub mod s3;
mod spec;
pub mod throttle;

pub use answer::{CallResult, answer};
pub use batch::{Action, Batch, BatchEntry};
pub use batcher::Batcher;
pub use compare::{Difference, DifferenceWeight, compare};
pub use connect::connect;
pub use dynamodb::{
    ImportedTable, RouteProgress, RouteStatus, ServiceLoad, TableRoutes, account_of,
};
pub use error::{ErrorClass, TargetError, TargetErrorKind, Throttle};
pub use spec::{ServiceOptions, SpecError, TargetSpec};

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use dynafold_dynamodb::{Attribute, Index, Item, Position, Request, Table};

/// Crates below the targets that handle credentials. Their logs name the access key's id, and
/// commands that give credentials.
pub const CREDENTIAL_CRATES: [&str; 4] = [
    "aws_config",
    "aws_credential_types",
    "aws_runtime",
    "aws_sigv4",
];

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
pub struct BatchOutcome {
    /// Indices into the batch of the items that were not processed.
    pub unprocessed: Vec<usize>,
    /// What the answer says was used, where it does.
    pub consumed: Option<Consumed>,
}

/// Write capacity units, as an answer tells them.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Consumed {
    /// Units of the table and of its indexes.
    pub total: f64,
    /// Of the table itself, where the answer tells them apart.
    pub table: Option<f64>,
    /// Of the indexes that the answer names, together.
    pub indexes: f64,
    /// How many indexes the answer names.
    pub named_indexes: usize,
}

/// What a call of a target returns.
pub type Result<T, E = TargetError> = std::result::Result<T, E>;

/// A table that exists, as far as a mapping says anything about it.
#[derive(Debug, Clone, PartialEq)]
pub struct TableDescription {
    /// `ACTIVE`, `CREATING` and so on.
    pub status: String,
    /// Keys, indexes, TTL and billing in the model's words.
    pub table: Table,
    /// Global indexes that cannot be queried yet, or not any more. They are among those of `table` too.
    pub unready_indexes: Vec<UnreadyIndex>,
    /// Whether the TTL could be read; its permission is a separate one.
    pub ttl_known: bool,
    /// DynamoDB's id of the table: one that is deleted and made again under the same name has another.
    pub id: Option<String>,
    /// Items, as the service counts them now and then.
    pub item_count: Option<u64>,
}

/// A global index that cannot be queried yet, or not any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadyIndex {
    /// The index's name.
    pub name: String,
    /// Why it cannot be queried.
    pub change: IndexChange,
}

/// As in `index GSI1 is being deleted`.
impl fmt::Display for UnreadyIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.change {
            IndexChange::Create => "created",
            IndexChange::Backfill => "filled with the items of the table",
            IndexChange::Delete => "deleted",
        };
        write!(f, "index {} is being {what}", self.name)
    }
}

/// What is being done with an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexChange {
    /// It is being made.
    Create,
    /// It is made, and is being filled with the items that the table has.
    Backfill,
    /// It is being deleted.
    Delete,
}

/// The key of an item: partition, and sort where the table has one.
pub type ItemKey = (Attribute, Option<Attribute>);

/// What of a table is to be scanned.
#[derive(Debug, Clone, PartialEq)]
pub struct ScanRequest {
    /// Which segment, from 0.
    pub segment: u32,
    /// Into how many segments the scan is cut; 1 where it is not.
    pub segments: u32,
    /// Only these top-level attributes, which are then all that the items hold; `None`: all.
    pub attributes: Option<Vec<Arc<str>>>,
    /// Only the items of this partition key, which are queried; segments do not count then.
    pub partition: Option<Attribute>,
}

impl ScanRequest {
    /// All items, whole.
    pub fn all() -> Self {
        Self {
            segment: 0,
            segments: 1,
            attributes: None,
            partition: None,
        }
    }

    /// The keys of all items.
    pub fn keys(table: &Table) -> Self {
        Self {
            attributes: Some(table.key().map(|key| key.name.clone()).collect()),
            ..Self::all()
        }
    }
}

/// A page of what was asked for.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Page {
    /// Items, or the attributes that were asked for: those of the table's key first, the others by name.
    pub items: Vec<Item>,
    /// Where the next page begins; `None` at the end. A page may be empty and not the last.
    pub next: Option<Position>,
    /// Read units that it took.
    pub units: Option<f64>,
}

/// A DynamoDB endpoint. See the module's text for the protocol.
#[async_trait]
pub trait Target: Send + Sync {
    /// Where it is, for people: `dynamodb in eu-west-1`, `local:demo.db`, `http://127.0.0.1:8000`.
    fn place(&self) -> String;

    /// The region where writing costs money: real AWS. `None` where it costs none.
    fn billed_in(&self) -> Option<&str> {
        None
    }

    /// Whether writing costs money.
    fn is_billed(&self) -> bool {
        self.billed_in().is_some()
    }

    /// Whether its tables are gone when this process ends.
    fn ends_with_process(&self) -> bool {
        false
    }

    /// How many batches may usefully be in flight.
    fn concurrency(&self) -> usize;

    /// How much one batch may hold, as things stand.
    fn batch_limit(&self) -> BatchLimit {
        BatchLimit::BATCH_WRITE
    }

    /// Whether items whose TTL is over are deleted, where the table's TTL is on.
    fn deletes_expired(&self) -> bool {
        true
    }

    /// Describes a table; `None` where there is none.
    async fn describe(&self, name: &str) -> Result<Option<TableDescription>>;

    /// Makes a table with its indexes, TTL and settings, and waits until it is ACTIVE. Gives the
    /// settings that the table does not show afterwards; none of them fails it. `None` where a table of this name is
    /// there: another run may have made it, and may write to it. Its TTL and settings are set while it is empty.
    async fn create(&self, table: &Table) -> Result<Option<Vec<Difference>>>;

    /// Asks for a global index of the `wanted` table that the one that is `there` lacks. DynamoDB makes and fills it in
    /// the background, and takes no other change of the table meanwhile; [`Target::describe`] tells how far it is.
    async fn add_index(&self, there: &Table, wanted: &Table, index: &Index) -> Result<()>;

    /// Compares the settings that the mapping names with those of a table that exists. What the
    /// endpoint does not tell is among the differences.
    async fn compare_settings(&self, _table: &Table) -> Vec<Difference> {
        Vec::new()
    }

    /// Says that a load of a table begins. `bulk`: whether the target may write by a faster way than
    /// BatchWriteItem with the same result. [`Target::finish`] ends it.
    async fn start(&self, table: &Table, bulk: bool) -> Result<()>;

    /// Says that the load has ended, for good or ill; what was written is durable afterwards.
    async fn finish(&self) -> Result<()>;

    /// Sends one batch of puts and deletes, once.
    async fn write(&self, table: &Table, batch: &Batch) -> Result<BatchOutcome>;

    /// Reads items by their keys, all of them different; those that are missing are left out, and the order is any.
    /// `consistent`: strongly.
    async fn read(&self, table: &Table, keys: &[ItemKey], consistent: bool) -> Result<Page>;

    /// Sends one entry of a batch alone, once: as `PutItem`, or as `DeleteItem`. Its throttling answers
    /// give reasons, which those of a batch do not.
    async fn write_one(&self, table: &Table, batch: &Batch, index: usize) -> Result<BatchOutcome>;

    /// Reads one page of a strongly consistent scan, or of a segment of it. `from` is where the last
    /// page said that the next begins.
    async fn scan(
        &self,
        table: &Table,
        wanted: &ScanRequest,
        from: Option<Position>,
    ) -> Result<Page>;

    /// Sends one request of an access pattern, for one page. `from` is where the last page ended.
    async fn ask(&self, table: &Table, request: &Request, from: Option<Position>) -> Result<Page>;

    /// Deletes a table and waits until it no longer exists. A table that does not exist is no error. Gives whether an
    /// answer says that this call has deleted it. `id`: that of [`TableDescription::id`]; a table of this name with another one is
    /// refused.
    async fn delete_table(&self, name: &str, id: Option<&str>) -> Result<bool>;
}
