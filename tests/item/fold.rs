use dynafold::item::{Attribute, Expiry, Folder, Item, MAX_ITEM_BYTES, Reject, write_item};
use dynafold::mapping::model::{Expired, Index, KeyType, Model, Node, Projection};
use dynafold::mapping::template::Context;
use dynafold::value::{UnfitReason, Value};

use crate::support::model::{item_type, key, number, pass, place, template, text};

fn model(attributes: &[(&str, &str)]) -> Model {
    crate::support::model::model(
        vec![pass("rows", 3, &[0])],
        vec![item_type("ROW", 0, attributes)],
    )
}

/// `c0` is the key, `c1` an attribute `a`.
fn plain() -> Model {
    model(&[("PK", "{0}"), ("SK", "-"), ("a", "{1}")])
}

fn index(name: &str, partition: &str, sort: Option<&str>, projection: Projection) -> Index {
    Index {
        name: name.to_owned(),
        partition: vec![key(partition, KeyType::S)],
        sort: sort.map(|name| key(name, KeyType::S)).into_iter().collect(),
        projection,
        throughput: None,
        autoscale: None,
    }
}

fn fold(model: &Model, row: &[Value]) -> Result<String, Reject> {
    let folded = Folder::new(model, Context::default()).fold(0, row);
    folded.map_err(|reject| *reject).map(|folded| {
        let mut json = String::new();
        write_item(&mut json, &folded.item);
        json
    })
}

fn units(model: &Model, row: &[Value]) -> u64 {
    let folded = Folder::new(model, Context::default()).fold(0, row);
    folded.unwrap().units
}

/// The code and the attribute of a reject.
fn refused(model: &Model, row: &[Value]) -> (String, String) {
    let reject = fold(model, row).unwrap_err();
    assert!(reject.help.is_some(), "{reject:?}");
    (
        reject.code.into_owned(),
        reject.attribute.unwrap_or_default(),
    )
}

fn refusal(code: &str, attribute: &str) -> (String, String) {
    (code.to_owned(), attribute.to_owned())
}

fn nested(levels: usize, inner: Value) -> Value {
    (0..levels).fold(inner, |value, _| Value::List(vec![value]))
}

fn object(members: Vec<(&str, Value)>) -> Value {
    let members = members.into_iter();
    Value::Map(members.map(|(name, value)| (name.into(), value)).collect())
}

#[test]
fn null_columns_are_absent_or_kept_as_the_mapping_says() {
    let mut model = plain();
    let row = [text("k"), Value::Null, Value::Null];
    assert_eq!(
        fold(&model, &row).unwrap(),
        r#"{"PK":{"S":"k"},"SK":{"S":"-"}}"#
    );
    model.item_types[0].keep_nulls = true;
    assert_eq!(
        fold(&model, &row).unwrap(),
        r#"{"PK":{"S":"k"},"SK":{"S":"-"},"a":{"NULL":true}}"#
    );
    // An index key that is NULL would have the item refused: absent, it leaves it out of the index.
    model.table.indexes = vec![index("G", "a", None, Projection::All)];
    assert_eq!(
        fold(&model, &row).unwrap(),
        r#"{"PK":{"S":"k"},"SK":{"S":"-"}}"#
    );
}

#[test]
fn maps_and_lists_are_made_and_a_null_in_a_list_keeps_its_place() {
    let mut model = plain();
    model.item_types[0].attributes[2].1 = Node::Map {
        members: vec![
            ("one".into(), template("{1}")),
            ("none".into(), template("{2}")),
            (
                "all".into(),
                Node::List(vec![
                    template("{2}"),
                    template("{1}"),
                    Node::Constant(Attribute::Bool(true)),
                ]),
            ),
        ],
        spreads: vec![],
    };
    assert_eq!(
        fold(&model, &[text("k"), number(1), Value::Null]).unwrap(),
        r#"{"PK":{"S":"k"},"SK":{"S":"-"},"a":{"M":{"one":{"N":"1"},"all":{"L":[{"NULL":true},{"N":"1"},{"BOOL":true}]}}}}"#
    );
}

#[test]
fn a_spread_adds_members_and_clashes_aloud() {
    let mut model = plain();
    model.item_types[0].spreads = vec![place(2)];
    let row = |document| [text("k"), Value::Null, document];
    let members = object(vec![("b", number(1)), ("c", Value::Null)]);
    assert_eq!(
        fold(&model, &row(members.clone())).unwrap(),
        r#"{"PK":{"S":"k"},"SK":{"S":"-"},"b":{"N":"1"}}"#
    );
    assert!(fold(&model, &row(Value::Null)).is_ok());
    let clash = object(vec![("a", number(1))]);
    assert_eq!(
        refused(&model, &row(clash)),
        refusal("attribute-clash", "a")
    );
    assert_eq!(
        refused(&model, &row(Value::List(vec![]))),
        refusal("spread-not-an-object", "")
    );
    assert_eq!(
        refused(&model, &row(object(vec![("", number(1))]))),
        refusal("attribute-name", "")
    );
    model.item_types[0].spreads.push(place(2));
    assert_eq!(
        refused(&model, &row(members)),
        refusal("attribute-clash", "b")
    );
}

