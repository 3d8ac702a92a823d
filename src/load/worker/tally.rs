//! What one block comes to, and entering it into its chunk at once: the block counts wholly or, where
//! its chunk is read again, not at all.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use super::Worker;
use crate::load::books::Books;
use crate::load::failure::Failure;
use crate::load::rejects::{Rejected, line, note};
use crate::load::ticket::Ticket;
use crate::load::writer::count;

/// What one block comes to.
#[derive(Default)]
pub(super) struct Tally {
    pub(super) books: BTreeMap<usize, Books>,
    pub(super) rejects: Vec<Rejected>,
    pub(super) archive: String,
    /// Fingerprints of the items made, each with the ticket's attempt or what stands for it.
    pub(super) keys: Vec<(u128, u64)>,
}

impl Tally {
    /// The books of an item type: one among a few.
    pub(super) fn books(&mut self, index: usize) -> &mut Books {
        self.books.entry(index).or_default()
    }

    /// Remembers a key of a row that makes no item, and why it makes none.
    pub(super) fn keep(&mut self, fingerprint: u128, why: u64) {
        self.keys.push((fingerprint, why));
    }
}

impl Worker {
    /// Counts a reject. [`ControlFlow::Break`] where it is one too many.
    pub(super) fn rejected(&self, reject: Rejected, tally: &mut Tally) -> ControlFlow<()> {
        let books = tally.books(reject.item_type);
        books.reject(&reject.code);
        tally.rejects.push(reject);
        if self.delivery.ledger.reject(&self.delivery.halt) {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    }

    /// Enters what a block came to into its chunk's ticket.
    pub(super) fn enter(&self, ticket: &Ticket, number: u64, tally: Tally) -> Result<(), Failure> {
        let delivery = &self.delivery;
        for (index, books) in &tally.books {
            delivery.progress.rows(*index, books.rows_read);
            if books.rejected > 0 {
                delivery.progress.rejected(*index, books.rejected);
            }
        }
        self.rules.take_keys(&tally.keys)?;
        let mut lines = String::new();
        for reject in &tally.rejects {
            line(&mut lines, &delivery.model, reject);
        }
        let mut page = ticket.page();
        if page.forgotten {
            delivery.ledger.take_back(count(tally.rejects.len()));
            return Ok(());
        }
        for (index, books) in tally.books {
            if let Some(all) = page.books(index) {
                all.take(books);
            }
        }
        page.note(
            tally
                .rejects
                .iter()
                .map(|reject| note(&delivery.model, reject)),
        );
        page.rejects
            .put(number, lines)
            .map_err(|error| Failure::scratch(&error))?;
        page.archive
            .put(number, tally.archive)
            .map_err(|error| Failure::scratch(&error))
    }
}
