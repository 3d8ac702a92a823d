//! What became of items, entered into the books of their chunks: written, refused, or not sent. Each
//! is entered once, and lets go of its ticket then.

use std::borrow::Cow;
use std::sync::Arc;

use dynafold_target::throttle::Kind;
use dynafold_target::{Action, Entry, ErrorClass, TargetError};

use super::Delivery;
use crate::load::count;
use crate::load::ledger::Ticket;
use crate::load::parcel::{Origin, Parcel};
use crate::load::rejects::Rejected;

impl Delivery {
    /// Counts what was processed.
    pub(super) fn written(&self, entries: &[Entry], origins: &[Origin]) {
        let mut all = entries.iter().zip(origins).peekable();
        while let Some((entry, origin)) = all.next() {
            let mut items = 1;
            let mut known = u64::from(origin.known == Some(true));
            while let Some((_, next)) = all.next_if(|(other, next)| {
                other.item_type == entry.item_type
                    && other.action == entry.action
                    && Arc::ptr_eq(&next.ticket, &origin.ticket)
            }) {
                items += 1;
                known += u64::from(next.known == Some(true));
            }
            if let Some(books) = origin.ticket.page().books(entry.item_type) {
                match entry.action {
                    Action::Put => {
                        books.written += items;
                        books.changed += known;
                    }
                    Action::Delete => books.deleted += items,
                }
            }
            self.progress.written(entry.item_type, items);
            self.let_go(&origin.ticket, items);
        }
    }

    /// Takes items off a ticket, and sees to it where they were the last.
    pub(in crate::load) fn let_go(&self, ticket: &Arc<Ticket>, holders: u64) {
        if ticket.release(holders) {
            self.ledger.done(ticket);
        }
    }

    /// Notes that a request failed, and tells the pace.
    pub(super) fn note(
        &self,
        error: &TargetError,
        entries: &[Entry],
        estimated: f64,
        latency: std::time::Duration,
    ) {
        let throttled = error.class == ErrorClass::Throttle;
        self.ledger.traffic(|traffic| {
            traffic.requests += 1;
            traffic.throttled += u64::from(throttled);
            traffic.transient += u64::from(error.class == ErrorClass::Transient);
        });
        self.ledger.reasons(&error.throttles);
        let (kind, refused) = if throttled {
            (Kind::Throttled, entries)
        } else {
            (Kind::Failed, &[][..])
        };
        self.pace
            .answered(kind, estimated, latency, None, &[], refused);
        if throttled {
            self.progress.throttled(count(entries.len()));
        }
    }

    /// Makes a reject of an item that the service refuses on its own.
    pub(super) fn refuse(&self, parcel: Parcel, error: &TargetError) {
        for (at, (entry, origin)) in parcel
            .batch
            .entries()
            .iter()
            .zip(parcel.origins)
            .enumerate()
        {
            let message = match entry.action {
                Action::Put => error.message.clone(),
                Action::Delete => format!("the item was not deleted: {}", error.message),
            };
            let reject = Rejected {
                item_type: entry.item_type,
                row: origin.row,
                code: Cow::Owned(error.code.clone()),
                message,
                help: error.help.clone(),
                attribute: None,
                item: Some(parcel.batch.json(at).to_owned()),
            };
            let (ticket, action) = (&origin.ticket, entry.action);
            self.ledger
                .refused(&self.halt, &self.model, ticket, action, &reject);
            self.progress.rejected(entry.item_type, 1);
            self.let_go(&origin.ticket, 1);
        }
    }

    /// Counts items that will not be sent. Their chunks will be read again.
    pub(in crate::load) fn abandon(&self, parcel: Parcel) {
        for (entry, origin) in parcel.batch.entries().iter().zip(parcel.origins) {
            origin.ticket.spoil();
            if entry.action == Action::Put
                && let Some(books) = origin.ticket.page().books(entry.item_type)
            {
                books.unwritten += 1;
            }
            self.let_go(&origin.ticket, 1);
        }
    }
}
