//! The SDK path against a scripted endpoint: what is sent, and what each answer is taken for.

use std::error::Error as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use dynafold::dynamodb::Item;
use dynafold::target::{ErrorClass, Target, TargetError, TargetErrorKind, TargetSpec, connect};
use serde_json::{Value, json};

use super::sample::{batch, delete, full, item, number, table, text};
use crate::support::endpoint::{Endpoint, Step};

pub(super) async fn at(url: &str) -> Arc<dyn Target> {
    let spec = TargetSpec::parse("dynamodb", Some(url), None, None).unwrap();
    connect(&spec).await.unwrap()
}

fn done() -> Step {
    Step::Answer(200, json!({"UnprocessedItems": {}}).to_string())
}

fn items() -> Vec<Item> {
    (0..25).map(full).collect()
}

/// What one batch comes to at an endpoint that answers like this; it is asked exactly once.
async fn failed(step: Step) -> TargetError {
    let endpoint = Endpoint::start([step]).await;
    let target = at(&endpoint.url).await;
    let error = target
        .write(&table(true), &batch(&items()))
        .await
        .unwrap_err();
    assert_eq!(endpoint.requests().len(), 1, "nothing below us may retry");
    error
}

#[tokio::test]
async fn a_batch_is_one_request_with_all_its_items() {
    let answer = json!({
        "UnprocessedItems": {},
        "ConsumedCapacity": [{"TableName": "t", "CapacityUnits": 62.5}],
    });
    let endpoint = Endpoint::start([Step::Answer(200, answer.to_string())]).await;
    let target = at(&endpoint.url).await;
    let (table, batch) = (table(true), batch(&items()));
    let written = target.write(&table, &batch).await.unwrap();
    assert_eq!(written.consumed.map(|all| all.total), Some(62.5));
    assert_eq!(written.unprocessed, Vec::<usize>::new());

    let requests = endpoint.requests();
    let request = &requests[0];
    assert_eq!(request.operation(), "BatchWriteItem");
    let length = request.body.len().to_string();
    assert_eq!(request.header("content-length"), Some(length.as_str()));
    let body: Value = serde_json::from_str(&request.body).unwrap();
    assert_eq!(body["ReturnConsumedCapacity"], "INDEXES");
    let tables = body["RequestItems"].as_object().unwrap();
    assert_eq!(tables.len(), 1);
    let puts = tables[&table.name].as_array().unwrap();
    assert_eq!(puts.len(), 25);
    for (index, put) in puts.iter().enumerate() {
        let item: Value = serde_json::from_str(batch.json(index)).unwrap();
        assert_eq!(put, &json!({"PutRequest": {"Item": item}}));
    }
    assert_eq!(target.place(), endpoint.url);
    assert!(!target.is_billed());
}

#[tokio::test]
async fn unprocessed_items_are_found_again_by_their_keys() {
    let sent: Vec<Item> = (0..4)
        .map(|n| {
            item([
                ("PK", text(&format!("\u{1F980}\"{n}"))),
                ("SK", text("same")),
                ("n", number("1")),
            ])
        })
        .collect();
    let table = table(true);
    let back = |n: u32| {
        json!({"PutRequest": {"Item": {
            "n": {"N": "1"}, "SK": {"S": "same"}, "PK": {"S": format!("\u{1F980}\"{n}")},
        }}})
    };
    let gone = item([("PK", text("gone")), ("SK", text("same"))]);
    let deleted = json!({"DeleteRequest": {"Key": {"SK": {"S": "same"}, "PK": {"S": "gone"}}}});
    let answer = json!({"UnprocessedItems": {&table.name: [back(3), deleted, back(1)]}});
    let stranger = json!({"UnprocessedItems": {&table.name: [back(3), back(7)]}});
    let endpoint = Endpoint::start([
        Step::Answer(200, answer.to_string()),
        Step::Answer(200, stranger.to_string()),
    ])
    .await;
    let target = at(&endpoint.url).await;
    let mut mixed = batch(&sent);
    delete(&mut mixed, &gone);
    let written = target.write(&table, &mixed).await.unwrap();
    assert_eq!(written.unprocessed, [1, 3, 4]);
    let error = target.write(&table, &batch(&sent)).await.unwrap_err();
    assert_eq!(error.class, ErrorClass::Transient);
    assert_eq!(error.code, "UnprocessedItems");
}

