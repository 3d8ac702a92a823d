//! `verify --patterns`: the proof holds for every example, and finds what is planted.

use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::Value;

use super::bench::Bench;
use super::example::Example;
use crate::support::cli::Ran;
use crate::support::dynamodb_local;
use crate::support::source::Source;

/// An example's mapping in the words of a database. Where its SQL is PostgreSQL's, the words of the
/// others stand behind it in a comment, under their names: `# mysql: >-`.
pub(crate) fn in_words_of(product: &str, mapping: &str) -> String {
    let product = product.replace("mariadb", "mysql");
    let mut words: Vec<String> = Vec::new();
    let mut sql = 0;
    let mut taking = false;
    for line in mapping.lines() {
        if line == "    sql: >-" {
            sql = words.len();
        }
        let comment = line.strip_prefix("    # ");
        let own = comment.and_then(|line| line.strip_suffix(": >-"));
        if own == Some(product.as_str()) {
            taking = true;
            words.truncate(sql);
            words.push("    sql: >-".to_owned());
            continue;
        }
        taking &= own.is_none() && comment.is_some();
        words.push(match comment.filter(|_| taking) {
            Some(comment) => format!("    {comment}"),
            None => line.to_owned(),
        });
    }
    words.join("\n") + "\n"
}

/// Fails unless every access pattern is proved or agrees, with calls that find something. Where texts are equal to the
/// database that differ, variants of values may find more by SQL than in the table.
pub(super) fn hold(example: &Example, ran: &Ran, is_insensitive: bool) {
    let report = ran.json();
    let patterns = report["patterns"].as_array().unwrap();
    assert_eq!(patterns.len(), example.patterns().count());
    let claims = report["claims"].as_array().unwrap();
    assert_eq!(patterns.len(), claims.len());
    let mut differs = false;
    for (pattern, claim) in patterns.iter().zip(claims) {
        assert_eq!(pattern["pattern"], claim["of"]["pattern"], "{claim:#}");
        let verdict = claim["verdict"].as_str().unwrap();
        if verdict == "differs" && is_insensitive {
            differs = true;
            let mut calls = pattern["examples"].as_array().unwrap().iter();
            assert!(calls.all(|call| call["drawn"] == "variant"), "{pattern:#}");
        } else {
            assert!(["proved", "agrees"].contains(&verdict), "{claim:#}");
            assert_eq!(pattern.get("notes"), None, "{pattern:#}");
        }
        assert!(pattern["items"].as_u64().unwrap() > 0, "{pattern:#}");
        let parameters = example
            .patterns()
            .find(|(name, _)| pattern["pattern"] == **name);
        let key = format!("{:?}", parameters.unwrap().1.get("key"));
        // Every one with parameters is asked for what is not there, too.
        let has_values = key.contains("#{") || key.contains("\"{");
        let is_asked = has_values && !key.contains("{* | shard");
        assert!(
            !is_asked || pattern["empty_calls"].as_u64().unwrap() > 0,
            "{pattern:#}"
        );
    }
    assert_eq!(ran.code, if differs { 3 } else { 0 });
}

/// A loaded example on SQLite, and what the proof says of a pattern.
struct Plant<'e> {
    bench: Bench<'e>,
    source: Source,
    target: Vec<String>,
}

impl<'e> Plant<'e> {
    /// In the embedded engine.
    async fn new(example: &'e Example) -> Self {
        let source = example.sources().await.swap_remove(0);
        let bench = Bench::new(example, &source);
        let file = format!("local:{}", bench.path("table.ddb").display());
        Self::load(bench, source, vec!["--target".to_owned(), file])
    }

    /// In DynamoDB Local, where items can be changed.
    async fn open(example: &'e Example) -> Self {
        let source = example.sources().await.swap_remove(0);
        let mut bench = Bench::new(example, &source);
        bench.table = format!("planted-{}-{}", example.name, std::process::id());
        let endpoint = dynamodb_local::endpoint();
        let target = ["--target", "dynamodb", "--endpoint-url", &endpoint];
        Self::load(bench, source, target.map(str::to_owned).into())
    }

    fn load(bench: Bench<'e>, source: Source, target: Vec<String>) -> Self {
        let plant = Self {
            bench,
            source,
            target,
        };
        plant.run("migrate", &[]).exits(0);
        plant
    }

