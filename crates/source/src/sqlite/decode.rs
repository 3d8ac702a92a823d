//! Declared types, and what a stored value is under one.
//!
//! SQLite stores a class with each value; the declared type only suggests it. A value is read as
//! its column declares where it allows that, so that the same data gives the same items as from
//! the other databases; else it is read as stored, and the caller counts the disagreement.

use dynafold_format::hex;
use dynafold_relational::catalog::DataType;
use dynafold_relational::value::{
    DocumentError, Number, NumberError, Time, TimeKind, UnfitReason, Value, parse_document,
};
use sqlx::error::BoxDynError;
use sqlx::sqlite::SqliteValueRef;
use sqlx::{Decode, Sqlite, TypeInfo as _, ValueRef as _};

/// What a declared type means. Exact words first, as docs/types.md lists them, then SQLite's own
/// rules, by which `INT` anywhere makes an integer. A type that neither knows is
/// [`DataType::Dynamic`].
pub(super) fn data_type(declared: &str) -> DataType {
    let upper = declared.to_ascii_uppercase();
    let (base, rest) = upper.split_once('(').unwrap_or((&upper, ""));
    let (arguments, tail) = rest.split_once(')').unwrap_or((rest, ""));
    let name = format!("{} {}", base.trim(), tail.trim());
    let name = name.trim();
    let mut arguments = arguments.split(',').map(str::trim);
    let first = arguments.next().unwrap_or_default();
    let digits = first.parse::<u8>().unwrap_or(0);
    match name {
        "BOOLEAN" | "BOOL" => DataType::Boolean,
        "DATE" => DataType::Date,
        "TIME" | "TIME WITHOUT TIME ZONE" => DataType::Time {
            digits,
            zone: false,
        },
        "DATETIME" | "TIMESTAMP" | "TIMESTAMP WITHOUT TIME ZONE" => DataType::Timestamp {
            digits,
            zone: false,
        },
        "TIMESTAMPTZ" | "TIMESTAMP WITH TIME ZONE" => DataType::Timestamp { digits, zone: true },
        "DECIMAL" | "NUMERIC" | "DEC" => DataType::Decimal {
            precision: first.parse().ok(),
            scale: arguments.next().and_then(|scale| scale.parse().ok()),
        },
        "JSON" | "JSONB" => DataType::Json,
        "UUID" => DataType::Uuid,
        "BYTEA" | "BINARY" | "VARBINARY" => DataType::Binary {
            max_bytes: first.parse().ok(),
        },
        _ => by_affinity(name, first),
    }
}

/// SQLite's rules (datatype3.html, 3.1), in their order.
fn by_affinity(name: &str, first: &str) -> DataType {
    let has = |word: &str| name.contains(word);
    if has("INT") {
        DataType::Integer {
            bits: 64,
            unsigned: false,
        }
    } else if has("CHAR") || has("CLOB") || has("TEXT") {
        DataType::Text {
            max_chars: first.parse().ok(),
        }
    } else if has("BLOB") {
        DataType::Binary { max_bytes: None }
    } else if has("REAL") || has("FLOA") || has("DOUB") {
        DataType::Float { bits: 64 }
    } else {
        DataType::Dynamic
    }
}

/// A value as SQLite stores it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Stored<'r> {
    Null,
    Integer(i64),
    Real(f64),
    Text(&'r [u8]),
    Blob(&'r [u8]),
}

impl Stored<'_> {
    /// About how many bytes the value has.
    pub(super) fn size(self) -> usize {
        match self {
            Self::Null | Self::Integer(_) | Self::Real(_) => 8,
            Self::Text(bytes) | Self::Blob(bytes) => 8 + bytes.len(),
        }
    }
}

