//! What is said to the server about a connection over another one: that it cancel what it is at, and
//! whether it is still at it.

use std::time::Duration;

use futures_util::TryStreamExt as _;
use serde::Deserialize;
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _};

use super::{Postgres, Sql};
use crate::source::watch::{Answer, Watch};
use crate::source::{Canceller, Dialect as _};

/// How long a cancelled query may take to notice.
const GRACE: Duration = Duration::from_millis(300);
/// How long cancelling may take at all.
const TIMEOUT: Duration = Duration::from_secs(5);

/// What `sql/backend.sql` says: the process behind a transaction.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Backend {
    pub(super) process: i32,
    started: Option<String>,
    pub(super) server_started: String,
    pub(super) snapshot: String,
    pub(super) exports: bool,
}

impl Postgres {
    /// A way to cancel what this connection is at.
    pub(super) fn cancel_from_elsewhere(&self) -> Option<Canceller> {
        let backend = self.backend.clone()?;
        let options = self.options.clone();
        Some(Canceller::new(move || {
            let (backend, options) = (backend.clone(), options.clone());
            Box::pin(async move {
                // Whoever cannot reach the server cannot cancel there.
                let _ = tokio::time::timeout(TIMEOUT, cancel(&backend, &options)).await;
            })
        }))
    }

    /// A way to tell whether this connection is alive.
    pub(super) fn watch_from_elsewhere(&self) -> Option<Watch> {
        let backend = self.backend.clone()?;
        let options = self.options.clone();
        Some(Watch::new(self.patience, move || {
            let (backend, options) = (backend.clone(), options.clone());
            Box::pin(async move {
                let mut connection = options.connect().await?;
                // It waits for us to take rows, and none come here: then they do not get through.
                let condition = "a.wait_event IS DISTINCT FROM 'ClientWrite'";
                let answer = if !is_same(&mut connection, &backend).await? {
                    Answer::Elsewhere
                } else if about(&mut connection, &backend, "1", condition).await? {
                    Answer::Busy
                } else {
                    Answer::Idle
                };
                connection.close().await?;
                Ok(answer)
            })
        }))
    }
}

/// Cancels what the process is at; ends it where it does not notice, because it waits for somebody to
/// take its rows.
async fn cancel(backend: &Backend, options: &PgConnectOptions) -> Result<(), sqlx::Error> {
    let mut connection = options.connect().await?;
    let cancelling = "pg_catalog.pg_cancel_backend(a.pid)";
    if about(&mut connection, backend, cancelling, "true").await? {
        tokio::time::sleep(GRACE).await;
        let ending = "pg_catalog.pg_terminate_backend(a.pid)";
        about(&mut connection, backend, ending, "true").await?;
    }
    connection.close().await
}

/// Whether this is the server that the process runs on.
async fn is_same(connection: &mut PgConnection, backend: &Backend) -> Result<bool, sqlx::Error> {
    let sql = AssertSqlSafe(format!(
        "SELECT 1 WHERE pg_catalog.pg_postmaster_start_time() = {}::pg_catalog.timestamptz",
        Sql.literal(&backend.server_started)
    ));
    let rows = sqlx::raw_sql(sql).fetch_all(connection).await?;
    Ok(!rows.is_empty())
}

/// Asks for something of the process while it is at a query. False: it is not, or no more: one of the
/// same number that began at another time is another.
async fn about(
    connection: &mut PgConnection,
    backend: &Backend,
    what: &str,
    condition: &str,
) -> Result<bool, sqlx::Error> {
    let started = backend.started.as_deref().unwrap_or_default();
    let sql = AssertSqlSafe(format!(
        "SELECT {what} FROM pg_catalog.pg_stat_activity AS a WHERE {condition} AND a.pid = {} \
         AND a.backend_start = {}::pg_catalog.timestamptz AND a.state = 'active'",
        backend.process,
        Sql.literal(started)
    ));
    let mut rows = sqlx::raw_sql(sql).fetch(connection);
    let found = rows.try_next().await?.is_some();
    while rows.try_next().await?.is_some() {}
    Ok(found)
}
