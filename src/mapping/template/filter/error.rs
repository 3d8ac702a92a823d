//! Why a value did not pass a filter. No message holds the value.

use crate::value::UnfitReason;

/// Why a value did not pass a filter; the row is rejected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ApplyError {
    /// When the value is of a kind that the filter does not take.
    #[error("`{filter}` takes {takes}, and the value is {given}")]
    Kind {
        /// The filter's name.
        filter: &'static str,
        /// What it takes.
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
    NotANumber(#[source] crate::value::NumberError),
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
    #[error("the text is not a time as `{pattern}` says")]
    NotATime {
        /// The pattern.
        pattern: String,
    },
    /// When a date is needed, and the value is a time of day, or a date that the calendar lacks.
    #[error("`{filter}` takes a date or timestamp")]
    NotADate {
        /// The filter's name.
        filter: &'static str,
    },
    /// When the pattern of `format` asks for what the time does not have.
    #[error("the time has not all that `{pattern}` asks for")]
    Format {
        /// The pattern.
        pattern: String,
    },
    /// When hours, minutes or seconds are added to a date.
    #[error("`plus` cannot add hours, minutes or seconds to a date")]
    PartOfADay,
    /// When a time leaves the years 0001 to 9999.
    #[error("the time leaves the years 0001 to 9999")]
    TimeRange,
    /// When a value is none of those that `map` names.
    #[error("the value is none of those that `map` names")]
    Unmapped,
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
    #[error("`pseudonym` needs a secret key, and there is none")]
    NoSecret,
    /// When a number is not a whole number of at most 38 digits.
    #[error("`pseudonym` takes whole numbers of at most 38 digits")]
    PseudonymNumber,
}

impl ApplyError {
    /// The stable code, which reports and rejects files name.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Kind { .. } => "wrong-kind",
            Self::Unfit(_) => "unfit-value",
            Self::Negative { filter: "desc" } => "desc-negative",
            Self::Negative { .. } => "pad-negative",
            Self::TooWide { filter: "desc", .. } => "desc-overflow",
            Self::TooWide { .. } => "pad-overflow",
            Self::TooFine { filter: "desc", .. } => "desc-fraction",
            Self::TooFine { .. } => "pad-fraction",
            Self::NotANumber(_) => "not-a-number",
            Self::NotABoolean => "not-a-boolean",
            Self::NotJson => "not-json",
            Self::NotAUuid => "not-a-uuid",
            Self::NotATime { .. } => "not-a-time",
            Self::NotADate { .. } => "not-a-date",
            Self::Format { .. } => "format",
            Self::PartOfADay => "plus-date",
            Self::TimeRange => "time-range",
            Self::Unmapped => "unmapped",
            Self::NullMember => "set-null",
            Self::SetMember { .. } => "set-member",
            Self::NoSecret => "no-secret",
            Self::PseudonymNumber => "pseudonym-number",
        }
    }

    /// How to mend it.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::Kind { given, .. } => match *given {
                "text" => "convert it first: `| number`, `| time(\"…\")` or `| json`",
                "binary" => "make it text first: `| hex`, `| base64` or `| uuid`",
                "a time" => "make it text or a number first: `| string`, `| epoch`",
                _ => "make it text first: `| string`",
            },
            Self::Unfit(reason) => reason.help(),
            Self::Negative { .. } => "use `ordered`, which takes any number",
            Self::TooWide { .. } => {
                "give it more digits in every template and pattern that shares the key, or use `ordered`"
            }
            Self::TooFine { filter: "desc", .. } => "use `ordered`, or a whole number",
            Self::TooFine { .. } => {
                "say how many digits after the point there are, `pad(8, 2)`, or use `ordered`"
            }
            Self::NotANumber(_) => "keep it as text, without `| number`",
            Self::NotABoolean => "use `| map(…)` to say what is true and what is false",
            Self::NotJson => "keep it as text, without `| json`",
            Self::NotAUuid => "use `| hex` for other bytes",
            Self::NotATime { .. } => {
                "mend the pattern (see docs/templates.md), or filter such rows out with `where`"
            }
            Self::NotADate { .. } => "a time of day has no date; keep it as it is",
            Self::Format { .. } => "ask only for parts that the column has",
            Self::PartOfADay => "add days (d), weeks (w), months (mo) or years (y)",
            Self::TimeRange => "use a shorter period, or filter such rows out with `where`",
            Self::Unmapped => "name it, or say `*: …` for every other value",
            Self::NullMember => "take NULL elements away in the source, or keep the list",
            Self::SetMember { .. } => "keep the list: sets hold text, numbers or binary",
            Self::NoSecret => "set DYNAFOLD_PSEUDONYM_KEY in the environment",
            Self::PseudonymNumber => "use `redact`, or `| string | pseudonym`",
        }
    }
}
