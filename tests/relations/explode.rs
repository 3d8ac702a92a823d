//! One item for each element of an array.

use serde_json::json;

use super::{load_everywhere, mapping};
use crate::support::source::Source;

const ORDERS: &str = r#"
    CREATE TABLE orders (id INTEGER NOT NULL PRIMARY KEY, doc JSON);
    INSERT INTO orders VALUES
        (1, '{"shipments": [{"carrier": "a", "parcels": [{"kg": 1.50}, {"kg": 2}]}, {"carrier": "b", "parcels": []}, {"carrier": "c", "parcels": [{"kg": 3}]}]}'),
        (2, '{"shipments": []}'),
        (3, NULL),
        (4, '{"shipments": {"carrier": "no array"}}'),
        (5, '{"shipments": [{"parcels": 7}, {"parcels": [{"kg": 9}]}, null]}');"#;

#[tokio::test]
async fn arrays_within_elements_are_exploded_in_their_order() {
    let items = mapping(
        "  SHIPMENT:
    from: orders
    explode: { s: doc.shipments }
    key: { PK: \"ORDER#{id}\", SK: \"S#{s.$index | pad(2)}\" }
    columns: []
    attributes: { carrier: \"{s.carrier}\" }
  PARCEL:
    from: orders
    explode: { s: doc.shipments, p: s.parcels }
    key: { PK: \"ORDER#{id}\", SK: \"S#{s.$index | pad(2)}#P#{p.$index | pad(2)}\" }
    columns: []
    attributes: { kg: \"{p.kg}\", carrier: \"{s.carrier}\", of: \"{s.$index}\" }
",
    );
    let loaded = load_everywhere(|_| ORDERS.to_owned(), &items).await;
    let lines: Vec<&str> = loaded.items.lines().collect();
    assert_eq!(
        lines,
        [
            r#"{"PK":{"S":"ORDER#1"},"SK":{"S":"S#00"},"carrier":{"S":"a"}}"#,
            r#"{"PK":{"S":"ORDER#1"},"SK":{"S":"S#00#P#00"},"carrier":{"S":"a"},"kg":{"N":"1.5"},"of":{"N":"0"}}"#,
            r#"{"PK":{"S":"ORDER#1"},"SK":{"S":"S#00#P#01"},"carrier":{"S":"a"},"kg":{"N":"2"},"of":{"N":"0"}}"#,
            r#"{"PK":{"S":"ORDER#1"},"SK":{"S":"S#01"},"carrier":{"S":"b"}}"#,
            r#"{"PK":{"S":"ORDER#1"},"SK":{"S":"S#02"},"carrier":{"S":"c"}}"#,
            r#"{"PK":{"S":"ORDER#1"},"SK":{"S":"S#02#P#00"},"carrier":{"S":"c"},"kg":{"N":"3"},"of":{"N":"2"}}"#,
            r#"{"PK":{"S":"ORDER#5"},"SK":{"S":"S#00"}}"#,
            r#"{"PK":{"S":"ORDER#5"},"SK":{"S":"S#01"}}"#,
            r#"{"PK":{"S":"ORDER#5"},"SK":{"S":"S#01#P#00"},"kg":{"N":"9"},"of":{"N":"1"}}"#,
            r#"{"PK":{"S":"ORDER#5"},"SK":{"S":"S#02"}}"#,
        ]
    );
    let shipments = &loaded.report["item_types"][0];
    // Orders 2 and 3 are empty; 4 holds no array.
    assert_eq!(shipments["empty"], 2);
    assert_eq!(
        shipments["rejects_by_code"],
        json!({ "explode-not-an-array": 1 })
    );
    let parcels = &loaded.report["item_types"][1];
    // Orders 4 and, in one shipment, 5.
    assert_eq!(
        parcels["rejects_by_code"],
        json!({ "explode-not-an-array": 2 })
    );
    assert_eq!(parcels["made"], 4);
}

#[tokio::test]
async fn arrays_and_sets_of_sql_are_exploded() {
    let script = |dialect: &str| match dialect {
        "postgres" => {
            "CREATE TABLE t (id INT PRIMARY KEY, tags TEXT[]); INSERT INTO t VALUES (1, '{a,NULL,b}'), (2, '{}');"
        }
        "mysql" => {
            "CREATE TABLE t (id INT PRIMARY KEY, tags SET('a','b','c')); INSERT INTO t VALUES (1, 'a,b'), (2, '');"
        }
        _ => {
            "CREATE TABLE t (id INT PRIMARY KEY, tags JSON); INSERT INTO t VALUES (1, '[\"a\",\"b\"]'), (2, '[]');"
        }
    };
    let text = mapping(
        "  TAG:
    from: t
    explode: { tag: tags }
    where: id > 0
    key: { PK: \"TAG#{tag}\", SK: \"{id | string}\" }
    columns: []
",
    );
    for source in Source::each(|dialect| script(dialect).to_owned()).await {
        let loaded = super::load(&source, &text).await;
        let items: Vec<&str> = loaded.items.lines().collect();
        assert_eq!(
            items,
            [
                r#"{"PK":{"S":"TAG#a"},"SK":{"S":"1"}}"#,
                r#"{"PK":{"S":"TAG#b"},"SK":{"S":"1"}}"#,
            ],
            "{}",
            source.product()
        );
        assert_eq!(loaded.report["total"]["empty"], 1);
        // The NULL among PostgreSQL's elements has no key.
        let nulls = u64::from(source.product() == "postgres");
        assert_eq!(loaded.report["total"]["rejected"], nulls);
        source.drop().await;
    }
}
