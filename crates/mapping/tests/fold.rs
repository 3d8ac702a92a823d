//! One row, one item: values, keys and limits.

mod keys;
mod limits;
mod write;

use dynafold_dynamodb::{Attribute, Index, Item, KeyType, Projection, write_item};
use dynafold_mapping::item::{Folder, Reject};
use dynafold_mapping::model::{AttributeNode, ChildContainer, EmbedNode, Model};
use dynafold_mapping::template::Context;
use dynafold_relational::value::{UnfitReason, Value};

use dynafold_testing::model::{item_type, key, number, pass, place, template, text};

fn model(attributes: &[(&str, &str)]) -> Model {
    dynafold_testing::model::model(
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
    model.item_types[0].attributes[2].1 = AttributeNode::Map {
        members: vec![
            ("one".into(), template("{1}")),
            ("none".into(), template("{2}")),
            (
                "all".into(),
                AttributeNode::List(vec![
                    template("{2}"),
                    template("{1}"),
                    AttributeNode::Constant(Attribute::Bool(true)),
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
fn the_children_of_a_map_have_names_that_differ() {
    let mut model = plain();
    let AttributeNode::Template(name) = template("{0}") else {
        panic!("a template");
    };
    model.item_types[0].attributes[2].1 = AttributeNode::Embed(Box::new(EmbedNode {
        column: 1,
        each: template("{1}"),
        container: ChildContainer::Map(name),
        written: "tag".into(),
    }));
    let row = |tags: &[(Value, Value)]| {
        let children = tags.iter();
        let rows = children.map(|(name, value)| Value::List(vec![name.clone(), value.clone()]));
        [text("k"), Value::List(rows.collect()), Value::Null]
    };
    // A child without a value is absent, and leaves its name to another.
    let tags = [
        (text("b"), number(1)),
        (text("a"), Value::Null),
        (text("a"), number(2)),
    ];
    assert_eq!(
        fold(&model, &row(&tags)).unwrap(),
        r#"{"PK":{"S":"k"},"SK":{"S":"-"},"a":{"M":{"b":{"N":"1"},"a":{"N":"2"}}}}"#
    );
    let twice = row(&[(text("a"), number(1)), (text("a"), number(2))]);
    assert_eq!(refused(&model, &twice), refusal("embed-key", "a.a"));
    let nameless = row(&[(Value::Null, number(1))]);
    assert_eq!(refused(&model, &nameless), refusal("embed-key", "a.0"));
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
    )
    .unwrap_err();
    assert!(!reject.message.contains("secret"));
    let item: Item = reject.item_so_far.unwrap();
    assert_eq!(item.get("PK"), Some(&Attribute::S("k".into())));
}
