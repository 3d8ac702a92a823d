//! Reading items: by their keys, as an access pattern asks, and page by page; retried here.

use std::collections::HashMap;
use std::time::Duration;

use dynafold_dynamodb::{
    Item, Position, Request, Table, attributes_value, object, read_attributes, request_value,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::super::{ErrorClass, ItemKey, Page, Result, ScanRequest, TargetError, TargetErrorKind};
use super::Dynamodb;
use super::classify::Attempt;
use super::wire::RequestBody;
use super::write::ConsumedCapacity;
use crate::persist::persist;
use crate::retry::{Decision, Policy, Retry};

/// Keys that one `BatchGetItem` takes.
const MOST_KEYS: usize = 100;

/// Most items of a page of a scan. DynamoDB ends a page at a megabyte, which may be tens of thousands of small
/// items: as objects they are many times as large.
const PAGE: u32 = 2_000;

/// A network cut of a minute is survived, and any throttling under which something is read.
const POLICY: Policy = Policy {
    base: Duration::from_millis(50),
    ceiling: Duration::from_secs(5),
    deadline: Duration::from_mins(2),
};

/// Nobody waits longer for an answer about a table.
const CONTROL: Policy = Policy {
    deadline: Duration::from_secs(5),
    ..POLICY
};

/// When an answer holds a value that DynamoDB cannot have stored.
#[derive(Debug, thiserror::Error)]
#[error("the answer has a value that is not a DynamoDB value")]
struct NotAValue;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct BatchGetResponse {
    responses: Option<HashMap<String, Vec<Value>>>,
    unprocessed_keys: Option<HashMap<String, UnprocessedKeys>>,
    consumed_capacity: Option<Vec<ConsumedCapacity>>,
}

/// Keys that come back as they were sent.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct UnprocessedKeys {
    keys: Vec<Value>,
}

/// What `GetItem`, `Query` and `Scan` answer.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct PageResponse {
    item: Option<Value>,
    items: Option<Vec<Value>>,
    last_evaluated_key: Option<Value>,
    consumed_capacity: Option<ConsumedCapacity>,
}

