//! The table's settings, and the words of the mapping that stand for values.

use dynafold_dynamodb::{Autoscale, Settings, StreamView, TableClass};

use super::{Spanned, named, plain, read_throughput, spanned};
use crate::model::Expired;
use crate::yaml::Node;

/// What the mapping says of the table besides keys, indexes, TTL and billing.
pub(super) fn read_settings(table: &Node) -> Settings {
    let tags = named(table.get("tags")).iter().map(|entry| {
        let value = entry.value.text().unwrap_or_default();
        (entry.key.clone(), value.to_owned())
    });
    let stream = table.get("stream");
    let class = table.get("class");
    Settings {
        stream: stream.and_then(|node| Some(word(StreamView::WORDS, node)?.value)),
        point_in_time_recovery: table.read("point_in_time_recovery"),
        deletion_protection: table.read("deletion_protection"),
        class: class.and_then(|node| Some(word(TableClass::WORDS, node)?.value)),
        tags: tags.collect(),
        warm_throughput: table.get("warm_throughput").and_then(read_throughput),
        replicas: table.get("replicas").map(plain).unwrap_or_default(),
        autoscale: table
            .get("billing")
            .and_then(|billing| Some(read_autoscale(billing)?.value)),
    }
}

/// The `autoscale` of a `billing`.
pub(crate) fn read_autoscale(billing: &Node) -> Option<Spanned<Autoscale>> {
    let node = billing.get("autoscale")?;
    Some(Spanned {
        value: Autoscale {
            min: node.read("min"),
            max: node.read("max")?,
            target: node.read("target")?,
        },
        span: node.span.clone(),
    })
}

/// The words for what becomes of expired items.
pub(super) const EXPIRED: &[(&str, Expired)] = &[
    ("load", Expired::Load),
    ("skip", Expired::Skip),
    ("archive", Expired::Archive),
];

/// What a word stands for.
pub(crate) fn word<T: Copy>(words: &[(&str, T)], node: &Node) -> Option<Spanned<T>> {
    let written = spanned(node)?;
    let (_, value) = words.iter().find(|(word, _)| *word == written.value)?;
    Some(written.with(*value))
}
