//! Scans, the snapshot, and the ways in which a server refuses.

use std::error::Error as _;

use dynafold::catalog::DataType;
use dynafold::scan::{Join, Match, Relation, Scan, ScanColumn};
use dynafold::source::{self, Row, SourceError};
use futures_util::TryStreamExt as _;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

use super::{connect, name, rows, strings, table};
use crate::support::postgres::Database;
use crate::support::types::{columns_of, scan_of, shown};
use crate::support::wait::{PATIENCE, comes_to};

#[tokio::test]
async fn identifiers_of_any_kind_are_read() {
    let database = Database::with(
        r#"CREATE SCHEMA "Sales Dept";
           CREATE TABLE "Sales Dept"."Order Details" ("Order ID" int PRIMARY KEY, "select" text, "a""b" text);
           CREATE TABLE "naïve 테이블" ("컬럼 😀" text, "c0" int);
           CREATE TABLE "select" ("from" int, "CamelCase" int, dropped int);
           ALTER TABLE "select" DROP COLUMN dropped;
           INSERT INTO "Sales Dept"."Order Details" VALUES (1, 's', 'q');
           INSERT INTO "naïve 테이블" VALUES ('v', 2);
           INSERT INTO "select" VALUES (3, 4)"#,
    )
    .await;
    let mut source = connect(&database.url()).await;
    let catalog = source.catalog().await.expect("a catalog");
    let mut seen = Vec::new();
    for table in &catalog.tables {
        let read = rows(source.as_mut(), &scan_of(table)).await.expect("rows");
        let values: Vec<String> = read[0].iter().map(shown).collect();
        let columns: Vec<&str> = table.columns.iter().map(|c| c.name.as_str()).collect();
        seen.push(format!("{} {columns:?} {}", table.name, values.join(" ")));
    }
    assert_eq!(
        seen,
        [
            r#"Sales Dept.Order Details ["Order ID", "select", "a\"b"] {"N":"1"} {"S":"s"} {"S":"q"}"#,
            r#"public.naïve 테이블 ["컬럼 😀", "c0"] {"S":"v"} {"N":"2"}"#,
            r#"public.select ["from", "CamelCase"] {"N":"3"} {"N":"4"}"#,
        ]
    );
}

