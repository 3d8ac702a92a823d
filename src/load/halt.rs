//! Why a run ends early, told to all its tasks. The first reason stays, save that a failure
//! overrides the gentler ones.

use std::sync::Arc;

use tokio::sync::watch;

use super::books::Failure;

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

/// The run's own signal.
#[derive(Debug, Clone)]
pub(crate) struct Halt(Arc<watch::Sender<Option<Why>>>);

impl Halt {
    pub(crate) fn new() -> Self {
        Self(Arc::new(watch::Sender::new(None)))
    }

    pub(crate) fn set(&self, why: Why) {
        self.0.send_if_modified(|now| {
            let gentler = !matches!(now, Some(Why::Failed(_)));
            let changes = now.is_none() || (gentler && matches!(why, Why::Failed(_)));
            if changes {
                *now = Some(why);
            }
            changes
        });
    }

    pub(crate) fn why(&self) -> Option<Why> {
        self.0.borrow().clone()
    }

    pub(crate) fn is_set(&self) -> bool {
        self.0.borrow().is_some()
    }

    pub(crate) fn has_failed(&self) -> bool {
        matches!(*self.0.borrow(), Some(Why::Failed(_)))
    }

    /// Waits until the run is to end.
    pub(crate) async fn stopped(&self) {
        let _ = self.0.subscribe().wait_for(Option::is_some).await;
    }

    /// Waits until something has failed.
    pub(crate) async fn failed(&self) {
        let failed = |why: &Option<Why>| matches!(why, Some(Why::Failed(_)));
        let _ = self.0.subscribe().wait_for(failed).await;
    }
}
