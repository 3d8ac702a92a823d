//! A table behind DynamoDB's protocol, spoken by the AWS SDK and, for writes, below it (`wire`).
//!
//! Two clients share one HTTP client and one chain of credentials: the one for the control plane
//! retries by itself, the one for reading items never does, because the retries of writes and reads
//! are ours. The embedded engine answers behind the same clients (see `target::local`).

mod answers;
mod classify;
mod client;
mod create;
mod crowd;
mod describe;
mod read;
mod scan;
mod wire;
mod wording;
mod write;

pub(super) use client::{Clients, made_up_credentials, open};
pub(super) use wording::without_values;

use aws_sdk_dynamodb::Client;
use futures_util::future::BoxFuture;

use super::{
    Asked, Batch, Difference, Key, Page, TableDescription, Target, TargetError, Wanted, Written,
};
use crate::access::{Position, Request};
use crate::item::Item;
use crate::mapping::model::Table;
use classify::Attempt;
use crowd::Crowd;
pub(super) use wire::Vault;
use wire::{Clock, Wire};

/// Batches in flight beyond which a real network gives no more (8 ms of latency, 25 items each).
const IN_FLIGHT: usize = 32;

/// A DynamoDB endpoint.
#[derive(Debug)]
pub(super) struct Dynamodb {
    control: Client,
    data: Client,
    wire: Wire,
    crowd: Crowd,
    place: Place,
}

/// Where it is, as far as messages need it.
#[derive(Debug, Clone)]
pub(super) struct Place {
    /// For people, without secrets.
    pub(super) name: String,
    /// The region where writing costs money; `None` where it costs none.
    pub(super) billed_in: Option<String>,
    /// The profile that was asked for.
    pub(super) profile: Option<String>,
}

impl Dynamodb {
    /// Puts the clients of an endpoint behind the trait.
    pub(super) fn new(clients: Clients, place: Place) -> Self {
        Self {
            control: clients.control,
            wire: Wire::new(clients.data.clone(), clients.vault, clients.clock),
            data: clients.data,
            crowd: Crowd::default(),
            place,
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

impl Target for Dynamodb {
    fn place(&self) -> String {
        self.place.name.clone()
    }

    fn billed_in(&self) -> Option<&str> {
        self.place.billed_in.as_deref()
    }

    fn concurrency(&self) -> usize {
        IN_FLIGHT
    }

    fn describe<'a>(
        &'a self,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Option<TableDescription>, TargetError>> {
        Box::pin(self.describe_table(name))
    }

    fn create<'a>(
        &'a self,
        table: &'a Table,
    ) -> BoxFuture<'a, Result<Vec<Difference>, TargetError>> {
        Box::pin(self.create_table(table))
    }

    fn compare_settings<'a>(&'a self, table: &'a Table) -> BoxFuture<'a, Vec<Difference>> {
        Box::pin(self.settings_of(table))
    }

    fn start<'a>(
        &'a self,
        _table: &'a Table,
        _bulk: bool,
    ) -> BoxFuture<'a, Result<(), TargetError>> {
        Box::pin(async { Ok(()) })
    }

    fn finish(&self) -> BoxFuture<'_, Result<(), TargetError>> {
        Box::pin(async { Ok(()) })
    }

    fn write<'a>(
        &'a self,
        table: &'a Table,
        batch: &'a Batch,
    ) -> BoxFuture<'a, Result<Written, TargetError>> {
        Box::pin(self.write_batch(table, batch))
    }

    fn read<'a>(
        &'a self,
        table: &'a Table,
        keys: &'a [Key],
    ) -> BoxFuture<'a, Result<Vec<Item>, TargetError>> {
        Box::pin(self.read_items(table, keys))
    }

    fn put<'a>(
        &'a self,
        table: &'a Table,
        batch: &'a Batch,
        index: usize,
    ) -> BoxFuture<'a, Result<Written, TargetError>> {
        Box::pin(self.put_one(table, batch, index))
    }

    fn scan<'a>(
        &'a self,
        table: &'a Table,
        wanted: &'a Wanted,
        from: Option<Key>,
    ) -> BoxFuture<'a, Result<Page, TargetError>> {
        Box::pin(self.scan_page(table, wanted, from))
    }

    fn ask<'a>(
        &'a self,
        table: &'a Table,
        request: &'a Request,
        from: Option<Position>,
    ) -> BoxFuture<'a, Result<Asked, TargetError>> {
        Box::pin(self.ask_page(table, request, from))
    }

    fn delete_table<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<(), TargetError>> {
        Box::pin(self.remove_table(name))
    }
}
