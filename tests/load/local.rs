//! From a SQLite file to the embedded engine and back again.

use std::sync::Arc;

use dynafold::dynamodb::KeyType;
use dynafold::load::{Cancel, NoProgress, Outcome, TableError, ensure_table};
use dynafold::mapping::model::Model;
use dynafold::mapping::template::Context;
use dynafold::preview::{SampleLimits, sample, sample_within};
use dynafold::source::{self, Source};
use dynafold::target::{self, Target, TargetSpec};
use dynafold::verify::{
    AttributeDifference, FindingKind, Verify, VerifyOptions, VerifyOutcome, VerifyReport, verify,
};
use serde_json::json;
use tempfile::tempdir;

use super::options;
use crate::support::sqlite::Database;
use dynafold_testing::model::{item_type, key, pass};

const SCRIPT: &str = "
    CREATE TABLE users (c0 INTEGER PRIMARY KEY, c1 TEXT, c2 INTEGER);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1234)
    INSERT INTO users SELECT i, 'name of ' || i, i % 5 FROM n;
";

/// Every user, and those with `c2 = 0` once more.
fn model() -> Model {
    let mut users = pass("users", 3, &[0, 1]);
    users.scan.conditions = vec!["c2 = 0".to_owned()];
    users.scan.keep_unmatched = true;
    let mut zeros = item_type(
        "ZERO",
        0,
        &[("PK", "ZERO"), ("SK", "Z#{0}"), ("name", "{1}")],
    );
    zeros.condition = Some(3);
    dynafold_testing::model::model(
        vec![users],
        vec![
            item_type(
                "USER",
                0,
                &[
                    ("PK", "USER#{0}"),
                    ("SK", "-"),
                    ("name", "{1}"),
                    ("n", "{2}"),
                ],
            ),
            zeros,
        ],
    )
}

async fn target() -> Arc<dyn Target> {
    target::connect(&TargetSpec::Local { file: None })
        .await
        .unwrap()
}

async fn open(database: &Database) -> Box<dyn Source> {
    source::connect(&database.url()).await.unwrap()
}

async fn load(database: &Database, target: &Arc<dyn Target>) -> dynafold::load::Report {
    let folder = tempdir().unwrap();
    let options = options(folder.path(), Some(0));
    dynafold::load::run(dynafold::load::Load {
        source: Some(open(database).await),
        begun: false,
        state: None,
        target: target.clone(),
        model: Arc::new(model()),
        context: Context::default(),
        options,
        cancel: Cancel::default(),
        progress: Arc::new(NoProgress),
    })
    .await
}

