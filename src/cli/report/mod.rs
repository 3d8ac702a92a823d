//! The reports of `migrate`, `export`, `verify`, `erase`, `diff` and `design` as people read them.

mod design;
mod difference;
mod erasure;
mod export;
mod migration;
mod patterns;
mod verification;

use comfy_table::{CellAlignment, Row, Table, presets};

use super::format::count;

pub(super) use design::{comparison, design, statements, update};
pub(super) use difference::difference;
pub(super) use erasure::erasure;
pub(super) use export::{ExportVerification, export, export_verification};
pub(super) use migration::{migration, migration_outcome, whose};
pub(super) use patterns::patterns;
pub(super) use verification::verification;

/// The last line of a comparison that failed.
const FAILED: &str = "the run failed, and nothing is claimed";

/// A column of figures: its name, its figure of a book, and whether it stands there when all its
/// figures are zero.
pub(super) type ReportColumn<'c, B> = (&'c str, &'c dyn Fn(&B) -> String, bool);

/// The books of all item types and their total, a line each. A column that need not be there is left
/// out where the total shows nothing in it.
pub(super) fn books<'b, B: 'b>(
    columns: &[ReportColumn<'_, B>],
    item_types: impl IntoIterator<Item = &'b B>,
    name: impl Fn(&B) -> &str,
    total: &B,
) -> String {
    let nothing = count(0);
    let shown: Vec<&ReportColumn<'_, B>> = columns
        .iter()
        .filter(|(_, figure, always)| *always || figure(total) != nothing)
        .collect();
    let row = |books: &B, name: &str| {
        let figures = shown.iter().map(|(_, figure, _)| figure(books));
        std::iter::once(name.to_owned()).chain(figures).collect()
    };
    let item_types = item_types.into_iter();
    let mut rows: Vec<Vec<String>> = item_types.map(|books| row(books, name(books))).collect();
    rows.push(row(total, "total"));
    let header = shown.iter().map(|(name, _, _)| *name);
    figures(std::iter::once("item type").chain(header), rows)
}

/// Adds a title and what stands below it; nothing where nothing does.
pub(super) fn section(
    title: &str,
    entries: impl IntoIterator<Item = String>,
    out: &mut Vec<String>,
) {
    let mut entries = entries.into_iter().peekable();
    if entries.peek().is_some() {
        out.extend([String::new(), title.to_owned()]);
        let lines = entries.flat_map(|entry| {
            let lines = entry.lines().map(|line| format!("  {line}"));
            lines.collect::<Vec<_>>()
        });
        out.extend(lines);
    }
}

/// The attribute that a row is rejected for, behind what names the row.
pub(super) fn attribute(name: Option<&str>) -> String {
    name.map_or(String::new(), |name| format!(" `{name}`"))
}

/// A table of names and right-aligned figures.
pub(super) fn figures(
    header: impl Into<Row>,
    rows: impl IntoIterator<Item = impl Into<Row>>,
) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(header);
    table.add_rows(rows);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let lines = table.lines().map(|line| line.trim_end().to_owned());
    lines.collect::<Vec<_>>().join("\n")
}
