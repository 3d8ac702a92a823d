//! How an item is written on its line.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

/// How items are written.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ItemLines {
    /// DynamoDB JSON, as the imports from S3 read it: `{"Item":{"PK":{"S":"USER#1"}}}`.
    #[default]
    Dynamodb,
    /// The same, each with the condition that no item of its key is there. The partition key's name.
    DynamodbIfAbsent(String),
    /// Plain JSON for people and other programs: `{"PK":"USER#1"}`. Sets are arrays, binary values Base64.
    Plain,
}

/// What stands around the item on its line.
#[derive(Default)]
pub(super) struct LineFrame {
    pub(super) before: Vec<u8>,
    pub(super) after: Vec<u8>,
}

impl ItemLines {
    /// What stands around the item in DynamoDB JSON; `None` where a line is not that.
    pub(super) fn frame(&self) -> Option<LineFrame> {
        let after = match self {
            Self::Plain => return None,
            Self::Dynamodb => "}\n".to_owned(),
            Self::DynamodbIfAbsent(key) => format!(
                ",\"ConditionExpression\":\"attribute_not_exists(#key)\",\"ExpressionAttributeNames\":{{\"#key\":{}}}}}\n",
                Value::String(key.clone())
            ),
        };
        Some(LineFrame {
            before: b"{\"Item\":".to_vec(),
            after: after.into_bytes(),
        })
    }

    /// Whether it is what exports are without being told.
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// How the names of parts go on.
    pub(super) fn ending(&self) -> &'static str {
        match self {
            Self::Plain => ".ndjson",
            _ => ".json",
        }
    }
}

impl fmt::Display for ItemLines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Plain => "plain JSON",
            _ => "DynamoDB JSON",
        })
    }
}

/// Writes an item in DynamoDB JSON as a line of plain JSON. `None` where it is none.
pub(super) fn plain(item: &[u8], line: &mut Vec<u8>) -> Option<()> {
    let item: Value = serde_json::from_slice(item).ok()?;
    members(&item, line)?;
    line.push(b'\n');
    Some(())
}

fn members(item: &Value, line: &mut Vec<u8>) -> Option<()> {
    line.push(b'{');
    for (at, (name, value)) in item.as_object()?.iter().enumerate() {
        if at > 0 {
            line.push(b',');
        }
        serde_json::to_writer(&mut *line, name).ok()?;
        line.push(b':');
        attribute(value, line)?;
    }
    line.push(b'}');
    Some(())
}

fn attribute(value: &Value, line: &mut Vec<u8>) -> Option<()> {
    let mut all = value.as_object()?.iter();
    let (kind, value) = all.next()?;
    match (kind.as_str(), value) {
        ("N", Value::String(number)) => number_text(number, line)?,
        ("NULL", _) => line.extend_from_slice(b"null"),
        ("M", value) => members(value, line)?,
        ("L" | "NS", Value::Array(values)) => {
            line.push(b'[');
            for (at, value) in values.iter().enumerate() {
                if at > 0 {
                    line.push(b',');
                }
                match value {
                    Value::String(number) => number_text(number, line)?,
                    value => attribute(value, line)?,
                }
            }
            line.push(b']');
        }
        ("S" | "B" | "BOOL" | "SS" | "BS", value) => serde_json::to_writer(line, value).ok()?,
        _ => return None,
    }
    Some(())
}

/// A number with all of its digits.
fn number_text(number: &str, line: &mut Vec<u8>) -> Option<()> {
    let is_number = number.starts_with(|c: char| c == '-' || c.is_ascii_digit());
    match RawValue::from_string(number.to_owned()) {
        Ok(raw) if is_number => line.extend_from_slice(raw.get().as_bytes()),
        _ => serde_json::to_writer(line, number).ok()?,
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_written_for_people_with_all_digits() {
        let item = br#"{"PK":{"S":"A\"\u00e5"},"n":{"N":"12345678901234567890123456789012345678"},"z":{"N":"-1.5E-7"},"t":{"BOOL":true},"nil":{"NULL":true},"b":{"B":"AAE="},"ns":{"NS":["1","2.50"]},"ss":{"SS":["a"]},"l":{"L":[{"N":"1"},{"M":{"x":{"S":"y"}}}]},"m":{"M":{}}}"#;
        let mut line = Vec::new();
        plain(item, &mut line).unwrap();
        assert_eq!(
            String::from_utf8(line).unwrap(),
            "{\"PK\":\"A\\\"å\",\"n\":12345678901234567890123456789012345678,\"z\":-1.5E-7,\"t\":true,\"nil\":null,\"b\":\"AAE=\",\"ns\":[1,2.50],\"ss\":[\"a\"],\"l\":[1,{\"x\":\"y\"}],\"m\":{}}\n"
        );
        assert_eq!(plain(b"{\"a\":1}", &mut Vec::new()), None);
    }

    #[test]
    fn a_condition_names_the_key_whatever_its_name() {
        let lines = ItemLines::DynamodbIfAbsent("a\"b".to_owned());
        let frame = lines.frame().unwrap();
        let line = [&frame.before[..], b"{}", &frame.after].concat();
        let line: Value = serde_json::from_slice(&line).unwrap();
        assert_eq!(line["ExpressionAttributeNames"]["#key"], "a\"b");
        assert_eq!(line["ConditionExpression"], "attribute_not_exists(#key)");
    }
}
