//! The values that a caller gives, read from text, and how a shell gives them: a parameter is an option of its own, unless
//! one of the command has its name.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use dynafold_format::shell_word;
use dynafold_relational::catalog::{Dbms, TypeFamily};
use dynafold_relational::value::{Number, Time, TimeKind, Value};
use jiff::Timestamp;
use jiff::civil::DateTime;

use crate::item::{RenderError, evaluate, text_of};
use crate::model::{Parameter, ParameterKind, Template};
use crate::template::{Context, Filter};

/// Why a parameter gets no value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParameterError {
    /// When the text is not of the parameter's kind.
    #[error("`{name}` takes {}, not `{text}`", wanted(*kind).0)]
    Kind {
        /// The parameter.
        name: Arc<str>,
        /// What was given.
        text: String,
        /// What it takes.
        kind: ParameterKind,
    },
    /// When the mapping does not define a text form for the time.
    #[error("it is not known how the mapping writes the time `{0}` as text")]
    UnknownTextForm(Arc<str>),
    /// When a time relative to now cannot be computed.
    #[error("the default of `{name}` cannot be computed from the clock")]
    Clock {
        /// The parameter.
        name: Arc<str>,
        /// Why.
        #[source]
        cause: RenderError,
    },
}

impl ParameterError {
    /// What to give.
    pub fn help(&self) -> &'static str {
        match self {
            Self::Kind { kind, .. } => wanted(*kind).1,
            Self::UnknownTextForm(_) | Self::Clock { .. } => {
                "give it on the command line, use --catalog or --source, or write the time with its filter under `params`: {now | plus(-7d) | iso}"
            }
        }
    }
}

/// Reads the text that a caller gives for a parameter. `dbms`: the product whose columns the parameters have, if it is known.
///
/// # Errors
///
/// [`ParameterError`] when it is not of the parameter's kind.
pub fn read(
    parameter: &Parameter,
    text: &str,
    dbms: Option<Dbms>,
) -> Result<Value, ParameterError> {
    let value = match parameter.kind {
        ParameterKind::Text => Some(Value::Text(text.into())),
        ParameterKind::Number => Number::parse(text).ok().map(Value::Number),
        ParameterKind::Boolean => text.parse().ok().map(Value::Bool),
        ParameterKind::Binary => STANDARD.decode(text).ok().map(Value::Bytes),
        ParameterKind::Hex => bytes(text).map(Value::Bytes),
        ParameterKind::Time(kind) => time(text, kind)
            // The other products may hold `2021-02-31`.
            .filter(|time| kind.is_none() || dbms != Some(Dbms::Postgres) || exists(time))
            .map(Value::Time),
    };
    value.ok_or_else(|| ParameterError::Kind {
        name: parameter.name.clone(),
        text: text.to_owned(),
        kind: parameter.kind,
    })
}

/// What a parameter takes, and how it is given.
fn wanted(kind: ParameterKind) -> (&'static str, &'static str) {
    match kind {
        ParameterKind::Text => ("text", "give any text"),
        ParameterKind::Number => ("a number", "give digits: 7, or -1.5"),
        ParameterKind::Boolean => ("a boolean", "give true or false"),
        ParameterKind::Binary => (
            "base64",
            "give the bytes in base64, as the AWS CLI takes them",
        ),
        ParameterKind::Hex => (
            "pairs of hexadecimal digits",
            "give the bytes as the key has them: 0a1bff",
        ),
        ParameterKind::Time(Some((TimeKind::Date, _))) => ("a date", "give it as 2026-01-31"),
        ParameterKind::Time(Some((TimeKind::TimeOfDay | TimeKind::TimeOfDayWithOffset, _))) => {
            ("a time of day", "give it as 14:05:00")
        }
        ParameterKind::Time(Some((TimeKind::Timestamp, _))) => (
            "a time without an offset",
            "give it as the column has it: 2026-01-31T14:05:00",
        ),
        ParameterKind::Time(Some((TimeKind::Instant, _))) => (
            "a point in time",
            "give it with its offset: 2026-01-31T14:05:00Z",
        ),
        ParameterKind::Time(None) => (
            "a date or time",
            "give it as 2026-01-31 or 2026-01-31T14:05:00Z",
        ),
    }
}

