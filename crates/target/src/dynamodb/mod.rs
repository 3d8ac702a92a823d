//! A table behind DynamoDB's protocol: JSON of our own, sent below the AWS SDK (`wire`), which knows the endpoint, the
//! credentials and the way there. The SDK repeats nothing: all retries are ours. The embedded engine answers behind the same clients: see [`crate::local`].

mod answers;
mod classify;
pub(crate) mod client;
mod create;
mod describe;
mod read;
mod read_limiter;
mod routes;
pub(crate) mod wire;
mod wording;
mod write;

pub(crate) use classify::is_skew;
pub(super) use client::{made_up_credentials, open, service};
pub use routes::{ImportedTable, RouteProgress, RouteStatus, ServiceLoad, TableRoutes, account_of};
pub(super) use wording::without_values;

use async_trait::async_trait;
use dynafold_dynamodb::{Index, Position, Request, Table};

use super::{
    Batch, BatchLimit, BatchOutcome, Difference, ItemKey, Page, Result, ScanRequest,
    TableDescription, Target,
};
use crate::local::Engine;
use crate::retry::RetryWarning;
use classify::Attempt;
use read_limiter::ReadLimiter;
pub(super) use wire::Vault;
use wire::{Clock, Wire};

/// Batches in flight beyond which a real network gives no more (8 ms of latency, 25 items each).
const IN_FLIGHT: usize = 32;

#[derive(Debug)]
pub(super) struct Dynamodb {
    wire: Wire,
    read_limiter: ReadLimiter,
    retry_warning: RetryWarning,
    place: ServiceLocation,
    /// The embedded engine, where that is what answers.
    engine: Option<Engine>,
}

/// Where it is, as far as messages need it.
#[derive(Debug, Clone)]
pub(super) struct ServiceLocation {
    /// For people, without secrets.
    pub(super) name: String,
    /// The region where writing costs money; `None` where it costs none.
    pub(super) billed_in: Option<String>,
    /// The profile that was asked for.
    pub(super) profile: Option<String>,
}

impl Dynamodb {
    /// Puts an endpoint behind the trait.
    pub(super) fn new(wire: Wire, place: ServiceLocation, engine: Option<Engine>) -> Self {
        Self {
            wire,
            read_limiter: ReadLimiter::default(),
            retry_warning: RetryWarning::default(),
            place,
            engine,
        }
    }

    fn action<'a>(&'a self, operation: &'static str, table: &'a str) -> Attempt<'a> {
        Attempt {
            operation,
            table,
            place: &self.place,
            held: self.wire.has_credentials(),
        }
    }
}

#[async_trait]
impl Target for Dynamodb {
    fn place(&self) -> String {
        self.place.name.clone()
    }

    fn billed_in(&self) -> Option<&str> {
        self.place.billed_in.as_deref()
    }

    fn ends_with_process(&self) -> bool {
        self.engine.as_ref().is_some_and(Engine::ends_with_process)
    }

    fn concurrency(&self) -> usize {
        match self.engine {
            Some(_) => Engine::IN_FLIGHT,
            None => IN_FLIGHT,
        }
    }

    fn batch_limit(&self) -> BatchLimit {
        let engine = self.engine.as_ref();
        engine.map_or(BatchLimit::BATCH_WRITE, Engine::batch_limit)
    }

    fn deletes_expired(&self) -> bool {
        self.engine.is_none()
    }

    async fn describe(&self, name: &str) -> Result<Option<TableDescription>> {
        self.describe_table(name).await
    }

    async fn create(&self, table: &Table) -> Result<Option<Vec<Difference>>> {
        self.create_table(table).await
    }

    async fn add_index(&self, there: &Table, wanted: &Table, index: &Index) -> Result<()> {
        self.update_table_with(there, wanted, index).await
    }

    async fn compare_settings(&self, table: &Table) -> Vec<Difference> {
        self.settings_of(table, &[]).await
    }

    async fn start(&self, _table: &Table, bulk: bool) -> Result<()> {
        match &self.engine {
            Some(engine) => engine.start(bulk).await,
            None => Ok(()),
        }
    }

    async fn finish(&self) -> Result<()> {
        match &self.engine {
            Some(engine) => engine.finish().await,
            None => Ok(()),
        }
    }

    async fn write(&self, table: &Table, batch: &Batch) -> Result<BatchOutcome> {
        match self.engine.as_ref().filter(|engine| engine.is_bulk()) {
            Some(engine) => engine.write(self, table, batch).await,
            None => self.write_batch(table, batch).await,
        }
    }

    async fn read(&self, table: &Table, keys: &[ItemKey], consistent: bool) -> Result<Page> {
        self.read_items(table, keys, consistent).await
    }

    async fn write_one(&self, table: &Table, batch: &Batch, index: usize) -> Result<BatchOutcome> {
        self.put_one(table, batch, index).await
    }

    async fn scan(
        &self,
        table: &Table,
        wanted: &ScanRequest,
        from: Option<Position>,
    ) -> Result<Page> {
        self.scan_page(table, wanted, from).await
    }

    async fn ask(&self, table: &Table, request: &Request, from: Option<Position>) -> Result<Page> {
        self.ask_page(table, request, from).await
    }

    async fn delete_table(&self, name: &str, id: Option<&str>) -> Result<bool> {
        self.remove_table(name, id).await
    }
}
