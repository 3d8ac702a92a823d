//! `preview`: the first items, and what all rows come to.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::Stdio;

use serde_json::{Value, json};

use super::{MAPPING, says};
use crate::support::cli::{Ran, command, dynafold, run};
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
async fn all_rows_are_reported_on() {
    let source = Database::new(PORTAL).await;
    let ran = dynafold(&["preview", MAPPING, "--source", &source.url(), "--all"]).exits(0);
    insta::assert_snapshot!(steady(&ran.stdout));
    assert!(ran.stderr.contains("comparing the keys"), "{}", ran.stderr);
}

#[tokio::test]
async fn all_rows_come_to_the_same_from_every_database() {
    let mut first: Option<Value> = None;
    for source in Source::everywhere("personalization").await {
        let url = source.url();
        let ran = dynafold(&[
            "preview", MAPPING, "--source", &url, "--all", "--format", "json",
        ])
        .exits(0);
        let mut report = ran.json();
        assert_eq!(report["outcome"], json!({ "state": "complete" }));
        assert_eq!(report["total"]["made"], 16);
        report["elapsed_seconds"] = Value::Null;
        // Of equal items the first met is named, and databases give rows in orders of their own.
        report["largest"] = Value::Null;
        let same = *first.get_or_insert_with(|| report.clone()) == report;
        assert!(same, "{}: {report:#}", source.product());
        source.drop().await;
    }
}

