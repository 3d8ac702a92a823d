//! What a comparison found.

use super::{Column, books};
use crate::cli::format::{count, counted, rate, seconds};
use crate::verify::{
    AttributeDifference, Compared, Finding, FindingKind, VerifyOutcome, VerifyReport,
};

/// What a comparison found.
pub(in crate::cli) fn verification(report: &VerifyReport) -> String {
    let mut out = Vec::new();
    let columns: &[Column<'_, Compared>] = &[
        ("rows", &|b| count(b.rows_read), true),
        ("filtered", &|b| count(b.filtered), true),
        ("empty", &|b| count(b.empty), false),
        ("more elements", &|b| count(b.expanded), false),
        ("expired", &|b| count(b.expired), false),
        ("rejected", &|b| count(b.rejected), true),
        ("expected", &|b| count(b.expected), true),
        ("equal", &|b| count(b.equal), true),
        ("missing", &|b| count(b.missing), true),
        ("gone", &|b| count(b.gone), false),
        ("different", &|b| count(b.different), true),
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
        counted(report.total.expected - report.total.uncompared, "item"),
        seconds(report.elapsed_seconds),
        rate(report.items_per_second, "item"),
    ));
    out.push(match report.unexpected {
        Some(0) => "no unexpected items in the table".to_owned(),
        Some(items) => format!(
            "{} in the table that the source does not make",
            counted(items, "item")
        ),
        None => "items that the source does not make were not looked for to the end".to_owned(),
    });
    out.extend(expiry(report));
    out.extend(report.findings.iter().map(finding));
    out.push(match &report.outcome {
        VerifyOutcome::Equal if report.total.rejected > 0 => format!(
            "every item is as the source makes it, but {} no item",
            match report.total.rejected {
                1 => "1 row makes".to_owned(),
                rows => format!("{} make", counted(rows, "row")),
            }
        ),
        VerifyOutcome::Equal => {
            "verified: the table holds exactly what the source makes".to_owned()
        }
        VerifyOutcome::Different => "the table differs from what the source makes".to_owned(),
        VerifyOutcome::Interrupted => "interrupted before everything was compared".to_owned(),
        VerifyOutcome::Failed(failure) => failure.message.clone(),
    });
    out.join("\n")
}

/// What expired and what of it is in the table.
fn expiry(report: &VerifyReport) -> Vec<String> {
    let (total, mut out) = (&report.total, Vec::new());
    if total.expired > 0 {
        out.push(format!(
            "{} had expired at {} and are not expected; {} of their items are still in the table",
            counted(total.expired, "row"),
            report.now,
            count(report.lingering)
        ));
    }
    if total.gone > 0 {
        out.push(format!(
            "{} had expired at {} and are gone, as they should be",
            counted(total.gone, "item"),
            report.now
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
                        AttributeDifference::Value => "has another value".to_owned(),
                    };
                    format!("`{}` {what}", attribute.name)
                })
                .collect();
            format!(
                "  different: {item_type} {}{row}: {}",
                finding.key,
                attributes.join(", ")
            )
        }
    }
}
