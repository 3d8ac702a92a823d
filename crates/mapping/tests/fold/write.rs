//! An item is the same, made as values or written as text.

use dynafold_dynamodb::{Attribute, DigestKey, Index, KeyType, Projection, write_item};
use dynafold_mapping::item::{Folder, ItemText};
use dynafold_mapping::model::{AttributeNode, ChildContainer, EmbedNode, Expired, Model, Template};
use dynafold_mapping::template::Context;
use dynafold_relational::value::{Number, Time, TimeKind, UnfitReason, Value};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;

use dynafold_testing::model::{item_type, key, pass, template};

use super::index;

fn scalar() -> impl Strategy<Value = Value> {
    let number = |text: &str| Value::Number(Number::parse(text).unwrap());
    prop_oneof![
        3 => "[a-c\"\\\\\n\u{1}é한]{0,20}".prop_map(|text| Value::Text(text.as_str().into())),
        2 => any::<i64>().prop_map(|one| Value::Number(Number::from(one))),
        1 => prop_oneof![Just("0.5"), Just("-12.25"), Just("1200"), Just("1767225599")].prop_map(number),
        1 => any::<bool>().prop_map(Value::Bool),
        1 => prop::collection::vec(any::<u8>(), 0..9).prop_map(Value::Bytes),
        1 => Just(Value::Null),
        1 => Just(Value::Time(Time::from_sql("2026-01-31 09:00:00", TimeKind::Timestamp, 0).unwrap())),
    ]
}

/// Of all kinds; some that no item holds, some that make it too large.
fn value() -> impl Strategy<Value = Value> {
    let plain = prop_oneof![
        40 => scalar(),
        1 => Just(Value::unfit("NaN", UnfitReason::NotFinite)),
        1 => Just(Value::Text("x".repeat(1_500).into())),
        1 => Just(Value::Text("x".repeat(240_000).into())),
        1 => Just(super::nested(33, Value::Null)),
        1 => Just(super::nested(30, Value::Null)),
    ];
    plain.prop_recursive(4, 24, 5, |inner| {
        let members = prop::collection::vec(("[a-e]{0,2}", inner.clone()), 0..5);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::List),
            members.prop_map(|mut members| {
                let mut names = std::collections::BTreeSet::new();
                members.retain(|(name, _)| names.insert(name.clone()));
                let members = members.into_iter();
                Value::Map(
                    members
                        .map(|(name, value)| (name.as_str().into(), value))
                        .collect(),
                )
            }),
            prop::collection::vec(inner, 0..3).prop_map(Value::Set),
        ]
    })
}

/// Rows of a child: a number, and a value.
fn children() -> impl Strategy<Value = Value> {
    let child = (0_i64..4, scalar())
        .prop_map(|(number, value)| Value::List(vec![Value::Number(Number::from(number)), value]));
    prop_oneof![
        9 => prop::collection::vec(child, 0..4).prop_map(Value::List),
        1 => Just(Value::unfit("", UnfitReason::TooManyChildren)),
    ]
}

fn row() -> impl Strategy<Value = Vec<Value>> {
    let key = prop_oneof![
        12 => "[a-c\"#é]{1,20}".prop_map(|text| Value::Text(text.as_str().into())),
        1 => scalar(),
        1 => Just(Value::Text("k".repeat(1_100).into())),
    ]
    .boxed();
    let flag = prop_oneof![
        Just(Value::Bool(true)),
        Just(Value::Bool(false)),
        Just(Value::Null)
    ];
    (
        key.clone(),
        key,
        value(),
        value(),
        scalar(),
        flag,
        children(),
    )
        .prop_map(|row| vec![row.0, row.1, row.2, row.3, row.4, row.5, row.6])
}

fn single(column: usize) -> Template {
    let AttributeNode::Template(template) = template(&format!("{{{column}}}")) else {
        unreachable!("it is one")
    };
    template
}

fn embed(container: ChildContainer) -> AttributeNode {
    let members = vec![("n".into(), template("{0}")), ("v".into(), template("{1}"))];
    let each = match container {
        ChildContainer::Set => template("{1}"),
        _ => AttributeNode::Map {
            members,
            spreads: Vec::new(),
        },
    };
    AttributeNode::Embed(Box::new(EmbedNode {
        column: 6,
        each,
        container,
        written: "children".into(),
    }))
}

