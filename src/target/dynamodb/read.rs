//! Reading items by key: strongly consistent, retried here.

use std::future::Future;
use std::time::Duration;

use aws_sdk_dynamodb::types::KeysAndAttributes;
use tokio::time::{Instant, sleep};

use super::Dynamodb;
use super::classify::Attempt;
use super::convert::{self, Fields};
use crate::item::Item;
use crate::mapping::model::Table;
use crate::retry::{Decision, Policy, Retry};
use crate::target::{ErrorClass, Key, TargetError};

/// Keys that one `BatchGetItem` takes.
const MOST_KEYS: usize = 100;

/// A network cut of a minute is survived, and any throttling under which something is read.
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

    /// Asks until no key is left unprocessed, or nobody has read anything for too long.
    async fn read_all(
        &self,
        table: &Table,
        mut wanted: Vec<Fields>,
    ) -> Result<Vec<Fields>, TargetError> {
        let mut found = Vec::with_capacity(wanted.len());
        let _place = self.crowd.enter().await;
        let begun = Instant::now();
        let mut retry = Retry::new(POLICY, fastrand::u64(..));
        loop {
            let (decision, failure) = match self.read_once(table, &wanted).await {
                Ok((mut items, left)) => {
                    let progress = left.len() < wanted.len();
                    found.append(&mut items);
                    wanted = left;
                    if progress {
                        self.crowd.read(wanted.is_empty());
                    }
                    if wanted.is_empty() {
                        return Ok(found);
                    }
                    self.crowd.refused();
                    let decision = retry.unprocessed(progress, self.crowd.idle(begun));
                    (decision, self.still_unprocessed(table))
                }
                Err(error) => {
                    if error.class == ErrorClass::Throttle {
                        self.crowd.refused();
                    }
                    (retry.failed(error.class, self.crowd.idle(begun)), error)
                }
            };
            match decision {
                Decision::Retry(delay) => sleep(delay).await,
                Decision::Split | Decision::Fail => return Err(failure),
            }
        }
    }

    fn still_unprocessed(&self, table: &Table) -> TargetError {
        self.action("BatchGetItem", &table.name).error(
            ErrorClass::Throttle,
            "ProvisionedThroughputExceededException",
            "keys stay unprocessed, which means that reading is throttled",
            Some("the table takes too few reads: raise its read capacity, or run again later"),
        )
    }

    async fn read_once(
        &self,
        table: &Table,
        keys: &[Fields],
    ) -> Result<(Vec<Fields>, Vec<Fields>), TargetError> {
        let action = self.action("BatchGetItem", &table.name);
        let wanted = KeysAndAttributes::builder()
            .set_keys(Some(keys.to_vec()))
            .consistent_read(true)
            .build()
            .map_err(|error| action.garbled(&error))?;
        let ask = || async {
            let asked = self.data.batch_get_item();
            let asked = asked.request_items(&table.name, wanted.clone());
            asked.send().await.map_err(|error| action.classify(&error))
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
    ) -> Result<T, TargetError>
    where
        F: Future<Output = Result<T, TargetError>>,
    {
        let begun = Instant::now();
        let mut retry = Retry::new(POLICY, fastrand::u64(..));
        loop {
            let error = match self.wire.renewing(action, &call).await {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            match retry.failed(error.class, begun.elapsed()) {
                Decision::Retry(delay) => sleep(delay).await,
                Decision::Split | Decision::Fail => return Err(error),
            }
        }
    }
}
