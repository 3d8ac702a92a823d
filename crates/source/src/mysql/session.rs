//! What is said to the server about a session over another one: that it end what it is at, and
//! whether it is still at it.

use async_trait::async_trait;
use sqlx::mysql::MySqlConnection;

use super::super::watch::ServerSession;
use super::statement::{rows, text};

/// A session of a server.
#[derive(Clone)]
pub(super) struct Session {
    /// Its number. The server gives none twice.
    pub(super) number: u64,
    /// The server, as it says: another one may answer behind a balancer.
    pub(super) server: String,
}

#[async_trait]
impl ServerSession for Session {
    type Connection = MySqlConnection;

    async fn is_same(&self, connection: &mut MySqlConnection) -> sqlx::Result<bool> {
        let found = rows(connection, include_str!("sql/server.sql")).await?;
        let server = found.first().map(|row| text(row, 4)).transpose()?;
        Ok(server.as_ref() == Some(&self.server))
    }

    async fn is_busy(&self, connection: &mut MySqlConnection) -> sqlx::Result<bool> {
        // It waits for us to take rows, and none come here: then they do not get through.
        let writes = "AND COALESCE(STATE, '') NOT IN ('Writing to net', 'Sending to client')";
        self.is_at_query(connection, writes).await
    }

    async fn cancel(&self, connection: &mut MySqlConnection, ends: bool) -> sqlx::Result<bool> {
        let is_busy = self.is_at_query(connection, "").await?;
        if is_busy {
            let kill = if ends { "KILL" } else { "KILL QUERY" };
            rows(connection, format!("{kill} {}", self.number)).await?;
        }
        Ok(is_busy)
    }
}

impl Session {
    async fn is_at_query(&self, connection: &mut MySqlConnection, and: &str) -> sqlx::Result<bool> {
        let sql = format!(
            "SELECT 1 FROM information_schema.PROCESSLIST WHERE ID = {} AND COMMAND <> 'Sleep' {and}",
            self.number
        );
        Ok(!rows(connection, sql).await?.is_empty())
    }
}
