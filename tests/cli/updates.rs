//! `design --update`: what is added serves the new queries, and all that was there stays.

use serde_json::Value;

use crate::patterns::EXAMPLES;
use crate::support::cli::{Ran, dynafold, reported};
use crate::support::source::Source;
use crate::support::sqlite::Database;

const SHOP: &str = "
    CREATE TABLE customers (id INTEGER PRIMARY KEY, email TEXT NOT NULL UNIQUE, name TEXT NOT NULL, country TEXT NOT NULL);
    CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers, placed_at DATE NOT NULL,
      status TEXT NOT NULL, total INTEGER NOT NULL, note TEXT);
    CREATE TABLE lines (order_id INTEGER NOT NULL REFERENCES orders ON DELETE CASCADE, no INTEGER NOT NULL, sku TEXT NOT NULL,
      quantity INTEGER NOT NULL, PRIMARY KEY (order_id, no));
    CREATE TABLE reviews (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers ON DELETE CASCADE, stars INTEGER NOT NULL);
    INSERT INTO customers VALUES (1, 'ada@a', 'Ada', 'NO'), (2, 'ben@a', 'Ben', 'SE'), (3, 'eve@a', 'Eve', 'NO');
    INSERT INTO orders VALUES (1, 1, '2026-01-01', 'open', 10, NULL), (2, 1, '2026-01-02', 'sent', 20, 'x'),
      (3, 2, '2026-01-02', 'open', 30, NULL), (4, 3, '2026-01-05', 'open', 40, 'y');
    INSERT INTO lines VALUES (1, 1, 'a', 1), (1, 2, 'b', 2), (2, 1, 'a', 3), (3, 1, 'c', 1), (4, 1, 'b', 7);
    INSERT INTO reviews VALUES (1, 1, 5), (2, 1, 3), (3, 2, 4);";

/// Written by hand: other names, filters and shapes than `design` has.
const BY_HAND: &str = r#"# The shop's table. Ask Kim before you change keys.
dynafold: 1

table:
  name: shop
  key: { partition: pk, sort: sk }
  indexes:
    # for the back office
    by_status: { partition: state, sort: state_sort }
  type_attribute: kind

items:
  Customer:              # one for each account
    from: customers
    key: { pk: "c-{id}", sk: "me" }

  Order:
    from: orders
    key: { pk: "c-{customer_id}", sk: "o-{placed_at}-{id | pad(10)}" }
    columns: ["*"]
    omit: [note]
    attributes: { state: "s-{status}", state_sort: "{placed_at}-{id | pad(10)}" }   # sparse it is not

  Line:
    from: lines
    key: { pk: "o-{order_id}", sk: "l-{no | pad(10)}" }

access_patterns:
  getCustomer:
    key: { pk: "c-{id}", sk: me }
    items: [Customer]
    rate: 20
    sql: SELECT * FROM customers WHERE id = :id
  byStatus:                                      # the back office's
    index: by_status
    key: { state: "s-{status}" }
    items: [Order]
# the end
"#;

/// A folder with a source, a mapping and a table.
struct Case {
    source: Database,
}

impl Case {
    async fn new(rows: &str, mapping: &str) -> Self {
        let source = Database::new(rows).await;
        std::fs::write(source.folder().join("old.yaml"), mapping).unwrap();
        Self { source }
    }