async fn compare(database: &Database, target: &Arc<dyn Target>, cancel: Cancel) -> VerifyReport {
    let report = verify(Verify {
        source: Some(open(database).await),
        target: target.clone(),
        model: Arc::new(model()),
        context: Context::default(),
        options: VerifyOptions::default(),
        examples: 10,
        cancel,
        progress: Arc::new(NoProgress),
    })
    .await;
    assert!(report.balances(), "{report:#?}");
    report
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_loaded_is_found_equal() {
    let database = Database::new(SCRIPT).await;
    let target = target().await;
    let ensured = ensure_table(&*target, &model().table, true).await.unwrap();
    assert!(ensured.made);
    let report = load(&database, &target).await;
    assert!(matches!(report.outcome, Outcome::Complete), "{report:#?}");
    assert!(report.balances());
    let counts = report.item_types.iter();
    let counts: Vec<_> = counts
        .map(|b| (b.rows_read, b.filtered, b.written))
        .collect();
    assert_eq!(counts, [(1234, 0, 1234), (1234, 988, 246)]);
    let report = compare(&database, &target, Cancel::default()).await;
    assert!(
        matches!(report.outcome, VerifyOutcome::Equal),
        "{report:#?}"
    );
    assert_eq!((report.total.equal, report.unexpected), (1480, Some(0)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_differs_is_counted_and_named_without_its_values() {
    let database = Database::new(SCRIPT).await;
    let target = target().await;
    ensure_table(&*target, &model().table, true).await.unwrap();
    load(&database, &target).await;
    database
        .run(
            "UPDATE users SET c1 = 'secret' WHERE c0 = 7;
             UPDATE users SET c2 = NULL WHERE c0 = 8;
             DELETE FROM users WHERE c0 = 9;
             INSERT INTO users VALUES (5000, 'new', 1);",
        )
        .await;
    let report = compare(&database, &target, Cancel::default()).await;
    assert!(matches!(report.outcome, VerifyOutcome::Different));
    let total = &report.total;
    assert_eq!(
        (total.different, total.missing, report.unexpected),
        (2, 1, Some(1))
    );
    let found: Vec<_> = report
        .findings
        .iter()
        .map(|finding| {
            let attributes = finding.attributes.iter();
            let attributes: Vec<_> = attributes
                .map(|a| (a.name.as_str(), a.difference))
                .collect();
            (finding.kind, finding.key.get(), attributes)
        })
        .collect();
    assert_eq!(
        found,
        [
            (
                FindingKind::Different,
                r#"{"PK":{"S":"USER#7"},"SK":{"S":"-"}}"#,
                vec![("name", AttributeDifference::Value)]
            ),
            (
                FindingKind::Different,
                r#"{"PK":{"S":"USER#8"},"SK":{"S":"-"}}"#,
                vec![("n", AttributeDifference::Unexpected)]
            ),
            (
                FindingKind::Missing,
                r#"{"PK":{"S":"USER#5000"},"SK":{"S":"-"}}"#,
                vec![]
            ),
            (
                FindingKind::Stale,
                r#"{"PK":{"S":"USER#9"},"SK":{"S":"-"}}"#,
                vec![]
            ),
        ]
    );
    let text = serde_json::to_string(&report).unwrap();
    assert!(
        !text.contains("secret") && !text.contains("name of"),
        "{text}"
    );
    assert_eq!(
        serde_json::to_value(&report.findings[0]).unwrap()["attributes"],
        json!([{"name": "name", "difference": "value"}])
    );
}

#[tokio::test]
async fn a_cancelled_comparison_says_so() {
    let database = Database::new(SCRIPT).await;
    let target = target().await;
    ensure_table(&*target, &model().table, true).await.unwrap();
    let cancel = Cancel::default();
    cancel.cancel();
    let report = compare(&database, &target, cancel).await;
    assert!(matches!(report.outcome, VerifyOutcome::Interrupted));
    assert_eq!(report.unexpected, None);
}

#[tokio::test]
async fn a_table_with_another_key_or_without_leave_to_make_it_is_refused() {
    let target = target().await;
    let wanted = model().table;
    let missing = ensure_table(&*target, &wanted, false).await.unwrap_err();
    assert!(matches!(missing, TableError::Missing { .. }));
    ensure_table(&*target, &wanted, true).await.unwrap();
    let again = ensure_table(&*target, &wanted, true).await.unwrap();
    assert!(!again.made && again.differences.is_empty(), "{again:?}");
    let mut other = wanted;
    other.sort = Some(key("SK", KeyType::N));
    let differs = ensure_table(&*target, &other, true).await.unwrap_err();
    assert_eq!(
        differs.to_string(),
        "the table `app` at local (memory) is not the one that the mapping describes\n  \
         the table's key is PK (S), SK (S), the mapping says PK (S), SK (N)"
    );
    assert!(differs.help().is_some());
}

#[tokio::test]
async fn a_preview_shows_the_first_rows_of_each_item_type() {
    let database = Database::new(SCRIPT).await;
    database.run("INSERT INTO users VALUES (0, NULL, 0);").await;
    let mut source = open(&database).await;
    let mut model = model();
    model.item_types[0].attributes[0].1 = dynafold_testing::model::template("USER#{1}");
    let samples = sample(&mut *source, &model, Context::default(), 3, &|_| true)
        .await
        .unwrap();
    let shown = samples.iter().map(|sample| {
        let items = sample.items.iter().map(|item| item.row.get()).collect();
        let rejects = sample
            .rejects
            .iter()
            .map(|reject| reject.row.get())
            .collect();
        (sample.item_type.as_str(), items, rejects)
    });
    let shown: Vec<(&str, Vec<&str>, Vec<&str>)> = shown.collect();
    assert_eq!(
        shown,
        [
            (
                "USER",
                vec![r#"{"id":1}"#, r#"{"id":2}"#],
                vec![r#"{"id":0}"#]
            ),
            (
                "ZERO",
                vec![r#"{"id":0}"#, r#"{"id":5}"#, r#"{"id":10}"#],
                vec![]
            ),
        ]
    );
    assert_eq!(samples[0].rejects[0].reject.code, "key-null");
    assert_eq!(
        (samples[1].items[1].size, samples[1].items[1].units),
        (24, 1)
    );
    let mut source = open(&database).await;
    let one = sample(&mut *source, &model, Context::default(), 3, &|name| {
        name == "ZERO"
    });
    assert_eq!(one.await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_preview_holds_no_more_rejects_than_items() {
    let database = Database::new(SCRIPT).await;
    let mut model = model();
    model.item_types[0].attributes[0].1 = dynafold_testing::model::template("USER");
    let mut source = open(&database).await;
    let most = SampleLimits {
        rows: 100,
        bytes: 100,
        by_key: true,
    };
    let wanted = |name: &str| name == "USER";
    let samples = sample_within(&mut *source, &model, Context::default(), most, &wanted).await;
    let samples = samples.unwrap();
    let [sample] = samples.as_slice() else {
        panic!("{samples:?}")
    };
    let size = sample.items[0].size;
    assert!(sample.is_cut, "{} read", sample.read);
    // Each row is an item of about this size, and all but the first are rejected for their key.
    assert_eq!(sample.rejects.len(), 100 / size);
    assert_eq!(sample.rejects[0].reject.code, "duplicate-key");
}
