//! `diff`: pairs of mappings with what they change, written by hand; and what it foretells against what a migration does.

use std::collections::BTreeSet;

use dynafold::target::{TargetSpec, connect};
use serde_json::Value;

use crate::support::cli::{Ran, dynafold, reported};
use crate::support::contents::contents;
use crate::support::sqlite::Database;

const SHOP: &str = "
    CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, state TEXT NOT NULL,
      tags JSON NOT NULL DEFAULT '[\"a\", \"b\"]', marks JSON NOT NULL DEFAULT '[\"a\"]');
    CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers,
      clerk_id INTEGER NOT NULL REFERENCES customers, status TEXT NOT NULL, note TEXT, total INTEGER NOT NULL);
    CREATE TABLE carts (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers);
    CREATE TABLE invoices (id INTEGER PRIMARY KEY, total INTEGER NOT NULL);
    INSERT INTO customers (id, name, state) VALUES (1, 'Ada', 'active'), (2, 'Ben', 'left'), (3, 'Eve', 'active');
    INSERT INTO orders VALUES (1, 1, 3, 'open', NULL, 10), (2, 1, 3, 'sent', 'x', 20), (3, 2, 3, 'open', 'y', 30),
      (4, 3, 1, 'open', NULL, 40), (5, 3, 2, 'sent', 'z', 50);
    INSERT INTO carts VALUES (1, 1), (2, 3);
    INSERT INTO invoices VALUES (1, 10), (2, 20), (3, 30), (4, 40);";

/// A folder with a source, two mappings and a table.
struct Case {
    source: Database,
}

impl Case {
    async fn new(old: &str, new: &str) -> Self {
        let case = Self {
            source: Database::new(SHOP).await,
        };
        for (name, mapping) in [("old.yaml", old), ("new.yaml", new)] {
            std::fs::write(case.source.folder().join(name), mapping).unwrap();
        }
        case
    }

    fn path(&self, name: &str) -> String {
        self.source.folder().join(name).display().to_string()
    }

    fn diff(&self, further: &[&str]) -> Ran {
        let (old, new, source) = (
            self.path("old.yaml"),
            self.path("new.yaml"),
            self.source.url(),
        );
        let mut all = vec!["diff", &old, &new, "--source", &source];
        all.extend(further);
        dynafold(&all)
    }

    /// What is printed for people, without the folder's name.
    fn text(&self, code: i32) -> String {
        let text = self.diff(&[]).exits(code).stdout;
        text.replace(&self.path(""), "")
    }

    fn run(&self, command: &str, mapping: &str, further: &[&str]) -> Ran {
        let (mapping, source) = (self.path(mapping), self.source.url());
        let target = format!("local:{}", self.path("t.ddb"));
        reported(command, [&mapping, &source, &target], further)
    }

    async fn items(&self) -> usize {
        let spec = TargetSpec::parse(&format!("local:{}", self.path("t.ddb")), None, None, None);
        let target = connect(&spec.unwrap()).await.unwrap();
        contents(&*target, "app").await.lines().count()
    }
}

const OLD: &str = r#"dynafold: 1
table:
  name: app
  key: { partition: PK, sort: SK }
  indexes:
    byStatus: { partition: S, sort: SK, project: keys }
    byDay: { partition: D, sort: SK }
items:
  CUSTOMER:
    from: customers
    key: { PK: "C#{id}", SK: "C" }
    columns: [name]
  ORDER:
    from: orders
    join: { who: customer_id }
    key: { PK: "C#{customer_id}", SK: "O#{id | pad(6)}" }
    columns: [note]
    write_rate: 2
    attributes: { S: "{status}", D: "ORDERS", name: "{who.name}" }
  CART:
    from: carts
    key: { PK: "C#{customer_id}", SK: "CART#{id}" }
    columns: []
access_patterns:
  ordersOf:
    items: [ORDER]
    key: { PK: "C#{customer}", SK: { begins_with: "O#" } }
  byStatus:
    items: [ORDER]
    index: byStatus
    key: { S: "{status}" }
"#;

