//! What a comparison found.

use super::{FAILED, ReportColumn, books};
use crate::cli::format::{count, counted, counted_as, rate, seconds, whole};
use crate::load::UNCLEAR_WHY;
use crate::verify::{
    AttributeDifference, ComparedBooks, Finding, FindingKind, VerifyOutcome, VerifyReport,
};

/// What a comparison found.
pub(in crate::cli) fn verification(report: &VerifyReport) -> String {
    let mut out = Vec::new();
    let columns: &[ReportColumn<'_, ComparedBooks>] = &[
        ("rows", &|b| count(b.rows_read), true),
        ("filtered", &|b| count(b.filtered), true),
        ("empty", &|b| count(b.empty), false),
        ("more elements", &|b| count(b.expanded), false),
        ("expired", &|b| count(b.expired), false),
        ("rejected", &|b| count(b.rejected), true),
        ("not sampled", &|b| count(b.unsampled), false),
        ("expected", &|b| count(b.expected), true),
        ("equal", &|b| count(b.equal), true),
        ("missing", &|b| count(b.missing), true),
        ("gone", &|b| count(b.gone), false),
        ("different", &|b| count(b.different), true),
        ("made by others", &|b| count(b.foreign), false),
        ("repaired", &|b| count(b.repaired), false),
        ("refused", &|b| count(b.refused), false),
    ];
    out.push(books(
        columns,
        &report.item_types,
        |b| &b.item_type,
        &report.total,
    ));
    out.push(String::new());
    out.push(format!(
        "{} at {}: {} compared in {}, {}",
        report.table,
        report.place,
        counted(report.total.compared(), "item"),
        seconds(report.elapsed_seconds),
        rate(report.items_per_second, "item"),
    ));
    out.push(unexpected(report));
    if let Some(items @ 1..) = report.elsewhere {
        let items = counted_as(items, "item that belongs", "items that belong");
        out.push(format!(
            "{items} to no item type of the mapping, not compared"
        ));
    }
    if report.unclear > 0 {
        let items = counted(report.unclear, "item");
        out.push(format!(
            "{items} that no row of this run makes: {UNCLEAR_WHY}"
        ));
    }
    out.extend(expiry(report));
    out.extend(report.findings.iter().map(finding));
    for reject in &report.rejects {
        out.push(format!(
            "  rejected: {} from row {}: {} [{}]",
            reject.item_type, reject.row, reject.message, reject.code
        ));
    }
    let rejected = report.total.rejected + report.total.refused;
    let more = rejected.saturating_sub(whole(report.rejects.len()));
    if more > 0 {
        let were = counted_as(more, "more was", "more were");
        out.push(format!("  and {were} rejected"));
    }
    out.push(ending(report));
    out.join("\n")
}

fn unexpected(report: &VerifyReport) -> String {
    match (report.unexpected, &report.unexpected_why_not) {
        (Some(0), _) if report.unclear == 0 => "no unexpected items in the table".to_owned(),
        (Some(0), _) => "no item in the table is known to be unexpected".to_owned(),
        (Some(items), _) => format!(
            "{} in the table that the source does not make",
            counted(items, "item")
        ),
        (None, Some(why)) => {
            format!("items that the source does not make were not looked for: {why}")
        }
        (None, None) => {
            "the search for items that the source does not make did not finish".to_owned()
        }
    }
}

fn ending(report: &VerifyReport) -> String {
    let total = &report.total;
    let because = report.claims.iter().map(|claim| claim.because.as_str());
    let because = because.collect::<Vec<_>>().join("; ");
    let left = match total.foreign {
        0 => String::new(),
        items => format!(
            "; not repaired because something else has made them: {}",
            counted(items, "item")
        ),
    };
    let written = || format!("repaired: {} written", counted(total.repaired, "item"));
    let line = match &report.outcome {
        VerifyOutcome::Equal if total.rejected == 0 && report.unclear == 0 => {
            format!("verified: {because}")
        }
        VerifyOutcome::Repaired => format!("{}; {because}", written()),
        VerifyOutcome::Different if report.repair.is_some() => {
            format!("{}; {because}{left}", written())
        }
        // Why is said where the command ends.
        VerifyOutcome::Failed(_) => FAILED.to_owned(),
        _ => because,
    };
    let stale = |finding: &Finding| finding.kind == FindingKind::Stale;
    if report.findings.iter().any(stale) {
        return format!("{line}\n{STALE}");
    }
    line
}

/// What becomes of stale items.
const STALE: &str = "stale items stay, even with --repair: `migrate --changes-only --prune` deletes those whose rows are gone, and --prune=filtered also those whose rows a `where`, a view or a query leaves out";

