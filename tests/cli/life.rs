//! Items that have expired, items that are too large, and delimiters inside keys: with every
//! database, against the embedded engine and DynamoDB Local.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::says;
use crate::support::books::{claimed, hold_compared};
use crate::support::cli::{Ran, command, dynafold, run};
use crate::support::dynamodb_local;
use crate::support::source::Source;

/// The moment of all these runs.
const NOW: &str = "2026-01-01T00:00:00Z";
/// For a load into a table that has been loaded before.
const AGAIN: &[&str] = &["--append"];

/// Sessions: 1 ends in 2100, 2 has just ended, 3 ended in 1970, 4 never ends.
fn script(product: &str) -> String {
    let (text, document) = match product {
        "mysql" => ("LONGTEXT", "LONGTEXT CHECK (json_valid(doc))"),
        "postgres" => ("TEXT", "JSONB"),
        _ => ("TEXT", "JSON"),
    };
    let lorem = "lorem ipsum ".repeat(50_000);
    format!(
        "CREATE TABLE sessions (id INTEGER PRIMARY KEY, owner VARCHAR(40) NOT NULL, ends BIGINT);
         INSERT INTO sessions VALUES
           (1, 'a#b', 4102444800), (2, 'a', 1767225599), (3, '50%', 3), (4, 'b', NULL);
         CREATE TABLE notes (id INTEGER PRIMARY KEY, body {text}, doc {document});
         INSERT INTO notes VALUES
           (1, 'short', '{{\"a\": 1}}'), (2, '{lorem}', '{{\"a\": 2}}'),
           (3, '{lorem}', '{{\"a\": \"{lorem}\"}}');"
    )
}

