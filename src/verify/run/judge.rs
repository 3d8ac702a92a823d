//! What the table holds under an item's key, against what a row makes; and who has made it where it
//! is another item.

use std::sync::Arc;

use crate::item::{Expiry, Folded, Item};
use crate::load::{Owners, is_same};
use crate::verify::compare::compare;
use crate::verify::report::AttributeFinding;

/// What the table holds under an item's key.
pub(super) enum Verdict {
    Equal,
    /// Nothing, because the item has expired and DynamoDB has deleted it.
    Gone,
    Missing,
    Different {
        attributes: Vec<AttributeFinding>,
        maker: Maker,
    },
}

/// What has made an item that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Maker {
    /// The item type that it should be of, as far as is known.
    Own,
    /// Another item type of the mapping.
    Other(usize),
    /// Something else, by what this attribute says.
    Foreign(Arc<str>),
}

/// Judges what the table holds.
pub(super) fn judge(
    owners: Option<&Owners>,
    item_type: usize,
    folded: &Folded,
    found: Option<&Item>,
) -> Verdict {
    match found {
        None if folded.expiry == Expiry::Past => Verdict::Gone,
        None => Verdict::Missing,
        Some(found) if is_same(folded, found) => Verdict::Equal,
        Some(found) => Verdict::Different {
            attributes: compare(&folded.item, found),
            maker: owners.map_or(Maker::Own, |owners| maker(owners, item_type, found)),
        },
    }
}

fn maker(owners: &Owners, item_type: usize, found: &Item) -> Maker {
    match (owners.owner(found), owners.foreign(item_type, found)) {
        (Some(owner), _) if owner != item_type => Maker::Other(owner),
        (_, Some(attribute)) => Maker::Foreign(attribute.clone()),
        _ => Maker::Own,
    }
}
