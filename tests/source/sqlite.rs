//! The SQLite source against real files.

use dynafold::catalog::{Catalog, DataType, ReferentialAction, Table, TableKind, TableName};
use dynafold::scan::{Join, Match, Range, RangeKey, Relation, Scan, ScanColumn};
use dynafold::source::{Source, SourceError, connect};
use dynafold::value::Value;

use crate::support::datasets::folder;
use crate::support::sqlite::{Database, settled, ticked};
use crate::support::types::{
    cases, columns_of, compare, compare_relations, read_all, read_everything, rows_of, scan_of,
    script, shown,
};

async fn open(database: &Database) -> Box<dyn Source> {
    connect(&database.url()).await.unwrap()
}

fn table<'c>(catalog: &'c Catalog, name: &str) -> &'c Table {
    catalog
        .find(name)
        .unwrap_or_else(|| panic!("no table {name}"))
}

fn whole(name: &str) -> Relation {
    Relation::Table(TableName {
        schema: "main".into(),
        name: name.into(),
    })
}

#[tokio::test]
async fn every_type_arrives_as_the_file_of_cases_says() {
    let file = include_str!("../types/sqlite.txt");
    let cases = cases(file, &[]);
    let database = Database::new(&script(file, &cases)).await;
    let mut source = open(&database).await;
    compare(source.as_mut(), &cases).await;
    compare_relations(source.as_mut(), &cases).await;
}

#[tokio::test]
async fn a_utf16_file_reads_like_any_other() {
    let script = "PRAGMA encoding = 'UTF-16le'; CREATE TABLE t (a TEXT, b JSON);
        INSERT INTO t VALUES ('가😀é', '{\"k\":\"ü\"}')";
    let database = Database::new(script).await;
    let mut source = open(&database).await;
    let catalog = source.catalog().await.unwrap();
    let rows = read_all(source.as_mut(), table(&catalog, "t")).await;
    assert_eq!(shown(&rows[0][0]), r#"{"S":"가😀é"}"#);
    assert_eq!(shown(&rows[0][1]), r#"{"M":{"k":{"S":"ü"}}}"#);
    let collation = |column| {
        table(&catalog, "t")
            .column(column)
            .unwrap()
            .collation
            .clone()
    };
    assert_eq!(collation("a").as_deref(), Some("BINARY of UTF-16le"));
    assert_eq!(collation("b"), None);
}

#[tokio::test]
async fn collations_are_in_the_catalog_where_they_do_not_sort_by_bytes() {
    let database = Database::new(
        "CREATE TABLE t (a TEXT COLLATE NOCASE, b TEXT, c TEXT COLLATE binary, d INTEGER, \"e f\"
            VARCHAR(5) NOT NULL COLLATE 'RTRIM')",
    )
    .await;
    let catalog = open(&database).await.catalog().await.unwrap();
    let collation = |column| {
        table(&catalog, "t")
            .column(column)
            .unwrap()
            .collation
            .clone()
    };
    assert_eq!(collation("a").as_deref(), Some("NOCASE"));
    assert_eq!(collation("e f").as_deref(), Some("RTRIM"));
    assert_eq!(
        (collation("b"), collation("c"), collation("d")),
        (None, None, None)
    );
}

/// SQLite compares by the last collation of a column, however it is written.
#[tokio::test]
async fn sqlite_itself_says_the_collation_of_a_column() {
    let database = Database::new(
        "CREATE TABLE t (\"a\"TEXT COLLATE NOCASE, 'b' TEXT COLLATE NOCASE, c/**/TEXT COLLATE NOCASE,
            d TEXT COLLATE\"NOCASE\", e TEXT COLLATE/**/NOCASE, f TEXT COLLATE BINARY COLLATE NOCASE,
            g TEXT COLLATE NOCASE COLLATE BINARY, h INT COLLATE RTRIM, i AS (a = b),
            UNIQUE (a COLLATE BINARY), PRIMARY KEY (b COLLATE BINARY)) WITHOUT ROWID;
         CREATE TABLE own (a TEXT, b TEXT COLLATE NOCASE, c TEXT, UNIQUE (a), UNIQUE (c));
         CREATE VIEW v AS SELECT a, g, max(h) AS most FROM t GROUP BY a, g;
         PRAGMA writable_schema = ON;
         UPDATE sqlite_schema SET sql = replace(sql, 'c TEXT', 'c TEXT COLLATE GERMAN') WHERE name = 'own'",
    )
    .await;
    let catalog = open(&database).await.catalog().await.unwrap();
    let reported = |name: &str| -> Vec<String> {
        let columns = table(&catalog, name).columns.iter();
        let reported = columns.map(|column| {
            let collation = column.collation.as_deref().unwrap_or("-");
            assert_eq!(
                column.insensitive,
                collation != "-",
                "{name} {}",
                column.name
            );
            format!("{} {collation}", column.name)
        });
        reported.collect()
    };
    assert_eq!(
        reported("t"),
        [
            "a NOCASE", "b NOCASE", "c NOCASE", "d NOCASE", "e NOCASE", "f NOCASE", "g -",
            "h RTRIM", "i -"
        ]
    );
    assert_eq!(reported("own"), ["a -", "b NOCASE", "c GERMAN"]);
    assert_eq!(reported("v"), ["a NOCASE", "g -", "most -"]);
    let keys = |name: &str| {
        let table = table(&catalog, name);
        (table.primary_key.len(), table.unique_keys.len())
    };
    assert_eq!(keys("t"), (0, 0));
}

