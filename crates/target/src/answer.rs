//! Asks what an access pattern takes: all its requests, and as many pages as are wanted.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::time::{Duration, Instant};

use dynafold_dynamodb::{
    CallPlan, Item, Request, ShardAnswer, Table, merge, partition_fingerprint,
};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};

use super::{ItemKey, Result, Target};

/// Requests that are under way at once.
const IN_FLIGHT: usize = 10;
/// Keys that one `BatchGetItem` takes.
const MOST_KEYS: usize = 100;

/// What one call of an access pattern brought.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CallResult {
    /// The items, in the order of the pattern.
    pub items: Vec<Item>,
    /// Pages that were read, of all shards, and further requests for whole items.
    pub pages: u64,
    /// Read units that they took, where the answers say so.
    pub units: Option<f64>,
    /// Whether there is more than was asked for.
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

/// Asks a table. Without `all` each request is asked for one page, or for as many as its limit takes.
///
/// # Errors
///
/// That of the first request which fails.
pub async fn answer(
    target: &dyn Target,
    table: &Table,
    plan: &CallPlan,
    all: bool,
) -> Result<CallResult> {
    let begun = Instant::now();
    let most = plan.limit.and_then(|limit| usize::try_from(limit).ok());
    let parts = stream::iter(&plan.requests).map(|request| part(target, table, request, most, all));
    let parts: Vec<RequestResult> = parts.buffered(IN_FLIGHT).try_collect().await?;
    let mut answer = CallResult::default();
    let mut shards = Vec::new();
    for part in parts {
        answer.pages += part.pages;
        if let Some(units) = part.units {
            *answer.units.get_or_insert(0.0) += units;
        }
        shards.push(part.shard);
    }
    (answer.items, answer.more) = match shards.pop() {
        Some(only) if shards.is_empty() => (only.items, only.next.is_some()),
        last => {
            shards.extend(last);
            merge(shards, &plan.order, plan.descending)
        }
    };
    if let Some(most) = most
        && answer.items.len() >= most
    {
        answer.items.truncate(most);
        answer.more = false;
    }
    if let Some(consistent) = plan.fetch {
        fetch(target, table, &mut answer, consistent).await?;
    }
    answer.elapsed = begun.elapsed();
    Ok(answer)
}

/// Reads the items of an answer whole, by their keys. One that has gone since is left out.
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
        if let Some(units) = page.units {
            *answer.units.get_or_insert(0.0) += units;
        }
        items.extend(page.items);
    }
    items.sort_by_key(|item| places.get(&fingerprint(item)).copied());
    answer.items = items;
    Ok(())
}

/// Asks one request, page by page.
async fn part(
    target: &dyn Target,
    table: &Table,
    request: &Request,
    most: Option<usize>,
    all: bool,
) -> Result<RequestResult> {
    let mut part = RequestResult::default();
    loop {
        let page = target.ask(table, request, part.shard.next.take()).await?;
        part.pages += 1;
        if let Some(units) = page.units {
            *part.units.get_or_insert(0.0) += units;
        }
        part.shard.items.extend(page.items);
        part.shard.next = page.next;
        let is_enough = match most {
            Some(most) => part.shard.items.len() >= most,
            None => !all,
        };
        if is_enough || part.shard.next.is_none() {
            return Ok(part);
        }
    }
}
