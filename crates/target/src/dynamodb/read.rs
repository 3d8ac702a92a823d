//! Reading items by key: strongly consistent, retried here.

use std::collections::HashMap;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::{
    AttributeValue, ConsumedCapacity, KeysAndAttributes, ReturnConsumedCapacity,
};
use dynafold_dynamodb::{Attribute, Item, Position, Query, Request, Table};
use dynafold_relational::value::{Number, Text};
use tokio::time::{Instant, sleep};

use super::super::{ErrorClass, ItemKey, Page, Result, TargetError, TargetErrorKind};
use super::Dynamodb;
use super::classify::Attempt;
use crate::retry::{Decision, Policy, Retry};

/// Keys that one `BatchGetItem` takes.
const MOST_KEYS: usize = 100;

/// A network cut of a minute is survived, and any throttling under which something is read.
const POLICY: Policy = Policy {
    base: Duration::from_millis(50),
    ceiling: Duration::from_secs(5),
    deadline: Duration::from_mins(2),
};

impl Dynamodb {
    pub(super) async fn read_items(&self, table: &Table, keys: &[ItemKey]) -> Result<Vec<Item>> {
        let garbled = |error: NotAValue| self.action("BatchGetItem", &table.name).garbled(error);
        let mut items = Vec::with_capacity(keys.len());
        for keys in keys.chunks(MOST_KEYS) {
            let fields = keys.iter().map(|key| key_fields(table, key));
            let fields = fields.collect::<Result<_, _>>().map_err(garbled)?;
            for found in self.read_all(table, fields).await? {
                items.push(item(table, found).map_err(garbled)?);
            }
        }
        Ok(items)
    }

    /// Asks until no key is left unprocessed, or nobody has read anything for too long.
    async fn read_all(&self, table: &Table, mut wanted: Vec<Fields>) -> Result<Vec<Fields>> {
        let mut found = Vec::with_capacity(wanted.len());
        let _place = self.read_limiter.enter().await;
        let begun = Instant::now();
        let mut retry = Retry::new(POLICY, fastrand::u64(..));
        loop {
            let (decision, failure) = match self.read_once(table, &wanted).await {
                Ok((mut items, left)) => {
                    let progress = left.len() < wanted.len();
                    found.append(&mut items);
                    wanted = left;
                    if progress {
                        self.read_limiter.read(wanted.is_empty());
                    }
                    if wanted.is_empty() {
                        return Ok(found);
                    }
                    self.read_limiter.refused();
                    let decision = retry.unprocessed(progress, self.read_limiter.idle(begun));
                    (decision, self.still_unprocessed(table))
                }
                Err(error) => {
                    if error.class == ErrorClass::Throttle {
                        self.read_limiter.refused();
                    }
                    (
                        retry.failed(error.class, self.read_limiter.idle(begun)),
                        error,
                    )
                }
            };
            self.patience.ends(&retry, &failure);
            match decision {
                Decision::Retry(delay) => sleep(delay).await,
                Decision::Split | Decision::Fail => return Err(failure),
            }
        }
    }

    fn still_unprocessed(&self, table: &Table) -> TargetError {
        let action = self.action("BatchGetItem", &table.name);
        let message = "keys stay unprocessed, which means that reading is throttled";
        action
            .error(
                TargetErrorKind::Throttled,
                ErrorClass::Throttle,
                "ProvisionedThroughputExceededException",
                message,
            )
            .with_help("the table takes too few reads: raise its read capacity, or run again later")
    }

    async fn read_once(
        &self,
        table: &Table,
        keys: &[Fields],
    ) -> Result<(Vec<Fields>, Vec<Fields>)> {
        let action = self.action("BatchGetItem", &table.name);
        let wanted = KeysAndAttributes::builder()
            .set_keys(Some(keys.to_vec()))
            .consistent_read(true)
            .build()
            .map_err(|error| action.garbled(error))?;
        let ask = || async {
            let asked = self.data.batch_get_item();
            let asked = asked.request_items(&table.name, wanted.clone());
            asked.send().await.map_err(|error| action.classify(error))
        };
        let answer = self.wire.renewing(&action, ask).await?;
        let items = answer
            .responses
            .ok_or_else(|| action.incomplete("Responses"))?;
        let left = answer.unprocessed_keys.unwrap_or_default();
        Ok((
            items.into_values().flatten().collect(),
            left.into_values().flat_map(|keys| keys.keys).collect(),
        ))
    }

