//! What holds for the whole session: a second connection to its snapshot, what tells its database
//! from others, and what no part of a pass tells.

use async_trait::async_trait;
use futures_util::TryStreamExt as _;
use futures_util::future::try_join_all;
use serde::Deserialize;
use sqlx::AssertSqlSafe;
use sqlx::postgres::PgConnection;

use super::super::watch::ServerSession;
use super::super::{Dialect as _, Result, SharedSnapshot, SourceError, SourceIdentity};
use super::error::ReadSubject;
use super::{BEGIN, Postgres, PostgresSql, SETTINGS, UNFILTERED, error};

#[derive(Deserialize)]
struct SessionState {
    stamp: String,
    proves: bool,
}

impl Postgres {
    /// Asks for the process behind the transaction.
    pub(super) async fn backend(&mut self) -> Result<Option<Backend>> {
        let backends: Vec<Backend> = self.entries(include_str!("sql/backend.sql")).await?;
        Ok(backends.into_iter().next())
    }

    /// The name under which other connections find the snapshot.
    async fn export(&mut self) -> Result<Option<String>> {
        if self.exported.is_none() {
            let export = "SELECT pg_catalog.pg_export_snapshot()".to_owned();
            let row = self.ask(export, &ReadSubject::Transaction).await?;
            self.exported = row.and_then(|row| row.into_iter().next());
        }
        Ok(self.exported.clone())
    }

    /// What sessions of other processes need to take the snapshot over.
    pub(super) async fn shared(&mut self) -> Result<Option<SharedSnapshot>> {
        self.open_snapshot().await?;
        let Some(own) = self.backend.clone().filter(|backend| backend.exports) else {
            return Ok(None);
        };
        let name = self.export().await?;
        Ok(name.map(|name| SharedSnapshot {
            name,
            shows: own.snapshot,
            server_started: own.server_started,
        }))
    }

    /// Opens a transaction on the snapshot of another session.
    pub(super) async fn take_over(&mut self, snapshot: &SharedSnapshot) -> Result<()> {
        let taken = taking_over(&snapshot.name);
        let begin = AssertSqlSafe([BEGIN, &taken, SETTINGS].concat());
        let begun = sqlx::raw_sql(begin).execute(&mut self.connection).await;
        begun.map(drop).map_err(|cause| {
            match error::query(cause, &ReadSubject::Transaction, &self.user) {
                SourceError::Query { cause, .. } => snapshot.gone(Some(cause)),
                other => other,
            }
        })
    }

    /// Whether the transaction is on this snapshot of this server. Behind a pooler it may have come to another.
    pub(super) fn shows(&self, snapshot: &SharedSnapshot) -> bool {
        self.backend.as_ref().is_some_and(|own| {
            own.snapshot == snapshot.shows && own.server_started == snapshot.server_started
        })
    }

    /// Opens other connections onto the same snapshot, side by side: each waits for the server a few times.
    pub(super) async fn open_forks(&mut self, most: usize) -> Result<Vec<Self>> {
        self.open_snapshot().await?;
        let Some(own) = self.backend.clone().filter(|backend| backend.exports) else {
            return Ok(Vec::new());
        };
        let Some(snapshot) = self.export().await? else {
            return Ok(Vec::new());
        };
        let this = &*self;
        let forks = try_join_all((0..most).map(|_| this.open_fork(&own, &snapshot))).await?;
        Ok(forks.into_iter().flatten().collect())
    }

    async fn open_fork(&self, own: &Backend, snapshot: &str) -> Result<Option<Self>> {
        // A server that takes no more connections leaves us with fewer.
        let Ok(mut fork) = Self::open(self.options.clone()).await else {
            return Ok(None);
        };
        // The snapshot is taken over before anything is asked.
        let taken = taking_over(snapshot);
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
        fork.meaning = self.meaning.clone();
        fork.unfiltered = self.unfiltered;
        fork.planned = self.planned.clone();
        fork.lookups = self.lookups;
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
    pub(super) async fn identify(&mut self) -> Result<SourceIdentity> {
        self.open_snapshot().await?;
        self.step_aside().await?;
        let sql = include_str!("sql/identity.sql");
        let states = self.entries::<SessionState>(sql).await;
        // What an administrator has closed to this user proves nothing.
        let refused = states.as_ref().is_err_and(|error| !error.is_lost());
        let states = self
            .step_back(if refused { Ok(Vec::new()) } else { states })
            .await?;
        let state = states.into_iter().next().filter(|state| state.proves);
        let values = self.meaning.iter().map(|setting| setting.value);
        let meaning = values.fold(0, i64::wrapping_add);
        Ok(SourceIdentity {
            name: error::plain_url(&self.options),
            stamp: state.map(|state| format!("{} {meaning}", state.stamp)),
            user: self.backend.as_ref().map(|backend| backend.user.clone()),
        })
    }
}

// What is said to the server about a connection over another one: that it cancel what it is at, and
// whether it is still at it.

/// What `sql/backend.sql` says: the process behind a transaction.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Backend {
    pub(super) process: i32,
    started: Option<String>,
    pub(super) server_started: String,
    /// When it has loaded the server's configuration, in microseconds since 1970.
    pub(super) configured: i64,
    pub(super) snapshot: String,
    user: String,
    pub(super) exports: bool,
}

#[async_trait]
impl ServerSession for Backend {
    type Connection = PgConnection;

    async fn is_same(&self, connection: &mut PgConnection) -> sqlx::Result<bool> {
        let sql = AssertSqlSafe(format!(
            "SELECT 1 WHERE pg_catalog.pg_postmaster_start_time() = {}::pg_catalog.timestamptz",
            PostgresSql.literal(&self.server_started)
        ));
        let rows = sqlx::raw_sql(sql).fetch_all(connection).await?;
        Ok(!rows.is_empty())
    }

    async fn is_busy(&self, connection: &mut PgConnection) -> sqlx::Result<bool> {
        // It waits for us to take rows, and none come here: then they do not get through.
        let condition = "a.wait_event IS DISTINCT FROM 'ClientWrite'";
        about(connection, self, "1", condition).await
    }

    async fn cancel(&self, connection: &mut PgConnection, ends: bool) -> sqlx::Result<bool> {
        let way = if ends { "terminate" } else { "cancel" };
        let what = format!("pg_catalog.pg_{way}_backend(a.pid)");
        about(connection, self, &what, "true").await
    }
}

/// Has a transaction that has asked for nothing yet take over a snapshot.
fn taking_over(snapshot: &str) -> String {
    let snapshot = PostgresSql.literal(snapshot);
    format!("SET TRANSACTION SNAPSHOT {snapshot};\n")
}

/// Asks for something of the process while it is at a query. False: it is not, or no more: one of the
/// same number that began at another time is another.
async fn about(
    connection: &mut PgConnection,
    backend: &Backend,
    what: &str,
    condition: &str,
) -> sqlx::Result<bool> {
    let started = backend.started.as_deref().unwrap_or_default();
    let sql = AssertSqlSafe(format!(
        "SELECT {what} FROM pg_catalog.pg_stat_activity AS a WHERE {condition} AND a.pid = {} \
         AND a.backend_start = {}::pg_catalog.timestamptz AND a.state = 'active'",
        backend.process,
        PostgresSql.literal(started)
    ));
    let mut rows = sqlx::raw_sql(sql).fetch(connection);
    let found = rows.try_next().await?.is_some();
    while rows.try_next().await?.is_some() {}
    Ok(found)
}