/// What was proved of one schema does not hold of the rows of another.
#[tokio::test]
async fn a_schema_that_changes_before_the_snapshot_is_refused() {
    let database =
        Database::new("CREATE TABLE t (a TEXT NOT NULL); CREATE UNIQUE INDEX once ON t (a)").await;
    let mut source = open(&database).await;
    source.catalog().await.unwrap();
    database
        .run("DROP INDEX once; INSERT INTO t VALUES ('x'), ('x')")
        .await;
    let error = source.begin(&[]).await.unwrap_err();
    assert!(matches!(error, SourceError::Moved { .. }), "{error}");
    drop(source);
    let mut source = open(&database).await;
    source.catalog().await.unwrap();
    database.run("INSERT INTO t VALUES ('x')").await;
    source.begin(&[]).await.unwrap();
}

#[cfg(unix)]
#[tokio::test]
async fn what_is_done_to_a_file_past_sqlite_is_told() {
    let rows = "CREATE TABLE t (id INTEGER PRIMARY KEY); INSERT INTO t VALUES (1), (2)";
    let database = Database::new(rows).await;
    let file = &database.file();
    let moved = |result: Result<(), SourceError>| match result {
        Err(SourceError::Moved { what }) => what,
        other => panic!("{other:?}"),
    };
    let mut source = open(&database).await;
    source.begin(&[]).await.unwrap();
    source.confirm().await.unwrap();
    std::fs::write(file, std::fs::read(file).unwrap()).unwrap();
    let what = moved(source.confirm().await);
    assert!(what.contains("written to while"), "{what}");
    drop(source);

    let mut source = open(&database).await;
    let other = file.with_extension("other");
    std::fs::copy(file, &other).unwrap();
    std::fs::rename(&other, file).unwrap();
    let what = moved(source.begin(&[]).await);
    assert!(what.contains("another file"), "{what}");
}