    fn path(&self, name: &str) -> String {
        self.source.folder().join(name).display().to_string()
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    fn update(&self, workload: &str, further: &[&str]) -> Ran {
        std::fs::write(self.path("new.sql"), workload).unwrap();
        let [old, new, workload] = ["old.yaml", "new.yaml", "new.sql"].map(|name| self.path(name));
        let source = self.source.url();
        let mut all = vec!["design", "--source", &source, "--workload", &workload];
        all.extend(["--update", &old, "-o", &new, "--force"]);
        all.extend(further);
        dynafold(&all)
    }

    /// The report of an update.
    fn updated(&self, workload: &str, code: i32) -> Value {
        self.update(workload, &["--format", "json"])
            .exits(code)
            .json()
    }

    fn run(&self, command: &str, mapping: &str, further: &[&str]) -> Ran {
        let (mapping, source) = (self.path(mapping), self.source.url());
        let target = format!("local:{}", self.path("t.ddb"));
        reported(command, [&mapping, &source, &target], further)
    }

    /// The old mapping is loaded, then the new one into the same table; both are held against the rows, and all their access
    /// patterns against their SQL. Gives the claims of the new one.
    fn migrates(&self) -> Value {
        self.run("migrate", "old.yaml", &[]).exits(0);
        self.run("migrate", "new.yaml", &["--changes-only", "--yes"])
            .exits(0);
        let verified = self.run("verify", "new.yaml", &[]).exits(0).json();
        assert_eq!(verified["outcome"]["state"], "equal");
        self.run("verify", "new.yaml", &["--patterns"])
            .exits(0)
            .json()
    }

    /// The new mapping has all lines of the old one, in their order; gives the others.
    fn added(&self) -> Vec<String> {
        let (old, new) = (self.read("old.yaml"), self.read("new.yaml"));
        let mut kept = old.lines().peekable();
        let mut added = Vec::new();
        for line in new.lines() {
            if kept.peek() == Some(&line) {
                kept.next();
            } else {
                added.push(line.to_owned());
            }
        }
        assert_eq!(kept.next(), None, "{new}");
        added
    }
}

/// What was added for a read.
fn changes<'r>(report: &'r Value, name: &str) -> Vec<&'r str> {
    let mut reads = report["reads"].as_array().unwrap().iter();
    let read = reads.find(|read| read["name"] == name).unwrap();
    assert!(read["why_not"].is_null(), "{read:#}");
    let changes = read["changes"].as_array().unwrap().iter();
    changes.map(|change| change.as_str().unwrap()).collect()
}

/// Whether each access pattern with SQL is proved or agrees.
fn all_agree(asked: &Value) -> usize {
    let claims = asked["claims"].as_array().unwrap().iter();
    let answers = claims.filter(|claim| claim["claim"] == "pattern_answers");
    let verdicts: Vec<&str> = answers
        .map(|claim| claim["verdict"].as_str().unwrap())
        .collect();
    let is_good = |verdict: &&str| ["proved", "agrees"].contains(verdict);
    assert!(verdicts.iter().all(is_good), "{asked:#}");
    verdicts.len()
}

#[tokio::test]
async fn keys_that_are_there_serve_what_they_can_and_nothing_else_is_added() {
    let case = Case::new(SHOP, BY_HAND).await;
    let workload = "
        -- ordersOfCustomer (10/s) newest first
        SELECT id, placed_at, total FROM orders WHERE customer_id = 1 ORDER BY placed_at DESC, id DESC LIMIT 10;
        -- ordersBetween (5/s)
        SELECT id, total FROM orders WHERE customer_id = 1 AND placed_at BETWEEN '2026-01-01' AND '2026-01-02';
        -- line (5/s, strong)
        SELECT sku, quantity FROM lines WHERE order_id = 1 AND no = 2;
        -- customerWithOrders (5/s)
        SELECT c.name, o.id AS order_id, o.total FROM customers c LEFT JOIN orders o ON o.customer_id = c.id WHERE c.id = 1;
        -- open (2/s)
        SELECT id, placed_at FROM orders WHERE status = 'open' ORDER BY placed_at;
        -- getCustomer (20/s)
        SELECT * FROM customers WHERE id = 1;";
    let report = case.updated(workload, 0);
    assert_eq!(changes(&report, "getCustomer"), [""; 0]);
    for (name, place) in [
        ("ordersOfCustomer", "the table"),
        ("ordersBetween", "the table"),
        ("line", "the table"),
        ("customerWithOrders", "the table"),
        ("open", "by_status"),
    ] {
        let change = format!("an access pattern on {place}");
        assert_eq!(
            changes(&report, name),
            [change],
            "{}",
            case.read("new.yaml")
        );
    }
    let added = case.added();
    assert!(
        added
            .iter()
            .all(|line| line.starts_with("  ") && line != "  "),
        "{added:#?}"
    );
    assert!(
        added.contains(&"    consistent: true".to_owned()),
        "{added:#?}"
    );
    assert_eq!(all_agree(&case.migrates()), 6);
    // Both cost the same to store and to write.
    let cost = |when: &str, what: &str| report[when][what].as_f64().unwrap();
    for what in ["usd_writes", "usd_storage"] {
        assert!(
            (cost("before", what) - cost("after", what)).abs() < 1e-9,
            "{what}"
        );
    }
    assert!(cost("before", "usd_reads") < cost("after", "usd_reads"));
}

