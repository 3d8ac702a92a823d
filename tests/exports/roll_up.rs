//! Roll-ups: the function at work on DynamoDB Local, and what `verify` says of its sums.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::{answered_by, at, docs, root, template};
use crate::support::cli::{Ran, command, run};
use crate::support::dynamodb_local::{delete_table, endpoint};
use crate::support::source::Source;

/// A mapping's table on DynamoDB Local.
struct Loaded {
    folder: tempfile::TempDir,
    table: String,
    source: Source,
}

impl Loaded {
    async fn new(mapping: &str, name: &str) -> Self {
        let loaded = Self {
            folder: tempfile::tempdir().unwrap(),
            table: format!("roll-up-{name}-{}", std::process::id()),
            source: Source::on_sqlite("votes").await,
        };
        // A load's state is kept beside the mapping.
        std::fs::write(loaded.mapping(), mapping).unwrap();
        loaded.run("migrate", &[]).exits(0);
        loaded
    }

    fn mapping(&self) -> PathBuf {
        self.folder.path().join("votes.yaml")
    }

    fn run(&self, name: &str, further: &[&str]) -> Ran {
        let (mapping, url) = (self.mapping(), self.source.url());
        let endpoint = endpoint();
        let table = ["--target", "dynamodb", "--endpoint-url", &endpoint];
        let table = if name == "docs" { &[][..] } else { &table };
        let words = [
            &[name, mapping.to_str().unwrap(), "--source", &url],
            table,
            further,
        ]
        .concat();
        let mut command = command(&words);
        run(command.env("TABLE_NAME", &self.table))
    }

    /// What the function returns when the schedule of the template calls it, the application having written `puts` before; and the
    /// totals afterwards.
    fn sum(&self, puts: &Value) -> Option<(Value, Value)> {
        let made = self.run("docs", &["--as", "cloudformation", "-o", "-"]);
        let template = template(&made.exits(0).stdout);
        let of = |name: &str| at(&template, &["Resources", name, "Properties"]);
        let code = at(of("RollUpFunction"), &["Code", "ZipFile"]).text()?;
        assert!(code.len() <= 4_096, "CloudFormation takes no more inline");
        let input = at(of("RollUpTOTALSchedule"), &["Target", "Input"]).text()?;
        let call = json!({
            "code": code,
            "event": serde_json::from_str::<Value>(input).unwrap(),
            "endpoint": endpoint(),
            "table": self.table,
            "puts": puts,
        });
        let answer = answered_by("roll_up_test.py", &call.to_string())?;
        Some((answer["done"].clone(), answer["totals"].clone()))
    }
}

