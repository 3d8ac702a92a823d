//! Why a run ends early, told to all its tasks. The first reason stays, save that a failure
//! overrides the gentler ones.

use std::sync::Arc;

use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Duration, sleep};

use super::failure::Failure;

/// The caller's wish that a run should end: what is in flight is finished, nothing new begun.
///
/// Clones share the wish. A second, harder wish is the caller's to carry out, by exiting.
#[derive(Debug, Clone)]
pub struct Cancel(Arc<watch::Sender<bool>>);

impl Default for Cancel {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(false)))
    }
}

impl Cancel {
    /// Wishes that the run should end.
    pub fn cancel(&self) {
        self.0.send_replace(true);
    }

    /// Whether it has been wished.
    #[must_use]
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Why {
    /// The caller wished it.
    Cancelled,
    /// There were more rejects than allowed.
    TooManyRejects,
    /// Something failed: nothing more is sent.
    Failed(Failure),
}

/// How far a run is on its way out, once its caller wishes it to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Leaving {
    /// It goes on, or drains what is on its way.
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

/// The run's own signal.
#[derive(Debug, Clone)]
pub(crate) struct Halt(Arc<Signal>);

#[derive(Debug)]
struct Signal {
    why: watch::Sender<Option<Why>>,
    leaving: watch::Sender<Leaving>,
}

/// Ends the heeding of a wish when it is dropped.
#[derive(Debug)]
pub(crate) struct Heeding(#[expect(dead_code, reason = "it is held")] JoinSet<()>);

impl Halt {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Signal {
            why: watch::Sender::new(None),
            leaving: watch::Sender::new(Leaving::Not),
        }))
    }

    /// Carries the caller's wish to all tasks of the run, wherever they wait.
    pub(crate) fn heed(&self, cancel: &Cancel) -> Heeding {
        let (halt, cancel) = (self.clone(), cancel.clone());
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            cancel.cancelled().await;
            halt.set(Why::Cancelled);
            sleep(DRAIN).await;
            halt.0.leaving.send_replace(Leaving::Waiting);
            sleep(ANSWERS).await;
            halt.0.leaving.send_replace(Leaving::Asking);
        });
        Heeding(tasks)
    }

    pub(crate) fn set(&self, why: Why) {
        self.0.why.send_if_modified(|now| {
            let gentler = !matches!(now, Some(Why::Failed(_)));
            let changes = now.is_none() || (gentler && matches!(why, Why::Failed(_)));
            if changes {
                *now = Some(why);
            }
            changes
        });
    }

    pub(crate) fn why(&self) -> Option<Why> {
        self.0.why.borrow().clone()
    }

    pub(crate) fn is_set(&self) -> bool {
        self.0.why.borrow().is_some()
    }

    pub(crate) fn has_failed(&self) -> bool {
        matches!(*self.0.why.borrow(), Some(Why::Failed(_)))
    }

    /// Waits until the run is to end.
    pub(crate) async fn stopped(&self) {
        let _ = self.0.why.subscribe().wait_for(Option::is_some).await;
    }

    /// Waits until nothing more may be sent: something has failed, or the wish to end was heard a
    /// moment ago.
    pub(crate) async fn closed(&self) {
        let failed = |why: &Option<Why>| matches!(why, Some(Why::Failed(_)));
        let mut why = self.0.why.subscribe();
        tokio::select! {
            _ = why.wait_for(failed) => {}
            () = self.leaving(Leaving::Waiting) => {}
        }
    }

    /// Waits until no answer is waited for any more.
    pub(crate) async fn left(&self) {
        self.leaving(Leaving::Asking).await;
    }

    async fn leaving(&self, least: Leaving) {
        let mut leaving = self.0.leaving.subscribe();
        let _ = leaving.wait_for(|leaving| *leaving >= least).await;
    }
}
