//! Answers against those of the SQL that they replace: orders that a sort key has to keep, and
//! shards that have to be merged.

use std::fmt::Write as _;

use super::bench::Bench;
use super::example::Example;
use super::query::Case;

/// The SQL of an access pattern, with a value for its one parameter.
fn sql(example: &Example, case: &Case, parameter: &str, value: &str) -> String {
    let mut patterns = example.patterns();
    let (_, pattern) = patterns.find(|(name, _)| *name == case.pattern).unwrap();
    let sql = pattern.get("sql").unwrap().text().unwrap();
    assert_eq!(sql.matches(parameter).count(), 1, "{sql}");
    sql.replace(parameter, value)
}

/// The first column alone.
fn ids(sql: &str) -> String {
    let (columns, rest) = sql.split_once(" FROM ").unwrap();
    format!("{} FROM {rest}", columns.split(',').next().unwrap())
}

fn case<'e>(example: &'e Example, pattern: &str) -> &'e Case {
    let mut cases = example.cases.iter();
    cases.find(|case| case.pattern == pattern).unwrap()
}

/// Asks the embedded engine, and returns an attribute of each item.
async fn answer(bench: &Bench<'_>, case: &Case, attribute: &str) -> Vec<i32> {
    let found = case.ask(&bench.embedded(), &bench.table).await;
    let numbers = found
        .iter()
        .map(|item| item[attribute]["N"].as_str().unwrap());
    numbers.map(|number| number.parse().unwrap()).collect()
}

/// Many reviews of product 1, so that every level of the order has its ties. Their times differ.
fn many_reviews() -> String {
    let likes = [0, 1, 9, 10, 31, 99, 100, 200, 1_000_000, 99_999_999];
    let mut rows = String::new();
    for number in 0..240_usize {
        let body = ["NULL", "''", "'good'"][number % 3];
        let likes = likes[number * 7 % likes.len()];
        let (score, second, milli) = (number * 5 % 6, number % 60, number * 37 % 1000);
        let comma = if number == 0 { "" } else { "," };
        let minute = number / 60;
        write!(
            rows,
            "{comma} ({}, 1, {body}, {likes}, {score}, '2024-02-29T10:{minute:02}:{second:02}.{milli:03}')",
            1000 + number
        )
        .unwrap();
    }
    format!(
        "INSERT INTO reviews (id, product_id, body, like_count, score, created_at) VALUES {rows}"
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reviews_come_in_the_order_of_the_sql() {
    let example = Example::read("reviews", "reviews", "reviews");
    let case = case(&example, "listReviewsOfProduct");
    for source in example.sources().await {
        source.run(&many_reviews()).await;
        let bench = Bench::new(&example, &source);
        bench.run_embedded("migrate", &[]).exits(0);
        let expected = source
            .integers(&ids(&sql(&example, case, ":productId", "1")))
            .await;
        assert_eq!(expected.len(), 249);
        assert_eq!(
            answer(&bench, case, "id").await,
            expected,
            "{}",
            source.product()
        );
        source.drop().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn votes_of_twenty_shards_are_the_votes_of_the_sql() {
    let example = Example::read("votes", "votes", "votes");
    let case = case(&example, "listVotesOfCandidate");
    for source in example.sources().await {
        let bench = Bench::new(&example, &source);
        bench.run_embedded("migrate", &[]).exits(0);
        let sql = ids(&sql(&example, case, ":candidate", "'kim'"));
        let expected = source.integers(&sql).await;
        assert_eq!(expected.len(), 36);
        assert_eq!(
            answer(&bench, case, "voter_id").await,
            expected,
            "{}",
            source.product()
        );
        source.drop().await;
    }
}
