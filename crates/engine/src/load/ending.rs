//! Why a run ends: the wish of its caller, or what failed.

use std::ops::ControlFlow;
use std::sync::Arc;

use dynafold_source::SourceError;
use dynafold_target::TargetError;
use serde::Serialize;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Duration, sleep};

use crate::proof::ProofError;

// Why a run ends early, told to all its tasks. The first reason stays, save that a failure
// overrides the gentler ones.

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
pub(crate) enum EndReason {
    /// The caller wished it.
    Cancelled,
    /// There were more rejects than allowed.
    TooManyRejects,
    /// Something failed: nothing more is sent.
    Failed(Failure),
}

impl From<Failure> for EndReason {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// Every error that is a failure in the words of a report ends the run.
impl<E> From<E> for EndReason
where
    for<'e> Failure: From<&'e E>,
{
    fn from(error: E) -> Self {
        Self::Failed(Failure::from(&error))
    }
}

/// A file without a name, for what does not fit into the memory, could not be written.
impl From<std::io::Error> for EndReason {
    fn from(error: std::io::Error) -> Self {
        Self::Failed(Failure::scratch(&error))
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

/// The run's own signal.
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
    pub(crate) async fn join(&self, mut tasks: JoinSet<()>, died: &str) {
        while let Some(ended) = tasks.join_next().await {
            if ended.is_err() {
                self.set(Failure::internal(died));
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

// What ends a run before its time, in the words of a report: every error that gets that far becomes
// one of these, with its causes and its mend.

/// What ended a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// Stable code: `source`, `rejects-file`, `internal`, or the target's error code.
    pub code: String,
    /// One line: what happened.
    pub message: String,
    /// What caused it, the nearest cause first.
    pub causes: Vec<String>,
    /// What to do about it.
    pub help: Option<String>,
}

impl Failure {
    /// Takes an error with its causes.
    pub(crate) fn new(code: &str, error: &dyn std::error::Error, help: Option<&str>) -> Self {
        let mut causes = Vec::new();
        let mut next = error.source();
        while let Some(cause) = next {
            let text = cause.to_string();
            // Drivers repeat their causes in their own text.
            if !causes.iter().any(|told: &String| told.contains(&text)) {
                causes.push(text);
            }
            next = cause.source();
        }
        Self {
            code: code.to_owned(),
            message: error.to_string(),
            causes,
            help: help.map(str::to_owned),
        }
    }

    /// A file without a name, for what does not fit into the memory, could not be written.
    pub(super) fn scratch(error: &std::io::Error) -> Self {
        Self {
            code: "scratch".to_owned(),
            message: format!("cannot write to the temporary folder: {error}"),
            causes: Vec::new(),
            help: Some("free some disk space there, or name another folder in TMPDIR".to_owned()),
        }
    }

    /// Something that cannot happen did: a task of ours died.
    pub(crate) fn internal(message: &str) -> Self {
        Self {
            code: "internal".to_owned(),
            message: message.to_owned(),
            causes: Vec::new(),
            help: Some("this is a fault in dynafold; please report it".to_owned()),
        }
    }
}

impl From<&SourceError> for Failure {
    fn from(error: &SourceError) -> Self {
        Self::new("source", error, error.help())
    }
}

impl From<&ProofError> for Failure {
    fn from(error: &ProofError) -> Self {
        Self::new("keys", error, Some(error.help()))
    }
}

impl From<&TargetError> for Failure {
    fn from(error: &TargetError) -> Self {
        Self::new(&error.code, error, error.help.as_deref())
    }
}
