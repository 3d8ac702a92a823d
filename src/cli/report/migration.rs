//! The books of a load, and how it ended.

use super::{ReportColumn, attribute, books};
use crate::claim::{Claim, ClaimKind, ClaimVerdict};
use crate::cli::format::{
    bytes, count, counted, counted_as, rate, rounded, seconds, text_if, whole,
};
use crate::load::{
    Books, ItemAction, KeyCheck, KeyComparer, LimitedBy, Outcome, RejectNote, Report,
};

/// The books of a load.
pub(in crate::cli) fn migration(report: &Report) -> String {
    let mut out = Vec::new();
    let largest = |books: &Books| {
        let largest = books.largest.as_ref();
        largest.map_or("-".to_owned(), |largest| bytes(largest.bytes))
    };
    let plans = report.doing == ItemAction::Plan;
    let columns: &[ReportColumn<'_, Books>] = &[
        ("rows", &|b| count(b.rows_read), true),
        ("filtered", &|b| count(b.filtered), true),
        ("empty", &|b| count(b.empty), false),
        ("more elements", &|b| count(b.expanded), false),
        ("expired", &|b| count(b.expired), false),
        ("archived", &|b| count(b.archived), false),
        ("rejected", &|b| count(b.rejected), true),
        ("made", &|b| count(b.made), true),
        ("to write", &|b| count(b.planned), plans),
        ("written", &|b| count(b.written), !plans),
        ("of these changed", &|b| count(b.changed), false),
        ("unchanged", &|b| count(b.unchanged), plans),
        (
            if plans { "to delete" } else { "deleted" },
            &|b| count(b.deleted),
            plans,
        ),
        ("size", &|b| bytes(b.bytes), true),
        ("write units", &|b| count(b.write_units), true),
        ("mean", &|b| bytes(b.mean_bytes()), true),
        ("largest", &largest, true),
    ];
    out.push(books(
        columns,
        &report.item_types,
        |b| &b.item_type,
        &report.total,
    ));
    out.push(String::new());
    out.extend(plan(report));
    if report.resumed {
        out.push("this attempt resumed an unfinished load: the figures above are for all attempts, those below for this one".to_owned());
    }
    out.push(format!(
        "{} at {}: {} {}, {}; limited by {}",
        report.table,
        report.place,
        done(report),
        seconds(report.elapsed_seconds),
        rate(report.rows_per_second, "row"),
        match report.limited_by {
            LimitedBy::Source => "the source",
            LimitedBy::Fold => "this machine's processor",
            LimitedBy::Target => "the target",
            LimitedBy::Throttling => "throttling",
            LimitedBy::Ceiling => "--max-wcu or the table's capacity",
            LimitedBy::Partition => "hot partition keys",
        }
    ));
    let traffic = &report.traffic;
    let consumed = traffic.consumed_units.map_or(String::new(), |units| {
        format!(", {} consumed", counted(rounded(units), "write unit"))
    });
    out.push(format!(
        "{}{consumed}; throttled {}, failed and sent again {}, unprocessed items sent again {}",
        counted(traffic.requests, "request"),
        count(traffic.throttled),
        count(traffic.transient),
        count(traffic.unprocessed),
    ));
    out.extend(throttling(report));
    out.extend(keys(report));
    out.extend(children(&report.total));
    out.extend(life(report));
    let books = |claim: &&Claim| claim.kind == ClaimKind::BooksBalance;
    out.extend(
        report
            .claims
            .iter()
            .find(books)
            .map(|claim| match claim.verdict {
                ClaimVerdict::Proved => format!("the books balance: {}", claim.because),
                _ => claim.because.clone(),
            }),
    );
    if !report.rejects.is_empty() {
        out.push(String::new());
        out.push(rejects(report));
    }
    out.join("\n")
}

/// What was done, in words that the time it took follows.
fn done(report: &Report) -> String {
    match report.doing {
        ItemAction::Plan => {
            let looked_at = report.total.planned + report.total.unchanged;
            format!("{} compared in", counted(looked_at, "item"))
        }
        _ if report.resumed => {
            let there = counted(report.total.written + report.total.unchanged, "item");
            // What a killed attempt wrote of chunks that were not read again is not known.
            let least = text_if(!report.outcome.is_finished(), "at least ");
            format!("{least}{there} in all, this attempt took")
        }
        _ => format!("{} in", counted(report.total.written, "item")),
    }
}

/// What a plan comes to.
fn plan(report: &Report) -> Option<String> {
    let total = &report.total;
    (report.doing == ItemAction::Plan).then(|| {
        format!(
            "plan: {} to add, {} to change, {} to delete, {} unchanged; nothing was written",
            count(total.planned.saturating_sub(total.changed)),
            count(total.changed),
            count(total.deleted),
            count(total.unchanged),
        )
    })
}

/// What the service gave as reasons for throttling.
fn throttling(report: &Report) -> Vec<String> {
    let reasons = report.throttled_by.iter();
    let line = |((reason, resource), times): (&(String, String), &u64)| {
        let of = text_if(!resource.is_empty(), format!(" of {resource}"));
        format!("throttled for {reason}{of}: {}", counted(*times, "time"))
    };
    reasons.map(line).collect()
}