#[test]
fn a_key_is_there_not_empty_not_long_and_of_its_type() {
    let row = |key| [key, Value::Null, Value::Null];
    let model = plain();
    for (key, code) in [
        (Value::Null, "key-null"),
        (text(""), "key-empty"),
        (text(&"x".repeat(2049)), "key-too-long"),
        (number(7), "key-type"),
        (Value::Bool(true), "key-type"),
        (Value::unfit("NaN", UnfitReason::NotFinite), "unfit-value"),
    ] {
        assert_eq!(refused(&model, &row(key)), refusal(code, "PK"));
    }
    assert!(fold(&model, &row(text(&"x".repeat(2048)))).is_ok());
    let sort = self::model(&[("PK", "-"), ("SK", "{0}")]);
    assert!(fold(&sort, &row(text(&"x".repeat(1024)))).is_ok());
    assert_eq!(
        refused(&sort, &row(text(&"é".repeat(513)))),
        refusal("key-too-long", "SK")
    );
    let mut numbers = plain();
    numbers.table.partition.key_type = KeyType::N;
    assert!(fold(&numbers, &row(number(7))).is_ok());
    assert_eq!(
        refused(&numbers, &row(text("7"))),
        refusal("key-type", "PK")
    );
    let mut bytes = plain();
    bytes.table.partition.key_type = KeyType::B;
    assert!(fold(&bytes, &row(Value::Bytes(vec![0]))).is_ok());
    assert_eq!(
        refused(&bytes, &row(Value::Bytes(vec![]))),
        refusal("key-empty", "PK")
    );
}

#[test]
fn an_index_key_is_right_or_absent() {
    let mut model = plain();
    // The inverted kind: the table's partition key sorts the index, and is held to 1024 bytes.
    model.table.indexes = vec![index("G", "a", Some("PK"), Projection::All)];
    let row = |a| [text("k"), a, Value::Null];
    assert!(fold(&model, &row(Value::Null)).is_ok());
    assert!(fold(&model, &row(text("x"))).is_ok());
    for (a, code) in [
        (text(""), "index-key-empty"),
        (number(1), "index-key-type"),
        (text(&"x".repeat(2049)), "index-key-too-long"),
    ] {
        assert_eq!(refused(&model, &row(a)), refusal(code, "a"));
    }
    let long = [text(&"x".repeat(1025)), text("x"), Value::Null];
    assert_eq!(refused(&model, &long), refusal("index-key-too-long", "PK"));
}

#[test]
fn values_that_dynamodb_refuses_are_refused_here() {
    let model = plain();
    let row = |a| [text("k"), a, Value::Null];
    assert!(fold(&model, &row(nested(31, number(1)))).is_ok());
    assert!(fold(&model, &row(nested(31, Value::List(vec![])))).is_ok());
    assert_eq!(
        refused(&model, &row(nested(32, number(1)))),
        refusal("nested-too-deep", "a")
    );
    let twice = Value::Set(vec![text("x"), text("x")]);
    assert_eq!(refused(&model, &row(twice)), refusal("set-duplicate", "a"));
    let mixed = Value::Set(vec![text("x"), number(1)]);
    assert_eq!(refused(&model, &row(mixed)), refusal("set-mixed", "a"));
    let inner = Value::List(vec![Value::Set(vec![])]);
    assert_eq!(refused(&model, &row(inner)), refusal("set-empty", "a"));
    assert!(fold(&model, &row(Value::Set(vec![]))).is_ok());
    let digits = Value::unfit("1", UnfitReason::TooManyDigits);
    assert_eq!(refused(&model, &row(digits)), refusal("unfit-value", "a"));
}

#[test]
fn a_reject_holds_the_item_as_far_as_it_got_and_no_value_in_its_words() {
    let reject = fold(
        &plain(),
        &[text("k"), nested(40, text("secret")), Value::Null],
    );
    let reject = reject.unwrap_err();
    assert!(!reject.message.contains("secret"));
    let item: Item = reject.item_so_far.unwrap();
    assert_eq!(item.get("PK"), Some(&Attribute::S("k".to_owned())));
}

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
        reject.message.starts_with("the item has 469608 bytes; DynamoDB takes 409600; with `a` compressed, the item has 409"),
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
