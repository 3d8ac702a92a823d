//! Writers: each takes a batch and stays with it until every item in it is accounted for.
//!
//! Only what was not processed is sent again, when the pace allows: a few items with others, so that
//! they do not take a request of their own. Items of a partition that takes
//! no more go to [`super::park`], so that the others do not wait for them. A batch that is refused
//! as a whole is cut in halves until the guilty item is alone; it becomes a reject with the
//! service's code and words. When something fails for good, what is still to be sent is counted as
//! unwritten, item by item.

mod accounts;
mod parking;

use std::sync::Arc;

use dynafold_mapping::model::Model;
use dynafold_target::retry::{Decision, Patience, Policy, Retry};
use dynafold_target::throttle::Kind;
use dynafold_target::{Target, TargetError};
use tokio::sync::{Mutex, mpsc};
use tokio::time::{Duration, Instant, sleep, timeout};

use super::count;
use super::ending::{Failure, Halt, Why};
use super::journal::Journal;
use super::ledger::Ledger;
use super::pace::{Pace, of, units};
use super::parcel::Parcel;
use super::park::Park;
use super::probe::Probe;
use super::report::Progress;

/// How many times the units that a batch should hold it may hold when it is sent: the rate changes
/// a little all the time.
const SLACK: f64 = 1.5;

/// Items left by answers that took most: from so many on a batch of them is sent, or when nothing else
/// has come for so long. Twice as many are a batch.
const ENOUGH: usize = 12;
const IDLE: Duration = Duration::from_millis(20);

/// What the writers share.
pub(super) struct Delivery {
    pub(super) target: Arc<dyn Target>,
    pub(super) model: Arc<Model>,
    pub(super) policy: Policy,
    pub(super) halt: Halt,
    pub(super) ledger: Ledger,
    /// Where it is noted what is sent.
    pub(super) journal: Option<Journal>,
    pub(super) pace: Pace,
    pub(super) park: Park,
    pub(super) probe: Probe,
    pub(super) progress: Arc<dyn Progress>,
    pub(super) patience: Patience,
}

/// The writers' end of the channel.
pub(super) type Parcels = Arc<Mutex<mpsc::Receiver<Parcel>>>;

/// How the sending of a batch ended.
enum Sent {
    /// Every item is written, or waits in the park.
    Done,
    /// It is refused as a whole.
    Refused(Parcel, TargetError),
    /// The run has failed, or its caller waits no longer for what waits.
    Abandoned(Parcel),
}

