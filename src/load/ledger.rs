//! The part of the books that the fold and the writers keep together.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::books::{Books, Failure, RejectNote, Traffic};
use super::halt::{Halt, Why};
use super::rejects::{Rejected, Rejects};
use crate::mapping::model::Model;

/// Who rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    /// The fold, before anything was sent.
    Fold,
    /// The service.
    Service,
}

/// Counts of one item type.
#[derive(Debug, Default)]
struct Counts {
    written: u64,
    unwritten: u64,
    rejected: u64,
    by_service: u64,
    by_code: BTreeMap<String, u64>,
}

#[derive(Debug)]
struct Inner {
    counts: Vec<Counts>,
    traffic: Traffic,
    rejects: Option<Rejects>,
    rejected: u64,
}

/// Counts and rejects, behind one lock that is held for no longer than a line takes to write.
#[derive(Debug)]
pub(super) struct Ledger {
    inner: Mutex<Inner>,
    max_rejects: Option<u64>,
}

impl Ledger {
    pub(super) fn new(item_types: usize, rejects: PathBuf, max_rejects: Option<u64>) -> Self {
        Self {
            inner: Mutex::new(Inner {
                counts: (0..item_types).map(|_| Counts::default()).collect(),
                traffic: Traffic::default(),
                rejects: Some(Rejects::new(rejects)),
                rejected: 0,
            }),
            max_rejects,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn written(&self, item_type: usize, items: u64) {
        if let Some(counts) = self.lock().counts.get_mut(item_type) {
            counts.written += items;
        }
    }

    pub(super) fn unwritten(&self, item_type: usize, items: u64) {
        if let Some(counts) = self.lock().counts.get_mut(item_type) {
            counts.unwritten += items;
        }
    }

    pub(super) fn traffic(&self, change: impl FnOnce(&mut Traffic)) {
        change(&mut self.lock().traffic);
    }

    /// Counts a reject and writes its line; halts the run where that fails or was one too many.
    pub(super) fn reject(&self, halt: &Halt, model: &Model, by: By, reject: &Rejected) {
        let mut inner = self.lock();
        self.count(&mut inner, halt, by, reject.item_type, &reject.code);
        let written = match &mut inner.rejects {
            Some(rejects) => rejects.write(model, reject),
            None => Err(Failure::internal("a reject came after the run's end")),
        };
        if let Err(failure) = written {
            halt.set(Why::Failed(failure));
        }
    }

    /// Counts a duplicate, whose line comes later, when the row that it meets is known.
    pub(super) fn duplicate(&self, halt: &Halt, item_type: usize, code: &str) {
        let mut inner = self.lock();
        self.count(&mut inner, halt, By::Fold, item_type, code);
        if let Some(rejects) = &mut inner.rejects
            && let Err(failure) = rejects.open()
        {
            halt.set(Why::Failed(failure));
        }
    }

    /// Writes the line of a reject that has been counted.
    pub(super) fn name(&self, model: &Model, reject: &Rejected) -> Result<(), Failure> {
        match &mut self.lock().rejects {
            Some(rejects) => rejects.write(model, reject),
            None => Ok(()),
        }
    }

    fn count(&self, inner: &mut Inner, halt: &Halt, by: By, item_type: usize, code: &str) {
        if let Some(counts) = inner.counts.get_mut(item_type) {
            counts.rejected += 1;
            counts.by_service += u64::from(by == By::Service);
            *counts.by_code.entry(code.to_owned()).or_default() += 1;
        }
        inner.rejected += 1;
        if self.max_rejects.is_some_and(|most| inner.rejected > most) {
            halt.set(Why::TooManyRejects);
        }
    }

    /// Enters the counts into the books.
    pub(super) fn settle(&self, books: &mut [Books]) -> Traffic {
        let inner = self.lock();
        for (books, counts) in books.iter_mut().zip(&inner.counts) {
            books.written = counts.written;
            books.unwritten = counts.unwritten;
            books.rejected = counts.rejected;
            books.rejected_by_service = counts.by_service;
            books.rejects_by_code.clone_from(&counts.by_code);
        }
        inner.traffic
    }

    /// After a target that could not end its load: nothing that it took is known to be there.
    pub(super) fn disown(&self) {
        for counts in &mut self.lock().counts {
            counts.unwritten += std::mem::take(&mut counts.written);
        }
    }

    /// Ends the rejects file.
    pub(super) fn close(&self) -> (Result<(), Failure>, Vec<RejectNote>, Option<PathBuf>) {
        match self.lock().rejects.take() {
            Some(rejects) => rejects.close(),
            None => (Ok(()), Vec::new(), None),
        }
    }
}