/// Everything changes but the customers.
const NEW: &str = r#"dynafold: 1
table:
  name: app
  key: { partition: PK, sort: SK }
  billing: { read: 5, write: 5 }
  indexes:
    byStatus: { partition: S, sort: SK }
    byTotal: { partition: T, sort: SK, project: [name] }
items:
  INVOICE:
    from: invoices
    key: { PK: "I#{id}", SK: "I" }
    attributes: { T: "TOTAL#{total | pad(6)}" }
    columns: []
  ORDER:
    from: orders
    join: { who: clerk_id }
    key: { PK: "C#{customer_id}", SK: "O#{status}#{id | pad(6)}" }
    columns: [total]
    write_rate: 2
    attributes: { S: "{status | upper}", name: "{who.name}" }
  CUSTOMER:
    # In another place of the file.
    key: { PK: "C#{id}", SK: "C" }
    from: customers
    columns: [name]
access_patterns:
  ordersOf:
    items: [ORDER]
    key: { PK: "C#{customer}", SK: { begins_with: "O#{status}#" } }
    limit: 10
  invoice:
    items: [INVOICE]
    key: { PK: "I#{id}", SK: "I" }
"#;

#[tokio::test(flavor = "multi_thread")]
async fn what_two_mappings_change_is_named_part_by_part() {
    let case = Case::new(OLD, NEW).await;
    // Invoices: 4 of 2 units. Orders were in two indexes, and are in one now: 5 of 2 units, and 5 deleted of 3. Text has no
    // limit in SQLite, so neither have the units. Two writes a second of 3 units are 15.552 million a month, of 2 units 10.368.
    let wanted = "\
from old.yaml to new.yaml

table
  ~ billing: on demand -> provisioned for 5 reads and 5 writes a second

indexes
  ~ byStatus
      holds: keys only -> all attributes
  + byTotal
      key: T (S), SK (S)
      holds: keys and name
      items of: INVOICE
  - byDay

item types
  + INVOICE
      from: invoices
      PK: I#{id}
      SK: I
      _type: INVOICE
      T: TOTAL#{total | pad(6)}
      write units of one item: 2 or more
  ~ ORDER
      ~ SK: O#{id | pad(6)} -> O#{status}#{id | pad(6)}
      + total: {total}
      ~ S: {status} -> {status | upper}
      ~ name: {who.name}: the text is the same, but a parent, column type, time zone or index behind it differs
      - note: {note}
      - D: ORDERS
      write units of one item: 3 or more -> 2 or more
  - CART
  = CUSTOMER

access patterns
  ~ ordersOf
      key: PK = C#{customer}, SK begins with O# -> PK = C#{customer}, SK begins with O#{status}#
      parameters: customer NUMBER -> customer NUMBER, status TEXT
      limit: 10
      read units: 0.5 or more -> 0.5 to 500
  + invoice
      operation: GetItem
      key: PK = I#{id}, SK = I
      parameters: id NUMBER
      finds: INVOICE
      items: INVOICE
      read units: 0.5 to 50
  - byStatus

cost
  the rates of item types and access patterns, on demand for a month, at least: 9.72 USD -> 6.48 USD (prices of 2026-08-12 in us-east-1; check yours)

to change a table loaded with the old mapping
  INVOICE: about 4 items to write
  ORDER: about 5 items to write, because the key is made differently; about 5 items have the old keys; if no row makes them any more, --prune deletes them; if rows are rejected now, their old items may stay
  CUSTOMER: every row makes the same item: nothing is written
  CART: about 2 items of a removed item type: unless overwritten, they stay, because the new mapping does not recognise them
  billing: `migrate` does not change this in an existing table
  index byStatus: delete it, because its key and what it holds cannot be changed; `migrate` then adds it again
  index byTotal: `migrate --changes-only` adds it, for the items of INVOICE that have its key
  index byDay: stays until you delete it

`migrate` with the new mapping and --changes-only --prune does this, once the indexes that change are deleted
about 33 or more write units if all of these items are written or deleted: at least 0.00 USD on demand (row counts from the catalog, item sizes within what the schema allows, prices of 2026-08-12 in us-east-1; check yours)
";
    let text = case.text(3);
    assert_eq!(text, wanted, "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_mapping_written_otherwise_changes_nothing() {
    let other = OLD
        .replace("columns: [name]", "columns:\n      - name # a comment")
        .replace("join: { who: customer_id }", "join: { buyer: customer_id }")
        .replace("{who.name}", "{buyer.name}");
    let case = Case::new(OLD, &other).await;
    assert_eq!(
        case.text(0),
        "old.yaml and new.yaml make the same table, items and answers\n"
    );
    let report = case.diff(&["--format", "json"]).exits(0).json();
    assert_eq!(report["same"], true);
    assert_eq!(report["migration"]["options"], Value::Null);
}

const ITEMS: &str = r#"dynafold: 1
table: { name: app, key: { partition: PK, sort: SK } }
items:
  CUSTOMER:
    from: customers
    key: { PK: "C#{id}", SK: "C" }
    columns: [name]
  ORDER:
    from: orders
    join: { who: customer_id }
    where: who.state = 'active'
    key: { PK: "C#{customer_id}", SK: "O#{id | pad(6)}" }
    columns: [note]
  CART:
    from: carts
    key: { PK: "C#{customer_id}", SK: "CART#{id}" }
    columns: []
"#;

/// The lines of a section, without their indentation.
fn section<'t>(text: &'t str, title: &str) -> Vec<&'t str> {
    let lines = text.lines().skip_while(|line| *line != title).skip(1);
    lines
        .take_while(|line| !line.is_empty())
        .map(str::trim)
        .collect()
}