    /// Calls again while the failure is one that passes.
    pub(super) async fn persist<T, F>(
        &self,
        action: &Attempt<'_>,
        call: impl Fn() -> F,
    ) -> Result<T>
    where
        F: Future<Output = Result<T>>,
    {
        let begun = Instant::now();
        let mut retry = Retry::new(POLICY, fastrand::u64(..));
        loop {
            let error = match self.wire.renewing(action, &call).await {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            let decision = retry.failed(error.class, begun.elapsed());
            self.patience.ends(&retry, &error);
            match decision {
                Decision::Retry(delay) => sleep(delay).await,
                Decision::Split | Decision::Fail => return Err(error),
            }
        }
    }
}

// Asking as an access pattern does: `GetItem`, or a page of a `Query`.

impl Dynamodb {
    pub(super) async fn ask_page(
        &self,
        table: &Table,
        request: &Request,
        from: Option<Position>,
    ) -> Result<Page> {
        match request {
            Request::Get { key, consistent } => {
                let action = self.action("GetItem", &table.name);
                let key = fields(key).map_err(|error| action.garbled(error))?;
                let request = self
                    .data
                    .get_item()
                    .table_name(&table.name)
                    .set_key(Some(key))
                    .consistent_read(*consistent)
                    .return_consumed_capacity(ReturnConsumedCapacity::Total);
                let call = || async {
                    let answer = request.clone().send().await;
                    let answer = answer.map_err(|error| action.classify(error))?;
                    let items = Some(answer.item.into_iter().collect());
                    page(table, &action, items, None, answer.consumed_capacity)
                };
                self.persist(&action, call).await
            }
            Request::Query(query) => self.query_page(table, query, None, from).await,
        }
    }

