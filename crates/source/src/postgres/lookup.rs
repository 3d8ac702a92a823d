//! What SQL looks up by name is looked up as it is when it runs, and not as the snapshot shows it: functions,
//! operators, casts, types, settings, the roles whose policies hold. No lock holds them, and no plan names all of them: a function in SQL becomes a part of the
//! plan, an operator's function is not named, and one that fits better may come. So whatever SQL looks up in is
//! compared: as the snapshot shows it, and as another transaction sees it at the end.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use dynafold_relational::catalog::Dbms;
use dynafold_sql::{Query, reads_more};
use serde::Deserialize;

use super::super::SourceError;
use super::{Postgres, Setting};

/// How long the look over another connection may take.
const TIMEOUT: Duration = Duration::from_mins(1);
/// How long it waits before it tries to connect again.
const PAUSE: Duration = Duration::from_secs(1);

/// One object of `sql/lookups.sql`.
#[derive(Deserialize)]
struct Entry {
    kind: String,
    name: String,
    key: String,
    writer: String,
}

#[derive(Deserialize)]
struct Digest {
    digest: String,
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
pub(super) enum Reach {
    /// It looks up operators, and what these look up.
    Operators,
    /// It looks up functions and types.
    Functions,
    /// It may call functions that somebody has made, which read tables that no plan shows.
    Tables,
}

impl Reach {
    /// Asks for all that is looked up.
    pub(super) fn sql(self) -> Arc<str> {
        let operators = include_str!("sql/lookups.sql");
        let functions = include_str!("sql/lookups_functions.sql");
        let tables = include_str!("sql/lookups_tables.sql");
        let all = match self {
            Self::Operators => operators.to_owned(),
            Self::Functions => [operators, functions].concat(),
            Self::Tables => [operators, functions, tables].concat(),
        };
        all.into()
    }
}

/// Whether a condition reads tables by itself: one of them may be a view. What is not understood may.
fn reads_tables(condition: &str) -> bool {
    let query = Query::read(&format!("SELECT 1 WHERE {condition}"), Some(Dbms::Postgres));
    query.map_or(true, |query| !query.tables.is_empty())
}

impl Postgres {
    /// How far the mapping's SQL reaches, and with `views` the database's own. A function's name need not be in a plan:
    /// one in SQL becomes a part of it, and an operator or a cast has another name.
    pub(super) async fn reach(&mut self, views: bool, sql: &[&str]) -> Result<Reach, SourceError> {
        let callable = include_str!("sql/callable.sql");
        let Some(callable) = self.entries::<Callable>(callable).await?.pop() else {
            return Ok(Reach::Tables);
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
                Reach::Tables
            } else if views || callable.added || sql.iter().any(calls) {
                Reach::Functions
            } else {
                Reach::Operators
            },
        )
    }

    /// Checks that all that the mapping's SQL may look up is as the snapshot shows it.
    pub(super) async fn check_lookups(&mut self) -> Result<(), SourceError> {
        let Some(sql) = self.lookups.clone() else {
            return Ok(());
        };
        let looked = tokio::time::timeout(TIMEOUT, self.compare_lookups(&sql)).await;
        let unknown = "whether functions, operators or types were changed after the snapshot was taken cannot be told";
        let moved = match looked {
            Ok(looked) => looked?,
            Err(_) => Some(format!(
                "{unknown}: no second connection was to be had within a minute, or it gave no answer"
            )),
        };
        moved.map_or(Ok(()), |what| Err(SourceError::Moved { what }))
    }

    async fn compare_lookups(&mut self, sql: &str) -> Result<Option<String>, SourceError> {
        let before = self.digest(sql).await?;
        // Another transaction, which sees what is new as well.
        let mut now = self.second().await?;
        now.open_snapshot().await?;
        let server = |source: &Self| source.backend.as_ref().map(|it| it.server_started.clone());
        if server(self) != server(&now) {
            let what = "whether functions, operators or types were changed after the snapshot was taken cannot be told: a second connection leads to another server";
            return Ok(Some(what.to_owned()));
        }
        let changed = |then: &&Setting| {
            let mut since = now.meaning.iter();
            since.any(|now| now.name == then.name && now.value != then.value)
        };
        if let Some(setting) = self.meaning.iter().find(changed) {
            let name = &setting.name;
            return Ok(Some(format!(
                "the setting {name}, which decides what SQL means, was changed after the snapshot was taken"
            )));
        }
        if before == now.digest(sql).await? {
            return Ok(None);
        }
        let before: Vec<Entry> = self.entries(sql).await?;
        let now: Vec<Entry> = now.entries(sql).await?;
        Ok(Some(difference(&before, &now)))
    }

    /// Opens another connection, and goes on trying while none is to be had: hours of reading may hang on it.
    async fn second(&self) -> Result<Self, SourceError> {
        loop {
            match Self::open(self.options.clone()).await {
                Err(SourceError::Connect { .. }) => tokio::time::sleep(PAUSE).await,
                opened => return opened,
            }
        }
    }

    /// Stands for all that a query gives, in whatever order.
    async fn digest(&mut self, sql: &str) -> Result<String, SourceError> {
        let sql = format!(
            "SELECT pg_catalog.concat_ws(' ', pg_catalog.count(*), pg_catalog.sum(pg_catalog.hashtextextended(\n\
             pg_catalog.concat_ws(' ', entry.kind, entry.key, entry.writer), 0))) AS digest FROM (\n{sql}\n) AS entry"
        );
        let digests: Vec<Digest> = self.entries(&sql).await?;
        Ok(digests.into_iter().map(|it| it.digest).collect())
    }
}

/// Says the first thing in which two looks differ.
fn difference(before: &[Entry], now: &[Entry]) -> String {
    let (then, since) = (writers(before), writers(now));
    let said = |it: &Entry, what: &str| format!("{} {} was {what}", it.kind, it.name);
    let changed = before
        .iter()
        .find_map(|it| match since.get(&(&*it.kind, &*it.key)) {
            None => Some(said(it, "changed or dropped")),
            Some(writer) if **writer != *it.writer => Some(said(it, "changed")),
            Some(_) => None,
        });
    let made = || {
        let is_new = |it: &&Entry| !then.contains_key(&(&*it.kind, &*it.key));
        now.iter().find(is_new).map(|it| said(it, "made"))
    };
    let what = changed.or_else(made);
    let what = what.unwrap_or_else(|| "a function, an operator or a type was changed".to_owned());
    format!("{what} after the snapshot was taken, and SQL may have looked it up since")
}

/// Who has written the entry of each object.
fn writers(entries: &[Entry]) -> HashMap<(&str, &str), &str> {
    let mut writers = HashMap::new();
    for entry in entries {
        writers.insert((&*entry.kind, &*entry.key), &*entry.writer);
    }
    writers
}
