//! Filters: what stands after `|` in a placeholder.
//!
//! A [`Filter`] is compiled from what was written ([`Filter::compile`]), checked against the kind
//! of value that it will be given ([`Filter::family`]) and then applied to values, row by row
//! ([`Filter::apply`]). NULL passes through every filter but `default` and `present`. A value that
//! does not fit is refused, never bent: nothing is cut, rounded or guessed.

mod apply;
mod apply_error;
mod compile;
mod family;
mod table;
#[cfg(test)]
mod tests;
mod time;
mod trial;

pub use apply::Secret;
pub use apply_error::ApplyError;
pub use compile::FilterError;
pub use family::FilterTypeError;
pub use table::FilterEntry;
pub use time::{Period, TimePattern};
pub use trial::FilterTrial;

use dynafold_relational::value::Value;

/// A filter with its arguments read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Filter {
    /// `pad(n)`, `pad(n, scale)`: digits padded with zeros.
    Pad {
        /// Digits before the point, 1 to 38.
        digits: usize,
        /// Digits after it, up to 38; without it there is no point.
        scale: usize,
    },
    /// `ordered`: text whose byte order is the number's order.
    Ordered,
    /// `desc(n)`: the complement of `pad(n)`.
    Desc {
        /// Digits, 1 to 38.
        digits: usize,
    },
    /// `iso`: RFC 3339 in UTC.
    Iso,
    /// `date`: the date in UTC.
    Date,
    /// `epoch`: seconds since 1970.
    Epoch,
    /// `epoch_ms`: milliseconds since 1970.
    EpochMs,
    /// `format("…")`: strftime.
    Format(TimePattern),
    /// `time("…")`: strptime.
    Time(TimePattern),
    /// `plus(7d)`: a later time, or an earlier one.
    Plus(Period),
    /// `upper`.
    Upper,
    /// `lower`.
    Lower,
    /// `trim`: white space at both ends.
    Trim,
    /// `truncate(n)`: the first n characters.
    Truncate(usize),
    /// `replace(a, b)`: every `a` becomes `b`.
    Replace {
        /// What is replaced; not empty.
        from: String,
        /// What stands there afterwards.
        to: String,
    },
    /// `default(x)`: x for NULL and for what does not fit.
    Default(Value),
    /// `present(a, b)`: a for a value, b for NULL.
    Present {
        /// Stands for any value.
        yes: Value,
        /// Stands for NULL.
        no: Value,
    },
    /// `map(a: x, *: z)`: a code for a value.
    Map {
        /// Canonical texts and what stands for them.
        codes: Vec<(String, Value)>,
        /// What stands for every other value.
        other: Option<Value>,
    },
    /// `shard(n)`: a stable number below n, from the value.
    Shard(u32),
    /// `hex`: bytes as lowercase hexadecimal digits.
    Hex,
    /// `base64`: bytes in the standard alphabet, padded.
    Base64,
    /// `uuid`: 16 bytes, or text, as a lowercase UUID.
    Uuid {
        /// Whether the bytes were reordered by MySQL's `UUID_TO_BIN(…, 1)`.
        swap: bool,
    },
    /// `string`: the canonical text.
    String,
    /// `number`.
    Number,
    /// `bool`.
    Bool,
    /// `binary`: text as its UTF-8 bytes.
    Binary,
    /// `json`: text as the document that it holds.
    Json,
    /// `set`: a list, or one scalar, as a set.
    Set,
    /// `redact`: a fixed mask of the same type.
    Redact,
    /// `pseudonym`: a keyed stand-in.
    Pseudonym,
}

impl Filter {
    /// The text that `shard(n)` gives for the shard of this number.
    pub fn shard_text(shard: u32, shards: u32) -> String {
        apply::numbered(shard, shards)
    }

    /// The constants that it may put in the place of a value.
    pub(crate) fn constants(&self) -> Vec<&Value> {
        match self {
            Self::Default(value) => vec![value],
            Self::Present { yes, no } => vec![yes, no],
            Self::Map { codes, other } => {
                let codes = codes.iter().map(|(_, code)| code);
                codes.chain(other).collect()
            }
            _ => Vec::new(),
        }
    }

    /// How many characters it makes, where that is the same for all values.
    pub fn width(&self) -> Option<usize> {
        match self {
            Self::Pad { digits, scale: 0 } | Self::Desc { digits } => Some(*digits),
            Self::Pad { digits, scale } => Some(digits + 1 + scale),
            Self::Shard(shards) => Some(Self::shard_text(0, *shards).len()),
            _ => None,
        }
    }

    /// The shard of a value's canonical text.
    pub(crate) fn shard_of(text: &str, shards: u32) -> String {
        apply::shard(text, shards)
    }
}

/// What filters and the fold know besides the row.
#[derive(Debug, Clone)]
pub struct Context {
    /// The run's clock: one value for the whole run, by which items have expired or not. Nothing
    /// else depends on it.
    pub now: jiff::Timestamp,
    /// What times without a zone mean when UTC is asked for.
    pub time_zone: jiff::tz::TimeZone,
    /// The key of `pseudonym`.
    pub secret: Option<Secret>,
}

impl Default for Context {
    fn default() -> Self {
        Self {
            now: jiff::Timestamp::UNIX_EPOCH,
            time_zone: jiff::tz::TimeZone::UTC,
            secret: None,
        }
    }
}

/// The canonical text of a scalar: numbers as DynamoDB answers them, `true` or `false`, times in
/// ISO 8601. `None` for what has no text of its own: NULL, binary, lists, maps, sets, unfit values.
pub fn canonical(value: &Value) -> Option<&str> {
    match value {
        Value::Bool(true) => Some("true"),
        Value::Bool(false) => Some("false"),
        Value::Number(number) => Some(number.as_str()),
        Value::Text(text) => Some(text),
        Value::Time(time) => Some(time.as_str()),
        Value::Null
        | Value::Bytes(_)
        | Value::List(_)
        | Value::Map(_)
        | Value::Set(_)
        | Value::Unfit(_) => None,
    }
}
