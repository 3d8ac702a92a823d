//! Turns PostgreSQL's text for a value into a [`Value`], by the column's type.
//!
//! A [`Decoder`] is made once for each column of a scan; reading a value looks nothing up and
//! never fails: what cannot be read is [`Value::Unfit`] with the text that PostgreSQL printed.

use std::borrow::Cow;
use std::sync::Arc;

use dynafold_relational::catalog::DataType;
use dynafold_relational::value::{Number, Time, TimeKind, UnfitReason, Value, parse_document};

/// How the values of one type are read.
#[derive(Debug)]
pub(super) enum Decoder {
    /// Integers, decimals and floats alike.
    Number,
    /// `t`, `f`, and `1`, `0` of `bit(1)` and of a scan's conditions.
    Boolean,
    /// Anything that is text already.
    Text,
    /// A date or time and its fractional digits.
    Time(TimeKind, usize),
    /// ISO 8601 as it is, but for infinity.
    Interval,
    /// `\x…` of bytea, or the digits of a bit string.
    Binary,
    Json,
    /// `{…}` of this element.
    Array(Box<Decoder>),
    /// `(…)` of these fields.
    Composite(Vec<(Arc<str>, Decoder)>),
    /// `"key"=>"value", …`
    Hstore,
    /// `[…,…)` of this bound.
    Range(Box<RangeWords>),
    /// `{[…,…), …}` of this bound.
    Multirange(Box<RangeWords>),
}

/// How ranges are read, with the names of what they become.
#[derive(Debug)]
pub(super) struct RangeWords {
    pub(super) bound: Decoder,
    pub(super) empty: Arc<str>,
    pub(super) lower: Arc<str>,
    pub(super) upper: Arc<str>,
    pub(super) lower_inclusive: Arc<str>,
    pub(super) upper_inclusive: Arc<str>,
}

