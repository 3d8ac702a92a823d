//! JSON documents, with numbers exact.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::Write as _;
use std::sync::Arc;

use serde::de::IgnoredAny;

use super::{Number, UnfitReason, Value};

/// Levels beyond which a document is refused: DynamoDB takes 32, and nothing deeper can be stored.
const MAX_DEPTH: usize = 100;
/// Members of an object among which comparing is faster than hashing.
const FEW: usize = 16;

/// Why a text is not a JSON document that DynamoDB could hold.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    /// When the text is not well-formed JSON.
    #[error("not a JSON document")]
    Malformed(#[source] serde_json::Error),
    /// When an object names a member twice, or a string holds half of a surrogate pair: JSON, and no document of ours.
    #[error("not a document that DynamoDB could hold")]
    Odd(#[source] serde_json::Error),
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
    // The syntax is proved here, for the whole text at once; what follows only takes it apart.
    serde_json::from_str::<IgnoredAny>(text).map_err(|error| {
        // It goes no deeper than a few levels more.
        if nests_too_deep(text) {
            DocumentError::TooDeep
        } else {
            DocumentError::Malformed(error)
        }
    })?;
    JsonCursor(text).value(0)
}

impl DocumentError {
    /// What a value is for it that a database keeps as JSON.
    #[must_use]
    pub fn reason(&self) -> UnfitReason {
        match self {
            Self::Malformed(_) | Self::Odd(_) => UnfitReason::NotJson,
            Self::TooDeep => UnfitReason::TooDeep,
        }
    }
}

/// Whether more brackets are open somewhere than a document may have levels.
fn nests_too_deep(text: &str) -> bool {
    let (mut depth, mut in_text, mut is_escaped) = (0_usize, false, false);
    text.bytes().any(|byte| {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_text => is_escaped = true,
            b'"' => in_text = !in_text,
            b'{' | b'[' if !in_text => depth += 1,
            b'}' | b']' if !in_text => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > MAX_DEPTH
    })
}

/// What is left to read of a well-formed text.
struct JsonCursor<'t>(&'t str);

impl<'t> JsonCursor<'t> {
    fn value(&mut self, depth: usize) -> Result<Value, DocumentError> {
        Ok(match self.peek() {
            Some(b'{' | b'[') if depth >= MAX_DEPTH => return Err(DocumentError::TooDeep),
            Some(b'{') => Value::Map(self.members(depth + 1)?),
            Some(b'[') => Value::List(self.elements(depth + 1)?),
            Some(b'"') => Value::Text(self.text()?.into()),
            _ => scalar(self.bare()),
        })
    }

    fn members(&mut self, depth: usize) -> Result<Vec<(Arc<str>, Value)>, DocumentError> {
        let mut members: Vec<(Arc<str>, Value)> = Vec::new();
        let mut many = HashSet::new();
        self.skip();
        while !matches!(self.peek(), Some(b'}') | None) {
            self.eat(b',');
            self.peek();
            let name: Arc<str> = self.text()?.into();
            let doubled = if members.len() < FEW {
                members.iter().any(|(other, _)| *other == name)
            } else {
                if many.is_empty() {
                    many.extend(members.iter().map(|(other, _)| other.clone()));
                }
                !many.insert(name.clone())
            };
            if doubled {
                let error = serde::de::Error::custom("a member is named twice");
                return Err(DocumentError::Odd(error));
            }
            self.peek();
            self.eat(b':');
            members.push((name, self.value(depth)?));
        }
        self.skip();
        Ok(members)
    }

    fn elements(&mut self, depth: usize) -> Result<Vec<Value>, DocumentError> {
        let mut elements = Vec::new();
        self.skip();
        while !matches!(self.peek(), Some(b']') | None) {
            self.eat(b',');
            elements.push(self.value(depth)?);
        }
        self.skip();
        Ok(elements)
    }

    /// A string, from its opening quote on.
    fn text(&mut self) -> Result<Cow<'t, str>, DocumentError> {
        let mut escaped = false;
        let mut next_is_plain = false;
        let end = self.0.bytes().skip(1).position(|byte| {
            if next_is_plain {
                next_is_plain = false;
                return false;
            }
            next_is_plain = byte == b'\\';
            escaped |= next_is_plain;
            byte == b'"'
        });
        let quoted = self.take(end.map_or(self.0.len(), |end| end + 2));
        if escaped {
            let text = serde_json::from_str(quoted).map_err(DocumentError::Odd)?;
            return Ok(Cow::Owned(text));
        }
        let plain = quoted.get(1..quoted.len().saturating_sub(1));
        Ok(Cow::Borrowed(plain.unwrap_or_default()))
    }

    /// A number or a word.
    fn bare(&mut self) -> &'t str {
        let ends = |byte: u8| matches!(byte, b',' | b']' | b'}' | b' ' | b'\t' | b'\n' | b'\r');
        let end = self.0.bytes().position(ends);
        self.take(end.unwrap_or(self.0.len()))
    }

    /// The next byte that is no blank.
    fn peek(&mut self) -> Option<u8> {
        let blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
        while self.0.as_bytes().first().is_some_and(blank) {
            self.skip();
        }
        self.0.as_bytes().first().copied()
    }

    fn eat(&mut self, byte: u8) {
        if self.0.as_bytes().first() == Some(&byte) {
            self.skip();
        }
    }

    fn skip(&mut self) {
        self.take(1);
    }

    fn take(&mut self, length: usize) -> &'t str {
        let (taken, rest) = self.0.split_at_checked(length).unwrap_or((self.0, ""));
        self.0 = rest;
        taken
    }
}

fn scalar(text: &str) -> Value {
    match text {
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        "null" => Value::Null,
        number => Number::parse(number)
            .map_or_else(|error| Value::unfit(number, error.into()), Value::Number),
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
pub fn quote(out: &mut String, text: &str) {
    out.push('"');
    // Nearly all texts are plain, and this looks at many bytes at a time.
    let special = text.bytes().fold(0, |found, byte| {
        found | u8::from(byte < 0x20) | u8::from(byte == b'"') | u8::from(byte == b'\\')
    });
    if special == 0 {
        out.push_str(text);
        out.push('"');
        return;
    }
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
    fn blanks_and_empty_documents_are_read() {
        assert_eq!(
            round("\t{ \"a\" : [ ] ,\r\n\"b\":{ } , \"\" : \"\\\\\" , \"c\": [ 1 , [ 2 ] ] }\n"),
            r#"{"a":[],"b":{},"":"\\","c":[1,[2]]}"#
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
            Err(DocumentError::Odd(_))
        ));
        let mut many: Vec<String> = (0..40).map(|at| format!("\"m{at}\": {at}")).collect();
        assert!(parse_document(&format!("{{{}}}", many.join(","))).is_ok());
        many.push(r#""\u006d25": 0"#.to_owned());
        assert!(parse_document(&format!("{{{}}}", many.join(","))).is_err());
        assert!(parse_document(r#"["\ud800"]"#).is_err());
        assert!(parse_document("[1,]").is_err());
        assert!(parse_document("{a:1}").is_err());
        assert!(parse_document("").is_err());
        for levels in [101, 120, 20_000] {
            let deep = format!("{}{}", "[".repeat(levels), "]".repeat(levels));
            let refused = parse_document(&deep);
            assert!(matches!(refused, Err(DocumentError::TooDeep)), "{levels}");
        }
        let brackets = format!("\"{}\\\"[", "[".repeat(200));
        let refused = parse_document(&brackets);
        assert!(matches!(refused, Err(DocumentError::Malformed(_))));
    }
}
