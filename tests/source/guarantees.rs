//! What databases guarantee, from their catalogs to `check --guarantees`.

use std::path::Path;

use serde_json::{Value, json};

use crate::support::cli::dynafold;
use crate::support::mysql;
use crate::support::source::Source;

const MAPPING: &str = r#"
dynafold: 1
table: { name: shop, key: { partition: PK, sort: SK } }
items:
  USER: { from: users, key: { PK: "USER#{id}", SK: "USER#" } }
  ORDER:
    from: orders
    key: { PK: "ORDER#{id}", SK: "ORDER#" }
    attributes:
      lines: { $embed: order_lines, $each: { no: "{no}", price: "{price}" } }
"#;

/// A schema with each kind of guarantee that the product has.
fn schema(product: &str) -> String {
    match product {
        "postgres" => {
            "CREATE TYPE state AS ENUM ('open', 'paid');
             CREATE TABLE users (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, email varchar(99) NOT NULL UNIQUE,
                 name text NOT NULL DEFAULT 'nobody', phone text UNIQUE DEFERRABLE,
                 CONSTRAINT adult CHECK (name <> ''));
             CREATE UNIQUE INDEX users_name ON users (lower(name));
             CREATE TABLE orders (id serial PRIMARY KEY, user_id int REFERENCES users ON DELETE SET NULL ON UPDATE CASCADE,
                 state state NOT NULL, net numeric(10, 2), gross numeric(10, 2) GENERATED ALWAYS AS (net * 1.2) STORED,
                 during tstzrange, CONSTRAINT apart EXCLUDE USING gist (during WITH &&));
             ALTER TABLE orders ADD CONSTRAINT paid CHECK (net > 0) NOT VALID;
             CREATE UNIQUE INDEX one_open ON orders (user_id) WHERE state = 'open';
             CREATE TABLE order_lines (order_id int, no int, price numeric(10, 2), PRIMARY KEY (order_id, no));
             ALTER TABLE order_lines ADD CONSTRAINT of_order FOREIGN KEY (order_id) REFERENCES orders ON DELETE CASCADE NOT VALID;
             CREATE FUNCTION stamp() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN new; END';
             CREATE TRIGGER stamped BEFORE INSERT OR UPDATE ON orders FOR EACH ROW EXECUTE FUNCTION stamp();
             CREATE TRIGGER off AFTER DELETE ON orders FOR EACH ROW EXECUTE FUNCTION stamp();
             ALTER TABLE orders DISABLE TRIGGER off;
             ALTER TABLE users DISABLE TRIGGER ALL"
        }
        "mysql" => {
            "CREATE TABLE users (id INT AUTO_INCREMENT PRIMARY KEY, email VARCHAR(99) NOT NULL UNIQUE,
                 name VARCHAR(99) NOT NULL DEFAULT 'nobody', phone VARCHAR(99), UNIQUE KEY phone_begin (phone(4)),
                 CONSTRAINT adult CHECK (name <> '') /*!80016 NOT ENFORCED */);
             CREATE TABLE orders (id INT AUTO_INCREMENT PRIMARY KEY, user_id INT, state ENUM('open', 'paid') NOT NULL,
                 net DECIMAL(10, 2), gross DECIMAL(12, 2) AS (net * 1.2) STORED,
                 CONSTRAINT paid CHECK (net > 0),
                 CONSTRAINT of_user FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE SET NULL ON UPDATE CASCADE);
             CREATE TABLE order_lines (order_id INT, no INT, price DECIMAL(10, 2), PRIMARY KEY (order_id, no),
                 CONSTRAINT of_order FOREIGN KEY (order_id) REFERENCES orders (id) ON DELETE CASCADE);
             CREATE TRIGGER stamped BEFORE INSERT ON orders FOR EACH ROW SET NEW.state = 'open'"
        }
        _ => {
            "CREATE TABLE users (id INTEGER PRIMARY KEY, email TEXT NOT NULL UNIQUE COLLATE NOCASE,
                 name TEXT NOT NULL DEFAULT 'nobody', phone TEXT UNIQUE, CONSTRAINT adult CHECK (name <> ''));
             CREATE UNIQUE INDEX users_name ON users (lower(name));
             CREATE UNIQUE INDEX users_phone ON users (phone COLLATE NOCASE);
             CREATE TABLE orders (id INTEGER PRIMARY KEY AUTOINCREMENT,
                 user_id INT REFERENCES users ON DELETE SET NULL ON UPDATE CASCADE, state TEXT NOT NULL,
                 net NUMERIC CHECK (net > 0), gross NUMERIC AS (net * 1.2) STORED);
             CREATE UNIQUE INDEX one_open ON orders (user_id) WHERE state = 'open';
             CREATE TABLE order_lines (order_id INT REFERENCES orders ON DELETE CASCADE, no INT, price NUMERIC,
                 PRIMARY KEY (order_id, no)) WITHOUT ROWID;
             CREATE TRIGGER stamped BEFORE INSERT ON orders BEGIN SELECT 1; END"
        }
    }
    .to_owned()
}

