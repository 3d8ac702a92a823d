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
    for (change, reported) in [
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
        ("ALTER TABLE named.other DROP CONSTRAINT other_pkey", "the keys of named.other changed"),
        ("DROP TABLE elsewhere.other", ""),
        (
            "COMMENT ON TABLE t IS 'new'; CREATE INDEX ON t (id, v); ANALYZE t; CREATE TABLE new (id int);
             ALTER TABLE far DROP CONSTRAINT far_pkey; INSERT INTO t VALUES (3, 3)",
            "",
        ),
    ] {
        let database = Database::with(
            "CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL UNIQUE); INSERT INTO t VALUES (1, 1), (2, 2);
             CREATE TABLE other (id int PRIMARY KEY); CREATE TABLE far (id int PRIMARY KEY);
             CREATE SCHEMA named; CREATE TABLE named.other (id int PRIMARY KEY);
             CREATE SCHEMA elsewhere; CREATE TABLE elsewhere.other (id int PRIMARY KEY)",
        )
        .await;
        let mut source = connect(&database.url()).await;
        let catalog = source.catalog().await.expect("a catalog");
        let mut scan = scan_of(table(&catalog, "t"));
        scan.conditions = strings(&[
            "id NOT IN (SELECT id FROM \"other\")",
            "id NOT IN (SELECT id FROM named.other)",
        ]);
        database.run(change).await;
        match source.begin(&[&scan]).await {
            Ok(()) => {
                let rows = if change.contains("INSERT") { 3 } else { 2 };
                assert_eq!((reported, count(source.as_mut(), &scan).await), ("", rows));
            }
            // A table that is gone may be refused by the server first.
            Err(error) if error.to_string().contains("refused") => {
                assert!(reported.contains("dropped"), "{change}: {error}");
            }
            Err(error) => {
                let error = error.to_string();
                assert!(!reported.is_empty() && error.starts_with(reported), "{change}: {error}");
            }
        }
    }
}

#[tokio::test]
async fn what_a_function_read_and_what_became_an_heir_is_found_before_anything_is_claimed() {
    for (change, reported, rows) in [
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
            "the table public.strict was changed",
            0,
        ),
        (
            "ALTER TYPE kind RENAME VALUE 'a' TO 'b'",
            "the type public.kind was changed",
            2,
        ),
        (
            "ALTER TYPE pair ADD ATTRIBUTE z int",
            "the type public.pair was changed",
            2,
        ),
        (
            "CREATE OR REPLACE FUNCTION look(i int) RETURNS int LANGUAGE sql AS 'SELECT 1'",
            "the function public.look was changed",
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
        let mut fork = source
            .forks(1)
            .await
            .expect("a fork")
            .pop()
            .expect("a fork");
        assert_eq!(count(fork.as_mut(), &scan).await, rows, "{change}");
        match fork.confirm().await {
            Ok(()) => assert_eq!(reported, ""),
            Err(error) => {
                let error = error.to_string();
                assert!(
                    !reported.is_empty() && error.starts_with(reported),
                    "{change}: {error}"
                );
            }
        }
    }
}

/// Begins a run over the rows of `t` that a condition takes, and gives what it says at the end where something was
/// changed meanwhile.
async fn reported(script: &str, condition: &str, change: &str) -> String {
    let database = Database::with(script).await;
    let mut source = connect(&database.url()).await;
    let catalog = source.catalog().await.expect("a catalog");
    let mut scan = scan_of(table(&catalog, "t"));
    if !condition.is_empty() {
        scan.conditions = strings(&[condition]);
    }
    source.begin(&[&scan]).await.expect("a run");
    source.confirm().await.expect("nothing moved");
    database.run(change).await;
    let confirmed = source.confirm().await;
    let reported = confirmed.err().map(|error| error.to_string());
    reported.unwrap_or_default()
}

