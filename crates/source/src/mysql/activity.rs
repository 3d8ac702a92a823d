//! What the performance schema has counted.

use dynafold_relational::catalog::TableName;
use sqlx::mysql::MySqlConnection;

use super::Server;
use super::catalog::table_name;
use super::statement::{optional, rows, text};
use crate::{Activity, Result, SourceError};

const DIGESTS: &str = "performance_schema.events_statements_summary_by_digest";
const TABLES: &str = "performance_schema.table_io_waits_summary_by_table";

pub(super) async fn read(connection: &mut MySqlConnection, server: &Server) -> Result<Activity> {
    let uncounted = |what: &str, help: &str| SourceError::Uncounted {
        what: what.to_owned(),
        help: help.to_owned(),
    };
    if server.database.is_none() {
        return Err(uncounted(
            "the URL names no database, and statements are counted by database",
            "name the database in the URL: mysql://user@host/database",
        ));
    }
    let setting = rows(connection, "SELECT CAST(@@performance_schema AS CHAR)").await;
    let setting = server.checked("the server's settings", setting)?;
    let is_on = setting.first().map(|row| text(row, 0)).transpose();
    let is_on = server.checked("the server's settings", is_on)?;
    // MySQL says 1, MariaDB ON.
    if !matches!(is_on.as_deref(), Some("1" | "ON")) {
        return Err(uncounted(
            "the server's performance_schema, which counts statements, is off",
            "start the server with performance_schema=ON",
        ));
    }
    let digests = digests(connection).await;
    let mut activity = server.checked(DIGESTS, digests)?;
    if activity.statements.is_empty() {
        return Err(uncounted(
            "the performance schema has counted no statement of this database",
            "let an administrator UPDATE performance_schema.setup_consumers SET ENABLED = 'YES' WHERE NAME = 'statements_digest', and let the application run for a while",
        ));
    }
    let writes = writes(connection).await;
    activity.writes = server.checked(TABLES, writes)?;
    if !activity.writes.is_empty() {
        activity.notices.push(
            "rows that were written are counted since the server started, or since somebody emptied table_io_waits_summary_by_table: their rates are at least these".to_owned(),
        );
    }
    Ok(activity)
}

async fn digests(connection: &mut MySqlConnection) -> sqlx::Result<Activity> {
    let mut activity = Activity::default();
    for row in rows(connection, include_str!("sql/digests.sql")).await? {
        let calls = text(&row, 1)?.parse().unwrap_or_default();
        match optional(&row, 0)? {
            // In a digest `(...)` stands for a list of values, however many.
            Some(sql) => activity.count(sql.replace("(...)", "(?)"), calls),
            None => activity.notices.push(format!(
                "{calls} calls are of statements for which events_statements_summary_by_digest had no room"
            )),
        }
    }
    let since = rows(connection, include_str!("sql/counted_since.sql")).await?;
    if let Some(row) = since.first() {
        let seconds = optional(row, 0)?.and_then(|text| text.parse().ok());
        activity.seconds = seconds.filter(|seconds| *seconds > 0.0);
    }
    Ok(activity)
}

async fn writes(connection: &mut MySqlConnection) -> sqlx::Result<Vec<(TableName, [f64; 3])>> {
    let uptime = rows(connection, "SHOW GLOBAL STATUS LIKE 'Uptime'").await?;
    let uptime = uptime.first().map(|row| text(row, 1)).transpose()?;
    let seconds = uptime.and_then(|text| text.parse::<f64>().ok());
    let Some(seconds) = seconds.filter(|seconds| *seconds > 0.0) else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    for row in rows(connection, include_str!("sql/writes.sql")).await? {
        let count = |at| text(&row, at).map(|text| text.parse::<f64>().unwrap_or_default());
        let counts = [count(2)?, count(3)?, count(4)?];
        found.push((table_name(&row, 0)?, counts.map(|number| number / seconds)));
    }
    Ok(found)
}
