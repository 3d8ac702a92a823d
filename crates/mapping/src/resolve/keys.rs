//! What DynamoDB asks of key attributes and of the TTL attribute, held against each item type.

use dynafold_dynamodb::{Index, KeyAttribute, KeyType};
use dynafold_relational::catalog::{DataType, TypeFamily};

use super::{ResolvedItem, ResolvedMapping};
use crate::diagnostic::{Code, Diagnostics, did_you_mean};
use crate::model::{AttributeNode, Expired, Placeholder, Template};
use crate::proof::key_attributes;
use crate::raw::Spanned;
use crate::template::Filter;

pub(super) fn check(whole: &ResolvedMapping<'_>) {
    let diagnostics = whole.diagnostics;
    let keys = key_attributes(whole.table);
    for item in whole.resolved {
        for (key, _) in &keys {
            check_type(item, key, diagnostics);
        }
        if let Some(ttl) = &whole.table.ttl {
            check_ttl(item, ttl, diagnostics);
        }
    }
    // An item type that says what becomes of expired items is told itself that it has none.
    let sets_expired = |item: &ResolvedItem| item.item.expired != Expired::Load;
    if let Some(ttl) = &whole.raw.table.ttl
        && whole.is_complete()
        && !whole.resolved.iter().any(sets_expired)
    {
        check_ttl_is_set(ttl, whole.resolved, diagnostics);
    }
}

fn fits(key_type: KeyType, family: TypeFamily) -> bool {
    match key_type {
        KeyType::S => matches!(family, TypeFamily::Text | TypeFamily::Time),
        KeyType::N => family == TypeFamily::Number,
        KeyType::B => family == TypeFamily::Binary,
    }
}

fn check_type(item: &ResolvedItem, key: &KeyAttribute, diagnostics: &Diagnostics) {
    let Some(given) = item
        .item
        .node(&key.name)
        .and_then(AttributeNode::known_family)
    else {
        return;
    };
    if fits(key.key_type, given) {
        return;
    }
    let wanted = match key.key_type {
        KeyType::S => "S (string)",
        KeyType::N => "N (number)",
        KeyType::B => "B (binary)",
    };
    let constant = matches!(item.item.node(&key.name), Some(AttributeNode::Constant(_)));
    let help = match (key.key_type, given) {
        (KeyType::S, _) if constant => "put it in quotes to make it text".to_owned(),
        (KeyType::S, TypeFamily::Number) => format!(
            "make it text: \"{{… | string}}\" or \"{{… | pad(10)}}\"; or declare the key as a number: {{ name: {}, type: N }}",
            key.name
        ),
        (KeyType::S, TypeFamily::Binary) => format!(
            "make it text: \"{{… | hex}}\"; or declare the key as binary: {{ name: {}, type: B }}",
            key.name
        ),
        (KeyType::S, TypeFamily::Boolean) => {
            "make it text: \"{… | string}\", or quote it".to_owned()
        }
        (KeyType::N, TypeFamily::Text) => {
            "write a number alone, without text around it: \"{column}\", or \"{column | number}\""
                .to_owned()
        }
        _ => "convert the value with a filter, or declare another type: a key attribute is a string, a number or binary".to_owned(),
    };
    let message = format!(
        "`{}` is a key attribute of type {wanted}, but here it is {}",
        key.name,
        given.name()
    );
    diagnostics.add(Code::KeyType, item.place(&key.name), message, help);
}

/// Some item type must set the TTL attribute: else nothing ever expires.
fn check_ttl_is_set(ttl: &Spanned<String>, resolved: &[ResolvedItem], diagnostics: &Diagnostics) {
    let may_have = |item: &ResolvedItem| {
        item.spans.contains_key(ttl.value.as_str()) || !item.item.spreads.is_empty()
    };
    if resolved.is_empty() || resolved.iter().any(may_have) {
        return;
    }
    let attributes = resolved.iter().flat_map(|item| &item.item.attributes);
    let names = attributes.map(|(name, _)| name.as_ref());
    let name = &ttl.value;
    let give = || {
        format!(
            "give an item type the attribute, in epoch seconds: {name}: \"{{column | epoch}}\"; or remove `ttl`"
        )
    };
    let help = did_you_mean(name, names).unwrap_or_else(give);
    let message = format!("no item type sets the TTL attribute `{name}`, so nothing expires");
    diagnostics.add(Code::UnknownAttribute, ttl.span.clone(), message, help);
}

fn check_ttl(item: &ResolvedItem, ttl: &str, diagnostics: &Diagnostics) {
    let Some(node) = item.item.node(ttl) else {
        return;
    };
    let (given, help) = match (
        node.known_family(),
        node.template().and_then(Template::single),
    ) {
        (_, Some(value)) if value.filters.contains(&Filter::EpochMs) => (
            "one of milliseconds",
            "DynamoDB would keep the items for thousands of years: use `| epoch`".to_owned(),
        ),
        (Some(TypeFamily::Number), Some(value)) if is_small(item, value) => (
            "a number of too few digits for it",
            format!(
                "`{}` cannot hold the seconds of a time after 2001, and DynamoDB never deletes an item that expired more than five years ago: {ttl}: \"{{column | epoch}}\"",
                value.place.written
            ),
        ),
        (None | Some(TypeFamily::Number), _) => return,
        (Some(other), _) => (
            other.name(),
            format!("DynamoDB ignores any other: {ttl}: \"{{column | epoch}}\""),
        ),
    };
    let message =
        format!("the TTL attribute `{ttl}` must be a number of seconds, but here it is {given}");
    diagnostics.add(Code::TtlType, item.place(ttl), message, help);
}

/// Whether a number column is too narrow for the seconds of any year from 2001 on, which have ten
/// digits.
fn is_small(item: &ResolvedItem, value: &Placeholder) -> bool {
    let column = value.plain_column();
    let column = column.and_then(|at| item.facts.columns.get(at));
    match column.and_then(|column| column.data_type.as_ref()) {
        Some(DataType::Integer { bits, .. }) => *bits < 32,
        Some(DataType::Decimal {
            precision: Some(precision),
            scale,
        }) => i64::from(*precision) - i64::from(scale.unwrap_or(0)) < 10,
        _ => false,
    }
}

/// Whether an item type has all key attributes of an index, so that its items can be in it.
pub(super) fn may_be_in(item: &ResolvedItem, index: &Index) -> bool {
    let has =
        |key: &KeyAttribute| item.spans.contains_key(&key.name) || !item.item.spreads.is_empty();
    index.key().all(has)
}
