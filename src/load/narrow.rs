//! A mapping with nothing left but what its keys need: for the pass that proves them.
//!
//! Columns that no key is made from stay NULL, so that the database need not send them; children
//! are not read at all. A row whose item would be rejected for another attribute still has a key
//! here: where keys are shared, [`super::prove`] folds the rows whole. Item types whose rows have no key are left as they are.

use std::collections::HashSet;

use crate::mapping::model::{Expired, Gather, ItemType, Model, Node, Pass, Template};
use crate::source::{Scan, ScanColumn};

/// Leaves out of a mapping what the keys of its items do not need. Row keys, conditions and what
/// tells expired items stay.
pub(crate) fn narrow(model: &Model) -> Model {
    let mut narrow = model.clone();
    let mut keys: Vec<&str> = vec![&model.table.partition.name];
    keys.extend(model.table.sort.iter().map(|sort| &*sort.name));
    // Items stand for rows without a key: they must be whole.
    let keyed = |item_type: &&mut ItemType| !item_type.is_keyless();
    for item_type in narrow.item_types.iter_mut().filter(keyed) {
        let ttl = model.table.ttl.as_deref();
        let ttl = ttl.filter(|_| item_type.expired != Expired::Load);
        let wanted = |name: &str| keys.contains(&name) || ttl == Some(name);
        item_type.attributes.retain(|(name, _)| wanted(name));
        // Where the TTL is not declared, it may come out of a document.
        if ttl.is_none_or(|ttl| item_type.attributes.iter().any(|(name, _)| &**name == ttl)) {
            item_type.spreads.clear();
        }
        item_type.compress.clear();
    }
    for pass in &mut narrow.passes {
        let used = used(pass, &narrow.item_types);
        thin(&mut pass.scan, &used);
    }
    narrow
}

/// The places of a pass's rows that its item types need.
fn used(pass: &Pass, item_types: &[ItemType]) -> HashSet<usize> {
    let mut used = HashSet::new();
    for item_type in pass
        .item_types
        .iter()
        .filter_map(|index| item_types.get(*index))
    {
        used.extend(item_type.row_key.iter().map(|(_, column)| *column));
        used.extend(
            item_type
                .explodes
                .iter()
                .map(|explode| explode.array.column),
        );
        used.extend(item_type.spreads.iter().map(|place| place.column));
        for (_, node) in &item_type.attributes {
            node.visit(&mut |node| places(node, &mut used));
        }
    }
    used
}

fn places(node: &Node, used: &mut HashSet<usize>) {
    let mut take = |template: &Template| {
        used.extend(
            template
                .placeholders()
                .map(|placeholder| placeholder.place.column),
        );
    };
    match node {
        Node::Template(template) => take(template),
        Node::Embed(embed) => {
            if let Gather::Map(name) = &embed.gather {
                take(name);
            }
            used.insert(embed.column);
        }
        Node::When { flag, .. } => {
            used.insert(*flag);
        }
        Node::Map { spreads, .. } => used.extend(spreads.iter().map(|place| place.column)),
        Node::Constant(_) | Node::List(_) | Node::Typed { .. } => {}
    }
}

fn thin(scan: &mut Scan, used: &HashSet<usize>) {
    let embeds = scan.embeds().any(|(column, _)| used.contains(&column));
    for (index, column) in scan.columns.iter_mut().enumerate() {
        let keyed = embeds && scan.key.contains(&index);
        if !used.contains(&index) && !keyed {
            *column = ScanColumn::Slot;
        }
    }
    if !embeds {
        scan.key.clear();
    }
    let needs_joins = scan.columns.iter().any(|column| match column {
        ScanColumn::Column { join, .. } => join.is_some(),
        ScanColumn::Flag(_) => true,
        ScanColumn::Embed(_) | ScanColumn::Slot => false,
    });
    if !needs_joins && !embeds && scan.conditions.is_empty() {
        scan.joins.clear();
    }
}
