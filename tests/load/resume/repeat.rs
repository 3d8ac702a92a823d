//! Loads that come again: what they write, what they delete, and what they leave alone.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::bench::{MAPPING, script};
use super::case::Case;
use super::left::total;
use crate::support::books::hold_loaded;
use crate::support::cli::run;
use crate::support::contents;
use crate::support::sqlite::Database;

/// A source without rows that are rejected.
pub(super) async fn clean() -> Database {
    let database = Database::new(&script("sqlite")).await;
    database
        .run("DELETE FROM events WHERE code IS NULL OR note = 'late'")
        .await;
    database
}

/// Loaded, and the endpoint counts from here on.
pub(super) fn loaded(database: &Database) -> Case {
    let case = Case::storm(&database.url(), "");
    case.migrate(&[]).exits(0);
    case.set("");
    case
}

/// Puts an item that no row makes.
pub(super) async fn plant(case: &Case, partition: &str, sort: &str, item_type: Option<&str>) {
    let mut item = json!({ "PK": { "S": partition }, "SK": { "S": sort } });
    if let Some(name) = item_type {
        item["_type"] = json!({ "S": name });
    }
    contents::plant(&*case.open().await, "app", &[item]).await;
}

pub(super) async fn keys(case: &Case) -> BTreeSet<String> {
    let key = |line: String| {
        let item: Value = serde_json::from_str(&line).unwrap();
        let text = |name: &str| item[name]["S"].as_str().unwrap().to_owned();
        format!("{} {}", text("PK"), text("SK"))
    };
    case.contents().await.into_iter().map(key).collect()
}

/// What keys are gone since an earlier look.
pub(super) async fn gone(case: &Case, before: &BTreeSet<String>) -> Vec<String> {
    let now = keys(case).await;
    before.difference(&now).cloned().collect()
}

fn written(case: &Case) -> (u64, u64) {
    let items = case.storms().counts().items;
    (items.put, items.deleted)
}

pub(super) const NIGHTLY: &[&str] = &["--changes-only", "--prune"];
/// The same, with the items of rows that `where` leaves out.
const WHOLE: &[&str] = &["--changes-only", "--prune=filtered"];

