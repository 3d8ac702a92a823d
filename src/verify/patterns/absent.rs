//! Values that may not be in a column: beyond its smallest and largest, or others of its type. The
//! source is asked whether they are there.

use crate::catalog::{Column, DataType, Family};
use crate::value::{Number, Text, Time, Value};

/// Candidates for a value that is not there, the likeliest first; `low` and `high` are the column's
/// smallest and largest, with their literals.
pub(super) fn candidates(
    data_type: &DataType,
    low: (&Value, &str),
    high: (&Value, &str),
) -> Vec<(Value, Option<String>)> {
    match data_type {
        DataType::Enum { values } => {
            let values = values.iter();
            return values
                .map(|name| (Value::Text(name.as_str().into()), None))
                .collect();
        }
        DataType::Uuid => {
            let nil = "00000000-0000-0000-0000-000000000000";
            let full = "ffffffff-ffff-ffff-ffff-ffffffffffff";
            return [nil, full]
                .map(|text| (Value::Text(text.into()), None))
                .into();
        }
        _ => {}
    }
    let mut found = above(high);
    found.extend(below(low));
    found
}

/// Values for a column that holds none.
pub(super) fn without(column: &Column) -> Vec<(Value, Option<String>)> {
    let zero = || Number::parse("0").ok().map(Value::Number);
    let value = match column.data_type.family() {
        Family::Number => zero(),
        Family::Boolean => Some(Value::Bool(true)),
        Family::Text | Family::Any => Some(Value::Text("none~".into())),
        _ => None,
    };
    value.into_iter().map(|value| (value, None)).collect()
}

/// Values beyond the largest.
pub(super) fn above((high, literal): (&Value, &str)) -> Vec<(Value, Option<String>)> {
    match high {
        Value::Number(number) => shifted(number, 1),
        Value::Time(time) => in_year(time, literal, 1),
        Value::Text(text) => {
            let texts = [format!("{text}~"), "~".to_owned(), "none~".to_owned()];
            texts.map(|text| (Value::Text(text.into()), None)).into()
        }
        Value::Bool(truth) => vec![(Value::Bool(!truth), None)],
        Value::Bytes(bytes) => vec![(Value::Bytes([bytes.as_slice(), &[255]].concat()), None)],
        _ => Vec::new(),
    }
}

/// Values before the smallest.
pub(super) fn below((low, literal): (&Value, &str)) -> Vec<(Value, Option<String>)> {
    match low {
        Value::Number(number) => shifted(number, -1),
        Value::Time(time) => in_year(time, literal, -1),
        Value::Text(_) => vec![(Value::Text("!".into()), None)],
        Value::Bool(truth) => vec![(Value::Bool(!truth), None)],
        _ => Vec::new(),
    }
}

/// The next whole number.
fn shifted(number: &Number, by: i128) -> Vec<(Value, Option<String>)> {
    let whole = number.as_str().split('.').next().unwrap_or_default();
    let shifted = whole.parse::<i128>().ok().and_then(|n| n.checked_add(by));
    let shifted = shifted.and_then(|n| Number::parse(&n.to_string()).ok());
    shifted
        .map(|number| (Value::Number(number), None))
        .into_iter()
        .collect()
}

/// The same day of another year, in the value and in its literal.
fn in_year(time: &Time, literal: &str, by: i32) -> Vec<(Value, Option<String>)> {
    let moved = |text: &str| {
        let year: i32 = text.get(..4)?.parse().ok()?;
        let year = (1..=9999).contains(&(year + by)).then_some(year + by)?;
        let rest = text.get(4..)?;
        let rest = match rest.strip_prefix("-02-29") {
            Some(rest) => format!("-02-28{rest}"),
            None => rest.to_owned(),
        };
        Some(format!("{year:04}{rest}"))
    };
    let Some(text) = moved(time.as_str()) else {
        return Vec::new();
    };
    let value = Value::Time(Time::canonical(Text::from(text), time.kind()));
    let literal = literal.strip_prefix('\'').and_then(moved);
    vec![(value, literal.map(|rest| format!("'{rest}")))]
}
