//! What happens to rows between the reader and the writers.

use std::ops::ControlFlow;

use tokio::time::Instant;

use super::life::enter;
use super::{KIB_IN_FLIGHT, Run};
use crate::item::{Elements, Folded, write_item};
use crate::load::books::{Failure, Largest};
use crate::load::duplicates;
use crate::load::feed::{Fate, RowKey, meets, row_key, take_row_key};
use crate::load::halt::Why;
use crate::load::ledger::By;
use crate::load::rejects::{Rejected, raw, row_json};
use crate::load::writer::{Parcel, count};
use crate::mapping::model::ItemType;
use crate::source::{Chunk, LeftBehind, Row};
use crate::target::{Action, Batch, Entry};

impl Run {
    /// Enters rows that the database left out because they meet no condition.
    pub(super) fn left_out(&mut self, pass: usize, rows: u64) {
        self.rows_of_passes += rows;
        let delivery = self.delivery.clone();
        for index in delivery
            .model
            .passes
            .get(pass)
            .iter()
            .flat_map(|p| &p.item_types)
        {
            if let Some(books) = self.books.get_mut(*index) {
                books.rows_read += rows;
                books.filtered += rows;
                delivery.progress.rows(*index, rows);
            }
        }
    }

    pub(super) async fn chunk(&mut self, pass: usize, chunk: Chunk) -> ControlFlow<()> {
        let delivery = self.delivery.clone();
        let Some(pass) = delivery.model.passes.get(pass) else {
            return ControlFlow::Break(());
        };
        let before: Vec<(u64, u64)> = self.read_and_rejected(&pass.item_types);
        let from = Instant::now();
        let waited = self.target_wait;
        let mut flow = ControlFlow::Continue(());
        self.left_behind(&pass.item_types, &chunk.left);
        for row in chunk.rows {
            self.rows_of_passes += 1;
            flow = self.row(&pass.item_types, row).await;
            if flow.is_break() {
                break;
            }
        }
        self.fold_time += from
            .elapsed()
            .saturating_sub(self.target_wait.saturating_sub(waited));
        let after = self.read_and_rejected(&pass.item_types);
        for ((index, after), before) in pass.item_types.iter().zip(after).zip(before) {
            delivery.progress.rows(*index, after.0 - before.0);
            if after.1 > before.1 {
                delivery.progress.rejected(*index, after.1 - before.1);
            }
        }
        flow
    }

    fn read_and_rejected(&self, item_types: &[usize]) -> Vec<(u64, u64)> {
        let books = item_types.iter().map(|index| self.books.get(*index));
        books
            .map(|books| books.map_or((0, 0), |b| (b.rows_read, b.rejected_at_fold())))
            .collect()
    }

    /// Enters children that stand in no item.
    fn left_behind(&mut self, item_types: &[usize], left: &[(usize, LeftBehind)]) {
        for (column, left) in left {
            for index in item_types {
                let embeds = self.embeds.get(*index);
                if embeds.is_some_and(|embeds| embeds.contains(column))
                    && let Some(books) = self.books.get_mut(*index)
                {
                    books.orphans += left.orphans;
                    books.cut += left.cut;
                }
            }
        }
    }

    async fn row(&mut self, item_types: &[usize], mut row: Row) -> ControlFlow<()> {
        let delivery = self.delivery.clone();
        let model = &delivery.model;
        for (nth, index) in item_types.iter().enumerate() {
            let (Some(item_type), Some(books)) =
                (model.item_types.get(*index), self.books.get_mut(*index))
            else {
                continue;
            };
            books.rows_read += 1;
            if !meets(item_type, &row) {
                books.filtered += 1;
                continue;
            }
            let alone = item_type.explodes.is_empty() && nth + 1 == item_types.len();
            let mut elements = Elements::new(&item_type.explodes);
            let mut made: u64 = 0;
            let mut flow = ControlFlow::Continue(());
            while let Some(fate) = self.sieve.next(*index, &mut elements, &mut row) {
                made += 1;
                let key = if alone {
                    take_row_key(item_type, &mut row)
                } else {
                    row_key(item_type, &row)
                };
                flow = self.fate(*index, item_type, fate, key).await;
                if flow.is_break() {
                    break;
                }
            }
            if let Some(books) = self.books.get_mut(*index) {
                books.empty += u64::from(made == 0);
                books.expanded += made.saturating_sub(1);
            }
            // The books hold what became of the row so far, however the run goes on.
            flow?;
        }
        ControlFlow::Continue(())
    }

    async fn fate(
        &mut self,
        index: usize,
        item_type: &ItemType,
        fate: Fate,
        key: RowKey,
    ) -> ControlFlow<()> {
        let delivery = self.delivery.clone();
        match fate {
            Fate::Made(folded) => self.made(index, item_type, folded, key).await,
            Fate::Expired(folded) => self.expired(index, &folded),
            Fate::Rejected(reject) => {
                let reject = Rejected::new(index, key, *reject);
                let ledger = &delivery.ledger;
                ledger.reject(&delivery.halt, &delivery.model, By::Fold, &reject);
                self.go_on()
            }
            Fate::Duplicate(folded) => {
                let ledger = &delivery.ledger;
                ledger.duplicate(&delivery.halt, index, duplicates::CODE);
                self.duplicates.push(index, key, &folded);
                self.go_on()
            }
        }
    }

    fn go_on(&self) -> ControlFlow<()> {
        if self.delivery.halt.is_set() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    async fn made(
        &mut self,
        index: usize,
        item_type: &ItemType,
        folded: Folded,
        row: RowKey,
    ) -> ControlFlow<()> {
        let size = count(folded.size);
        if let Some(books) = self.books.get_mut(index) {
            books.made += 1;
            books.bytes += size;
            books.write_units += folded.units;
            enter(books, &folded);
            if books.largest.as_ref().is_none_or(|l| l.bytes < size) {
                books.largest = Some(Largest {
                    bytes: size,
                    row: raw(row_json(item_type, &row)),
                });
            }
        }
        self.rows.push_back(row);
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
        match full {
            Some(batch) => {
                self.dispatch(batch).await;
                if self.cancel.is_cancelled() {
                    self.delivery.halt.set(Why::Cancelled);
                }
                self.go_on()
            }
            None => ControlFlow::Continue(()),
        }
    }

    /// Hands a batch to the writers when there is room for its bytes.
    pub(super) async fn dispatch(&mut self, batch: Batch) {
        let from = Instant::now();
        let rows = self.rows.drain(..batch.len().min(self.rows.len()));
        let rows = rows.collect();
        let kib = (batch.bytes() / 1024 + 1).min(KIB_IN_FLIGHT);
        let kib = u32::try_from(kib).unwrap_or(u32::MAX);
        let permit = self.room.clone().acquire_many_owned(kib).await.ok();
        let parcel = Parcel {
            batch,
            rows,
            permit,
        };
        let refused = match &self.parcels {
            Some(parcels) => parcels.send(parcel).await.err().map(|error| error.0),
            None => Some(parcel),
        };
        if let Some(parcel) = refused {
            self.delivery.abandon(parcel.batch.entries());
            let failure = Failure::internal("the writers ended before the last item");
            self.delivery.halt.set(Why::Failed(failure));
        }
        self.target_wait += from.elapsed();
    }
}