/// Delivers parcels until there are no more.
pub(super) async fn write(delivery: Arc<Delivery>, parcels: Parcels) {
    let mut kept = Parcel::default();
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
    /// Delivers a parcel. `hot`: the partition that all its items have, which is paced on its own.
    pub(super) async fn deliver(self: &Arc<Self>, parcel: Parcel, hot: Option<u64>) {
        self.write(parcel, hot, None).await;
    }

    /// Delivers a parcel, but for items that an answer leaves while it takes most: these go to
    /// `kept`, to be sent with others.
    async fn write(
        self: &Arc<Self>,
        parcel: Parcel,
        hot: Option<u64>,
        mut kept: Option<&mut Parcel>,
    ) {
        let mut parts = vec![parcel];
        while let Some(part) = parts.pop() {
            match self.send(part, hot, &mut parts, kept.as_deref_mut()).await {
                Sent::Done => {}
                Sent::Abandoned(part) => self.abandon(part),
                Sent::Refused(mut part, error) => {
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
        mut parcel: Parcel,
        hot: Option<u64>,
        parts: &mut Vec<Parcel>,
        mut kept: Option<&mut Parcel>,
    ) -> Sent {
        // From its first sending: to be let in may take long, and says nothing.
        let mut begun = None;
        let mut retry = Retry::new(self.policy, fastrand::u64(..));
        let mut times_left = 0;
        loop {
            if hot.is_none() {
                self.set_aside(&mut parcel).await;
            }
            if parcel.is_empty() {
                return Sent::Done;
            }
            let estimated = tokio::select! {
                biased;
                () = self.halt.closed() => return Sent::Abandoned(parcel),
                estimated = self.admit(hot, &mut parcel, parts) => estimated,
            };
            let sent = Instant::now();
            let first = *begun.get_or_insert(sent);
            let answer = tokio::select! {
                biased;
                answer = self.target.write(&self.model.table, &parcel.batch) => answer,
                () = self.halt.left() => return Sent::Abandoned(parcel),
            };
            let latency = sent.elapsed();
            let (decision, failure) = match answer {
                Ok(answer) => {
                    let mut unprocessed = answer.unprocessed;
                    unprocessed.sort_unstable();
                    let left = count(unprocessed.len());
                    self.ledger
                        .traffic(|traffic| traffic.answered(left, answer.consumed));
                    let left = parcel.take(&unprocessed);
                    self.pace.answered(
                        Kind::Took,
                        estimated,
                        latency,
                        answer.consumed,
                        parcel.batch.entries(),
                        left.batch.entries(),
                    );
                    let taken = parcel.len();
                    let progress = taken > 0;
                    self.written(parcel.batch.entries(), &parcel.origins);
                    let permit = parcel.permit.take();
                    parcel = left;
                    if parcel.is_empty() {
                        return Sent::Done;
                    }
                    parcel.permit = permit;
                    self.progress.throttled(count(parcel.len()));
                    if let Some(kept) = kept.as_deref_mut()
                        && parcel.len() <= taken
                        && kept.add(&mut parcel)
                    {
                        return Sent::Done;
                    }
                    times_left += 1;
                    let alone =
                        self.probe.is_due(times_left) && self.put_alone(hot, &mut parcel).await;
                    if parcel.is_empty() {
                        return Sent::Done;
                    }
                    let progress = progress || alone;
                    let first = if progress { Instant::now() } else { first };
                    begun = Some(first);
                    let failure = still_unprocessed(parcel.len());
                    (retry.unprocessed(progress, first.elapsed()), failure)
                }
                Err(error) => {
                    self.note(&error, parcel.batch.entries(), estimated, latency);
                    let decision = retry.failed(error.class, first.elapsed());
                    self.patience.ends(&retry, &error.message);
                    match decision {
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
                        () = self.halt.closed() => {}
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

    /// Puts the first of the items that were left alone, as only then the service gives its reason.
    /// Says whether it is written.
    async fn put_alone(&self, hot: Option<u64>, parcel: &mut Parcel) -> bool {
        let Some(entry) = parcel.batch.entries().first().copied() else {
            return false;
        };
        let estimated = of(entry.units);
        let admitted = async {
            match hot {
                Some(partition) => self.pace.admit_hot(partition, estimated).await,
                None => self.pace.admit(self.pace.turn().await, estimated).await,
            }
        };
        tokio::select! {
            biased;
            () = self.halt.closed() => return false,
            () = admitted => {}
        }
        let sent = Instant::now();
        let answer = tokio::select! {
            biased;
            answer = self.target.put(&self.model.table, &parcel.batch, 0) => answer,
            () = self.halt.left() => return false,
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
        self.ledger
            .traffic(|traffic| traffic.answered(0, written.consumed));
        self.pace.answered(
            Kind::Took,
            estimated,
            latency,
            written.consumed,
            &[entry],
            &[],
        );
        let permit = parcel.permit.take();
        let alone = parcel.take(&[0]);
        parcel.permit = permit;
        self.written(alone.batch.entries(), &alone.origins);
        true
    }

    /// Waits until a parcel may be sent; its units.
    async fn admit(&self, hot: Option<u64>, parcel: &mut Parcel, parts: &mut Vec<Parcel>) -> f64 {
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
                sum += of(entry.units);
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
    async fn set_aside(self: &Arc<Self>, parcel: &mut Parcel) {
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
