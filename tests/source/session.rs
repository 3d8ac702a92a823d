//! Several connections to one snapshot, and none that goes on after it was cancelled.

use std::time::{Duration, Instant};

use dynafold::catalog::DataType;
use dynafold::scan::{Relation, Scan, ScanColumn};
use dynafold::source::{SourceError, connect};
use futures_util::{StreamExt as _, TryStreamExt as _};

use crate::support::cli::signal;
use crate::support::source::Source as Database;
use crate::support::types::{rows_of, scan_of};
use crate::support::wait::comes_to;

/// A query that takes a minute or more, mostly before its first row.
fn slow(product: &str) -> Scan {
    let sql = match product {
        "postgres" => {
            "SELECT count(*) AS n FROM generate_series(1, 100000) a, generate_series(1, 1000000) b"
        }
        "sqlite" => {
            "WITH RECURSIVE s (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < 2000000000) SELECT count(*) AS n FROM s"
        }
        _ => "SELECT count(*) AS n FROM t a, t b, t c, t d, t e, t f WHERE a.n + f.n <> -1",
    };
    let integer = DataType::Integer {
        bits: 64,
        unsigned: false,
    };
    Scan::of(
        Relation::Query(sql.to_owned()),
        vec![ScanColumn::base("n", integer)],
    )
}

/// More rows than all buffers on the way hold.
fn endless(product: &str) -> Scan {
    let sql = match product {
        "postgres" => "SELECT a AS n FROM generate_series(1, 100000000) a",
        "sqlite" => {
            "WITH RECURSIVE s (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < 2000000000) SELECT n FROM s"
        }
        _ => "SELECT a.n FROM t a, t b, t c, t d",
    };
    Scan {
        from: Relation::Query(sql.to_owned()),
        ..slow(product)
    }
}

fn rows(_: &str) -> String {
    let rows: Vec<String> = (0..300).map(|n| format!("({n})")).collect();
    format!(
        "CREATE TABLE t (n INTEGER NOT NULL PRIMARY KEY); INSERT INTO t VALUES {};",
        rows.join(", ")
    )
}

/// What the server's list of sessions has of our queries.
async fn busy(database: &Database, marks: &str) -> usize {
    match database {
        Database::Sqlite(_) => 0,
        Database::Postgres(_) => database
            .texts(&format!(
                "SELECT query FROM pg_stat_activity WHERE state = 'active' AND datname = current_database() AND pid <> pg_backend_pid() AND query LIKE '%{marks}%'"
            ))
            .await
            .len(),
        Database::Mysql(..) => database
            .texts(&format!(
                "SELECT CAST(INFO AS CHAR) FROM information_schema.PROCESSLIST WHERE DB = DATABASE() AND ID <> CONNECTION_ID() AND INFO LIKE '%{marks}%'"
            ))
            .await
            .len(),
    }
}

async fn settles(database: &Database, marks: &str, wanted: usize, within: Duration) -> bool {
    comes_to(within, async || busy(database, marks).await == wanted).await
}

#[tokio::test]
async fn a_fork_sees_what_the_first_sees_while_others_write() {
    for database in Database::each(rows).await {
        let product = database.product();
        let mut source = connect(&database.url()).await.unwrap();
        source.begin(&[]).await.unwrap();
        let mut forks = Vec::new();
        for _ in 0..2 {
            if !matches!(database, Database::Sqlite(_)) {
                let write = "UPDATE t SET n = n + 1000; DELETE FROM t WHERE n < 1010; INSERT INTO t VALUES (-5), (-6), (-7); DELETE FROM t WHERE n < 0";
                database.run(write).await;
            }
            let fork = source.forks(1).await.unwrap();
            assert_eq!(fork.len() == 1, product == "postgres", "{product}");
            forks.extend(fork);
        }
        if let Some(fork) = forks.first_mut() {
            let again = fork.forks(2).await.unwrap();
            forks.extend(again);
        }
        let catalog = source.catalog().await.unwrap();
        let scan = scan_of(catalog.find("t").unwrap());
        let mut own = rows_of(source.as_mut(), &scan).await;
        own.sort_by_key(|row| format!("{row:?}"));
        assert_eq!(own.len(), 300, "{product}");
        for fork in &mut forks {
            let mut seen = rows_of(fork.as_mut(), &scan).await;
            seen.sort_by_key(|row| format!("{row:?}"));
            assert_eq!(seen, own, "{product}");
        }
        drop((forks, source));
        database.drop().await;
    }
}

