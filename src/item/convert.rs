//! Turns a value into an attribute.

use super::Attribute;
use crate::value::{UnfitReason, Value};

/// Why a value cannot be an attribute.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConvertError {
    /// When the value, or one within it, is unfit.
    #[error("{0}")]
    Unfit(UnfitReason),
    /// When a set holds members of several kinds, or of a kind that sets cannot hold.
    #[error("a set's members must all be text, all numbers or all binary")]
    MixedSet,
    /// When a set holds one member twice.
    #[error("a set cannot hold a member twice")]
    DuplicateMember,
}

/// Turns a value into an attribute.
///
/// `None` for what is absent in DynamoDB: NULL at the top unless `keep_nulls`, and the empty set.
/// Inside documents and lists NULL stays NULL, because there the position or the member tells.
/// Members of maps come in the order of their names: databases keep JSON objects in orders of
/// their own, and the same data must give the same bytes from all of them.
///
/// # Errors
///
/// [`ConvertError`] when DynamoDB cannot hold the value.
pub fn to_attribute(value: &Value, keep_nulls: bool) -> Result<Option<Attribute>, ConvertError> {
    match value {
        Value::Null => Ok(keep_nulls.then_some(Attribute::Null)),
        Value::Set(members) if members.is_empty() => Ok(None),
        value => convert(value).map(Some),
    }
}

fn convert(value: &Value) -> Result<Attribute, ConvertError> {
    Ok(match value {
        Value::Null => Attribute::Null,
        Value::Bool(truth) => Attribute::Bool(*truth),
        Value::Number(number) => Attribute::N(number.clone()),
        Value::Text(text) => Attribute::S(text.clone()),
        Value::Time(time) => Attribute::S(time.text().clone()),
        Value::Bytes(bytes) => Attribute::B(bytes.clone()),
        Value::List(elements) => {
            Attribute::L(elements.iter().map(convert).collect::<Result<_, _>>()?)
        }
        Value::Map(members) => {
            let mut converted = members
                .iter()
                .map(|(name, member)| Ok((name.clone(), convert(member)?)))
                .collect::<Result<Vec<_>, _>>()?;
            converted.sort_by(|(a, _), (b, _)| a.cmp(b));
            Attribute::M(converted)
        }
        Value::Set(members) => set(members)?,
        Value::Unfit(unfit) => return Err(ConvertError::Unfit(unfit.why)),
    })
}

fn set(members: &[Value]) -> Result<Attribute, ConvertError> {
    to_set(&members.iter().map(convert).collect::<Result<Vec<_>, _>>()?)
}

/// Makes a set of attributes.
///
/// # Errors
///
/// [`ConvertError`] when they are not of one kind that sets can hold, or one is there twice.
pub fn to_set(attributes: &[Attribute]) -> Result<Attribute, ConvertError> {
    let collect = |pick: fn(&Attribute) -> bool| attributes.iter().all(pick);
    let made = if collect(|a| matches!(a, Attribute::S(_))) {
        Attribute::Ss(unique(attributes.iter().filter_map(|a| match a {
            Attribute::S(text) => Some(text.clone()),
            _ => None,
        }))?)
    } else if collect(|a| matches!(a, Attribute::N(_))) {
        Attribute::Ns(unique(attributes.iter().filter_map(|a| match a {
            Attribute::N(number) => Some(number.clone()),
            _ => None,
        }))?)
    } else if collect(|a| matches!(a, Attribute::B(_))) {
        Attribute::Bs(unique(attributes.iter().filter_map(|a| match a {
            Attribute::B(bytes) => Some(bytes.clone()),
            _ => None,
        }))?)
    } else {
        return Err(ConvertError::MixedSet);
    };
    Ok(made)
}

fn unique<T: Ord + Clone>(members: impl Iterator<Item = T>) -> Result<Vec<T>, ConvertError> {
    let members: Vec<T> = members.collect();
    let mut sorted = members.clone();
    sorted.sort();
    if sorted
        .windows(2)
        .any(|pair| matches!(pair, [a, b] if a == b))
    {
        return Err(ConvertError::DuplicateMember);
    }
    Ok(members)
}
