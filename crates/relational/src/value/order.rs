//! One order over all values, the same whatever the database's collation.

use std::cmp::Ordering;

use super::Value;

/// Compares two values: NULL first, then booleans, numbers by value, texts and times by their
/// bytes, binary; what is made of parts by its parts. Equal only if they are.
pub fn compare(a: &Value, b: &Value) -> Ordering {
    match (a, b) {
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (Value::Number(a), Value::Number(b)) => a.cmp(b),
        (Value::Text(a), Value::Text(b)) => a.cmp(b),
        (Value::Time(a), Value::Time(b)) => a.as_str().cmp(b.as_str()),
        (Value::Bytes(a), Value::Bytes(b)) => a.cmp(b),
        (Value::List(a) | Value::Set(a), Value::List(b) | Value::Set(b)) => {
            let mut pairs = a.iter().zip(b).map(|(a, b)| compare(a, b));
            let first = pairs.find(|order| order.is_ne());
            first.unwrap_or_else(|| a.len().cmp(&b.len()))
        }
        (Value::Map(a), Value::Map(b)) => {
            let mut pairs = a
                .iter()
                .zip(b)
                .map(|((m, a), (n, b))| m.cmp(n).then_with(|| compare(a, b)));
            let first = pairs.find(|order| order.is_ne());
            first.unwrap_or_else(|| a.len().cmp(&b.len()))
        }
        (Value::Unfit(a), Value::Unfit(b)) => a.text.cmp(&b.text),
        (a, b) => rank(a).cmp(&rank(b)),
    }
}

fn rank(value: &Value) -> u8 {
    match value {
        Value::Null => 0,
        Value::Bool(_) => 1,
        Value::Number(_) => 2,
        Value::Text(_) => 3,
        Value::Time(_) => 4,
        Value::Bytes(_) => 5,
        Value::List(_) | Value::Set(_) => 6,
        Value::Map(_) => 7,
        Value::Unfit(_) => 8,
    }
}
