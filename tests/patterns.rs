//! The worked examples: exact items and exact answers, from every database, in every engine.
//!
//! An example is data. `mappings/NAME.yaml` and `migrations/*/…_NAME.sql` are for users;
//! `tests/patterns/NAME.ndjson` holds the items that must come out, and `NAME.queries.yaml` what
//! the books must count and what each access pattern must answer.

mod example;
mod query;

use std::collections::BTreeSet;
use std::path::Path;

use dynafold::target::{TargetSpec, connect};
use serde_json::Value;

use crate::support::cli::{Ran, command, run};
use crate::support::contents::{canonical, contents, sorted};
use crate::support::source::Source;
use crate::support::{dynamodb_local, embedded};
use example::Example;

/// Makes one test of each example: its mapping, its migration, and the example whose items it makes.
macro_rules! examples {
    ($($test:ident: $name:literal, $migration:literal, $like:literal;)*) => {
        const EXAMPLES: &[(&str, &str, &str)] = &[$(($name, $migration, $like)),*];

        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                hold(&Example::read($name, $migration, $like)).await;
            }
        )*
    };
}

examples! {
    pattern_1_personalization: "personalization", "personalization", "personalization";
    pattern_2_products: "products", "products", "products";
    pattern_3_places: "places", "places", "places";
    pattern_4_accounts: "accounts", "accounts", "accounts";
    pattern_5_start_servers: "start-servers", "start_servers", "start-servers";
    pattern_6_workforce: "workforce", "workforce", "workforce";
    pattern_7_game: "game", "game", "game";
    pattern_8_cart: "cart", "cart", "cart";
    pattern_9_photos: "photos", "photos", "photos";
    pattern_10_devices: "devices", "devices", "devices";
    pattern_11_messages: "messages", "messages", "messages";
    pattern_12_orders_from_a_document: "orders", "orders", "orders";
    pattern_12_orders_from_tables: "orders-tables", "orders", "orders";
    pattern_13_votes: "votes", "votes", "votes";
    pattern_14_reviews: "reviews", "reviews", "reviews";
}

/// Loads an example from every database into every engine, and asks all its access patterns.
async fn hold(example: &Example) {
    let mut first: Option<String> = None;
    for source in example.sources().await {
        let bench = Bench::new(example, &source);
        let previewed = bench.preview();
        let same = *first.get_or_insert_with(|| previewed.clone()) == previewed;
        assert!(
            same,
            "{}: other bytes than from the first",
            source.product()
        );
        bench.load_local().await;
        bench.load_dynamodb_local().await;
        source.drop().await;
    }
}

/// A folder with the mapping, and a source.
struct Bench<'e> {
    example: &'e Example,
    folder: tempfile::TempDir,
    source: String,
    product: &'static str,
    /// The table's name; DynamoDB Local is shared by all tests.
    table: String,
}

impl<'e> Bench<'e> {
    fn new(example: &'e Example, source: &Source) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("mapping.yaml"), &example.mapping).unwrap();
        Self {
            example,
            folder,
            source: source.url(),
            product: source.product(),
            table: format!(
                "{}-{}-{}",
                example.name,
                source.product(),
                std::process::id()
            ),
        }
    }

    fn run(&self, name: &str, further: &[&str]) -> Ran {
        let mapping = self.folder.path().join("mapping.yaml");
        let mut arguments = vec![name, mapping.to_str().unwrap(), "--source", &self.source];
        if let Some(now) = &self.example.now {
            arguments.extend(["--now", now]);
        }
        arguments.extend(further);
        run(command(&arguments).env("TABLE_NAME", &self.table))
    }

    /// Holds the preview against the items, and returns its bytes.
    fn preview(&self) -> String {
        let ran = self
            .run("preview", &["--limit", "100", "--format", "dynamodb-json"])
            .exits(0);
        let items = ran.stdout.lines();
        let items = items.map(|line| serde_json::from_str(line).unwrap());
        assert_eq!(canonical(items), self.example.golden, "{}", self.product);
        sorted(ran.stdout.lines().map(str::to_owned).collect())
    }

