//! Filters on text, and the canonical text of scalars.

use crate::value::Value;

/// The canonical text of a scalar: numbers as DynamoDB answers them, `true` or `false`, times in
/// ISO 8601. `None` for what has no text of its own: NULL, binary, lists, maps, sets, unfit values.
pub(crate) fn canonical(value: &Value) -> Option<&str> {
    match value {
        Value::Bool(true) => Some("true"),
        Value::Bool(false) => Some("false"),
        Value::Number(number) => Some(number.as_str()),
        Value::Text(text) => Some(text),
        Value::Time(time) => Some(time.as_str()),
        Value::Null
        | Value::Bytes(_)
        | Value::List(_)
        | Value::Map(_)
        | Value::Set(_)
        | Value::Unfit(_) => None,
    }
}

/// The first `length` characters (Unicode scalar values, not bytes and not graphemes).
pub(super) fn truncate(text: &str, length: usize) -> &str {
    let end = text.char_indices().nth(length).map_or(text.len(), |c| c.0);
    text.get(..end).unwrap_or(text)
}

/// crc32 (IEEE, as zlib computes it) of the text, modulo `shards`, in the width of `shards - 1`.
pub(super) fn shard(text: &str, shards: u32) -> String {
    numbered(crc32fast::hash(text.as_bytes()) % shards.max(1), shards)
}

/// The text of a shard's number, padded to the width of the last one's.
pub(super) fn numbered(shard: u32, shards: u32) -> String {
    let width = shards.saturating_sub(1).to_string().len();
    format!("{shard:0width$}")
}
