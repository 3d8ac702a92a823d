//! What keys and relations go wrong by.

use dynafold::target::{ScanRequest, TargetSpec, connect};
use serde_json::json;

use super::{load_into_both, renamed};
use crate::relations::{load_everywhere, mapping};
use crate::support::cli::dynafold;
use crate::support::dynamodb_local::{delete_table, endpoint};
use crate::support::source::Source;
use crate::support::sqlite;

#[tokio::test]
async fn a_cycle_of_foreign_keys_gets_a_mapping_that_loads() {
    let script = |dialect: &str| {
        let cycle = "ALTER TABLE team ADD FOREIGN KEY (captain_id) REFERENCES player (id);";
        let (inline, after) = match dialect {
            "sqlite" => (", FOREIGN KEY (captain_id) REFERENCES player (id)", ""),
            _ => ("", cycle),
        };
        format!(
            "CREATE TABLE team (id INTEGER NOT NULL PRIMARY KEY, captain_id INTEGER{inline});
             CREATE TABLE player (id INTEGER NOT NULL PRIMARY KEY, team_id INTEGER, rival_id INTEGER,
                 FOREIGN KEY (team_id) REFERENCES team (id), FOREIGN KEY (rival_id) REFERENCES player (id));
             INSERT INTO team VALUES (1, NULL), (2, NULL);
             INSERT INTO player VALUES (1, 1, NULL), (2, 2, 1), (3, 2, 3);
             UPDATE team SET captain_id = id;
             UPDATE player SET rival_id = 2 WHERE id = 1;
             {after}"
        )
    };
    for source in Source::each(script).await {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("proposed.yaml");
        let (file, url) = (file.to_str().unwrap(), source.url());
        dynafold(&["init", "--source", &url, "--output", file]).exits(0);
        let mut arguments = vec!["migrate", file, "--source", &url, "--target", "local"];
        arguments.extend(["--format", "json"]);
        let report = dynafold(&arguments).exits(0).json();
        assert_eq!(report["total"]["written"], 5, "{}", source.product());
        source.drop().await;
    }
}

const BOOKS: &str = "
    CREATE TABLE author (id INTEGER NOT NULL PRIMARY KEY, name VARCHAR(20) NOT NULL);
    CREATE TABLE book (id INTEGER NOT NULL PRIMARY KEY, name VARCHAR(20) NOT NULL, author_id INTEGER NOT NULL,
        FOREIGN KEY (author_id) REFERENCES author (id));
    INSERT INTO author VALUES (7, 'Ada');
    INSERT INTO book VALUES (1, 'Notes', 7);";

