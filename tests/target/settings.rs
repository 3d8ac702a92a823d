//! What is sent for a table's settings, and what is made of an endpoint that has them all.

use dynafold::dynamodb::{Autoscale, Settings, Table};
use dynafold::target::{TargetSpec, connect};
use serde_json::{Value, json};

use super::sample::{every_setting, table};
use crate::support::endpoint::{Endpoint, Request, Step};

fn wanted() -> Table {
    let mut table = table(true);
    table.ttl = None;
    table.settings = every_setting();
    table
}

/// The table as AWS would describe it once everything is set.
fn described(table: &Table) -> Value {
    json!({ "Table": {
        "TableName": table.name,
        "TableStatus": "ACTIVE",
        "TableArn": "arn:aws:dynamodb:eu-west-3:000000000000:table/t",
        "StreamSpecification": { "StreamEnabled": true, "StreamViewType": "NEW_AND_OLD_IMAGES" },
        "DeletionProtectionEnabled": true,
        "TableClassSummary": { "TableClass": "STANDARD_INFREQUENT_ACCESS" },
        "WarmThroughput": { "ReadUnitsPerSecond": 13000, "WriteUnitsPerSecond": 6000, "Status": "ACTIVE" },
        "Replicas": [{ "RegionName": "eu-west-2" }, { "RegionName": "eu-west-1" }],
    }})
}

#[tokio::test]
async fn everything_is_asked_for_and_nothing_that_is_there_is_told() {
    let table = wanted();
    let answer = |body: Value| Step::Answer(200, body.to_string());
    let there = || answer(described(&table));
    let recovers = json!({ "ContinuousBackupsDescription": {
        "ContinuousBackupsStatus": "ENABLED",
        "PointInTimeRecoveryDescription": { "PointInTimeRecoveryStatus": "ENABLED" },
    }});
    let tag = |key: &str, value: &str| json!({ "Key": key, "Value": value });
    let endpoint = Endpoint::start([
        answer(json!({})),
        there(),
        answer(recovers.clone()),
        answer(json!({})),
        there(),
        answer(json!({})),
        there(),
        there(),
        answer(recovers),
        answer(json!({ "Tags": [tag("other", "x")], "NextToken": "more" })),
        answer(json!({ "Tags": [tag("team", "shop")] })),
    ])
    .await;
    let spec = TargetSpec::parse("dynamodb", Some(&endpoint.url), None, None).unwrap();
    let target = connect(&spec).await.unwrap();
    assert_eq!(target.create(&table).await.unwrap(), Some(Vec::new()));

    let requests = endpoint.requests();
    let operations: Vec<&str> = requests.iter().map(Request::operation).collect();
    assert_eq!(
        operations,
        [
            "CreateTable",
            "DescribeTable",
            "UpdateContinuousBackups",
            "UpdateTable",
            "DescribeTable",
            "UpdateTable",
            "DescribeTable",
            "DescribeTable",
            "DescribeContinuousBackups",
            "ListTagsOfResource",
            "ListTagsOfResource",
        ]
    );
    let body = |index: usize| -> Value { serde_json::from_str(&requests[index].body).unwrap() };
    let create = body(0);
    assert_eq!(
        create["StreamSpecification"],
        json!({ "StreamEnabled": true, "StreamViewType": "NEW_AND_OLD_IMAGES" })
    );
    assert_eq!(create["DeletionProtectionEnabled"], true);
    assert_eq!(create["TableClass"], "STANDARD_INFREQUENT_ACCESS");
    assert_eq!(create["Tags"], json!([{ "Key": "team", "Value": "shop" }]));
    assert_eq!(
        create["WarmThroughput"],
        json!({ "ReadUnitsPerSecond": 13000, "WriteUnitsPerSecond": 5000 })
    );
    assert_eq!(
        body(2)["PointInTimeRecoverySpecification"],
        json!({ "PointInTimeRecoveryEnabled": true })
    );
    assert_eq!(
        body(3)["ReplicaUpdates"],
        json!([{ "Create": { "RegionName": "eu-west-1" } }])
    );
    assert_eq!(
        body(5)["ReplicaUpdates"],
        json!([{ "Create": { "RegionName": "eu-west-2" } }])
    );
}

#[tokio::test]
async fn a_mapping_without_settings_asks_for_none() {
    let mut table = wanted();
    let answer = |body: Value| Step::Answer(200, body.to_string());
    let endpoint = Endpoint::start([answer(json!({})), answer(described(&table))]).await;
    table.settings = Settings::default();
    let spec = TargetSpec::parse("dynamodb", Some(&endpoint.url), None, None).unwrap();
    let target = connect(&spec).await.unwrap();
    assert_eq!(target.create(&table).await.unwrap(), Some(Vec::new()));
    assert_eq!(target.compare_settings(&table).await, []);
    let requests = endpoint.requests();
    assert_eq!(requests.len(), 2);
    let create: Value = serde_json::from_str(&requests[0].body).unwrap();
    for name in [
        "StreamSpecification",
        "TableClass",
        "Tags",
        "WarmThroughput",
    ] {
        assert!(create.get(name).is_none(), "{create}");
    }
}

#[tokio::test]
async fn the_policy_of_an_index_is_told_too() {
    let mut table = wanted();
    table.settings = Settings::default();
    table.indexes[0].autoscale = Some(Autoscale {
        min: None,
        max: 50,
        target: 60,
    });
    let answer = |body: Value| Step::Answer(200, body.to_string());
    let endpoint = Endpoint::start([answer(json!({})), answer(described(&table))]).await;
    let spec = TargetSpec::parse("dynamodb", Some(&endpoint.url), None, None).unwrap();
    let target = connect(&spec).await.unwrap();
    let reported = target.create(&table).await.unwrap().unwrap();
    let reported: Vec<String> = reported.iter().map(ToString::to_string).collect();
    assert_eq!(
        reported,
        [
            "`autoscale` is left to your infrastructure, the mapping says up to 50 units at 60 percent"
        ]
    );
}
