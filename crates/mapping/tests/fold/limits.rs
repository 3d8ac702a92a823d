//! Sizes, write units, what has expired, and what is compressed.

use dynafold_dynamodb::{Attribute, Index, MAX_ITEM_BYTES, Projection};
use dynafold_mapping::item::{Expiry, Folder};
use dynafold_mapping::model::{Expired, Model};
use dynafold_mapping::template::Context;
use dynafold_relational::value::Value;

use super::{fold, index, model, plain, refusal, refused, units};
use dynafold_testing::model::{number, template, text};

#[test]
fn an_item_has_at_most_400_kb_with_its_local_index_entries() {
    let mut model = plain();
    // PK, k, SK, -, a.
    let most = MAX_ITEM_BYTES - 7;
    let row = |bytes| [text("k"), text(&"x".repeat(bytes)), Value::Null];
    assert!(fold(&model, &row(most)).is_ok());
    assert_eq!(
        refused(&model, &row(most + 1)),
        refusal("item-too-large", "")
    );
    model.item_types[0]
        .attributes
        .push(("b".into(), template("b")));
    model.table.local_indexes = vec![Index {
        partition: vec![],
        ..index("L", "PK", Some("b"), Projection::All)
    }];
    let half = MAX_ITEM_BYTES / 2 - 9;
    assert!(fold(&model, &row(half)).is_ok());
    assert_eq!(
        refused(&model, &row(half + 1)),
        refusal("item-too-large", "")
    );
    model.table.local_indexes[0].projection = Projection::Keys;
    assert!(fold(&model, &row(half + 1)).is_ok());
}

#[test]
fn write_units_count_the_indexes_that_hold_the_item() {
    let mut model = plain();
    let row = |a| [text("k"), a, text("x")];
    assert_eq!(units(&model, &row(text("x"))), 1);
    assert_eq!(units(&model, &row(text(&"x".repeat(1024 - 7)))), 1);
    assert_eq!(units(&model, &row(text(&"x".repeat(1025 - 7)))), 2);
    model.item_types[0]
        .attributes
        .push(("g".into(), template("{2}")));
    let big = row(text(&"x".repeat(3000)));
    model.table.indexes = vec![
        index("all", "g", None, Projection::All),
        index("keys", "g", None, Projection::Keys),
        index("some", "g", None, Projection::Include(vec!["a".to_owned()])),
        index("sparse", "absent", None, Projection::All),
    ];
    assert_eq!(units(&model, &big), 3 + 3 + 1 + 3);
}

/// A table with a TTL, and an item type that does this with what has expired.
fn expiring(expired: Expired) -> Model {
    let mut model = model(&[("PK", "{0}"), ("SK", "-"), ("ends", "{1}"), ("a", "{2}")]);
    model.table.ttl = Some("ends".to_owned());
    model.item_types[0].expired = expired;
    model
}

#[test]
fn what_has_expired_is_told_and_left_out_before_dynamodbs_limits_count() {
    let context = || Context {
        now: "2026-01-01T00:00:00Z".parse().unwrap(),
        ..Context::default()
    };
    let large = "x".repeat(MAX_ITEM_BYTES);
    let row = |ends| vec![text("k"), number(ends), text(&large)];
    for (expired, ends, expiry) in [
        (Expired::Skip, 1_767_225_599, Expiry::Past),
        (Expired::Archive, 5, Expiry::TooOld),
    ] {
        let folded = Folder::new(&expiring(expired), context())
            .fold(0, &row(ends))
            .unwrap();
        assert_eq!((folded.expired, folded.expiry), (expired, expiry));
        // Whatever is to be loaded has to fit.
        let ahead = Folder::new(&expiring(expired), context()).fold(0, &row(1_767_225_600));
        assert_eq!(ahead.unwrap_err().code, "item-too-large");
        let load = Folder::new(&expiring(Expired::Load), context()).fold(0, &row(ends));
        assert_eq!(load.unwrap_err().code, "item-too-large");
    }
}

#[test]
fn an_item_that_is_too_large_is_compressed_as_far_as_is_needed() {
    let mut model = model(&[("PK", "{0}"), ("SK", "-"), ("a", "{1}"), ("b", "{2}")]);
    model.item_types[0].compress = vec!["b".into(), "a".into()];
    let folder = Folder::new(&model, Context::default());
    let large = text(&"lorem ".repeat(60_000));
    let names = |row: &[Value]| -> Vec<String> {
        let folded = folder.fold(0, row).unwrap();
        assert_eq!(folded.size, folded.item.size());
        folded.compressed.iter().map(ToString::to_string).collect()
    };
    assert_eq!(names(&[text("k"), large.clone(), text("short")]), [""; 0]);
    assert_eq!(names(&[text("k"), large.clone(), large.clone()]), ["b"]);
    let larger = text(&"lorem ".repeat(80_000));
    assert_eq!(names(&[text("k"), larger.clone(), text("short")]), ["a"]);
    assert_eq!(names(&[text("k"), larger.clone(), larger]), ["b", "a"]);
}

#[test]
fn an_item_that_stays_too_large_is_rejected_with_both_sizes_and_as_it_was() {
    let mut model = model(&[("PK", "{0}"), ("SK", "-"), ("a", "{1}"), ("b", "{2}")]);
    model.item_types[0].compress = vec!["a".into()];
    let row = [
        text("k"),
        text(&"lorem ".repeat(10_000)),
        text(&"x".repeat(MAX_ITEM_BYTES)),
    ];
    let reject = fold(&model, &row).unwrap_err();
    assert_eq!(reject.code, "item-too-large");
    assert!(
        reject.message.starts_with("the item has 469608 bytes; DynamoDB allows 409600; with `a` compressed, the item has 409"),
        "{}",
        reject.message
    );
    let item = reject.item_so_far.unwrap();
    assert!(matches!(item.get("a"), Some(Attribute::S(_))));
}

#[test]
fn local_indexes_count_when_an_item_is_compressed() {
    let mut model = model(&[("PK", "{0}"), ("SK", "-"), ("a", "{1}"), ("b", "{2}")]);
    model.table.local_indexes = vec![index("LSI", "PK", Some("b"), Projection::All)];
    let row = [text("k"), text(&"lorem ".repeat(50_000)), text("b")];
    assert_eq!(refused(&model, &row), refusal("item-too-large", ""));
    model.item_types[0].compress = vec!["a".into()];
    let folded = Folder::new(&model, Context::default())
        .fold(0, &row)
        .unwrap();
    assert_eq!(folded.compressed.len(), 1);
}
