//! The embedded engine: a table in memory or in one file, no server, no port, no account.
//!
//! Everything goes the way it goes to DynamoDB: the SDK serializes, the engine answers in place of
//! the network (`connector`), and errors are classified by their codes. Only what a load puts
//! goes another way: the engine's import, many items to a transaction (`bulk`). Its result is the
//! same, in an empty table and over other items, which a test proves.
//!
//! Several processes may use one file; each write waits for the others' for some seconds. What was
//! committed survives a killed process. After a power cut the file is whole and holds everything
//! up to some commit; with [`Target::finish`], everything.

mod bulk;
mod connector;
mod file;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use aws_sdk_dynamodb::config::{
    BehaviorVersion, Builder as ConfigBuilder, Region, timeout::TimeoutConfig,
};
use futures_util::future::BoxFuture;

use super::dynamodb::{Clients, Dynamodb, Place, Vault, made_up_credentials};
use super::{
    Action, Asked, Batch, BatchLimit, Difference, Key, Page, TableDescription, Target, TargetError,
    Wanted, Written,
};
use crate::access::{Position, Request};
use crate::item::Item;
use crate::mapping::model::Table;
use connector::Engine;
use file::Opener;

/// One writes while the other's items are parsed.
const IN_FLIGHT: usize = 2;

/// The embedded engine.
pub(super) struct Local {
    protocol: Dynamodb,
    opener: Arc<Opener>,
    bulk: AtomicBool,
}

/// Opens the engine in memory, or on a file.
pub(super) async fn open(file: Option<&Path>) -> Result<Local, TargetError> {
    let opener = Arc::new(Opener::new(file)?);
    let early = Arc::clone(&opener);
    blocking(move || early.existing().map(drop)).await?;
    let config = ConfigBuilder::new()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::from_static("local"))
        .endpoint_url("http://local.invalid")
        .timeout_config(TimeoutConfig::disabled())
        .http_client(Engine::new(Arc::clone(&opener)));
    let vault = Vault::new(made_up_credentials());
    let place = Place {
        name: match file {
            Some(file) => format!("local:{}", file.display()),
            None => "local (memory)".to_owned(),
        },
        billed_in: None,
        profile: None,
    };
    Ok(Local {
        protocol: Dynamodb::new(Clients::new(&config, vault), place),
        opener,
        bulk: AtomicBool::new(false),
    })
}

impl Target for Local {
    fn place(&self) -> String {
        self.protocol.place()
    }

    fn is_passing(&self) -> bool {
        !self.opener.has_file()
    }

    fn concurrency(&self) -> usize {
        IN_FLIGHT
    }

    fn batch_limit(&self) -> BatchLimit {
        if self.bulk.load(Ordering::Relaxed) {
            bulk::LIMIT
        } else {
            BatchLimit::BATCH_WRITE
        }
    }

    fn describe<'a>(
        &'a self,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Option<TableDescription>, TargetError>> {
        self.protocol.describe(name)
    }

    fn create<'a>(
        &'a self,
        table: &'a Table,
    ) -> BoxFuture<'a, Result<Vec<Difference>, TargetError>> {
        self.protocol.create(table)
    }

    fn compare_settings<'a>(&'a self, table: &'a Table) -> BoxFuture<'a, Vec<Difference>> {
        self.protocol.compare_settings(table)
    }

    fn start<'a>(
        &'a self,
        _table: &'a Table,
        bulk: bool,
    ) -> BoxFuture<'a, Result<(), TargetError>> {
        self.bulk.store(bulk, Ordering::Relaxed);
        let opener = Arc::clone(&self.opener);
        Box::pin(blocking(move || opener.writable()))
    }

    fn finish(&self) -> BoxFuture<'_, Result<(), TargetError>> {
        self.bulk.store(false, Ordering::Relaxed);
        let opener = Arc::clone(&self.opener);
        Box::pin(blocking(move || opener.settle()))
    }

    fn write<'a>(
        &'a self,
        table: &'a Table,
        batch: &'a Batch,
    ) -> BoxFuture<'a, Result<Written, TargetError>> {
        if !self.bulk.load(Ordering::Relaxed) {
            return self.protocol.write(table, batch);
        }
        let (opener, name) = (Arc::clone(&self.opener), table.name.clone());
        if batch.entries().iter().any(|e| e.action == Action::Delete) {
            return Box::pin(self.write_in_parts(table, batch));
        }
        let batch = batch.clone();
        Box::pin(blocking(move || bulk::import(&opener, &name, &batch)))
    }

    fn read<'a>(
        &'a self,
        table: &'a Table,
        keys: &'a [Key],
    ) -> BoxFuture<'a, Result<Vec<Item>, TargetError>> {
        self.protocol.read(table, keys)
    }

    fn put<'a>(
        &'a self,
        table: &'a Table,
        batch: &'a Batch,
        index: usize,
    ) -> BoxFuture<'a, Result<Written, TargetError>> {
        self.protocol.put(table, batch, index)
    }

    fn scan<'a>(
        &'a self,
        table: &'a Table,
        wanted: &'a Wanted,
        from: Option<Key>,
    ) -> BoxFuture<'a, Result<Page, TargetError>> {
        self.protocol.scan(table, wanted, from)
    }

    fn ask<'a>(
        &'a self,
        table: &'a Table,
        request: &'a Request,
        from: Option<Position>,
    ) -> BoxFuture<'a, Result<Asked, TargetError>> {
        self.protocol.ask(table, request, from)
    }

    fn delete_table<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<(), TargetError>> {
        self.protocol.delete_table(name)
    }
}

impl Local {
    /// Writes what the import cannot, in batches of the ordinary size.
    async fn write_in_parts(&self, table: &Table, batch: &Batch) -> Result<Written, TargetError> {
        let mut all = Written::default();
        let indices: Vec<usize> = (0..batch.len()).collect();
        for part in indices.chunks(BatchLimit::BATCH_WRITE.items) {
            let written = self.protocol.write(table, &batch.part(part)).await?;
            let left = written.unprocessed.iter();
            all.unprocessed
                .extend(left.filter_map(|at| part.get(*at).copied()));
            if let Some(part) = written.consumed {
                let consumed = all.consumed.get_or_insert_default();
                consumed.total += part.total;
            }
        }
        Ok(all)
    }
}

/// Runs what waits for a disk, or for the engine's lock, where waiting is allowed.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, TargetError> + Send + 'static,
) -> Result<T, TargetError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(_) => Err(file::failure(
            "the embedded engine stopped unexpectedly",
            None,
        )),
    }
}
