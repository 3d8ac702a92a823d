//! Asks what an access pattern takes: all its requests, and as many pages as are wanted.

use std::time::{Duration, Instant};

use dynafold_dynamodb::{CallPlan, Item, Request, ShardAnswer, Table, merge};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};

use super::{Result, Target};

/// Shards that are asked at once.
const IN_FLIGHT: usize = 10;

/// What one call of an access pattern brought.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CallResult {
    /// The items, in the order of the pattern.
    pub items: Vec<Item>,
    /// Pages that were read, of all shards.
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
    answer.elapsed = begun.elapsed();
    Ok(answer)
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
