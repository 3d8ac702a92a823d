//! Risks: what DynamoDB would let pass in silence, or serve slowly.

use std::sync::Arc;

use super::item::Resolved;
use super::keys::may_be_in;
use super::proofs::has_condition;
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::format::counted;
use crate::mapping::model::{KeyAttribute, Table, Template};
use crate::mapping::proof::fixed;
use crate::mapping::raw::Raw;

/// Write units a second that one partition key value takes (limits.md 26).
const PARTITION_WRITES: u32 = 1_000;

/// Tells of risks. Gives those that nobody need be told of while there are so few rows.
pub(super) fn check(
    raw: &Raw,
    table: &Table,
    resolved: &[Resolved],
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Diagnostic> {
    for item in resolved {
        nullable_key(item, table, diagnostics);
    }
    empty_indexes(raw, table, resolved, diagnostics);
    let (told, untold) = single_partitions(raw, table, resolved)
        .into_iter()
        .partition::<Vec<_>, _>(|(_, is_crowded)| *is_crowded);
    diagnostics.extend(told.into_iter().map(|(diagnostic, _)| diagnostic));
    untold
        .into_iter()
        .map(|(diagnostic, _)| diagnostic)
        .collect()
}

fn key_templates<'a>(
    item: &'a Resolved,
    table: &'a Table,
) -> impl Iterator<Item = (&'a Arc<str>, &'a Template)> {
    table
        .key()
        .filter_map(|key| Some((&key.name, item.subject().template(&key.name)?)))
}

fn nullable_key(item: &Resolved, table: &Table, diagnostics: &mut Vec<Diagnostic>) {
    if !item.is_table {
        return;
    }
    for (name, template) in key_templates(item, table) {
        for placeholder in template.mandatory() {
            let place = &placeholder.place;
            let may_be_null = !place.path.is_empty() || item.nullable.contains(&place.column);
            if may_be_null && !placeholder.replaces_null() {
                let message = format!(
                    "`{}` may be NULL, and then the row is rejected",
                    place.written
                );
                let help = "give it a `default(x)`, or leave such rows out: where: … IS NOT NULL";
                diagnostics.add(Code::NullableKey, item.place(name), message, help);
            }
        }
    }
}

fn empty_indexes(
    raw: &Raw,
    table: &Table,
    resolved: &[Resolved],
    diagnostics: &mut Vec<Diagnostic>,
) {
    // Of a faulty item type nothing can be said.
    if resolved.len() < raw.written.len() || raw.written.is_empty() {
        return;
    }
    let indexes = table.all_indexes();
    let written = raw.table.indexes.iter().chain(&raw.table.local_indexes);
    for (index, written) in indexes.zip(written) {
        if resolved.iter().any(|item| may_be_in(item, index)) {
            continue;
        }
        let message = format!(
            "no item type has the key of `{}`, so that the index stays empty",
            index.name
        );
        let help = "give an item type its key attributes, or take the index away";
        diagnostics.add(Code::EmptyIndex, written.name.span.clone(), message, help);
    }
}

/// The item types whose items share a partition key value, each with whether that is too much for it.
fn single_partitions(raw: &Raw, table: &Table, resolved: &[Resolved]) -> Vec<(Diagnostic, bool)> {
    let mut found = Vec::new();
    for (index, written) in table.indexes.iter().zip(&raw.table.indexes) {
        let within = resolved.iter().filter(|item| may_be_in(item, index));
        let single = single(within, &index.partition);
        let is_crowded = single.iter().any(|(.., is_crowded)| *is_crowded);
        let list: Vec<String> = single
            .iter()
            .filter(|(.., is_too)| *is_too == is_crowded)
            .map(|(item, value, _)| format!("{} under `{value}`", every(item, &index.partition)))
            .collect();
        if list.is_empty() {
            continue;
        }
        let told = Diagnostic::new(
            Code::SinglePartition,
            written.name.span.clone(),
            format!("in `{}` whole item types share one partition key value: {}", index.name, list.join(", ")),
        )
        .with_help(format!(
            "one value takes about {PARTITION_WRITES} write units a second, and an index that is throttled throttles the table: spread it with `shard(n)`, or leave the attribute out where no access pattern asks for it"
        ));
        found.push((told, is_crowded));
    }
    let own = std::slice::from_ref(&table.partition);
    for (item, value, is_crowded) in single(resolved.iter(), own) {
        if value.is_empty() {
            continue;
        }
        let told = Diagnostic::new(
            Code::SinglePartition,
            item.place(&table.partition.name),
            format!("{} stands under one partition key value", every(item, own)),
        )
        .with_help(format!("one value takes about {PARTITION_WRITES} write units a second: put a column into it, or spread it with `shard(n)`"));
        found.push((told, is_crowded));
    }
    found
}

/// How people call the items of a type that have a key.
fn every(item: &Resolved, partition: &[KeyAttribute]) -> String {
    let node = |key: &KeyAttribute| item.subject().node(&key.name);
    let is_sparse = partition.iter().filter_map(node).any(has_condition);
    let whose = if is_sparse {
        " whose `$when` holds"
    } else {
        ""
    };
    let rows = item
        .rows
        .map(|rows| format!(" (about {})", counted(rows, "row")));
    format!(
        "every {}{whose}{}",
        item.item.name,
        rows.unwrap_or_default()
    )
}

/// The item types with one value for a partition key, that value, and whether it gets more rows, or
/// more writes in production, than one partition takes within a second.
fn single<'r>(
    within: impl Iterator<Item = &'r Resolved>,
    partition: &[KeyAttribute],
) -> Vec<(&'r Resolved, String, bool)> {
    // A multi-attribute key has one value only if all of its parts have.
    let one = |item: &'r Resolved| {
        let values = partition.iter().map(|key| fixed(item.subject(), &key.name));
        let values: Option<Vec<String>> = values.collect();
        Some((item, values?.join(" / ")))
    };
    let single: Vec<(&Resolved, String)> = within.filter_map(one).collect();
    let is_crowded = |value: &str| {
        let together = single.iter().filter(|(_, other)| other == value);
        let rows = together
            .clone()
            .map(|(item, _)| item.rows.unwrap_or(u64::MAX));
        let rate = together.filter_map(|(item, _)| item.item.write_rate);
        rows.fold(0, u64::saturating_add) > u64::from(PARTITION_WRITES)
            || rate.sum::<f64>() > f64::from(PARTITION_WRITES)
    };
    let judged = single.iter();
    judged
        .map(|(item, value)| (*item, value.clone(), is_crowded(value)))
        .collect()
}
