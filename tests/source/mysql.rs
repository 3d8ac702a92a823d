//! The MySQL source against real servers: MariaDB always, MySQL where it runs.

use std::fmt::Write as _;

use dynafold::catalog::{Catalog, DataType, Dbms, Table, TableKind, TableName};
use dynafold::source::{Relation, Scan, Source, SourceError, connect};
use futures_util::TryStreamExt as _;
use url::Url;

use crate::support::datasets::folder;
use crate::support::mysql::{Database, servers};
use crate::support::types::{
    cases, columns_of, compare, read_all, read_everything, rows_of, scan_of, script, shown,
};

async fn open(url: &Url) -> Box<dyn Source> {
    connect(url.as_str()).await.unwrap()
}

fn table<'c>(catalog: &'c Catalog, name: &str) -> &'c Table {
    catalog
        .find(name)
        .unwrap_or_else(|| panic!("no table {name}"))
}

fn query(sql: &str, source: &[dynafold::catalog::Column]) -> Scan {
    Scan {
        from: Relation::Query(sql.to_owned()),
        columns: columns_of(source),
        joins: Vec::new(),
        conditions: Vec::new(),
        keep_unmatched: false,
        limit: None,
    }
}

#[tokio::test]
async fn every_type_arrives_as_the_file_of_cases_says() {
    for (product, server) in servers() {
        let cases = cases(include_str!("../types/mysql.txt"), product);
        let database = Database::new(&server).await;
        database.run(&script(&cases)).await;
        let mut source = open(&database.url()).await;
        compare(source.as_mut(), &cases).await;
        drop(source);
        database.drop().await;
    }
}

#[tokio::test]
async fn floats_come_back_bit_for_bit() {
    for (_, server) in servers() {
        let database = Database::new(&server).await;
        let mut generator = fastrand::Rng::with_seed(7);
        let mut script = String::from("CREATE TABLE t (n INT PRIMARY KEY, f FLOAT, d DOUBLE);");
        let mut expected = Vec::new();
        for n in 0..400 {
            let single = f32::from_bits(generator.u32(..));
            // Within what DynamoDB holds, so that every double is a number.
            let double = f64::from_bits(generator.u64(..)).abs().log10().abs() % 100.0;
            let double = 10f64.powf(double - 50.0) * generator.f64();
            let single = if single.is_finite() { single } else { 1.5 };
            let wide = f64::from(single);
            writeln!(script, "INSERT INTO t VALUES ({n}, {wide:e}, {double:e});").unwrap();
            expected.push((single, double));
        }
        database.run(&script).await;
        let mut source = open(&database.url()).await;
        let catalog = source.catalog().await.unwrap();
        let rows = read_all(source.as_mut(), table(&catalog, "t")).await;
        for (row, (single, double)) in rows.iter().zip(expected) {
            let text = |index: usize| {
                let shown = shown(&row[index]);
                shown
                    .trim_matches(|c: char| !c.is_ascii_digit() && c != '-')
                    .to_owned()
            };
            assert_eq!(text(1).parse(), Ok(single));
            assert_eq!(text(2).parse(), Ok(double));
        }
        drop(source);
        database.drop().await;
    }
}

