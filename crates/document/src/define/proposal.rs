//! The proposal that the mapping began with: what `design` reported.

use std::collections::BTreeSet;

use dynafold_design::{Alternative, ReadReport, Report};
use dynafold_format::{counted, counted_as, joined, usd};

use super::DocumentFacts;
use crate::tree::{About, DocBlock, DocRow, DocTable, Section, TextLine, link, plain, prose};

/// The section, where a report is at hand.
pub(super) fn section(facts: &DocumentFacts<'_>) -> Option<Section> {
    let report = facts.inputs.proposal?;
    let mut blocks = vec![DocBlock::paragraph(sum(report))];
    blocks.extend(changed(facts, report).map(DocBlock::paragraph));
    blocks.extend(served(facts, report));
    blocks.extend(written(report));
    let traded = report.reads.iter().flat_map(|read| {
        let notes = read.served.iter().flat_map(|served| &served.notes);
        notes.map(|note| labelled(&format!("`{}`", read.name), note))
    });
    list("What was traded", traded, &mut blocks);
    blocks.push(runners_up(report));
    let not = report.reads.iter().filter_map(|read| {
        let (why, instead) = (read.why_not.as_ref()?, read.instead.as_deref());
        let instead = instead.unwrap_or_default();
        Some(labelled(
            &format!("`{}`", read.name),
            &format!("it {why}. Instead: {instead}"),
        ))
    });
    list("What is not served, and the way out", not, &mut blocks);
    let warnings = report.warnings.iter().map(|one| prose(&one.to_string()));
    list("To decide", warnings, &mut blocks);
    let left = report.not_guessed.iter().map(|one| prose(one));
    list("Reads that were not guessed", left, &mut blocks);
    let left = report.left_out.iter().map(|one| prose(one));
    list(
        "Tables and views that are not in the mapping",
        left,
        &mut blocks,
    );
    Some(Section {
        anchor: "proposal",
        title: "The proposal",
        intro: "What `dynafold design` proposed from the schema and the workload, by estimates: how each statement is served and for how \
                much, what was traded for that, the designs that lost, and what no Query serves. The figures are those of the proposal: if the mapping was changed since, they may no longer hold.",
        blocks,
    })
}

fn sum(report: &Report) -> String {
    let sum = &report.sum;
    format!(
        "About {} USD a month on demand: reads {}, writes {}, storage {}; {}.",
        usd(sum.all),
        usd(sum.reads),
        usd(sum.writes),
        usd(sum.storage),
        report.search_gap_text()
    )
}

/// What the mapping does not have as it was proposed.
fn changed(facts: &DocumentFacts<'_>, report: &Report) -> Option<String> {
    let patterns = facts.patterns.iter().map(|pattern| &*pattern.model.name);
    let patterns: BTreeSet<&str> = patterns.collect();
    let served = report.reads.iter().filter(|read| read.served.is_some());
    let gone = served.filter(|read| !patterns.contains(&*read.name));
    let gone = joined(gone.map(|read| &*read.name), ", ");
    (!gone.is_empty()).then(|| {
        format!(
            "The mapping has no access pattern of the name of {gone}: it was changed after it was proposed."
        )
    })
}

fn served(facts: &DocumentFacts<'_>, report: &Report) -> Option<DocBlock> {
    let row = |read: &ReadReport| {
        let cells = read.table_row()?.into_iter().skip(1);
        let mut patterns = facts.patterns.iter();
        let name = if patterns.any(|pattern| *pattern.model.name == *read.name) {
            link(About::Pattern, &read.name)
        } else {
            plain(&read.name)
        };
        let cells = cells.map(|cell| vec![plain(cell)]);
        let cells: Vec<TextLine> = std::iter::once(vec![name]).chain(cells).collect();
        Some(DocRow::new(cells))
    };
    let rows: Vec<DocRow> = report.reads.iter().filter_map(row).collect();
    let titles = [
        "Read",
        "Request",
        "Item types",
        "#Rate",
        "#Items",
        "#Read units",
        "#USD a month",
    ];
    (!rows.is_empty())
        .then(|| DocBlock::Table(DocTable::new("How each read is served", &titles, rows)))
}

fn written(report: &Report) -> Option<DocBlock> {
    let rows = report.writes.iter().map(|write| {
        let cells = write.table_row().into_iter();
        DocRow::new(cells.map(|cell| vec![plain(cell)]).collect())
    });
    let rows: Vec<DocRow> = rows.collect();
    let titles = [
        "Write",
        "Statement",
        "Item type",
        "#Rate",
        "#Write units",
        "#USD a month",
    ];
    (!rows.is_empty()).then(|| {
        let caption = "The cost of each write, including its index entries";
        DocBlock::Table(DocTable::new(caption, &titles, rows))
    })
}

/// The design that was chosen, and those with fewer indexes.
fn runners_up(report: &Report) -> DocBlock {
    let indexes = |number: usize| counted_as(number, "index", "indexes");
    let not_served = report.reads.iter().filter(|read| read.served.is_none());
    let not_served = not_served.count();
    let chosen = [
        format!("{}: this one", indexes(report.indexes.len())),
        usd(report.sum.all),
        match not_served {
            0 => "serves every read".to_owned(),
            some => format!("{} not served", counted(some, "read")),
        },
    ];
    let other = |other: &Alternative| {
        [
            indexes(other.indexes),
            other.usd_month.map_or_else(|| "-".to_owned(), usd),
            other.rejection_text(),
        ]
    };
    let rows = std::iter::once(chosen).chain(report.alternatives.iter().map(other));
    let rows =
        rows.map(|cells| DocRow::new(cells.into_iter().map(|cell| vec![plain(cell)]).collect()));
    let titles = ["Design", "#USD a month", "Why"];
    DocBlock::Table(DocTable::new(
        "Designs that the search found with fewer indexes, and why they lost",
        &titles,
        rows.collect(),
    ))
}

fn labelled(of: &str, what: &str) -> TextLine {
    prose(&format!("{of}: {what}"))
}

fn list(title: &str, lines: impl Iterator<Item = TextLine>, blocks: &mut Vec<DocBlock>) {
    let lines: Vec<TextLine> = lines.collect();
    if !lines.is_empty() {
        blocks.extend([
            DocBlock::Subheading(title.to_owned()),
            DocBlock::List(lines),
        ]);
    }
}