    async fn load_local(&self) {
        let file = self.folder.path().join("table.ddb");
        let target = format!("local:{}", file.display());
        self.load(
            &["--target", &target],
            TargetSpec::Local {
                file: Some(file.clone()),
            },
        )
        .await;
        self.ask(&embedded::client(&file)).await;
    }

    async fn load_dynamodb_local(&self) {
        let endpoint = dynamodb_local::endpoint();
        let spec = TargetSpec::Dynamodb {
            endpoint_url: Some(endpoint.clone()),
            profile: None,
            region: None,
        };
        self.load(&["--target", "dynamodb", "--endpoint-url", &endpoint], spec)
            .await;
        self.ask(&dynamodb_local::client()).await;
        dynamodb_local::delete_table(&self.table).await;
    }

    /// Loads, verifies, and compares what the table holds.
    async fn load(&self, target: &[&str], spec: TargetSpec) {
        let json: Vec<&str> = target.iter().copied().chain(["--format", "json"]).collect();
        let report: Value = self.run("migrate", &json).exits(0).json();
        self.example.hold_books(&report);
        let report = self.run("verify", &json).exits(0).json();
        assert_eq!(report["outcome"]["state"], "equal", "{report:#}");
        let items = self.example.golden.lines().count();
        assert_eq!(report["total"]["equal"], items, "{report:#}");
        let target = connect(&spec).await.unwrap();
        let found = contents(target.as_ref(), &self.table).await;
        assert_eq!(found, self.example.golden, "{} {spec:?}", self.product);
    }

    async fn ask(&self, client: &aws_sdk_dynamodb::Client) {
        for case in &self.example.cases {
            case.hold(self.example, client, &self.table).await;
        }
    }
}

/// Every example.
fn all() -> impl Iterator<Item = Example> {
    let examples = EXAMPLES.iter();
    examples.map(|(name, migration, like)| Example::read(name, migration, like))
}

#[test]
fn every_access_pattern_is_asked_as_its_mapping_says() {
    for example in all() {
        let patterns: BTreeSet<&str> = example.patterns().map(|(name, _)| name).collect();
        let asked: BTreeSet<&str> = example.cases.iter().map(|c| c.pattern.as_str()).collect();
        assert_eq!(patterns, asked, "{}", example.name);
        for (name, pattern) in example.patterns() {
            let place = format!("{}: {name}", example.name);
            assert!(pattern.get("items").is_some(), "{place}: no items");
            for case in example.cases.iter().filter(|case| case.pattern == name) {
                let said = |key: &str| pattern.get(key).and_then(|node| node.text());
                assert_eq!(said("index"), case.index.as_deref(), "{place}");
                assert_eq!(said("order") != Some("desc"), case.forward, "{place}");
                let key = pattern.get("key").unwrap().entries().iter();
                let key: BTreeSet<&str> = key.map(|entry| entry.key.as_str()).collect();
                assert_eq!(key, case.names().into_iter().collect(), "{place}");
                if let Some(limit) = said("limit") {
                    assert_eq!(limit.parse().ok(), case.limit, "{place}");
                }
            }
        }
    }
}

#[test]
fn every_migration_is_there_for_every_database_and_belongs_to_an_example() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations");
    let named: BTreeSet<String> = EXAMPLES.iter().map(|e| e.1.to_owned()).collect();
    for product in ["sqlite", "postgres", "mysql"] {
        let files = std::fs::read_dir(root.join(product)).unwrap();
        let names = files.map(|file| {
            let name = file.unwrap().file_name().into_string().unwrap();
            let name = name.strip_suffix(".sql").unwrap();
            name.split_once('_').unwrap().1.to_owned()
        });
        assert_eq!(names.collect::<BTreeSet<_>>(), named, "{product}");
    }
}
