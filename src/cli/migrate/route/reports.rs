//! What a bulk operation reports of items that it did not write.
//!
//! DynamoDB writes the reports as objects below a prefix. Of a line this takes the item, wherever in it that stands: the first
//! value that has the table's key attributes in DynamoDB JSON. Lines without one are counted like the others, and said.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Read as _};

use serde::Serialize;
use serde_json::{Map, Value};

use crate::cli::failure::Failure;
use crate::dynamodb::Table;
use crate::target::parts::{ExportPlace, unpacked};

/// Most bytes of one report that are read, once it is unpacked.
const MOST_BYTES: u64 = 256 << 20;
/// Characters of a message that are kept.
const MOST_TEXT: usize = 500;

/// What the reports of an operation hold.
#[derive(Debug, Default, Serialize)]
pub(super) struct Reports {
    /// Where they are.
    pub(super) place: String,
    /// Lines of items that were refused for an error of their own.
    pub(super) errors: u64,
    /// Lines of items whose condition was not met: one of their keys was there.
    pub(super) condition_failures: u64,
    /// Of all these, lines in which no item was found, or that are not JSON.
    pub(super) unread: u64,
    /// Reports that were not read to their end: they are damaged, or longer than [`MOST_BYTES`].
    pub(super) cut: u64,
    #[serde(skip)]
    by_key: HashMap<String, Reported>,
}

/// What is said of an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reported {
    /// The code in the rejects file: `refused` for an error of its own, `exists` if an item of its key is in the table.
    pub(super) code: &'static str,
    pub(super) message: String,
}

impl Reports {
    /// What is said of the item of a key, in DynamoDB JSON.
    pub(super) fn of(&self, key: &str) -> Option<&Reported> {
        let key: Value = serde_json::from_str(key).ok()?;
        self.by_key.get(&canonical(key.as_object()?))
    }

    /// Takes the lines of a report as it lies in S3, no more than `most` bytes of them.
    fn take_all(&mut self, packed: &[u8], most: u64, is_condition: bool, table: &Table) {
        let Ok(unpacked) = unpacked(packed) else {
            self.cut += 1;
            return;
        };
        let mut reader = BufReader::new(unpacked).take(most.saturating_add(1));
        let mut line = Vec::new();
        loop {
            line.clear();
            match reader.read_until(b'\n', &mut line) {
                Ok(0) if reader.limit() > 0 => return,
                Ok(_) if reader.limit() > 0 => self.take(line.trim_ascii(), is_condition, table),
                _ => {
                    self.cut += 1;
                    return;
                }
            }
        }
    }

    fn take(&mut self, line: &[u8], is_condition: bool, table: &Table) {
        if line.is_empty() {
            return;
        }
        let line: Value = serde_json::from_slice(line).unwrap_or_default();
        let is_condition = is_condition || says_condition(&line, table);
        let (counted, code, otherwise) = if is_condition {
            (
                &mut self.condition_failures,
                "exists",
                "the table has an item with this key, which was left unchanged",
            )
        } else {
            (&mut self.errors, "refused", "DynamoDB refused the item")
        };
        *counted += 1;
        let Some(item) = item(&line, table) else {
            self.unread += 1;
            return;
        };
        let keys = table
            .key()
            .filter_map(|key| Some((key.name.to_string(), item.get(&*key.name)?.clone())));
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
        let name = object.name.strip_prefix(prefix).unwrap_or(&object.name);
        if let Some(is_condition) = report_kind(name) {
            let mut packed = Vec::new();
            bucket.read(&object.name, &mut packed).await?;
            reports.take_all(&packed, MOST_BYTES, is_condition, table);
        }
    }
    Ok(reports)
}

/// Whether a report is of conditions that were not met, by its name below the prefix; `None` for what is no report.
fn report_kind(name: &str) -> Option<bool> {
    let name = name.to_ascii_lowercase();
    let file = name.rsplit('/').next().unwrap_or(&name);
    let is_report =
        !file.is_empty() && !file.starts_with("manifest") && file.rsplit('.').next() != Some("md5");
    is_report.then(|| name.contains("condition"))
}

