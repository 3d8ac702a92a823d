//! `preview`: the first items, and what all rows come to.

mod survey;

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::Stdio;

use serde_json::{Value, json};

use super::{MAPPING, says};
use crate::support::cli::{Ran, command, dynafold, signal};
use crate::support::source::Source;
use crate::support::sqlite::Database;

const PORTAL: &str = include_str!("../../migrations/sqlite/20260101000001_personalization.sql");

/// A mapping whose keys nothing proves: `code` is no unique column.
const EVENTS: &str = r#"
dynafold: 1
table:
  name: big
  key: { partition: PK, sort: SK }
  indexes: { GSI1: { partition: SK, sort: PK } }
  local_indexes: { LSI1: { sort: note } }
items:
  EVENT:
    from: events
    key: { PK: "T#{tenant}", SK: "E#{code}" }
  LOG:
    from: logs
    key: { PK: "T#{tenant}", SK: "E#{code}" }
    columns: []
"#;

/// `rows` events of 100 tenants, of which the first has a tenth; with two pairs of equal keys: two
/// events, and an event and a log.
async fn events(rows: u32) -> (Database, String) {
    let database = Database::new(&format!(
        "CREATE TABLE events (id INTEGER PRIMARY KEY, tenant TEXT NOT NULL, code TEXT NOT NULL, note TEXT);
         CREATE TABLE logs (id INTEGER PRIMARY KEY, tenant TEXT NOT NULL, code TEXT NOT NULL);
         WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < {rows})
         INSERT INTO events SELECT i, CASE WHEN i % 10 = 0 THEN 't0' ELSE 't' || (i % 100) END, 'c' || i, 'note' FROM n;
         UPDATE events SET tenant = 'p', code = 'same' WHERE id IN (123, {rows} - 7);
         UPDATE events SET tenant = 'p', code = 'across' WHERE id = 77;
         INSERT INTO logs VALUES (1, 'p', 'across'), (2, 'alone', 'alone');"
    ))
    .await;
    let mapping = database.folder().join("events.yaml");
    std::fs::write(&mapping, EVENTS).unwrap();
    (database, mapping.display().to_string())
}

/// Runs `preview --all`.
fn preview_all(url: &str, mapping: &str, further: &[&str]) -> Ran {
    let all = ["preview", mapping, "--source", url, "--all"];
    dynafold(&[&all[..], further].concat())
}

