//! Why a run ends: the wish of its caller, or what failed.

use std::ops::ControlFlow;
use std::sync::Arc;

use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Duration, sleep};

use super::failure::Failure;

/// The caller's wish that a run should end: what is in flight is finished, nothing new begun.
///
/// Clones share the wish. A second, harder wish is the caller's to carry out, by exiting.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<watch::Sender<bool>>);

impl Cancel {
    /// Wishes that the run should end.
    pub fn cancel(&self) {
        self.0.send_replace(true);
    }

    /// Whether it has been wished.
    pub fn is_cancelled(&self) -> bool {
        *self.0.borrow()
    }

    /// Waits until it is wished.
    pub async fn cancelled(&self) {
        // The sender lives as long as `self`: this cannot fail.
        let _ = self.0.subscribe().wait_for(|wished| *wished).await;
    }
}

/// Why a run ends early.
#[derive(Debug, Clone)]
pub(crate) enum EndReason {
    /// The caller wished it.
    Cancelled,
    /// There were more rejects than allowed.
    TooManyRejects,
    /// Something failed: nothing more is sent.
    Failed(Arc<Failure>),
}

/// Every error that is a failure of a run ends it.
impl<E> From<E> for EndReason
where
    Failure: From<E>,
{
    fn from(error: E) -> Self {
        Self::Failed(Arc::new(Failure::from(error)))
    }
}

/// How far a run is on its way out, once its caller wishes it to end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum ShutdownStage {
    /// It goes on, or drains what is on its way.
    #[default]
    Not,
    /// What waits to be sent is given up.
    Waiting,
    /// So is what waits for an answer.
    Asking,
}

/// How long after the wish to end what is on its way may still be sent. A table at its own pace
/// takes what waits in less; one that is throttled, capped or gone is not waited for.
const DRAIN: Duration = Duration::from_secs(1);
/// How long after that answers are waited for. What they would tell is found out by the next run.
const ANSWERS: Duration = Duration::from_secs(10);

/// Why a run ends early, for all its tasks. The first reason stays, save that a failure overrides the gentler ones.
#[derive(Debug, Clone, Default)]
pub(crate) struct RunHalt(Arc<EndSignal>);

#[derive(Debug, Default)]
struct EndSignal {
    why: watch::Sender<Option<EndReason>>,
    leaving: watch::Sender<ShutdownStage>,
}

impl RunHalt {
    /// Carries the caller's wish to all tasks of the run, wherever they wait, until what it gives is dropped.
    pub(crate) fn watch_for_cancel(&self, cancel: &Cancel) -> JoinSet<()> {
        let (halt, cancel) = (self.clone(), cancel.clone());
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            cancel.cancelled().await;
            halt.set(EndReason::Cancelled);
            sleep(DRAIN).await;
            halt.0.leaving.send_replace(ShutdownStage::Waiting);
            sleep(ANSWERS).await;
            halt.0.leaving.send_replace(ShutdownStage::Asking);
        });
        tasks
    }

    pub(crate) fn set(&self, why: impl Into<EndReason>) {
        let why = why.into();
        self.0.why.send_if_modified(|now| {
            let gentler = !matches!(now, Some(EndReason::Failed(_)));
            let changes = now.is_none() || (gentler && matches!(why, EndReason::Failed(_)));
            if changes {
                *now = Some(why);
            }
            changes
        });
    }

    pub(crate) fn why(&self) -> Option<EndReason> {
        self.0.why.borrow().clone()
    }

    pub(crate) fn is_set(&self) -> bool {
        self.0.why.borrow().is_some()
    }

    /// Whether whoever works for the run goes on.
    pub(crate) fn flow(&self) -> ControlFlow<()> {
        if self.is_set() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    pub(crate) fn has_failed(&self) -> bool {
        matches!(*self.0.why.borrow(), Some(EndReason::Failed(_)))
    }

    /// Waits until the run is to end.
    pub(crate) async fn stopped(&self) {
        let _ = self.0.why.subscribe().wait_for(Option::is_some).await;
    }

    /// Waits until all of the run's tasks have ended; the run has failed where one died.
    pub(crate) async fn join(&self, mut tasks: JoinSet<()>, died: &'static str) {
        while let Some(ended) = tasks.join_next().await {
            if ended.is_err() {
                self.set(Failure::Internal(died));
            }
        }
    }

    /// Waits until nothing more may be sent: something has failed, or the wish to end was heard a
    /// moment ago.
    pub(crate) async fn closed(&self) {
        let failed = |why: &Option<EndReason>| matches!(why, Some(EndReason::Failed(_)));
        let mut why = self.0.why.subscribe();
        tokio::select! {
            _ = why.wait_for(failed) => {}
            () = self.leaving(ShutdownStage::Waiting) => {}
        }
    }

    /// Waits until no answer is waited for any more.
    pub(crate) async fn drained(&self) {
        self.leaving(ShutdownStage::Asking).await;
    }

    async fn leaving(&self, least: ShutdownStage) {
        let mut leaving = self.0.leaving.subscribe();
        let _ = leaving.wait_for(|leaving| *leaving >= least).await;
    }
}
