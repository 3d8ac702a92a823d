//! A small schema for this room's tests.

use super::Catalog;

/// A shop: users with a profile each, orders with lines, an odd name, a view, a forbidden table.
pub(crate) fn shop() -> Catalog {
    let json = include_str!("sample.json");
    serde_json::from_str(json).unwrap_or_else(|error| panic!("{error}"))
}
