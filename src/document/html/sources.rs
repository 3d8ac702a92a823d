//! The relational side: the ERD with what becomes of each table, the columns, and the warnings.

use maud::{Markup, PreEscaped, html};

use super::frame::{folded, wide};
use super::items::{item_link, joined, pattern_link};
use super::text::{prose, source_id};
use crate::catalog::Table;
use crate::document::definition::{Definition, Part, SourceTable, Warning};
use crate::document::erd::{Options, Shown, draw};
use crate::document::phrases;
use crate::format::count;

/// Most tables that are drawn though nothing touches them.
const DIMMED: usize = 60;
/// Widest drawing that can be read on a page that stands upright.
const UPRIGHT: u32 = 1_000;

/// The ERD. Without the script the list below it says the same.
pub(super) fn erd(definition: &Definition) -> Markup {
    html! {
        @if !definition.catalog.tables.is_empty() {
            @let drawing = drawn(definition);
            div.erd.broad[is_broad(&drawing)] { (PreEscaped(drawing)) }
        }
        p.hint hidden { "Choose a table to see what becomes of it." }
        div.fates aria-live="polite" {
            @for source in definition.sources.iter().filter(|source| is_drawn(source)) {
                (fate(definition, source))
            }
        }
    }
}

/// The drawing: what nothing touches is dimmed, and left out where there is much of it.
fn drawn(definition: &Definition) -> String {
    let sources = &definition.sources;
    let untouched = sources.iter().filter(|source| source.part == Part::Unread);
    let few = untouched.filter(|source| is_drawn(source)).count() <= DIMMED;
    let shown = |table: &Table| match sources.iter().find(|source| source.id == table.name) {
        Some(source) if !is_drawn(source) => Shown::Hidden,
        Some(source) if source.part == Part::Unread && few => Shown::Dimmed,
        Some(source) if source.part == Part::Unread => Shown::Hidden,
        _ => Shown::Full,
    };
    let options = Options {
        shown: &shown,
        ..Options::default()
    };
    draw(&definition.catalog, &options)
}

/// Whether a drawing is printed larger on a page that lies than on one that stands upright.
fn is_broad(drawing: &str) -> bool {
    let first = |name: &str| -> Option<u32> {
        let text = drawing.split(name).nth(1)?;
        text.split('"').next()?.parse().ok()
    };
    match (first(" width=\""), first(" height=\"")) {
        (Some(width), Some(height)) => width > UPRIGHT && width * 5 > height * 7,
        _ => false,
    }
}

/// Views that nothing reads are left out.
fn is_drawn(source: &SourceTable) -> bool {
    source.kind.is_none() || source.part == Part::Read
}

/// What becomes of a table.
fn fate(definition: &Definition, source: &SourceTable) -> Markup {
    let attributes = |item_type: &str| -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        let carriers = source.columns.iter().flat_map(|column| &column.carriers);
        for (_, attributes) in carriers.filter(|(name, _)| name == item_type) {
            for name in attributes {
                if !names.contains(&name.as_str()) {
                    names.push(name);
                }
            }
        }
        names
    };
    html! {
        div.fate data-fate=(source.id.to_string()) {
            h3 { (source.name) }
            p {
                @if let Some(rows) = source.rows { "about " (phrases::number(usize::try_from(rows).unwrap_or(usize::MAX), "row")) ". " }
                @match source.part {
                    Part::Read if source.item_types.is_empty() => "Read to find other rows; nothing of it is in an item.",
                    Part::Read => "Its values are in these item types:",
                    Part::Queried => "Named by a query of the mapping, for these item types:",
                    Part::Beside => "Not read; a foreign key leads from or to a table that is.",
                    Part::Unread => "Not read.",
                }
            }
            @if !source.item_types.is_empty() {
                ul.plain {
                    @for name in &source.item_types {
                        li {
                            (joined(std::slice::from_ref(name), |name| item_link(definition, name)))
                            @let names = attributes(name);
                            @if names.is_empty() {
                                span.sub { "no column of it is traced" }
                            } @else {
                                ": " code { (names.join(", ")) }
                            }
                        }
                    }
                }
            }
            @if !source.patterns.is_empty() {
                p { "Found by " (joined(&source.patterns, |name| pattern_link(definition, name))) }
            }
        }
    }
}

pub(super) fn coverage(definition: &Definition) -> Markup {
    let sources = || definition.sources.iter().enumerate();
    let unread: Vec<&SourceTable> = sources()
        .map(|(_, source)| source)
        .filter(|source| matches!(source.part, Part::Beside | Part::Unread))
        .collect();
    let queried: Vec<&SourceTable> = sources()
        .map(|(_, source)| source)
        .filter(|source| source.part == Part::Queried)
        .collect();
    html! {
        @for (at, source) in sources().filter(|(_, source)| source.part == Part::Read) {
            div id=(source_id(at, &source.name)) { (columns(source)) }
        }
        @if !queried.is_empty() {
            p { "Queries of the mapping name these; which columns they take is not traced:" }
            ul.columns { @for source in queried { li { code { (source.name) } } } }
        }
        @if unread.is_empty() {
            p { "Every table is read." }
        } @else {
            p { "From these nothing is read:" }
            ul.columns {
                @for source in unread {
                    li {
                        code { (source.name) }
                        @if let Some(kind) = source.kind { " (" (kind) ")" }
                        @if let Some(rows) = source.rows { ", about " (count(rows)) " rows" }
                    }
                }
            }
        }
    }
}

fn columns(source: &SourceTable) -> Markup {
    let carried = source
        .columns
        .iter()
        .filter(|column| !column.carriers.is_empty());
    let summary = format!(
        "{}: {} of {} carried",
        source.name,
        carried.count(),
        phrases::number(source.columns.len(), "column")
    );
    let caption = format!("Columns of {}", source.name);
    folded(
        &summary,
        &wide(
            &caption,
            &html! {
                table {
                    caption { (caption) }
                    thead {
                        tr { th scope="col" { "Column" } th scope="col" { "Type" } th scope="col" { "Carried by" } }
                    }
                    tbody {
                        @for column in &source.columns {
                            tr {
                                th scope="row" { code { (column.name) } }
                                td { span.type { (column.declared) } }
                                td {
                                    @if column.carriers.is_empty() {
                                        span.none {
                                            "nothing"
                                            @if column.leads { "; it leads to other rows" }
                                        }
                                    }
                                    @for (at, (item_type, attributes)) in column.carriers.iter().enumerate() {
                                        @if at > 0 { br; }
                                        (item_type) ": " code { (attributes.join(", ")) }
                                    }
                                }
                            }
                        }
                    }
                }
            },
        ),
    )
}

pub(super) fn warnings(definition: &Definition) -> Markup {
    let list = |title: &str, warnings: &[Warning]| {
        html! {
            h3 { (title) }
            @if warnings.is_empty() {
                p { "None." }
            } @else {
                ul.warnings {
                    @for warning in warnings {
                        li {
                            p {
                                span.role { (warning.code) } " "
                                span.sub { (definition.mapping) ":" (warning.line) ":" (warning.column) }
                            }
                            p {
                                (prose(&warning.message))
                                @if !warning.label.is_empty() { " (" (prose(&warning.label)) ")" }
                            }
                            @if let Some(help) = &warning.help { p.note { "To mend it: " (prose(help)) } }
                        }
                    }
                }
            }
        }
    };
    html! {
        (list("Open", &definition.warnings))
        (list("Accepted by the mapping", &definition.accepted))
    }
}
