//! What changes between the proofs and the rows, and while rows are read.

use dynafold::scan::Scan;
use dynafold::source::Source;
use futures_util::TryStreamExt as _;

use super::{connect, strings, table};
use crate::support::postgres::Database;
use crate::support::types::scan_of;

/// Reads all rows of a scan.
async fn count(source: &mut dyn Source, scan: &Scan) -> usize {
    let chunks: Vec<_> = source.scan(scan).try_collect().await.expect("chunks");
    chunks.iter().map(|chunk| chunk.rows.len()).sum()
}

#[tokio::test]
async fn a_run_begins_only_over_the_schema_that_the_mapping_was_checked_against() {
    for (change, told) in [
        ("ALTER TABLE t DROP CONSTRAINT t_pkey", "the keys of t changed"),
        ("ALTER TABLE t DROP CONSTRAINT t_v_key", "the keys of t changed"),
        ("ALTER TABLE t ALTER v DROP NOT NULL", "the columns of t changed"),
        ("CREATE TABLE heir () INHERITS (t)", "the inheritance of t changed"),
        (
            "ALTER TABLE t RENAME TO old; CREATE VIEW t AS SELECT * FROM old WHERE id > 1",
            "the kind of t changed",
        ),
        ("ALTER TABLE t RENAME TO old", "t was dropped or renamed"),
        ("ALTER TABLE other DROP CONSTRAINT other_pkey", "the keys of other changed"),
        (
            "COMMENT ON TABLE t IS 'new'; CREATE INDEX ON t (id, v); ANALYZE t; CREATE TABLE new (id int);
             ALTER TABLE far DROP CONSTRAINT far_pkey; INSERT INTO t VALUES (3, 3)",
            "",
        ),
    ] {
        let database = Database::with(
            "CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL UNIQUE); INSERT INTO t VALUES (1, 1), (2, 2);
             CREATE TABLE other (id int PRIMARY KEY); CREATE TABLE far (id int PRIMARY KEY)",
        )
        .await;
        let mut source = connect(&database.url()).await;
        let catalog = source.catalog().await.expect("a catalog");
        let mut scan = scan_of(table(&catalog, "t"));
        scan.conditions = strings(&["id NOT IN (SELECT id FROM \"other\")"]);
        database.run(change).await;
        match source.begin(&[&scan]).await {
            Ok(()) => assert_eq!((told, count(source.as_mut(), &scan).await), ("", 3)),
            // A table that is gone may be refused by the server first.
            Err(error) if error.to_string().contains("refused") => {
                assert!(told.contains("dropped"), "{change}: {error}");
            }
            Err(error) => {
                let error = error.to_string();
                assert!(!told.is_empty() && error.starts_with(told), "{change}: {error}");
            }
        }
    }
}

