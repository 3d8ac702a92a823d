//! The worked examples: exact items and exact answers, from every database, in every engine.
//!
//! An example is data. `mappings/NAME.yaml` and `migrations/*/…_NAME.sql` are for users;
//! `tests/patterns/NAME.ndjson` holds the items that must come out, and `NAME.queries.yaml` what
//! the books must count, what `check` warns of, and what each access pattern must answer.

mod answers;
mod bench;
mod claims;
mod cookbook;
mod document;
mod example;
mod exports;
mod life;
mod proved;
mod query;
mod refused;
mod risks;
mod sides;

pub(crate) use proved::in_words_of;

use std::collections::BTreeSet;
use std::path::Path;

use bench::Bench;
use example::Example;

/// Makes one test of each example: its mapping, its migration, and the example whose items it makes.
macro_rules! examples {
    ($($test:ident: $name:literal, $migration:literal, $like:literal;)*) => {
        pub(crate) const EXAMPLES: &[(&str, &str, &str)] = &[$(($name, $migration, $like)),*];

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
    pattern_2_products_with_tracks_inside: "products-embedded", "products", "products-embedded";
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
    let mut warnings = BTreeSet::new();
    for source in example.sources().await {
        let bench = Bench::new(example, &source);
        warnings.extend(bench.warnings());
        bench.hold_proofs();
        let previewed = bench.hold_preview();
        let same = *first.get_or_insert_with(|| previewed.clone()) == previewed;
        assert!(
            same,
            "{}: other bytes than from the first",
            source.product()
        );
        bench.hold_embedded().await;
        bench.hold_answers(&bench.run_embedded("verify", &["--patterns"]));
        bench.hold_dynamodb_local().await;
        source.drop().await;
    }
    assert_eq!(warnings, example.warnings, "{}", example.name);
}

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
            for key in ["description", "items"] {
                assert!(pattern.get(key).is_some(), "{place}: no {key}");
            }
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
