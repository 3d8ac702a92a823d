//! Risks: what DynamoDB would let pass in silence, or serve slowly.

use dynafold_dynamodb::price::PARTITION_WRITES;
use dynafold_dynamodb::{KeyAttribute, Table};
use dynafold_format::{counted, float};

use super::keys::may_be_in;
use super::proofs::has_condition;
use super::{ResolvedItem, ResolvedMapping};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::proof::fixed;

/// Tells of risks. Gives those that nobody need be told of while there are so few rows.
pub(super) fn check(whole: &ResolvedMapping<'_>) -> Vec<Diagnostic> {
    let diagnostics = whole.diagnostics;
    for item in whole.resolved.iter().filter(|item| item.is_table) {
        nullable_key(item, whole.table, diagnostics);
    }
    empty_indexes(whole, diagnostics);
    let mut unreported = Vec::new();
    for (risk, is_crowded) in single_partitions(whole) {
        if is_crowded {
            diagnostics.push(risk);
        } else {
            unreported.push(risk);
        }
    }
    unreported
}

fn nullable_key(item: &ResolvedItem, table: &Table, diagnostics: &Diagnostics) {
    for key in table.key() {
        let template = item.item.template(&key.name);
        for placeholder in template.iter().flat_map(|template| template.mandatory()) {
            let place = &placeholder.place;
            let may_be_null = !place.path.is_empty() || item.nullable.contains(&place.column);
            if may_be_null && !placeholder.replaces_null() {
                let message = format!(
                    "`{}` may be NULL, and then the row is rejected",
                    place.written
                );
                let help = "give it a `default(x)`, or leave such rows out: where: … IS NOT NULL";
                diagnostics.add(Code::NullableKey, item.place(&key.name), message, help);
            }
        }
    }
}

fn empty_indexes(whole: &ResolvedMapping<'_>, diagnostics: &Diagnostics) {
    if !whole.is_complete() || whole.resolved.is_empty() {
        return;
    }
    let raw = &whole.raw.table;
    let written = raw.indexes.iter().chain(&raw.local_indexes);
    for (index, written) in whole.table.all_indexes().zip(written) {
        if whole.resolved.iter().any(|item| may_be_in(item, index)) {
            continue;
        }
        let message = format!(
            "no item type has the key of `{}`, so the index stays empty",
            index.name
        );
        let help = "give an item type its key attributes, or remove the index";
        diagnostics.add(Code::EmptyIndex, written.name.span.clone(), message, help);
    }
}

/// The item types whose items share a partition key value, each with whether that is too much for it.
fn single_partitions(whole: &ResolvedMapping<'_>) -> Vec<(Diagnostic, bool)> {
    let mut found = Vec::new();
    let table = whole.table;
    for (index, written) in table.indexes.iter().zip(&whole.raw.table.indexes) {
        let within = whole.resolved.iter().filter(|item| may_be_in(item, index));
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
        let message = format!(
            "in `{}` whole item types share one partition key value: {}",
            index.name,
            list.join(", ")
        );
        let help = format!(
            "one value takes about {PARTITION_WRITES} write units a second, and an index that is throttled throttles the table: spread it with `shard(n)`, or leave the attribute out where no access pattern asks for it"
        );
        let span = written.name.span.clone();
        let risk = Diagnostic::new(Code::SinglePartition, span, message);
        found.push((risk.with_help(help), is_crowded));
    }
    let own = std::slice::from_ref(&table.partition);
    for (item, value, is_crowded) in single(whole.resolved.iter(), own) {
        if value.is_empty() {
            continue;
        }
        let message = format!("{} has the same partition key value", every(item, own));
        let help = format!(
            "one value takes about {PARTITION_WRITES} write units a second: put a column into it, or spread it with `shard(n)`"
        );
        let span = item.place(&table.partition.name);
        let risk = Diagnostic::new(Code::SinglePartition, span, message);
        found.push((risk.with_help(help), is_crowded));
    }
    found
}

/// How people call the items of a type that have a key.
fn every(item: &ResolvedItem, partition: &[KeyAttribute]) -> String {
    let node = |key: &KeyAttribute| item.item.node(&key.name);
    let is_sparse = partition.iter().filter_map(node).any(has_condition);
    let (whose, of) = if is_sparse {
        (" whose `$when` holds", "of ")
    } else {
        ("", "")
    };
    let rows = item
        .rows
        .map(|rows| format!(" ({of}about {})", counted(rows, "row")));
    format!(
        "every {}{whose}{}",
        item.item.name,
        rows.unwrap_or_default()
    )
}

/// The item types with one value for a partition key, that value, and whether it gets more rows, or
/// more writes in production, than one partition takes within a second.
fn single<'r>(
    within: impl Iterator<Item = &'r ResolvedItem>,
    partition: &[KeyAttribute],
) -> Vec<(&'r ResolvedItem, String, bool)> {
    if partition.is_empty() {
        return Vec::new();
    }
    let one = |item: &'r ResolvedItem| Some((item, fixed(&item.item, partition)?));
    let single: Vec<(&ResolvedItem, String)> = within.filter_map(one).collect();
    let is_crowded = |value: &str| {
        let together = single.iter().filter(|(_, other)| other == value);
        let rows = together
            .clone()
            .map(|(item, _)| item.rows.unwrap_or(u64::MAX));
        let rate = together.filter_map(|(item, _)| item.item.write_rate);
        float(rows.fold(0, u64::saturating_add)) > PARTITION_WRITES
            || rate.sum::<f64>() > PARTITION_WRITES
    };
    let judged = single.iter();
    judged
        .map(|(item, value)| (*item, value.clone(), is_crowded(value)))
        .collect()
}
