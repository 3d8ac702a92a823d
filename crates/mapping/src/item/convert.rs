//! Turns a value into an attribute.

use std::collections::BTreeSet;
use std::sync::Arc;

use dynafold_dynamodb::Attribute;
use dynafold_relational::value::Value;

use crate::template::ApplyError;

/// Turns a value into an attribute.
///
/// `None` for what is absent in DynamoDB: NULL at the top unless `keep_nulls`, and the empty set.
/// Inside documents and lists NULL stays NULL, because there the position or the member tells.
/// Members of maps come in the order of their names: databases keep JSON objects in orders of
/// their own, and the same data must give the same bytes from all of them.
///
/// # Errors
///
/// [`ApplyError`] when DynamoDB cannot hold the value.
pub fn to_attribute(value: &Value, keep_nulls: bool) -> Result<Option<Attribute>, ApplyError> {
    match value {
        Value::Null => Ok(keep_nulls.then_some(Attribute::Null)),
        Value::Set(members) if members.is_empty() => Ok(None),
        value => convert(value).map(Some),
    }
}

fn convert(value: &Value) -> Result<Attribute, ApplyError> {
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
                .map(|(name, member)| Ok((Arc::from(name.as_str()), convert(member)?)))
                .collect::<Result<Vec<(Arc<str>, Attribute)>, _>>()?;
            converted.sort_by(|(a, _), (b, _)| a.cmp(b));
            Attribute::M(converted)
        }
        Value::Set(members) => set(members)?,
        Value::Unfit(unfit) => return Err(ApplyError::Unfit(unfit.why)),
    })
}

fn set(members: &[Value]) -> Result<Attribute, ApplyError> {
    to_set(&members.iter().map(convert).collect::<Result<Vec<_>, _>>()?)
}

/// Makes a set of attributes.
///
/// # Errors
///
/// [`ApplyError`] when they are not of one kind that sets can hold, or one is there twice.
pub fn to_set(attributes: &[Attribute]) -> Result<Attribute, ApplyError> {
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
        _ => Err(ApplyError::MixedSet),
    }
}

/// What is picked of each attribute; `None` where one is of another kind.
fn all<T: Clone>(attributes: &[Attribute], pick: fn(&Attribute) -> Option<&T>) -> Option<Vec<T>> {
    attributes.iter().map(|each| pick(each).cloned()).collect()
}

fn unique<T: Ord>(members: Vec<T>) -> Result<Vec<T>, ApplyError> {
    let different: BTreeSet<&T> = members.iter().collect();
    if different.len() < members.len() {
        return Err(ApplyError::DuplicateMember);
    }
    Ok(members)
}
