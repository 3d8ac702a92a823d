//! What `erase` deleted, or would delete.

use super::{ReportColumn, books};
use crate::cli::format::{bytes, count, counted};
use crate::load::erase::{EraseOutcome, EraseReport, ErasedBooks};

pub(in crate::cli) fn erasure(report: &EraseReport) -> String {
    let plans = matches!(report.outcome, EraseOutcome::Planned);
    let columns: &[ReportColumn<'_, ErasedBooks>] = &[
        (
            if plans { "to delete" } else { "items" },
            &|b| count(b.items),
            true,
        ),
        ("size", &|b| bytes(b.bytes), true),
        ("write units", &|b| count(b.write_units), true),
        ("deleted", &|b| count(b.deleted), !plans),
    ];
    let shown = report.item_types.iter().filter(|books| books.items > 0);
    let foreign = (report.foreign.items > 0).then_some(&report.foreign);
    let mut out = vec![books(
        columns,
        shown.chain(foreign),
        |books| match books.item_type.as_str() {
            "" => "not known to be the mapping's",
            name => name,
        },
        &report.total,
    )];
    out.push(String::new());
    out.push(format!(
        "{} at {}: {}",
        report.table,
        report.place,
        partitions(report)
    ));
    let indexes = report.indexes.iter().filter(|index| index.entries > 0);
    let entries: Vec<String> = indexes
        .map(|index| format!("{} {}", index.name, count(index.entries)))
        .collect();
    if !entries.is_empty() {
        out.push(format!(
            "with their entries in indexes: {}",
            entries.join(", ")
        ));
    }
    out.push(ending(report));
    out.join("\n")
}

fn partitions(report: &EraseReport) -> String {
    match report.partitions.as_slice() {
        [only] => format!("partition {only}"),
        all => format!("partitions {}", all.join(", ")),
    }
}

fn ending(report: &EraseReport) -> String {
    let deleted = counted(report.total.deleted, "item");
    match (&report.outcome, report.left) {
        (EraseOutcome::Planned, _) => "plan: nothing was deleted".to_owned(),
        (EraseOutcome::Erased, _) => {
            let because = report.claims.first().map_or("", |claim| &claim.because);
            format!("erased: {deleted} deleted; {because}")
        }
        (EraseOutcome::Left, left) => format!(
            "{deleted} deleted; {} still there",
            counted(left.unwrap_or(0), "item")
        ),
        (EraseOutcome::Interrupted, _) => {
            format!("interrupted: {deleted} deleted; start the same command again for the others")
        }
        (EraseOutcome::Failed(failure), _) => format!("{deleted} deleted, then: {failure}"),
    }
}
