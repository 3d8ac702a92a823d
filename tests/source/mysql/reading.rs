//! What scans, counts and queries give, and that nothing is written.

use dynafold::catalog::Column;
use dynafold::scan::{Embed, Join, Match, Relation, Scan, ScanColumn};
use dynafold::source::{Row, SourceError};
use dynafold::value::Value;
use futures_util::TryStreamExt as _;
use sqlx::{AssertSqlSafe, Connection as _, MySqlConnection};

use super::{open, table};
use crate::support::mysql::{Database, servers};
use crate::support::types::{columns_of, read_all, rows_of, scan_of, shown};

fn query(sql: &str, source: &[Column]) -> Scan {
    Scan::of(Relation::Query(sql.to_owned()), columns_of(source))
}

#[tokio::test]
async fn a_query_is_described_counted_and_read() {
    for (product, server) in servers() {
        let database = Database::new(&server).await;
        database
            .run(
                "CREATE TABLE t (id INT PRIMARY KEY, ok TINYINT(1), at DATETIME(3), doc JSON,
            s SET('a','b'), f FLOAT, g POINT, raw BLOB, word VARCHAR(9) COLLATE utf8mb4_bin);
            INSERT INTO t VALUES (1, 1, '2026-01-31 10:00:00.5', '{\"k\":\"v\"}', 'a,b', 0.1,
            ST_GeomFromText('POINT(1 2)'), x'00ff', 'w')",
            )
            .await;
        let mut source = open(&database.url()).await;
        let sql =
            "SELECT t.*, CONCAT(word, '!') AS loud, MAX(at) OVER () AS latest, id || 0 AS either,
            JSON_UNQUOTE(JSON_EXTRACT(doc, '$.k')) AS k, id * 1.50 AS price, CONCAT(raw) AS bytes,
            CAST(at AS DATE) AS day FROM t -- all of it\n;";
        let columns = source.describe(sql).await.unwrap();
        let mut scan = query(sql, &columns);
        assert_eq!(source.count(&scan.from).await.unwrap(), 1);
        let rows = rows_of(source.as_mut(), &scan).await;
        let values: Vec<String> = rows[0].iter().map(shown).collect();
        assert_eq!(
            values,
            [
                r#"{"N":"1"}"#,
                r#"{"BOOL":true}"#,
                r#"{"S":"2026-01-31T10:00:00.500"}"#,
                r#"{"M":{"k":{"S":"v"}}}"#,
                r#"{"SS":["a","b"]}"#,
                r#"{"N":"0.1"}"#,
                r#"{"S":"POINT(1 2)"}"#,
                r#"{"B":"AP8="}"#,
                r#"{"S":"w"}"#,
                r#"{"S":"w!"}"#,
                r#"{"S":"2026-01-31T10:00:00.500000"}"#,
                r#"{"N":"1"}"#,
                r#"{"S":"v"}"#,
                r#"{"N":"1.5"}"#,
                r#"{"B":"AP8="}"#,
                r#"{"S":"2026-01-31"}"#,
            ],
            "{product} {columns:?}"
        );

        scan.conditions = vec!["id = 1 # one".into(), "ok IS NULL OR NULL".into()];
        let rows = rows_of(source.as_mut(), &scan).await;
        let flags: Vec<String> = rows[0][16..].iter().map(shown).collect();
        assert_eq!(flags, [r#"{"BOOL":true}"#, r#"{"BOOL":false}"#]);
        assert!(source.describe("SELECT id, id FROM t").await.is_err());
        let twice = source.describe_answer("SELECT id, id FROM t").await;
        assert_eq!(twice.unwrap().len(), 2);
        assert!(source.describe("SELECT 1; SELECT 2").await.is_err());
        drop(source);
        database.drop().await;
    }
}

#[tokio::test]
async fn text_that_its_character_set_does_not_have_is_unfit_and_no_other_text() {
    for (product, server) in servers() {
        let database = Database::new(&server).await;
        database
            .run(
                "SET sql_mode = ''; SET NAMES utf8mb4; CREATE TABLE t (id INT PRIMARY KEY,
                    g VARCHAR(10) CHARACTER SET greek, a VARCHAR(10) CHARACTER SET ascii,
                    u VARCHAR(10) CHARACTER SET ucs2, l VARCHAR(10) CHARACTER SET latin1) ENGINE = MyISAM;
                INSERT INTO t VALUES (1, 'α?', 'a?', '?α', 'é?'), (2, '', NULL, '', '');
                INSERT INTO t (id, g, u) VALUES (3, x'AEFF41', x'D8000041');
                INSERT INTO t (id, a) VALUES (4, IF(VERSION() LIKE '%MariaDB%', x'8081', NULL))",
            )
            .await;
        let mut source = open(&database.url()).await;
        let catalog = source.catalog().await.unwrap();
        let t = table(&catalog, "t");
        assert!(t.live, "{product}");
        let rows = rows_of(source.as_mut(), &scan_of(t)).await;
        let shown = |row: usize| -> Vec<String> { rows[row][1..].iter().map(shown).collect() };
        assert_eq!(
            shown(0),
            [
                r#"{"S":"α?"}"#,
                r#"{"S":"a?"}"#,
                r#"{"S":"?α"}"#,
                r#"{"S":"é?"}"#
            ]
        );
        let nothing = [r#"{"S":""}"#, "absent", r#"{"S":""}"#, r#"{"S":""}"#];
        assert_eq!(shown(1), nothing);
        let unfit = |value: &Value| matches!(value, Value::Unfit { .. });
        assert!(
            unfit(&rows[2][1]) && unfit(&rows[2][3]),
            "{product}: {:?}",
            rows[2]
        );
        assert!(product != "mariadb" || unfit(&rows[3][2]), "{:?}", rows[3]);
        drop(source);
        database.drop().await;
    }
}

#[tokio::test]
async fn the_server_refuses_every_write() {
    for (_, server) in servers() {
        let database = Database::new(&server).await;
        database.run("CREATE TABLE t (a INT) ENGINE = InnoDB; CREATE TABLE m (a INT) ENGINE = MyISAM;
            CREATE FUNCTION sneak() RETURNS INT MODIFIES SQL DATA BEGIN INSERT INTO t VALUES (1); RETURN 1; END").await;
        let mut source = open(&database.url()).await;
        let catalog = source.catalog().await.unwrap();
        for begun in [false, true] {
            if begun {
                source.begin(&[]).await.unwrap();
            }
            let mut scan = query("SELECT 1 AS a", &[]);
            scan.keep_unmatched = true;
            let second =
                "1) THEN 1 ELSE 0 END; INSERT INTO m VALUES (1); SELECT CASE WHEN (1".to_owned();
            scan.conditions = vec![second];
            assert!(source.prepare(&scan).await.is_err());
            let second = scan.conditions.remove(0);
            for (condition, why) in [
                (second, "error in your SQL syntax"),
                ("sneak() = 1".to_owned(), "READ ONLY"),
            ] {
                scan.conditions = vec![condition];
                let read = source.scan(&scan).try_collect::<Vec<_>>().await;
                let Err(SourceError::Query { cause, .. }) = read else {
                    panic!("{:?}: {read:?}", scan.conditions);
                };
                assert!(cause.to_string().contains(why), "{cause}");
            }
        }
        for name in ["t", "m"] {
            let from = Relation::Table(table(&catalog, name).name.clone());
            assert_eq!(source.count(&from).await.unwrap(), 0, "{name}");
        }
        drop(source);
        database.drop().await;
    }
}

#[tokio::test]
async fn a_sequence_is_no_part_of_a_snapshot_and_is_refused() {
    for (product, server) in servers() {
        if product != "mariadb" {
            continue;
        }
        let database = Database::new(&server).await;
        database
            .run("CREATE TABLE t (id INT PRIMARY KEY); CREATE SEQUENCE numbers; CREATE TABLE plain (id INT)")
            .await;
        let mut source = open(&database.url()).await;
        let catalog = source.catalog().await.unwrap();
        let mut scan = scan_of(table(&catalog, "t"));
        for (condition, is_refused) in [
            ("id > (SELECT next_not_cached_value FROM numbers)", true),
            ("id > (SELECT id FROM plain AS numbers)", false),
        ] {
            let mut source = open(&database.url()).await;
            scan.conditions = vec![condition.to_owned()];
            let begun = source.begin(&[&scan]).await;
            let said = begun.err().map(|error| error.to_string());
            let is_reported = said.is_some_and(|said| said.contains("sequence numbers is read"));
            assert_eq!(is_reported, is_refused, "{condition}");
        }
        database.drop().await;
    }
}

#[tokio::test]
async fn the_snapshot_does_not_see_what_is_written_later() {
    for (_, server) in servers() {
        let database = Database::new(&server).await;
        database
            .run("CREATE TABLE t (a INT); INSERT INTO t VALUES (1)")
            .await;
        let mut source = open(&database.url()).await;
        let catalog = source.catalog().await.unwrap();
        source.begin(&[]).await.unwrap();
        database.run("INSERT INTO t VALUES (2)").await;
        assert_eq!(
            read_all(source.as_mut(), table(&catalog, "t")).await.len(),
            1
        );
        drop(source);
        database.drop().await;
    }
}

/// Dates of zeros, an ENUM's error value, and what an index finds otherwise than an expression.
const ODD: &str = "SET SESSION sql_mode = '';
    CREATE TABLE z (id INT PRIMARY KEY, d DATE NOT NULL, t DATETIME NOT NULL, v VARCHAR(9),
        e ENUM('a','b','') NOT NULL, n BIGINT NOT NULL, j JSON, c CHAR(1), KEY (e), KEY (n));
    INSERT INTO z VALUES (1, '0000-00-00', '0000-00-00', '1', 'a', 9223372036854775807, '[]', 'a'),
        (2, '2020-01-01', '2020-01-01', '20', '', 9223372036854775806, 'null', 'A'),
        (3, '2020-01-01', '0000-00-00', NULL, 'none', 9007199254740993, '\"1\"', 'a'),
        (4, '0000-00-00', '2020-01-01', '1.0', 'b', 1, '1', 'A');
    CREATE TABLE y (id INT PRIMARY KEY, z_id INT NOT NULL); INSERT INTO y VALUES (1, 1), (2, 1), (3, 2);
    CREATE TABLE x (id INT PRIMARY KEY); INSERT INTO x VALUES (1), (2), (3), (4)";

#[tokio::test]
async fn a_condition_finds_the_same_rows_in_every_read() {
    let conditions = [
        "d IS NULL",
        "ISNULL(t)",
        "d IS NULL OR id = 4 -- by key",
        "d IS NOT NULL AND v IN (SELECT 1.0 UNION SELECT 20)",
        "v IS NULL",
        "NULL",
        "d IS UNKNOWN",
        "NOT (t IS NOT UNKNOWN)",
        "e = ''",
        "'' BETWEEN e AND e",
        "n IN (9007199254740992, '9223372036854775807')",
        "j",
        "HEX(c) = '41' AND c IS NOT NULL",
    ];
    for (product, server) in servers() {
        let database = Database::new(&server).await;
        database.run(ODD).await;
        let mut source = open(&database.url()).await;
        let catalog = source.catalog().await.unwrap();
        let of = |conditions: &[&str]| Scan {
            conditions: conditions.iter().map(|&sql| sql.to_owned()).collect(),
            ..scan_of(table(&catalog, "z"))
        };
        let all = Scan {
            keep_unmatched: true,
            ..of(&conditions)
        };
        source.begin(&[]).await.unwrap();
        let columns = all.columns.len();
        let rows = rows_of(source.as_mut(), &all).await;
        let ids = |rows: Vec<&Row>| rows.iter().map(|row| shown(&row[0])).collect::<Vec<_>>();
        let met = |at: usize| {
            let met = rows
                .iter()
                .filter(|row| row[columns + at] == Value::Bool(true));
            ids(met.collect())
        };
        for (at, condition) in conditions.iter().enumerate() {
            let wanted = rows_of(source.as_mut(), &of(&[condition])).await;
            let of_one = wanted
                .iter()
                .filter(|row| row[columns] == Value::Bool(true));
            assert_eq!(met(at), ids(of_one.collect()), "{product}: {condition}");
            assert_eq!(
                met(at),
                ids(wanted.iter().collect()),
                "{product}: {condition}"
            );
        }
        assert_eq!(met(0), met(6), "{product}");
        assert_eq!(met(0).len(), 2, "{product}");
        assert_eq!(met(1), met(7), "{product}");
        assert_eq!(met(12).len(), 2, "{product}");
        drop(source);
        database.drop().await;
    }
}

#[tokio::test]
async fn children_that_a_condition_finds_come_with_children_of_their_own() {
    for (product, server) in servers() {
        let database = Database::new(&server).await;
        database.run(ODD).await;
        let mut source = open(&database.url()).await;
        let catalog = source.catalog().await.unwrap();
        let of = |name: &str| Scan {
            key: vec![0],
            ..scan_of(table(&catalog, name))
        };
        let embed = |rows: Scan, ours: &str, theirs: &str| {
            let on = vec![Match {
                join: None,
                ours: ours.into(),
                theirs: theirs.into(),
            }];
            let order = Vec::new();
            ScanColumn::Embed(Box::new(Embed {
                rows,
                on,
                order,
                most: None,
            }))
        };
        let mut children = of("z");
        children.conditions = vec!["d IS NULL".to_owned()];
        children.columns.truncate(1);
        children.columns.push(embed(of("y"), "id", "z_id"));
        let mut parents = of("x");
        parents.columns.push(embed(children, "id", "id"));
        source.begin(&[]).await.unwrap();
        let rows = rows_of(source.as_mut(), &parents).await;
        let lists = |value: &Value| match value {
            Value::List(rows) => rows.clone(),
            other => panic!("{other:?}"),
        };
        let child = lists(&rows[0][1]);
        assert_eq!(child.len(), 1, "{product}");
        assert_eq!(lists(&lists(&child[0])[1]).len(), 2, "{product}: {child:?}");
        drop(source);
        database.drop().await;
    }
}

#[tokio::test]
async fn many_rows_come_in_chunks_and_an_abandoned_scan_does_no_harm() {
    for (_, server) in servers() {
        let database = Database::new(&server).await;
        database.run("CREATE TABLE d (n INT); INSERT INTO d VALUES (0),(1),(2),(3),(4),(5),(6),(7),(8),(9);
            CREATE TABLE t (n INT PRIMARY KEY, v VARCHAR(99));
            INSERT INTO t SELECT a.n + 10 * b.n + 100 * c.n, REPEAT('x', 50) FROM d a, d b, d c;
            CREATE TABLE big (v LONGTEXT); INSERT INTO big SELECT REPEAT('y', 700000) FROM d").await;
        let mut source = open(&database.url()).await;
        let catalog = source.catalog().await.unwrap();
        source.begin(&[]).await.unwrap();
        let scan = scan_of(table(&catalog, "t"));
        assert_eq!(
            source
                .scan(&scan)
                .try_next()
                .await
                .unwrap()
                .unwrap()
                .rows
                .len(),
            256
        );
        let chunks: Vec<_> = source.scan(&scan).try_collect().await.unwrap();
        let sizes: Vec<usize> = chunks.iter().map(|chunk| chunk.rows.len()).collect();
        assert_eq!(sizes, [256, 256, 256, 232]);
        let scan = scan_of(table(&catalog, "big"));
        let chunks: Vec<_> = source.scan(&scan).try_collect().await.unwrap();
        assert_eq!(chunks.len(), 5);
        drop(source);
        database.drop().await;
    }
}

#[tokio::test]
async fn a_query_with_a_vector_says_how_it_can_be_read_and_others_are_read_on() {
    for (product, server) in servers() {
        if product != "mysql" {
            continue;
        }
        let database = Database::new(&server).await;
        let vector = "CREATE TABLE t (id INT PRIMARY KEY, v VECTOR(2));
            INSERT INTO t VALUES (1, STRING_TO_VECTOR('[1, 0.5]'))";
        database.run(vector).await;
        let mut source = open(&database.url()).await;
        let refused = source.describe("SELECT id, v FROM t").await.unwrap_err();
        assert!(!refused.is_lost(), "{refused:?}");
        assert!(
            format!("{refused:?}").contains("VECTOR_TO_STRING"),
            "{refused:?}"
        );
        let sql = "SELECT id, CAST(v AS BINARY) AS bytes FROM t";
        let columns = source.describe(sql).await.unwrap();
        let rows = rows_of(source.as_mut(), &query(sql, &columns)).await;
        assert_eq!(shown(&rows[0][1]), r#"{"B":"AACAPwAAAD8="}"#);
        drop(source);
        database.drop().await;
    }
}

#[tokio::test]
async fn nobody_swaps_what_a_run_is_going_to_read() {
    for (product, server) in servers() {
        let database = Database::new(&server).await;
        database
            .run(
                "CREATE TABLE t (id INT PRIMARY KEY, p INT); INSERT INTO t VALUES (1, 1), (2, 2);
                CREATE TABLE p (id INT PRIMARY KEY); INSERT INTO p VALUES (1), (2);
                CREATE TABLE w (id INT PRIMARY KEY); INSERT INTO w VALUES (1), (2);
                CREATE TABLE b (id INT PRIMARY KEY); INSERT INTO b VALUES (1), (2);
                CREATE VIEW v AS SELECT id, COUNT(*) AS n FROM b GROUP BY id;
                CREATE TABLE new (id INT PRIMARY KEY)",
            )
            .await;
        let mut source = open(&database.url()).await;
        let catalog = source.catalog().await.unwrap();
        let mut scan = scan_of(table(&catalog, "t"));
        scan.joins.push(Join {
            alias: "parent".into(),
            table: table(&catalog, "p").name.clone(),
            on: vec![Match {
                join: None,
                ours: "p".into(),
                theirs: "id".into(),
            }],
            is_single: true,
        });
        scan.conditions = vec!["t.id > (SELECT MIN(id) - 1 FROM w)".to_owned()];
        let view = scan_of(table(&catalog, "v"));
        source.begin(&[&view, &scan]).await.unwrap();
        let mut other = MySqlConnection::connect(database.url().as_str())
            .await
            .unwrap();
        for name in ["t", "p", "w", "b"] {
            let swap = format!(
                "SET SESSION lock_wait_timeout = 1; RENAME TABLE {name} TO old, new TO {name}"
            );
            let swapped = sqlx::raw_sql(AssertSqlSafe(swap)).execute(&mut other).await;
            let refused = swapped.expect_err(name).to_string();
            assert!(refused.contains("1205"), "{product} {name}: {refused}");
        }
        database.run("INSERT INTO t VALUES (3, 3)").await;
        for scan in [&view, &scan] {
            assert_eq!(rows_of(source.as_mut(), scan).await.len(), 2, "{product}");
        }
        drop(source);
        // The schema that was checked has gone.
        for (change, reported) in [
            ("ALTER TABLE t DROP PRIMARY KEY", "the keys of t changed"),
            (
                "RENAME TABLE v TO old; CREATE TABLE v (id INT, n BIGINT)",
                "the kind of v changed",
            ),
            (
                "ANALYZE TABLE t; CREATE INDEX i ON t (p); ALTER TABLE new DROP PRIMARY KEY",
                "",
            ),
        ] {
            let mut source = open(&database.url()).await;
            let catalog = source.catalog().await.unwrap();
            let scans = ["t", "v"].map(|name| scan_of(table(&catalog, name)));
            database.run(change).await;
            let begun = source.begin(&[&scans[0], &scans[1]]).await;
            let said = begun
                .err()
                .map(|error| error.to_string())
                .unwrap_or_default();
            assert!(
                said.starts_with(reported) && said.is_empty() == reported.is_empty(),
                "{product} {change}: {said}"
            );
        }
        database.drop().await;
    }
}