/// All that an attribute can be made of, in one of many item types.
fn model() -> impl Strategy<Value = Model> {
    let projection = prop_oneof![
        Just(Projection::All),
        Just(Projection::Keys),
        Just(Projection::Include(vec!["a".to_owned(), "m".to_owned()])),
    ];
    let wanted = prop_oneof![Just("{4}"), Just("{0}/{4}"), Just("{1}")];
    (projection, any::<[bool; 6]>(), wanted, 0..3).prop_map(
        |(projection, on, indexed, container)| {
            let mut made = item_type("ROW", 0, &[("PK", "U#{0}"), ("SK", "{1}"), ("a", "{2}")]);
            let mut add = |name: &str, node| made.attributes.push((name.into(), node));
            add("G", template(indexed));
            add(
                "m",
                AttributeNode::Map {
                    members: vec![
                        ("z".into(), template("{3}")),
                        ("b".into(), AttributeNode::Constant(Attribute::Bool(true))),
                        (
                            "l".into(),
                            AttributeNode::List(vec![
                                template("{4}"),
                                template("{2}"),
                                template("é"),
                            ]),
                        ),
                    ],
                    spreads: Vec::new(),
                },
            );
            add(
                "w",
                AttributeNode::When {
                    flag: 5,
                    value: Box::new(template("{3}")),
                },
            );
            add(
                "c",
                embed(match container {
                    0 => ChildContainer::List,
                    1 => ChildContainer::Set,
                    _ => ChildContainer::Map(single(0)),
                }),
            );
            if on[0] {
                add("t", template("{4}"));
            }
            if on[1] {
                add(
                    "s",
                    AttributeNode::Map {
                        members: vec![("q".into(), template("{4}"))],
                        spreads: vec![super::place(2)],
                    },
                );
            }
            made.keep_nulls = on[2];
            if on[3] {
                made.expired = Expired::Skip;
            }
            if on[4] {
                made.compress = vec!["a".into()];
            }
            let mut model = dynafold_testing::model::model(vec![pass("rows", 7, &[0])], vec![made]);
            model.table.ttl = on[0].then(|| "t".to_owned());
            model.table.indexes = vec![index("g", "G", Some("PK"), projection.clone())];
            if on[5] {
                model.table.partition = key("PK", KeyType::S);
                model.table.local_indexes = vec![Index {
                    partition: Vec::new(),
                    ..index("l", "PK", Some("G"), projection)
                }];
            }
            model
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]
    #[test]
    fn an_item_is_written_as_it_is_made(model in model(), rows in prop::collection::vec(row(), 1..6)) {
        let context = Context { now: "2026-01-01T00:00:00Z".parse().unwrap(), ..Context::default() };
        let secret = DigestKey::random();
        let folder = Folder::new(&model, context).with_digests(secret);
        let mut text = ItemText::default();
        for row in rows {
            let written = folder.write(0, &row, &mut text);
            let plain = folder.fold(0, &row).ok().filter(|folded| {
                folded.compressed.is_empty() && folded.expired == Expired::Load
            });
            let Some(folded) = plain else {
                prop_assert_eq!(written, None);
                continue;
            };
            let mut json = String::new();
            write_item(&mut json, &folded.item);
            prop_assert_eq!(&text.json, &json);
            let written = written.unwrap();
            prop_assert_eq!(
                (written.size, written.units, written.fingerprint, written.partition),
                (folded.size, folded.units, folded.fingerprint, folded.partition)
            );
            prop_assert_eq!(written.expiry, folded.expiry);
            prop_assert_eq!(written.digest, secret.item(&folded.item));
        }
    }
}

#[test]
fn rows_of_the_property_are_written() {
    // Otherwise it would show nothing. Most hold something that no item can.
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (models, rows) = (model(), row());
    let mut written = 0;
    for _ in 0..500 {
        let model = models.new_tree(&mut runner).unwrap().current();
        let row = rows.new_tree(&mut runner).unwrap().current();
        let folder = Folder::new(&model, Context::default());
        written += usize::from(folder.write(0, &row, &mut ItemText::default()).is_some());
    }
    assert!(written > 40, "{written}");
}
