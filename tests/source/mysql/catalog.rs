//! What the catalog says, to whoever may see all of it or a part.

use dynafold::catalog::{Catalog, DataType, Dbms, ReferentialAction, TableKind, TableName};
use dynafold::claim::ClaimKind;
use dynafold::mapping::{Described, Raw, resolve};
use dynafold::scan::Relation;
use dynafold::source::SourceError;

use super::{open, table};
use crate::support::mysql::{Database, servers};
use crate::support::types::{read_all, read_everything, scan_of};

// MySQL 8.4 and later want a unique key behind a foreign key, unless they are told otherwise.
const SCHEMA: &str = r"
    SET foreign_key_checks = 1 /*!80400 , restrict_fk_on_non_standard_key = OFF */;
    CREATE TABLE Parent (id INT PRIMARY KEY, a INT NOT NULL, b VARCHAR(9) NOT NULL DEFAULT 'it''s',
        boss INT, c INT COMMENT 'a column''s', UNIQUE KEY ab (b, a), KEY by_c (c),
        FOREIGN KEY boss_fk (boss) REFERENCES Parent (id)) COMMENT 'who''s who';
    CREATE TABLE child (n INT, pa INT, pb VARCHAR(9), pc INT,
        twice INT GENERATED ALWAYS AS (n * 2) STORED, thrice INT AS (n * 3) VIRTUAL,
        at DATETIME DEFAULT CURRENT_TIMESTAMP, doc JSON, raw LONGTEXT, PRIMARY KEY (pb(3), n),
        CONSTRAINT both_fk FOREIGN KEY (pb, pa) REFERENCES Parent (b, a) ON DELETE CASCADE,
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
        let mut own = parent.foreign_keys.iter();
        assert!(own.len() == 2 && own.all(|key| key.references.name == "Parent"));

        let child = table(&catalog, "child");
        assert_eq!(child.primary_key, ["pb", "n"]);
        let key = |name| child.foreign_keys.iter().find(|key| key.name == name);
        let both = key("both_fk").unwrap();
        assert_eq!(
            (&both.columns, &both.referenced_columns),
            (
                &vec!["pb".to_owned(), "pa".to_owned()],
                &vec!["b".to_owned(), "a".to_owned()]
            )
        );
        assert_eq!(both.on_delete, ReferentialAction::Cascade);
        assert_eq!(
            key("loose_fk").unwrap().on_delete,
            ReferentialAction::NoAction
        );
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

        source.begin(&[]).await.unwrap();
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
        source.begin(&[]).await.unwrap();
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
        let reported = catalog.notices.join("\n");
        assert!(
            reported.contains(&format!("refers to {name}.Parent")),
            "{reported}"
        );
        let hidden = format!(
            "{name}.pieces has columns that this user may not read: v; let an administrator GRANT"
        );
        assert!(reported.contains(&hidden), "{reported}");
        assert!(
            reported.contains("has access only to some tables"),
            "{reported}"
        );
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
async fn a_grant_on_columns_hides_the_others_and_the_keys_that_have_them() {
    for (product, server) in servers() {
        let mut database = Database::new(&server).await;
        database
            .run(
                "CREATE TABLE pairs (a INT, b INT, v INT, PRIMARY KEY (a, b), UNIQUE (v, b));
                 CREATE TABLE uses (id INT PRIMARY KEY, x INT, y INT, own INT,
                     FOREIGN KEY (x, y) REFERENCES pairs (a, b), FOREIGN KEY (own) REFERENCES uses (id));
                 CREATE TABLE all_granted (id INT PRIMARY KEY, v INT);
                 CREATE TABLE unseen (a INT, s INT INVISIBLE DEFAULT 0, PRIMARY KEY (a, s));
                 CREATE TABLE unseen_uses (x INT PRIMARY KEY, s INT INVISIBLE,
                     FOREIGN KEY (x, s) REFERENCES unseen (a, s));",
            )
            .await;
        let name = database.name().to_owned();
        let grants = [
            format!("SELECT (a, v) ON {name}.pairs"),
            format!("SELECT (id, x, own) ON {name}.uses"),
            format!("SELECT (id, v) ON {name}.all_granted"),
            format!("SELECT (a) ON {name}.unseen"),
            format!("SELECT (x) ON {name}.unseen_uses"),
        ];
        let grants: Vec<&str> = grants.iter().map(String::as_str).collect();
        let url = database.user(&grants).await;
        let mut source = open(&url).await;
        let catalog = source.catalog().await.unwrap();
        let (pairs, uses) = (table(&catalog, "pairs"), table(&catalog, "uses"));
        assert_eq!(pairs.hidden_columns, Some(Vec::new()), "{product}");
        assert_eq!(pairs.primary_key, Vec::<String>::new(), "{product}");
        assert_eq!(pairs.unique_keys.len(), 0, "{product}");
        assert_eq!(uses.hidden_columns, Some(Vec::new()), "{product}");
        assert_eq!(uses.primary_key, ["id"], "{product}");
        let leading = uses.foreign_keys.iter();
        let leading: Vec<&str> = leading.map(|key| key.columns[0].as_str()).collect();
        // MariaDB shows no foreign key to such a user.
        let expected: &[&str] = if product == "mysql" { &["own"] } else { &[] };
        assert_eq!(leading, expected, "{product}");
        let all_granted = table(&catalog, "all_granted");
        assert_eq!(all_granted.hidden_columns, None, "{product}");
        // MySQL does not refuse `*` because of them.
        let (unseen, uses) = (table(&catalog, "unseen"), table(&catalog, "unseen_uses"));
        let is_mysql = product == "mysql";
        for table in [all_granted, unseen, uses] {
            assert_eq!(table.may_hide_invisible, is_mysql, "{product}");
        }
        assert_eq!(unseen.hidden_columns.is_none(), is_mysql, "{product}");
        assert_eq!(unseen.primary_key, Vec::<String>::new(), "{product}");
        assert_eq!(uses.foreign_keys.len(), 0, "{product}");
        let reported = catalog.notices.join("\n");
        let hidden = format!(
            "{name}.pairs has columns that this user may not read (the server does not name them); let an"
        );
        assert!(reported.contains(&hidden), "{reported}");
        drop(source);
        database.drop().await;
    }
}

#[tokio::test]
async fn a_role_that_is_not_switched_on_is_named_where_nothing_is_seen() {
    for (_, server) in servers() {
        let mut database = Database::new(&server).await;
        let name = database.name().to_owned();
        let url = database.user(&[]).await;
        database.drop_later(format!("DROP ROLE {name}_role"));
        for sql in [
            format!("CREATE TABLE {name}.t (id INT PRIMARY KEY)"),
            format!("CREATE ROLE {name}_role"),
            format!("GRANT SELECT ON {name}.* TO {name}_role"),
            format!("GRANT {name}_role TO {}", url.username()),
        ] {
            database.run(&sql).await;
        }
        // The database itself may not be used without the role.
        let mut elsewhere = url.clone();
        elsewhere.set_path("");
        let catalog = open(&elsewhere).await.catalog().await.unwrap();
        assert_eq!(catalog.tables.len(), 0);
        let reported = catalog.notices.join("\n");
        assert!(
            reported.contains(&format!("the role `{name}_role`")),
            "{reported}"
        );
        database.drop().await;
    }
}

#[tokio::test]
async fn collations_are_in_the_catalog_where_they_do_not_sort_by_bytes() {
    for (_, server) in servers() {
        let database = Database::new(&server).await;
        database
            .run(
                "CREATE TABLE t (id INT PRIMARY KEY, a VARCHAR(5) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci,
                    b VARCHAR(5) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, c CHAR(5) CHARACTER SET latin1 COLLATE latin1_bin,
                    d CHAR(5) CHARACTER SET ascii COLLATE ascii_bin, e BLOB)",
            )
            .await;
        let catalog = open(&database.url()).await.catalog().await.unwrap();
        let of = |name| table(&catalog, "t").column(name).unwrap().collation.clone();
        assert_eq!(of("a").as_deref(), Some("utf8mb4_general_ci"));
        // Its `€` comes before `é`, and in UTF-8 behind it.
        assert_eq!(of("c").as_deref(), Some("latin1_bin"));
        for column in ["id", "b", "d", "e"] {
            assert_eq!(of(column), None, "{column}");
        }
        database.drop().await;
    }
}

