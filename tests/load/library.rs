//! A program that uses the library: `examples/load.rs`.

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
