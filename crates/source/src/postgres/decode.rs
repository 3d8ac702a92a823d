//! Turns PostgreSQL's text for a value into a [`Value`], by the column's type.
//!
//! A [`Decoder`] is made once for each column of a scan; reading a value looks nothing up and
//! never fails: what cannot be read is [`Value::Unfit`] with the text that PostgreSQL printed.

use std::borrow::Cow;

use dynafold_relational::catalog::DataType;
use dynafold_relational::value::{Text, UnfitReason, Value};

use crate::printed::printed;

/// How the values of one type are read.
#[derive(Debug)]
pub(super) enum Decoder {
    /// A value that holds no others but text.
    Scalar(DataType),
    /// `{…}` of this element.
    Array(Box<Decoder>),
    /// `(…)` of these fields.
    Composite(Vec<(Text, Decoder)>),
    /// `[…,…)` of this bound, or `{[…,…), …}` for a multirange.
    Range(Box<RangeDecoder>),
}

/// How ranges are read, with the names of what they become.
#[derive(Debug)]
pub(super) struct RangeDecoder {
    bound: Decoder,
    multi: bool,
    empty: Text,
    /// Lower, upper, and whether each belongs to the range.
    ends: [Text; 4],
}

impl Decoder {
    /// Makes the decoder of a type.
    pub(super) fn new(data_type: &DataType) -> Self {
        match data_type {
            DataType::Array { element } => Self::Array(Box::new(Self::new(element))),
            DataType::Composite { fields } => {
                let field = |(name, data_type): &(String, DataType)| {
                    (Text::from(name.as_str()), Self::new(data_type))
                };
                Self::Composite(fields.iter().map(field).collect())
            }
            DataType::Range { bound, multi } => Self::Range(Box::new(RangeDecoder {
                bound: Self::new(bound),
                multi: *multi,
                empty: Text::from("empty"),
                ends: ["lower", "upper", "lower_inclusive", "upper_inclusive"].map(Text::from),
            })),
            other => Self::Scalar(other.clone()),
        }
    }

    /// Reads what came over the wire.
    pub(super) fn read(&self, raw: &[u8]) -> Value {
        match std::str::from_utf8(raw) {
            Ok(text) => self.decode(text),
            Err(_) => Value::unfit(String::from_utf8_lossy(raw), UnfitReason::NotUtf8),
        }
    }

    /// Reads a value's text.
    fn decode(&self, text: &str) -> Value {
        let read = match self {
            Self::Scalar(DataType::Interval) if text.ends_with("infinity") => {
                return Value::unfit(text, UnfitReason::NotFinite);
            }
            // `t`, `f`, and `1`, `0` of `bit(1)` and of a scan's conditions.
            Self::Scalar(DataType::Boolean) => match text {
                "t" | "1" => Some(Value::Bool(true)),
                "f" | "0" => Some(Value::Bool(false)),
                _ => None,
            },
            Self::Scalar(DataType::Binary { .. }) => binary(text).map(Value::Bytes),
            Self::Scalar(DataType::Hstore) => whole(text, hstore),
            Self::Scalar(other) => return printed(text, other),
            Self::Array(element) => array(text, element),
            Self::Composite(fields) => whole(text, |cursor| composite(cursor, fields)),
            Self::Range(decoder) if decoder.multi => {
                whole(text, |cursor| multirange(cursor, decoder))
            }
            Self::Range(decoder) => whole(text, |cursor| range(cursor, decoder)),
        };
        read.unwrap_or_else(|| Value::unfit(text, UnfitReason::Unreadable))
    }
}

/// Bytes in hexadecimal after `\x`, else a bit string: its first bit is the highest of the first
/// byte, and zeros fill the last.
fn binary(text: &str) -> Option<Vec<u8>> {
    let Some(digits) = text.strip_prefix("\\x") else {
        return text.as_bytes().chunks(8).map(byte_of_bits).collect();
    };
    let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
    let nibble = |digit: u8| u8::try_from(char::from(digit).to_digit(16)?).ok();
    let bytes = pairs
        .iter()
        .map(|[high, low]| Some(nibble(*high)? << 4 | nibble(*low)?));
    rest.is_empty().then(|| bytes.collect()).flatten()
}

fn byte_of_bits(bits: &[u8]) -> Option<u8> {
    bits.iter()
        .zip(0u8..)
        .try_fold(0, |byte, (bit, at)| match bit {
            b'0' => Some(byte),
            b'1' => Some(byte | 0x80 >> at),
            _ => None,
        })
}

