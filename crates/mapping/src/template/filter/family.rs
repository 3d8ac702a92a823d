//! Checks a filter against the kind of value that it will be given, before any row is read.

use dynafold_relational::catalog::TypeFamily;
use dynafold_relational::value::Value;

use super::{Filter, canonical};

/// A filter that cannot take what it is given.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct FilterTypeError {
    /// What is wrong.
    pub message: String,
    /// How to mend it.
    pub help: String,
}

impl Filter {
    /// The kind of value that comes out when values of kind `input` go in.
    ///
    /// [`TypeFamily::Any`] and [`TypeFamily::Document`] pass where their values may fit; the rows tell.
    ///
    /// # Errors
    ///
    /// [`FilterTypeError`] when no value of that kind could ever pass.
    pub fn family(&self, input: TypeFamily) -> Result<TypeFamily, FilterTypeError> {
        self.gives(input).ok_or_else(|| {
            let given = input.name();
            let (message, help) = match self {
                Self::Default(value) => (
                    format!(
                        "`default` replaces NULL by {}, but the values are {given}",
                        family_of(value).name()
                    ),
                    default_help(value, input),
                ),
                _ => (
                    format!("`{}` needs {}, and gets {given}", self.name(), self.takes()),
                    self.type_help(input),
                ),
            };
            FilterTypeError { message, help }
        })
    }

    /// What [`Self::family`] gives; `None` when no value of that kind could ever pass.
    fn gives(&self, input: TypeFamily) -> Option<TypeFamily> {
        use TypeFamily::{Any, Binary, Boolean, Document, List, Map, Number, Set, Text, Time};
        let scalar = !matches!(input, Binary | List | Map | Set);
        match (self, input) {
            (Self::Pad { .. } | Self::Desc { .. } | Self::Ordered, Number | Any | Document)
            | (Self::Iso | Self::Format(_), Time | Any)
            | (
                Self::Upper | Self::Lower | Self::Trim | Self::Truncate(_) | Self::Replace { .. },
                Text | Any | Document,
            )
            | (Self::Hex | Self::Base64, Binary | Any)
            | (Self::Uuid { .. }, Binary | Text | Any | Document) => Some(Text),
            (Self::Date | Self::Plus(_), Time | Any) | (Self::Time(_), Text | Any | Document) => {
                Some(Time)
            }
            (Self::Epoch | Self::EpochMs, Time | Any)
            | (Self::Number, Number | Text | Boolean | Any | Document) => Some(Number),
            (Self::Bool, Boolean | Text | Number | Any | Document) => Some(Boolean),
            (Self::Binary, Binary | Text | Any | Document) => Some(Binary),
            (Self::Json, Text | Document | Any | Number | Boolean | List | Map) => Some(Document),
            (Self::Set, List | Set | Document | Any | Text | Number | Binary | Time) => Some(Set),
            (Self::Pseudonym, Number | Text) | (Self::Redact, _) => Some(input),
            (Self::Pseudonym, Any | Document) => Some(Any),
            (Self::String, given) if given != Binary => Some(Text),
            (Self::Shard(_), _) if scalar => Some(Text),
            (Self::Map { .. }, _) if scalar => Some(common_family(self.constants())),
            (Self::Present { .. }, _) => Some(common_family(self.constants())),
            (Self::Default(_), Any | Document) => Some(input),
            (Self::Default(value), _) if family_of(value) == input => Some(input),
            _ => None,
        }
    }

