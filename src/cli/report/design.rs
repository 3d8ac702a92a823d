//! The report of a design.

use super::figures;
use crate::cli::format::{count, counted, counted_as, rounded, usd};
use crate::design::{ReadReport, Report};
use crate::dynamodb::price::Prices;

/// What a design serves, by what, and for how much.
pub(in crate::cli) fn design(report: &Report, prices: &Prices) -> String {
    let mut out: Vec<String> = Vec::new();
    tables(report, &mut out);
    let notes = report.reads.iter().flat_map(|read| {
        let notes = read.served.iter().flat_map(|served| &served.notes);
        notes.map(move |note| format!("{}: {note}", read.name))
    });
    section("to know", notes, &mut out);
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
        let mut said = match other.usd_month {
            Some(cost) => format!(
                "{} a month, with the stated price of the indexes",
                usd(cost)
            ),
            None => format!("{} not served", counted(other.not_served, "read")),
        };
        if other.not_consistent > 0 {
            said.push_str(&format!(
                ", {} not consistent",
                counted(other.not_consistent, "read")
            ));
        }
        format!(
            "with {}: {said}",
            counted_as(other.indexes, "index", "indexes")
        )
    });
    section("fewer indexes", fewer, &mut out);
    section("to decide", report.warnings.iter().cloned(), &mut out);
    section(
        "left out",
        report
            .left_out
            .iter()
            .map(|table| format!("{table}: no key tells its rows apart")),
        &mut out,
    );
    let sum = &report.sum;
    out.push(String::new());
    out.push(format!(
        "about {} a month on demand: reads {}, writes {}, storage {} ({})",
        usd(sum.all),
        usd(sum.reads),
        usd(sum.writes),
        usd(sum.storage),
        prices.dated_source()
    ));
    out.push(if report.gap_usd_month >= 1e6 {
        "the search was cut short: another design may serve more reads".to_owned()
    } else if report.gap_usd_month > 0.0 {
        format!(
            "the search was cut short: another design may be up to {} a month cheaper",
            usd(report.gap_usd_month)
        )
    } else {
        "no other choice of these keys and indexes is cheaper by these estimates".to_owned()
    });
    out.join("\n")
}

/// The reads that are served, and the statements that write.
fn tables(report: &Report, out: &mut Vec<String>) {
    let served = report.reads.iter().filter_map(row);
    let served: Vec<Vec<String>> = served.collect();
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
        out.push(figures(&header, served));
    }
    if !report.writes.is_empty() {
        let rows = report.writes.iter().map(|write| {
            vec![
                write.name.clone(),
                write.kind.to_owned(),
                write.item.clone(),
                rate(write.rate),
                figure(write.units),
                usd(write.usd_month),
            ]
        });
        let header = [
            "write",
            "statement",
            "item type",
            "rate",
            "units",
            "USD a month",
        ];
        out.extend([String::new(), figures(&header, rows)]);
    }
}

fn row(read: &ReadReport) -> Option<Vec<String>> {
    let served = read.served.as_ref()?;
    let place = served.index.as_deref().unwrap_or("the table");
    let times = if served.requests > 1 {
        format!("{} × ", served.requests)
    } else {
        String::new()
    };
    Some(vec![
        read.name.clone(),
        format!("{times}{} on {place}", served.request),
        served.items.join(", "),
        rate(read.rate),
        figure(served.found),
        figure(served.units),
        usd(served.usd_month),
    ])
}

fn rate(rate: Option<f64>) -> String {
    rate.map_or_else(
        || "not said".to_owned(),
        |rate| format!("{}/s", figure(rate)),
    )
}

fn section(title: &str, lines: impl Iterator<Item = String>, out: &mut Vec<String>) {
    let mut lines = lines.peekable();
    if lines.peek().is_some() {
        out.extend([String::new(), title.to_owned()]);
        out.extend(lines.map(|line| format!("  {line}")));
    }
}

/// Whole numbers as such, others with one digit.
fn figure(number: f64) -> String {
    if (number - number.round()).abs() < 0.05 {
        count(rounded(number))
    } else {
        format!("{number:.1}")
    }
}
