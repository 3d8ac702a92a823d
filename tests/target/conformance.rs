//! What every target does alike. One body for each fact, run on the engine in memory, the engine on
//! a file, and DynamoDB Local.

mod scans;
mod tables;

use std::sync::Arc;

use dynafold::dynamodb::{Billing, Item, KeyType, Settings, Table};
use dynafold::target::{
    BatchOutcome, ErrorClass, ItemKey, Page, ScanRequest, Target, TargetSpec, connect,
};

use super::sample::{batch, full, item, key, number, table, text, unique_name};
use scans::{
    a_table_can_be_deleted, deletes_go_with_puts, named_attributes_are_all_that_is_read,
    one_entry_goes_alone, one_partition_can_be_read_alone, segments_hold_every_item_once,
};
use tables::{
    a_table_is_found_again_as_it_was_made, a_table_that_is_there_is_not_made_twice,
    differences_from_the_mapping_are_named, no_setting_is_told_to_be_set_that_is_not,
    provisioned_capacity_is_kept, two_may_make_one_table_at_once,
};

fn key_of(item: &Item) -> ItemKey {
    (item.get("PK").unwrap().clone(), item.get("SK").cloned())
}

fn sorted(mut keys: Vec<ItemKey>) -> Vec<ItemKey> {
    keys.sort_by_key(|key| format!("{key:?}"));
    keys
}

/// The keys on the first page of a scan.
async fn keys(target: &dyn Target, table: &Table) -> Vec<ItemKey> {
    let page = target.scan(table, &ScanRequest::keys(table), None).await;
    page.unwrap().items.iter().map(key_of).collect()
}

async fn write_all(target: &dyn Target, table: &Table, items: &[Item]) {
    for items in items.chunks(25) {
        let written = target.write(table, &batch(items)).await.unwrap();
        assert_eq!(written.unprocessed, Vec::<usize>::new());
        assert!(written.consumed.unwrap().total > 0.0);
    }
}

async fn read_sorted(target: &dyn Target, table: &Table, keys: &[ItemKey]) -> Vec<Item> {
    let mut items = target.read(table, keys, true).await.unwrap().items;
    items.sort_by_key(|item| format!("{:?}", item.get("SK")));
    items
}

async fn items_of_every_type_come_back(target: Arc<dyn Target>, multi_attribute: bool) {
    let table = table(multi_attribute);
    target.create(&table).await.unwrap();
    let items: Vec<Item> = (0..25).map(full).collect();
    write_all(&*target, &table, &items).await;
    let mut wanted: Vec<ItemKey> = items.iter().map(key_of).collect();
    wanted.push((text("USER#0"), Some(text("no such item"))));
    let found = read_sorted(&*target, &table, &wanted).await;
    assert_eq!(found.len(), 25);
    for (found, wanted) in found.iter().zip(&items) {
        assert!(found.same(wanted), "{found:?}\n{wanted:?}");
    }
    // Puts are idempotent.
    write_all(&*target, &table, &items).await;
    assert_eq!(keys(&*target, &table).await.len(), 25);
}

async fn many_bytes_are_read_and_scanned_in_pages(target: Arc<dyn Target>, multi_attribute: bool) {
    let table = table(multi_attribute);
    target.create(&table).await.unwrap();
    let items: Vec<Item> = (0..60)
        .map(|n| {
            item([
                ("PK", text(&format!("P#{}", n % 3))),
                ("SK", text(&format!("{n:03}"))),
                ("filler", text(&"x".repeat(350_000))),
            ])
        })
        .collect();
    write_all(&*target, &table, &items).await;
    // 21 MB: more than one answer of BatchGetItem.
    let keys: Vec<ItemKey> = items.iter().map(key_of).collect();
    let found = read_sorted(&*target, &table, &keys).await;
    assert_eq!(found.len(), 60);
    assert!(found.iter().zip(&items).all(|(a, b)| a.same(b)));

    let (mut scanned, mut from, mut pages) = (Vec::new(), None, 0);
    loop {
        let wanted = ScanRequest::keys(&table);
        let page = target.scan(&table, &wanted, from).await.unwrap();
        scanned.extend(page.items.iter().map(key_of));
        pages += 1;
        from = page.next;
        if from.is_none() {
            break;
        }
    }
    assert!(pages > 10, "{pages}");
    assert_eq!(sorted(scanned), sorted(keys));
}

async fn a_key_may_be_a_number_alone(target: Arc<dyn Target>, _: bool) {
    let table = Table {
        name: unique_name("number"),
        partition: key("PK", KeyType::N),
        sort: None,
        indexes: Vec::new(),
        local_indexes: Vec::new(),
        ttl: None,
        billing: Billing::OnDemand,
        settings: Settings::default(),
    };
    target.create(&table).await.unwrap();
    let wanted = item([("PK", number("1.50")), ("a", text("b"))]);
    write_all(&*target, &table, std::slice::from_ref(&wanted)).await;
    let key = (number("1.5"), None);
    assert_eq!(keys(&*target, &table).await, std::slice::from_ref(&key));
    let found = target.read(&table, &[key], false).await.unwrap();
    assert!(found.items[0].same(&wanted));
}

