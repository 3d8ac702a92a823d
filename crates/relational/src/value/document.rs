//! JSON documents, with numbers exact.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::Write as _;

use serde::de::IgnoredAny;

use super::{Number, Text, UnfitReason, Value};

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
    /// When an object names a member twice: JSON allows it, a map of DynamoDB does not.
    #[error("an object names a member twice")]
    RepeatedMember,
    /// When a string holds half of a surrogate pair: JSON allows the escape, and no text has it.
    #[error("a string is not Unicode")]
    NotUnicode(#[source] serde_json::Error),
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
    let mut cursor = JsonCursor(text);
    let read = cursor.value(0).and_then(|document| match cursor.peek() {
        None => Ok(document),
        Some(_) => Err(malformed()),
    });
    read.map_err(|error| match serde_json::from_str::<IgnoredAny>(text) {
        Ok(_) => error,
        // The parser of JSON has a limit of its own, a few levels beyond ours.
        Err(_) if nests_too_deep(text) => DocumentError::TooDeep,
        // It says where.
        Err(fault) => DocumentError::Malformed(fault),
    })
}

/// What is found malformed before it is asked where.
fn malformed() -> DocumentError {
    DocumentError::Malformed(serde::de::Error::custom("not JSON"))
}

impl DocumentError {
    /// What a value is for it that a database keeps as JSON.
    pub fn reason(&self) -> UnfitReason {
        match self {
            Self::Malformed(_) | Self::RepeatedMember | Self::NotUnicode(_) => UnfitReason::NotJson,
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

/// What is left to read.
struct JsonCursor<'t>(&'t str);

impl<'t> JsonCursor<'t> {
    fn value(&mut self, depth: usize) -> Result<Value, DocumentError> {
        Ok(match self.peek() {
            Some(b'{' | b'[') if depth >= MAX_DEPTH => return Err(DocumentError::TooDeep),
            Some(b'{') => Value::Map(self.members(depth + 1)?),
            Some(b'[') => Value::List(self.elements(depth + 1)?),
            Some(b'"') => Value::Text(self.text()?.into()),
            _ => scalar(self.bare())?,
        })
    }

    fn members(&mut self, depth: usize) -> Result<Vec<(Text, Value)>, DocumentError> {
        let mut members: Vec<(Text, Value)> = Vec::new();
        let mut many = HashSet::new();
        self.skip();
        if self.peek() == Some(b'}') {
            self.skip();
            return Ok(members);
        }
        loop {
            self.peek();
            let name: Text = self.text()?.into();
            let doubled = if members.len() < FEW {
                members.iter().any(|(other, _)| *other == name)
            } else {
                if many.is_empty() {
                    many.extend(members.iter().map(|(other, _)| other.clone()));
                }
                !many.insert(name.clone())
            };
            if doubled {
                return Err(DocumentError::RepeatedMember);
            }
            self.expect(b':')?;
            members.push((name, self.value(depth)?));
            if !self.goes_on(b'}')? {
                return Ok(members);
            }
        }
    }

    fn elements(&mut self, depth: usize) -> Result<Vec<Value>, DocumentError> {
        let mut elements = Vec::new();
        self.skip();
        if self.peek() == Some(b']') {
            self.skip();
            return Ok(elements);
        }
        loop {
            elements.push(self.value(depth)?);
            if !self.goes_on(b']')? {
                return Ok(elements);
            }
        }
    }

    /// Whether a comma comes next, and not the end of what is open.
    fn goes_on(&mut self, end: u8) -> Result<bool, DocumentError> {
        let goes_on = self.peek() == Some(b',');
        self.expect(if goes_on { b',' } else { end })?;
        Ok(goes_on)
    }

    /// A string, from its opening quote on.
    fn text(&mut self) -> Result<Cow<'t, str>, DocumentError> {
        let quoted = self.0;
        self.expect(b'"')?;
        let plain = self.take(plain_bytes(self.0.as_bytes()));
        if self.0.starts_with('"') {
            self.skip();
            return Ok(Cow::Borrowed(plain));
        }
        let mut is_escaped = false;
        let end = self.0.bytes().position(|byte| {
            let ends = byte == b'"' && !is_escaped;
            is_escaped = byte == b'\\' && !is_escaped;
            ends
        });
        self.take(end.ok_or_else(malformed)? + 1);
        let quoted = quoted.get(..quoted.len() - self.0.len());
        let text =
            serde_json::from_str(quoted.unwrap_or_default()).map_err(DocumentError::NotUnicode)?;
        Ok(Cow::Owned(text))
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

    fn expect(&mut self, byte: u8) -> Result<(), DocumentError> {
        if self.peek() != Some(byte) {
            return Err(malformed());
        }
        self.skip();
        Ok(())
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

fn scalar(text: &str) -> Result<Value, DocumentError> {
    Ok(match text {
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        "null" => Value::Null,
        number if is_number(number) => Number::parse(number)
            .map_or_else(|error| Value::unfit(number, error.into()), Value::Number),
        _ => return Err(malformed()),
    })
}

/// Whether a text is a number as JSON writes it.
fn is_number(text: &str) -> bool {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let whole = unsigned.strip_prefix('0').or_else(|| digits(unsigned));
    let fraction = whole.and_then(|rest| rest.strip_prefix('.').map_or(Some(rest), digits));
    let exponent = fraction.and_then(|rest| match rest.strip_prefix(['e', 'E']) {
        Some(exponent) => digits(exponent.strip_prefix(['-', '+']).unwrap_or(exponent)),
        None => Some(rest),
    });
    exponent.is_some_and(str::is_empty)
}

/// What follows the digits with which a text begins; `None` where it begins with none.
fn digits(text: &str) -> Option<&str> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    text.get(digits..).filter(|_| digits > 0)
}

/// Writes a value as compact JSON text: numbers exact, times as their text, bytes as base64.
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
    let mut rest = text;
    while let Some((plain, from)) = rest.split_at_checked(plain_bytes(rest.as_bytes())) {
        out.push_str(plain);
        // What is escaped is one byte.
        let Some((special, after)) = from.split_at_checked(1) else {
            break;
        };
        match special.as_bytes() {
            b"\"" => out.push_str("\\\""),
            b"\\" => out.push_str("\\\\"),
            b"\n" => out.push_str("\\n"),
            b"\r" => out.push_str("\\r"),
            b"\t" => out.push_str("\\t"),
            // Writing to a String cannot fail.
            bytes => bytes.iter().for_each(|byte| {
                let _ = write!(out, "\\u{byte:04x}");
            }),
        }
        rest = after;
    }
    out.push('"');
}

/// How many bytes of a text stand for themselves before the first that JSON escapes. This is the hottest loop of a load:
/// it looks at eight bytes at a time.
fn plain_bytes(text: &[u8]) -> usize {
    let (words, rest) = text.as_chunks::<8>();
    for (at, word) in words.iter().enumerate() {
        let special = special(u64::from_le_bytes(*word));
        if special != 0 {
            let before = usize::try_from(special.trailing_zeros() / 8).unwrap_or_default();
            return at * 8 + before;
        }
    }
    let is_special = |byte: &u8| *byte < 0x20 || matches!(byte, b'"' | b'\\');
    let plain = rest.iter().position(is_special).unwrap_or(rest.len());
    text.len() - rest.len() + plain
}

/// Sets the highest bit of each byte that JSON escapes. Bytes after the first such may have it too: what is subtracted
/// is borrowed from them.
fn special(word: u64) -> u64 {
    const EACH: u64 = u64::from_le_bytes([1; 8]);
    let below = |word: u64, limit: u64| word.wrapping_sub(EACH * limit) & !word;
    let equal = |byte: u8| below(word ^ (EACH * u64::from(byte)), 1);
    (below(word, 0x20) | equal(b'"') | equal(b'\\')) & (EACH << 7)
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

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
    fn texts_of_all_characters_and_lengths_are_quoted() {
        let ascii = (0..0x80_u8).map(char::from);
        for character in ascii.chain(['\u{80}', 'é', '한', '😀']) {
            for before in 0..18 {
                for after in [0, 1, 9] {
                    let text = format!("{}{character}{}", "x".repeat(before), "\"".repeat(after));
                    let mut quoted = String::new();
                    quote(&mut quoted, &text);
                    assert_eq!(serde_json::from_str::<String>(&quoted).unwrap(), text);
                    let escapes = character < ' ' || matches!(character, '"' | '\\');
                    let length = text.len() + 2 + after;
                    assert_eq!(quoted.len() > length, escapes, "{quoted}");
                }
            }
        }
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

    /// Of these, put together, the texts of the next property are made.
    const PIECES: [&str; 26] = [
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        " ",
        "\"a\"",
        "\"",
        "\\",
        "\\\"",
        "\u{1}",
        "true",
        "nul",
        "null",
        "-",
        "0",
        "7",
        ".5",
        "e3",
        "E+",
        "+1",
        "\"\\u00e9\"",
        "é",
        "\n",
        "\"b\":1",
    ];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]
        #[test]
        fn what_is_json_is_read_and_nothing_else(pieces in vec(select(&PIECES[..]), 1..9)) {
            let text = pieces.concat();
            let is_json = serde_json::from_str::<IgnoredAny>(&text).is_ok();
            match parse_document(&text) {
                // A member may be named twice.
                Ok(_) | Err(DocumentError::RepeatedMember) => prop_assert!(is_json),
                Err(error) => prop_assert!(!is_json, "{error:?}"),
            }
        }
    }

    #[test]
    fn numbers_are_those_of_json() {
        for number in ["0", "-0", "10", "-7.50", "0.5", "1e5", "2E-07", "3.1e+2"] {
            assert!(is_number(number), "{number}");
        }
        for other in [
            "", "-", "+1", "01", "-00", "1.", ".5", "1e", "1e+", "1.e2", "0x1", "1 ", "NaN",
        ] {
            assert!(!is_number(other), "{other}");
        }
    }

    #[test]
    fn what_would_lose_something_is_refused() {
        assert!(matches!(
            parse_document(r#"{"a":1,"a":2}"#),
            Err(DocumentError::RepeatedMember)
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
