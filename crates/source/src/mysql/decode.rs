//! Column types, and values from the text that the server prints.

use std::str;

use dynafold_relational::catalog::DataType;
use dynafold_relational::value::{Number, NumberError, UnfitReason, Value};

use sqlx::mysql::MySqlRow;

use super::statement::bytes;
use crate::printed::printed;

/// What a column type means, as `information_schema` writes it: `decimal(10,2) unsigned`.
pub(super) fn data_type(column_type: &str) -> DataType {
    let column_type = column_type.trim();
    let end = column_type.find(['(', ' ']).unwrap_or(column_type.len());
    let (name, rest) = column_type.split_at(end);
    let (arguments, flags) = match rest.strip_prefix('(') {
        Some(rest) => rest.rsplit_once(')').unwrap_or((rest, "")),
        None => ("", rest),
    };
    let name = name.to_ascii_lowercase();
    let unsigned = flags.contains("unsigned");
    let integer = |bits| DataType::Integer { bits, unsigned };
    let digits = arguments.parse::<u8>().unwrap_or(0);
    match name.as_str() {
        "tinyint" | "bit" if arguments == "1" => DataType::Boolean,
        "tinyint" => integer(8),
        "smallint" => integer(16),
        "mediumint" => integer(24),
        "int" | "integer" => integer(32),
        "bigint" => integer(64),
        "year" => DataType::Integer {
            bits: 16,
            unsigned: true,
        },
        "decimal" | "numeric" => {
            let (precision, scale) = arguments.split_once(',').unwrap_or((arguments, "0"));
            DataType::Decimal {
                precision: precision.trim().parse().ok(),
                scale: scale.trim().parse().ok(),
            }
        }
        "float" => DataType::Float { bits: 32 },
        "double" | "real" => DataType::Float { bits: 64 },
        "bit" => DataType::Binary {
            max_bytes: arguments.parse::<u64>().ok().map(|bits| bits.div_ceil(8)),
        },
        "char" | "varchar" => DataType::Text {
            max_chars: arguments.parse().ok(),
        },
        "binary" | "varbinary" => DataType::Binary {
            max_bytes: arguments.parse().ok(),
        },
        "tinyblob" | "blob" | "mediumblob" | "longblob" => DataType::Binary { max_bytes: None },
        "vector" => DataType::Array {
            element: Box::new(DataType::Float { bits: 32 }),
        },
        "enum" => DataType::Enum {
            values: members(arguments),
        },
        "set" => DataType::Set {
            values: members(arguments),
        },
        "json" => DataType::Json,
        "uuid" => DataType::Uuid,
        "date" => DataType::Date,
        "time" => DataType::Time {
            digits,
            zone: false,
        },
        "datetime" => DataType::Timestamp {
            digits,
            zone: false,
        },
        "timestamp" => DataType::Timestamp { digits, zone: true },
        "geometry" | "point" | "linestring" | "polygon" | "multipoint" | "multilinestring"
        | "multipolygon" | "geometrycollection" | "geomcollection" => DataType::Printed,
        // The text family, inet4 and inet6, and what a later version may bring.
        _ => DataType::Text { max_chars: None },
    }
}

/// The names in `'a','b''c'`. A quote is doubled; backslash, newline, return and NUL are escaped.
fn members(list: &str) -> Vec<String> {
    let mut members = Vec::new();
    let mut member: Option<String> = None;
    let mut letters = list.chars().peekable();
    while let Some(letter) = letters.next() {
        match (&mut member, letter) {
            (None, '\'') => member = Some(String::new()),
            (None, _) => {}
            (Some(text), '\'') if letters.next_if_eq(&'\'').is_some() => text.push('\''),
            (Some(_), '\'') => members.extend(member.take()),
            (Some(text), '\\') => text.push(match letters.next() {
                Some('n') => '\n',
                Some('r') => '\r',
                Some('0') => '\0',
                Some('Z') => '\u{1a}',
                Some(other) => other,
                None => '\\',
            }),
            (Some(text), letter) => text.push(letter),
        }
    }
    members
}

/// Reads a value of a row, and says about how many bytes it has.
pub(super) fn cell(
    row: &MySqlRow,
    at: usize,
    data_type: &DataType,
) -> sqlx::Result<(Value, usize)> {
    let bytes = bytes(row, at)?;
    Ok((decode(bytes, data_type), 8 + bytes.map_or(0, <[u8]>::len)))
}

/// Reads what the server sent for a column of this type.
fn decode(bytes: Option<&[u8]>, data_type: &DataType) -> Value {
    let Some(bytes) = bytes else {
        return Value::Null;
    };
    match data_type {
        DataType::Binary { .. } => return Value::Bytes(bytes.to_vec()),
        DataType::Array { .. } => return vector(bytes),
        // A bit(1) comes as a byte, a tinyint(1) as a digit.
        DataType::Boolean => match bytes {
            b"0" | b"\0" => return Value::Bool(false),
            b"1" | b"\x01" => return Value::Bool(true),
            _ => {}
        },
        _ => {}
    }
    match str::from_utf8(bytes) {
        Ok(text) => from_text(text, data_type),
        Err(_) => Value::unfit(String::from_utf8_lossy(bytes), UnfitReason::NotUtf8),
    }
}

