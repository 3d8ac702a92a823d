//! Writes are charged as DynamoDB charges them; the embedded engine, which was measured against it,
//! is the judge.

use aws_sdk_dynamodb::types::{BillingMode, ConsumedCapacity, ReturnConsumedCapacity};

use super::{Fields, item, make_table, start};

const LONG: usize = 2_500;

/// Writes over one another: what DynamoDB charges depends on what was there.
fn history() -> Vec<Fields> {
    let long = "x".repeat(LONG);
    vec![
        item("a", 1, &[]),
        item("a", 1, &[("g", "g1"), ("t", "1")]),
        item("a", 1, &[("g", "g1"), ("t", "1")]),
        item("a", 1, &[("g", "g1"), ("t", "2")]),
        item("a", 1, &[("g", "g2"), ("t", &long)]),
        item("a", 1, &[("g", "g3"), ("h", "h1"), ("t", "1")]),
        item("a", 1, &[("g", "g3"), ("h", "h1"), ("t", &long)]),
        item("a", 1, &[("h", "h2"), ("l", "l1"), ("t", &long)]),
        item("a", 1, &[("l", "l2")]),
        item(
            "a",
            2,
            &[("g", "g1"), ("h", "h1"), ("l", "l1"), ("t", &long)],
        ),
    ]
}

fn units(consumed: Option<&ConsumedCapacity>) -> Vec<(String, f64)> {
    let consumed = consumed.unwrap();
    let table = consumed.table().unwrap().capacity_units().unwrap();
    let mut all = vec![
        ("total".to_owned(), consumed.capacity_units().unwrap()),
        ("table".to_owned(), table),
    ];
    let indexes = [
        consumed.global_secondary_indexes(),
        consumed.local_secondary_indexes(),
    ];
    for (name, units) in indexes.into_iter().flatten().flatten() {
        all.push((name.clone(), units.capacity_units().unwrap()));
    }
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all
}

#[tokio::test]
async fn a_write_is_charged_for_the_table_and_each_index_it_touches() {
    let (engine, by_engine) = start("store: engine");
    let (map, by_map) = start("store: map");
    for client in [&by_engine, &by_map] {
        make_table(client, BillingMode::PayPerRequest).await;
    }
    for (number, fields) in history().into_iter().enumerate() {
        let mut reported = Vec::new();
        for client in [&by_engine, &by_map] {
            let put = client
                .put_item()
                .table_name("app")
                .set_item(Some(fields.clone()))
                .return_consumed_capacity(ReturnConsumedCapacity::Indexes);
            reported.push(units(put.send().await.unwrap().consumed_capacity()));
        }
        assert_eq!(reported[0], reported[1], "write {number}");
    }
    for number in [1, 2, 3] {
        let mut reported = Vec::new();
        for client in [&by_engine, &by_map] {
            let delete = client
                .delete_item()
                .table_name("app")
                .set_key(Some(item("a", number, &[])))
                .return_consumed_capacity(ReturnConsumedCapacity::Indexes);
            reported.push(units(delete.send().await.unwrap().consumed_capacity()));
        }
        assert_eq!(reported[0], reported[1], "deletion of {number}");
    }
    let (engine, map) = (engine.counts(), map.counts());
    assert_eq!(engine.units.total.to_bits(), map.units.total.to_bits());
    assert_eq!(engine.units.indexes, map.units.indexes);
    assert_eq!((engine.items.put, engine.items.replaced), (10, 8));
    assert_eq!(engine.items.deleted, 3);
    assert_eq!(engine.tables["app"].items, 0);
}
