//! Writes items one by one beside a reading that finds them: what `verify` mends.
//!
//! They go the way of a load's items: in batches, at the pace that the table takes, with its
//! retries. Nothing is deleted, and no state is kept: what was not written is found again.

use std::sync::Arc;

use tokio::task::JoinSet;

use super::ending::Failure;
use super::ending::{Halt, Why};
use super::feed::RowKey;
use super::files::LineFile;
use super::ledger::{ChunkId, Ticket};
use super::ledger::{Ledger, Opening};
use super::pace::Pace;
use super::parcel::{Origin, Parcel};
use super::park::Park;
use super::probe::Probe;
use super::report::Books;
use super::report::Silent;
use super::report::{RejectNote, Traffic};
use super::writer::Delivery;
use crate::batch::Batcher;
use crate::item::{Folded, write_item};
use crate::mapping::model::Model;
use crate::retry::Policy;
use crate::target::{Action, Batch, Entry, Target, TargetError};
use crate::throttle::Settings;

/// Batches on their way, of one worker.
const REQUESTS: usize = 8;

/// Writes what a run finds amiss.
pub(crate) struct Mender {
    delivery: Arc<Delivery>,
}

/// What became of the items.
#[derive(Debug, Default)]
pub(crate) struct Mended {
    /// By item type: `written`, `rejected_by_service` and `unwritten`.
    pub(crate) books: Vec<Books>,
    /// The first items that the service refused.
    pub(crate) refused: Vec<RejectNote>,
    pub(crate) traffic: Traffic,
}

impl Mender {
    /// Tells the target that writing begins.
    pub(crate) async fn start(
        target: Arc<dyn Target>,
        model: Arc<Model>,
        policy: Policy,
        ceiling: Option<f64>,
        halt: Halt,
    ) -> Result<Self, TargetError> {
        target.start(&model.table, false).await?;
        let opening = Opening {
            rejects: LineFile::nowhere(),
            archive: LineFile::nowhere(),
            state: None,
            entered: (0..model.item_types.len())
                .map(|index| Books::of(&model, index))
                .collect(),
            max_rejects: None,
        };
        let settings = Settings {
            ceiling,
            most_in_flight: target.concurrency(),
            ..Settings::default()
        };
        let pace = Pace::new(settings, &model.table);
        let delivery = Delivery {
            target,
            model,
            policy,
            ledger: Ledger::open(opening, &halt),
            journal: None,
            halt,
            pace,
            park: Park::default(),
            probe: Probe::default(),
            // What is compared is told, and that once.
            progress: Arc::new(Silent),
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
    pub(crate) fn mending(&self, workers: usize) -> Mending {
        let share = self.delivery.target.concurrency() / workers.max(1);
        Mending {
            most_requests: share.clamp(1, REQUESTS),
            batcher: Batcher::new(self.delivery.target.batch_limit()),
            delivery: self.delivery.clone(),
            origins: Vec::new(),
            requests: JoinSet::new(),
        }
    }

    /// Ends the writing, when every worker has flushed what it had.
    pub(crate) async fn finish(self) -> (Mended, Result<(), TargetError>) {
        self.delivery.park.settle(&self.delivery.halt).await;
        let closed = self.delivery.ledger.close(true);
        if let Some(failure) = closed.failure {
            self.delivery.halt.set(Why::Failed(failure));
        }
        let mended = Mended {
            books: closed.books,
            refused: closed.notes,
            traffic: closed.traffic,
        };
        (mended, self.delivery.target.finish().await)
    }
}

/// A worker's items on their way.
pub(crate) struct Mending {
    delivery: Arc<Delivery>,
    batcher: Batcher,
    /// Of the items that wait in the batcher.
    origins: Vec<Origin>,
    requests: JoinSet<()>,
    most_requests: usize,
}

impl Mending {
    /// Writes an item, with others.
    pub(crate) async fn put(
        &mut self,
        item_type: usize,
        folded: &Folded,
        row: RowKey,
        ticket: Arc<Ticket>,
    ) {
        let entry = Entry {
            action: Action::Put,
            size: folded.size,
            units: folded.units,
            item_type,
            fingerprint: folded.fingerprint,
            partition: folded.partition,
            ..Entry::default()
        };
        self.batcher.limit_units(self.delivery.pace.batch_units());
        let full = self
            .batcher
            .push(entry, |out| write_item(out, &folded.item));
        ticket.hold();
        self.origins.push(Origin {
            ticket,
            row,
            known: None,
        });
        if let Some(batch) = full {
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

    async fn settle_one(&mut self) -> bool {
        match self.requests.join_next().await {
            None => return false,
            Some(Ok(())) => {}
            Some(Err(_)) => {
                let failure = Failure::internal("a task that mends died");
                self.delivery.halt.set(Why::Failed(failure));
            }
        }
        true
    }
}
