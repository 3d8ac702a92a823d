//! Keys of the table and of its indexes.

use dynafold_dynamodb::{KeyType, Projection};
use dynafold_relational::value::{UnfitReason, Value};

use super::{fold, index, plain, refusal, refused};
use dynafold_testing::model::{number, text};

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
    let two = super::model(&[("PK", "{0}#{1}"), ("SK", "-")]);
    assert_eq!(
        fold(&two, &row(text("x"))).unwrap_err().message,
        "the key attribute is NULL because `c0` or `c1` is"
    );
    let sort = super::model(&[("PK", "-"), ("SK", "{0}")]);
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
