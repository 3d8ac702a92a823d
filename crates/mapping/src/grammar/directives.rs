//! Which directives go together in one map.

use super::quoted;
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::yaml::{Entry, Node};

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
pub(super) fn together(node: &Node, faults: &mut Vec<Diagnostic>) {
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
            "`$key` names the members of a map, and this is none",
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
pub(super) fn alone(node: &Node, faults: &mut Vec<Diagnostic>) {
    let mains = VALUES.iter().map(|(main, _)| *main);
    for entry in node.entries() {
        if mains.clone().any(|main| main == entry.key) {
            let message = format!(
                "`{}` makes one attribute, and this is all of them",
                entry.key
            );
            let help = format!("name the attribute: name: {{ {}: … }}", entry.key);
            faults.add(Code::Directive, entry.key_span.clone(), message, help);
        }
    }
}
