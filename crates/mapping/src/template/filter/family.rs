//! Checks a filter against the kind of value that it will be given, before any row is read.

use dynafold_relational::catalog::TypeFamily;
use dynafold_relational::value::{UnfitReason, Value};

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
                        "`default` replaces NULL by {}, and the values are {given}",
                        of(value).name()
                    ),
                    default_help(value, input),
                ),
                _ => (
                    format!("`{}` needs {}, and gets {given}", self.name(), self.takes()),
                    self.mend(input),
                ),
            };
            FilterTypeError { message, help }
        })
    }

    /// The same; `None` when no value of that kind could ever pass.
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
            (Self::Map { codes, other }, _) if scalar => {
                Some(common(codes.iter().map(|(_, code)| code).chain(other)))
            }
            (Self::Present { yes, no }, _) => Some(common([yes, no])),
            (Self::Default(_), Any | Document) => Some(input),
            (Self::Default(value), _) if of(value) == input => Some(input),
            _ => None,
        }
    }

    /// What it takes, in words.
    pub(super) fn takes(&self) -> &'static str {
        Self::entry(self.name()).map_or("other values", |entry| entry.takes)
    }

    /// Whether what it makes of a time without a zone depends on the mapping's time zone.
    pub fn has_zone(&self) -> bool {
        matches!(
            self,
            Self::Iso | Self::Date | Self::Epoch | Self::EpochMs | Self::Format(_)
        )
    }

    /// The filter as a template writes it; of long arguments that there are some.
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
    fn mend(&self, given: TypeFamily) -> String {
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
            TypeFamily::Time if numeric => "turn the time into a number first: `| epoch | pad(10)` or `| epoch_ms | pad(13)`; or leave the filter out: the text of a time already sorts by time".to_string(),
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
fn of(value: &Value) -> TypeFamily {
    match value {
        Value::Number(_) => TypeFamily::Number,
        Value::Bool(_) => TypeFamily::Boolean,
        Value::Time(_) => TypeFamily::Time,
        _ => TypeFamily::Text,
    }
}

fn common<'v>(values: impl IntoIterator<Item = &'v Value>) -> TypeFamily {
    let mut families = values.into_iter().map(of);
    let first = families.next().unwrap_or(TypeFamily::Any);
    if families.all(|family| family == first) {
        first
    } else {
        TypeFamily::Any
    }
}

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

// Why a value did not pass a filter. No message holds the value.

/// Why a value did not pass a filter, or cannot stand where it is to; the row is rejected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ApplyError {
    /// When the value is of a kind that the filter does not take.
    #[error("`{filter}` needs {takes}, and the value is {given}")]
    Kind {
        /// The filter's name.
        filter: &'static str,
        /// The kind of value that it needs.
        takes: &'static str,
        /// What it was given.
        given: &'static str,
    },
    /// When the value does not fit its column's type, and the filter does not mend that.
    #[error("{0}")]
    Unfit(UnfitReason),
    /// When a number that is to be padded is negative.
    #[error("`{filter}` cannot take a negative number")]
    Negative {
        /// `pad` or `desc`.
        filter: &'static str,
    },
    /// When a number has more digits before the point than it may have.
    #[error("the number has more than the {digits} digits of `{filter}({digits})`")]
    TooWide {
        /// `pad` or `desc`.
        filter: &'static str,
        /// Digits it may have.
        digits: usize,
    },
    /// When a number has more digits after the point than it may have.
    #[error("the number has more than {scale} digits after the point")]
    TooFine {
        /// `pad` or `desc`.
        filter: &'static str,
        /// Digits it may have.
        scale: usize,
    },
    /// When text is not a number that DynamoDB could hold.
    #[error("the text is not a number that DynamoDB could hold")]
    NotANumber(#[source] dynafold_relational::value::NumberError),
    /// When a value says neither true nor false.
    #[error("the value is neither true nor false")]
    NotABoolean,
    /// When text is not a JSON document.
    #[error("the text is not a JSON document")]
    NotJson,
    /// When bytes or text are not a UUID.
    #[error("the value is not a UUID")]
    NotAUuid,
    /// When text does not match the pattern of `time`.
    #[error("the text is not a time of the form `{pattern}`")]
    NotATime {
        /// The pattern, as the mapping writes it.
        pattern: String,
    },
    /// When a date is needed, and the value is a time of day, or a date that the calendar lacks.
    #[error("`{filter}` needs a date or timestamp")]
    NotADate {
        /// The filter's name.
        filter: &'static str,
    },
    /// When the pattern of `format` asks for what the time does not have.
    #[error("the time does not have every part that `{pattern}` needs")]
    Format {
        /// The pattern, as the mapping writes it.
        pattern: String,
    },
    /// When hours, minutes or seconds are added to a date.
    #[error("`plus` cannot add hours, minutes or seconds to a date")]
    PartOfADay,
    /// When a time leaves the years 0001 to 9999.
    #[error("the time would be outside the years 0001 to 9999")]
    TimeRange,
    /// When a value is none of those that `map` names.
    #[error("`map` has no entry for the value")]
    Unmapped,
    /// When the value is binary, a list, a map, a set or NULL, and is to stand inside text.
    #[error("{given} cannot be written as text")]
    NoText {
        /// The value's kind.
        given: &'static str,
    },
    /// When a set holds members of several kinds, or of a kind that sets cannot hold.
    #[error("a set's members must all be text, all numbers or all binary")]
    MixedSet,
    /// When a set holds one member twice.
    #[error("a set cannot hold a member twice")]
    DuplicateMember,
    /// When a set would hold NULL.
    #[error("a set cannot hold NULL")]
    NullMember,
    /// When a set would hold something that is no text, number or binary.
    #[error("a set cannot hold {given}")]
    SetMember {
        /// The member's kind.
        given: &'static str,
    },
    /// When there is no key for `pseudonym`.
    #[error("`pseudonym` needs a pseudonym key, and there is none")]
    NoSecret,
    /// When a number is not a whole number of at most 38 digits.
    #[error("`pseudonym` takes whole numbers of at most 38 digits")]
    PseudonymNumber,
}

