//! Rows that would break a key are rejected, never bent to fit; all others are loaded.

use serde_json::{Value, json};

use crate::support::books::claimed;
use crate::support::contents::sorted;

use super::bench::Bench;
use super::example::Example;

/// Adds rows to an example, and expects them to be rejected under these codes; `also` are further
/// items of those rows that are none of it.
async fn rejects(name: &'static str, rows: &str, codes: Value, also: &[&str]) {
    let example = Example::read(name, name, name);
    let golden = example.golden.lines().chain(also.iter().copied());
    let golden = sorted(golden.map(str::to_owned).collect());
    for source in example.sources().await {
        source.run(rows).await;
        let bench = Bench::new(&example, &source);
        let report = bench
            .run_embedded("migrate", &["--max-rejects", "10"])
            .exits(3)
            .json();
        assert_eq!(claimed(&report, "books_balance"), "proved", "{report:#}");
        assert_eq!(
            report["total"]["rejects_by_code"],
            codes,
            "{}",
            source.product()
        );
        assert_eq!(bench.contents().await, golden, "{}", source.product());
        source.drop().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_like_count_of_nine_digits_or_below_zero_is_rejected() {
    rejects(
        "reviews",
        "INSERT INTO reviews (id, product_id, body, like_count, score, created_at) VALUES
            (11, 1, 'popular', 123456789, 5, '2026-01-01T00:00:00.000'),
            (12, 1, 'exactly too many', 100000000, 5, '2026-01-01T00:00:00.000'),
            (13, 1, 'disliked', -1, 5, '2026-01-01T00:00:00.000'),
            (14, 1, 'overrated', 1, 100, '2026-01-01T00:00:00.000'),
            (15, 1, 'before 1970', 1, 5, '1969-12-31T23:59:59.999')",
        json!({ "pad-overflow": 3, "pad-negative": 2 }),
        &[],
    )
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_state_that_the_mapping_does_not_know_is_rejected() {
    rejects(
        "cart",
        "INSERT INTO cart_items (user_id, state, sku, quantity) VALUES (1, 'paid', 'TEA-31', 1)",
        json!({ "unmapped": 1 }),
        &[],
    )
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_id_of_nine_digits_is_rejected() {
    rejects(
        "places",
        "INSERT INTO places (id, category, country, name) VALUES (100000000, 'museum', 'KR', 'x')",
        json!({ "pad-overflow": 1 }),
        &[],
    )
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_line_with_the_number_of_another_is_rejected() {
    rejects(
        "orders",
        r#"INSERT INTO orders (id, customer_id, doc) VALUES
            (1000, 7, '{"lines": [{"no": 1, "sku": "first"}, {"no": 1, "sku": "second"}]}')"#,
        json!({ "duplicate-key": 1 }),
        &[
            r#"{"PK":{"S":"ORDER#1000"},"SK":{"S":"CUSTOMER#"},"id":{"N":"1000"}}"#,
            r#"{"PK":{"S":"ORDER#1000"},"SK":{"S":"LINE#001"},"no":{"N":"1"},"order_id":{"N":"1000"},"sku":{"S":"first"}}"#,
            r#"{"PK":{"S":"ORDER#1000"},"SK":{"S":"ORDER#"},"customer_id":{"N":"7"},"id":{"N":"1000"}}"#,
        ],
    )
    .await;
}
