//! Holds a file's nodes against the language.

use std::collections::HashMap;
use std::ops::Range;

use super::{DIRECTIVES, Field, Shape, quoted};
use crate::diagnostic::{Code, Diagnostic, Diagnostics, did_you_mean, nearest};
use crate::yaml::{Content, Entry, Node};

/// Finds every place where a node has not the shape that the language asks for. `what` is the
/// place in words, such as `the table`.
pub(crate) fn validate(node: &Node, shape: &Shape, what: &str, faults: &mut Vec<Diagnostic>) {
    match (shape, &node.content) {
        (Shape::Some(_), Content::List(elements)) if elements.is_empty() => {
            let message = format!("{what} must not be an empty list");
            let help = "name at least one, or take the key away";
            faults.add(Code::WrongValue, node.span.clone(), message, help);
        }
        (Shape::List(element) | Shape::Some(element), Content::List(elements)) => {
            for each in elements {
                validate(each, element, what, faults);
            }
        }
        (Shape::Record(fields), Content::Map { .. }) => record(node, fields, what, faults),
        (Shape::Named(value), Content::Map { entries, .. }) => {
            duplicates(node, faults);
            for entry in entries {
                if what == "`items`" && is_section(entry) {
                    faults.push(too_deep(entry, what));
                    continue;
                }
                validate(&entry.value, value, &format!("`{}`", entry.key), faults);
            }
        }
        (Shape::OneOf(shapes), _) => match shapes.iter().find(|shape| takes(shape, node)) {
            Some(Shape::Word(now)) if node.text().is_some_and(|text| is_no_word(text, now)) => {
                let text = node.text().unwrap_or_default();
                let message = format!("{what} cannot be `{text}`");
                let help = format!("write {}", words(shape));
                faults.add(Code::WrongValue, node.span.clone(), message, help);
            }
            Some(shape) => validate(node, shape, what, faults),
            None => faults.push(wrong_shape(node, shape, what)),
        },
        (Shape::Tree, Content::Map { .. }) => {
            alone(node, faults);
            tree(node, faults);
        }
        (Shape::Node, _) if node.is_empty() => {
            faults.push(wrong_shape(node, &Shape::Template, what));
        }
        (Shape::Node, _) => tree(node, faults),
        (Shape::List(_) | Shape::Some(_) | Shape::Record(_) | Shape::Named(_) | Shape::Tree, _) => {
            faults.push(wrong_shape(node, shape, what));
        }
        _ => scalar(node, shape, what, faults),
    }
}

/// A key that stands one level too deep. What follows may belong to it, so that other faults come of this one.
fn too_deep(entry: &Entry, what: &str) -> Diagnostic {
    let message = format!("`{}` stands inside {what}", entry.key);
    Diagnostic::new(Code::Yaml, entry.key_span.clone(), message)
        .with_help(format!("indent it less, as far as {what} itself"))
}

/// Whether what is named like an item type is another section of the mapping.
fn is_section(entry: &Entry) -> bool {
    matches!(entry.key.as_str(), "table" | "access_patterns") && entry.value.get("from").is_none()
}

fn takes(shape: &Shape, node: &Node) -> bool {
    match shape {
        Shape::List(_) | Shape::Some(_) => matches!(node.content, Content::List(_)),
        Shape::Record(_) | Shape::Named(_) | Shape::Tree => {
            matches!(node.content, Content::Map { .. }) && !node.is_unquoted_template()
        }
        Shape::OneOf(shapes) => shapes.iter().any(|shape| takes(shape, node)),
        Shape::Node => true,
        _ => matches!(node.content, Content::Scalar { .. }) || node.is_unquoted_template(),
    }
}

