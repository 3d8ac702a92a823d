//! What SQL looks up by name is looked up as it is when it runs, and not as the snapshot shows it: functions,
//! operators, casts, types, settings, the roles whose policies hold. No lock holds them, and no plan names all of them: a function in SQL becomes a part of the
//! plan, an operator's function is not named, and one that fits better may come. So whatever SQL looks up in is
//! compared: as the snapshot shows it, and as another transaction sees it at the end.

use std::collections::HashMap;
use std::time::Duration;

use dynafold_relational::catalog::Dbms;
use dynafold_sql::{SqlQuery, reads_more};
use serde::Deserialize;

use super::super::{Result, SourceError};
use super::error::ReadSubject;
use super::{Postgres, SessionSetting};

/// How long the look over another connection may take.
const TIMEOUT: Duration = Duration::from_mins(1);
/// How long it waits before it tries to connect again.
const PAUSE: Duration = Duration::from_secs(1);

/// One object of `sql/lookups.sql`.
#[derive(Deserialize)]
struct LookupObject {
    kind: String,
    name: String,
    key: String,
    writer: String,
}

/// What `sql/callable.sql` says.
#[derive(Deserialize)]
struct Callable {
    /// What calls functions that somebody has made, by its name.
    names: Vec<String>,
    /// Whether operators and casts do.
    unnamed: bool,
    /// Whether there are operators or casts that did not come with the server, those of extensions too.
    added: bool,
}

/// What SQL may look up. Each variant includes those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LookupReach {
    /// It looks up operators, and what these look up.
    Operators,
    /// It looks up functions and types.
    Functions,
    /// It may call functions that somebody has made, which read tables that no plan shows.
    Tables,
}

impl LookupReach {
    /// Asks for all that is looked up.
    fn sql(self) -> String {
        let reach = match self {
            Self::Operators => "1",
            Self::Functions => "2",
            Self::Tables => "3",
        };
        include_str!("sql/lookups.sql").replace("{reach}", reach)
    }
}

/// Whether a condition reads tables by itself: one of them may be a view. What is not understood may.
fn reads_tables(condition: &str) -> bool {
    let query = SqlQuery::read(&format!("SELECT 1 WHERE {condition}"), Some(Dbms::Postgres));
    query.map_or(true, |query| !query.tables.is_empty())
}

impl Postgres {
    /// How far the mapping's SQL reaches, and with `views` the database's own. A function's name need not be in a plan:
    /// one in SQL becomes a part of it, and an operator or a cast has another name.
    pub(super) async fn reach(&mut self, views: bool, sql: &[&str]) -> Result<LookupReach> {
        let callable = include_str!("sql/callable.sql");
        let Some(callable) = self.entries::<Callable>(callable).await?.pop() else {
            return Ok(LookupReach::Tables);
        };
        let calls_own = |sql: &&str| {
            let plain = sql.replace('"', "").to_lowercase();
            let mut names = callable.names.iter();
            names.any(|name| plain.contains(name)) || reads_tables(sql)
        };
        let calls = |sql: &&str| reads_more(sql, Dbms::Postgres);
        let has_own = !callable.names.is_empty();
        Ok(
            if has_own && (views || callable.unnamed || sql.iter().any(calls_own)) {
                LookupReach::Tables
            } else if views || callable.added || sql.iter().any(calls) {
                LookupReach::Functions
            } else {
                LookupReach::Operators
            },
        )
    }

    /// Checks that all that the mapping's SQL may look up is as the snapshot shows it.
    pub(super) async fn check_lookups(&mut self) -> Result<()> {
        let Some(reach) = self.lookups else {
            return Ok(());
        };
        let looked = tokio::time::timeout(TIMEOUT, self.compare_lookups(reach)).await;
        let late = "no second connection could be opened within a minute, or it did not answer";
        looked.unwrap_or_else(|_| Err(unknown(late)))
    }

    async fn compare_lookups(&mut self, reach: LookupReach) -> Result<()> {
        let sql = reach.sql();
        let before = self.digest(&sql).await?;
        // Another transaction, which sees what is new as well.
        let mut now = self.second().await?;
        now.open_snapshot().await?;
        let server = |source: &Self| source.backend.as_ref().map(|it| it.server_started.clone());
        if server(self) != server(&now) {
            return Err(unknown("a second connection leads to another server"));
        }
        let changed = |earlier: &&SessionSetting| {
            let mut since = now.meaning.iter();
            since.any(|now| now.name == earlier.name && now.value != earlier.value)
        };
        if let Some(SessionSetting { name, .. }) = self.meaning.iter().find(changed) {
            return Err(SourceError::moved(format!(
                "the setting {name}, which decides what SQL means, was changed after the snapshot was taken"
            )));
        }
        // The settings of an extension are listed by sessions alone that have used it, and what has no extension never is.
        let configured = |source: &Self| source.backend.as_ref().map(|it| it.configured);
        if reach != LookupReach::Operators && configured(&now) > configured(self) {
            return Err(SourceError::moved(
                "the server's configuration was reloaded after the snapshot was taken, and what SQL calls may depend on it",
            ));
        }
        if before == now.digest(&sql).await? {
            return Ok(());
        }
        let before: Vec<LookupObject> = self.entries(&sql).await?;
        let now: Vec<LookupObject> = now.entries(&sql).await?;
        Err(difference(&before, &now))
    }

    /// Opens another connection, and goes on trying while none is to be had: hours of reading may hang on it.
    async fn second(&self) -> Result<Self> {
        loop {
            match Self::open(self.options.clone()).await {
                Err(SourceError::Connect { .. }) => tokio::time::sleep(PAUSE).await,
                opened => return opened,
            }
        }
    }

    /// Stands for all that a query gives, in whatever order.
    async fn digest(&mut self, sql: &str) -> Result<Option<Vec<String>>> {
        let sql = format!(
            "SELECT pg_catalog.count(*), coalesce(pg_catalog.sum(pg_catalog.hashtextextended(\n\
             pg_catalog.concat_ws(' ', entry.kind, entry.key, entry.writer), 0)), 0) FROM (\n{sql}\n) AS entry"
        );
        self.ask(sql, &ReadSubject::Schema).await
    }
}

fn unknown(why: &str) -> SourceError {
    SourceError::moved(format!(
        "it is unknown whether functions, operators or types were changed after the snapshot was taken: {why}"
    ))
}

/// Says the first thing in which two looks differ.
fn difference(before: &[LookupObject], now: &[LookupObject]) -> SourceError {
    let (then, since) = (by_key(before), by_key(now));
    let changed = before.iter().find_map(|it| match since.get(&it.key()) {
        None => Some((it, "changed or dropped")),
        Some(now) if now.writer != it.writer => Some((it, "changed")),
        Some(_) => None,
    });
    let made = || now.iter().find(|it| !then.contains_key(&it.key()));
    let what = match changed.or_else(|| Some((made()?, "created"))) {
        Some((it, what)) => format!("{} {} was {what}", it.kind, it.name),
        None => "a function, an operator or a type was changed".to_owned(),
    };
    SourceError::moved(format!(
        "{what} after the snapshot was taken, and the SQL of this run may have used it since"
    ))
}

impl LookupObject {
    fn key(&self) -> (&str, &str) {
        (&self.kind, &self.key)
    }
}

fn by_key(entries: &[LookupObject]) -> HashMap<(&str, &str), &LookupObject> {
    entries.iter().map(|it| (it.key(), it)).collect()
}
