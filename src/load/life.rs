//! What is odd about the TTL of items.

use super::books::Books;
use crate::item::{Expiry, Folded};

/// Enters what is to be said of an item's TTL, and whether it was compressed.
pub(super) fn enter(books: &mut Books, folded: &Folded) {
    books.compressed += u64::from(!folded.compressed.is_empty());
    match folded.expiry {
        Expiry::Ahead => {}
        Expiry::Past => books.made_expired += 1,
        Expiry::TooOld => books.made_too_old += 1,
        Expiry::Milliseconds => books.made_in_milliseconds += 1,
    }
}

/// What is odd about the TTL of items that were made, a sentence for each kind and item type.
pub(super) fn odd(books: &[Books]) -> Vec<String> {
    let mut all = Vec::new();
    for books in books {
        let mut say = |items: u64, text: &str| {
            let plural = if items == 1 { "" } else { "s" };
            if items > 0 {
                all.push(format!("{}: {items} item{plural} {text}", books.item_type));
            }
        };
        say(
            books.made_expired,
            "had expired already; DynamoDB deletes such again, and `expired: skip` leaves them out",
        );
        say(
            books.made_too_old,
            "expired more than five years ago; DynamoDB never deletes such, and `expired: skip` leaves them out",
        );
        say(
            books.made_in_milliseconds,
            "with a TTL in milliseconds; DynamoDB reads seconds, as `epoch` gives them, and never deletes such",
        );
    }
    all
}
