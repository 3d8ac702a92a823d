//! Why a value did not pass a filter. No message holds the value.

use dynafold_relational::value::{NumberError, UnfitReason};

/// Why a value did not pass a filter, or cannot stand where it is to; the row is rejected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ApplyError {
    /// When the value is of a kind that the filter does not take.
    #[error("`{filter}` needs {takes}, but the value is {given}")]
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
    NotANumber(#[source] NumberError),
    /// When a value says neither true nor false.
    #[error("the value is neither true nor false")]
    NotABoolean,
    /// When text is not a JSON document, or not one that DynamoDB could hold: an object names a member twice, say.
    #[error("the text cannot be read as JSON: {0}")]
    NotJson(String),
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
    /// When `pseudonym` is given a number that is not a whole one, or has more than 38 digits.
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
            Self::NotJson(_) => ("not-json", "keep it as text, without `| json`"),
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
