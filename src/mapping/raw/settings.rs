//! The table's settings and the life of items, as they were written.

use super::{Spanned, named, read_throughput, spanned, texts};
use crate::mapping::model::{Autoscale, Expired, StreamView, TableClass, Throughput};
use crate::mapping::yaml::Node;

/// What the mapping says of the table besides keys, indexes, TTL and billing.
#[derive(Debug, Default)]
pub(in crate::mapping) struct RawSettings {
    pub(in crate::mapping) stream: Option<Spanned<StreamView>>,
    pub(in crate::mapping) point_in_time_recovery: Option<bool>,
    pub(in crate::mapping) deletion_protection: Option<bool>,
    pub(in crate::mapping) class: Option<TableClass>,
    /// Each tag's value, with the place of its key.
    pub(in crate::mapping) tags: Vec<(Spanned<String>, String)>,
    pub(in crate::mapping) warm_throughput: Option<Spanned<Throughput>>,
    pub(in crate::mapping) replicas: Vec<Spanned<String>>,
    pub(in crate::mapping) autoscale: Option<Spanned<Autoscale>>,
    pub(in crate::mapping) key_escape: bool,
}

/// What becomes of items that are too large or have expired.
#[derive(Debug, Default)]
pub(in crate::mapping) struct RawLife {
    pub(in crate::mapping) expired: Option<Spanned<Expired>>,
    pub(in crate::mapping) compress: Vec<Spanned<String>>,
}

pub(super) fn read_settings(table: &Node) -> RawSettings {
    let truth = |name: &str| match table.get(name)?.text() {
        Some("true") => Some(true),
        Some("false") => Some(false),
        _ => None,
    };
    let tags = named(table.get("tags")).iter().map(|entry| {
        let key = Spanned {
            value: entry.key.clone(),
            span: entry.key_span.clone(),
        };
        (key, entry.value.text().unwrap_or_default().to_owned())
    });
    RawSettings {
        stream: table
            .get("stream")
            .and_then(|node| word(StreamView::WORDS, node)),
        point_in_time_recovery: truth("point_in_time_recovery"),
        deletion_protection: truth("deletion_protection"),
        class: table
            .get("class")
            .and_then(|node| Some(word(TableClass::WORDS, node)?.value)),
        tags: tags.collect(),
        warm_throughput: table.get("warm_throughput").and_then(|node| {
            read_throughput(node).map(|value| Spanned {
                value,
                span: node.span.clone(),
            })
        }),
        replicas: texts(table.get("replicas")),
        autoscale: table.get("billing").and_then(read_autoscale),
        key_escape: table.get("key_escape").and_then(Node::text) == Some("percent"),
    }
}

/// The `autoscale` of a `billing`.
pub(super) fn read_autoscale(billing: &Node) -> Option<Spanned<Autoscale>> {
    let node = billing.get("autoscale")?;
    let number = |name| node.get(name)?.text()?.parse().ok();
    Some(Spanned {
        value: Autoscale {
            min: number("min"),
            max: number("max")?,
            target: number("target")?,
        },
        span: node.span.clone(),
    })
}

pub(super) fn read_life(item: &Node) -> RawLife {
    const EXPIRED: &[(&str, Expired)] = &[
        ("load", Expired::Load),
        ("skip", Expired::Skip),
        ("archive", Expired::Archive),
    ];
    RawLife {
        expired: item.get("expired").and_then(|node| word(EXPIRED, node)),
        compress: texts(item.get("oversize").and_then(|node| node.get("compress"))),
    }
}

fn word<T: Copy>(words: &[(&str, T)], node: &Node) -> Option<Spanned<T>> {
    let written = spanned(node)?;
    let (_, value) = words.iter().find(|(word, _)| *word == written.value)?;
    Some(Spanned {
        value: *value,
        span: written.span,
    })
}
