//! Items beside the load's own way: those that are deleted, and those that `verify` mends.

use std::sync::Arc;

use dynafold_target::{Batch, Batcher, Entry};
use tokio::task::JoinSet;

use super::ending::{Failure, Why};
use super::ledger::Ticket;
use super::parcel::{Origin, Parcel};
use super::row::RowKey;
use super::writer::Delivery;

/// Items that are written or deleted beside the load's own way: gathered into batches, and delivered some
/// batches at a time.
pub(super) struct Outbox {
    pub(super) delivery: Arc<Delivery>,
    batcher: Batcher,
    /// Of the items that wait in the batcher.
    origins: Vec<Origin>,
    requests: JoinSet<()>,
    most_requests: usize,
}

impl Outbox {
    pub(super) fn new(delivery: &Arc<Delivery>, most_requests: usize) -> Self {
        Self {
            batcher: Batcher::new(delivery.target.batch_limit()),
            delivery: delivery.clone(),
            origins: Vec::new(),
            requests: JoinSet::new(),
            most_requests,
        }
    }

    /// Takes a request, whose item or key `write` appends as DynamoDB JSON.
    pub(super) async fn push(
        &mut self,
        entry: Entry,
        ticket: Arc<Ticket>,
        row: RowKey,
        write: impl FnOnce(&mut String),
    ) {
        ticket.hold();
        self.origins.push(Origin {
            ticket,
            row,
            known: None,
        });
        self.batcher.limit_units(self.delivery.pace.batch_units());
        if let Some(batch) = self.batcher.push(entry, write) {
            self.send(batch).await;
        }
    }

    /// Sends what waits, and waits until all of it is accounted for.
    pub(super) async fn flush(&mut self) {
        if let Some(batch) = self.batcher.finish() {
            self.send(batch).await;
        }
        while self.settle_one().await {}
    }

    async fn send(&mut self, batch: Batch) {
        let count = batch.len().min(self.origins.len());
        let parcel = Parcel {
            batch,
            origins: self.origins.drain(..count).collect(),
            permit: None,
        };
        if self.requests.len() >= self.most_requests {
            self.settle_one().await;
        }
        let delivery = self.delivery.clone();
        self.requests
            .spawn(async move { delivery.deliver(parcel, None).await });
    }

    /// Waits for one delivery; `false` where none is under way.
    async fn settle_one(&mut self) -> bool {
        let Some(ended) = self.requests.join_next().await else {
            return false;
        };
        if ended.is_err() {
            let failure = Failure::internal("a task that delivers items died");
            self.delivery.halt.set(Why::Failed(failure));
        }
        true
    }
}