#[tokio::test]
async fn errors_of_the_service_have_their_class() {
    for (status, code, class) in [
        (
            400,
            "ProvisionedThroughputExceededException",
            ErrorClass::Throttle,
        ),
        (400, "ThrottlingException", ErrorClass::Throttle),
        (400, "RequestLimitExceeded", ErrorClass::Throttle),
        (500, "InternalServerError", ErrorClass::Transient),
        (503, "ServiceUnavailable", ErrorClass::Transient),
        (400, "ValidationException", ErrorClass::Invalid),
        (400, "AccessDeniedException", ErrorClass::Fatal),
        (400, "ExpiredTokenException", ErrorClass::Fatal),
        (400, "UnrecognizedClientException", ErrorClass::Fatal),
        (400, "InvalidSignatureException", ErrorClass::Fatal),
        (400, "ResourceNotFoundException", ErrorClass::Fatal),
    ] {
        let error = failed(Step::Error(status, code, "said so")).await;
        assert_eq!((error.class, error.code.as_str()), (class, code));
    }
}

#[tokio::test]
async fn help_comes_with_what_the_user_can_mend() {
    let denied = failed(Step::Error(400, "AccessDeniedException", "not authorized")).await;
    assert_eq!(denied.kind, TargetErrorKind::AccessDenied);
    assert_eq!(denied.source().unwrap().to_string(), "not authorized");
    assert!(denied.help.unwrap().contains("dynamodb:BatchWriteItem"));
    let expired = failed(Step::Error(400, "ExpiredTokenException", "token AQoGEHEIM")).await;
    assert!(expired.source().is_none());
    assert!(expired.help.unwrap().contains("aws sso login"));
    assert!(!expired.message.contains("GEHEIM"));
    let gone = failed(Step::Error(400, "ResourceNotFoundException", "not found")).await;
    assert!(gone.help.unwrap().contains("deleted"));
}

#[tokio::test]
async fn the_reason_of_throttling_is_told() {
    let body = json!({
        "__type": "com.amazonaws.dynamodb.v20120810#ThrottlingException",
        "message": "Throughput exceeds the current capacity of your table or index.",
        "ThrottlingReasons": [{
            "reason": "TableWriteMaxOnDemandThroughputExceeded",
            "resource": "arn:aws:dynamodb:eu-west-1:1:table/app",
        }],
    });
    let error = failed(Step::Answer(400, body.to_string())).await;
    assert_eq!(error.class, ErrorClass::Throttle);
    let [throttle] = error.throttles.as_slice() else {
        panic!("{error:?}")
    };
    assert_eq!(throttle.reason, "TableWriteMaxOnDemandThroughputExceeded");
    assert_eq!(throttle.resource, "arn:aws:dynamodb:eu-west-1:1:table/app");
    assert!(
        error.message.ends_with(
            "; TableWriteMaxOnDemandThroughputExceeded (arn:aws:dynamodb:eu-west-1:1:table/app)"
        ),
        "{error}"
    );
}

#[tokio::test]
async fn an_entry_alone_is_a_put_or_a_delete_and_its_throttling_has_reasons() {
    let body = json!({
        "__type": "com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException",
        "message": "slow down",
        "ThrottlingReasons": [{"reason": "TableWriteKeyRangeThroughputExceeded"}],
    });
    let endpoint = Endpoint::start([
        Step::Answer(400, body.to_string()),
        Step::Answer(
            200,
            json!({"ConsumedCapacity": {"TableName": "app", "CapacityUnits": 3.0}}).to_string(),
        ),
        Step::Answer(200, "{}".to_owned()),
        Step::Answer(200, "<html>".to_owned()),
    ])
    .await;
    let target = at(&endpoint.url).await;
    let (table, mut two) = (table(true), batch(&[full(1)]));
    delete(&mut two, &full(2));
    let error = target.write_one(&table, &two, 0).await.unwrap_err();
    assert_eq!(error.class, ErrorClass::Throttle);
    assert_eq!(
        error.throttles[0].reason,
        "TableWriteKeyRangeThroughputExceeded"
    );
    let written = target.write_one(&table, &two, 0).await.unwrap();
    assert_eq!(written.consumed.map(|all| all.total), Some(3.0));
    target.write_one(&table, &two, 1).await.unwrap();
    let garbled = target.write_one(&table, &two, 0).await.unwrap_err();
    assert_eq!(garbled.class, ErrorClass::Transient);
    let requests = endpoint.requests();
    assert_eq!(requests[1].operation(), "PutItem");
    let body: Value = serde_json::from_str(&requests[1].body).unwrap();
    let sent: Value = serde_json::from_str(two.json(0)).unwrap();
    let with = |member: &str, sent: Value| json!({"TableName": table.name, member: sent, "ReturnConsumedCapacity": "INDEXES"});
    assert_eq!(body, with("Item", sent));
    assert_eq!(requests[2].operation(), "DeleteItem");
    let body: Value = serde_json::from_str(&requests[2].body).unwrap();
    let sent: Value = serde_json::from_str(two.json(1)).unwrap();
    assert_eq!(body, with("Key", sent));
}

