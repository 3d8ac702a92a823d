//! Sheets: what was found of one chunk. They are added up when nobody holds them any more, so that
//! what was found of a chunk that is read again counts once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::load::{ChunkId, RejectNote, Ticket};
use crate::verify::report::{Compared, Finding};

/// Where something comes from, in an order that does not depend on who read it when: pass, chunk,
/// block, and place in the block.
pub(super) type Place = (usize, usize, u64, u64);

/// The first of many things.
#[derive(Debug)]
pub(super) struct First<T> {
    most: usize,
    held: Vec<(Place, T)>,
}

impl<T> First<T> {
    fn new(most: usize) -> Self {
        Self {
            most,
            held: Vec::new(),
        }
    }

    /// Whether something from there is among the first, as far as is known.
    pub(super) fn wants(&self, place: Place) -> bool {
        self.held.len() < self.most || self.held.last().is_some_and(|(last, _)| place < *last)
    }

    pub(super) fn push(&mut self, place: Place, thing: T) {
        if self.wants(place) {
            let at = self.held.partition_point(|(other, _)| *other <= place);
            self.held.insert(at, (place, thing));
            self.held.truncate(self.most);
        }
    }

    fn take(&mut self, other: Self) {
        for (place, thing) in other.held {
            self.push(place, thing);
        }
    }

    pub(super) fn into_vec(self) -> Vec<T> {
        self.held.into_iter().map(|(_, thing)| thing).collect()
    }
}

/// All that was found, of a chunk or of the run.
#[derive(Debug)]
pub(super) struct Found {
    /// By item type.
    pub(super) books: Vec<Compared>,
    pub(super) findings: First<Finding>,
    pub(super) rejects: First<RejectNote>,
}

impl Found {
    pub(super) fn new(item_types: usize, findings: usize, rejects: usize) -> Self {
        Self {
            books: vec![Compared::default(); item_types],
            findings: First::new(findings),
            rejects: First::new(rejects),
        }
    }

    fn empty_like(&self) -> Self {
        Self::new(self.books.len(), self.findings.most, self.rejects.most)
    }

    /// The books of an item type.
    pub(super) fn with(&mut self, item_type: usize, change: impl FnOnce(&mut Compared)) {
        if let Some(books) = self.books.get_mut(item_type) {
            change(books);
        }
    }

    fn take(&mut self, other: Self) {
        for (mine, theirs) in self.books.iter_mut().zip(&other.books) {
            mine.add(theirs);
        }
        self.findings.take(other.findings);
        self.rejects.take(other.rejects);
    }
}

/// What the sheets are added up in.
pub(super) type Ledger = Arc<Mutex<Found>>;

/// The sheet of an attempt at a chunk.
#[derive(Debug)]
pub(super) struct Sheet {
    pub(super) id: ChunkId,
    /// No two sheets of a run have one number.
    pub(super) attempt: u64,
    /// Where what is repaired is counted.
    pub(super) ticket: Option<Arc<Ticket>>,
    forgotten: AtomicBool,
    found: Mutex<Option<Found>>,
    ledger: Ledger,
}

impl Sheet {
    pub(super) fn new(
        id: ChunkId,
        attempt: u64,
        ticket: Option<Arc<Ticket>>,
        ledger: Ledger,
    ) -> Self {
        let empty = lock(&ledger).empty_like();
        Self {
            id,
            attempt,
            ticket,
            forgotten: AtomicBool::new(false),
            found: Mutex::new(Some(empty)),
            ledger,
        }
    }

    pub(super) fn place(&self, block: u64, nth: u64) -> Place {
        (self.id.pass, self.id.chunk, block, nth)
    }

    /// Enters something.
    pub(super) fn enter(&self, change: impl FnOnce(&mut Found)) {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = &mut *found {
            change(found);
        }
    }

    /// The chunk will be read again: nothing of this counts.
    pub(super) fn forget(&self) {
        self.forgotten.store(true, Ordering::Release);
    }
}

impl Drop for Sheet {
    fn drop(&mut self) {
        let found = self.found.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = found.take()
            && !self.forgotten.load(Ordering::Acquire)
        {
            lock(&self.ledger).take(found);
        }
    }
}

pub(super) fn lock(ledger: &Mutex<Found>) -> MutexGuard<'_, Found> {
    ledger.lock().unwrap_or_else(PoisonError::into_inner)
}
