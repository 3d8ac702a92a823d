//! Faults strike as they are told to, and what they did is counted.

use aws_sdk_dynamodb::error::ProvideErrorMetadata as _;
use aws_sdk_dynamodb::types::BillingMode;
use aws_sdk_dynamodb::{Client, Error};

use crate::support::wait::{PATIENCE, comes_to};

use super::{assert_requests_add_up, client, item, left, make_table, put_batch, start};

async fn make(settings: &str) -> (super::Storm, Client) {
    let (storm, client) = start(settings);
    make_table(&client, BillingMode::PayPerRequest).await;
    (storm, client)
}

/// The code of the error that a batch of one is answered with; none where there is no error, and
/// nothing where there is no answer.
async fn code(client: &Client) -> Option<String> {
    match put_batch(client, "a", [1]).await {
        Ok(_) => Some("none".to_owned()),
        Err(error) => error.code().map(str::to_owned),
    }
}

#[tokio::test]
async fn a_lost_answer_is_done_once() {
    for store in ["engine", "map"] {
        let settings = "faults: [{ do: lost-answer, operations: [BatchWriteItem], every: 2 }]";
        let (storm, client) = make(&format!("store: {store}\n{settings}")).await;
        for number in 0..10 {
            let answer = put_batch(&client, "a", number * 25..number * 25 + 25).await;
            assert_eq!(answer.is_err(), number % 2 == 1, "{store}: {answer:?}");
        }
        let counts = storm.counts();
        assert_eq!(counts.items.put, 250);
        assert_eq!((counts.items.replaced, counts.items.untold), (0, 125));
        assert_eq!(counts.faults["lost-answer"], 5);
        assert_eq!(counts.requests["BatchWriteItem"].unanswered, 5);
        let all = client.scan().table_name("app").send().await.unwrap();
        assert_eq!(all.count(), 250);
        assert_requests_add_up(&storm);
    }
}

#[tokio::test]
async fn what_is_reset_before_is_not_done() {
    for kind in ["reset", "hang-up", "garbage"] {
        let (storm, client) = make(&format!(
            "faults: [{{ do: {kind}, operations: [BatchWriteItem], most: 3 }}]"
        ))
        .await;
        for _ in 0..3 {
            assert_eq!(code(&client).await, None, "{kind}");
        }
        assert_eq!(code(&client).await.as_deref(), Some("none"));
        let counts = storm.counts();
        assert_eq!((counts.items.put, counts.items.untold), (1, 0), "{kind}");
        assert_requests_add_up(&storm);
    }
}

#[tokio::test]
async fn half_an_answer_is_none() {
    let (storm, client) = make("faults: [{ do: half, operations: [BatchWriteItem] }]").await;
    assert_eq!(code(&client).await, None);
    assert_eq!(storm.counts().items.untold, 1);
}

#[tokio::test]
async fn errors_have_their_codes() {
    for (fault, wanted) in [
        ("do: error", "InternalServerError"),
        ("do: unavailable", "ServiceUnavailable"),
        ("do: throttle", "ThrottlingException"),
        ("do: request-limit", "RequestLimitExceeded"),
        ("do: not-found", "ResourceNotFoundException"),
        ("do: access-denied", "AccessDeniedException"),
        (
            "do: error, code: KMSDisabledException, status: 400",
            "KMSDisabledException",
        ),
    ] {
        let (storm, client) = make(&format!(
            "faults: [{{ {fault}, operations: [BatchWriteItem], after: 1 }}]"
        ))
        .await;
        assert_eq!(code(&client).await.as_deref(), Some("none"));
        assert_eq!(code(&client).await.as_deref(), Some(wanted));
        assert_eq!(storm.counts().requests["BatchWriteItem"].errors[wanted], 1);
    }
}

#[tokio::test]
async fn an_error_may_come_after_the_deed() {
    let (storm, client) =
        make("faults: [{ do: error, applied: true, operations: [BatchWriteItem] }]").await;
    assert_eq!(code(&client).await.as_deref(), Some("InternalServerError"));
    let items = storm.counts().items;
    assert_eq!((items.put, items.untold), (1, 1));
}

#[tokio::test]
async fn stalls_and_slow_answers_take_their_time() {
    let faults = "[{ do: stall, seconds: 0.3, operations: [BatchWriteItem], until: 1 }, \
                  { do: slow, seconds: 0.3, operations: [BatchWriteItem] }]";
    let (storm, client) = make(&format!("faults: {faults}")).await;
    for (answered, put) in [(false, 0), (true, 1)] {
        let begun = std::time::Instant::now();
        assert_eq!(put_batch(&client, "a", [1]).await.is_ok(), answered);
        let took = begun.elapsed().as_secs_f64();
        assert!((0.29..2.0).contains(&took), "{took}");
        assert_eq!(storm.counts().items.put, put);
    }
}

