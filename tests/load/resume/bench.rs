//! A source with everything that a load knows, and a place to load it into.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use dynafold::target::{Target, TargetSpec, connect};
use serde_json::{Map, Value, json};

use crate::support::cli::{Ran, command, run};
use crate::support::contents::contents;
use crate::support::storm::{Settings, Storm};

pub(super) const MAPPING: &str = r##"dynafold: 1
table:
  name: app
  key: { partition: PK, sort: SK }
  indexes:
    GSI1: { partition: status, sort: placed_at }
  ttl: ends
items:
  CUSTOMER:
    from: customers
    key: { PK: "CUSTOMER#{id | pad(8)}", SK: "CUSTOMER#" }
    attributes:
      addresses:
        $embed: addresses
        $order: [id]
        $each: { street: "{street}" }
  ORDER:
    from: orders
    join: { c: customer_id }
    key: { PK: "CUSTOMER#{customer_id | pad(8)}", SK: "ORDER#{id | pad(10)}" }
    columns: ["*", c.country]
  OPEN:
    from: orders
    where: status = 'open'
    key: { PK: "OPEN#{customer_id | pad(8)}", SK: "{id | pad(10)}" }
    columns: [placed_at]
  LINE:
    from: order_lines
    key: { PK: "ORDER#{order_id | pad(10)}", SK: "LINE#{line_no | pad(4)}" }
  EVENT:
    from: events
    key: { PK: "EVENT#{code}", SK: "EVENT#" }
  SHIPMENT:
    from: docs
    explode: { s: body.shipments }
    key: { PK: "DOC#{id | pad(8)}", SK: "SHIPMENT#{s.$index | pad(3)}" }
    columns: []
    attributes: { weight: "{s.weight}" }
  SESSION:
    from: sessions
    key: { PK: "SESSION#{id | pad(8)}", SK: "SESSION#" }
    expired: archive
"##;

/// Rows of the table with most of them; the others have a share of it.
pub(super) const ROWS: u32 = 900;

/// The tables with their rows. Of the events, some have no code and some share one.
pub(super) fn script(product: &str) -> String {
    let document = match product {
        "mysql" => "LONGTEXT CHECK (json_valid(body))",
        "postgres" => "JSONB",
        _ => "JSON",
    };
    let mut sql = format!(
        "CREATE TABLE customers (id INTEGER PRIMARY KEY, email VARCHAR(80) NOT NULL, country CHAR(2));
         CREATE TABLE addresses (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL, street VARCHAR(80),
           FOREIGN KEY (customer_id) REFERENCES customers (id) ON DELETE CASCADE);
         CREATE INDEX addresses_customer ON addresses (customer_id);
         CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL, status VARCHAR(20),
           placed_at VARCHAR(20), total INTEGER,
           FOREIGN KEY (customer_id) REFERENCES customers (id));
         CREATE TABLE order_lines (order_id INTEGER NOT NULL, line_no INTEGER NOT NULL, sku VARCHAR(20),
           PRIMARY KEY (order_id, line_no));
         CREATE TABLE events (id INTEGER PRIMARY KEY, code VARCHAR(40), note VARCHAR(200));
         CREATE TABLE docs (id INTEGER PRIMARY KEY, body {document});
         CREATE TABLE sessions (id INTEGER PRIMARY KEY, owner VARCHAR(40), ends BIGINT);\n"
    );
    let customers = ROWS / 5;
    fill(&mut sql, "customers", 1..=customers, |n| {
        format!(
            "({n}, 'c{n}@example.com', '{}')",
            ["DE", "KR", "FR"][n as usize % 3]
        )
    });
    fill(&mut sql, "addresses", 1..=customers * 2, |n| {
        format!("({n}, {}, 'Street {n}')", n % customers + 1)
    });
    fill(&mut sql, "orders", 1..=ROWS, |n| order(n, customers));
    fill(&mut sql, "order_lines", 0..ROWS, |n| {
        format!("({}, {}, 'sku-{n}')", n / 3 + 1, n % 3 + 1)
    });
    fill(&mut sql, "events", 1..=ROWS / 2, event);
    fill(&mut sql, "docs", 1..=ROWS / 5, |n| {
        let shipments: Vec<Value> = (0..n % 4).map(|at| json!({ "weight": n + at })).collect();
        format!("({n}, '{}')", json!({ "shipments": shipments }))
    });
    fill(&mut sql, "sessions", 1..=ROWS / 3, |n| {
        let ends: u64 = if n % 3 == 0 {
            1_700_000_000
        } else {
            4_102_444_800
        };
        format!("({n}, 'owner {n}', {ends})")
    });
    sql
}

