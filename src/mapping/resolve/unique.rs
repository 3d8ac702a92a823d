//! Whether two rows of an item type may make one key.
//!
//! They may not where the columns of a unique key can all be read back from the item's key: none is
//! changed by a filter that makes different values the same, none is left out because it is NULL,
//! and no two of them run into each other. A delimiter is trusted: whether values hold it too is
//! not known here.

use super::Resolved;
use super::keys::node;
use super::risks::replaces_null;
use crate::catalog::Family;
use crate::diagnostic::{Code, Diagnostic};
use crate::mapping::model::{Node, Part, Placeholder, Table, Template};
use crate::mapping::template::Filter;

pub(super) fn check(item: &Resolved, table: &Table, diagnostics: &mut Vec<Diagnostic>) {
    let keys = std::iter::once(&table.partition).chain(&table.sort);
    let nodes: Option<Vec<&Node>> = keys.map(|key| node(item, &key.name)).collect();
    // Of a faulty key nothing can be said.
    let Some(nodes) = nodes else { return };
    let templates = nodes.into_iter().filter_map(|node| match node {
        Node::Template(template) => Some(template),
        _ => None,
    });
    let mut used: Vec<usize> = templates
        .flat_map(|template| readable(template, &item.nullable))
        .filter(|placeholder| {
            placeholder.place.path.is_empty() && placeholder.filters.iter().all(is_injective)
        })
        .map(|placeholder| placeholder.place.column)
        .collect();
    for (theirs, ours) in &item.determined {
        if theirs.iter().all(|column| used.contains(column)) {
            used.extend(ours);
        }
    }
    let covered = item
        .unique
        .iter()
        .any(|key| key.iter().all(|column| used.contains(column)));
    if covered {
        return;
    }
    let help = match item.item.row_key.as_slice() {
        [] if item.is_table => "the table has no primary or unique key; the load will find rows with one key and reject them".to_owned(),
        [] => "say which columns tell its rows apart if you know: from: { sql: …, key: [column] }; the load will find rows with one key and reject them".to_owned(),
        columns => {
            let names: Vec<&str> = columns.iter().map(|(name, _)| name.as_ref()).collect();
            format!("put {} into the key; else the load will find rows with one key and reject them", names.join(", "))
        }
    };
    let span = item
        .spans
        .get(&table.partition.name)
        .cloned()
        .unwrap_or(item.name_span.clone());
    diagnostics.push(
        Diagnostic::new(
            Code::KeyNotUnique,
            span,
            format!("two rows of `{}` may have one key", item.item.name),
        )
        .with_help(help),
    );
}

/// The placeholders whose text can be told apart in what the template makes.
fn readable<'t>(template: &'t Template, nullable: &[usize]) -> Vec<&'t Placeholder> {
    let may_be_null = |placeholder: &Placeholder| {
        (nullable.contains(&placeholder.place.column) || !placeholder.place.path.is_empty())
            && !placeholder.filters.iter().any(replaces_null)
    };
    let (mut found, mut run) = (Vec::new(), Vec::new());
    let mut certain = true;
    for part in &template.parts {
        match part {
            Part::Optional(inner) => {
                certain &= !placeholders(inner).any(may_be_null);
                if certain {
                    for part in inner {
                        read(part, &mut run, &mut found);
                    }
                }
            }
            part => read(part, &mut run, &mut found),
        }
    }
    end(&mut run, &mut found);
    found
}

fn placeholders(parts: &[Part]) -> impl Iterator<Item = &Placeholder> {
    parts.iter().filter_map(|part| match part {
        Part::Value(placeholder) => Some(placeholder),
        _ => None,
    })
}

/// Takes a part in: a value goes to those that it stands side by side with, text ends them.
fn read<'t>(part: &'t Part, run: &mut Vec<&'t Placeholder>, found: &mut Vec<&'t Placeholder>) {
    match part {
        Part::Value(placeholder) => run.push(placeholder),
        _ => end(run, found),
    }
}

/// Of values side by side all can be read back if at most one has no width of its own.
fn end<'t>(run: &mut Vec<&'t Placeholder>, found: &mut Vec<&'t Placeholder>) {
    if run
        .iter()
        .filter(|placeholder| !has_width(placeholder))
        .count()
        <= 1
    {
        found.append(run);
    }
    run.clear();
}

/// Whether a value's text has one length, or says itself where it ends.
fn has_width(placeholder: &Placeholder) -> bool {
    match placeholder.filters.last() {
        None => placeholder.family == Family::Time,
        Some(filter) => matches!(
            filter,
            Filter::Pad { .. }
                | Filter::Desc { .. }
                | Filter::Ordered
                | Filter::Shard(_)
                | Filter::Date
                | Filter::Iso
                | Filter::Uuid { .. }
        ),
    }
}

/// Whether different values stay different.
fn is_injective(filter: &Filter) -> bool {
    matches!(
        filter,
        Filter::Pad { .. }
            | Filter::Ordered
            | Filter::Desc { .. }
            | Filter::Iso
            | Filter::Hex
            | Filter::Base64
            | Filter::Uuid { .. }
            | Filter::String
            | Filter::Pseudonym
    )
}
