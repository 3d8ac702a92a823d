//! The first hour: the first mapping with its access patterns, and asking them.

use crate::support::cli::{Ran, command, dynafold, run};
use crate::support::sqlite::Database;

const SHOP: &str = "
CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE products (sku TEXT NOT NULL PRIMARY KEY, title TEXT NOT NULL);
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers(id), placed_on DATE NOT NULL);
CREATE TABLE order_lines (order_id INTEGER NOT NULL REFERENCES orders(id), line_no INTEGER NOT NULL,
    sku TEXT NOT NULL REFERENCES products(sku), note TEXT, PRIMARY KEY (order_id, line_no));
CREATE TABLE shipments (id INTEGER PRIMARY KEY, order_id INTEGER NOT NULL REFERENCES orders(id));
CREATE TABLE log (message TEXT);
CREATE VIEW titles AS SELECT title FROM products;
INSERT INTO customers VALUES (1, 'Ann');
INSERT INTO products VALUES ('TEA', 'Tea');
INSERT INTO orders VALUES (7, 1, '2026-01-31');
INSERT INTO order_lines VALUES (7, 1, 'TEA', 'a note'), (7, 2, 'TEA', NULL);
INSERT INTO shipments VALUES (3, 7);
";

#[tokio::test]
async fn init_guesses_access_patterns_from_keys_that_are_proved_and_says_what_it_left_out() {
    let database = Database::new(SHOP).await;
    let url = database.url();
    let file = database.folder().join("mapping.yaml");
    let path = file.display().to_string();
    let ran = dynafold(&["init", "--source", &url, "--output", &path]).exits(0);
    ran.says("left out: log: it has no key that identifies its rows");
    ran.says("left out: titles: it is a view");
    let text = std::fs::read_to_string(&file).unwrap();
    // A line of an order, and its shipment, stand in the order's partition.
    for key in [
        "PK: \"ORDERS#{order_id}\", SK: \"ORDER_LINES#{line_no | pad(20)}\"",
        "PK: \"ORDERS#{order_id}\", SK: \"SHIPMENTS#{id | pad(20)}\"",
    ] {
        assert!(text.contains(key), "{key}: {text}");
    }
    let checked = dynafold(&["check", &path, "--source", &url, "--format", "json"]).exits(0);
    let diagnostics = checked.json()["diagnostics"].clone();
    assert_eq!(diagnostics, serde_json::json!([]), "{text}");
    // The same is proposed from the schema alone: it says nothing of rows.
    let catalog = dynafold(&["inspect", "--source", &url, "--format", "json"]).exits(0);
    let schema = database.folder().join("catalog.json");
    std::fs::write(&schema, &catalog.stdout).unwrap();
    let schema = schema.display().to_string();
    let offline = database.folder().join("offline.yaml").display().to_string();
    let ran = dynafold(&["init", "--catalog", &schema, "-o", &offline]).exits(0);
    ran.says(&format!("dynafold check {offline} --catalog {schema}"));
    dynafold(&["check", &offline, "--catalog", &schema]).exits(0);
    let target = format!("local:{}", database.folder().join("t.ddb").display());
    dynafold(&["migrate", &path, "--source", &url, "--target", &target]).exits(0);
    let proved = dynafold(&[
        "verify",
        &path,
        "--source",
        &url,
        "--target",
        &target,
        "--patterns",
    ]);
    let proved = proved.exits(0).stdout;
    assert!(proved.contains("9 access patterns: 9 proved"), "{proved}");
    for (pattern, parameters, items) in [
        ("customers_by_id", ["--id", "1"], 1),
        ("orders_of_customers", ["--customer_id", "1"], 1),
        ("order_lines_of_orders", ["--order_id", "7"], 2),
        ("order_lines_of_products", ["--sku", "TEA"], 2),
        ("shipments_of_orders", ["--order_id", "7"], 1),
    ] {
        let [option, value] = parameters;
        let ran = dynafold(&[
            "query", &path, pattern, option, value, "--target", &target, "--format", "json",
        ]);
        let answer = ran.exits(0).json();
        assert_eq!(
            answer["items"].as_array().unwrap().len(),
            items,
            "{pattern}"
        );
    }
}

