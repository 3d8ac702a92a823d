//! A small schema for tests.

use super::Catalog;

/// A shop: users with a profile each, orders with lines, an odd name, a view, a forbidden table.
/// # Panics
///
/// Never: the file is part of the crate.
#[expect(clippy::panic, reason = "tests alone use it")]
pub fn shop() -> Catalog {
    let json = include_str!("sample.json");
    serde_json::from_str(json).unwrap_or_else(|error| panic!("{error}"))
}
