//! What DynamoDB asks of key attributes and of the TTL attribute, held against each item type.

use std::sync::Arc;

use super::item::Resolved;
use crate::catalog::Family;
use crate::diagnostic::{Code, Diagnostic};
use crate::item::Attribute;
use crate::mapping::model::{DynamoType, Gather, Index, KeyAttribute, KeyType, Node, Part, Table};
use crate::mapping::template::Filter;

pub(super) fn check(table: &Table, resolved: &[Resolved], diagnostics: &mut Vec<Diagnostic>) {
    let own = std::iter::once(&table.partition).chain(&table.sort);
    let indexes = table.indexes.iter().chain(&table.local_indexes);
    let of_indexes = indexes.flat_map(|index| index.partition.iter().chain(&index.sort));
    let mut seen: Vec<&Arc<str>> = Vec::new();
    let mut keys: Vec<&KeyAttribute> = Vec::new();
    for key in own.chain(of_indexes) {
        if !seen.contains(&&key.name) {
            seen.push(&key.name);
            keys.push(key);
        }
    }
    for item in resolved {
        for key in &keys {
            check_type(item, key, diagnostics);
        }
        if let Some(ttl) = &table.ttl {
            check_ttl(item, ttl, diagnostics);
        }
    }
}

/// What an item type makes an attribute from.
pub(super) fn node<'a>(item: &'a Resolved, name: &str) -> Option<&'a Node> {
    let mut attributes = item.item.attributes.iter();
    attributes
        .find(|(other, _)| other.as_ref() == name)
        .map(|(_, node)| node)
}

/// The kind of value that a node makes; `None` when only the rows tell.
pub(super) fn family(node: &Node) -> Option<Family> {
    match node {
        Node::Template(template) => match template.family() {
            Family::Any | Family::Document => None,
            family => Some(family),
        },
        Node::Constant(Attribute::N(_)) => Some(Family::Number),
        Node::Constant(_) => Some(Family::Boolean),
        Node::Map { .. } => Some(Family::Map),
        Node::List(_) => Some(Family::List),
        Node::When { value, .. } => family(value),
        Node::Typed { wanted, .. } => Some(match wanted {
            DynamoType::S => Family::Text,
            DynamoType::N => Family::Number,
            DynamoType::B => Family::Binary,
            DynamoType::Bool => Family::Boolean,
            DynamoType::Ss | DynamoType::Ns | DynamoType::Bs => Family::Set,
            DynamoType::L => Family::List,
            DynamoType::M => Family::Map,
        }),
        Node::Embed(embed) => Some(match embed.gather {
            Gather::List => Family::List,
            Gather::Set => Family::Set,
            Gather::Map(_) => Family::Map,
        }),
    }
}

fn fits(key_type: KeyType, family: Family) -> bool {
    match key_type {
        KeyType::S => matches!(family, Family::Text | Family::Time),
        KeyType::N => family == Family::Number,
        KeyType::B => family == Family::Binary,
    }
}

fn check_type(item: &Resolved, key: &KeyAttribute, diagnostics: &mut Vec<Diagnostic>) {
    let Some(given) = node(item, &key.name).and_then(family) else {
        return;
    };
    if fits(key.key_type, given) {
        return;
    }
    let span = item
        .spans
        .get(&key.name)
        .cloned()
        .unwrap_or(item.name_span.clone());
    let wanted = match key.key_type {
        KeyType::S => "S (string)",
        KeyType::N => "N (number)",
        KeyType::B => "B (binary)",
    };
    let constant = matches!(node(item, &key.name), Some(Node::Constant(_)));
    let help = match (key.key_type, given) {
        (KeyType::S, _) if constant => "put it in quotes to make it text".to_owned(),
        (KeyType::S, Family::Number) => format!(
            "make it text: \"{{… | string}}\" or \"{{… | pad(10)}}\"; or say that the key is a number: {{ name: {}, type: N }}",
            key.name
        ),
        (KeyType::S, Family::Binary) => format!(
            "make it text: \"{{… | hex}}\"; or say that the key is binary: {{ name: {}, type: B }}",
            key.name
        ),
        (KeyType::S, Family::Boolean) => "make it text: \"{… | string}\", or quote it".to_owned(),
        (KeyType::N, Family::Text) => {
            "a template with text around it makes text; \"{column}\" alone keeps a number"
                .to_owned()
        }
        _ => "a key attribute is a string, a number or binary".to_owned(),
    };
    diagnostics.push(
        Diagnostic::new(
            Code::KeyType,
            span,
            format!(
                "`{}` is a key attribute of type {wanted}, but here it is {}",
                key.name,
                given.name()
            ),
        )
        .with_help(help),
    );
}

fn check_ttl(item: &Resolved, ttl: &str, diagnostics: &mut Vec<Diagnostic>) {
    let Some(node) = node(item, ttl) else {
        return;
    };
    let span = || {
        let span = item.spans.get(ttl).cloned();
        span.unwrap_or(item.name_span.clone())
    };
    if is_in_milliseconds(node) {
        diagnostics.push(
            Diagnostic::new(
                Code::TtlType,
                span(),
                format!("the TTL attribute `{ttl}` must be a number of seconds, but here it is one of milliseconds"),
            )
            .with_help("DynamoDB would keep the items for thousands of years: say `| epoch`"),
        );
    }
    let Some(given) = family(node) else {
        return;
    };
    if given != Family::Number {
        diagnostics.push(
            Diagnostic::new(
                Code::TtlType,
                span(),
                format!(
                    "the TTL attribute `{ttl}` must be a number of seconds, but here it is {}",
                    given.name()
                ),
            )
            .with_help(format!(
                "DynamoDB ignores any other: {ttl}: \"{{column | epoch}}\""
            )),
        );
    }
}

fn is_in_milliseconds(node: &Node) -> bool {
    let Node::Template(template) = node else {
        return false;
    };
    matches!(template.parts.as_slice(), [Part::Value(value)] if value.filters.last() == Some(&Filter::EpochMs))
}

/// Whether an item type has all key attributes of an index, so that its items can be in it.
pub(super) fn may_be_in(item: &Resolved, index: &Index) -> bool {
    let has =
        |key: &KeyAttribute| item.spans.contains_key(&key.name) || !item.item.spreads.is_empty();
    index.partition.iter().chain(&index.sort).all(has)
}
