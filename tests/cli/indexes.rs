//! Global indexes that a live table lacks: shown, asked about, added, and gone on with, on the embedded engine, an
//! endpoint that takes its time, and DynamoDB Local.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use dynafold::target::{Target, TargetSpec, connect};
use serde_json::{Value, json};

use super::says;
use crate::support::cli::{Ran, command, ran, run, signal};
use crate::support::contents::{contents, plant};
use crate::support::dynamodb_local;
use crate::support::sqlite::Database;
use crate::support::storm::{Settings, Storm};
use crate::support::wait::comes_to;

const ORDERS: &str = "CREATE TABLE orders (id INTEGER PRIMARY KEY, tenant TEXT NOT NULL, status TEXT NOT NULL, total INTEGER NOT NULL);
     INSERT INTO orders VALUES (1, 'a', 'open', 10), (2, 'a', 'done', 20), (3, 'b', 'open', 30), (4, 'b', 'open', 10);";

/// The index with which the table is made.
const OLD: &str = "byTenant: { partition: SK, sort: PK, project: keys }";
/// An index over an attribute that the items have already.
const BY_TOTAL: &str = "byTotal: { partition: { name: total, type: N }, sort: PK }";
/// An index over an attribute that only the new mapping makes.
const BY_STATUS: &str = "byStatus: { partition: S, sort: SK, project: [id] }";

/// A table that is loaded, and its mapping.
struct Case {
    source: Database,
    table: String,
    /// How it is named on the command line.
    target: Vec<String>,
    spec: TargetSpec,
}

