//! `erase`: all of a tenant and nothing of its neighbours, on the embedded engine and DynamoDB Local.

use std::collections::BTreeSet;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use dynafold::target::{Target, TargetSpec, connect};
use serde_json::{Value, json};

use super::says;
use crate::support::cli::{Ran, command, dynafold, ran, signal};
use crate::support::contents::{contents, plant};
use crate::support::dynamodb_local;
use crate::support::sqlite::Database;

/// Tenants whose names begin alike or differ in case, each with two orders; three events for each of four days.
const TENANTS: &[&str] = &["T1", "T10", "T1#", "t1", "T1 ", "T2"];

fn script() -> String {
    let tenants = TENANTS.iter().map(|id| format!("('{id}', 'of {id}')"));
    let orders = TENANTS.iter().enumerate().flat_map(|(at, id)| {
        let order = move |n: usize| format!("({}, '{id}', 'open')", 2 * at + n);
        [order(0), order(1)]
    });
    let events = TENANTS
        .iter()
        .enumerate()
        .flat_map(|(at, id)| (0..8).map(move |n| format!("({}, '{id}')", 8 * at + n)));
    let all = |rows: &mut dyn Iterator<Item = String>| rows.collect::<Vec<_>>().join(", ");
    format!(
        "CREATE TABLE tenants (id TEXT PRIMARY KEY, name TEXT NOT NULL);
         CREATE TABLE orders (id INTEGER PRIMARY KEY, tenant_id TEXT NOT NULL REFERENCES tenants, status TEXT NOT NULL);
         CREATE TABLE events (id INTEGER PRIMARY KEY, tenant_id TEXT NOT NULL REFERENCES tenants);
         INSERT INTO tenants VALUES {};
         INSERT INTO orders VALUES {};
         INSERT INTO events VALUES {};",
        all(&mut tenants.into_iter()),
        all(&mut orders.into_iter()),
        all(&mut events.into_iter()),
    )
}

