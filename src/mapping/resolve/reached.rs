//! Which item types the access patterns find, held against those that they promise.

use std::ops::Range;

use super::Resolved;
use crate::catalog::Family;
use crate::diagnostic::{Code, Diagnostic};
use crate::mapping::model::{KeyAttribute, Part, Place, Placeholder, Table, Template};
use crate::mapping::proof::{Condition, Reach, World, reach};
use crate::mapping::raw::{Raw, RawPattern};
use crate::mapping::template::{self, Filter, Segment};
use crate::mapping::yaml::{Content, Node};

pub(super) fn check(
    raw: &Raw,
    table: &Table,
    resolved: &[Resolved],
    world: &World,
    diagnostics: &mut Vec<Diagnostic>,
) {
    // Of a faulty item type nothing can be said, so that what finds it seems to find nothing.
    if resolved.len() < raw.items.len() {
        return;
    }
    for pattern in &raw.patterns {
        let Some(conditions) = conditions(pattern, table) else {
            continue;
        };
        let found = resolved.iter().map(|item| {
            let promised = pattern
                .items
                .iter()
                .find(|name| name.value == *item.item.name);
            (item, promised, reach(item.subject(), &conditions, world))
        });
        let found: Vec<_> = found.collect();
        let nothing = found.iter().all(|(_, _, reach)| *reach == Reach::Never);
        if pattern.items.is_empty() && nothing {
            never(
                pattern,
                "any item type",
                pattern.name.span.clone(),
                diagnostics,
            );
        }
        let mut extra: Vec<&str> = Vec::new();
        for (item, promised, reach) in &found {
            match (promised, reach) {
                (Some(name), Reach::Never) => {
                    let what = format!("`{}`", item.item.name);
                    never(pattern, &what, name.span.clone(), diagnostics);
                }
                (None, Reach::Yes) => extra.push(&item.item.name),
                _ => {}
            }
        }
        if !pattern.items.is_empty() && !pattern.filtered && !extra.is_empty() {
            extras(pattern, &extra, diagnostics);
        }
    }
}

fn never(pattern: &RawPattern, what: &str, span: Range<usize>, diagnostics: &mut Vec<Diagnostic>) {
    let message = format!("`{}` can never find {what}", pattern.name.value);
    diagnostics.push(
        Diagnostic::new(Code::NeverMatches, span, message)
            .with_other(pattern.key_span.clone(), "no key fits this condition")
            .with_help("hold the condition against the item's key: the same texts, filters and widths, in an index that the item is in"),
    );
}

fn extras(pattern: &RawPattern, extra: &[&str], diagnostics: &mut Vec<Diagnostic>) {
    let names: Vec<String> = extra.iter().map(|name| format!("`{name}`")).collect();
    let message = format!("`{}` also finds {}", pattern.name.value, names.join(", "));
    let place = sort_condition(pattern).unwrap_or_else(|| pattern.name.span.clone());
    diagnostics.push(
        Diagnostic::new(Code::ExtraItems, place, message).with_help(format!(
            "make the condition narrower, or say that they come back too: items: [{}]",
            pattern
                .items
                .iter()
                .map(|name| name.value.as_str())
                .chain(extra.iter().copied())
                .collect::<Vec<_>>()
                .join(", ")
        )),
    );
}

/// Where a range of the sort key stands.
fn sort_condition(pattern: &RawPattern) -> Option<Range<usize>> {
    let mut ranges = pattern.key.iter().filter(|entry| is_range(&entry.value));
    Some(ranges.next()?.value.entries().first()?.value.span.clone())
}

fn is_range(node: &Node) -> bool {
    matches!(node.content, Content::Map { .. }) && !node.is_unquoted_template()
}

/// The key attributes that an item must have, with what is asked of each; `None` for a pattern that
/// is faulty, which others tell.
fn conditions<'t>(
    pattern: &RawPattern,
    table: &'t Table,
) -> Option<Vec<(&'t KeyAttribute, Condition)>> {
    let keys: Vec<&KeyAttribute> = match &pattern.index {
        None => std::iter::once(&table.partition)
            .chain(&table.sort)
            .collect(),
        Some(wanted) => {
            let named = |index: &&crate::mapping::model::Index| index.name == wanted.value;
            let local = table.local_indexes.iter().find(named);
            let global = table.indexes.iter().find(named);
            match (global, local) {
                (Some(index), _) => index.partition.iter().chain(&index.sort).collect(),
                (None, Some(index)) => std::iter::once(&table.partition)
                    .chain(&index.sort)
                    .collect(),
                (None, None) => return None,
            }
        }
    };
    let mut conditions = Vec::new();
    for key in keys {
        let entry = pattern.key.iter().find(|entry| *entry.key == *key.name);
        conditions.push((
            key,
            match entry {
                None => Condition::Any,
                Some(entry) => condition(&entry.value)?,
            },
        ));
    }
    Some(conditions)
}

/// What a node asks; `None` for a faulty one.
fn condition(node: &Node) -> Option<Condition> {
    if let Some(text) = node.text() {
        return Some(Condition::Is(parameters(text)?));
    }
    if let Some(text) = node.get("begins_with") {
        return Some(Condition::BeginsWith(parameters(text.text()?)?));
    }
    let Some(between) = node.get("between") else {
        return Some(Condition::Any);
    };
    let bounds = between
        .elements()
        .iter()
        .map(|bound| parameters(bound.text()?));
    let bounds: Vec<Template> = bounds.collect::<Option<_>>()?;
    let [low, high] = bounds.as_slice() else {
        return None;
    };
    let (low, high) = (low.prefix().0, high.prefix().0);
    let common = low.char_indices().zip(high.chars());
    let end = common
        .take_while(|((_, a), b)| a == b)
        .last()
        .map_or(0, |((at, letter), _)| at + letter.len_utf8());
    let common = low.get(..end).unwrap_or_default().to_owned();
    Some(Condition::Within(common))
}

/// A template over parameters; `None` for a faulty one.
fn parameters(text: &str) -> Option<Template> {
    let written = template::parse(text).ok()?;
    let parts = written.segments.iter().map(|segment| match segment {
        Segment::Text(text) => Some(Part::Text(text.clone())),
        Segment::Optional(_) => None,
        Segment::Placeholder(placeholder) => {
            let filters = placeholder.filters.iter();
            let filters: Vec<Filter> = filters
                .map(|call| Filter::compile(call).ok())
                .collect::<Option<_>>()?;
            Some(Part::Value(Placeholder {
                place: Place {
                    column: 0,
                    path: Vec::new(),
                    written: placeholder.written_path().into(),
                },
                filters,
                family: Family::Any,
                escape: None,
            }))
        }
    });
    Some(Template {
        parts: parts.collect::<Option<_>>()?,
    })
}