/// The bytes that hexadecimal digits stand for.
fn bytes(digits: &str) -> Option<Vec<u8>> {
    let value = |digit: &u8| char::from(*digit).to_digit(16);
    let pairs = digits.as_bytes().chunks(2).map(|pair| match pair {
        [high, low] => u8::try_from(value(high)? * 16 + value(low)?).ok(),
        _ => None,
    });
    pairs.collect()
}

/// A time of a column's kind and digits; of the kind that it looks like where these are not known.
fn time(text: &str, kind: Option<(TimeKind, u8)>) -> Option<Time> {
    let moment = || text.parse::<Timestamp>().ok();
    let (kind, digits) = match kind {
        Some(known) => known,
        None if text.len() == "2026-01-31".len() => (TimeKind::Date, 0),
        None if moment().is_some() => (TimeKind::Instant, 0),
        None => (TimeKind::Timestamp, 0),
    };
    let digits = usize::from(digits);
    match (kind, moment()) {
        // `from_sql` takes UTC alone.
        (TimeKind::Instant, Some(moment)) => {
            Time::from_sql(&moment.to_string(), TimeKind::Instant, digits).ok()
        }
        _ => Time::from_sql(text, kind, digits).ok(),
    }
}

/// Whether the calendar has the day of a time, and the day its clock.
fn exists(time: &Time) -> bool {
    match time.kind() {
        TimeKind::TimeOfDay | TimeKind::TimeOfDayWithOffset => true,
        TimeKind::Date | TimeKind::Timestamp | TimeKind::Instant => {
            let local = time.as_str().trim_end_matches('Z');
            local.parse::<DateTime>().is_ok()
        }
    }
}

/// The default of a parameter: a time computed from the clock, if the mapping defines one.
///
/// # Errors
///
/// [`ParameterError`] when that time is not of the parameter's kind.
pub fn clock_default(
    parameter: &Parameter,
    context: &Context,
) -> Result<Option<Value>, ParameterError> {
    let template = parameter.from_clock.as_ref();
    template
        .map(|template| clock_value(parameter, template, context))
        .transpose()
}

/// A time as a parameter takes it, computed from the clock by a template.
///
/// # Errors
///
/// [`ParameterError`] when that time is not of the parameter's kind.
pub fn clock_value(
    parameter: &Parameter,
    template: &Template,
    context: &Context,
) -> Result<Value, ParameterError> {
    // A date has only one text form.
    let last = template.placeholders().last();
    let is_day = last.is_some_and(|last| last.filters.last() == Some(&Filter::Date));
    if parameter.kind == ParameterKind::Text && template.family() == TypeFamily::Time && !is_day {
        return Err(ParameterError::UnknownTextForm(parameter.name.clone()));
    }
    let clock = Time::canonical(context.now.to_string().into(), TimeKind::Instant);
    let refused = |cause| ParameterError::Clock {
        name: parameter.name.clone(),
        cause,
    };
    let moment = evaluate(template, &[Value::Time(clock)], context).map_err(refused)?;
    let text = text_of(&moment).map_err(|cause| {
        let place = template.to_string();
        refused(RenderError { place, cause })
    })?;
    let text = match parameter.kind {
        // Columns without a time zone are read in the mapping's time zone.
        ParameterKind::Time(Some((TimeKind::Timestamp, _))) => local(text, context),
        ParameterKind::Time(Some((TimeKind::Date, _))) => local(text, context)
            .split('T')
            .next()
            .unwrap_or_default()
            .to_owned(),
        _ => text.to_owned(),
    };
    read(parameter, &text, None)
}

/// A point in time as a clock of the mapping's zone shows it.
fn local(text: &str, context: &Context) -> String {
    match text.parse::<Timestamp>() {
        Ok(moment) => moment
            .to_zoned(context.time_zone.clone())
            .datetime()
            .to_string(),
        Err(_) => text.to_owned(),
    }
}

/// The long options that `query` has for every pattern.
pub const OPTIONS: [&str; 18] = [
    "all",
    "catalog",
    "color",
    "endpoint-url",
    "explain",
    "format",
    "help",
    "keys",
    "now",
    "param",
    "profile",
    "region",
    "repeat",
    "source",
    "target",
    "verbose",
    "version",
    "wide",
];

