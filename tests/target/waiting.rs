//! What the description of a table says: that it is ACTIVE, and its TTL.

use dynafold::load::ensure_table;
use dynafold::target::TargetErrorKind;
use serde_json::{Value, json};

use super::dynamodb::at;
use super::sample::table;
use crate::support::endpoint::{Endpoint, Request, Step};

fn described(status: &str, index_status: &str) -> Step {
    let body = json!({"Table": {
        "TableName": "app",
        "TableStatus": status,
        "KeySchema": [{"AttributeName": "PK", "KeyType": "HASH"}],
        "AttributeDefinitions": [
            {"AttributeName": "PK", "AttributeType": "S"},
            {"AttributeName": "G", "AttributeType": "S"},
        ],
        "GlobalSecondaryIndexes": [{
            "IndexName": "GSI1",
            "IndexStatus": index_status,
            "KeySchema": [{"AttributeName": "G", "KeyType": "HASH"}],
            "Projection": {"ProjectionType": "ALL"},
        }],
        "BillingModeSummary": {"BillingMode": "PAY_PER_REQUEST"},
    }});
    Step::Answer(200, body.to_string())
}

#[tokio::test]
async fn a_table_is_waited_for_until_its_indexes_are_active() {
    let endpoint = Endpoint::start([
        Step::Answer(200, json!({"TableDescription": {}}).to_string()),
        Step::Error(400, "ResourceNotFoundException", "not yet"),
        described("CREATING", "CREATING"),
        described("ACTIVE", "CREATING"),
        described("ACTIVE", "ACTIVE"),
        Step::Answer(
            200,
            json!({"TimeToLiveDescription": {"TimeToLiveStatus": "DISABLED"}}).to_string(),
        ),
        Step::Answer(200, json!({}).to_string()),
    ])
    .await;
    at(&endpoint.url).await.create(&table(true)).await.unwrap();
    let requests = endpoint.requests();
    let operations: Vec<&str> = requests.iter().map(Request::operation).collect();
    assert_eq!(
        operations,
        [
            "CreateTable",
            "DescribeTable",
            "DescribeTable",
            "DescribeTable",
            "DescribeTable",
            "DescribeTimeToLive",
            "UpdateTimeToLive",
        ]
    );
    let create: Value = serde_json::from_str(&requests[0].body).unwrap();
    assert_eq!(create["BillingMode"], "PAY_PER_REQUEST");
    assert!(!requests[0].body.contains("ProvisionedThroughput"));
    let defined: Vec<&str> = create["AttributeDefinitions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|definition| definition["AttributeName"].as_str().unwrap())
        .collect();
    assert_eq!(
        defined,
        ["PK", "SK", "GSI1PK", "GSI2PK", "status", "placed", "total"]
    );
}

/// The description of a table with this id.
fn described_with_id(member: &str, id: &str, status: &str) -> Step {
    let body = json!({member: {"TableName": "app", "TableId": id, "TableStatus": status}});
    Step::Answer(200, body.to_string())
}

#[tokio::test]
async fn a_table_whose_deletion_was_not_agreed_to_is_not_deleted() {
    let gone = || Step::Error(400, "ResourceNotFoundException", "gone");
    let (same, other) = (
        described_with_id("Table", "old", "ACTIVE"),
        described_with_id("Table", "new", "ACTIVE"),
    );
    let deleted = |id: &str| described_with_id("TableDescription", id, "DELETING");
    let again = "was created again since its deletion was agreed to";
    for (steps, expected) in [
        (vec![same.clone(), deleted("old"), gone()], Ok(true)),
        (vec![gone()], Ok(false)),
        (vec![other], Err((again, "nothing was deleted"))),
        // It is created again between the look and the deletion.
        (
            vec![same, deleted("new")],
            Err(("this run has deleted the new one", "nothing was loaded")),
        ),
    ] {
        let (endpoint, looks) = (Endpoint::start(steps.clone()).await, steps.len());
        let target = at(&endpoint.url).await;
        match (target.delete_table("app", Some("old")).await, expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found, expected),
            (Err(error), Err((message, help))) => {
                assert!(error.message.contains(message), "{error}");
                assert!(error.help.unwrap().contains(help));
            }
            (found, expected) => panic!("{found:?} is not {expected:?}"),
        }
        assert_eq!(endpoint.requests().len(), looks);
    }
}

