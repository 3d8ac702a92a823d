//! What the tests of `verify` compare: a source, a mapping, a table that was loaded and then spoilt,
//! and how their reports are read.

use dynafold::dynamodb::{Attribute, Item, Table, fingerprints, write_item};
use dynafold::target::{Action, Batch, BatchEntry, ScanRequest, Target, TargetSpec, connect};
use serde_json::Value;

use crate::support::books::hold_compared;
use crate::support::cli::{Ran, command, run};
use crate::support::contents::contents;
use crate::support::source::Source;
use crate::support::sqlite;

/// Forty users in four groups, each with a list and a map.
pub(super) fn script(product: &str) -> String {
    let document = match product {
        "postgres" => "JSONB",
        _ => "JSON",
    };
    let user = |id: u32| {
        format!(
            "({id}, {}, 'name {id}', {}, '{{\"list\": [\"a\", \"b\", \"c\"], \"map\": {{\"deep\": [1, 2]}}}}')",
            id % 4,
            id * 10,
        )
    };
    let users: Vec<String> = (1..=40).map(user).collect();
    format!(
        "CREATE TABLE users (id INTEGER PRIMARY KEY, grp INTEGER NOT NULL, name VARCHAR(40), points INTEGER, doc {document});
         INSERT INTO users VALUES {};",
        users.join(", ")
    )
}

