//! What a full load selects from its source, and what a later one may delete by it.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::catalog::{Catalog, TableKind};
use crate::cli::args::Migrate;
use crate::cli::failure::Failure;
use crate::cli::output::Output;
use crate::load::Prune;
use crate::load::state::Ground;
use crate::mapping::model::{ItemType, Model, Node, Part};
use crate::source::Relation;

/// What a full load selects from its source, and how it makes its keys; each by item type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Selected {
    rows: BTreeMap<String, Rows>,
    /// The key templates, as text that is the same for the same keys.
    keys: BTreeMap<String, Vec<String>>,
}

/// The rows of an item type. Passes share conditions, so that theirs would not tell which item type
/// has which.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Rows {
    /// The relation, or its SQL, and the arrays whose elements are items. `None`: not known.
    from: Option<Vec<String>>,
    condition: Option<String>,
}

impl Selected {
    pub(super) fn of(model: &Model) -> Self {
        let all = || model.item_types.iter();
        let name = |item: &ItemType| item.name.to_string();
        Self {
            rows: all()
                .map(|item| (name(item), Rows::of(model, item)))
                .collect(),
            keys: all()
                .map(|item| (name(item), templates(model, item)))
                .collect(),
        }
    }

    pub(super) fn json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Whether any rows are left out.
    fn filters(&self) -> bool {
        self.rows.values().any(|rows| rows.condition.is_some())
    }

    /// Whether every item type has the condition that it had.
    fn has_conditions_of(&self, last: &Self) -> bool {
        self.rows.iter().all(|(name, now)| {
            let then = last.rows.get(name);
            then.is_some_and(|then| then.condition == now.condition)
        })
    }

    /// The item types whose rows may be fewer than those that their items were made from, because they
    /// are read from something else; where that is not known, from something that may select.
    fn read_elsewhere(
        &self,
        last: Option<&Self>,
        model: &Model,
        catalog: &Catalog,
    ) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        for item in &model.item_types {
            let Some(now) = self.rows.get(&*item.name) else {
                continue;
            };
            let then = last.and_then(|last| last.rows.get(&*item.name));
            let spared = match then.and_then(|then| then.from.as_ref()) {
                Some(then) => now.from.as_ref() != Some(then),
                None => selects(model, item, catalog),
            };
            if spared {
                found.insert(item.name.to_string());
            }
        }
        found
    }

    /// The item types that make other keys than they did.
    fn made_otherwise(&self, last: &Self) -> Vec<&str> {
        let keys = self.keys.iter();
        keys.filter(|(name, keys)| last.keys.get(*name).is_some_and(|then| then != *keys))
            .map(|(name, _)| name.as_str())
            .collect()
    }
}

impl Rows {
    fn of(model: &Model, item: &ItemType) -> Self {
        let scan = model.passes.get(item.pass).map(|pass| &pass.scan);
        let relation = scan.map(|scan| match &scan.from {
            Relation::Table(name) => format!("table {name:?}"),
            Relation::Query(sql) => format!("query {sql}"),
        });
        let arrays = item.explodes.iter();
        let arrays = arrays.map(|explode| explode.array.written.to_string());
        // Conditions come behind the columns in a row.
        let condition = scan.zip(item.condition).and_then(|(scan, at)| {
            let at = at.checked_sub(scan.columns.len())?;
            scan.conditions.get(at).cloned()
        });
        Self {
            from: Some(relation.into_iter().chain(arrays).collect()),
            condition,
        }
    }
}

/// Whether what an item type is read from may itself be a selection: a query, or a view.
fn selects(model: &Model, item: &ItemType, catalog: &Catalog) -> bool {
    let pass = model.passes.get(item.pass);
    pass.is_none_or(|pass| match &pass.scan.from {
        Relation::Query(_) => true,
        Relation::Table(name) => {
            let mut tables = catalog.tables.iter();
            tables.any(|table| {
                table.name == *name
                    && matches!(table.kind, TableKind::View | TableKind::MaterializedView)
            })
        }
    })
}

