//! Holds a file's nodes against the language.

use std::ops::Range;

use dynafold_format::joined;

use super::{DIRECTIVES, Field, ValueShape, quoted};
use crate::diagnostic::{Code, Diagnostic, Diagnostics, did_you_mean, nearest};
use crate::yaml::{YamlContent, YamlEntry, YamlNode};

/// Finds every place where a node has not the shape that the language asks for. `what` is the
/// place in words, such as `the table`.
pub(crate) fn validate(node: &YamlNode, shape: &ValueShape, what: &str, faults: &Diagnostics) {
    match (shape, &node.content) {
        (ValueShape::Some(_), YamlContent::List(elements)) if elements.is_empty() => {
            let message = format!("{what} must not be an empty list");
            let help = "name at least one, or remove the key";
            faults.add(Code::WrongValue, node.span.clone(), message, help);
        }
        (ValueShape::List(element) | ValueShape::Some(element), YamlContent::List(elements)) => {
            for each in elements {
                validate(each, element, what, faults);
            }
        }
        (ValueShape::Record(fields), YamlContent::Map { .. }) => record(node, fields, what, faults),
        (ValueShape::Named(value), YamlContent::Map { entries, .. }) => {
            duplicates(node, faults);
            for entry in entries {
                if what == "`items`" && is_section(entry) {
                    faults.push(too_deep(entry, what));
                    continue;
                }
                validate(&entry.value, value, &format!("`{}`", entry.key), faults);
            }
        }
        (ValueShape::OneOf(shapes), _) => match shapes.iter().find(|shape| takes(shape, node)) {
            Some(ValueShape::Word(now))
                if node.text().is_some_and(|text| is_no_word(text, now)) =>
            {
                let text = node.text().unwrap_or_default();
                let message = format!("{what} cannot be `{text}`");
                let help = format!("write {}", words(shape));
                faults.add(Code::WrongValue, node.span.clone(), message, help);
            }
            Some(shape) => validate(node, shape, what, faults),
            None => faults.push(wrong_shape(node, shape, what)),
        },
        (ValueShape::Tree, YamlContent::Map { .. }) => {
            refuse_single_values(node, faults);
            tree(node, faults);
        }
        (ValueShape::Node, _) if node.is_empty() => {
            faults.push(wrong_shape(node, &ValueShape::Template, what));
        }
        (ValueShape::Node, _) => tree(node, faults),
        _ if !takes(shape, node) => faults.push(wrong_shape(node, shape, what)),
        _ => scalar(node, shape, what, faults),
    }
}

/// A key that stands one level too deep. What follows may belong to it, so that other faults come of this one.
fn too_deep(entry: &YamlEntry, what: &str) -> Diagnostic {
    let message = format!("`{}` is inside {what} and belongs beside it", entry.key);
    Diagnostic::new(Code::Yaml, entry.key_span.clone(), message)
        .with_help(format!("indent it less, as far as {what}"))
}

/// Whether what is named like an item type is another section of the mapping.
fn is_section(entry: &YamlEntry) -> bool {
    matches!(entry.key.as_str(), "table" | "access_patterns") && entry.value.get("from").is_none()
}

fn takes(shape: &ValueShape, node: &YamlNode) -> bool {
    match shape {
        ValueShape::List(_) | ValueShape::Some(_) => matches!(node.content, YamlContent::List(_)),
        ValueShape::Record(_) | ValueShape::Named(_) | ValueShape::Tree => {
            matches!(node.content, YamlContent::Map { .. }) && !node.is_unquoted_template()
        }
        ValueShape::OneOf(shapes) => shapes.iter().any(|shape| takes(shape, node)),
        ValueShape::Node => true,
        _ => matches!(node.content, YamlContent::Scalar { .. }) || node.is_unquoted_template(),
    }
}