#[tokio::test]
async fn codes_that_are_one_character_prove_no_key() {
    for (_, server) in servers() {
        let database = Database::new(&server).await;
        // Both are `≒`.
        database
            .run(
                "CREATE TABLE t (a VARCHAR(5) CHARACTER SET cp932 COLLATE cp932_bin PRIMARY KEY,
                    b VARCHAR(5) CHARACTER SET utf8mb4 NOT NULL UNIQUE, c INT);
                 INSERT INTO t VALUES (x'81E0', 'x', 1), (x'8790', 'y', 2);
                 CREATE TABLE u (b VARCHAR(5) CHARACTER SET utf8mb4 PRIMARY KEY)",
            )
            .await;
        let mut source = open(&database.url()).await;
        let catalog = source.catalog().await.unwrap();
        let charset = |name| {
            table(&catalog, "t")
                .column(name)
                .unwrap()
                .ambiguous_charset
                .clone()
        };
        assert_eq!(charset("a").as_deref(), Some("cp932"));
        assert_eq!((charset("b"), charset("c")), (None, None));
        let read = read_all(source.as_mut(), table(&catalog, "t")).await;
        assert_eq!(read[0][0], read[1][0]);

        for (from, column, proved) in [("t", "a", false), ("u", "b", true)] {
            let text = format!(
                "dynafold: 1\ntable: {{ name: app, key: {{ partition: PK }} }}\nitems:\n  T: {{ from: {from}, key: {{ PK: \"T#{{{column}}}\" }} }}\n"
            );
            let (raw, faults) = Raw::read(&text, &|_| None);
            let checked = resolve(&raw.unwrap(), faults, &catalog, &Described::new());
            let proofs = checked.proofs.unwrap();
            let claim = proofs.of(ClaimKind::KeysDiffer).next().unwrap();
            assert_eq!(claim.is_proved(), proved, "{column}");
        }
        database.drop().await;
    }
}