#[tokio::test]
async fn what_keys_do_not_serve_gets_copies_indexes_and_item_types() {
    let case = Case::new(SHOP, BY_HAND).await;
    let workload = "
        -- orderWithName (10/s) a parent's column, and one that the item leaves out
        SELECT o.id, o.note, c.name FROM orders o JOIN customers c ON c.id = o.customer_id WHERE o.customer_id = 1 ORDER BY o.placed_at, o.id;
        -- byEmail (10/s)
        SELECT id, name FROM customers WHERE email = 'ada@a';
        -- ofSku (10/s)
        SELECT order_id, no, quantity FROM lines WHERE sku = 'a' ORDER BY order_id;
        -- review (10/s, strong)
        SELECT stars FROM reviews WHERE id = 1;
        -- addOrder (5/s)
        INSERT INTO orders (customer_id) VALUES (:c);";
    let report = case.updated(workload, 0);
    let order = changes(&report, "orderWithName");
    assert_eq!(order[0], "an access pattern on the table");
    assert!(
        order.contains(&"Order.name, copied from customers"),
        "{order:?}"
    );
    assert!(order.contains(&"Order.note"), "{order:?}");
    assert_eq!(changes(&report, "review")[0], "the item type REVIEWS");
    let new = case.read("new.yaml");
    // Customers and lines go where neither of them stands yet.
    assert!(!new.contains("GSI1:"), "{new}");
    assert!(
        new.contains("state: \"EMAIL#{email}\"    # byEmail"),
        "{new}"
    );
    for kept in BY_HAND
        .lines()
        .filter(|line| !line.contains("attributes: {"))
    {
        assert!(new.lines().any(|line| line == kept), "{kept}: {new}");
    }
    assert_eq!(all_agree(&case.migrates()), 5);
    let cost = |when: &str| report[when]["usd_month"].as_f64().unwrap();
    assert!(cost("before") < cost("after"));
}

#[tokio::test]
async fn keys_stay_and_what_needs_another_is_refused_with_the_reason() {
    let case = Case::new(SHOP, BY_HAND).await;
    let workload = "
        -- order (10/s, strong)
        SELECT * FROM orders WHERE id = 1;
        -- getCustomer (20/s)
        SELECT name FROM customers WHERE email = 'ada@a';
        -- search (1/s)
        SELECT id FROM customers WHERE name LIKE '%d%';
        -- lines (1/s)
        SELECT no, sku FROM lines WHERE order_id = 1;
        -- mark (1/s)
        UPDATE lines SET gone = :g WHERE order_id = :o;";
    let report = case.updated(workload, 3);
    for (name, why) in [
        ("order", "strong consistency"),
        ("getCustomer", "other SQL"),
        ("search", "matches inside texts"),
        ("mark", "sets the column `gone`"),
    ] {
        let mut reads = report["reads"].as_array().unwrap().iter();
        let read = reads.find(|read| read["name"] == name).unwrap();
        let said = read["why_not"].as_str().unwrap_or_default();
        assert!(said.contains(why), "{name}: {read:#}");
    }
    assert_eq!(
        changes(&report, "lines"),
        ["an access pattern on the table"]
    );
    let shown = case.update(workload, &[]).exits(3);
    shown.prints("not served");
    shown.prints(
        "\nnot priced\n  mark: it sets the column `gone`, which the table lines does not have\n",
    );
    shown.says("next: dynafold diff");
    let pinned = format!("-- keep: lines beside customers\n{workload}");
    let refused = case.update(&pinned, &[]);
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    let pinned = format!("-- keep: orders beside customers\n{workload}");
    case.update(&pinned, &[]).exits(3);
    std::fs::write(case.path("old.yaml"), BY_HAND.replace("c-{id}", "c-{idd}")).unwrap();
    let wrong = case.update(workload, &[]).exits(1);
    wrong.says("idd");
}