fn mapping(table: &str, types: &str) -> String {
    format!(
        "dynafold: 1
table:
  name: {table}
  key: {{ partition: PK, sort: SK }}
  indexes: {{ byStatus: {{ partition: S, sort: SK, project: keys }} }}
{types}items:
  TENANT:
    from: tenants
    key: {{ PK: \"TENANT#{{id}}\", SK: \"TENANT\" }}
    columns: [name]
  ORDER:
    from: orders
    key: {{ PK: \"TENANT#{{tenant_id}}\", SK: \"ORDER#{{id}}\" }}
    attributes: {{ S: \"STATUS#{{status}}\" }}
  EVENT:
    from: events
    key: {{ PK: \"EVENTS#{{tenant_id}}#{{id | shard(3)}}\", SK: \"E#{{id}}\" }}
    columns: [tenant_id]
  BILL:
    from: orders
    key: {{ PK: \"BILL#{{id}}\", SK: \"OF#{{tenant_id}}\" }}
    columns: []
access_patterns:
  open: {{ items: [ORDER], index: byStatus, key: {{ S: \"STATUS#open\" }} }}
"
    )
}

const NUMBERS: &str = "dynafold: 1
table: { name: TABLE, key: { partition: { name: tenant, type: N } } }
items:
  ORDER: { from: orders, key: { tenant: \"{id}\" }, columns: [status] }
";

/// A table that is loaded.
struct Case {
    source: Database,
    table: String,
    /// How it is named on the command line.
    target: Vec<String>,
    spec: TargetSpec,
}

impl Case {
    /// One on each engine.
    async fn each(script: &str, types: &str) -> [Self; 2] {
        [
            Self::new(None, script, types).await,
            Self::new(Some(dynamodb_local::endpoint()), script, types).await,
        ]
    }

    async fn new(endpoint: Option<String>, script: &str, types: &str) -> Self {
        Self::of(endpoint, script, &mapping("TABLE", types)).await
    }

    async fn of(endpoint: Option<String>, script: &str, mapping: &str) -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let table = format!("erase-{}-{number}", std::process::id());
        let source = Database::new(script).await;
        let mapping = mapping.replace("TABLE", &table);
        std::fs::write(source.folder().join("m.yaml"), mapping).unwrap();
        let file = format!("local:{}", source.folder().join("t.ddb").display());
        let name = if endpoint.is_some() {
            "dynamodb"
        } else {
            &file
        };
        let mut target = vec!["--target".to_owned(), name.to_owned()];
        if let Some(endpoint) = &endpoint {
            target.extend(["--endpoint-url".to_owned(), endpoint.clone()]);
        }
        let spec = TargetSpec::parse(name, endpoint.as_deref(), None, None).unwrap();
        let case = Self {
            source,
            table,
            target,
            spec,
        };
        let source = case.source.url();
        case.run(&["migrate", "--source", &source]).exits(0);
        case
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let (name, further) = arguments.split_first().unwrap();
        let mapping = self.source.folder().join("m.yaml").display().to_string();
        let mut all = vec![*name, &mapping];
        all.extend(self.target.iter().map(String::as_str));
        all.extend(["--format", "json"]);
        all.extend(further);
        command(&all)
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        crate::support::cli::run(&mut self.command(arguments))
    }

    fn erase(&self, partition: &str, further: &[&str]) -> Ran {
        let mut all = vec!["erase", "--partition", partition];
        all.extend(further);
        self.run(&all)
    }

    async fn connect(&self) -> Arc<dyn Target> {
        connect(&self.spec).await.unwrap()
    }

    /// The items, a line each.
    async fn items(&self) -> BTreeSet<String> {
        let all = contents(&*self.connect().await, &self.table).await;
        all.lines().map(str::to_owned).collect()
    }

    /// Puts items that the mapping does not make.
    async fn plant(&self, items: &[Value]) {
        plant(&*self.connect().await, &self.table, items).await;
    }

    /// How many items the index holds.
    fn open_orders(&self) -> usize {
        let answer = self.run(&["query", "open", "--all"]).json();
        answer["items"].as_array().unwrap().len()
    }

    async fn end(self) {
        if let TargetSpec::Dynamodb { .. } = self.spec {
            dynamodb_local::delete_table(&self.table).await;
        }
    }
}

fn item(partition: &str, sort: &str, item_type: Option<&str>) -> Value {
    let mut item =
        json!({ "PK": { "S": partition }, "SK": { "S": sort }, "S": { "S": "STATUS#open" } });
    if let Some(item_type) = item_type {
        item["_type"] = json!({ "S": item_type });
    }
    item
}

/// The lines of a partition.
fn of(items: &BTreeSet<String>, partition: &str) -> BTreeSet<String> {
    let beginning = format!("{{\"PK\":{{\"S\":\"{partition}\"}}");
    let all = items.iter().filter(|line| line.starts_with(&beginning));
    all.cloned().collect()
}

fn figure(report: &Value, name: &str) -> u64 {
    report["total"][name]
        .as_u64()
        .unwrap_or_else(|| panic!("{name}: {report:#}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tenant_is_erased_and_nothing_of_its_neighbours() {
    for case in Case::each(&script(), "").await {
        case.plant(&[
            item("TENANT#T1", "SETTINGS", None),
            item("TENANT#T1", "ELSEWHERE", Some("SETTINGS")),
            // With a key that the mapping does not make, and its type.
            item("TENANT#T1", "OLD", Some("ORDER")),
            item("TENANT#T10", "SETTINGS", None),
        ])
        .await;
        let before = case.items().await;
        // Two orders of six tenants, and the four that were planted.
        assert_eq!(case.open_orders(), 16);

        let plan = case.erase("TENANT#T1", &["--plan"]).exits(3).json();
        assert_eq!(plan["outcome"]["state"], "planned");
        // The tenant and four units; each order and the planted one a unit, and one for its entry.
        let counts = |report: &Value, name: &str| {
            let types = report["item_types"].as_array().unwrap();
            types
                .iter()
                .map(|books| books[name].as_u64().unwrap())
                .collect::<Vec<_>>()
        };
        assert_eq!(counts(&plan, "items"), [1, 3, 0, 0]);
        assert_eq!(counts(&plan, "write_units"), [1, 6, 0, 0]);
        assert_eq!(
            plan["indexes"],
            json!([{ "name": "byStatus", "entries": 3 }])
        );
        assert_eq!(plan["kept_foreign"], 2);
        assert_eq!(case.items().await, before);

        let refused = case.erase("TENANT#T1", &[]).exits(2);
        says(&refused, "this deletes 4 items of the table", "--yes");
        assert_eq!(case.items().await, before);

        let ran = case.erase("TENANT#T1", &["--yes"]).exits(3);
        ran.says("2 items stay");
        ran.says("BILL (`BILL#{id}`), with `id` in PK, `tenant_id` in SK");
        let report = ran.json();
        assert_eq!(report["outcome"]["state"], "left");
        assert_eq!(
            (figure(&report, "deleted"), &report["left"]),
            (4, &json!(2))
        );
        assert_eq!(report["claims"][0]["verdict"], "differs");
        let after = case.items().await;
        assert_eq!(of(&after, "TENANT#T1").len(), 2);
        let tenant = of(&before, "TENANT#T1");
        let others: BTreeSet<String> = before.difference(&tenant).cloned().collect();
        let left: BTreeSet<String> = after
            .difference(&of(&after, "TENANT#T1"))
            .cloned()
            .collect();
        assert_eq!(left, others);
        assert_eq!(case.open_orders(), 13);

        let report = case
            .erase("TENANT#T1", &["--yes", "--foreign"])
            .exits(0)
            .json();
        assert_eq!(
            (figure(&report, "deleted"), &report["foreign"]["deleted"]),
            (2, &json!(2))
        );
        assert_eq!(report["outcome"]["state"], "erased");
        assert_eq!(report["claims"][0]["verdict"], "proved");
        // Again there is nothing to ask for.
        let report = case.erase("TENANT#T1", &[]).exits(0).json();
        assert_eq!(figure(&report, "deleted"), 0);
        case.erase("TENANT#T1", &["--plan"]).exits(0);
        assert_eq!(case.items().await, others);
        let ran = case.erase("tenant#T1", &["--yes"]).exits(0);
        assert!(
            ran.stderr
                .contains("no item type makes an item whose partition key is `tenant#T1`")
        );
        // The rows are there still: a load writes the tenant again.
        let source = case.source.url();
        let loaded = case
            .run(&["migrate", "--changes-only", "--source", &source])
            .exits(0)
            .json();
        assert_eq!(figure(&loaded, "written"), 3);
        case.end().await;
    }
}

/// Whether a value is a shard, and whose, only the rows tell: `ORG#a-1` may be an organisation of its own.
#[tokio::test(flavor = "multi_thread")]
async fn shards_are_named_and_only_those_that_the_user_names_are_erased() {
    for case in Case::each(&script(), "").await {
        let before = case.items().await;
        let shards = ["EVENTS#T1#0", "EVENTS#T1#1", "EVENTS#T1#2"];
        let ran = case.erase(shards[0], &["--yes"]).exits(0);
        for words in [
            "the partition key of EVENT has shards (`EVENTS#{tenant_id}#{id | shard(3)}`)",
            "--partition 'EVENTS#T1#1' --partition 'EVENTS#T1#2'",
        ] {
            ran.says(words);
        }
        let report = ran.json();
        assert_eq!(
            report["other_shards"][0]["values"],
            json!([shards[1], shards[2]])
        );
        let gone = |after: &BTreeSet<String>| -> BTreeSet<String> {
            before.difference(after).cloned().collect()
        };
        assert_eq!(gone(&case.items().await), of(&before, shards[0]));

        let others = ["--yes", "--partition", shards[2], "--partition", shards[1]];
        let ran = case.erase(shards[1], &others).exits(0);
        let report = ran.json();
        assert_eq!(report["claims"].as_array().unwrap().len(), 2);
        let left = &report["other_shards"][0]["values"];
        assert_eq!(left, &json!([shards[0]]));
        let events: BTreeSet<String> = shards.iter().flat_map(|shard| of(&before, shard)).collect();
        assert_eq!(gone(&case.items().await), events);
        assert_eq!(events.len(), 8);
        case.end().await;
    }
}

/// Which of its other partitions are the tenant's only the source knows.
#[tokio::test(flavor = "multi_thread")]
async fn a_tenant_whose_key_holds_another_value_too_may_have_more_and_that_is_said() {
    let by_status = mapping("TABLE", "").replace(
        "TENANT#{tenant_id}\", SK: \"ORDER",
        "TENANT#{tenant_id}#{status}\", SK: \"ORDER",
    );
    let case = Case::of(None, &script(), &by_status).await;
    let ran = case.erase("TENANT#T1#open", &["--yes"]).exits(0);
    ran.says("Items that share one of these values with what you erase may be in other partitions, which were not looked at:\n    ORDER (`TENANT#{tenant_id}#{status}`)");
    let report = ran.json();
    assert_eq!(figure(&report, "deleted"), 2);
    let beside = json!([{ "item_type": "ORDER", "partition": "TENANT#{tenant_id}#{status}" }]);
    assert_eq!(report["beside"], beside);
    case.end().await;
}

/// What other item types hold of the tenant is named wherever it stands; where only the schema knows the columns, with the schema.
#[tokio::test(flavor = "multi_thread")]
async fn attributes_that_may_hold_the_tenant_are_named_with_the_schema_all_of_them() {
    let mapping = "dynafold: 1
table: { name: TABLE, key: { partition: PK, sort: SK } }
items:
  TENANT: { from: tenants, key: { PK: \"T#{tenant_id}\", SK: T } }
  ALL: { from: orders, key: { PK: \"A#{id}\", SK: A } }
  DEEP:
    from: orders
    key: { PK: \"D#{id}\", SK: D }
    columns: [total]
    attributes: { of: { t: \"{tenant_id}\" }, l: [\"{tenant_id}\"] }
  JOINED:
    from: orders
    join: { t: tenant_id }
    key: { PK: \"J#{id}\", SK: J }
    columns: [t.*]
  CHILDREN:
    from: tenants
    key: { PK: \"C#{name}\", SK: C }
    columns: []
    attributes: { orders: { $embed: orders } }
  NONE: { from: orders, key: { PK: \"N#{id}\", SK: N }, columns: [total] }
";
    let script = "CREATE TABLE tenants (tenant_id TEXT PRIMARY KEY, name TEXT NOT NULL);
        CREATE TABLE orders (id INTEGER PRIMARY KEY, tenant_id TEXT NOT NULL REFERENCES tenants, total INTEGER);
        INSERT INTO tenants VALUES ('7', 'seven'); INSERT INTO orders VALUES (1, '7', 5);";
    let case = Case::of(None, script, mapping).await;
    let source = case.source.url();
    let named = |further: &[&str]| {
        let report = case.erase("T#7", &[&["--plan"], further].concat()).exits(3);
        let all = report.json()["elsewhere"].as_array().unwrap().clone();
        let named = all.iter().map(|one| {
            let held = one["carries"][0]["attributes"].as_array();
            let held = held
                .into_iter()
                .flatten()
                .map(|name| name.as_str().unwrap());
            let open = one["needs_schema"].as_bool().unwrap_or_default();
            let name = one["item_type"].as_str().unwrap();
            format!(
                "{name}: {}{}",
                held.collect::<Vec<_>>().join(" "),
                if open { "?" } else { "" }
            )
        });
        named.collect::<Vec<_>>()
    };
    let without = ["ALL: ?", "DEEP: of l", "JOINED: ?", "CHILDREN: ?", "NONE: "];
    assert_eq!(named(&[]), without);
    let with = [
        "ALL: tenant_id",
        "DEEP: of l",
        "JOINED: tenant_id",
        "CHILDREN: orders",
        "NONE: ",
    ];
    assert_eq!(named(&["--source", &source]), with);
    case.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_type_attribute_the_schema_tells_whose_an_item_is() {
    let case = Case::new(None, &script(), "  type_attribute: false\n").await;
    case.plant(&[
        item("TENANT#T1", "ORDER#x", None),
        item("TENANT#T1", "SETTINGS", None),
    ])
    .await;
    let refused = case.erase("TENANT#T1", &["--yes"]).exits(2);
    says(&refused, "no type attribute", "--catalog FILE");
    let schema = dynafold(&[
        "inspect",
        "--source",
        &case.source.url(),
        "--format",
        "json",
    ])
    .exits(0);
    let catalog = case.source.folder().join("catalog.json");
    std::fs::write(&catalog, schema.stdout).unwrap();
    let catalog = catalog.display().to_string();
    let report = case
        .erase("TENANT#T1", &["--yes", "--catalog", &catalog])
        .exits(3)
        .json();
    assert_eq!(
        (figure(&report, "deleted"), &report["left"]),
        (3, &json!(2))
    );
    let report = case
        .erase("TENANT#T1", &["--yes", "--foreign"])
        .exits(0)
        .json();
    assert_eq!(figure(&report, "deleted"), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_partition_may_be_a_number_and_one_item() {
    for endpoint in [None, Some(dynamodb_local::endpoint())] {
        let case = Case::of(endpoint, &script(), NUMBERS).await;
        let before = case.items().await;
        assert_eq!(before.len(), 12);
        // However it is written.
        let report = case.erase("1e0", &["--yes"]).exits(0).json();
        assert_eq!(report["partitions"], json!([r#"{"N":"1"}"#]));
        assert_eq!(figure(&report, "deleted"), 1);
        let after = case.items().await;
        let gone: Vec<&String> = before.difference(&after).collect();
        assert!(
            matches!(gone[..], [line] if line.contains(r#""tenant":{"N":"1"}"#)),
            "{gone:?}"
        );
        let refused = case.erase("T1", &["--yes"]).exits(2);
        says(&refused, "--partition T1 cannot be read", "is a number");
        assert_eq!(case.items().await, after);
        case.end().await;
    }
}

/// Tenants of whom one has many orders.
fn many() -> String {
    format!(
        "{}
         INSERT INTO orders SELECT 1000 + value, 'T1', 'open' FROM
           (WITH RECURSIVE n(value) AS (SELECT 0 UNION ALL SELECT value + 1 FROM n WHERE value < 1499) SELECT value FROM n);",
        script()
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn an_erasure_that_is_killed_is_started_again() {
    for case in Case::each(&many(), "").await {
        let before = case.items().await;
        let tenant = of(&before, "TENANT#T1");
        assert_eq!(tenant.len(), 1503);
        let others: BTreeSet<String> = before.difference(&tenant).cloned().collect();
        let slow = [
            "erase",
            "--partition",
            "TENANT#T1",
            "--yes",
            "--max-wcu",
            "50",
        ];
        let start = || {
            let mut command = case.command(&slow);
            command
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped());
            command.spawn().unwrap()
        };
        // 3,005 units take a minute at this rate.
        let mut child = start();
        tokio::time::sleep(Duration::from_secs(3)).await;
        child.kill().unwrap();
        let killed = ran(child);
        assert_eq!(killed.stdout, "", "{}", killed.stderr);
        let left = case.items().await;
        assert!(left.is_superset(&others));
        let of_tenant = left.len() - others.len();
        assert!((1..1503).contains(&of_tenant), "{of_tenant}");

        let child = start();
        tokio::time::sleep(Duration::from_secs(3)).await;
        signal(&child, "-INT");
        let interrupted = ran(child).exits(130).json();
        assert_eq!(interrupted["outcome"]["state"], "interrupted");
        let deleted = figure(&interrupted, "deleted");
        assert_eq!(
            figure(&interrupted, "items"),
            u64::try_from(of_tenant).unwrap()
        );
        let left = case.items().await;
        assert_eq!(
            u64::try_from(of_tenant).unwrap() - deleted,
            u64::try_from(left.len() - others.len()).unwrap()
        );
        assert!(left.is_superset(&others) && left.len() > others.len());

        let report = case.erase("TENANT#T1", &["--yes"]).exits(0).json();
        assert_eq!(report["outcome"]["state"], "erased");
        assert_eq!(case.items().await, others);
        assert_eq!(case.open_orders(), 10);
        case.end().await;
    }
}