#[tokio::test]
async fn a_share_of_a_batch_is_left_for_no_reason() {
    let settings = "faults: [{ do: leave, share: 0.4, operations: [BatchWriteItem] }]";
    let (storm, client) = make(settings).await;
    let mut all = 0;
    for number in 0..20 {
        all += left(
            &put_batch(&client, "a", number * 25..number * 25 + 25)
                .await
                .unwrap(),
        );
    }
    assert!((150..250).contains(&all), "{all}");
    let items = storm.counts().items;
    assert_eq!(items.left, u64::try_from(all).unwrap());
    assert_eq!(items.put + items.left, 500);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn counts_add_up_under_many_connections() {
    for store in ["engine", "map"] {
        let faults = "[{ do: reset, chance: 0.1, operations: [BatchWriteItem] }, \
                      { do: lost-answer, chance: 0.1, operations: [BatchWriteItem] }, \
                      { do: leave, chance: 0.2, operations: [BatchWriteItem] }]";
        let limits = "{ table_wcu: 1000, partition_wcu: 400, partitions: 4 }";
        let settings = format!("{{ store: {store}, limits: {limits}, faults: {faults} }}");
        let (storm, client) = make(&settings).await;
        let tasks = (0..8).map(|task| {
            let client = client.clone();
            tokio::spawn(async move {
                for number in 0..20 {
                    let partition = format!("{task} {number}");
                    let _ = put_batch(&client, &partition, 0..25).await;
                }
            })
        });
        futures_util::future::join_all(tasks).await;
        assert_requests_add_up(&storm);
        let counts = storm.counts();
        assert_eq!(counts.requests["BatchWriteItem"].received, 160);
        let items = &counts.items;
        let never = 25 * counts.faults["reset"];
        assert_eq!(
            items.put + items.refused + items.left + never,
            160 * 25,
            "{store}: {items:?}"
        );
        assert_eq!((items.replaced, items.put), (0, counts.tables["app"].items));
        let parts = counts.tables["app"].busiest.iter();
        let by_part: f64 = parts.map(|part| part.accepted).sum();
        let by_second: f64 = counts.units.each_second.iter().sum();
        for units in [by_part, by_second, counts.units.tables] {
            assert_eq!(units.to_bits(), counts.units.total.to_bits(), "{store}");
        }
    }
}

#[tokio::test]
async fn the_same_seed_strikes_the_same_requests() {
    let mut seen = Vec::new();
    for seed in [1, 1, 2] {
        let settings = "faults: [{ do: error, chance: 0.5, operations: [BatchWriteItem] }]";
        let (_storm, client) = make(&format!("seed: {seed}\n{settings}")).await;
        let mut struck = Vec::new();
        for _ in 0..40 {
            struck.push(code(&client).await);
        }
        seen.push(struck);
    }
    assert_eq!(seen[0], seen[1]);
    assert_ne!(seen[0], seen[2]);
}

#[tokio::test]
async fn credentials_expire_until_new_ones_come() {
    let (storm, old) = make("credentials_seconds: 0.5").await;
    assert_eq!(code(&old).await.as_deref(), Some("none"));
    let expire = async || code(&old).await.as_deref() == Some("ExpiredTokenException");
    assert!(comes_to(PATIENCE, expire).await);
    assert_eq!(code(&client(&storm, "new")).await.as_deref(), Some("none"));
    assert_eq!(code(&old).await.as_deref(), Some("ExpiredTokenException"));
    assert_requests_add_up(&storm);
}

#[tokio::test]
async fn a_clock_that_is_wrong_refuses_signatures() {
    for (skew, words) in [
        (-600, "Signature not yet current"),
        (600, "Signature expired"),
    ] {
        let (_storm, client) = start(&format!("clock_skew_seconds: {skew}"));
        let error = client.list_tables().send().await.unwrap_err();
        assert_eq!(error.code(), Some("InvalidSignatureException"));
        assert!(error.message().unwrap().starts_with(words), "{error:?}");
        let date = error.raw_response().unwrap().headers().get("date").unwrap();
        let date = jiff::fmt::rfc2822::parse(&date.replace("GMT", "+0000")).unwrap();
        let ahead = date.timestamp().duration_since(jiff::Timestamp::now());
        assert!((ahead.as_secs() - skew).abs() < 5, "{ahead:?}");
    }
}

#[tokio::test]
async fn tables_and_indexes_vanish() {
    let (storm, client) = make(
        "events: [{ after: 2, delete_table: app, index: Keys }, { after: 4, delete_table: app }]",
    )
    .await;
    for wanted in ["none", "none"] {
        assert_eq!(code(&client).await.as_deref(), Some(wanted));
    }
    let reported = client
        .describe_table()
        .table_name("app")
        .send()
        .await
        .unwrap();
    let indexes = reported.table().unwrap().global_secondary_indexes();
    let active: Vec<&str> = indexes
        .iter()
        .filter_map(|index| index.index_name())
        .collect();
    assert_eq!(active, ["All"]);
    assert_eq!(
        code(&client).await.as_deref(),
        Some("ResourceNotFoundException")
    );
    assert!(storm.counts().tables.is_empty());
}

#[tokio::test]
async fn invalid_batches_are_refused_as_a_whole_before_any_limit() {
    for store in ["engine", "map"] {
        let (storm, client) =
            make(&format!("{{ store: {store}, limits: {{ table_wcu: 1 }} }}")).await;
        let twice = put_batch(&client, "a", [1, 1]).await.unwrap_err();
        assert_eq!(twice.code(), Some("ValidationException"));
        let many = put_batch(&client, "a", 0..26).await.unwrap_err();
        assert_eq!(many.code(), Some("ValidationException"));
        let put = client.put_item().table_name("app");
        let put = put.set_item(Some(item("a", 1, &[("g", "")])));
        let error: Error = put.send().await.unwrap_err().into();
        assert_eq!(error.code(), Some("ValidationException"));
        assert_eq!(storm.counts().items.put, 0);
    }
}
