//! What a load leaves behind, and its books, to be compared with those of another.

use serde_json::{Map, Value};

/// All that a load leaves behind.
#[derive(PartialEq, Eq)]
pub(in crate::load) struct Left {
    pub(super) items: Vec<String>,
    pub(super) rejects: Vec<String>,
    pub(super) archive: Vec<String>,
    pub(super) part: bool,
}

impl Left {
    /// Fails, with the first differences, where something else is left than in another case.
    #[track_caller]
    pub(super) fn hold(&self, other: &Self, said: &str) {
        same("items", &self.items, &other.items, said);
        same("rejects", &self.rejects, &other.rejects, said);
        same("archive", &self.archive, &other.archive, said);
        assert!(!self.part, "{said}: the archive is still a part");
    }
}

#[track_caller]
fn same(what: &str, found: &[String], wanted: &[String], said: &str) {
    if found == wanted {
        return;
    }
    let beyond = |some: &[String], others: &[String]| -> Vec<String> {
        let mut others: Vec<&String> = others.iter().collect();
        let mut left = Vec::new();
        for one in some {
            match others.iter().position(|other| *other == one) {
                Some(at) => drop(others.swap_remove(at)),
                None => left.push(one.clone()),
            }
        }
        left
    };
    let (extra, missing) = (beyond(found, wanted), beyond(wanted, found));
    let first = |lines: &[String]| lines.iter().take(3).cloned().collect::<Vec<_>>();
    panic!(
        "{said}: {what}: {} beyond {:#?}, {} missing {:#?}",
        extra.len(),
        first(&extra),
        missing.len(),
        first(&missing)
    );
}

/// The books of a report in a form that does not depend on what an attempt found done: items that
/// were written and items that were there already count the same.
pub(super) fn books(report: &Value) -> Value {
    let plain = |books: &Value| {
        let mut all: Map<String, Value> = books.as_object().unwrap().clone();
        let figure = |name: &str| books[name].as_u64().unwrap();
        all.insert(
            "there".into(),
            (figure("written") + figure("unchanged")).into(),
        );
        let largest = books["largest"]["bytes"].clone();
        all.insert("largest".into(), largest);
        for name in ["written", "unchanged", "changed", "deleted"] {
            all.remove(name);
        }
        Value::Object(all)
    };
    report["item_types"]
        .as_array()
        .unwrap()
        .iter()
        .map(plain)
        .collect()
}

/// A figure of the total.
pub(super) fn total(report: &Value, name: &str) -> u64 {
    report["total"][name]
        .as_u64()
        .unwrap_or_else(|| panic!("{name}: {report:#}"))
}
