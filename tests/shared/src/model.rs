//! Models made by hand, for tests that are not about the mapping language.

use std::collections::BTreeSet;
use std::sync::Arc;

use dynafold_dynamodb::{Billing, KeyAttribute, KeyType, Settings, Table};
use dynafold_mapping::model::{
    AttributeNode, Expired, ItemType, KeyTexts, Model, Pass, Placeholder, RowDomains, Template,
    TemplatePart, ValuePath,
};
use dynafold_relational::catalog::{DataType, TableName, TypeFamily};
use dynafold_relational::scan::{Relation, Scan, ScanColumn};
use dynafold_relational::value::{Number, Value};

/// A template whose placeholders are indices into the row: `USER#{0}`.
pub fn template(text: &str) -> AttributeNode {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        if !before.is_empty() {
            parts.push(TemplatePart::Text(before.to_owned()));
        }
        let (column, after) = after.split_once('}').unwrap();
        parts.push(TemplatePart::Value(Placeholder {
            place: place(column.parse().unwrap()),
            filters: Vec::new(),
            family: TypeFamily::Text,
            escape: None,
        }));
        rest = after;
    }
    if !rest.is_empty() {
        parts.push(TemplatePart::Text(rest.to_owned()));
    }
    AttributeNode::Template(Template { parts })
}

/// The place of a column, by its number.
pub fn place(column: usize) -> ValuePath {
    ValuePath {
        column,
        path: Vec::new(),
        written: format!("c{column}").into(),
        is_json: false,
    }
}

/// An attribute of a key.
pub fn key(name: &str, key_type: KeyType) -> KeyAttribute {
    KeyAttribute {
        name: name.into(),
        key_type,
    }
}

/// A table with the key `PK`, `SK`.
pub fn table() -> Table {
    Table {
        name: "app".to_owned(),
        partition: key("PK", KeyType::S),
        sort: Some(key("SK", KeyType::S)),
        indexes: Vec::new(),
        local_indexes: Vec::new(),
        ttl: None,
        billing: Billing::OnDemand,
        settings: Settings::default(),
    }
}

/// A relation of the fake source.
pub fn relation(name: &str) -> Relation {
    Relation::Table(TableName {
        schema: "main".to_owned(),
        name: name.to_owned(),
    })
}

/// A pass over columns `c0`, `c1` and so on.
pub fn pass(name: &str, columns: usize, item_types: &[usize]) -> Pass {
    let text = DataType::Text { max_chars: None };
    let column = |index| ScanColumn::base(&format!("c{index}"), text.clone());
    Pass {
        scan: Scan::of(relation(name), (0..columns).map(column).collect()),
        name: name.to_owned(),
        item_types: item_types.to_vec(),
        fickle: false,
        estimated_rows: None,
        never_null: BTreeSet::new(),
        may_hide_rows: false,
        row_security: Vec::new(),
    }
}

/// An item type with the first column as its row key.
pub fn item_type(name: &str, pass: usize, attributes: &[(&str, &str)]) -> ItemType {
    let attributes: Vec<(Arc<str>, AttributeNode)> = attributes
        .iter()
        .map(|(name, text)| (Arc::from(*name), template(text)))
        .collect();
    let keys = attributes.iter().take(2);
    ItemType {
        key_texts: keys.map(|(_, node)| KeyTexts::of(node)).collect(),
        domains: RowDomains::default(),
        name: name.into(),
        pass,
        condition: None,
        row_key: vec![("id".into(), 0)],
        explodes: Vec::new(),
        attributes,
        spreads: Vec::new(),
        hidden_columns: Vec::new(),
        keep_nulls: false,
        expired: Expired::Load,
        compress: Vec::new(),
        description: None,
        write_rate: None,
    }
}

/// A model of the table `app`.
pub fn model(passes: Vec<Pass>, item_types: Vec<ItemType>) -> Model {
    Model {
        table: table(),
        passes,
        type_attribute: None,
        item_types,
        unproved_pairs: Some(Vec::new()),
        description: None,
        time_zone: jiff::tz::TimeZone::UTC,
        patterns: Vec::new(),
        roll_ups: Vec::new(),
    }
}

/// Users: `c0` is the id, `c1` the name.
pub fn users() -> Model {
    model(
        vec![pass("users", 2, &[0])],
        vec![item_type(
            "USER",
            0,
            &[("PK", "USER#{0}"), ("SK", "USER#"), ("name", "{1}")],
        )],
    )
}

/// A number.
pub fn number(value: i64) -> Value {
    Value::Number(Number::from(value))
}

/// A text.
pub fn text(text: &str) -> Value {
    Value::Text(text.into())
}

/// Rows of [`users`], with ids from 0.
pub fn user_rows(count: i64) -> Vec<Vec<Value>> {
    (0..count)
        .map(|id| vec![number(id), text(&format!("name of {id}"))])
        .collect()
}
