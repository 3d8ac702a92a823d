//! DynamoDB JSON: the one writer that feeds requests, previews and reject files alike, and the one reader.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use dynafold_relational::value::{Number, Text, quote};
use serde_json::{Value, json};

use super::{Attribute, Item, Request, Scalar};

/// Writes an item as DynamoDB JSON: `{"PK":{"S":"USER#001"},…}`.
pub fn write_item(out: &mut String, item: &Item) {
    members(out, &item.attributes);
}

/// An item as a value of JSON.
pub fn item_value(item: &Item) -> Value {
    let members = item.attributes.iter();
    attributes_value(members.map(|(name, value)| (&**name, value)))
}

/// Attributes by their names as a value of JSON.
pub fn attributes_value<'a>(members: impl Iterator<Item = (&'a str, &'a Attribute)>) -> Value {
    let members = members.map(|(name, value)| {
        let value = serde_json::from_str(&attribute_json(value)).unwrap_or(Value::Null);
        (name.to_owned(), value)
    });
    Value::Object(members.collect())
}

/// Reads the attributes of an item or of a key, in the order of their names; `None` where it is neither.
pub fn read_attributes(json: Value) -> Option<Vec<(Arc<str>, Attribute)>> {
    let Value::Object(members) = json else {
        return None;
    };
    let members = members.into_iter();
    let read = members.map(|(name, value)| Some((name.into(), read_attribute(value)?)));
    let mut attributes: Vec<(Arc<str>, Attribute)> = read.collect::<Option<_>>()?;
    attributes.sort_by(|(a, _), (b, _)| a.cmp(b));
    Some(attributes)
}

/// Reads an attribute value; `None` where it is none that DynamoDB can hold.
pub fn read_attribute(json: Value) -> Option<Attribute> {
    let Value::Object(members) = json else {
        return None;
    };
    let number = |text: String| Number::parse(&text).ok();
    let bytes = |text: String| STANDARD.decode(text).ok();
    let (kind, value) = members.into_iter().next()?;
    Some(match (kind.as_str(), value) {
        ("S", Value::String(text)) => Attribute::S(text.into()),
        ("N", Value::String(text)) => Attribute::N(number(text)?),
        ("B", Value::String(text)) => Attribute::B(bytes(text)?),
        ("BOOL", Value::Bool(truth)) => Attribute::Bool(truth),
        ("NULL", Value::Bool(_)) => Attribute::Null,
        ("L", Value::Array(all)) => {
            Attribute::L(all.into_iter().map(read_attribute).collect::<Option<_>>()?)
        }
        ("M", members) => Attribute::M(read_attributes(members)?),
        ("SS", Value::Array(all)) => Attribute::Ss(each(all, |text| Some(Text::from(text)))?),
        ("NS", Value::Array(all)) => Attribute::Ns(each(all, number)?),
        ("BS", Value::Array(all)) => Attribute::Bs(each(all, bytes)?),
        _ => return None,
    })
}

/// The elements of a set, which are texts in JSON.
fn each<T>(all: Vec<Value>, read: impl Fn(String) -> Option<T>) -> Option<Vec<T>> {
    let read = all.into_iter().map(|element| match element {
        Value::String(text) => read(text),
        _ => None,
    });
    read.collect()
}

/// A request as JSON, with the name of its operation: what is sent, and what the AWS CLI takes
/// (`aws dynamodb query --cli-input-json`).
pub fn request_value(request: &Request, table: &str) -> (&'static str, Value) {
    match request {
        Request::Get { key, consistent } => {
            let key = key.iter().map(|(name, value)| (&**name, value));
            let members = [
                ("TableName", Some(json!(table))),
                ("Key", Some(attributes_value(key))),
                ("ConsistentRead", consistent.then_some(json!(true))),
            ];
            ("GetItem", object(members))
        }
        Request::Query(query) => {
            let names = query.names.iter();
            let names = names.map(|(place, name)| (place.clone(), json!(&**name)));
            let values = query.values.iter();
            let values = values.map(|(place, value)| (place.as_str(), value));
            let members = [
                ("TableName", Some(json!(table))),
                ("IndexName", query.index.as_deref().map(Value::from)),
                ("KeyConditionExpression", Some(json!(query.condition))),
                ("FilterExpression", query.filter.as_deref().map(Value::from)),
                (
                    "ExpressionAttributeNames",
                    Some(Value::Object(names.collect())),
                ),
                ("ExpressionAttributeValues", Some(attributes_value(values))),
                ("ScanIndexForward", query.descending.then_some(json!(false))),
                ("Limit", query.limit.map(|limit| json!(limit))),
                ("ConsistentRead", query.consistent.then_some(json!(true))),
            ];
            ("Query", object(members))
        }
    }
}

/// An object of the members that there are.
pub fn object<const N: usize>(members: [(&str, Option<Value>); N]) -> Value {
    let there = members.into_iter();
    let there = there.filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Value::Object(there.collect())
}

/// An attribute value as DynamoDB JSON.
pub fn attribute_json(attribute: &Attribute) -> String {
    let mut text = String::new();
    write_attribute(&mut text, attribute);
    text
}

/// Writes an attribute value as DynamoDB JSON: `{"S":"USER#001"}`.
pub fn write_attribute(out: &mut String, attribute: &Attribute) {
    if let Some(scalar) = attribute.scalar() {
        write_scalar(out, scalar);
        return;
    }
    out.push_str(match attribute {
        Attribute::L(_) => "{\"L\":",
        Attribute::M(_) => "{\"M\":",
        Attribute::Ss(_) => "{\"SS\":",
        Attribute::Ns(_) => "{\"NS\":",
        _ => "{\"BS\":",
    });
    match attribute {
        Attribute::L(elements) => list(out, elements, write_attribute),
        Attribute::M(attributes) => members(out, attributes),
        Attribute::Ss(texts) => list(out, texts, |out, text| quote(out, text)),
        Attribute::Ns(numbers) => list(out, numbers, |out, number| plain(out, number.as_str())),
        Attribute::Bs(all) => list(out, all, |out, bytes| plain(out, &STANDARD.encode(bytes))),
        _ => {}
    }
    out.push('}');
}

/// Writes a value that holds no others as DynamoDB JSON.
pub fn write_scalar(out: &mut String, scalar: Scalar<'_>) {
    match scalar {
        Scalar::Bool(true) => out.push_str("{\"BOOL\":true}"),
        Scalar::Bool(false) => out.push_str("{\"BOOL\":false}"),
        Scalar::Null => out.push_str("{\"NULL\":true}"),
        Scalar::S(text) => {
            out.push_str("{\"S\":");
            quote(out, text);
            out.push('}');
        }
        // Canonical numbers hold nothing that JSON would escape.
        Scalar::N(number) => {
            out.push_str("{\"N\":\"");
            out.push_str(number.as_str());
            out.push_str("\"}");
        }
        Scalar::B(bytes) => {
            out.push_str("{\"B\":\"");
            STANDARD.encode_string(bytes, out);
            out.push_str("\"}");
        }
    }
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

/// An attribute value as people read it: text as it is, others as [`write_plain`] writes them.
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