impl Decoder {
    /// Makes the decoder of a type.
    pub(super) fn new(data_type: &DataType) -> Self {
        let boxed = |data_type: &DataType| Box::new(Self::new(data_type));
        match data_type {
            DataType::Integer { .. } | DataType::Decimal { .. } | DataType::Float { .. } => {
                Self::Number
            }
            DataType::Boolean => Self::Boolean,
            DataType::Interval => Self::Interval,
            DataType::Binary { .. } => Self::Binary,
            DataType::Json => Self::Json,
            DataType::Array { element } => Self::Array(boxed(element)),
            DataType::Composite { fields } => {
                let field = |(name, data_type): &(String, DataType)| {
                    (Arc::from(name.as_str()), Self::new(data_type))
                };
                Self::Composite(fields.iter().map(field).collect())
            }
            DataType::Hstore => Self::Hstore,
            DataType::Range { bound, multi } => {
                let bounds = Box::new(RangeWords {
                    bound: Self::new(bound),
                    empty: Arc::from("empty"),
                    lower: Arc::from("lower"),
                    upper: Arc::from("upper"),
                    lower_inclusive: Arc::from("lower_inclusive"),
                    upper_inclusive: Arc::from("upper_inclusive"),
                });
                if *multi {
                    Self::Multirange(bounds)
                } else {
                    Self::Range(bounds)
                }
            }
            other => match other.time() {
                Some((kind, digits)) => Self::Time(kind, usize::from(digits)),
                None => Self::Text,
            },
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
    pub(super) fn decode(&self, text: &str) -> Value {
        let read = match self {
            Self::Interval if text.ends_with("infinity") => {
                return Value::unfit(text, UnfitReason::NotFinite);
            }
            Self::Text | Self::Interval => return Value::Text(text.into()),
            Self::Number => return number(text),
            Self::Time(kind, digits) => {
                return Time::from_sql(text, *kind, *digits)
                    .map_or_else(|error| Value::unfit(text, error.into()), Value::Time);
            }
            Self::Json => {
                return parse_document(text)
                    .unwrap_or_else(|error| Value::unfit(text, error.reason()));
            }
            Self::Boolean => match text {
                "t" | "1" => Some(Value::Bool(true)),
                "f" | "0" => Some(Value::Bool(false)),
                _ => None,
            },
            Self::Binary => binary(text).map(Value::Bytes),
            Self::Array(element) => array(text, element),
            Self::Composite(fields) => composite(text, fields),
            Self::Hstore => hstore(text),
            Self::Range(bounds) => range(text, bounds),
            Self::Multirange(bounds) => multirange(text, bounds),
        };
        read.unwrap_or_else(|| Value::unfit(text, UnfitReason::Unreadable))
    }
}

fn number(text: &str) -> Value {
    match Number::parse(text) {
        Ok(number) => Value::Number(number),
        Err(_) if matches!(text, "NaN" | "Infinity" | "-Infinity") => {
            Value::unfit(text, UnfitReason::NotFinite)
        }
        Err(error) => Value::unfit(text, error.into()),
    }
}

/// Bytes in hexadecimal after `\x`, else a bit string: its first bit is the highest of the first
/// byte, and zeros fill the last.
fn binary(text: &str) -> Option<Vec<u8>> {
    let Some(digits) = text.strip_prefix("\\x") else {
        return text.as_bytes().chunks(8).map(byte_of_bits).collect();
    };
    let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
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

fn nibble(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

// Takes apart the literals that hold other values: arrays, composites, ranges and hstore.
//
// These read what the server's output functions write, not all that its input functions would
// take: no blanks, and quotes wherever a value could be mistaken. Each gives `None` for a text
// of another form.

/// Dimensions that an array can have.
const MAX_DIMENSIONS: usize = 6;

/// Reads an array: `{1,NULL,"a \"b\""}`, nested for more dimensions, with lower bounds
/// (`[0:1]={…}`) where they are not 1.
pub(super) fn array(text: &str, element: &Decoder) -> Option<Value> {
    let mut cursor = TextCursor(text);
    if text.starts_with('[') {
        cursor = TextCursor(text.split_once('=')?.1);
    }
    let list = dimension(&mut cursor, element, 1)?;
    cursor.end(list)
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
pub(super) fn composite(text: &str, fields: &[(Arc<str>, Decoder)]) -> Option<Value> {
    let mut cursor = TextCursor(text);
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
    cursor.end(Value::Map(members))
}

/// Reads a range: `[1,10)`, `(,"2020-01-01 00:00:00"]`, `empty`.
pub(super) fn range(text: &str, bounds: &RangeWords) -> Option<Value> {
    let mut cursor = TextCursor(text);
    let range = one_range(&mut cursor, bounds)?;
    cursor.end(range)
}

/// Reads a multirange: `{[1,3),[5,7)}`.
pub(super) fn multirange(text: &str, bounds: &RangeWords) -> Option<Value> {
    let mut cursor = TextCursor(text);
    let mut ranges = Vec::new();
    cursor.expect(b'{')?;
    while cursor.peek()? != b'}' {
        if !ranges.is_empty() {
            cursor.expect(b',')?;
        }
        ranges.push(one_range(&mut cursor, bounds)?);
    }
    cursor.expect(b'}')?;
    cursor.end(Value::List(ranges))
}

/// Reads a range, of which an end that is nothing at all is open.
fn one_range(cursor: &mut TextCursor<'_>, bounds: &RangeWords) -> Option<Value> {
    if let Some(rest) = cursor.0.strip_prefix("empty") {
        cursor.0 = rest;
        return Some(Value::Map(vec![(bounds.empty.clone(), Value::Bool(true))]));
    }
    let lower_inclusive = cursor.eat(b'[');
    if !lower_inclusive {
        cursor.expect(b'(')?;
    }
    let lower = cursor.value(&bounds.bound, b",", "")?;
    cursor.expect(b',')?;
    let upper = cursor.value(&bounds.bound, b")]", "")?;
    let upper_inclusive = cursor.eat(b']');
    if !upper_inclusive {
        cursor.expect(b')')?;
    }
    Some(Value::Map(vec![
        (bounds.lower.clone(), lower),
        (bounds.upper.clone(), upper),
        (bounds.lower_inclusive.clone(), Value::Bool(lower_inclusive)),
        (bounds.upper_inclusive.clone(), Value::Bool(upper_inclusive)),
    ]))
}

/// Reads an hstore: `"a"=>"1", "b"=>NULL`.
pub(super) fn hstore(text: &str) -> Option<Value> {
    let mut cursor = TextCursor(text);
    let mut members: Vec<(Arc<str>, Value)> = Vec::new();
    while !cursor.0.is_empty() {
        if !members.is_empty() {
            cursor.0 = cursor.0.strip_prefix(", ")?;
        }
        let key = Arc::from(cursor.quoted()?);
        cursor.0 = cursor.0.strip_prefix("=>")?;
        let value = if let Some(rest) = cursor.0.strip_prefix("NULL") {
            cursor.0 = rest;
            Value::Null
        } else {
            Value::Text(cursor.quoted()?.into())
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

    /// Gives the value if nothing is left.
    fn end(&self, value: Value) -> Option<Value> {
        self.0.is_empty().then_some(value)
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
    fn what_is_no_number_says_why() {
        let why = |text: &str| match number(text) {
            Value::Unfit(unfit) => Some(unfit.why),
            _ => None,
        };
        assert_eq!(why("1.5"), None);
        assert_eq!(why("NaN"), Some(UnfitReason::NotFinite));
        assert_eq!(why("-Infinity"), Some(UnfitReason::NotFinite));
        assert_eq!(why("1e-200"), Some(UnfitReason::Magnitude));
        assert_eq!(why(&"1".repeat(39)), Some(UnfitReason::TooManyDigits));
        assert_eq!(why("abc"), Some(UnfitReason::NotANumber));
    }

    #[test]
    fn bytes_that_are_not_utf_8_are_unfit() {
        let read = Decoder::Text.read(&[b'a', 0xff]);
        assert_eq!(read, Value::unfit("a\u{fffd}", UnfitReason::NotUtf8));
    }
}

#[cfg(test)]
mod literal_tests {
    use dynafold_relational::catalog::DataType;
    use dynafold_relational::value::write_document;

    use super::*;

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
