//! Writes items one by one beside a reading that finds them: what `verify` mends.
//!
//! They go the way of a load's items: in batches, at the pace that the table takes, with its
//! retries. Nothing is deleted, and no state is kept: what was not written is found again.

use std::sync::Arc;

use dynafold_dynamodb::write_item;
use dynafold_mapping::item::Folded;
use dynafold_mapping::model::Model;
use dynafold_target::retry::{Patience, Policy};
use dynafold_target::throttle::Settings;
use dynafold_target::{Target, TargetError};

use super::ending::{Failure, Halt, Why};
use super::files::LineFile;
use super::ledger::{Closed, Ledger, Opening, Ticket};
use super::outbox::Outbox;
use super::pace::Pace;
use super::parcel::put;
use super::park::Park;
use super::plan::ChunkId;
use super::probe::Probe;
use super::report::Silent;
use super::row::RowKey;
use super::writer::Delivery;

/// Batches on their way, of one worker.
const REQUESTS: usize = 8;

/// Writes what a run finds amiss.
pub(crate) struct Mender {
    delivery: Arc<Delivery>,
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
        let opening = Opening::new(&model, LineFile::nowhere(), LineFile::nowhere(), None);
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
            patience: Patience::default(),
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
        Mending(Outbox::new(&self.delivery, share.clamp(1, REQUESTS)))
    }

    /// Ends the writing, when every worker has flushed what it had. The books tell what is `written`,
    /// `rejected_by_service` and `unwritten`; what fails is in the halt.
    pub(crate) async fn finish(self) -> Closed {
        let Delivery {
            park, halt, ledger, ..
        } = &*self.delivery;
        park.settle(halt).await;
        let mut mended = ledger.close(true);
        if let Some(failure) = mended.failure.take() {
            halt.set(Why::Failed(failure));
        }
        if let Err(error) = self.delivery.target.finish().await {
            halt.set(Why::Failed(Failure::from(&error)));
        }
        mended
    }
}

/// A worker's items on their way.
pub(crate) struct Mending(Outbox);

impl Mending {
    /// Writes an item, with others.
    pub(crate) async fn put(
        &mut self,
        item_type: usize,
        folded: &Folded,
        row: RowKey,
        ticket: Arc<Ticket>,
    ) {
        let entry = put(item_type, folded);
        let write = |out: &mut String| write_item(out, &folded.item);
        self.0.push(entry, ticket, row, write).await;
    }

    /// Sends what waits, and waits until all of it is accounted for.
    pub(crate) async fn flush(&mut self) {
        self.0.flush().await;
    }
}
