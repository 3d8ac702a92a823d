//! A batch on its way, with what is known of each of its items.

use std::sync::Arc;

use dynafold_mapping::item::Folded;
use dynafold_target::{Action, Batch, BatchLimit, Entry};
use tokio::sync::OwnedSemaphorePermit;

use super::ledger::Ticket;
use super::row::RowKey;

/// Where an item comes from.
#[derive(Debug, Clone)]
pub(super) struct Origin {
    pub(super) ticket: Arc<Ticket>,
    /// The row, by its key.
    pub(super) row: RowKey,
    /// Whether the table held the item before, as far as it was looked at.
    pub(super) known: Option<bool>,
}

/// A batch on its way to the table. Every item holds its ticket until it is accounted for.
#[derive(Debug, Default)]
pub(super) struct Parcel {
    pub(super) batch: Batch,
    /// Of each request.
    pub(super) origins: Vec<Origin>,
    /// Its share of the bytes that may be on their way.
    pub(super) permit: Option<OwnedSemaphorePermit>,
}

/// The request that puts the item of a row.
pub(super) fn put(item_type: usize, folded: &Folded) -> Entry {
    Entry {
        action: Action::Put,
        size: folded.size,
        units: folded.units,
        item_type,
        fingerprint: folded.fingerprint,
        partition: folded.partition,
        digest: 0,
    }
}

impl Parcel {
    /// Takes some of the requests out; the others stay. `taken` ascends.
    pub(super) fn take(&mut self, taken: &[usize]) -> Self {
        // What nearly every answer leaves is nothing.
        if taken.is_empty() {
            return Self::default();
        }
        let all = std::mem::take(&mut self.origins).into_iter().enumerate();
        let is_taken = |(at, _): &(usize, Origin)| taken.binary_search(at).is_ok();
        let (out, left): (Vec<_>, Vec<_>) = all.partition(is_taken);
        let (rest, origins): (Vec<usize>, Vec<Origin>) = left.into_iter().unzip();
        let batch = self.batch.part(taken);
        self.batch = self.batch.part(&rest);
        self.origins = origins;
        Self {
            batch,
            origins: out.into_iter().map(|(_, origin)| origin).collect(),
            permit: None,
        }
    }

    /// Takes all the requests of another one in, where they fit into one batch.
    pub(super) fn add(&mut self, other: &mut Self) -> bool {
        let has = |entry: &Entry| {
            let mut all = self.batch.entries().iter();
            all.any(|own| own.fingerprint == entry.fingerprint)
        };
        let items = self.len() + other.len();
        let bytes = self.batch.bytes() + other.batch.bytes();
        let limit = BatchLimit::BATCH_WRITE;
        if items > limit.items || bytes > limit.bytes || other.batch.entries().iter().any(has) {
            return false;
        }
        let mut batch = Batch::new();
        for from in [&self.batch, &other.batch] {
            for (at, entry) in from.entries().iter().enumerate() {
                batch.push(*entry, |out| out.push_str(from.json(at)));
            }
        }
        batch.seal();
        self.batch = batch;
        self.origins.append(&mut other.origins);
        other.batch = Batch::new();
        match (&mut self.permit, other.permit.take()) {
            (Some(own), Some(permit)) => own.merge(permit),
            (own, permit) => *own = own.take().or(permit),
        }
        true
    }

    pub(super) fn len(&self) -> usize {
        self.origins.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.origins.is_empty()
    }
}