fn scalar(node: &Node, shape: &Shape, what: &str, faults: &mut Vec<Diagnostic>) {
    if matches!(shape, Shape::Template) && node.is_unquoted_template() {
        faults.push(unquoted(node));
        return;
    }
    let Some(text) = node.text().filter(|_| !node.is_empty()) else {
        faults.push(wrong_shape(node, shape, what));
        return;
    };
    let fault = |message: String| Diagnostic::new(Code::WrongValue, node.span.clone(), message);
    match shape {
        Shape::Integer if text.parse::<u64>().is_ok_and(|number| number > 0) => {}
        Shape::Integer => faults.push(
            fault(format!("{what} must be a whole number from 1"))
                .with_help("write it without quotes, unit or separators: 100"),
        ),
        Shape::Positive if text.parse().is_ok_and(|n: f64| n.is_finite() && n > 0.0) => {}
        Shape::Positive => faults.push(
            fault(format!("{what} must be a number above zero"))
                .with_help("write it without unit or separators: 100, or 0.5"),
        ),
        Shape::Bool if matches!(text, "true" | "false") => {}
        Shape::Bool => faults.push(fault(format!("{what} must be true or false"))),
        Shape::Word(known) if !known.contains(&text) => {
            let help = did_you_mean(text, known.iter().copied());
            let help = help.unwrap_or_else(|| format!("write {}", words(shape)));
            faults.push(fault(format!("{what} cannot be `{text}`")).with_help(help));
        }
        _ => {}
    }
}

/// Whether a text is none of the words, nor meant for one.
fn is_no_word(text: &str, words: &[&str]) -> bool {
    !words.contains(&text) && nearest(text, words.iter().copied()).is_none()
}

fn names(fields: &[Field]) -> String {
    quoted(&fields.iter().map(|field| field.name).collect::<Vec<_>>())
}

fn record(node: &Node, fields: &[Field], what: &str, faults: &mut Vec<Diagnostic>) {
    duplicates(node, faults);
    for (at, entry) in node.entries().iter().enumerate() {
        match fields.iter().find(|field| field.name == entry.key) {
            Some(field) => {
                let what = format!("`{}`", field.name);
                validate(&entry.value, &field.shape, &what, faults);
            }
            None => {
                let near = meant(&entry.key, fields);
                let inside =
                    |field: &Field| field.required && entry.value.get(field.name).is_some();
                let (before, after) = node.entries().split_at(at);
                let is_again = |later: &Entry| before.iter().any(|other| other.key == later.key);
                let is_torn = entry.value.is_empty() && after.iter().any(is_again);
                if fields.iter().any(inside) || is_torn {
                    faults.push(too_deep(entry, what));
                    continue;
                }
                let help = match near {
                    Some(near) => format!("did you mean `{near}`?"),
                    None if is_bare_directive(&entry.key) => format!(
                        "`${0}` is a directive: under `attributes`, say NAME: {{ ${0}: … }}",
                        entry.key
                    ),
                    None => format!("{what} takes {}", names(fields)),
                };
                let message = format!("{what} has no key `{}`", entry.key);
                faults.add(Code::UnknownKey, entry.key_span.clone(), message, help);
            }
        }
    }
    for field in fields.iter().filter(|field| field.required) {
        let entries = node.entries();
        let is_misspelled = entries.iter().any(|entry| {
            let is_known = fields.iter().any(|field| field.name == entry.key);
            !is_known && meant(&entry.key, fields) == Some(field.name)
        });
        if node.get(field.name).is_none() && !is_misspelled {
            let message = format!("{what} needs `{}`", field.name);
            faults.push(
                Diagnostic::new(Code::MissingKey, first_line(node), message)
                    .with_label(format!("`{}` is missing here", field.name))
                    .with_help(format!("{}: {}", field.name, field.doc)),
            );
        }
    }
}

/// The field that is meant by a name which none has.
fn meant(wrong: &str, fields: &[Field]) -> Option<&'static str> {
    nearest(wrong, fields.iter().map(|field| field.name))
}

/// The first entry of a map: underlining the whole of it would drown the fault.
fn first_line(node: &Node) -> Range<usize> {
    node.entries()
        .first()
        .map_or_else(|| node.span.clone(), |entry| entry.key_span.clone())
}

