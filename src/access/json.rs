//! Requests as the AWS CLI takes them: `aws dynamodb query --cli-input-json`.

use serde_json::{Map, Value, json};

use super::Request;
use crate::item::{Attribute, write_attribute};

/// A request as JSON, with the name of its operation.
#[must_use]
pub fn to_json(request: &Request, table: &str) -> (&'static str, Value) {
    match request {
        Request::Get { key, consistent } => {
            let mut out = json!({
                "TableName": table,
                "Key": values(key.iter().map(|(name, value)| (name.to_string(), value))),
            });
            set(
                &mut out,
                "ConsistentRead",
                consistent.then_some(json!(true)),
            );
            ("GetItem", out)
        }
        Request::Query(query) => {
            let names = query.names.iter();
            let names: Map<String, Value> = names
                .map(|(place, name)| (place.clone(), json!(&**name)))
                .collect();
            let mut out = json!({ "TableName": table });
            set(
                &mut out,
                "IndexName",
                query.index.as_deref().map(|index| json!(index)),
            );
            set(
                &mut out,
                "KeyConditionExpression",
                Some(json!(query.condition)),
            );
            set(
                &mut out,
                "FilterExpression",
                query.filter.as_ref().map(|filter| json!(filter)),
            );
            set(
                &mut out,
                "ExpressionAttributeNames",
                Some(Value::Object(names)),
            );
            let given = query
                .values
                .iter()
                .map(|(place, value)| (place.clone(), value));
            set(&mut out, "ExpressionAttributeValues", Some(values(given)));
            set(
                &mut out,
                "ScanIndexForward",
                query.descending.then_some(json!(false)),
            );
            set(&mut out, "Limit", query.limit.map(|limit| json!(limit)));
            set(
                &mut out,
                "ConsistentRead",
                query.consistent.then_some(json!(true)),
            );
            ("Query", out)
        }
    }
}

fn set(out: &mut Value, name: &str, value: Option<Value>) {
    if let (Value::Object(members), Some(value)) = (out, value) {
        members.insert(name.to_owned(), value);
    }
}

fn values<'a>(values: impl Iterator<Item = (String, &'a Attribute)>) -> Value {
    let values = values.map(|(name, value)| {
        let mut text = String::new();
        write_attribute(&mut text, value);
        (name, serde_json::from_str(&text).unwrap_or(Value::Null))
    });
    Value::Object(values.collect())
}