async fn nothing_is_nothing(target: Arc<dyn Target>, multi_attribute: bool) {
    let table = table(multi_attribute);
    target.create(&table).await.unwrap();
    assert_eq!(
        target.write(&table, &batch([])).await.unwrap(),
        BatchOutcome::default()
    );
    let none = target.read(&table, &[], true).await.unwrap();
    assert_eq!(none, Page::default());
    let page = target
        .scan(&table, &ScanRequest::all(), None)
        .await
        .unwrap();
    assert_eq!((page.items, page.next), (vec![], None));
}

async fn a_table_that_is_gone_is_fatal(target: Arc<dyn Target>, multi_attribute: bool) {
    let table = table(multi_attribute);
    let keys = [key_of(&full(1))];
    let errors = [
        target.write(&table, &batch([&full(1)])).await.unwrap_err(),
        target.read(&table, &keys, true).await.unwrap_err(),
        target
            .scan(&table, &ScanRequest::all(), None)
            .await
            .unwrap_err(),
    ];
    for error in errors {
        assert_eq!(error.class, ErrorClass::Fatal, "{error:?}");
        assert_eq!(error.code, "ResourceNotFoundException");
        assert!(error.help.is_some());
    }
}

async fn a_batch_with_a_bad_item_is_refused_whole(target: Arc<dyn Target>, multi_attribute: bool) {
    let table = table(multi_attribute);
    target.create(&table).await.unwrap();
    let with = |name: &str, value| item([("PK", text("P")), ("SK", text("bad")), (name, value)]);
    let bad = [
        with("filler", text(&"x".repeat(409_600))),
        with("GSI1PK", number("1")),
        with("GSI1PK", dynafold::dynamodb::Attribute::Null),
        with("GSI1PK", text("")),
        with("total", text("not a number")),
        item([("PK", text("P")), ("SK", number("1"))]),
        item([("PK", text("P"))]),
        item([("PK", text("P")), ("SK", text(""))]),
        item([("PK", text(&"k".repeat(2049))), ("SK", text("bad"))]),
        item([("PK", text("P")), ("SK", text(&"k".repeat(1025)))]),
    ];
    for bad in bad {
        let error = target
            .write(&table, &batch([&full(1), &bad]))
            .await
            .unwrap_err();
        assert_eq!(error.class, ErrorClass::Invalid, "{error:?}");
        assert_eq!(error.code, "ValidationException");
        assert!(!error.message.contains("not a number"), "{error}");
    }
    assert_eq!(keys(&*target, &table).await, []);
}

async fn local(file: Option<std::path::PathBuf>) -> Arc<dyn Target> {
    connect(&TargetSpec::Local { file }).await.unwrap()
}

async fn dynamodb_local() -> Arc<dyn Target> {
    let url = crate::support::dynamodb_local::endpoint();
    let spec = TargetSpec::parse("dynamodb", Some(&url), None, None).unwrap();
    connect(&spec).await.unwrap()
}

macro_rules! conformance {
    ($($fact:ident)*) => {
        mod memory {
            $(#[tokio::test]
            async fn $fact() {
                super::$fact(super::local(None).await, true).await;
            })*
        }
        mod file {
            $(#[tokio::test]
            async fn $fact() {
                let folder = tempfile::tempdir().unwrap();
                super::$fact(super::local(Some(folder.path().join("t.db"))).await, true).await;
            })*
        }
        mod dynamodb_local {
            // DynamoDB Local 2.6 does not know multi-attribute keys.
            $(#[tokio::test]
            async fn $fact() {
                super::$fact(super::dynamodb_local().await, false).await;
            })*
        }
    };
}

conformance! {
    a_table_is_found_again_as_it_was_made
    a_table_that_is_there_is_not_made_twice
    two_may_make_one_table_at_once
    differences_from_the_mapping_are_named
    provisioned_capacity_is_kept
    no_setting_is_told_to_be_set_that_is_not
    items_of_every_type_come_back
    many_bytes_are_read_and_scanned_in_pages
    a_key_may_be_a_number_alone
    nothing_is_nothing
    a_table_that_is_gone_is_fatal
    a_batch_with_a_bad_item_is_refused_whole
    deletes_go_with_puts
    one_entry_goes_alone
    segments_hold_every_item_once
    named_attributes_are_all_that_is_read
    one_partition_can_be_read_alone
    a_table_can_be_deleted
}
