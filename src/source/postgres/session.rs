//! What holds for the whole session: a second connection to its snapshot, what tells its database
//! from others, and what no part of a pass tells.

use serde::Deserialize;
use sqlx::postgres::PgRow;
use sqlx::{AssertSqlSafe, Row as _};

use super::elsewhere::Backend;
use super::error::{self, Subject};
use super::{BEGIN, Postgres, SETTINGS, Sql};
use crate::source::orphans::Count;
use crate::source::{Dialect as _, Identity, LeftBehind, Scan, SourceError};

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
        let begin = AssertSqlSafe([BEGIN, &taken, SETTINGS].concat());
        if sqlx::raw_sql(begin)
            .execute(&mut fork.connection)
            .await
            .is_err()
        {
            return Ok(None);
        }
        fork.begun = true;
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

    /// Counts the children without parents.
    pub(super) async fn count_orphans(
        &mut self,
        scan: &Scan,
    ) -> Result<Vec<(usize, LeftBehind)>, SourceError> {
        self.open_snapshot().await?;
        let Some(count) = Count::new(&Sql, scan) else {
            return Ok(Vec::new());
        };
        let subject = Subject::Scan(scan);
        self.step_aside().await?;
        let counted = match self.explain(&count.sql, &subject).await {
            Ok(()) => self.orphan_rows(&count.sql, &subject).await,
            Err(refused) => Err(refused),
        };
        let counted = self.step_back(counted).await?;
        Ok(count.left(&counted))
    }

    async fn orphan_rows(
        &mut self,
        sql: &str,
        subject: &Subject<'_>,
    ) -> Result<Vec<(u64, u64)>, SourceError> {
        let sql = format!("SET LOCAL max_parallel_workers_per_gather TO DEFAULT; {sql}");
        let rows = sqlx::raw_sql(AssertSqlSafe(sql)).fetch_all(&mut self.connection);
        let rows = rows.await.and_then(|rows| {
            let rows = rows
                .iter()
                .map(|row| Ok((number(row, 0)?, number(row, 1)?)));
            rows.collect()
        });
        rows.map_err(|cause| error::query(cause, subject, &self.user))
    }
}

fn number(row: &PgRow, index: usize) -> Result<u64, sqlx::Error> {
    let raw = row.try_get_raw(index)?;
    let text = raw.as_str().map_err(sqlx::Error::Decode)?;
    text.parse().map_err(|e| sqlx::Error::Decode(Box::new(e)))
}