// Takes apart the literals that hold other values: arrays, composites, ranges and hstore.
//
// These read what the server's output functions write, not all that its input functions would
// take: no blanks, and quotes wherever a value could be mistaken. Each gives `None` for a text
// of another form.

/// Dimensions that an array can have.
const MAX_DIMENSIONS: usize = 6;

/// Reads a text to its end.
fn whole<'t>(
    text: &'t str,
    read: impl FnOnce(&mut TextCursor<'t>) -> Option<Value>,
) -> Option<Value> {
    let mut cursor = TextCursor(text);
    let value = read(&mut cursor)?;
    cursor.0.is_empty().then_some(value)
}

/// Reads an array: `{1,NULL,"a \"b\""}`, nested for more dimensions, with lower bounds
/// (`[0:1]={…}`) where they are not 1.
fn array(text: &str, element: &Decoder) -> Option<Value> {
    let list = match text.strip_prefix('[') {
        Some(bounds) => bounds.split_once('=')?.1,
        None => text,
    };
    whole(list, |cursor| dimension(cursor, element, 1))
}

fn dimension(cursor: &mut TextCursor<'_>, element: &Decoder, depth: usize) -> Option<Value> {
    if depth > MAX_DIMENSIONS {
        return None;
    }
    cursor.expect(b'{')?;
    let mut list = Vec::new();
    if cursor.eat(b'}') {
        return Some(Value::List(list));
    }
    loop {
        list.push(match cursor.peek()? {
            b'{' => dimension(cursor, element, depth + 1)?,
            _ => cursor.value(element, b",}", "NULL")?,
        });
        if !cursor.eat(b',') {
            cursor.expect(b'}')?;
            return Some(Value::List(list));
        }
    }
}

/// Reads a composite value: `(1,"b ""q""",)`, in which nothing at all is NULL.
fn composite(cursor: &mut TextCursor<'_>, fields: &[(Text, Decoder)]) -> Option<Value> {
    let mut members = Vec::with_capacity(fields.len());
    cursor.expect(b'(')?;
    for (index, (name, decoder)) in fields.iter().enumerate() {
        if index > 0 {
            cursor.expect(b',')?;
        }
        let value = cursor.value(decoder, b",)", "")?;
        members.push((name.clone(), value));
    }
    cursor.expect(b')')?;
    Some(Value::Map(members))
}

/// Reads a multirange: `{[1,3),[5,7)}`.
fn multirange(cursor: &mut TextCursor<'_>, decoder: &RangeDecoder) -> Option<Value> {
    let mut ranges = Vec::new();
    cursor.expect(b'{')?;
    while cursor.peek()? != b'}' {
        if !ranges.is_empty() {
            cursor.expect(b',')?;
        }
        ranges.push(range(cursor, decoder)?);
    }
    cursor.expect(b'}')?;
    Some(Value::List(ranges))
}

/// Reads a range, of which an end that is nothing at all is open: `[1,10)`, `(,"2020-01-01 00:00:00"]`, `empty`.
fn range(cursor: &mut TextCursor<'_>, decoder: &RangeDecoder) -> Option<Value> {
    if cursor.skip("empty").is_some() {
        return Some(Value::Map(vec![(decoder.empty.clone(), Value::Bool(true))]));
    }
    let lower_inclusive = cursor.eat(b'[');
    if !lower_inclusive {
        cursor.expect(b'(')?;
    }
    let lower = cursor.value(&decoder.bound, b",", "")?;
    cursor.expect(b',')?;
    let upper = cursor.value(&decoder.bound, b")]", "")?;
    let upper_inclusive = cursor.eat(b']');
    if !upper_inclusive {
        cursor.expect(b')')?;
    }
    let inclusive = [lower_inclusive, upper_inclusive].map(Value::Bool);
    let values = [lower, upper].into_iter().chain(inclusive);
    Some(Value::Map(
        decoder.ends.iter().cloned().zip(values).collect(),
    ))
}

/// Reads an hstore: `"a"=>"1", "b"=>NULL`.
fn hstore(cursor: &mut TextCursor<'_>) -> Option<Value> {
    let mut members: Vec<(Text, Value)> = Vec::new();
    while !cursor.0.is_empty() {
        if !members.is_empty() {
            cursor.skip(", ")?;
        }
        let key = Text::from(cursor.quoted()?);
        cursor.skip("=>")?;
        let value = match cursor.skip("NULL") {
            Some(()) => Value::Null,
            None => Value::Text(cursor.quoted()?.into()),
        };
        members.push((key, value));
    }
    Some(Value::Map(members))
}

