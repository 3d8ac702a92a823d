//! `export`: files with exactly the items that a load writes, the same bytes each time, and what somebody does to them.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use dynafold::load::state;
use dynafold::target::{TargetSpec, connect};
use serde_json::{Value, json};

use super::says;
use crate::support::cli::{Ran, command, dynafold};
use crate::support::contents::contents;
use crate::support::sqlite::{Database, settled};

const MAPPING: &str = "dynafold: 1
table: { name: app, key: { partition: PK, sort: SK }, ttl: ends, indexes: { byKind: { partition: kind, sort: SK, project: keys } } }
items:
  USER:
    from: users
    key: { PK: \"USER#{id}\", SK: USER }
  EVENT:
    from: events
    key: { PK: \"USER#{user_id}\", SK: \"EVENT#{id | pad(6)}\" }
";

/// Users, and so many events.
fn script(events: u64) -> String {
    format!(
        "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT);
         CREATE TABLE events (id INTEGER PRIMARY KEY, user_id INTEGER NOT NULL REFERENCES users, kind TEXT NOT NULL, body TEXT, ends INTEGER);
         INSERT INTO users VALUES (1, 'Ada \"Å\" \\'), (2, NULL), (3, 'Eve');
         WITH RECURSIVE n(id) AS (VALUES (1) UNION ALL SELECT id + 1 FROM n WHERE id < {events})
         INSERT INTO events SELECT id, 1 + id % 3, 'k' || (id % 7), printf('%.*c', id % 90, 'x'), 4102444800 FROM n;"
    )
}

struct Case {
    source: Database,
}

impl Case {
    async fn new(events: u64) -> Self {
        let source = Database::new(&script(events)).await;
        std::fs::write(source.folder().join("m.yaml"), MAPPING).unwrap();
        Self { source }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.source.folder().join(name)
    }

    fn command(&self, to: &str, further: &[&str]) -> Command {
        let (mapping, to) = (self.path("m.yaml"), self.path(to));
        let url = self.source.url();
        let mut all = vec!["export", mapping.to_str().unwrap(), "--source", &url];
        all.extend(["--to", to.to_str().unwrap()]);
        all.extend(further);
        command(&all)
    }

    fn export(&self, to: &str, further: &[&str]) -> Ran {
        crate::support::cli::run(&mut self.command(to, further))
    }

    fn verify(&self, export: &str) -> Ran {
        self.verify_as("json", export)
    }

    fn verify_as(&self, format: &str, export: &str) -> Ran {
        let (mapping, export) = (self.path("m.yaml"), self.path(export));
        let (mapping, export) = (mapping.to_str().unwrap(), export.to_str().unwrap());
        let url = self.source.url();
        let all = [
            "verify",
            mapping,
            "--source",
            &url,
            "--against-export",
            export,
        ];
        dynafold(&[&all[..], &["--format", format]].concat())
    }

    /// All files of an export, by their paths.
    fn files(&self, export: &str) -> BTreeMap<String, Vec<u8>> {
        let mut found = BTreeMap::new();
        let mut folders = vec![self.path(export)];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let name = path.strip_prefix(self.path(export)).unwrap();
                    let name = name.to_str().unwrap().to_owned();
                    found.insert(name, std::fs::read(&path).unwrap());
                }
            }
        }
        found
    }

    /// The items of an export, as a load's target shows them.
    fn items(&self, export: &str) -> Vec<String> {
        let mut items: Vec<String> = Vec::new();
        for (name, bytes) in self.files(export) {
            if !name.starts_with("data/") {
                continue;
            }
            let text = unpacked(&name, &bytes);
            for line in text.lines() {
                let line: Value = serde_json::from_str(line).unwrap();
                assert_eq!(line.as_object().unwrap().len(), 1);
                items.push(sorted(&line["Item"]));
            }
        }
        items.sort_unstable();
        items
    }

    /// The items that a load writes.
    async fn loaded(&self) -> Vec<String> {
        let (mapping, url) = (self.path("m.yaml"), self.source.url());
        let target = format!("local:{}", self.path("t.ddb").display());
        let mapping = mapping.to_str().unwrap();
        dynafold(&["migrate", mapping, "--source", &url, "--target", &target]).exits(0);
        let spec = TargetSpec::parse(&target, None, None, None).unwrap();
        let all = contents(&*connect(&spec).await.unwrap(), "app").await;
        let items = all
            .lines()
            .map(|line| sorted(&serde_json::from_str(line).unwrap()));
        let mut items: Vec<String> = items.collect();
        items.sort_unstable();
        items
    }
}

