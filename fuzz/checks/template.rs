//! Templates: whatever the text, reading it does not panic, places lie inside, what is read prints back as the same, and
//! evaluating it on a row of every kind of value gives a value or an error, the same each time.

use std::sync::Arc;

use dynafold::catalog::TypeFamily;
use dynafold::item::evaluate;
use dynafold::mapping::model::{Placeholder, Template, TemplatePart, ValuePath};
use dynafold::mapping::template::{
    Context, Filter, FilterArgument, FilterCall, Secret, Segment, WrittenPlaceholder,
    WrittenTemplate, parse,
};
use dynafold::value::{Number, Time, TimeKind, UnfitReason, Value, parse_document};

#[path = "../../crates/mapping/src/template/tests/print.rs"]
mod print;

/// Names of the row's columns; any other name is text that the fuzzer chooses.
const COLUMNS: [&str; 12] = ["n", "m", "z", "f", "b", "d", "l", "s", "i", "w", "c", "u"];

/// Every kind of value that a filter may be told of.
const FAMILIES: [TypeFamily; 10] = [
    TypeFamily::Number,
    TypeFamily::Text,
    TypeFamily::Boolean,
    TypeFamily::Time,
    TypeFamily::Binary,
    TypeFamily::Document,
    TypeFamily::List,
    TypeFamily::Map,
    TypeFamily::Set,
    TypeFamily::Any,
];

/// `replace` after `replace` doubles a text without end, as its author asked.
const MOST_REPLACES: usize = 3;

/// Reads a template, and from the second line on a text for its columns.
pub(crate) fn check(data: &[u8]) {
    let Ok(input) = std::str::from_utf8(data) else {
        return;
    };
    let (text, given) = input.split_once('\n').unwrap_or((input, "7"));
    let written = match parse(text) {
        Ok(written) => written,
        Err(errors) => {
            assert!(!errors.is_empty());
            for error in errors {
                assert!(
                    text.get(error.span.clone()).is_some(),
                    "{text:?}: {error:?}"
                );
                assert!(!error.help.is_empty());
            }
            return;
        }
    };
    prints_back(&written, text);
    if let Some(template) = compile(&written.segments, text) {
        evaluates(&Template { parts: template }, given);
    }
}

fn prints_back(written: &WrittenTemplate, text: &str) {
    let printed = print::print(written);
    let read = parse(&printed).unwrap_or_else(|errors| panic!("{text:?}: {printed:?}: {errors:?}"));
    assert_eq!(print::print(&read), printed, "{text:?}");
    let without_places = |written: &WrittenTemplate| {
        let mut written = written.clone();
        forget_places(&mut written.segments);
        written
    };
    assert_eq!(without_places(&read), without_places(written), "{text:?}");
}

fn forget_places(segments: &mut [Segment]) {
    for segment in segments {
        match segment {
            Segment::Text(_) => {}
            Segment::Optional(inner) => forget_places(inner),
            Segment::Placeholder(placeholder) => {
                placeholder.span = 0..0;
                placeholder.path_span = 0..0;
                placeholder
                    .filters
                    .iter_mut()
                    .for_each(|call| call.span = 0..0);
            }
        }
    }
}

/// Compiles the segments; `None` where a filter is not known or takes other arguments.
fn compile(segments: &[Segment], text: &str) -> Option<Vec<TemplatePart>> {
    let part = |segment: &Segment| match segment {
        Segment::Text(text) => Some(TemplatePart::Text(text.clone())),
        Segment::Optional(inner) => compile(inner, text).map(TemplatePart::Optional),
        Segment::Placeholder(placeholder) => bind(placeholder, text).map(TemplatePart::Value),
    };
    segments.iter().map(part).collect()
}

fn bind(placeholder: &WrittenPlaceholder, text: &str) -> Option<Placeholder> {
    let whole = &text[placeholder.span.clone()];
    assert!(whole.starts_with('{') && whole.ends_with('}'), "{text:?}");
    assert!(
        text.get(placeholder.path_span.clone()).is_some(),
        "{text:?}"
    );
    let mut filters = Vec::new();
    for call in &placeholder.filters {
        assert!(text[call.span.clone()].starts_with(&call.name), "{text:?}");
        match Filter::compile(call) {
            Ok(filter) => filters.push(filter),
            Err(error) => {
                assert!(!error.help().is_empty(), "{text:?}: {error}");
                return None;
            }
        }
    }
    let replaces = filters
        .iter()
        .filter(|filter| matches!(filter, Filter::Replace { .. }));
    if replaces.count() > MOST_REPLACES {
        return None;
    }
    for (filter, family) in filters
        .iter()
        .flat_map(|filter| FAMILIES.map(|f| (filter, f)))
    {
        if let Err(error) = filter.family(family) {
            assert!(!error.help.is_empty(), "{text:?}: {error}");
        }
    }
    let (column, path) = placeholder.path.split_first()?;
    let column = COLUMNS.iter().position(|name| name == column);
    Some(Placeholder {
        place: ValuePath {
            column: column.unwrap_or(COLUMNS.len()),
            path: path.iter().map(|step| Arc::from(step.as_str())).collect(),
            written: placeholder.written_path().into(),
            is_json: false,
        },
        filters,
        family: TypeFamily::Any,
        escape: None,
    })
}

fn evaluates(template: &Template, given: &str) {
    let row = row(given);
    for time_zone in [
        jiff::tz::TimeZone::UTC,
        jiff::tz::TimeZone::fixed(jiff::tz::offset(9)),
    ] {
        let context = Context {
            time_zone,
            secret: Secret::new(b"key"),
            ..Context::default()
        };
        let value = evaluate(template, &row, &context);
        assert_eq!(evaluate(template, &row, &context), value, "{template:?}");
        match value {
            Ok(value) if template.parts.len() != 1 => {
                assert!(
                    matches!(value, Value::Text(_) | Value::Null),
                    "{template:?}: {value:?}"
                );
            }
            Ok(_) => {}
            Err(error) => assert!(!error.place.is_empty() && !error.cause.help().is_empty()),
        }
    }
}

/// One value of each kind in the order of [`COLUMNS`], and the given text.
fn row(given: &str) -> Vec<Value> {
    let number = |text: &str| Number::parse(text).map_or(Value::Null, Value::Number);
    let time = |text: &str, kind| Value::Time(Time::canonical(text.into(), kind));
    let text = Value::Text(given.into());
    let document = r#"{"a":{"b":[1,{"c":null}],"d":"x"},"n":-12.5,"t":true}"#;
    let list = Value::List(vec![text.clone(), Value::Null]);
    vec![
        number(given),
        number("-12345678901234567890.5"),
        Value::Null,
        Value::Bool(true),
        Value::Bytes(given.as_bytes().to_vec()),
        parse_document(given)
            .or_else(|_| parse_document(document))
            .unwrap_or(Value::Null),
        list,
        Value::Set(vec![text.clone()]),
        time("2026-01-31T14:05:00.120Z", TimeKind::Instant),
        time("9999-12-31T23:59:59", TimeKind::Timestamp),
        Time::from_sql(given, TimeKind::Timestamp, 3)
            .map_or(time("0001-01-01", TimeKind::Date), Value::Time),
        Value::unfit(given, UnfitReason::NotFinite),
        text,
    ]
}
