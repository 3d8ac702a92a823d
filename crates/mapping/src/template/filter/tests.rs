mod calls;
mod mask;
mod order;
mod times;
mod trials;
mod values;

use dynafold_relational::value::{Number, Time, TimeKind};

use super::super::{Segment, parse};
use super::*;

/// Compiles the filters of `{x | …}`.
fn filters(text: &str) -> Result<Vec<Filter>, FilterError> {
    let written = parse(&format!("{{x | {text}}}")).expect(text);
    let [Segment::Placeholder(placeholder)] = written.segments.as_slice() else {
        panic!("{text}");
    };
    placeholder.filters.iter().map(Filter::compile).collect()
}

fn try_apply(text: &str, value: Value, context: &Context) -> Result<Value, ApplyError> {
    let filters = filters(text).expect(text);
    filters
        .iter()
        .try_fold(value, |value, filter| filter.apply(value, context))
}

/// The result as text with its kind's mark: text in quotes, the rest plain, errors as their code.
fn show(result: Result<Value, ApplyError>) -> String {
    match result {
        Ok(Value::Time(time)) => time.to_string(),
        Ok(Value::Null) => "NULL".to_owned(),
        Ok(Value::Bytes(bytes)) => format!("0x{}", dynafold_format::hex(&bytes)),
        Ok(other) => dynafold_relational::value::write_document(&other),
        Err(error) => error.code().to_owned(),
    }
}

fn apply(text: &str, value: Value) -> String {
    show(try_apply(text, value, &Context::default()))
}

fn number(text: &str) -> Value {
    Value::Number(Number::parse(text).expect(text))
}

fn text(text: &str) -> Value {
    Value::Text(text.into())
}

fn time(text: &str) -> Value {
    let kind = match (text.contains('T'), text.ends_with('Z'), text.contains('-')) {
        (true, true, _) => TimeKind::Instant,
        (true, false, _) => TimeKind::Timestamp,
        (false, _, true) => TimeKind::Date,
        (false, _, false) if text.contains('+') => TimeKind::TimeOfDayWithOffset,
        (false, ..) => TimeKind::TimeOfDay,
    };
    Value::Time(Time::canonical(text.into(), kind))
}

fn masked() -> Context {
    Context {
        secret: Secret::new(b"key"),
        ..Context::default()
    }
}