    fn run(&self, command: &str, further: &[&str]) -> Ran {
        let mut arguments: Vec<&str> = self.target.iter().map(String::as_str).collect();
        arguments.extend(["--format", "json"]);
        arguments.extend(further);
        self.bench.run(command, &arguments)
    }

    async fn drop(self) {
        if self.target.len() > 2 {
            dynamodb_local::delete_table(&self.bench.table).await;
        }
        self.source.drop().await;
    }

    /// Changes the mapping after the load.
    fn change(&self, from: &str, to: &str) {
        let path = self.bench.path("mapping.yaml");
        let mapping = std::fs::read_to_string(&path).unwrap();
        assert!(mapping.contains(from), "{from}");
        std::fs::write(path, mapping.replace(from, to)).unwrap();
    }

    /// What the proof says of a pattern, and its first differences.
    fn says(&self, pattern: &str, code: i32) -> Value {
        let ran = self.run("verify", &["--patterns", "--pattern", pattern]);
        let report = ran.exits(code).json();
        let patterns = report["patterns"].as_array().unwrap();
        assert_eq!(patterns.len(), 1, "{report:#}");
        let mut said = patterns[0].clone();
        said["claim"] = report["claims"][0].clone();
        said
    }

    /// Fails unless the first difference is this one.
    fn finds(&self, pattern: &str, kind: &str, key: &str) -> Value {
        let said = self.says(pattern, 3);
        assert_eq!(said["claim"]["verdict"], "differs", "{said:#}");
        let calls = said["examples"].as_array().unwrap().iter();
        let mut examples = calls.flat_map(|call| call["examples"].as_array().unwrap());
        let found = examples.find(|one| one["kind"] == kind && one["key"] == key);
        found.unwrap_or_else(|| panic!("{said:#}")).clone()
    }

    async fn put(&self, attributes: &[(&str, AttributeValue)]) {
        let client = dynamodb_local::client();
        let mut put = client.put_item().table_name(&self.bench.table);
        for (name, value) in attributes {
            put = put.item(*name, value.clone());
        }
        put.send().await.unwrap();
    }

    async fn delete(&self, partition: &str, sort: &str) {
        let client = dynamodb_local::client();
        let delete = client.delete_item().table_name(&self.bench.table);
        let delete = delete.key("PK", text(partition)).key("SK", text(sort));
        delete.send().await.unwrap();
    }
}

fn text(text: &str) -> AttributeValue {
    AttributeValue::S(text.to_owned())
}