#[tokio::test]
async fn what_sql_looks_up_is_compared_though_no_plan_names_it() {
    let script = "CREATE TYPE kind AS ENUM ('a', 'b');
        CREATE TABLE t (id int PRIMARY KEY, name varchar(9), k kind, at timestamptz);
        INSERT INTO t VALUES (1, 'A', 'a', now());
        CREATE TABLE looked (id int);
        CREATE FUNCTION plain(i int) RETURNS boolean LANGUAGE sql STABLE AS 'SELECT i < 2';
        CREATE FUNCTION wide(i bigint) RETURNS boolean LANGUAGE sql STABLE AS 'SELECT i < 2';
        CREATE FUNCTION below(int, int) RETURNS boolean LANGUAGE sql AS 'SELECT $1 < $2';
        CREATE OPERATOR %% (LEFTARG = int, RIGHTARG = int, FUNCTION = below);
        CREATE FUNCTION shown(kind) RETURNS text LANGUAGE sql AS $$ SELECT 'x' $$;
        CREATE CAST (kind AS text) WITH FUNCTION shown(kind);
        CREATE TEXT SEARCH CONFIGURATION own (COPY = english);";
    for (condition, change, expected) in [
        (
            "plain(id)",
            "CREATE OR REPLACE FUNCTION plain(i int) RETURNS boolean LANGUAGE sql STABLE AS 'SELECT i > 2'",
            "the function public.plain was changed after",
        ),
        (
            "wide(id)",
            "CREATE FUNCTION wide(i int) RETURNS boolean LANGUAGE sql STABLE AS 'SELECT i > 2'",
            "the function public.wide was created after",
        ),
        (
            "plain(id)",
            "DROP FUNCTION plain",
            "the function public.plain was changed or dropped after",
        ),
        (
            "id %% 2",
            "CREATE OR REPLACE FUNCTION below(int, int) RETURNS boolean LANGUAGE sql AS 'SELECT $1 > $2'",
            "the function public.below was changed after",
        ),
        (
            "id < 2",
            "CREATE FUNCTION above(int, bigint) RETURNS boolean LANGUAGE sql AS 'SELECT $1 > $2';
             CREATE OPERATOR < (LEFTARG = int, RIGHTARG = bigint, FUNCTION = above)",
            "the operator public.< was created after",
        ),
        (
            "k::text = 'x'",
            "DROP CAST (kind AS text)",
            "the cast public.kind to pg_catalog.text was changed or dropped after",
        ),
        (
            "id < 2",
            "ALTER TYPE kind RENAME VALUE 'a' TO 'z'",
            "the type public.kind was changed after",
        ),
        (
            "lower(name) = 'a'",
            "CREATE FUNCTION lower(varchar) RETURNS text LANGUAGE sql AS 'SELECT $1'",
            "the function public.lower was created after",
        ),
        (
            "to_tsvector('own', name) @@ to_tsquery('own', 'a')",
            "ALTER TEXT SEARCH CONFIGURATION own ALTER MAPPING FOR asciiword WITH simple",
            "the text search configuration public.own was changed",
        ),
        (
            "plain(id)",
            "ALTER TABLE looked RENAME id TO other",
            "the table public.looked was changed after",
        ),
        (
            "to_tsvector(name) @@ 'a'",
            "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_text_search_config = simple',
             current_database()); END $$",
            "the setting default_text_search_config, which decides what SQL means, was changed after",
        ),
        (
            "plain(id)",
            "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET app.tenant = 7', current_database()); END $$",
            "the setting of a role or a database was created after",
        ),
        // What no condition can look up, or this one cannot.
        (
            "plain(id)",
            "CREATE TEMPORARY TABLE passing (k kind); DROP TABLE passing;
             CREATE FUNCTION fires() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
             CREATE INDEX ON looked (id); ANALYZE; INSERT INTO looked VALUES (1)",
            "",
        ),
        (
            "id < 2",
            "DROP CAST (kind AS text); DROP FUNCTION shown",
            "the cast public.kind to pg_catalog.text was changed or dropped after",
        ),
        (
            "",
            "CREATE OR REPLACE FUNCTION plain(i int) RETURNS boolean LANGUAGE sql STABLE AS 'SELECT i > 2'",
            "",
        ),
    ] {
        let reported = reported(script, condition, change).await;
        let is_it = expected.is_empty() == reported.is_empty() && reported.starts_with(expected);
        assert!(is_it, "{condition}: {change}: {reported:?}");
    }
}