/// What is left to read.
struct TextCursor<'t>(&'t str);

impl<'t> TextCursor<'t> {
    fn peek(&self) -> Option<u8> {
        self.0.as_bytes().first().copied()
    }

    fn eat(&mut self, byte: u8) -> bool {
        self.expect(byte).is_some()
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        self.0 = self.0.strip_prefix(char::from(byte))?;
        Some(())
    }

    fn skip(&mut self, text: &str) -> Option<()> {
        self.0 = self.0.strip_prefix(text)?;
        Some(())
    }

    /// Reads a value in quotes, or up to one of the stops, which stays. `null` without quotes is NULL.
    fn value(&mut self, decoder: &Decoder, stops: &[u8], null: &str) -> Option<Value> {
        if self.peek()? == b'"' {
            return Some(decoder.decode(&self.quoted()?));
        }
        let text = self.bare(stops)?;
        Some(if text == null {
            Value::Null
        } else {
            decoder.decode(text)
        })
    }

    /// Reads up to one of the stops, which stays.
    fn bare(&mut self, stops: &[u8]) -> Option<&'t str> {
        let at = self.0.bytes().position(|byte| stops.contains(&byte))?;
        let (text, rest) = self.0.split_at_checked(at)?;
        self.0 = rest;
        Some(text)
    }

    /// Reads a quoted text. A backslash makes the next character stand for itself, and two quotes
    /// are one: no literal uses either of them otherwise.
    fn quoted(&mut self) -> Option<Cow<'t, str>> {
        self.expect(b'"')?;
        let mut text = Cow::Borrowed("");
        loop {
            let at = self
                .0
                .bytes()
                .position(|byte| matches!(byte, b'"' | b'\\'))?;
            let (plain, rest) = self.0.split_at_checked(at)?;
            if text.is_empty() {
                text = Cow::Borrowed(plain);
            } else {
                text.to_mut().push_str(plain);
            }
            let mut next = rest.chars();
            let mark = next.next()?;
            self.0 = next.as_str();
            if mark == '"' && !self.0.starts_with('"') {
                return Some(text);
            }
            let escaped = next.next()?;
            text.to_mut().push(escaped);
            self.0 = next.as_str();
        }
    }
}

#[cfg(test)]
mod tests {
    use dynafold_relational::value::write_document;

    use super::*;

    #[test]
    fn bytes_are_read_from_hexadecimal_and_bit_strings() {
        for (text, bytes) in [
            (r"\x", Some(vec![])),
            (r"\x00ffAb", Some(vec![0, 0xff, 0xab])),
            (r"\x0", None),
            (r"\x0g", None),
            ("", Some(vec![])),
            ("1", Some(vec![0x80])),
            ("0000000011", Some(vec![0, 0xc0])),
            ("0120", None),
        ] {
            assert_eq!(binary(text), bytes, "{text}");
        }
    }

    #[test]
    fn bytes_that_are_not_utf_8_are_unfit() {
        let text = DataType::Text { max_chars: None };
        let read = Decoder::new(&text).read(&[b'a', 0xff]);
        assert_eq!(read, Value::unfit("a\u{fffd}", UnfitReason::NotUtf8));
    }

    fn json(data_type: &DataType, text: &str) -> String {
        match Decoder::new(data_type).decode(text) {
            Value::Unfit(unfit) => format!("{:?}", unfit.why),
            value => write_document(&value),
        }
    }

    fn list(element: DataType) -> DataType {
        DataType::Array {
            element: Box::new(element),
        }
    }

    const TEXT: DataType = DataType::Text { max_chars: None };
    const INTEGER: DataType = DataType::Integer {
        bits: 32,
        unsigned: false,
    };

