use std::sync::Arc;

use dynafold_relational::catalog::TypeFamily;
use dynafold_relational::value::{Time, TimeKind, UnfitReason, parse_document, write_document};

use super::*;
use crate::model::ValuePath;
use crate::template::{Filter, Secret, Segment, parse};

/// A row with names.
struct Given {
    names: Vec<String>,
    row: Vec<Value>,
}

fn context() -> Context {
    Context {
        secret: Secret::new(b"key"),
        ..Context::default()
    }
}

/// Binds as the resolver does: the longest prefix of the path that is a column's name.
fn bind(segments: &[Segment], given: &Given) -> Vec<TemplatePart> {
    let part = |segment: &Segment| match segment {
        Segment::Text(text) => TemplatePart::Text(text.clone()),
        Segment::Optional(inner) => TemplatePart::Optional(bind(inner, given)),
        Segment::Placeholder(written) => {
            let (taken, column) = (1..=written.path.len())
                .filter_map(|taken| {
                    let name = written.path[..taken].join(".");
                    Some((taken, given.names.iter().position(|n| *n == name)?))
                })
                .next_back()
                .expect("a column");
            let path: Vec<Arc<str>> = written.path[taken..]
                .iter()
                .map(|n| Arc::from(n.as_str()))
                .collect();
            let filters: Vec<Filter> = written
                .filters
                .iter()
                .map(|call| Filter::compile(call).expect("a filter"))
                .collect();
            let start = match &given.row[column] {
                _ if !path.is_empty() => TypeFamily::Document,
                Value::Number(_) => TypeFamily::Number,
                Value::Text(_) => TypeFamily::Text,
                Value::Bool(_) => TypeFamily::Boolean,
                Value::Time(_) => TypeFamily::Time,
                Value::Bytes(_) => TypeFamily::Binary,
                Value::List(_) => TypeFamily::List,
                _ => TypeFamily::Any,
            };
            let family = filters
                .iter()
                .try_fold(start, |family, filter| filter.family(family))
                .expect("a family");
            TemplatePart::Value(Placeholder {
                place: ValuePath {
                    column,
                    path,
                    written: written.written_path().into(),
                    is_json: false,
                },
                filters,
                family,
                escape: None,
            })
        }
    };
    segments.iter().map(part).collect()
}

fn run(template: &str, given: &Given) -> Result<Value, RenderError> {
    let written = parse(template).expect(template);
    let template = Template {
        parts: bind(&written.segments, given),
    };
    evaluate(&template, &given.row, &context())
}

fn given(pairs: &[(&str, Value)]) -> Given {
    Given {
        names: pairs.iter().map(|(name, _)| (*name).to_owned()).collect(),
        row: pairs.iter().map(|(_, value)| value.clone()).collect(),
    }
}

/// Reads a value as docs/templates.md writes it.
fn read(text: &str) -> Value {
    let plain = text.trim_matches('`');
    if let Some(hex) = plain.strip_prefix("0x") {
        let byte = |at| u8::from_str_radix(&hex[at..at + 2], 16).expect("hex");
        return Value::Bytes((0..hex.len()).step_by(2).map(byte).collect());
    }
    if plain == "NULL" {
        return Value::Null;
    }
    if text.starts_with('`') {
        return parse_document(plain).expect(plain);
    }
    let kind = match (text.contains('T'), text.ends_with('Z')) {
        (true, true) => TimeKind::Instant,
        (true, false) => TimeKind::Timestamp,
        _ => TimeKind::Date,
    };
    Value::Time(Time::canonical(text.into(), kind))
}

fn show(result: Result<Value, RenderError>) -> String {
    match result {
        Ok(Value::Null) => "`NULL`".to_owned(),
        Ok(Value::Time(time)) => time.to_string(),
        Ok(Value::Bytes(bytes)) => {
            let digits: Vec<String> = bytes.iter().map(|b| format!("{b:02x}")).collect();
            format!("`0x{}`", digits.concat())
        }
        Ok(value) => format!("`{}`", write_document(&value)),
        Err(error) => format!("*{}*", error.cause.code()),
    }
}

/// The cells of a Markdown table's row, in which a pipe is escaped.
fn cells(line: &str) -> Vec<String> {
    let line = line.trim().trim_matches('|').replace("\\|", "\0");
    line.split('|')
        .map(|cell| cell.trim().replace('\0', "|"))
        .collect()
}

