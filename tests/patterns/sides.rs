//! `verify --patterns`: both sides are given one value, values that are another and make the same key
//! are asked too, rows without an item are missed, and constants are compared.

use serde_json::Value;

use crate::support::cli::{command, run};
use crate::support::sqlite::Database;

const SCRIPT: &str = "CREATE TABLE o (id INTEGER PRIMARY KEY, cust INTEGER, email TEXT NOT NULL, st TEXT NOT NULL, placed DATETIME NOT NULL);
INSERT INTO o VALUES (1, 7, 'Bob@x.de', 'open', '2026-01-01 09:00:00'), (2, 7, 'ann@x.de', 'open', '2026-01-02 09:30:00'),
    (3, NULL, 'c@x.de', 'open', '2026-01-03 08:00:00'), (4, 8, 'd@x.de', 'done', '2026-01-03 12:00:00');";

const MAPPING: &str = r#"dynafold: 1
table:
  name: sides
  key: { partition: PK, sort: SK }
  indexes:
    MAIL: { partition: em, sort: PK }
    DAY: { partition: all, sort: day }
    STATE: { partition: st, sort: SK }
items:
  O:
    from: o
    key: { PK: "O#{id | pad(4)}", SK: O }
    columns: [id, email]
    attributes: { em: "{email | lower}", day: "{placed | date}", all: A, ver: 2 }
  C:
    from: o
    key: { PK: "C#{cust}", SK: "O#{id | pad(4)}" }
    columns: [id, st]
"#;

/// A table loaded by the mapping, and what the proof says of patterns.
struct Loaded {
    database: Database,
}

impl Loaded {
    async fn new() -> Self {
        let database = Database::new(SCRIPT).await;
        let loaded = Self { database };
        // Row 3 has no customer, and is refused.
        loaded.run("migrate", MAPPING, &["--max-rejects", "1"], 3);
        loaded
    }

    fn run(&self, name: &str, mapping: &str, further: &[&str], code: i32) -> Value {
        let folder = self.database.folder();
        let file = folder.join("mapping.yaml");
        std::fs::write(&file, mapping).unwrap();
        let source = self.database.url();
        let target = format!("local:{}", folder.join("table.ddb").display());
        let mapping = file.to_str().unwrap();
        let mut arguments = vec![name, mapping, "--source", &source, "--target", &target];
        arguments.extend(["--format", "json"]);
        arguments.extend(further);
        run(&mut command(&arguments)).exits(code).json()
    }

    /// What the proof says of a pattern, which ends so.
    fn says(&self, mapping: &str, pattern: &str, state: &str) -> Value {
        let mapping = format!(
            "{mapping}access_patterns:\n  asked: {{ accept: [parameter-form], {pattern} }}\n"
        );
        let code = if ["proved", "agrees"].contains(&state) {
            0
        } else {
            3
        };
        let report = self.run("verify", &mapping, &["--patterns"], code);
        assert_eq!(report["claims"][0]["verdict"], state, "{report:#}");
        report["patterns"][0].clone()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn both_sides_are_given_one_value() {
    let loaded = Loaded::new().await;
    let by_mail =
        r#"index: MAIL, items: [O], key: { em: "{email}" }, sql: "SELECT id, email FROM o WHERE"#;
    let on_day = r#"index: DAY, items: [O], key: { all: A, day: "{day}" }, sql: "SELECT id, email FROM o WHERE"#;
    let by_id = r#"items: [O], key: { PK: "O#{id}" }, sql: "SELECT id, email FROM o WHERE"#;
    for (pattern, condition, state) in [
        (by_mail, "email = :email", "differs"),
        (by_mail, "lower(email) = :email", "agrees"),
        (on_day, "placed = :day", "differs"),
        (on_day, "date(placed) = :day", "agrees"),
        // A number with zeros before it is the same number.
        (by_id, "id = :id", "agrees"),
    ] {
        loaded.says(MAPPING, &format!("{pattern} {condition}\""), state);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn values_that_make_the_same_key_are_asked_too() {
    let loaded = Loaded::new().await;
    let by_mail = r#"index: MAIL, items: [O], key: { em: "{email | lower}" }, sql: "SELECT id, email FROM o WHERE"#;
    let until = r#"index: DAY, items: [O], key: { all: A, day: { le: "{to | date}" } }, sql: "SELECT id, email FROM o WHERE"#;
    for (pattern, condition, state) in [
        (by_mail, "email = :email", "differs"),
        (by_mail, "lower(email) = lower(:email)", "agrees"),
        (until, "placed <= :to", "differs"),
        (until, "date(placed) <= date(:to)", "agrees"),
    ] {
        let said = loaded.says(MAPPING, &format!("{pattern} {condition}\""), state);
        assert!(
            said["drawn"]["variant"].as_u64().unwrap_or(0) > 0,
            "{said:#}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_row_that_makes_no_item_is_missing() {
    let loaded = Loaded::new().await;
    let pattern = r#"index: STATE, items: [C], key: { st: "{st}" }, sql: "SELECT id, cust, st FROM o WHERE st = :st"#;
    let said = loaded.says(MAPPING, &format!("{pattern}\""), "differs");
    assert_eq!(said["differences"], 1, "{said:#}");
    let found = &said["examples"][0]["examples"][0];
    assert_eq!(
        (found["kind"].as_str(), found["key"].as_str()),
        (Some("missing"), Some("3"))
    );
    let whole = format!("{pattern} AND cust IS NOT NULL\"");
    loaded.says(MAPPING, &whole, "proved");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn constants_are_compared() {
    let loaded = Loaded::new().await;
    let pattern =
        r#"items: [O], key: { PK: "O#{id | pad(4)}" }, sql: SELECT id FROM o WHERE id = :id"#;
    let said = loaded.says(MAPPING, pattern, "proved");
    let compared = serde_json::json!(["PK", "SK", "_type", "id", "all", "ver"]);
    assert_eq!(said["item_types"][0]["compared"], compared, "{said:#}");
    // The table was loaded with another.
    let mapping = MAPPING.replace("ver: 2", "ver: 3");
    let said = loaded.says(&mapping, pattern, "differs");
    let found = &said["examples"][0]["examples"][0];
    assert_eq!(found["attributes"], serde_json::json!(["ver"]));
}