#[tokio::test]
async fn keys_that_do_not_tell_values_apart_serve_no_read() {
    const ROWS: &str =
        "CREATE TABLE o (id INTEGER PRIMARY KEY, g INTEGER NOT NULL, status TEXT NOT NULL, n INTEGER);
         INSERT INTO o VALUES (1, 1, 'open', 0), (2, 1, 'open-late', NULL), (3, 1, 'done', 1);";
    const MAPPING: &str = r#"
dynafold: 1
table:
  name: shop
  key: { partition: PK, sort: SK }
  indexes:
    ONE: { partition: A, sort: B }
    TWO: { partition: A, sort: C }
items:
  O:
    from: o
    key: { PK: "O#{id}", SK: O }
    attributes: { A: "G#{g}", B: "{status}-{id | pad(8)}", C: "{n | default(0) | ordered}#{id | pad(8)}" }
"#;
    let case = Case::new(ROWS, MAPPING).await;
    let workload = "
        -- byStatus (5/s)
        SELECT id FROM o WHERE g = :g AND status = :s;
        -- byNumber (5/s)
        SELECT id FROM o WHERE g = :g AND n = :n;";
    case.updated(workload, 0);
    assert_eq!(all_agree(&case.migrates()), 2);
}

#[tokio::test]
async fn a_proposal_is_updated_where_it_stands() {
    let case = Case::new(SHOP, "").await;
    let first = "
        -- getOrder (100/s) an order with its lines
        SELECT o.*, l.no, l.sku FROM orders o JOIN lines l ON l.order_id = o.id WHERE o.id = 1;
        -- ordersOfCustomer (50/s)
        SELECT id, total FROM orders WHERE customer_id = 1 ORDER BY placed_at DESC, id DESC LIMIT 10;";
    std::fs::write(case.path("first.sql"), first).unwrap();
    let [old, workload, source] = [
        case.path("old.yaml"),
        case.path("first.sql"),
        case.source.url(),
    ];
    let propose = [
        "design",
        "--source",
        &source,
        "--workload",
        &workload,
        "-o",
        &old,
        "--force",
    ];
    dynafold(&propose).exits(0);
    let second = format!(
        "{first}
        -- line (5/s)
        SELECT sku, quantity FROM lines WHERE order_id = 1 AND no = 2;
        -- byCountry (5/s)
        SELECT id, name FROM customers WHERE country = 'NO' ORDER BY name;
        -- latest (5/s)
        SELECT id, total FROM orders WHERE customer_id = 1 AND placed_at >= '2026-01-02' ORDER BY placed_at;"
    );
    let report = case.updated(&second, 0);
    assert_eq!(changes(&report, "getOrder"), [""; 0]);
    assert_eq!(changes(&report, "ordersOfCustomer"), [""; 0]);
    assert_eq!(changes(&report, "line"), ["an access pattern on the table"]);
    case.added();
    assert_eq!(all_agree(&case.migrates()), 5);
    // Nothing new: the same file.
    std::fs::copy(case.path("new.yaml"), case.path("old.yaml")).unwrap();
    case.updated(&second, 0);
    assert_eq!(case.read("old.yaml"), case.read("new.yaml"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn worked_examples_without_their_access_patterns_get_some_that_hold() {
    let mut served = 0;
    for (name, migration, _) in EXAMPLES {
        let file = format!("{}/mappings/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(&file).unwrap();
        let (keys, _) = text.split_once("\naccess_patterns:").unwrap();
        let source = Source::on_sqlite(migration).await;
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        let (old, new, url) = (path("old.yaml"), path("new.yaml"), source.url());
        std::fs::write(&old, format!("{keys}\n")).unwrap();
        let update = [
            "--workload",
            &file,
            "--update",
            &old,
            "-o",
            &new,
            "--format",
            "json",
        ];
        let ran = dynafold(&[&["design", "--source", &url][..], &update].concat());
        let report = ran.json();
        let reads = report["reads"].as_array().unwrap().iter();
        let count = reads.filter(|read| read["why_not"].is_null()).count();
        served += count;
        let target = format!("local:{}", path("t.ddb"));
        let both = ["--source", &url, "--target", &target];
        dynafold(&[&["migrate", &new][..], &both].concat()).exits(0);
        let verify = [&["verify", &new, "--format", "json"][..], &both].concat();
        assert_eq!(
            dynafold(&verify).exits(0).json()["outcome"]["state"],
            "equal",
            "{name}"
        );
        if count > 0 {
            let asked = dynafold(&[&verify[..], &["--patterns"]].concat())
                .exits(0)
                .json();
            assert_eq!(all_agree(&asked), count, "{name}");
        }
    }
    assert!(served >= 40, "{served}");
}