pub(super) fn mapping(table: &str) -> String {
    format!(
        "dynafold: 1
table: {{ name: {table}, key: {{ partition: PK, sort: SK }} }}
items:
  USER:
    from: users
    key: {{ PK: \"GROUP#{{grp}}\", SK: \"USER#{{id | pad(4)}}\" }}
    columns: [name, points, doc]
  NAME:
    from: users
    key: {{ PK: \"NAME#{{name}}\", SK: \"-\" }}
    columns: [id]
"
    )
}

/// A mapping, a source, and a table somewhere.
pub(super) struct Case {
    folder: tempfile::TempDir,
    source: String,
    pub(super) table: String,
    /// The URL of DynamoDB Local, where the table is there.
    endpoint: Option<String>,
}

impl Case {
    pub(super) fn new(source: &Source, endpoint: Option<String>) -> Self {
        let number = fastrand::u64(..);
        Self {
            folder: tempfile::tempdir().unwrap(),
            source: source.url(),
            table: format!("verify-{number:x}"),
            endpoint,
        }
    }

    fn file(&self) -> String {
        format!("local:{}", self.folder.path().join("t.ddb").display())
    }

    pub(super) fn run(&self, name: &str, further: &[&str]) -> Ran {
        self.run_as(name, &mapping(&self.table), further)
    }

    pub(super) fn run_as(&self, name: &str, mapping: &str, further: &[&str]) -> Ran {
        let path = self.folder.path().join("verify.yaml");
        std::fs::write(&path, mapping).unwrap();
        let (path, file) = (path.display().to_string(), self.file());
        let mut arguments = vec![name, &path, "--source", &self.source, "--format", "json"];
        match &self.endpoint {
            None => arguments.extend(["--target", &file]),
            Some(url) => arguments.extend(["--target", "dynamodb", "--endpoint-url", url]),
        }
        arguments.extend(further);
        run(command(&arguments)
            .env("AWS_REGION", "us-east-1")
            .env("AWS_ACCESS_KEY_ID", "local")
            .env("AWS_SECRET_ACCESS_KEY", "local"))
    }

    pub(super) fn verify(&self, further: &[&str], code: i32) -> Value {
        let report = self.run("verify", further).exits(code).json();
        hold_compared(&report);
        assert_eq!(report["balanced"], true);
        report
    }

    async fn open(&self) -> std::sync::Arc<dyn Target> {
        let spec = match &self.endpoint {
            None => TargetSpec::parse(&self.file(), None, None, None),
            Some(url) => TargetSpec::parse("dynamodb", Some(url), None, Some("us-east-1")),
        };
        connect(&spec.unwrap()).await.unwrap()
    }

    pub(super) async fn contents(&self) -> String {
        contents(&*self.open().await, &self.table).await
    }

    /// Spoils the table: puts what `change` makes of items, and deletes where it makes nothing.
    pub(super) async fn spoil(&self, change: impl Fn(&str, &Item) -> Option<Vec<Item>>) {
        let target = self.open().await;
        let table = target.describe(&self.table).await.unwrap().unwrap().table;
        target.start(&table, false).await.unwrap();
        let page = target
            .scan(&table, &ScanRequest::all(), None)
            .await
            .unwrap();
        assert!(page.next.is_none());
        for item in page.items {
            let Some(Attribute::S(sort)) = item.get("SK") else {
                continue;
            };
            match change(sort, &item) {
                None => send(&*target, &table, Action::Delete, &item).await,
                Some(items) => {
                    for item in items {
                        send(&*target, &table, Action::Put, &item).await;
                    }
                }
            }
        }
        target.finish().await.unwrap();
    }
}

async fn send(target: &dyn Target, table: &Table, action: Action, item: &Item) {
    let partition = item.get(&table.partition.name).unwrap();
    let sort = table.sort.as_ref().and_then(|sort| item.get(&sort.name));
    let (fingerprint, hash) = fingerprints(partition, sort);
    let entry = BatchEntry {
        action,
        size: 100,
        units: 1,
        item_type: 0,
        fingerprint,
        partition: hash,
        ..BatchEntry::default()
    };
    let key = || Item {
        attributes: item.attributes[..2].to_vec(),
    };
    let mut batch = Batch::new();
    batch.push(entry, |out| match action {
        Action::Put => write_item(out, item),
        Action::Delete => write_item(out, &key()),
    });
    batch.seal();
    let written = target.write(table, &batch).await.unwrap();
    assert!(written.unprocessed.is_empty());
}

pub(super) fn with(item: &Item, name: &str, value: Attribute) -> Item {
    let mut item = item.clone();
    let mut attributes = item.attributes.iter_mut();
    let found = attributes.find(|(other, _)| **other == *name);
    found.unwrap_or_else(|| panic!("no {name}")).1 = value;
    item
}

pub(super) fn text(text: &str) -> Attribute {
    Attribute::S(text.into())
}

/// A document whose list is in another order.
fn reordered(item: &Item) -> Item {
    let Some(Attribute::M(members)) = item.get("doc") else {
        panic!("{item:?}")
    };
    let mut members = members.clone();
    for (_, value) in &mut members {
        if let Attribute::L(elements) = value {
            elements.reverse();
        }
    }
    with(item, "doc", Attribute::M(members))
}

/// One of each fault: 2 is gone, 3 has another name, 4 has text for a number, 5 has its list in
/// another order, 6 was copied to a key that no row makes.
pub(super) fn faults(sort: &str, item: &Item) -> Option<Vec<Item>> {
    match sort {
        "USER#0002" => None,
        "USER#0003" => Some(vec![with(item, "name", text("secret"))]),
        "USER#0004" => Some(vec![with(item, "points", text("40"))]),
        "USER#0005" => Some(vec![reordered(item)]),
        "USER#0006" => Some(vec![with(item, "SK", text("USER#9999"))]),
        _ => Some(Vec::new()),
    }
}

pub(super) fn figures(report: &Value, names: &[&str]) -> Vec<u64> {
    let figure = |name: &&str| report["total"][*name].as_u64().unwrap();
    names.iter().map(figure).collect()
}

pub(super) const FOUND: &[&str] = &["expected", "equal", "missing", "different", "repaired"];

pub(super) fn reported(report: &Value) -> Vec<(String, String, Value)> {
    let findings = report["findings"].as_array().unwrap().iter();
    let mut all: Vec<_> = findings
        .map(|finding| {
            let sort = finding["key"]["SK"]["S"].as_str().unwrap().to_owned();
            let kind = finding["kind"].as_str().unwrap().to_owned();
            (sort, kind, finding["attributes"].clone())
        })
        .collect();
    all.sort_by(|one, other| one.0.cmp(&other.0));
    all
}

/// A loaded table, in a file.
pub(super) async fn loaded() -> (Source, Case) {
    let source = Source::Sqlite(sqlite::Database::new(&script("sqlite")).await);
    let case = Case::new(&source, None);
    case.run("migrate", &[]).exits(0);
    (source, case)
}
