//! The throttle between tasks: one gate and one record of hot partitions, shared by all writers.
//!
//! The decisions are those of [`dynafold_target::throttle`], which knows no clock and no task; this gives it
//! the time and wakes those who wait.

use dynafold_dynamodb::{Table, write_units};
use dynafold_format::{float, whole};
use dynafold_target::throttle::{
    Admission, Bottleneck, Gate, HotPartitions, OutcomeKind, RequestOutcome, ThrottleSettings, Toll,
};
use dynafold_target::{Action, BatchEntry, Consumed, ErrorClass, TargetError};
use parking_lot::Mutex;
use tokio::sync::{Mutex as Turn, MutexGuard, Notify};
use tokio::time::{Duration, Instant, sleep};

/// How long a writer waits at most before it asks again: what it waits for may have been lost.
const PATIENCE: Duration = Duration::from_millis(250);

/// Of what was reserved, what is so little that those who wait should ask again.
const UNUSED: f64 = 0.8;

/// The pace of a run.
#[derive(Debug)]
pub(super) struct WritePace {
    begun: Instant,
    inner: Mutex<WritePaceState>,
    turn: Turn<()>,
    freed: Notify,
    /// Much that was reserved was not used.
    refunded: Notify,
}

#[derive(Debug)]
struct WritePaceState {
    gate: Gate,
    heat: HotPartitions,
    /// What deletions cost, where there are some.
    toll: Option<Toll>,
    /// Indexes of the table.
    indexes: usize,
    /// Whether no answer has told less than what the table itself takes for what was written.
    is_believed: bool,
}

/// Write units of a request or of several.
pub(super) fn units<'e>(entries: impl IntoIterator<Item = &'e BatchEntry>) -> f64 {
    let units = entries.into_iter().map(|entry| entry.units);
    units.map(float).sum()
}

/// Write units that the table itself takes at least for what was written, without its indexes.
fn of_table(entries: &[BatchEntry]) -> f64 {
    let units = entries.iter().map(|entry| match entry.action {
        Action::Put => float(write_units(entry.size)),
        Action::Delete => 1.0,
    });
    units.sum()
}

/// The units that a request used: what the table takes at least, or more where the answer says so;
/// and those of its indexes as the answer tells them, where it names them all. Those that it does not
/// name may be untouched, or it may not tell of them: they are thought to be written.
fn used(accepted: &[BatchEntry], indexes: usize, consumed: Option<Consumed>) -> f64 {
    let least = of_table(accepted);
    let reckoned = (units(accepted) - least).max(0.0);
    let consumed = consumed.unwrap_or_default();
    let of_indexes = if consumed.named_indexes >= indexes {
        consumed.indexes
    } else {
        consumed.indexes.max(reckoned)
    };
    let of_table = consumed.table.unwrap_or(0.0).max(least);
    (of_table + of_indexes).max(consumed.total)
}

impl WritePaceState {
    /// What an answer tells, as long as none has told what cannot be.
    fn believed(
        &mut self,
        accepted: &[BatchEntry],
        consumed: Option<Consumed>,
    ) -> Option<Consumed> {
        let consumed = consumed?;
        self.is_believed &= consumed.total >= of_table(accepted);
        self.is_believed.then_some(consumed)
    }
}

impl WritePace {
    pub(super) fn new(settings: ThrottleSettings, table: &Table) -> Self {
        Self {
            begun: Instant::now(),
            inner: Mutex::new(WritePaceState {
                gate: Gate::new(settings),
                heat: HotPartitions::default(),
                toll: None,
                indexes: table.indexes.len() + table.local_indexes.len(),
                is_believed: true,
            }),
            turn: Turn::default(),
            freed: Notify::new(),
            refunded: Notify::new(),
        }
    }

    /// Time since the run's begin, as the throttle counts it.
    pub(super) fn now(&self) -> Duration {
        self.begun.elapsed()
    }

