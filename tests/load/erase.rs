//! A partition that is erased at an endpoint with limits and faults, judged by the endpoint's own counts.

use serde_json::Value;

use super::resume::case::Case;
use crate::support::cli::{Ran, run};
use crate::support::sqlite::Database;

const MAPPING: &str = r#"dynafold: 1
table:
  name: app
  key: { partition: PK, sort: SK }
  indexes:
    GSI1: { partition: kind, sort: SK, project: keys }
items:
  EVENT:
    from: events
    key: { PK: "OWNER#{owner}", SK: "EVENT#{id | pad(8)}" }
"#;

/// Events of one owner, of two units each, and one of each of ten neighbours.
const EVENTS: u64 = 2_500;
const NEIGHBOURS: u64 = 10;

/// A table that is loaded, at an endpoint that does this from then on.
async fn loaded(settings: &str) -> (Case, Database) {
    let database = Database::new(&format!(
        "CREATE TABLE events (id INTEGER PRIMARY KEY, owner TEXT NOT NULL, kind TEXT NOT NULL);
         WITH RECURSIVE n(id) AS (VALUES (1) UNION ALL SELECT id + 1 FROM n WHERE id < {})
         INSERT INTO events SELECT id, CASE WHEN id > {NEIGHBOURS} THEN 'x' ELSE 'x' || id END, 'k' || (id % 50) FROM n;",
        EVENTS + NEIGHBOURS
    ))
    .await;
    let mut case = Case::storm(&database.url(), "");
    case.map(MAPPING);
    case.options.clear();
    case.migrate(&[]).exits(0);
    case.set(settings);
    (case, database)
}

fn erase(case: &Case, further: &[&str]) -> Ran {
    let further = [&["--partition", "OWNER#x", "--yes"], further].concat();
    run(&mut case.command("erase", &further))
}

fn deleted(report: &Value) -> u64 {
    report["total"]["deleted"].as_u64().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ceiling_is_kept_while_a_partition_is_erased() {
    let (case, _database) = loaded("consumed: nothing").await;
    let report = erase(&case, &["--max-wcu", "500"]).exits(0).json();
    assert_eq!(deleted(&report), EVENTS);
    assert_eq!(report["total"]["write_units"], 2 * EVENTS);
    let counts = case.storms().counts();
    // In five seconds, and one item more.
    assert!(counts.window.most_units <= 2502.0, "{counts:#?}");
    assert!(counts.window.most_units >= 2000.0, "{counts:#?}");
    assert_eq!(counts.tables["app"].items, NEIGHBOURS);
}

#[tokio::test(flavor = "multi_thread")]
async fn all_of_a_partition_goes_through_noise_and_limits() {
    let noise = include_str!("../../scripts/bench.d/noise.yaml");
    let (case, _database) = loaded(&format!("{noise}limits: {{ partition_wcu: 250 }}\n")).await;
    let report = erase(&case, &[]).exits(0).json();
    // What was deleted by a request whose answer was lost counts once it is answered.
    assert_eq!(
        (deleted(&report), &report["left"]),
        (EVENTS, &Value::from(0))
    );
    assert_eq!(report["claims"][0]["verdict"], "proved");
    let counts = case.storms().counts();
    assert!(
        counts.items.refused > 0 && counts.items.left > 0,
        "{counts:#?}"
    );
    assert_eq!(counts.tables["app"].items, NEIGHBOURS);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_erasure_that_may_not_write_says_what_is_done() {
    let denied = "faults: [{ do: access-denied, operations: [BatchWriteItem], after: 20 }]";
    let (case, _database) = loaded(denied).await;
    let ran = erase(&case, &[]).exits(1);
    let report = ran.json();
    assert_eq!(
        (&report["outcome"]["state"], &report["outcome"]["code"]),
        (&"failed".into(), &"AccessDeniedException".into())
    );
    assert_eq!((deleted(&report), &report["left"]), (500, &Value::Null));
    assert_eq!(report["claims"], Value::Array(Vec::new()));
    assert_eq!(
        case.storms().counts().tables["app"].items,
        EVENTS - 500 + NEIGHBOURS
    );
    case.set("");
    let report = erase(&case, &[]).exits(0).json();
    assert_eq!(deleted(&report), EVENTS - 500);
    assert_eq!(case.storms().counts().tables["app"].items, NEIGHBOURS);
}
