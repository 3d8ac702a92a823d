//! A document that was taken apart is put together again from one Query, as a client would do it.

use serde_json::{Map, Value, json};

use crate::support::source::Source;

use super::bench::Bench;
use super::example::{Example, Item};

/// What an item holds that the document does not: its keys, and whose part it is.
const OURS: [&str; 5] = ["PK", "SK", "id", "order_id", "shipment_no"];

/// A DynamoDB value as plain JSON.
fn plain(attribute: &Value) -> Value {
    let (kind, value) = attribute.as_object().unwrap().iter().next().unwrap();
    match (kind.as_str(), value) {
        ("S", text) => text.clone(),
        ("N", number) => serde_json::from_str(number.as_str().unwrap()).unwrap(),
        ("NULL", _) => Value::Null,
        ("M", Value::Object(members)) => {
            let members = members.iter();
            let members = members.map(|(name, value)| (name.clone(), plain(value)));
            members.collect::<Map<_, _>>().into()
        }
        other => panic!("no order holds {other:?}"),
    }
}

/// The document, from the items of one order in the order of their sort keys.
fn rebuilt(items: &[Item]) -> Value {
    let mut document = json!({ "lines": [], "payments": [], "shipments": [] });
    let push = |list: &mut Value, value: Value| list.as_array_mut().unwrap().push(value);
    for item in items {
        let sort = item["SK"]["S"].as_str().unwrap();
        let members = item.iter();
        let members = members.filter(|(name, _)| !OURS.contains(&name.as_str()));
        let mut part: Value = members
            .map(|(name, value)| (name.clone(), plain(value)))
            .collect::<Map<_, _>>()
            .into();
        match sort.split('#').collect::<Vec<_>>()[..] {
            ["ORDER", ""] => {
                document["status"] = part["status"].take();
                document["placed_at"] = part["placed_at"].take();
            }
            ["CUSTOMER", ""] => document["customer"] = part,
            ["LINE", _] => push(&mut document["lines"], part),
            ["PAYMENT", _] => push(&mut document["payments"], part),
            ["SHIPMENT", _] => {
                part["parcels"] = json!([]);
                push(&mut document["shipments"], part);
            }
            ["SHIPMENT", _, "PARCEL", _] => {
                let shipments = document["shipments"].as_array_mut().unwrap();
                push(&mut shipments.last_mut().unwrap()["parcels"], part);
            }
            _ => panic!("{sort}"),
        }
    }
    document
}

/// Numbers by their value: DynamoDB keeps 12.00 as 12.
fn by_value(document: Value) -> Value {
    match document {
        Value::Number(number) => json!(number.as_f64()),
        Value::Array(elements) => elements.into_iter().map(by_value).collect(),
        Value::Object(members) => {
            let members = members.into_iter();
            members
                .map(|(name, value)| (name, by_value(value)))
                .collect()
        }
        other => other,
    }
}

/// The documents as the database holds them, by the order's number.
async fn documents(source: &Source) -> Vec<Value> {
    let text = match source.product() {
        "postgres" => "doc::text",
        _ => "CAST(doc AS CHAR)",
    };
    let sql = format!("SELECT {text} FROM orders ORDER BY id");
    let documents = source.texts(&sql).await;
    let documents = documents.iter();
    documents
        .map(|text| by_value(serde_json::from_str(text).unwrap()))
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_order_is_put_together_again_from_one_query() {
    for name in ["orders", "orders-tables"] {
        let example = Example::read(name, "orders", "orders");
        for source in example.sources().await {
            let bench = Bench::new(&example, &source);
            let report = bench.run_embedded("migrate", &[]).exits(0).json();
            for item_type in report["item_types"].as_array().unwrap() {
                let largest = item_type["largest"]["bytes"].as_u64().unwrap();
                assert!(largest < 1024, "{item_type:#}");
            }
            let client = bench.embedded();
            let mut found = Vec::new();
            for case in example.cases.iter().filter(|c| c.pattern == "getOrder") {
                let items = case.ask(&client, &bench.table).await;
                found.push(by_value(rebuilt(&items)));
            }
            let expected = documents(&source).await;
            assert_eq!(expected.len(), 3);
            assert_eq!(found, expected, "{name}: {}", source.product());
            source.drop().await;
        }
    }
}
