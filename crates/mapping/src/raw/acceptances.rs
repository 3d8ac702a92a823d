//! `accept`: which warnings are lived with, and where.

use std::ops::Range;

use super::{Spanned, named, texts};
use crate::yaml::Node;

/// Warnings that an item type, an index or an access pattern accepts.
#[derive(Debug)]
pub(crate) struct RawAcceptance {
    /// Where the whole of it stands.
    pub within: Range<usize>,
    pub codes: Vec<Spanned<String>>,
}

/// Reads every `accept`.
pub(super) fn read(root: &Node) -> Vec<RawAcceptance> {
    let table = root.get("table");
    let of_table = |name| table.and_then(|table| table.get(name));
    let places = [
        of_table("indexes"),
        of_table("local_indexes"),
        root.get("items"),
        root.get("access_patterns"),
    ];
    let entries = places.into_iter().flat_map(named);
    let acceptances = entries.map(|entry| RawAcceptance {
        within: entry.key_span.start..entry.value.span.end,
        codes: texts(entry.value.get("accept")),
    });
    acceptances.collect()
}