    #[test]
    fn arrays_are_lists() {
        for (literal, wanted) in [
            ("{}", "[]"),
            ("{a,b}", r#"["a","b"]"#),
            (r#"{NULL,"NULL",null}"#, r#"[null,"NULL","null"]"#),
            (r#"{"","a,b","{x}"," "}"#, r#"["","a,b","{x}"," "]"#),
            (r#"{"a\"b","c\\d"}"#, r#"["a\"b","c\\d"]"#),
            (r#"{"\"","\\\""}"#, r#"["\"","\\\""]"#),
            ("{{a,b},{c,NULL}}", r#"[["a","b"],["c",null]]"#),
            ("[0:1]={가,😀}", r#"["가","😀"]"#),
            ("[-2:-1][3:3]={{a},{b}}", r#"[["a"],["b"]]"#),
            ("{{{{{{{a}}}}}}}", "Unreadable"),
            ("{a", "Unreadable"),
            ("{a}x", "Unreadable"),
            ("{a,", "Unreadable"),
            (r#"{"a}"#, "Unreadable"),
            (r#"{"a\"#, "Unreadable"),
            ("", "Unreadable"),
        ] {
            assert_eq!(json(&list(TEXT), literal), wanted, "{literal}");
        }
        assert_eq!(json(&list(INTEGER), "{1,-2,NULL}"), "[1,-2,null]");
        // A domain over an array, as an element of an array, comes quoted.
        assert_eq!(
            json(&list(list(INTEGER)), r#"{"{1,2}","{}"}"#),
            "[[1,2],[]]"
        );
    }

    #[test]
    fn composites_are_maps_of_their_fields() {
        let pair = DataType::Composite {
            fields: vec![("n".into(), INTEGER), ("t".into(), TEXT)],
        };
        for (literal, wanted) in [
            ("(1,a)", r#"{"n":1,"t":"a"}"#),
            ("(,)", r#"{"n":null,"t":null}"#),
            (r#"(1,"")"#, r#"{"n":1,"t":""}"#),
            (r#"(1,"""")"#, r#"{"n":1,"t":"\""}"#),
            (r#"(1,"b ""q"", \\ )(")"#, r#"{"n":1,"t":"b \"q\", \\ )("}"#),
            ("(1)", "Unreadable"),
            ("(1,a,b)", "Unreadable"),
            ("1,a", "Unreadable"),
        ] {
            assert_eq!(json(&pair, literal), wanted, "{literal}");
        }
        assert_eq!(
            json(&list(pair), r#"{"(1,\"a b\")",NULL,"(,)"}"#),
            r#"[{"n":1,"t":"a b"},null,{"n":null,"t":null}]"#
        );
        let one = DataType::Composite {
            fields: vec![("l".into(), list(TEXT))],
        };
        assert_eq!(
            json(&one, r#"("{a,""b c"",""d\\""e""}")"#),
            r#"{"l":["a","b c","d\"e"]}"#
        );
    }

    #[test]
    fn ranges_are_maps_of_their_ends() {
        let range = |bound, multi| DataType::Range {
            bound: Box::new(bound),
            multi,
        };
        let map = |lower: &str, upper: &str, inclusive: (bool, bool)| {
            format!(
                r#"{{"lower":{lower},"upper":{upper},"lower_inclusive":{},"upper_inclusive":{}}}"#,
                inclusive.0, inclusive.1
            )
        };
        for (literal, wanted) in [
            ("empty", r#"{"empty":true}"#.to_owned()),
            ("[1,10)", map("1", "10", (true, false))),
            ("(,5]", map("null", "5", (false, true))),
            ("(,)", map("null", "null", (false, false))),
            ("[1,10", "Unreadable".to_owned()),
            ("[1)", "Unreadable".to_owned()),
            ("{}", "Unreadable".to_owned()),
        ] {
            assert_eq!(json(&range(INTEGER, false), literal), wanted, "{literal}");
        }
        assert_eq!(
            json(&range(TEXT, false), r#"["","a"",)\\"]"#),
            map(r#""""#, r#""a\",)\\""#, (true, true))
        );
        let two = format!(
            "[{},{}]",
            map("1", "3", (true, false)),
            map("5", "null", (true, false))
        );
        assert_eq!(json(&range(INTEGER, true), "{[1,3),[5,)}"), two);
        assert_eq!(json(&range(INTEGER, true), "{}"), "[]");
        assert_eq!(json(&range(INTEGER, true), "{[1,3)"), "Unreadable");
    }

    #[test]
    fn hstores_are_maps_of_text() {
        for (literal, wanted) in [
            ("", "{}"),
            (r#""a"=>"1", "b"=>NULL"#, r#"{"a":"1","b":null}"#),
            (
                r#""q\"k"=>"NULL", ""=>"=>, \\""#,
                r#"{"q\"k":"NULL","":"=>, \\"}"#,
            ),
            (r#""a"=>1"#, "Unreadable"),
            (r#""a""#, "Unreadable"),
        ] {
            assert_eq!(json(&DataType::Hstore, literal), wanted, "{literal}");
        }
    }
}
