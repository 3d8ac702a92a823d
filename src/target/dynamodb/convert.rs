//! Attributes to the SDK's values and back.

use std::collections::HashMap;
use std::sync::Arc;

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;

use crate::item::{Attribute, Item};
use crate::mapping::model::Table;
use crate::target::Key;
use crate::value::{Number, Text};

/// An item as the SDK holds it.
pub(super) type Fields = HashMap<String, AttributeValue>;

/// When an answer holds a value that DynamoDB cannot have stored.
#[derive(Debug, thiserror::Error)]
#[error("the answer holds a value that is no DynamoDB value")]
pub(super) struct NotAValue;

/// The fields of a key. The key's type is the table's, so that it fits.
pub(super) fn key_fields(table: &Table, key: &Key) -> Result<Fields, NotAValue> {
    let mut fields = Fields::new();
    fields.insert(table.partition.name.to_string(), scalar(&key.0)?);
    if let (Some(sort), Some(value)) = (&table.sort, &key.1) {
        fields.insert(sort.name.to_string(), scalar(value)?);
    }
    Ok(fields)
}

/// A value that a key may have.
pub(super) fn scalar(attribute: &Attribute) -> Result<AttributeValue, NotAValue> {
    match attribute {
        Attribute::S(text) => Ok(AttributeValue::S(text.to_string())),
        Attribute::N(number) => Ok(AttributeValue::N(number.as_str().to_owned())),
        Attribute::B(bytes) => Ok(AttributeValue::B(Blob::new(bytes.clone()))),
        _ => Err(NotAValue),
    }
}

/// A value that a filter may compare with.
pub(super) fn value(attribute: &Attribute) -> Result<AttributeValue, NotAValue> {
    match attribute {
        Attribute::Bool(truth) => Ok(AttributeValue::Bool(*truth)),
        Attribute::Null => Ok(AttributeValue::Null(true)),
        other => scalar(other),
    }
}

/// The key among an item's fields.
pub(super) fn key_of(table: &Table, mut fields: Fields) -> Result<Key, NotAValue> {
    let mut take = |name: &str| fields.remove(name).ok_or(NotAValue).and_then(attribute);
    let partition = take(&table.partition.name)?;
    let sort = table
        .sort
        .as_ref()
        .map(|sort| take(&sort.name))
        .transpose()?;
    Ok((partition, sort))
}

/// An item: key attributes first, the others by name, since the SDK keeps no order.
pub(super) fn item(table: &Table, fields: Fields) -> Result<Item, NotAValue> {
    let rank = |name: &str| {
        if name == &*table.partition.name {
            0
        } else if table.sort.as_ref().is_some_and(|sort| name == &*sort.name) {
            1
        } else {
            2
        }
    };
    let mut attributes = members(fields)?;
    attributes.sort_by(|(a, _), (b, _)| rank(a).cmp(&rank(b)).then_with(|| a.cmp(b)));
    Ok(Item { attributes })
}

pub(super) fn members(fields: Fields) -> Result<Vec<(Arc<str>, Attribute)>, NotAValue> {
    let mut members = fields
        .into_iter()
        .map(|(name, value)| Ok((Arc::<str>::from(name), attribute(value)?)))
        .collect::<Result<Vec<_>, NotAValue>>()?;
    members.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(members)
}

fn attribute(value: AttributeValue) -> Result<Attribute, NotAValue> {
    Ok(match value {
        AttributeValue::S(text) => Attribute::S(text.into()),
        AttributeValue::N(text) => Attribute::N(number(&text)?),
        AttributeValue::B(bytes) => Attribute::B(bytes.into_inner()),
        AttributeValue::Bool(truth) => Attribute::Bool(truth),
        AttributeValue::Null(_) => Attribute::Null,
        AttributeValue::L(elements) => Attribute::L(
            elements
                .into_iter()
                .map(attribute)
                .collect::<Result<_, _>>()?,
        ),
        AttributeValue::M(fields) => Attribute::M(members(fields)?),
        AttributeValue::Ss(texts) => Attribute::Ss(texts.into_iter().map(Text::from).collect()),
        AttributeValue::Ns(texts) => Attribute::Ns(
            texts
                .iter()
                .map(|text| number(text))
                .collect::<Result<_, _>>()?,
        ),
        AttributeValue::Bs(all) => Attribute::Bs(all.into_iter().map(Blob::into_inner).collect()),
        _ => return Err(NotAValue),
    })
}

fn number(text: &str) -> Result<Number, NotAValue> {
    Number::parse(text).map_err(|_| NotAValue)
}
