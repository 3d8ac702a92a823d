//! The filters as data: for messages, completion and documentation.

use super::Filter;

/// What is known about a filter by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The name.
    pub name: &'static str,
    /// How it is written.
    pub signature: &'static str,
    /// What it takes.
    pub takes: &'static str,
    /// What it gives.
    pub gives: &'static str,
    /// One use of it.
    pub example: &'static str,
    /// One sentence.
    pub description: &'static str,
}

macro_rules! entries {
    ($($signature:literal, $name:literal, $takes:literal, $gives:literal, $example:literal, $description:literal;)*) => {
        &[$(Entry {
            name: $name,
            signature: $signature,
            takes: $takes,
            gives: $gives,
            example: $example,
            description: $description,
        },)*]
    };
}

impl Filter {
    /// Every filter, in the order of the documentation.
    pub const NAMES: &'static [Entry] = entries! {
        "pad(n) or pad(n, scale)", "pad", "a non-negative number", "text", "{id | pad(8)}",
            "Pads with zeros to n digits before the point and scale after it, so that text order is number order; refuses what is too wide, negative or finer, and never cuts.";
        "ordered", "ordered", "a number", "text", "{balance | ordered}",
            "Writes any number as text whose byte order is the number's order, negative numbers and fractions included.";
        "desc(n)", "desc", "a non-negative whole number", "text", "{likes | desc(8)}",
            "Writes the complement of pad(n), so that ascending text is descending number.";
        "iso", "iso", "a date or timestamp", "text", "{created_at | iso}",
            "Writes RFC 3339 in UTC, with the column's fractional digits.";
        "date", "date", "a date or timestamp", "a date", "{created_at | date}",
            "Takes the date in UTC.";
        "epoch", "epoch", "a date or timestamp", "a number", "{expires_at | epoch}",
            "Counts whole seconds since 1970, rounded down.";
        "epoch_ms", "epoch_ms", "a date or timestamp", "a number", "{created_at | epoch_ms | pad(13)}",
            "Counts whole milliseconds since 1970, rounded down.";
        "format(\"…\")", "format", "a time", "text", "{created_at | format(\"%Y-%m\")}",
            "Writes a time by a strftime pattern: points in time in UTC, others as they are.";
        "time(\"…\")", "time", "text", "a time", "{logged | time(\"%Y-%m-%d %H:%M\")}",
            "Reads a time by a strftime pattern.";
        "plus(7d)", "plus", "a date or timestamp", "a time", "{created_at | plus(7d) | epoch}",
            "Gives a later time, or with a minus an earlier one: s, m, h, d, w, and mo and y of the calendar.";
        "upper", "upper", "text", "text", "{code | upper}",
            "Writes upper case.";
        "lower", "lower", "text", "text", "{email | lower}",
            "Writes lower case.";
        "trim", "trim", "text", "text", "{code | trim}",
            "Takes white space away at both ends.";
        "truncate(n)", "truncate", "text", "text", "{title | truncate(3)}",
            "Keeps the first n characters.";
        "replace(a, b)", "replace", "text", "text", "{path | replace(/, -)}",
            "Puts b for every a.";
        "default(x)", "default", "NULL or a value", "the value, or x", "{region | default(none)}",
            "Puts x for NULL and for a value that does not fit its type.";
        "present(a, b)", "present", "NULL or a value", "a or b", "{body | present(1, 0)}",
            "Says whether there is a value.";
        "map(a: x, *: z)", "map", "a scalar", "a code", "{state | map(active: A, closed: C, *: X)}",
            "Puts a code for a value; without `*` a value that is not named is refused.";
        "shard(n)", "shard", "a scalar", "text", "{voter_id | shard(20)}",
            "Gives crc32 of the canonical text, modulo n, padded to the width of n - 1.";
        "hex", "hex", "binary", "text", "{digest | hex}",
            "Writes bytes as lowercase hexadecimal digits.";
        "base64", "base64", "binary", "text", "{digest | base64}",
            "Writes bytes in base64, padded.";
        "uuid or uuid(swap)", "uuid", "16 bytes, or text", "text", "{id | uuid}",
            "Writes a lowercase UUID, from bytes in the order of the text or, with swap, as MySQL's UUID_TO_BIN(…, 1) stores them.";
        "string", "string", "any value but binary", "text", "{id | string}",
            "Gives the canonical text, documents as JSON.";
        "number", "number", "text, a boolean or a number", "a number", "{code | number | pad(6)}",
            "Reads a number, exactly.";
        "bool", "bool", "text, a number or a boolean", "a boolean", "{flag | bool}",
            "Reads a truth value: true, t, yes, 1, or false, f, no, 0.";
        "binary", "binary", "text or binary", "binary", "{token | binary}",
            "Gives the UTF-8 bytes of text.";
        "json", "json", "text", "a document", "{payload | json}",
            "Reads the JSON document that a text holds.";
        "set", "set", "a list, or a scalar", "a set", "{tags | set}",
            "Makes a DynamoDB set.";
        "redact", "redact", "any value", "the same type", "{name | redact}",
            "Puts a fixed mask of the same type.";
        "pseudonym", "pseudonym", "text, or a whole number", "the same type", "{user_id | pseudonym}",
            "Puts a keyed stand-in: the same for the same value, so that keys still join.";
    };

    /// Finds a filter's entry.
    #[must_use]
    pub fn entry(name: &str) -> Option<&'static Entry> {
        Self::NAMES.iter().find(|entry| entry.name == name)
    }

    /// The filter's name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Pad { .. } => "pad",
            Self::Ordered => "ordered",
            Self::Desc { .. } => "desc",
            Self::Iso => "iso",
            Self::Date => "date",
            Self::Epoch => "epoch",
            Self::EpochMs => "epoch_ms",
            Self::Format(_) => "format",
            Self::Time(_) => "time",
            Self::Plus(_) => "plus",
            Self::Upper => "upper",
            Self::Lower => "lower",
            Self::Trim => "trim",
            Self::Truncate(_) => "truncate",
            Self::Replace { .. } => "replace",
            Self::Default(_) => "default",
            Self::Present { .. } => "present",
            Self::Map { .. } => "map",
            Self::Shard(_) => "shard",
            Self::Hex => "hex",
            Self::Base64 => "base64",
            Self::Uuid { .. } => "uuid",
            Self::String => "string",
            Self::Number => "number",
            Self::Bool => "bool",
            Self::Binary => "binary",
            Self::Json => "json",
            Self::Set => "set",
            Self::Redact => "redact",
            Self::Pseudonym => "pseudonym",
        }
    }
}