/// SQLite takes a column without a name, and DynamoDB no such attribute.
#[tokio::test]
async fn a_column_without_a_name_is_left_out_by_init_and_told_by_check() {
    let script = "CREATE TABLE t (id INTEGER PRIMARY KEY, \"\" TEXT, name TEXT);
        INSERT INTO t VALUES (1, 'a', 'Ann');";
    let database = Database::new(script).await;
    let url = database.url();
    let file = database.folder().join("mapping.yaml");
    let path = file.display().to_string();
    dynafold(&["init", "--source", &url, "--output", &path]).exits(0);
    let text = std::fs::read_to_string(&file).unwrap();
    let left_out = "    omit: [\"\"]\n";
    assert!(text.contains(left_out), "{text}");
    let target = format!("local:{}", database.folder().join("t.ddb").display());
    dynafold(&["migrate", &path, "--source", &url, "--target", &target]).exits(0);
    std::fs::write(&file, text.replace(left_out, "")).unwrap();
    let ran = dynafold(&["check", &path, "--source", &url]).exits(1);
    ran.prints("has a column without a name");
}

const NOTES: &str = r#"dynafold: 1
table:
  name: notes
  key: { partition: PK, sort: SK }
  indexes: { BY_STATE: { partition: state, sort: at } }
  type_attribute: false
items:
  NOTE:
    from: notes
    key: { PK: "GROUP#{grp}", SK: "NOTE#{id | pad(6)}" }
access_patterns:
  ofGroup:
    key: { PK: "GROUP#{grp}", SK: { begins_with: "NOTE#" } }
  since:
    index: BY_STATE
    key: { state: "{target}", at: { ge: "{now}" } }
  lately:
    index: BY_STATE
    key: { state: "{state}", at: { ge: "{from}" } }
    params: { from: "{now | plus(-30d) | date}" }
"#;

/// A table of two notes, and a command that asks it.
async fn notes() -> (Database, impl Fn(&[&str]) -> Ran) {
    let script = "CREATE TABLE notes (id INTEGER PRIMARY KEY, grp TEXT NOT NULL, state TEXT NOT NULL, at TEXT NOT NULL, body TEXT NOT NULL);
        INSERT INTO notes VALUES (1, 'a', 'open', '2026-01-01', 'short'), (2, 'a', 'open', '2026-02-01', replace(hex(zeroblob(60)), '00', 'ab'));";
    let database = Database::new(script).await;
    let file = database.folder().join("notes.yaml");
    std::fs::write(&file, NOTES).unwrap();
    let (mapping, url) = (file.display().to_string(), database.url());
    let target = format!("local:{}", database.folder().join("t.ddb").display());
    dynafold(&["migrate", &mapping, "--source", &url, "--target", &target]).exits(0);
    let ask = move |words: &[&str]| {
        let mut all = vec!["query", &mapping];
        all.extend(words);
        run(command(&all).env("DYNAFOLD_TARGET", &target))
    };
    (database, ask)
}

#[tokio::test]
async fn an_answer_shows_what_a_person_wants_and_keys_on_demand() {
    let (_database, ask) = notes().await;
    let shown = ask(&["ofGroup", "--grp", "a"]).exits(0).stdout;
    let head = shown.lines().next().unwrap();
    let words: Vec<&str> = head.split_whitespace().collect();
    assert_eq!(words, ["body", "grp", "id", "at", "state"], "{shown}");
    assert!(shown.ends_with("PK, SK: --keys shows them\n"), "{shown}");
    assert!(
        shown.contains('…') && shown.lines().all(|line| line.chars().count() <= 100),
        "{shown}"
    );
    let wide = ask(&["ofGroup", "--grp", "a", "--wide"]).exits(0).stdout;
    assert!(wide.contains(&"ab".repeat(60)), "{wide}");
    let keys = ask(&["ofGroup", "--grp", "a", "--keys"]).exits(0).stdout;
    assert!(
        keys.starts_with("PK ") && keys.contains("GROUP#a"),
        "{keys}"
    );
}