#[tokio::test]
async fn what_a_condition_cannot_look_up_ends_no_run() {
    let script =
        "CREATE TABLE t (id int PRIMARY KEY, at timestamptz); CREATE TABLE looked (id int);
        CREATE FUNCTION plain(i int) RETURNS boolean LANGUAGE sql STABLE AS 'SELECT i < 2';";
    let change = "CREATE TABLE new (id int); ALTER TABLE looked RENAME id TO other";
    assert_eq!(reported(script, "at < now() AND id < 2", change).await, "");
    let change = "CREATE TYPE kind AS ENUM ('a'); CREATE OR REPLACE FUNCTION plain(i int) RETURNS boolean
        LANGUAGE sql STABLE AS 'SELECT i > 2'; CREATE FUNCTION more(i int) RETURNS int LANGUAGE sql AS 'SELECT i'";
    assert_eq!(reported(script, "id < 2 OR id = 7", change).await, "");
    let change = "ALTER TABLE looked RENAME id TO other";
    // A function of a row may be written as a column of it.
    let of_row = format!(
        "{script} CREATE FUNCTION odd(t) RETURNS boolean LANGUAGE sql STABLE AS 'SELECT $1.id > 2'"
    );
    let other = "CREATE OR REPLACE FUNCTION odd(t) RETURNS boolean LANGUAGE sql STABLE AS 'SELECT $1.id < 2'";
    let reported_of_row = reported(&of_row, "t.odd", other).await;
    assert!(
        reported_of_row.starts_with("the function public.odd was changed"),
        "{reported_of_row}"
    );
    let reported = reported(script, "plain(id) OR at < now()", change).await;
    assert!(
        reported.starts_with("the table public.looked was changed"),
        "{reported}"
    );
}

#[tokio::test]
async fn types_are_looked_at_where_a_column_that_is_read_has_them() {
    let script = "CREATE TYPE kind AS ENUM ('a', 'b'); CREATE DOMAIN kinds AS kind[];
        CREATE TYPE pair AS (x int, y kind); CREATE TYPE other AS ENUM ('a'); CREATE TYPE pairs AS (x int);
        CREATE TABLE far (id other); CREATE TABLE strip (x int);
        CREATE TABLE t (id int PRIMARY KEY, k kinds, p pair[], s strip); INSERT INTO t VALUES (1)";
    for (change, expected) in [
        (
            "ALTER TYPE kind RENAME VALUE 'a' TO 'z'",
            "the type public.kind was changed after",
        ),
        (
            "ALTER TYPE pair RENAME ATTRIBUTE x TO z",
            "the type public.pair was changed after",
        ),
        (
            "ALTER TABLE strip RENAME x TO z",
            "the type public.strip was changed after",
        ),
        (
            "ALTER TABLE strip ADD COLUMN z int",
            "the type public.strip was changed after",
        ),
        ("ALTER TYPE other RENAME VALUE 'a' TO 'z'", ""),
        ("DROP TABLE far; DROP TYPE other", ""),
        ("DROP TYPE pairs", ""),
    ] {
        let reported = reported(script, "", change).await;
        let is_it = expected.is_empty() == reported.is_empty() && reported.starts_with(expected);
        assert!(is_it, "{change}: {reported:?}");
    }
}