fn scalar(node: &YamlNode, shape: &ValueShape, what: &str, faults: &Diagnostics) {
    if matches!(shape, ValueShape::Template) && node.is_unquoted_template() {
        faults.push(unquoted(node));
        return;
    }
    let Some(text) = node.text().filter(|_| !node.is_empty()) else {
        faults.push(wrong_shape(node, shape, what));
        return;
    };
    let fault = |message: String| Diagnostic::new(Code::WrongValue, node.span.clone(), message);
    match shape {
        ValueShape::Integer if text.parse::<u64>().is_ok_and(|number| number > 0) => {}
        ValueShape::Integer => faults.push(
            fault(format!("{what} must be a whole number, 1 or more"))
                .with_help("write it without unit or separators: 100"),
        ),
        ValueShape::Positive if text.parse().is_ok_and(|n: f64| n.is_finite() && n > 0.0) => {}
        ValueShape::Positive => faults.push(
            fault(format!("{what} must be a number above zero"))
                .with_help("write it without unit or separators: 100, or 0.5"),
        ),
        ValueShape::Bool if matches!(text, "true" | "false") => {}
        ValueShape::Bool => faults.push(fault(format!("{what} must be true or false"))),
        ValueShape::Word(known) if !known.contains(&text) => {
            let help = did_you_mean(text, known.iter().copied())
                .unwrap_or_else(|| format!("write {}", words(shape)));
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

fn record(node: &YamlNode, fields: &[Field], what: &str, faults: &Diagnostics) {
    duplicates(node, faults);
    let is_condition = fields.iter().any(|field| field.name == "begins_with");
    for (at, entry) in node.entries().iter().enumerate() {
        match fields.iter().find(|field| field.name == entry.key) {
            Some(field) => {
                let what = format!("`{}`", field.name);
                validate(&entry.value, &field.shape, &what, faults);
            }
            None => {
                let near = nearest_field(&entry.key, fields);
                let inside =
                    |field: &Field| field.required && entry.value.get(field.name).is_some();
                let (before, after) = node.entries().split_at(at);
                let is_again =
                    |later: &YamlEntry| before.iter().any(|other| other.key == later.key);
                let is_torn = entry.value.is_empty() && after.iter().any(is_again);
                if fields.iter().any(inside) || is_torn {
                    faults.push(too_deep(entry, what));
                    continue;
                }
                let help = match near {
                    Some(near) => format!("did you mean `{near}`?"),
                    None if is_bare_directive(&entry.key) => format!(
                        "`${0}` is a directive: under `attributes`, write NAME: {{ ${0}: … }}",
                        entry.key
                    ),
                    None if is_condition => format!("use {}", names(fields)),
                    None => format!("the keys of {what} are {}", names(fields)),
                };
                let message = if is_condition {
                    format!("`{}` is not a condition for {what}", entry.key)
                } else {
                    format!("{what} has no key `{}`", entry.key)
                };
                faults.add(Code::UnknownKey, entry.key_span.clone(), message, help);
            }
        }
    }
    for field in fields.iter().filter(|field| field.required) {
        let entries = node.entries();
        let is_misspelled = entries.iter().any(|entry| {
            let is_known = fields.iter().any(|field| field.name == entry.key);
            !is_known && nearest_field(&entry.key, fields) == Some(field.name)
        });
        if node.get(field.name).is_none() && !is_misspelled {
            let message = format!("{what} needs `{}`", field.name);
            faults.push(
                Diagnostic::new(Code::MissingKey, first_line(node), message)
                    .with_label(format!("`{}` is missing here", field.name))
                    .with_help(added(field)),
            );
        }
    }
}

/// How a field is added.
fn added(field: &Field) -> String {
    if let ValueShape::Word([only]) = field.shape {
        return format!("add `{}: {only}`", field.name);
    }
    let mut doc = field.doc.trim_end_matches('.').chars();
    let first = doc.next().map(|first| first.to_ascii_lowercase());
    let doc: String = first.into_iter().chain(doc).collect();
    format!("add `{}:` ({doc})", field.name)
}

/// The field that is meant by a name which none has.
fn nearest_field(wrong: &str, fields: &[Field]) -> Option<&'static str> {
    nearest(wrong, fields.iter().map(|field| field.name))
}

/// The first entry of a map: underlining the whole of it would drown the fault.
fn first_line(node: &YamlNode) -> Range<usize> {
    node.entries()
        .first()
        .map_or_else(|| node.span.clone(), |entry| entry.key_span.clone())
}

fn duplicates(node: &YamlNode, faults: &Diagnostics) {
    let names = node
        .entries()
        .iter()
        .map(|entry| (&entry.key, &entry.key_span));
    faults.distinct(names, ("is written twice", "remove one of them"));
}

fn tree(node: &YamlNode, faults: &Diagnostics) {
    if node.is_unquoted_template() {
        faults.push(unquoted(node));
        return;
    }
    match &node.content {
        YamlContent::Scalar { .. } => {}
        YamlContent::List(elements) => elements.iter().for_each(|each| tree(each, faults)),
        YamlContent::Map { entries, .. } => {
            duplicates(node, faults);
            together(node, faults);
            for entry in entries {
                if entry.key.starts_with('$') {
                    directive(&entry.key, &entry.key_span, &entry.value, faults);
                } else if entry.value.is_empty() {
                    let what = format!("`{}`", entry.key);
                    faults.push(wrong_shape(&entry.value, &ValueShape::Template, &what));
                } else {
                    tree(&entry.value, faults);
                }
            }
        }
    }
}

fn directive(name: &str, span: &Range<usize>, value: &YamlNode, faults: &Diagnostics) {
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

fn unquoted(node: &YamlNode) -> Diagnostic {
    Diagnostic::new(
        Code::UnquotedTemplate,
        node.span.clone(),
        "a template that starts with `{` must be quoted",
    )
    .with_label("YAML reads this as a map")
    .with_help("put it in double quotes: \"{column}\"")
}

fn wrong_shape(node: &YamlNode, shape: &ValueShape, what: &str) -> Diagnostic {
    Diagnostic::new(
        Code::WrongShape,
        match &node.content {
            YamlContent::Map { flow: false, .. } => first_line(node),
            _ => node.span.clone(),
        },
        format!("{what} must be {}, not {}", words(shape), node.shape()),
    )
    .with_help(reshaped(node, shape))
}

/// How a node is written in the shape that is asked for.
fn reshaped(node: &YamlNode, shape: &ValueShape) -> String {
    match (shape, node.text()) {
        _ if node.is_empty() => "give it a value, or remove the key".to_owned(),
        (ValueShape::List(_) | ValueShape::Some(_), Some(text)) => {
            format!("put brackets around it: [{text}]")
        }
        (ValueShape::List(_) | ValueShape::Some(_), None) => {
            "write a list: [first, second]".to_owned()
        }
        (ValueShape::Text | ValueShape::Template, _) => "write one text, in quotes".to_owned(),
        (ValueShape::OneOf(shapes), _) => match shapes
            .iter()
            .find(|shape| matches!(shape, ValueShape::Record(_)))
        {
            Some(shape) => reshaped(node, shape),
            None => format!("write {}", words(shape)),
        },
        (ValueShape::Record(fields), _) => {
            let needed = fields.iter().filter(|field| field.required);
            let needed: Vec<String> = needed.map(|field| format!("{}: …", field.name)).collect();
            match needed.as_slice() {
                [] => format!("write {}", words(shape)),
                needed => format!("write a map: {{ {} }}", needed.join(", ")),
            }
        }
        (ValueShape::Named(_) | ValueShape::Tree, _) => {
            "write a map of names: { name: … }".to_owned()
        }
        _ => format!("write {}", words(shape)),
    }
}

fn words(shape: &ValueShape) -> String {
    match shape {
        ValueShape::Text => "text".to_owned(),
        ValueShape::Template => "a template".to_owned(),
        ValueShape::Integer => "a whole number".to_owned(),
        ValueShape::Positive => "a number above zero".to_owned(),
        ValueShape::Bool => "true or false".to_owned(),
        ValueShape::Word([only]) => format!("`{only}`"),
        ValueShape::Word(words) => format!("one of {}", quoted(words)),
        ValueShape::List(_) | ValueShape::Some(_) => "a list".to_owned(),
        ValueShape::Record(fields) => format!("a map with {}", names(fields)),
        ValueShape::Named(_) | ValueShape::Tree => "a map".to_owned(),
        ValueShape::Node => "a template, a list or a map".to_owned(),
        // A bare `*` is not YAML.
        ValueShape::OneOf([ValueShape::Word(["*"]), ..]) => {
            "\"*\" (with quotes), or a list: [id]".to_owned()
        }
        ValueShape::OneOf(shapes) => joined(shapes.iter().map(words), " or "),
    }
}

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
fn together(node: &YamlNode, faults: &Diagnostics) {
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
            let message = format!("`{}` cannot be used together with `{main}`", entry.key);
            let help = format!("a map with `{main}` can have {}", quoted(family));
            faults.add(Code::Directive, entry.key_span.clone(), message, help);
        }
    }
    let entry_of = |name: &str| node.entries().iter().find(|entry| entry.key == name);
    let Some(first) = entry_of(main) else { return };
    if *main == "$value" {
        if node.entries().len() == 1 {
            let message = "`$value` needs `$when` or `$type`";
            let help = "write the value itself, or add `$when` or `$type`";
            faults.add(Code::Directive, first.key_span.clone(), message, help);
        }
        return;
    }
    let as_map = node.get("$as").and_then(YamlNode::text) == Some("map");
    match entry_of("$key") {
        None if as_map => faults.add(
            Code::Directive,
            entry_of("$as").unwrap_or(first).key_span.clone(),
            "a map needs names for its members",
            "name each of them: $key: \"{column}\"",
        ),
        Some(key) if !as_map => faults.add(
            Code::Directive,
            key.key_span.clone(),
            "`$key` names the members of a map, and this is not a map",
            "use `$as: map`, or remove `$key`",
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
fn stray(entry: &YamlEntry, faults: &Diagnostics) {
    if let Some(main) = owner(&entry.key) {
        let message = format!("`{}` needs `{main}`", entry.key);
        let help = format!("add `{main}` to the same map");
        faults.add(Code::Directive, entry.key_span.clone(), message, help);
    }
}

/// Finds directives that would make an item's attributes a single value.
fn refuse_single_values(node: &YamlNode, faults: &Diagnostics) {
    let mains = VALUES.iter().map(|(main, _)| *main);
    for entry in node.entries() {
        if mains.clone().any(|main| main == entry.key) {
            let message = format!(
                "`{}` makes the value of one attribute, and here no attribute is named",
                entry.key
            );
            let help = format!("name the attribute: name: {{ {}: … }}", entry.key);
            faults.add(Code::Directive, entry.key_span.clone(), message, help);
        }
    }
}
