//! YAML as people write it, in block style, for templates with CloudFormation's short functions.
//!
//! Whatever a text holds, a reader of YAML 1.1 and one of 1.2 get it back as it was: what either
//! could take for something else than text is quoted.

#[cfg(test)]
mod tests;

use serde_json::{Map, Value};

/// A map as a document. What is null or an empty list is not said; `{"Ref": …}` and `{"Fn::Sub": …}`
/// are written as `!Ref …` and `!Sub …`.
pub(super) fn document(value: &Value) -> String {
    let mut out = String::new();
    if let Value::Object(map) = value {
        write_entries(&mut out, map, 0);
    }
    out
}

fn indent(out: &mut String, depth: usize) {
    out.extend(std::iter::repeat_n("  ", depth));
}

fn write_entries(out: &mut String, map: &Map<String, Value>, depth: usize) {
    let is_said =
        |value: &Value| !value.is_null() && value.as_array().is_none_or(|all| !all.is_empty());
    for (key, value) in map.iter().filter(|(_, value)| is_said(value)) {
        indent(out, depth);
        out.push_str(&scalar(key));
        out.push(':');
        match value {
            Value::Object(map) if function(map).is_none() => {
                out.push('\n');
                write_entries(out, map, depth + 1);
            }
            Value::Array(elements) => {
                out.push('\n');
                for each in elements {
                    write_element(out, each, depth + 1);
                }
            }
            short => out.push_str(&format!(" {}\n", inline(short))),
        }
    }
}

/// Writes an element of a list: the first line of what it is stands behind the dash.
fn write_element(out: &mut String, element: &Value, depth: usize) {
    indent(out, depth);
    out.push_str("- ");
    match element {
        Value::Object(map) if function(map).is_none() => {
            let mut block = String::new();
            write_entries(&mut block, map, depth + 1);
            out.push_str(block.trim_start_matches(' '));
        }
        short => out.push_str(&format!("{}\n", inline(short))),
    }
}

/// What fits on a line.
fn inline(value: &Value) -> String {
    match value {
        Value::String(text) => scalar(text),
        Value::Array(elements) => {
            let elements: Vec<String> = elements.iter().map(inline).collect();
            format!("[{}]", elements.join(", "))
        }
        Value::Object(map) => function(map).unwrap_or_else(|| "{}".to_owned()),
        other => other.to_string(),
    }
}

/// A function of CloudFormation in its short form.
fn function(map: &Map<String, Value>) -> Option<String> {
    let (name, argument) = map.iter().next()?;
    let name = if name == "Ref" {
        name
    } else {
        name.strip_prefix("Fn::")?
    };
    Some(format!("!{name} {}", scalar(argument.as_str()?)))
}

/// A text as it stands in a line.
pub(super) fn scalar(text: &str) -> String {
    if is_plain(text) {
        return text.to_owned();
    }
    let printable = |c: char| matches!(c, ' '..='~' | '\u{a1}'..='\u{d7ff}' | '\u{e000}'..='\u{fefe}' | '\u{ff00}'..='\u{fffd}' | '\u{10000}'..='\u{10ffff}');
    // Line separators count as line breaks in YAML 1.1.
    if text
        .chars()
        .all(|c| printable(c) && !matches!(c, '\u{2028}' | '\u{2029}'))
    {
        return format!("'{}'", text.replace('\'', "''"));
    }
    quoted(text)
}

/// A text between double quotes, with escapes.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            ' '..='~' => out.push(c),
            c if u32::from(c) <= 0xffff => out.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => out.push_str(&format!("\\U{:08X}", u32::from(c))),
        }
    }
    out.push('"');
    out
}

/// Whether a text is read as itself without quotes, in any place and by any reader.
fn is_plain(text: &str) -> bool {
    const WORDS: [&str; 10] = [
        "true", "false", "yes", "no", "on", "off", "null", "y", "n", "nan",
    ];
    let first = |c: char| c.is_ascii_alphabetic() || c == '/';
    let within = |c: char| c.is_ascii_alphanumeric() || "_./:$*()+' -".contains(c);
    text.starts_with(first)
        && text.chars().all(within)
        && !text.ends_with([' ', ':'])
        && !text.contains(": ")
        && !WORDS.contains(&text.to_ascii_lowercase().as_str())
}
