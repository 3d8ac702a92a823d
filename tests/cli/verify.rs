//! `verify`: what it finds, what it mends, and what it leaves alone, from every database, against
//! the embedded engine and DynamoDB Local.

mod case;

use std::collections::HashSet;

use dynafold::dynamodb::{Attribute, Item};
use dynafold::value::Number;
use serde_json::{Value, json};

use super::says;
use crate::support::books::{claimed, hold_compared};
use crate::support::cli::{Ran, dynafold};
use crate::support::source::Source;
use crate::support::storm::{Settings, Storm};
use crate::support::{dynamodb_local, sqlite};
use case::{Case, FOUND, faults, figures, loaded, mapping, reported, script, text, with};

/// Finds every fault, mends those that can be mended, and leaves the rest.
async fn finds_and_mends(case: &Case, product: &str) {
    case.run("migrate", &[]).exits(0);
    let report = case.verify(&[], 0);
    assert_eq!(report["outcome"]["state"], "equal", "{product}");
    assert_eq!(figures(&report, FOUND), [80, 80, 0, 0, 0], "{product}");
    assert_eq!(report["unexpected"], 0);
    assert_eq!(report["elsewhere"], 0);
    let whole = case.contents().await;

    case.spoil(faults).await;
    let spoilt = case.contents().await;
    let report = case.verify(&[], 3);
    assert_eq!(report["outcome"]["state"], "different");
    assert_eq!(figures(&report, FOUND), [80, 76, 1, 3, 0], "{product}");
    assert_eq!(report["unexpected"], 1);
    let of = |sort: &str, kind: &str, attributes: Value| (sort.into(), kind.into(), attributes);
    let expected = [
        of("USER#0002", "missing", json!([])),
        of(
            "USER#0003",
            "different",
            json!([{"name": "name", "difference": "value"}]),
        ),
        of(
            "USER#0004",
            "different",
            json!([{"name": "points", "difference": "type", "expected": "N", "found": "S"}]),
        ),
        of(
            "USER#0005",
            "different",
            json!([{"name": "doc.list", "difference": "order"}]),
        ),
        of("USER#9999", "stale", json!([])),
    ];
    assert_eq!(reported(&report), expected, "{product}");
    assert!(!report.to_string().contains("secret"));
    assert_eq!(spoilt, case.contents().await, "verify wrote");

    // The unexpected item is left, and the exit code says so.
    let report = case.verify(&["--repair"], 3);
    assert_eq!(report["outcome"]["state"], "different");
    assert_eq!(figures(&report, FOUND), [80, 76, 1, 3, 4], "{product}");
    assert_eq!(report["unexpected"], 1);
    let mended = case.contents().await;
    let extra: Vec<&str> = mended.lines().filter(|l| l.contains("USER#9999")).collect();
    assert_eq!(extra.len(), 1);
    let mut without: Vec<&str> = mended.lines().collect();
    without.retain(|line| !line.contains("USER#9999"));
    let without = without.join("\n") + "\n";
    assert_eq!(without, whole, "{product}");
    let report = case.verify(&["--allow-unexpected"], 0);
    assert_eq!(figures(&report, FOUND), [80, 80, 0, 0, 0]);

    case.spoil(|sort, item| match sort {
        "USER#9999" => None,
        _ => faults(sort, item)
            .filter(|_| sort != "USER#0006")
            .or(Some(Vec::new())),
    })
    .await;
    let report = case.verify(&["--repair"], 0);
    assert_eq!(report["outcome"]["state"], "repaired");
    assert_eq!(figures(&report, FOUND)[4], 3);
    assert_eq!(case.contents().await, whole);
    assert_eq!(case.verify(&[], 0)["outcome"]["state"], "equal");
}

