//! `string`, `number`, `bool`, `json` and `set`: the DynamoDB type that is wanted.

use super::{ApplyError, text};
use crate::value::{Number, Value, parse_document, write_document};

/// The canonical text of anything but binary.
pub(super) fn string(value: &Value) -> Option<Value> {
    match value {
        Value::List(_) | Value::Map(_) | Value::Set(_) => {
            Some(Value::Text(write_document(value).into()))
        }
        scalar => text::canonical(scalar).map(|text| Value::Text(text.into())),
    }
}

pub(super) fn number(text: &str) -> Result<Value, ApplyError> {
    Number::parse(text)
        .map(Value::Number)
        .map_err(ApplyError::NotANumber)
}

pub(super) fn truth(text: &str) -> Result<Value, ApplyError> {
    let is = |words: &[&str]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
    if is(&["true", "t", "yes", "1"]) {
        Ok(Value::Bool(true))
    } else if is(&["false", "f", "no", "0"]) {
        Ok(Value::Bool(false))
    } else {
        Err(ApplyError::NotABoolean)
    }
}

pub(super) fn document(text: &str) -> Result<Value, ApplyError> {
    parse_document(text).map_err(|_| ApplyError::NotJson)
}

/// A list as a set, or a scalar as a set of one. That the members are of one kind and differ is
/// checked where the attribute is made.
pub(super) fn set(value: Value) -> Result<Value, ApplyError> {
    let members = match value {
        Value::List(members) => members,
        scalar => vec![scalar],
    };
    for member in &members {
        match member {
            Value::Number(_) | Value::Text(_) | Value::Time(_) | Value::Bytes(_) => {}
            Value::Null => return Err(ApplyError::NullMember),
            Value::Unfit(unfit) => return Err(ApplyError::Unfit(unfit.why)),
            Value::Bool(_) | Value::List(_) | Value::Map(_) | Value::Set(_) => {
                return Err(ApplyError::SetMember {
                    given: member.kind(),
                });
            }
        }
    }
    Ok(Value::Set(members))
}
