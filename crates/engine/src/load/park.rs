//! Where items of hot partitions wait, so that nobody waits behind them.
//!
//! Each hot partition has a queue and a task that sends from it at the partition's own pace. What
//! may wait is bounded in bytes; beyond them the writers wait too.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dynafold_target::{Batch, Entry};
use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use tokio::sync::Semaphore;
use tokio::task::{JoinError, JoinSet};
use tokio::time::{Duration, Instant};

use super::ending::{Failure, Halt, Why};
use super::pace::of;
use super::parcel::{Origin, Parcel};

/// KiB of items that may wait.
const KIB: u32 = 64 << 10;
/// Most items of one batch.
const ITEMS: usize = 25;

/// The park of a run.
#[derive(Debug)]
pub(super) struct Park {
    queues: Mutex<HashMap<u64, VecDeque<Parked>>>,
    tasks: Mutex<JoinSet<()>>,
    room: Arc<Semaphore>,
    /// Milliseconds that the run's end waited for what was left here.
    waited: AtomicU64,
}

#[derive(Debug)]
struct Parked {
    entry: Entry,
    json: String,
    origin: Origin,
    _room: Option<tokio::sync::OwnedSemaphorePermit>,
}

impl Default for Park {
    fn default() -> Self {
        Self {
            queues: Mutex::default(),
            tasks: Mutex::default(),
            room: Arc::new(Semaphore::new(usize::try_from(KIB).unwrap_or(usize::MAX))),
            waited: AtomicU64::new(0),
        }
    }
}

impl Park {
    /// Takes an item of a hot partition in, when there is room for it. Says whether nothing of its
    /// partition waited: somebody has to send from it then.
    pub(super) async fn take(&self, entry: Entry, json: String, origin: Origin) -> bool {
        let kib = u32::try_from(json.len() / 1024 + 1).unwrap_or(KIB).min(KIB);
        let room = self.room.clone().acquire_many_owned(kib).await.ok();
        let parked = Parked {
            entry,
            json,
            origin,
            _room: room,
        };
        let mut queues = self.queues.lock();
        let queue = queues.entry(entry.partition);
        let first = matches!(queue, std::collections::hash_map::Entry::Vacant(_));
        queue.or_default().push_back(parked);
        first
    }

    /// Has a task send what waits of a partition.
    pub(super) fn spawn(&self, drain: BoxFuture<'static, ()>, halt: &Halt) {
        let mut tasks = self.tasks.lock();
        while let Some(ended) = tasks.try_join_next() {
            ended_well(&ended, halt);
        }
        tasks.spawn(drain);
    }

    /// How long the end of the run waited for what was left here.
    pub(super) fn waited(&self) -> Duration {
        Duration::from_millis(self.waited.load(Ordering::Relaxed))
    }

    /// Waits until nothing waits.
    pub(super) async fn settle(&self, halt: &Halt) {
        let from = Instant::now();
        loop {
            let mut tasks = std::mem::take(&mut *self.tasks.lock());
            if tasks.is_empty() {
                let waited = u64::try_from(from.elapsed().as_millis()).unwrap_or(u64::MAX);
                self.waited.fetch_add(waited, Ordering::Relaxed);
                return;
            }
            while let Some(ended) = tasks.join_next().await {
                ended_well(&ended, halt);
            }
        }
    }

    /// The next batch of a partition; `None` where its queue is empty, which is then gone.
    pub(super) fn next(&self, partition: u64, most: f64) -> Option<Parcel> {
        let mut queues = self.queues.lock();
        let queue = queues.get_mut(&partition)?;
        let mut parcel = Parcel::default();
        let mut batch = Batch::new();
        let mut keys = Vec::new();
        let mut units = 0.0;
        while let Some(next) = queue.front() {
            let entry = next.entry;
            let full = keys.len() >= ITEMS
                || (units > 0.0 && units + of(entry.units) > most)
                || keys.contains(&entry.fingerprint);
            if full {
                break;
            }
            let Some(next) = queue.pop_front() else { break };
            units += of(entry.units);
            keys.push(entry.fingerprint);
            batch.push(entry, |out| out.push_str(&next.json));
            parcel.origins.push(next.origin);
        }
        if parcel.is_empty() {
            queues.remove(&partition);
            return None;
        }
        batch.seal();
        parcel.batch = batch;
        Some(parcel)
    }
}

/// A task that died has left items behind that nobody counts.
fn ended_well(ended: &Result<(), JoinError>, halt: &Halt) {
    if ended.is_err() {
        let failure = Failure::internal("a task that writes a hot partition's items died");
        halt.set(Why::Failed(failure));
    }
}