    /// One page of a query. `projection`: the attributes that are wanted, where not all are.
    pub(super) async fn query_page(
        &self,
        table: &Table,
        query: &Query,
        projection: Option<&str>,
        from: Option<Position>,
    ) -> Result<Page> {
        let action = self.action("Query", &table.name);
        let garbled = |error: NotAValue| action.garbled(error);
        let from = from.as_ref().map(fields).transpose().map_err(garbled)?;
        let values = query.values.iter();
        let values = values.map(|(place, given)| Ok((place.clone(), value(given)?)));
        let values: Fields = values.collect::<Result<_, _>>().map_err(garbled)?;
        let names = query.names.iter();
        let names = names.map(|(place, name)| (place.clone(), name.to_string()));
        let limit = query.limit.and_then(|limit| i32::try_from(limit).ok());
        let request = self
            .data
            .query()
            .table_name(&table.name)
            .set_index_name(query.index.as_ref().map(ToString::to_string))
            .key_condition_expression(&query.condition)
            .set_filter_expression(query.filter.clone())
            .set_projection_expression(projection.map(str::to_owned))
            .set_expression_attribute_names(Some(names.collect()))
            .set_expression_attribute_values(Some(values))
            .scan_index_forward(!query.descending)
            .set_limit(limit)
            .consistent_read(query.consistent)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .set_exclusive_start_key(from);
        let call = || async {
            let answer = request.clone().send().await;
            let answer = answer.map_err(|error| action.classify(error))?;
            let (items, next) = (answer.items, answer.last_evaluated_key);
            page(table, &action, items, next, answer.consumed_capacity)
        };
        self.persist(&action, call).await
    }
}

/// A page as an answer holds it.
pub(super) fn page(
    table: &Table,
    action: &Attempt<'_>,
    items: Option<Vec<Fields>>,
    next: Option<Fields>,
    consumed: Option<ConsumedCapacity>,
) -> Result<Page> {
    let garbled = |error: NotAValue| action.garbled(error);
    let items = items.ok_or_else(|| action.incomplete("Items"))?;
    let items = items.into_iter().map(|fields| item(table, fields));
    let next = next.filter(|fields| !fields.is_empty()).map(members);
    Ok(Page {
        items: items.collect::<Result<_, _>>().map_err(garbled)?,
        next: next.transpose().map_err(garbled)?,
        units: consumed.and_then(|all| all.capacity_units),
    })
}

pub(super) fn fields(position: &Position) -> Result<Fields, NotAValue> {
    let fields = position.iter();
    let fields = fields.map(|(name, value)| Ok((name.to_string(), scalar(value)?)));
    fields.collect()
}

// Attributes to the SDK's values and back.

/// An item as the SDK holds it.
pub(super) type Fields = HashMap<String, AttributeValue>;

/// When an answer holds a value that DynamoDB cannot have stored.
#[derive(Debug, thiserror::Error)]
#[error("the answer holds a value that is no DynamoDB value")]
pub(super) struct NotAValue;

/// The fields of a key. The key's type is the table's, so that it fits.
fn key_fields(table: &Table, key: &ItemKey) -> Result<Fields, NotAValue> {
    let mut fields = Fields::new();
    fields.insert(table.partition.name.to_string(), scalar(&key.0)?);
    if let (Some(sort), Some(value)) = (&table.sort, &key.1) {
        fields.insert(sort.name.to_string(), scalar(value)?);
    }
    Ok(fields)
}

/// A value that a key may have.
fn scalar(attribute: &Attribute) -> Result<AttributeValue, NotAValue> {
    match attribute {
        Attribute::S(text) => Ok(AttributeValue::S(text.to_string())),
        Attribute::N(number) => Ok(AttributeValue::N(number.as_str().to_owned())),
        Attribute::B(bytes) => Ok(AttributeValue::B(Blob::new(bytes.clone()))),
        _ => Err(NotAValue),
    }
}

/// A value that a filter may compare with.
fn value(attribute: &Attribute) -> Result<AttributeValue, NotAValue> {
    match attribute {
        Attribute::Bool(truth) => Ok(AttributeValue::Bool(*truth)),
        Attribute::Null => Ok(AttributeValue::Null(true)),
        other => scalar(other),
    }
}

/// An item: key attributes first, the others by name, since the SDK keeps no order.
fn item(table: &Table, fields: Fields) -> Result<Item, NotAValue> {
    let rank = |name: &str| {
        let at = table.key().position(|key| *key.name == *name);
        at.unwrap_or(usize::MAX)
    };
    let mut attributes = members(fields)?;
    attributes.sort_by(|(a, _), (b, _)| rank(a).cmp(&rank(b)).then_with(|| a.cmp(b)));
    Ok(Item { attributes })
}

fn members(fields: Fields) -> Result<Vec<(Arc<str>, Attribute)>, NotAValue> {
    let mut members = each(fields, |(name, value)| {
        Ok((Arc::<str>::from(name), of_value(value)?))
    })?;
    members.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(members)
}

fn of_value(value: AttributeValue) -> Result<Attribute, NotAValue> {
    Ok(match value {
        AttributeValue::S(text) => Attribute::S(text.into()),
        AttributeValue::N(text) => Attribute::N(number(&text)?),
        AttributeValue::B(bytes) => Attribute::B(bytes.into_inner()),
        AttributeValue::Bool(truth) => Attribute::Bool(truth),
        AttributeValue::Null(_) => Attribute::Null,
        AttributeValue::L(elements) => Attribute::L(each(elements, of_value)?),
        AttributeValue::M(fields) => Attribute::M(members(fields)?),
        AttributeValue::Ss(texts) => Attribute::Ss(texts.into_iter().map(Text::from).collect()),
        AttributeValue::Ns(texts) => Attribute::Ns(each(texts, |text| number(&text))?),
        AttributeValue::Bs(all) => Attribute::Bs(all.into_iter().map(Blob::into_inner).collect()),
        _ => return Err(NotAValue),
    })
}

fn each<T, U>(
    values: impl IntoIterator<Item = T>,
    read: impl Fn(T) -> Result<U, NotAValue>,
) -> Result<Vec<U>, NotAValue> {
    values.into_iter().map(read).collect()
}

fn number(text: &str) -> Result<Number, NotAValue> {
    Number::parse(text).map_err(|_| NotAValue)
}
