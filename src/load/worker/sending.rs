//! The worker's items on their way to the writers: what the table holds is left out, the others fill a
//! batch, and a batch goes on when there is room for its bytes.

use tokio::time::Instant;

use super::{KIB_IN_FLIGHT, Worker};
use crate::item::{Folded, write_item};
use crate::load::differ::{Known, Looked};
use crate::load::failure::Failure;
use crate::load::halt::Why;
use crate::load::parcel::{Origin, Parcel};
use crate::load::rules::Doing;
use crate::target::{Action, Batch, Entry};

impl Worker {
    /// Puts an item into the batch.
    pub(super) async fn put(&mut self, index: usize, folded: &Folded, origin: Origin) {
        let entry = Entry {
            action: Action::Put,
            size: folded.size,
            units: folded.units,
            item_type: index,
            fingerprint: folded.fingerprint,
            partition: folded.partition,
        };
        let full = self
            .batcher
            .push(entry, |out| write_item(out, &folded.item));
        self.origins.push_back(origin);
        if let Some(batch) = full {
            self.dispatch(batch).await;
        }
    }

    /// Takes what was found in the table for a page of items.
    pub(super) async fn looked(&mut self, looked: Looked<Origin, Known>) {
        match looked {
            Err((origins, failure)) => {
                if let Some(failure) = failure {
                    self.delivery.halt.set(Why::Failed(failure));
                }
                for (index, origin) in origins {
                    origin.ticket.spoil();
                    if let Some(books) = origin.ticket.page().books(index) {
                        books.unwritten += 1;
                    }
                    self.delivery.let_go(&origin.ticket, 1);
                }
            }
            Ok(items) => {
                for (index, folded, mut origin, known) in items {
                    let plan = self.rules.doing == Doing::Plan;
                    if known == Known::Same || plan {
                        if let Some(books) = origin.ticket.page().books(index) {
                            match known {
                                Known::Same => books.unchanged += 1,
                                Known::Missing => books.planned += 1,
                                Known::Different => {
                                    books.planned += 1;
                                    books.changed += 1;
                                }
                            }
                        }
                        self.delivery.progress.written(index, 1);
                        self.delivery.let_go(&origin.ticket, 1);
                        continue;
                    }
                    origin.known = Some(known == Known::Different);
                    self.put(index, &folded, origin).await;
                }
            }
        }
    }

    /// Hands a batch to the writers when there is room for its bytes.
    pub(super) async fn dispatch(&mut self, batch: Batch) {
        let from = Instant::now();
        let origins = self.origins.drain(..batch.len().min(self.origins.len()));
        let origins = origins.collect();
        let kib = (batch.bytes() / 1024 + 1).min(KIB_IN_FLIGHT);
        let kib = u32::try_from(kib).unwrap_or(u32::MAX);
        let permit = self.room.clone().acquire_many_owned(kib).await.ok();
        if let Some(journal) = &self.delivery.journal
            && let Err(failure) = journal.note(&batch)
        {
            // What is not in the journal is not sent.
            self.delivery.halt.set(Why::Failed(failure));
        }
        let parcel = Parcel {
            batch,
            origins,
            permit,
        };
        if let Err(refused) = self.parcels.send(parcel).await {
            self.delivery.abandon(refused.0);
            let failure = Failure::internal("the writers ended before the last item");
            self.delivery.halt.set(Why::Failed(failure));
        }
        self.times.add_target(from.elapsed());
    }
}