const SCHEMA: &str = r"
    CREATE TABLE Parent (id INT PRIMARY KEY, a INT NOT NULL, b VARCHAR(9) NOT NULL DEFAULT 'it''s',
        boss INT, c INT COMMENT 'a column''s', UNIQUE KEY ab (b, a), KEY by_c (c),
        FOREIGN KEY boss_fk (boss) REFERENCES Parent (id)) COMMENT 'who''s who';
    CREATE TABLE child (n INT, pa INT, pb VARCHAR(9), pc INT,
        twice INT GENERATED ALWAYS AS (n * 2) STORED, thrice INT AS (n * 3) VIRTUAL,
        at DATETIME DEFAULT CURRENT_TIMESTAMP, doc JSON, raw LONGTEXT, PRIMARY KEY (pb(3), n),
        CONSTRAINT both_fk FOREIGN KEY (pb, pa) REFERENCES Parent (b, a),
        CONSTRAINT loose_fk FOREIGN KEY (pc) REFERENCES Parent (c));
    ALTER TABLE Parent ADD top INT, ADD CONSTRAINT cycle_fk FOREIGN KEY (top) REFERENCES Parent (id);
    CREATE TABLE `select ``odd`` ключ 가` (`group by` INT PRIMARY KEY, `a.b` TEXT, `Ünï\\code` INT);
    CREATE TABLE parts (id INT PRIMARY KEY, v TEXT) PARTITION BY HASH (id) PARTITIONS 3;
    CREATE VIEW v AS SELECT id, b AS name, id + 1 AS next FROM Parent;
    CREATE VIEW broken AS SELECT id AS x FROM parts;
    INSERT INTO Parent (id, a, b, c) VALUES (1, 10, 'x', 5), (2, 20, 'y', 5);
    UPDATE Parent SET boss = 1 WHERE id = 2;
    INSERT INTO child (n, pa, pb, pc, doc, raw) VALUES (1, 10, 'x', 5, '{}', '{}'), (2, 20, 'y', 5, '[1]', '[1]');
    INSERT INTO `select ``odd`` ключ 가` VALUES (1, 'x', 2);
    INSERT INTO parts VALUES (1, 'p'), (2, 'q');
    RENAME TABLE parts TO pieces;
";

#[tokio::test]
async fn the_catalog_holds_keys_indexes_views_and_odd_names() {
    for (product, server) in servers() {
        let mut database = Database::new(&server).await;
        database.run(SCHEMA).await;
        let other = database.beside().await;
        let reference = format!(
            "CREATE TABLE {other}.far (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES {}.Parent (id))",
            database.name()
        );
        database.run(&reference).await;
        let mut source = open(&database.url()).await;
        let catalog = source.catalog().await.unwrap();
        let mariadb = product == "mariadb";
        let dbms = if mariadb { Dbms::Mariadb } else { Dbms::Mysql };
        assert_eq!((catalog.dbms, source.dbms()), (dbms, dbms));
        assert_eq!(catalog.search_path, [database.name()]);

        let parent = table(&catalog, "Parent");
        assert_eq!(parent.primary_key, ["id"]);
        assert_eq!(parent.comment.as_deref(), Some("who's who"));
        assert_eq!(parent.unique_keys[0].columns, ["b", "a"]);
        assert_eq!(
            parent.column("c").unwrap().comment.as_deref(),
            Some("a column's")
        );
        let b = parent.column("b").unwrap();
        assert_eq!((b.default.as_deref(), b.nullable), (Some("'it''s'"), false));
        assert_eq!(parent.column("c").unwrap().default, None);
        assert!(parent.indexes.iter().any(|i| i.name == "by_c" && !i.unique));
        assert!(parent.estimated_bytes > Some(0));
        let own: Vec<_> = parent
            .foreign_keys
            .iter()
            .map(|key| &key.references.name)
            .collect();
        assert_eq!(own, ["Parent", "Parent"]);

        let child = table(&catalog, "child");
        assert_eq!(child.primary_key, ["pb", "n"]);
        let both = child
            .foreign_keys
            .iter()
            .find(|key| key.name == "both_fk")
            .unwrap();
        assert_eq!(
            (&both.columns, &both.referenced_columns),
            (
                &vec!["pb".to_owned(), "pa".to_owned()],
                &vec!["b".to_owned(), "a".to_owned()]
            )
        );
        assert!(child.foreign_keys.iter().any(|key| key.name == "loose_fk"));
        for (name, expression) in [("twice", "2"), ("thrice", "3")] {
            let generated = child.column(name).unwrap().generated.clone();
            assert!(generated.unwrap().contains(expression));
        }
        assert_eq!(child.column("doc").unwrap().data_type, DataType::Json);
        assert_eq!(
            child.column("raw").unwrap().data_type,
            DataType::Text { max_chars: None }
        );
        assert!(
            child
                .column("at")
                .unwrap()
                .default
                .as_deref()
                .unwrap()
                .to_lowercase()
                .contains("current_timestamp")
        );

        let odd = table(&catalog, "select `odd` ключ 가");
        assert_eq!(odd.columns[2].name, r"Ünï\\code");
        assert_eq!(table(&catalog, "pieces").kind, TableKind::Partitioned);
        assert_eq!(table(&catalog, "v").kind, TableKind::View);
        assert_eq!(table(&catalog, "v").comment, None);
        assert!(!table(&catalog, "broken").readable);
        assert!(
            catalog.notices.iter().any(|n| n.contains("broken")),
            "{:?}",
            catalog.notices
        );
        let far = TableName {
            schema: other,
            name: "far".into(),
        };
        let far = catalog.table(&far).unwrap();
        assert_eq!(far.foreign_keys[0].references, parent.name);

        source.begin().await.unwrap();
        let ours = Catalog {
            tables: catalog
                .tables
                .iter()
                .filter(|t| t.name.schema == database.name())
                .cloned()
                .collect(),
            ..catalog.clone()
        };
        let (rows, unfit) = read_everything(source.as_mut(), &ours).await;
        assert_eq!((rows, unfit), (9, 0));
        drop(source);
        database.drop().await;
    }
}