fn from_text(text: &str, data_type: &DataType) -> Value {
    match data_type {
        // A single comes as the double of the same value, so its text reads back to the same single.
        DataType::Float { bits: 32 } => float(text, text.parse().map(Number::from_f32)),
        DataType::Float { .. } => float(text, text.parse().map(Number::from_f64)),
        DataType::Boolean => Value::unfit(text, UnfitReason::NotABoolean),
        // A TIME that is a span of time, which the server prints as `-838:59:59`: no clock shows it, and no other type
        // of ours keeps its sign and order.
        DataType::Time { .. } if !is_clock(text) => Value::Text(text.into()),
        DataType::Set { .. } if text.is_empty() => Value::Set(Vec::new()),
        DataType::Set { .. } => Value::Set(
            text.split(',')
                .map(|member| Value::Text(member.into()))
                .collect(),
        ),
        other => printed(text, other),
    }
}

/// Whether a TIME is a time of day: `00:00:00` to `24:00:00`.
fn is_clock(text: &str) -> bool {
    let (clock, fraction) = text.split_once('.').unwrap_or((text, ""));
    let midnight = clock == "24:00:00" && fraction.bytes().all(|digit| digit == b'0');
    clock.len() == 8 && !clock.starts_with('-') && (clock < "24:00:00" || midnight)
}

fn number(text: &str, parsed: Result<Number, NumberError>) -> Value {
    parsed.map_or_else(|error| Value::unfit(text, error.into()), Value::Number)
}

/// A vector comes as its singles, each of four bytes, the lowest first.
fn vector(bytes: &[u8]) -> Value {
    let (singles, _) = bytes.as_chunks();
    let singles = singles.iter().map(|bytes| f32::from_le_bytes(*bytes));
    let numbers = singles.map(|single| number(&single.to_string(), Number::from_f32(single)));
    Value::List(numbers.collect())
}

fn float(
    text: &str,
    parsed: Result<Result<Number, NumberError>, std::num::ParseFloatError>,
) -> Value {
    number(text, parsed.unwrap_or(Err(NumberError::Malformed)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn column_types_are_read_with_their_arguments() {
        let integer = |bits, unsigned| DataType::Integer { bits, unsigned };
        for (column_type, expected) in [
            ("tinyint(1)", DataType::Boolean),
            ("tinyint(1) unsigned", DataType::Boolean),
            ("tinyint(4)", integer(8, false)),
            ("tinyint", integer(8, false)),
            ("bigint(20) unsigned zerofill", integer(64, true)),
            ("year(4)", integer(16, true)),
            ("bit(1)", DataType::Boolean),
            ("bit(9)", DataType::Binary { max_bytes: Some(2) }),
            (
                "decimal(10,2) unsigned",
                DataType::Decimal {
                    precision: Some(10),
                    scale: Some(2),
                },
            ),
            ("float(7,4)", DataType::Float { bits: 32 }),
            ("double unsigned", DataType::Float { bits: 64 }),
            (
                "timestamp(6)",
                DataType::Timestamp {
                    digits: 6,
                    zone: true,
                },
            ),
            ("multipolygon", DataType::Printed),
            ("inet6", DataType::Text { max_chars: None }),
            (
                r"enum('a','b''c','d\\e',')','','x,y')",
                DataType::Enum {
                    values: ["a", "b'c", r"d\e", ")", "", "x,y"]
                        .map(String::from)
                        .into(),
                },
            ),
        ] {
            assert_eq!(data_type(column_type), expected, "{column_type}");
        }
    }

    #[test]
    fn a_time_beyond_the_clock_stays_text() {
        let time = DataType::Time {
            digits: 2,
            zone: false,
        };
        let is_time = |text: &str| matches!(decode(Some(text.as_bytes()), &time), Value::Time(_));
        assert!(is_time("00:00:00.00"));
        assert!(is_time("23:59:59.99"));
        assert!(is_time("24:00:00.00"));
        for text in [
            "24:00:00.01",
            "24:00:01.00",
            "-00:00:01.00",
            "838:59:59.00",
            "100:00:00.00",
        ] {
            assert!(!is_time(text), "{text}");
        }
    }

    #[test]
    fn a_tinyint_that_is_no_boolean_keeps_its_number() {
        let unfit = Value::unfit("5", UnfitReason::NotABoolean);
        assert_eq!(decode(Some(b"5"), &DataType::Boolean), unfit);
        assert_eq!(decode(Some(b"\x01"), &DataType::Boolean), Value::Bool(true));
    }

    #[test]
    fn a_single_is_the_shortest_decimal_of_a_single() {
        let single = DataType::Float { bits: 32 };
        let read = decode(Some(b"0.10000000149011612"), &single);
        assert!(matches!(read, Value::Number(number) if number.as_str() == "0.1"));
    }
}