fn duplicates(node: &Node, faults: &mut Vec<Diagnostic>) {
    let mut seen: HashMap<&str, Range<usize>> = HashMap::new();
    for entry in node.entries() {
        if let Some(first) = seen.get(entry.key.as_str()) {
            let message = format!("`{}` is written twice", entry.key);
            faults.push(
                Diagnostic::new(Code::DuplicateKey, entry.key_span.clone(), message)
                    .with_other(first.clone(), "first here")
                    .with_help("take one of them away"),
            );
        } else {
            seen.insert(&entry.key, entry.key_span.clone());
        }
    }
}

fn tree(node: &Node, faults: &mut Vec<Diagnostic>) {
    if node.is_unquoted_template() {
        faults.push(unquoted(node));
        return;
    }
    match &node.content {
        Content::Scalar { .. } => {}
        Content::List(elements) => elements.iter().for_each(|each| tree(each, faults)),
        Content::Map { entries, .. } => {
            duplicates(node, faults);
            together(node, faults);
            for entry in entries {
                if entry.key.starts_with('$') {
                    directive(&entry.key, &entry.key_span, &entry.value, faults);
                } else if entry.value.is_empty() {
                    let what = format!("`{}`", entry.key);
                    faults.push(wrong_shape(&entry.value, &Shape::Template, &what));
                } else {
                    tree(&entry.value, faults);
                }
            }
        }
    }
}

fn directive(name: &str, span: &Range<usize>, value: &Node, faults: &mut Vec<Diagnostic>) {
    if let Some(field) = DIRECTIVES.iter().find(|field| field.name == name) {
        validate(value, &field.shape, &format!("`{name}`"), faults);
        return;
    }
    let known = DIRECTIVES.iter().map(|field| field.name);
    let all = || {
        format!(
            "names that start with `$` are directives: {}",
            names(DIRECTIVES)
        )
    };
    let help = did_you_mean(name, known).unwrap_or_else(all);
    let message = format!("there is no directive `{name}`");
    faults.add(Code::UnknownKey, span.clone(), message, help);
}

/// Whether a name is a directive's without its `$`.
fn is_bare_directive(name: &str) -> bool {
    DIRECTIVES
        .iter()
        .any(|field| field.name.strip_prefix('$') == Some(name))
}

fn unquoted(node: &Node) -> Diagnostic {
    Diagnostic::new(
        Code::UnquotedTemplate,
        node.span.clone(),
        "a template that starts with `{` must be quoted",
    )
    .with_label("YAML reads this as a map")
    .with_help("put it in double quotes: \"{column}\"")
}

fn wrong_shape(node: &Node, shape: &Shape, what: &str) -> Diagnostic {
    Diagnostic::new(
        Code::WrongShape,
        match &node.content {
            Content::Map { flow: false, .. } => first_line(node),
            _ => node.span.clone(),
        },
        format!("{what} must be {}, not {}", words(shape), node.shape()),
    )
    .with_help(reshaped(node, shape))
}

/// How a node is written in the shape that is asked for.
fn reshaped(node: &Node, shape: &Shape) -> String {
    match (shape, node.text()) {
        _ if node.is_empty() => "give it a value, or take the key away".to_owned(),
        (Shape::List(_) | Shape::Some(_), Some(text)) => {
            format!("put brackets around it: [{text}]")
        }
        (Shape::List(_) | Shape::Some(_), None) => "write a list: [first, second]".to_owned(),
        (Shape::Text | Shape::Template, _) => "write one text, in quotes".to_owned(),
        (Shape::OneOf(shapes), _) => match shapes
            .iter()
            .find(|shape| matches!(shape, Shape::Record(_)))
        {
            Some(shape) => reshaped(node, shape),
            None => format!("write {}", words(shape)),
        },
        (Shape::Record(fields), _) => {
            let needed = fields.iter().filter(|field| field.required);
            let needed: Vec<String> = needed.map(|field| format!("{}: …", field.name)).collect();
            match needed.as_slice() {
                [] => format!("write {}", words(shape)),
                needed => format!("write a map: {{ {} }}", needed.join(", ")),
            }
        }
        (Shape::Named(_) | Shape::Tree, _) => "write a map of names: { name: … }".to_owned(),
        _ => format!("write {}", words(shape)),
    }
}

