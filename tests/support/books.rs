//! The books of a report, added up from its JSON.

use serde_json::Value;

/// Fails unless the books of a comparison balance: every row and every item of each item type and
/// of all together is accounted for, once.
pub(crate) fn hold_compared(report: &Value) {
    let total = &report["total"];
    let item_types = report["item_types"].as_array().unwrap();
    assert!(!item_types.is_empty(), "{report:#}");
    for books in item_types.iter().chain([total]) {
        let sum = |names: &[&str]| names.iter().map(|name| figure(books, name)).sum::<u64>();
        let rows = sum(&["rows_read", "expanded"]);
        let left_out = sum(&["filtered", "empty", "expired", "rejected", "unsampled"]);
        let expected = figure(books, "expected");
        assert_eq!(rows, left_out + expected, "{report:#}");
        let found = sum(&["equal", "missing", "gone", "different", "uncompared"]);
        assert_eq!(expected, found, "{report:#}");
    }
    for (name, all) in total.as_object().unwrap() {
        if let Some(all) = all.as_u64() {
            let sum: u64 = item_types.iter().map(|books| figure(books, name)).sum();
            assert_eq!(all, sum, "{name}: {report:#}");
        }
    }
}

fn figure(books: &Value, name: &str) -> u64 {
    books[name]
        .as_u64()
        .unwrap_or_else(|| panic!("{name}: {books:#}"))
}

/// The verdict of a report's claim.
#[track_caller]
pub(crate) fn claimed<'r>(report: &'r Value, claim: &str) -> &'r str {
    let mut claims = report["claims"].as_array().unwrap().iter();
    let found = claims.find(|found| found["claim"] == claim);
    found.unwrap_or_else(|| panic!("{claim}: {report:#}"))["verdict"]
        .as_str()
        .unwrap()
}

/// Fails unless the books of a load balance in the same way.
#[track_caller]
pub(crate) fn hold_loaded(report: &Value) {
    let total = &report["total"];
    let item_types = report["item_types"].as_array().unwrap();
    let finished = ["complete", "complete_with_rejects"]
        .contains(&report["outcome"]["state"].as_str().unwrap());
    let verdict = if finished { "proved" } else { "not_proved" };
    assert_eq!(claimed(report, "books_balance"), verdict, "{report:#}");
    for books in item_types.iter().chain([total]) {
        let sum = |names: &[&str]| names.iter().map(|name| figure(books, name)).sum::<u64>();
        let at_fold = figure(books, "rejected") - sum(&["rejected_by_service", "undeleted"]);
        let left_out = sum(&["filtered", "empty", "expired", "archived"]) + at_fold;
        assert_eq!(
            sum(&["rows_read", "expanded"]),
            left_out + figure(books, "made"),
            "{report:#}"
        );
        let ended = [
            "written",
            "unchanged",
            "planned",
            "rejected_by_service",
            "unwritten",
        ];
        assert_eq!(figure(books, "made"), sum(&ended), "{report:#}");
    }
    for (name, all) in total.as_object().unwrap() {
        if let Some(all) = all.as_u64() {
            let sum: u64 = item_types.iter().map(|books| figure(books, name)).sum();
            assert_eq!(all, sum, "{name}: {report:#}");
        }
    }
}
