//! What loads leave alone: files of other runs, items of rows that are still there, and what is
//! outside the part that they are about.

use std::collections::BTreeSet;
use std::path::PathBuf;

use dynafold::target::{TargetSpec, connect};
use serde_json::Value;

use super::says;
use crate::support::books::{claimed, hold_loaded};
use crate::support::cli::{Ran, dynafold, reported};
use crate::support::contents::contents;
use crate::support::sqlite::Database;

/// A mapping and a table in a file beside a source.
pub(super) struct Case {
    pub(super) source: Database,
}

impl Case {
    pub(super) async fn new(script: &str, items: &str) -> Self {
        let case = Self {
            source: Database::new(script).await,
        };
        case.map(items);
        case
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.source.folder().join(name)
    }

    pub(super) fn map(&self, items: &str) {
        let ttl = if items.contains("ends") {
            ", ttl: ends"
        } else {
            ""
        };
        let head = format!(
            "dynafold: 1\ntable: {{ name: app, key: {{ partition: PK, sort: SK }}{ttl} }}\n"
        );
        std::fs::write(self.path("t.yaml"), format!("{head}items:\n{items}")).unwrap();
    }

    pub(super) fn target(&self) -> String {
        format!("local:{}", self.path("t.ddb").display())
    }

    pub(super) fn run(&self, command: &str, further: &[&str]) -> Ran {
        let (mapping, source) = (self.path("t.yaml"), self.source.url());
        let (mapping, target) = (mapping.display().to_string(), self.target());
        reported(command, [&mapping, &source, &target], further)
    }

    pub(super) fn migrate(&self, further: &[&str], code: i32) -> Value {
        let report = self.run("migrate", further).exits(code).json();
        hold_loaded(&report);
        report
    }

    pub(super) async fn items(&self) -> String {
        let spec = TargetSpec::parse(&self.target(), None, None, None).unwrap();
        contents(&*connect(&spec).await.unwrap(), "app").await
    }

    /// The keys of the table, partition and sort.
    pub(super) async fn keys(&self) -> BTreeSet<String> {
        let all = self.items().await;
        let key = |line: &str| {
            let item: Value = serde_json::from_str(line).unwrap();
            let text = |name: &str| item[name]["S"].as_str().unwrap().to_owned();
            format!("{} {}", text("PK"), text("SK"))
        };
        all.lines().map(key).collect()
    }
}

pub(super) fn total(report: &Value, name: &str) -> u64 {
    report["total"][name].as_u64().unwrap()
}

/// Users of whom 1 has no name and 2 has expired; four in all.
const USERS: &str = "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT, tenant TEXT, active INTEGER, ends INTEGER);
    INSERT INTO users VALUES (1, NULL, 'A', 1, 4102444800), (2, 'two', 'A', 1, 1), (3, 'three', 'A', 1, 4102444800),
      (4, 'four', 'B', 0, 4102444800);";