#[tokio::test]
async fn a_sequence_is_no_part_of_a_snapshot_and_is_refused() {
    let database = Database::with(
        "CREATE TABLE t (id int PRIMARY KEY); INSERT INTO t VALUES (1); CREATE SEQUENCE numbers;
         CREATE FUNCTION newest() RETURNS bigint LANGUAGE plpgsql AS
           'BEGIN RETURN (SELECT last_value FROM numbers); END'",
    )
    .await;
    let mut source = connect(&database.url()).await;
    let catalog = source.catalog().await.expect("a catalog");
    let mut scan = scan_of(table(&catalog, "t"));
    scan.conditions = strings(&["id >= (SELECT last_value FROM numbers)"]);
    let refused = source.begin(&[&scan]).await.expect_err("a sequence");
    let reported = "the sequence numbers is read";
    assert!(refused.to_string().starts_with(reported), "{refused}");
    // What a function reads is seen once it has.
    let mut source = connect(&database.url()).await;
    scan.conditions = strings(&["id >= newest()"]);
    source.begin(&[&scan]).await.expect("a run");
    assert_eq!(count(source.as_mut(), &scan).await, 1);
    let refused = source.confirm().await.expect_err("a sequence");
    assert!(refused.to_string().starts_with(reported), "{refused}");
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
    let owner = database.role("owner").await;
    let bypass = format!(
        "GRANT SELECT ON t TO {reader}, {owner}; ALTER ROLE {reader} BYPASSRLS; ALTER VIEW seen OWNER TO {owner}"
    );
    database.run(&bypass).await;
    let mut source = connect(&database.url_as(&reader, "secret")).await;
    let catalog = source.catalog().await.expect("a catalog");
    // Behind a view it counts for the view's owner, not for who reads the view.
    let hidden = catalog.tables.iter().filter(|table| table.row_security);
    let hidden: Vec<&str> = hidden.map(|table| table.name.name.as_str()).collect();
    assert_eq!(hidden, ["seen", "twice"]);
    let scan = scan_of(table(&catalog, "t"));
    source.begin(&[&scan]).await.expect("a run");
    assert_eq!(count(source.as_mut(), &scan).await, 2);
    let mut fork = source
        .forks(1)
        .await
        .expect("a fork")
        .pop()
        .expect("a fork");
    database
        .run(&format!("ALTER ROLE {reader} NOBYPASSRLS"))
        .await;
    for source in [&mut source, &mut fork] {
        let chunks: Result<Vec<_>, _> = source.scan(&scan).try_collect().await;
        let refused = chunks.expect_err("hidden rows").to_string();
        assert!(
            refused.starts_with("row security hides rows of"),
            "{refused}"
        );
    }
}

#[tokio::test]
async fn a_role_that_the_reader_loses_and_one_that_no_policy_holds_for_end_the_run() {
    let mut database = Database::with(
        "CREATE TABLE t (id int PRIMARY KEY); INSERT INTO t VALUES (1); ALTER TABLE t ENABLE ROW LEVEL SECURITY",
    )
    .await;
    let reader = database.role("reader").await;
    let group = database.role("group").await;
    let grant = format!(
        "GRANT SELECT ON t TO {reader}; GRANT {group} TO {reader}; CREATE POLICY own ON t TO {group} USING (true)"
    );
    database.run(&grant).await;
    for (change, role) in [
        (format!("ALTER ROLE {reader} BYPASSRLS"), &reader),
        (format!("REVOKE {group} FROM {reader}"), &group),
    ] {
        let mut source = connect(&database.url_as(&reader, "secret")).await;
        let catalog = source.catalog().await.expect("a catalog");
        let scan = scan_of(table(&catalog, "t"));
        source.begin(&[&scan]).await.expect("a run");
        assert_eq!(count(source.as_mut(), &scan).await, 1);
        source.confirm().await.expect("nothing moved");
        database.run(&change).await;
        let moved = source.confirm().await;
        let moved = moved.expect_err("another role").to_string();
        let reported = format!("the role {role} was changed or dropped after");
        assert!(moved.starts_with(&reported), "{change}: {moved}");
        let back = format!("ALTER ROLE {reader} NOBYPASSRLS");
        database.run(&back).await;
    }
}

#[tokio::test]
async fn operators_that_somebody_made_are_known() {
    let database = Database::with("CREATE TABLE t (id int PRIMARY KEY)").await;
    let mut source = connect(&database.url()).await;
    assert!(!source.catalog().await.expect("a catalog").own_operators);
    database
        .run(
            "CREATE FUNCTION late(boolean, int) RETURNS boolean LANGUAGE sql AS 'SELECT $1';
             CREATE OPERATOR % (LEFTARG = boolean, RIGHTARG = int, FUNCTION = late)",
        )
        .await;
    let mut source = connect(&database.url()).await;
    assert!(source.catalog().await.expect("a catalog").own_operators);
}
