//! What the attributes of an item type are made from, and what of it can be told from them.

use dynafold_dynamodb::{Index, KeyAttribute, Table};
use dynafold_mapping::model::{AccessPattern, Node, Place};
use dynafold_mapping::template::Filter;

/// The key attributes of the table, and of the index that a pattern asks.
pub(super) fn keys<'m>(
    table: &'m Table,
    pattern: &AccessPattern,
) -> impl Iterator<Item = &'m KeyAttribute> + use<'m> {
    let index = pattern.index.as_deref().and_then(|name| table.index(name));
    table.key().chain(index.into_iter().flat_map(Index::key))
}

/// Whether what a pattern asks holds an attribute.
pub(super) fn holds(table: &Table, pattern: &AccessPattern, attribute: &str) -> bool {
    let index = pattern.index.as_deref().and_then(|name| table.index(name));
    index.is_none_or(|index| table.projects(index, attribute))
}

/// The places that a value is made from; `None` where it takes more: children, a condition.
pub(super) fn places(node: &Node) -> Option<Vec<&Place>> {
    let mut takes_more = false;
    node.visit(&mut |node| takes_more |= matches!(node, Node::When { .. } | Node::Embed(_)));
    (!takes_more).then(|| node.places())
}

/// The text of a node that takes nothing from the row.
pub(super) fn constant(node: &Node) -> Option<String> {
    let Node::Template(template) = node else {
        return None;
    };
    let (text, whole) = template.prefix();
    whole.then(|| text.to_owned())
}

/// Whether a column of the row can be told from what a node makes.
pub(super) fn tells(node: &Node, column: usize) -> bool {
    match node {
        Node::Template(template) => template.mandatory().any(|value| {
            value.place.column == column
                && value.place.path.is_empty()
                && value.filters.iter().all(is_faithful)
        }),
        Node::Typed { value, .. } => tells(value, column),
        _ => false,
    }
}

/// Whether a filter makes two values of two.
fn is_faithful(filter: &Filter) -> bool {
    matches!(
        filter,
        Filter::Pad { .. }
            | Filter::Desc { .. }
            | Filter::Ordered
            | Filter::Hex
            | Filter::Base64
            | Filter::Uuid { .. }
            | Filter::String
            | Filter::Number
            | Filter::Iso
            | Filter::EpochMs
            | Filter::Pseudonym
    )
}
