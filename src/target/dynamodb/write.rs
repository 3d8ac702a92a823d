//! One batch, sent once: the body is put together from the items' JSON, the SDK carries it.
//!
//! The body replaces the SDK's own between serialization and signing, so that it is what is
//! signed. Nothing is parsed on the way there. The answer's unprocessed items are found again in
//! the batch by their keys, which are read out of the JSON only then.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::WriteRequest;
use aws_smithy_types::body::SdkBody;
use serde_json::value::RawValue;

use super::Dynamodb;
use super::classify::Action;
use super::convert;
use crate::batch::wire_size;
use crate::item::Attribute;
use crate::mapping::model::{KeyAttribute, Table};
use crate::target::{Batch, ErrorClass, Key, Prepared, TargetError, Written};
use crate::value::{Number, quote};

impl Dynamodb {
    pub(super) async fn write_batch(
        &self,
        table: &Table,
        batch: &Batch,
    ) -> Result<Written, TargetError> {
        if batch.items.is_empty() {
            return Ok(Written::default());
        }
        let action = self.action("BatchWriteItem", &table.name);
        let body = body(&table.name, batch);
        let length = body.len().to_string();
        let body = SdkBody::from(body);
        let answer = self
            .data
            .batch_write_item()
            // The endpoint may depend on the table; the requests stand in the body.
            .request_items(&table.name, Vec::new())
            .customize()
            .mutate_request(move |request| {
                // A body in memory can always be cloned, and cheaply.
                if let Some(body) = body.try_clone() {
                    *request.body_mut() = body;
                    request
                        .headers_mut()
                        .insert("content-length", length.clone());
                }
            })
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

/// The body of a BatchWriteItem request.
fn body(table: &str, batch: &Batch) -> String {
    let items: usize = batch.items.iter().map(wire_size).sum();
    let mut body = String::with_capacity(items + table.len() + 80);
    body.push_str("{\"RequestItems\":{");
    quote(&mut body, table);
    body.push_str(":[");
    for (index, item) in batch.items.iter().enumerate() {
        if index > 0 {
            body.push(',');
        }
        body.push_str("{\"PutRequest\":{\"Item\":");
        body.push_str(&item.json);
        body.push_str("}}");
    }
    body.push_str("]},\"ReturnConsumedCapacity\":\"TOTAL\"}");
    body
}

/// Finds the requests that came back in the batch that went out.
fn find(
    table: &Table,
    batch: &Batch,
    left: HashMap<String, Vec<WriteRequest>>,
    action: &Action<'_>,
) -> Result<Vec<usize>, TargetError> {
    let stranger = || {
        action.error(
            ErrorClass::Transient,
            "UnprocessedItems",
            "the answer lists an unprocessed item that was not sent",
            None,
        )
    };
    let keys: Vec<Option<Key>> = batch
        .items
        .iter()
        .map(|item| sent_key(table, item))
        .collect();
    let mut found = Vec::new();
    for request in left.into_values().flatten() {
        let index = request
            .put_request
            .and_then(|put| convert::key_of(table, put.item).ok())
            .and_then(|key| keys.iter().position(|sent| sent.as_ref() == Some(&key)))
            .ok_or_else(stranger)?;
        found.push(index);
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// The key of an item that was sent.
fn sent_key(table: &Table, item: &Prepared) -> Option<Key> {
    let members: HashMap<String, &RawValue> = serde_json::from_str(&item.json).ok()?;
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