#[tokio::test]
async fn a_parameter_with_the_name_of_an_option_is_given_by_param() {
    let (_database, ask) = notes().await;
    let called = "--param target=TEXT --param now=TEXT";
    let help = ask(&["since", "--help"]).exits(0).stdout;
    assert!(help.contains(called), "{help}");
    let ran = ask(&[
        "since",
        "--now",
        "2026-01-15T00:00:00Z",
        "--param",
        "target=open",
    ])
    .exits(2);
    ran.says("`since` needs `now`");
    ran.says("`--now` is an option of `query` itself");
    ran.says(called);
    let found = ask(&[
        "since",
        "--param",
        "now=2026-01-15",
        "--param",
        "target=open",
        "--format",
        "ndjson",
    ]);
    assert_eq!(found.exits(0).stdout.lines().count(), 1);
    // A day that counts from the clock is written in one way, which no schema need tell.
    let now = "2026-02-10T00:00:00Z";
    let lately = ask(&[
        "lately", "--state", "open", "--now", now, "--format", "ndjson",
    ]);
    assert_eq!(lately.exits(0).stdout.lines().count(), 1);
}

/// As `design` does: whoever writes or asks has to know it.
#[tokio::test]
async fn init_says_which_keys_have_values_with_the_delimiter_or_may_have() {
    let database = Database::new(
        "CREATE TABLE tags (a TEXT NOT NULL, b TEXT NOT NULL, c TEXT NOT NULL, PRIMARY KEY (a, b, c));
         INSERT INTO tags VALUES ('x', 'p#q', 'y'), ('x', 'p', 'q#y');",
    )
    .await;
    let path = |name: &str| database.folder().join(name).display().to_string();
    let (url, mapping, schema) = (database.url(), path("m.yaml"), path("catalog.json"));
    let ran = dynafold(&["init", "--source", &url, "-o", &mapping]).exits(0);
    ran.says("delimiter in values: tags.b, tags.c: values hold `#`");
    let text = std::fs::read_to_string(&mapping).unwrap();
    assert!(text.contains("key_escape: percent"), "{text}");
    let catalog = dynafold(&["inspect", "--source", &url, "--format", "json"]).exits(0);
    std::fs::write(&schema, &catalog.stdout).unwrap();
    let ran = dynafold(&["init", "--catalog", &schema, "-o", &mapping, "--force"]).exits(0);
    ran.says("delimiter in values: tags.a, tags.b: in keys, `#` follows these values");
    ran.says("(with --source, this is looked up)");
}

#[tokio::test]
async fn check_names_numbered_keys_local_indexes_and_an_index_that_nobody_asks() {
    let database = Database::new(SHOP).await;
    let file = database.folder().join("m.yaml");
    let text = "dynafold: 1
table:
  name: shop
  key: { partition: PK, sort: SK }
  indexes: { BY_DAY: { partition: placed_on, sort: SK } }
  local_indexes: { BY_DATE: { sort: placed_on } }
items:
  ORDER: { from: orders, key: { PK: \"ORDER#{id}\", SK: ORDER } }
access_patterns:
  order: { key: { PK: \"ORDER#{id}\", SK: ORDER } }
";
    std::fs::write(&file, text).unwrap();
    let file = file.display().to_string();
    let ran = dynafold(&["check", &file, "--source", &database.url()]).exits(0);
    for reported in [
        "the database numbers orders.id; in DynamoDB the application generates the next value",
        "BY_DAY holds every ORDER; no access pattern uses it, and each item in it costs one more write",
        "it is local: no item collection may pass 10 GB, and it can be neither added nor removed later",
    ] {
        assert!(ran.stdout.contains(reported), "{reported}: {}", ran.stdout);
    }
}
