//! The values that a caller gives, read from text.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use dynafold_relational::catalog::TypeFamily;
use dynafold_relational::value::{Number, Time, TimeKind, Value};
use jiff::Timestamp;

use crate::item::{evaluate, text_of};
use crate::model::{Parameter, ParameterKind};
use crate::template::{Context, Filter};

/// When a text is no value of a parameter.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ParameterError {
    /// What is wrong, naming the parameter.
    pub message: String,
    /// What to give.
    pub help: &'static str,
}

/// Reads the text that a caller gives for a parameter.
///
/// # Errors
///
/// [`ParameterError`] when it is none of the parameter's kind.
pub fn read(parameter: &Parameter, text: &str) -> Result<Value, ParameterError> {
    let value = match parameter.kind {
        ParameterKind::Text => Some(Value::Text(text.into())),
        ParameterKind::Number => Number::parse(text).ok().map(Value::Number),
        ParameterKind::Boolean => text.parse().ok().map(Value::Bool),
        ParameterKind::Binary => STANDARD.decode(text).ok().map(Value::Bytes),
        ParameterKind::Hex => bytes(text).map(Value::Bytes),
        ParameterKind::Time(kind) => time(text, kind).map(Value::Time),
    };
    if let Some(value) = value {
        return Ok(value);
    }
    let (wanted, help) = match parameter.kind {
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
    };
    Err(ParameterError {
        message: format!("`{text}` is not {wanted}, which `{}` takes", parameter.name),
        help,
    })
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
        None if text.len() == 10 => (TimeKind::Date, 0),
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

/// What a parameter is when the caller gives nothing: a moment that is counted from the clock, if
/// the mapping says so.
///
/// # Errors
///
/// [`ParameterError`] when that moment is none of the parameter's kind.
pub fn moment(parameter: &Parameter, context: &Context) -> Result<Option<Value>, ParameterError> {
    let Some(template) = &parameter.from_clock else {
        return Ok(None);
    };
    let refused = |message: String| ParameterError {
        message: format!("`{}`: {message}", parameter.name),
        help: "give it on the command line, say --catalog or --source, or say its form under `params`: {now | plus(-7d) | iso}",
    };
    // A day is written in one way.
    let last = template.placeholders().last();
    let is_day = last.is_some_and(|last| last.filters.last() == Some(&Filter::Date));
    if parameter.kind == ParameterKind::Text && template.family() == TypeFamily::Time && !is_day {
        return Err(refused("how the moment is written is not known".to_owned()));
    }
    let clock = Time::canonical(context.now.to_string().into(), TimeKind::Instant);
    let counted = evaluate(template, &[Value::Time(clock)], context);
    let counted = counted.map_err(|error| refused(error.message))?;
    let text = text_of(&counted).map_err(|error| refused(error.to_string()))?;
    let text = match parameter.kind {
        // Columns without a zone hold what the mapping's zone is taken for.
        ParameterKind::Time(Some((TimeKind::Timestamp, _))) => local(text, context),
        ParameterKind::Time(Some((TimeKind::Date, _))) => local(text, context)
            .split('T')
            .next()
            .unwrap_or_default()
            .to_owned(),
        _ => text.to_owned(),
    };
    read(parameter, &text).map(Some)
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
        match read(&parameter(kind), given) {
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
    fn what_is_none_of_its_kind_is_refused() {
        assert_eq!(text(ParameterKind::Number, "007").as_deref(), Ok("7"));
        assert_eq!(
            text(ParameterKind::Number, "seven"),
            Err("`seven` is not a number, which `since` takes".to_owned())
        );
        assert!(text(ParameterKind::Boolean, "yes").is_err());
        assert!(text(ParameterKind::Binary, "?").is_err());
        for odd in ["0", "0g", "+1", "é"] {
            assert!(text(ParameterKind::Hex, odd).is_err(), "{odd}");
        }
        assert_eq!(text(ParameterKind::Text, "").as_deref(), Ok(""));
    }
}
