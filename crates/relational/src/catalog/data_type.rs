//! What a column's type means, the same for the three databases.

use serde::{Deserialize, Serialize};

use crate::value::TimeKind;

/// A column's type in neutral words. Each has one place in DynamoDB (docs/types.md).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum DataType {
    /// Whole numbers, MySQL's YEAR among them.
    Integer {
        /// Width in bits.
        bits: u8,
        /// Whether it holds no negative numbers.
        unsigned: bool,
    },
    /// Exact decimals.
    Decimal {
        /// Digits in all, where declared.
        precision: Option<u32>,
        /// Digits after the point, where declared.
        scale: Option<i32>,
    },
    /// Binary floating point.
    Float {
        /// 32 or 64.
        bits: u8,
    },
    /// Truth values: boolean, MySQL's tinyint(1) and bit(1).
    Boolean,
    /// Text of any kind that the database prints as it is: enum, inet, xml, citext and so on too.
    Text {
        /// Most characters, where declared.
        max_chars: Option<u64>,
    },
    /// One of a list of names.
    Enum {
        /// The names.
        values: Vec<String>,
    },
    /// A UUID; text of 36 characters.
    Uuid,
    /// A date.
    Date,
    /// A time of day.
    Time {
        /// Fractional digits.
        digits: u8,
        /// Whether an offset is kept with it.
        zone: bool,
    },
    /// A date with a time.
    Timestamp {
        /// Fractional digits.
        digits: u8,
        /// Whether it is a point in time (timestamptz, MySQL's TIMESTAMP), printed in UTC.
        zone: bool,
    },
    /// A duration, as ISO 8601 text.
    Interval,
    /// Bytes.
    Binary {
        /// Most bytes, where declared.
        max_bytes: Option<u64>,
    },
    /// A JSON document.
    Json,
    /// An array; nested arrays are arrays of arrays only in the value, as in PostgreSQL.
    Array {
        /// The type of every element.
        element: Box<DataType>,
    },
    /// A MySQL SET.
    Set {
        /// The members' names.
        values: Vec<String>,
    },
    /// A composite type.
    Composite {
        /// Names and types of the fields, in order.
        fields: Vec<(String, DataType)>,
    },
    /// PostgreSQL's hstore: text to text or NULL.
    Hstore,
    /// A range, or with `multi` a list of ranges.
    Range {
        /// The type of both bounds.
        bound: Box<DataType>,
        /// Whether it is a multirange.
        multi: bool,
    },
    /// A type with no place of its own: text, as the database prints it. `check` warns of it.
    #[default]
    Printed,
    /// SQLite: whatever the stored value is, number, text or bytes.
    Dynamic,
}

/// The kinds of value that templates and filters tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TypeFamily {
    /// Integers, decimals, floats.
    Number,
    /// Text, enums, UUIDs, intervals, printed types.
    Text,
    /// Booleans.
    Boolean,
    /// Dates, times, timestamps.
    Time,
    /// Bytes.
    Binary,
    /// JSON documents: any kind, known only when the row is read.
    Document,
    /// Arrays and multiranges.
    List,
    /// Composites, hstore, ranges.
    Map,
    /// MySQL SETs and the `set` filter's result.
    Set,
    /// Known only when the row is read.
    Any,
}

impl DataType {
    /// Whether a value that is not NULL to the database may be read as NULL, or make no attribute: a document that is `null`, and a set
    /// without values.
    pub fn may_be_absent(&self) -> bool {
        matches!(self, Self::Json | Self::Set { .. })
    }

    /// The kind of value that a column of this type holds.
    pub fn family(&self) -> TypeFamily {
        match self {
            Self::Integer { .. } | Self::Decimal { .. } | Self::Float { .. } => TypeFamily::Number,
            Self::Boolean => TypeFamily::Boolean,
            Self::Text { .. } | Self::Enum { .. } | Self::Uuid | Self::Interval | Self::Printed => {
                TypeFamily::Text
            }
            Self::Date | Self::Time { .. } | Self::Timestamp { .. } => TypeFamily::Time,
            Self::Binary { .. } => TypeFamily::Binary,
            Self::Json => TypeFamily::Document,
            Self::Array { .. } | Self::Range { multi: true, .. } => TypeFamily::List,
            Self::Composite { .. } | Self::Hstore | Self::Range { .. } => TypeFamily::Map,
            Self::Set { .. } => TypeFamily::Set,
            Self::Dynamic => TypeFamily::Any,
        }
    }

    /// What kind of times a column of this type holds, and with how many fractional digits.
    pub fn time(&self) -> Option<(TimeKind, u8)> {
        match *self {
            Self::Date => Some((TimeKind::Date, 0)),
            Self::Time { digits, zone: true } => Some((TimeKind::TimeOfDayWithOffset, digits)),
            Self::Time { digits, .. } => Some((TimeKind::TimeOfDay, digits)),
            Self::Timestamp { digits, zone: true } => Some((TimeKind::Instant, digits)),
            Self::Timestamp { digits, .. } => Some((TimeKind::Timestamp, digits)),
            _ => None,
        }
    }
}

impl TypeFamily {
    /// The word for this kind in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Number => "a number",
            Self::Text => "text",
            Self::Boolean => "a boolean",
            Self::Time => "a time",
            Self::Binary => "binary",
            Self::Document => "a JSON document",
            Self::List => "a list",
            Self::Map => "a map",
            Self::Set => "a set",
            Self::Any => "any value",
        }
    }
}
