//! What a run keeps of its source: which database it is, and a proof that it did not change.

use std::fmt;
use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::stream::BoxStream;
use futures_util::{FutureExt as _, TryStreamExt as _};
use sqlx::{ConnectOptions as _, Connection, Error};
use tokio::time::{sleep, timeout};
use url::Url;

use super::{Result, UrlError};

/// Which database a source is, and what tells its state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceIdentity {
    /// The database without user, password and parameters: `postgres://db.example:5432/app`, or the
    /// absolute file.
    pub name: String,
    /// Two equal stamps prove that no stored row changed between the two snapshots. `None` where the
    /// database cannot prove it. It says nothing of SQL that depends on more than stored rows: the
    /// clock, chance, a setting of the session.
    pub stamp: Option<String>,
    /// The database user (PostgreSQL): row security may show other rows to another one.
    pub user: Option<String>,
}

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

// Tells a connection that is slow from one that is dead.
//
// A query may take as long as it likes to its first row. But where nothing comes for a while, the
// server is asked over another connection whether it is still at it: a network may have forgotten
// the first one without a word to either end.

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

pub(super) async fn next<R>(
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

// What a database says when it refuses a query, in words that show no values of rows.

/// Why a query was refused, in the database's words, without the values of rows: class 22 of SQLSTATE is of data, and
/// quotes what it could not take. SQLite has no such classes, and quotes the paths of documents.
pub fn database_message(cause: &sqlx::Error) -> String {
    match cause.as_database_error() {
        Some(error) => without_values(error.message(), &error.code().unwrap_or_default()),
        None => cause.to_string(),
    }
}

fn without_values(message: &str, code: &str) -> String {
    let is_of_data = code.len() == 5 && code.starts_with("22");
    if !is_of_data && !message.contains("JSON path") {
        return message.to_owned();
    }
    let is_quote = |c: char| matches!(c, '"' | '\'');
    match (message.find(is_quote), message.rfind(is_quote)) {
        (Some(first), Some(last)) => {
            let before = message.get(..first).unwrap_or_default();
            format!("{before}…{}", message.get(last + 1..).unwrap_or_default())
        }
        _ => message.to_owned(),
    }
}

// Connections with TLS: what the URLs of servers say of them, and what to do where none comes about.

/// What to do where no server listens.
pub(super) const NOBODY: &str =
    "nothing answers there: is the server running, and are host and port right?";

/// The words of one database. Of several names the first is told.
pub(super) struct Tls {
    /// The parameter that says how much is secured, and what it takes.
    pub(super) mode: (&'static [&'static str], &'static [&'static str]),
    /// What it takes to secure nothing, and to leave the host's name unchecked.
    pub(super) unsecured: &'static str,
    pub(super) unnamed: &'static str,
    /// The parameters that name files: the authority's certificate, the client's, and its key.
    pub(super) files: [&'static [&'static str]; 3],
}

impl Tls {
    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> {
        let lists = [self.mode.0].into_iter().chain(self.files);
        lists.flatten().copied()
    }

    /// Refuses modes that there are not, and files that hold nothing of their kind: the driver passes
    /// over these, or blames something else.
    pub(super) fn check(&self, url: &Url) -> Result<()> {
        let (modes, words) = self.mode;
        for (name, value) in url.query_pairs() {
            let word = value.to_ascii_lowercase();
            if modes.contains(&&*name) && !words.contains(&word.as_str()) {
                let name = name.into_owned();
                return Err(UrlError::Value { name, words }.into());
            }
            let Some(kind) = self.files.iter().position(|names| names.contains(&&*name)) else {
                continue;
            };
            if value.trim_start().starts_with("-----BEGIN") {
                continue;
            }
            let (mark, what) = match kind {
                2 => ("PRIVATE KEY-----", "key"),
                _ => ("-----BEGIN CERTIFICATE-----", "certificate"),
            };
            let name = name.into_owned();
            match std::fs::read(&*value) {
                Err(cause) => return Err(UrlError::File { name, cause }.into()),
                Ok(file) if !String::from_utf8_lossy(&file).contains(mark) => {
                    return Err(UrlError::NotPem { name, what }.into());
                }
                Ok(_) => {}
            }
        }
        let [_, certificate, key] = self.files;
        let is_given = |names: &[&str]| url.query_pairs().any(|(name, _)| names.contains(&&*name));
        if is_given(certificate) != is_given(key) {
            let [certificate, key] = [first(certificate), first(key)];
            return Err(UrlError::Together(certificate, key).into());
        }
        Ok(())
    }

    /// What to do about a connection that could not be made or secured, as far as it is the same for all servers.
    pub(super) fn help(&self, cause: &Error) -> Option<String> {
        let message = match cause {
            Error::Io(why) if why.kind() == ErrorKind::ConnectionRefused => {
                return Some(NOBODY.to_owned());
            }
            Error::Io(why) if why.kind() == ErrorKind::TimedOut => {
                return Some(
                    "nothing answers there: are host and port right, and does a firewall or security \
                     group let this machine in?"
                        .to_owned(),
                );
            }
            Error::Io(why) => why.to_string(),
            Error::Tls(why) => why.to_string(),
            _ => return None,
        };
        let [authority, certificate, key] = self.files.map(first);
        let mode = first(self.mode.0);
        let is = |words: &str| message.contains(words);
        Some(if is("UnknownIssuer") {
            format!(
                "this machine does not know the authority of the server's certificate: name the authority's certificate with `?{authority}=FILE`"
            )
        } else if is("not valid for name") || is("NotValidForName") {
            format!(
                "the server's certificate is for another host name: use that name, or turn off the check of names with `?{mode}={}`",
                self.unnamed
            )
        } else if is("certificate expired") || is("not valid yet") {
            "the server's certificate has expired, or a clock is wrong".to_owned()
        } else if is("does not support TLS") || is("not support SSL") {
            format!(
                "the server does not support TLS: on a network that you trust, turn it off with `?{mode}={}`",
                self.unsecured
            )
        } else if is("fatal alert: CertificateRequired") {
            format!("the server requires a client certificate: `?{certificate}=FILE&{key}=FILE`")
        } else if is("certificate") || is("fatal alert") || matches!(cause, Error::Tls(_)) {
            format!(
                "the TLS connection failed: do the server's certificate, `{authority}`, \
                 `{certificate}` and `{key}` fit together?"
            )
        } else {
            return None;
        })
    }
}

fn first<'n>(names: &[&'n str]) -> &'n str {
    names.first().copied().unwrap_or_default()
}

#[cfg(test)]
mod said_tests {
    use super::without_values;

    #[test]
    fn what_a_database_says_of_data_is_shown_without_the_data() {
        for (said, code, shown) in [
            (
                "invalid input syntax for type integer: \"a\"b\"",
                "22P02",
                "invalid input syntax for type integer: …",
            ),
            (
                "value \"9\" is out of range for type integer",
                "22003",
                "value … is out of range for type integer",
            ),
            ("bad JSON path: 'x'", "1", "bad JSON path: …"),
            ("division by zero", "22012", "division by zero"),
            (
                "column \"x\" does not exist",
                "42703",
                "column \"x\" does not exist",
            ),
        ] {
            assert_eq!(without_values(said, code), shown);
        }
    }
}
