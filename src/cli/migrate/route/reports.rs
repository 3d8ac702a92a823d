//! What a bulk operation reports of items that it did not write.
//!
//! DynamoDB writes the reports as objects below a prefix. Of a line this takes the item, wherever in it that stands: the first
//! value that has the table's key attributes in DynamoDB JSON. Lines without one are counted, and said.

use std::collections::HashMap;
use std::io::Read as _;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::cli::failure::Failure;
use crate::dynamodb::Table;
use crate::target::parts::{ExportPlace, unpacked};

/// Bytes of one report that are read at once: no more are kept in memory.
const MOST_BYTES: u64 = 256 << 20;
/// Characters of a message that are kept.
const MOST_TEXT: usize = 500;

/// What the reports of an operation hold.
#[derive(Debug, Default, Serialize)]
pub(super) struct Reports {
    /// Where they are.
    pub(super) place: String,
    /// Items that were refused for an error of their own.
    pub(super) errors: u64,
    /// Items whose condition was not met: one of their keys was there.
    pub(super) condition_failures: u64,
    /// Lines in which no item was found.
    pub(super) unread: u64,
    #[serde(skip)]
    by_key: HashMap<String, Reported>,
}

/// What is said of an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reported {
    /// `refused` or `exists`.
    pub(super) code: &'static str,
    pub(super) message: String,
}

impl Reports {
    /// What is said of the item of a key, in DynamoDB JSON.
    pub(super) fn of(&self, key: &str) -> Option<&Reported> {
        let key: Value = serde_json::from_str(key).ok()?;
        self.by_key.get(&canonical(key.as_object()?))
    }

    fn take(&mut self, line: &str, is_condition: bool, table: &Table) {
        let Ok(line) = serde_json::from_str::<Value>(line) else {
            self.unread += 1;
            return;
        };
        let is_condition = is_condition || line.to_string().contains("CONDITION_CHECK_FAILURE");
        let Some(item) = item(&line, table) else {
            // The first line of a report, or the manifest beside it, may tell of the report itself.
            self.unread += u64::from(line.get("Item").is_some() || text(&line).is_some());
            return;
        };
        let keys = table
            .key()
            .filter_map(|key| Some((key.name.to_string(), item.get(&*key.name)?.clone())));
        let (code, otherwise) = if is_condition {
            self.condition_failures += 1;
            (
                "exists",
                "an item of its key is in the table, and was left as it is",
            )
        } else {
            self.errors += 1;
            ("refused", "DynamoDB refused the item")
        };
        let message = text(&line)
            .unwrap_or(otherwise)
            .chars()
            .take(MOST_TEXT)
            .collect();
        self.by_key
            .insert(canonical(&keys.collect()), Reported { code, message });
    }
}

/// Reads the reports below a prefix of an export's place.
pub(super) async fn read(
    place: &ExportPlace,
    prefix: &str,
    table: &Table,
) -> Result<Reports, Failure> {
    let ExportPlace::Bucket(bucket) = place else {
        return Ok(Reports::default());
    };
    let mut reports = Reports {
        place: format!("{place}/{prefix}"),
        ..Reports::default()
    };
    for object in bucket.list(prefix, usize::MAX).await? {
        let name = object.name.to_ascii_lowercase();
        if name.contains("manifest")
            || name.rsplit('.').next() == Some("md5")
            || name.ends_with('/')
        {
            continue;
        }
        let mut packed = Vec::new();
        bucket.read(&object.name, &mut packed).await?;
        let mut text = String::new();
        let unread = |error| {
            let message = format!("the report {place}/{} cannot be read", object.name);
            Failure::failed(message).with_cause(&error)
        };
        unpacked(&packed)
            .map_err(unread)?
            .take(MOST_BYTES)
            .read_to_string(&mut text)
            .map_err(unread)?;
        let is_condition = name.contains("condition");
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            reports.take(line, is_condition, table);
        }
    }
    Ok(reports)
}

/// The first value that holds the table's key in DynamoDB JSON, at any depth: the attempted item stands before the one
/// that is there.
fn item<'v>(value: &'v Value, table: &Table) -> Option<&'v Map<String, Value>> {
    match value {
        Value::Object(members) => {
            let is_key = |key: &crate::dynamodb::KeyAttribute| {
                let attribute = members.get(&*key.name);
                attribute
                    .and_then(|attribute| attribute.get(key.key_type.word()))
                    .is_some_and(Value::is_string)
            };
            if table.key().all(is_key) {
                return Some(members);
            }
            members.values().find_map(|value| item(value, table))
        }
        Value::Array(values) => values.iter().find_map(|value| item(value, table)),
        _ => None,
    }
}

/// What a line says in words, under any of the names that messages have.
fn text(line: &Value) -> Option<&str> {
    let members = line.as_object()?;
    let named = members.iter().find(|(name, _)| {
        let name = name.to_ascii_lowercase();
        name.contains("message") || name.contains("reason")
    });
    match named?.1 {
        Value::String(text) => Some(text),
        Value::Array(texts) => texts.first()?.as_str(),
        _ => None,
    }
}

/// A key as one text, whatever the order of its attributes.
fn canonical(key: &Map<String, Value>) -> String {
    let mut attributes: Vec<String> = key
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    attributes.sort_unstable();
    attributes.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dynamodb::{Billing, KeyAttribute, KeyType, Settings};

    fn table() -> Table {
        let key = |name: &str| KeyAttribute {
            name: name.into(),
            key_type: KeyType::S,
        };
        Table {
            name: "app".to_owned(),
            partition: key("PK"),
            sort: Some(key("SK")),
            indexes: Vec::new(),
            local_indexes: Vec::new(),
            ttl: None,
            billing: Billing::OnDemand,
            settings: Settings::default(),
        }
    }

    #[test]
    fn items_are_found_wherever_they_stand() {
        let mut reports = Reports::default();
        let own = r#"{"PK":{"S":"a"},"SK":{"S":"1"},"x":{"N":"1"}}"#;
        reports.take(
            &format!(r#"{{"errorMessage":"too large","item":{own}}}"#),
            false,
            &table(),
        );
        reports.take(r#"{"type":"CONDITION_CHECK_FAILURE","attempted":{"Item":{"SK":{"S":"2"},"PK":{"S":"a"}}},"existing":{"PK":{"S":"a"},"SK":{"S":"2"}}}"#, false, &table());
        reports.take(
            r#"{"errorMessage":"the line is not JSON","line":7}"#,
            false,
            &table(),
        );
        reports.take("{not", false, &table());
        assert_eq!(
            (reports.errors, reports.condition_failures, reports.unread),
            (1, 1, 2)
        );
        let refused = reports.of(r#"{"SK":{"S":"1"},"PK":{"S":"a"}}"#).unwrap();
        assert_eq!(
            (refused.code, refused.message.as_str()),
            ("refused", "too large")
        );
        let there = reports.of(r#"{"PK":{"S":"a"},"SK":{"S":"2"}}"#).unwrap();
        assert_eq!(there.code, "exists");
        assert_eq!(reports.of(r#"{"PK":{"S":"b"},"SK":{"S":"2"}}"#), None);
    }
}
