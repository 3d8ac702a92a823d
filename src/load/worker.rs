//! Workers: they fold blocks of rows into items and hand these to the writers in batches.
//!
//! Several work side by side; each has a batch of its own, which may hold items of several chunks.
//! What becomes of a row is entered into the books of its chunk at the end of its block.

mod sending;
mod tally;

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::Arc;

use tokio::sync::{Semaphore, mpsc};
use tokio::time::Instant;

use super::books::Largest;
use super::differ::{Differ, Known, REQUESTS, known};
use super::feed::{Fate, Sieve, meets, row_key, take_row_key};
use super::halt::Why;
use super::life::enter;
use super::parcel::{Origin, Parcel};
use super::rejects::{Rejected, raw, row_json};
use super::rules::{Doing, EXPIRED, FILTERED, REJECTED, Rules};
use super::ticket::Ticket;
use super::times::Times;
use super::work::Work;
use super::writer::{Delivery, count};
use crate::batch::Batcher;
use crate::item::{Elements, Folded, Folder, KEY_NULL, Reject, write_item};
use crate::mapping::model::{Expired, ItemType};
use crate::source::{Chunk, Row};
use crate::value::Value;
use tally::Tally;

/// KiB of batches that may be on their way at one time.
pub(super) const KIB_IN_FLIGHT: usize = 32 << 10;

/// A block of rows.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) ticket: Arc<Ticket>,
    pub(super) number: u64,
    pub(super) rows: Chunk,
}

/// A worker.
pub(super) struct Worker {
    pub(super) delivery: Arc<Delivery>,
    pub(super) rules: Arc<Rules>,
    pub(super) times: Arc<Times>,
    pub(super) room: Arc<Semaphore>,
    sieve: Sieve,
    batcher: Batcher,
    /// Of the items that wait in the batcher.
    origins: VecDeque<Origin>,
    parcels: mpsc::Sender<Parcel>,
    differ: Differ<Origin, Known>,
}

impl Worker {
    pub(super) fn new(
        delivery: Arc<Delivery>,
        rules: Arc<Rules>,
        times: Arc<Times>,
        room: Arc<Semaphore>,
        folder: Folder,
        parcels: mpsc::Sender<Parcel>,
    ) -> Self {
        Self {
            batcher: Batcher::new(delivery.target.batch_limit()),
            differ: Differ::new(
                delivery.target.clone(),
                &delivery.model.table,
                folder.clone(),
                Arc::new(|_, folded, found| known(folded, found.as_ref())),
                REQUESTS,
                delivery.halt.clone(),
            ),
            sieve: Sieve::new(folder),
            origins: VecDeque::new(),
            delivery,
            rules,
            times,
            room,
            parcels,
        }
    }
}

impl Work for Worker {
    type Block = Block;

    fn is_idle(&self) -> bool {
        self.origins.is_empty() && self.differ.is_idle()
    }

    async fn block(&mut self, block: Block) -> ControlFlow<()> {
        let Block {
            ticket,
            number,
            rows,
        } = block;
        let begun = Instant::now();
        let waited = self.times.target();
        self.batcher.limit_units(self.delivery.pace.batch_units());
        let mut tally = Tally::default();
        let forgotten = ticket.page().forgotten;
        let flow = if forgotten {
            ControlFlow::Continue(())
        } else {
            self.rows(&ticket, rows, &mut tally).await
        };
        let entered = self.enter(&ticket, number, tally);
        let waited = self.times.target().saturating_sub(waited);
        self.times.add_fold(begun.elapsed().saturating_sub(waited));
        if let Err(failure) = entered {
            ticket.spoil();
            self.delivery.halt.set(Why::Failed(failure));
        }
        if flow.is_break() {
            ticket.spoil();
        }
        self.delivery.let_go(&ticket, 1);
        flow?;
        self.go_on()
    }

    async fn flush(&mut self) {
        self.differ.ask();
        while let Some(looked) = self.differ.next().await {
            self.looked(looked).await;
        }
        if let Some(batch) = self.batcher.finish() {
            self.dispatch(batch).await;
        }
    }
}

impl Worker {
    async fn rows(
        &mut self,
        ticket: &Arc<Ticket>,
        chunk: Chunk,
        tally: &mut Tally,
    ) -> ControlFlow<()> {
        let model = self.delivery.model.clone();
        let Some(pass) = model.passes.get(ticket.id.pass) else {
            return ControlFlow::Break(());
        };
        for (column, left) in &chunk.left {
            for index in &pass.item_types {
                if self.rules.embeds(*index).contains(column) {
                    let books = tally.books(*index);
                    books.orphans += left.orphans;
                    books.cut += left.cut;
                }
            }
        }
        for row in chunk.rows {
            self.row(ticket, &pass.item_types, row, tally).await?;
        }
        ControlFlow::Continue(())
    }

