//! What holds for the whole session: a second connection to its snapshot, what tells its database
//! from others, and what no part of a pass tells.

use std::time::Duration;

use futures_util::TryStreamExt as _;
use serde::Deserialize;
use sqlx::postgres::{PgConnectOptions, PgConnection, PgRow};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, Row as _};

use super::super::identity::{Answer, Watch};
use super::super::{Canceller, Dialect as _, Identity, SourceError};
use super::error::Subject;
use super::{BEGIN, Postgres, SETTINGS, Sql, UNFILTERED, error};
use crate::scan::Scan;

#[derive(Deserialize)]
struct State {
    stamp: String,
    proves: bool,
}

impl Postgres {
    /// Asks for the process behind the transaction.
    pub(super) async fn backend(&mut self) -> Result<Option<Backend>, SourceError> {
        let backends: Vec<Backend> = self.entries(include_str!("sql/backend.sql")).await?;
        Ok(backends.into_iter().next())
    }

    /// Opens another connection onto the same snapshot.
    pub(super) async fn open_fork(&mut self) -> Result<Option<Self>, SourceError> {
        self.open_snapshot().await?;
        let Some(own) = self.backend.clone().filter(|backend| backend.exports) else {
            return Ok(None);
        };
        let snapshot = match &self.exported {
            Some(snapshot) => snapshot.clone(),
            None => {
                let export = "SELECT pg_catalog.pg_export_snapshot()".to_owned();
                let row = self.ask(export, &Subject::Transaction).await?;
                let Some(snapshot) = row.and_then(|row| row.into_iter().next()) else {
                    return Ok(None);
                };
                self.exported.insert(snapshot).clone()
            }
        };
        // A server that takes no more connections leaves us with one.
        let Ok(mut fork) = Self::open(self.options.clone()).await else {
            return Ok(None);
        };
        // The snapshot is taken over before anything is asked.
        let taken = format!("SET TRANSACTION SNAPSHOT {};\n", Sql.literal(&snapshot));
        let unfiltered = if self.unfiltered { UNFILTERED } else { "" };
        let begin = AssertSqlSafe([BEGIN, &taken, SETTINGS, ";\n", unfiltered].concat());
        if sqlx::raw_sql(begin)
            .execute(&mut fork.connection)
            .await
            .is_err()
        {
            return Ok(None);
        }
        fork.begun = true;
        fork.unfiltered = self.unfiltered;
        fork.planned = self.planned.clone();
        fork.calls = self.calls;
        fork.backend = fork.backend().await?;
        // Behind a pooler it may have come to another server, or to none of its own.
        let same = fork.backend.as_ref().is_some_and(|other| {
            other.snapshot == own.snapshot
                && other.server_started == own.server_started
                && other.process != own.process
        });
        Ok(same.then_some(fork))
    }

    /// Which database this is.
    pub(super) async fn identify(&mut self) -> Result<Identity, SourceError> {
        self.open_snapshot().await?;
        self.step_aside().await?;
        let sql = include_str!("sql/identity.sql");
        let states = self.entries::<State>(sql).await;
        // What an administrator has closed to this user proves nothing.
        let refused = states.as_ref().is_err_and(|error| !error.is_lost());
        let states = self
            .step_back(if refused { Ok(Vec::new()) } else { states })
            .await?;
        let state = states.into_iter().next().filter(|state| state.proves);
        Ok(Identity {
            name: error::place(&self.options),
            stamp: state.map(|state| state.stamp),
        })
    }

    /// The numbers that a query of ours gives. The order of nothing hangs on it, so it may use the
    /// server's workers.
    pub(super) async fn read_numbers(
        &mut self,
        sql: &str,
        scan: &Scan,
    ) -> Result<Vec<Vec<u64>>, SourceError> {
        self.open_snapshot().await?;
        let subject = Subject::Scan(scan);
        self.step_aside().await?;
        let rows = match self.explain(sql, &subject).await {
            Ok(_) => {
                let sql = format!("SET LOCAL max_parallel_workers_per_gather TO DEFAULT; {sql}");
                let rows = sqlx::raw_sql(AssertSqlSafe(sql)).fetch_all(&mut self.connection);
                let read = |row: &PgRow| (0..row.len()).map(|index| number(row, index)).collect();
                let rows = rows.await.and_then(|rows| rows.iter().map(read).collect());
                rows.map_err(|cause| error::query(cause, &subject, &self.user))
            }
            Err(refused) => Err(refused),
        };
        // Going back to the savepoint also takes the setting back.
        self.step_back(rows).await
    }
}

fn number(row: &PgRow, index: usize) -> Result<u64, sqlx::Error> {
    let raw = row.try_get_raw(index)?;
    let text = raw.as_str().map_err(sqlx::Error::Decode)?;
    text.parse().map_err(|e| sqlx::Error::Decode(Box::new(e)))
}

// What is said to the server about a connection over another one: that it cancel what it is at, and
// whether it is still at it.

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
