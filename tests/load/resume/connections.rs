//! A source that ends its connections in the middle.

use sqlx::Connection as _;

use super::bench::script;
use super::case::Case;
use super::faults::{SLOW, begun, goes_on, says};
use super::kills::Reference;
use super::left::books;
use crate::support::books::hold_loaded;
use crate::support::cli::ran;
use crate::support::source::Source;

/// Has the server end connections to a database but our own: all, or the youngest.
async fn end_connections(source: &Source, all: bool) -> usize {
    match source {
        Source::Postgres(database) => {
            let mut connection = sqlx::PgConnection::connect(&database.url()).await.unwrap();
            let some = if all {
                ""
            } else {
                "ORDER BY backend_start DESC LIMIT 1"
            };
            let sql = format!(
                "SELECT pg_terminate_backend(pid) FROM (SELECT pid FROM pg_stat_activity
                 WHERE datname = current_database() AND pid <> pg_backend_pid() {some}) ours"
            );
            let ended: Vec<bool> = sqlx::query_scalar(sqlx::AssertSqlSafe(sql))
                .fetch_all(&mut connection)
                .await
                .unwrap();
            ended.len()
        }
        Source::Mysql(_, database) => {
            let mut connection = sqlx::MySqlConnection::connect(database.url().as_str())
                .await
                .unwrap();
            let sql = "SELECT CAST(id AS SIGNED) FROM information_schema.processlist
                       WHERE db = DATABASE() AND id <> CONNECTION_ID()";
            let all: Vec<i64> = sqlx::query_scalar(sql)
                .fetch_all(&mut connection)
                .await
                .unwrap();
            for id in &all {
                let kill = sqlx::AssertSqlSafe(format!("KILL CONNECTION {id}"));
                sqlx::raw_sql(kill).execute(&mut connection).await.unwrap();
            }
            all.len()
        }
        Source::Sqlite(_) => 0,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_that_drops_all_connections_ends_a_load_that_can_go_on() {
    for source in Source::each(script).await {
        if source.product() != "sqlite" {
            let reference = Reference::of(&source).await;
            let case = Case::storm(&source.url(), SLOW);
            let child = begun(&case, 500, &["--readers", "3"]);
            assert!(end_connections(&source, true).await > 0);
            says(ran(child), 1, &["start the same command again"]);
            goes_on(&case, &reference, source.product()).await;
        }
        source.drop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chunk_whose_connection_breaks_is_read_again_on_the_same_snapshot() {
    for source in Source::each(script).await {
        if source.product() == "postgres" {
            let reference = Reference::of(&source).await;
            let case = Case::storm(&source.url(), SLOW);
            let child = begun(&case, 500, &["--readers", "3"]);
            assert_eq!(end_connections(&source, false).await, 1);
            let ended = ran(child).exits(3);
            hold_loaded(&ended.json());
            assert_eq!(books(&ended.json()), books(&reference.report));
            case.left()
                .await
                .hold(&reference.left, "with another connection");
        }
        source.drop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chunk_that_is_read_again_has_overwritten_nothing() {
    for source in Source::each(script).await {
        if source.product() == "postgres" {
            let without = "DELETE FROM events WHERE code IS NULL";
            source.run(&format!("{without} OR note = 'late';")).await;
            let case = Case::storm(&source.url(), SLOW);
            let child = begun(&case, 500, &["--readers", "3", "--one-pass"]);
            assert_eq!(end_connections(&source, false).await, 1);
            let report = ran(child).exits(0).json();
            hold_loaded(&report);
            assert_eq!(report["keys"]["overwritten"], 0, "{report:#}");
        }
        source.drop().await;
    }
}