#[tokio::test]
async fn a_scan_joins_and_tells_its_conditions_and_prepare_finds_bad_ones() {
    let database = Database::with(
        "CREATE TABLE a (id int PRIMARY KEY, name text);
         CREATE TABLE b (id int, a_id int);
         INSERT INTO a VALUES (1, 'one'), (2, 'two');
         INSERT INTO b VALUES (10, 1), (20, 2), (30, NULL), (40, 9)",
    )
    .await;
    let mut source = connect(&database.url()).await;
    let catalog = source.catalog().await.expect("a catalog");
    let mut scan = scan_of(table(&catalog, "b"));
    scan.joins.push(Join {
        alias: "parent".into(),
        table: name("public", "a"),
        on: vec![Match {
            join: None,
            ours: "a_id".into(),
            theirs: "id".into(),
        }],
        is_single: true,
    });
    scan.columns.push(ScanColumn::Column {
        join: Some(0),
        name: "name".into(),
        data_type: DataType::Text { max_chars: None },
    });
    scan.conditions = strings(&["b.id > 15 -- late", "parent.name = 'two'"]);
    source.prepare(&scan).await.expect("a plan");
    let read = rows(source.as_mut(), &scan).await.expect("rows");
    let lines = |read: &[Row]| -> Vec<String> {
        (read.iter())
            .map(|row| row.iter().map(shown).collect::<Vec<_>>().join(" "))
            .collect()
    };
    assert_eq!(
        lines(&read),
        [
            r#"{"N":"20"} {"N":"2"} {"S":"two"} {"BOOL":true} {"BOOL":true}"#,
            r#"{"N":"30"} absent absent {"BOOL":true} {"BOOL":false}"#,
            r#"{"N":"40"} {"N":"9"} absent {"BOOL":true} {"BOOL":false}"#,
        ]
    );
    scan.keep_unmatched = true;
    scan.limit = Some(1);
    let read = rows(source.as_mut(), &scan).await.expect("rows");
    assert_eq!(
        lines(&read),
        [r#"{"N":"10"} {"N":"1"} {"S":"one"} {"BOOL":false} {"BOOL":false}"#]
    );

    scan.conditions = strings(&["b.id >"]);
    let refused = source.prepare(&scan).await.expect_err("no SQL");
    assert_eq!(
        refused.to_string(),
        "the database refused the query on public.b"
    );
    let cause = refused.source().expect("a cause").to_string();
    assert!(cause.contains("syntax error"), "{cause}");
}

#[tokio::test]
async fn a_run_sees_one_snapshot_in_chunks_of_bounded_size() {
    let database = Database::with(
        "CREATE TABLE many (id int, filler text);
         INSERT INTO many SELECT n, '' FROM generate_series(1, 1000) AS n;
         CREATE TABLE wide (filler text);
         INSERT INTO wide SELECT repeat('x', 400000) FROM generate_series(1, 10)",
    )
    .await;
    let mut source = connect(&database.url()).await;
    let catalog = source.catalog().await.expect("a catalog");
    source.begin(&[]).await.expect("a snapshot");
    database
        .run("DELETE FROM many WHERE id > 10; DELETE FROM wide")
        .await;
    let many = scan_of(table(&catalog, "many"));
    assert_eq!(source.count(&many.from).await.expect("a count"), 1000);
    let chunks: Vec<_> = source.scan(&many).try_collect().await.expect("chunks");
    let sizes: Vec<usize> = chunks.iter().map(|chunk| chunk.rows.len()).collect();
    assert_eq!(sizes, [256, 256, 256, 232]);
    let wide = scan_of(table(&catalog, "wide"));
    let chunks: Vec<_> = source.scan(&wide).try_collect().await.expect("chunks");
    let sizes: Vec<usize> = chunks.iter().map(|chunk| chunk.rows.len()).collect();
    assert_eq!(sizes, [3, 3, 3, 1]);
}

/// What empties or replaces a table and leaves a hundred rows in it.
const REWRITES: [&str; 4] = [
    "TRUNCATE t; INSERT INTO t SELECT n FROM generate_series(1, 100) AS n",
    "ALTER TABLE t ALTER COLUMN id TYPE bigint",
    "CREATE TABLE fresh AS SELECT n AS id FROM generate_series(1, 100) AS n;
     ALTER TABLE t RENAME TO stale; ALTER TABLE fresh RENAME TO t; DROP TABLE stale CASCADE",
    "DROP TABLE t CASCADE; CREATE TABLE t AS SELECT n AS id FROM generate_series(1, 100) AS n",
];

#[tokio::test]
async fn nobody_empties_or_replaces_what_a_run_is_going_to_read() {
    let database = Database::with(
        "CREATE TABLE t AS SELECT n AS id FROM generate_series(1, 100) AS n;
         CREATE TABLE parts (id int) PARTITION BY RANGE (id);
         CREATE TABLE part PARTITION OF parts FOR VALUES FROM (1) TO (200);
         INSERT INTO parts SELECT n FROM generate_series(1, 100) AS n;
         CREATE VIEW seen AS SELECT id FROM t; CREATE VIEW twice AS SELECT id FROM seen",
    )
    .await;
    let mut source = connect(&database.url()).await;
    let catalog = source.catalog().await.expect("a catalog");
    let scans = ["parts", "twice"].map(|name| scan_of(table(&catalog, name)));
    source.begin(&[&scans[0], &scans[1]]).await.expect("a run");
    let mut other = PgConnection::connect(&database.url())
        .await
        .expect("another");
    let rewrites = REWRITES
        .into_iter()
        .chain(["TRUNCATE part", "DROP TABLE part"]);
    for rewrite in rewrites {
        let script = format!("BEGIN; SET LOCAL lock_timeout = '100ms'; {rewrite}; COMMIT");
        let refused = sqlx::raw_sql(AssertSqlSafe(script))
            .execute(&mut other)
            .await;
        let refused = refused.expect_err(rewrite).to_string();
        assert!(refused.contains("lock timeout"), "{rewrite}: {refused}");
        sqlx::raw_sql("ROLLBACK")
            .execute(&mut other)
            .await
            .expect("an end");
    }
    for scan in &scans {
        let chunks: Vec<_> = source.scan(scan).try_collect().await.expect("chunks");
        assert_eq!(
            chunks.iter().map(|chunk| chunk.rows.len()).sum::<usize>(),
            100
        );
    }
}

#[tokio::test]
async fn a_table_that_is_replaced_while_a_run_begins_is_read_as_it_is_then() {
    for rewrite in REWRITES {
        let database =
            Database::with("CREATE TABLE t AS SELECT n AS id FROM generate_series(1, 100) AS n")
                .await;
        let mut source = connect(&database.url()).await;
        let scan = scan_of(table(&source.catalog().await.expect("a catalog"), "t"));
        let mut other = PgConnection::connect(&database.url())
            .await
            .expect("another");
        let script = format!("BEGIN; {rewrite}");
        sqlx::raw_sql(AssertSqlSafe(script))
            .execute(&mut other)
            .await
            .expect("a rewrite");
        let waits =
            "SELECT count(*) FROM pg_locks WHERE NOT granted AND pid <> pg_backend_pid() AND
            database = (SELECT oid FROM pg_database WHERE datname = current_database())";
        let commit = async {
            let has_to_wait = async || {
                let waits = sqlx::query_scalar::<_, i64>(waits).fetch_one(&mut other);
                waits.await.expect("locks") > 0
            };
            assert!(comes_to(PATIENCE, has_to_wait).await, "{rewrite}");
            sqlx::raw_sql("COMMIT")
                .execute(&mut other)
                .await
                .expect("a commit");
        };
        let scans = [&scan];
        let (begun, ()) = tokio::join!(source.begin(&scans), commit);
        if rewrite.starts_with("ALTER TABLE t ALTER") {
            let refused = begun.expect_err(rewrite).to_string();
            assert!(refused.starts_with("the columns of t changed"), "{refused}");
            continue;
        }
        begun.expect("a run");
        let chunks: Vec<_> = source.scan(&scan).try_collect().await.expect("chunks");
        let rows: usize = chunks.iter().map(|chunk| chunk.rows.len()).sum();
        assert_eq!(rows, 100, "{rewrite}");
    }
}

#[tokio::test]
async fn an_answer_from_a_table_that_was_emptied_since_is_none() {
    let database = Database::with("CREATE TABLE t AS SELECT 1 AS id").await;
    let mut source = connect(&database.url()).await;
    source.begin(&[]).await.expect("a run");
    let columns = source.describe("SELECT id FROM t").await.expect("columns");
    assert_eq!(
        source
            .ask("SELECT id FROM t", &columns)
            .await
            .expect("an answer")
            .len(),
        1
    );
    database.run(REWRITES[0]).await;
    let refused = source
        .ask("SELECT id FROM t", &columns)
        .await
        .expect_err("it no longer exists");
    assert!(matches!(refused, SourceError::Moved { .. }), "{refused}");
    assert_eq!(
        source
            .ask("SELECT 1", &columns)
            .await
            .expect("an answer")
            .len(),
        1
    );
}

#[tokio::test]
async fn limits_for_short_queries_do_not_cut_a_run_off() {
    let database = Database::create().await;
    let name = database.name();
    database
        .run(&format!(
            "ALTER DATABASE {name} SET statement_timeout = '200ms';
             ALTER DATABASE {name} SET idle_in_transaction_session_timeout = '200ms'"
        ))
        .await;
    let mut source = connect(&database.url()).await;
    source.begin(&[]).await.expect("a snapshot");
    // Idle for longer than the limit allows: the time is what is tested.
    tokio::time::sleep(std::time::Duration::from_millis(500)).await;
    let slow = Relation::Query("SELECT 1 AS one WHERE pg_sleep(0.5) IS NOT NULL".to_owned());
    assert_eq!(source.count(&slow).await.expect("a count"), 1);
}

#[tokio::test]
async fn nothing_can_be_written() {
    let database = Database::with(
        "CREATE TABLE t (id int); INSERT INTO t VALUES (7); CREATE SEQUENCE s;
         CREATE FUNCTION sly() RETURNS int LANGUAGE sql AS 'INSERT INTO t VALUES (8) RETURNING id'",
    )
    .await;
    let mut source = connect(&database.url()).await;
    let everything = scan_of(table(&source.catalog().await.expect("a catalog"), "t"));
    let query = |sql: &str| Scan {
        from: Relation::Query(sql.to_owned()),
        ..everything.clone()
    };
    let condition = |sql: &str| Scan {
        conditions: vec![sql.to_owned()],
        ..everything.clone()
    };
    for scan in [
        query("WITH w AS (INSERT INTO t VALUES (1) RETURNING id) SELECT id FROM w"),
        query("SELECT 1 AS id) AS q; COMMIT; INSERT INTO t VALUES (2); SELECT (1"),
        query("SELECT nextval('s') AS id"),
        query("SELECT sly() AS id"),
        query("SELECT id FROM t FOR UPDATE"),
        condition("true) THEN 1 END AS c1; COMMIT; INSERT INTO t VALUES (3); --"),
        condition("set_config('transaction_read_only', 'off', true) = 'off'"),
    ] {
        let mut source = connect(&database.url()).await;
        let refused = rows(source.as_mut(), &scan).await;
        let refused = refused.expect_err("nothing may be written");
        assert!(matches!(refused, SourceError::Query { .. }), "{refused:?}");
        if let Relation::Query(sql) = &scan.from {
            let mut source = connect(&database.url()).await;
            // What these do is for the read-only transaction to stop.
            let _ = source.describe(sql).await;
            let _ = source.count(&scan.from).await;
        }
    }
    let mut source = connect(&database.url()).await;
    assert_eq!(source.count(&everything.from).await.expect("a count"), 1);
}

#[tokio::test]
async fn a_refused_login_says_what_to_do_and_keeps_the_password_to_itself() {
    let mut database = Database::create().await;
    let role = database.role("guest").await;
    let check = |error: SourceError, words: &str| {
        assert!(matches!(error, SourceError::Connect { .. }), "{error:?}");
        let help = error.help().expect("help").to_owned();
        assert!(help.contains(words), "{help}");
        let mut all = format!("{error} {error:?} {help}");
        let mut cause = error.source();
        while let Some(error) = cause {
            all.push_str(&error.to_string());
            cause = error.source();
        }
        assert!(!all.contains("hunter2"), "{all}");
        error.to_string()
    };
    let error = source::connect(&database.url_as(&role, "hunter2")).await;
    let said = check(error.err().expect("a wrong password"), "PGPASSWORD");
    assert!(
        said.starts_with("cannot connect to postgres://127.0.0.1:"),
        "{said}"
    );
    assert!(!said.contains('@'), "{said}");

    let nowhere = format!("{}_nowhere", database.url_as(&role, "secret"));
    let error = source::connect(&nowhere).await;
    check(error.err().expect("no such database"), "no such database");

    let closed = "postgres://u:hunter2@127.0.0.1:1/db";
    let error = source::connect(closed).await;
    check(error.err().expect("nothing there"), "is the server running");

    let unknown = "postgres://u:hunter2@host.invalid/db";
    let error = source::connect(unknown).await;
    check(error.err().expect("no such host"), "name right");

    let error = source::connect("postgres://u:hunter#2@host/db").await;
    let error = error.err().expect("no URL");
    assert!(matches!(error, SourceError::Url(_)), "{error:?}");
    assert!(!format!("{error:?}").contains("hunter"), "{error:?}");
}

#[tokio::test]
async fn a_lost_connection_is_told_from_a_refused_query() {
    let database = Database::with("CREATE TABLE t (id int)").await;
    let mut source = connect(&database.url()).await;
    let catalog = source.catalog().await.expect("a catalog");
    let refused = source.describe("SELECT id FROM t WHERE id = $1").await;
    let refused = refused.expect_err("a parameter without a value");
    assert!(matches!(refused, SourceError::Query { .. }), "{refused:?}");
    source.begin(&[]).await.expect("a snapshot");
    database
        .run(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
             WHERE datname = current_database() AND application_name = 'dynafold'",
        )
        .await;
    let lost = rows(source.as_mut(), &scan_of(table(&catalog, "t"))).await;
    let lost = lost.expect_err("the connection is gone");
    assert!(matches!(lost, SourceError::Lost { .. }), "{lost:?}");
}

#[tokio::test]
async fn bits_of_an_expression_are_bytes_for_they_may_be_many() {
    let database = Database::with(
        "CREATE TABLE t (a int, one bit); INSERT INTO t VALUES (1, b'1'), (2, b'0')",
    )
    .await;
    let mut source = connect(&database.url()).await;
    let sql = "SELECT a, one, CASE a WHEN 1 THEN b'1' ELSE b'10' END AS v FROM t ORDER BY a";
    let columns = source.describe(sql).await.expect("columns");
    assert_eq!(columns[1].data_type, DataType::Boolean);
    assert_eq!(columns[2].data_type, DataType::Binary { max_bytes: None });
    let scan = Scan::of(Relation::Query(sql.to_owned()), columns_of(&columns));
    let read = rows(source.as_mut(), &scan).await.expect("rows");
    let read: Vec<String> = read.iter().map(|row| shown(&row[2])).collect();
    assert_eq!(read, [r#"{"B":"gA=="}"#, r#"{"B":"gA=="}"#]);
}
