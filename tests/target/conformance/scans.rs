//! Deletes, single entries, scans, and the deletion of tables: what every target does alike.

use std::sync::Arc;

use dynafold::dynamodb::{Item, Table};
use dynafold::target::{Batch, ErrorClass, ItemKey, ScanRequest, Target};

use super::super::sample::{batch, delete, full, item, number, put, table, text};
use super::{key_of, keys, sorted, write_all};

pub(super) async fn deletes_go_with_puts(target: Arc<dyn Target>, multi_attribute: bool) {
    let table = table(multi_attribute);
    target.create(&table).await.unwrap();
    let items: Vec<Item> = (0..20).map(full).collect();
    write_all(&*target, &table, &items).await;
    let mut mixed = Batch::new();
    items[..15].iter().for_each(|item| delete(&mut mixed, item));
    (20..25).for_each(|n| put(&mut mixed, &full(n)));
    let written = target.write(&table, &mixed).await.unwrap();
    assert_eq!(written.unprocessed, Vec::<usize>::new());
    assert!(written.consumed.unwrap().total > 0.0);
    let expected: Vec<ItemKey> = (15..25).map(|n| key_of(&full(n))).collect();
    assert_eq!(sorted(keys(&*target, &table).await), sorted(expected));
    // What is gone can be deleted again.
    let mut again = Batch::new();
    delete(&mut again, &items[0]);
    target.write(&table, &again).await.unwrap();
}

pub(super) async fn one_entry_goes_alone(target: Arc<dyn Target>, multi_attribute: bool) {
    let table = table(multi_attribute);
    target.create(&table).await.unwrap();
    let mut both = batch([&full(1), &full(2)]);
    target.write_one(&table, &both, 1).await.unwrap();
    assert_eq!(keys(&*target, &table).await, [key_of(&full(2))]);
    delete(&mut both, &full(2));
    target.write_one(&table, &both, 2).await.unwrap();
    assert_eq!(keys(&*target, &table).await, []);
    let bad = batch([&item([("PK", text("P")), ("SK", number("1"))])]);
    let error = target.write_one(&table, &bad, 0).await.unwrap_err();
    assert_eq!(error.class, ErrorClass::Invalid, "{error:?}");
    assert_eq!(error.code, "ValidationException");
}

/// All pages, and how many there were.
async fn scan_all(target: &dyn Target, table: &Table, wanted: &ScanRequest) -> (Vec<Item>, usize) {
    let (mut items, mut from, mut pages) = (Vec::new(), None, 0);
    loop {
        let page = target.scan(table, wanted, from).await.unwrap();
        // DynamoDB Local counts nothing for an empty page.
        assert!(page.units.unwrap() > 0.0 || page.items.is_empty());
        items.extend(page.items);
        pages += 1;
        from = page.next;
        if from.is_none() {
            return (items, pages);
        }
    }
}

pub(super) async fn segments_hold_every_item_once(target: Arc<dyn Target>, multi_attribute: bool) {
    let table = table(multi_attribute);
    target.create(&table).await.unwrap();
    let items: Vec<Item> = (0..75).map(full).collect();
    write_all(&*target, &table, &items).await;
    let mut found = Vec::new();
    for segment in 0..3 {
        let wanted = ScanRequest {
            segment,
            segments: 3,
            ..ScanRequest::all()
        };
        found.append(&mut scan_all(&*target, &table, &wanted).await.0);
    }
    found.sort_by_key(|item| format!("{:?}", item.get("SK")));
    assert_eq!(found.len(), 75);
    for (found, wanted) in found.iter().zip(&items) {
        assert!(found.same(wanted), "{found:?}\n{wanted:?}");
    }
}

pub(super) async fn named_attributes_are_all_that_is_read(
    target: Arc<dyn Target>,
    multi_attribute: bool,
) {
    let table = table(multi_attribute);
    target.create(&table).await.unwrap();
    let mut bare = full(2);
    bare.attributes.retain(|(name, _)| &**name != "status");
    write_all(&*target, &table, &[full(1), bare]).await;
    // One of them is a reserved word, one is on no item.
    let names = ["PK", "SK", "status", "missing"].map(Arc::from);
    let wanted = ScanRequest {
        attributes: Some(names.to_vec()),
        ..ScanRequest::all()
    };
    let (mut found, _) = scan_all(&*target, &table, &wanted).await;
    found.sort_by_key(|item| format!("{:?}", item.get("SK")));
    assert_eq!(
        found,
        [
            item([
                ("PK", text("USER#1")),
                ("SK", text("ORDER#00001")),
                ("status", text("open")),
            ]),
            item([("PK", text("USER#2")), ("SK", text("ORDER#00002"))]),
        ]
    );
}

pub(super) async fn one_partition_can_be_read_alone(
    target: Arc<dyn Target>,
    multi_attribute: bool,
) {
    let table = table(multi_attribute);
    target.create(&table).await.unwrap();
    let filled = |n: u32| {
        let mut item = full(n);
        let filler = text(&"x".repeat(100_000));
        item.attributes.push((Arc::from("filler"), filler));
        item
    };
    let items: Vec<Item> = (0..210).map(filled).collect();
    write_all(&*target, &table, &items).await;
    let mut wanted = ScanRequest {
        partition: Some(text("USER#3")),
        ..ScanRequest::all()
    };
    let (found, pages) = scan_all(&*target, &table, &wanted).await;
    assert_eq!((found.len(), pages > 2), (30, true), "{pages}");
    // A partition's items come in the order of their sort keys.
    let expected = items.iter().skip(3).step_by(7);
    assert!(found.iter().zip(expected).all(|(a, b)| a.same(b)));
    wanted.attributes = Some(vec![Arc::from("SK")]);
    let (found, _) = scan_all(&*target, &table, &wanted).await;
    assert_eq!(found[1], item([("SK", text("ORDER#00010"))]));
    wanted.partition = Some(text("nobody"));
    assert_eq!(scan_all(&*target, &table, &wanted).await.0, []);
}

pub(super) async fn a_table_can_be_deleted(target: Arc<dyn Target>, multi_attribute: bool) {
    let table = table(multi_attribute);
    target.create(&table).await.unwrap();
    write_all(&*target, &table, &[full(1)]).await;
    assert!(target.delete_table(&table.name, None).await.unwrap());
    assert_eq!(target.describe(&table.name).await.unwrap(), None);
    assert!(!target.delete_table(&table.name, None).await.unwrap());
    target.create(&table).await.unwrap();
    assert_eq!(keys(&*target, &table).await, []);
}
