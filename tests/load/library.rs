//! A program that uses the library: `examples/load.rs`.

use std::error::Error;
use std::io::{self, ErrorKind};

use dynafold::source::sqlite;
use serde_json::Value;

#[path = "../../examples/load.rs"]
#[expect(dead_code, reason = "`main` is for cargo")]
mod example;

const MAPPING: &str = "dynafold: 1
table: { name: shop, key: { partition: PK, sort: SK }, type_attribute: false }
items:
  USER: { from: users, where: \"{where}\", key: { PK: 'USER#{id | pad(3)}', SK: 'USER#' }, columns: [name] }
";

#[tokio::test]
async fn a_program_checks_previews_and_loads_and_gets_no_model_that_the_source_refuses() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let script = "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO users VALUES (7, 'Ada')";
    sqlite::create(path("shop.db").as_ref(), &[script])
        .await
        .unwrap();
    let url = format!("sqlite:{}", path("shop.db"));
    let run = async |condition: &str| {
        let mapping = path("shop.yaml");
        std::fs::write(&mapping, MAPPING.replace("{where}", condition)).unwrap();
        let mut out = Vec::new();
        let ended = example::load(&mapping, &url, &path("shop.ddb"), &mut out).await;
        (
            ended.map_err(|error| error.to_string()),
            String::from_utf8(out).unwrap(),
        )
    };

    let (ended, out) = run("unknown(id)").await;
    assert_eq!(ended.unwrap_err(), "the mapping has errors");
    assert!(out.contains("the source refuses this condition"), "{out}");

    let (ended, out) = run("id > 5").await;
    ended.unwrap();
    let (item, report) = out.split_once('\n').unwrap();
    assert_eq!(
        item,
        r#"{"PK":{"S":"USER#007"},"SK":{"S":"USER#"},"name":{"S":"Ada"}}"#
    );
    let report: Value = serde_json::from_str(report).unwrap();
    assert_eq!(
        (&report["outcome"]["state"], &report["total"]["written"]),
        (&"complete".into(), &1.into())
    );
}

#[tokio::test]
async fn a_program_reads_from_an_error_whether_to_try_again() {
    let folder = tempfile::tempdir().unwrap();
    let mapping = folder.path().join("shop.yaml");
    std::fs::write(&mapping, MAPPING).unwrap();
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("postgres://me:geheim@{}/app", free.local_addr().unwrap());
    drop(free);
    let mapping = mapping.display().to_string();
    let ended = example::load(&mapping, &url, "shop.ddb", &mut Vec::new()).await;
    let error = ended.unwrap_err();
    assert_eq!(example::exit_code(error.as_ref()), example::TRY_LATER);
    let first: &(dyn Error + 'static) = error.as_ref();
    let chain = std::iter::successors(Some(first), |&error| error.source());
    let kinds: Vec<ErrorKind> = chain
        .filter_map(|error| Some(error.downcast_ref::<io::Error>()?.kind()))
        .collect();
    assert_eq!(kinds, [ErrorKind::ConnectionRefused]);
    assert!(!format!("{error:?}").contains("geheim"));
}
