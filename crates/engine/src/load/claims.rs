//! What a load claims when it has ended: that its books balance, and that no two of its items have one
//! key.

use dynafold_dynamodb::{Attribute, write_attribute};
use dynafold_mapping::claim::{Claim, ClaimKind, ClaimSubject, ClaimVerdict};
use dynafold_mapping::item::DUPLICATE_KEY;
use dynafold_mapping::model::Model;

use super::books::Books;
use super::plan::selected;
use super::report::{Outcome, Report};
use super::{KeyCheck, Load};

/// The claims of a load, from its report.
pub(super) fn claims(load: &Load, report: &Report) -> Vec<Claim> {
    let model = &load.model;
    let of = subject(model, load.options.selection.partition.as_ref());
    let claim = |kind, (verdict, because)| Claim {
        kind,
        of: of.clone(),
        verdict,
        because,
        facts: Vec::new(),
        example: None,
    };
    let mut keys = claim(ClaimKind::KeysDiffer, keys(load, report));
    if keys.verdict == ClaimVerdict::Differs {
        let mut shared = report.rejects.iter();
        let shared = shared.find(|note| note.code == DUPLICATE_KEY);
        keys.example =
            shared.map(|note| format!("{} {}: {}", note.item_type, note.row, note.message));
    }
    vec![claim(ClaimKind::BooksBalance, balance(report)), keys]
}

/// What a run's claims are about: the item types that it selects, where these are not all, and the partition
/// that it is about.
pub(crate) fn subject(model: &Model, partition: Option<&Attribute>) -> ClaimSubject {
    let selected = selected(model);
    let part = selected.contains(&false);
    let names = model.item_types.iter().zip(&selected);
    let names = names.filter(|(_, selected)| **selected && part);
    ClaimSubject {
        item_types: names.map(|(item, _)| item.name.to_string()).collect(),
        partition: partition.map(|partition| {
            let mut text = String::new();
            write_attribute(&mut text, partition);
            text
        }),
        ..ClaimSubject::default()
    }
}

/// Whether every row and every item is accounted for. Of rows that were not read nothing is said.
fn balance(report: &Report) -> (ClaimVerdict, String) {
    let total = &report.total;
    if !report.item_types.iter().all(Books::balances) {
        let because = "the books do not balance: this is a fault in dynafold; please report it";
        return (ClaimVerdict::Differs, because.to_owned());
    }
    if report.outcome.is_finished() {
        return (
            ClaimVerdict::Proved,
            format!("every row read became an item, or was {}", ends(total)),
        );
    }
    let mut because = format!(
        "the load did not finish: {} rows read, {} items written",
        total.rows_read, total.written
    );
    if total.unwritten > 0 {
        because.push_str(&format!(
            ", {} items made and not known to be written",
            total.unwritten
        ));
    }
    (ClaimVerdict::NotProved, because)
}

/// What else may become of a row than an item, as far as it happened.
fn ends(total: &Books) -> String {
    let ends = [
        ("filtered", true),
        ("empty", total.empty > 0),
        ("expired", total.expired > 0),
        ("archived", total.archived > 0),
    ];
    let ends = ends.iter().filter(|(_, happened)| *happened);
    let mut ends: Vec<&str> = ends.map(|(end, _)| *end).collect();
    ends.push("or rejected");
    ends.join(", ")
}

/// How it is known that no item overwrote another.
fn keys(load: &Load, report: &Report) -> (ClaimVerdict, String) {
    let keys = &report.keys;
    let finished = report.outcome.is_finished();
    let again = load.compares_again();
    match keys.check {
        _ if keys.overwritten > 0 => (
            ClaimVerdict::Differs,
            format!("{} items overwrote an item with the same key", keys.overwritten),
        ),
        KeyCheck::Proved => (ClaimVerdict::Proved, "by the schema, as `check` says".to_owned()),
        KeyCheck::First if keys.shared > 0 => (
            ClaimVerdict::Differs,
            format!("{} items have the key of another item", keys.shared),
        ),
        KeyCheck::First if finished && again => (
            ClaimVerdict::Proved,
            format!(
                "{} keys were compared before the first write, and those of the rows that were loaded after the last: no two are equal",
                keys.compared
            ),
        ),
        KeyCheck::First if keys.compared > 0 && again => (
            ClaimVerdict::NotProved,
            "the rows may have changed since their keys were compared: a view, a query or a table without snapshots may return other rows when it is read again"
                .to_owned(),
        ),
        KeyCheck::First if keys.compared > 0 || finished => (
            ClaimVerdict::Proved,
            format!(
                "{} keys were compared before the first write, and no two are equal",
                keys.compared
            ),
        ),
        KeyCheck::Late if finished => (
            ClaimVerdict::Proved,
            "all keys were compared after the last row, and no two are equal".to_owned(),
        ),
        KeyCheck::First | KeyCheck::Late => (
            ClaimVerdict::NotProved,
            match &report.outcome {
                Outcome::Failed(failure) => failure.to_string(),
                _ => "the comparison of the keys did not finish".to_owned(),
            },
        ),
    }
}
