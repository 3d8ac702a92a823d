//! Requests as the AWS CLI takes them: `aws dynamodb query --cli-input-json`.

use dynafold_dynamodb::{Attribute, Request, write_attribute};
use serde_json::{Value, json};

/// A request as JSON, with the name of its operation.
#[must_use]
pub fn to_json(request: &Request, table: &str) -> (&'static str, Value) {
    match request {
        Request::Get { key, consistent } => {
            let key = key.iter().map(|(name, value)| (name.to_string(), value));
            let members = [
                ("TableName", Some(json!(table))),
                ("Key", Some(values(key))),
                ("ConsistentRead", consistent.then_some(json!(true))),
            ];
            ("GetItem", object(members))
        }
        Request::Query(query) => {
            let names = query.names.iter();
            let names = names.map(|(place, name)| (place.clone(), json!(&**name)));
            let given = query.values.iter();
            let given = given.map(|(place, value)| (place.clone(), value));
            let index = query.index.as_deref().map(|index| json!(index));
            let filter = query.filter.as_ref().map(|filter| json!(filter));
            let members = [
                ("TableName", Some(json!(table))),
                ("IndexName", index),
                ("KeyConditionExpression", Some(json!(query.condition))),
                ("FilterExpression", filter),
                (
                    "ExpressionAttributeNames",
                    Some(Value::Object(names.collect())),
                ),
                ("ExpressionAttributeValues", Some(values(given))),
                ("ScanIndexForward", query.descending.then_some(json!(false))),
                ("Limit", query.limit.map(|limit| json!(limit))),
                ("ConsistentRead", query.consistent.then_some(json!(true))),
            ];
            ("Query", object(members))
        }
    }
}

/// An object of the members that there are.
#[must_use]
pub fn object<const N: usize>(members: [(&str, Option<Value>); N]) -> Value {
    let there = members.into_iter();
    let there = there.filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Value::Object(there.collect())
}

fn values<'a>(values: impl Iterator<Item = (String, &'a Attribute)>) -> Value {
    let values = values.map(|(name, value)| {
        let mut text = String::new();
        write_attribute(&mut text, value);
        (name, serde_json::from_str(&text).unwrap_or(Value::Null))
    });
    Value::Object(values.collect())
}
