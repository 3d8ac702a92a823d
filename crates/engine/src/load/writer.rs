//! Writers: each takes a batch and stays with it until every item in it is accounted for.
//!
//! Only what was not processed is sent again, when the pace allows: a few items with others, so that
//! they do not take a request of their own. Items of a partition that takes
//! no more are parked, so that the others do not wait for them. A batch that is refused
//! as a whole is cut in halves until the guilty item is alone; it becomes a reject with the
//! service's code and words. When something fails for good, what is still to be sent is counted as
//! unwritten, item by item.

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque, hash_map};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dynafold_format::{float, whole, with_causes};
use dynafold_mapping::item::ItemFacts;
use dynafold_mapping::model::Model;
use dynafold_target::retry::{Decision, Policy, Retry, RetryWarning};
use dynafold_target::throttle::OutcomeKind;
use dynafold_target::{
    Action, Batch, BatchEntry, BatchLimit, BatchOutcome, ErrorClass, Target, TargetError,
};
use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use tokio::sync::{Mutex as Turn, OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::task::{JoinError, JoinSet};
use tokio::time::{Duration, Instant, sleep, timeout};

use super::ending::RunHalt;
use super::failure::Failure;
use super::journal::Journal;
use super::ledger::Ledger;
use super::pace::{WritePace, units};
use super::rejects::Rejected;
use super::report::Progress;
use super::row::RowKey;
use super::ticket::Ticket;

/// A batch may be sent with so many times the units that it should hold: the rate changes a little all the time.
const SLACK: f64 = 1.5;

/// Items left by answers that took most: from so many on a batch of them is sent, or when nothing else
/// has come for so long. Twice as many are a batch.
const ENOUGH: usize = 12;
const IDLE: Duration = Duration::from_millis(20);

/// What the writers share.
pub(super) struct Delivery {
    pub(super) target: Arc<dyn Target>,
    pub(super) model: Arc<Model>,
    /// When to send again, and when to give up.
    pub(super) policy: Policy,
    pub(super) halt: RunHalt,
    pub(super) ledger: Ledger,
    /// Where it is noted what is sent.
    pub(super) journal: Option<Journal>,
    pub(super) pace: WritePace,
    pub(super) park: Park,
    pub(super) probe: Probe,
    pub(super) progress: Arc<dyn Progress>,
    pub(super) retry_warning: RetryWarning,
}

/// The writers' end of the channel.
pub(super) type BatchReceiver = Arc<Turn<mpsc::Receiver<TicketedBatch>>>;

/// How the sending of a batch ended.
enum SendResult {
    /// Every item is written, or waits in the park.
    Done,
    /// It is refused as a whole.
    Refused(TicketedBatch, TargetError),
    /// The run has failed, or its caller waits no longer for what waits.
    Abandoned(TicketedBatch),
}

/// Delivers parcels until there are no more.
pub(super) async fn write(delivery: Arc<Delivery>, parcels: BatchReceiver) {
    let mut kept = TicketedBatch::default();
    loop {
        let next = async { parcels.lock().await.recv().await };
        let next = match kept.len() {
            0 => next.await,
            few if few < ENOUGH => match timeout(IDLE, next).await {
                Ok(next) => next,
                Err(_) => Some(std::mem::take(&mut kept)),
            },
            _ => Some(std::mem::take(&mut kept)),
        };
        match next {
            Some(parcel) => delivery.write(parcel, None, Some(&mut kept)).await,
            None if kept.is_empty() => return,
            None => delivery.deliver(std::mem::take(&mut kept), None).await,
        }
    }
}

impl Delivery {
    /// With the default patience and no journal.
    pub(super) fn new(
        target: Arc<dyn Target>,
        model: Arc<Model>,
        progress: Arc<dyn Progress>,
        pace: WritePace,
        ledger: Ledger,
        halt: RunHalt,
    ) -> Self {
        Self {
            target,
            model,
            policy: Policy::default(),
            halt,
            ledger,
            journal: None,
            pace,
            park: Park::default(),
            probe: Probe::default(),
            progress,
            retry_warning: RetryWarning::default(),
        }
    }

    /// Delivers a parcel. `hot`: the partition that all its items have, which is paced on its own.
    pub(super) async fn deliver(self: &Arc<Self>, parcel: TicketedBatch, hot: Option<u64>) {
        self.write(parcel, hot, None).await;
    }

    /// Delivers a parcel, but for items that an answer leaves while it takes most: these go to
    /// `kept`, to be sent with others.
    async fn write(
        self: &Arc<Self>,
        parcel: TicketedBatch,
        hot: Option<u64>,
        mut kept: Option<&mut TicketedBatch>,
    ) {
        let mut parts = vec![parcel];
        while let Some(part) = parts.pop() {
            match self.send(part, hot, &mut parts, kept.as_deref_mut()).await {
                SendResult::Done => {}
                SendResult::Abandoned(part) => self.abandon(part),
                SendResult::Refused(mut part, error) => {
                    let half = part.len() / 2;
                    if half == 0 {
                        self.refuse(part, &error);
                        continue;
                    }
                    self.ledger.traffic(|traffic| traffic.splits += 1);
                    let second: Vec<usize> = (half..part.len()).collect();
                    let second = part.take(&second);
                    parts.extend([second, part]);
                }
            }
        }
    }

    /// Sends a parcel. What is too much at one time as things stand is left in `parts`.
    async fn send(
        self: &Arc<Self>,
        mut parcel: TicketedBatch,
        hot: Option<u64>,
        parts: &mut Vec<TicketedBatch>,
        mut kept: Option<&mut TicketedBatch>,
    ) -> SendResult {
        // From its first sending: to be let in may take long, and says nothing.
        let mut begun = None;
        let mut retry = Retry::new(self.policy, fastrand::u64(..));
        let mut times_left = 0;
        loop {
            if hot.is_none() {
                self.set_aside(&mut parcel).await;
            }
            if parcel.is_empty() {
                return SendResult::Done;
            }
            let estimated = tokio::select! {
                biased;
                () = self.halt.closed() => return SendResult::Abandoned(parcel),
                estimated = self.admit(hot, &mut parcel, parts) => estimated,
            };
            let sent = Instant::now();
            let first = *begun.get_or_insert(sent);
            let answer = tokio::select! {
                biased;
                answer = self.target.write(&self.model.table, &parcel.batch) => answer,
                () = self.halt.drained() => return SendResult::Abandoned(parcel),
            };
            let latency = sent.elapsed();
            let (decision, failure) = match answer {
                Ok(answer) => {
                    let taken = self.settle(&mut parcel, answer, estimated, latency);
                    if parcel.is_empty() {
                        return SendResult::Done;
                    }
                    self.progress.throttled(whole(parcel.len()));
                    if let Some(kept) = kept.as_deref_mut()
                        && parcel.len() <= taken
                        && kept.add(&mut parcel)
                    {
                        return SendResult::Done;
                    }
                    times_left += 1;
                    let alone =
                        self.probe.is_due(times_left) && self.put_alone(hot, &mut parcel).await;
                    if parcel.is_empty() {
                        return SendResult::Done;
                    }
                    let progress = taken > 0 || alone;
                    let first = if progress { Instant::now() } else { first };
                    begun = Some(first);
                    let failure = Failure::Throttled {
                        items: parcel.len(),
                    };
                    (retry.unprocessed(progress, first.elapsed()), failure)
                }
                Err(error) => {
                    self.note(&error, parcel.batch.entries(), estimated, latency);
                    let decision = retry.failed(error.class, first.elapsed());
                    self.retry_warning.after_failure(&retry, decision, &error);
                    match decision {
                        Decision::Split => return SendResult::Refused(parcel, error),
                        decision => (decision, Failure::from(error)),
                    }
                }
            };
            match decision {
                Decision::Retry(delay) => {
                    let from = Instant::now();
                    tokio::select! {
                        () = sleep(delay) => {}
                        () = self.halt.closed() => {}
                    }
                    let waited = from.elapsed().as_secs_f64();
                    self.ledger.traffic(|t| t.backoff_seconds += waited);
                }
                Decision::Split | Decision::Fail => {
                    self.halt.set(failure);
                    return SendResult::Abandoned(parcel);
                }
            }
        }
    }

    /// Accounts for the items that an answer says were written, and leaves the others in the parcel. Gives how many were
    /// written.
    fn settle(
        &self,
        parcel: &mut TicketedBatch,
        answer: BatchOutcome,
        estimated: f64,
        latency: Duration,
    ) -> usize {
        let mut unprocessed = answer.unprocessed;
        unprocessed.sort_unstable();
        let count_left = whole(unprocessed.len());
        self.ledger
            .traffic(|traffic| traffic.answered(count_left, answer.consumed));
        let mut left = parcel.take(&unprocessed);
        self.pace.answered(
            OutcomeKind::Took,
            estimated,
            latency,
            answer.consumed,
            parcel.batch.entries(),
            left.batch.entries(),
        );
        self.written(parcel.batch.entries(), &parcel.origins);
        let written = parcel.len();
        left.permit = parcel.permit.take();
        *parcel = left;
        written
    }

    /// Puts the first of the items that were left alone, as only then the service gives its reason.
    /// Says whether it is written.
    async fn put_alone(&self, hot: Option<u64>, parcel: &mut TicketedBatch) -> bool {
        let Some(entry) = parcel.batch.entries().first().copied() else {
            return false;
        };
        let estimated = float(entry.units);
        tokio::select! {
            biased;
            () = self.halt.closed() => return false,
            () = self.pace.admit_any(hot, estimated) => {}
        }
        let sent = Instant::now();
        let answer = tokio::select! {
            biased;
            answer = self.target.write_one(&self.model.table, &parcel.batch, 0) => answer,
            () = self.halt.drained() => return false,
        };
        let written = match answer {
            Ok(written) => written,
            Err(error) => {
                // What else is the matter with it the next batch tells.
                self.note(&error, &[entry], estimated, sent.elapsed());
                return false;
            }
        };
        let latency = sent.elapsed();
        let written = BatchOutcome {
            unprocessed: Vec::new(),
            ..written
        };
        let permit = parcel.permit.take();
        let mut alone = parcel.take(&[0]);
        parcel.permit = permit;
        self.settle(&mut alone, written, estimated, latency);
        true
    }

    /// Waits until a parcel may be sent; its units.
    async fn admit(
        &self,
        hot: Option<u64>,
        parcel: &mut TicketedBatch,
        parts: &mut Vec<TicketedBatch>,
    ) -> f64 {
        if let Some(partition) = hot {
            let estimated = units(parcel.batch.entries());
            self.pace.admit_hot(partition, estimated).await;
            return estimated;
        }
        let turn = self.pace.turn().await;
        // It was filled when the table may have been thought to take more.
        let most = self.pace.batch_units();
        let mut estimated = units(parcel.batch.entries());
        if estimated > most * SLACK && parcel.len() > 1 {
            let mut sum = 0.0;
            let entries = parcel.batch.entries().iter();
            let fits = entries.take_while(|entry| {
                sum += float(entry.units);
                sum <= most
            });
            let over: Vec<usize> = (fits.count().max(1)..parcel.len()).collect();
            let over = parcel.take(&over);
            parts.push(over);
            estimated = units(parcel.batch.entries());
        }
        self.pace.admit(turn, estimated).await;
        estimated
    }

    /// Sends items of hot partitions to the park.
    async fn set_aside(self: &Arc<Self>, parcel: &mut TicketedBatch) {
        if !self.pace.any_hot() {
            return;
        }
        let entries = parcel.batch.entries().iter().enumerate();
        let hot: Vec<usize> = entries
            .filter(|(_, entry)| self.pace.is_hot(entry.partition))
            .map(|(at, _)| at)
            .collect();
        if !hot.is_empty() {
            let hot = parcel.take(&hot);
            self.park(hot).await;
        }
    }
}

// What became of items, entered into the books of their chunks: written, refused, or not sent. Each
// is entered once, and lets go of its ticket then.

impl Delivery {
    /// Counts what was processed.
    fn written(&self, entries: &[BatchEntry], origins: &[ItemOrigin]) {
        let mut all = entries.iter().zip(origins).peekable();
        while let Some((entry, origin)) = all.next() {
            let mut items = 1;
            let mut known = u64::from(origin.known == Some(true));
            while let Some((_, next)) = all.next_if(|(other, next)| {
                other.item_type == entry.item_type
                    && other.action == entry.action
                    && Arc::ptr_eq(&next.ticket, &origin.ticket)
            }) {
                items += 1;
                known += u64::from(next.known == Some(true));
            }
            origin
                .ticket
                .count(entry.item_type, |books| match entry.action {
                    Action::Put => {
                        books.written += items;
                        books.changed += known;
                    }
                    Action::Delete => books.deleted += items,
                });
            self.progress.written(entry.item_type, items);
            self.let_go(&origin.ticket, items);
        }
    }

    /// Takes items off a ticket, and sees to it where they were the last.
    pub(super) fn let_go(&self, ticket: &Arc<Ticket>, holders: u64) {
        if ticket.release(holders) {
            self.ledger.done(ticket);
        }
    }

    /// Notes that a request failed, and tells the pace.
    fn note(&self, error: &TargetError, entries: &[BatchEntry], estimated: f64, latency: Duration) {
        let throttled = error.class == ErrorClass::Throttle;
        self.ledger.traffic(|traffic| {
            traffic.requests += 1;
            traffic.throttled += u64::from(throttled);
            traffic.transient += u64::from(error.class == ErrorClass::Transient);
        });
        self.ledger.reasons(&error.throttles);
        self.pace.failed(error, estimated, latency, entries);
        if throttled {
            self.progress.throttled(whole(entries.len()));
        }
    }

    /// Makes a reject of an item that the service refuses on its own.
    fn refuse(&self, parcel: TicketedBatch, error: &TargetError) {
        for (at, (entry, origin)) in parcel
            .batch
            .entries()
            .iter()
            .zip(parcel.origins)
            .enumerate()
        {
            let message = match entry.action {
                Action::Put => with_causes(error),
                Action::Delete => format!("the item was not deleted: {}", with_causes(error)),
            };
            let reject = Rejected {
                item_type: entry.item_type,
                row: origin.row,
                code: Cow::Owned(error.code.clone()),
                message,
                help: error.help.clone(),
                attribute: None,
                item: Some(parcel.batch.json(at).to_owned()),
            };
            let (ticket, action) = (&origin.ticket, entry.action);
            self.ledger
                .refused(&self.halt, &self.model, ticket, action, &reject);
            self.progress.rejected(entry.item_type, 1);
            self.let_go(&origin.ticket, 1);
        }
    }

    /// Counts items that will not be sent. Their chunks will be read again.
    pub(super) fn abandon(&self, parcel: TicketedBatch) {
        for (entry, origin) in parcel.batch.entries().iter().zip(parcel.origins) {
            origin.ticket.spoil();
            let lost = u64::from(entry.action == Action::Put);
            let ticket = &origin.ticket;
            ticket.count(entry.item_type, |books| books.unwritten += lost);
            self.let_go(&origin.ticket, 1);
        }
    }
}

/// Where an item comes from.
#[derive(Debug, Clone)]
pub(super) struct ItemOrigin {
    pub(super) ticket: Arc<Ticket>,
    /// The row, by its key.
    pub(super) row: RowKey,
    /// Whether the table held the item before, as far as it was looked at.
    pub(super) known: Option<bool>,
}

/// A batch on its way to the table. Every item holds its ticket until it is accounted for.
#[derive(Debug, Default)]
pub(super) struct TicketedBatch {
    pub(super) batch: Batch,
    /// Of each request.
    pub(super) origins: Vec<ItemOrigin>,
    /// Its share of the bytes that may be on their way.
    pub(super) permit: Option<OwnedSemaphorePermit>,
}

/// The request that puts the item of a row.
pub(super) fn put(item_type: usize, facts: &ItemFacts) -> BatchEntry {
    BatchEntry {
        action: Action::Put,
        size: facts.size,
        units: facts.units,
        item_type,
        fingerprint: facts.fingerprint,
        partition: facts.partition,
        digest: facts.digest,
    }
}

impl TicketedBatch {
    /// Takes some of the requests out; the others stay. `taken` ascends.
    pub(super) fn take(&mut self, taken: &[usize]) -> Self {
        // What nearly every answer leaves is nothing.
        if taken.is_empty() {
            return Self::default();
        }
        let all = std::mem::take(&mut self.origins).into_iter().enumerate();
        let is_taken = |(at, _): &(usize, ItemOrigin)| taken.binary_search(at).is_ok();
        let (out, left): (Vec<_>, Vec<_>) = all.partition(is_taken);
        let (rest, origins): (Vec<usize>, Vec<ItemOrigin>) = left.into_iter().unzip();
        let batch = self.batch.part(taken);
        self.batch = self.batch.part(&rest);
        self.origins = origins;
        Self {
            batch,
            origins: out.into_iter().map(|(_, origin)| origin).collect(),
            permit: None,
        }
    }

    /// Takes all the requests of another one in, where they fit into one batch.
    pub(super) fn add(&mut self, other: &mut Self) -> bool {
        let has = |entry: &BatchEntry| {
            let mut all = self.batch.entries().iter();
            all.any(|own| own.fingerprint == entry.fingerprint)
        };
        let items = self.len() + other.len();
        let bytes = self.batch.bytes() + other.batch.bytes();
        let limit = BatchLimit::BATCH_WRITE;
        if items > limit.items || bytes > limit.bytes || other.batch.entries().iter().any(has) {
            return false;
        }
        let mut batch = Batch::new();
        for from in [&self.batch, &other.batch] {
            for (at, entry) in from.entries().iter().enumerate() {
                batch.push(*entry, |out| out.push_str(from.json(at)));
            }
        }
        batch.seal();
        self.batch = batch;
        self.origins.append(&mut other.origins);
        other.batch = Batch::new();
        match (&mut self.permit, other.permit.take()) {
            (Some(own), Some(permit)) => own.merge(permit),
            (own, permit) => *own = own.take().or(permit),
        }
        true
    }

    pub(super) fn len(&self) -> usize {
        self.origins.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.origins.is_empty()
    }
}

// Where items of hot partitions wait, so that nobody waits behind them. Each hot partition has a queue
// and a task that sends from it at the partition's own pace. What may wait is bounded in bytes; beyond
// them the writers wait too.

/// KiB of items that may wait.
const PARKED_KIB: u32 = 64 << 10;
/// Most items of one batch.
const PARKED_ITEMS: usize = 25;

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
    entry: BatchEntry,
    json: String,
    origin: ItemOrigin,
    _room: Option<OwnedSemaphorePermit>,
}

