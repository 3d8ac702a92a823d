//! What becomes of items that have expired or are too large, and what is escaped in keys.

use std::sync::Arc;

use dynafold_dynamodb::Table;
use dynafold_relational::catalog::TypeFamily;

use super::ResolvedItem;
use crate::diagnostic::{Code, Diagnostics, did_you_mean};
use crate::model::{AttributeNode, Expired, Template};
use crate::proof::{key_attributes, sort_keys};
use crate::raw::{RawItem, Spanned};
use crate::template::{Escape, Filter};

/// Escapes the values in an item type's key templates: those of the table's key and of indexes.
pub(super) fn escape(attributes: &mut [(Arc<str>, AttributeNode)], table: &Table) {
    for (name, node) in attributes {
        if is_key(name, table)
            && let Some(template) = template(node)
        {
            escape_template(template);
        }
    }
}

pub(super) fn is_key(name: &str, table: &Table) -> bool {
    let keys = key_attributes(table);
    keys.iter().any(|(key, _)| *key.name == *name)
}

/// Escapes the values of one template, where text stands around them.
pub(super) fn escape_template(template: &mut Template) {
    if let Some(escape) = Escape::of(template).map(Arc::new) {
        for placeholder in template.placeholders_mut() {
            placeholder.escape = Some(escape.clone());
        }
    }
}

/// The template that an attribute is made from, whatever condition or type goes with it.
fn template(node: &mut AttributeNode) -> Option<&mut Template> {
    match node {
        AttributeNode::Template(template) => Some(template),
        AttributeNode::When { value, .. } | AttributeNode::Typed { value, .. } => template(value),
        _ => None,
    }
}

/// Holds what an item type says of its items' life against the table and its attributes.
pub(super) fn check(raw: &RawItem, item: &ResolvedItem, table: &Table, diagnostics: &Diagnostics) {
    if let Some(expired) = &raw.expired
        && expired.value != Expired::Load
    {
        check_expired(expired, item, table, diagnostics);
    }
    let mut earlier: Vec<&str> = Vec::new();
    for name in &raw.compress {
        let fault = if earlier.contains(&name.value.as_str()) {
            Some((format!("`{}` is named twice", name.value), None))
        } else {
            uncompressible(&name.value, item, table)
        };
        if let Some((message, help)) = fault {
            let help = help.unwrap_or_else(|| {
                "name attributes that hold text, documents, lists, maps or sets".to_owned()
            });
            diagnostics.add(Code::Compress, name.span.clone(), message, help);
        }
        earlier.push(&name.value);
    }
    digits_in_order(item, table, diagnostics);
}

fn check_expired(
    expired: &Spanned<Expired>,
    item: &ResolvedItem,
    table: &Table,
    diagnostics: &Diagnostics,
) {
    let (message, help) = match &table.ttl {
        None => (
            "nothing expires: the table has no `ttl`".to_owned(),
            "name the attribute with the expiry time under `table`: ttl: expires_at".to_owned(),
        ),
        Some(ttl) if item.item.node(ttl).is_none() && item.item.spreads.is_empty() => (
            format!(
                "no `{}` expires: it has no attribute `{ttl}`",
                item.item.name
            ),
            format!("give it the attribute, in epoch seconds: {ttl}: \"{{column | epoch}}\""),
        ),
        Some(_) => return,
    };
    diagnostics.add(Code::WrongValue, expired.span.clone(), message, help);
}

/// Why an attribute cannot be compressed, and what to do about it.
fn uncompressible(
    name: &str,
    item: &ResolvedItem,
    table: &Table,
) -> Option<(String, Option<String>)> {
    let mut help = None;
    let why = if is_key(name, table) {
        "a key attribute, which cannot be compressed".to_owned()
    } else if table.ttl.as_deref() == Some(name) {
        "the TTL attribute, which must stay a number".to_owned()
    } else if let Some(node) = item.item.node(name) {
        match node.known_family()? {
            TypeFamily::Binary => {
                help = Some("make it text with `| base64`, or leave it out here".to_owned());
                "binary already, so readers could not tell whether it is compressed".to_owned()
            }
            family @ (TypeFamily::Number | TypeFamily::Boolean) => {
                format!("{}, which is never large", family.name())
            }
            _ => return None,
        }
    } else {
        let names = item.item.attributes.iter().map(|(name, _)| name.as_ref());
        let message = format!("`{}` has no attribute `{name}`", item.item.name);
        let fault = (message, did_you_mean(name, names));
        return item.item.spreads.is_empty().then_some(fault);
    };
    Some((format!("`{name}` is {why}"), help))
}

/// Digits that stand for themselves in a sort key are escaped in its numbers and times: `%31` does
/// not sort where `1` does.
fn digits_in_order(item: &ResolvedItem, table: &Table, diagnostics: &Diagnostics) {
    for key in sort_keys(table) {
        let Some(AttributeNode::Template(template)) = item.item.node(key) else {
            continue;
        };
        if let Some(written) = disordered(template) {
            let message = format!(
                "`{written}` sorts correctly as text, but `key_escape` escapes each of its digits that is also in the template's own text"
            );
            let help = "leave digits out of the text that the template itself contains";
            diagnostics.add(Code::EscapedOrder, item.place(key), message, help);
        }
    }
}

/// A value whose text is in the order of its numbers or times, and holds escaped digits.
fn disordered(template: &Template) -> Option<&Arc<str>> {
    let ordered = |filter: &Filter| {
        matches!(
            filter,
            Filter::Pad { .. }
                | Filter::Desc { .. }
                | Filter::Ordered
                | Filter::Iso
                | Filter::Date
                | Filter::Format(_)
        )
    };
    let found = template.placeholders().find(|placeholder| {
        let in_order = match placeholder.filters.last() {
            Some(filter) => ordered(filter),
            None => placeholder.family == TypeFamily::Time,
        };
        let escape = placeholder.escape.as_ref();
        in_order && escape.is_some_and(|escape| ('0'..='9').any(|digit| escape.has(digit)))
    });
    found.map(|placeholder| &placeholder.place.written)
}
