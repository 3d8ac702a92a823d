//! DynamoDB JSON: the one writer that feeds requests, previews and reject files alike.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use dynafold_relational::value::quote;
use serde_json::Value;

use super::{Attribute, Item};

/// Writes an item as DynamoDB JSON: `{"PK":{"S":"USER#001"},…}`.
pub fn write_item(out: &mut String, item: &Item) {
    members(out, &item.attributes);
}

/// An item as a value of JSON.
#[must_use]
pub fn item_value(item: &Item) -> Value {
    let mut text = String::new();
    write_item(&mut text, item);
    serde_json::from_str(&text).unwrap_or(Value::Null)
}

/// Writes an attribute value as DynamoDB JSON: `{"S":"USER#001"}`.
pub fn write_attribute(out: &mut String, attribute: &Attribute) {
    out.push_str(match attribute {
        Attribute::S(_) => "{\"S\":",
        Attribute::N(_) => "{\"N\":",
        Attribute::B(_) => "{\"B\":",
        Attribute::Bool(true) => "{\"BOOL\":true",
        Attribute::Bool(false) => "{\"BOOL\":false",
        Attribute::Null => "{\"NULL\":true",
        Attribute::L(_) => "{\"L\":",
        Attribute::M(_) => "{\"M\":",
        Attribute::Ss(_) => "{\"SS\":",
        Attribute::Ns(_) => "{\"NS\":",
        Attribute::Bs(_) => "{\"BS\":",
    });
    match attribute {
        Attribute::Bool(_) | Attribute::Null => {}
        Attribute::S(text) => quote(out, text),
        // Canonical numbers hold nothing that JSON would escape.
        Attribute::N(number) => plain(out, number.as_str()),
        Attribute::B(bytes) => plain(out, &STANDARD.encode(bytes)),
        Attribute::L(elements) => list(out, elements, write_attribute),
        Attribute::M(attributes) => members(out, attributes),
        Attribute::Ss(texts) => list(out, texts, |out, text| quote(out, text)),
        Attribute::Ns(numbers) => list(out, numbers, |out, number| plain(out, number.as_str())),
        Attribute::Bs(all) => list(out, all, |out, bytes| plain(out, &STANDARD.encode(bytes))),
    }
    out.push('}');
}

fn members(out: &mut String, attributes: &[(Arc<str>, Attribute)]) {
    enclosed(out, "{}", attributes, |out, member| {
        named(out, member, write_attribute);
    });
}

/// A member of a map, with its value as `write` has it.
fn named(
    out: &mut String,
    (name, value): &(Arc<str>, Attribute),
    write: impl Fn(&mut String, &Attribute),
) {
    quote(out, name);
    out.push(':');
    write(out, value);
}

fn list<T>(out: &mut String, elements: &[T], write: impl Fn(&mut String, &T)) {
    enclosed(out, "[]", elements, write);
}

/// Writes all of them with commas between, within two brackets.
fn enclosed<T>(out: &mut String, brackets: &str, all: &[T], write: impl Fn(&mut String, &T)) {
    let (open, close) = brackets.split_at(1);
    out.push_str(open);
    for (at, one) in all.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        write(out, one);
    }
    out.push_str(close);
}

fn plain(out: &mut String, text: &str) {
    out.push('"');
    out.push_str(text);
    out.push('"');
}

// Attributes as people read them.

/// An attribute value as people read it: text as it is, others as [`write_plain`] writes them.
#[must_use]
pub fn readable(value: &Attribute) -> String {
    let mut text = String::new();
    match value {
        Attribute::S(plain) => text.push_str(plain),
        other => write_plain(&mut text, other),
    }
    text
}

/// Writes an attribute value as JSON without DynamoDB's types; sets stand as lists, binary as in DynamoDB JSON.
pub fn write_plain(out: &mut String, value: &Attribute) {
    match value {
        Attribute::S(text) => quote(out, text),
        Attribute::N(number) => out.push_str(number.as_str()),
        Attribute::Bool(truth) => out.push_str(if *truth { "true" } else { "false" }),
        Attribute::Null => out.push_str("null"),
        Attribute::B(_) | Attribute::Bs(_) => write_attribute(out, value),
        Attribute::L(all) => list(out, all, write_plain),
        Attribute::Ss(all) => list(out, all, |out, text| quote(out, text)),
        Attribute::Ns(all) => list(out, all, |out, number| out.push_str(number.as_str())),
        Attribute::M(members) => {
            enclosed(out, "{}", members, |out, member| {
                named(out, member, write_plain);
            });
        }
    }
}
