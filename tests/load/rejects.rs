use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use dynafold::load::{Failure, LoadOptions, Outcome};
use dynafold::value::Value;
use serde_json::json;
use tempfile::tempdir;

use super::{load, options};
use crate::support::faults::{FakeSource, FakeTarget};
use dynafold_testing::model::{item_type, number, pass, relation, user_rows, users};

/// Users of whom every tenth has no id.
fn source() -> FakeSource {
    let mut rows = user_rows(100);
    for row in rows.iter_mut().step_by(10) {
        row[0] = Value::Null;
    }
    FakeSource::default().with(&relation("users"), rows)
}

fn lines(path: &std::path::Path) -> Vec<serde_json::Value> {
    let text = std::fs::read_to_string(path).unwrap();
    let lines = text.lines();
    lines.map(|l| serde_json::from_str(l).unwrap()).collect()
}

#[tokio::test]
async fn a_file_that_holds_no_rejects_is_left_alone_and_an_older_rejects_file_is_replaced() {
    let folder = tempdir().unwrap();
    let run = || {
        let target = Arc::new(FakeTarget::willing());
        load(source(), target, users(), options(folder.path(), None))
    };
    let path = run().await.rejects_file.unwrap();
    assert!(matches!(run().await.outcome, Outcome::CompleteWithRejects));
    assert_eq!(lines(&path).len(), 10);
    std::fs::write(&path, "dynafold: 1\n").unwrap();
    let report = run().await;
    let Outcome::Failed(failure) = &report.outcome else {
        panic!("{report:?}");
    };
    assert_eq!(failure.code(), "rejects-file");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "dynafold: 1\n");
}

#[tokio::test]
async fn rejects_are_in_the_file_and_the_rest_goes_on() {
    let folder = tempdir().unwrap();
    let target = Arc::new(FakeTarget::willing());
    let report = load(source(), target, users(), options(folder.path(), None)).await;
    assert!(matches!(report.outcome, Outcome::CompleteWithRejects));
    assert_eq!((report.total.rejected, report.total.written), (10, 90));
    assert_eq!(report.total.rejects_by_code["key-null"], 10);
    let lines = lines(report.rejects_file.as_ref().unwrap());
    assert_eq!(lines.len(), 10);
    assert_eq!(
        lines[0],
        json!({
            "item_type": "USER",
            "row": {"id": null},
            "code": "key-null",
            "message": "the key attribute is NULL because `c0` is",
            "help": "leave such rows out with `where`, or use `| default(x)`",
            "attribute": "PK",
            "item": {"SK": {"S": "USER#"}, "name": {"S": "name of 0"}},
        })
    );
}

/// Whether they are of one chunk or of many.
#[tokio::test]
async fn more_rejects_than_the_report_names_are_all_counted_and_in_the_file() {
    for chunk in [10, 450] {
        let folder = tempdir().unwrap();
        let mut rows = user_rows(450);
        for row in rows.iter_mut().step_by(10) {
            row[0] = Value::Null;
        }
        let source = FakeSource {
            chunk: Some(chunk),
            ..FakeSource::default().with(&relation("users"), rows)
        };
        let target = Arc::new(FakeTarget::willing());
        let report = load(source, target, users(), options(folder.path(), None)).await;
        assert_eq!((report.total.rejected, report.total.written), (45, 405));
        assert_eq!(report.total.rejects_by_code["key-null"], 45);
        assert_eq!(report.rejects.len(), 20);
        let lines = lines(report.rejects_file.as_ref().unwrap());
        let names = lines.iter().map(|line| line["item"]["name"]["S"].as_str());
        let names: BTreeSet<&str> = names.map(Option::unwrap).collect();
        assert_eq!((lines.len(), names.len()), (45, 45), "{chunk}");
    }
}

#[tokio::test]
async fn the_first_reject_stops_a_run_that_allows_none() {
    let folder = tempdir().unwrap();
    let target = Arc::new(FakeTarget::willing());
    let report = load(source(), target, users(), options(folder.path(), Some(0))).await;
    assert!(
        matches!(report.outcome, Outcome::Stopped { .. }),
        "{report:?}"
    );
    assert!(report.total.rejected >= 1, "{report:?}");
}