/// `a = 1, b = "x, y"`: a comma parts only where a name and an equals sign follow.
fn read_given(cell: &str) -> Given {
    let mut pairs: Vec<(String, String)> = Vec::new();
    for piece in cell.split(", ") {
        match (piece.split_once(" = "), pairs.last_mut()) {
            (Some((name, value)), _) => pairs.push((name.to_owned(), value.to_owned())),
            (None, Some((_, value))) => value.push_str(&format!(", {piece}")),
            (None, None) => {}
        }
    }
    Given {
        names: pairs.iter().map(|(name, _)| name.clone()).collect(),
        row: pairs.iter().map(|(_, value)| read(value)).collect(),
    }
}

#[test]
fn every_row_of_the_documentation_is_true() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/templates.md");
    let documentation = std::fs::read_to_string(path).expect(path);
    let mut shown = Vec::new();
    for line in documentation.lines().filter(|line| line.starts_with('|')) {
        let cells = cells(line);
        let [template, given, result] = cells.as_slice() else {
            panic!("{line}");
        };
        if template == "template" || template == "---" {
            continue;
        }
        let backquotes = if template.starts_with("``") { 2 } else { 1 };
        let template = &template[backquotes..template.len() - backquotes];
        assert_eq!(&show(run(template, &read_given(given))), result, "{line}");
        shown.push(template.to_owned());
    }
    for entry in Filter::NAMES {
        let used = |template: &String| template.contains(&format!("| {}", entry.name));
        assert!(shown.iter().any(used), "`{}` has no example", entry.name);
    }
}

#[test]
fn a_borrowed_value_is_read_in_place() {
    let row = [Value::Text("a".into()), Value::Map(Vec::new())];
    assert_eq!(text_of(&row[0]), Ok("a"));
    let Err(error) = text_of(&row[1]) else {
        panic!("a map has no text");
    };
    assert_eq!(error.to_string(), "a map cannot be written as text");
}

#[test]
fn errors_name_the_place_and_the_filter_and_no_value() {
    let row = given(&[("s.likes", read("`987654321`")), ("b", read("`0xdead`"))]);
    let error = run("x{s.likes | pad(8)}", &row).expect_err("too wide");
    assert_eq!(error.place, "s.likes | pad");
    assert_eq!(
        error.cause.to_string(),
        "the number has more than the 8 digits of `pad(8)`"
    );
    let error = run("x{b}", &row).expect_err("binary");
    assert_eq!(error.to_string(), "`b` gives no value");
    assert_eq!(error.cause.to_string(), "binary cannot be written as text");
    assert_eq!(error.cause.help(), "use `| hex`, `| base64` or `| uuid`");
}

#[test]
fn optional_segments_end_at_the_first_null() {
    let row = given(&[
        ("a", read("`\"A\"`")),
        ("b", Value::Null),
        ("c", read("`\"C\"`")),
    ]);
    for (template, result) in [
        ("[{a}][-{b}][-{c}]!", "`\"A!\"`"),
        ("[{a}-{b}]{c}[{a}]", "`\"C\"`"),
        ("[{b | default(x)}][-{a}]", "`\"x-A\"`"),
        ("[{b}]", "`\"\"`"),
        ("{b}[{a}]", "`NULL`"),
    ] {
        assert_eq!(show(run(template, &row)), result, "{template}");
    }
}

#[test]
fn members_are_found_in_maps_alone() {
    let row = given(&[
        ("doc", read("`{\"a\":{\"b\":7},\"l\":[1]}`")),
        ("bad", Value::unfit("{", UnfitReason::NotJson)),
    ]);
    for (template, result) in [
        ("{doc.a.b}", "`7`"),
        ("{doc.a}", "`{\"b\":7}`"),
        ("{doc.a.x}", "`NULL`"),
        ("{doc.a.b.c}", "`NULL`"),
        ("{doc.l.0}", "`NULL`"),
        ("{bad.a}", "*unfit-value*"),
        ("x{bad}", "*unfit-value*"),
    ] {
        assert_eq!(show(run(template, &row)), result, "{template}");
    }
    // Alone it stays what it is: the attribute's conversion refuses it.
    assert!(matches!(run("{bad}", &row), Ok(Value::Unfit(_))));
}
