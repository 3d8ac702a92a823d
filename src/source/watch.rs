//! Tells a connection that is slow from one that is dead.
//!
//! A query may take as long as it likes to its first row. But where nothing comes for a while, the
//! server is asked over another connection whether it is still at it: a network may have forgotten
//! the first one without a word to either end.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use futures_util::{FutureExt as _, TryStreamExt as _};
use tokio::time::timeout;

/// How long nothing may come before the server is asked.
pub(super) const PATIENCE: Duration = Duration::from_mins(1);
/// How long that may take.
const ASKING: Duration = Duration::from_secs(20);
/// How long rows that were on their way meanwhile may take.
const GRACE: Duration = Duration::from_secs(1);

/// How often in a row another server may answer, as one does behind a balancer or after a failover.
const ELSEWHERE: u32 = 10;

/// What a server says about a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    /// It is at a query, and not waiting for us.
    Busy,
    /// It is not, or it waits for us to take rows: what it sends does not get through.
    Idle,
    /// This is another server, which knows nothing of it.
    Elsewhere,
}

/// Asks whether the server is still at a query, and not waiting for us.
type Ask = Arc<dyn Fn() -> BoxFuture<'static, Result<Answer, sqlx::Error>> + Send + Sync>;

/// How a connection is watched.
#[derive(Clone)]
pub(super) struct Watch {
    patience: Duration,
    ask: Ask,
}

impl Watch {
    pub(super) fn new(
        patience: Duration,
        ask: impl Fn() -> BoxFuture<'static, Result<Answer, sqlx::Error>> + Send + Sync + 'static,
    ) -> Self {
        Self {
            patience,
            ask: Arc::new(ask),
        }
    }

    async fn ask(&self) -> Answer {
        match timeout(ASKING, (self.ask)()).await {
            Ok(Ok(answer)) => answer,
            // A server that refuses us, because it is full say, says nothing about the other.
            Ok(Err(error)) if error.as_database_error().is_some() => Answer::Elsewhere,
            Ok(Err(_)) | Err(_) => Answer::Idle,
        }
    }
}

/// The next row.
pub(super) async fn next<R>(
    rows: &mut BoxStream<'_, Result<R, sqlx::Error>>,
    watch: Option<&Watch>,
) -> Result<Option<R>, sqlx::Error> {
    // Most are there already, and no clock is looked at for them.
    if let Some(next) = rows.try_next().now_or_never() {
        return next;
    }
    let Some(watch) = watch else {
        return rows.try_next().await;
    };
    let mut elsewhere = 0;
    loop {
        if let Ok(next) = timeout(watch.patience, rows.try_next()).await {
            return next;
        }
        let answer = watch.ask().await;
        elsewhere = match answer {
            Answer::Elsewhere => elsewhere + 1,
            _ => 0,
        };
        if answer == Answer::Idle || elsewhere >= ELSEWHERE {
            let last = timeout(GRACE, rows.try_next()).await;
            let dead = std::io::Error::from(std::io::ErrorKind::TimedOut);
            return last.unwrap_or_else(|_| Err(sqlx::Error::Io(dead)));
        }
    }
}