#[tokio::test]
async fn equal_keys_are_found_with_all_their_rows_though_they_go_to_disk() {
    let (source, mapping) = events(60_000).await;
    let rejects = source.folder().join("rejects.ndjson");
    let ran = dynafold(&[
        "preview",
        &mapping,
        "--source",
        &source.url(),
        "--all",
        "--format",
        "json",
        "--key-memory",
        "1",
        "--rejects",
        &rejects.display().to_string(),
    ])
    .exits(3);
    let report = ran.json();
    let found = &report["collisions"];
    assert_eq!(found["proved"], true);
    assert!(
        found["spilled_bytes"].as_u64().unwrap() > 1 << 20,
        "{found}"
    );
    assert_eq!((&found["keys"], &found["items"]), (&json!(2), &json!(2)));
    assert_eq!(
        found["named"],
        json!([
            {
                "key": { "PK": { "S": "T#p" }, "SK": { "S": "E#across" } },
                "items": 2,
                "rows": [
                    { "item_type": "EVENT", "row": { "id": 77 } },
                    { "item_type": "LOG", "row": { "id": 1 } }
                ]
            },
            {
                "key": { "PK": { "S": "T#p" }, "SK": { "S": "E#same" } },
                "items": 2,
                "rows": [
                    { "item_type": "EVENT", "row": { "id": 123 } },
                    { "item_type": "EVENT", "row": { "id": 59_993 } }
                ]
            }
        ])
    );
    let books = &report["item_types"];
    assert_eq!(
        (&books[0]["rows_read"], &books[0]["made"]),
        (&json!(60_000), &json!(59_999))
    );
    assert_eq!(
        (&books[1]["rows_read"], &books[1]["made"]),
        (&json!(2), &json!(1))
    );
    assert_eq!(
        report["total"]["rejects_by_code"],
        json!({ "duplicate-key": 2 })
    );
    let lines = std::fs::read_to_string(&rejects).unwrap();
    let lines: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let told: Vec<(&str, &str)> = lines
        .iter()
        .map(|line| {
            (
                line["item_type"].as_str().unwrap(),
                line["message"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            (
                "EVENT",
                "the item has the same key as that of EVENT {\"id\":123}"
            ),
            (
                "LOG",
                "the item has the same key as that of EVENT {\"id\":77}"
            ),
        ]
    );
    let text = dynafold(&["preview", &mapping, "--source", &source.url(), "--all"]).exits(3);
    for named in [
        "EVENT {\"id\":59993}",
        "LOG {\"id\":1}",
        "2 keys are shared",
    ] {
        assert!(text.stdout.contains(named), "{}", text.stdout);
    }
}

#[tokio::test]
async fn hot_partitions_are_named_in_the_table_and_in_every_index() {
    let (source, mapping) = events(3_000).await;
    let ran = dynafold(&[
        "preview",
        &mapping,
        "--source",
        &source.url(),
        "--all",
        "--format",
        "json",
    ])
    .exits(3);
    let report = ran.json();
    let places = report["places"].as_array().unwrap();
    let names: Vec<&str> = places
        .iter()
        .map(|place| place["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["big", "GSI1", "LSI1"]);
    // A unit in the table for each of 3,002 items, one in the local index for each event.
    let table = &places[0]["hottest"];
    assert_eq!(
        (&table["total"], &table["error"]),
        (&json!(6_002), &json!(0))
    );
    assert_eq!(table["keys"][0]["key"], "T#t0");
    assert_eq!(table["keys"][0]["least"], 600);
    assert_eq!(places[0]["write_units"], 3_002);
    assert_eq!(places[2]["write_units"], 3_000);
    assert_eq!(places[2]["hottest"], Value::Null);
    assert_eq!(places[1]["hottest"]["keys"][0]["key"], "E#across");
    let collections = &report["collections"];
    assert_eq!(collections["limit"], 10_737_418_240_u64);
    assert_eq!(
        (&collections["over"], &collections["complete"]),
        (&json!([]), &json!(true))
    );
    assert_eq!(collections["largest"]["keys"][0]["key"], "T#t0");
}

#[tokio::test]
async fn write_rates_say_how_hot_a_partition_will_be_and_what_steady_writes_cost() {
    let (source, mapping) = events(3_000).await;
    let rated = EVENTS.replace("from: events\n", "from: events\n    write_rate: 6000\n");
    std::fs::write(&mapping, rated).unwrap();
    let url = source.url();
    let arguments = ["preview", &mapping, "--source", &url, "--all"];
    let ran = dynafold(&[&arguments[..], &["--format", "json"]].concat()).exits(3);
    let report = ran.json();
    // 6,000 writes a second, each of a unit in the table and one in its local index; a tenth of
    // the events are of one tenant.
    let table = &report["places"][0]["rated"];
    assert_eq!(table["units_per_second"], 12_000.0);
    assert_eq!(table["keys"][0], json!(["T#t0", 1_200.0]));
    assert_eq!(table["error"], 0.0);
    // Each event has a key of its own in the global index: more than the sketch holds.
    let index = &report["places"][1]["rated"];
    assert_eq!(index["units_per_second"], 6_000.0);
    assert!(index["error"].as_f64().unwrap() > 0.0);
    assert_eq!(report["places"][2]["rated"], Value::Null);
    let steady = &report["cost"]["steady"];
    assert_eq!(steady["units_per_second"], 18_000.0);
    assert_eq!(steady["on_demand_usd"], 29_160.0);
    assert_eq!(steady["provisioned_usd"], 8_424.0);
    let text = dynafold(&arguments).exits(3).stdout;
    let hot = "1200.0  T#t0  more than the 1000 that a partition takes";
    assert!(text.contains(hot), "{text}");
    assert!(
        text.contains("on demand is cheaper while the mean load is below 29 %"),
        "{text}"
    );
}

#[tokio::test]
async fn a_full_disk_is_named_and_nothing_is_called_proved() {
    let (source, mapping) = events(60_000).await;
    let limited = format!(
        "trap '' XFSZ; ulimit -f 1; exec {} preview {mapping} --source {} --all --key-memory 1 --format json",
        env!("CARGO_BIN_EXE_dynafold"),
        source.url()
    );
    let output = std::process::Command::new("sh")
        .args(["-c", &limited])
        .output()
        .unwrap();
    let ran = Ran {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
    .exits(1);
    says(
        &ran,
        "cannot write the keys to a file",
        "24 bytes for each item",
    );
    let report = ran.json();
    assert_eq!(report["outcome"]["state"], "failed");
    assert_eq!(report["outcome"]["code"], "proof");
    assert_eq!(report["collisions"]["proved"], false);
}

#[tokio::test]
async fn items_go_a_line_each_to_standard_output_or_into_a_new_file() {
    let source = Database::new(PORTAL).await;
    let url = source.url();
    let file = source.folder().join("items.ndjson").display().to_string();
    let all = |format: &str, more: &[&str]| {
        let mut arguments = vec![
            "preview", MAPPING, "--source", &url, "--all", "--format", format,
        ];
        arguments.extend(more);
        dynafold(&arguments)
    };
    let plain = all("dynamodb-json", &[]).exits(0);
    assert_eq!(plain.stdout.lines().count(), 16);
    assert!(
        plain.stderr.contains("no two items share one"),
        "{}",
        plain.stderr
    );
    let ran = all("ndjson", &["--output", &file]).exits(0);
    assert!(
        ran.stdout.contains("no two items share one"),
        "{}",
        ran.stdout
    );
    let lines = std::fs::read_to_string(&file).unwrap();
    for (line, item) in lines.lines().zip(plain.stdout.lines()) {
        let line: Value = serde_json::from_str(line).unwrap();
        assert_eq!(line["item"], serde_json::from_str::<Value>(item).unwrap());
        assert!(line["row"].is_object() && line["size"].is_u64() && line["write_units"].is_u64());
        assert!(line["item_type"].is_string());
    }
    let ran = all("ndjson", &["--output", &file]).exits(1);
    says(&ran, "is there already", "--output");
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
    let ran = dynafold(&[
        "preview",
        MAPPING,
        "--source",
        &source.url(),
        "--all",
        "--items",
        "USER",
        "--format",
        "json",
        "--rejects",
        &rejects.display().to_string(),
    ])
    .exits(3);
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
    let with = |more: &[&str]| {
        let mut arguments = vec![
            "preview", MAPPING, "--source", &url, "--all", "--format", "json",
        ];
        arguments.extend(more);
        dynafold(&arguments)
    };
    let seoul = with(&["--region", "ap-northeast-2"]).exits(0).json();
    assert_eq!(seoul["cost"]["prices"]["region"], "ap-northeast-2");
    let unknown = with(&["--region", "mars-1"]).exits(2);
    assert!(unknown.stderr.contains("us-east-1"), "{}", unknown.stderr);
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

#[cfg(unix)]
#[tokio::test]
async fn an_interrupt_ends_the_reading_and_says_so() {
    let (source, mapping) = events(200_000).await;
    let url = source.url();
    let mut child = command(&[
        "preview",
        &mapping,
        "--source",
        &url,
        "--all",
        "--format",
        "dynamodb-json",
    ])
    .stdout(Stdio::piped())
    .stderr(Stdio::piped())
    .spawn()
    .unwrap();
    let mut items = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    items.read_line(&mut line).unwrap();
    // The first item is there, so the program listens.
    let id = child.id().to_string();
    run(std::process::Command::new("kill").args(["-INT", &id])).exits(0);
    let mut rest = Vec::new();
    items.read_to_end(&mut rest).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(
        said.contains("interrupted: the figures are of the rows read until then"),
        "{said}"
    );
    assert!(
        said.contains("not compared: the reading was interrupted"),
        "{said}"
    );
}

/// The most memory that a run takes, in bytes, as Linux counts it.
#[cfg(target_os = "linux")]
fn peak_of(arguments: &[&str]) -> u64 {
    let mut child = command(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    while child.try_wait().unwrap().is_none() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok());
        peak = peak.max(kib.unwrap_or(0) << 10);
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    peak
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn memory_does_not_grow_with_the_rows() {
    let mut peaks = Vec::new();
    for rows in [50_000, 250_000] {
        let (source, mapping) = events(rows).await;
        let url = source.url();
        peaks.push(peak_of(&[
            "preview",
            &mapping,
            "--source",
            &url,
            "--all",
            "--key-memory",
            "1",
        ]));
    }
    assert!(peaks[0] > 0 && peaks[1] < 100 << 20, "{peaks:?}");
    // A set of the fingerprints would have taken 6 MiB more or double that.
    assert!(peaks[1] < peaks[0] + (5 << 20), "{peaks:?}");
}
