//! The report of a design.

use super::{figures, section};
use crate::cli::format::{count, counted_as, figure, text_if, usd};
use crate::design::{
    PricedMapping, ReadReport, Report, Update, UpdatedRead, WriteReport, without_scans,
};
use crate::dynamodb::price::Prices;
use crate::format::joined;

/// What a design serves, by what, and for how much.
pub(in crate::cli) fn design(report: &Report, prices: &Prices) -> String {
    let sum = format!("about {} ({})", report.sum.text(), prices.dated_source());
    let gap = report.search_gap_text();
    [statements(report), String::new(), sum, gap].join("\n")
}

/// What a design says of its statements and of the schema.
pub(in crate::cli) fn statements(report: &Report) -> String {
    let mut out: Vec<String> = Vec::new();
    tables(report, &mut out);
    let notes = report.reads.iter().flat_map(|read| {
        let notes = read.served.iter().flat_map(|served| &served.notes);
        notes.map(move |note| format!("{}: {note}", read.name))
    });
    section("notes", notes, &mut out);
    section(
        "not served",
        report.reads.iter().filter_map(ReadReport::not_served),
        &mut out,
    );
    let indexes = report.indexes.iter().map(|index| {
        format!(
            "{}: {}, for {}",
            index.name,
            index.items.join(" and "),
            index.reads.join(", ")
        )
    });
    section("indexes", indexes, &mut out);
    let fewer = report.alternatives.iter().map(|other| {
        let indexes = counted_as(other.indexes, "index", "indexes");
        format!("with {indexes}: {}", other.rejection_text())
    });
    section("with fewer indexes, the search found", fewer, &mut out);
    let warnings = report.warnings.iter().map(ToString::to_string);
    section("to decide", warnings, &mut out);
    section(
        "reads that were not guessed",
        report.not_guessed.iter().cloned(),
        &mut out,
    );
    section(
        "not in the mapping",
        report.left_out.iter().cloned(),
        &mut out,
    );
    out.join("\n")
}

/// What mappings serve of a workload, side by side, and for how much.
pub(in crate::cli) fn comparison(mappings: &[PricedMapping], prices: &Prices) -> String {
    let mut header = vec!["read"];
    header.extend(mappings.iter().map(|mapping| &*mapping.mapping));
    let reads = mappings.first().into_iter().flat_map(|first| &first.reads);
    let mut rows: Vec<Vec<String>> = Vec::new();
    for read in reads {
        let cells = mappings.iter().map(|mapping| {
            let mut reads = mapping.reads.iter();
            let found = reads.find(|one| one.name == read.name);
            let Some(served) = found.and_then(|one| one.served.as_ref()) else {
                let why = found.and_then(|one| one.why_not.as_ref());
                let why = why.map_or_else(String::new, |why| format!(": {why}"));
                return format!("not served{why}");
            };
            let (units, cost) = (figure(served.units), usd(served.usd_month));
            let eventual = text_if(
                served.consistent == Some(false),
                ", not strongly consistent",
            );
            let columns = served.byte_by_byte.join(", ");
            let bytes = text_if(
                !columns.is_empty(),
                format!(", compares {columns} byte by byte"),
            );
            let columns = served.with_absent.join(", ");
            let absent = text_if(
                !columns.is_empty(),
                format!(", returns items without {columns} too"),
            );
            let mean = text_if(
                served.divides,
                ", the application divides the sum by the count",
            );
            let page = text_if(
                served.first_page,
                ", the first page (DynamoDB has no OFFSET: each next page starts after the last item of the previous one)",
            );
            let request = served.request_text();
            format!("{request}, {units} units, {cost}{eventual}{bytes}{absent}{mean}{page}")
        });
        rows.push(std::iter::once(read.name.clone()).chain(cells).collect());
    }
    let mut sum = |name: &str, figure: &dyn Fn(&PricedMapping) -> String| {
        let cells = mappings.iter().map(figure);
        rows.push(std::iter::once(name.to_owned()).chain(cells).collect());
    };
    sum("served", &|mapping| {
        let served = mapping.reads.iter().filter(|read| read.served.is_some());
        format!(
            "{} of {}",
            count(served.count()),
            count(mapping.reads.len())
        )
    });
    sum("not strongly consistent", &|mapping| {
        let served = mapping.reads.iter().filter_map(|read| read.served.as_ref());
        count(
            served
                .filter(|served| served.consistent == Some(false))
                .count(),
        )
    });
    sum("writes that need a Scan", &|mapping| {
        let lost = mapping.scans();
        if lost.is_empty() {
            "none".to_owned()
        } else {
            lost.join(", ")
        }
    });
    sum("indexes", &|mapping| count(mapping.indexes));
    sum("reads, USD a month", &|mapping| usd(mapping.usd_reads));
    sum("writes, USD a month", &|mapping| usd(mapping.usd_writes));
    sum("storage, USD a month", &|mapping| usd(mapping.usd_storage));
    sum("all, USD a month", &|mapping| {
        let scans = without_scans(&mapping.scans());
        format!("{}{scans}", usd(mapping.usd_month))
    });
    let not_priced = mappings.first().into_iter();
    let not_priced = not_priced.flat_map(|first| &first.not_priced);
    let not_priced = joined(
        not_priced.map(|one| format!("\n{} is not priced: {}", one.name, one.why)),
        "",
    );
    format!(
        "{}{}{not_priced}\n\ncosts are estimates; an access pattern is priced for the statement with the same name ({})\nan access pattern with the SQL of the statement is taken to answer it: `verify --patterns` compares the answers",
        figures(&header, rows),
        text_if(!not_priced.is_empty(), "\n"),
        prices.dated_source()
    )
}