/// An item with its attributes by name.
fn sorted(item: &Value) -> String {
    let members: BTreeMap<String, Value> = serde_json::from_value(item.clone()).unwrap();
    serde_json::to_string(&members).unwrap()
}

/// What a file holds, by the programs that everybody has.
fn unpacked(name: &str, bytes: &[u8]) -> String {
    let program = match name.rsplit('.').next().unwrap() {
        "gz" => "gzip",
        "zst" => {
            let mut text = String::new();
            zstd::Decoder::new(bytes)
                .unwrap()
                .read_to_string(&mut text)
                .unwrap();
            return text;
        }
        _ => return String::from_utf8(bytes.to_vec()).unwrap(),
    };
    let mut child = Command::new(program)
        .arg("-dc")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let bytes = bytes.to_vec();
    let feed = std::thread::spawn(move || std::io::Write::write_all(&mut input, &bytes).unwrap());
    let output = child.wait_with_output().unwrap();
    feed.join().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_holds_what_a_load_writes_the_same_bytes_each_time() {
    let case = Case::new(5_000).await;
    let loaded = case.loaded().await;
    assert_eq!(loaded.len(), 5_003);
    for compression in ["gzip", "zstd", "none"] {
        let further = ["--compress", compression, "--now", "2026-11-01T00:00:00Z"];
        let ran = case.export(compression, &further).exits(0);
        ran.prints("5,003 items in 1 part");
        ran.says("it does not set the TTL");
        assert_eq!(case.items(compression), loaded, "{compression}");
        let again = format!("{compression}-again");
        case.export(&again, &further).exits(0);
        // A source that was written a moment ago cannot tell its state, and the manifest shows it.
        let parts = |export: &str| {
            let files = case.files(export).into_iter();
            files
                .filter(|(name, _)| name != "manifest.json")
                .collect::<Vec<_>>()
        };
        assert!(parts(compression) == parts(&again), "{compression}");
        let found = case.verify(compression).exits(0).json();
        assert_eq!(
            (&found["equal"], &found["missing"]),
            (&json!(5_003), &json!(0))
        );
    }
    // What ImportTable is asked with, without what it does not take.
    let files = case.files("zstd");
    let request: Value = serde_json::from_slice(&files["import-table.json"]).unwrap();
    assert_eq!(request["InputCompressionType"], "ZSTD");
    let table = &request["TableCreationParameters"];
    assert_eq!(table["TableName"], "app");
    assert_eq!(table["GlobalSecondaryIndexes"][0]["IndexName"], "byKind");
    let manifest: Value = serde_json::from_slice(&files["manifest.json"]).unwrap();
    assert_eq!(
        manifest["item_types"][1],
        json!({ "item_type": "EVENT", "items": 5_000 })
    );
    // Not in the order of the keys: an import would write one partition after the other.
    let text = unpacked("a.zst", &files["data/part-00000.json.zst"]);
    let users = text
        .lines()
        .map(|line| line.contains(r#""PK":{"S":"USER#1"}"#));
    let changes = users
        .collect::<Vec<_>>()
        .windows(2)
        .filter(|two| two[0] != two[1])
        .count();
    assert!(changes > 1_500, "{changes}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_import_is_asked_with_the_keys_that_it_has_and_no_others() {
    let case = Case::new(3).await;
    let mapping = MAPPING.replace(
        "ttl: ends,",
        "ttl: ends, local_indexes: { byBody: { sort: body } },",
    );
    std::fs::write(case.path("m.yaml"), mapping).unwrap();
    case.export("out", &[])
        .exits(0)
        .says("it does not set local indexes");
    let request: Value = serde_json::from_slice(&case.files("out")["import-table.json"]).unwrap();
    let table = &request["TableCreationParameters"];
    let defined = table["AttributeDefinitions"].as_array().unwrap().iter();
    let defined: Vec<&str> = defined
        .map(|one| one["AttributeName"].as_str().unwrap())
        .collect();
    assert_eq!(defined, ["PK", "SK", "kind"]);
    assert_eq!(table.get("LocalSecondaryIndexes"), None);
}

#[test]
fn an_address_that_is_no_place_is_refused_without_its_password() {
    for to in ["postgres://me:geheim@host/db", "https://me:geheim@host/x"] {
        let folder = tempfile::tempdir().unwrap();
        let words = ["export", "m.yaml", "--source", "sqlite:x.db", "--to", to];
        let ran = crate::support::cli::run(command(&words).current_dir(folder.path())).exits(2);
        ran.says("a folder or s3://BUCKET/PREFIX");
        assert!(!ran.stderr.contains("geheim"), "{}", ran.stderr);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_as_the_source_makes_it_is_found_in_an_export() {
    let case = Case::new(300).await;
    case.export("out", &["--compress", "none"]).exits(0);
    let part = case.path("out/data/part-00000.json");
    let whole = std::fs::read_to_string(&part).unwrap();
    let event = whole
        .lines()
        .find(|line| line.contains("EVENT#000123"))
        .unwrap();
    let figures = |found: &Value| {
        ["equal", "missing", "different", "unexpected"].map(|name| found[name].as_u64().unwrap())
    };
    // The item is another; it is gone; one more is there; a line is none; the lines are in another order.
    let other = event.replace("\"user_id\":{\"N\":\"1\"}", "\"user_id\":{\"N\":\"9\"}");
    assert_ne!(event, other);
    let one_more = event.replace("EVENT#000123", "EVENT#9");
    let reversed: Vec<&str> = whole.lines().rev().collect();
    for (text, expected) in [
        (whole.replace(event, &other), [302, 0, 1, 0]),
        (whole.replace(&format!("{event}\n"), ""), [302, 1, 0, 0]),
        (format!("{one_more}\n{whole}"), [303, 0, 0, 1]),
        (format!("{whole}{one_more}\n"), [303, 0, 0, 1]),
        (
            whole.replace(event, &format!("{event}\nnothing")),
            [303, 0, 0, 1],
        ),
        (reversed.join("\n") + "\n", [303, 0, 0, 0]),
    ] {
        std::fs::write(&part, &text).unwrap();
        let found = case.verify("out").exits(3).json();
        assert_eq!(figures(&found), expected, "{found:#}");
        let changed = found["changed_parts"].to_string();
        assert!(changed.contains("has another digest"), "{found:#}");
    }
    std::fs::remove_file(&part).unwrap();
    let found = case.verify("out").exits(3).json();
    assert_eq!(figures(&found), [0, 303, 0, 0]);
    assert_eq!(
        found["changed_parts"],
        json!(["data/part-00000.json is not there"])
    );
    std::fs::write(&part, &whole).unwrap();
    case.verify("out").exits(0);
    // What an upload of the folder would take along, and an import read.
    let stray = case.path("out/data/part-00001.json");
    std::fs::write(&stray, whole.lines().next().unwrap()).unwrap();
    let found = case.verify("out").exits(3).json();
    assert_eq!(
        found["changed_parts"],
        json!(["data/part-00001.json is not in the manifest"])
    );
    std::fs::remove_file(&stray).unwrap();
    let request = case.path("out/import-table.json");
    let asked = std::fs::read_to_string(&request).unwrap();
    std::fs::write(&request, asked.replace("\"app\"", "\"other\"")).unwrap();
    let found = case.verify("out").exits(3).json();
    assert_eq!(
        found["changed_parts"],
        json!(["import-table.json is not what the mapping says"])
    );
    std::fs::write(&request, asked).unwrap();
    // The source changes.
    case.source.run("UPDATE events SET kind = 'new' WHERE id = 5; DELETE FROM events WHERE id = 6; INSERT INTO events VALUES (999, 1, 'k', 'x', NULL)").await;
    let found = case.verify("out").exits(3).json();
    assert_eq!(figures(&found), [301, 1, 1, 1], "{found:#}");
    let keys: Vec<(&str, &str)> = (found["examples"].as_array().unwrap().iter())
        .map(|one| (one["kind"].as_str().unwrap(), one["key"].as_str().unwrap()))
        .collect();
    for (kind, key) in [
        ("different", "EVENT#000005"),
        ("unexpected", "EVENT#000006"),
        ("missing", "EVENT#000999"),
    ] {
        assert!(
            keys.iter().any(|one| one.0 == kind && one.1.contains(key)),
            "{keys:?}"
        );
    }
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn an_export_that_is_killed_resumes_to_the_same_files() {
    let case = Case::new(60_000).await;
    let now = ["--now", "2026-11-01T00:00:00Z"];
    let begun = std::time::Instant::now();
    case.export("whole", &now).exits(0);
    let took = begun.elapsed();
    let mut kills = 0;
    for round in 0..12 {
        let to = format!("killed-{round}");
        for _ in 0..4 {
            let mut command = case.command(&to, &now);
            let mut child = command
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            std::thread::sleep(took.mul_f64(fastrand::f64()));
            if child.try_wait().unwrap().is_some() {
                break;
            }
            child.kill().unwrap();
            child.wait().unwrap();
            kills += 1;
        }
        // One that was killed at its very end is complete.
        let ran = case.export(&to, &now);
        assert!(
            ran.code == 0 || ran.stderr.contains("complete"),
            "{}",
            ran.stderr
        );
        let digests = |export: &str| {
            // A source that was written a moment ago cannot tell its state, and the manifest shows it.
            let files = case.files(export).into_iter();
            let files = files.filter(|(name, _)| name != "manifest.json");
            let all = files.map(|(name, bytes)| (name, bytes.len(), crc32fast::hash(&bytes)));
            all.collect::<Vec<_>>()
        };
        assert_eq!(digests("whole"), digests(&to), "round {round}");
        if kills >= 12 {
            break;
        }
    }
    assert!(kills >= 4, "{kills}");
}

/// An import reads all that is in `data/`, whatever the manifest says: every part that is listed is read, or named as one that is not.
#[tokio::test(flavor = "multi_thread")]
async fn a_manifest_that_lists_other_parts_than_were_planned_is_found_out() {
    let case = Case::new(20).await;
    case.export("out", &["--compress", "none"]).exits(0);
    let manifest = case.path("out/manifest.json");
    let honest: Value = serde_json::from_slice(&std::fs::read(&manifest).unwrap()).unwrap();
    let evil = "{\"Item\":{\"PK\":{\"S\":\"EVIL\"},\"SK\":{\"S\":\"X\"}}}\n";
    let listed = |file: &str| {
        use sha2::Digest as _;
        let sum = dynafold_format::hex(&sha2::Sha256::digest(evil));
        let bytes = evil.len();
        json!({ "file": file, "items": 1, "uncompressed_bytes": bytes, "bytes": bytes, "sha256": sum })
    };
    let with = |change: &dyn Fn(&mut Value)| {
        let mut forged = honest.clone();
        change(&mut forged);
        std::fs::write(&manifest, forged.to_string()).unwrap();
        let found = case.verify("out").exits(3).json();
        (
            found["unexpected"].as_u64().unwrap(),
            found["changed_parts"].to_string(),
        )
    };
    let add = |forged: &mut Value, part: Value| forged["parts"].as_array_mut().unwrap().push(part);
    // The sums are made to agree, too.
    let more = |forged: &mut Value| {
        forged["items"] = json!(24);
        forged["item_types"][0]["items"] = json!(4);
    };
    let name = "data/part-77777.json";
    std::fs::write(case.path("out").join(name), evil).unwrap();
    for by_chunk in [false, true] {
        let (unexpected, changed) = with(&|forged| {
            add(forged, listed(name));
            more(forged);
            forged["by_chunk"] = json!(by_chunk);
        });
        assert_eq!(unexpected, 1, "{changed}");
        assert_eq!(changed.contains("did not plan"), !by_chunk, "{changed}");
    }
    std::fs::remove_file(case.path("out").join(name)).unwrap();
    // Elsewhere no import looks: it is not read, and said.
    std::fs::write(case.path("elsewhere.json"), evil).unwrap();
    for name in [
        "elsewhere.json",
        "data/../../elsewhere.json",
        "data/more/part-00000.json",
    ] {
        let (unexpected, changed) = with(&|forged| add(forged, listed(name)));
        assert_eq!(unexpected, 0, "{changed}");
        assert!(
            changed.contains(&format!("{name} is listed, but it is not a file of data/")),
            "{changed}"
        );
    }
    let part = &honest["parts"][0];
    let (_, changed) = with(&|forged| add(forged, part.clone()));
    assert!(
        changed.contains("data/part-00000.json is listed more than once"),
        "{changed}"
    );
    for (place, said) in [
        ("/items", "counts 24 items, but 23 by its parts"),
        (
            "/item_types/0/items",
            "counts 23 items, but 24 by its item types",
        ),
        (
            "/parts/0/items",
            "has 23 lines, but the manifest says 24 items",
        ),
        ("/parts/0/uncompressed_bytes", "uncompressed"),
        ("/parts/0/bytes", "bytes, but the manifest says"),
    ] {
        let (_, changed) = with(&|forged| {
            let figure = forged.pointer_mut(place).unwrap();
            *figure = json!(figure.as_u64().unwrap() + 1);
        });
        assert!(changed.contains(said), "{place}: {changed}");
    }
    let (_, changed) = with(&|forged| forged["parts"][0]["sha256"] = json!("00"));
    assert!(changed.contains("has another digest"), "{changed}");
    std::fs::write(&manifest, honest.to_string()).unwrap();
    case.verify("out").exits(0);
    // A link is what it leads to, for `aws s3 cp` too.
    #[cfg(unix)]
    {
        let (own, moved) = (
            case.path("out/data/part-00000.json"),
            case.path("moved.json"),
        );
        std::fs::rename(&own, &moved).unwrap();
        std::os::unix::fs::symlink(&moved, &own).unwrap();
        case.verify("out").exits(0);
        std::fs::remove_file(&moved).unwrap();
        let found = case.verify("out").exits(3).json();
        assert!(
            found["changed_parts"].to_string().contains("is not there"),
            "{found:#}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_without_items_says_that_there_is_nothing_to_import() {
    let case = Case::new(1).await;
    case.source
        .run("DELETE FROM events; DELETE FROM users")
        .await;
    let ran = case.export("out", &[]).exits(0);
    ran.prints("0 items in 0 parts");
    ran.prints("there is nothing to import");
    assert!(!ran.stdout.contains("aws dynamodb"), "{}", ran.stdout);
    assert_eq!(case.verify("out").exits(0).json()["equal"], 0);
}

/// Items that are equal prove nothing of what the manifest says of them.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_manifest_says_of_its_items_is_compared_with_them() {
    let case = Case::new(20).await;
    case.export("out", &[]).exits(0);
    let manifest = case.path("out/manifest.json");
    let honest: Value = serde_json::from_slice(&std::fs::read(&manifest).unwrap()).unwrap();
    let forge = |changes: &[(&str, Value)]| {
        let mut forged = honest.clone();
        for (place, value) in changes {
            *forged.pointer_mut(place).unwrap() = value.clone();
        }
        std::fs::write(&manifest, forged.to_string()).unwrap();
        case.verify("out")
    };
    let more = honest["item_bytes"].as_u64().unwrap() + 1;
    for (changes, said) in [
        (
            // Their sum is the same.
            &[
                ("/item_types/0/items", json!(4)),
                ("/item_types/1/items", json!(19)),
            ][..],
            "counts 4 USER, 19 EVENT by item type, but the source makes 3 USER, 20 EVENT",
        ),
        (
            &[("/item_types/0/item_type", json!("EVIL"))],
            "counts 3 EVIL by item type, but the source makes 3 USER",
        ),
        (
            &[("/item_bytes", json!(more))],
            "bytes of items, but the source makes",
        ),
        (
            &[("/table", json!("other"))],
            "is for the table `other`, but the mapping's table is `app`",
        ),
    ] {
        let found = forge(changes).exits(3).json();
        assert_eq!(found["equal"], 23, "{found:#}");
        let changed = found["changed_parts"].as_array().unwrap();
        assert_eq!(changed.len(), 1, "{found:#}");
        assert!(changed[0].as_str().unwrap().contains(said), "{found:#}");
    }
    forge(&[("/now", json!("soon"))])
        .exits(1)
        .says("has no time");
    // A replica has the same rows under another address: said, and no difference.
    let elsewhere = forge(&[("/source", json!("sqlite:/elsewhere.db"))]).exits(0);
    elsewhere.says("the manifest names the source sqlite:/elsewhere.db");
    assert_eq!(elsewhere.json()["exported_from"], "sqlite:/elsewhere.db");
    // So has a mapping with another comment.
    let commented = forge(&[("/mapping", json!("00"))]).exits(0);
    commented.says("the manifest is of another mapping file");
    // Rows that were counted in the place of others are a difference.
    let listed = json!([{ "item_type": "USER", "items": 0 }, honest["item_types"][0], honest["item_types"][1]]);
    let found = forge(&[("/item_types", listed)]).exits(3).json();
    let changed = found["changed_parts"].to_string();
    assert!(changed.contains("counts 0 USER by item type"), "{changed}");
}

/// Reading has ended, the parts have not: what was read counts only while the source and what makes items are as they were.
#[tokio::test(flavor = "multi_thread")]
async fn an_export_that_ends_before_its_parts_goes_on_only_with_what_the_source_still_makes() {
    let case = Case::new(100).await;
    settled(&case.source.file());
    // The manifest cannot be written, as on a full disk.
    let blocked = case.path("out/manifest.tmp");
    std::fs::create_dir_all(case.path("out/unfinished")).unwrap();
    std::fs::create_dir(&blocked).unwrap();
    let notes = |further: &[&str]| case.export("out", further).exits(1).stderr;
    notes(&[]);
    let again = notes(&[]);
    assert!(
        again.contains("resuming with the files of the export"),
        "{again}"
    );
    let other = notes(&["--now", "2026-11-01T00:00:00Z"]);
    assert!(
        other.contains("starting over: --now: 2026-11-01T00:00:00Z now, none then"),
        "{other}"
    );
    notes(&["--fresh"]);
    case.source.run("DELETE FROM events WHERE id > 10").await;
    settled(&case.source.file());
    std::fs::remove_dir(&blocked).unwrap();
    let changed = case.export("out", &[]).exits(0).stderr;
    assert!(
        changed.contains("starting over: the source has changed"),
        "{changed}"
    );
    assert_eq!(case.verify("out").exits(0).json()["expected"], 13);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_that_starts_over_keeps_no_archive_of_the_run_before() {
    let case = Case::new(5).await;
    case.source
        .run("CREATE TABLE tokens (id INTEGER PRIMARY KEY, ends INTEGER NOT NULL); INSERT INTO tokens VALUES (1, 1000000000), (2, 4000000000)")
        .await;
    let mapping = "dynafold: 1
table: { name: app, key: { partition: PK }, ttl: ends }
items: { TOKEN: { from: tokens, key: { PK: \"T#{id}\" }, columns: [id, ends], expired: archive } }
";
    std::fs::write(case.path("m.yaml"), mapping).unwrap();
    settled(&case.source.file());
    // The manifest cannot be written, as on a full disk: all rows are read, and the archive is in its place.
    let (archive, blocked) = (
        case.path("out/archive.ndjson"),
        case.path("out/manifest.tmp"),
    );
    std::fs::create_dir_all(case.path("out/unfinished")).unwrap();
    std::fs::create_dir(&blocked).unwrap();
    case.export("out", &[]).exits(1);
    let archived = std::fs::read_to_string(&archive).unwrap();
    assert!(archived.contains("T#1"), "{archived}");
    case.source.run("UPDATE tokens SET ends = 4000000000").await;
    settled(&case.source.file());
    std::fs::remove_dir(&blocked).unwrap();
    let again = case.export("out", &[]).exits(0);
    again.says("starting over");
    assert!(!archive.exists());
    assert_eq!(case.verify("out").exits(0).json()["expected"], 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_that_was_killed_in_its_last_step_is_complete() {
    let case = Case::new(50).await;
    let unfinished = case.path("out/unfinished");
    std::fs::create_dir_all(&unfinished).unwrap();
    // The manifest cannot be written, as on a full disk.
    std::fs::create_dir(case.path("out/manifest.tmp")).unwrap();
    case.export("out", &[]).exits(1);
    let loaded = std::fs::read_to_string(unfinished.join("loaded")).unwrap();
    std::fs::remove_dir(case.path("out/manifest.tmp")).unwrap();
    case.export("out", &[]).exits(0);
    let files = case.files("out");
    // What is left when the manifest is written and the items are not deleted yet: some of them.
    std::fs::create_dir_all(unfinished.join("items")).unwrap();
    std::fs::write(unfinished.join("items/07"), "a part").unwrap();
    std::fs::write(unfinished.join("loaded"), &loaded).unwrap();
    let ran = case.export("out", &[]).exits(0);
    ran.prints("53 items");
    assert_eq!(case.files("out"), files);
    // Another export than that one does not take its place.
    std::fs::create_dir_all(&unfinished).unwrap();
    std::fs::write(unfinished.join("loaded"), &loaded).unwrap();
    let refused = case.export("out", &["--items", "USER"]).exits(1);
    says(
        &refused,
        "holds an export that is complete",
        "--against-export",
    );
    assert_eq!(case.files("out"), files);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_exports_into_one_place_do_not_meet() {
    let case = Case::new(50).await;
    let unfinished = case.path("out/unfinished");
    std::fs::create_dir_all(&unfinished).unwrap();
    let lock = state::hold(&unfinished.join("export")).unwrap();
    let refused = case.export("out", &[]).exits(1);
    says(&refused, "another run uses", "wait for the other export");
    assert!(!case.path("out/data").exists());
    drop(lock);
    case.export("out", &[]).exits(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_that_share_a_key_only_in_the_reading_that_is_written_are_no_export() {
    let case = Case::new(1).await;
    case.source
        .run("CREATE VIEW chance AS SELECT id, abs(random()) % 20 AS k FROM users UNION ALL SELECT 9, abs(random()) % 20 UNION ALL SELECT 10, NULL")
        .await;
    let mapping = "dynafold: 1
table: { name: app, key: { partition: PK } }
items: { CHANCE: { from: chance, key: { PK: \"K#{k}\" } } }
";
    std::fs::write(case.path("m.yaml"), mapping).unwrap();
    // The keys of both readings are equal by chance in a quarter of the runs each.
    let is_found = (0..200).any(|at| {
        let to = format!("out{at}");
        let ran = case.export(&to, &["--max-rejects", "1"]);
        let is_complete = ran.code == 3;
        assert_eq!(is_complete, case.path(&to).join("manifest.json").exists());
        if is_complete {
            let items = case.items(&to);
            let keys = items
                .iter()
                .map(|item| item.split("\"PK\"").nth(1).unwrap().split('}').next());
            assert_eq!(keys.collect::<BTreeSet<_>>().len(), 4, "{items:?}");
        }
        let is_found = ran
            .stderr
            .contains("after all keys had been found to differ");
        if is_found {
            let again = case.export(&to, &["--max-rejects", "1"]);
            assert!(!again.stderr.contains("is not empty"), "{again:?}");
        }
        is_found
    });
    assert!(is_found);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_of_some_item_types_says_that_the_others_have_keys_of_its_items() {
    let case = Case::new(1).await;
    case.source
        .run(
            "CREATE TABLE a (id INTEGER PRIMARY KEY); INSERT INTO a VALUES (1), (2);
             CREATE TABLE b (id INTEGER PRIMARY KEY); INSERT INTO b VALUES (2), (3);",
        )
        .await;
    let mapping = "dynafold: 1
table: { name: app, key: { partition: PK, sort: SK } }
items:
  A: { from: a, key: { PK: \"X#{id}\", SK: \"-\" } }
  B: { from: b, key: { PK: \"X#{id}\", SK: \"-\" } }
";
    std::fs::write(case.path("m.yaml"), mapping).unwrap();
    let some = ["--items", "A", "--format", "json"];
    case.export("refused", &some).exits(1);
    let some = [&some[..], &["--max-rejects", "1"]].concat();
    let ran = case.export("out", &some).exits(3);
    ran.says("complete, but 1 item that was not selected has the key of an exported one");
    let report = ran.json();
    assert_eq!(
        (&report["shared_outside"], &report["rejected"]),
        (&json!(1), &json!(0))
    );
    assert_eq!(case.items("out").len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_that_stops_because_of_rejects_says_that_fresh_reads_all_rows_again() {
    let case = Case::new(1).await;
    // The schema proves that the keys differ, so that the rows are read only once; the second has no name.
    let mapping = "dynafold: 1
table: { name: app, key: { partition: PK, sort: SK } }
items: { USER: { from: users, key: { PK: \"USER#{id}\", SK: \"{name}\" } } }
";
    std::fs::write(case.path("m.yaml"), mapping).unwrap();
    let ran = case.export("out", &[]).exits(1);
    says(
        &ran,
        "stopped: there are more rejects",
        "with `--fresh`, which reads all rows again",
    );
    case.source
        .run("UPDATE users SET name = 'Bob' WHERE id = 2")
        .await;
    case.export("out", &["--fresh"]).exits(0);
    assert_eq!(case.items("out").len(), 3);
}

/// What an export that is interrupted leaves at its beginning.
fn interrupted(folder: &Path) {
    std::fs::create_dir_all(folder).unwrap();
    drop(state::hold(&folder.join("export")).unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_is_never_overwritten_and_equal_keys_are_refused_first() {
    let case = Case::new(50).await;
    case.export("out", &[]).exits(0);
    let before = case.files("out");
    let refused = case.export("out", &[]).exits(1);
    says(
        &refused,
        "holds an export that is complete",
        "--against-export",
    );
    assert_eq!(case.files("out"), before);
    std::fs::create_dir(case.path("mine")).unwrap();
    std::fs::write(case.path("mine/letter.txt"), "dear").unwrap();
    let refused = case.export("mine", &[]).exits(1);
    says(&refused, "is not empty", "new or empty place");
    assert_eq!(case.files("mine").len(), 1);
    // A name that an export uses is no sign of one.
    let name = |folder: &str, name: &str| case.path(folder).join(name);
    std::fs::create_dir_all(name("book", "unfinished")).unwrap();
    std::fs::create_dir(name("book", "data")).unwrap();
    for file in ["unfinished/chapter7.txt", "data/readings.csv", "notes.txt"] {
        std::fs::write(name("book", file), "mine").unwrap();
    }
    let refused = case.export("book", &[]).exits(1);
    says(&refused, "is not empty", "new or empty place");
    assert_eq!(case.files("book").len(), 3);
    // Nor are files of others beside an export that was interrupted.
    for file in [
        "notes.txt",
        "data/readings.csv",
        "data/old/part-00000.json",
        "data/part-00000.json/mine",
        "data/part-00000.json.bak",
        "data/part-00000.txt",
    ] {
        let to = format!("beside-{}", file.len());
        interrupted(&name(&to, "unfinished"));
        std::fs::create_dir_all(name(&to, file).parent().unwrap()).unwrap();
        std::fs::write(name(&to, file), "mine").unwrap();
        let refused = case.export(&to, &[]).exits(1);
        says(
            &refused,
            "does not belong to an export",
            "new or empty place",
        );
        assert!(name(&to, file).is_file());
    }
    let refused = case.verify("mine").exits(1);
    says(
        &refused,
        "manifest.json is not there",
        "export that is complete",
    );

    let equal = MAPPING.replace("EVENT#{id | pad(6)}", "EVENT#{kind}");
    std::fs::write(case.path("m.yaml"), equal).unwrap();
    let refused = case.export("equal", &[]).exits(1);
    says(
        &refused,
        "rows share keys, and nothing was written",
        "--max-rejects",
    );
    refused.prints("duplicate-key");
    assert!(
        !case.path("equal/data").exists() && !Path::new(&case.path("equal/manifest.json")).exists()
    );
    // Where that is allowed, the losers are rejected and the export says so.
    let reported = case.export("equal", &["--max-rejects", "100"]).exits(3);
    reported.says("complete but for 29 rejected rows; they are in");
    let found = case.verify("equal").exits(3).json();
    assert_eq!(
        (&found["equal"], &found["rejected"]),
        (&json!(24), &json!(29))
    );
    let reported = case.verify_as("text", "equal").exits(3);
    reported.prints("the parts hold exactly the items that the source makes; 29 rows made no item");
    assert!(!reported.stdout.contains("verified"), "{}", reported.stdout);
}
