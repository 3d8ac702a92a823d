//! One batch, sent once: the body is put together from the items' JSON, the SDK carries it.
//!
//! The body replaces the SDK's own between serialization and signing, so that it is what is
//! signed. Nothing is parsed on the way there. The answer's unprocessed items are found again in
//! the batch by their keys, which are read out of the JSON only then.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::WriteRequest;
use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use aws_smithy_types::body::SdkBody;
use serde_json::value::RawValue;

use super::Dynamodb;
use super::classify::Attempt;
use super::convert;
use crate::item::Attribute;
use crate::mapping::model::{KeyAttribute, Table};
use crate::target::{Action, Batch, ErrorClass, Key, TargetError, Written};
use crate::value::{Number, quote};

impl Dynamodb {
    pub(super) async fn write_batch(
        &self,
        table: &Table,
        batch: &Batch,
    ) -> Result<Written, TargetError> {
        if batch.is_empty() {
            return Ok(Written::default());
        }
        let action = self.action("BatchWriteItem", &table.name);
        let body = body(&table.name, batch);
        let answer = self
            .data
            .batch_write_item()
            // The endpoint may depend on the table; the requests stand in the body.
            .request_items(&table.name, Vec::new())
            .customize()
            .mutate_request(carry(body))
            .send()
            .await
            .map_err(|error| action.classify(&error))?;
        // An answer without this member is not DynamoDB's; a proxy's empty page would be one.
        let left = answer
            .unprocessed_items
            .ok_or_else(|| action.incomplete("UnprocessedItems"))?;
        let consumed = answer.consumed_capacity.map(|tables| {
            tables
                .iter()
                .filter_map(|table| table.capacity_units)
                .sum::<f64>()
        });
        let unprocessed = if left.is_empty() {
            Vec::new()
        } else {
            find(table, batch, left, &action)?
        };
        Ok(Written {
            unprocessed,
            consumed,
        })
    }
}

impl Dynamodb {
    pub(super) async fn put_one(
        &self,
        table: &Table,
        batch: &Batch,
        index: usize,
    ) -> Result<(), TargetError> {
        let Some(entry) = batch.entries().get(index) else {
            return Ok(());
        };
        let mut body = String::from("{\"TableName\":");
        quote(&mut body, &table.name);
        body.push_str(match entry.action {
            Action::Put => ",\"Item\":",
            Action::Delete => ",\"Key\":",
        });
        body.push_str(batch.json(index));
        body.push('}');
        match entry.action {
            Action::Put => {
                let action = self.action("PutItem", &table.name);
                let request = self.data.put_item().table_name(&table.name);
                let request = request.set_item(Some(HashMap::new())).customize();
                let sent = request.mutate_request(carry(body)).send().await;
                sent.map(drop).map_err(|error| action.classify(&error))
            }
            Action::Delete => {
                let action = self.action("DeleteItem", &table.name);
                let request = self.data.delete_item().table_name(&table.name);
                let request = request.set_key(Some(HashMap::new())).customize();
                let sent = request.mutate_request(carry(body)).send().await;
                sent.map(drop).map_err(|error| action.classify(&error))
            }
        }
    }
}

/// Puts a body into the SDK's request.
fn carry(body: String) -> impl Fn(&mut HttpRequest) + Send + Sync + 'static {
    let length = body.len().to_string();
    let body = SdkBody::from(body);
    move |request| {
        // A body in memory can always be cloned, and cheaply.
        if let Some(body) = body.try_clone() {
            *request.body_mut() = body;
            request
                .headers_mut()
                .insert("content-length", length.clone());
        }
    }
}

/// The body of a BatchWriteItem request.
fn body(table: &str, batch: &Batch) -> String {
    let mut body = String::with_capacity(batch.bytes() + table.len() + 80);
    body.push_str("{\"RequestItems\":{");
    quote(&mut body, table);
    body.push_str(":[");
    body.push_str(&String::from_utf8_lossy(&batch.wire()));
    body.push_str("]},\"ReturnConsumedCapacity\":\"TOTAL\"}");
    body
}

/// Finds the requests that came back in the batch that went out.
fn find(
    table: &Table,
    batch: &Batch,
    left: HashMap<String, Vec<WriteRequest>>,
    action: &Attempt<'_>,
) -> Result<Vec<usize>, TargetError> {
    let stranger = || {
        action.error(
            ErrorClass::Transient,
            "UnprocessedItems",
            "the answer lists an unprocessed item that was not sent",
            None,
        )
    };
    let keys: Vec<Option<Key>> = (0..batch.len())
        .map(|index| sent_key(table, batch.json(index)))
        .collect();
    let mut found = Vec::new();
    for request in left.into_values().flatten() {
        let index = request
            .put_request
            .map(|put| put.item)
            .or_else(|| request.delete_request.map(|delete| delete.key))
            .and_then(|fields| convert::key_of(table, fields).ok())
            .and_then(|key| keys.iter().position(|sent| sent.as_ref() == Some(&key)))
            .ok_or_else(stranger)?;
        found.push(index);
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// The key of an item that was sent.
fn sent_key(table: &Table, json: &str) -> Option<Key> {
    let members: HashMap<String, &RawValue> = serde_json::from_str(json).ok()?;
    let read = |key: &KeyAttribute| members.get(&*key.name).and_then(|raw| scalar(raw));
    let partition = read(&table.partition)?;
    match &table.sort {
        None => Some((partition, None)),
        Some(sort) => Some((partition, Some(read(sort)?))),
    }
}

fn scalar(raw: &RawValue) -> Option<Attribute> {
    #[derive(serde::Deserialize)]
    enum Scalar {
        S(String),
        N(String),
        B(String),
    }
    match serde_json::from_str(raw.get()).ok()? {
        Scalar::S(text) => Some(Attribute::S(text)),
        Scalar::N(text) => Number::parse(&text).ok().map(Attribute::N),
        Scalar::B(text) => decode(&text).map(Attribute::B),
    }
}

fn decode(text: &str) -> Option<Vec<u8>> {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.decode(text).ok()
}