/// Whether a parameter of this name has an option of its own.
pub fn has_option(name: &str) -> bool {
    !OPTIONS.contains(&name) && !name.contains(['=', ' '])
}

/// How a parameter is given in a shell, with `value`, itself a shell's word, in the place of its value:
/// `--userId 7`, or `--param now=7`.
pub fn given(name: &str, value: &str) -> String {
    if has_option(name) {
        format!("{} {value}", shell_word(&format!("--{name}")))
    } else {
        format!("--param {}{value}", shell_word(&format!("{name}=")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameter(kind: ParameterKind) -> Parameter {
        Parameter {
            name: "since".into(),
            kind,
            from_clock: None,
            needs_schema: false,
        }
    }

    fn text(kind: ParameterKind, given: &str) -> Result<String, String> {
        match read(&parameter(kind), given, None) {
            Ok(value) => Ok(text_of(&value).unwrap_or("?").to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }

    #[test]
    fn a_time_gets_the_digits_of_its_column() {
        let kind = |kind, digits| ParameterKind::Time(Some((kind, digits)));
        let stamp = kind(TimeKind::Timestamp, 3);
        assert_eq!(
            text(stamp, "2026-01-31").as_deref(),
            Ok("2026-01-31T00:00:00.000")
        );
        assert_eq!(
            text(stamp, "2026-01-31 14:05:00").as_deref(),
            Ok("2026-01-31T14:05:00.000")
        );
        assert!(text(stamp, "2026-01-31T14:05:00Z").is_err());
        let instant = kind(TimeKind::Instant, 0);
        assert_eq!(
            text(instant, "2026-01-31T14:05:00+09:00").as_deref(),
            Ok("2026-01-31T05:05:00Z")
        );
        let unknown = ParameterKind::Time(None);
        assert_eq!(text(unknown, "2026-01-31").as_deref(), Ok("2026-01-31"));
        assert_eq!(
            text(unknown, "2026-01-31T14:05:00").as_deref(),
            Ok("2026-01-31T14:05:00")
        );
    }

    #[test]
    fn postgresql_has_only_days_of_the_calendar() {
        let known = |kind, given, dbms| {
            let kind = ParameterKind::Time(Some((kind, 0)));
            read(&parameter(kind), given, dbms).is_ok()
        };
        for (kind, real, unreal) in [
            (TimeKind::Date, "2024-02-29", "2024-02-30"),
            (TimeKind::Date, "2024-12-01", "2024-13-01"),
            (TimeKind::Timestamp, "2024-02-29", "2023-02-29"),
            (
                TimeKind::Timestamp,
                "2024-01-01T23:59:59",
                "2024-01-01T25:00:00",
            ),
            (
                TimeKind::Instant,
                "2024-04-30T00:00:00Z",
                "2024-04-31T00:00:00Z",
            ),
        ] {
            let postgres = Some(Dbms::Postgres);
            assert!(known(kind, real, postgres), "{real}");
            assert!(!known(kind, unreal, postgres), "{unreal}");
            for other in [None, Some(Dbms::Sqlite), Some(Dbms::Mysql)] {
                assert!(known(kind, unreal, other), "{unreal}");
            }
        }
        assert!(known(TimeKind::TimeOfDay, "24:00:00", Some(Dbms::Postgres)));
    }

    #[test]
    fn what_is_none_of_its_kind_is_refused() {
        assert_eq!(text(ParameterKind::Number, "007").as_deref(), Ok("7"));
        assert_eq!(
            text(ParameterKind::Number, "seven"),
            Err("`since` takes a number, not `seven`".to_owned())
        );
        assert!(text(ParameterKind::Boolean, "yes").is_err());
        assert!(text(ParameterKind::Binary, "?").is_err());
        for malformed in ["0", "0g", "+1", "é"] {
            assert!(text(ParameterKind::Hex, malformed).is_err(), "{malformed}");
        }
        assert_eq!(text(ParameterKind::Text, "").as_deref(), Ok(""));
    }
}
