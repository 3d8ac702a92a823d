//! What two mappings change.

use std::path::Path;

use super::section;
use crate::cli::format::{count, counted, float, one_line, text_if};
use crate::dynamodb::price::{Prices, Rates, monthly};
use crate::mapping::diff::{
    Change, ChangeKind, IndexDiff, ItemTypeDiff, MappingDiff, Migration, MigrationAction,
    MigrationStep, StaleItems, UnitRange,
};

/// What two mappings change, and what a migration between them takes.
pub(in crate::cli) fn difference(
    diff: &MappingDiff,
    (old, new): (&Path, &Path),
    prices: &Prices,
) -> String {
    if diff.is_empty() {
        return format!(
            "{} and {} make the same table, items and answers",
            old.display(),
            new.display()
        );
    }
    let mut out = vec![format!("from {} to {}", old.display(), new.display())];
    section(
        "table",
        diff.table.iter().map(|one| format!("~ {}", change(one))),
        &mut out,
    );
    let indexes = diff.indexes.iter();
    let indexes = indexes.map(|one| (one.change, one.index.as_str(), index(one)));
    section("indexes", named(indexes), &mut out);
    let item_types = diff.item_types.iter();
    let types = item_types.map(|one| (one.change, one.item_type.as_str(), item_type(one)));
    section("item types", named(types), &mut out);
    let patterns = diff.patterns.iter().map(|one| {
        let name = one.pattern.as_str();
        (one.change, name, entry(one.change, name, &one.changes))
    });
    section("access patterns", named(patterns), &mut out);
    section("cost", rates(diff, prices), &mut out);
    migration(diff, prices, &mut out);
    out.join("\n")
}

/// Those that change, each by itself, then the names of the others. Each has its kind, its name and its entry.
fn named<'n>(all: impl Iterator<Item = (ChangeKind, &'n str, String)>) -> Vec<String> {
    let (same, changed): (Vec<_>, Vec<_>) = all.partition(|one| one.0 == ChangeKind::Same);
    let mut entries: Vec<String> = changed.into_iter().map(|(_, _, entry)| entry).collect();
    let same: Vec<&str> = same.into_iter().map(|(_, name, _)| name).collect();
    if !same.is_empty() {
        entries.push(format!("= {}", same.join(", ")));
    }
    entries
}

fn sign(change: ChangeKind) -> char {
    match change {
        ChangeKind::Added => '+',
        ChangeKind::Removed => '-',
        ChangeKind::Changed => '~',
        ChangeKind::Same => '=',
    }
}

/// Something with its changes below it; of what is removed its name says it all.
fn entry<'c>(
    kind: ChangeKind,
    name: &str,
    changes: impl IntoIterator<Item = &'c Change>,
) -> String {
    let mut out = format!("{} {name}", sign(kind));
    for one in changes.into_iter().filter(|_| kind != ChangeKind::Removed) {
        out.push_str(&format!("\n    {}", change(one)));
    }
    out
}

fn change(change: &Change) -> String {
    let what = &change.what;
    match (change.before.as_deref(), change.after.as_deref()) {
        (Some(before), Some(after)) if before == after => {
            format!(
                "{what}: {}: the text is the same, but a parent, column type, time zone or index behind it differs",
                one_line(after)
            )
        }
        (Some(before), Some(after)) => {
            format!("{what}: {} -> {}", one_line(before), one_line(after))
        }
        (Some(before), None) => format!("{what}: {} -> none", one_line(before)),
        (None, Some(after)) => format!("{what}: {}", one_line(after)),
        (None, None) => format!("{what} is written differently"),
    }
}

fn index(index: &IndexDiff) -> String {
    let mut out = entry(index.change, &index.index, &index.changes);
    if index.change == ChangeKind::Added && !index.holds.is_empty() {
        out.push_str(&format!("\n    items of: {}", index.holds.join(", ")));
    }
    out
}

