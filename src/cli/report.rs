//! The reports of `migrate` and `verify` as people read them.

use comfy_table::{Cell, CellAlignment, Table, presets};

use super::format::{bytes, count, counted, rate, seconds};
use crate::load::{Books, LimitedBy, Outcome, Report};
use crate::verify::{
    AttributeDifference, Compared, Finding, FindingKind, VerifyOutcome, VerifyReport,
};

/// A table of names and right-aligned figures.
pub(super) fn figures(header: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(
        header
            .iter()
            .enumerate()
            .map(|(index, text)| cell(index, (*text).to_owned())),
    );
    for row in rows {
        table.add_row(
            row.into_iter()
                .enumerate()
                .map(|(index, text)| cell(index, text)),
        );
    }
    let trimmed: Vec<String> = table
        .lines()
        .map(|line| line.trim_end().to_owned())
        .collect();
    trimmed.join("\n")
}

fn cell(index: usize, text: String) -> Cell {
    let alignment = if index == 0 {
        CellAlignment::Left
    } else {
        CellAlignment::Right
    };
    Cell::new(text).set_alignment(alignment)
}

/// The books of a load.
pub(super) fn migration(report: &Report) -> String {
    let mut out = Vec::new();
    let (expired, archived) = (report.total.expired > 0, report.total.archived > 0);
    let row = |books: &Books, name: &str| {
        let mut row = vec![
            name.to_owned(),
            count(books.rows_read),
            count(books.filtered),
        ];
        row.extend(expired.then(|| count(books.expired)));
        row.extend(archived.then(|| count(books.archived)));
        row.extend([
            count(books.rejected),
            count(books.made),
            count(books.written),
            bytes(books.bytes),
            count(books.write_units),
            bytes(books.mean_bytes()),
            books
                .largest
                .as_ref()
                .map_or("-".to_owned(), |largest| bytes(largest.bytes)),
        ]);
        row
    };
    let mut rows: Vec<Vec<String>> = report
        .item_types
        .iter()
        .map(|books| row(books, &books.item_type))
        .collect();
    rows.push(row(&report.total, "total"));
    let mut header = vec!["item type", "rows", "filtered"];
    header.extend(expired.then_some("expired"));
    header.extend(archived.then_some("archived"));
    header.extend([
        "rejected",
        "made",
        "written",
        "size",
        "write units",
        "mean",
        "largest",
    ]);
    out.push(figures(&header, rows));
    out.push(String::new());
    out.push(format!(
        "{} at {}: {} in {}, {}; limited by {}",
        report.table,
        report.place,
        counted(report.total.written, "item"),
        seconds(report.elapsed_seconds),
        rate(report.rows_per_second, "row"),
        match report.limited_by {
            LimitedBy::Source => "the source",
            LimitedBy::Fold => "this machine's processor",
            LimitedBy::Target => "the target",
            LimitedBy::Throttling => "throttling",
        }
    ));
    let traffic = &report.traffic;
    let consumed = traffic.consumed_units.map_or(String::new(), |units| {
        format!(", {units:.0} write units consumed")
    });
    out.push(format!(
        "{}{consumed}; throttled {}, failed and sent again {}, unprocessed items sent again {}",
        counted(traffic.requests, "request"),
        count(traffic.throttled),
        count(traffic.transient),
        count(traffic.unprocessed),
    ));
    out.extend(life(report));
    out.push(if report.balanced {
        let expired = match (expired, archived) {
            (false, false) => "",
            (true, false) => "expired, ",
            (false, true) => "archived, ",
            (true, true) => "expired, archived, ",
        };
        format!("the books balance: every row read is an item, filtered, {expired}or rejected")
    } else if report.total.unwritten > 0 {
        format!(
            "{} made and not known to be written",
            counted(report.total.unwritten, "item")
        )
    } else {
        "THE BOOKS DO NOT BALANCE: this is a fault in dynafold; please report it".to_owned()
    });
    if !report.rejects.is_empty() {
        out.push(String::new());
        out.push(rejects(report));
    }
    out.join("\n")
}

/// What had expired, and what was compressed.
fn life(report: &Report) -> Vec<String> {
    let (total, mut out) = (&report.total, Vec::new());
    if total.expired + total.archived > 0 {
        out.push(format!(
            "{} had expired at {}",
            counted(total.expired + total.archived, "row"),
            report.now
        ));
    }
    if let Some(file) = &report.archive_file {
        out.push(format!(
            "{} archived in {}",
            counted(total.archived, "item"),
            file.display()
        ));
    }
    if total.compressed > 0 {
        out.push(format!(
            "{} compressed, because the limit is 400 KB",
            counted(total.compressed, "item")
        ));
    }
    out
}

fn rejects(report: &Report) -> String {
    let mut out = vec![format!(
        "{} rejected:",
        counted(report.total.rejected, "row")
    )];
    for note in &report.rejects {
        let attribute = note
            .attribute
            .as_ref()
            .map_or(String::new(), |name| format!(" `{name}`"));
        out.push(format!(
            "  {} {}: [{}]{attribute} {}",
            note.item_type, note.row, note.code, note.message
        ));
        if let Some(help) = &note.help {
            out.push(format!("      help: {help}"));
        }
    }
    let shown = u64::try_from(report.rejects.len()).unwrap_or(u64::MAX);
    if report.total.rejected > shown {
        out.push(format!(
            "  and {} more",
            count(report.total.rejected - shown)
        ));
    }
    if let Some(file) = &report.rejects_file {
        out.push(format!(
            "all of them, with their items, are in {}",
            file.display()
        ));
    }
    out.join("\n")
}

/// How a load ended, in one line.
pub(super) fn migration_outcome(report: &Report) -> String {
    match &report.outcome {
        Outcome::Complete => "complete".to_owned(),
        Outcome::CompleteWithRejects => {
            format!(
                "complete but for {}",
                counted(report.total.rejected, "rejected row")
            )
        }
        Outcome::Stopped { reason } => format!("stopped: {reason}"),
        Outcome::Interrupted => "interrupted: what was in flight is written".to_owned(),
        Outcome::Failed(failure) => failure.message.clone(),
    }
}

/// What a comparison found.
pub(super) fn verification(report: &VerifyReport) -> String {
    let mut out = Vec::new();
    let (expired, gone) = (report.total.expired > 0, report.total.gone > 0);
    let row = |books: &Compared, name: &str| {
        let mut row = vec![
            name.to_owned(),
            count(books.rows_read),
            count(books.filtered),
        ];
        row.extend(expired.then(|| count(books.expired)));
        row.extend([
            count(books.rejected),
            count(books.expected),
            count(books.equal),
            count(books.missing),
        ]);
        row.extend(gone.then(|| count(books.gone)));
        row.push(count(books.different));
        row
    };
    let mut rows: Vec<Vec<String>> = report
        .item_types
        .iter()
        .map(|books| row(books, &books.item_type))
        .collect();
    rows.push(row(&report.total, "total"));
    let mut header = vec!["item type", "rows", "filtered"];
    header.extend(expired.then_some("expired"));
    header.extend(["rejected", "expected", "equal", "missing"]);
    header.extend(gone.then_some("gone"));
    header.push("different");
    out.push(figures(&header, rows));
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
