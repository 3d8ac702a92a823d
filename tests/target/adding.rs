//! What is sent to add the global indexes that a table lacks, and what its answers are taken for.

use std::sync::Mutex;

use dynafold::dynamodb::{Billing, Table, Throughput};
use dynafold::load::{IndexStep, TableError, add_indexes};
use serde_json::{Value, json};

use super::dynamodb::at;
use super::sample::table;
use crate::support::endpoint::{Endpoint, Request, Step};

/// The mapping's table: provisioned, one index with capacity of its own.
fn wanted() -> Table {
    let mut table = table(false);
    table.name = "app".to_owned();
    table.local_indexes.clear();
    table.ttl = None;
    table.billing = Billing::Provisioned(Throughput { read: 5, write: 7 });
    table.indexes[1].throughput = Some(Throughput { read: 2, write: 3 });
    table
}

/// What is answered to a look: the table with these indexes and their status. An old one has an attribute of its own.
fn look(status: &str, indexes: &[(&str, &str)]) -> [Step; 2] {
    let key = |name: &str, role: &str| json!({ "AttributeName": name, "KeyType": role });
    let index = |(name, status): &(&str, &str)| {
        let (keys, projection) = match *name {
            "GSI1" => (
                json!([key("GSI1PK", "HASH"), key("SK", "RANGE")]),
                json!({ "ProjectionType": "INCLUDE", "NonKeyAttributes": ["name", "total"] }),
            ),
            "by_placed" => (
                json!([key("GSI2PK", "HASH"), key("placed", "RANGE")]),
                json!({ "ProjectionType": "KEYS_ONLY" }),
            ),
            _ => (
                json!([key("OLD", "HASH")]),
                json!({ "ProjectionType": "ALL" }),
            ),
        };
        let (status, backfilling) = match *status {
            "BACKFILLING" => ("CREATING", true),
            status => (status, false),
        };
        json!({
            "IndexName": name, "IndexStatus": status, "Backfilling": backfilling,
            "KeySchema": keys, "Projection": projection,
            "ProvisionedThroughput": { "ReadCapacityUnits": 5, "WriteCapacityUnits": 7 },
        })
    };
    let attribute =
        |(name, kind): (&str, &str)| json!({ "AttributeName": name, "AttributeType": kind });
    let attributes = [("PK", "S"), ("SK", "S"), ("GSI1PK", "S"), ("GSI2PK", "B")];
    let attributes = attributes
        .into_iter()
        .chain([("placed", "N"), ("OLD", "S")]);
    let body = json!({ "Table": {
        "TableName": "app",
        "TableStatus": status,
        "KeySchema": [key("PK", "HASH"), key("SK", "RANGE")],
        "AttributeDefinitions": attributes.map(attribute).collect::<Value>(),
        "GlobalSecondaryIndexes": indexes.iter().map(index).collect::<Value>(),
        "ProvisionedThroughput": { "ReadCapacityUnits": 5, "WriteCapacityUnits": 7 },
    }});
    let ttl = json!({ "TimeToLiveDescription": { "TimeToLiveStatus": "DISABLED" } });
    [body, ttl].map(|body| Step::Answer(200, body.to_string()))
}

fn done() -> Step {
    Step::Answer(200, json!({ "TableDescription": {} }).to_string())
}

/// Runs it against these answers: how it ends, what was told without repetitions, and the bodies that were sent.
async fn adds(steps: Vec<Step>) -> (Result<(), TableError>, Vec<String>, Vec<Value>) {
    let endpoint = Endpoint::start(steps).await;
    let reported = Mutex::new(Vec::new());
    let tell = |step: &IndexStep| {
        let line = match step {
            IndexStep::Asked(name) => format!("asked for {name}"),
            IndexStep::Waiting(index) => index.to_string(),
            IndexStep::Busy => "busy".to_owned(),
            IndexStep::Ready(name) => format!("{name} is ready"),
        };
        reported.lock().unwrap().push(line);
    };
    let names = ["GSI1".to_owned(), "by_placed".to_owned()];
    let target = at(&endpoint.url).await;
    let ended = add_indexes(&*target, &wanted(), &names, &tell).await;
    let sent = endpoint.requests();
    let sent = sent.iter().filter(|r| r.operation() == "UpdateTable");
    let body = |request: &Request| serde_json::from_str(&request.body).unwrap();
    let sent = sent.map(body).collect();
    let mut reported = reported.into_inner().unwrap();
    reported.dedup();
    (ended, reported, sent)
}

fn defined(body: &Value) -> Vec<&str> {
    let all = body["AttributeDefinitions"].as_array().unwrap().iter();
    all.map(|one| one["AttributeName"].as_str().unwrap())
        .collect()
}

