//! What the attributes of an item type are made from, and what of it can be told from them.

use crate::mapping::model::{
    AccessPattern, Index, KeyAttribute, Node, Part, Place, Projection as Held, Table, Template,
};
use crate::mapping::template::Filter;

/// The key attributes of the table, and of the index that a pattern asks.
pub(super) fn keys<'m>(
    table: &'m Table,
    pattern: &AccessPattern,
) -> impl Iterator<Item = &'m KeyAttribute> + use<'m> {
    let index = index(table, pattern).into_iter();
    let keys = index.flat_map(|index| index.partition.iter().chain(&index.sort));
    std::iter::once(&table.partition)
        .chain(&table.sort)
        .chain(keys)
}

fn index<'m>(table: &'m Table, pattern: &AccessPattern) -> Option<&'m Index> {
    let name = pattern.index.as_deref()?;
    let mut indexes = table.indexes.iter().chain(&table.local_indexes);
    indexes.find(|index| *index.name == *name)
}

/// Whether what a pattern asks holds an attribute.
pub(super) fn holds(table: &Table, pattern: &AccessPattern, attribute: &str) -> bool {
    let Some(index) = index(table, pattern) else {
        return true;
    };
    keys(table, pattern).any(|key| *key.name == *attribute)
        || match &index.projection {
            Held::All => true,
            Held::Keys => false,
            Held::Include(names) => names.iter().any(|name| **name == *attribute),
        }
}

/// The places that a value is made from; `None` where it takes more: children, a condition.
pub(super) fn places(node: &Node) -> Option<Vec<Place>> {
    let mut found = Vec::new();
    let mut other = false;
    node.visit(&mut |node| match node {
        Node::Template(template) => {
            found.extend(template.placeholders().map(|one| one.place.clone()));
        }
        Node::Map { spreads, .. } => found.extend(spreads.iter().cloned()),
        Node::When { .. } | Node::Embed(_) => other = true,
        Node::Constant(_) | Node::List(_) | Node::Typed { .. } => {}
    });
    (!other).then_some(found)
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
    let faithful = |template: &Template| {
        let mut parts = template.parts.iter();
        parts.any(|part| match part {
            Part::Value(value) => {
                value.place.column == column
                    && value.place.path.is_empty()
                    && value.filters.iter().all(is_faithful)
            }
            _ => false,
        })
    };
    match node {
        Node::Template(template) => faithful(template),
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