impl Case {
    async fn new(endpoint: Option<String>) -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let source = Database::new(ORDERS).await;
        let file = format!("local:{}", source.folder().join("t.ddb").display());
        let name = match endpoint {
            Some(_) => "dynamodb",
            None => &file,
        };
        let mut target = vec!["--target".to_owned(), name.to_owned()];
        if let Some(endpoint) = &endpoint {
            target.extend(["--endpoint-url".to_owned(), endpoint.clone()]);
        }
        let spec = TargetSpec::parse(name, endpoint.as_deref(), None, None).unwrap();
        let case = Self {
            table: format!("indexes-{}-{number}", std::process::id()),
            source,
            target,
            spec,
        };
        case.map(&[OLD], "");
        case.migrate(&[]).exits(0);
        case
    }

    /// Writes the mapping with these indexes. `further`: keys of its table.
    fn map(&self, indexes: &[&str], further: &str) {
        let table = &self.table;
        let indexes = indexes.join(", ");
        let pattern = |name: &str, index: &str, key: &str, select: &str, parameter: &str| {
            let sql = format!("SELECT id FROM orders WHERE {select} = :{parameter} ORDER BY id");
            format!(
                "  {name}:\n    items: [ORDER]\n    index: {index}\n    key: {{ {key} }}\n    sql: {sql}\n"
            )
        };
        let mut patterns = String::new();
        if indexes.contains("byTotal") {
            patterns += &pattern("ofTotal", "byTotal", "total: \"{total}\"", "total", "total");
        }
        let mut status = "";
        if indexes.contains("byStatus") {
            status = ", S: \"S#{status}\"";
            patterns += &pattern(
                "ofStatus",
                "byStatus",
                "S: \"S#{status}\"",
                "status",
                "status",
            );
        }
        let patterns = match patterns.as_str() {
            "" => String::new(),
            patterns => format!("access_patterns:\n{patterns}"),
        };
        let text = format!(
            "dynafold: 1
table:
  name: {table}
  key: {{ partition: PK, sort: SK }}
  indexes: {{ {indexes} }}
{further}items:
  ORDER:
    from: orders
    key: {{ PK: \"T#{{tenant}}\", SK: \"O#{{id}}\" }}
    columns: [id, total]
    attributes: {{ kind: order{status} }}
{patterns}"
        );
        std::fs::write(self.source.folder().join("m.yaml"), text).unwrap();
    }

    fn command(&self, name: &str, arguments: &[&str]) -> Command {
        let mapping = self.source.folder().join("m.yaml").display().to_string();
        let mut all = vec![name, &mapping];
        all.extend(self.target.iter().map(String::as_str));
        all.extend(arguments);
        command(&all)
    }

    fn with_source(&self, name: &str, arguments: &[&str]) -> Command {
        let source = self.source.url();
        self.command(name, &[&["--source", &source], arguments].concat())
    }

    fn migrate(&self, arguments: &[&str]) -> Ran {
        run(&mut self.with_source("migrate", arguments))
    }

    /// Starts a load that adds indexes, and waits until it waits for this one.
    fn waits_for(&self, index: &str) -> Child {
        let waiting = self.may_wait_for(index);
        waiting.unwrap_or_else(|said| panic!("it does not wait for {index}:\n{said}"))
    }

    /// The same; if the load ends without waiting, what it has said.
    fn may_wait_for(&self, index: &str) -> Result<Child, String> {
        let arguments = ["--changes-only", "--yes", "--format", "json"];
        let mut command = self.with_source("migrate", &arguments);
        command.stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let wanted = format!("waiting: index {index} is being ");
        let (mut said, mut line) = (String::new(), String::new());
        while !line.starts_with(&wanted) {
            line.clear();
            if stderr.read_line(&mut line).unwrap() == 0 {
                break;
            }
            said.push_str(&line);
        }
        child.stderr = Some(stderr.into_inner());
        if line.is_empty() {
            assert_eq!(ran(child).code, 0, "{said}");
            return Err(said);
        }
        Ok(child)
    }

    async fn connect(&self) -> Arc<dyn Target> {
        connect(&self.spec).await.unwrap()
    }

    async fn contents(&self) -> String {
        contents(&*self.connect().await, &self.table).await
    }

    /// The indexes that the table has, sorted.
    async fn indexes(&self) -> Vec<String> {
        let there = self.connect().await.describe(&self.table).await;
        let table = there.unwrap().unwrap().table;
        let mut names: Vec<String> = table.indexes.into_iter().map(|index| index.name).collect();
        names.sort_unstable();
        names
    }

    /// The keys that an access pattern finds, sorted.
    fn finds(&self, pattern: &str, parameter: &str, value: &str) -> Vec<String> {
        let arguments = [pattern, parameter, value, "--format", "json"];
        let found = run(&mut self.command("query", &arguments)).exits(0).json();
        let items = found["items"].as_array().unwrap().iter();
        let text = |item: &Value, name: &str| item[name]["S"].as_str().unwrap().to_owned();
        let mut keys: Vec<String> = items
            .map(|item| format!("{} {}", text(item, "PK"), text(item, "SK")))
            .collect();
        keys.sort_unstable();
        keys
    }

    /// Everything is as if the table had been made with the indexes.
    fn holds(&self) {
        run(&mut self.with_source("verify", &[])).exits(0);
        run(&mut self.with_source("verify", &["--patterns"])).exits(0);
    }
}

/// The indexes of a report, with what became of them.
fn states(report: &Value) -> Vec<(String, String)> {
    let all = report["indexes"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    all.map(|index| (text(&index["name"]), text(&index["state"])))
        .collect()
}

fn state(name: &str, state: &str) -> (String, String) {
    (name.to_owned(), state.to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_live_table_gets_the_indexes_that_it_lacks() {
    let case = Case::new(None).await;
    // Nobody's item, which the index is filled with too.
    let planted = json!({
        "PK": { "S": "X#1" }, "SK": { "S": "X" }, "total": { "N": "10" }, "_type": { "S": "ELSE" },
    });
    plant(&*case.connect().await, &case.table, &[planted]).await;
    let before = case.contents().await;
    case.map(&[BY_TOTAL, BY_STATUS], "");

    let verified = run(&mut case.with_source("verify", &[])).exits(1);
    assert!(
        verified.stderr.contains("the table has no index byTotal"),
        "{verified:?}"
    );
    assert!(
        verified
            .stderr
            .contains("`dynafold migrate` without --no-create adds")
    );

    let asked = run(&mut case.command("query", &["ofTotal", "--total", "10"])).exits(1);
    assert!(
        asked
            .stderr
            .contains("`dynafold migrate` adds global indexes that it lacks")
    );

    let plan = ["--changes-only", "--plan", "--format", "json"];
    let planned = case.migrate(&plan).exits(3).json();
    let wanted = [
        state("byTotal", "to_add"),
        state("byStatus", "to_add"),
        state("byTenant", "only_in_table"),
    ];
    assert_eq!(states(&planned), wanted);
    let estimate = &planned["indexes"][0];
    assert_eq!(
        (&estimate["entries"], &estimate["write_units"]),
        (&json!(4), &json!(4))
    );

    let unasked = case.migrate(&["--changes-only"]);
    assert!(
        unasked
            .stderr
            .contains("  byTotal: about 4 entries, 4 write units; "),
        "{unasked:?}"
    );
    says(
        &unasked.exits(2),
        "adds the global indexes byTotal, byStatus to the table",
        "--yes",
    );
    let kept = case
        .migrate(&["--changes-only", "--no-create", "--yes"])
        .exits(1);
    says(
        &kept,
        "is not the one that the mapping describes",
        "without --no-create",
    );
    // What the table holds is decided upon first.
    says(
        &case.migrate(&["--yes"]).exits(1),
        "already has items",
        "--append",
    );
    assert_eq!(case.indexes().await, ["byTenant"]);
    assert_eq!(case.contents().await, before);

    let added = case
        .migrate(&["--changes-only", "--yes", "--format", "json"])
        .exits(0);
    let kept = "the mapping does not have the table's index byTenant, which stays";
    assert!(added.stderr.contains(kept), "{added:?}");
    let wanted = [
        state("byTotal", "added"),
        state("byStatus", "added"),
        state("byTenant", "only_in_table"),
    ];
    let report = added.json();
    assert_eq!(states(&report), wanted);
    assert!(
        report["elapsed_seconds"].as_f64().unwrap() < 10.0,
        "{report:#}"
    );
    assert_eq!(case.indexes().await, ["byStatus", "byTenant", "byTotal"]);
    assert_eq!(
        case.finds("ofTotal", "--total", "10"),
        ["T#a O#1", "T#b O#4", "X#1 X"]
    );
    assert_eq!(
        case.finds("ofStatus", "--status", "open"),
        ["T#a O#1", "T#b O#3", "T#b O#4"]
    );
    // The planted item is of no item type, and `verify` ignores it.
    run(&mut case.with_source("verify", &[])).exits(0);

    let again = case
        .migrate(&["--changes-only", "--format", "json"])
        .exits(0);
    assert_eq!(states(&again.json()), [state("byTenant", "only_in_table")]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_next_run_waits_for_an_index_that_a_killed_one_has_asked_for() {
    let settings = Settings {
        index_seconds: Some(8.0),
        ..Settings::default()
    };
    let storm = Storm::start(settings).unwrap();
    let case = Case::new(Some(storm.url())).await;
    case.map(&[OLD, BY_TOTAL, BY_STATUS], "");
    let mut killed = case.waits_for("byTotal");
    killed.kill().unwrap();
    ran(killed);

    // A plan does not wait.
    let plan = ["--changes-only", "--plan", "--format", "json"];
    let planned = case.migrate(&plan).exits(3).json();
    let under_way = [state("byStatus", "to_add"), state("byTotal", "being_made")];
    assert_eq!(states(&planned), under_way);

    let interrupted = case.waits_for("byTotal");
    signal(&interrupted, "-INT");
    let interrupted = ran(interrupted).exits(130);
    assert_eq!(states(&interrupted.json()), under_way);

    let last = ["--changes-only", "--yes", "--format", "json"];
    let ended = case.migrate(&last).exits(0);
    let added = [state("byStatus", "added"), state("byTotal", "added")];
    assert_eq!(states(&ended.json()), added);
    let adds = |index: &str| {
        ended
            .stderr
            .contains(&format!("adding the global index {index}"))
    };
    assert!(!adds("byTotal") && adds("byStatus"), "{ended:?}");
    case.holds();
}

/// DynamoDB Local takes half a minute for an index, and minutes where it has much else to do.
const LOCAL_PATIENCE: Duration = Duration::from_mins(15);

#[tokio::test(flavor = "multi_thread")]
async fn dynamodb_local_fills_an_index_that_nobody_waits_for() {
    let case = Case::new(Some(dynamodb_local::endpoint())).await;
    case.map(&[OLD, BY_TOTAL], "");
    // DynamoDB Local may have filled it before the load looks: then the load ends by itself.
    if let Ok(mut killed) = case.may_wait_for("byTotal") {
        killed.kill().unwrap();
        ran(killed);
    }
    let target = case.connect().await;
    let is_made = async || {
        let there = target.describe(&case.table).await.unwrap().unwrap();
        there.unready_indexes.is_empty()
    };
    assert!(comes_to(LOCAL_PATIENCE, is_made).await);
    assert_eq!(case.indexes().await, ["byTenant", "byTotal"]);
    let found = case.finds("ofTotal", "--total", "10");
    assert_eq!(found, ["T#a O#1", "T#b O#4"]);
    case.migrate(&["--changes-only"]).exits(0);
    case.holds();
    dynamodb_local::delete_table(&case.table).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_load_that_goes_on_adds_an_index_that_has_gone_meanwhile() {
    let storm = Storm::start(Settings::default()).unwrap();
    let case = Case::new(Some(storm.url())).await;
    case.map(&[OLD, BY_TOTAL, BY_STATUS], "");
    let refuses = "faults: [{ do: access-denied, operations: [BatchWriteItem] }]";
    storm.set(Settings::read(refuses).unwrap());
    case.migrate(&["--changes-only", "--yes"]).exits(1);
    assert_eq!(case.indexes().await, ["byStatus", "byTenant", "byTotal"]);

    let goes = format!(
        "events: [{{ after: 1, delete_table: {}, index: byTotal }}]",
        case.table
    );
    storm.set(Settings::read(&goes).unwrap());
    assert!(
        case.connect()
            .await
            .describe(&case.table)
            .await
            .unwrap()
            .is_some()
    );
    assert_eq!(case.indexes().await, ["byStatus", "byTenant"]);
    says(
        &case.migrate(&["--changes-only"]).exits(2),
        "adds the global index byTotal",
        "--yes",
    );
    let ended = case
        .migrate(&["--changes-only", "--yes", "--format", "json"])
        .exits(0);
    assert!(
        ended.stderr.contains("resuming the unfinished load"),
        "{ended:?}"
    );
    assert_eq!(states(&ended.json()), [state("byTotal", "added")]);
    case.holds();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_added_is_refused_with_the_mend() {
    let case = Case::new(None).await;
    for (indexes, further, message, mend) in [
        (
            "byTenant: { partition: SK, project: keys }",
            "",
            "the key of index byTenant is SK (S), PK (S), the mapping says SK (S)",
            "give it another name in the mapping, or delete it",
        ),
        (
            "byTenant: { partition: SK, sort: PK }",
            "",
            "index byTenant holds keys only, the mapping says all attributes",
            "give it another name in the mapping, or delete it",
        ),
        (
            OLD,
            "  local_indexes: { byKind: { sort: kind } }\n",
            "the table has no local index byKind",
            "local indexes of a table cannot be changed or added later",
        ),
    ] {
        case.map(&[indexes, BY_TOTAL], further);
        let refused = case.migrate(&["--changes-only", "--yes"]).exits(1);
        assert!(refused.stderr.contains(message), "{refused:?}");
        says(&refused, "is not the one that the mapping describes", mend);
        assert_eq!(case.indexes().await, ["byTenant"]);
    }
}
