//! What one block comes to before anything is known of the table, and entering it into its chunk's sheet.

use super::Worker;
use crate::load::{NOTED, Rejected, Why, note, take_keys};
use crate::verify::report::Compared;
use crate::verify::run::sheet::{Place, Sheet};

/// What one block comes to, before anything is known of the table.
pub(super) struct Tally {
    pub(super) books: Vec<Compared>,
    /// Fingerprints and locators.
    pub(super) keys: Vec<(u128, u64)>,
    pub(super) rejects: Vec<(Place, Rejected)>,
    /// Elements so far.
    pub(super) nth: u64,
}

impl Tally {
    pub(super) fn with(&mut self, item_type: usize, change: impl FnOnce(&mut Compared)) {
        if let Some(books) = self.books.get_mut(item_type) {
            change(books);
        }
    }
}

impl Worker {
    /// Enters what a block came to.
    pub(super) fn enter(&self, sheet: &Sheet, item_types: &[usize], tally: &Tally) {
        let shared = &self.shared;
        for index in item_types {
            let Some(books) = tally.books.get(*index) else {
                continue;
            };
            shared.progress.rows(*index, books.rows_read);
            if books.rejected > 0 {
                shared.progress.rejected(*index, books.rejected);
            }
        }
        sheet.enter(|found| {
            for (index, books) in tally.books.iter().enumerate() {
                found.with(index, |all| all.add(books));
            }
            for (place, reject) in &tally.rejects {
                if found.rejects.wants(*place) {
                    found.rejects.push(*place, note(&shared.model, reject));
                }
            }
        });
        let taken = shared.keys.as_ref();
        if let Some(Err(failure)) = taken.map(|keys| take_keys(keys, &tally.keys)) {
            shared.halt.set(Why::Failed(failure));
        }
    }
}

/// Keeps the first rejects of a block.
pub(super) fn reject_at(tally: &mut Tally, place: Place, reject: impl FnOnce() -> Rejected) {
    if tally.rejects.len() < NOTED {
        tally.rejects.push((place, reject()));
    }
}
