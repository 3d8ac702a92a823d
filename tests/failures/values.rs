//! What values go wrong by.

use dynafold::target::{Batch, BatchEntry, TargetSpec, connect};
use serde_json::{Value, json};

use super::{load_into_both, renamed};
use crate::relations::{load, mapping};
use crate::support::dynamodb_local::{delete_table, endpoint};
use crate::support::source::Source;
use dynafold_testing::model::table;

#[tokio::test]
async fn an_array_in_a_map_in_an_array_comes_back_as_it_was() {
    let script = |_: &str| {
        r#"CREATE TABLE t (id INTEGER NOT NULL PRIMARY KEY, doc JSON);
           INSERT INTO t VALUES (1, '[{"b": [1, [2.50, {"c": []}], null]}, [], {}]');"#
            .to_owned()
    };
    let items = "  T: { from: t, key: { PK: \"{id | string}\", SK: T }, columns: [doc] }\n";
    let loaded = load_into_both(script, &mapping(items)).await;
    assert_eq!(
        loaded.item("1")["doc"],
        json!({ "L": [
            { "M": { "b": { "L": [
                { "N": "1" },
                { "L": [{ "N": "2.5" }, { "M": { "c": { "L": [] } } }] },
                { "NULL": true },
            ] } } },
            { "L": [] },
            { "M": {} },
        ] })
    );
}

#[tokio::test]
async fn a_list_keeps_its_nulls_and_a_set_with_one_is_rejected() {
    let script = |dialect: &str| {
        let (list, values) = match dialect {
            "postgres" => ("INTEGER[]", ["'{9,NULL,31}'", "'{NULL}'", "'{}'"]),
            _ => ("JSON", ["'[9, null, 31]'", "'[null]'", "'[]'"]),
        };
        let [some, null, none] = values;
        format!(
            "CREATE TABLE t (id INTEGER NOT NULL PRIMARY KEY, list {list});
             INSERT INTO t VALUES (1, {some}), (2, {null}), (3, {none}), (4, NULL);"
        )
    };
    let items = mapping(
        "  LIST: { from: t, key: { PK: \"{id | string}\", SK: LIST }, columns: [list] }
  SET: { from: t, key: { PK: \"{id | string}\", SK: SET }, columns: [], attributes: { set: \"{list | set}\" } }\n",
    );
    let loaded = load_into_both(script, &items).await;
    let nothing = json!({ "NULL": true });
    let lists = [
        json!({ "L": [{ "N": "9" }, nothing, { "N": "31" }] }),
        json!({ "L": [nothing] }),
        json!({ "L": [] }),
    ];
    for (id, list) in ["1", "2", "3"].iter().zip(lists) {
        assert_eq!(loaded.item(id)["list"], list);
    }
    assert_eq!(loaded.item("4").get("list"), None);
    assert_eq!(
        loaded.report["total"]["rejects_by_code"],
        json!({ "set-null": 2 })
    );
    // The empty list and NULL have an item without a set.
    assert_eq!(loaded.report["item_types"][1]["made"], 2);
}

#[tokio::test]
async fn a_number_of_39_digits_in_a_document_is_never_rounded() {
    let digits = "1234567890".repeat(4)[..39].to_owned();
    let script = |_: &str| {
        format!(
            "CREATE TABLE t (id INTEGER NOT NULL PRIMARY KEY, doc JSON);
             INSERT INTO t VALUES (1, '{{\"n\": {digits}, \"m\": [7.10]}}'), (2, '{{\"n\": {}, \"m\": 0}}');",
            &digits[..38]
        )
    };
    let items = mapping(
        "  WHOLE: { from: t, key: { PK: \"{id | string}\", SK: WHOLE }, columns: [doc] }
  PART: { from: t, key: { PK: \"P{id}\", SK: PART }, columns: [], attributes: { m: \"{doc.m}\" } }
  TEXT: { from: t, key: { PK: \"T{id}\", SK: TEXT }, columns: [], attributes: { n: \"{doc.n | string}\" } }\n",
    );
    for source in Source::each(script).await {
        // MySQL itself keeps large numbers of a document as floats.
        if source.product() != "mysql" {
            let loaded = load(&source, &items).await;
            let total = &loaded.report["total"];
            assert_eq!(total["rejects_by_code"], json!({ "unfit-value": 1 }));
            assert_eq!(loaded.item("2")["doc"]["M"]["n"]["N"], digits[..38]);
            assert_eq!(loaded.item("P1")["m"], json!({ "L": [{ "N": "7.1" }] }));
            assert_eq!(loaded.item("T1")["n"]["S"], digits);
        }
        source.drop().await;
    }
}

#[tokio::test]
async fn a_set_with_a_member_twice_is_rejected_as_the_engines_would() {
    let script = |_: &str| {
        r#"CREATE TABLE t (id INTEGER NOT NULL PRIMARY KEY, tags JSON);
           INSERT INTO t VALUES (1, '["a", "b"]'), (2, '["a", "a"]'), (3, '[1, 2]'), (4, '[1, 1.0]');"#
            .to_owned()
    };
    let items = mapping(
        "  T: { from: t, key: { PK: \"{id | string}\", SK: T }, columns: [], attributes: { tags: \"{tags | set}\" } }\n",
    );
    let loaded = load_into_both(script, &items).await;
    assert_eq!(
        loaded.report["total"]["rejects_by_code"],
        json!({ "set-duplicate": 2 })
    );
    assert_eq!(loaded.item("3")["tags"], json!({ "NS": ["1", "2"] }));

    // What the engines say of such sets: 1 and 1.0 are one number.
    for (spec, endpoint) in [("local", None), ("dynamodb", Some(endpoint()))] {
        let spec = TargetSpec::parse(spec, endpoint.as_deref(), None, None).unwrap();
        let target = connect(&spec).await.unwrap();
        let mut table = table();
        table.name = renamed("name: tab").1;
        target.create(&table).await.unwrap();
        for set in [r#"{"SS":["a","a"]}"#, r#"{"NS":["1","1.0"]}"#] {
            let json = format!(r#"{{"PK":{{"S":"k"}},"SK":{{"S":"k"}},"set":{set}}}"#);
            assert!(serde_json::from_str::<Value>(&json).is_ok());
            let mut batch = Batch::new();
            batch.push(BatchEntry::default(), |out| out.push_str(&json));
            let error = target.write(&table, &batch).await.unwrap_err();
            assert_eq!(error.code, "ValidationException", "{set}");
        }
        if endpoint.is_some() {
            delete_table(&table.name).await;
        }
    }
}