#[tokio::test]
async fn a_reader_sees_what_was_granted_and_is_told_of_the_rest() {
    for (product, server) in servers() {
        let mut database = Database::new(&server).await;
        database.run(SCHEMA).await;
        let name = database.name().to_owned();
        let whole = database.user(&[&format!("SELECT ON {name}.*")]).await;
        let mut source = open(&whole).await;
        let catalog = source.catalog().await.unwrap();
        let child = table(&catalog, "child");
        assert_eq!(child.foreign_keys.len(), 2, "{product}");
        assert_eq!(child.column("doc").unwrap().data_type, DataType::Json);
        assert_eq!(catalog.notices.len(), 1, "{:?}", catalog.notices);
        source.begin().await.unwrap();
        assert_eq!(
            read_all(source.as_mut(), table(&catalog, "v")).await.len(),
            2
        );

        drop(source);

        let part = [
            format!("SELECT ON {name}.child"),
            format!("SELECT (id), UPDATE (v) ON {name}.pieces"),
        ];
        let part = database.user(&[&part[0], &part[1]]).await;
        let mut source = open(&part).await;
        let catalog = source.catalog().await.unwrap();
        let names: Vec<&str> = catalog
            .tables
            .iter()
            .map(|t| t.name.name.as_str())
            .collect();
        assert_eq!(names, ["child", "pieces"]);
        assert_eq!(table(&catalog, "pieces").columns.len(), 1);
        let told = catalog.notices.join("\n");
        assert!(told.contains(&format!("refers to {name}.Parent")), "{told}");
        assert!(told.contains("may not read the columns `v`"), "{told}");
        assert!(told.contains("was granted single tables"), "{told}");
        assert_eq!(
            read_all(source.as_mut(), table(&catalog, "pieces"))
                .await
                .len(),
            2
        );

        let mut scan = scan_of(table(&catalog, "child"));
        scan.from = Relation::Table(TableName {
            schema: name.clone(),
            name: "Parent".into(),
        });
        let Err(SourceError::Permission { object, help, .. }) = source.prepare(&scan).await else {
            panic!("not refused");
        };
        assert_eq!(object, format!("{name}.Parent"));
        assert!(
            help.contains(&format!("GRANT SELECT ON {name}.Parent TO 'u1_")),
            "{help}"
        );
        drop(source);
        database.drop().await;
    }
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
        assert!(source.describe("SELECT 1; SELECT 2").await.is_err());
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
                source.begin().await.unwrap();
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
async fn the_snapshot_does_not_see_what_is_written_later() {
    for (_, server) in servers() {
        let database = Database::new(&server).await;
        database
            .run("CREATE TABLE t (a INT); INSERT INTO t VALUES (1)")
            .await;
        let mut source = open(&database.url()).await;
        let catalog = source.catalog().await.unwrap();
        source.begin().await.unwrap();
        database.run("INSERT INTO t VALUES (2)").await;
        assert_eq!(
            read_all(source.as_mut(), table(&catalog, "t")).await.len(),
            1
        );
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
        source.begin().await.unwrap();
        let scan = scan_of(table(&catalog, "t"));
        assert_eq!(
            source.scan(&scan).try_next().await.unwrap().unwrap().len(),
            256
        );
        let chunks: Vec<_> = source.scan(&scan).try_collect().await.unwrap();
        let sizes: Vec<usize> = chunks.iter().map(Vec::len).collect();
        assert_eq!(sizes, [256, 256, 256, 232]);
        let scan = scan_of(table(&catalog, "big"));
        let chunks: Vec<_> = source.scan(&scan).try_collect().await.unwrap();
        assert_eq!(chunks.len(), 5);
        drop(source);
        database.drop().await;
    }
}

#[tokio::test]
async fn a_login_that_fails_says_what_to_do_and_no_secret() {
    for (_, server) in servers() {
        let mut database = Database::new(&server).await;
        let user = database.user(&[]).await;
        let mut wrong = user.clone();
        wrong.set_password(Some("Wr0ng%21")).unwrap();
        let mut nowhere = server.clone();
        nowhere.set_path("no_such_database");
        let mut closed = server.clone();
        closed.set_port(Some(1)).unwrap();
        let mut unknown = server.clone();
        unknown.set_host(Some("no-such-host.invalid")).unwrap();
        for (url, words) in [
            (wrong, "refuses this user or password"),
            (user, "may not use the database"),
            (nowhere, "no database of this name"),
            (closed, "nothing listens there"),
            (unknown, "name is not known"),
        ] {
            let error = connect(url.as_str()).await.err().unwrap();
            assert!(error.help().unwrap().contains(words), "{error:?}");
            let said = format!("{error} {error:?} {:?}", error.help());
            for secret in ["S3cret", "Wr0ng", server.password().unwrap()] {
                assert!(!said.contains(secret), "{said}");
            }
        }
        let url = server.as_str().replacen("mysql:", "mariadb:", 1);
        let source = connect(&url).await.unwrap();
        drop(source);
        let no_database = server.join("/").unwrap();
        let mut source = connect(no_database.as_str()).await.unwrap();
        assert!(source.catalog().await.unwrap().search_path.is_empty());
        drop(source);
        database.drop().await;
    }
}

#[tokio::test]
async fn published_databases_read_in_full() {
    let Some(datasets) = folder() else { return };
    for (product, server) in servers() {
        for (name, files, rows) in [
            ("Chinook", vec!["chinook/Chinook_MySql.sql.gz"], 15_607),
            (
                "sakila",
                vec![
                    "sakila-mysql/01-sakila-schema.sql.gz",
                    "sakila-mysql/02-sakila-data.sql.gz",
                ],
                47_273,
            ),
        ] {
            let database = Database::new(&server).await;
            for file in files {
                database.load(&datasets.join(file), name, "");
            }
            let mut source = open(&database.url()).await;
            let mut catalog = source.catalog().await.unwrap();
            catalog
                .tables
                .retain(|table| table.name.schema == database.name());
            // MariaDB itself takes a quarter of a minute for this one.
            catalog
                .tables
                .retain(|table| table.name.name != "sales_by_store");
            source.begin().await.unwrap();
            read_everything(source.as_mut(), &catalog).await;
            catalog
                .tables
                .retain(|table| table.kind == TableKind::Table);
            let read = read_everything(source.as_mut(), &catalog).await;
            assert_eq!(read, (rows, 0), "{product} {name}");
            let unread = catalog.tables.iter().find(|table| !table.readable);
            assert_eq!(unread, None);
            drop(source);
            database.drop().await;
        }
    }
}