#[tokio::test]
async fn as_many_rejects_as_allowed_do_not_stop_it() {
    let folder = tempdir().unwrap();
    for (most, rejected) in [(9, 10), (10, 10), (3, 4)] {
        let target = Arc::new(FakeTarget::willing());
        let report = load(
            source(),
            target,
            users(),
            options(folder.path(), Some(most)),
        )
        .await;
        assert_eq!(report.outcome.is_finished(), most == 10);
        // Workers side by side may each find one before they hear of the other's.
        assert!((rejected..=10).contains(&report.total.rejected));
        assert_eq!(report.total.unwritten, 0);
    }
}

#[tokio::test]
async fn the_guilty_item_of_a_refused_batch_is_found_and_named() {
    let folder = tempdir().unwrap();
    let rows = FakeSource::default().with(&relation("users"), user_rows(60));
    let target = FakeTarget::willing()
        .poisoned("\"USER#7\"")
        .poisoned("\"USER#59\"");
    let target = Arc::new(target);
    let report = load(rows, target.clone(), users(), options(folder.path(), None)).await;
    assert!(matches!(report.outcome, Outcome::CompleteWithRejects));
    assert_eq!(report.total.written, 58);
    assert_eq!(report.total.rejected_by_service, 2);
    assert!(report.traffic.splits >= 4);
    let mut lines = lines(report.rejects_file.as_ref().unwrap());
    lines.sort_by_key(|line| line["row"]["id"].as_i64());
    assert_eq!(lines[0]["row"], json!({"id": 7}));
    assert_eq!(lines[0]["code"], "InvalidException");
    assert_eq!(lines[0]["item"]["name"]["S"], "name of 7");
    assert_eq!(lines[1]["row"], json!({"id": 59}));
}

/// Other systems have no device that is always full.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_full_disk_ends_the_run() {
    let options = LoadOptions {
        max_rejects: None,
        rejects_file: PathBuf::from("/dev/full"),
        ..LoadOptions::default()
    };
    let report = load(source(), Arc::new(FakeTarget::willing()), users(), options).await;
    let Outcome::Failed(failure) = &report.outcome else {
        panic!("{:?}", report.outcome);
    };
    assert_eq!(failure.code(), "rejects-file");
    assert_eq!(
        failure.to_string(),
        "cannot write the rejects file /dev/full"
    );
    let Failure::File { cause, .. } = &**failure else {
        panic!("{failure:?}")
    };
    assert_eq!(cause.kind(), std::io::ErrorKind::StorageFull);
}

#[tokio::test]
async fn filtered_rows_are_counted_for_each_item_type_even_where_the_database_leaves_them_out() {
    let mut both = pass("users", 2, &[0, 1]);
    both.scan.conditions = vec!["even".to_owned(), "by ten".to_owned()];
    let mut even = item_type("EVEN", 0, &[("PK", "EVEN#{0}"), ("SK", "-")]);
    even.condition = Some(2);
    let mut tens = item_type("TEN", 0, &[("PK", "TEN#{0}"), ("SK", "-")]);
    tens.condition = Some(3);
    let model = dynafold_testing::model::model(vec![both], vec![even, tens]);
    let rows = (0..100).map(|id| {
        let (even, ten) = (id % 2 == 0, id % 10 == 0);
        vec![number(id), Value::Null, Value::Bool(even), Value::Bool(ten)]
    });
    let source = FakeSource::default().with(&relation("users"), rows.collect());
    let folder = tempdir().unwrap();
    let target = Arc::new(FakeTarget::willing());
    let report = load(source, target, model, options(folder.path(), Some(0))).await;
    let counts = |index: usize| {
        let books = &report.item_types[index];
        (books.rows_read, books.filtered, books.written)
    };
    assert_eq!(counts(0), (100, 50, 50));
    assert_eq!(counts(1), (100, 90, 10));
}