    /// The kinds of values that it takes, in words.
    pub(super) fn takes(&self) -> &'static str {
        Self::entry(self.name()).map_or("other values", |entry| entry.takes)
    }

    /// Whether what it makes of a time without a zone depends on the mapping's time zone.
    pub fn uses_time_zone(&self) -> bool {
        matches!(
            self,
            Self::Iso | Self::Date | Self::Epoch | Self::EpochMs | Self::Format(_)
        )
    }

    /// The filter as a template writes it, with `…` for long arguments.
    pub fn written(&self) -> String {
        let name = self.name();
        match self {
            Self::Pad { digits, scale: 0 } | Self::Desc { digits } => format!("{name}({digits})"),
            Self::Pad { digits, scale } => format!("{name}({digits}, {scale})"),
            Self::Shard(shards) => format!("{name}({shards})"),
            Self::Truncate(length) => format!("{name}({length})"),
            Self::Replace { .. } | Self::Map { .. } | Self::Plus(_) => format!("{name}(…)"),
            Self::Format(pattern) | Self::Time(pattern) => {
                format!("{name}(\"{}\")", pattern.as_str())
            }
            _ => name.to_owned(),
        }
    }

    /// What to write instead, for a filter that cannot take `given`.
    fn type_help(&self, given: TypeFamily) -> String {
        let name = self.name();
        let takes = |family| self.gives(family).is_some();
        let numeric = takes(TypeFamily::Number) && !takes(TypeFamily::Text);
        let temporal = takes(TypeFamily::Time) && !takes(TypeFamily::Text);
        let textual = takes(TypeFamily::Text) && !takes(TypeFamily::Number);
        let written = self.written();
        match given {
            TypeFamily::Text if numeric => format!("read it as a number first: `| number | {written}`"),
            TypeFamily::Boolean if numeric => {
                format!("make it a number first: `| number | {written}`")
            }
            TypeFamily::Time if numeric => "turn the time into a number first: `| epoch | pad(10)` or `| epoch_ms | pad(13)`; or leave the filter out: the text of a time already sorts by time".to_owned(),
            TypeFamily::Text | TypeFamily::Document if temporal => {
                format!("read it as a time first: `| time(\"%Y-%m-%d\") | {written}`")
            }
            TypeFamily::Number | TypeFamily::Boolean | TypeFamily::Time
                if textual && !matches!(self, Self::Uuid { .. }) =>
            {
                format!("make it text first: `| string | {written}`")
            }
            TypeFamily::Time if matches!(self, Self::Number) => {
                "turn it into a number: `| epoch` gives seconds, `| epoch_ms` milliseconds".to_owned()
            }
            TypeFamily::Binary if !matches!(self, Self::Hex | Self::Base64) => {
                "make it text first: `| hex`, `| base64` or `| uuid`".to_owned()
            }
            TypeFamily::List | TypeFamily::Map | TypeFamily::Set
                if matches!(self, Self::Map { .. } | Self::Shard(_)) =>
            {
                format!("make it text first: `| string | {written}`")
            }
            _ if matches!(self, Self::Pseudonym) => "use `redact` for it".to_owned(),
            _ => Self::entry(name).map_or_else(String::new, |entry| {
                format!("`{name}` is for {}, as in `{}`", entry.takes, entry.example)
            }),
        }
    }
}

/// The kind of a constant.
fn family_of(value: &Value) -> TypeFamily {
    match value {
        Value::Number(_) => TypeFamily::Number,
        Value::Bool(_) => TypeFamily::Boolean,
        Value::Time(_) => TypeFamily::Time,
        _ => TypeFamily::Text,
    }
}

/// The kind that all of some constants have; [`TypeFamily::Any`] where they differ.
fn common_family<'v>(values: impl IntoIterator<Item = &'v Value>) -> TypeFamily {
    let mut families = values.into_iter().map(family_of);
    let first = families.next().unwrap_or(TypeFamily::Any);
    if families.all(|family| family == first) {
        first
    } else {
        TypeFamily::Any
    }
}

/// What to write instead, for a `default` whose constant is not of the values' kind.
fn default_help(value: &Value, input: TypeFamily) -> String {
    match (value, input) {
        (_, TypeFamily::Text) => {
            let value = canonical(value).unwrap_or_default();
            format!("write it in quotes, `default(\"{value}\")`, to make it text")
        }
        (_, TypeFamily::Number) => {
            "give a number, `default(0)`, or make text of it first: `| string | default(…)`".to_owned()
        }
        (_, TypeFamily::Boolean) => {
            "give `default(true)` or `default(false)`, or make text of it first: `| string | default(…)`"
                .to_owned()
        }
        (_, TypeFamily::Time) => {
            "give a time in full, without quotes: `default(1970-01-01)` for a date, \
             `default(1970-01-01T00:00:00Z)` for a timestamp; or make text of it first: \
             `| string | default(…)`"
                .to_owned()
        }
        (_, TypeFamily::Binary) => "make text of it first: `| hex | default(…)`".to_owned(),
        _ => "make text of it first: `| string | default(…)`".to_owned(),
    }
}