const PLAIN: &str = "  USER:
    from: users
    key: { PK: \"USER#{name}\", SK: \"USER#{id}\" }
    columns: [ends]
    expired: archive
";

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_leaves_the_files_of_other_runs_alone() {
    let case = Case::new(USERS, PLAIN).await;
    case.migrate(&["--max-rejects", "1"], 3);
    let files = [
        ("t.rejects.ndjson", "{\"item_type\":\"EARLIER\"}\n"),
        ("t.archive.ndjson", "{\"PK\":{\"S\":\"earlier\"}}\n"),
        (
            "t.archive.ndjson.part",
            "{\"PK\":{\"S\":\"interrupted\"}}\n",
        ),
    ];
    for (name, text) in files {
        std::fs::write(case.path(name), text).unwrap();
    }
    let report = case.migrate(&["--plan", "--max-rejects", "1"], 3);
    assert_eq!(
        (total(&report, "rejected"), total(&report, "archived")),
        (1, 1)
    );
    assert_eq!(report["rejects"].as_array().unwrap().len(), 1);
    for file in ["rejects_file", "archive_file"] {
        assert_eq!(report[file], Value::Null);
    }
    for (name, text) in files {
        assert_eq!(std::fs::read_to_string(case.path(name)).unwrap(), text);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_where_that_another_item_type_has_already_deletes_nothing() {
    let both = |condition: &str| {
        format!(
            "  A:
    from: users
    where: active = 1
    key: {{ PK: \"A#{{id}}\", SK: \"-\" }}
  B:
    from: users
{condition}    key: {{ PK: \"B#{{id}}\", SK: \"-\" }}
"
        )
    };
    let case = Case::new(USERS, &both("")).await;
    case.migrate(&[], 0);
    let before = case.keys().await;
    case.map(&both("    where: active = 1\n"));
    let report = case.migrate(&["--changes-only", "--prune"], 0);
    assert_eq!(
        (total(&report, "filtered"), total(&report, "deleted")),
        (2, 0)
    );
    assert_eq!(case.keys().await, before);
}

/// Baskets with lines, of which one basket's become something else.
const BASKETS: &str = "CREATE TABLE baskets (id INTEGER PRIMARY KEY, lines JSON);
    INSERT INTO baskets VALUES (1, '[\"a\", \"b\"]'), (2, '[\"c\"]'), (3, '[\"d\"]');";

const LINES: &str =
    "  BASKET: { from: baskets, key: { PK: \"BASKET#{id}\", SK: \"-\" }, columns: [] }
  LINE:
    from: baskets
    explode: { l: lines }
    key: { PK: \"BASKET#{id}\", SK: \"LINE#{l.$index}\" }
    columns: []
";

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_deleted_of_a_type_with_a_row_whose_keys_are_not_known() {
    let case = Case::new(BASKETS, LINES).await;
    case.migrate(&[], 0);
    let spoil =
        "UPDATE baskets SET lines = '{\"a\": 1}' WHERE id = 1; DELETE FROM baskets WHERE id = 3;";
    case.source.run(spoil).await;
    let prune = ["--changes-only", "--prune", "--max-rejects", "5"];
    let plan = case.migrate(&["--plan", "--prune", "--max-rejects", "5"], 3);
    let report = case.migrate(&prune, 3);
    for report in [plan, report] {
        assert_eq!(
            (total(&report, "rejected"), total(&report, "deleted")),
            (1, 1)
        );
        let said = report["warnings"][0].as_str().unwrap();
        assert!(
            said.starts_with("LINE: stale items were not deleted"),
            "{said}"
        );
    }
    let keys = case.keys().await;
    assert_eq!(keys.iter().filter(|key| key.contains("LINE")).count(), 4);
    assert!(!keys.contains("BASKET#3 -"));
    // Once the row is mended, what is gone goes.
    case.source
        .run("UPDATE baskets SET lines = '[\"a\"]' WHERE id = 1;")
        .await;
    let report = case.migrate(&prune, 0);
    assert_eq!(total(&report, "deleted"), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_new_where_leaves_out_stays_though_it_has_expired_or_is_rejected() {
    let items = |condition: &str| {
        format!(
            "  USER:
    from: users
{condition}    key: {{ PK: \"USER#{{id}}\", SK: \"-\" }}
    columns: [ends]
    attributes: {{ count: \"{{name | number}}\" }}
    expired: skip
"
        )
    };
    let case = Case::new(USERS, &items("")).await;
    case.source
        .run("UPDATE users SET name = '1', ends = 4102444800;")
        .await;
    case.migrate(&[], 0);
    let before = case.keys().await;
    assert_eq!(before.len(), 4);
    // 1 and 2 would be neither made nor rejected; 3 is gone.
    let spoil = "UPDATE users SET name = 'none' WHERE id = 1;
        UPDATE users SET ends = 1 WHERE id = 2; DELETE FROM users WHERE id = 3;";
    case.source.run(spoil).await;
    case.map(&items("    where: id > 2\n"));
    let report = case.migrate(&["--changes-only", "--prune"], 0);
    assert_eq!(
        (total(&report, "filtered"), total(&report, "deleted")),
        (2, 1)
    );
    let left = case.keys().await;
    assert!(
        left.contains("USER#1 -") && left.contains("USER#2 -"),
        "{left:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_partition_has_nothing_to_do_with_the_rows_of_others() {
    let items = "  USER:
    from: users
    key: { PK: \"TENANT#{tenant}\", SK: \"{name}\" }
    columns: [ends]
    attributes: { count: \"{active | string | number}\" }
    expired: archive
";
    let case = Case::new(USERS, items).await;
    // Of tenant B two rows share a key, one is rejected, and one has expired.
    let spoil = "UPDATE users SET name = 'one' WHERE id = 1; UPDATE users SET ends = 4102444800;
        INSERT INTO users VALUES (5, 'four', 'B', 0, 4102444800), (6, 'six', 'B', 'none', 4102444800),
          (7, 'seven', 'B', 0, 1);";
    case.source.run(spoil).await;
    let part = ["--partition", "TENANT#A"];
    let report = case.migrate(&part, 0);
    assert_eq!(
        (total(&report, "filtered"), total(&report, "written")),
        (4, 3)
    );
    assert_eq!(
        (&report["archive_file"], &report["keys"]["compared"]),
        (&Value::Null, &3.into())
    );
    let report = case.run("verify", &part).exits(0).json();
    assert_eq!(
        (total(&report, "filtered"), total(&report, "expected")),
        (4, 3)
    );
    let report = case.migrate(
        &["--append", "--partition", "TENANT#B", "--max-rejects", "2"],
        3,
    );
    assert_eq!(
        (total(&report, "filtered"), total(&report, "rejected")),
        (3, 2)
    );
    assert_eq!(
        (total(&report, "archived"), total(&report, "written")),
        (1, 1)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_that_is_left_out_and_makes_no_item_shares_no_key() {
    let items = "  USER:
    from: users
    key: { PK: \"USER#{name}\", SK: \"-\" }
    columns: [id]
    attributes: { count: \"{tenant | number}\" }
";
    let case = Case::new(USERS, items).await;
    let spoil = "UPDATE users SET name = 'same', tenant = 'none'; UPDATE users SET tenant = '1' WHERE id = 1;
        UPDATE users SET name = 'x' WHERE id = 3;";
    case.source.run(spoil).await;
    let report = case.migrate(&["--max-rejects", "9"], 3);
    assert_eq!(
        (total(&report, "rejected"), total(&report, "written")),
        (3, 1)
    );
    case.source
        .run("UPDATE users SET tenant = '3' WHERE id = 3")
        .await;
    let all = std::fs::read_to_string(case.path("t.rejects.ndjson")).unwrap();
    let mended = all.lines().find(|line| line.contains(r#"{"id":3}"#));
    let path = case.path("mended");
    std::fs::write(&path, mended.unwrap()).unwrap();
    let path = path.display().to_string();
    let report = case.migrate(&["--retry-rejects", &path], 0);
    assert_eq!(total(&report, "written"), 1);
    assert_eq!(report["keys"]["shared_left_out"], Value::Null);
    assert_eq!(claimed(&report, "keys_differ"), "proved");
}

#[tokio::test(flavor = "multi_thread")]
async fn rejects_are_loaded_again_whatever_keys_the_other_rows_share() {
    let items = "  USER:
    from: users
    key: { PK: \"USER#{name}\", SK: \"-\" }
    columns: [id]
    attributes: { count: \"{tenant | number}\" }
";
    let case = Case::new(USERS, items).await;
    case.source.run("UPDATE users SET name = 'same', tenant = '1'; UPDATE users SET name = 'x', tenant = 'none' WHERE id = 3;").await;
    let report = case.migrate(&["--max-rejects", "9"], 3);
    assert_eq!(
        (total(&report, "rejected"), total(&report, "written")),
        (3, 1)
    );
    case.source
        .run("UPDATE users SET tenant = '3' WHERE id = 3")
        .await;
    let file = case.path("t.rejects.ndjson");
    let all = std::fs::read_to_string(&file).unwrap();
    let (mended, others): (Vec<&str>, Vec<&str>) =
        all.lines().partition(|line| line.contains(r#"{"id":3}"#));
    let retry = |name: &str, lines: &[&str], further: &[&str], code: i32| {
        let path = case.path(name);
        std::fs::write(&path, lines.join("\n")).unwrap();
        let path = path.display().to_string();
        case.migrate(&[&["--retry-rejects", &path], further].concat(), code)
    };
    let report = retry("mended", &mended, &[], 0);
    assert_eq!(
        (total(&report, "written"), &report["keys"]["shared"]),
        (1, &0.into())
    );
    // Those that are left out share one among themselves.
    assert_eq!(report["keys"]["shared_left_out"], 2);
    assert_eq!(claimed(&report, "keys_differ"), "not_proved");
    // Those that share a key lose again, though the winner is not in the file.
    let report = retry("others", &others, &["--max-rejects", "2"], 3);
    assert_eq!(
        (total(&report, "rejected"), total(&report, "written")),
        (2, 0)
    );
    assert!(
        report["rejects"][0]["message"]
            .as_str()
            .unwrap()
            .contains(r#"USER {"id":1}"#)
    );
    // What the file names and the source does not have is told.
    let gone = [r#"{"item_type":"USER","row":{"id":77},"code":"x","message":"m"}"#];
    let report = retry("gone", &gone, &[], 0);
    let warnings = report["warnings"].to_string();
    assert!(
        warnings.contains("1 row of the rejects file was not loaded") && warnings.contains("77"),
        "{warnings}"
    );
    // So is one that `where` leaves out by now.
    let mapping = std::fs::read_to_string(case.path("t.yaml")).unwrap();
    let leaves_out = mapping.replace("    from: users\n", "    from: users\n    where: id <> 1\n");
    assert_ne!(mapping, leaves_out);
    std::fs::write(case.path("t.yaml"), &leaves_out).unwrap();
    let left_out = [gone[0].replace("77", "1")];
    let report = retry("left-out", &[&left_out[0]], &[], 0);
    let warnings = report["warnings"].to_string();
    assert!(
        warnings.contains("`where` leaves these rows out"),
        "{warnings}"
    );
    let other = gone[0].replace("USER", "USERS");
    std::fs::write(case.path("other"), other).unwrap();
    let file = case.path("other").display().to_string();
    let ran = case.run("migrate", &["--retry-rejects", &file]).exits(2);
    says(
        &ran,
        "line 1: the mapping has no item type `USERS`",
        "`USER`",
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn of_rows_without_a_key_the_same_one_is_loaded_in_whatever_order_they_come() {
    let items = "  LOG:
    from: logs
    key: { PK: \"LOG#{code}\", SK: \"-\" }
    columns: [note]
";
    let mut first = None;
    for order in ["id", "-id", "id * 7 % 11"] {
        let script = format!(
            "CREATE TABLE logs (code TEXT, note TEXT);
             WITH RECURSIVE n(id) AS (SELECT 0 UNION ALL SELECT id + 1 FROM n WHERE id < 40)
             INSERT INTO logs SELECT id % 4, 'note ' || id FROM n ORDER BY {order};"
        );
        let case = Case::new(&script, items).await;
        let report = case.migrate(&["--max-rejects", "99"], 3);
        assert_eq!(
            (total(&report, "rejected"), total(&report, "written")),
            (37, 4)
        );
        let report = case.run("verify", &[]).exits(3).json();
        assert_eq!(
            (total(&report, "equal"), total(&report, "rejected")),
            (4, 37)
        );
        let items = case.items().await;
        assert_eq!(*first.get_or_insert_with(|| items.clone()), items);
        // Any of its rows may be meant.
        let file = case.path("t.rejects.ndjson").display().to_string();
        let ran = case.run("migrate", &["--retry-rejects", &file]).exits(2);
        says(&ran, "the rows of LOG cannot be identified", "--items LOG");
        ran.says("from a copy of the file without the lines of LOG");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_whose_key_contains_null_is_not_loaded_again_by_it() {
    // SQLite takes NULL in a primary key, and any number of rows with it.
    let script = "CREATE TABLE s (a TEXT, b INTEGER, PRIMARY KEY (a, b));
        INSERT INTO s VALUES (NULL, 1), (NULL, 1);";
    let items = "  S:
    from: s
    key: { PK: \"S#{a | default(q)}\", SK: \"{b | default(0) | pad(3)}\" }
";
    let case = Case::new(script, items).await;
    case.migrate(&["--max-rejects", "1"], 3);
    let before = case.items().await;
    case.source.run("UPDATE s SET b = 3 WHERE rowid = 2").await;
    let file = case.path("t.rejects.ndjson").display().to_string();
    let ran = case.run("migrate", &["--retry-rejects", &file]).exits(2);
    says(
        &ran,
        "line 1: the row of S cannot be identified, because its key contains NULL",
        "--items S --changes-only",
    );
    assert_eq!(case.items().await, before);
    case.migrate(&["--items", "S", "--changes-only"], 0);
    case.run("verify", &[]).exits(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reject_that_stands_for_several_rows_is_told() {
    // Two texts, and one date.
    let script = "CREATE TABLE t (k DATE PRIMARY KEY, n INTEGER);
        INSERT INTO t VALUES ('2024-01-01', NULL), ('2024-01-01 ', 2), ('2024-01-02', NULL);";
    let items = "  T: { from: t, key: { PK: \"T#{n}\", SK: \"-\" }, columns: [k] }\n";
    let case = Case::new(script, items).await;
    case.migrate(&["--max-rejects", "2"], 3);
    case.source
        .run("UPDATE t SET n = rowid WHERE n IS NULL")
        .await;
    let file = case.path("t.rejects.ndjson").display().to_string();
    let report = case.migrate(&["--retry-rejects", &file], 0);
    assert_eq!(total(&report, "written"), 3);
    let warnings = report["warnings"].to_string();
    let warning = "1 row of the rejects file has a key that several rows of the source have";
    assert!(
        warnings.contains(warning) && !warnings.contains("2024-01-02"),
        "{warnings}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_rows_of_rejected_elements_are_loaded_again() {
    let items = LINES.replace(
        "    columns: []\n",
        "    columns: []\n    attributes: { count: \"{l | number}\" }\n",
    );
    let case = Case::new(BASKETS, &items).await;
    case.source.run("UPDATE baskets SET lines = '[\"1\", \"2\"]'; UPDATE baskets SET lines = '[\"1\", \"x\"]' WHERE id = 2;").await;
    let report = case.migrate(&["--max-rejects", "1"], 3);
    assert_eq!(
        (total(&report, "rejected"), total(&report, "written")),
        (1, 8)
    );
    case.source
        .run("UPDATE baskets SET lines = '[\"1\", \"2\"]' WHERE id = 2;")
        .await;
    let file = case.path("t.rejects.ndjson").display().to_string();
    let report = case.migrate(&["--retry-rejects", &file], 0);
    assert_eq!(
        (total(&report, "written"), total(&report, "filtered")),
        (2, 5)
    );
    case.run("verify", &[]).exits(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn equal_items_that_were_not_written_are_not_said_to_overwrite() {
    let case = Case::new(
        "CREATE TABLE a (id INTEGER PRIMARY KEY, n INTEGER NOT NULL); INSERT INTO a VALUES (1, 7), (2, 7), (3, 8);",
        "  A: { from: a, key: { PK: \"X#{n}\", SK: \"-\" }, columns: [] }\n",
    )
    .await;
    let nightly = ["--one-pass", "--changes-only"];
    case.migrate(&nightly, 3);
    let ran = case.run("migrate", &nightly).exits(3);
    ran.says("complete, but 1 item has the key of another");
    let report = ran.json();
    assert_eq!(
        (total(&report, "written"), total(&report, "unchanged")),
        (0, 3)
    );
    assert_eq!(claimed(&report, "keys_differ"), "differs");
    assert!(!ran.stdout.contains("overwrote"), "{}", ran.stdout);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_preview_rejects_the_rows_that_a_load_rejects() {
    // A comes first in the mapping, and the row of B has the smaller key; texts are loaded in an order of their own.
    let script = "CREATE TABLE a (id INTEGER PRIMARY KEY, n INTEGER);
        CREATE TABLE b (id INTEGER PRIMARY KEY, n INTEGER);
        CREATE TABLE c (id TEXT PRIMARY KEY, n INTEGER);
        INSERT INTO a VALUES (2, 7), (3, 8);
        INSERT INTO b VALUES (1, 7), (4, 8);
        INSERT INTO c VALUES ('p', 9), ('q', 9), ('r', 9), ('s', 9), ('t', 9), ('u', 9);";
    let of = |name: &str, table: &str| {
        format!(
            "  {name}: {{ from: {table}, key: {{ PK: \"X#{{n}}\", SK: \"-\" }}, columns: [id] }}\n"
        )
    };
    let case = Case::new(script, &[of("A", "a"), of("B", "b"), of("C", "c")].concat()).await;
    let (mapping, file) = (case.path("t.yaml"), case.path("preview.ndjson"));
    let (mapping, file) = (mapping.display().to_string(), file.display().to_string());
    let source = case.source.url();
    let arguments = [
        "preview",
        &mapping,
        "--all",
        "--source",
        &source,
        "--rejects",
        &file,
    ];
    dynafold(&[&arguments[..], &["--format", "json"]].concat()).exits(3);
    case.migrate(&["--max-rejects", "99"], 3);
    let rejected = |name: &str| -> BTreeSet<String> {
        let text = std::fs::read_to_string(case.path(name)).unwrap();
        let lines = text
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines
            .map(|line| format!("{} {} {}", line["item_type"], line["row"], line["message"]))
            .collect()
    };
    assert_eq!(rejected("preview.ndjson"), rejected("t.rejects.ndjson"));
    assert_eq!(rejected("preview.ndjson").len(), 7);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_item_of_a_row_that_is_not_loaded_again_is_not_replaced_unseen() {
    let script = "CREATE TABLE a (id INTEGER PRIMARY KEY, n INTEGER);
        INSERT INTO a VALUES (1, NULL), (2, 12);";
    let items = "  A: { from: a, key: { PK: \"X#{n}\", SK: \"-\" }, columns: [id] }\n";
    let case = Case::new(script, items).await;
    case.migrate(&["--max-rejects", "1"], 3);
    // Of rows with one key the first is loaded, and the other's item is there.
    case.source.run("UPDATE a SET n = 12 WHERE id = 1").await;
    let file = case.path("t.rejects.ndjson").display().to_string();
    let again = ["--retry-rejects", &file];
    let before = case.items().await;
    let report = case.migrate(&again, 1);
    assert_eq!(report["outcome"]["state"], "stopped");
    assert_eq!(report["rejects"][0]["row"]["id"], 2);
    assert_eq!(case.items().await, before);
    let report = case.migrate(&[&again[..], &["--max-rejects", "1"]].concat(), 3);
    assert_eq!(report["keys"]["shared_outside"], 1);
    assert_eq!(claimed(&report, "keys_differ"), "differs");
    assert_ne!(case.items().await, before);
    // Without a look at the other rows nothing is claimed of them.
    let report = case.migrate(&[&again[..], &["--one-pass"]].concat(), 0);
    assert_eq!(claimed(&report, "keys_differ"), "not_proved");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_item_of_an_item_type_that_is_not_selected_is_not_replaced_unseen() {
    let script = "CREATE TABLE a (id INTEGER PRIMARY KEY, note TEXT);
        CREATE TABLE b (id INTEGER PRIMARY KEY, note TEXT);
        INSERT INTO a VALUES (1, 'a1'), (2, 'a2');
        INSERT INTO b VALUES (2, 'b2'), (3, 'b3');";
    let items = "  A: { from: a, key: { PK: \"X#{id}\", SK: \"-\" }, columns: [note] }
  B: { from: b, key: { PK: \"X#{id}\", SK: \"-\" }, columns: [note] }
";
    let case = Case::new(script, items).await;
    // Of rows with one key, that of A is loaded.
    let report = case.migrate(&["--items", "B", "--max-rejects", "1"], 3);
    assert_eq!(
        (total(&report, "rejected"), total(&report, "written")),
        (1, 1)
    );
    let report = case.migrate(&["--items", "A", "--append"], 1);
    assert_eq!(report["outcome"]["state"], "stopped");
    assert_eq!(report["rejects"][0]["item_type"], "B");
    assert_eq!(total(&report, "written"), 0);
    let some = ["--items", "A", "--append", "--max-rejects", "1"];
    let ran = case.run("migrate", &some).exits(3);
    ran.says("complete, but 1 item that was not selected has the key of a loaded one");
    let report = ran.json();
    hold_loaded(&report);
    assert_eq!(report["keys"]["shared_outside"], 1);
    assert_eq!(claimed(&report, "keys_differ"), "differs");
    let items = case.items().await;
    let notes = ["a1", "a2", "b2", "b3"].map(|note| items.contains(note));
    assert_eq!(notes, [true, true, false, true], "{items}");
    for (item_type, code, [equal, rejected]) in [("A", 0, [2, 0]), ("B", 3, [1, 1])] {
        let ran = case.run("verify", &["--items", item_type]).exits(code);
        let report = ran.json();
        assert_eq!(
            [total(&report, "equal"), total(&report, "rejected")],
            [equal, rejected]
        );
    }
    let some = ["--items", "A", "--append", "--one-pass"];
    let ran = case.run("migrate", &some).exits(0);
    ran.says("the keys of B were not compared");
    assert_eq!(claimed(&ran.json(), "keys_differ"), "not_proved");
}
