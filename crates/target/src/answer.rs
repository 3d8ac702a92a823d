//! Asks all requests of an access pattern, as many pages of each as are wanted.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::time::{Duration, Instant};

use dynafold_dynamodb::{
    CallPlan, Item, Request, ShardAnswer, Table, merge, partition_fingerprint,
};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};

use super::{ItemKey, Result, Target};

/// Requests in flight at once.
const IN_FLIGHT: usize = 10;
/// Keys that one `BatchGetItem` takes at most.
const MOST_KEYS: usize = 100;

/// What one call of an access pattern brought.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CallResult {
    /// The items, in the order of the pattern.
    pub items: Vec<Item>,
    /// Pages read from all shards, and requests that read the items whole.
    pub pages: u64,
    /// Read units that they took; `None` if no answer said so.
    pub units: Option<f64>,
    /// Whether further items follow the pages that were read; never where a limit ends the answer.
    pub more: bool,
    /// How long it took.
    pub elapsed: Duration,
}

/// What one request brought.
#[derive(Default)]
struct RequestResult {
    shard: ShardAnswer,
    pages: u64,
    units: Option<f64>,
}

/// Asks a table. Without `all` and without a limit, one page of each request is read.
///
/// # Errors
///
/// The error of the first request that fails.
pub async fn answer(
    target: &dyn Target,
    table: &Table,
    plan: &CallPlan,
    all: bool,
) -> Result<CallResult> {
    let begun = Instant::now();
    let limit = plan.limit.and_then(|limit| usize::try_from(limit).ok());
    let results =
        stream::iter(&plan.requests).map(|request| ask_all(target, table, request, limit, all));
    let results: Vec<RequestResult> = results.buffered(IN_FLIGHT).try_collect().await?;
    let mut answer = CallResult::default();
    let mut shards = Vec::new();
    for result in results {
        answer.pages += result.pages;
        add_units(&mut answer.units, result.units);
        shards.push(result.shard);
    }
    (answer.items, answer.more) = match shards.pop() {
        Some(only) if shards.is_empty() => (only.items, only.next.is_some()),
        last => {
            shards.extend(last);
            merge(shards, &plan.order, plan.descending)
        }
    };
    if let Some(limit) = limit
        && answer.items.len() >= limit
    {
        answer.items.truncate(limit);
        answer.more = false;
    }
    if let Some(consistent) = plan.fetch {
        fetch(target, table, &mut answer, consistent).await?;
    }
    answer.elapsed = begun.elapsed();
    Ok(answer)
}

/// Reads the items of an answer whole, by their keys. An item that was deleted since is left out.
async fn fetch(
    target: &dyn Target,
    table: &Table,
    answer: &mut CallResult,
    consistent: bool,
) -> Result<()> {
    let fingerprint = |item: &Item| {
        let values = table.key().filter_map(|key| item.get(&key.name));
        partition_fingerprint(values)
    };
    let mut places: HashMap<u128, usize> = HashMap::new();
    let mut keys: Vec<ItemKey> = Vec::new();
    for item in &answer.items {
        let mut values = table.key().map(|key| item.get(&key.name).cloned());
        let (partition, sort) = (values.next().flatten(), values.next().flatten());
        // A request names no key twice.
        if let (Some(partition), Entry::Vacant(place)) =
            (partition, places.entry(fingerprint(item)))
        {
            place.insert(keys.len());
            keys.push((partition, sort));
        }
    }
    let pages =
        stream::iter(keys.chunks(MOST_KEYS)).map(|keys| target.read(table, keys, consistent));
    let pages: Vec<_> = pages.buffered(IN_FLIGHT).try_collect().await?;
    let mut items = Vec::new();
    for page in pages {
        answer.pages += 1;
        add_units(&mut answer.units, page.units);
        items.extend(page.items);
    }
    items.sort_by_key(|item| places.get(&fingerprint(item)).copied());
    answer.items = items;
    Ok(())
}

/// Adds read units where an answer says them.
fn add_units(sum: &mut Option<f64>, units: Option<f64>) {
    if let Some(units) = units {
        *sum.get_or_insert(0.0) += units;
    }
}

/// Asks one request, page by page, until there are `limit` items; without a limit for one page, or for `all`.
async fn ask_all(
    target: &dyn Target,
    table: &Table,
    request: &Request,
    limit: Option<usize>,
    all: bool,
) -> Result<RequestResult> {
    let mut result = RequestResult::default();
    loop {
        let next = result.shard.next.take();
        let page = target.ask(table, request, next).await?;
        result.pages += 1;
        add_units(&mut result.units, page.units);
        result.shard.items.extend(page.items);
        result.shard.next = page.next;
        let is_enough = match limit {
            Some(limit) => result.shard.items.len() >= limit,
            None => !all,
        };
        if is_enough || result.shard.next.is_none() {
            return Ok(result);
        }
    }
}