fn order(n: u32, customers: u32) -> String {
    let status = ["open", "paid", "sent"][n as usize % 3];
    format!(
        "({n}, {}, '{status}', '2026-01-{:02}', {n})",
        n * 7 % customers + 1,
        n % 28 + 1
    )
}

/// Every hundredth event has no code, and every hundredth that of its neighbour.
fn event(n: u32) -> String {
    match n % 100 {
        13 => format!("({n}, NULL, 'no code')"),
        57 => format!("({n}, 'code-{}', 'late')", n - 1),
        _ => format!("({n}, 'code-{n}', '{}')", "note ".repeat(20)),
    }
}

fn fill(
    sql: &mut String,
    table: &str,
    rows: impl Iterator<Item = u32>,
    row: impl Fn(u32) -> String,
) {
    let rows: Vec<String> = rows.map(row).collect();
    for part in rows.chunks(500) {
        sql.push_str(&format!(
            "INSERT INTO {table} VALUES {};\n",
            part.join(",\n")
        ));
    }
}

/// A mapping in a folder, a source, and a table that is loaded.
pub(super) struct Case {
    pub(super) folder: tempfile::TempDir,
    source: String,
    /// `None`: a table in a file.
    pub(super) storm: Option<Storm>,
    /// Options of every `migrate`.
    pub(super) options: Vec<String>,
}

impl Case {
    /// Into an endpoint with these settings.
    pub(super) fn storm(source: &str, settings: &str) -> Self {
        let settings = Settings::read(&format!("store: map\n{settings}")).unwrap();
        Self::new(source, Some(Storm::start(settings).unwrap()))
    }

    /// Into a file.
    pub(super) fn file(source: &str) -> Self {
        Self::new(source, None)
    }

