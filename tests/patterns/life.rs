//! Messages that have expired at the time of the load: each of the three things that can be done.

use super::bench::Bench;
use super::example::{Example, text};
use crate::support::contents::{canonical, sorted};

/// The messages that have expired.
fn expired() -> String {
    text("tests/patterns/messages.archive.ndjson")
}

/// The example, with another word for what becomes of expired rows.
fn example(word: &str, books: &[(&str, u64)]) -> Example {
    let mut example = Example::read("messages", "messages", "messages");
    let changed = example
        .mapping
        .replace("expired: archive", &format!("expired: {word}"));
    assert_eq!(changed == example.mapping, word == "archive");
    example.mapping = changed;
    let books = books.iter();
    example.books = books
        .map(|(name, count)| ((*name).to_owned(), *count))
        .collect();
    example
}

/// Loads the example from every database into the embedded engine.
async fn hold(example: &Example, archived: Option<&str>) {
    for source in example.sources().await {
        let bench = Bench::new(example, &source);
        bench.hold_embedded().await;
        let archive = std::fs::read_to_string(bench.path("mapping.archive.ndjson")).ok();
        let archive = archive.map(|text| {
            let items = text.lines();
            canonical(items.map(|line| serde_json::from_str(line).unwrap()))
        });
        assert_eq!(archive.as_deref(), archived, "{}", source.product());
        source.drop().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn expired_messages_go_to_a_file() {
    hold(&example("archive", &[("archived", 2)]), Some(&expired())).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn expired_messages_are_left_out_where_the_mapping_says_so() {
    hold(&example("skip", &[("expired", 2)]), None).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn expired_messages_are_loaded_where_the_mapping_says_so() {
    let mut example = example("load", &[]);
    let all = example.golden.lines().map(str::to_owned);
    example.golden = sorted(all.chain(expired().lines().map(str::to_owned)).collect());
    // The answers of the example are those without them.
    example.cases.clear();
    hold(&example, None).await;
}