    /// Waits for the turn to be let in: one asks, and the others wait in the order in which they
    /// came, so that what becomes free does not wake all of them.
    pub(super) async fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().await
    }

    /// Waits until a request of so many units may be sent. Every request that is let in must be
    /// answered to [`WritePace::answered`].
    pub(super) async fn admit(&self, _turn: MutexGuard<'_, ()>, units: f64) {
        self.wait(|inner, now| inner.gate.admit(now, units)).await;
    }

    /// Waits until a request to one hot partition may be sent. It waits behind no others than
    /// those of its partition: it is slower than they are anyway.
    pub(super) async fn admit_hot(&self, partition: u64, units: f64) {
        self.wait(|inner, now| inner.heat.admit(now, partition, units))
            .await;
        self.wait(|inner, now| inner.gate.admit(now, units)).await;
    }

    /// Waits until a request may be sent, in its turn. `hot`: the partition that all of it has, which is paced on its own.
    pub(super) async fn admit_any(&self, hot: Option<u64>, units: f64) {
        match hot {
            Some(partition) => self.admit_hot(partition, units).await,
            None => self.admit(self.turn().await, units).await,
        }
    }

    async fn wait(&self, ask: impl Fn(&mut WritePaceState, Duration) -> Admission) {
        loop {
            let (freed, refunded) = (self.freed.notified(), self.refunded.notified());
            let now = self.now();
            let admission = ask(&mut self.inner.lock(), now);
            let most = match admission {
                Admission::Go => return,
                Admission::At(at) => at.saturating_sub(now),
                Admission::Full => PATIENCE,
            };
            tokio::select! {
                () = freed, if admission == Admission::Full => {}
                () = refunded => {}
                () = sleep(most) => {}
            }
        }
    }

    /// Enters how a request of so many estimated units was answered, and what became of its items.
    pub(super) fn answered(
        &self,
        kind: OutcomeKind,
        estimated: f64,
        latency: Duration,
        consumed: Option<Consumed>,
        accepted: &[BatchEntry],
        refused: &[BatchEntry],
    ) {
        let pairs = |entries: &[BatchEntry]| -> Vec<(u64, f64)> {
            entries
                .iter()
                .map(|entry| (entry.partition, float(entry.units)))
                .collect()
        };
        let now = self.now();
        let reserved = units(accepted);
        let used = {
            let mut inner = self.inner.lock();
            let mut blamed = 0.0;
            if !refused.is_empty() || inner.heat.is_watching() {
                let (accepted, refused) = (pairs(accepted), pairs(refused));
                blamed = inner.heat.judge(now, latency, &accepted, &refused);
            }
            let consumed = inner.believed(accepted, consumed);
            let used = (kind == OutcomeKind::Took).then(|| used(accepted, inner.indexes, consumed));
            let answer = RequestOutcome {
                estimated,
                consumed: used,
                refused: units(refused),
                latency,
                kind,
            };
            inner.gate.answered(now, &answer, blamed);
            if let (Some(toll), Some(consumed)) = (&mut inner.toll, consumed) {
                let deleted = accepted.iter().filter(|e| e.action == Action::Delete);
                toll.answered(float(whole(deleted.count())), consumed.total);
            }
            used
        };
        self.freed.notify_one();
        if used.is_some_and(|used| used < reserved * UNUSED) {
            self.refunded.notify_waiters();
        }
    }

    /// Enters that a request of so many estimated units failed, and what it had.
    pub(super) fn failed(
        &self,
        error: &TargetError,
        estimated: f64,
        latency: Duration,
        entries: &[BatchEntry],
    ) {
        let (kind, refused) = match error.class {
            ErrorClass::Throttle => (OutcomeKind::Throttled, entries),
            _ => (OutcomeKind::Failed, &[][..]),
        };
        self.answered(kind, estimated, latency, None, &[], refused);
    }

    /// Says that deletions follow, of items that cost so much each.
    pub(super) fn expect_deletions(&self, least: u64, most: u64) {
        self.inner.lock().toll = Some(Toll::new(float(least), float(most)));
    }

    /// What one is thought to cost.
    pub(super) fn deletion_units(&self) -> u64 {
        self.inner.lock().toll.as_ref().map_or(1, Toll::units)
    }

    /// Whether a partition is paced on its own.
    pub(super) fn is_hot(&self, partition: u64) -> bool {
        self.inner.lock().heat.is_hot(partition)
    }

    /// Whether any partition is.
    pub(super) fn any_hot(&self) -> bool {
        self.inner.lock().heat.any_hot()
    }

    /// The most units that a batch should hold as things stand.
    pub(super) fn batch_units(&self) -> f64 {
        self.inner.lock().gate.batch_units()
    }

    /// The most units that a batch of a hot partition should hold as things stand.
    pub(super) fn hot_batch_units(&self, partition: u64) -> f64 {
        self.inner.lock().heat.batch_units(partition)
    }

    /// What held the run back most.
    pub(super) fn limit(&self) -> Bottleneck {
        self.inner.lock().gate.limit()
    }
}