    fn new(source: &str, storm: Option<Storm>) -> Self {
        let options = ["--max-rejects", "1000", "--chunk-rows", "120"];
        let case = Self {
            folder: tempfile::tempdir().unwrap(),
            source: source.to_owned(),
            storm,
            options: options.map(str::to_owned).to_vec(),
        };
        case.map(MAPPING);
        case
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes the mapping.
    pub(super) fn map(&self, mapping: &str) {
        std::fs::write(self.path("app.yaml"), mapping).unwrap();
    }

    pub(super) fn storms(&self) -> &Storm {
        self.storm.as_ref().unwrap()
    }

    /// From now on the endpoint does this; counts begin anew.
    pub(super) fn set(&self, settings: &str) {
        self.storms().set(Settings::read(settings).unwrap());
        self.storms().reset();
    }

    fn target(&self) -> Vec<String> {
        match &self.storm {
            Some(storm) => vec![
                "--target".into(),
                "dynamodb".into(),
                "--endpoint-url".into(),
                storm.url(),
            ],
            None => vec![
                "--target".into(),
                format!("local:{}", self.path("app.ddb").display()),
            ],
        }
    }

    /// A command of the program on this case.
    pub(super) fn command(&self, name: &str, further: &[&str]) -> Command {
        let mut all = vec![name.to_owned(), self.path("app.yaml").display().to_string()];
        all.extend(["--source".to_owned(), self.source.clone()]);
        all.extend(self.target());
        all.extend(["--format".to_owned(), "json".to_owned()]);
        if name == "migrate" {
            all.extend(self.options.iter().cloned());
        }
        all.extend(further.iter().map(|word| (*word).to_owned()));
        let all: Vec<&str> = all.iter().map(String::as_str).collect();
        command(&all)
    }

    pub(super) fn migrate(&self, further: &[&str]) -> Ran {
        run(&mut self.command("migrate", further))
    }

    pub(super) fn verify(&self) -> Ran {
        run(&mut self.command("verify", &[]))
    }

    /// Starts a load, and leaves it to the caller.
    pub(super) fn start(&self, further: &[&str]) -> Child {
        let mut command = self.command("migrate", further);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    /// Starts a load and kills it after a while, or when so many more items have been put; what it
    /// left behind where it was faster.
    pub(super) fn killed(&self, when: When, further: &[&str]) -> Option<Ran> {
        let mut child = self.start(further);
        let begun = Instant::now();
        let put = || {
            self.storm
                .as_ref()
                .map_or(0, |storm| storm.counts().items.put)
        };
        let before = put();
        let comes = || match when {
            When::After(while_) => begun.elapsed() >= while_,
            When::Put(items) => put() >= before + items,
        };
        while !comes() {
            if child.try_wait().unwrap().is_some() {
                return Some(ran(child));
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        child.kill().unwrap();
        let ran = ran(child);
        (ran.code != -1).then_some(ran)
    }

    /// The lines of a file beside the mapping, sorted; none where there is no such file.
    pub(super) fn lines(&self, name: &str) -> Vec<String> {
        let text = std::fs::read_to_string(self.path(name)).unwrap_or_default();
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort_unstable();
        lines
    }

    pub(super) async fn open(&self) -> Arc<dyn Target> {
        let target = self.target();
        let spec = TargetSpec::parse(&target[1], target.get(3).map(String::as_str), None, None);
        connect(&spec.unwrap()).await.unwrap()
    }

    /// What the table holds, a line for each item. The endpoint is in order from then on.
    pub(super) async fn contents(&self) -> Vec<String> {
        if self.storm.is_some() {
            self.set("");
        }
        let all = contents(&*self.open().await, "app").await;
        all.lines().map(str::to_owned).collect()
    }

    /// All that a load leaves behind.
    pub(super) async fn left(&self) -> Left {
        Left {
            items: self.contents().await,
            rejects: self.lines("app.rejects.ndjson"),
            archive: self.lines("app.archive.ndjson"),
            part: self.path("app.archive.ndjson.part").exists(),
        }
    }
}

/// When a load is killed.
#[derive(Debug, Clone, Copy)]
pub(super) enum When {
    After(Duration),
    Put(u64),
}

/// Waits for a program's end.
pub(super) fn ran(child: Child) -> Ran {
    let output = child.wait_with_output().unwrap();
    Ran {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// All that a load leaves behind.
#[derive(PartialEq, Eq)]
pub(super) struct Left {
    pub(super) items: Vec<String>,
    pub(super) rejects: Vec<String>,
    pub(super) archive: Vec<String>,
    part: bool,
}

impl Left {
    /// Fails, with the first differences, where something else is left than in another case.
    #[track_caller]
    pub(super) fn hold(&self, other: &Self, said: &str) {
        same("items", &self.items, &other.items, said);
        same("rejects", &self.rejects, &other.rejects, said);
        same("archive", &self.archive, &other.archive, said);
        assert!(!self.part, "{said}: the archive is still a part");
    }
}

#[track_caller]
fn same(what: &str, found: &[String], wanted: &[String], said: &str) {
    if found == wanted {
        return;
    }
    let beyond = |some: &[String], others: &[String]| -> Vec<String> {
        let mut others: Vec<&String> = others.iter().collect();
        let mut left = Vec::new();
        for one in some {
            match others.iter().position(|other| *other == one) {
                Some(at) => drop(others.swap_remove(at)),
                None => left.push(one.clone()),
            }
        }
        left
    };
    let (extra, missing) = (beyond(found, wanted), beyond(wanted, found));
    let first = |lines: &[String]| lines.iter().take(3).cloned().collect::<Vec<_>>();
    panic!(
        "{said}: {what}: {} beyond {:#?}, {} missing {:#?}",
        extra.len(),
        first(&extra),
        missing.len(),
        first(&missing)
    );
}

/// The books of a report in a form that does not depend on what an attempt found done: items that
/// were written and items that were there already count the same.
pub(super) fn books(report: &Value) -> Value {
    let plain = |books: &Value| {
        let mut all: Map<String, Value> = books.as_object().unwrap().clone();
        let figure = |name: &str| books[name].as_u64().unwrap();
        all.insert(
            "there".into(),
            (figure("written") + figure("unchanged")).into(),
        );
        let largest = books["largest"]["bytes"].clone();
        all.insert("largest".into(), largest);
        for name in ["written", "unchanged", "changed", "deleted"] {
            all.remove(name);
        }
        Value::Object(all)
    };
    report["item_types"]
        .as_array()
        .unwrap()
        .iter()
        .map(plain)
        .collect()
}

/// A figure of the total.
pub(super) fn total(report: &Value, name: &str) -> u64 {
    report["total"][name]
        .as_u64()
        .unwrap_or_else(|| panic!("{name}: {report:#}"))
}