#[tokio::test(flavor = "multi_thread")]
async fn each_kind_of_fault_is_found_and_mended_from_every_database() {
    for source in Source::each(script).await {
        let case = Case::new(&source, None);
        finds_and_mends(&case, source.product()).await;
        source.drop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_kind_of_fault_is_found_and_mended_in_dynamodb_local() {
    for source in Source::each(script).await {
        let case = Case::new(&source, Some(dynamodb_local::endpoint()));
        finds_and_mends(&case, source.product()).await;
        dynamodb_local::delete_table(&case.table).await;
        source.drop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_selection_is_all_that_is_compared_and_mended() {
    let (_source, case) = loaded().await;
    case.spoil(|sort, item| match sort {
        "-" => None,
        _ => faults(sort, item),
    })
    .await;
    let report = case.verify(&["--items", "USER"], 3);
    assert_eq!(figures(&report, FOUND), [40, 36, 1, 3, 0]);
    assert_eq!(report["unexpected"], 1);
    // USER 4 is in group 0, 3 in group 3; 6 was copied within group 2.
    let report = case.verify(&["--items", "USER", "--partition", "GROUP#0"], 3);
    assert_eq!(figures(&report, FOUND), [10, 9, 0, 1, 0]);
    assert_eq!(report["unexpected"], 0);
    let report = case.verify(&["--partition", "GROUP#0", "--repair"], 0);
    assert_eq!(figures(&report, FOUND), [10, 9, 0, 1, 1]);
    let report = case.verify(&["--items", "USER"], 3);
    assert_eq!(figures(&report, FOUND), [40, 37, 1, 2, 0]);
    let report = case.verify(&["--items", "NAME"], 3);
    assert_eq!(figures(&report, FOUND), [40, 0, 40, 0, 0]);
    assert_eq!(report["findings"].as_array().unwrap().len(), 20);
    assert_eq!(
        report["findings"],
        case.verify(&["--items", "NAME"], 3)["findings"]
    );
    let ran = case.run("verify", &["--items", "NAMES"]).exits(2);
    says(&ran, "no item type `NAMES`", "`NAME`");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sample_is_the_same_every_time_and_says_what_it_left_out() {
    let (_source, case) = loaded().await;
    let report = case.verify(&["--sample", "10"], 0);
    assert_eq!(figures(&report, &["expected", "unsampled"]), [10, 70]);
    assert_eq!(report["sample"], 10);
    assert_eq!(report["unexpected"], Value::Null);
    assert_eq!(report["unexpected_why_not"], "a sample was compared");
    let report = case.verify(&["--sample", "1000"], 0);
    assert_eq!(figures(&report, &["expected", "unsampled"]), [80, 0]);
    case.spoil(|_, _| None).await;
    let keys = |sample: &str| -> HashSet<String> {
        let report = case.verify(&["--sample", sample], 3);
        let findings = report["findings"].as_array().unwrap().iter();
        findings.map(|finding| finding["key"].to_string()).collect()
    };
    let (few, more) = (keys("8"), keys("16"));
    assert_eq!((few.len(), more.len()), (8, 16));
    assert!(few.is_subset(&more));
    assert_eq!(few, keys("8"));
    case.run("verify", &["--sample", "8", "--repair"])
        .exits(2)
        .says("--repair");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sample_without_an_item_is_not_called_equal() {
    let (source, case) = loaded().await;
    source.run("DELETE FROM users").await;
    let holds_nothing = |further: &[&str]| {
        let sample = [&["--sample", "10"], further].concat();
        compared_nothing(
            case.run("verify", &sample),
            "nothing was compared: no row makes an item",
        )
    };
    holds_nothing(&[]);
    holds_nothing(&["--items", "USER"]);
    let ran = holds_nothing(&["--partition", "GROUP#0"]);
    ran.says("no row makes an item whose `PK` is `GROUP#0`");
    let ran = holds_nothing(&["--items", "NAME", "--partition", "GROUP#0"]);
    ran.says("no row of NAME makes an item whose `PK` is `GROUP#0`; it is made like this: `NAME#{name}` (NAME)\n");
    // All items of the table are looked at, and an empty one is what an empty source makes.
    assert_eq!(case.verify(&[], 3)["unexpected"], 80);
    case.spoil(|_, _| None).await;
    holds_nothing(&[]);
    let report = case.verify(&[], 0);
    assert_eq!(report["outcome"]["state"], "equal");
    assert_eq!(claimed(&report, "table_equal"), "proved");

    // A table that cannot be searched for one of two item types whose items look the same.
    let alike = format!(
        "dynafold: 1
table: {{ name: {}, key: {{ partition: PK, sort: SK }}, type_attribute: false }}
items:
  ONE: {{ from: users, key: {{ PK: \"{{name}}\", SK: \"{{id | string}}\" }} }}
  OTHER: {{ from: users, key: {{ PK: \"{{name}}\", SK: \"-{{id | string}}\" }} }}
",
        case.table
    );
    let ran = case.run_as("verify", &alike, &["--items", "ONE"]);
    compared_nothing(
        ran,
        "no row makes an item; items that the source does not make were not looked for: ",
    );
    // Rows that make no item.
    source
        .run("INSERT INTO users (id, grp) VALUES (1, 1), (2, 1)")
        .await;
    let ran = case.run("verify", &["--items", "NAME", "--sample", "10"]);
    compared_nothing(ran, "nothing was compared: 2 rows make no item");
}

/// Asserts that a `verify` compared nothing, and why. Returns its run.
fn compared_nothing(ran: Ran, why: &str) -> Ran {
    let ran = ran.exits(3);
    let report = ran.json();
    hold_compared(&report);
    assert_eq!(report["outcome"]["state"], "nothing_compared");
    assert_eq!(claimed(&report, "table_equal"), "not_proved");
    let because = report["claims"][0]["because"].as_str().unwrap();
    assert!(because.contains(why), "{because}");
    ran
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sample_of_a_partition_is_found_in_any_chunk() {
    let script = "CREATE TABLE t (id INTEGER PRIMARY KEY, tenant INTEGER NOT NULL)";
    let source = Source::Sqlite(sqlite::Database::new(script).await);
    let case = Case::new(&source, None);
    let mapping = format!(
        "dynafold: 1
table: {{ name: {}, key: {{ partition: PK, sort: SK }} }}
items: {{ ROW: {{ from: t, key: {{ PK: \"T#{{tenant}}\", SK: \"{{id | pad(8)}}\" }} }} }}
",
        case.table
    );
    case.run_as("migrate", &mapping, &[]).exits(0);
    // Twelve chunks, of which a sample of five reads eight. Those of tenant 10 are not among them.
    let rows = "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 119999)
        INSERT INTO t SELECT i, i / 10000 FROM n";
    source.run(rows).await;
    for (partition, read) in [("T#0", 80_000), ("T#10", 120_000)] {
        let further = ["--sample", "5", "--partition", partition];
        let report = case.run_as("verify", &mapping, &further).exits(3).json();
        assert_eq!(
            figures(&report, &["missing", "rows_read"]),
            [5, read],
            "{partition}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn items_from_elsewhere_and_of_other_types_are_left_alone() {
    let (_source, case) = loaded().await;
    case.spoil(|sort, _| {
        Some(match sort {
            "USER#0001" => vec![Item {
                attributes: vec![
                    ("PK".into(), text("elsewhere")),
                    ("SK".into(), text("-")),
                    ("n".into(), Attribute::N(Number::parse("1").unwrap())),
                ],
            }],
            _ => Vec::new(),
        })
    })
    .await;
    let before = case.contents().await;
    let report = case.verify(&["--repair"], 0);
    assert_eq!(figures(&report, FOUND), [80, 80, 0, 0, 0]);
    assert_eq!(
        (&report["unexpected"], &report["elsewhere"]),
        (&json!(0), &json!(1))
    );
    assert_eq!(before, case.contents().await);

    // Without anything that tells the types apart, every key that no row makes is unexpected.
    let alike = format!(
        "dynafold: 1
table: {{ name: {}, key: {{ partition: PK, sort: SK }}, type_attribute: false }}
items:
  ANY:
    from: users
    key: {{ PK: \"{{name}}\", SK: \"{{id | string}}\" }}
",
        case.table
    );
    let report = case.run_as("verify", &alike, &[]).exits(3).json();
    assert_eq!(report["unexpected"], 81);
    assert_eq!(report["elsewhere"], Value::Null);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_rows_that_share_a_key_the_one_is_expected_that_is_loaded() {
    let source = Source::Sqlite(sqlite::Database::new(&script("sqlite")).await);
    let case = Case::new(&source, None);
    let shared = mapping(&case.table).replace("NAME#{name}", "NAME#{grp}");
    case.run_as("migrate", &shared, &["--max-rejects", "100"])
        .exits(3);
    let whole = case.contents().await;
    for further in [&[][..], &["--repair"], &["--sample", "30"]] {
        let report = case.run_as("verify", &shared, further).exits(3).json();
        hold_compared(&report);
        assert_eq!(figures(&report, &["missing", "different"]), [0, 0]);
        assert_eq!(figures(&report, &["rejected"]), [36]);
        assert_eq!(report["rejects"][0]["code"], "duplicate-key");
        assert_eq!(report["rejects"].as_array().unwrap().len(), 20);
        let because = report["claims"][0]["because"].as_str().unwrap();
        let compared = if further.contains(&"--sample") {
            "the sample of "
        } else {
            "every item"
        };
        assert!(because.starts_with(compared), "{because}");
    }
    assert_eq!(whole, case.contents().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_item_of_another_type_is_named_and_not_written_over() {
    let source = Source::Sqlite(sqlite::Database::new(&script("sqlite")).await);
    let case = Case::new(&source, None);
    let split = |at: u32| {
        format!(
            "dynafold: 1
table: {{ name: {}, key: {{ partition: PK, sort: SK }} }}
items:
  LOW:
    from: users
    where: \"id <= {at}\"
    key: {{ PK: \"X#{{id | pad(4)}}\", SK: \"-\" }}
  HIGH:
    from: users
    where: \"id > {at}\"
    key: {{ PK: \"X#{{id | pad(4)}}\", SK: \"-\" }}
",
            case.table
        )
    };
    case.run_as("migrate", &split(20), &[]).exits(0);
    case.run_as("verify", &split(20), &[]).exits(0);
    let before = case.contents().await;
    let ran = case.run_as("verify", &split(21), &["--repair"]).exits(3);
    let report = ran.json();
    hold_compared(&report);
    assert_eq!(figures(&report, FOUND), [40, 39, 0, 1, 0]);
    assert_eq!(report["findings"][0]["item_type"], "LOW");
    assert_eq!(report["findings"][0]["made_by"], "HIGH");
    assert_eq!(figures(&report, &["foreign"]), [1]);
    assert_eq!(before, case.contents().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_item_from_elsewhere_at_an_expected_key_is_not_written_over() {
    let (_source, case) = loaded().await;
    case.spoil(|sort, item| match sort {
        "USER#0001" => Some(vec![with(item, "_type", text("LEGACY"))]),
        "USER#0002" => {
            let mut item = item.clone();
            item.attributes.retain(|(name, _)| &**name != "_type");
            Some(vec![item])
        }
        "USER#0003" => faults(sort, item),
        _ => Some(Vec::new()),
    })
    .await;
    let report = case.verify(&["--repair"], 3);
    assert_eq!(figures(&report, FOUND), [80, 77, 0, 3, 1]);
    assert_eq!(figures(&report, &["foreign"]), [2]);
    let findings = report["findings"].as_array().unwrap().iter();
    let foreign: Vec<&Value> = findings.map(|finding| &finding["foreign"]).collect();
    let types = foreign.iter().filter(|name| ***name == "_type");
    assert_eq!((types.count(), foreign.len()), (2, 3));
    assert_eq!(case.contents().await.matches("LEGACY").count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_repaired_is_sent_again_until_a_struggling_table_has_taken_it() {
    let storm = Storm::start(Settings::default()).unwrap();
    let source = Source::Sqlite(sqlite::Database::new(&script("sqlite")).await);
    let case = Case::new(&source, Some(storm.url()));
    case.run("migrate", &[]).exits(0);
    let whole = case.contents().await;
    case.spoil(|sort, item| match sort {
        "-" => None,
        _ => faults(sort, item)
            .filter(|_| sort != "USER#0006")
            .or(Some(Vec::new())),
    })
    .await;
    let faults = "faults: [{ do: throttle, operations: [BatchWriteItem], until: 2 },
        { do: lost-answer, operations: [BatchWriteItem], after: 2, until: 3 },
        { do: leave, operations: [BatchWriteItem], after: 3, until: 6 },
        { do: leave, operations: [BatchGetItem], until: 2 },
        { do: error, operations: [BatchGetItem, Scan], every: 3 }]";
    storm.set(Settings::read(faults).unwrap());
    let report = case.verify(&["--repair"], 0);
    assert_eq!(report["outcome"]["state"], "repaired");
    assert_eq!(figures(&report, FOUND), [80, 37, 40, 3, 43]);
    assert!(report["repair"]["throttled"].as_u64().unwrap() > 0);
    assert!(report["repair"]["unprocessed"].as_u64().unwrap() > 0);
    storm.set(Settings::default());
    assert_eq!(case.contents().await, whole);

    // What cannot be written ends the run, and the books say how far it came.
    case.spoil(|sort, _| (sort != "-").then(Vec::new)).await;
    let refuses = "faults: [{ do: access-denied, operations: [BatchWriteItem] }]";
    storm.set(Settings::read(refuses).unwrap());
    let report = case.run("verify", &["--repair"]).exits(1).json();
    hold_compared(&report);
    assert_eq!(report["outcome"]["state"], "failed");
    assert_eq!(figures(&report, &["repaired"]), [0]);
    assert_eq!(report["unexpected"], Value::Null);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_item_whose_ttl_ended_before_it_was_compared_may_be_gone() {
    let storm = Storm::start(Settings::default()).unwrap();
    let ended = jiff::Timestamp::now().as_second() - 3600;
    let script = format!(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, ends INTEGER);
         INSERT INTO t VALUES (1, {ended}), (2, {ended}), (3, 4102444800), (4, 4102444800);"
    );
    let source = Source::Sqlite(sqlite::Database::new(&script).await);
    let case = Case::new(&source, Some(storm.url()));
    let mapping = format!(
        "dynafold: 1
table: {{ name: {}, key: {{ partition: PK, sort: SK }}, ttl: ends }}
items: {{ T: {{ from: t, key: {{ PK: \"T#{{id}}\", SK: \"{{id | pad(4)}}\" }}, columns: [id, ends] }} }}
access_patterns:
  one: {{ key: {{ PK: \"T#{{id}}\", SK: \"{{id | pad(4)}}\" }}, sql: \"SELECT id, ends FROM t WHERE id = :id\" }}
",
        case.table
    );
    // By the clock of the runs no TTL is over yet.
    let before = jiff::Timestamp::from_second(ended - 3600).unwrap();
    let before = before.to_string();
    let ran = |command: &str, further: &[&str], code: i32| {
        let further = [&["--now", before.as_str()], further].concat();
        case.run_as(command, &mapping, &further).exits(code).json()
    };
    ran("migrate", &[], 0);
    case.spoil(|sort, _| (sort != "0001").then(Vec::new)).await;
    let report = ran("verify", &[], 0);
    hold_compared(&report);
    let gone = ["expected", "equal", "missing", "gone"];
    assert_eq!(figures(&report, &gone), [4, 3, 0, 1]);
    assert_eq!(claimed(&report, "table_equal"), "agrees");
    let report = ran("verify", &["--patterns"], 0);
    assert_eq!(claimed(&report, "pattern_answers"), "agrees");
    // What has not expired is missing.
    case.spoil(|sort, _| (sort != "0003").then(Vec::new)).await;
    let report = ran("verify", &[], 3);
    assert_eq!(figures(&report, &gone), [4, 2, 1, 1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn migrate_is_named_only_where_it_makes_what_is_missing() {
    let database = sqlite::Database::new("CREATE TABLE t (id INTEGER PRIMARY KEY);").await;
    let (file, url) = (database.folder().join("m.yaml"), database.url());
    let target = format!("local:{}", database.folder().join("t.ddb").display());
    let ran = |command: &str, indexes: &str| {
        let text = format!(
            "dynafold: 1\ntable: {{ name: app, key: {{ partition: PK }}{indexes} }}\n\
             items: {{ T: {{ from: t, key: {{ PK: \"T#{{id}}\" }}, attributes: {{ G: one }} }} }}\n"
        );
        std::fs::write(&file, text).unwrap();
        let file = file.display().to_string();
        dynafold(&[command, &file, "--source", &url, "--target", &target])
    };
    let missing = ran("verify", "").exits(1).stderr;
    assert!(missing.contains("creates and fills it"), "{missing}");
    ran("migrate", "").exits(0);
    let lacking = ran("verify", ", indexes: { GSI1: { partition: G } }")
        .exits(1)
        .stderr;
    assert!(lacking.contains("the table has no index GSI1"), "{lacking}");
    assert!(!lacking.contains("creates and fills it"), "{lacking}");
}
