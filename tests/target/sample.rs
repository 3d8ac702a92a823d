//! Tables and items for the tests of targets.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use dynafold::dynamodb::{
    Attribute, Billing, Index, Item, KeyAttribute, KeyType, Projection, Settings, StreamView,
    Table, TableClass, Throughput, write_item,
};
use dynafold::target::{Action, Batch, BatchEntry};
use dynafold::value::Number;

/// A name that no other test has, on a server that outlives the tests.
pub(super) fn unique_name(stem: &str) -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let time = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap();
    format!("{stem}-{}-{count}", time.as_nanos())
}

pub(super) fn key(name: &str, key_type: KeyType) -> KeyAttribute {
    KeyAttribute {
        name: Arc::from(name),
        key_type,
    }
}

/// Two global indexes, one of them with a multi-attribute key where the target knows such keys; a
/// local index; a TTL.
pub(super) fn table(multi_attribute: bool) -> Table {
    let sort = if multi_attribute {
        vec![key("status", KeyType::S), key("placed", KeyType::N)]
    } else {
        vec![key("placed", KeyType::N)]
    };
    Table {
        name: unique_name("conformance"),
        partition: key("PK", KeyType::S),
        sort: Some(key("SK", KeyType::S)),
        indexes: vec![
            Index {
                name: "GSI1".to_owned(),
                partition: vec![key("GSI1PK", KeyType::S)],
                sort: vec![key("SK", KeyType::S)],
                projection: Projection::Include(vec!["name".to_owned(), "total".to_owned()]),
                throughput: None,
                autoscale: None,
            },
            Index {
                name: "by_placed".to_owned(),
                partition: vec![key("GSI2PK", KeyType::B)],
                sort,
                projection: Projection::Keys,
                throughput: None,
                autoscale: None,
            },
        ],
        local_indexes: vec![Index {
            name: "by_total".to_owned(),
            partition: vec![key("PK", KeyType::S)],
            sort: vec![key("total", KeyType::N)],
            projection: Projection::All,
            throughput: None,
            autoscale: None,
        }],
        ttl: Some("expires".to_owned()),
        billing: Billing::OnDemand,
        settings: Settings::default(),
    }
}

/// Every setting that an endpoint may know, but autoscaling and backups.
pub(super) fn every_setting() -> Settings {
    Settings {
        stream: Some(StreamView::NewAndOldImages),
        point_in_time_recovery: Some(true),
        deletion_protection: Some(true),
        class: Some(TableClass::InfrequentAccess),
        tags: vec![("team".to_owned(), "shop".to_owned())],
        warm_throughput: Some(Throughput {
            read: 13_000,
            write: 5_000,
        }),
        replicas: vec!["eu-west-1".to_owned(), "eu-west-2".to_owned()],
        autoscale: None,
        backups: None,
    }
}

pub(super) fn text(text: &str) -> Attribute {
    Attribute::S(text.into())
}

pub(super) fn number(literal: &str) -> Attribute {
    Attribute::N(Number::parse(literal).unwrap())
}

pub(super) fn item<const N: usize>(attributes: [(&str, Attribute); N]) -> Item {
    Item {
        attributes: attributes
            .into_iter()
            .map(|(name, value)| (Arc::from(name), value))
            .collect(),
    }
}

/// An item with an attribute of every type, its own in each index.
pub(super) fn full(n: u32) -> Item {
    let nines = "9".repeat(38);
    let numbers = ["0", "-12.5", "1E-130", nines.as_str()].map(|l| Number::parse(l).unwrap());
    item([
        ("PK", text(&format!("USER#{}", n % 7))),
        ("SK", text(&format!("ORDER#{n:05}"))),
        ("GSI1PK", text("\u{1F980} \"quoted\" \\ \u{7} \u{2028}")),
        ("GSI2PK", Attribute::B(vec![0, 255, 7])),
        ("status", text("open")),
        ("placed", number(&format!("{n}.5"))),
        ("total", number(&format!("-{n}e3"))),
        ("expires", number("1893456000")),
        ("empty", text("")),
        ("tiny", number("-1E-130")),
        ("huge", number("9.99E125")),
        ("nothing", Attribute::Null),
        ("yes", Attribute::Bool(true)),
        ("no", Attribute::Bool(false)),
        ("bytes", Attribute::B((0..=255).collect())),
        (
            "list",
            Attribute::L(vec![text("a"), Attribute::L(vec![]), Attribute::Null]),
        ),
        (
            "map",
            Attribute::M(vec![
                (Arc::from("z"), number("1")),
                (Arc::from("a"), Attribute::M(vec![])),
            ]),
        ),
        ("texts", Attribute::Ss(vec!["b".into(), "a".into()])),
        ("numbers", Attribute::Ns(numbers.to_vec())),
        ("blobs", Attribute::Bs(vec![vec![1], vec![]])),
    ])
}

pub(super) fn entry(action: Action, item: &Item) -> BatchEntry {
    let mut hasher = DefaultHasher::new();
    format!("{:?}{:?}", item.get("PK"), item.get("SK")).hash(&mut hasher);
    BatchEntry {
        action,
        size: item.size(),
        units: 1,
        item_type: 0,
        fingerprint: u128::from(hasher.finish()),
        partition: 0,
        ..BatchEntry::default()
    }
}

pub(super) fn batch<'a>(items: impl IntoIterator<Item = &'a Item>) -> Batch {
    let mut batch = Batch::new();
    for item in items {
        put(&mut batch, item);
    }
    batch
}

pub(super) fn put(batch: &mut Batch, item: &Item) {
    batch.push(entry(Action::Put, item), |out| write_item(out, item));
}

/// Adds the deletion of what has an item's key.
pub(super) fn delete(batch: &mut Batch, item: &Item) {
    let names = ["PK", "SK"].map(Arc::from);
    let attributes = names.into_iter().filter_map(|name: Arc<str>| {
        let value = item.get(&name)?.clone();
        Some((name, value))
    });
    let key = Item {
        attributes: attributes.collect(),
    };
    batch.push(entry(Action::Delete, item), |out| write_item(out, &key));
}
