//! The reading side of a run: what the lanes read goes to the workers as it comes, and what is known
//! of a chunk at its end into the chunk's books.

use std::sync::Arc;

use tokio::sync::mpsc;
use tokio::time::Instant;

use super::Run;
use crate::load::failure::Failure;
use crate::load::halt::Why;
use crate::load::lanes::{End, Lanes, Read};
use crate::load::ticket::Ticket;
use crate::load::worker::Block;
use crate::load::writer::count;
use crate::mapping::model::ItemType;

impl Run {
    /// Hands blocks to the workers until the source or the run ends.
    pub(super) async fn read(
        &mut self,
        lanes: &mut Lanes<Arc<Ticket>>,
        blocks: &mpsc::Sender<Block>,
    ) {
        let delivery = self.delivery.clone();
        let halt = &delivery.halt;
        let mut told = vec![false; delivery.model.passes.len()];
        loop {
            let from = Instant::now();
            let read = tokio::select! {
                biased;
                () = self.load.cancel.cancelled() => return halt.set(Why::Cancelled),
                () = halt.stopped() => return,
                read = lanes.next() => read,
            };
            self.times.add_source(from.elapsed());
            match read {
                None => return,
                Some(Read::Rows {
                    ticket,
                    block,
                    rows,
                }) => {
                    self.tell(ticket.id.pass, &mut told);
                    self.rows += count(rows.rows.len());
                    ticket.hold();
                    let block = Block {
                        ticket,
                        number: block,
                        rows,
                    };
                    let sent = tokio::select! {
                        biased;
                        () = halt.stopped() => return,
                        sent = blocks.send(block) => sent,
                    };
                    if sent.is_err() {
                        // Workers end early only where the run is to end.
                        if !halt.is_set() {
                            halt.set(Why::Failed(Failure::internal("the workers ended early")));
                        }
                        return;
                    }
                }
                Some(Read::End { ticket, end }) => {
                    self.tell(ticket.id.pass, &mut told);
                    self.rows += end.left_out;
                    self.enter_end(&ticket, &end);
                    delivery.let_go(&ticket, 1);
                }
                Some(Read::Again { ticket }) => delivery.ledger.forget(&ticket),
                Some(Read::Failed(error)) => {
                    return halt.set(Why::Failed(Failure::from(&error)));
                }
            }
        }
    }

    /// Tells that a pass begins, once.
    fn tell(&self, pass: usize, told: &mut [bool]) {
        let Some(told) = told.get_mut(pass).filter(|told| !**told) else {
            return;
        };
        *told = true;
        if let Some(this) = self.delivery.model.passes.get(pass) {
            let estimate = self.load.options.estimates.get(pass).copied().flatten();
            let progress = &self.delivery.progress;
            progress.pass(pass, &this.name, &this.item_types, estimate);
        }
    }

    /// Enters what is known of a chunk once it is read.
    fn enter_end(&self, ticket: &Ticket, end: &End) {
        let Some(pass) = self.delivery.model.passes.get(ticket.id.pass) else {
            return;
        };
        let mut page = ticket.page();
        for index in &pass.item_types {
            let embeds = self
                .delivery
                .model
                .item_types
                .get(*index)
                .map(ItemType::embeds);
            let embeds = embeds.unwrap_or_default();
            let Some(books) = page.books(*index) else {
                continue;
            };
            books.rows_read += end.left_out;
            books.filtered += end.left_out;
            for (column, left) in &end.orphans {
                if embeds.contains(column) {
                    books.orphans += left.orphans;
                }
            }
            self.delivery.progress.rows(*index, end.left_out);
        }
    }
}
