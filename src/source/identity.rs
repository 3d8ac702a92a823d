//! What a run keeps of its source: which database it is, and a proof that it did not change.

use std::fmt;
use std::sync::Arc;

use futures_util::future::BoxFuture;

/// Which database a source is, and what tells its state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The database without user, password and parameters: `postgres://db.example:5432/app`, or the
    /// absolute file.
    pub name: String,
    /// Two equal stamps prove that no stored row changed between the two snapshots. `None` where the
    /// database cannot prove it. It says nothing of SQL that depends on more than stored rows: the
    /// clock, chance, a setting of the session.
    pub stamp: Option<String>,
}

/// Cancels on the server what a connection is at, from elsewhere. The connection is good for nothing
/// afterwards.
#[derive(Clone)]
pub struct Canceller(Arc<dyn Fn() -> BoxFuture<'static, ()> + Send + Sync>);

impl Canceller {
    /// A canceller that does this.
    pub fn new(cancel: impl Fn() -> BoxFuture<'static, ()> + Send + Sync + 'static) -> Self {
        Self(Arc::new(cancel))
    }

    /// Cancels. Does nothing where the server cannot be reached: then the query is over or ends when
    /// the server finds that nobody listens.
    pub async fn cancel(&self) {
        (self.0)().await;
    }
}

impl fmt::Debug for Canceller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Canceller").finish()
    }
}
