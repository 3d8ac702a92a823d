//! Values at random, of every type that DynamoDB has.

use dynafold::value::{Number, Text, Value};
use proptest::collection::{btree_map, btree_set, vec};
use proptest::prelude::*;

/// Numbers of every length and magnitude, with zeros at both ends.
pub(crate) fn numbers() -> impl Strategy<Value = Number> {
    let digits = "[0-9]{1,38}";
    let written = prop_oneof![
        (-1000_i64..1000).prop_map(|n| n.to_string()),
        any::<i64>().prop_map(|n| n.to_string()),
        ("-?", "[0-9]{1,19}", "[0-9]{1,19}").prop_map(|(sign, a, b)| format!("{sign}{a}.{b}")),
        ("-?", digits, -167_i32..125)
            .prop_map(|(sign, d, exponent)| format!("{sign}{d}e{exponent}")),
        ("-?", "[1-9]0{0,40}").prop_map(|(sign, d)| format!("{sign}{d}")),
        ("-?", "0{0,40}[1-9]{1,3}").prop_map(|(sign, d)| format!("{sign}0.{d}")),
    ];
    written.prop_filter_map("beyond DynamoDB", |text| Number::parse(&text).ok())
}

/// Text of one to four bytes a character, with control characters and what JSON escapes.
pub(crate) fn texts() -> impl Strategy<Value = String> {
    prop_oneof!["\\PC{0,12}", "[\\x00-\\x1f\"\\\\/é가😀]{0,8}"]
}

/// Bytes, none too.
pub(crate) fn bytes() -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), 0..20)
}

/// Values of every type, nested.
pub(crate) fn values() -> impl Strategy<Value = Value> {
    let set = prop_oneof![
        btree_set(texts(), 1..5).prop_map(|all| all
            .into_iter()
            .map(|text| Value::Text(text.into()))
            .collect()),
        btree_set(numbers(), 1..5).prop_map(|all| all.into_iter().map(Value::Number).collect()),
        btree_set(bytes(), 1..5).prop_map(|all| all.into_iter().map(Value::Bytes).collect()),
    ];
    let leaf = prop_oneof![
        1 => Just(Value::Null),
        1 => any::<bool>().prop_map(Value::Bool),
        3 => numbers().prop_map(Value::Number),
        2 => texts().prop_map(|text| Value::Text(text.into())),
        1 => bytes().prop_map(Value::Bytes),
        2 => set.prop_map(Value::Set),
    ];
    leaf.prop_recursive(6, 40, 5, |inner| {
        let name = "\\PC{1,6}".prop_map(Text::from);
        prop_oneof![
            vec(inner.clone(), 0..5).prop_map(Value::List),
            btree_map(name, inner, 0..5).prop_map(|all| Value::Map(all.into_iter().collect())),
        ]
    })
}
