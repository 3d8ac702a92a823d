//! Turns a value into an attribute.

use std::collections::BTreeSet;

use dynafold_dynamodb::Attribute;
use dynafold_relational::value::{UnfitReason, Value};

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
    let texts = all(attributes, |attribute| match attribute {
        Attribute::S(text) => Some(text),
        _ => None,
    });
    let numbers = all(attributes, |attribute| match attribute {
        Attribute::N(number) => Some(number),
        _ => None,
    });
    let binaries = all(attributes, |attribute| match attribute {
        Attribute::B(bytes) => Some(bytes),
        _ => None,
    });
    match (texts, numbers, binaries) {
        (Some(texts), ..) => unique(texts).map(Attribute::Ss),
        (_, Some(numbers), _) => unique(numbers).map(Attribute::Ns),
        (.., Some(binaries)) => unique(binaries).map(Attribute::Bs),
        _ => Err(ConvertError::MixedSet),
    }
}

/// What is picked of each attribute; `None` where one is of another kind.
fn all<T: Clone>(attributes: &[Attribute], pick: fn(&Attribute) -> Option<&T>) -> Option<Vec<T>> {
    attributes.iter().map(|each| pick(each).cloned()).collect()
}

fn unique<T: Ord>(members: Vec<T>) -> Result<Vec<T>, ConvertError> {
    let different: BTreeSet<&T> = members.iter().collect();
    if different.len() < members.len() {
        return Err(ConvertError::DuplicateMember);
    }
    Ok(members)
}
