//! The filters as data, for messages. What each does, docs/templates.md says.

use super::Filter;

/// What is known about a filter by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FilterEntry {
    /// The filter's name in a template.
    pub name: &'static str,
    /// How it is written.
    pub signature: &'static str,
    /// The kind of value that it needs, in words.
    pub takes: &'static str,
    /// One use of it.
    pub example: &'static str,
}

/// Makes [`Filter::NAMES`] and [`Filter::name`] of one table.
macro_rules! filters {
    ($($filter:pat => $name:literal, $signature:literal, $takes:literal, $example:literal;)*) => {
        impl Filter {
            /// Every filter, in the order of the documentation.
            pub const NAMES: &'static [FilterEntry] = &[$(FilterEntry {
                name: $name,
                signature: $signature,
                takes: $takes,
                example: $example,
            },)*];

            /// The filter's name.
            pub fn name(&self) -> &'static str {
                match self {
                    $($filter => $name,)*
                }
            }
        }
    };
}

filters! {
    Filter::Pad { .. } => "pad", "pad(n) or pad(n, scale)", "a non-negative number", "{id | pad(8)}";
    Filter::Ordered => "ordered", "ordered", "a number", "{balance | ordered}";
    Filter::Desc { .. } => "desc", "desc(n)", "a non-negative whole number", "{likes | desc(8)}";
    Filter::Iso => "iso", "iso", "a date or timestamp", "{created_at | iso}";
    Filter::Date => "date", "date", "a date or timestamp", "{created_at | date}";
    Filter::Epoch => "epoch", "epoch", "a date or timestamp", "{expires_at | epoch}";
    Filter::EpochMs => "epoch_ms", "epoch_ms", "a date or timestamp", "{created_at | epoch_ms | pad(13)}";
    Filter::Format(_) => "format", "format(\"…\")", "a time", "{created_at | format(\"%Y-%m\")}";
    Filter::Time(_) => "time", "time(\"…\")", "text", "{logged | time(\"%Y-%m-%d %H:%M\")}";
    Filter::Plus(_) => "plus", "plus(7d)", "a date or timestamp", "{created_at | plus(7d) | epoch}";
    Filter::Upper => "upper", "upper", "text", "{code | upper}";
    Filter::Lower => "lower", "lower", "text", "{email | lower}";
    Filter::Trim => "trim", "trim", "text", "{code | trim}";
    Filter::Truncate(_) => "truncate", "truncate(n)", "text", "{title | truncate(3)}";
    Filter::Replace { .. } => "replace", "replace(a, b)", "text", "{path | replace(/, -)}";
    Filter::Default(_) => "default", "default(x)", "NULL or a value", "{region | default(none)}";
    Filter::Present { .. } => "present", "present(a, b)", "NULL or a value", "{body | present(1, 0)}";
    Filter::Map { .. } => "map", "map(a: x, *: z)", "a scalar", "{state | map(active: A, closed: C, *: X)}";
    Filter::Shard(_) => "shard", "shard(n)", "a scalar", "{voter_id | shard(20)}";
    Filter::Hex => "hex", "hex", "binary", "{digest | hex}";
    Filter::Base64 => "base64", "base64", "binary", "{digest | base64}";
    Filter::Uuid { .. } => "uuid", "uuid or uuid(swap)", "16 bytes, or text", "{id | uuid}";
    Filter::String => "string", "string", "any value but binary", "{id | string}";
    Filter::Number => "number", "number", "text, a boolean or a number", "{code | number | pad(6)}";
    Filter::Bool => "bool", "bool", "text, a number or a boolean", "{flag | bool}";
    Filter::Binary => "binary", "binary", "text or binary", "{token | binary}";
    Filter::Json => "json", "json", "text", "{payload | json}";
    Filter::Set => "set", "set", "a list, or a scalar", "{tags | set}";
    Filter::Redact => "redact", "redact", "any value", "{name | redact}";
    Filter::Pseudonym => "pseudonym", "pseudonym", "text, or a whole number", "{user_id | pseudonym}";
}

impl Filter {
    /// Finds a filter's entry.
    pub fn entry(name: &str) -> Option<&'static FilterEntry> {
        Self::NAMES.iter().find(|entry| entry.name == name)
    }
}
