//! Values that a database keeps apart and that come out alike: `check` must not call their keys
//! proved.

use crate::support::cli::dynafold;
use crate::support::source::Source;
use crate::support::{mysql, postgres, sqlite};

/// Runs `check` on the key of a table `t`, and makes sure that its rows do make one key.
fn is_not_proved(source: &Source, key_type: &str, key: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let file = path("mapping.yaml");
    let mapping = format!(
        "dynafold: 1\ntable: {{ name: tab, key: {{ partition: {{ name: PK, type: {key_type} }} }} }}\n\
         items:\n  T:\n    from: t\n    key: {{ PK: \"{key}\" }}\n"
    );
    std::fs::write(&file, mapping).unwrap();
    let url = source.url();
    let checked = dynafold(&["check", &file, "--source", &url]);
    let said = format!("{}{}", checked.stdout, checked.stderr);
    let product = source.product();
    assert!(said.contains("key-unproved"), "{product}: {said}");
    let target = format!("local:{}", path("table.ddb"));
    let rejects = path("rejects.ndjson");
    let loaded = dynafold(&[
        "migrate",
        &file,
        "--source",
        &url,
        "--target",
        &target,
        "--max-rejects",
        "9",
        "--rejects",
        &rejects,
        "--format",
        "json",
    ]);
    let report: serde_json::Value = serde_json::from_str(&loaded.stdout).unwrap();
    let rejected = &report["total"]["rejects_by_code"]["duplicate-key"];
    assert_eq!(*rejected, 1, "{product}: {report:#}");
}

#[tokio::test]
async fn bits_of_a_domain_are_filled_up() {
    let script = "CREATE DOMAIN flags AS varbit; CREATE TABLE t (f flags PRIMARY KEY);
        INSERT INTO t VALUES (b'1'), (b'10')";
    let source = Source::Postgres(postgres::Database::with(script).await);
    is_not_proved(&source, "S", "F#{f | hex}");
}

#[tokio::test]
async fn an_empty_member_looks_like_none() {
    for (product, server) in mysql::servers() {
        let database = mysql::Database::new(&server).await;
        let script = "SET sql_mode = ''; CREATE TABLE t (e ENUM('', 'x') NOT NULL PRIMARY KEY);
            INSERT INTO t VALUES ('none of them'), ('')";
        database.run(script).await;
        let source = Source::Mysql(product, database);
        is_not_proved(&source, "S", "E#{e}");
        source.drop().await;
    }
}

#[tokio::test]
async fn bytes_in_a_column_of_text_may_be_its_text() {
    let script =
        "CREATE TABLE t (id TEXT NOT NULL PRIMARY KEY); INSERT INTO t VALUES ('A'), (x'41')";
    let source = Source::Sqlite(sqlite::Database::new(script).await);
    is_not_proved(&source, "B", "{id | binary}");
}