#[tokio::test]
async fn indexes_are_added_one_after_the_other_with_their_capacity() {
    let refused = |code| Step::Error(400, code, "not now");
    let steps = [
        // Another's index is being deleted: DynamoDB would refuse.
        look("ACTIVE", &[("OLD", "DELETING")]).to_vec(),
        look("UPDATING", &[]).to_vec(),
        look("ACTIVE", &[("OLD", "ACTIVE")]).to_vec(),
        vec![
            refused("LimitExceededException"),
            refused("ResourceInUseException"),
        ],
        look("ACTIVE", &[("OLD", "ACTIVE")]).to_vec(),
        vec![done()],
        // Not visible yet.
        look("ACTIVE", &[("OLD", "ACTIVE")]).to_vec(),
        look("UPDATING", &[("OLD", "ACTIVE"), ("GSI1", "CREATING")]).to_vec(),
        look("ACTIVE", &[("OLD", "ACTIVE"), ("GSI1", "BACKFILLING")]).to_vec(),
        look("ACTIVE", &[("OLD", "ACTIVE"), ("GSI1", "ACTIVE")]).to_vec(),
        vec![done()],
        look("ACTIVE", &[("GSI1", "ACTIVE"), ("by_placed", "ACTIVE")]).to_vec(),
    ];
    let (ended, reported, sent) = adds(steps.concat()).await;
    ended.unwrap();
    assert_eq!(
        reported,
        [
            "index OLD is being deleted",
            "busy",
            "asked for GSI1",
            "index GSI1 is being created",
            "index GSI1 is being filled with the items of the table",
            "GSI1 is ready",
            "asked for by_placed",
            "by_placed is ready",
        ]
    );
    // The first was refused twice.
    let [_, _, first, second] = sent.as_slice() else {
        panic!("{sent:#?}");
    };
    assert_eq!(first["TableName"], "app");
    assert_eq!(defined(first), ["PK", "SK", "OLD", "GSI1PK"]);
    assert_eq!(
        defined(second),
        ["PK", "SK", "OLD", "GSI1PK", "GSI2PK", "placed"]
    );
    let create = |body: &Value| body["GlobalSecondaryIndexUpdates"][0]["Create"].clone();
    assert_eq!(
        first["GlobalSecondaryIndexUpdates"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    assert_eq!(
        create(first),
        json!({
            "IndexName": "GSI1",
            "KeySchema": [
                { "AttributeName": "GSI1PK", "KeyType": "HASH" },
                { "AttributeName": "SK", "KeyType": "RANGE" },
            ],
            "Projection": { "ProjectionType": "INCLUDE", "NonKeyAttributes": ["name", "total"] },
            "ProvisionedThroughput": { "ReadCapacityUnits": 5, "WriteCapacityUnits": 7 },
        })
    );
    let own = json!({ "ReadCapacityUnits": 2, "WriteCapacityUnits": 3 });
    assert_eq!(create(second)["ProvisionedThroughput"], own);
}

#[tokio::test]
async fn what_another_run_has_asked_for_is_waited_for_and_not_asked_for_again() {
    let whole = [("GSI1", "ACTIVE"), ("by_placed", "ACTIVE")];
    let steps = [
        look("ACTIVE", &[("GSI1", "BACKFILLING")]).to_vec(),
        look("ACTIVE", &[("GSI1", "ACTIVE")]).to_vec(),
        // The answer is lost, and the repeated request is refused.
        vec![
            Step::Hangup,
            Step::Error(400, "ValidationException", "it exists"),
        ],
        look("ACTIVE", &[("GSI1", "ACTIVE"), ("by_placed", "CREATING")]).to_vec(),
        look("ACTIVE", &whole).to_vec(),
    ];
    let (ended, reported, sent) = adds(steps.concat()).await;
    ended.unwrap();
    assert_eq!(
        reported,
        [
            "index GSI1 is being filled with the items of the table",
            "GSI1 is ready",
            "by_placed is ready",
        ]
    );
    assert_eq!(sent.len(), 2, "{sent:#?}");
    let names = sent
        .iter()
        .map(|body| &body["GlobalSecondaryIndexUpdates"][0]["Create"]["IndexName"]);
    assert!(names.into_iter().all(|name| name == "by_placed"));
}

#[tokio::test]
async fn a_refusal_that_does_not_pass_ends_it() {
    let steps = [
        look("ACTIVE", &[]).to_vec(),
        vec![Step::Error(400, "AccessDeniedException", "no")],
        look("ACTIVE", &[]).to_vec(),
    ];
    let (ended, _, sent) = adds(steps.concat()).await;
    let error = ended.unwrap_err();
    assert!(
        error.help().unwrap().contains("dynamodb:UpdateTable"),
        "{error}"
    );
    assert_eq!(sent.len(), 1);
}

#[tokio::test]
async fn nothing_is_added_to_a_table_whose_index_differs() {
    let mut other = look("ACTIVE", &[("GSI1", "ACTIVE")]);
    if let Step::Answer(_, body) = &mut other[0] {
        *body = body
            .replace("GSI1PK", "OTHER")
            .replace("\"OLD\"", "\"GSI1PK\"");
    }
    let (ended, _, sent) = adds(other.to_vec()).await;
    let error = ended.unwrap_err().to_string();
    assert!(
        error.contains("the key of index GSI1 is OTHER (S), SK (S), the mapping says"),
        "{error}"
    );
    assert!(sent.is_empty());
}
