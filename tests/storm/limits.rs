//! Limits grant what they say, and refusals say why.

use std::time::{Duration, Instant};

use aws_sdk_dynamodb::types::{BillingMode, ThrottlingReason};
use aws_sdk_dynamodb::{Client, Error};

use super::{assert_requests_add_up, item, left, make_table, put_batch, start};

fn reasons(reasons: &[ThrottlingReason]) -> Vec<(&str, &str)> {
    let reasons = reasons.iter().map(|one| {
        let resource = one.resource().unwrap();
        let resource = resource.rsplit_once(":table/").unwrap().1;
        (one.reason().unwrap(), resource)
    });
    reasons.collect()
}

/// Puts single items until one is refused.
async fn put_until_refused(client: &Client, partition: &str, more: &[(&str, &str)]) -> Error {
    for number in 0..10_000 {
        let put = client.put_item().table_name("app");
        let put = put.set_item(Some(item(partition, number, more)));
        if let Err(error) = put.send().await {
            return error.into();
        }
    }
    panic!("nothing was refused");
}

#[tokio::test]
async fn a_table_grants_its_rate_over_time() {
    for store in ["engine", "map"] {
        // What a busy machine does not ask for in time is saved up.
        let limits = "{ table_wcu: 400, burst_seconds: 60 }";
        let (storm, client) = start(&format!("{{ store: {store}, limits: {limits} }}"));
        make_table(&client, BillingMode::Provisioned).await;
        let begun = Instant::now();
        let mut number = 0;
        while begun.elapsed() < Duration::from_secs(3) {
            let _ = put_batch(&client, "a", number..number + 25).await;
            number += 25;
        }
        let counts = storm.counts();
        // A second's units are there at the beginning.
        let granted = 400.0 + 400.0 * begun.elapsed().as_secs_f64();
        let share = counts.units.total / granted;
        assert!((0.98..=1.02).contains(&share), "{store}: {share}");
        assert_eq!(
            counts.items.put + counts.items.refused,
            u64::try_from(number).unwrap()
        );
        assert_eq!(
            counts.window.most_units.to_bits(),
            counts.units.total.to_bits()
        );
        assert_requests_add_up(&storm);
    }
}

#[tokio::test]
async fn what_does_not_fit_comes_back_and_an_error_says_why_when_nothing_does() {
    let (storm, client) = start("limits: { table_wcu: 30 }");
    make_table(&client, BillingMode::Provisioned).await;
    assert_eq!(left(&put_batch(&client, "a", 0..25).await.unwrap()), 0);
    let part = put_batch(&client, "a", 25..50).await.unwrap();
    assert!((15..=20).contains(&left(&part)), "{part:?}");
    let reported = part.consumed_capacity().first().unwrap().capacity_units();
    let taken = u32::try_from(25 - left(&part)).unwrap();
    assert_eq!(reported, Some(f64::from(taken)));
    let Error::ProvisionedThroughputExceededException(error) =
        put_until_refused(&client, "a", &[]).await
    else {
        panic!("another error");
    };
    assert_eq!(
        reasons(error.throttling_reasons()),
        [("TableWriteProvisionedThroughputExceeded", "app")]
    );
    let Err(Error::ProvisionedThroughputExceededException(error)) =
        put_batch(&client, "a", 50..75).await
    else {
        panic!("another answer");
    };
    assert_eq!(error.throttling_reasons().len(), 1);
    assert_requests_add_up(&storm);
}

#[tokio::test]
async fn on_demand_tables_have_an_exception_of_their_own() {
    let settings = "limits: { warm_up: { start_wcu: 20, doubling_seconds: 1800 } }";
    let (_storm, client) = start(settings);
    make_table(&client, BillingMode::PayPerRequest).await;
    let Error::ThrottlingException(error) = put_until_refused(&client, "a", &[]).await else {
        panic!("another error");
    };
    assert_eq!(
        reasons(error.throttling_reasons()),
        [("TableWriteKeyRangeThroughputExceeded", "app")]
    );
}