fn number(number: &str) -> AttributeValue {
    AttributeValue::N(number.to_owned())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_item_that_is_missing_changed_or_too_many_is_named() {
    let example = Example::read("products", "products", "products");
    let plant = Plant::open(&example).await;
    plant.says("listTracksOfAlbum", 0);
    let track = [
        ("PK", text("PRODUCT#10")),
        ("SK", text("TRACK#01#001")),
        ("album_id", number("10")),
        ("disc", number("1")),
        ("no", number("1")),
        ("name", text("So What?")),
        ("seconds", number("562")),
    ];
    plant.put(&track).await;
    let key = "\"PRODUCT#10\", \"TRACK#01#001\"";
    let found = plant.finds("listTracksOfAlbum", "differs", key);
    assert_eq!(found["attributes"], serde_json::json!(["name"]));
    // A number that has become text is another value.
    let mut other = track.clone();
    other[5].1 = text("So What");
    other[6].1 = text("562");
    plant.put(&other).await;
    let found = plant.finds("listTracksOfAlbum", "differs", key);
    assert_eq!(found["attributes"], serde_json::json!(["seconds"]));
    // So is an attribute that neither the mapping nor the SQL has.
    let mut more = track.to_vec();
    more.push(("added", text("by hand")));
    plant.put(&more).await;
    let found = plant.finds("listTracksOfAlbum", "differs", key);
    assert_eq!(found["attributes"], serde_json::json!(["name", "added"]));
    let mut other = track.clone();
    other[1].1 = text("TRACK#01#099");
    plant.put(&other).await;
    plant.finds(
        "listTracksOfAlbum",
        "extra",
        "\"PRODUCT#10\", \"TRACK#01#099\"",
    );
    plant.delete("PRODUCT#10", "TRACK#01#002").await;
    let found = plant.finds("listTracksOfAlbum", "missing", "10, 1, 2");
    assert_eq!(found["item_type"], "TRACK");
    // The same where four item types are returned.
    plant.finds("getProduct", "missing", "10, 1, 2");
    plant.finds("getProduct", "extra", "\"PRODUCT#10\", \"TRACK#01#099\"");
    plant.drop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sort_key_in_another_order_than_the_sql_is_found() {
    let mut example = Example::read("products", "products", "products");
    // 10 comes before 2.
    example.mapping = example.mapping.replace(
        "SK: \"TRACK#{disc | pad(2)}#{no | pad(3)}\"",
        "SK: \"TRACK#{disc | pad(2)}#{no}\"",
    );
    let plant = Plant::new(&example).await;
    plant.finds(
        "listTracksOfAlbum",
        "order",
        "\"PRODUCT#10\", \"TRACK#01#10\"",
    );
    // Without a promise of order they are a set.
    plant.change(" ORDER BY disc, no", "");
    assert_eq!(plant.says("listTracksOfAlbum", 0)["in_order"], false);
    plant.drop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_limit_that_cuts_otherwise_is_found_and_told() {
    let example = Example::read("devices", "devices", "devices");
    let plant = Plant::new(&example).await;
    plant.change("limit: 1", "limit: 2");
    let said = plant.says("getLastReport", 3);
    assert_eq!(said["claim"]["verdict"], "differs");
    assert_eq!(
        said["notes"],
        serde_json::json!(["its limit is 2, and its SQL's limit is 1"])
    );
    plant.change(" ORDER BY reported_at DESC LIMIT 1", " LIMIT 1");
    let said = plant.says("getLastReport", 3);
    let note = said["notes"][0].as_str().unwrap();
    assert!(note.contains("no ORDER BY"), "{note}");
    plant.drop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_filter_that_leaves_out_too_much_is_found() {
    // One item type of its relation, and one of several.
    let mut example = Example::read("accounts", "accounts", "accounts");
    let whole = "where: user_id IS NOT NULL ";
    assert!(example.mapping.contains(whole));
    example.mapping = example.mapping.replace(whole, "where: bal > 600000 ");
    let plant = Plant::new(&example).await;
    plant.finds("listAccountsOfUser", "missing", "\"01-210-X\"");
    plant.drop().await;
    let mut example = Example::read("products", "products", "products");
    let whole = "where: type = 'BOOK'";
    assert!(example.mapping.contains(whole));
    example.mapping = example
        .mapping
        .replace(whole, "where: type = 'BOOK' AND id > 1");
    let plant = Plant::new(&example).await;
    let said = plant.says("listProductsOfType", 3);
    assert_eq!(said["claim"]["verdict"], "differs", "{said:#}");
    plant.drop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_compared_is_never_called_equal() {
    let example = Example::read("accounts", "accounts", "accounts");
    let plant = Plant::new(&example).await;
    let reason = |pattern: &str| {
        let said = plant.says(pattern, 3);
        assert_eq!(said["claim"]["verdict"], "not_proved", "{said:#}");
        said["claim"]["because"].as_str().unwrap().to_owned()
    };
    plant.change(
        "SELECT acc_id, bal FROM accounts WHERE user_id = :userId\n",
        "SELECT bal FROM accounts WHERE user_id = :userId\n",
    );
    let because = reason("listAccountsOfUser");
    assert!(
        because.starts_with("its `sql` does not select acc_id"),
        "{because}"
    );
    // `check` knows it too, and lives with it where that is said.
    assert!(plant.bench.warnings().contains("unproved-answer"));
    let items = "    items: [ACCOUNT]\n    key: { ID: \"{userId}\", SK: { begins";
    let accepts = format!("    accept: [unproved-answer]\n{items}");
    plant.change(items, &accepts);
    assert!(!plant.bench.warnings().contains("unproved-answer"));
    plant.change(
        "SELECT bal FROM accounts WHERE user_id = :userId\n",
        "SELECT acc_id FROM accounts WHERE user_id = :userId FOR SHARE\n",
    );
    assert!(reason("listAccountsOfUser").starts_with("its `sql` would lock rows"));
    // Neither side finds anything.
    plant.change(
        "WHERE user_id = :userId FOR SHARE",
        "WHERE bal < -99 AND user_id = :userId",
    );
    plant.change("begins_with: \"ACC#\"", "begins_with: \"ACC#none\"");
    assert!(reason("listAccountsOfUser").contains("nothing was compared"));
    plant.change(
        "    sql: SELECT id, name, tel, addr FROM users WHERE id = :userId\n",
        "",
    );
    assert!(plant.says("getUser", 3)["claim"].is_null());
    plant.drop().await;
}