    async fn row(
        &mut self,
        ticket: &Arc<Ticket>,
        item_types: &[usize],
        mut row: Row,
        tally: &mut Tally,
    ) -> ControlFlow<()> {
        let delivery = self.delivery.clone();
        let model = &delivery.model;
        for (nth, index) in item_types.iter().enumerate() {
            let Some(item_type) = model.item_types.get(*index) else {
                continue;
            };
            tally.books(*index).rows_read += 1;
            if !meets(item_type, &row) || !self.rules.selection.holds_row(item_type, &row) {
                tally.books(*index).filtered += 1;
                self.keep(*index, item_type, &mut row, tally);
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
                flow = self.fate(ticket, *index, item_type, fate, key, tally).await;
                if flow.is_break() {
                    break;
                }
            }
            let books = tally.books(*index);
            books.empty += u64::from(made == 0);
            books.expanded += made.saturating_sub(1);
            flow?;
        }
        ControlFlow::Continue(())
    }

    /// Remembers the keys of a row that is left out, where its items must not be deleted.
    fn keep(&mut self, index: usize, item_type: &ItemType, row: &mut Row, tally: &mut Tally) {
        if !self.rules.keeps_filtered() {
            return;
        }
        let mut elements = Elements::new(&item_type.explodes);
        while let Some(fate) = self.sieve.next(index, &mut elements, row) {
            let table = &self.delivery.model.table;
            if !self.rules.selection.holds_item(table, fate.item()) {
                continue;
            }
            match fate {
                Fate::Made(folded) => tally.keep(folded.fingerprint, FILTERED),
                Fate::Expired(folded) => tally.keep(folded.fingerprint, FILTERED),
                Fate::Rejected(reject) => self.keep_reject(index, &reject, FILTERED, tally),
            }
        }
    }

    /// Remembers the key of a row that was rejected, where it was made; otherwise every item of the
    /// type may be the row's. With NULL in its key it has none.
    fn keep_reject(&self, index: usize, reject: &Reject, why: u64, tally: &mut Tally) {
        match self.sieve.folder.key_of_reject(reject) {
            Some(fingerprint) => tally.keep(fingerprint, why),
            None if reject.code == KEY_NULL => {}
            None => self.rules.spare(index),
        }
    }

    async fn fate(
        &mut self,
        ticket: &Arc<Ticket>,
        index: usize,
        item_type: &ItemType,
        fate: Fate,
        row: Box<[Value]>,
        tally: &mut Tally,
    ) -> ControlFlow<()> {
        let rules = self.rules.clone();
        let table = &self.delivery.model.table;
        if !rules.selection.holds_item(table, fate.item()) {
            tally.books(index).filtered += 1;
            return ControlFlow::Continue(());
        }
        match fate {
            Fate::Expired(folded) => {
                if rules.keeps_rejected() {
                    tally.keep(folded.fingerprint, EXPIRED);
                }
                let books = tally.books(index);
                if folded.expired == Expired::Archive {
                    books.archived += 1;
                    write_item(&mut tally.archive, &folded.item);
                    tally.archive.push('\n');
                } else {
                    books.expired += 1;
                }
                ControlFlow::Continue(())
            }
            Fate::Rejected(reject) => {
                if rules.keeps_rejected() {
                    self.keep_reject(index, &reject, REJECTED, tally);
                }
                self.rejected(Rejected::new(index, row, *reject), tally)
            }
            Fate::Made(folded) => {
                if !rules
                    .contest
                    .wins(&folded, index, item_type, &row, (ticket.id, ticket.attempt))
                {
                    let model = &self.delivery.model;
                    let reject = rules.contest.reject(model, index, row, &folded);
                    return self.rejected(reject, tally);
                }
                self.made(ticket, index, item_type, folded, row, tally)
                    .await
            }
        }
    }

    async fn made(
        &mut self,
        ticket: &Arc<Ticket>,
        index: usize,
        item_type: &ItemType,
        folded: Folded,
        row: Box<[Value]>,
        tally: &mut Tally,
    ) -> ControlFlow<()> {
        let size = count(folded.size);
        let books = tally.books(index);
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
        if self.rules.wants_keys() {
            // Which reading made it: what is read again under another ticket counts once.
            tally.keys.push((folded.fingerprint, ticket.attempt));
        }
        ticket.hold();
        let origin = Origin {
            ticket: ticket.clone(),
            row,
            known: None,
        };
        if self.rules.doing == Doing::Put && !ticket.again {
            self.put(index, &folded, origin).await;
        } else if self.differ.push(index, folded, origin) {
            self.differ.ask();
            while self.differ.is_full() {
                match self.differ.next().await {
                    Some(looked) => self.looked(looked).await,
                    None => break,
                }
            }
        }
        if self.delivery.halt.is_set() {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    fn go_on(&self) -> ControlFlow<()> {
        if self.delivery.halt.is_set() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}
