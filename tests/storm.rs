//! The endpoint that misbehaves does so as it is told, and counts right.

mod charges;
mod faults;
mod limits;
mod rehearse;

use std::collections::HashMap;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::Credentials;
use aws_sdk_dynamodb::config::retry::RetryConfig;
use aws_sdk_dynamodb::operation::batch_write_item::BatchWriteItemOutput;
use aws_sdk_dynamodb::types::{
    AttributeDefinition, AttributeValue, BillingMode, GlobalSecondaryIndex, KeySchemaElement,
    KeyType, LocalSecondaryIndex, Projection, ProjectionType, ProvisionedThroughput, PutRequest,
    ReturnConsumedCapacity, ScalarAttributeType, WriteRequest,
};

use crate::support::embedded::config;
use crate::support::storm::{Settings, Storm};

type Fields = HashMap<String, AttributeValue>;

/// An endpoint with settings as YAML, and a client of it that retries nothing.
fn start(settings: &str) -> (Storm, Client) {
    let storm = Storm::start(Settings::read(settings).unwrap()).unwrap();
    let client = client(&storm, "local");
    (storm, client)
}

fn client(storm: &Storm, key: &str) -> Client {
    let http = aws_smithy_http_client::Builder::new().build_http();
    let config = config()
        .endpoint_url(storm.url())
        .credentials_provider(Credentials::new(key, "local", None, None, "test"))
        .retry_config(RetryConfig::disabled())
        .http_client(http);
    Client::from_conf(config.build())
}

fn key(name: &str, kind: KeyType) -> KeySchemaElement {
    let element = KeySchemaElement::builder().attribute_name(name);
    element.key_type(kind).build().unwrap()
}

fn projection(kind: ProjectionType) -> Projection {
    Projection::builder().projection_type(kind).build()
}

/// The table `app`: PK, SK, the global indexes `All` (by g) and `Keys` (by h), the local index
/// `Local` (by l).
async fn make_table(client: &Client, billing: BillingMode) {
    let provisioned = billing == BillingMode::Provisioned;
    let units = |units| {
        let throughput = ProvisionedThroughput::builder().read_capacity_units(units);
        let throughput = throughput.write_capacity_units(units).build().unwrap();
        provisioned.then_some(throughput)
    };
    let global = |name: &str, by: &str, kind| {
        let index = GlobalSecondaryIndex::builder()
            .index_name(name)
            .key_schema(key(by, KeyType::Hash))
            .projection(projection(kind))
            .set_provisioned_throughput(units(50));
        index.build().unwrap()
    };
    let local = LocalSecondaryIndex::builder()
        .index_name("Local")
        .key_schema(key("PK", KeyType::Hash))
        .key_schema(key("l", KeyType::Range))
        .projection(projection(ProjectionType::KeysOnly));
    let mut request = client
        .create_table()
        .table_name("app")
        .billing_mode(billing)
        .set_provisioned_throughput(units(100))
        .key_schema(key("PK", KeyType::Hash))
        .key_schema(key("SK", KeyType::Range))
        .global_secondary_indexes(global("All", "g", ProjectionType::All))
        .global_secondary_indexes(global("Keys", "h", ProjectionType::KeysOnly))
        .local_secondary_indexes(local.build().unwrap());
    for name in ["PK", "SK", "g", "h", "l"] {
        let definition = AttributeDefinition::builder()
            .attribute_name(name)
            .attribute_type(ScalarAttributeType::S);
        request = request.attribute_definitions(definition.build().unwrap());
    }
    request.send().await.unwrap();
}

fn text(text: impl Into<String>) -> AttributeValue {
    AttributeValue::S(text.into())
}

/// An item with a partition key, a sort key from a number, and other texts.
fn item(partition: &str, number: usize, more: &[(&str, &str)]) -> Fields {
    let mut fields = Fields::from([
        ("PK".to_owned(), text(partition)),
        ("SK".to_owned(), text(format!("{number:08}"))),
    ]);
    fields.extend(
        more.iter()
            .map(|(name, value)| ((*name).to_owned(), text(*value))),
    );
    fields
}

/// Puts items of one partition key with these numbers.
async fn put_batch(
    client: &Client,
    partition: &str,
    numbers: impl IntoIterator<Item = usize>,
) -> Result<BatchWriteItemOutput, aws_sdk_dynamodb::Error> {
    let requests = numbers.into_iter().map(|number| {
        let put = PutRequest::builder().set_item(Some(item(partition, number, &[])));
        WriteRequest::builder()
            .put_request(put.build().unwrap())
            .build()
    });
    let requests: Vec<WriteRequest> = requests.collect();
    let request = client.batch_write_item().request_items("app", requests);
    let request = request.return_consumed_capacity(ReturnConsumedCapacity::Indexes);
    request.send().await.map_err(Into::into)
}

/// How many items of a batch were not processed.
fn left(answer: &BatchWriteItemOutput) -> usize {
    let unprocessed = answer.unprocessed_items().unwrap();
    unprocessed.get("app").map_or(0, Vec::len)
}

/// Requests of all operations end in one of three ways.
fn assert_requests_add_up(storm: &Storm) {
    for (operation, requests) in &storm.counts().requests {
        let errors: u64 = requests.errors.values().sum();
        let ended = requests.answered + errors + requests.unanswered;
        assert_eq!(requests.received, ended, "{operation}: {requests:?}");
    }
}
