//! Turns PostgreSQL's text for a value into a [`Value`], by the column's type.
//!
//! A [`Decoder`] is made once for each column of a scan; reading a value looks nothing up and
//! never fails: what cannot be read is [`Value::Unfit`] with the text that PostgreSQL printed.

use std::sync::Arc;

use super::literal;
use crate::catalog::DataType;
use crate::value::{Number, NumberError, Time, TimeKind, UnfitReason, Value, parse_document};

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
    /// A JSON document.
    Json,
    /// `{…}` of this element.
    Array(Box<Decoder>),
    /// `(…)` of these fields.
    Composite(Vec<(Arc<str>, Decoder)>),
    /// `"key"=>"value", …`
    Hstore,
    /// `[…,…)` of this bound.
    Range(Box<Bounds>),
    /// `{[…,…), …}` of this bound.
    Multirange(Box<Bounds>),
}

/// How ranges are read, with the names of what they become.
#[derive(Debug)]
pub(super) struct Bounds {
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
            DataType::Date => Self::Time(TimeKind::Date, 0),
            DataType::Time { digits, zone } => {
                let kind = if *zone {
                    TimeKind::TimeOfDayWithOffset
                } else {
                    TimeKind::TimeOfDay
                };
                Self::Time(kind, usize::from(*digits))
            }
            DataType::Timestamp { digits, zone } => {
                let kind = if *zone {
                    TimeKind::Instant
                } else {
                    TimeKind::Timestamp
                };
                Self::Time(kind, usize::from(*digits))
            }
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
                let bounds = Box::new(Bounds {
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
            DataType::Text { .. }
            | DataType::Enum { .. }
            | DataType::Uuid
            | DataType::Set { .. }
            | DataType::Printed
            | DataType::Dynamic => Self::Text,
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
                    .unwrap_or_else(|_| Value::unfit(text, UnfitReason::NotJson));
            }
            Self::Boolean => match text {
                "t" | "1" => Some(Value::Bool(true)),
                "f" | "0" => Some(Value::Bool(false)),
                _ => None,
            },
            Self::Binary => binary(text).map(Value::Bytes),
            Self::Array(element) => literal::array(text, element),
            Self::Composite(fields) => literal::composite(text, fields),
            Self::Hstore => literal::hstore(text),
            Self::Range(bounds) => literal::range(text, bounds),
            Self::Multirange(bounds) => literal::multirange(text, bounds),
        };
        read.unwrap_or_else(|| Value::unfit(text, UnfitReason::Unreadable))
    }
}

fn number(text: &str) -> Value {
    let why = match Number::parse(text) {
        Ok(number) => return Value::Number(number),
        Err(NumberError::TooManyDigits) => UnfitReason::TooManyDigits,
        Err(NumberError::Magnitude) => UnfitReason::Magnitude,
        Err(NumberError::Malformed) => match text {
            "NaN" | "Infinity" | "-Infinity" => UnfitReason::NotFinite,
            _ => UnfitReason::NotANumber,
        },
    };
    Value::unfit(text, why)
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