impl Default for Park {
    fn default() -> Self {
        Self {
            queues: Mutex::default(),
            tasks: Mutex::default(),
            room: Arc::new(Semaphore::new(
                usize::try_from(PARKED_KIB).unwrap_or(usize::MAX),
            )),
            waited: AtomicU64::new(0),
        }
    }
}

impl Park {
    /// Takes an item of a hot partition in, when there is room for it. Says whether nothing of its
    /// partition waited: somebody has to send from it then.
    async fn take(&self, entry: BatchEntry, json: String, origin: ItemOrigin) -> bool {
        let kib = u32::try_from(json.len() / 1024 + 1)
            .unwrap_or(PARKED_KIB)
            .min(PARKED_KIB);
        let room = self.room.clone().acquire_many_owned(kib).await.ok();
        let parked = Parked {
            entry,
            json,
            origin,
            _room: room,
        };
        let mut queues = self.queues.lock();
        let queue = queues.entry(entry.partition);
        let first = matches!(queue, hash_map::Entry::Vacant(_));
        queue.or_default().push_back(parked);
        first
    }

    /// Has a task send what waits of a partition.
    fn spawn(&self, drain: BoxFuture<'static, ()>, halt: &RunHalt) {
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
    pub(super) async fn settle(&self, halt: &RunHalt) {
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
    fn next(&self, partition: u64, most: f64) -> Option<TicketedBatch> {
        let mut queues = self.queues.lock();
        let queue = queues.get_mut(&partition)?;
        let mut parcel = TicketedBatch::default();
        let mut batch = Batch::new();
        let mut keys = Vec::new();
        let mut units = 0.0;
        while let Some(next) = queue.front() {
            let entry = next.entry;
            let full = keys.len() >= PARKED_ITEMS
                || (units > 0.0 && units + float(entry.units) > most)
                || keys.contains(&entry.fingerprint);
            if full {
                break;
            }
            let Some(next) = queue.pop_front() else { break };
            units += float(entry.units);
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
fn ended_well(ended: &Result<(), JoinError>, halt: &RunHalt) {
    if ended.is_err() {
        let failure = Failure::Internal("a task that writes a hot partition's items died");
        halt.set(failure);
    }
}

impl Delivery {
    /// Sends items of hot partitions to the park.
    async fn park(self: &Arc<Self>, parcel: TicketedBatch) {
        for (at, origin) in parcel.origins.into_iter().enumerate() {
            let Some(entry) = parcel.batch.entries().get(at).copied() else {
                continue;
            };
            let json = parcel.batch.json(at).to_owned();
            if self.park.take(entry, json, origin).await {
                let drain = drain(self.clone(), entry.partition);
                self.park.spawn(drain, &self.halt);
            }
        }
    }
}

/// Boxed, since a delivery may park, which drains, which delivers.
fn drain(delivery: Arc<Delivery>, partition: u64) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        loop {
            let most = delivery.pace.hot_batch_units(partition);
            let Some(parcel) = delivery.park.next(partition, most) else {
                return;
            };
            delivery.deliver(parcel, Some(partition)).await;
        }
    })
}

// When to ask for the reason of throttling. A batch that is taken in part says of the rest only that it is
// unprocessed. One of these items, put alone, is refused with the reason, or is written. That is asked
// now and then, by one task.

/// Answers that left items without a break before the question is worth a request.
const ANSWERS_LEFT: u32 = 2;
/// Between two questions of a run.
const PROBE_PAUSE: Duration = Duration::from_secs(3);

#[derive(Debug, Default)]
pub(super) struct Probe(Mutex<Option<Instant>>);

impl Probe {
    /// Whether one item is to be put alone now. `left`: how many answers in a row have left items
    /// of this batch.
    fn is_due(&self, left: u32) -> bool {
        if left < ANSWERS_LEFT {
            return false;
        }
        let mut last = self.0.lock();
        let due = last.is_none_or(|last| last.elapsed() >= PROBE_PAUSE);
        if due {
            *last = Some(Instant::now());
        }
        due
    }
}