#[tokio::test]
async fn a_column_that_a_star_leaves_out_is_invisible() {
    for (product, server) in servers() {
        let database = Database::new(&server).await;
        let sql = "CREATE TABLE t (id INT, secret INT INVISIBLE)";
        let own = "SET sql_generate_invisible_primary_key = ON; ";
        let own = if product == "mysql" { own } else { "" };
        database.run(&format!("{own}{sql}")).await;
        let mut source = open(&database.url()).await;
        let catalog = source.catalog().await.unwrap();
        let columns = table(&catalog, "t").columns.iter();
        let invisible = columns.filter(|column| column.invisible);
        let invisible: Vec<&str> = invisible.map(|column| column.name.as_str()).collect();
        let expected: &[&str] = if product == "mysql" {
            &["my_row_id", "secret"]
        } else {
            &["secret"]
        };
        assert_eq!(invisible, expected, "{product}");
        drop(source);
        database.drop().await;
    }
}

#[tokio::test]
async fn what_checks_list_and_how_many_values_there_are_is_in_the_catalog() {
    for (product, server) in servers() {
        let database = Database::new(&server).await;
        database
            .run(
                "CREATE TABLE t (id INT PRIMARY KEY, state VARCHAR(9) CHECK (state IN ('open', 'it''s')), grade INT,
                    kind VARCHAR(9), more INT, KEY (kind), KEY (state(1)), CHECK (grade IN (1, 2, 3) AND id > 0),
                    CHECK (grade = 1 OR grade = 2));
                 INSERT INTO t WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 500)
                    SELECT n, 'open', 1, CONCAT('k', n % 5), IF(n % 2, n % 7, NULL) FROM n;
                 ANALYZE TABLE t",
            )
            .await;
        if product == "mysql" {
            let sql = "ANALYZE TABLE t UPDATE HISTOGRAM ON state, more; ANALYZE TABLE t UPDATE HISTOGRAM ON grade WITH 1 BUCKETS";
            database.run(sql).await;
        }
        let catalog = open(&database.url()).await.catalog().await.unwrap();
        let listed = |name| table(&catalog, "t").column(name).unwrap().listed.clone();
        assert_eq!(listed("state"), ["open", "it's"], "{product}");
        assert_eq!(listed("grade"), ["1", "2"], "{product}");
        assert_eq!(listed("kind"), Vec::<String>::new());
        let distinct = |name| table(&catalog, "t").column(name).unwrap().distinct;
        // MariaDB takes keys for half as frequent as they are.
        let [kind, others] = match product {
            "mysql" => [Some(5), Some(7)],
            _ => [Some(10), None],
        };
        assert_eq!(distinct("kind"), kind, "{product}");
        assert_eq!(distinct("more"), others, "{product}");
        assert_eq!(distinct("state"), others.map(|_| 1), "{product}");
        let nulls = |name| table(&catalog, "t").column(name).unwrap().nulls;
        assert_eq!(nulls("more"), others.map(|_| 250), "{product}");
        assert_eq!(nulls("state"), others.map(|_| 0), "{product}");
        assert_eq!(nulls("kind"), None, "{product}");
        database.drop().await;
    }
}