/// What expired and what of it is in the table.
fn expiry(report: &VerifyReport) -> Vec<String> {
    let (total, mut out) = (&report.total, Vec::new());
    if total.expired > 0 {
        out.push(format!(
            "not expected because they had expired at {}: {}; still in the table: {}",
            report.now,
            counted(total.expired, "row"),
            counted(report.lingering, "item")
        ));
    }
    if total.gone > 0 {
        out.push(format!(
            "expired, and no longer in the table: {}",
            counted(total.gone, "item")
        ));
    }
    if report.expired_meanwhile > 0 {
        out.push(format!(
            "equal or repaired, but expired and no longer in the table at the end: {}",
            counted(report.expired_meanwhile, "item")
        ));
    }
    out
}

fn finding(finding: &Finding) -> String {
    let item_type = finding.item_type.as_deref().unwrap_or("item");
    let row = finding
        .row
        .as_ref()
        .map_or(String::new(), |row| format!(" from row {row}"));
    match finding.kind {
        FindingKind::Missing => format!("  missing: {item_type} {}{row}", finding.key),
        FindingKind::Stale => format!(
            "  stale: {item_type} {}: {}",
            finding.key,
            finding.stale.unwrap_or_default()
        ),
        FindingKind::Unexpected => format!("  unexpected: {}", finding.key),
        FindingKind::Different => {
            let attributes: Vec<String> = finding
                .attributes
                .iter()
                .map(|attribute| {
                    let what = match attribute.difference {
                        AttributeDifference::Missing => "is missing".to_owned(),
                        AttributeDifference::Unexpected => "should not be there".to_owned(),
                        AttributeDifference::Type { expected, found } => {
                            format!("is {found} and should be {expected}")
                        }
                        AttributeDifference::Order => "is in another order".to_owned(),
                        AttributeDifference::Value => "has another value".to_owned(),
                    };
                    format!("`{}` {what}", attribute.name)
                })
                .collect();
            let made_by = match (&finding.made_by, &finding.foreign) {
                (Some(other), _) => {
                    format!(" (an item of {other} is there: it is not repaired)")
                }
                (None, Some(name)) => {
                    format!(" (its `{name}` is not {item_type}: it is not repaired)")
                }
                (None, None) => String::new(),
            };
            format!(
                "  different: {item_type} {}{row}: {}{made_by}",
                finding.key,
                attributes.join(", ")
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::claim::{Claim, ClaimKind, ClaimSubject, ClaimVerdict};
    use crate::load::{Failure, RejectNote};

    fn report(outcome: VerifyOutcome, because: &str) -> VerifyReport {
        let shown = (ClaimVerdict::NotProved, because.to_owned());
        let of = ClaimSubject::default();
        VerifyReport {
            outcome,
            claims: vec![Claim::new(ClaimKind::TableEqual, of, shown)],
            table: "app".to_owned(),
            place: "memory".to_owned(),
            now: String::new(),
            item_types: Vec::new(),
            total: ComparedBooks::default(),
            balanced: true,
            sample: None,
            unexpected: None,
            unexpected_why_not: None,
            elsewhere: None,
            unclear: 0,
            lingering: 0,
            expired_meanwhile: 0,
            findings: Vec::new(),
            rejects: Vec::new(),
            repair: None,
            warnings: Vec::new(),
            elapsed_seconds: 0.0,
            items_per_second: 0.0,
        }
    }

    #[test]
    fn why_a_comparison_failed_is_not_said_before_the_command_ends_with_it() {
        let failure = Failure::TableReplaced {
            table: "app".to_owned(),
            deletions: 0,
        };
        let because = failure.to_string();
        let failed = VerifyOutcome::Failed(Arc::new(failure));
        let text = verification(&report(failed, &because));
        assert!(!text.contains(&because), "{text}");
        assert!(text.ends_with(FAILED), "{text}");
    }

    #[test]
    fn items_that_are_refused_and_items_of_other_rows_are_not_said_to_be_made_by_no_row() {
        let total = ComparedBooks {
            rejected: 1,
            refused: 2,
            ..ComparedBooks::default()
        };
        let reject = RejectNote {
            item_type: "USER".to_owned(),
            row: serde_json::value::to_raw_value(&1).unwrap(),
            code: "ValidationException".to_owned(),
            message: "refused".to_owned(),
            help: None,
            attribute: None,
        };
        let report = VerifyReport {
            unclear: 1,
            elsewhere: Some(1),
            rejects: vec![reject],
            total,
            ..report(VerifyOutcome::Different, "")
        };
        let text = verification(&report);
        let rejected = "\n  rejected: USER from row 1: refused [ValidationException]\n  and 2 more were rejected\n";
        assert!(text.contains(rejected), "{text}");
        let unclear = "\n1 item that no row of this run makes: it is unknown";
        assert!(text.contains(unclear), "{text}");
        let elsewhere = "\n1 item that belongs to no item type of the mapping, not compared\n";
        assert!(text.contains(elsewhere), "{text}");
    }

    #[test]
    fn items_that_expired_after_they_were_compared_have_a_line() {
        let report = VerifyReport {
            expired_meanwhile: 2,
            ..report(VerifyOutcome::Equal, "")
        };
        let text = verification(&report);
        let line = "equal or repaired, but expired and no longer in the table at the end: 2 items";
        assert!(text.contains(line), "{text}");
    }
}