fn words(shape: &Shape) -> String {
    match shape {
        Shape::Text => "text".to_owned(),
        Shape::Template => "a template".to_owned(),
        Shape::Integer => "a whole number".to_owned(),
        Shape::Positive => "a number above zero".to_owned(),
        Shape::Bool => "true or false".to_owned(),
        Shape::Word([only]) => format!("`{only}`"),
        Shape::Word(words) => format!("one of {}", quoted(words)),
        Shape::List(_) | Shape::Some(_) => "a list".to_owned(),
        Shape::Record(fields) => format!("a map with {}", names(fields)),
        Shape::Named(_) | Shape::Tree => "a map".to_owned(),
        Shape::Node => "a template, a list or a map".to_owned(),
        Shape::OneOf(shapes) => {
            let words: Vec<String> = shapes.iter().map(words).collect();
            words.join(" or ")
        }
    }
}

// Which directives go together in one map.

/// The directives that make a map a value of its own, each with those that go with it.
const VALUES: &[(&str, &[&str])] = &[
    (
        "$embed",
        &[
            "$embed", "$match", "$where", "$order", "$limit", "$join", "$each", "$as", "$key",
        ],
    ),
    ("$value", &["$value", "$when", "$type"]),
];

/// Finds directives that do not belong into the map in which they stand.
fn together(node: &Node, faults: &mut Vec<Diagnostic>) {
    let value = VALUES.iter().find(|(main, _)| node.get(main).is_some());
    let Some((main, family)) = value else {
        for entry in node.entries() {
            stray(entry, faults);
        }
        return;
    };
    for entry in node.entries() {
        // Of a directive that is none, its name is told.
        let is_unknown =
            entry.key.starts_with('$') && owner(&entry.key).is_none() && entry.key != "$spread";
        if !family.contains(&entry.key.as_str()) && !is_unknown {
            let message = format!("`{}` cannot stand beside `{main}`", entry.key);
            let help = format!("a map with `{main}` takes {}", quoted(family));
            faults.add(Code::Directive, entry.key_span.clone(), message, help);
        }
    }
    let entry_of = |name: &str| node.entries().iter().find(|entry| entry.key == name);
    let Some(first) = entry_of(main) else { return };
    if *main == "$value" {
        if node.entries().len() == 1 {
            let message = "`$value` alone says nothing";
            let help = "write the value itself, or say `$when` or `$type` beside it";
            faults.add(Code::Directive, first.key_span.clone(), message, help);
        }
        return;
    }
    let as_map = node.get("$as").and_then(Node::text) == Some("map");
    match entry_of("$key") {
        None if as_map => faults.add(
            Code::Directive,
            entry_of("$as").unwrap_or(first).key_span.clone(),
            "a map needs names for its members",
            "say how each is named: $key: \"{column}\"",
        ),
        Some(key) if !as_map => faults.add(
            Code::Directive,
            key.key_span.clone(),
            "`$key` names the members of a map, and this is not a map",
            "say `$as: map`, or take `$key` away",
        ),
        _ => {}
    }
}

/// The directive that another goes with.
fn owner(name: &str) -> Option<&'static str> {
    let mut values = VALUES.iter();
    let (main, _) = values.find(|(_, family)| family.contains(&name))?;
    Some(main)
}

/// A directive without the one that it goes with.
fn stray(entry: &Entry, faults: &mut Vec<Diagnostic>) {
    if let Some(main) = owner(&entry.key) {
        let message = format!("`{}` needs `{main}` beside it", entry.key);
        let help = format!("say {main} in the same map");
        faults.add(Code::Directive, entry.key_span.clone(), message, help);
    }
}

/// Finds directives that would make an item's attributes a single value.
fn alone(node: &Node, faults: &mut Vec<Diagnostic>) {
    let mains = VALUES.iter().map(|(main, _)| *main);
    for entry in node.entries() {
        if mains.clone().any(|main| main == entry.key) {
            let message = format!(
                "`{}` makes one attribute, but stands here for all attributes",
                entry.key
            );
            let help = format!("name the attribute: name: {{ {}: … }}", entry.key);
            faults.add(Code::Directive, entry.key_span.clone(), message, help);
        }
    }
}
