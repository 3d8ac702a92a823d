//! Access patterns as they were written.

use std::ops::Range;

use super::{RawMatch, Spanned, name_of, parsed, read_pairs, spanned, texts};
use crate::mapping::yaml::{Content, Entry, Node};

#[derive(Debug)]
pub(in crate::mapping) struct RawPattern {
    pub(in crate::mapping) name: Spanned<String>,
    pub(in crate::mapping) description: Option<String>,
    pub(in crate::mapping) items: Vec<Spanned<String>>,
    pub(in crate::mapping) index: Option<Spanned<String>>,
    pub(in crate::mapping) key: Vec<Entry>,
    pub(in crate::mapping) key_span: Range<usize>,
    pub(in crate::mapping) descending: bool,
    pub(in crate::mapping) limit: Option<Spanned<u64>>,
    pub(in crate::mapping) filter: Option<Node>,
    pub(in crate::mapping) consistent: Option<Spanned<bool>>,
    pub(in crate::mapping) sql: Option<Spanned<String>>,
    /// Parameters with the column or template that their values come from.
    pub(in crate::mapping) params: RawMatch,
    /// Attributes with SQL columns.
    pub(in crate::mapping) answer: RawMatch,
    pub(in crate::mapping) rate: Option<f64>,
}

impl RawPattern {
    /// Whether it says that items of this type come back.
    pub(in crate::mapping) fn promises(&self, item_type: &str) -> bool {
        self.items.iter().any(|item| item.value == item_type)
    }
}

pub(super) fn read_pattern(entry: &Entry) -> Option<RawPattern> {
    let pattern = &entry.value;
    let key = pattern
        .get("key")
        .filter(|key| matches!(key.content, Content::Map { .. }))?;
    let word = |name: &str| pattern.get(name).and_then(Node::text);
    Some(RawPattern {
        name: name_of(entry),
        description: word("description").map(str::to_owned),
        items: texts(pattern.get("items")),
        index: pattern.get("index").and_then(spanned),
        key: key.entries().to_vec(),
        key_span: entry.key_span.clone(),
        descending: word("order") == Some("desc"),
        limit: pattern.get("limit").and_then(parsed),
        filter: pattern.get("filter").cloned(),
        consistent: pattern.get("consistent").and_then(parsed),
        sql: pattern.get("sql").and_then(spanned),
        params: read_pairs(pattern.get("params")),
        answer: read_pairs(pattern.get("answer")),
        rate: pattern.read("rate"),
    })
}