#[tokio::test]
async fn a_broken_connection_or_answer_is_transient() {
    for step in [
        Step::Hangup,
        Step::Reset,
        Step::CutOff,
        Step::Answer(200, "<html>".to_owned()),
        Step::Answer(200, "{}".to_owned()),
        Step::Answer(200, String::new()),
        Step::Answer(502, "<html>bad gateway</html>".to_owned()),
    ] {
        let error = failed(step.clone()).await;
        assert_eq!(error.class, ErrorClass::Transient, "{step:?} {error:?}");
        assert_eq!(error.code, "Connection", "{step:?}");
    }
    let error = failed(Step::Answer(404, "<html>".to_owned())).await;
    assert_eq!(error.class, ErrorClass::Fatal);
    assert!(error.message.contains("HTTP status 404"), "{error}");
}

#[tokio::test]
async fn an_answer_is_given_up_that_does_not_begin_in_30_seconds_or_end_in_60() {
    for (step, seconds) in [(Step::Stall, 29..=31), (Step::Trickle, 59..=61)] {
        let endpoint = Endpoint::start([done(), step.clone()]).await;
        let target = at(&endpoint.url).await;
        let (table, batch) = (table(true), batch(&items()));
        target.write(&table, &batch).await.unwrap();
        // The connection is there; from here on only the clock can end the wait.
        tokio::time::pause();
        let begun = tokio::time::Instant::now();
        let error = target.write(&table, &batch).await.unwrap_err();
        assert_eq!(error.class, ErrorClass::Transient, "{step:?}");
        assert_eq!(error.code, "Connection", "{step:?}");
        assert!(error.message.contains("did not answer in time"), "{error}");
        let waited = begun.elapsed().as_secs();
        assert!(seconds.contains(&waited), "{step:?}: {waited}");
        tokio::time::resume();
    }
}

#[tokio::test]
async fn an_endpoint_that_is_down_is_named_at_once() {
    let url = Endpoint::start([done()]).await.url.clone();
    let target = at(&url).await;
    let begun = Instant::now();
    let error = target.describe("app").await.unwrap_err();
    assert_eq!(error.code, "Connection");
    assert!(error.message.contains(&url), "{error}");
    assert_eq!(error.kind, TargetErrorKind::Connection);
    let cause = error.source().unwrap().downcast_ref::<std::io::Error>();
    assert_eq!(cause.unwrap().kind(), std::io::ErrorKind::ConnectionRefused);
    assert!(begun.elapsed() < Duration::from_secs(10));
}

#[tokio::test]
async fn reading_goes_on_through_throttling_and_unprocessed_keys() {
    let table = table(true);
    let key = |n: u32| json!({"PK": {"S": format!("P{n}")}, "SK": {"S": "x"}});
    let answer = |found: Value, left: Value| {
        Step::Answer(
            200,
            json!({"Responses": {&table.name: found}, "UnprocessedKeys": left}).to_string(),
        )
    };
    let endpoint = Endpoint::start([
        Step::Error(400, "ProvisionedThroughputExceededException", ""),
        answer(json!([key(1)]), json!({&table.name: {"Keys": [key(2)]}})),
        Step::Hangup,
        answer(json!([key(2)]), json!({})),
    ])
    .await;
    let target = at(&endpoint.url).await;
    let keys = [1, 2].map(|n| (text(&format!("P{n}")), Some(text("x"))));
    let found = target.read(&table, &keys, true).await.unwrap();
    assert_eq!(found.items.len(), 2);
    let requests = endpoint.requests();
    assert_eq!(requests.len(), 4);
    let first: Value = serde_json::from_str(&requests[0].body).unwrap();
    let asked = &first["RequestItems"][&table.name];
    assert_eq!(asked["ConsistentRead"], true);
    assert_eq!(asked["Keys"].as_array().unwrap().len(), 2);
    let last: Value = serde_json::from_str(&requests[3].body).unwrap();
    assert_eq!(last["RequestItems"][&table.name]["Keys"], json!([key(2)]));
}