fn item_type(diff: &ItemTypeDiff) -> String {
    let marked = |change: &Change| match (diff.change, &change.before, &change.after) {
        (ChangeKind::Changed, None, Some(_)) => "+ ",
        (ChangeKind::Changed, Some(_), None) => "- ",
        (ChangeKind::Changed, _, _) => "~ ",
        _ => "",
    };
    let mut out = format!("{} {}", sign(diff.change), diff.item_type);
    if diff.change == ChangeKind::Removed {
        return out;
    }
    let all = [&diff.rows, &diff.keys, &diff.attributes, &diff.others];
    for one in all.into_iter().flatten() {
        let text = match (diff.change, &one.before, &one.after) {
            (ChangeKind::Changed, Some(before), None) => {
                format!("{}: {}", one.what, one_line(before))
            }
            _ => change(one),
        };
        out.push_str(&format!("\n    {}{text}", marked(one)));
    }
    let units = |units: Option<UnitRange>| units.map(range);
    let (before, after) = (units(diff.units_before), units(diff.units_after));
    if before != after
        && let Some(after) = after
    {
        let before = before.map_or_else(String::new, |before| format!("{before} -> "));
        out.push_str(&format!("\n    write units of one item: {before}{after}"));
    }
    out
}

fn range(units: UnitRange) -> String {
    match units.most {
        Some(most) if most == units.least => count(most),
        Some(most) => format!("{} to {}", count(units.least), count(most)),
        None => format!("{} or more", count(units.least)),
    }
}

/// What the rates of the mappings cost, where that changes.
fn rates(diff: &MappingDiff, prices: &Prices) -> Option<String> {
    if diff.rates_before == diff.rates_after {
        return None;
    }
    let cost = |rates: Option<Rates>| match rates {
        None => "no rates".to_owned(),
        Some(rates) => {
            let usd = monthly(rates, prices).on_demand_usd;
            usd.map_or_else(|| "no price".to_owned(), |usd| format!("{usd:.2} USD"))
        }
    };
    Some(format!(
        "the rates of item types and access patterns, on demand for a month, at least: {} -> {} ({})",
        cost(diff.rates_before),
        cost(diff.rates_after),
        prices.dated_source()
    ))
}

fn migration(diff: &MappingDiff, prices: &Prices, out: &mut Vec<String>) {
    let Migration {
        new_table,
        steps,
        options,
        write_units,
    } = &diff.migration;
    let mut lines: Vec<String> = steps.iter().map(step).collect();
    if let Some(why) = new_table {
        lines.insert(0, format!("{why}: all items are written into a new table"));
    } else {
        lines.extend(kept_settings(diff));
        lines.extend(diff.indexes.iter().filter_map(index_step));
    }
    section("to change a table loaded with the old mapping", lines, out);
    let Some(options) = options else { return };
    out.push(String::new());
    let options = match options.as_slice() {
        [] => String::new(),
        options => format!(" and {}", options.join(" ")),
    };
    let changes =
        |index: &IndexDiff| index.change == ChangeKind::Changed && index_step(index).is_some();
    let once = text_if(
        new_table.is_none() && diff.indexes.iter().any(changes),
        ", once the indexes that change are deleted",
    );
    out.push(format!(
        "`migrate` with the new mapping{options} does this{once}"
    ));
    match write_units {
        Some(units) => out.push(format!(
            "about {} write units if all of these items are written or deleted: {} (row counts from the catalog, item sizes within what the schema allows, {})",
            range(*units),
            money(*units, prices),
            prices.dated_source()
        )),
        None => out.push("its cost is not known: the catalog does not count all rows".to_owned()),
    }
}

/// What units cost on demand.
fn money(units: UnitRange, prices: &Prices) -> String {
    let usd = |units: u64| prices.writes(float(units)).map(|usd| format!("{usd:.2}"));
    match (usd(units.least), units.most.map(usd)) {
        (None, _) => "no price is known".to_owned(),
        (Some(least), Some(Some(most))) if least == most => format!("{least} USD on demand"),
        (Some(least), Some(Some(most))) => format!("{least} to {most} USD on demand"),
        (Some(least), _) => format!("at least {least} USD on demand"),
    }
}

