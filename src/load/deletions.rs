//! Deletions on their way: gathered into batches and delivered like items that are written, at the
//! same pace. What is deleted [`super::prune`] has found.

use std::sync::Arc;

use tokio::task::JoinSet;

use super::failure::Failure;
use super::halt::Why;
use super::parcel::{Origin, Parcel};
use super::prune::Stray;
use super::rules::Doing;
use super::ticket::Ticket;
use super::writer::Delivery;
use crate::batch::Batcher;
use crate::item::{Attribute, fingerprints};
use crate::target::{Action, Batch, Entry};

/// Bytes of the largest item that there can be.
const LARGEST: u64 = 400 << 10;

/// Items on their way out of the table.
pub(super) struct Deletions<'d> {
    delivery: &'d Arc<Delivery>,
    doing: Doing,
    ticket: Arc<Ticket>,
    batcher: Batcher,
    waiting: Vec<Origin>,
    requests: JoinSet<()>,
}

impl<'d> Deletions<'d> {
    /// Begins; the pace hears what a deletion may cost at most.
    pub(super) fn new(delivery: &'d Arc<Delivery>, doing: Doing) -> Self {
        let table = &delivery.model.table;
        let indexes = table.indexes.len() + table.local_indexes.len();
        let entries = u64::try_from(indexes + 1).unwrap_or(1);
        let largest = delivery.ledger.largest().unwrap_or(LARGEST);
        let most = largest.div_ceil(1024) * entries;
        delivery.pace.expect_deletions(entries, most);
        Self {
            ticket: delivery.ledger.issue_beside(&delivery.model),
            batcher: Batcher::new(delivery.target.batch_limit()),
            waiting: Vec::new(),
            requests: JoinSet::new(),
            delivery,
            doing,
        }
    }

    /// Deletes an item, with others; counts it where the run only plans.
    pub(super) async fn delete(&mut self, stray: &Stray) {
        let Stray {
            item_type,
            partition,
            ref json,
            ..
        } = *stray;
        if self.doing == Doing::Plan {
            if let Some(books) = self.ticket.page().books(item_type) {
                books.deleted += 1;
            }
            return;
        }
        self.ticket.hold();
        self.waiting.push(Origin {
            ticket: self.ticket.clone(),
            row: Box::default(),
            known: None,
        });
        // Keys of one table differ in their JSON as they differ in their values.
        let (fingerprint, _) = fingerprints(&Attribute::S(json.as_str().into()), None);
        let entry = Entry {
            action: Action::Delete,
            size: json.len(),
            units: self.delivery.pace.deletion_units(),
            item_type,
            fingerprint,
            partition,
        };
        self.batcher.limit_units(self.delivery.pace.batch_units());
        if let Some(batch) = self.batcher.push(entry, |out| out.push_str(json)) {
            self.send(batch).await;
        }
    }

    async fn send(&mut self, batch: Batch) {
        let origins = self
            .waiting
            .drain(..batch.len().min(self.waiting.len()))
            .collect();
        let parcel = Parcel {
            batch,
            origins,
            permit: None,
        };
        if self.requests.len() >= self.delivery.target.concurrency() {
            self.requests.join_next().await;
        }
        let delivery = self.delivery.clone();
        self.requests
            .spawn(async move { delivery.deliver(parcel, None).await });
    }

    /// Waits until everything is deleted.
    pub(super) async fn end(mut self) {
        if let Some(batch) = self.batcher.finish() {
            self.send(batch).await;
        }
        while let Some(ended) = self.requests.join_next().await {
            if ended.is_err() {
                let failure = Failure::internal("a task that deletes died");
                self.delivery.halt.set(Why::Failed(failure));
            }
        }
        self.delivery.park.settle(&self.delivery.halt).await;
        // Its books are added up when the ledger closes; no chunk of the plan is done with it.
    }
}
