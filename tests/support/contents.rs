//! Whole tables as text that can be compared.

use dynafold::dynamodb::write_item;
use dynafold::target::{Action, Batch, BatchEntry, ScanRequest, Target};
use serde_json::{Map, Value};

/// Everything in a table, in canonical form.
pub(crate) async fn contents(target: &dyn Target, table: &str) -> String {
    let table = target.describe(table).await.unwrap().unwrap().table;
    let mut items = Vec::new();
    let mut from = None;
    loop {
        let page = target
            .scan(&table, &ScanRequest::all(), from)
            .await
            .unwrap();
        for item in page.items {
            let mut line = String::new();
            write_item(&mut line, &item);
            items.push(serde_json::from_str(&line).unwrap());
        }
        match page.next {
            Some(token) => from = Some(token),
            None => return canonical(items.into_iter()),
        }
    }
}

/// Puts items into a table that no mapping makes: DynamoDB JSON.
pub(crate) async fn plant(target: &dyn Target, table: &str, items: &[Value]) {
    let table = target.describe(table).await.unwrap().unwrap().table;
    let mut batch = Batch::new();
    for (fingerprint, item) in (1..).zip(items) {
        let entry = BatchEntry {
            action: Action::Put,
            size: 100,
            units: 1,
            fingerprint,
            ..BatchEntry::default()
        };
        batch.push(entry, |out| out.push_str(&item.to_string()));
    }
    batch.seal();
    let written = target.write(&table, &batch).await.unwrap();
    assert!(written.unprocessed.is_empty());
}

/// Items a line each, sorted, the key before the other attributes and these by their names. Members
/// of maps and sets, which have no order in DynamoDB, are sorted too.
pub(crate) fn canonical(items: impl Iterator<Item = Map<String, Value>>) -> String {
    let line = |mut item: Map<String, Value>| {
        item.values_mut().for_each(sort);
        let mut attributes: Vec<(String, Value)> = item.into_iter().collect();
        attributes.sort_by_key(|(name, _)| (name != "PK", name != "SK", name.clone()));
        serde_json::to_string(&attributes.into_iter().collect::<Map<_, _>>()).unwrap()
    };
    sorted(items.map(line).collect())
}

/// Sorts what has no order within an attribute.
fn sort(attribute: &mut Value) {
    for (kind, value) in attribute.as_object_mut().unwrap() {
        match (kind.as_str(), value) {
            ("M", Value::Object(members)) => {
                members.values_mut().for_each(sort);
                members.sort_keys();
            }
            ("L", Value::Array(elements)) => elements.iter_mut().for_each(sort),
            ("SS" | "NS" | "BS", Value::Array(members)) => {
                members.sort_by_key(ToString::to_string);
            }
            _ => {}
        }
    }
}

/// Lines in the order of their bytes.
pub(crate) fn sorted(mut lines: Vec<String>) -> String {
    lines.sort_unstable();
    lines.join("\n") + "\n"
}