fn step(step: &MigrationStep) -> String {
    let items = |items: Option<u64>| match items {
        Some(items) => format!("about {}", counted(items, "item")),
        None => "all items".to_owned(),
    };
    let done = match step.action {
        MigrationAction::Keep => "every row makes the same item: nothing is written".to_owned(),
        MigrationAction::Write => format!("{} to write", items(step.write)),
        MigrationAction::Rekey => format!(
            "{} to write, because the key is made differently",
            items(step.write)
        ),
        MigrationAction::Update if !step.rivals.is_empty() => format!(
            "{} to write, except those that do not change, because changed item types may make equal keys: {}",
            items(step.write),
            step.rivals.join(", ")
        ),
        MigrationAction::Update => format!(
            "{} to write again under the same keys, except those that do not change",
            items(step.write)
        ),
        MigrationAction::Remove => match &step.overwritten_by {
            Some(other) => format!(
                "items of {other} overwrite its items: it makes the same keys of the same rows"
            ),
            None => format!("{} of a removed item type", items(step.stale)),
        },
    };
    let stale = match (step.action, step.stale_items) {
        (_, StaleItems::None | StaleItems::WithTable) => String::new(),
        (MigrationAction::Remove, _) => {
            format!(": unless overwritten, {}", after_stale(step))
        }
        (MigrationAction::Rekey, _) => format!(
            "; {} have the old keys; if no row makes them any more, {}",
            items(step.stale),
            after_stale(step)
        ),
        _ => format!(
            "; items of rows that are not read any more: {}",
            after_stale(step)
        ),
    };
    let expired = text_if(
        step.expired_stay && step.action != MigrationAction::Keep,
        "; items of expired rows stay: the load does not touch them, and DynamoDB deletes only those whose TTL has expired",
    );
    let rejected = text_if(
        step.rejected_stay,
        "; if rows are rejected now, their old items may stay",
    );
    format!("{}: {done}{stale}{expired}{rejected}", step.item_type)
}

/// What becomes of stale items.
fn after_stale(step: &MigrationStep) -> String {
    let prune = step.prune.unwrap_or_default();
    match step.stale_items {
        StaleItems::Deleted => format!("{prune} deletes them"),
        StaleItems::DeletedByForm => format!(
            "{prune} deletes the ones whose keys only the templates of the new mapping can make; the others stay"
        ),
        StaleItems::Stay | StaleItems::None | StaleItems::WithTable => {
            "they stay, because the new mapping does not recognise them".to_owned()
        }
    }
}

/// What changes of the table itself and stays as it is.
fn kept_settings(diff: &MappingDiff) -> Option<String> {
    // A time zone is of items, and the others are not the table's own.
    let is_own = |what: &&str| !["time_zone", "roll_up", "backups"].contains(what);
    let changed = diff.table.iter().map(|change| change.what.as_str());
    let names: Vec<&str> = changed.filter(is_own).collect();
    (!names.is_empty()).then(|| {
        format!(
            "{}: `migrate` does not change this in an existing table",
            names.join(", ")
        )
    })
}

fn index_step(index: &IndexDiff) -> Option<String> {
    let name = &index.index;
    let is_same_index = index.changes.iter().all(|change| change.what == "capacity");
    Some(match index.change {
        ChangeKind::Added if index.holds.is_empty() => {
            format!("index {name}: `migrate --changes-only` adds it")
        }
        ChangeKind::Added => format!(
            "index {name}: `migrate --changes-only` adds it, for the items of {} that have its key",
            index.holds.join(", ")
        ),
        ChangeKind::Removed => format!("index {name}: stays until you delete it"),
        ChangeKind::Changed if !is_same_index => format!(
            "index {name}: delete it, because its key and what it holds cannot be changed; `migrate` then adds it again"
        ),
        ChangeKind::Changed | ChangeKind::Same => return None,
    })
}