fn guarantees(mapping: &Path, from: [&str; 2]) -> Value {
    let mapping = mapping.to_str().unwrap();
    let mut arguments = vec!["check", mapping, "--guarantees", "--format", "json"];
    arguments.extend(from);
    dynafold(&arguments).exits(0).json()["guarantees"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn each_database_says_what_it_guarantees() {
    let folder = tempfile::tempdir().unwrap();
    let mapping = folder.path().join("shop.yaml");
    std::fs::write(&mapping, MAPPING).unwrap();
    for source in Source::each(schema).await {
        let (product, url) = (source.product(), source.url());
        let path = mapping.to_str().unwrap();
        let ran = dynafold(&["check", path, "--guarantees", "--source", &url]).exits(0);
        let from = ran.stdout.find("What your database").unwrap();
        let reported = ran.stdout[from..].replace(path, "shop.yaml");
        insta::assert_snapshot!(format!("guarantees_of_{product}"), reported);

        // A catalog's file says the same, but for what SQLite numbers.
        let live = guarantees(&mapping, ["--source", &url]);
        let file = folder.path().join(format!("{product}.json"));
        let inspected = dynafold(&["inspect", "--source", &url, "--format", "json"]).exits(0);
        std::fs::write(&file, &inspected.stdout).unwrap();
        let offline = guarantees(&mapping, ["--catalog", file.to_str().unwrap()]);
        if product != "sqlite" {
            assert_eq!(live, offline, "{product}");
        }
        let count = live["guarantees"].as_array().unwrap().len();
        assert!(count > 12, "{product}: {count}");
        source.drop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_may_only_read_is_told_what_the_server_hides() {
    let folder = tempfile::tempdir().unwrap();
    let mapping = folder.path().join("shop.yaml");
    std::fs::write(&mapping, MAPPING).unwrap();
    for (product, server) in mysql::servers() {
        let mut database = mysql::Database::new(&server).await;
        database.run(&schema("mysql")).await;
        let grant = format!("SELECT ON {}.*", database.name());
        let reader = database.user(&[&grant]).await;
        let found = guarantees(&mapping, ["--source", reader.as_str()]);
        let not_read = found["not_read"].as_array().unwrap();
        let triggers = json!("triggers of order_lines, orders, users");
        assert!(not_read.contains(&triggers), "{product}: {not_read:?}");
        let all = found["guarantees"].as_array().unwrap();
        assert!(all.iter().all(|one| one["guarantee"] != "trigger"));
        // Where MariaDB shows no check it may hide one; MySQL shows all.
        let checks = json!("CHECK constraints of order_lines");
        assert_eq!(
            not_read.contains(&checks),
            product == "mariadb",
            "{not_read:?}"
        );
        let checked = all.iter().filter(|one| one["guarantee"] == "check");
        assert_eq!(checked.count(), 2, "{product}");
        let grant = format!("SELECT, TRIGGER ON {}.*", database.name());
        let writer = database.user(&[&grant]).await;
        let found = guarantees(&mapping, ["--source", writer.as_str()]);
        let all = found["guarantees"].as_array().unwrap();
        let triggers: Vec<&Value> = all
            .iter()
            .filter(|one| one["guarantee"] == "trigger")
            .collect();
        assert_eq!(triggers.len(), 1, "{product}");
        assert_eq!(triggers[0]["declared"], "TRIGGER stamped BEFORE INSERT");
        assert!(
            !found["not_read"]
                .as_array()
                .unwrap()
                .iter()
                .any(|one| one.as_str().unwrap().starts_with("triggers"))
        );
        database.drop().await;
    }
}