/// A report without what differs from run to run.
fn steady(text: &str) -> String {
    let lines = text.lines().map(|line| match line.split_once(" read in ") {
        Some((before, after)) => {
            let end = after.find(';').unwrap_or(after.len());
            format!("{before} read in …{}", &after[end..])
        }
        None => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn the_first_items_are_laid_out_by_item_collection() {
    let source = Database::new(PORTAL).await;
    let ran = dynafold(&[
        "preview",
        MAPPING,
        "--source",
        &source.url(),
        "--limit",
        "3",
    ])
    .exits(0);
    let widest = ran.stdout.lines().map(|line| line.chars().count()).max();
    assert!(widest.unwrap() <= 100, "{}", ran.stdout);
    insta::assert_snapshot!(ran.stdout);
}

#[tokio::test]
async fn a_table_without_a_sort_key_and_with_odd_values_is_laid_out_too() {
    let source = Database::new(
        "CREATE TABLE things (id INTEGER PRIMARY KEY, name TEXT, doc JSON, data BLOB, gone TEXT);
         INSERT INTO things VALUES
           (10, 'tab' || char(9) || 'and' || char(27) || '[31m', '{\"a\":[1,{\"b\":null}]}', x'00ff', NULL),
           (9, '', '[]', x'', NULL),
           (8, '김지우 김지우 김지우 김지우 김지우 김지우 김지우 김지우', '\"text\"', x'01', 'x');",
    )
    .await;
    let mapping = source.folder().join("things.yaml");
    let text = "dynafold: 1\ntable: { name: things, key: { partition: { name: id, type: N } }, type_attribute: false }\nitems: { THING: { from: things, omit: [id], key: { id: \"{id}\" } } }\n";
    std::fs::write(&mapping, text).unwrap();
    let mapping = mapping.display().to_string();
    let ran = dynafold(&["preview", &mapping, "--source", &source.url()]).exits(0);
    assert!(!ran.stdout.contains('\u{1b}'), "{}", ran.stdout);
    insta::assert_snapshot!(ran.stdout);
}

#[tokio::test]
async fn items_go_a_line_each_to_standard_output_or_into_a_new_file() {
    let source = Database::new(PORTAL).await;
    let url = source.url();
    let file = source.folder().join("items.ndjson").display().to_string();
    let all = |further: &[&str]| preview_all(&url, MAPPING, further);
    let plain = all(&["--format", "dynamodb-json"]).exits(0);
    assert_eq!(plain.stdout.lines().count(), 17);
    plain.says("no two items share one");
    let ran = all(&["--format", "ndjson", "--output", &file]).exits(0);
    ran.prints("no two items share one");
    let lines = std::fs::read_to_string(&file).unwrap();
    for (line, item) in lines.lines().zip(plain.stdout.lines()) {
        let line: Value = serde_json::from_str(line).unwrap();
        assert_eq!(line["item"], serde_json::from_str::<Value>(item).unwrap());
        assert!(line["row"].is_object() && line["size"].is_u64() && line["write_units"].is_u64());
        assert!(line["item_type"].is_string());
    }
    let ran = all(&["--format", "ndjson", "--output", &file]).exits(1);
    says(&ran, "exists already", "--output");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), lines);
    let sampled = dynafold(&[
        "preview", MAPPING, "--source", &url, "--items", "USER", "--format", "ndjson",
    ])
    .exits(0);
    let first = sampled.stdout.lines().next().unwrap();
    assert_eq!(Some(first), lines.lines().next());
}

#[tokio::test]
async fn rejected_rows_are_counted_by_code_and_the_first_are_named() {
    let source = Database::new(PORTAL).await;
    source
        .run("UPDATE users SET id = id + 1000 WHERE id IN (SELECT id FROM users LIMIT 2);")
        .await;
    let rejects = source.folder().join("rejects.ndjson");
    let file = rejects.display().to_string();
    let further = ["--items", "USER", "--format", "json", "--rejects", &file];
    let ran = preview_all(&source.url(), MAPPING, &further).exits(3);
    let report = ran.json();
    assert_eq!(
        report["total"]["rejects_by_code"],
        json!({ "pad-overflow": 2 })
    );
    assert_eq!(report["rejects"].as_array().unwrap().len(), 2);
    assert_eq!(std::fs::read_to_string(rejects).unwrap().lines().count(), 2);
    let other = report["item_types"][1]["rows_read"].clone();
    assert_eq!(other, 0, "the other item types are not read");
}

#[tokio::test]
async fn prices_are_of_one_region_and_may_be_the_users_own() {
    let source = Database::new(PORTAL).await;
    let url = source.url();
    let with = |more: &[&str]| preview_all(&url, MAPPING, &[more, &["--format", "json"]].concat());
    let seoul = with(&["--region", "ap-northeast-2"]).exits(0).json();
    assert_eq!(seoul["cost"]["prices"]["region"], "ap-northeast-2");
    // A region without prices is told, and nothing stops.
    let unknown = with(&["--price-region", "mars-1"]).exits(0).json();
    assert_eq!(unknown["cost"]["routes"][0]["usd"], json!(null));
    assert_eq!(unknown["cost"]["prices"]["date"], json!(null));
    let reported = preview_all(&url, MAPPING, &["--price-region", "mars-1"]);
    let reported = reported.exits(0).stdout;
    assert!(
        reported.contains("no built-in prices for mars-1, only for ap-northeast-1"),
        "{reported}"
    );
    assert!(reported.contains("not in the prices"), "{reported}");
    let file = source.folder().join("prices.json");
    let own = json!({
        "date": "2031-02-03",
        "default_region": "moon-1",
        "regions": { "moon-1": {
            "usd_per_million_write_units": 1e6, "usd_per_million_read_units": 1.0,
            "usd_per_write_unit_hour": 1.0, "usd_per_read_unit_hour": 1.0, "usd_per_gb_month": 1.0
        } }
    });
    std::fs::write(&file, own.to_string()).unwrap();
    let file = file.display().to_string();
    let own = with(&["--prices", &file]).exits(0).json();
    let on_demand = &own["cost"]["routes"][0];
    assert_eq!(on_demand["route"], "on_demand");
    assert_eq!(
        on_demand["usd"],
        own["total"]["write_units"].as_f64().unwrap()
    );
    assert_eq!(own["cost"]["prices"]["date"], "2031-02-03");
    std::fs::write(&file, "{}").unwrap();
    let ran = with(&["--prices", &file]).exits(2);
    says(&ran, "cannot be used", "docs/preview.md");
}

/// A page of a book that `$where` leaves out has a parent: the book is not read.
#[tokio::test(flavor = "multi_thread")]
async fn children_in_no_item_are_said_to_have_a_parent_that_is_missing_or_not_read() {
    let database = Database::new(
        "CREATE TABLE authors (id INTEGER PRIMARY KEY, active INT NOT NULL);
         CREATE TABLE books (id INTEGER PRIMARY KEY, author_id INT REFERENCES authors, sold INT NOT NULL);
         CREATE TABLE pages (id INTEGER PRIMARY KEY, book_id INT REFERENCES books);
         INSERT INTO authors VALUES (1, 1), (2, 0);
         INSERT INTO books VALUES (1, 1, 1), (2, 1, 0), (3, 2, 1), (4, NULL, 1);
         INSERT INTO pages VALUES (1, 1), (2, 2), (3, 3);",
    )
    .await;
    let mapping = database.folder().join("books.yaml");
    let text = r#"dynafold: 1
table: { name: app, key: { partition: PK } }
items:
  AUTHOR:
    from: authors
    where: active = 1
    key: { PK: "A#{id}" }
    columns: []
    attributes:
      books: { $embed: books, $where: sold = 1, $each: { id: "{id}", pages: { $embed: pages, $each: "{id}" } } }
"#;
    std::fs::write(&mapping, text).unwrap();
    let (mapping, source) = (mapping.display().to_string(), database.url());
    // Page 2 and book 4.
    let reported = "2 children whose parent is missing or not read";
    let preview = dynafold(&["preview", &mapping, "--source", &source, "--all"]).exits(0);
    assert!(preview.stdout.contains(reported), "{}", preview.stdout);
    let migrate = [
        "migrate", &mapping, "--source", &source, "--target", "local",
    ];
    let loaded = dynafold(&migrate).exits(0);
    assert!(loaded.stdout.contains(reported), "{}", loaded.stdout);
}