/// What is added to a mapping for each read, and for how much more.
pub(in crate::cli) fn update(
    updated: &Update,
    [before, after]: [&PricedMapping; 2],
    prices: &Prices,
) -> String {
    let rows = updated.reads.iter().filter_map(|read| {
        let mut priced = after.reads.iter();
        let priced = priced.find(|one| one.name == read.name);
        let served = priced.and_then(|one| one.served.as_ref());
        let served = served.filter(|_| read.why_not.is_none())?;
        let change = match read.changes.as_slice() {
            [] => {
                "nothing: an access pattern with this name and this SQL is already there".to_owned()
            }
            changes => changes.join("; "),
        };
        let (units, cost) = (figure(served.units), usd(served.usd_month));
        let request = served.request_text();
        Some(vec![read.name.clone(), change, request, units, cost])
    });
    let rows: Vec<Vec<String>> = rows.collect();
    let mut out: Vec<String> = Vec::new();
    if !rows.is_empty() {
        out.push(figures(
            ["read", "added", "by", "units", "USD a month"],
            rows,
        ));
    }
    let notes = updated.reads.iter().flat_map(|read| {
        let notes = read.notes.iter();
        notes.map(move |note| format!("{}: {note}", read.name))
    });
    section("notes", notes, &mut out);
    let not = updated.reads.iter().filter_map(UpdatedRead::not_served);
    section("not served", not, &mut out);
    let not_priced = after.not_priced.iter();
    let not_priced = not_priced.map(|one| format!("{}: {}", one.name, one.why));
    section("not priced", not_priced, &mut out);
    out.push(String::new());
    out.push(format!(
        "USD a month for this workload and the mapping's own: about {}{} with the old mapping, about {}{} with the new one (reads {}, writes {}, storage {}; {})",
        usd(before.usd_month),
        without_scans(&before.scans()),
        usd(after.usd_month),
        without_scans(&after.scans()),
        usd(after.usd_reads),
        usd(after.usd_writes),
        usd(after.usd_storage),
        prices.dated_source()
    ));
    out.join("\n")
}

/// The reads that are served, and the statements that write.
fn tables(report: &Report, out: &mut Vec<String>) {
    let served = report.reads.iter().filter_map(ReadReport::table_row);
    let served: Vec<[String; 7]> = served.collect();
    if !served.is_empty() {
        let header = [
            "read",
            "request",
            "item types",
            "rate",
            "items",
            "units",
            "USD a month",
        ];
        out.push(figures(header, served));
    }
    if !report.writes.is_empty() {
        let rows = report.writes.iter().map(WriteReport::table_row);
        let header = [
            "write",
            "statement",
            "item type",
            "rate",
            "units",
            "USD a month",
        ];
        out.extend([String::new(), figures(header, rows)]);
    }
}
