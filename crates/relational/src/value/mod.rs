//! Neutral values: what stands between a SQL column and a DynamoDB attribute.
//!
//! A source decodes every column into a [`Value`]; templates and filters work on values; the fold
//! turns them into attributes. Numbers are decimal text throughout and never pass through a
//! float. A value that has no place in DynamoDB (NaN, a zero date, 39 digits) is kept as
//! [`Value::Unfit`], because a mapping may still mend it (`string`, `default`) or never use it.

mod document;
mod number;
mod order;
mod time;

pub use document::quote;
pub use document::{DocumentError, parse_document, write_document};
pub use number::{Number, NumberError};
pub use order::compare;
pub use time::{Time, TimeError, TimeKind};

use std::fmt;

/// Text of a value. Up to 15 bytes stand in place; longer text is shared by its copies.
pub type Text = ecow::EcoString;

/// One value of a row, or a part of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// SQL NULL, a JSON `null`, or a missing member.
    Null,
    /// A truth value.
    Bool(bool),
    /// An exact decimal within DynamoDB's precision and magnitude.
    Number(Number),
    /// Text, UTF-8.
    Text(Text),
    /// A date, a time of day or a point in time, as canonical ISO 8601 text.
    Time(Time),
    /// Bytes.
    Bytes(Vec<u8>),
    /// A SQL array or a JSON array.
    List(Vec<Value>),
    /// A JSON object, a composite, an hstore or a range, in the order in which the database gives its members.
    Map(Vec<(Text, Value)>),
    /// A MySQL SET, or the result of the `set` filter. Members are scalars of one kind.
    Set(Vec<Value>),
    /// A value that DynamoDB cannot hold as its column's type asks.
    Unfit(Box<Unfit>),
}

impl Value {
    /// Whether this is [`Value::Null`].
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// An [`Unfit`] value: what the database printed, and why it does not fit.
    pub fn unfit(text: impl Into<String>, why: UnfitReason) -> Self {
        Self::Unfit(Box::new(Unfit {
            text: text.into(),
            why,
        }))
    }

    /// About how many bytes it holds.
    pub fn size(&self) -> usize {
        match self {
            Self::Null | Self::Bool(_) => 1,
            Self::Number(number) => number.as_str().len(),
            Self::Text(text) => text.len(),
            Self::Time(time) => time.as_str().len(),
            Self::Bytes(bytes) => bytes.len(),
            Self::List(parts) | Self::Set(parts) => parts.iter().map(Self::size).sum(),
            Self::Map(members) => members.iter().map(|(n, v)| n.len() + v.size()).sum(),
            Self::Unfit(unfit) => unfit.text.len(),
        }
    }

    /// The word for this value's kind in messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "NULL",
            Self::Bool(_) => "a boolean",
            Self::Number(_) => "a number",
            Self::Text(_) => "text",
            Self::Time(_) => "a time",
            Self::Bytes(_) => "binary",
            Self::List(_) => "a list",
            Self::Map(_) => "a map",
            Self::Set(_) => "a set",
            Self::Unfit(_) => "an unfit value",
        }
    }
}

/// A value that the database holds and that DynamoDB cannot hold as its column's type asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfit {
    /// What the database prints for it; `string` yields this text, except for [`UnfitReason::NotUtf8`]
    /// where it has lost what was no text.
    pub text: String,
    /// Why it does not fit.
    pub why: UnfitReason,
}

/// Why a value does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnfitReason {
    /// More than 38 significant digits.
    TooManyDigits,
    /// Outside 1E-130 to 9.99E+125.
    Magnitude,
    /// NaN or an infinity.
    NotFinite,
    /// Not a number at all, in a column declared as one (SQLite).
    NotANumber,
    /// A `tinyint(1)` that is neither 0 nor 1.
    NotABoolean,
    /// A zero date (`0000-00-00`) or one with a zero month or day.
    ZeroDate,
    /// A date outside the years 0001 to 9999, or `infinity`.
    DateRange,
    /// Text that is not UTF-8.
    NotUtf8,
    /// Not well-formed JSON, in a column declared as JSON, or an object that names a member twice.
    NotJson,
    /// JSON nested deeper than is read at all: 100 levels, of which DynamoDB takes 32.
    TooDeep,
    /// A type whose printed form could not be taken apart.
    Unreadable,
    /// Embedded children whose parent shares its key with another, so that nobody knows whose they are.
    SharedKey,
    /// Embedded children of more than 16 MiB.
    TooManyChildren,
}

impl UnfitReason {
    /// What the user can say in the mapping to mend it.
    pub fn help(self) -> &'static str {
        match self {
            Self::TooManyDigits | Self::Magnitude | Self::NotFinite => {
                "use `| string` to keep it as text, or `| default(x)` to replace it"
            }
            Self::NotANumber | Self::NotJson | Self::TooDeep => "use `| string` to keep it as text",
            Self::NotABoolean => "use `| number` to keep it as a number",
            Self::ZeroDate | Self::DateRange => {
                "use `| default(x)` to replace it, or `| string` to keep it as text"
            }
            Self::NotUtf8 => {
                "use `| default(x)` to replace it, or cast it to bytes in `from: { sql: … }`"
            }
            Self::Unreadable => "use `| string` to keep it as the database prints it",
            Self::SharedKey => "name columns under `key` that identify every row of the query",
            Self::TooManyChildren => {
                "use `$limit`, leave children out with `$where`, or make them items of their own"
            }
        }
    }
}

impl fmt::Display for UnfitReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooManyDigits => "the number has more than 38 significant digits",
            Self::Magnitude => "the number is outside 1E-130 to 9.99E+125",
            Self::NotFinite => "the number is NaN or infinite",
            Self::NotANumber => "the value is not a number although its column is declared as one",
            Self::NotABoolean => "the tinyint(1) is neither 0 nor 1",
            Self::ZeroDate => "the date is a zero date",
            Self::DateRange => "the date is outside the years 0001 to 9999",
            Self::NotUtf8 => "the text is not UTF-8",
            Self::NotJson => {
                "the value is not a JSON document, or an object in it has a member twice"
            }
            Self::TooDeep => "the JSON is nested deeper than the 32 levels that DynamoDB allows",
            Self::Unreadable => "the value could not be read",
            Self::SharedKey => {
                "two parents have the same key, so it is not known to which of them each child belongs"
            }
            Self::TooManyChildren => "the children are larger than 16 MiB together",
        })
    }
}
