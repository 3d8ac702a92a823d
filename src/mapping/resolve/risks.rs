//! Risks: what DynamoDB would let pass in silence, or serve slowly.

use std::sync::Arc;

use super::item::Resolved;
use super::keys::{may_be_in, node};
use crate::diagnostic::{Code, Diagnostic};
use crate::item::Attribute;
use crate::mapping::model::{Node, Table, Template};
use crate::mapping::raw::Raw;
use crate::mapping::template::Filter;

/// Write units a second that one partition key value takes (limits.md 26).
const PARTITION_WRITES: u32 = 1_000;

pub(super) fn check(
    raw: &Raw,
    table: &Table,
    resolved: &[Resolved],
    diagnostics: &mut Vec<Diagnostic>,
) {
    for item in resolved {
        nullable_key(item, table, diagnostics);
    }
    single_partitions(raw, table, resolved, diagnostics);
}

fn template<'a>(item: &'a Resolved, name: &str) -> Option<&'a Template> {
    match node(item, name) {
        Some(Node::Template(template)) => Some(template),
        _ => None,
    }
}

/// The one value that an attribute has in every item, if it has one.
fn fixed(item: &Resolved, name: &str) -> Option<String> {
    match node(item, name)? {
        Node::Template(template) => match template.prefix() {
            (text, true) => Some(text.to_owned()),
            _ => None,
        },
        Node::Constant(Attribute::N(number)) => Some(number.to_string()),
        _ => None,
    }
}

fn key_templates<'a>(
    item: &'a Resolved,
    table: &'a Table,
) -> impl Iterator<Item = (&'a Arc<str>, &'a Template)> {
    let keys = std::iter::once(&table.partition).chain(&table.sort);
    keys.filter_map(|key| Some((&key.name, template(item, &key.name)?)))
}

fn nullable_key(item: &Resolved, table: &Table, diagnostics: &mut Vec<Diagnostic>) {
    if !item.is_table {
        return;
    }
    for (name, template) in key_templates(item, table) {
        for placeholder in template.mandatory() {
            let place = &placeholder.place;
            let may_be_null = !place.path.is_empty() || item.nullable.contains(&place.column);
            let mended = placeholder.filters.iter().any(replaces_null);
            if may_be_null && !mended {
                let span = item
                    .spans
                    .get(name)
                    .cloned()
                    .unwrap_or(item.name_span.clone());
                diagnostics.push(
                    Diagnostic::new(
                        Code::NullableKey,
                        span,
                        format!(
                            "`{}` may be NULL, and then the row is rejected",
                            place.written
                        ),
                    )
                    .with_help(
                        "give it a `default(x)`, or leave such rows out: where: … IS NOT NULL",
                    ),
                );
            }
        }
    }
}

pub(super) fn replaces_null(filter: &Filter) -> bool {
    matches!(filter, Filter::Default(_) | Filter::Present { .. })
}

fn single_partitions(
    raw: &Raw,
    table: &Table,
    resolved: &[Resolved],
    diagnostics: &mut Vec<Diagnostic>,
) {
    for (index, written) in table.indexes.iter().zip(&raw.table.indexes) {
        let within: Vec<&Resolved> = resolved
            .iter()
            .filter(|item| may_be_in(item, index))
            .collect();
        if within.is_empty() && resolved.len() == raw.items.len() {
            diagnostics.push(
                Diagnostic::new(
                    Code::EmptyIndex,
                    written.name.span.clone(),
                    format!(
                        "no item type has the key of `{}`, so that the index stays empty",
                        index.name
                    ),
                )
                .with_help("give an item type its key attributes, or take the index away"),
            );
        }
        // One value of a multi-attribute key is a partition of its own only if all parts are fixed.
        let fixed: Vec<(&str, String)> = within
            .iter()
            .filter_map(|item| {
                let values = index.partition.iter().map(|key| fixed(item, &key.name));
                let values: Option<Vec<String>> = values.collect();
                Some((item.item.name.as_ref(), values?.join(" / ")))
            })
            .collect();
        if fixed.is_empty() {
            continue;
        }
        let list: Vec<String> = fixed
            .iter()
            .map(|(name, value)| format!("every {name} under `{value}`"))
            .collect();
        diagnostics.push(
            Diagnostic::new(
                Code::SinglePartition,
                written.name.span.clone(),
                format!("in `{}` whole item types share one partition key value: {}", index.name, list.join(", ")),
            )
            .with_help(format!(
                "one value takes about {PARTITION_WRITES} write units a second, and an index that is throttled throttles the table: spread it with `shard(n)`, or leave the attribute out where no access pattern asks for it"
            )),
        );
    }
    for item in resolved {
        if fixed(item, &table.partition.name).is_some_and(|value| !value.is_empty()) {
            let span = item
                .spans
                .get(&table.partition.name)
                .cloned()
                .unwrap_or(item.name_span.clone());
            diagnostics.push(
                Diagnostic::new(
                    Code::SinglePartition,
                    span,
                    format!("all items of `{}` share one partition key value", item.item.name),
                )
                .with_help(format!("one value takes about {PARTITION_WRITES} write units a second: put a column into it, or spread it with `shard(n)`")),
            );
        }
    }
}
