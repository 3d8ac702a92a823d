//! JSON documents, with numbers exact.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::marker::PhantomData;
use std::sync::Arc;

use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::{Number, NumberError, UnfitReason, Value};

/// Levels beyond which a document is refused: DynamoDB takes 32, and nothing deeper can be stored.
const MAX_DEPTH: usize = 100;

/// Why a text is not a JSON document that DynamoDB could hold.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    /// When the text is not well-formed JSON, or an object names a member twice.
    #[error("not a JSON document")]
    Malformed(#[source] serde_json::Error),
    /// When the document nests deeper than anything that DynamoDB could hold.
    #[error("nested deeper than {MAX_DEPTH} levels")]
    TooDeep,
}

/// Reads a JSON text. A number that DynamoDB cannot hold becomes [`Value::Unfit`] where it stands,
/// so that the rest of the document is still usable. Objects keep the order of their members.
///
/// # Errors
///
/// [`DocumentError`] when the text is malformed, names a member twice, or nests too deeply.
pub fn parse_document(text: &str) -> Result<Value, DocumentError> {
    let raw: &RawValue = serde_json::from_str(text).map_err(DocumentError::Malformed)?;
    read(raw.get(), 0)
}

fn read(raw: &str, depth: usize) -> Result<Value, DocumentError> {
    if depth > MAX_DEPTH {
        return Err(DocumentError::TooDeep);
    }
    match raw.as_bytes().first() {
        Some(b'{') => {
            let members = each(raw, Members(PhantomData))?;
            let members = members
                .into_iter()
                .map(|(name, member)| Ok((Arc::<str>::from(name), read(member.get(), depth + 1)?)));
            members.collect::<Result<_, _>>().map(Value::Map)
        }
        Some(b'[') => {
            let elements = each(raw, Elements(PhantomData))?;
            let elements = elements.into_iter().map(|e| read(e.get(), depth + 1));
            elements.collect::<Result<_, _>>().map(Value::List)
        }
        Some(b'"') => {
            let text: String = serde_json::from_str(raw).map_err(DocumentError::Malformed)?;
            Ok(Value::Text(text))
        }
        Some(b't') => Ok(Value::Bool(true)),
        Some(b'f') => Ok(Value::Bool(false)),
        Some(b'n') => Ok(Value::Null),
        _ => Ok(match Number::parse(raw) {
            Ok(number) => Value::Number(number),
            Err(NumberError::TooManyDigits) => Value::unfit(raw, UnfitReason::TooManyDigits),
            Err(NumberError::Magnitude) => Value::unfit(raw, UnfitReason::Magnitude),
            Err(NumberError::Malformed) => Value::unfit(raw, UnfitReason::NotANumber),
        }),
    }
}

fn each<'t, V: Visitor<'t>>(raw: &'t str, visitor: V) -> Result<V::Value, DocumentError> {
    let mut deserializer = serde_json::Deserializer::from_str(raw);
    deserializer
        .deserialize_any(visitor)
        .map_err(DocumentError::Malformed)
}

struct Members<'t>(PhantomData<&'t ()>);

impl<'t> Visitor<'t> for Members<'t> {
    type Value = Vec<(String, &'t RawValue)>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'t>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members: Self::Value = Vec::new();
        let mut seen = HashSet::new();
        while let Some((name, member)) = map.next_entry::<String, &RawValue>()? {
            if !seen.insert(name.clone()) {
                return Err(serde::de::Error::custom("a member is named twice"));
            }
            members.push((name, member));
        }
        Ok(members)
    }
}

struct Elements<'t>(PhantomData<&'t ()>);

impl<'t> Visitor<'t> for Elements<'t> {
    type Value = Vec<&'t RawValue>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a JSON array")
    }

    fn visit_seq<A: SeqAccess<'t>>(self, mut sequence: A) -> Result<Self::Value, A::Error> {
        let mut elements = Vec::new();
        while let Some(element) = sequence.next_element()? {
            elements.push(element);
        }
        Ok(elements)
    }
}

/// Writes a value as compact JSON text: numbers exact, times as their text, bytes as base64.
#[must_use]
pub fn write_document(value: &Value) -> String {
    let mut out = String::new();
    write(&mut out, value);
    out
}

fn write(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(number) => out.push_str(number.as_str()),
        Value::Text(text) => quote(out, text),
        Value::Time(time) => quote(out, time.as_str()),
        Value::Unfit(unfit) => quote(out, &unfit.text),
        Value::Bytes(bytes) => {
            use base64::Engine as _;
            quote(
                out,
                &base64::engine::general_purpose::STANDARD.encode(bytes),
            );
        }
        Value::List(elements) | Value::Set(elements) => {
            out.push('[');
            for (index, element) in elements.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write(out, element);
            }
            out.push(']');
        }
        Value::Map(members) => {
            out.push('{');
            for (index, (name, member)) in members.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                quote(out, name);
                out.push(':');
                write(out, member);
            }
            out.push('}');
        }
    }
}

/// Writes a JSON string literal.
pub(crate) fn quote(out: &mut String, text: &str) {
    out.push('"');
    let mut plain_from = 0;
    for (at, byte) in text.bytes().enumerate() {
        let escape = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0..0x20 => "",
            _ => continue,
        };
        out.push_str(text.get(plain_from..at).unwrap_or_default());
        if escape.is_empty() {
            // Writing to a String cannot fail.
            let _ = write!(out, "\\u{byte:04x}");
        } else {
            out.push_str(escape);
        }
        plain_from = at + 1;
    }
    out.push_str(text.get(plain_from..).unwrap_or_default());
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(text: &str) -> String {
        parse_document(text).map_or_else(|e| e.to_string(), |value| write_document(&value))
    }

    #[test]
    fn documents_come_back_with_numbers_exact_and_members_in_order() {
        assert_eq!(
            round(r#" {"z": 1.10, "a": [1e2, -0, null, true], "t": "a\"\u0001\n가😀"} "#),
            r#"{"z":1.1,"a":[100,0,null,true],"t":"a\"\u0001\n가😀"}"#
        );
        assert_eq!(
            round("12345678901234567890123456789012345678"),
            "12345678901234567890123456789012345678"
        );
    }

    #[test]
    fn a_number_beyond_dynamodb_is_unfit_where_it_stands() {
        let digits = "1".repeat(39);
        let parsed = parse_document(&format!(r#"{{"a":1,"b":{digits}}}"#));
        let Ok(Value::Map(members)) = parsed else {
            panic!("expected a map");
        };
        assert_eq!(members.first().map(|m| m.1.kind()), Some("a number"));
        assert_eq!(
            members.get(1).map(|m| &m.1),
            Some(&Value::unfit(digits, UnfitReason::TooManyDigits))
        );
    }

    #[test]
    fn what_would_lose_something_is_refused() {
        assert!(matches!(
            parse_document(r#"{"a":1,"a":2}"#),
            Err(DocumentError::Malformed(_))
        ));
        assert!(parse_document("{a:1}").is_err());
        assert!(parse_document("").is_err());
        let deep = format!("{}{}", "[".repeat(120), "]".repeat(120));
        assert!(parse_document(&deep).is_err());
    }
}