#[tokio::test]
async fn a_table_that_somebody_creates_behind_its_deletion_is_not_waited_for() {
    let busy = || Step::Error(400, "ResourceInUseException", "not now");
    for steps in [
        vec![
            described_with_id("TableDescription", "old", "DELETING"),
            described_with_id("Table", "old", "DELETING"),
            described_with_id("Table", "new", "CREATING"),
        ],
        // Its deletion goes on already: a second request could delete the new table.
        vec![
            busy(),
            described_with_id("Table", "old", "DELETING"),
            described_with_id("Table", "new", "CREATING"),
        ],
        // The second request has deleted the new one.
        vec![
            busy(),
            described_with_id("Table", "old", "UPDATING"),
            described_with_id("TableDescription", "new", "DELETING"),
        ],
    ] {
        let (endpoint, looks) = (Endpoint::start(steps.clone()).await, steps.len());
        let target = at(&endpoint.url).await;
        let error = target.delete_table("app", None).await.unwrap_err();
        assert_eq!(error.kind, TargetErrorKind::TableInUse);
        assert!(
            error.message.contains("somebody created it again"),
            "{error}"
        );
        assert!(error.help.unwrap().contains("nothing was loaded"));
        assert_eq!(endpoint.requests().len(), looks);
    }
}

#[tokio::test]
async fn a_ttl_that_may_not_be_read_is_unknown() {
    let endpoint = Endpoint::start([
        described("ACTIVE", "ACTIVE"),
        Step::Error(400, "AccessDeniedException", "no"),
    ])
    .await;
    let found = at(&endpoint.url)
        .await
        .describe("app")
        .await
        .unwrap()
        .unwrap();
    assert!(!found.ttl_known);
    assert_eq!(found.table.ttl, None);
}

/// DynamoDB may not find a table whose status is not ACTIVE.
#[tokio::test]
async fn a_table_that_is_being_deleted_is_described_without_its_ttl() {
    let endpoint = Endpoint::start([
        described("DELETING", "ACTIVE"),
        Step::Error(400, "ResourceNotFoundException", "not found"),
    ])
    .await;
    let found = at(&endpoint.url).await.describe("app").await;
    let found = found.unwrap().unwrap();
    assert_eq!(found.status, "DELETING");
    assert!(!found.ttl_known);
}

#[tokio::test]
async fn an_index_that_is_being_filled_is_waited_for_where_the_mapping_has_it() {
    for (index, described) in [("GSI1", 2), ("OTHER", 1)] {
        let ttl = json!({"TimeToLiveDescription": {"TimeToLiveStatus": "DISABLED"}});
        let ttl = || Step::Answer(200, ttl.to_string());
        let endpoint = Endpoint::start([
            self::described("UPDATING", "CREATING"),
            ttl(),
            self::described("ACTIVE", "ACTIVE"),
            ttl(),
        ])
        .await;
        let mut wanted = table(true);
        wanted.sort = None;
        wanted.local_indexes.clear();
        wanted.indexes.truncate(1);
        wanted.indexes[0].name = index.to_owned();
        // Whatever is said of its keys: the description is of another table.
        let _ = ensure_table(&*at(&endpoint.url).await, &wanted, false).await;
        let requests = endpoint.requests();
        let asked = requests
            .iter()
            .filter(|request| request.operation() == "DescribeTable");
        assert_eq!(asked.count(), described, "{index}");
    }
}
