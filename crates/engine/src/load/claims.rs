//! What a load claims when it has ended: that its books balance, and that no two of its items have one
//! key.

use dynafold_dynamodb::{Attribute, attribute_json};
use dynafold_format::{counted, counted_as};
use dynafold_mapping::claim::{Claim, ClaimKind, ClaimSubject, ClaimVerdict};
use dynafold_mapping::item::DUPLICATE_KEY;
use dynafold_mapping::model::Model;

use super::KeyCheck;
use super::books::Books;
use super::plan::{not_compared, selected};
use super::report::{KeysReport, Outcome, Report};

/// In which states of the source a load has read its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SourceStates {
    /// Always in the same one.
    One,
    /// Rows may change between the reading of their keys and the load, so the keys of loaded rows are compared too.
    Two,
    /// Each worker in one of its own: keys are known of the chunks that have results, and of nothing else that was written.
    Many,
}

/// The claims of a load, from its report.
pub(super) fn claims(of: &ClaimSubject, states: SourceStates, report: &Report) -> Vec<Claim> {
    let shown = keys_differ(&report.keys, &report.outcome, states);
    let mut keys = Claim::new(ClaimKind::KeysDiffer, of.clone(), shown);
    if keys.verdict == ClaimVerdict::Differs {
        let mut rejects = report.rejects.iter();
        let shared = rejects.find(|note| note.code == DUPLICATE_KEY);
        keys.example =
            shared.map(|note| format!("{} {}: {}", note.item_type, note.row, note.message));
    }
    let balance = Claim::new(ClaimKind::BooksBalance, of.clone(), balance(report));
    vec![balance, keys]
}

/// What a run's claims are about: the item types that it selects, where these are not all, and the partition
/// that it is about.
pub(crate) fn subject(model: &Model, partition: Option<&Attribute>) -> ClaimSubject {
    let selected = selected(model);
    let is_part = selected.contains(&false);
    let marked = model.item_types.iter().zip(&selected);
    let named = marked.filter(|(_, selected)| **selected && is_part);
    ClaimSubject {
        item_types: named.map(|(item, _)| item.name.to_string()).collect(),
        partition: partition.map(attribute_json),
        ..ClaimSubject::default()
    }
}

/// Whether every row that was read, and every item, is accounted for.
fn balance(report: &Report) -> (ClaimVerdict, String) {
    let total = &report.total;
    if !report.balances() {
        let because = "the books do not balance: this is a fault in dynafold; please report it";
        return (ClaimVerdict::Differs, because.to_owned());
    }
    if report.outcome.is_finished() {
        return (
            ClaimVerdict::Proved,
            format!(
                "every row read became an item, or was {}",
                other_ends(total)
            ),
        );
    }
    let mut because = format!(
        "the load did not finish: {} read, {} written",
        counted(total.rows_read, "row"),
        counted(total.written, "item")
    );
    if total.unwritten > 0 {
        because.push_str(&format!(
            ", {} made and not known to be written",
            counted(total.unwritten, "item")
        ));
    }
    (ClaimVerdict::NotProved, because)
}

/// What a row may become other than an item: what every mapping knows, and what else has happened.
fn other_ends(total: &Books) -> String {
    let mut ends = vec!["filtered"];
    for (end, rows) in [
        ("empty", total.empty),
        ("expired", total.expired),
        ("archived", total.archived),
    ] {
        if rows > 0 {
            ends.push(end);
        }
    }
    ends.push("or rejected");
    ends.join(", ")
}

