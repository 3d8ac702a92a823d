//! Items beside the load's own way: those that are deleted, and those that `verify` mends.
//!
//! They go the way of a load's items: in batches, at the pace that the table takes, with its retries.

use std::sync::Arc;

use dynafold_dynamodb::write_item;
use dynafold_mapping::item::Folded;
use dynafold_mapping::model::Model;
use dynafold_target::retry::Policy;
use dynafold_target::throttle::ThrottleSettings;
use dynafold_target::{Batch, BatchEntry, Batcher, Target, TargetError};
use tokio::task::JoinSet;

use super::ending::RunHalt;
use super::failure::Failure;
use super::files::LineFile;
use super::ledger::{ClosedLedger, Entries, Ledger};
use super::pace::WritePace;
use super::plan::ChunkId;
use super::report::NoProgress;
use super::row::RowKey;
use super::ticket::Ticket;
use super::writer::{Delivery, ItemOrigin, TicketedBatch, put};

/// Items that are written or deleted beside the load's own way: gathered into batches, and delivered some
/// batches at a time.
pub(crate) struct Outbox {
    pub(super) delivery: Arc<Delivery>,
    batcher: Batcher,
    /// Of the items that wait in the batcher.
    origins: Vec<ItemOrigin>,
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

    /// Writes an item, with others.
    pub(crate) async fn put(
        &mut self,
        item_type: usize,
        folded: &Folded,
        ticket: Arc<Ticket>,
        row: RowKey,
    ) {
        let write = |out: &mut String| write_item(out, &folded.item);
        let entry = put(item_type, &folded.facts());
        self.push(entry, ticket, row, write).await;
    }

    /// Takes a request, whose item or key `write` appends as DynamoDB JSON.
    pub(super) async fn push(
        &mut self,
        entry: BatchEntry,
        ticket: Arc<Ticket>,
        row: RowKey,
        write: impl FnOnce(&mut String),
    ) {
        ticket.hold(1);
        self.origins.push(ItemOrigin {
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
    pub(crate) async fn flush(&mut self) {
        if let Some(batch) = self.batcher.finish() {
            self.send(batch).await;
        }
        while self.settle_one().await {}
    }

    async fn send(&mut self, batch: Batch) {
        let count = batch.len().min(self.origins.len());
        let parcel = TicketedBatch {
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
            let failure = Failure::Internal("a task that delivers items died");
            self.delivery.halt.set(failure);
        }
        true
    }
}

/// Batches on their way, of one worker.
const REQUESTS: usize = 8;

/// Writes what a run finds amiss. Nothing is deleted, and no state is kept: what was not written is found again.
pub(crate) struct RepairWriter {
    delivery: Arc<Delivery>,
}

impl RepairWriter {
    /// Tells the target that writing begins.
    pub(crate) async fn start(
        target: Arc<dyn Target>,
        model: Arc<Model>,
        policy: Policy,
        ceiling: Option<f64>,
        halt: RunHalt,
    ) -> Result<Self, TargetError> {
        target.start(&model.table, false).await?;
        let entries = Entries::new(&model, LineFile::nowhere(), LineFile::nowhere());
        let settings = ThrottleSettings {
            ceiling,
            most_in_flight: target.concurrency(),
            ..ThrottleSettings::default()
        };
        let pace = WritePace::new(settings, &model.table);
        let ledger = Ledger::open(entries, None, &halt);
        let delivery = Delivery {
            policy,
            // What is compared is told, and that once.
            ..Delivery::new(target, model, Arc::new(NoProgress), pace, ledger, halt)
        };
        Ok(Self {
            delivery: Arc::new(delivery),
        })
    }

    /// The ticket of an attempt at a chunk: items of it are counted there.
    pub(crate) fn issue(&self, id: ChunkId) -> Arc<Ticket> {
        self.delivery.ledger.issue(&self.delivery.model, id, false)
    }

    /// Forgets what was counted for a chunk that is read again.
    pub(crate) fn forget(&self, ticket: &Ticket) {
        self.delivery.ledger.forget(ticket);
    }

    /// A worker's own way to write. `workers`: how many of them share what the target takes.
    pub(crate) fn mending(&self, workers: usize) -> Outbox {
        let share = self.delivery.target.concurrency() / workers.max(1);
        Outbox::new(&self.delivery, share.clamp(1, REQUESTS))
    }

    /// Ends the writing, when every worker has flushed what it had. The books tell what is `written`,
    /// `rejected_by_service` and `unwritten`; what fails is in the halt.
    pub(crate) async fn finish(self) -> ClosedLedger {
        let Delivery {
            park, halt, ledger, ..
        } = &*self.delivery;
        park.settle(halt).await;
        let mut mended = ledger.close(true);
        if let Some(failure) = mended.failure.take() {
            halt.set(failure);
        }
        if let Err(error) = self.delivery.target.finish().await {
            halt.set(error);
        }
        mended
    }
}
