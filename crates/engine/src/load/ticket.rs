//! Tickets: what became of one chunk, until all of it is known.
//!
//! A ticket is held by whoever reads the chunk, by each block of rows on its way to the fold, and
//! by each item on its way to the table. When nobody holds it any more, the chunk is done: its
//! books, its rejects and its archived items are entered at one time, or never.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dynafold_mapping::model::Model;
use parking_lot::{Mutex, MutexGuard};

use super::books::Books;
use super::ordered_lines::OrderedLines;
use super::plan::ChunkId;
use super::rejects::MAX_NOTED;
use super::report::RejectNote;

/// The ticket of a chunk.
#[derive(Debug)]
pub(crate) struct Ticket {
    pub(super) id: ChunkId,
    /// Which attempt at it: no two tickets of a run have one number.
    pub(super) attempt: u64,
    /// Whether the chunk was done before, and is read again because the source may have changed.
    pub(super) again: bool,
    holders: AtomicU64,
    record: Mutex<ChunkRecord>,
}

/// What is known of a chunk so far.
#[derive(Debug)]
pub(super) struct ChunkRecord {
    /// The books of the pass's item types, by their indices.
    pub(super) books: Vec<(usize, Books)>,
    pub(super) rejects: OrderedLines,
    pub(super) archive: OrderedLines,
    /// The first rejects, for the report.
    pub(super) notes: Vec<RejectNote>,
    /// Whether something of the chunk is missing: it cannot be done any more.
    spoiled: bool,
    /// Whether the chunk is read again under another ticket, and nothing of this one counts.
    pub(super) forgotten: bool,
}

impl ChunkRecord {
    /// The books of an item type.
    pub(super) fn books(&mut self, item_type: usize) -> Option<&mut Books> {
        let mut books = self.books.iter_mut();
        books
            .find(|(index, _)| *index == item_type)
            .map(|(_, books)| books)
    }

    /// Keeps the first rejects for the report.
    pub(super) fn note(&mut self, notes: impl Iterator<Item = RejectNote>) {
        let room = MAX_NOTED.saturating_sub(self.notes.len());
        self.notes.extend(notes.take(room));
    }
}

impl Ticket {
    /// A ticket with one holder, for items of a pass; for those of all types where there is no such pass.
    pub(super) fn new(model: &Model, id: ChunkId, attempt: u64, again: bool) -> Arc<Self> {
        let pass = model.passes.get(id.pass);
        let served = |index: &usize| pass.is_none_or(|pass| pass.item_types.contains(index));
        let item_types = (0..model.item_types.len()).filter(served);
        let books = item_types.map(|index| (index, Books::of(model, index)));
        Arc::new(Self {
            id,
            attempt,
            again,
            holders: AtomicU64::new(1),
            record: Mutex::new(ChunkRecord {
                books: books.collect(),
                rejects: OrderedLines::default(),
                archive: OrderedLines::default(),
                notes: Vec::new(),
                spoiled: false,
                forgotten: false,
            }),
        })
    }

    pub(super) fn record(&self) -> MutexGuard<'_, ChunkRecord> {
        self.record.lock()
    }

    /// Counts something of an item type.
    pub(super) fn count(&self, item_type: usize, change: impl FnOnce(&mut Books)) {
        if let Some(books) = self.record().books(item_type) {
            change(books);
        }
    }

    pub(super) fn hold(&self, holders: u64) {
        self.holders.fetch_add(holders, Ordering::Relaxed);
    }

    /// Takes holders away; `true` when these were the last and nothing is missing.
    pub(super) fn release(&self, holders: u64) -> bool {
        self.holders.fetch_sub(holders, Ordering::AcqRel) == holders && !self.record().spoiled
    }

    /// Says that nothing of it counts. Gives the rejects that were counted.
    pub(super) fn forget(&self) -> u64 {
        let mut record = self.record();
        record.spoiled = true;
        record.forgotten = true;
        record.books.iter().map(|(_, books)| books.rejected).sum()
    }

    /// Says that something of the chunk is missing: it will be read again.
    pub(super) fn spoil(&self) {
        self.record().spoiled = true;
    }
}

#[cfg(test)]
mod tests {
    use dynafold_testing::model::users;

    use super::*;

    fn ticket() -> Arc<Ticket> {
        Ticket::new(&users(), ChunkId { pass: 0, chunk: 0 }, 0, false)
    }

    #[test]
    fn a_chunk_is_done_when_its_last_holder_lets_go_and_nothing_is_missing() {
        let ticket = ticket();
        ticket.hold(2);
        assert!(!ticket.release(1));
        assert!(ticket.release(2));

        let ticket = self::ticket();
        ticket.spoil();
        assert!(!ticket.release(1), "the chunk must be read again");
    }

    #[test]
    fn a_forgotten_ticket_gives_its_rejects_back_and_is_never_done() {
        let ticket = ticket();
        ticket.count(0, |books| books.reject("item-too-large"));
        ticket.count(0, |books| books.reject("item-too-large"));
        ticket.count(7, |_| panic!("the pass makes no such item type"));
        assert_eq!(ticket.forget(), 2);
        assert!(!ticket.release(1));
    }
}