#[tokio::test(flavor = "multi_thread")]
async fn a_nightly_load_writes_what_changed_and_deletes_what_is_gone() {
    let database = clean().await;
    let case = loaded(&database);
    case.migrate(&["--plan", "--prune=filtered"]).exits(0);
    assert_eq!(written(&case), (0, 0));
    database
        .run(
            "UPDATE orders SET total = total + 1 WHERE id % 100 = 1;
             DELETE FROM order_lines WHERE order_id = 7;
             INSERT INTO events VALUES (90000, 'new', 'n');
             UPDATE orders SET status = 'paid' WHERE id = 30;
             DELETE FROM sessions WHERE id = 1;",
        )
        .await;
    // Nine orders, one event, one order that is not open any more.
    let plan = case
        .migrate(&["--plan", "--prune=filtered"])
        .exits(3)
        .json();
    hold_loaded(&plan);
    assert_eq!((total(&plan, "planned"), total(&plan, "changed")), (11, 10));
    assert_eq!(total(&plan, "deleted"), 5);
    let requests = case.storms().counts().requests;
    assert!(!requests.contains_key("BatchWriteItem"), "{requests:?}");
    let report = case.migrate(WHOLE).exits(0).json();
    hold_loaded(&report);
    assert_eq!(
        (total(&report, "written"), total(&report, "deleted")),
        (11, 5)
    );
    assert_eq!(written(&case), (11, 5));
    case.verify().exits(0);
    case.migrate(&["--plan", "--prune=filtered"]).exits(0);
    let report = case.migrate(WHOLE).exits(0).json();
    assert_eq!(
        (total(&report, "written"), total(&report, "deleted")),
        (0, 0)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_narrower_where_deletes_nothing_outside() {
    let database = clean().await;
    let case = loaded(&database);
    let before = keys(&case).await;
    case.map(&MAPPING.replace(
        "where: status = 'open'",
        "where: status = 'open' AND id < 100",
    ));
    database
        .run("DELETE FROM orders WHERE id IN (3, 300)")
        .await;
    for _ in 0..2 {
        case.migrate(NIGHTLY).exits(0).says("--prune=filtered");
        let mut all = gone(&case, &before).await;
        all.retain(|key| key.starts_with("OPEN#"));
        assert_eq!(all.len(), 2, "{all:?}");
    }
    case.verify().exits(3);
    case.migrate(WHOLE).exits(0);
    case.verify().exits(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_selection_of_item_types_or_a_partition_deletes_nothing_outside() {
    let database = clean().await;
    let case = loaded(&database);
    plant(&case, "CUSTOMER#00000008", "ELSEWHERE", Some("OTHER")).await;
    plant(&case, "CUSTOMER#00000008", "NOBODY", None).await;
    plant(&case, "EVENT#planted", "EVENT#", Some("OTHER")).await;
    plant(&case, "EVENT#stale", "EVENT#", Some("EVENT")).await;
    let before = keys(&case).await;
    database
        .run(
            "DELETE FROM events WHERE id = 5;
             DELETE FROM order_lines WHERE order_id = 7;
             DELETE FROM orders WHERE customer_id IN (8, 9);",
        )
        .await;
    let nightly = |more: &[&str]| case.migrate(&[NIGHTLY, more].concat()).exits(0).json();
    let report = nightly(&["--items", "EVENT"]);
    assert_eq!(total(&report, "deleted"), 2);
    assert_eq!(
        gone(&case, &before).await,
        ["EVENT#code-5 EVENT#", "EVENT#stale EVENT#"]
    );
    let before = keys(&case).await;
    let report = nightly(&["--partition", "CUSTOMER#00000008"]);
    hold_loaded(&report);
    let all = gone(&case, &before).await;
    assert_eq!(total(&report, "deleted"), 5, "{all:?}");
    assert!(
        all.iter()
            .all(|key| key.starts_with("CUSTOMER#00000008 ORDER#")),
        "{all:?}"
    );
    // What is left goes with a run over everything, and what is not the mapping's stays.
    let before = keys(&case).await;
    let report = nightly(&[]);
    let all = gone(&case, &before).await;
    assert_eq!(total(&report, "deleted"), u64::try_from(all.len()).unwrap());
    let left = keys(&case).await;
    for planted in [
        "CUSTOMER#00000008 ELSEWHERE",
        "CUSTOMER#00000008 NOBODY",
        "EVENT#planted EVENT#",
    ] {
        assert!(left.contains(planted), "{planted}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_that_holds_items_is_not_written_to_unless_told_to() {
    let database = clean().await;
    let case = loaded(&database);
    plant(&case, "ELSEWHERE", "1", None).await;
    let before = keys(&case).await;
    case.set("");
    let refused = case.migrate(&[]).exits(1);
    for way in ["--append", "--changes-only", "--replace", "--plan"] {
        refused.says(way);
    }
    assert_eq!(written(&case), (0, 0));
    database.run("DELETE FROM customers WHERE id = 1").await;
    let report = case.migrate(&["--append"]).exits(0).json();
    assert_eq!(written(&case).0, total(&report, "made"));
    assert_eq!(keys(&case).await, before);
    case.migrate(&["--replace"]).exits(2).says("--yes");
    assert_eq!(keys(&case).await, before);
    case.migrate(&["--replace", "--yes"]).exits(0);
    assert_eq!(
        gone(&case, &before).await,
        ["CUSTOMER#00000001 CUSTOMER#", "ELSEWHERE 1"]
    );
    case.verify().exits(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn rejects_are_loaded_once_they_are_mended() {
    let database = Database::new(&script("sqlite")).await;
    let case = Case::storm(&database.url(), "");
    let report = case.migrate(&[]).exits(3).json();
    let rejected = total(&report, "rejected");
    assert_eq!(rejected, 9);
    database
        .run("UPDATE events SET code = 'mended-' || id WHERE code IS NULL OR note = 'late'")
        .await;
    let file = case.path("app.rejects.ndjson").display().to_string();
    let rejects = case.lines("app.rejects.ndjson");
    // Other keys would leave what is loaded already under the old ones.
    case.map(&MAPPING.replace("\"EVENT#{code}\"", "\"EVT#{code}\""));
    case.set("");
    case.migrate(&["--retry-rejects", &file])
        .exits(1)
        .says("EVENT");
    assert_eq!(written(&case), (0, 0));
    // Another attribute does not.
    case.map(&MAPPING.replace(
        "    columns: [placed_at]\n",
        "    columns: [placed_at, total]\n",
    ));
    let report = case.migrate(&["--retry-rejects", &file]).exits(0).json();
    hold_loaded(&report);
    assert_eq!(total(&report, "written"), rejected);
    assert_eq!(written(&case), (rejected, 0));
    assert_eq!(case.lines("app.rejects.ndjson"), rejects);
    case.map(MAPPING);
    case.verify().exits(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_pass_says_how_many_items_were_overwritten() {
    let database = Database::new(&script("sqlite")).await;
    database.run("DELETE FROM events WHERE code IS NULL").await;
    let case = Case::storm(&database.url(), "");
    let ran = case.migrate(&["--one-pass"]).exits(3);
    ran.prints("4 items have the key of another item");
    let report = ran.json();
    hold_loaded(&report);
    assert_eq!(report["keys"]["check"], "late");
    assert_eq!(report["keys"]["overwritten"], 4, "{report:#}");
    let items = u64::try_from(case.contents().await.len()).unwrap();
    assert_eq!(items + 4, total(&report, "made"));
}

/// Rows with items of a hundred kilobytes, in a table with these settings.
async fn large(rows: u32) -> (Database, Case) {
    let database = Database::new(&format!(
        "CREATE TABLE docs (id INTEGER PRIMARY KEY, tenant INTEGER NOT NULL, text VARCHAR(200000));
         WITH RECURSIVE n (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < {rows})
         INSERT INTO docs SELECT id, id % 5, hex(zeroblob(51000)) FROM n;"
    ))
    .await;
    let case = Case::storm(&database.url(), "");
    case.map(
        r#"dynafold: 1
table:
  name: app
  key: { partition: PK, sort: SK }
items:
  DOC:
    from: docs
    key: { PK: "DOC#{tenant}", SK: "{id | pad(8)}" }
"#,
    );
    case.migrate(&[]).exits(0);
    case.set("");
    (database, case)
}

/// Fails unless no second took more than a ceiling of so many units lets through, and one item.
#[track_caller]
fn hold_ceiling(case: &Case, units: f64, item: f64) {
    let counts = case.storms().counts();
    for used in &counts.units.each_second {
        // A second of its window of five, and what may be sent at once.
        let most = units * 1.2 + item;
        assert!(*used <= most, "{used} of {most}: {:?}", counts.units);
    }
    assert!(counts.window.most_units <= units * 5.0 + item);
}

#[tokio::test(flavor = "multi_thread")]
async fn deletions_of_large_items_keep_to_the_ceiling() {
    let (database, case) = large(42).await;
    database.run("DELETE FROM docs WHERE id > 12").await;
    let ceiling = ["--changes-only", "--prune", "--max-wcu", "1500"];
    let ended = case.migrate(&ceiling).exits(0);
    hold_loaded(&ended.json());
    assert_eq!(total(&ended.json(), "deleted"), 30);
    assert_eq!(case.storms().counts().items.deleted, 30);
    hold_ceiling(&case, 1500.0, 100.0);
}

#[tokio::test(flavor = "multi_thread")]
async fn deletions_of_small_items_are_not_slowed_by_one_that_was_large() {
    let database = clean().await;
    let wide = "UPDATE customers SET email = hex(zeroblob(80000)) WHERE id = 1";
    database.run(wide).await;
    let case = loaded(&database);
    database.run("DELETE FROM order_lines").await;
    let begun = std::time::Instant::now();
    let ended = case.migrate(NIGHTLY).exits(0);
    assert_eq!(total(&ended.json(), "deleted"), 900);
    let counts = case.storms().counts();
    // One by one at first, and then in batches.
    let deletions = counts.requests["BatchWriteItem"].received;
    assert!(deletions < 150, "{deletions} in {:?}", begun.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repair_keeps_to_its_ceiling() {
    let (database, case) = large(30).await;
    database.run("UPDATE docs SET text = text || 'x'").await;
    let ran = run(&mut case.command("verify", &["--repair", "--max-wcu", "1500"]));
    assert_eq!(total(&ran.exits(0).json(), "repaired"), 30);
    hold_ceiling(&case, 1500.0, 100.0);
}
