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

/// Makes [`Filter::NAMES`] and [`Filter::name`] of one table.
macro_rules! filters {
    ($($filter:pat => $name:literal, $signature:literal, $takes:literal, $gives:literal, $example:literal, $description:literal;)*) => {
        impl Filter {
            /// Every filter, in the order of the documentation.
            pub const NAMES: &'static [Entry] = &[$(Entry {
                name: $name,
                signature: $signature,
                takes: $takes,
                gives: $gives,
                example: $example,
                description: $description,
            },)*];

            /// The filter's name.
            #[must_use]
            pub fn name(&self) -> &'static str {
                match self {
                    $($filter => $name,)*
                }
            }
        }
    };
}

filters! {
    Filter::Pad { .. } => "pad", "pad(n) or pad(n, scale)", "a non-negative number", "text", "{id | pad(8)}",
        "Pads with zeros to n digits before the point and scale after it, so that text order is number order; refuses what is too wide, negative or finer, and never cuts.";
    Filter::Ordered => "ordered", "ordered", "a number", "text", "{balance | ordered}",
        "Writes any number as text whose byte order is the number's order, negative numbers and fractions included.";
    Filter::Desc { .. } => "desc", "desc(n)", "a non-negative whole number", "text", "{likes | desc(8)}",
        "Writes the complement of pad(n), so that ascending text is descending number.";
    Filter::Iso => "iso", "iso", "a date or timestamp", "text", "{created_at | iso}",
        "Writes RFC 3339 in UTC, with the column's fractional digits.";
    Filter::Date => "date", "date", "a date or timestamp", "a date", "{created_at | date}",
        "Takes the date in UTC.";
    Filter::Epoch => "epoch", "epoch", "a date or timestamp", "a number", "{expires_at | epoch}",
        "Counts whole seconds since 1970, rounded down.";
    Filter::EpochMs => "epoch_ms", "epoch_ms", "a date or timestamp", "a number", "{created_at | epoch_ms | pad(13)}",
        "Counts whole milliseconds since 1970, rounded down.";
    Filter::Format(_) => "format", "format(\"…\")", "a time", "text", "{created_at | format(\"%Y-%m\")}",
        "Writes a time by a strftime pattern: points in time in UTC, others as they are.";
    Filter::Time(_) => "time", "time(\"…\")", "text", "a time", "{logged | time(\"%Y-%m-%d %H:%M\")}",
        "Reads a time by a strftime pattern.";
    Filter::Plus(_) => "plus", "plus(7d)", "a date or timestamp", "a time", "{created_at | plus(7d) | epoch}",
        "Gives a later time, or with a minus an earlier one: s, m, h, d, w, and mo and y of the calendar.";
    Filter::Upper => "upper", "upper", "text", "text", "{code | upper}",
        "Writes upper case.";
    Filter::Lower => "lower", "lower", "text", "text", "{email | lower}",
        "Writes lower case.";
    Filter::Trim => "trim", "trim", "text", "text", "{code | trim}",
        "Takes white space away at both ends.";
    Filter::Truncate(_) => "truncate", "truncate(n)", "text", "text", "{title | truncate(3)}",
        "Keeps the first n characters.";
    Filter::Replace { .. } => "replace", "replace(a, b)", "text", "text", "{path | replace(/, -)}",
        "Puts b for every a.";
    Filter::Default(_) => "default", "default(x)", "NULL or a value", "the value, or x", "{region | default(none)}",
        "Puts x for NULL and for a value that does not fit its type.";
    Filter::Present { .. } => "present", "present(a, b)", "NULL or a value", "a or b", "{body | present(1, 0)}",
        "Says whether there is a value.";
    Filter::Map { .. } => "map", "map(a: x, *: z)", "a scalar", "a code", "{state | map(active: A, closed: C, *: X)}",
        "Puts a code for a value; without `*` a value that is not named is refused.";
    Filter::Shard(_) => "shard", "shard(n)", "a scalar", "text", "{voter_id | shard(20)}",
        "Gives crc32 of the canonical text, modulo n, padded to the width of n - 1.";
    Filter::Hex => "hex", "hex", "binary", "text", "{digest | hex}",
        "Writes bytes as lowercase hexadecimal digits.";
    Filter::Base64 => "base64", "base64", "binary", "text", "{digest | base64}",
        "Writes bytes in base64, padded.";
    Filter::Uuid { .. } => "uuid", "uuid or uuid(swap)", "16 bytes, or text", "text", "{id | uuid}",
        "Writes a lowercase UUID, from bytes in the order of the text or, with swap, as MySQL's UUID_TO_BIN(…, 1) stores them.";
    Filter::String => "string", "string", "any value but binary", "text", "{id | string}",
        "Gives the canonical text, documents as JSON.";
    Filter::Number => "number", "number", "text, a boolean or a number", "a number", "{code | number | pad(6)}",
        "Reads a number, exactly.";
    Filter::Bool => "bool", "bool", "text, a number or a boolean", "a boolean", "{flag | bool}",
        "Reads a truth value: true, t, yes, 1, or false, f, no, 0.";
    Filter::Binary => "binary", "binary", "text or binary", "binary", "{token | binary}",
        "Gives the UTF-8 bytes of text.";
    Filter::Json => "json", "json", "text", "a document", "{payload | json}",
        "Reads the JSON document that a text holds.";
    Filter::Set => "set", "set", "a list, or a scalar", "a set", "{tags | set}",
        "Makes a DynamoDB set.";
    Filter::Redact => "redact", "redact", "any value", "the same type", "{name | redact}",
        "Puts a fixed mask of the same type.";
    Filter::Pseudonym => "pseudonym", "pseudonym", "text, or a whole number", "the same type", "{user_id | pseudonym}",
        "Puts a keyed stand-in: the same for the same value, so that keys still join.";
}

impl Filter {
    /// Finds a filter's entry.
    #[must_use]
    pub fn entry(name: &str) -> Option<&'static Entry> {
        Self::NAMES.iter().find(|entry| entry.name == name)
    }
}
