//! What `pg_stat_statements` and the statistics of tables have counted.

use dynafold_format::{counted, counted_as};
use dynafold_relational::catalog::TableName;
use serde::Deserialize;

use super::{Postgres, PostgresSql};
use crate::{Activity, Dialect as _, Result, SourceError};

/// The SQLSTATE of a query of the extension's views if the server has not loaded its library.
const NOT_LOADED: &str = "55000";
const SETUP_HELP: &str = "set shared_preload_libraries = 'pg_stat_statements', restart the server, and let an administrator run CREATE EXTENSION pg_stat_statements in this database";

/// One row of `sql/extension.sql`.
#[derive(Deserialize)]
struct Extension {
    schema: String,
    /// Whether it has the view that says since when statements are counted.
    has_info: bool,
}

/// One row of `sql/statements.sql`.
#[derive(Deserialize)]
struct Statement {
    /// `None` for a statement that this user may not see.
    sql: Option<String>,
    calls: u64,
}

/// One row of `sql/counted_since.sql`.
#[derive(Deserialize)]
struct CountedSince {
    /// Since counting began.
    seconds: Option<f64>,
    /// How often statements were dropped for lack of room.
    dropped: u64,
}

/// One row of `sql/writes.sql`.
#[derive(Deserialize)]
struct Writes {
    schema: String,
    name: String,
    inserts: f64,
    updates: f64,
    deletes: f64,
    /// Since counting began; `None` if the database does not say.
    seconds: Option<f64>,
}

pub(super) async fn read(source: &mut Postgres) -> Result<Activity> {
    let extensions = source
        .entries::<Extension>(include_str!("sql/extension.sql"))
        .await?;
    let uncounted = |what: &str, help: String| SourceError::Uncounted {
        what: what.to_owned(),
        help,
    };
    let Some(extension) = extensions.into_iter().next() else {
        let what = "the database has no pg_stat_statements, which counts statements";
        return Err(uncounted(what, SETUP_HELP.to_owned()));
    };
    let schema = PostgresSql.quote(&extension.schema);
    let of_extension = |sql: &str| sql.replace("EXTENSION.", &format!("{schema}."));
    let query = of_extension(include_str!("sql/statements.sql"));
    let result = source.entries::<Statement>(&query).await;
    let statements = result.map_err(|error| match &error {
        SourceError::Query { cause, .. }
            if cause
                .as_database_error()
                .is_some_and(|error| error.code().as_deref() == Some(NOT_LOADED)) =>
        {
            let what =
                "pg_stat_statements is installed in the database, and the server has not loaded it";
            uncounted(what, SETUP_HELP.to_owned())
        }
        _ => error,
    })?;
    let mut activity = Activity::default();
    let mut hidden = 0_u64;
    for statement in statements {
        match statement.sql {
            Some(sql) => activity.count(sql, statement.calls),
            None => hidden += 1,
        }
    }
    let grant = format!(
        "let an administrator GRANT pg_read_all_stats TO {}",
        PostgresSql.quote(&source.user)
    );
    if hidden > 0 && activity.statements.is_empty() {
        let what = "pg_stat_statements does not show this user the statements of other users";
        return Err(uncounted(what, grant));
    }
    if hidden > 0 {
        activity.notices.push(format!(
            "{} hidden from this user and left out: {grant}",
            counted_as(
                hidden,
                "statement of other users is",
                "statements of other users are"
            )
        ));
    }
    if extension.has_info {
        let query = of_extension(include_str!("sql/counted_since.sql"));
        for since in source.entries::<CountedSince>(&query).await? {
            activity.seconds = since.seconds.filter(|seconds| *seconds > 0.0);
            if since.dropped > 0 {
                activity.notices.push(format!(
                    "pg_stat_statements dropped statements {} for lack of room: the real rates may be higher",
                    counted(since.dropped, "time")
                ));
            }
        }
    }
    let writes = source
        .entries::<Writes>(include_str!("sql/writes.sql"))
        .await?;
    if writes.iter().any(|written| written.seconds.is_none()) {
        activity.notices.push(
            "the database does not say since when it counts the rows that are written: SELECT pg_stat_reset() starts the count, but it also resets what autovacuum works by, so run ANALYZE afterwards".to_owned(),
        );
    }
    let writes = writes.into_iter().filter_map(|written| {
        let seconds = written.seconds.filter(|seconds| *seconds > 0.0)?;
        let table = TableName {
            schema: written.schema,
            name: written.name,
        };
        let counts = [written.inserts, written.updates, written.deletes];
        Some((table, counts.map(|number| number / seconds)))
    });
    activity.writes = writes.collect();
    Ok(activity)
}
