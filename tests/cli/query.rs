//! `query`: its answers and its pages; in `words` its parameters and what it says, in `completion` what
//! shells offer.

mod completion;
mod words;

use serde_json::{Value, json};

use crate::support::cli::{Ran, command, run};
use crate::support::dynamodb_local;
use crate::support::sqlite::Database;

const MAPPING: &str = r#"
dynafold: 1
table:
  name: ${TABLE_NAME:-notes}
  key: { partition: PK, sort: SK }
  indexes:
    by_points: { partition: grp, sort: { name: points, type: N } }
  type_attribute: false
items:
  NOTE:
    from: notes
    accept: [empty-key]
    key: { PK: "G#{grp}", SK: "NOTE#{id | pad(6)}" }
    columns: [grp, points, body, state]
  SHARDED:
    from: notes
    key: { PK: "S#{grp}.{id | shard(4)}", SK: "NOTE#{id | pad(6)}" }
    columns: []
    attributes: { text: "{body}" }
  SINCE:
    from: notes
    key: { PK: "AT", SK: "{at}#{id | pad(6)}" }
    accept: [single-partition, key-unproved]
    columns: []
access_patterns:
  note:
    description: One note
    items: [NOTE]
    key: { PK: "G#{grp}", SK: "NOTE#{id | pad(6)}" }
  notesOfGroup:
    items: [NOTE]
    key: { PK: "G#{grp}", SK: { begins_with: "NOTE#" } }
  lastNotes:
    items: [NOTE]
    key: { PK: "G#{grp}", SK: { begins_with: "NOTE#" } }
    order: desc
    limit: 3
  ofRegion:
    items: [NOTE]
    key: { PK: "G#{region}", SK: { begins_with: "NOTE#" } }
  byPoints:
    items: [NOTE]
    index: by_points
    key: { grp: "{grp}", points: { between: ["{low}", "{high}"] } }
  lt: { items: [NOTE], index: by_points, key: { grp: "{grp}", points: { lt: "{bound}" } } }
  le: { items: [NOTE], index: by_points, key: { grp: "{grp}", points: { le: "{bound}" } } }
  gt: { items: [NOTE], index: by_points, key: { grp: "{grp}", points: { gt: "{bound}" } } }
  ge: { items: [NOTE], index: by_points, key: { grp: "{grp}", points: { ge: "{bound}" } } }
  openNotes:
    items: [NOTE]
    key: { PK: "G#{grp}", SK: { begins_with: "NOTE#" } }
    filter: "state = :state AND points >= :least"
    limit: 2
  withinPoints:
    items: [NOTE]
    key: { PK: "G#{grp}", SK: { begins_with: "NOTE#" } }
    filter: "points BETWEEN :low AND :high"
  allShards:
    items: [SHARDED]
    key: { PK: "S#{grp}.{* | shard(4)}", SK: { begins_with: "NOTE#" } }
  since:
    items: [SINCE]
    key: { PK: AT, SK: { between: ["{from}", "{until}"] } }
    params: { from: "{now | plus(-7d)}", until: "{now}" }
"#;

/// A loaded table: forty notes in two groups, of 60 KB each in the first, so that it has several
/// pages, and so does each of its shards.
struct Table {
    database: Database,
    folder: tempfile::TempDir,
    name: String,
    /// The URL of DynamoDB Local, where the table is there.
    endpoint: Option<String>,
}

impl Table {
    async fn new(name: &str, endpoint: Option<String>) -> Self {
        let script = "CREATE TABLE notes (id INTEGER PRIMARY KEY, grp TEXT NOT NULL, points INTEGER NOT NULL,
                body TEXT NOT NULL, state TEXT NOT NULL, at TIMESTAMP NOT NULL);
            WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 80)
            INSERT INTO notes SELECT i, CASE WHEN i % 4 = 0 THEN 'b' ELSE 'a' END, i * 10,
                CASE WHEN i % 4 = 0 THEN 'short' ELSE printf('%.*c', 60000, 'x') END,
                CASE WHEN i % 2 = 0 THEN 'open' ELSE 'done' END,
                '2026-01-' || printf('%02d', 1 + i % 28) || ' 00:00:00' FROM n";
        let table = Self {
            database: Database::new(script).await,
            folder: tempfile::tempdir().unwrap(),
            name: format!("{name}-{}", std::process::id()),
            endpoint,
        };
        std::fs::write(table.folder.path().join("notes.yaml"), MAPPING).unwrap();
        let source = table.source();
        table.run(&["migrate"], &["--source", &source]).exits(0);
        table
    }

    fn source(&self) -> String {
        format!("sqlite:{}", self.database.file().display())
    }

    fn run(&self, before: &[&str], after: &[&str]) -> Ran {
        let local = format!("local:{}", self.folder.path().join("notes.ddb").display());
        let target = match &self.endpoint {
            Some(endpoint) => vec!["--target", "dynamodb", "--endpoint-url", endpoint],
            None => vec!["--target", &local],
        };
        let mapping = self.folder.path().join("notes.yaml");
        let (first, rest) = before.split_first().unwrap();
        let words = [&[*first, mapping.to_str().unwrap()], rest, after, &target].concat();
        let mut command = command(&words);
        // Nobody answers there, and nobody is to ask.
        command.env("DATABASE_URL", "postgres://nobody@127.0.0.1:1/none");
        run(command.env("TABLE_NAME", &self.name))
    }

    fn query(&self, words: &[&str]) -> Ran {
        self.run(&["query"], words)
    }

    fn answer(&self, words: &[&str]) -> Value {
        self.query(&[words, &["--format", "json"]].concat())
            .exits(0)
            .json()
    }
}

