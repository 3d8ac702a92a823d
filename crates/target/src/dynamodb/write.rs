//! One batch, sent once: the body is made of the batch's own buffer, and the answer read by hand.
//!
//! Nothing is copied or parsed on the way there. The answer's unprocessed items are found again in
//! the batch by their keys, which are read out of the JSON only then.

use std::collections::HashMap;

use dynafold_dynamodb::{KeyAttribute, Table, read_attribute};
use dynafold_relational::value::quote;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::Dynamodb;
use super::classify::Attempt;
use super::wire::RequestBody;
use crate::{Action, Batch, BatchOutcome, Consumed, ErrorClass, ItemKey, Result, TargetErrorKind};

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct BatchWriteResponse<'a> {
    #[serde(borrow)]
    unprocessed_items: Option<HashMap<String, Vec<UnprocessedRequest<'a>>>>,
    consumed_capacity: Option<Vec<ConsumedCapacity>>,
}

/// What `PutItem` and `DeleteItem` answer.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct SingleWriteResponse {
    consumed_capacity: Option<ConsumedCapacity>,
}

/// With the table and its indexes apart, which DynamoDB tells where it is asked to; others may not.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct ConsumedCapacity {
    pub(super) capacity_units: Option<f64>,
    table: Option<CapacityUnits>,
    global_secondary_indexes: Option<HashMap<String, CapacityUnits>>,
    local_secondary_indexes: Option<HashMap<String, CapacityUnits>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct CapacityUnits {
    capacity_units: Option<f64>,
}

impl ConsumedCapacity {
    fn consumed(self) -> Option<Consumed> {
        let indexes = [self.global_secondary_indexes, self.local_secondary_indexes];
        let indexes = indexes.into_iter().flatten().flatten();
        let units: Vec<f64> = indexes
            .filter_map(|(_, index)| index.capacity_units)
            .collect();
        Some(Consumed {
            total: self.capacity_units?,
            table: self.table.and_then(|table| table.capacity_units),
            indexes: units.iter().sum(),
            named_indexes: units.len(),
        })
    }
}

/// A request that comes back.
#[derive(Deserialize)]
struct UnprocessedRequest<'a> {
    #[serde(rename = "PutRequest", borrow)]
    put: Option<ItemOrKey<'a>>,
    #[serde(rename = "DeleteRequest", borrow)]
    delete: Option<ItemOrKey<'a>>,
}

/// What was put, or the key of what was deleted.
#[derive(Deserialize)]
struct ItemOrKey<'a> {
    #[serde(rename = "Item", alias = "Key", borrow)]
    json: &'a RawValue,
}

impl Dynamodb {
    /// Sends a batch as BatchWriteItem.
    pub(crate) async fn write_batch(&self, table: &Table, batch: &Batch) -> Result<BatchOutcome> {
        if batch.is_empty() {
            return Ok(BatchOutcome::default());
        }
        let action = self.action("BatchWriteItem", &table.name);
        let mut before = String::from("{\"RequestItems\":{");
        quote(&mut before, &table.name);
        before.push_str(":[");
        let after = "]},\"ReturnConsumedCapacity\":\"INDEXES\"}";
        let body = RequestBody::new(before, batch.wire(), after);
        let bytes = self.wire.send(&action, body).await?;
        let garbled = |_| action.service(None, "", 200, &bytes);
        let answer: BatchWriteResponse<'_> = serde_json::from_slice(&bytes).map_err(garbled)?;
        // An answer without this member is not DynamoDB's; a proxy's empty page would be one.
        let left = answer
            .unprocessed_items
            .ok_or_else(|| action.incomplete("UnprocessedItems"))?;
        Ok(BatchOutcome {
            unprocessed: find(table, batch, left, &action)?,
            // A batch is of one table.
            consumed: answer
                .consumed_capacity
                .into_iter()
                .flatten()
                .find_map(ConsumedCapacity::consumed),
        })
    }

    pub(super) async fn put_one(
        &self,
        table: &Table,
        batch: &Batch,
        index: usize,
    ) -> Result<BatchOutcome> {
        let Some(entry) = batch.entries().get(index) else {
            return Ok(BatchOutcome::default());
        };
        let (action, member) = match entry.action {
            Action::Put => (self.action("PutItem", &table.name), ",\"Item\":"),
            Action::Delete => (self.action("DeleteItem", &table.name), ",\"Key\":"),
        };
        let mut before = String::from("{\"TableName\":");
        quote(&mut before, &table.name);
        before.push_str(member);
        let after = ",\"ReturnConsumedCapacity\":\"INDEXES\"}";
        let body = RequestBody::new(before, batch.wire_json(index), after);
        let answer: SingleWriteResponse = self.call(&action, body).await?;
        Ok(BatchOutcome {
            unprocessed: Vec::new(),
            consumed: answer
                .consumed_capacity
                .and_then(ConsumedCapacity::consumed),
        })
    }
}

/// Finds the requests that came back in the batch that went out.
fn find(
    table: &Table,
    batch: &Batch,
    left: HashMap<String, Vec<UnprocessedRequest<'_>>>,
    action: &Attempt<'_>,
) -> Result<Vec<usize>> {
    if left.is_empty() {
        return Ok(Vec::new());
    }
    let stranger = || {
        action.error(
            TargetErrorKind::Connection,
            ErrorClass::Transient,
            "UnprocessedItems",
            "the answer lists an unprocessed item that was not sent",
        )
    };
    let sent: Vec<Option<ItemKey>> = (0..batch.len())
        .map(|index| key_in(table, batch.json(index)))
        .collect();
    let mut found = Vec::new();
    for request in left.into_values().flatten() {
        let index = (request.put.or(request.delete))
            .and_then(|sent| key_in(table, sent.json.get()))
            .and_then(|key| sent.iter().position(|sent| sent.as_ref() == Some(&key)))
            .ok_or_else(stranger)?;
        found.push(index);
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// The key in an item's JSON.
fn key_in(table: &Table, json: &str) -> Option<ItemKey> {
    let members: HashMap<String, &RawValue> = serde_json::from_str(json).ok()?;
    let read = |key: &KeyAttribute| {
        let raw = members.get(&*key.name)?.get();
        read_attribute(serde_json::from_str(raw).ok()?)
    };
    let partition = read(&table.partition)?;
    match &table.sort {
        None => Some((partition, None)),
        Some(sort) => Some((partition, Some(read(sort)?))),
    }
}
