//! Writers: each takes a batch and stays with it until every item in it is accounted for.
//!
//! Only what was not processed is sent again. A batch that is refused as a whole is cut in halves
//! until the guilty item is alone; it becomes a reject with the service's code and words. When
//! something fails for good, what is still to be sent is counted as unwritten, item by item.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use tokio::sync::{Mutex, OwnedSemaphorePermit, mpsc};
use tokio::time::{Instant, sleep};

use super::books::Failure;
use super::feed::RowKey;
use super::halt::{Halt, Why};
use super::ledger::{By, Ledger};
use super::progress::Progress;
use super::rejects::Rejected;
use crate::mapping::model::Model;
use crate::retry::{Decision, Policy, Retry};
use crate::target::{Batch, Entry, ErrorClass, Target, TargetError};

/// A batch on its way to a writer.
#[derive(Debug)]
pub(super) struct Parcel {
    pub(super) batch: Batch,
    /// The row of each item.
    pub(super) rows: Vec<RowKey>,
    /// Its share of the bytes that may be in flight.
    pub(super) permit: Option<OwnedSemaphorePermit>,
}

/// What the writers share.
pub(super) struct Delivery {
    pub(super) target: Arc<dyn Target>,
    pub(super) model: Arc<Model>,
    pub(super) policy: Policy,
    pub(super) halt: Halt,
    pub(super) ledger: Ledger,
    pub(super) progress: Arc<dyn Progress>,
}

/// The writers' end of the channel.
pub(super) type Parcels = Arc<Mutex<mpsc::Receiver<Parcel>>>;

/// How the sending of a batch ended.
enum Sent {
    /// Every item is written.
    Done,
    /// It is refused as a whole.
    Refused(Parcel, TargetError),
    /// The run has failed.
    Abandoned(Parcel),
}

/// Delivers parcels until there are no more.
pub(super) async fn write(delivery: Arc<Delivery>, parcels: Parcels) {
    loop {
        let next = parcels.lock().await.recv().await;
        match next {
            Some(parcel) => delivery.deliver(parcel).await,
            None => return,
        }
    }
}

impl Delivery {
    async fn deliver(&self, parcel: Parcel) {
        let mut parts = vec![parcel];
        while let Some(part) = parts.pop() {
            match self.send(part).await {
                Sent::Done => {}
                Sent::Abandoned(part) => self.abandon(part.batch.entries()),
                Sent::Refused(mut part, error) => {
                    let half = part.batch.len() / 2;
                    if half == 0 {
                        self.refuse(part, &error);
                        continue;
                    }
                    self.ledger.traffic(|traffic| traffic.splits += 1);
                    let second = Parcel {
                        batch: run(&part.batch, half..part.batch.len()),
                        rows: part.rows.split_off(half),
                        permit: part.permit.take(),
                    };
                    part.batch = run(&part.batch, 0..half);
                    parts.extend([second, part]);
                }
            }
        }
    }

    async fn send(&self, mut parcel: Parcel) -> Sent {
        let begun = Instant::now();
        let mut retry = Retry::new(self.policy, fastrand::u64(..));
        loop {
            if self.halt.has_failed() {
                return Sent::Abandoned(parcel);
            }
            let answer = self.target.write(&self.model.table, &parcel.batch).await;
            let (decision, failure) = match answer {
                Ok(answer) => {
                    self.ledger.traffic(|traffic| {
                        traffic.requests += 1;
                        traffic.unprocessed += count(answer.unprocessed.len());
                        if let Some(units) = answer.consumed {
                            *traffic.consumed_units.get_or_insert(0.0) += units;
                        }
                    });
                    let sent = parcel.batch.len();
                    self.settle(&mut parcel, &answer.unprocessed);
                    let left = parcel.batch.len();
                    if left == 0 {
                        return Sent::Done;
                    }
                    self.progress.throttled(count(left));
                    let decision = retry.unprocessed(left < sent, begun.elapsed());
                    (decision, still_unprocessed(left))
                }
                Err(error) => {
                    self.note(&error, parcel.batch.len());
                    match retry.failed(error.class, begun.elapsed()) {
                        Decision::Split => return Sent::Refused(parcel, error),
                        decision => (decision, Failure::from(&error)),
                    }
                }
            };
            match decision {
                Decision::Retry(delay) => {
                    let from = Instant::now();
                    tokio::select! {
                        () = sleep(delay) => {}
                        () = self.halt.failed() => {}
                    }
                    let waited = from.elapsed().as_secs_f64();
                    self.ledger.traffic(|t| t.backoff_seconds += waited);
                }
                Decision::Split | Decision::Fail => {
                    self.halt.set(Why::Failed(failure));
                    return Sent::Abandoned(parcel);
                }
            }
        }
    }