/// Whether no item overwrote another, and how that is known.
fn keys_differ(
    keys: &KeysReport,
    outcome: &Outcome,
    states: SourceStates,
) -> (ClaimVerdict, String) {
    let finished = outcome.is_finished();
    let compares_again = states == SourceStates::Two;
    let compared = counted_as(keys.compared, "key was", "keys were");
    let differs = |items: u64| {
        let items = counted_as(items, "item has", "items have");
        let because = format!("{items} the key of another item");
        (ClaimVerdict::Differs, because)
    };
    match keys.check {
        _ if keys.overwritten > 0 => differs(keys.overwritten),
        _ if keys.shared > 0 && compares_again && matches!(outcome, Outcome::Complete) => (
            ClaimVerdict::NotProved,
            format!(
                "{} the key of another item when the keys were compared, and the rows have changed since",
                counted_as(keys.shared, "item had", "items had")
            ),
        ),
        _ if keys.all_shared() > 0 => differs(keys.all_shared()),
        _ if states == SourceStates::Many => (
            ClaimVerdict::NotProved,
            "rows may have changed between the reads of the chunks, and for each chunk only the keys of one result were compared: another attempt, such as one that failed or was killed, may have overwritten an item"
                .to_owned(),
        ),
        KeyCheck::Proved => (ClaimVerdict::Proved, "by the schema, as `check` says".to_owned()),
        KeyCheck::First if keys.shared_left_out > 0 => (
            ClaimVerdict::NotProved,
            format!("{compared} compared before the first write: {}", keys.left_out()),
        ),
        KeyCheck::First if finished && compares_again => (
            ClaimVerdict::Proved,
            format!(
                "{compared} compared before the first write, and the keys of the loaded rows again after the load: no two are equal"
            ),
        ),
        KeyCheck::First if keys.compared > 0 && compares_again => (
            ClaimVerdict::NotProved,
            "the rows may have changed since their keys were compared: a view, a query or a table without snapshots may return other rows when it is read again"
                .to_owned(),
        ),
        KeyCheck::First if keys.compared > 0 || finished => (
            ClaimVerdict::Proved,
            format!("{compared} compared before the first write, and no two are equal"),
        ),
        KeyCheck::Late if finished && !keys.not_compared.is_empty() => (
            ClaimVerdict::NotProved,
            not_compared(&keys.not_compared),
        ),
        KeyCheck::Late if finished => (
            ClaimVerdict::Proved,
            match keys.compared_by {
                None => "all keys were compared after the last row, and no two are equal".to_owned(),
                Some(by) => format!(
                    "{} of all workers {} compared after the last row, {}, and no two are equal",
                    counted(keys.compared, "key"),
                    if keys.compared == 1 { "was" } else { "were" },
                    by.words()
                ),
            },
        ),
        KeyCheck::First | KeyCheck::Late => (
            ClaimVerdict::NotProved,
            match outcome {
                Outcome::Failed(failure) => failure.to_string(),
                _ => "the comparison of the keys did not finish".to_owned(),
            },
        ),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::load::failure::Failure;

    #[test]
    fn the_claim_on_keys_says_how_they_were_compared() {
        use KeyCheck::{First, Late, Proved};
        use SourceStates::{Many, One, Two};
        let (complete, interrupted) = (&Outcome::Complete, &Outcome::Interrupted);
        let with_rejects = &Outcome::CompleteWithRejects;
        let failed = &Outcome::Failed(Arc::new(Failure::Internal("a disk is full")));
        for (check, [compared, shared, overwritten], outcome, states, expected) in [
            (Proved, [0, 0, 0], interrupted, One, "Proved: by the schema"),
            (Proved, [0, 0, 0], complete, Many, "NotProved: rows may"),
            (Late, [9, 0, 0], complete, Many, "NotProved: rows may"),
            (Late, [9, 0, 2], complete, Many, "Differs: 2 items have"),
            // What was seen goes before what was proved.
            (Proved, [0, 0, 1], complete, One, "Differs: 1 item has"),
            (Late, [0, 0, 2], complete, One, "Differs: 2 items have"),
            (First, [9, 1, 0], complete, Two, "NotProved: 1 item had"),
            (First, [9, 1, 0], with_rejects, Two, "Differs: 1 item has"),
            (
                First,
                [9, 0, 0],
                complete,
                Two,
                "Proved: 9 keys were compared before the first write, and the keys",
            ),
            (
                First,
                [9, 0, 0],
                interrupted,
                Two,
                "NotProved: the rows may have",
            ),
            (
                First,
                [9, 0, 0],
                interrupted,
                One,
                "Proved: 9 keys were compared before the first write, and no",
            ),
            (
                First,
                [0, 0, 0],
                complete,
                One,
                "Proved: 0 keys were compared before the first write, and no",
            ),
            (
                First,
                [0, 0, 0],
                interrupted,
                Two,
                "NotProved: the comparison",
            ),
            (First, [0, 0, 0], failed, One, "NotProved: a disk is full"),
            (Late, [0, 0, 0], complete, One, "Proved: all keys were"),
            (
                Late,
                [0, 0, 0],
                interrupted,
                One,
                "NotProved: the comparison",
            ),
        ] {
            let keys = KeysReport {
                check,
                compared,
                shared,
                overwritten,
                ..KeysReport::default()
            };
            let (verdict, because) = keys_differ(&keys, outcome, states);
            let found = format!("{verdict:?}: {because}");
            assert!(found.starts_with(expected), "{expected} is not {found}");
        }
    }

    #[test]
    fn the_claim_on_keys_names_item_types_whose_keys_were_not_compared() {
        let late = KeysReport {
            check: KeyCheck::Late,
            compared: 9,
            not_compared: vec!["ORDER".to_owned(), "LINE".to_owned()],
            ..KeysReport::default()
        };
        let (verdict, because) = keys_differ(&late, &Outcome::Complete, SourceStates::One);
        assert_eq!(verdict, ClaimVerdict::NotProved);
        assert_eq!(because, "the keys of ORDER, LINE were not compared");
        let outside = KeysReport {
            compared: 9,
            shared_outside: 1,
            check: KeyCheck::First,
            ..KeysReport::default()
        };
        for states in [SourceStates::One, SourceStates::Two] {
            let (verdict, because) = keys_differ(&outside, &Outcome::CompleteWithRejects, states);
            assert_eq!(verdict, ClaimVerdict::Differs);
            assert_eq!(because, "1 item has the key of another item");
            let left_out = KeysReport {
                shared_outside: 0,
                shared_left_out: 1,
                ..outside.clone()
            };
            let (verdict, because) = keys_differ(&left_out, &Outcome::Complete, states);
            assert_eq!(verdict, ClaimVerdict::NotProved);
            assert_eq!(
                because,
                "9 keys were compared before the first write: 1 row that was not selected has the key of another such row, and no selected row shares its key"
            );
        }
    }

    #[test]
    fn only_ends_that_happened_are_named_besides_those_of_every_mapping() {
        let mut total = Books::default();
        assert_eq!(other_ends(&total), "filtered, or rejected");
        total.archived = 1;
        assert_eq!(other_ends(&total), "filtered, archived, or rejected");
    }
}