/// The first value that holds the table's key in DynamoDB JSON, at any depth: the attempted item stands before the one
/// that is there.
fn item<'v>(value: &'v Value, table: &Table) -> Option<&'v Map<String, Value>> {
    match value {
        Value::Object(members) if is_item(members, table) => Some(members),
        Value::Object(members) => members.values().find_map(|value| item(value, table)),
        Value::Array(values) => values.iter().find_map(|value| item(value, table)),
        _ => None,
    }
}

/// Whether a map has the table's key in DynamoDB JSON.
fn is_item(members: &Map<String, Value>, table: &Table) -> bool {
    table.key().all(|key| {
        let attribute = members.get(&*key.name);
        attribute
            .and_then(|attribute| attribute.get(key.key_type.word()))
            .is_some_and(Value::is_string)
    })
}

/// Whether a line tells of a condition that was not met, outside the items in it.
fn says_condition(value: &Value, table: &Table) -> bool {
    let says = |text: &str| text.contains("CONDITION_CHECK_FAILURE");
    match value {
        Value::String(text) => says(text),
        Value::Object(members) if is_item(members, table) => false,
        Value::Object(members) => {
            let mut members = members.iter();
            members.any(|(name, value)| says(name) || says_condition(value, table))
        }
        Value::Array(values) => values.iter().any(|value| says_condition(value, table)),
        _ => false,
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
            format!(r#"{{"errorMessage":"too large","item":{own}}}"#).as_bytes(),
            false,
            &table(),
        );
        reports.take(br#"{"type":"CONDITION_CHECK_FAILURE","attempted":{"Item":{"SK":{"S":"2"},"PK":{"S":"a"}}},"existing":{"PK":{"S":"a"},"SK":{"S":"2"}}}"#, false, &table());
        reports.take(
            br#"{"errorMessage":"the line is not JSON","line":7}"#,
            false,
            &table(),
        );
        reports.take(b"{not", false, &table());
        reports.take(br#"{"line":8}"#, false, &table());
        assert_eq!(
            (reports.errors, reports.condition_failures, reports.unread),
            (4, 1, 3)
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

    #[test]
    fn what_an_item_holds_is_not_what_is_said_of_it() {
        let mut reports = Reports::default();
        let item = r#"{"PK":{"S":"CONDITION_CHECK_FAILURE"},"SK":{"S":"1"}}"#;
        let line = format!(r#"{{"errorMessage":"too large","item":{item}}}"#);
        reports.take(line.as_bytes(), false, &table());
        assert_eq!((reports.errors, reports.condition_failures), (1, 0));
    }

    #[test]
    fn reports_that_are_long_or_damaged_are_cut_and_counted() {
        let line = |sort: u32| {
            format!("{{\"item\":{{\"PK\":{{\"S\":\"a\"}},\"SK\":{{\"S\":\"{sort}\"}}}}}}\n")
        };
        let text: String = (0..9).map(line).collect();
        let whole = u64::try_from(text.len()).unwrap();
        let read = |packed: &[u8], most| {
            let mut reports = Reports::default();
            reports.take_all(packed, most, false, &table());
            (reports.errors, reports.unread, reports.cut)
        };
        assert_eq!(read(text.as_bytes(), whole), (9, 0, 0));
        assert_eq!(read(text.as_bytes(), whole - 1), (8, 0, 1));
        assert_eq!(read(text.as_bytes(), whole / 3), (3, 0, 1));
        assert_eq!(read(b"\xff\n{not\n\n", whole), (2, 2, 0));
        // A stored block of a gzip file that ends behind it.
        let length = u16::try_from(text.len()).unwrap();
        let mut packed = b"\x1f\x8b\x08\0\0\0\0\0\0\xff\0".to_vec();
        packed.extend(length.to_le_bytes());
        packed.extend((!length).to_le_bytes());
        packed.extend(text.as_bytes());
        assert_eq!(read(&packed, whole * 2), (9, 0, 1));
    }

    #[test]
    fn reports_are_known_by_their_names() {
        for (name, is_condition) in [
            ("error/00000.json.gz", Some(false)),
            ("CONDITION_CHECK_FAILURE/manifest-files.json", None),
            ("condition_check_failure/00000.json.gz", Some(true)),
            ("manifest-of/00000.json", Some(false)),
            ("error/00000.md5", None),
            ("error/", None),
        ] {
            assert_eq!(report_kind(name), is_condition, "{name}");
        }
    }
}