/// SQLite keeps what it has read of a file whose counter is the same, which a copy's may be.
#[tokio::test]
async fn a_file_that_was_written_over_before_the_snapshot_is_read_afresh() {
    let with = |journal: &str, index: &str, rows: &str| {
        format!(
            "PRAGMA journal_mode = {journal}; CREATE TABLE t (a TEXT NOT NULL); CREATE {index} once ON t (a);
             INSERT INTO t VALUES {rows}"
        )
    };
    for (journal, index, rows, reported) in [
        ("DELETE", "INDEX", "('z'), ('z')", "the keys of t changed"),
        ("DELETE", "UNIQUE INDEX", "('z'), ('w')", ""),
        ("WAL", "INDEX", "('z'), ('z')", "the keys of t changed"),
        ("WAL", "UNIQUE INDEX", "('z'), ('w')", ""),
    ] {
        let database = Database::new(&with(journal, "UNIQUE INDEX", "('x'), ('y')")).await;
        let file = database.file();
        let other = with(journal, index, rows);
        let other = Database::new(&other).await;
        let mut source = open(&database).await;
        let catalog = source.catalog().await.unwrap();
        let scan = scan_of(table(&catalog, "t"));
        assert_eq!(source.count(&scan.from).await.unwrap(), 2);
        ticked(&file);
        std::fs::write(&file, std::fs::read(other.file()).unwrap()).unwrap();
        match source.begin(&[&scan]).await {
            Ok(()) => {
                assert_eq!(reported, "");
                let rows = rows_of(source.as_mut(), &scan).await;
                let rows: Vec<String> = rows.iter().map(|row| shown(&row[0])).collect();
                assert_eq!(rows, [r#"{"S":"z"}"#, r#"{"S":"w"}"#]);
                source.confirm().await.unwrap();
            }
            Err(error) => {
                let error = error.to_string();
                assert!(
                    !reported.is_empty() && error.starts_with(reported),
                    "{error}"
                );
            }
        }
    }
}

/// Neither a new file under the name, nor another name or other rights of the file, is anything written to it.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn what_is_done_to_the_name_of_a_file_is_no_fault() {
    let database = Database::new("CREATE TABLE t (a INT); INSERT INTO t VALUES (1)").await;
    let file = database.file();
    let (other, link) = (file.with_extension("other"), file.with_extension("link"));
    let mut source = open(&database).await;
    source.begin(&[]).await.unwrap();
    let rights = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(&file, rights).unwrap();
    std::fs::hard_link(&file, &link).unwrap();
    source.confirm().await.unwrap();
    std::fs::copy(&file, &other).unwrap();
    std::fs::rename(&other, &file).unwrap();
    source.confirm().await.unwrap();
    // The file that is read is the one under the other name now.
    ticked(&link);
    std::fs::write(&link, std::fs::read(&file).unwrap()).unwrap();
    let error = source.confirm().await.unwrap_err().to_string();
    assert!(error.contains("written to while"), "{error}");
}

/// What is written under another name of the file is in the log of that name.
#[cfg(unix)]
#[tokio::test]
async fn a_file_with_two_names_is_refused() {
    let database = Database::new(
        "PRAGMA journal_mode = WAL; CREATE TABLE t (a INT); INSERT INTO t VALUES (1)",
    )
    .await;
    let second = database.folder().join("second.db");
    std::fs::hard_link(database.file(), &second).unwrap();
    for file in [database.file(), second.clone()] {
        let error = connect(&format!("sqlite:{}", file.display()))
            .await
            .err()
            .unwrap();
        let SourceError::Connect { help, cause, .. } = error else {
            panic!("{error}");
        };
        assert!(
            cause.to_string().contains("2 names (hard links)"),
            "{cause}"
        );
        assert!(help.contains("VACUUM INTO"), "{help}");
    }
    std::fs::remove_file(second).unwrap();
    open(&database).await.catalog().await.unwrap();
}

const SCHEMA: &str = r#"
    CREATE TABLE Parent (id INTEGER PRIMARY KEY, Code TEXT NOT NULL UNIQUE, boss INT REFERENCES parent);
    CREATE TABLE child (
        parent_code TEXT REFERENCES PARENT(code) ON DELETE CASCADE,
        n INT, at DATETIME DEFAULT CURRENT_TIMESTAMP,
        twice INT GENERATED ALWAYS AS (n * 2) STORED,
        shout TEXT AS (upper(parent_code)),
        PRIMARY KEY (n, parent_code)
    ) WITHOUT ROWID;
    CREATE TABLE pair (a INT, b TEXT, FOREIGN KEY (a, b) REFERENCES child (n, parent_code),
        FOREIGN KEY (a) REFERENCES gone (x) ON DELETE SET DEFAULT);
    CREATE TABLE "select ""odd"" `가`" ("group by" INT PRIMARY KEY, "ключ" TEXT COLLATE NOCASE);
    CREATE UNIQUE INDEX once ON pair (b) WHERE a > 1;
    CREATE INDEX expr ON pair (lower(b), a);
    CREATE UNIQUE INDEX plain ON pair (a, b);
    CREATE VIEW v AS SELECT id, Code AS c, id + 1 AS next FROM Parent;
    CREATE VIEW broken AS SELECT * FROM nowhere;
    CREATE VIRTUAL TABLE words USING fts5(body);
    INSERT INTO Parent VALUES (1, 'one', NULL), (2, 'two', 1);
    INSERT INTO child (parent_code, n) VALUES ('one', 5), ('two', 6);
    INSERT INTO "select ""odd"" `가`" VALUES (1, 'x');
    INSERT INTO words VALUES ('hello');
"#;

#[tokio::test]
async fn the_catalog_holds_keys_indexes_views_and_odd_names() {
    let database = Database::new(SCHEMA).await;
    let mut source = open(&database).await;
    let catalog = source.catalog().await.unwrap();
    let names: Vec<&str> = catalog
        .tables
        .iter()
        .map(|t| t.name.name.as_str())
        .collect();
    let odd = "select \"odd\" `가`";
    assert_eq!(
        names,
        ["Parent", "broken", "child", "pair", odd, "v", "words"]
    );
    assert_eq!(catalog.database, "shop.db");

    let parent = table(&catalog, "Parent");
    assert_eq!(parent.primary_key, ["id"]);
    assert_eq!(parent.estimated_rows, Some(2));
    assert_eq!(parent.unique_keys[0].columns, ["Code"]);
    assert_eq!(parent.foreign_keys[0].references.name, "Parent");
    assert_eq!(parent.foreign_keys[0].referenced_columns, ["id"]);

    let child = table(&catalog, "child");
    assert_eq!(child.primary_key, ["n", "parent_code"]);
    assert_eq!(child.foreign_keys[0].name, "child_parent_code_fkey");
    assert_eq!(child.foreign_keys[0].referenced_columns, ["Code"]);
    let generated = |name| child.column(name).unwrap().generated.as_deref();
    assert_eq!(generated("twice"), Some("n * 2"));
    assert_eq!(generated("shout"), Some("upper(parent_code)"));
    assert_eq!(child.column("twice").unwrap().declared, "INT");
    let at = child.column("at").unwrap();
    assert_eq!(at.default.as_deref(), Some("CURRENT_TIMESTAMP"));

    let pair = table(&catalog, "pair");
    let keys: Vec<_> = pair
        .foreign_keys
        .iter()
        .map(|k| (&*k.name, &*k.references.name))
        .collect();
    assert_eq!(keys, [("pair_a_b_fkey", "child"), ("pair_a_fkey", "gone")]);
    let rule = |table: &Table, at: usize| table.foreign_keys[at].on_delete;
    assert_eq!(rule(parent, 0), ReferentialAction::NoAction);
    assert_eq!(rule(child, 0), ReferentialAction::Cascade);
    assert_eq!(rule(pair, 1), ReferentialAction::SetDefault);
    assert_eq!(pair.unique_keys.len(), 1);
    assert_eq!(pair.unique_keys[0].name, "plain");
    assert_eq!(pair.indexes[0].columns, ["lower(b)", "a"]);
    assert!(pair.indexes[1].unique);

    assert_eq!(table(&catalog, odd).columns[1].name, "ключ");
    assert_eq!(table(&catalog, "v").kind, TableKind::View);
    assert!(!table(&catalog, "broken").readable);
    assert_eq!(catalog.notices.len(), 1, "{:?}", catalog.notices);
    assert_eq!(table(&catalog, "words").columns.len(), 1);

    source.begin(&[]).await.unwrap();
    let (rows, unfit) = read_everything(source.as_mut(), &catalog).await;
    assert_eq!((rows, unfit), (8, 0));
}

#[tokio::test]
async fn joins_conditions_and_limits_are_the_databases_work() {
    let database = Database::new(SCHEMA).await;
    let mut source = open(&database).await;
    let text = DataType::Text { max_chars: None };
    let mut scan = Scan {
        columns: vec![
            ScanColumn::base("n", DataType::Dynamic),
            ScanColumn::Column {
                join: Some(0),
                name: "Code".into(),
                data_type: text,
            },
        ],
        joins: vec![Join {
            alias: "p".into(),
            table: TableName {
                schema: "main".into(),
                name: "Parent".into(),
            },
            on: vec![Match {
                join: None,
                ours: "parent_code".into(),
                theirs: "Code".into(),
            }],
            is_single: true,
        }],
        conditions: vec![
            "n = 6 -- six".into(),
            "p.boss IS NULL".into(),
            "NULL".into(),
        ],
        ..Scan::of(whole("child"), Vec::new())
    };
    let shown_rows = |rows: Vec<dynafold::source::Row>| -> Vec<String> {
        let rows = rows
            .iter()
            .map(|row| row.iter().map(shown).collect::<Vec<_>>().join(" "));
        rows.collect()
    };
    let no = r#"{"BOOL":false}"#;
    let yes = r#"{"BOOL":true}"#;
    assert_eq!(
        shown_rows(rows_of(source.as_mut(), &scan).await),
        [
            format!(r#"{{"N":"5"}} {{"S":"one"}} {no} {yes} {no}"#),
            format!(r#"{{"N":"6"}} {{"S":"two"}} {yes} {no} {no}"#),
        ]
    );
    scan.conditions = vec!["n > 5".into()];
    assert_eq!(rows_of(source.as_mut(), &scan).await.len(), 1);
    scan.keep_unmatched = true;
    assert_eq!(rows_of(source.as_mut(), &scan).await.len(), 2);
    scan.limit = Some(1);
    scan.columns.clear();
    scan.conditions.clear();
    let rows = rows_of(source.as_mut(), &scan).await;
    assert_eq!((rows.len(), rows[0].len()), (1, 0));
}

#[tokio::test]
async fn a_quoted_name_in_a_condition_is_a_column_and_never_a_text() {
    let database = Database::new(
        r#"CREATE TABLE p (id INT PRIMARY KEY, title TEXT);
        CREATE TABLE c (id INT PRIMARY KEY, p_id INT, v TEXT, "say ""a"" `b`" TEXT);
        INSERT INTO p VALUES (1, 'a');
        INSERT INTO c VALUES (1, 1, 'x', '"v"'), (2, 2, 'y', ''), (3, 1, 'a', 'z')"#,
    )
    .await;
    let mut source = open(&database).await;
    let catalog = source.catalog().await.unwrap();
    let name = |name: &str| table(&catalog, name).name.clone();
    let scan = |condition: &str| Scan {
        joins: vec![Join {
            alias: "p".into(),
            table: name("p"),
            on: vec![Match {
                join: None,
                ours: "p_id".into(),
                theirs: "id".into(),
            }],
            is_single: true,
        }],
        conditions: vec![condition.to_owned()],
        ..scan_of(table(&catalog, "c"))
    };
    for (condition, why) in [
        (r#""title" = 'a'"#, "no such column: title"),
        (r#"v = "x""#, "no such column: x"),
        (r#"p.title = "a""#, "no such column: a"),
        ("[title] = 'a'", "no such column: title"),
        ("`title` = 'a'", "no such column: title"),
        (
            r#"v -- "id
            = "x""#,
            "no such column: x",
        ),
        (r#"id IN (SELECT "idd" FROM p)"#, "no such column: idd"),
    ] {
        let refused = source.prepare(&scan(condition)).await;
        let Err(SourceError::Query { cause, .. }) = refused else {
            panic!("{condition}: {refused:?}");
        };
        assert!(cause.to_string().contains(why), "{condition}: {cause}");
    }
    for (condition, rows) in [
        (r#""v" = 'x' /* "no" ' */ OR "c"."v" = 'a'"#, 2),
        (r#""p"."title" = 'a'"#, 2),
        (r#""say ""a"" `b`" = '"v"'"#, 1),
        (r#""rowid" = 1 OR [v] = 'it''s "v"'"#, 1),
        (
            r#"id IN (SELECT "id" AS "one" FROM "p" ORDER BY "one" COLLATE "nocase")"#,
            1,
        ),
        (r#"`say "a" ``b``` = 'z' OR [say "] = 1"#, 0),
    ] {
        let scan = scan(condition);
        if rows > 0 {
            assert_eq!(
                rows_of(source.as_mut(), &scan).await.len(),
                rows,
                "{condition}"
            );
        } else {
            assert!(source.prepare(&scan).await.is_err(), "{condition}");
        }
    }
}

#[tokio::test]
async fn a_query_is_described_counted_and_read() {
    let database = Database::new(SCHEMA).await;
    let mut source = open(&database).await;
    let sql = "SELECT c.at, c.n AS number, 1 + 1 AS two FROM child c ; ";
    let twice = source.describe_answer("SELECT c.n, c.n FROM child c");
    let twice = twice.await.unwrap();
    assert!(twice.iter().all(|column| column.name == "n"), "{twice:?}");
    let columns = source.describe(sql).await.unwrap();
    let types: Vec<_> = columns.iter().map(|c| (&*c.name, &c.data_type)).collect();
    let at = DataType::Timestamp {
        digits: 0,
        zone: false,
    };
    let integer = DataType::Integer {
        bits: 64,
        unsigned: false,
    };
    assert_eq!(
        types,
        [
            ("at", &at),
            ("number", &integer),
            ("two", &DataType::Dynamic)
        ]
    );
    let from = Relation::Query(sql.into());
    assert_eq!(source.count(&from).await.unwrap(), 2);
    let scan = Scan {
        from,
        columns: columns_of(&columns),
        ..scan_of(&source.catalog().await.unwrap().tables[0])
    };
    let rows = rows_of(source.as_mut(), &scan).await;
    assert_eq!(shown(&rows[1][1]), r#"{"N":"6"}"#);
    assert_eq!(shown(&rows[1][2]), r#"{"N":"2"}"#);
}

#[tokio::test]
async fn values_against_their_declared_type_are_counted() {
    let script = "CREATE TABLE t (a DATETIME, b BOOLEAN, c TEXT);
        INSERT INTO t VALUES ('2020-01-01 00:00:00', 1, 'x'), ('soon', 7, 'y'), (12, NULL, x'00')";
    let database = Database::new(script).await;
    let mut source = open(&database).await;
    let catalog = source.catalog().await.unwrap();
    for _ in 0..2 {
        read_all(source.as_mut(), table(&catalog, "t")).await;
        assert_eq!(
            source.warnings(),
            [
                "column `a` of t: 2 values read are not a time, although the column is declared so; they were read as stored",
                "column `b` of t: 1 value read is not a boolean, although the column is declared so; it was read as stored",
                "column `c` of t: 1 value read is not text, although the column is declared so; it was read as stored",
            ]
        );
    }
}

#[tokio::test]
async fn the_snapshot_does_not_see_what_is_written_later() {
    let script = "PRAGMA journal_mode = WAL; CREATE TABLE t (a INT); INSERT INTO t VALUES (1)";
    let database = Database::new(script).await;
    let mut source = open(&database).await;
    source.begin(&[]).await.unwrap();
    let writer = database.writer().await;
    let _writer = database.run_on(writer, "INSERT INTO t VALUES (2)").await;
    assert_eq!(source.count(&whole("t")).await.unwrap(), 1);
    drop(source);
    let mut source = open(&database).await;
    assert_eq!(source.count(&whole("t")).await.unwrap(), 2);
}

#[tokio::test]
async fn half_a_surrogate_pair_is_unfit_and_no_other_character() {
    for (encoding, texts) in [
        (
            "UTF-16le",
            [
                "00d84100",
                "410000d8",
                "00dc4100",
                "d8d8",
                "3dd800de4100",
                "fdff",
            ],
        ),
        (
            "UTF-16be",
            [
                "d8000041",
                "0041d800",
                "dc000041",
                "d8d8",
                "d83dde000041",
                "fffd",
            ],
        ),
    ] {
        let values = texts
            .map(|text| format!("(CAST(x'{text}' AS TEXT))"))
            .join(", ");
        let script = format!(
            "PRAGMA encoding = '{encoding}'; CREATE TABLE t (v TEXT); INSERT INTO t VALUES {values}, (NULL), (7)"
        );
        let database = Database::new(&script).await;
        let mut source = open(&database).await;
        let scan = scan_of(&source.catalog().await.unwrap().tables[0]);
        let rows = rows_of(source.as_mut(), &scan).await;
        let values: Vec<&Value> = rows.iter().map(|row| &row[0]).collect();
        let unfit = |value: &&&Value| matches!(value, Value::Unfit { .. });
        assert_eq!(values.iter().take_while(unfit).count(), 4, "{values:?}");
        let sound: Vec<String> = values[4..].iter().map(|value| shown(value)).collect();
        let expected = [
            r#"{"S":"😀A"}"#,
            "{\"S\":\"\u{fffd}\"}",
            "absent",
            r#"{"S":"7"}"#,
        ];
        assert_eq!(sound, expected);
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_link_to_a_file_has_the_log_of_the_file() {
    let database = Database::new(
        "PRAGMA journal_mode = WAL; CREATE TABLE t (a INT); INSERT INTO t VALUES (1)",
    )
    .await;
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("link.db");
    std::os::unix::fs::symlink(database.file(), &link).unwrap();
    let stamp = async || {
        settled(&database.file());
        let mut source = connect(&format!("sqlite:{}", link.display()))
            .await
            .unwrap();
        source.begin(&[]).await.unwrap();
        source.identity().await.unwrap()
    };
    let writer = database.writer().await;
    let writer = database.run_on(writer, "INSERT INTO t VALUES (2)").await;
    let before = stamp().await;
    assert!(before.name.ends_with("shop.db"), "{}", before.name);
    let _writer = database.run_on(writer, "UPDATE t SET a = 3").await;
    // The administrator's SQLite touches the log when it opens it, which leaves no stamp.
    let after = stamp().await.stamp;
    assert!(after.is_none() || after != before.stamp, "{after:?}");
}

#[tokio::test]
async fn nothing_can_be_written_or_made() {
    let database = Database::new("CREATE TABLE t (a INT)").await;
    let mut source = open(&database).await;
    let mut scan = scan_of(&source.catalog().await.unwrap().tables[0]);
    scan.conditions = vec!["1); INSERT INTO t VALUES (1); SELECT (1".into()];
    let written = futures_util::TryStreamExt::try_collect::<Vec<_>>(source.scan(&scan)).await;
    assert!(
        matches!(written, Err(SourceError::Query { .. })),
        "{written:?}"
    );
    assert_eq!(source.count(&whole("t")).await.unwrap(), 0);

    let missing = database.folder().join("missing.db");
    let error = connect(&format!("sqlite:{}", missing.display()))
        .await
        .err()
        .unwrap();
    assert!(matches!(error, SourceError::Connect { .. }), "{error:?}");
    assert!(error.help().unwrap().contains("no such file"), "{error:?}");
    assert!(!missing.exists());
}

#[tokio::test]
async fn what_is_no_database_is_told_so() {
    let database = Database::new("CREATE TABLE t (a INT)").await;
    let help = async |url: String| {
        let error = connect(&url).await.err().unwrap();
        error.help().unwrap().to_owned()
    };
    let folder = database.folder();
    assert!(
        help(format!("sqlite:{}", folder.display()))
            .await
            .contains("a folder")
    );
    let text = folder.join("notes.txt");
    std::fs::write(&text, "these are notes, not a database; ".repeat(100)).unwrap();
    let found = help(format!("sqlite://{}?mode=rwc", text.display())).await;
    assert!(found.contains("not a SQLite 3 database"), "{found}");
    for url in ["sqlite::memory:", "sqlite:", "sqlite://?mode=memory"] {
        assert!(
            matches!(connect(url).await, Err(SourceError::Url(_))),
            "{url}"
        );
    }
}

#[tokio::test]
async fn a_bad_condition_is_found_before_the_run() {
    let database = Database::new("CREATE TABLE t (a INT)").await;
    let mut source = open(&database).await;
    let mut scan = scan_of(&source.catalog().await.unwrap().tables[0]);
    for condition in ["b = 1", "a =", "a = 1) OR (1"] {
        scan.conditions = vec![condition.into()];
        let found = source.prepare(&scan).await;
        let refused = matches!(found, Err(SourceError::Query { .. }));
        assert!(
            refused || condition.contains(") OR ("),
            "{condition}: {found:?}"
        );
    }
}

#[tokio::test]
async fn published_databases_read_in_full() {
    let Some(datasets) = folder() else { return };
    for (file, expected) in [
        ("chinook/Chinook_Sqlite.sqlite", 15_607),
        ("northwind/northwind.sqlite", 0),
    ] {
        let mut source = connect(&format!("sqlite:{}/{file}", datasets.display()))
            .await
            .unwrap();
        let catalog = source.catalog().await.unwrap();
        source.begin(&[]).await.unwrap();
        let (rows, unfit) = read_everything(source.as_mut(), &catalog).await;
        println!(
            "{file}: {rows} rows; {:?}; {:?}",
            catalog.notices,
            source.warnings()
        );
        assert_eq!(unfit, 0, "{file}");
        assert!(rows >= expected, "{file}: {rows} rows");
    }
}

#[tokio::test]
async fn values_against_their_declared_type_are_summed_over_the_parts_of_a_table() {
    let script = "CREATE TABLE t (id INTEGER PRIMARY KEY, a DATETIME);
        INSERT INTO t VALUES (1, 'soon'), (2, 'later'), (3, '2020-01-01 00:00:00'), (4, 'never')";
    let database = Database::new(script).await;
    let mut source = open(&database).await;
    let catalog = source.catalog().await.unwrap();
    let part = |after: Option<&str>, to: Option<&str>| Scan {
        range: Some(Range {
            by: RangeKey::Key(vec!["id".to_owned()]),
            after: after.map(|bound| vec![bound.to_owned()]),
            to: to.map(|bound| vec![bound.to_owned()]),
        }),
        ..scan_of(table(&catalog, "t"))
    };
    // Read twice, as where the keys are proved first.
    for _ in 0..2 {
        for scan in [part(None, Some("2")), part(Some("2"), None)] {
            rows_of(source.as_mut(), &scan).await;
        }
    }
    assert_eq!(
        source.warnings(),
        [
            "column `a` of t: 3 values read are not a time, although the column is declared so; they were read as stored"
        ]
    );
}

#[tokio::test]
async fn what_checks_list_and_how_many_values_there_are_is_in_the_catalog() {
    let script = "CREATE TABLE t (id INTEGER PRIMARY KEY, state TEXT CHECK (state IN ('open', 'it''s')), kind TEXT, more TEXT);
         CREATE INDEX kinds ON t (kind, id); CREATE INDEX some ON t (more) WHERE more = 'x';
         INSERT INTO t WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 500)
            SELECT n, 'open', 'k' || (n % 7), 'x' FROM n;";
    for (more, distinct) in [("", None), ("ANALYZE", Some(7))] {
        let database = Database::new(&format!("{script} {more}")).await;
        let catalog = open(&database).await.catalog().await.unwrap();
        let column = |name| table(&catalog, "t").column(name).unwrap();
        assert_eq!(column("state").listed, ["open", "it's"]);
        assert_eq!(column("kind").distinct, distinct, "{more}");
        // A partial index holds some of the rows.
        assert_eq!(column("more").distinct, None);
    }
}