impl Dynamodb {
    /// Sends a request once and reads its answer.
    pub(super) async fn call<T>(&self, action: &Attempt<'_>, body: RequestBody) -> Result<T>
    where
        T: DeserializeOwned,
    {
        let bytes = self.wire.send(action, body).await?;
        serde_json::from_slice(&bytes).map_err(|error| {
            let damaged = action.service(None, "", 200, &bytes);
            // An error about data would quote it, and that may be a value of a row.
            if error.is_data() {
                damaged
            } else {
                damaged.with_cause(error, 0)
            }
        })
    }

    pub(super) async fn read_items(
        &self,
        table: &Table,
        keys: &[ItemKey],
        consistent: bool,
    ) -> Result<Page> {
        let action = self.action("BatchGetItem", &table.name);
        let mut page = Page::default();
        for keys in keys.chunks(MOST_KEYS) {
            let wanted = keys.iter().map(|(partition, sort)| {
                let values = std::iter::once(partition).chain(sort);
                attributes_value(table.key().map(|key| &*key.name).zip(values))
            });
            let (found, units) = self.read_all(table, wanted.collect(), consistent).await?;
            for found in found {
                let found = item(table, found).map_err(|error| action.garbled(error))?;
                page.items.push(found);
            }
            if let Some(units) = units {
                *page.units.get_or_insert(0.0) += units;
            }
        }
        Ok(page)
    }

    /// Asks until no key is left unprocessed, or nobody has read anything for too long. Gives the items, and the read units
    /// where the answers say so.
    async fn read_all(
        &self,
        table: &Table,
        mut wanted: Vec<Value>,
        consistent: bool,
    ) -> Result<(Vec<Value>, Option<f64>)> {
        let mut found = Vec::with_capacity(wanted.len());
        let mut units: Option<f64> = None;
        let _permit = self.read_limiter.enter().await;
        let begun = Instant::now();
        let mut retry = Retry::new(POLICY, fastrand::u64(..));
        loop {
            let (decision, failure) = match self.read_once(table, &wanted, consistent).await {
                Ok((mut items, left, used)) => {
                    if let Some(used) = used {
                        *units.get_or_insert(0.0) += used;
                    }
                    let progress = left.len() < wanted.len();
                    found.append(&mut items);
                    wanted = left;
                    if progress {
                        self.read_limiter.record_read(wanted.is_empty());
                    }
                    if wanted.is_empty() {
                        return Ok((found, units));
                    }
                    self.read_limiter.record_refusal();
                    let decision = retry.unprocessed(progress, self.read_limiter.idle(begun));
                    (decision, self.still_unprocessed(table))
                }
                Err(error) => {
                    if error.class == ErrorClass::Throttle {
                        self.read_limiter.record_refusal();
                    }
                    (
                        retry.failed(error.class, self.read_limiter.idle(begun)),
                        error,
                    )
                }
            };
            self.retry_warning.after_failure(&retry, decision, &failure);
            match decision {
                Decision::Retry(delay) => sleep(delay).await,
                Decision::Split | Decision::Fail => return Err(failure),
            }
        }
    }

    fn still_unprocessed(&self, table: &Table) -> TargetError {
        let action = self.action("BatchGetItem", &table.name);
        let message = "keys stay unprocessed (UnprocessedKeys), because reads are throttled";
        action
            .error(
                TargetErrorKind::Throttled,
                ErrorClass::Throttle,
                "ProvisionedThroughputExceededException",
                message,
            )
            .with_help(
                "the table allows too few reads: raise its read capacity, or start the same command again later",
            )
    }

    /// The items that were read, the keys that were left, and the read units where the answer says so.
    async fn read_once(
        &self,
        table: &Table,
        keys: &[Value],
        consistent: bool,
    ) -> Result<(Vec<Value>, Vec<Value>, Option<f64>)> {
        let action = self.action("BatchGetItem", &table.name);
        let wanted = json!({ "Keys": keys, "ConsistentRead": consistent });
        let body =
            json!({ "RequestItems": { &table.name: wanted }, "ReturnConsumedCapacity": "TOTAL" });
        let answer: BatchGetResponse = self.call(&action, RequestBody::of(&body)).await?;
        let items = answer
            .responses
            .ok_or_else(|| action.incomplete("Responses"))?;
        let left = answer.unprocessed_keys.unwrap_or_default();
        let used = answer.consumed_capacity.into_iter().flatten();
        let used: Vec<f64> = used.filter_map(|used| used.capacity_units).collect();
        Ok((
            items.into_values().flatten().collect(),
            left.into_values().flat_map(|keys| keys.keys).collect(),
            (!used.is_empty()).then(|| used.iter().sum()),
        ))
    }

    /// One page of what an access pattern asks for.
    pub(super) async fn ask_page(
        &self,
        table: &Table,
        request: &Request,
        from: Option<Position>,
    ) -> Result<Page> {
        let action = match request {
            Request::Get { .. } => self.action("GetItem", &table.name),
            Request::Query(_) => self.action("Query", &table.name),
        };
        let (_, body) = request_value(request, &table.name);
        self.page(table, &action, body, from).await
    }

    /// One page of a scan, or of a query of one partition; strongly consistent.
    pub(super) async fn scan_page(
        &self,
        table: &Table,
        wanted: &ScanRequest,
        from: Option<Position>,
    ) -> Result<Page> {
        // Names may be reserved words.
        let mut names: serde_json::Map<String, Value> = wanted
            .attributes
            .iter()
            .flatten()
            .enumerate()
            .map(|(at, name)| (format!("#a{at}"), json!(&**name)))
            .collect();
        let places: Vec<&str> = names.keys().map(String::as_str).collect();
        let projection = wanted.attributes.as_ref().map(|_| json!(places.join(",")));
        let (action, condition, values) = match &wanted.partition {
            Some(value) => {
                let name = json!(&*table.partition.name);
                names.insert("#partition".to_owned(), name);
                let values = attributes_value(std::iter::once((":partition", value)));
                let condition = Some(json!("#partition = :partition"));
                (self.action("Query", &table.name), condition, Some(values))
            }
            None => (self.action("Scan", &table.name), None, None),
        };
        let is_part = wanted.partition.is_none() && wanted.segments > 1;
        let body = object([
            ("TableName", Some(json!(table.name))),
            ("ConsistentRead", Some(json!(true))),
            ("Limit", Some(json!(PAGE))),
            ("KeyConditionExpression", condition),
            ("ExpressionAttributeValues", values),
            ("ProjectionExpression", projection),
            (
                "ExpressionAttributeNames",
                (!names.is_empty()).then_some(Value::Object(names)),
            ),
            ("Segment", is_part.then(|| json!(wanted.segment))),
            ("TotalSegments", is_part.then(|| json!(wanted.segments))),
        ]);
        self.page(table, &action, body, from).await
    }

    /// Reads a page, again while the failure is one that passes.
    async fn page(
        &self,
        table: &Table,
        action: &Attempt<'_>,
        mut body: Value,
        from: Option<Position>,
    ) -> Result<Page> {
        if let Some(members) = body.as_object_mut() {
            let from = from.iter().flatten().map(|(name, value)| (&**name, value));
            let from = attributes_value(from);
            if from != json!({}) {
                members.insert("ExclusiveStartKey".to_owned(), from);
            }
            members.insert("ReturnConsumedCapacity".to_owned(), json!("TOTAL"));
        }
        let answer = self.persist(action, &body, POLICY).await?;
        page(table, action, answer)
    }

    /// Sends a request about tables, again for some seconds while the failure is one that passes.
    pub(super) async fn control<T>(
        &self,
        operation: &'static str,
        table: &str,
        body: &Value,
    ) -> Result<T>
    where
        T: DeserializeOwned,
    {
        let action = self.action(operation, table);
        self.persist(&action, body, CONTROL).await
    }

    async fn persist<T>(&self, action: &Attempt<'_>, body: &Value, policy: Policy) -> Result<T>
    where
        T: DeserializeOwned,
    {
        let send = move || self.call(action, RequestBody::of(body));
        persist(policy, &self.retry_warning, send).await
    }
}

/// A page as an answer holds it.
fn page(table: &Table, action: &Attempt<'_>, answer: PageResponse) -> Result<Page> {
    let garbled = |error: NotAValue| action.garbled(error);
    let found = match action.operation {
        "GetItem" => Some(answer.item.into_iter().collect()),
        _ => answer.items,
    };
    let items = found
        .ok_or_else(|| action.incomplete("Items"))?
        .into_iter()
        .map(|found| item(table, found))
        .collect::<Result<_, _>>();
    let next = answer.last_evaluated_key.filter(|key| *key != json!({}));
    let next = next.map(|key| read_attributes(key).ok_or(NotAValue));
    Ok(Page {
        items: items.map_err(garbled)?,
        next: next.transpose().map_err(garbled)?,
        units: answer.consumed_capacity.and_then(|all| all.capacity_units),
    })
}

/// An item: key attributes first, the others by name.
fn item(table: &Table, json: Value) -> Result<Item, NotAValue> {
    let rank = |name: &str| {
        let at = table.key().position(|key| *key.name == *name);
        at.unwrap_or(usize::MAX)
    };
    let mut attributes = read_attributes(json).ok_or(NotAValue)?;
    attributes.sort_by_key(|(name, _)| rank(name));
    Ok(Item { attributes })
}