/// How it is known that no item overwrote another.
fn keys(report: &Report) -> Option<String> {
    let keys = &report.keys;
    match keys.check {
        _ if keys.overwritten > 0 => Some(format!(
            "{} the key of another: {}",
            counted_as(keys.overwritten, "item has", "items have"),
            if keys.compared_by.is_some() {
                "some rows share a key, and the table holds only one of their items"
            } else if keys.check == KeyCheck::Late {
                "run without --one-pass to see which ones"
            } else {
                "the rows changed after all keys had been found to differ"
            }
        )),
        KeyCheck::Proved => None,
        _ if keys.compared == 0 => None,
        KeyCheck::Late if keys.shared > 0 => Some(format!(
            "{} of all chunks compared {}: {} with the key of another; an import would keep only one of them, so the export has no manifest",
            counted(keys.compared, "key"),
            keys.compared_by.map_or("", KeyComparer::words),
            counted(keys.shared, "item")
        )),
        KeyCheck::Late => Some(format!(
            "{} of all chunks compared {}: no two are equal",
            counted(keys.compared, "key"),
            keys.compared_by
                .map_or("after the last write", KeyComparer::words)
        )),
        _ if keys.all_shared() == 0 => Some(format!(
            "{} compared before the first write: {}",
            counted(keys.compared, "key"),
            match keys.shared_left_out {
                0 => "no two are equal".to_owned(),
                _ => keys.left_out(),
            }
        )),
        KeyCheck::First => Some(format!(
            "{} compared before the first write: {} with the key of another",
            counted(keys.compared, "key"),
            counted(keys.all_shared(), "item")
        )),
    }
}

/// What became of children: those that stand in no item.
fn children(total: &Books) -> Vec<String> {
    let mut out = Vec::new();
    if total.orphans > 0 {
        let orphans = counted_as(total.orphans, "child", "children");
        out.push(format!(
            "{orphans} whose parent is missing or not read, in no item"
        ));
    }
    if total.cut > 0 {
        let cut = counted_as(total.cut, "child", "children");
        out.push(format!("{cut} beyond a `$limit`, in no item"));
    }
    out
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

/// Keys whose rows are looked for by a load that does not begin because of them.
const NAMED_KEYS: u64 = 10_000;

/// Rows that are rejected, or would have been by a load that has not begun because of them.
fn refused(report: &Report) -> u64 {
    let keys = &report.keys;
    let shared = match report.outcome {
        Outcome::Stopped { .. } => keys.all_shared(),
        _ => keys.shared,
    };
    report.total.rejected.max(shared + keys.faults)
}

fn rejects(report: &Report) -> String {
    let is_stopped = matches!(report.outcome, Outcome::Stopped { .. });
    // Of two rows that share a key the one that is named may be one that is not selected.
    let what = if is_stopped && report.keys.shared_outside > 0 {
        "refused"
    } else {
        "rejected"
    };
    let mut out = vec![format!("{} {what}:", counted(refused(report), "row"))];
    for note in &report.rejects {
        let attribute = attribute(note.attribute.as_deref());
        out.push(format!(
            "  {}: [{}]{attribute} {}",
            whose(note),
            note.code,
            note.message
        ));
        if let Some(help) = &note.help {
            out.push(format!("      help: {help}"));
        }
    }
    let shown = whole(report.rejects.len());
    if refused(report) > shown {
        out.push(format!("  and {} more", count(refused(report) - shown)));
    }
    if let Some(file) = &report.rejects_file {
        // Of many rows that share keys only the first are looked up.
        let which = if is_stopped && report.keys.all_shared() > NAMED_KEYS {
            "those that were looked up are in"
        } else {
            "all of them, with their items, are in"
        };
        out.push(format!("{which} {}", file.display()));
    }
    out.join("\n")
}

/// The row of a reject; one that nothing tells apart is named by its item type alone.
pub(in crate::cli) fn whose(note: &RejectNote) -> String {
    match note.row.get() {
        "{}" => format!("a row of {}", note.item_type),
        row => format!("{} {row}", note.item_type),
    }
}

/// How a load ended, in one line.
pub(in crate::cli) fn migration_outcome(report: &Report) -> String {
    match &report.outcome {
        Outcome::Complete => "complete".to_owned(),
        Outcome::CompleteWithRejects
            if report.keys.check == KeyCheck::Late && report.keys.shared > 0 =>
        {
            format!(
                "not complete: {} the key of another",
                counted_as(report.keys.shared, "item has", "items have")
            )
        }
        Outcome::CompleteWithRejects if report.total.rejected + report.keys.overwritten == 0 => {
            format!(
                "complete, but {} the key of a loaded one",
                counted_as(
                    report.keys.shared_outside,
                    "item that was not selected has",
                    "items that were not selected have"
                )
            )
        }
        Outcome::CompleteWithRejects if report.total.rejected == 0 => format!(
            "complete, but {} the key of another",
            counted_as(report.keys.overwritten, "item has", "items have")
        ),
        Outcome::CompleteWithRejects => {
            format!(
                "complete but for {}",
                counted(report.total.rejected, "rejected row")
            )
        }
        Outcome::Stopped { reason } => format!("stopped: {reason}"),
        Outcome::Interrupted if report.total.unwritten > 0 => format!(
            "interrupted: {} as not written",
            counted_as(
                report.total.unwritten,
                "item was still waiting and counts",
                "items were still waiting and count"
            )
        ),
        Outcome::Interrupted => "interrupted: the requests in flight are done".to_owned(),
        Outcome::Failed(failure) => failure.to_string(),
    }
}
