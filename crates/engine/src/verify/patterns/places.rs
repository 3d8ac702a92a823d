//! Places of an item type's rows: whole columns, and members of documents within them.

use dynafold_mapping::model::{AttributeNode, ItemType, Pass, ValuePath};
use dynafold_relational::catalog::DataType;
use dynafold_relational::scan::ScanColumn;

/// Whether two places are one.
pub(super) fn is_same(one: &ValuePath, other: &ValuePath) -> bool {
    one.column == other.column && one.path == other.path
}

/// The column of a table that a place of a row is: the join that reads it, its name and its type.
pub(super) fn table_column<'p>(
    pass: &'p Pass,
    place: &ValuePath,
) -> Option<(Option<usize>, &'p str, &'p DataType)> {
    match pass.scan.columns.get(place.column) {
        Some(ScanColumn::Column {
            join,
            name,
            data_type,
        }) if place.path.is_empty() => Some((*join, name.as_str(), data_type)),
        _ => None,
    }
}

/// The places that a value is made from; `None` where it takes more: children, a condition.
pub(super) fn places(node: &AttributeNode) -> Option<Vec<&ValuePath>> {
    let mut takes_more = false;
    node.visit(&mut |node| {
        takes_more |= matches!(node, AttributeNode::When { .. } | AttributeNode::Embed(_));
    });
    (!takes_more).then(|| node.places())
}

/// Attributes and members that are one place and nothing else, with their paths.
pub(super) fn carried_in<'n>(
    path: &str,
    node: &'n AttributeNode,
    found: &mut Vec<(String, &'n ValuePath)>,
) {
    if let Some(place) = node.carried() {
        found.push((path.to_owned(), place));
    } else if let AttributeNode::Map { members, .. } = node {
        for (name, member) in members {
            carried_in(&format!("{path}.{name}"), member, found);
        }
    }
}

/// Every place that the attributes of an item type take, once; whole columns first.
pub(super) fn places_of(item: &ItemType) -> Vec<ValuePath> {
    let taken = item.attributes.iter().flat_map(|(_, node)| node.places());
    let row_key = item.row_key.iter();
    let row_key = row_key.map(|(name, column)| ValuePath::of_column(*column, name.clone()));
    let all = item.spreads.iter().chain(taken).cloned().chain(row_key);
    let mut once: Vec<ValuePath> = Vec::new();
    for place in all {
        if !once.iter().any(|other| is_same(other, &place)) {
            once.push(place);
        }
    }
    once.sort_by_key(|place| place.path.len());
    once
}
