//! What all rows come to: keys, hot partitions, capacity, within bounded memory.

use super::*;
use crate::support::books::claimed;

#[tokio::test]
async fn all_rows_are_reported_on() {
    let source = Database::new(PORTAL).await;
    let ran = preview_all(&source.url(), MAPPING, &[]).exits(0);
    insta::assert_snapshot!(steady(&ran.stdout));
    ran.says("comparing the keys");
}

#[tokio::test]
async fn all_rows_come_to_the_same_from_every_database() {
    let mut first: Option<Value> = None;
    for source in Source::everywhere("personalization").await {
        let url = source.url();
        let ran = preview_all(&url, MAPPING, &["--format", "json"]).exits(0);
        let mut report = ran.json();
        assert_eq!(report["outcome"], json!({ "state": "complete" }));
        assert_eq!(report["total"]["made"], 17);
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
    let file = rejects.display().to_string();
    let further = ["--format", "json", "--key-memory", "1", "--rejects", &file];
    let ran = preview_all(&source.url(), &mapping, &further).exits(3);
    let report = ran.json();
    let found = &report["collisions"];
    assert_eq!(claimed(&report, "keys_differ"), "differs");
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
                    { "item_type": "LOG", "row": { "id": 1 } },
                    { "item_type": "EVENT", "row": { "id": 77 } }
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
        (&json!(60_000), &json!(59_998))
    );
    assert_eq!(
        (&books[1]["rows_read"], &books[1]["made"]),
        (&json!(2), &json!(2))
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
    let reported: Vec<(&str, &str)> = lines
        .iter()
        .map(|line| {
            (
                line["item_type"].as_str().unwrap(),
                line["message"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        reported,
        [
            (
                "EVENT",
                "the item has the same key as that of EVENT {\"id\":123}"
            ),
            (
                "EVENT",
                "the item has the same key as that of LOG {\"id\":1}"
            ),
        ]
    );
    let text = preview_all(&source.url(), &mapping, &[]).exits(3);
    for named in [
        "EVENT {\"id\":59993}",
        "LOG {\"id\":1}",
        "2 keys are shared",
    ] {
        text.prints(named);
    }
}

#[tokio::test]
async fn rejects_beyond_the_first_keys_are_counted_and_not_said_to_be_in_the_file() {
    let source = Database::new(
        "CREATE TABLE twins (id INTEGER PRIMARY KEY, k INTEGER);
         INSERT INTO twins VALUES (0, NULL);
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20200)
         INSERT INTO twins SELECT i, i % 10100 FROM n;",
    )
    .await;
    let mapping = source.folder().join("twins.yaml");
    let text = "dynafold: 1\ntable: { name: twins, key: { partition: PK } }\nitems: { TWIN: { from: twins, key: { PK: \"K#{k}\" }, columns: [] } }\n";
    std::fs::write(&mapping, text).unwrap();
    let (mapping, file) = (mapping.display().to_string(), source.folder().join("r"));
    let rejects = file.display().to_string();
    let all = |format: &str| {
        let further = ["--rejects", &rejects, "--format", format];
        preview_all(&source.url(), &mapping, &further).exits(3)
    };
    let report = all("json").json();
    let lines = std::fs::read_to_string(&file).unwrap().lines().count();
    assert_eq!(lines, 10_001);
    assert_eq!(report["total"]["rejected"], 10_101);
    assert_eq!(report["rejects_in_file"], 10_001);
    let missing = "100 rejected rows are not in the rejects file: only the rows of the first 10,000 shared keys were looked up";
    assert_eq!(report["warnings"], json!([missing]));
    let ran = all("table");
    ran.says(missing);
    ran.prints(&format!(" in {rejects}: 10,001 rows of them"));
    source.run("DELETE FROM twins WHERE id > 10000").await;
    let ran = all("table");
    ran.prints(&format!(" they are in {rejects}"));
    assert!(!ran.stderr.contains("rejects file"), "{}", ran.stderr);
}

#[tokio::test]
async fn item_types_that_are_left_out_and_may_make_the_same_keys_are_named() {
    let (source, mapping) = events(300).await;
    let url = source.url();
    let said = "the keys of EVENT were not compared";
    let some = |format: &str, code: i32| {
        dynafold(&[
            "preview", &mapping, "--source", &url, "--all", "--items", "LOG", "--format", format,
        ])
        .exits(code)
    };
    // An event and a log have one key.
    let ran = some("json", 0);
    ran.says(said);
    let report = ran.json();
    assert_eq!(claimed(&report, "keys_differ"), "not_proved");
    assert_eq!(report["claims"][0]["because"], said);
    assert_eq!(report["collisions"]["keys"], 0);
    let reported = report["warnings"][0].as_str().unwrap();
    assert!(reported.starts_with(said), "{reported}");
    let text = some("table", 0).stdout;
    assert!(text.contains(said), "{text}");
    // Two logs have one key: that is known, and still not all.
    source
        .run("INSERT INTO logs VALUES (3, 'alone', 'alone')")
        .await;
    let ran = some("table", 3);
    ran.says(said);
    let text = &ran.stdout;
    assert!(
        text.contains("1 key is shared") && !text.contains("all keys were compared"),
        "{text}"
    );
    // Keys of which `check` proves that they differ need no comparison.
    let apart = EVENTS.replacen("E#{code}", "V#{code}", 1);
    std::fs::write(&mapping, apart).unwrap();
    source.run("DELETE FROM logs WHERE id = 3").await;
    let report = some("json", 0).json();
    assert_eq!(claimed(&report, "keys_differ"), "proved");
    assert_eq!(report["warnings"], json!([]));
}

#[tokio::test]
async fn hot_partitions_are_named_in_the_table_and_in_every_index() {
    let (source, mapping) = events(3_000).await;
    let ran = preview_all(&source.url(), &mapping, &["--format", "json"]).exits(3);
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
    // The two items that have no key of the local index take nothing there.
    assert_eq!(
        (&places[0]["items"], &places[2]["items"]),
        (&json!(3_002), &json!(3_000))
    );
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
    std::fs::write(&mapping, &rated).unwrap();
    let url = source.url();
    let ran = preview_all(&url, &mapping, &["--format", "json"]).exits(3);
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
    let text = preview_all(&url, &mapping, &[]).exits(3).stdout;
    let hot = "1200.0  T#t0  more than the 1000 that a partition takes";
    assert!(text.contains(hot), "{text}");
    assert!(
        text.contains("on demand is cheaper while the mean load is below 29 %"),
        "{text}"
    );
    // Three events of a tenant are a tenth by chance.
    let (few, mapping) = events(30).await;
    std::fs::write(&mapping, rated).unwrap();
    let text = preview_all(&few.url(), &mapping, &[]).stdout;
    assert!(
        text.contains("too few rows to tell how the writes spread")
            && !text.contains("1200.0  T#t0"),
        "{text}"
    );
}

#[cfg(target_os = "linux")]
/// Posts of which half are of one author, read by author, by id, all at once, and from shards.
const READS: &str = r#"
dynafold: 1
table:
  name: blog
  key: { partition: PK, sort: SK }
  indexes: { ALL: { partition: kind, sort: SK, accept: [single-partition] }, SPREAD: { partition: shard, sort: SK }, TITLE: { partition: [titled, number], project: keys } }
items:
  POST:
    from: posts
    key: { PK: "AUTHOR#{author}", SK: "POST#{id | pad(6)}" }
    attributes: { kind: POST, shard: "P#{id | shard(4)}", titled: "{title}", number: "{id | string}" }
access_patterns:
  ofAuthor: { key: { PK: "AUTHOR#{author}" }, consistent: true, rate: 100, sql: "SELECT * FROM posts WHERE author = :author" }
  latest: { key: { PK: "AUTHOR#{author}" }, order: desc, limit: 1, rate: 10 }
  one: { key: { PK: "AUTHOR#{author}", SK: "POST#{id | pad(6)}" }, rate: 1000, sql: "SELECT title FROM posts WHERE id = :id AND author = :author" }
  all: { index: ALL, key: { kind: POST }, limit: 10, rate: 7000, accept: [hot-reads] }
  hers: { key: { PK: "AUTHOR#ann" }, limit: 1, rate: 30 }
  spread: { index: SPREAD, key: { shard: "P#{* | shard(4)}" }, limit: 1, rate: 40 }
  titled: { index: TITLE, key: { titled: "{title}", number: "{number}" }, fetch: true, rate: 20, sql: "SELECT title FROM posts WHERE title = :title AND id = :number" }
  unrated: { key: { PK: "AUTHOR#{author}" } }
"#;

/// 40 posts, 20 of them of one author, with bodies of so many bytes.
async fn posts(body: u32) -> (Database, String) {
    let database = Database::new(&format!(
        "CREATE TABLE posts (id INTEGER PRIMARY KEY, author TEXT NOT NULL, title TEXT, body TEXT);
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)
         INSERT INTO posts SELECT i, CASE WHEN i <= 20 THEN 'ann' ELSE 'b' || i END, 'title',
            substr(hex(zeroblob({body})), 1, {body}) FROM n;"
    ))
    .await;
    let mapping = database.folder().join("posts.yaml");
    std::fs::write(&mapping, READS).unwrap();
    (database, mapping.display().to_string())
}

#[tokio::test]
async fn read_rates_say_how_hot_a_partition_will_be_by_the_shares_that_keys_have() {
    let (source, mapping) = posts(5_000).await;
    let all = |further: &[&str]| preview_all(&source.url(), &mapping, further).exits(0);
    let text = all(&[]).stdout;
    let from = text.find("Expected read units").unwrap();
    let to = text.find("Keys\n").unwrap();
    insta::assert_snapshot!(&text[from..to]);
    let report = all(&["--format", "json"]).json();
    let of = |place: usize, key: &str| -> Value {
        let keys = report["places"][place]["reads"]["keys"].as_array().unwrap();
        keys.iter()
            .find(|found| found["key"] == key)
            .unwrap()
            .clone()
    };
    // Half of the requests are of her: 50 a second of all 20 posts, each 5 KB, which are 25 units; 5 of one post and
    // more, half a unit; 500 of one post of 5 KB, which is two halves.
    let ann = of(0, "AUTHOR#ann");
    let posts = &report["item_types"][0];
    // 40 of 5,0xx bytes, so that half of them are 24.4 to 25.4 units.
    let bytes = posts["bytes"].as_u64().unwrap() / 2;
    assert_eq!(bytes.div_ceil(4_096), 25, "{posts}");
    assert_eq!(
        ann["patterns"],
        json!({ "hers": 15.0, "latest": 2.5, "ofAuthor": 50.0 * 25.0, "one": 500.0, "titled": 10.0 })
    );
    // Each of the twenty others; what asks for hers alone asks no other.
    let other = &of(0, "AUTHOR#b21")["patterns"];
    assert_eq!(
        (&other["one"], &other["hers"]),
        (&json!(25.0), &Value::Null)
    );
    // All requests ask the one value of an index.
    assert_eq!(of(1, "POST")["patterns"], json!({ "all": 3500.0 }));
    // Each request asks all four shards.
    let shards = report["places"][2]["reads"]["keys"].as_array().unwrap();
    let shards: Vec<&Value> = shards
        .iter()
        .map(|shard| &shard["units_per_second"])
        .collect();
    assert_eq!(shards, [20.0; 4]);
    // Of a part of the item types shares would be wrong.
    let part = all(&["--items", "POST"]);
    assert!(
        !part.stdout.contains("Expected read units"),
        "{}",
        part.stdout
    );
}

#[tokio::test]
async fn large_items_of_which_little_is_read_are_told_with_figures() {
    let (source, mapping) = posts(5_000).await;
    let report = preview_all(&source.url(), &mapping, &["--format", "json"]);
    let report = report.exits(0).json();
    let wide = &report["wide"][0];
    let (mean, patterns) = (wide["mean_bytes"].as_u64().unwrap(), &wide["patterns"]);
    assert_eq!((&wide["large"], &wide["items"]), (&json!(40), &json!(40)));
    assert!((5_000..5_200).contains(&mean), "{wide}");
    assert_eq!(wide["mean_write_units"], json!(mean.div_ceil(1_024)));
    // What `SELECT *` reads is all of it, and of a pattern without SQL it is not known.
    assert_eq!(patterns.as_array().unwrap().len(), 2, "{wide}");
    // What an index finds and is fetched is read whole.
    for (little, pattern) in [(&patterns[0], "one"), (&patterns[1], "titled")] {
        assert_eq!(little["pattern"], pattern);
        // PK and SK with their names, and `title`.
        assert_eq!(little["mean_bytes"], 12 + 13 + 10);
        assert_eq!(
            (
                &little["read_units"],
                &little["read_units_apart"],
                &little["write_units_apart"]
            ),
            (&json!(1.0), &json!(0.5), &json!(1))
        );
    }
    // Items of less than a read unit cost no more than a part of them would.
    let (source, mapping) = posts(3_900).await;
    let report = preview_all(&source.url(), &mapping, &["--format", "json"]).exits(0);
    assert_eq!(report.json()["wide"], json!([]));
}

#[tokio::test]
async fn rejects_that_cannot_be_written_leave_no_figures_of_a_part() {
    let source = Database::new(PORTAL).await;
    let folder = tempfile::tempdir().unwrap();
    let mapping = folder.path().join("users.yaml");
    let text = "dynafold: 1\ntable: { name: users, key: { partition: PK } }\nitems:\n  USER: { from: users, key: { PK: USER } }\n";
    std::fs::write(&mapping, text).unwrap();
    let mapping = mapping.to_str().unwrap();
    let ran = preview_all(&source.url(), mapping, &["--rejects", "/dev/full"]).exits(1);
    says(
        &ran,
        "cannot write the rejects file",
        "free some disk space",
    );
    assert!(ran.stdout.is_empty(), "{}", ran.stdout);
    let file = folder.path().join("rows");
    let named = file.to_str().unwrap();
    let twice = ["--rejects", named, "--output", named];
    let ran = preview_all(&source.url(), mapping, &twice).exits(2);
    says(
        &ran,
        "--output and --rejects name the same file",
        "a file of its own",
    );
    assert!(!file.exists());
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
    assert_eq!(claimed(&report, "keys_differ"), "not_proved");
}

#[cfg(unix)]
#[tokio::test]
async fn an_interrupt_ends_the_reading_and_says_so() {
    let (source, mapping) = events(200_000).await;
    let url = source.url();
    let arguments = ["preview", &mapping, "--source", &url, "--all"];
    let mut child = command(&arguments)
        .args(["--format", "dynamodb-json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut items = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    items.read_line(&mut line).unwrap();
    // The first item is there, so the program listens.
    signal(&child, "-INT");
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
        // A sample now and then: nothing is waited for but the end.
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
        let arguments = ["preview", &mapping, "--source", &url, "--all"];
        peaks.push(peak_of(&[&arguments[..], &["--key-memory", "1"]].concat()));
    }
    assert!(peaks[0] > 0 && peaks[1] < 100 << 20, "{peaks:?}");
    // A set of the fingerprints would have taken 6 MiB more or double that.
    assert!(peaks[1] < peaks[0] + (5 << 20), "{peaks:?}");
}
