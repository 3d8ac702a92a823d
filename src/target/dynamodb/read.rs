//! Reading items by key: strongly consistent, retried here.

use std::future::Future;
use std::time::Duration;

use aws_sdk_dynamodb::types::KeysAndAttributes;
use tokio::time::{Instant, sleep};

use super::Dynamodb;
use super::convert::{self, Fields};
use crate::item::Item;
use crate::mapping::model::Table;
use crate::retry::{Decision, Policy, Retry};
use crate::target::{ErrorClass, Key, TargetError};

/// Keys that one `BatchGetItem` takes.
const MOST_KEYS: usize = 100;

/// A network cut of a minute is survived.
const POLICY: Policy = Policy {
    base: Duration::from_millis(50),
    ceiling: Duration::from_secs(5),
    deadline: Duration::from_mins(2),
};

impl Dynamodb {
    pub(super) async fn read_items(
        &self,
        table: &Table,
        keys: &[Key],
    ) -> Result<Vec<Item>, TargetError> {
        let mut items = Vec::with_capacity(keys.len());
        for keys in keys.chunks(MOST_KEYS) {
            let fields = keys
                .iter()
                .map(|key| convert::key_fields(table, key))
                .collect::<Result<Vec<_>, _>>()
                .map_err(|error| self.action("BatchGetItem", &table.name).garbled(&error))?;
            for found in self.read_all(table, fields).await? {
                let item = convert::item(table, found)
                    .map_err(|error| self.action("BatchGetItem", &table.name).garbled(&error))?;
                items.push(item);
            }
        }
        Ok(items)
    }

    /// Asks until no key is left unprocessed.
    async fn read_all(
        &self,
        table: &Table,
        mut wanted: Vec<Fields>,
    ) -> Result<Vec<Fields>, TargetError> {
        let mut found = Vec::with_capacity(wanted.len());
        let begun = Instant::now();
        let mut retry = Retry::new(POLICY, fastrand::u64(..));
        while !wanted.is_empty() {
            let (mut items, left) = persist(|| self.read_once(table, wanted.clone())).await?;
            let progress = left.len() < wanted.len();
            found.append(&mut items);
            wanted = left;
            if wanted.is_empty() {
                break;
            }
            match retry.unprocessed(progress, begun.elapsed()) {
                Decision::Retry(delay) => sleep(delay).await,
                Decision::Split | Decision::Fail => {
                    return Err(self.action("BatchGetItem", &table.name).error(
                        ErrorClass::Throttle,
                        "ProvisionedThroughputExceededException",
                        "keys stay unprocessed, which means that reading is throttled",
                        None,
                    ));
                }
            }
        }
        Ok(found)
    }

    async fn read_once(
        &self,
        table: &Table,
        keys: Vec<Fields>,
    ) -> Result<(Vec<Fields>, Vec<Fields>), TargetError> {
        let action = self.action("BatchGetItem", &table.name);
        let request = KeysAndAttributes::builder()
            .set_keys(Some(keys))
            .consistent_read(true)
            .build()
            .map_err(|error| action.garbled(&error))?;
        let answer = self
            .data
            .batch_get_item()
            .request_items(&table.name, request)
            .send()
            .await
            .map_err(|error| action.classify(&error))?;
        let items = answer
            .responses
            .ok_or_else(|| action.incomplete("Responses"))?;
        let left = answer.unprocessed_keys.unwrap_or_default();
        Ok((
            items.into_values().flatten().collect(),
            left.into_values().flat_map(|keys| keys.keys).collect(),
        ))
    }
}

/// Calls again while the failure is one that passes.
pub(super) async fn persist<T, F>(mut call: impl FnMut() -> F) -> Result<T, TargetError>
where
    F: Future<Output = Result<T, TargetError>>,
{
    let begun = Instant::now();
    let mut retry = Retry::new(POLICY, fastrand::u64(..));
    loop {
        let error = match call().await {
            Ok(answer) => return Ok(answer),
            Err(error) => error,
        };
        match retry.failed(error.class, begun.elapsed()) {
            Decision::Retry(delay) => sleep(delay).await,
            Decision::Split | Decision::Fail => return Err(error),
        }
    }
}