impl ApplyError {
    /// The stable code, which reports and rejects files name.
    pub fn code(&self) -> &'static str {
        self.code_and_help().0
    }

    /// How to mend it.
    pub fn help(&self) -> &'static str {
        self.code_and_help().1
    }

    fn code_and_help(&self) -> (&'static str, &'static str) {
        let wider = "give it more digits in every template and pattern that shares the key, or use `ordered`";
        let signed = "use `ordered`, which takes any number";
        match self {
            Self::Kind { given, .. } => (
                "wrong-kind",
                match *given {
                    "text" => "convert it first: `| number`, `| time(\"…\")` or `| json`",
                    "binary" => "make it text first: `| hex`, `| base64` or `| uuid`",
                    "a time" => "make it text or a number first: `| string`, `| epoch`",
                    _ => "make it text first: `| string`",
                },
            ),
            Self::Unfit(reason) => ("unfit-value", reason.help()),
            Self::Negative { filter: "desc" } => ("desc-negative", signed),
            Self::Negative { .. } => ("pad-negative", signed),
            Self::TooWide { filter: "desc", .. } => ("desc-overflow", wider),
            Self::TooWide { .. } => ("pad-overflow", wider),
            Self::TooFine { filter: "desc", .. } => {
                ("desc-fraction", "use `ordered`, or a whole number")
            }
            Self::TooFine { .. } => (
                "pad-fraction",
                "give the number of digits after the point, `pad(8, 2)`, or use `ordered`",
            ),
            Self::NotANumber(_) => ("not-a-number", "keep it as text, without `| number`"),
            Self::NotABoolean => (
                "not-a-boolean",
                "use `| map(…)` to define what is true and what is false",
            ),
            Self::NotJson => ("not-json", "keep it as text, without `| json`"),
            Self::NotAUuid => ("not-a-uuid", "use `| hex` for other bytes"),
            Self::NotATime { .. } => (
                "not-a-time",
                "correct the pattern (see docs/templates.md), or filter such rows out with `where`",
            ),
            Self::NotADate { .. } => ("not-a-date", "a time of day has no date; keep it as it is"),
            Self::Format { .. } => ("format", "ask only for parts that the column has"),
            Self::PartOfADay => (
                "plus-date",
                "add days (d), weeks (w), months (mo) or years (y)",
            ),
            Self::TimeRange => (
                "time-range",
                "use a shorter period, or filter such rows out with `where`",
            ),
            Self::Unmapped => ("unmapped", "add it, or use `*: …` for every other value"),
            Self::NoText { given: "binary" } => ("no-text", "use `| hex`, `| base64` or `| uuid`"),
            Self::NoText { .. } => (
                "no-text",
                "use `| string` to write it as JSON, or name one of its members",
            ),
            Self::MixedSet => ("set-mixed", "make it a list instead of a set"),
            Self::DuplicateMember => ("set-duplicate", "make it a list instead of a set"),
            Self::NullMember => (
                "set-null",
                "remove NULL elements in the source, or keep the list",
            ),
            Self::SetMember { .. } => (
                "set-member",
                "keep the list: sets hold text, numbers or binary",
            ),
            Self::NoSecret => ("no-secret", "set DYNAFOLD_PSEUDONYM_KEY in the environment"),
            Self::PseudonymNumber => (
                "pseudonym-number",
                "use `redact`, or `| string | pseudonym`",
            ),
        }
    }
}