#[tokio::test]
async fn a_cancelled_query_is_gone_from_the_server_within_a_second() {
    for database in Database::each(rows).await {
        let product = database.product();
        let mut source = connect(&database.url()).await.unwrap();
        source.begin(&[]).await.unwrap();
        let canceller = source.canceller().unwrap();
        let scan = slow(product);
        let marks = if product == "postgres" {
            "generate_series"
        } else {
            "t f"
        };
        let reading = async {
            let chunks: Result<Vec<_>, SourceError> = source.scan(&scan).try_collect().await;
            chunks
        };
        let cancelling = async {
            let runs = usize::from(product != "sqlite");
            let begun = settles(&database, marks, runs, Duration::from_secs(10)).await;
            assert!(begun, "{product}: the query does not begin");
            if product == "sqlite" {
                // It has no list of what runs: only time tells that the query is under way.
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
            canceller.cancel().await;
            let gone = settles(&database, marks, 0, Duration::from_secs(1)).await;
            assert!(gone, "{product}");
        };
        let ended = async { tokio::join!(reading, cancelling) };
        let (read, ()) = tokio::time::timeout(Duration::from_secs(20), ended)
            .await
            .unwrap();
        let error = read.expect_err("a cancelled query has no rows");
        assert!(error.is_lost(), "{product}: {error:?}");
        drop(source);
        database.drop().await;
    }
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_preview_that_is_interrupted_leaves_no_query_behind() {
    for database in Database::each(rows).await {
        let product = database.product();
        let marks = match product {
            "sqlite" => continue,
            "postgres" => "generate_series",
            _ => "t f",
        };
        let folder = tempfile::tempdir().unwrap();
        let mapping = folder.path().join("m.yaml");
        let Relation::Query(sql) = slow(product).from else {
            unreachable!()
        };
        let text = format!(
            "dynafold: 1\ntable: {{ name: portal, key: {{ partition: PK }} }}\nitems:\n  N:\n    from:\n      sql: {sql}\n      key: [n]\n    key: {{ PK: \"N#{{n}}\" }}\n"
        );
        std::fs::write(&mapping, text).unwrap();
        let url = database.url();
        let arguments = [
            "preview",
            mapping.to_str().unwrap(),
            "--all",
            "--source",
            &url,
        ];
        let mut child = crate::support::cli::command(&arguments).spawn().unwrap();
        let begun = settles(&database, marks, 1, Duration::from_secs(20)).await;
        assert!(begun, "{product}: the query does not begin");
        signal(&child, "-INT");
        let status = tokio::task::spawn_blocking(move || child.wait().unwrap()).await;
        assert!(!status.unwrap().success(), "{product}");
        let gone = settles(&database, marks, 0, Duration::from_secs(1)).await;
        assert!(gone, "{product}");
        database.drop().await;
    }
}

#[tokio::test]
async fn a_query_whose_rows_nobody_takes_is_cancelled_too() {
    for database in Database::each(rows).await {
        let product = database.product();
        let mut source = connect(&database.url()).await.unwrap();
        source.begin(&[]).await.unwrap();
        let canceller = source.canceller().unwrap();
        let scan = endless(product);
        let marks = if product == "postgres" {
            "generate_series"
        } else {
            "t d"
        };
        let mut stream = source.scan(&scan);
        stream.next().await.unwrap().unwrap();
        let runs = usize::from(product != "sqlite");
        assert!(
            settles(&database, marks, runs, Duration::from_secs(5)).await,
            "{product}"
        );
        // No server tells alike that it waits for a client: only time tells that all buffers are full.
        tokio::time::sleep(Duration::from_millis(300)).await;
        canceller.cancel().await;
        let gone = settles(&database, marks, 0, Duration::from_secs(1)).await;
        assert!(gone, "{product}");
        drop(stream);
        drop(source);
        database.drop().await;
    }
}

#[tokio::test]
async fn dropping_a_sqlite_source_interrupts_what_it_is_at() {
    let database = crate::support::sqlite::Database::new(&rows("sqlite")).await;
    let mut source = connect(&database.url()).await.unwrap();
    source.begin(&[]).await.unwrap();
    let scan = slow("sqlite");
    {
        let reading = source.scan(&scan).try_collect::<Vec<_>>();
        let waited = tokio::time::timeout(Duration::from_millis(200), reading).await;
        assert!(waited.is_err(), "the query is over already");
    }
    drop(source);
    // A writer has to wait for the lock of a transaction that goes on.
    let begun = Instant::now();
    database.run("INSERT INTO t VALUES (999)").await;
    assert!(begun.elapsed() < Duration::from_secs(1));
}

#[tokio::test]
async fn a_session_that_the_server_ends_is_lost() {
    for database in Database::each(rows).await {
        let product = database.product();
        if product == "sqlite" {
            continue;
        }
        let mut source = connect(&database.url()).await.unwrap();
        source.begin(&[]).await.unwrap();
        let scan = endless(product);
        let mut stream = source.scan(&scan);
        stream.next().await.unwrap().unwrap();
        if product == "postgres" {
            let end = "SELECT pg_terminate_backend(pid)::text FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";
            database.texts(end).await;
        } else {
            let others = "SELECT CAST(ID AS CHAR) FROM information_schema.PROCESSLIST WHERE DB = DATABASE() AND ID <> CONNECTION_ID()";
            let others = database.texts(others).await;
            database.run(&format!("KILL {}", others[0])).await;
        }
        let rest: Result<Vec<_>, SourceError> = stream.try_collect().await;
        let error = rest.expect_err("the session was ended");
        assert!(error.is_lost(), "{product}: {error:?}");
        drop(source);
        database.drop().await;
    }
}

#[tokio::test]
async fn an_identity_names_the_database_and_no_secret() {
    for database in Database::each(rows).await {
        let mut source = connect(&database.url()).await.unwrap();
        source.begin(&[]).await.unwrap();
        let name = source.identity().await.unwrap().name;
        let url = url::Url::parse(&database.url()).unwrap();
        if let Some(password) = url.password() {
            assert!(!name.contains(password));
            assert!(!name.contains('@'), "{name}");
        }
        let scheme = if database.product() == "mariadb" {
            "mysql"
        } else {
            database.product()
        };
        assert!(name.starts_with(scheme), "{name}");
        assert!(
            name.ends_with(url.path()) || name.ends_with("shop.db"),
            "{name}"
        );
        drop(source);
        database.drop().await;
    }
}

async fn stamp(database: &Database) -> Option<String> {
    let mut source = connect(&database.url()).await.unwrap();
    source.begin(&[]).await.unwrap();
    source.identity().await.unwrap().stamp
}

/// Other tests' transactions leave none for a moment.
async fn some_stamp(database: &Database) -> Option<String> {
    let mut found = None;
    comes_to(Duration::from_secs(5), async || {
        found = stamp(database).await;
        found.is_some() || !matches!(database, Database::Postgres(_))
    })
    .await;
    found
}

#[tokio::test]
async fn a_stamp_is_another_after_any_change() {
    for database in Database::each(rows).await {
        let product = database.product();
        database.settled();
        let before = some_stamp(&database).await;
        assert_eq!(
            before.is_some(),
            matches!(product, "postgres" | "sqlite"),
            "{product}"
        );
        // PostgreSQL's autovacuum may take a number, of all databases: then it is just not equal.
        let again = stamp(&database).await;
        if product == "sqlite" {
            assert_eq!(again, before);
        }
        let begun = Instant::now();
        database.run("UPDATE t SET n = 5000 WHERE n = 7").await;
        if product == "sqlite" {
            // What changed a moment ago proves nothing.
            let early = stamp(&database).await;
            assert!(early.is_none() || begun.elapsed() > Duration::from_secs(2));
            database.settled();
        }
        let after = stamp(&database).await;
        assert!(after.is_none() || after != before, "{product}");
        database.drop().await;
    }
}

#[tokio::test]
async fn a_transaction_in_progress_leaves_no_stamp() {
    use sqlx::Connection as _;
    let database = crate::support::postgres::Database::with(&rows("postgres")).await;
    let mut writer = sqlx::PgConnection::connect(&database.url()).await.unwrap();
    let mut other = sqlx::PgConnection::connect(&database.url()).await.unwrap();
    sqlx::raw_sql("BEGIN; DELETE FROM t WHERE n = 1")
        .execute(&mut writer)
        .await
        .unwrap();
    // A later one ends, so that the first is below what the next snapshot begins with.
    sqlx::raw_sql("DELETE FROM t WHERE n = 2")
        .execute(&mut other)
        .await
        .unwrap();
    let mut source = connect(&database.url()).await.unwrap();
    source.begin(&[]).await.unwrap();
    assert_eq!(source.identity().await.unwrap().stamp, None);
    drop(source);
    sqlx::raw_sql("COMMIT").execute(&mut writer).await.unwrap();
}
