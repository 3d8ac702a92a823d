//! The ledger's thread: enters tickets for good, several at a time where they come fast. Files first,
//! then the state.

use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex};

use super::{Inner, add, lock};
use crate::load::failure::Failure;
use crate::load::halt::{Halt, Why};
use crate::load::state::ChunkDone;
use crate::load::ticket::Ticket;

/// Enters tickets until no more can come.
pub(super) fn keep(inner: &Mutex<Inner>, tickets: &Receiver<Arc<Ticket>>, halt: &Halt) {
    while let Ok(first) = tickets.recv() {
        let mut all = vec![first];
        all.extend(tickets.try_iter());
        if let Err(failure) = enter(inner, &all) {
            // What is not entered stays among the tickets that are out.
            halt.set(Why::Failed(failure));
            return;
        }
    }
}

fn enter(inner: &Mutex<Inner>, tickets: &[Arc<Ticket>]) -> Result<(), Failure> {
    // Held while the disk works: writers that settle requests wait, a millisecond at a time.
    let mut inner = lock(inner);
    let inner = &mut *inner;
    let mut done = Vec::with_capacity(tickets.len());
    for ticket in tickets {
        let mut page = ticket.page();
        inner.rejects.append(&mut page.rejects)?;
        inner.archive.append(&mut page.archive)?;
        let books = serde_json::to_string(&page.books)
            .map_err(|_| Failure::internal("the books of a chunk are no JSON"))?;
        done.push((ticket.id, books));
    }
    if let Some(state) = &mut inner.state {
        let files = [&inner.rejects, &inner.archive];
        let extents = files
            .into_iter()
            .filter_map(|file| Some((file.which().name(), file.extent()?)));
        let extents: Vec<_> = extents.collect();
        let done = done.iter().map(|(id, books)| ChunkDone {
            pass: id.pass,
            chunk: id.chunk,
            books_json: books,
            annexes: &extents,
        });
        let entered = state.chunks_done(&done.collect::<Vec<_>>());
        entered.map_err(|error| Failure::of_state(&error))?;
    }
    for ticket in tickets {
        inner.live.remove(&ticket.id);
        add(&mut inner.entered, &mut inner.notes, &mut ticket.page());
    }
    Ok(())
}
