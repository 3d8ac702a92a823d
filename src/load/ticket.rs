//! Tickets: what became of one chunk, until all of it is known.
//!
//! A ticket is held by whoever reads the chunk, by each block of rows on its way to the fold, and
//! by each item on its way to the table. When nobody holds it any more, the chunk is done: its
//! books, its rejects and its archived items are entered at one time, or never.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::books::Books;
use super::lines::Lines;
use super::rejects::NOTED;
use super::report::RejectNote;
use crate::mapping::model::Model;

/// Which part of the source a ticket is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ChunkId {
    /// Index of the pass.
    pub(crate) pass: usize,
    /// Index of the chunk in its pass.
    pub(crate) chunk: usize,
}

/// The ticket of a chunk.
#[derive(Debug)]
pub(crate) struct Ticket {
    pub(super) id: ChunkId,
    /// Which attempt at it: no two tickets of a run have one number.
    pub(super) attempt: u64,
    /// Whether the chunk was done before, and is read again because the source may have changed.
    pub(super) again: bool,
    holders: AtomicU64,
    page: Mutex<Page>,
}

/// What is known of a chunk so far.
#[derive(Debug)]
pub(super) struct Page {
    /// The books of the pass's item types, by their indices.
    pub(super) books: Vec<(usize, Books)>,
    pub(super) rejects: Lines,
    pub(super) archive: Lines,
    /// The first rejects, for the report.
    pub(super) notes: Vec<RejectNote>,
    /// Whether something of the chunk is missing: it cannot be done any more.
    spoiled: bool,
    /// Whether the chunk is read again under another ticket, and nothing of this one counts.
    pub(super) forgotten: bool,
}

impl Page {
    /// The books of an item type.
    pub(super) fn books(&mut self, item_type: usize) -> Option<&mut Books> {
        let mut books = self.books.iter_mut();
        books
            .find(|(index, _)| *index == item_type)
            .map(|(_, books)| books)
    }

    /// Keeps the first rejects for the report.
    pub(super) fn note(&mut self, notes: impl Iterator<Item = RejectNote>) {
        let room = NOTED.saturating_sub(self.notes.len());
        self.notes.extend(notes.take(room));
    }
}

impl Ticket {
    /// A ticket with one holder.
    pub(super) fn new(model: &Model, id: ChunkId, attempt: u64, again: bool) -> Arc<Self> {
        let item_types = model.passes.get(id.pass).map(|pass| &*pass.item_types);
        Self::of(
            model,
            id,
            attempt,
            again,
            item_types.unwrap_or_default().iter().copied(),
        )
    }

    /// A ticket for items of all types.
    pub(super) fn beside(model: &Model, id: ChunkId) -> Arc<Self> {
        Self::of(model, id, 0, false, 0..model.item_types.len())
    }

    fn of(
        model: &Model,
        id: ChunkId,
        attempt: u64,
        again: bool,
        item_types: impl Iterator<Item = usize>,
    ) -> Arc<Self> {
        let books = item_types.map(|index| (index, Books::of(model, index)));
        Arc::new(Self {
            id,
            attempt,
            again,
            holders: AtomicU64::new(1),
            page: Mutex::new(Page {
                books: books.collect(),
                rejects: Lines::default(),
                archive: Lines::default(),
                notes: Vec::new(),
                spoiled: false,
                forgotten: false,
            }),
        })
    }

    pub(super) fn page(&self) -> MutexGuard<'_, Page> {
        self.page.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a holder.
    pub(super) fn hold(&self) {
        self.holders.fetch_add(1, Ordering::Relaxed);
    }

    /// Takes holders away; `true` when these were the last and nothing is missing.
    #[must_use]
    pub(super) fn release(&self, holders: u64) -> bool {
        self.holders.fetch_sub(holders, Ordering::AcqRel) == holders && !self.page().spoiled
    }

    /// Says that nothing of it counts. Gives the rejects that were counted.
    pub(super) fn forget(&self) -> u64 {
        let mut page = self.page();
        page.spoiled = true;
        page.forgotten = true;
        page.books.iter().map(|(_, books)| books.rejected).sum()
    }

    /// Says that something of the chunk is missing: it will be read again.
    pub(super) fn spoil(&self) {
        self.page().spoiled = true;
    }
}