#[tokio::test]
async fn what_a_function_read_and_what_became_an_heir_is_found_before_anything_is_claimed() {
    for (change, told, rows) in [
        (
            "BEGIN; TRUNCATE looked; INSERT INTO looked VALUES (1, 1), (2, 2); COMMIT",
            "looked was emptied",
            0,
        ),
        (
            "ALTER TABLE heir INHERIT t",
            "\"public\".\"heir\" became",
            3,
        ),
        (
            "ALTER TABLE part ATTACH PARTITION late FOR VALUES FROM (10) TO (20)",
            "\"public\".\"late\" became",
            2,
        ),
        (
            "BEGIN; TRUNCATE strict; INSERT INTO strict VALUES (1), (2); COMMIT",
            "strict was changed",
            0,
        ),
        (
            "ALTER TYPE kind RENAME VALUE 'a' TO 'b'",
            "kind was changed",
            2,
        ),
        ("ALTER TYPE pair ADD ATTRIBUTE z int", "pair was changed", 2),
        (
            "CREATE OR REPLACE FUNCTION look(i int) RETURNS int LANGUAGE sql AS 'SELECT 1'",
            "look(integer) was changed",
            2,
        ),
        (
            "BEGIN; ALTER TYPE pair ADD ATTRIBUTE z int; ROLLBACK; CREATE TABLE other (id int); DROP TABLE other",
            "",
            2,
        ),
        (
            "INSERT INTO t VALUES (3, 3); INSERT INTO looked VALUES (3, 3)",
            "",
            2,
        ),
    ] {
        let database = Database::with(
            "CREATE TABLE t (id int PRIMARY KEY, v int); INSERT INTO t VALUES (1, 1), (2, 2);
             CREATE TABLE looked (id int, v int); INSERT INTO looked VALUES (1, 1), (2, 2);
             CREATE TABLE strict (id int); INSERT INTO strict VALUES (1), (2);
             CREATE TYPE kind AS ENUM ('a'); CREATE TYPE pair AS (x int, y int);
             CREATE TABLE heir (LIKE t); INSERT INTO heir VALUES (2, 2);
             CREATE TABLE part (id int) PARTITION BY RANGE (id);
             CREATE TABLE late (id int); INSERT INTO late VALUES (11);
             CREATE FUNCTION look(i int) RETURNS int LANGUAGE plpgsql STABLE AS
               'BEGIN RETURN (SELECT v FROM looked WHERE id = i); END';
             CREATE FUNCTION look_strictly(i int) RETURNS int LANGUAGE plpgsql STABLE AS
               'DECLARE r int; BEGIN SELECT id INTO STRICT r FROM strict WHERE id = i; RETURN r;
                EXCEPTION WHEN no_data_found THEN RETURN NULL; END'",
        )
        .await;
        let mut source = connect(&database.url()).await;
        let catalog = source.catalog().await.expect("a catalog");
        let mut scan = scan_of(table(&catalog, "t"));
        let condition = "look(id) IS NOT NULL AND look_strictly(id) IS NOT NULL OR id > 10";
        scan.conditions = strings(&[condition]);
        let part = scan_of(table(&catalog, "part"));
        source.begin(&[&scan, &part]).await.expect("a run");
        source.confirm().await.expect("nothing moved");
        database.run(change).await;
        let mut fork = source.fork().await.expect("a fork").expect("a fork");
        assert_eq!(count(fork.as_mut(), &scan).await, rows, "{change}");
        match fork.confirm().await {
            Ok(()) => assert_eq!(told, ""),
            Err(error) => {
                let error = error.to_string();
                assert!(
                    !told.is_empty() && error.starts_with(told),
                    "{change}: {error}"
                );
            }
        }
    }
}

#[tokio::test]
async fn row_security_that_comes_to_hide_rows_ends_the_run() {
    let mut database = Database::with(
        "CREATE TABLE t (id int PRIMARY KEY); INSERT INTO t VALUES (1), (2);
         ALTER TABLE t ENABLE ROW LEVEL SECURITY;
         CREATE VIEW seen AS SELECT id FROM t; CREATE VIEW twice AS SELECT id FROM seen;
         CREATE TABLE plain (id int); CREATE VIEW open AS SELECT id FROM plain",
    )
    .await;
    let reader = database.role("reader").await;
    let bypass = format!("GRANT SELECT ON t TO {reader}; ALTER ROLE {reader} BYPASSRLS");
    database.run(&bypass).await;
    let mut source = connect(&database.url_as(&reader, "secret")).await;
    let catalog = source.catalog().await.expect("a catalog");
    // Of views it counts whose rows they show, and not who reads them.
    let hidden = catalog.tables.iter().filter(|table| table.row_security);
    let hidden: Vec<&str> = hidden.map(|table| table.name.name.as_str()).collect();
    assert_eq!(hidden, ["seen", "twice"]);
    let scan = scan_of(table(&catalog, "t"));
    source.begin(&[&scan]).await.expect("a run");
    assert_eq!(count(source.as_mut(), &scan).await, 2);
    let mut fork = source.fork().await.expect("a fork").expect("a fork");
    database
        .run(&format!("ALTER ROLE {reader} NOBYPASSRLS"))
        .await;
    for source in [&mut source, &mut fork] {
        let chunks: Result<Vec<_>, _> = source.scan(&scan).try_collect().await;
        let refused = chunks.expect_err("hidden rows").to_string();
        assert!(
            refused.starts_with("row security came to hide rows of"),
            "{refused}"
        );
    }
}