const MIGRATION: &str = "to change a table loaded with the old mapping";

/// A change of [`ITEMS`], and what is said of it.
#[derive(Default)]
struct Expected<'t> {
    replaced: Vec<(&'t str, &'t str)>,
    types: Vec<&'t str>,
    steps: Vec<&'t str>,
    options: &'t str,
}

impl<'t> Expected<'t> {
    fn read(block: &'t str) -> Self {
        let mut read = Self::default();
        let mut lines = block.lines().filter(|line| !line.starts_with('#'));
        let mut replaced = lines.by_ref().take_while(|line| *line != "types");
        while let Some(from) = replaced.next() {
            let to = replaced
                .next()
                .and_then(|to| to.strip_prefix("+ "))
                .unwrap();
            read.replaced.push((from.strip_prefix("- ").unwrap(), to));
        }
        read.types = lines.by_ref().take_while(|line| *line != "steps").collect();
        read.steps = lines.collect();
        let options = read
            .steps
            .pop()
            .and_then(|line| line.strip_prefix("options"));
        read.options = options.unwrap().trim();
        read
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn items_of_a_renamed_type_stay_where_their_rows_have_expired_or_are_rejected() {
    let expires = "columns: []\n    attributes: { ends: \"{id}\" }\n    expired: skip";
    let ttl = ("sort: SK }", "sort: SK }, ttl: ends");
    let old = with(ITEMS, &[ttl, ("columns: []", expires)]);
    let case = Case::new(&old, &with(&old, &[("CART:", "BASKET:")])).await;
    let text = case.text(3);
    let step = "CART: items of BASKET overwrite its items: it makes the same keys of the same rows; items of expired rows stay: the load does not touch them, and DynamoDB deletes only those whose TTL has expired; if rows are rejected now, their old items may stay";
    assert!(section(&text, MIGRATION).contains(&step), "{text}");
    let report = case.diff(&["--format", "json"]).exits(3).json();
    let steps = report["migration"]["steps"].as_array().unwrap().iter();
    let stay = steps.filter(|step| step["rejected_stay"] == true);
    let stay: Vec<&Value> = stay.map(|step| &step["item_type"]).collect();
    assert_eq!(stay, ["CART"]);
}

/// A mapping with texts in it replaced.
fn with(mapping: &str, replaced: &[(&str, &str)]) -> String {
    replaced
        .iter()
        .fold(mapping.to_owned(), |mapping, (from, to)| {
            assert!(mapping.contains(from), "{from}");
            mapping.replace(from, &to.replace("\\n", "\n"))
        })
}

#[tokio::test(flavor = "multi_thread")]
async fn what_becomes_of_the_items_of_a_loaded_table_is_told_type_by_type() {
    let blocks = include_str!("diffs.txt").split("\n\n").skip(1);
    let mut read = 0;
    for expected in blocks.map(Expected::read) {
        let changes = &expected.replaced;
        let case = Case::new(ITEMS, &with(ITEMS, changes)).await;
        let text = case.text(3);
        assert_eq!(
            section(&text, "item types"),
            expected.types,
            "{changes:?}\n{text}"
        );
        let mut steps = section(&text, MIGRATION);
        steps.retain(|line| !line.starts_with("index "));
        assert_eq!(steps, expected.steps, "{changes:?}\n{text}");
        let report = case.diff(&["--format", "json"]).exits(3).json();
        let options = report["migration"]["options"].as_array().unwrap().iter();
        let options: Vec<&str> = options.map(|option| option.as_str().unwrap()).collect();
        assert_eq!(options.join(" "), expected.options, "{changes:?}");
        read += 1;
    }
    assert_eq!(read, 15);
}

const ALL_FIELDS: &str = "
    CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT NOT NULL, note TEXT, seen TIMESTAMP, ends INTEGER NOT NULL,
      doc JSON, data JSON);
    CREATE TABLE names (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
    CREATE TABLE orders (id INTEGER PRIMARY KEY, user_id INTEGER NOT NULL REFERENCES users,
      other_id INTEGER NOT NULL REFERENCES users, total INTEGER NOT NULL, note TEXT, tags JSON NOT NULL, more JSON NOT NULL);
    CREATE TABLE others (id INTEGER PRIMARY KEY, user_id INTEGER NOT NULL REFERENCES users, total INTEGER NOT NULL);
    CREATE TABLE votes (id INTEGER NOT NULL, vote INTEGER NOT NULL, points INTEGER NOT NULL, PRIMARY KEY (id, vote));
    CREATE TABLE more_votes (id INTEGER NOT NULL, vote INTEGER NOT NULL, points INTEGER NOT NULL, PRIMARY KEY (id, vote));";

/// What changes no item, no answer and no setting of the table.
const NOT_COMPARED: [&str; 3] = ["accept", "description", "dynafold"];

/// Collects the names of a JSON schema's properties.
fn properties(schema: &Value, found: &mut BTreeSet<String>) {
    match schema {
        Value::Object(members) => {
            if let Some(Value::Object(named)) = members.get("properties") {
                found.extend(named.keys().cloned());
            }
            members.values().for_each(|one| properties(one, found));
        }
        Value::Array(all) => all.iter().for_each(|one| properties(one, found)),
        _ => {}
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_field_of_a_mapping_is_compared() {
    let base = include_str!("compared.yaml");
    let case = Case {
        source: Database::new(ALL_FIELDS).await,
    };
    let put = |name: &str, text: &str| std::fs::write(case.path(name), text).unwrap();
    put("old.yaml", base);
    put(
        "new.yaml",
        &base.replace("description: a", "description: the"),
    );
    case.diff(&[]).exits(0);
    let mut seen: BTreeSet<String> = NOT_COMPARED.map(str::to_owned).into();
    let mut same = Vec::new();
    for block in include_str!("compared.txt")
        .trim_end()
        .split("\n\n")
        .skip(1)
    {
        let (field, change) = block.split_once("\n- ").unwrap();
        let (from, to) = change.split_once("\n+").unwrap();
        let [from, to] =
            [from, to.strip_prefix(' ').unwrap_or(to)].map(|one| one.replace("\\n", "\n"));
        assert!(base.contains(&from), "{block}");
        put("new.yaml", &base.replacen(&from, &to, 1));
        let ran = case.diff(&[]);
        assert!([0, 3].contains(&ran.code), "{block}\n{}", ran.stderr);
        if ran.code == 0 {
            same.push(block);
        }
        seen.insert(field.to_owned());
    }
    assert_eq!(same, [""; 0]);
    let mut all = BTreeSet::new();
    properties(&dynafold::mapping::schema(), &mut all);
    assert_eq!(seen, all);
}

/// What `migrate` did with an item type.
fn figure(report: &Value, item_type: &str, name: &str) -> u64 {
    let types = report["item_types"].as_array().unwrap();
    let found = types.iter().find(|books| books["item_type"] == *item_type);
    found.map_or(0, |books| books[name].as_u64().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_migration_writes_and_deletes_what_was_foretold() {
    // What is replaced, and how many items the table holds in the end.
    let cases: [(&[(&str, &str)], usize); 7] = [
        (&[("columns: [note]", "columns: [note, total]")], 9),
        (&[("O#{id | pad(6)}", "O#{status}#{id}")], 9),
        (
            &[
                ("C#{id}", "CUSTOMER#{id}"),
                ("CART#{id}", "CART#{id | pad(3)}"),
            ],
            9,
        ),
        (&[("who: customer_id", "who: clerk_id")], 9),
        (&[("    where: who.state = 'active'\n", "")], 10),
        (&[("CART:", "BASKET:")], 9),
        (&[("sort: SK }", "sort: SORT }"), ("SK:", "SORT:")], 9),
    ];
    for (changes, held) in cases {
        let case = Case::new(ITEMS, &with(ITEMS, changes)).await;
        // Orders 1, 2, 4 and 5 are of active customers; 1, 2 and 3 have the clerk Eve, 4 has Ada.
        let loaded = case.run("migrate", "old.yaml", &[]).exits(0).json();
        assert_eq!(figure(&loaded, "ORDER", "written"), 4);
        let report = case.diff(&["--format", "json"]).exits(3).json();
        let migration = &report["migration"];
        let mut options: Vec<&str> = migration["options"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one.as_str().unwrap())
            .collect();
        options.push("--yes");
        let done = case.run("migrate", "new.yaml", &options).exits(0).json();
        let replaces = options.contains(&"--replace");
        for step in migration["steps"].as_array().unwrap() {
            let item_type = step["item_type"].as_str().unwrap();
            let (write, stale) = (
                step["write"].as_u64().unwrap(),
                step["stale"].as_u64().unwrap(),
            );
            let (written, deleted) = (
                figure(&done, item_type, "written"),
                figure(&done, item_type, "deleted"),
            );
            // A row that `where` leaves out makes no item, and the catalog counts it.
            let filtered = figure(&done, item_type, "filtered");
            match step["action"].as_str().unwrap() {
                "keep" => assert_eq!((written, deleted), (0, 0), "{changes:?} {item_type}"),
                "write" => assert_eq!(
                    (written, deleted),
                    (write - filtered, 0),
                    "{changes:?} {item_type}"
                ),
                "rekey" => assert_eq!(
                    (written, deleted),
                    (write - filtered, stale - filtered),
                    "{changes:?} {item_type}"
                ),
                "update" => assert!(
                    written <= write && deleted <= stale,
                    "{changes:?} {item_type} {step} {done:#}"
                ),
                "remove" => assert_eq!((written, deleted), (0, 0), "{changes:?} {item_type}"),
                other => panic!("{other}"),
            }
        }
        assert_eq!(case.items().await, held, "{changes:?}");
        let verified = case.run("verify", "new.yaml", &[]).exits(0).json();
        assert_eq!(verified["elsewhere"], 0, "{changes:?}");
        assert!(
            replaces || done["total"]["written"].as_u64().unwrap() > 0,
            "{changes:?}"
        );
        // From the new mapping to itself there is nothing to do.
        case.run("migrate", "new.yaml", &["--plan", "--prune=filtered"])
            .exits(0);
    }
}

/// All that an item may be made of.
const FULL: &str = r#"dynafold: 1
table: { name: app, key: { partition: PK, sort: SK }, key_escape: percent, time_zone: Europe/Berlin }
items:
  CUSTOMER:
    from: customers
    key: { PK: "C#{id}", SK: "C" }
    columns: [name]
    attributes:
      left: { $value: "{name}", $when: "state = 'left'" }
      kind: { $value: "{state}", $type: S }
      version: 2
      nested: { state: "{state}", list: ["{id}", "{name}"] }
      orders:
        $embed: orders
        $match: { customer_id: id }
        $where: status <> 'gone'
        $join: { clerk: clerk_id }
        $order: [total desc, id]
        $limit: 10
        $each: { id: "{id}", by: "{clerk.name}", note: { $value: "{note}", $when: "clerk.state = 'active'" } }
  TAG:
    from: customers
    explode: { t: tags }
    key: { PK: "C#{id}", SK: "TAG#{t}" }
    columns: []
"#;

#[tokio::test(flavor = "multi_thread")]
async fn no_item_type_is_called_the_same_that_makes_other_items() {
    let customer: &[&str] = &["CUSTOMER"];
    for (from, to, changed) in [
        ("state = 'left'", "state = 'gone'", customer),
        ("$type: S", "$type: SS", customer),
        ("version: 2", "version: \"2\"", customer),
        ("version: 2", "version: 3", customer),
        (
            "list: [\"{id}\", \"{name}\"]",
            "list: [\"{name}\", \"{id}\"]",
            customer,
        ),
        (
            "$match: { customer_id: id }",
            "$match: { clerk_id: id }",
            customer,
        ),
        ("        $where: status <> 'gone'\n", "", customer),
        ("clerk: clerk_id", "clerk: customer_id", customer),
        ("total desc, id", "total, id", customer),
        ("total desc, id", "note desc, id", customer),
        ("$limit: 10", "$limit: 9", customer),
        ("by: \"{clerk.name}\"", "by: \"{clerk.state}\"", customer),
        ("clerk.state = 'active'", "status = 'active'", customer),
        (
            "        $limit: 10\n",
            "        $limit: 10\n        $as: map\n        $key: \"{id}\"\n",
            customer,
        ),
        (
            "columns: [name]",
            "columns: [name]\n    nulls: keep",
            customer,
        ),
        (
            "columns: [name]",
            "columns: [name]\n    oversize: { compress: [orders] }",
            customer,
        ),
        (
            "explode: { t: tags }",
            "explode: { t: marks }",
            &["TAG"][..],
        ),
        ("TAG#{t}", "TAG#{t | upper}", &["TAG"]),
        ("key_escape: percent, ", "", &["CUSTOMER", "TAG"]),
    ] {
        assert!(FULL.contains(from), "{from}");
        let case = Case::new(FULL, &FULL.replace(from, to)).await;
        let report = case.diff(&["--format", "json"]).exits(3).json();
        let types = report["item_types"].as_array().unwrap().iter();
        let found = types.filter(|one| one["change"] == "changed");
        let found: Vec<&str> = found
            .map(|one| one["item_type"].as_str().unwrap())
            .collect();
        assert_eq!(found, changed, "{from} -> {to}");
        let steps = report["migration"]["steps"].as_array().unwrap();
        let worked = steps.iter().filter(|step| step["action"] != "keep").count();
        assert_eq!(worked, changed.len(), "{from} -> {to}");
    }
}

/// Aliases are names only, and a join that nothing uses makes no item otherwise.
#[tokio::test(flavor = "multi_thread")]
async fn aliases_their_order_and_joins_that_nothing_uses_change_nothing() {
    let mapping = |joins: &str, alias: &str| {
        format!(
            "dynafold: 1\ntable: {{ name: app, key: {{ partition: PK }} }}\nitems:\n  \
             O:\n    from: orders\n    join: {{ {joins} }}\n    where: total > 0\n    key: {{ PK: \"O#{{id}}\" }}\n    \
             attributes: {{ name: \"{{{alias}.name}}\", big: {{ $value: \"{{total}}\", $when: total > 5 }} }}\n  \
             C:\n    from: customers\n    key: {{ PK: \"C#{{id}}\" }}\n    attributes:\n      \
             orders: {{ $embed: orders, $match: {{ customer_id: id }}, $join: {{ {joins} }}, $where: total > 0, $each: \"{{{alias}.name}}\" }}\n"
        )
    };
    let old = mapping("who: customer_id, clerk: clerk_id", "who");
    for new in [
        mapping("buyer: customer_id, clerk: clerk_id", "buyer"),
        mapping("clerk: clerk_id, who: customer_id", "who"),
        mapping("who: customer_id", "who"),
    ] {
        let case = Case::new(&old, &new).await;
        case.diff(&[]).exits(0);
        let used = |mapping: &str| mapping.replace("total > 0", "clerk.state = 'active'");
        let case = Case::new(&used(&old), &used(&new.replace("clerk_id", "customer_id"))).await;
        // The condition's alias stands for another parent, or for none.
        assert_ne!(case.diff(&[]).code, 0, "{new}");
    }
}

/// What costs otherwise is not the same, though every item and answer is.
#[tokio::test(flavor = "multi_thread")]
async fn a_change_of_a_rate_alone_is_told_by_what_it_costs() {
    let case = Case::new(OLD, &OLD.replace("write_rate: 2", "write_rate: 300")).await;
    let text = case.text(3);
    let cost = section(&text, "cost");
    assert!(cost.len() == 1 && cost[0].contains(" USD -> "), "{text}");
    assert_eq!(section(&text, "item types"), ["= CUSTOMER, ORDER, CART"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_of_params_or_answer_alone_is_named() {
    let pattern = |further: &str| {
        format!(
            "{ITEMS}access_patterns:\n  orders:\n    items: [ORDER]\n    key: {{ PK: \"C#{{id}}\" }}\n    {further}\n"
        )
    };
    for (old, new, line) in [
        (
            "params: { id: customers.id }",
            "params: { id: orders.customer_id }",
            "params: id: customers.id -> id: orders.customer_id",
        ),
        (
            "sql: SELECT note AS text FROM orders WHERE customer_id = :id\n    answer: { note: text }",
            "sql: SELECT note AS text FROM orders WHERE customer_id = :id",
            "answer: note: text -> none",
        ),
    ] {
        let case = Case::new(&pattern(old), &pattern(new)).await;
        let text = case.text(3);
        assert_eq!(section(&text, "access patterns"), ["~ orders", line]);
    }
}

/// What is written alike and means something else, with the line that says so.
#[tokio::test(flavor = "multi_thread")]
async fn what_only_filters_and_settings_change_is_a_change() {
    const TIMES: &str = r#"dynafold: 1
table: { name: app, key: { partition: PK, sort: SK }, time_zone: UTC }
items:
  CUSTOMER:
    from: customers
    key: { PK: "CUSTOMER", SK: "{name}" }
    accept: [single-partition, key-unproved]
    columns: []
  ORDER:
    from: orders
    key: { PK: "ORDER#{id}", SK: "{note | time(\"%Y-%m-%d %H:%M\") | iso}" }
    columns: []
    accept: [key-unproved]
access_patterns:
  named: { items: [CUSTOMER], key: { PK: CUSTOMER, SK: { ge: "{since}" } }, params: { since: "{now | plus(-7d) | iso}" } }
"#;
    for (from, to, section_name, line) in [
        (
            "time_zone: UTC",
            "time_zone: Asia/Seoul",
            "item types",
            "| iso}: the text is the same, but a parent, column type, time zone or index behind it differs",
        ),
        (
            "plus(-7d)",
            "plus(-30d)",
            "access patterns",
            "params is written differently",
        ),
    ] {
        let case = Case::new(TIMES, &TIMES.replace(from, to)).await;
        let text = case.text(3);
        let lines = section(&text, section_name);
        assert!(lines.iter().any(|found| found.contains(line)), "{text}");
    }
}

/// Of two items with one key that of the upper item type is loaded where nothing else decides.
#[tokio::test(flavor = "multi_thread")]
async fn the_order_of_item_types_counts_where_their_keys_may_be_equal() {
    let type_of = |name: &str, from: &str| {
        format!("  {name}:\n    from: {from}\n    key: {{ PK: \"T#{{id}}\" }}\n    columns: []\n")
    };
    let head = "dynafold: 1\ntable: { name: app, key: { partition: PK } }\nitems:\n";
    let (one, other) = (type_of("CART", "carts"), type_of("INVOICE", "invoices"));
    let case = Case::new(
        &format!("{head}{one}{other}"),
        &format!("{head}{other}{one}"),
    )
    .await;
    let text = case.text(3);
    assert_eq!(
        section(&text, "item types"),
        [
            "~ INVOICE",
            "- item types above it that may make equal keys: CART",
            "~ CART",
            "+ item types above it that may make equal keys: INVOICE",
        ],
        "{text}"
    );
}

/// Of rows with one key one is loaded, whichever item type stands above.
#[tokio::test(flavor = "multi_thread")]
async fn an_item_type_stays_as_it_is_only_where_no_changed_one_may_make_its_keys() {
    let type_of = |name: &str, from: &str, further: &str| {
        format!("  {name}: {{ from: {from}, {further}key: {{ PK: \"T#{{id}}\" }}, columns: [] }}\n")
    };
    let head = "dynafold: 1\ntable: { name: app, key: { partition: PK } }\nitems:\n";
    let cart = type_of("CART", "carts", "");
    let all = type_of("INVOICE", "invoices", "");
    let few = type_of("INVOICE", "invoices", "where: id > 1, ");
    let customer =
        "  CUSTOMER: { from: customers, key: { PK: \"C#{id}\" }, columns: [] }\n".to_owned();
    let step = "CART: about 2 items to write, except those that do not change, because changed item types may make equal keys: INVOICE";
    for (old, new) in [
        ([&all, &cart], [&few, &cart]),
        ([&few, &cart], [&all, &cart]),
        ([&cart, &all], [&cart, &few]),
        ([&cart, &customer], [&cart, &all]),
    ] {
        let [old, new] = [old, new].map(|types| format!("{head}{}{}", types[0], types[1]));
        let case = Case::new(&old, &new).await;
        let text = case.text(3);
        assert!(section(&text, MIGRATION).contains(&step), "{text}");
        let report = case.diff(&["--format", "json"]).exits(3).json();
        let steps = report["migration"]["steps"].as_array().unwrap();
        let step = steps.iter().find(|step| step["item_type"] == "CART");
        let step = step.unwrap();
        assert_eq!(step["rivals"], serde_json::json!(["INVOICE"]));
        assert_eq!(step["action"], "update");
    }
    // What is foretold is done: the row that had lost its key has it.
    let case = Case::new(&format!("{head}{all}{cart}"), &format!("{head}{few}{cart}")).await;
    case.run("migrate", "old.yaml", &["--max-rejects", "9"])
        .exits(3);
    let options = ["--max-rejects", "9", "--changes-only", "--prune=filtered"];
    let report = case.run("migrate", "new.yaml", &options).exits(3).json();
    let types = report["item_types"].as_array().unwrap().iter();
    let written = types.map(|one| one["written"].as_u64().unwrap());
    assert_eq!(written.collect::<Vec<_>>(), [0, 1]);
}

/// Where stale items cannot be deleted, neither `diff` nor a load that is to delete them begins.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_promised_or_written_where_item_types_cannot_be_told_apart() {
    let old = r#"dynafold: 1
table: { name: app, key: { partition: PK }, type_attribute: false }
items:
  CUSTOMER: { from: customers, key: { PK: "T#{name}" }, columns: [], accept: [key-unproved] }
  ORDER: { from: orders, key: { PK: "T#U#{id}" }, columns: [] }
"#;
    let case = Case::new(old, &old.replace("T#{name}", "T#{state}#{name}")).await;
    let text = case.text(3);
    assert!(!text.contains("--prune"), "{text}");
    case.run("migrate", "old.yaml", &[]).exits(0);
    let before = case.items().await;
    case.run("migrate", "new.yaml", &["--changes-only", "--prune"])
        .exits(1)
        .says("cannot be distinguished");
    assert_eq!(case.items().await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_parent_of_a_column_without_its_alias_is_compared() {
    let mapping = |column: &str| {
        format!(
            "dynafold: 1\ntable: {{ name: app, key: {{ partition: PK }} }}\nitems:\n  \
             O: {{ from: orders, join: {{ bill: {{ table: invoices, match: {{ id: id }} }}, who: {column} }}, \
             where: bill.total > 0 AND state = 'active', key: {{ PK: \"O#{{id}}\" }} }}\n"
        )
    };
    let case = Case::new(&mapping("customer_id"), &mapping("clerk_id")).await;
    let text = case.text(3);
    assert!(text.contains("AND state = 'active'"), "{text}");
}