/// Which items a run that prunes may delete.
pub(super) fn prune(
    arguments: &Migrate,
    last: Option<&Selected>,
    now: &Selected,
    (model, catalog): (&Model, &Catalog),
    held: Ground,
    output: &Output,
) -> Option<Prune> {
    if !arguments.prune {
        return None;
    }
    let same = last.is_some_and(|last| now.has_conditions_of(last));
    let mut spared = now.read_elsewhere(last, model, catalog);
    spared.retain(|name| arguments.items.is_empty() || arguments.items.contains(name));
    if held == Ground::Empty {
        return Some(Prune {
            keep_filtered: !same,
            spared,
        });
    }
    if !same && now.filters() {
        let (why, how) = match last {
            Some(_) => (
                "the conditions of the mapping are not those of the last full load",
                "; a load without --prune makes these the conditions to go by",
            ),
            None => ("no earlier full load is known here", ""),
        };
        output.note(&format!(
            "{why}: items of rows that `where` leaves out are not deleted, only those whose rows are gone{how}"
        ));
    }
    for name in &spared {
        let why = match last {
            Some(_) => "what its rows are read from is not that of the last full load",
            None => {
                "its rows are read from a query or a view, and no earlier full load is known here"
            }
        };
        output.note(&format!(
            "{name}: no items are deleted, because {why}: rows that it leaves out may be there still; a load without --prune makes it the one to go by"
        ));
    }
    Some(Prune {
        keep_filtered: !same,
        spared,
    })
}

/// What is remembered of a full load. What it has not deleted by does not take the place of what
/// was known before: the next load must not delete by it either.
pub(super) fn remembered(
    prune: Option<&Prune>,
    last: Option<&Selected>,
    mut now: Selected,
    held: Ground,
) -> Selected {
    let Some(prune) = prune.filter(|_| held == Ground::Held) else {
        return now;
    };
    for name in &prune.spared {
        if let Some(rows) = now.rows.get_mut(name) {
            let then = last.and_then(|last| last.rows.get(name));
            rows.from = then.and_then(|then| then.from.clone());
        }
    }
    let Some(last) = last else {
        return now;
    };
    now.rows.retain(|name, rows| {
        let withheld = prune.keep_filtered && rows.condition.is_some();
        let then = last.rows.get(name);
        if let Some(then) = then.filter(|_| withheld) {
            rows.condition.clone_from(&then.condition);
        }
        then.is_some() || !withheld
    });
    // Those of item types that are not in the mapping now may come back.
    for (name, rows) in &last.rows {
        now.rows.entry(name.clone()).or_insert_with(|| rows.clone());
    }
    now
}

/// Refuses to load single rows where the items of the others have other keys than they would have
/// now.
pub(super) fn same_keys(
    arguments: &Migrate,
    last: Option<&Selected>,
    now: &Selected,
    output: &Output,
) -> Result<(), Failure> {
    if arguments.retry_rejects.is_none() {
        return Ok(());
    }
    let Some(last) = last else {
        output.note(
            "no earlier full load is known here: whether the keys of the items that it loaded are made as they were cannot be told",
        );
        return Ok(());
    };
    let changed = now.made_otherwise(last);
    if changed.is_empty() {
        return Ok(());
    }
    let message = format!(
        "the keys of {} are not made as they were in the last full load: the items that it loaded have the old ones",
        changed.join(", ")
    );
    Err(Failure::failed(message).with_help(
        "load everything again: --replace empties the table first, --changes-only with --prune deletes the items with old keys",
    ))
}

fn templates(model: &Model, item: &ItemType) -> Vec<String> {
    let table = &model.table;
    let keys = std::iter::once(&table.partition).chain(&table.sort);
    let template = |name: &str| {
        let mut attributes = item.attributes.iter();
        match attributes.find(|(other, _)| &**other == name) {
            Some((_, Node::Template(template))) => parts(&template.parts),
            other => format!("{other:?}"),
        }
    };
    keys.map(|key| template(&key.name)).collect()
}

fn parts(all: &[Part]) -> String {
    let part = |part: &Part| match part {
        Part::Text(text) => format!("{text:?}"),
        Part::Value(value) => format!(
            "{{{} {:?} {}}}",
            value.place.written,
            value.filters,
            value.escape.is_some()
        ),
        Part::Optional(inner) => format!("[{}]", parts(inner)),
    };
    all.iter().map(part).collect()
}