fn sessions(expired: &str) -> String {
    format!(
        "dynafold: 1
table: {{ name: life, key: {{ partition: PK, sort: SK }}, ttl: ends, key_escape: percent }}
items:
  SESSION:
    from: sessions
    key: {{ PK: \"OWNER#{{owner}}\", SK: \"SESSION#{{id | pad(4)}}\" }}
    expired: {expired}
"
    )
}

/// A folder with a mapping, a source, and a table in a file.
struct Case {
    folder: tempfile::TempDir,
    source: String,
}

impl Case {
    fn new(source: &Source) -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            source: source.url(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn run(&self, name: &str, mapping: &str, further: &[&str]) -> Ran {
        let file = self.path("life.yaml");
        std::fs::write(&file, mapping).unwrap();
        let file = file.display().to_string();
        let target = format!("local:{}", self.path("life.ddb").display());
        let mut arguments = vec![name, &file, "--source", &self.source];
        if name != "preview" {
            arguments.extend(["--target", &target]);
        }
        arguments.extend(["--now", NOW, "--format", "json"]);
        arguments.extend(further);
        dynafold(&arguments)
    }
}

fn figures(report: &Value, names: &[&str]) -> Vec<u64> {
    let total = &report["total"];
    let figure = |name: &&str| {
        total[*name]
            .as_u64()
            .unwrap_or_else(|| panic!("{name}: {total}"))
    };
    names.iter().map(figure).collect()
}

fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

const BOOKS: &[&str] = &["rows_read", "expired", "archived", "made", "written"];
const COMPARED: &[&str] = &[
    "rows_read",
    "expired",
    "expected",
    "equal",
    "missing",
    "gone",
];

#[tokio::test(flavor = "multi_thread")]
async fn what_has_expired_is_loaded_skipped_or_archived_and_verify_knows() {
    for source in Source::each(script).await {
        let case = Case::new(&source);
        let ran = case.run("migrate", &sessions("skip"), &[]).exits(0);
        let report = ran.json();
        assert_eq!(
            figures(&report, BOOKS),
            [4, 2, 0, 2, 2],
            "{}",
            source.product()
        );
        assert_eq!(report["now"], NOW);
        assert_eq!(claimed(&report, "books_balance"), "proved");

        let verified = case.run("verify", &sessions("skip"), &[]).exits(0).json();
        hold_compared(&verified);
        assert_eq!(figures(&verified, COMPARED), [4, 2, 2, 2, 0, 0]);
        assert_eq!(verified["lingering"], 0);
        // The patterns are held to the same rule. (In MySQL and MariaDB the SQL finds owners in other letters, too.)
        let asked = "access_patterns:
  all: { key: { PK: \"OWNER#{owner}\" }, sql: \"SELECT id, owner, ends FROM sessions WHERE owner = :owner\" }\n";
        let asked = sessions("skip") + asked;
        if ["sqlite", "postgres"].contains(&source.product()) {
            let patterns = case.run("verify", &asked, &["--patterns"]).exits(0);
            assert_eq!(claimed(&patterns.json(), "pattern_answers"), "agrees");
        }

        // In a file nothing deletes what has ended: it was never loaded.
        let verified = case.run("verify", &sessions("load"), &[]).exits(3).json();
        hold_compared(&verified);
        assert_eq!(figures(&verified, COMPARED), [4, 0, 4, 2, 2, 0]);

        let ran = case.run("migrate", &sessions("archive"), AGAIN).exits(0);
        assert_eq!(figures(&ran.json(), BOOKS), [4, 0, 2, 2, 2]);
        let archived = lines(&case.path("life.archive.ndjson"));
        assert_eq!(archived.len(), 2);
        assert_eq!(archived[0]["PK"], json!({ "S": "OWNER#a" }));
        assert_eq!(archived[1]["PK"], json!({ "S": "OWNER#50%25" }));
        assert!(!case.path("life.archive.ndjson.part").exists());

        let ran = case.run("migrate", &sessions("load"), AGAIN).exits(0);
        assert_eq!(figures(&ran.json(), BOOKS), [4, 0, 0, 4, 4]);
        for reported in [
            "1 item had already expired",
            "1 item expired more than five years ago",
        ] {
            ran.says(reported);
        }
        let verified = case
            .run("verify", &sessions("archive"), &[])
            .exits(0)
            .json();
        hold_compared(&verified);
        assert_eq!(figures(&verified, COMPARED), [4, 2, 2, 2, 0, 0]);
        assert_eq!(verified["lingering"], 2);

        // What the form of a key does not tell, its row does: SQLite keeps text in numbers of a query.
        let bare = |expired: &str| {
            let query = "from: { sql: \"SELECT id, owner, ends FROM sessions\", key: [id] }";
            sessions(expired)
                .replace("{ name: life,", "{ name: bare, type_attribute: false,")
                .replace("from: sessions", query)
        };
        case.run("migrate", &bare("load"), &["--fresh"]).exits(0);
        let verified = case.run("verify", &bare("skip"), &[]).exits(0).json();
        let product = source.product();
        let counts = (&verified["lingering"], &verified["unclear"]);
        assert_eq!(counts, (&json!(2), &json!(0)), "{product}");
        assert_eq!(claimed(&verified, "table_equal"), "proved", "{product}");
        source.drop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_preview_shows_what_would_be_left_out_and_a_delimiter_in_a_value_is_escaped() {
    for source in Source::each(script).await {
        let case = Case::new(&source);
        let shown = case
            .run("preview", &sessions("archive"), &[])
            .exits(0)
            .json();
        let shown = &shown["item_types"][0];
        assert_eq!(shown["expired"].as_array().unwrap().len(), 2);
        assert_eq!(shown["expired"][0]["row"], json!({ "id": 2 }));
        assert_eq!(
            shown["items"][0]["item"]["PK"],
            json!({ "S": "OWNER#a%23b" })
        );
        assert_eq!(
            shown["items"][0]["item"]["SK"],
            json!({ "S": "SESSION#0001" })
        );
        assert_eq!(shown["items"][0]["item"]["owner"], json!({ "S": "a#b" }));
        source.drop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_holds_something_else_is_no_archive_and_a_full_disk_is_told() {
    let source = Source::Sqlite(crate::support::sqlite::Database::new(&script("sqlite")).await);
    let case = Case::new(&source);
    let other = case.path("precious.txt");
    std::fs::write(&other, "precious").unwrap();
    let other = other.display().to_string();
    let mapping = sessions("archive");
    let ran = case
        .run("migrate", &mapping, &["--archive", &other])
        .exits(1);
    says(&ran, "precious.txt", "--archive");
    assert_eq!(std::fs::read_to_string(&other).unwrap(), "precious");
    assert!(!case.path("life.ddb").exists(), "the table was made");
    if cfg!(target_os = "linux") {
        let ran = case
            .run("migrate", &mapping, &["--archive", "/dev/full"])
            .exits(1);
        says(&ran, "/dev/full", "--archive");
        assert_eq!(ran.json()["outcome"]["code"], "archive-file");
    }
    let same = ["--archive", "one.ndjson", "--rejects", "one.ndjson"];
    says(
        &case.run("migrate", &mapping, &same).exits(2),
        "the same file",
        "of its own",
    );
    // An archive of an earlier run is replaced, by a run that has read everything.
    case.run("migrate", &mapping, &[]).exits(0);
    case.run("migrate", &mapping, AGAIN).exits(0);
    assert_eq!(lines(&case.path("life.archive.ndjson")).len(), 2);
    let stops = mapping
        .replace("pad(4)", "pad(1)")
        .replace("\"OWNER#{owner}\"", "\"OWNER#{owner | map(a: x)}\"");
    std::fs::write(
        case.path("life.archive.ndjson"),
        "{\"PK\":{\"S\":\"kept\"}}\n",
    )
    .unwrap();
    case.run("migrate", &stops, AGAIN).exits(1);
    assert_eq!(lines(&case.path("life.archive.ndjson")).len(), 1);
}

#[tokio::test]
async fn a_moment_is_rfc_3339() {
    dynafold(&[
        "verify",
        "x.yaml",
        "--target",
        "local",
        "--now",
        "yesterday",
    ])
    .exits(2)
    .says("2026-01-31T09:00:00Z");
}

fn notes(oversize: &str) -> String {
    format!(
        "dynafold: 1
table: {{ name: notes, key: {{ partition: PK }} }}
items:
  NOTE:
    from: notes
    key: {{ PK: \"NOTE#{{id}}\" }}
    columns: [body, doc]
    oversize: {oversize}
"
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_too_large_is_compressed_as_far_as_is_needed_and_verified_equal() {
    for source in Source::each(script).await {
        let case = Case::new(&source);
        let mapping = notes("{ compress: [doc, body] }");
        let report = case.run("migrate", &mapping, &[]).exits(0).json();
        assert_eq!(
            figures(&report, &["made", "compressed", "rejected"]),
            [3, 2, 0]
        );
        case.run("verify", &mapping, &[]).exits(0);
        let shown = case.run("preview", &mapping, &[]).exits(0).json();
        let items = &shown["item_types"][0]["items"];
        let compressed: Vec<&Value> = (0..3).map(|n| &items[n]["compressed"]).collect();
        // A small document would not get smaller; a large one alone is not enough.
        let expected = [json!([]), json!(["body"]), json!(["doc", "body"])];
        assert_eq!(compressed, expected.iter().collect::<Vec<_>>());
        assert!(
            items[1]["item"]["body"]["B"]
                .as_str()
                .unwrap()
                .starts_with("H4sIAAAAAAA")
        );
        let ran = case
            .run(
                "migrate",
                &notes("{ compress: [doc] }"),
                &["--append", "--max-rejects", "9"],
            )
            .exits(3);
        assert_eq!(figures(&ran.json(), &["made", "rejected"]), [1, 2]);
        ran.prints("with `doc` compressed, the item has");
        source.drop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn dynamodb_local_takes_such_items_and_what_it_lacks_is_told() {
    let url = dynamodb_local::endpoint();
    let source = Source::Sqlite(crate::support::sqlite::Database::new(&script("sqlite")).await);
    let folder = tempfile::tempdir().unwrap();
    let mapping = folder.path().join("notes.yaml");
    let table = format!("life-{}", std::process::id());
    let text = notes("{ compress: [doc, body] }").replace(
        "name: notes",
        &format!("name: {table}, point_in_time_recovery: true, tags: {{ team: shop }}"),
    );
    std::fs::write(&mapping, text).unwrap();
    let mapping = mapping.display().to_string();
    let ran = |name: &str| {
        let source = source.url();
        let mut command = command(&[
            name,
            &mapping,
            "--source",
            &source,
            "--target",
            "dynamodb",
            "--endpoint-url",
            &url,
        ]);
        run(command
            .env("AWS_REGION", "eu-west-1")
            .env("AWS_ACCESS_KEY_ID", "local")
            .env("AWS_SECRET_ACCESS_KEY", "local"))
    };
    let migrated = ran("migrate").exits(0);
    for setting in [
        "`point_in_time_recovery` is not known here",
        "`tags` is not known here",
    ] {
        migrated.says(setting);
    }
    migrated.prints("2 items compressed");
    ran("verify").exits(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_has_expired_is_gone_only_where_the_tables_ttl_is_on() {
    let hour_ago = jiff::Timestamp::now().as_second() - 3600;
    let rows = format!(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, x INTEGER NOT NULL);
         INSERT INTO t VALUES (1, 4000000000), (2, {hour_ago});"
    );
    let source = Source::Sqlite(crate::support::sqlite::Database::new(&rows).await);
    let folder = tempfile::tempdir().unwrap();
    let table = format!("gone-{}", std::process::id());
    let asked = |command_: &[&str], ttl: &str| {
        let mapping = folder.path().join("gone.yaml");
        let text = format!(
            "dynafold: 1\ntable: {{ name: {table}, key: {{ partition: PK }}{ttl} }}\n\
             items: {{ T: {{ from: t, key: {{ PK: \"T#{{id}}\" }}, columns: [id, x] }} }}\n\
             access_patterns:\n\
             \x20 told: {{ key: {{ PK: \"T#{{id}}\" }}, sql: \"SELECT id, x FROM t WHERE id = :id\" }}\n\
             \x20 untold: {{ key: {{ PK: \"T#{{id}}\" }}, sql: \"SELECT id FROM t WHERE id = :id\" }}\n"
        );
        std::fs::write(&mapping, text).unwrap();
        let (mapping, source) = (mapping.display().to_string(), source.url());
        let endpoint = dynamodb_local::endpoint();
        let mut arguments = vec![command_[0], &mapping, "--source", &source];
        arguments.extend(["--format", "json", "--target", "dynamodb"]);
        arguments.extend(["--endpoint-url", &endpoint]);
        arguments.extend(&command_[1..]);
        run(&mut command(&arguments))
    };
    let ran = |name: &str, ttl: &str| asked(&[name], ttl);
    ran("migrate", "").exits(0);
    let key = json!({ "PK": { "S": "T#2" } });
    let delete = json!({ "TableName": table, "Key": key });
    dynamodb_local::call("DeleteItem", &delete).await;
    let expiring = ", ttl: x";
    let report = ran("verify", expiring).exits(3).json();
    assert_eq!(report["total"]["missing"], 1, "{report:#}");
    // A plan with something to write exits with 3.
    let planned = |way: &str, code: i32| {
        asked(&["migrate", way, "--plan"], expiring).exits(code);
    };
    planned("--changes-only", 3);
    let pattern = |name: &str, code: i32| {
        let report = asked(&["verify", "--patterns", "--pattern", name], expiring);
        report.exits(code).json()
    };
    let report = pattern("told", 3);
    assert_eq!(claimed(&report, "pattern_answers"), "differs");
    let on = json!({ "Enabled": true, "AttributeName": "x" });
    let on = json!({ "TableName": table, "TimeToLiveSpecification": on });
    dynamodb_local::call("UpdateTimeToLive", &on).await;
    planned("--changes-only", 0);
    // Such a load writes it.
    planned("--append", 3);
    let report = ran("verify", expiring).exits(0).json();
    assert_eq!(report["total"]["gone"], 1, "{report:#}");
    assert_eq!(claimed(&report, "table_equal"), "agrees");
    let report = asked(&["verify", "--sample", "9"], expiring).exits(0);
    let report = report.json();
    let claim = &report["claims"][0];
    let counted = (&claim["asked"], &claim["possible"]);
    assert_eq!(counted, (&json!(1), &json!(2)), "{claim:#}");
    assert_eq!(
        claim["because"],
        "the sample of 2 items is as the source makes it, except 1 item that had expired"
    );
    // The table is searched, so that something is known of it.
    let report = asked(&["verify", "--partition", "T#2"], expiring).exits(0);
    let report = report.json();
    assert_eq!(report["outcome"]["state"], "equal");
    assert_eq!(report["unexpected"], 0);
    let claim = &report["claims"][0];
    assert_eq!(claim["verdict"], "agrees", "{claim:#}");
    let counted = (&claim["asked"], &claim["possible"]);
    assert_eq!(counted, (&json!(0), &json!(1)), "{claim:#}");
    let because = claim["because"].as_str().unwrap();
    let why = "the table holds what the source makes, except 1 item that had expired";
    assert!(because.ends_with(why), "{because}");
    let gone = ["verify", "--sample", "9", "--partition", "T#2"];
    let report = asked(&gone, expiring).exits(3).json();
    assert_eq!(report["outcome"]["state"], "nothing_compared");
    let claim = &report["claims"][0];
    assert_eq!(claim["facts"][1], "0 items compared");
    let because = claim["because"].as_str().unwrap();
    let why = "nothing was compared: 1 item had expired and is not in the table";
    assert!(because.ends_with(why), "{because}");
    // The patterns are held to the same rule; a row that does not show its moment is not compared.
    let report = pattern("told", 0);
    assert_eq!(claimed(&report, "pattern_answers"), "agrees");
    assert!(
        report.to_string().contains("DynamoDB has deleted them"),
        "{report:#}"
    );
    let report = pattern("untold", 3);
    assert_eq!(claimed(&report, "pattern_answers"), "not_proved");
    dynamodb_local::delete_table(&table).await;
    source.drop().await;
}

/// What `expired-items` says is so on both engines, and so is its help.
#[tokio::test(flavor = "multi_thread")]
async fn the_filter_that_a_warning_names_leaves_out_what_has_expired() {
    let rows = "CREATE TABLE sessions (id INTEGER PRIMARY KEY, owner TEXT NOT NULL, ends INTEGER);
         CREATE TABLE owners (name TEXT PRIMARY KEY NOT NULL);
         INSERT INTO owners VALUES ('ann');
         INSERT INTO sessions VALUES (1, 'ann', 4102444800), (2, 'ann', 4070908799);";
    let source = Source::Sqlite(crate::support::sqlite::Database::new(rows).await);
    let folder = tempfile::tempdir().unwrap();
    let mapping = folder.path().join("sessions.yaml");
    let table = format!("leaves-out-{}", std::process::id());
    let write = |filter: &str| {
        let text = format!(
            "dynafold: 1\ntable: {{ name: {table}, key: {{ partition: PK, sort: SK }}, ttl: ends }}\n\
             items:\n\
             \x20 OWNER: {{ from: owners, key: {{ PK: \"{{name}}\", SK: OWNER }}, accept: [empty-key] }}\n\
             \x20 SESSION: {{ from: sessions, key: {{ PK: \"{{owner}}\", SK: \"S#{{id | pad(4)}}\" }}, columns: [ends], accept: [empty-key] }}\n\
             access_patterns:\n\
             \x20 all: {{ key: {{ PK: \"{{owner}}\" }}{filter} }}\n"
        );
        std::fs::write(&mapping, text).unwrap();
    };
    let ran = |more: &[&str]| {
        let path = mapping.display().to_string();
        let mut arguments = vec![more[0], &path];
        arguments.extend(&more[1..]);
        dynafold(&arguments)
    };
    write("");
    let url = source.url();
    let report = ran(&["check", "--source", &url, "--format", "json"])
        .exits(0)
        .json();
    let reported = report["diagnostics"].as_array().unwrap();
    let reported: Vec<&Value> = reported
        .iter()
        .filter(|d| d["code"] == "expired-items")
        .collect();
    assert_eq!(reported.len(), 1, "{report:#}");
    let help = reported[0]["help"].as_str().unwrap();
    let (filter, rest) = help
        .strip_prefix("leave them out: ")
        .unwrap()
        .split_once(" and ")
        .unwrap();
    let (params, _) = rest.split_once(';').unwrap();

    let file = format!("local:{}", folder.path().join("table.ddb").display());
    let endpoint = dynamodb_local::endpoint();
    let targets = [
        vec!["--target", file.as_str()],
        vec!["--target", "dynamodb", "--endpoint-url", &endpoint],
    ];
    for target in &targets {
        let found = || {
            let at = [
                // After the second session has ended, and before DynamoDB Local deletes it.
                &[
                    "query",
                    "all",
                    "--owner",
                    "ann",
                    "--format",
                    "ndjson",
                    "--now",
                    "2099-01-01T00:00:00Z",
                ],
                &target[..],
            ];
            ran(&at.concat()).exits(0).stdout.lines().count()
        };
        write("");
        ran(&[&["migrate", "--source", &url], &target[..]].concat()).exits(0);
        assert_eq!(found(), 3, "{target:?}");
        write(&format!(", {filter}, {params}"));
        let report = ran(&["check", "--source", &url, "--format", "json"])
            .exits(0)
            .json();
        assert_eq!(report["diagnostics"], json!([]));
        assert_eq!(found(), 2, "{target:?}");
    }
    dynamodb_local::delete_table(&table).await;
    source.drop().await;
}
