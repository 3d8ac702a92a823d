//! Cancels what a session is at, from another one.

use std::time::Duration;

use sqlx::mysql::{MySqlConnectOptions, MySqlConnection};
use sqlx::{ConnectOptions as _, Connection as _};

use super::catalog::rows;
use crate::source::Canceller;

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

/// Kills the query; the session where it does not notice, because it waits for somebody to take its
/// rows.
async fn cancel(options: &MySqlConnectOptions, session: &Session) -> Result<(), sqlx::Error> {
    let mut connection = options.connect().await?;
    if is_busy(&mut connection, session).await? {
        rows(&mut connection, format!("KILL QUERY {}", session.number)).await?;
        tokio::time::sleep(GRACE).await;
        if is_busy(&mut connection, session).await? {
            rows(&mut connection, format!("KILL {}", session.number)).await?;
        }
    }
    connection.close().await
}

async fn is_busy(connection: &mut MySqlConnection, session: &Session) -> Result<bool, sqlx::Error> {
    let server = rows(connection, include_str!("sql/server.sql")).await?;
    let server = server.first().map(|row| super::text(row, 4)).transpose()?;
    if server.as_ref() != Some(&session.server) {
        return Ok(false);
    }
    let sql = format!(
        "SELECT 1 FROM information_schema.PROCESSLIST WHERE ID = {} AND COMMAND <> 'Sleep'",
        session.number
    );
    Ok(!rows(connection, sql).await?.is_empty())
}
