//! Access patterns as they were written.

use std::ops::Range;

use super::{RawMatch, Spanned, name_of, parsed, read_pairs, spanned, texts};
use crate::yaml::{Content, Entry, Node};

#[derive(Debug)]
pub(crate) struct RawPattern {
    pub name: Spanned<String>,
    pub description: Option<String>,
    pub items: Vec<Spanned<String>>,
    pub index: Option<Spanned<String>>,
    pub key: Vec<Entry>,
    pub key_span: Range<usize>,
    pub descending: bool,
    pub limit: Option<Spanned<u64>>,
    pub filter: Option<Node>,
    pub consistent: Option<Spanned<bool>>,
    pub sql: Option<Spanned<String>>,
    /// Parameters with the column or template that their values come from.
    pub params: RawMatch,
    /// Attributes with SQL columns.
    pub answer: RawMatch,
    pub rate: Option<f64>,
}

impl RawPattern {
    /// Whether it says that items of this type come back.
    pub(crate) fn promises(&self, item_type: &str) -> bool {
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
