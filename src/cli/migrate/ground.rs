//! The table before a load: made, emptied, or what it holds.

use super::state::Selected;
use crate::cli::args::Migrate;
use crate::cli::failure::Failure;
use crate::cli::output::Output;
use crate::cli::target::ceiling;
use crate::load::state::{Ground as Held, Opened};
use crate::load::{self, Prune};
use crate::mapping::model::{Billing, Model};
use crate::target::{Target, Wanted};

/// Write units a second that a new table takes on demand (limits.md 27).
const NEW_TABLE: f64 = 4_000.0;

/// What a load finds.
pub(super) struct Ground {
    pub(super) held: Held,
    pub(super) table_id: Option<String>,
    /// The rate that the table's billing suggests.
    pub(super) ceiling: Option<f64>,
    pub(super) start: Option<f64>,
}

/// Makes the table if it is missing, empties it if asked to, and refuses to write among items from
/// elsewhere unless told to.
pub(super) async fn prepare(
    arguments: &Migrate,
    target: &dyn Target,
    model: &Model,
    opened: Option<&Opened>,
    output: &Output,
) -> Result<Ground, Failure> {
    let table = &model.table;
    if arguments.replace && !matches!(opened, Some(Opened::Again(..))) {
        empty(arguments, target, model, output).await?;
    }
    there_still(opened, target, model).await?;
    let create = !arguments.no_create && !arguments.plan;
    let ensured = load::ensure_table(target, table, create).await?;
    let settings = if ensured.made {
        Vec::new()
    } else {
        target.compare_settings(table).await
    };
    for difference in ensured.differences.iter().chain(&settings) {
        output.warning(&difference.to_string());
    }
    if ensured.made {
        let place = target.place();
        output.note(&format!("made the table `{}` at {place}", table.name));
    }
    same_table(opened, ensured.id.as_deref(), model)?;
    let empty = ensured.made || {
        let page = target.scan(table, &Wanted::keys(table), None).await?;
        page.items.is_empty() && page.next.is_none()
    };
    let minds = !(arguments.append
        || arguments.changes_only
        || arguments.prune
        || arguments.plan
        || arguments.replace
        || arguments.retry_rejects.is_some());
    let goes_on = matches!(opened, Some(Opened::Again(..) | Opened::Damaged(..)));
    if !empty && minds && !goes_on {
        let message = format!(
            "the table `{}` at {} holds items already",
            table.name,
            target.place()
        );
        return Err(Failure::failed(message).with_help(
            "say what is to become of them: --append loads beside them and replaces those with the \
             same keys, --changes-only writes only what differs, with --prune it deletes what no row \
             makes any more, --replace empties the table first, --plan shows what would change",
        ));
    }
    let billed = target.is_billed();
    let made = billed && ensured.made && matches!(table.billing, Billing::OnDemand);
    Ok(Ground {
        held: if empty { Held::Empty } else { Held::Held },
        table_id: ensured.id,
        ceiling: ceiling(target, table),
        start: made.then_some(NEW_TABLE),
    })
}

/// Refuses to make the table of a load that goes on: what is done was done in one that is gone.
async fn there_still(
    opened: Option<&Opened>,
    target: &dyn Target,
    model: &Model,
) -> Result<(), Failure> {
    let Some(Opened::Again(_, earlier)) = opened else {
        return Ok(());
    };
    let name = &model.table.name;
    if load::table_of(earlier).is_none() || target.describe(name).await?.is_some() {
        return Ok(());
    }
    let message = format!("the table `{name}` was deleted since the load that did not end");
    Err(Failure::failed(message).with_help("begin anew with --fresh"))
}

/// Refuses to go on in another table of the same name: what is done was done in the first.
fn same_table(opened: Option<&Opened>, id: Option<&str>, model: &Model) -> Result<(), Failure> {
    let Some(Opened::Again(_, earlier)) = opened else {
        return Ok(());
    };
    match (load::table_of(earlier), id) {
        (Some(then), Some(now)) if then != now => {
            let name = &model.table.name;
            let message =
                format!("the table `{name}` was made again since the load that did not end");
            Err(Failure::failed(message).with_help("begin anew with --fresh"))
        }
        _ => Ok(()),
    }
}

/// Deletes the table, after asking.
async fn empty(
    arguments: &Migrate,
    target: &dyn Target,
    model: &Model,
    output: &Output,
) -> Result<(), Failure> {
    let name = &model.table.name;
    let Some(found) = target.describe(name).await? else {
        return Ok(());
    };
    let items = found.item_count.map_or("its items".to_owned(), |count| {
        format!("about {count} items")
    });
    let question = format!(
        "delete the table `{name}` at {} with {items}, and make it again?",
        target.place()
    );
    if !arguments.yes && !output.can_ask() {
        let place = target.place();
        return Err(Failure::usage(format!(
            "this deletes the table `{name}` at {place} with {items}, and there is no terminal to ask at"
        ))
        .with_help("say --yes to go on without the question"));
    }
    if !arguments.yes && !output.ask(&question) {
        return Err(Failure::failed("nothing was deleted"));
    }
    target.delete_table(name).await?;
    output.note(&format!("deleted the table `{name}`"));
    Ok(())
}

/// Which items a run that prunes may delete.
pub(super) fn prune(
    arguments: &Migrate,
    last: Option<&Selected>,
    now: &Selected,
    held: Held,
    output: &Output,
) -> Option<Prune> {
    if !arguments.prune {
        return None;
    }
    let same = last.is_some_and(|last| last.conditions == now.conditions);
    if !same && now.filters() && held == Held::Held {
        let why = match last {
            Some(_) => "the conditions of the mapping are not those of the last full load",
            None => "no earlier full load is known here",
        };
        let how = match last {
            Some(_) => "; a load without --prune makes these the conditions to go by",
            None => "",
        };
        output.note(&format!(
            "{why}: items of rows that `where` leaves out are not deleted, only those whose rows are gone{how}"
        ));
    }
    Some(Prune {
        keep_filtered: !same,
    })
}

/// What is remembered of a full load. Conditions by which nothing was deleted do not take the place
/// of those before: the next load must not delete by them either.
pub(super) fn remembered(prune: Option<Prune>, last: Option<Selected>, now: Selected) -> Selected {
    match last {
        Some(last) if prune.is_some_and(|prune| prune.keep_filtered) && now.filters() => Selected {
            conditions: last.conditions,
            ..now
        },
        _ => now,
    }
}
