//! What is said to the server about a session over another one: that it end what it is at, and
//! whether it is still at it.

use std::time::Duration;

use sqlx::mysql::{MySqlConnectOptions, MySqlConnection};
use sqlx::{ConnectOptions as _, Connection as _};

use super::catalog::{rows, text};
use crate::source::Canceller;
use crate::source::watch::{Answer, Watch};

/// How long a cancelled query may take to notice.
const GRACE: Duration = Duration::from_millis(300);
/// How long cancelling may take at all.
const TIMEOUT: Duration = Duration::from_secs(5);

/// A session of a server.
#[derive(Debug, Clone)]
pub(super) struct Session {
    /// Its number. The server gives none twice.
    pub(super) number: u64,
    /// The server, as it says: another one may answer behind a balancer.
    pub(super) server: String,
}

/// A canceller of that session.
pub(super) fn canceller(options: MySqlConnectOptions, session: Session) -> Canceller {
    Canceller::new(move || {
        let (options, session) = (options.clone(), session.clone());
        Box::pin(async move {
            // Whoever cannot reach the server cannot cancel there.
            let _ = tokio::time::timeout(TIMEOUT, cancel(&options, &session)).await;
        })
    })
}

/// A way to tell whether that session is alive.
pub(super) fn watch(patience: Duration, options: MySqlConnectOptions, session: Session) -> Watch {
    Watch::new(patience, move || {
        let (options, session) = (options.clone(), session.clone());
        Box::pin(async move {
            let mut connection = options.connect().await?;
            // It waits for us to take rows, and none come here: then they do not get through.
            let writes = "AND COALESCE(STATE, '') NOT IN ('Writing to net', 'Sending to client')";
            let answer = if !is_same(&mut connection, &session).await? {
                Answer::Elsewhere
            } else if is_busy(&mut connection, &session, writes).await? {
                Answer::Busy
            } else {
                Answer::Idle
            };
            connection.close().await?;
            Ok(answer)
        })
    })
}

/// Kills the query; the session where it does not notice, because it waits for somebody to take its
/// rows.
async fn cancel(options: &MySqlConnectOptions, session: &Session) -> Result<(), sqlx::Error> {
    let mut connection = options.connect().await?;
    if is_same(&mut connection, session).await? && is_busy(&mut connection, session, "").await? {
        rows(&mut connection, format!("KILL QUERY {}", session.number)).await?;
        tokio::time::sleep(GRACE).await;
        if is_busy(&mut connection, session, "").await? {
            rows(&mut connection, format!("KILL {}", session.number)).await?;
        }
    }
    connection.close().await
}

/// Whether this is the server that the session is on.
async fn is_same(connection: &mut MySqlConnection, session: &Session) -> Result<bool, sqlx::Error> {
    let server = rows(connection, include_str!("sql/server.sql")).await?;
    let server = server.first().map(|row| text(row, 4)).transpose()?;
    Ok(server.as_ref() == Some(&session.server))
}

/// Whether the session is at a query.
async fn is_busy(
    connection: &mut MySqlConnection,
    session: &Session,
    and: &str,
) -> Result<bool, sqlx::Error> {
    let sql = format!(
        "SELECT 1 FROM information_schema.PROCESSLIST WHERE ID = {} AND COMMAND <> 'Sleep' {and}",
        session.number
    );
    Ok(!rows(connection, sql).await?.is_empty())
}