#[tokio::test]
async fn a_parents_columns_that_clash_are_named_before_any_row_is_read() {
    let book = |rest: &str| {
        mapping(&format!(
            "  BOOK: {{ from: book, join: {{ a: author_id }}, key: {{ PK: \"B#{{id}}\", SK: B }}, {rest} }}\n"
        ))
    };
    for source in Source::each(|_| BOOKS.to_owned()).await {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("mapping.yaml");
        std::fs::write(&file, book("columns: [id, name, a.*]")).unwrap();
        let file = file.to_str().unwrap();
        let url = source.url();
        let ran = dynafold(&["check", file, "--source", &url, "--format", "json"]).exits(1);
        let faults = ran.stdout.matches(r#""code": "attribute-clash""#).count();
        assert_eq!(faults, 2, "{}: id and name: {ran:?}", source.product());
        let ran = dynafold(&["migrate", file, "--source", &url, "--target", "local"]).exits(1);
        assert!(ran.stderr.contains("attribute-clash"), "{ran:?}");
        source.drop().await;
    }
    let mended =
        book("columns: [name, a.*], omit: [a.id, a.name], attributes: { author: \"{a.name}\" }");
    let loaded = load_everywhere(|_| BOOKS.to_owned(), &mended).await;
    let item = loaded.item("B#1");
    assert_eq!(
        (&item["name"]["S"], &item["author"]["S"]),
        (&json!("Notes"), &json!("Ada"))
    );
}

#[tokio::test]
async fn a_delimiter_in_a_value_overwrites_nothing() {
    let script = |_: &str| {
        "CREATE TABLE t (a VARCHAR(20) NOT NULL, b VARCHAR(20) NOT NULL, PRIMARY KEY (a, b));
         INSERT INTO t VALUES ('x', 'y#z'), ('x#y', 'z'), ('x%23y', 'z');"
            .to_owned()
    };
    let items = mapping("  T: { from: t, key: { PK: \"{a}#{b}\", SK: T } }\n");
    let loaded = load_into_both(script, &items).await;
    assert_eq!(loaded.report["total"]["made"], 2);
    assert_eq!(
        loaded.report["total"]["rejects_by_code"],
        json!({ "duplicate-key": 1 })
    );
    let said = loaded.report["rejects"].to_string();
    assert!(
        said.contains("y#z") && said.contains("x#y"),
        "both rows: {said}"
    );

    let escaped = items.replace("name: tab,", "name: tab, key_escape: percent,");
    assert_ne!(escaped, items);
    let loaded = load_into_both(script, &escaped).await;
    assert_eq!(loaded.report["total"]["made"], 3);
    for (key, a) in [("x#y%23z", "x"), ("x%23y#z", "x#y"), ("x%2523y#z", "x%23y")] {
        assert_eq!(loaded.item(key)["a"]["S"], a);
    }
}

/// The sort keys of a partition, in the order in which the engine keeps them.
async fn order(target: &[&str], table: &str) -> Vec<String> {
    let spec = TargetSpec::parse(target[0], target.get(1).copied(), None, None).unwrap();
    let target = connect(&spec).await.unwrap();
    let table = target.describe(table).await.unwrap().unwrap().table;
    let keys = ScanRequest::keys(&table);
    let found = target.scan(&table, &keys, None).await.unwrap().items;
    let name = table.sort.unwrap().name;
    let sort = found
        .iter()
        .map(|item| format!("{:?}", item.get(&name).unwrap()));
    sort.collect()
}

#[tokio::test]
async fn nine_sorts_before_thirty_one() {
    let script = "CREATE TABLE t (id INTEGER NOT NULL PRIMARY KEY, n DECIMAL(9,2) NOT NULL);
        INSERT INTO t VALUES (1, 31), (2, 9), (3, -9), (4, -31), (5, 0), (6, 9.5), (7, 100);";
    let numeric = [4, 3, 5, 2, 6, 1, 7];
    for source in Source::each(|_| script.to_owned()).await {
        for (key, warned) in [
            ("{n | ordered}#{id | pad(2)}", false),
            ("{n}#{id | pad(2)}", true),
        ] {
            let items =
                format!("  T: {{ from: t, key: {{ PK: one, SK: \"{key}\" }}, columns: [] }}\n");
            let (mapping, name) = renamed(&mapping(&items));
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("mapping.yaml");
            std::fs::write(&file, mapping).unwrap();
            let (file, url, endpoint) = (file.to_str().unwrap(), source.url(), endpoint());
            let ran = dynafold(&["check", file, "--source", &url]).exits(0);
            assert_eq!(ran.stdout.contains("unpadded-number"), warned, "{ran:?}");
            let local = format!("local:{}", folder.path().join("t.ddb").display());
            for target in [vec![local.as_str()], vec!["dynamodb", &endpoint]] {
                let mut arguments = vec!["migrate", file, "--source", &url, "--target", target[0]];
                if let Some(endpoint) = target.get(1) {
                    arguments.extend(["--endpoint-url", endpoint]);
                }
                dynafold(&arguments).exits(0);
                let keys = order(&target, &name).await;
                let ids = keys.iter().map(|key| key.rsplit('#').next().unwrap());
                let ids: Vec<u32> = ids
                    .map(|id| id.trim_end_matches("\")").parse().unwrap())
                    .collect();
                assert_eq!(ids == numeric, !warned, "{keys:?}");
            }
            delete_table(&name).await;
        }
        source.drop().await;
    }
}

#[tokio::test]
async fn an_index_key_that_is_null_or_empty_loses_no_item() {
    let script = |_: &str| {
        "CREATE TABLE t (id INTEGER NOT NULL PRIMARY KEY, state VARCHAR(20));
         INSERT INTO t VALUES (1, 'open'), (2, NULL), (3, '');"
            .to_owned()
    };
    let items = |nulls: &str, state: &str| {
        let items = format!(
            "  T: {{ from: t, nulls: {nulls}, key: {{ PK: \"{{id | string}}\", SK: T }}, columns: [],
       attributes: {{ state: \"{state}\" }} }}\n"
        );
        let index = "sort: SK }, indexes: { GSI1: { partition: state } }";
        mapping(&items).replace("sort: SK }", index)
    };
    for nulls in ["omit", "keep"] {
        let loaded = load_into_both(script, &items(nulls, "{state}")).await;
        assert_eq!(loaded.item("1")["state"]["S"], "open");
        // Absent also where NULLs are kept: the engines would refuse the item.
        assert_eq!(loaded.item("2").get("state"), None);
        let rejects = &loaded.report["total"]["rejects_by_code"];
        assert_eq!(*rejects, json!({ "index-key-empty": 1 }));
    }
    // The help of the reject says so: text before it, or a constant for it.
    let loaded = load_into_both(script, &items("omit", "S#{state | default(none)}")).await;
    assert_eq!(loaded.item("2")["state"]["S"], "S#none");
    assert_eq!(loaded.item("3")["state"]["S"], "S#");
}

/// SQLite lets NULL into a primary key of text as often as it comes.
#[tokio::test]
async fn a_parent_is_rejected_where_its_childrens_own_children_cannot_be_told_apart() {
    let script = "CREATE TABLE p (id INTEGER PRIMARY KEY);
        CREATE TABLE c (code TEXT PRIMARY KEY, pid INTEGER, w TEXT);
        CREATE TABLE g (id INTEGER PRIMARY KEY, w TEXT, q TEXT);
        INSERT INTO p VALUES (1), (2);
        INSERT INTO c VALUES (NULL, 1, 'x'), (NULL, 1, 'y'), ('k', 2, 'x'), ('l', 2, 'y');
        INSERT INTO g VALUES (1, 'x', 'g1'), (2, 'y', 'g2');";
    let source = Source::Sqlite(sqlite::Database::new(script).await);
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let file = path("mapping.yaml");
    let text = mapping(
        "  P:
    from: p
    key: { PK: \"P#{id}\", SK: P }
    attributes:
      all: { $embed: c, $match: { pid: id }, $each: { w: \"{w}\", g: { $embed: g, $match: { w: w }, $each: \"{q}\" } } }
",
    );
    std::fs::write(&file, text).unwrap();
    let target = format!("local:{}", path("table.ddb"));
    let mut arguments = vec!["migrate", &file, "--target", &target, "--max-rejects", "9"];
    let url = source.url();
    arguments.extend(["--source", &url, "--format", "json"]);
    let report = dynafold(&arguments).exits(3).json();
    assert_eq!(report["total"]["written"], 1, "{report:#}");
    assert_eq!(report["total"]["rejected"], 1, "{report:#}");
    source.drop().await;
}