fn keys(answer: &Value) -> Vec<&str> {
    let items = answer["items"].as_array().unwrap().iter();
    items
        .map(|item| item["SK"]["S"].as_str().unwrap())
        .collect()
}

fn note(id: u32) -> String {
    format!("NOTE#{id:06}")
}

fn hold(table: &Table) {
    let answer = table.answer(&["note", "--grp", "b", "--id", "8"]);
    assert_eq!(keys(&answer), [note(8)]);
    assert_eq!(
        (&answer["pages"], &answer["more"]),
        (&json!(1), &json!(false))
    );
    assert!(keys(&table.answer(&["note", "--grp", "b", "--id", "9"])).is_empty());

    let all: Vec<String> = (1..=80).filter(|id| id % 4 != 0).map(note).collect();
    let page = table.answer(&["notesOfGroup", "--grp", "a"]);
    assert_eq!((&page["pages"], &page["more"]), (&json!(1), &json!(true)));
    assert_eq!(keys(&page), all[..keys(&page).len()]);
    let whole = table.answer(&["notesOfGroup", "--grp", "a", "--all"]);
    assert_eq!(keys(&whole), all);
    assert!(
        whole["pages"].as_u64().unwrap() > 3 && whole["more"] == false,
        "{}",
        whole["pages"]
    );
    assert!(
        whole["read_units"].as_f64().unwrap() > 400.0,
        "{}",
        whole["read_units"]
    );

    assert_eq!(
        keys(&table.answer(&["lastNotes", "--grp", "b", "--all"])),
        [note(80), note(76), note(72)]
    );
    assert_eq!(
        keys(&table.answer(&["byPoints", "--grp", "b", "--low", "75", "--high=120"])),
        [note(8), note(12)]
    );
    for (operator, bound, wanted) in [
        ("lt", "80", &[4][..]),
        ("le", "80", &[4, 8]),
        ("gt", "760", &[80]),
        ("ge", "760", &[76, 80]),
    ] {
        let wanted: Vec<String> = wanted.iter().copied().map(note).collect();
        let answer = table.answer(&[operator, "--grp", "b", "--bound", bound]);
        assert_eq!(keys(&answer), wanted, "{operator}");
    }

    // Of several shards nothing is shown that another may still come before.
    let page = table.answer(&["allShards", "--grp", "a"]);
    assert_eq!(
        (&page["pages"], &page["more"]),
        (&json!(4), &json!(page["more"] == true))
    );
    assert_eq!(keys(&page), all[..keys(&page).len()]);
    assert_eq!(
        keys(&table.answer(&["allShards", "--grp", "a", "--all"])),
        all
    );

    let source = table.source();
    let filtered = [
        "openNotes",
        "--grp",
        "a",
        "--state",
        "open",
        "--least",
        "500",
        "--source",
        &source,
    ];
    assert_eq!(keys(&table.answer(&filtered)), [note(50), note(54)]);
    let filtered = [
        "withinPoints",
        "--grp",
        "b",
        "--low",
        "75",
        "--high",
        "120",
        "--source",
        &source,
    ];
    assert_eq!(keys(&table.answer(&filtered)), [note(8), note(12)]);

    let answer = table.answer(&[
        "since",
        "--now",
        "2026-01-10T00:00:00Z",
        "--source",
        &source,
    ]);
    assert_eq!(keys(&answer).len(), 21, "{:?}", keys(&answer));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_pages_limits_and_shards_are_those_of_the_table_in_the_embedded_engine() {
    hold(&Table::new("query-local", None).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_pages_limits_and_shards_are_those_of_the_table_in_dynamodb_local() {
    let table = Table::new("query", Some(dynamodb_local::endpoint())).await;
    hold(&table);
    dynamodb_local::delete_table(&table.name).await;
}
