use std::sync::Arc;
use std::sync::atomic::Ordering;

use dynafold::claim::{ClaimKind, ClaimVerdict};
use dynafold::load::{Cancel, KeyCheck, LoadOptions, Outcome, Report};
use dynafold::mapping::model::Model;
use tempfile::tempdir;

use super::{load_with, options};
use crate::support::faults::{FakeSource, FakeTarget};
use dynafold_testing::model::{item_type, number, pass, relation, text, user_rows, users};

/// Users whose key is the name, so that ids 3 and 77 meet in it.
fn by_name() -> (Model, FakeSource) {
    let mut model = users();
    model.item_types[0] = item_type("USER", 0, &[("PK", "USER#{1}"), ("SK", "-")]);
    let mut rows = user_rows(100);
    rows[77][1] = text("name of 3");
    let source = FakeSource::default().with(&relation("users"), rows);
    (model, source)
}

/// Loads as where `check` has not proved the keys.
async fn load(
    source: FakeSource,
    target: Arc<FakeTarget>,
    model: Model,
    options: LoadOptions,
) -> Report {
    load_with(source, target, model, options, Cancel::default()).await
}

#[tokio::test]
async fn both_rows_with_one_key_are_named() {
    for max_rejects in [Some(0), None] {
        let (model, source) = by_name();
        let folder = tempdir().unwrap();
        let target = Arc::new(FakeTarget::willing());
        let scans = source.scans.clone();
        let options = options(folder.path(), max_rejects);
        let report = load(source, target.clone(), model, options).await;
        assert_eq!(report.outcome.is_finished(), max_rejects.is_none());
        assert_eq!((report.keys.compared, report.keys.shared), (100, 1));
        assert_eq!(report.rejects.len(), 1);
        let reject = &report.rejects[0];
        assert_eq!(reject.row.get(), r#"{"id":77}"#);
        assert_eq!(
            reject.message,
            r#"the item has the same key as that of USER {"id":3}"#
        );
        // The keys, the keys of what is an item, the rows that share one, and where that is allowed the
        // load.
        let (expected, written) = match max_rejects {
            None => (4, 99),
            Some(_) => (3, 0),
        };
        assert_eq!(scans.load(Ordering::SeqCst), expected);
        let items = target.items.lock().unwrap();
        assert_eq!(items.len(), written);
        assert!(items.values().all(|json| !json.contains("77")));
        let counted = report.total.rejects_by_code.get("duplicate-key");
        assert_eq!(counted.copied().unwrap_or_default(), u64::from(written > 0));
    }
}

/// Fifty users, and an admin with the key of one of them.
fn users_and_admins() -> (Model, FakeSource) {
    let mut model = dynafold_testing::model::model(
        vec![pass("users", 2, &[0]), pass("admins", 2, &[1])],
        vec![
            item_type("USER", 0, &[("PK", "P#{0}"), ("SK", "-")]),
            item_type("ADMIN", 1, &[("PK", "P#{0}"), ("SK", "-")]),
        ],
    );
    model.unproved_pairs = Some(vec![[0, 1]]);
    let source = FakeSource::default()
        .with(&relation("users"), user_rows(50))
        .with(&relation("admins"), vec![vec![number(42), text("x")]]);
    (model, source)
}

/// The claim that keys differ: its verdict, and why.
fn keys_differ(report: &Report) -> (ClaimVerdict, &str) {
    let mut claims = report.claims.iter();
    let claim = claims.find(|claim| claim.kind == ClaimKind::KeysDiffer);
    let claim = claim.unwrap();
    (claim.verdict, claim.because.as_str())
}

#[tokio::test]
async fn a_load_of_some_item_types_finds_keys_of_the_others() {
    // User 42 is loaded before admin 42.
    for (left_out, max_rejects, [shared, outside], [written, rejected]) in [
        (1, Some(0), [0, 1], [0, 0]),
        (1, Some(1), [0, 1], [50, 0]),
        (0, Some(0), [1, 0], [0, 0]),
        (0, Some(1), [1, 0], [0, 1]),
    ] {
        let (mut model, source) = users_and_admins();
        model.passes[left_out].item_types.clear();
        let folder = tempdir().unwrap();
        let target = Arc::new(FakeTarget::willing());
        let options = options(folder.path(), max_rejects);
        let report = load(source, target, model, options).await;
        let keys = &report.keys;
        assert_eq!(
            (keys.compared, keys.shared, keys.shared_outside),
            (51, shared, outside)
        );
        let total = &report.total;
        assert_eq!((total.written, total.rejected), (written, rejected));
        let (verdict, because) = keys_differ(&report);
        assert_eq!(verdict, ClaimVerdict::Differs, "{because}");
        assert_eq!(because, "1 item has the key of another item");
        let goes_on = max_rejects == Some(1);
        let is_finished = matches!(report.outcome, Outcome::CompleteWithRejects);
        assert_eq!(is_finished, goes_on, "{:?}", report.outcome);
        let is_reported = report.warnings.iter().any(|said| said.contains("selected"));
        assert_eq!(
            is_reported,
            goes_on && left_out == 1,
            "{:?}",
            report.warnings
        );
        // What is not loaded is not rejected by a load that goes on.
        let named = report.rejects.first().map(|reject| {
            let who = format!("{} {}", reject.item_type, reject.row);
            (who, reject.message.clone())
        });
        let expected = (
            r#"ADMIN {"id":42}"#.to_owned(),
            r#"the item has the same key as that of USER {"id":42}"#.to_owned(),
        );
        let expected = (!is_reported).then_some(expected);
        assert_eq!(named, expected);
    }
}

#[tokio::test]
async fn item_types_whose_keys_differ_are_not_read_for_others() {
    let (mut model, source) = users_and_admins();
    model.passes[1].item_types.clear();
    model.unproved_pairs = Some(Vec::new());
    let folder = tempdir().unwrap();
    let (target, scans) = (Arc::new(FakeTarget::willing()), source.scans.clone());
    let report = load(source, target, model, options(folder.path(), Some(0))).await;
    assert!(matches!(report.outcome, Outcome::Complete));
    assert_eq!((report.keys.compared, report.total.written), (50, 50));
    assert_eq!(scans.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn one_pass_over_some_item_types_names_the_others_that_it_has_not_compared() {
    for (left_out, verdict) in [
        (None, ClaimVerdict::Differs),
        (Some(1), ClaimVerdict::NotProved),
    ] {
        let (mut model, source) = users_and_admins();
        if let Some(left_out) = left_out {
            model.passes[left_out].item_types.clear();
        }
        let folder = tempdir().unwrap();
        let target = Arc::new(FakeTarget::willing());
        let options = LoadOptions {
            keys: KeyCheck::Late,
            ..options(folder.path(), Some(0))
        };
        let report = load(source, target, model, options).await;
        let (found, because) = keys_differ(&report);
        assert_eq!(found, verdict, "{because}");
        let said = "the keys of ADMIN were not compared";
        assert_eq!(because == said, left_out.is_some(), "{because}");
        let mut warnings = report.warnings.iter();
        let is_reported = warnings.any(|warning| warning.starts_with(said));
        assert_eq!(is_reported, left_out.is_some(), "{:?}", report.warnings);
    }
}

#[tokio::test]
async fn rows_of_two_item_types_meet_too() {
    let (model, source) = users_and_admins();
    let folder = tempdir().unwrap();
    let target = Arc::new(FakeTarget::willing());
    let report = load(source, target, model, options(folder.path(), None)).await;
    assert_eq!(report.total.written, 50);
    assert_eq!(
        (
            report.rejects[0].item_type.as_str(),
            report.rejects[0].message.as_str()
        ),
        (
            "ADMIN",
            r#"the item has the same key as that of USER {"id":42}"#
        )
    );
}

#[tokio::test]
async fn every_row_that_is_read_before_the_one_that_would_be_loaded_is_told_and_names_it() {
    let mut rows = user_rows(10_100);
    for row in &mut rows {
        row[1] = text("ann");
    }
    rows.reverse();
    let (model, _) = by_name();
    let source = FakeSource::default().with(&relation("users"), rows);
    let folder = tempdir().unwrap();
    let target = Arc::new(FakeTarget::willing());
    let report = load(source, target, model, options(folder.path(), Some(0))).await;
    assert_eq!((report.keys.shared, report.total.written), (10_099, 0));
    let reported = std::fs::read_to_string(report.rejects_file.unwrap()).unwrap();
    let named = reported.matches(r#"the same key as that of USER {\"id\":0}"#);
    assert_eq!((reported.lines().count(), named.count()), (10_099, 10_099));
}

#[tokio::test]
async fn rows_that_nothing_tells_apart_are_each_other() {
    let mut rows = user_rows(3);
    rows.push(rows[1].clone());
    rows.push(rows[1].clone());
    let source = FakeSource::default().with(&relation("users"), rows);
    let folder = tempdir().unwrap();
    let target = Arc::new(FakeTarget::willing());
    let report = load(source, target, users(), options(folder.path(), None)).await;
    assert!(matches!(report.outcome, Outcome::CompleteWithRejects));
    assert_eq!((report.total.written, report.total.rejected), (3, 2));
    for reject in &report.rejects {
        assert_eq!(
            reject.message,
            r#"the item has the same key as that of USER {"id":1}"#
        );
    }
}

#[tokio::test]
async fn rows_that_meet_in_the_reading_that_is_loaded_alone_are_told() {
    for fickle in [true, false] {
        let (mut model, changed) = by_name();
        model.passes[0].fickle = fickle;
        let mut source = FakeSource::default().with(&relation("users"), user_rows(100));
        if fickle {
            source.later = Some(changed.relations);
        }
        let folder = tempdir().unwrap();
        let target = Arc::new(FakeTarget::willing());
        let report = load(source, target.clone(), model, options(folder.path(), None)).await;
        let keys = (report.keys.shared, report.keys.overwritten);
        assert_eq!(keys, (0, u64::from(fickle)));
        assert_eq!(matches!(report.outcome, Outcome::Complete), !fickle);
        let verdict = if fickle {
            ClaimVerdict::Differs
        } else {
            ClaimVerdict::Proved
        };
        assert_eq!(keys_differ(&report).0, verdict);
    }
}
