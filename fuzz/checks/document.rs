//! JSON documents against `serde_json`, literal by literal: what one of the two reads and the other does not, and what
//! they read differently.

use std::fmt;

use dynafold::value::{Number, Value, parse_document, write_document};
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// A JSON object with all of its members, doubled ones too.
struct Members<'t>(Vec<(String, &'t RawValue)>);

pub(crate) fn check(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let reference = serde_json::from_str::<&RawValue>(text);
    let (value, reference) = match (parse_document(text), reference) {
        (Ok(value), Ok(reference)) => (value, reference),
        (Ok(value), Err(error)) => panic!("{text:?} gives {value:?}, and serde_json says {error}"),
        // A member twice, or levels that nothing could store, are refused here and not there.
        (Err(_), Ok(reference)) => return assert!(refusable(reference.get(), 0), "{text:?}"),
        (Err(_), Err(_)) => return,
    };
    compare(&value, reference);
    let written = write_document(&value);
    let Ok(again) = parse_document(&written) else {
        panic!("{text:?} is written as {written:?}, which is no document");
    };
    // An unfit number is written as text.
    if !has_unfit(&value) {
        assert_eq!(again, value, "{text:?}");
    }
}

fn compare(value: &Value, reference: &RawValue) {
    let text = reference.get();
    match value {
        Value::Null => assert_eq!(text, "null"),
        Value::Bool(truth) => assert_eq!(text, truth.to_string()),
        Value::Text(read) => assert_eq!(*read, parsed::<String>(text)),
        Value::Number(number) => assert_eq!(Number::parse(text).as_ref(), Ok(number)),
        Value::Unfit(unfit) => {
            assert_eq!(unfit.text, text);
            assert!(Number::parse(text).is_err());
            // It is a number to JSON.
            parsed::<serde_json::Number>(text.split(['e', 'E']).next().unwrap());
        }
        Value::List(elements) => {
            let references: Vec<&RawValue> = parsed(text);
            assert_eq!(elements.len(), references.len());
            elements
                .iter()
                .zip(references)
                .for_each(|(value, reference)| compare(value, reference));
        }
        Value::Map(members) => {
            let Members(references) = parsed(text);
            assert_eq!(members.len(), references.len());
            for ((name, value), (reference_name, reference)) in members.iter().zip(references) {
                assert_eq!(**name, *reference_name);
                compare(value, reference);
            }
        }
        Value::Time(_) | Value::Bytes(_) | Value::Set(_) => panic!("no document holds {value:?}"),
    }
}

/// Whether a well-formed text has a reason to be refused: it nests deeply, names a member twice, or holds a string that
/// is no Unicode.
fn refusable(text: &str, level: usize) -> bool {
    if level > 100 {
        return true;
    }
    let within = |inner: &&RawValue| refusable(inner.get(), level + 1);
    match text.as_bytes().first() {
        Some(b'[') => parsed::<Vec<&RawValue>>(text).iter().any(within),
        Some(b'{') => {
            let Ok(Members(members)) = serde_json::from_str(text) else {
                return true;
            };
            let doubled = |at: usize| members[..at].iter().any(|other| other.0 == members[at].0);
            (0..members.len()).any(doubled) || members.iter().any(|(_, inner)| within(inner))
        }
        Some(b'"') => serde_json::from_str::<String>(text).is_err(),
        _ => false,
    }
}

fn has_unfit(value: &Value) -> bool {
    match value {
        Value::Unfit(_) => true,
        Value::List(elements) => elements.iter().any(has_unfit),
        Value::Map(members) => members.iter().any(|(_, member)| has_unfit(member)),
        _ => false,
    }
}

#[track_caller]
fn parsed<'t, T: serde::Deserialize<'t>>(text: &'t str) -> T {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{text:?}: {error}"))
}

impl<'t> serde::Deserialize<'t> for Members<'t> {
    fn deserialize<D: Deserializer<'t>>(deserializer: D) -> Result<Self, D::Error> {
        struct All;
        impl<'t> Visitor<'t> for All {
            type Value = Members<'t>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'t>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(All)
    }
}