    /// Counts what was processed and keeps the rest.
    fn settle(&self, parcel: &mut Parcel, unprocessed: &[usize]) {
        let unprocessed: HashSet<usize> = unprocessed.iter().copied().collect();
        let mut left = Vec::with_capacity(unprocessed.len());
        let mut rows = Vec::with_capacity(unprocessed.len());
        let mut done = Vec::with_capacity(parcel.batch.len());
        let items = parcel.batch.entries().iter().zip(parcel.rows.drain(..));
        for (index, (item, row)) in items.enumerate() {
            if unprocessed.contains(&index) {
                left.push(index);
                rows.push(row);
            } else {
                done.push(*item);
            }
        }
        by_type(&done, |item_type, items| {
            self.ledger.written(item_type, items);
            self.progress.written(item_type, items);
        });
        parcel.batch = parcel.batch.part(&left);
        parcel.rows = rows;
    }

    fn note(&self, error: &TargetError, items: usize) {
        self.ledger.traffic(|traffic| {
            traffic.requests += 1;
            traffic.throttled += u64::from(error.class == ErrorClass::Throttle);
            traffic.transient += u64::from(error.class == ErrorClass::Transient);
        });
        if error.class == ErrorClass::Throttle {
            self.progress.throttled(count(items));
        }
    }

    /// Makes a reject of an item that the service refuses on its own.
    fn refuse(&self, parcel: Parcel, error: &TargetError) {
        let items = parcel.batch.entries().iter().zip(parcel.rows);
        for (index, (item, row)) in items.enumerate() {
            let reject = Rejected {
                item_type: item.item_type,
                row,
                code: Cow::Owned(error.code.clone()),
                message: error.message.clone(),
                help: error.help.clone(),
                attribute: None,
                item: Some(parcel.batch.json(index).to_owned()),
            };
            self.ledger
                .reject(&self.halt, &self.model, By::Service, &reject);
            self.progress.rejected(reject.item_type, 1);
        }
    }

    /// Counts items that will not be sent.
    pub(super) fn abandon(&self, items: &[Entry]) {
        by_type(items, |item_type, items| {
            self.ledger.unwritten(item_type, items);
        });
    }
}

/// A run of a batch's items.
fn run(batch: &Batch, items: std::ops::Range<usize>) -> Batch {
    batch.part(&items.collect::<Vec<_>>())
}

/// Calls back once for each run of items of one type.
fn by_type(items: &[Entry], mut tell: impl FnMut(usize, u64)) {
    for run in items.chunk_by(|a, b| a.item_type == b.item_type) {
        if let Some(first) = run.first() {
            tell(first.item_type, count(run.len()));
        }
    }
}

fn still_unprocessed(items: usize) -> Failure {
    Failure {
        code: "Throttled".to_owned(),
        message: format!("{items} items of a batch were left unprocessed until the deadline"),
        causes: Vec::new(),
        help: Some(
            "the table takes too few writes: raise its write capacity, or use fewer writers"
                .to_owned(),
        ),
    }
}

/// A length as a count.
pub(super) fn count(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}
