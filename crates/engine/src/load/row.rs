//! Rows one by one: whether one meets an item type's condition, what tells it apart, and its key as JSON.

use std::ops::Deref;

use dynafold_dynamodb::{Item, Table, write_item};
use dynafold_mapping::model::ItemType;
use dynafold_relational::value::{Value, quote, write_document};
use serde_json::value::RawValue;

/// Whether a row meets an item type's condition.
pub(crate) fn meets(item_type: &ItemType, row: &[Value]) -> bool {
    item_type
        .condition
        .is_none_or(|at| matches!(row.get(at), Some(Value::Bool(true))))
}

/// What tells a row apart: the values of the item type's row key. Most have one, which needs no memory of its own.
#[derive(Debug, Clone)]
pub(crate) enum RowKey {
    One(Value),
    Several(Box<[Value]>),
}

impl RowKey {
    /// Of no row.
    pub(super) fn none() -> Self {
        Self::Several(Box::default())
    }
}

impl Deref for RowKey {
    type Target = [Value];

    fn deref(&self) -> &[Value] {
        match self {
            Self::One(value) => std::slice::from_ref(value),
            Self::Several(values) => values,
        }
    }
}

impl FromIterator<Value> for RowKey {
    fn from_iter<I: IntoIterator<Item = Value>>(values: I) -> Self {
        let mut values = values.into_iter();
        match (values.next(), values.next()) {
            (Some(one), None) => Self::One(one),
            (first, second) => {
                let first = first.into_iter().chain(second);
                Self::Several(first.chain(values).collect())
            }
        }
    }
}

/// The row key of a row.
pub(crate) fn row_key(item_type: &ItemType, row: &[Value]) -> RowKey {
    let values = item_type.row_key.iter();
    values
        .map(|(_, at)| row.get(*at).cloned().unwrap_or(Value::Null))
        .collect()
}

/// The row key of a row that nobody needs any more.
pub(crate) fn take_row_key(item_type: &ItemType, row: &mut [Value]) -> RowKey {
    let values = item_type.row_key.iter();
    values
        .map(|(_, at)| {
            row.get_mut(*at)
                .map_or(Value::Null, |value| std::mem::replace(value, Value::Null))
        })
        .collect()
}

/// An item as DynamoDB JSON.
pub(crate) fn json(item: &Item) -> String {
    let mut out = String::new();
    write_item(&mut out, item);
    out
}

/// An item's key as a JSON object: `{"PK":{"S":"USER#7"}}`.
pub(crate) fn key_json(table: &Table, item: &Item) -> String {
    json(&key_item(table, item))
}

/// An item's key attributes alone, the partition key first.
pub(super) fn key_item(table: &Table, item: &Item) -> Item {
    let keys = table.key();
    let attributes = keys.filter_map(|key| Some((key.name.clone(), item.get(&key.name)?.clone())));
    Item {
        attributes: attributes.collect(),
    }
}

/// A row's key as a JSON object: `{"user_id":7,"day":"2024-05-01"}`.
pub(crate) fn row_json(item_type: &ItemType, row: &[Value]) -> String {
    let mut out = String::from("{");
    for (index, ((name, _), value)) in item_type.row_key.iter().zip(row).enumerate() {
        if index > 0 {
            out.push(',');
        }
        quote(&mut out, name);
        out.push(':');
        out.push_str(&write_document(value));
    }
    out.push('}');
    out
}

/// JSON text that we have written ourselves, for a report.
pub(crate) fn raw(json: String) -> Box<RawValue> {
    RawValue::from_string(json).unwrap_or_else(|_| RawValue::NULL.to_owned())
}