/// Takes the stored value out of the driver's row. Text comes as its bytes, in UTF-8 whatever the
/// file's encoding, because the driver's own text fails on what is not UTF-8.
pub(super) fn stored(value: SqliteValueRef<'_>) -> Result<Stored<'_>, BoxDynError> {
    if value.is_null() {
        return Ok(Stored::Null);
    }
    // The name of the value's own class: the declared type counts only for NULL.
    let class = value.type_info();
    Ok(match class.name() {
        "INTEGER" => Stored::Integer(Decode::<Sqlite>::decode(value)?),
        "REAL" => Stored::Real(Decode::<Sqlite>::decode(value)?),
        "TEXT" => Stored::Text(Decode::<Sqlite>::decode(value)?),
        _ => Stored::Blob(Decode::<Sqlite>::decode(value)?),
    })
}

/// Reads a stored value under a declared type. The second part says whether the two agree.
pub(super) fn decode(stored: Stored<'_>, data_type: &DataType) -> (Value, bool) {
    let fitting = match stored {
        Stored::Null => Some(Value::Null),
        Stored::Integer(integer) => from_integer(integer, data_type),
        Stored::Real(float) => from_real(float, data_type),
        Stored::Text(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => from_text(text, data_type),
            // Not a disagreement: the row says so itself.
            Err(_) => Some(as_stored(stored)),
        },
        Stored::Blob(bytes) => from_blob(bytes, data_type),
    };
    match fitting {
        Some(value) => (value, true),
        None => (as_stored(stored), false),
    }
}

fn as_stored(stored: Stored<'_>) -> Value {
    match stored {
        Stored::Null => Value::Null,
        Stored::Integer(integer) => Value::Number(Number::from(integer)),
        Stored::Real(float) => real(float),
        Stored::Text(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => Value::Text(text.into()),
            Err(_) => Value::unfit(String::from_utf8_lossy(bytes), UnfitReason::NotUtf8),
        },
        Stored::Blob(bytes) => Value::Bytes(bytes.to_vec()),
    }
}

fn from_integer(integer: i64, data_type: &DataType) -> Option<Value> {
    match (data_type, integer) {
        (DataType::Boolean, 0) => Some(Value::Bool(false)),
        (DataType::Boolean, 1) => Some(Value::Bool(true)),
        (
            DataType::Integer { .. }
            | DataType::Decimal { .. }
            | DataType::Float { .. }
            | DataType::Json
            | DataType::Dynamic,
            _,
        ) => Some(Value::Number(Number::from(integer))),
        _ => None,
    }
}

fn from_real(float: f64, data_type: &DataType) -> Option<Value> {
    matches!(
        data_type,
        DataType::Decimal { .. } | DataType::Float { .. } | DataType::Json | DataType::Dynamic
    )
    .then(|| real(float))
}

fn real(float: f64) -> Value {
    match Number::from_f64(float) {
        Ok(number) => Value::Number(number),
        Err(NumberError::Malformed) => Value::unfit(float.to_string(), UnfitReason::NotFinite),
        Err(NumberError::TooManyDigits | NumberError::Magnitude) => {
            Value::unfit(format!("{float:e}"), UnfitReason::Magnitude)
        }
    }
}

fn from_text(text: &str, data_type: &DataType) -> Option<Value> {
    match data_type {
        DataType::Text { .. } | DataType::Uuid | DataType::Dynamic => {
            Some(Value::Text(text.into()))
        }
        DataType::Decimal { .. } => match Number::parse(text) {
            Ok(number) => Some(Value::Number(number)),
            Err(NumberError::Malformed) => None,
            Err(error) => Some(Value::unfit(text, error.into())),
        },
        DataType::Boolean if text.eq_ignore_ascii_case("true") => Some(Value::Bool(true)),
        DataType::Boolean if text.eq_ignore_ascii_case("false") => Some(Value::Bool(false)),
        DataType::Timestamp { digits, zone: true } => instant(text, *digits),
        DataType::Json => match parse_document(text) {
            Ok(document) => Some(document),
            Err(DocumentError::Malformed(_)) => None,
            Err(error) => Some(Value::unfit(text, error.reason())),
        },
        other => other
            .time()
            .and_then(|(kind, digits)| time(text, kind, digits)),
    }
}

/// A time, if the text is one that the calendar has: SQLite stores `2021-02-31` without a word.
fn time(text: &str, kind: TimeKind, digits: u8) -> Option<Value> {
    let time = Time::from_sql(text, kind, usize::from(digits)).ok()?;
    let canonical = time.as_str();
    let exists = match kind {
        TimeKind::Date => canonical.parse::<jiff::civil::Date>().is_ok(),
        TimeKind::TimeOfDay => canonical.parse::<jiff::civil::Time>().is_ok(),
        TimeKind::Instant => canonical.parse::<jiff::Timestamp>().is_ok(),
        TimeKind::Timestamp | TimeKind::TimeOfDayWithOffset => {
            canonical.parse::<jiff::civil::DateTime>().is_ok()
        }
    };
    exists.then_some(Value::Time(time))
}

/// A point in time; one with an offset is brought to UTC.
fn instant(text: &str, digits: u8) -> Option<Value> {
    time(text, TimeKind::Instant, digits).or_else(|| {
        let utc = text.parse::<jiff::Timestamp>().ok()?;
        time(&utc.to_string(), TimeKind::Instant, digits)
    })
}

fn from_blob(bytes: &[u8], data_type: &DataType) -> Option<Value> {
    match data_type {
        DataType::Binary { .. } | DataType::Dynamic => Some(Value::Bytes(bytes.to_vec())),
        DataType::Uuid => uuid(bytes).map(|uuid| Value::Text(uuid.into())),
        _ => None,
    }
}

/// The text of a UUID that is stored as its 16 bytes.
fn uuid(bytes: &[u8]) -> Option<String> {
    if bytes.len() != 16 {
        return None;
    }
    let mut text = hex(bytes);
    for place in [8, 13, 18, 23] {
        text.insert(place, '-');
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declared_types_are_read_by_word_then_by_affinity() {
        let integer = DataType::Integer {
            bits: 64,
            unsigned: false,
        };
        for (declared, expected) in [
            ("", DataType::Dynamic),
            ("INTEGER", integer.clone()),
            ("unsigned big int", integer),
            (
                "nvarchar(160)",
                DataType::Text {
                    max_chars: Some(160),
                },
            ),
            ("TEXT", DataType::Text { max_chars: None }),
            (
                "NUMERIC(10, 2)",
                DataType::Decimal {
                    precision: Some(10),
                    scale: Some(2),
                },
            ),
            (
                "datetime(3)",
                DataType::Timestamp {
                    digits: 3,
                    zone: false,
                },
            ),
            (
                "timestamp(6) with time zone",
                DataType::Timestamp {
                    digits: 6,
                    zone: true,
                },
            ),
            ("DOUBLE PRECISION", DataType::Float { bits: 64 }),
            ("image", DataType::Dynamic),
        ] {
            assert_eq!(data_type(declared), expected, "{declared}");
        }
    }

    #[test]
    fn what_the_calendar_does_not_have_is_text() {
        for text in ["2021-02-31", "2021-13-01", "0000-00-00", "soon"] {
            let read = decode(Stored::Text(text.as_bytes()), &DataType::Date);
            assert_eq!(read, (Value::Text(text.into()), false));
        }
    }

    #[test]
    fn an_offset_is_brought_to_utc() {
        let zone = DataType::Timestamp {
            digits: 0,
            zone: true,
        };
        let (value, agrees) = decode(Stored::Text(b"2026-01-31 09:00:00+09:00"), &zone);
        assert!(agrees);
        assert!(matches!(value, Value::Time(time) if time.as_str() == "2026-01-31T00:00:00Z"));
    }

    #[test]
    fn a_uuid_of_sixteen_bytes_becomes_its_text() {
        let bytes: Vec<u8> = (0..16).collect();
        let (value, _) = decode(Stored::Blob(&bytes), &DataType::Uuid);
        assert_eq!(
            value,
            Value::Text("00010203-0405-0607-0809-0a0b0c0d0e0f".into())
        );
    }
}