#[tokio::test]
async fn an_index_without_units_throttles_its_table() {
    let (storm, client) = start("limits: { indexes: { Keys: 10 } }");
    make_table(&client, BillingMode::Provisioned).await;
    let error = put_until_refused(&client, "a", &[("g", "1"), ("h", "1")]).await;
    let Error::ProvisionedThroughputExceededException(error) = error else {
        panic!("another error: {error:?}");
    };
    assert_eq!(
        reasons(error.throttling_reasons()),
        [("IndexWriteProvisionedThroughputExceeded", "app/index/Keys")]
    );
    // Items that are not in the index are not its concern.
    assert_eq!(left(&put_batch(&client, "b", 0..25).await.unwrap()), 0);
    let units = storm.counts().units;
    assert_eq!(
        units.indexes["app/Keys"].to_bits(),
        units.indexes["app/All"].to_bits()
    );
}

#[tokio::test]
async fn what_a_table_declares_can_be_enforced() {
    let (_storm, client) = start("limits: { declared: true }");
    make_table(&client, BillingMode::Provisioned).await;
    let error = put_until_refused(&client, "a", &[("h", "1")]).await;
    let Error::ProvisionedThroughputExceededException(error) = error else {
        panic!("another error: {error:?}");
    };
    // The table has 100 units a second, its index 50.
    assert_eq!(
        reasons(error.throttling_reasons())[0].0,
        "IndexWriteProvisionedThroughputExceeded"
    );
}

#[tokio::test]
async fn an_account_limits_a_table_with_all_its_indexes() {
    let (storm, client) = start("limits: { account_wcu: 30 }");
    make_table(&client, BillingMode::PayPerRequest).await;
    let error = put_until_refused(&client, "a", &[("g", "1"), ("h", "1"), ("l", "1")]).await;
    let Error::ThrottlingException(error) = error else {
        panic!("another error: {error:?}");
    };
    assert_eq!(
        reasons(error.throttling_reasons()),
        [("TableWriteAccountLimitExceeded", "app")]
    );
    let counts = storm.counts();
    let put = u32::try_from(counts.items.put).unwrap();
    assert_eq!(counts.units.total.to_bits(), f64::from(4 * put).to_bits());
}

#[tokio::test]
async fn a_hot_partition_refuses_and_others_take() {
    let (storm, client) = start("limits: { partition_wcu: 20 }");
    make_table(&client, BillingMode::PayPerRequest).await;
    let Error::ThrottlingException(error) = put_until_refused(&client, "hot", &[]).await else {
        panic!("another error");
    };
    assert_eq!(
        reasons(error.throttling_reasons()),
        [("TableWriteKeyRangeThroughputExceeded", "app")]
    );
    assert_eq!(left(&put_batch(&client, "cold", 0..20).await.unwrap()), 0);
    let table = &storm.counts().tables["app"];
    assert_eq!(table.partitions, 2);
    let of = |name: &str| {
        let mut all = table.busiest.iter();
        all.find(|part| part.partition == *name).unwrap()
    };
    assert_eq!((of("cold").accepted, of("cold").refused), (20.0, 0.0));
    assert!(of("hot").accepted >= 20.0 && of("hot").refused >= 1.0);
}

#[tokio::test]
async fn partitions_split_where_they_stay_hot() {
    let settings = "limits: { partition_wcu: 100, partitions: 1, split_after_seconds: 0.5 }";
    let (storm, client) = start(settings);
    make_table(&client, BillingMode::PayPerRequest).await;
    let begun = Instant::now();
    let mut number = 0;
    while begun.elapsed() < Duration::from_millis(1_500) {
        for partition in ["a", "b", "c", "d", "e", "f", "g", "h"] {
            let _ = put_batch(&client, partition, number..number + 25).await;
        }
        number += 25;
    }
    let counts = storm.counts();
    let table = &counts.tables["app"];
    assert!(table.splits >= 1, "{table:?}");
    assert_eq!(table.partitions, table.splits + 1);
    // Without a split: 100 at first, and 150 meanwhile.
    assert!(counts.units.total > 270.0, "{:?}", counts.units);
}