/// An item of a vote that somebody casts, in the shard of the voter's number.
fn vote(partition: &str, voter: u32) -> Value {
    json!({ "PK": { "S": partition }, "SK": { "S": format!("VOTE#{voter:08}") } })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_function_of_a_template_sums_the_shards_of_a_table() {
    let mapping = std::fs::read_to_string(root().join("mappings/votes.yaml")).unwrap();
    let loaded = Loaded::new(&mapping, "votes").await;
    // The rows' sums are those of the shards.
    if let Some((done, _)) = loaded.sum(&json!([])) {
        assert_eq!(
            done,
            json!({ "totals": 4, "changed": 0, "without_total": 0 })
        );
        loaded.run("verify", &[]).exits(0);
        let puts = json!([
            vote("kim.00", 90_000_105),
            vote("kim.19", 90_000_011),
            vote("nobody.19", 90_000_024),
            { "PK": { "S": "new" }, "SK": { "S": "TOTAL" } },
            { "PK": { "S": "kim.07" }, "SK": { "S": "TOTAL" }, "votes": { "N": "7" } },
            // Neither a vote nor a total.
            { "PK": { "S": "kim.00" }, "SK": { "S": "VOTED" } },
        ]);
        let (done, totals) = loaded.sum(&puts).unwrap();
        assert_eq!(
            done,
            json!({ "totals": 5, "changed": 3, "without_total": 1 })
        );
        let number = |number: &str| json!({ "N": number });
        let expected = json!({
            "kim": number("38"),
            "kim.07": number("2"),
            "new": number("0"),
            "yu": number("0"),
            "이순신": number("5"),
        });
        assert_eq!(totals, expected);
        // What the application has written is told, its totals too.
        let verified = loaded.run("verify", &["--format", "json"]).exits(3);
        let found = verified.json();
        let counts = [&found["total"]["different"], &found["unexpected"]];
        assert_eq!(counts, [&json!(2), &json!(4)], "{found}");
        // Loading again puts the source's sums back.
        loaded.run("migrate", &["--prune=filtered"]).exits(0);
        loaded.run("verify", &[]).exits(0);
    }
    delete_table(&loaded.table).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_exports_of_a_roll_up_are_as_reviewed() {
    let source = Source::on_sqlite("votes").await;
    let mapping = root().join("mappings/votes.yaml");
    for format in ["cloudformation", "terraform"] {
        let made = docs(&mapping, &source.url(), &["--as", format, "-o", "-"]).exits(0);
        insta::assert_snapshot!(format!("votes.{format}"), made.stdout);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_changed_roll_up_is_told_and_writes_no_item() {
    let source = Source::on_sqlite("votes").await;
    let folder = tempfile::tempdir().unwrap();
    let old = root().join("mappings/votes.yaml");
    let new = folder.path().join("new.yaml");
    let text = std::fs::read_to_string(&old).unwrap();
    std::fs::write(&new, text.replace("rate(5 minutes)", "rate(1 hour)")).unwrap();
    let (old, new) = (old.to_str().unwrap(), new.to_str().unwrap());
    let words = [
        "diff",
        old,
        new,
        "--source",
        &source.url(),
        "--format",
        "json",
    ];
    let found = run(&mut command(&words)).json();
    assert_eq!(found["table"][0]["what"], "roll_up", "{found}");
    let types = found["item_types"].as_array().unwrap();
    assert!(types.iter().all(|one| one["change"] == "same"), "{found}");
}

/// Counters, not single votes: the load puts each into one shard, and the application adds to any.
const COUNTERS: &str = "
dynafold: 1
table:
  name: ${TABLE_NAME}
  key: { partition: PK, sort: SK }
items:
  TOTAL:
    from:
      sql: >-
        SELECT c.candidate, count(v.voter_id) AS votes
        FROM candidates c LEFT JOIN votes v ON v.candidate = c.candidate GROUP BY c.candidate
      key: [candidate]
    key: { PK: \"é'${{name}}#{candidate}!\", SK: TOTAL }
    roll_up: { of: COUNTER, sum: votes, schedule: cron(0 * * * ? *) }
  COUNTER:
    from: { sql: \"SELECT candidate, count(*) AS votes FROM votes GROUP BY candidate\", key: [candidate] }
    key: { PK: \"N·{candidate | shard(12)}#{candidate}\", SK: \"{candidate}\" }
";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn counters_are_summed_exactly() {
    let loaded = Loaded::new(COUNTERS, "counters").await;
    let counter = |partition: &str, votes: &str| {
        json!({
            "PK": { "S": partition }, "SK": { "S": "-" }, "_type": { "S": "COUNTER" },
            "votes": { "N": votes },
        })
    };
    let total = |candidate: &str| {
        let partition = format!("é'${{name}}#{candidate}!");
        json!({ "PK": { "S": partition }, "SK": { "S": "TOTAL" }, "_type": { "S": "TOTAL" } })
    };
    let no_number = |partition: &str| {
        json!({
            "PK": { "S": partition }, "SK": { "S": "null" }, "_type": { "S": "COUNTER" },
            "votes": { "NULL": true },
        })
    };
    let puts = json!([
        counter("N·00#kim", "12345678901234567890123456789012345678"),
        counter("N·11#kim", "-37"),
        counter("N·07#이순신", "0.000000000000000000000000000000000005"),
        // No votes yet.
        { "PK": { "S": "N·03#yu" }, "SK": { "S": "-" }, "_type": { "S": "COUNTER" } },
        no_number("N·04#kim"),
        // As a load writes it where SQL's sum is NULL.
        total("none"),
        no_number("N·05#none"),
        total("zero"),
        counter("N·06#zero", "5"),
        counter("N·07#zero", "-5"),
    ]);
    if let Some((done, totals)) = loaded.sum(&puts) {
        assert_eq!(
            done,
            json!({ "totals": 6, "changed": 3, "without_total": 0 })
        );
        let number = |number: &str| json!({ "N": number });
        let expected = json!({
            "é'${name}#kim!": number("12345678901234567890123456789012345677"),
            "é'${name}#kim.07!": number("2"),
            "é'${name}#none!": null,
            "é'${name}#yu!": number("0"),
            "é'${name}#zero!": number("0"),
            "é'${name}#이순신!": number("5.000000000000000000000000000000000005"),
        });
        assert_eq!(totals, expected);
    }
    delete_table(&loaded.table).await;
}
