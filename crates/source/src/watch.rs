//! What a server does for a connection, as another connection sees it: cancelling that, and telling a connection
//! that is slow from one that is dead.
//!
//! A query may take as long as it likes to its first row. But where nothing comes for a while, the
//! server is asked over another connection whether it is still at it: a network may have forgotten
//! the first one without a word to either end.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::stream::BoxStream;
use futures_util::{FutureExt as _, TryStreamExt as _};
use sqlx::{ConnectOptions as _, Connection};
use tokio::time::{sleep, timeout};

/// A session of a server, which is asked about and cancelled over another connection.
#[async_trait]
pub(super) trait ServerSession: Send + Sync {
    type Connection: Connection;

    /// Whether a connection is to the server that the session is on.
    async fn is_same(&self, connection: &mut Self::Connection) -> sqlx::Result<bool>;

    /// Whether the session is at a query, and not waiting for us to take rows.
    async fn is_busy(&self, connection: &mut Self::Connection) -> sqlx::Result<bool>;

    /// Cancels the query that the session is at; with `ends` the whole session. False: it is at none.
    async fn cancel(&self, connection: &mut Self::Connection, ends: bool) -> sqlx::Result<bool>;
}

/// What a database does for a connection, seen from elsewhere.
#[async_trait]
pub(super) trait Work: Send + Sync {
    /// Whether the database is still at it.
    async fn activity(&self) -> sqlx::Result<ServerActivity>;

    async fn cancel(&self) -> sqlx::Result<()>;
}

type OptionsOf<S> = <<S as ServerSession>::Connection as Connection>::Options;

/// What a server does for a session, and how others connect to it.
#[async_trait]
impl<S: ServerSession> Work for (OptionsOf<S>, S) {
    async fn activity(&self) -> sqlx::Result<ServerActivity> {
        let (options, session) = self;
        let mut connection = options.connect().await?;
        let activity = if !session.is_same(&mut connection).await? {
            ServerActivity::Elsewhere
        } else if session.is_busy(&mut connection).await? {
            ServerActivity::Busy
        } else {
            ServerActivity::Idle
        };
        connection.close().await?;
        Ok(activity)
    }

    // Ends the session where it does not notice, because it waits for somebody to take its rows.
    async fn cancel(&self) -> sqlx::Result<()> {
        let (options, session) = self;
        let mut connection = options.connect().await?;
        let is_same = session.is_same(&mut connection).await?;
        if is_same && session.cancel(&mut connection, false).await? {
            sleep(NOTICE).await;
            session.cancel(&mut connection, true).await?;
        }
        connection.close().await
    }
}

/// How long a cancelled query may take to notice.
const NOTICE: Duration = Duration::from_millis(300);
/// How long cancelling may take at all.
const CANCELLING: Duration = Duration::from_secs(5);

/// Cancels on the server what a connection is at, from elsewhere. The connection is good for nothing
/// afterwards.
#[derive(Clone)]
pub struct Canceller(pub(super) Arc<dyn Work>);

impl Canceller {
    /// Cancels. Does nothing where the server cannot be reached: then the query is over or ends when
    /// the server finds that nobody listens.
    pub async fn cancel(&self) {
        // Whoever cannot reach the server cannot cancel there.
        let _ = timeout(CANCELLING, self.0.cancel()).await;
    }
}

impl fmt::Debug for Canceller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Canceller").finish()
    }
}

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
pub(super) enum ServerActivity {
    /// It is at a query, and not waiting for us.
    Busy,
    /// It is not, or it waits for us to take rows: what it sends does not get through.
    Idle,
    /// This is another server, which knows nothing of it.
    Elsewhere,
}

/// How a connection is watched.
pub(super) struct Watch {
    pub(super) patience: Duration,
    pub(super) work: Arc<dyn Work>,
}

impl Watch {
    async fn ask(&self) -> ServerActivity {
        match timeout(ASKING, self.work.activity()).await {
            Ok(Ok(answer)) => answer,
            // A server that refuses us, because it is full say, says nothing about the other.
            Ok(Err(error)) if error.as_database_error().is_some() => ServerActivity::Elsewhere,
            Ok(Err(_)) | Err(_) => ServerActivity::Idle,
        }
    }
}

/// The next row. Fails where the server is not at the query any more, and no row comes.
pub(super) async fn next_row<R>(
    rows: &mut BoxStream<'_, sqlx::Result<R>>,
    watch: Option<&Watch>,
) -> sqlx::Result<Option<R>> {
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
            ServerActivity::Elsewhere => elsewhere + 1,
            _ => 0,
        };
        if answer == ServerActivity::Idle || elsewhere >= ELSEWHERE {
            let last = timeout(GRACE, rows.try_next()).await;
            let dead = std::io::Error::from(std::io::ErrorKind::TimedOut);
            return last.unwrap_or_else(|_| Err(sqlx::Error::Io(dead)));
        }
    }
}
