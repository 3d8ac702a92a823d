//! The proposal that the mapping began with: what `design` reported.

use std::collections::BTreeSet;

use dynafold_design::{Alternative, ReadReport, Report, without_scans};
use dynafold_format::{counted, counted_as, joined, usd};

use super::DocumentFacts;
use crate::tree::{About, DocBlock, DocRow, DocTable, Section, TextLine, link, plain, prose};

/// The section; `None` without a report.
pub(super) fn section(facts: &DocumentFacts<'_>) -> Option<Section> {
    let report = facts.inputs.proposal?;
    let mut blocks = vec![DocBlock::paragraph(cost_sentence(report))];
    blocks.extend(change_note(facts, report).map(DocBlock::paragraph));
    blocks.extend(served_reads(facts, report));
    blocks.extend(writes(report));
    let notes = report.reads.iter().flat_map(|read| {
        let notes = read.served.iter().flat_map(|served| &served.notes);
        notes.map(|note| prose(&format!("`{}`: {note}", read.name)))
    });
    list("Notes", notes, &mut blocks);
    blocks.push(runners_up(report));
    let unserved = report.reads.iter().filter_map(|read| {
        let (why, instead) = (read.why_not.as_ref()?, read.instead.as_deref());
        let instead = instead.unwrap_or_default();
        let name = &read.name;
        Some(prose(&format!("`{name}`: it {why}. Instead: {instead}")))
    });
    let unserved_title = "Reads that are not served, and what to do instead";
    list(unserved_title, unserved, &mut blocks);
    let warnings = report.warnings.iter();
    let warnings = warnings.map(|warning| prose(&warning.to_string()));
    list("To decide", warnings, &mut blocks);
    let not_guessed = report.not_guessed.iter().map(|read| prose(read));
    list("Reads that were not guessed", not_guessed, &mut blocks);
    let left_out = report.left_out.iter().map(|table| prose(table));
    let left_out_title = "Tables and views that are not in the mapping";
    list(left_out_title, left_out, &mut blocks);
    Some(Section {
        anchor: "proposal",
        title: "The proposal",
        intro: "What `dynafold design` proposed from the schema and the workload: how each statement is served and what it costs, with \
                notes; the designs that were not chosen; and the reads that no Query serves. All figures are estimates for the \
                mapping as it was proposed: if it was changed since, they may no longer hold.",
        blocks,
    })
}

fn cost_sentence(report: &Report) -> String {
    format!("About {}; {}.", report.sum.text(), report.search_gap_text())
}

/// The access patterns of the proposal that the mapping does not have.
fn change_note(facts: &DocumentFacts<'_>, report: &Report) -> Option<String> {
    let patterns = facts.patterns.iter().map(|pattern| &*pattern.model.name);
    let patterns: BTreeSet<&str> = patterns.collect();
    let served = report.reads.iter().filter(|read| read.served.is_some());
    let missing = served.filter(|read| !patterns.contains(&*read.name));
    let missing = joined(missing.map(|read| &*read.name), ", ");
    (!missing.is_empty()).then(|| {
        format!(
            "The mapping was changed after the proposal. It no longer has these access patterns: {missing}."
        )
    })
}

fn served_reads(facts: &DocumentFacts<'_>, report: &Report) -> Option<DocBlock> {
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
        .then(|| DocBlock::Table(DocTable::new("How each read is served", titles, rows)))
}

fn writes(report: &Report) -> Option<DocBlock> {
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
        DocBlock::Table(DocTable::new(caption, titles, rows))
    })
}

/// The chosen design, and those with fewer indexes that were not chosen.
fn runners_up(report: &Report) -> DocBlock {
    let indexes = |number: usize| counted_as(number, "index", "indexes");
    let is_unserved = |read: &&ReadReport| read.served.is_none();
    let chosen = [
        format!("{}: this one", indexes(report.indexes.len())),
        usd(report.sum.all),
        match report.reads.iter().filter(is_unserved).count() {
            0 => "serves every read".to_owned(),
            unserved => format!("{} not served", counted(unserved, "read")),
        } + &without_scans(&report.sum.without_scans_of),
    ];
    let other = |design: &Alternative| {
        [
            indexes(design.indexes),
            design.usd_month.map_or_else(|| "-".to_owned(), usd),
            design.rejection_text(),
        ]
    };
    let designs = std::iter::once(chosen).chain(report.alternatives.iter().map(other));
    let rows =
        designs.map(|cells| DocRow::new(cells.into_iter().map(|cell| vec![plain(cell)]).collect()));
    DocBlock::Table(DocTable::new(
        "The chosen design, and the designs with fewer indexes that the search found",
        ["Design", "#USD a month", "Why"],
        rows,
    ))
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
