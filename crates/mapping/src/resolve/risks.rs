//! Risks: what DynamoDB would let pass in silence, or serve slowly.

use dynafold_dynamodb::KeyAttribute;
use dynafold_dynamodb::price::PARTITION_WRITES;
use dynafold_format::{counted, float};

use super::keys::may_be_in;
use super::pass::row_security;
use super::proofs::has_condition;
use super::rates::shards_for;
use super::{ResolvedItem, ResolvedMapping};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::proof::fixed;

/// Tells of risks. Gives those that nobody need be told of while there are so few rows.
pub(super) fn check(whole: &ResolvedMapping<'_>) -> Vec<Diagnostic> {
    let diagnostics = whole.diagnostics;
    for item in whole.resolved {
        hidden_rows(whole, item);
    }
    for item in whole.resolved.iter().filter(|item| item.is_table) {
        nullable_key(whole, item);
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

fn hidden_rows(whole: &ResolvedMapping<'_>, item: &ResolvedItem) {
    let scan = whole.passes.so_far(item.item.pass);
    let tables = scan.map_or_else(Vec::new, |scan| row_security(scan, whole.catalog));
    if tables.is_empty() {
        return;
    }
    let message = format!(
        "row security may hide rows of {} from this user, and items are made without them",
        tables.join(", ")
    );
    let help = "read as a user who sees all rows, such as one with BYPASSRLS; instead of a view that shows what its owner sees, read its tables; if no item needs the hidden rows: accept: [hidden-rows]";
    let place = item.name_span.clone();
    (whole.diagnostics).add(Code::HiddenRows, place, message, help);
}

fn nullable_key(whole: &ResolvedMapping<'_>, item: &ResolvedItem) {
    let scan = whole.passes.so_far(item.item.pass);
    let table = scan.and_then(|scan| whole.catalog.table(scan.from.table()?));
    // A row with NULL in its primary key is not expected, but SQLite lets it in.
    let is_nullable = |column: usize| {
        let name = scan.and_then(|scan| scan.own_column(column));
        let column = table.zip(name).and_then(|(table, name)| table.column(name));
        column.is_some_and(|column| column.nullable)
    };
    for key in whole.table.key() {
        let template = item.item.template(&key.name);
        for placeholder in template.iter().flat_map(|template| template.mandatory()) {
            let place = &placeholder.place;
            let is_left_out = item.not_null.contains(&place.column);
            let may_be_null = !place.path.is_empty()
                || !is_left_out
                    && (item.nullable.contains(&place.column) || is_nullable(place.column));
            if may_be_null && !placeholder.replaces_null() {
                let message = format!(
                    "`{}` may be NULL, and then the row is rejected",
                    place.written
                );
                let help = "give it a `default(x)`, or leave such rows out: where: … IS NOT NULL";
                let place = item.place(&key.name);
                (whole.diagnostics).add(Code::NullableKey, place, message, help);
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
        let is_crowded = single.iter().any(|shared| shared.is_crowded);
        let named = single.iter();
        let named = named.filter(|shared| shared.is_crowded == is_crowded);
        let writes = named.clone().map(|shared| shared.writes);
        let shards = shards(writes.fold(0.0, f64::max));
        let list: Vec<String> = named
            .map(|SharedValue { item, value, .. }| {
                format!("{} under `{value}`", every(item, &index.partition))
            })
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
            "one partition key value accepts about {PARTITION_WRITES} write units a second, and an index that is throttled throttles the table: spread it with {shards}, or leave the attribute out where no access pattern asks for it"
        );
        let span = written.name.span.clone();
        let risk = Diagnostic::new(Code::SinglePartition, span, message);
        found.push((risk.with_help(help), is_crowded));
    }
    let own = std::slice::from_ref(&table.partition);
    for shared in single(whole.resolved.iter(), own) {
        if shared.value.is_empty() {
            continue;
        }
        let (item, shards) = (shared.item, shards(shared.writes));
        let message = format!("{} has the same partition key value", every(item, own));
        let help = format!(
            "one partition key value accepts about {PARTITION_WRITES} write units a second: put a column into the key, or spread it with {shards}"
        );
        let span = item.place(&table.partition.name);
        let risk = Diagnostic::new(Code::SinglePartition, span, message);
        found.push((risk.with_help(help), shared.is_crowded));
    }
    found
}

/// The filter that spreads so many writes a second; without its number where they need none.
fn shards(writes: f64) -> String {
    let shards = shards_for(writes).filter(|shards| *shards > 1);
    shards.map_or_else(
        || "`shard(n)`".to_owned(),
        |shards| format!("`shard({shards})`"),
    )
}

/// How people call the items of a type that have a key.
fn every(item: &ResolvedItem, partition: &[KeyAttribute]) -> String {
    let node = |key: &KeyAttribute| item.item.node(&key.name);
    let is_sparse = partition.iter().filter_map(node).any(has_condition);
    let (whose, of) = match (item.item.condition.is_some(), is_sparse) {
        (true, true) => (" whose row meets `where` and `$when`", "of "),
        (true, false) => (" whose row meets `where`", "of "),
        (false, true) => (" whose row meets `$when`", "of "),
        (false, false) => ("", ""),
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

/// An item type with one value for a partition key.
struct SharedValue<'r> {
    item: &'r ResolvedItem,
    value: String,
    /// Writes a second in production of all item types with the value.
    writes: f64,
    /// Whether it gets more rows or writes than one partition takes within a second.
    is_crowded: bool,
}

/// The item types with one value for a partition key.
fn single<'r>(
    within: impl Iterator<Item = &'r ResolvedItem>,
    partition: &[KeyAttribute],
) -> Vec<SharedValue<'r>> {
    if partition.is_empty() {
        return Vec::new();
    }
    let one = |item: &'r ResolvedItem| Some((item, fixed(&item.item, partition)?));
    let single: Vec<(&ResolvedItem, String)> = within.filter_map(one).collect();
    let shared = |(item, value): &(&'r ResolvedItem, String)| {
        let together = single.iter().filter(|(_, other)| other == value);
        let rows = together
            .clone()
            .map(|(item, _)| item.rows.unwrap_or(u64::MAX));
        let rates = together.filter_map(|(item, _)| item.item.write_rate);
        let writes: f64 = rates.sum();
        let is_crowded = float(rows.fold(0, u64::saturating_add)) > PARTITION_WRITES
            || writes > PARTITION_WRITES;
        SharedValue {
            item,
            value: value.clone(),
            writes,
            is_crowded,
        }
    };
    single.iter().map(shared).collect()
}
