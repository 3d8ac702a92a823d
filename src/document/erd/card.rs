//! A table as a box: which of its columns are shown, and how large that is.

use crate::catalog::{Catalog, Column, ForeignKey, Table, TableKind};

use super::text::{fit, short_type, width};
use super::{Options, Shown};

/// Font sizes, in pixels.
pub(super) const NAME: usize = 12;
pub(super) const COLUMN: usize = 11;
pub(super) const SMALL: usize = 9;

/// Heights and distances, in pixels.
pub(super) const HEAD: i32 = 22;
pub(super) const ROW: i32 = 16;
pub(super) const FOOT: i32 = 4;
pub(super) const SIDE: i32 = 8;
const BETWEEN: i32 = 10;
/// The widest that a name and a type are shown.
const NAME_ROOM: i32 = 168;
const TYPE_ROOM: i32 = 92;
const TITLE_ROOM: i32 = 220;

/// A row of a box.
pub(super) struct Row<'a> {
    pub(super) column: &'a Column,
    pub(super) keys: String,
    pub(super) name: String,
    pub(super) data_type: String,
    pub(super) marked: bool,
}

/// A box.
pub(super) struct Card<'a> {
    pub(super) table: &'a Table,
    pub(super) dimmed: bool,
    /// The name in full, and as it fits.
    pub(super) name: String,
    pub(super) title: String,
    /// What it is, where it is no table.
    pub(super) kind: &'static str,
    pub(super) rows: Vec<Row<'a>>,
    /// Columns that are not shown.
    pub(super) folded: Vec<&'a str>,
    /// How much of each row the marks of keys take.
    pub(super) keys_width: i32,
    pub(super) width: i32,
    pub(super) height: i32,
}

impl<'a> Card<'a> {
    /// Makes the box; of a table with more than `bound` columns keys and marked columns are shown,
    /// and as many others as there is room for.
    pub(super) fn new(
        catalog: &Catalog,
        table: &'a Table,
        options: &Options,
        bound: usize,
    ) -> Self {
        let marked = |column: &Column| (options.marked)(table, column);
        let wanted = |column: &Column| !keys(catalog, table, column).is_empty() || marked(column);
        let needed = table.columns.iter().filter(|column| wanted(column)).count();
        // One column is not folded: the line that says so would take its place.
        let all = table.columns.len() <= bound.max(needed) + 1;
        let mut others = bound.saturating_sub(needed);
        let mut rows = Vec::new();
        let mut folded = Vec::new();
        for column in &table.columns {
            let is_wanted = wanted(column);
            if all || is_wanted || others > 0 {
                others = others.saturating_sub(usize::from(!is_wanted));
                rows.push(Row {
                    keys: keys(catalog, table, column).join(" "),
                    name: fit(&column.name, COLUMN, NAME_ROOM),
                    data_type: fit(&short_type(&column.declared), SMALL, TYPE_ROOM),
                    marked: marked(column),
                    column,
                });
            } else {
                folded.push(column.name.as_str());
            }
        }
        let name = catalog.display_name(&table.name);
        let title = fit(&name, NAME, TITLE_ROOM);
        let kind = kind(table);
        let keys_width = rows
            .iter()
            .map(|row| width(&row.keys, SMALL))
            .max()
            .unwrap_or(0);
        let keys_width = keys_width + if keys_width > 0 { 6 } else { 0 };
        let wide = |row: &Row| {
            keys_width + width(&row.name, COLUMN) + BETWEEN + width(&row.data_type, SMALL)
        };
        let head = width(&title, NAME) + BETWEEN + width(kind, SMALL);
        let more = keys_width + width(&more(folded.len()), SMALL);
        let inner = rows
            .iter()
            .map(wide)
            .chain([head, more, 80])
            .max()
            .unwrap_or(0);
        let lines = rows.len() + usize::from(!folded.is_empty());
        Self {
            table,
            dimmed: (options.shown)(table) == Shown::Dimmed,
            name,
            title,
            kind,
            keys_width,
            width: inner + 2 * SIDE,
            height: HEAD + ROW * i32::try_from(lines).unwrap_or(0) + FOOT,
            rows,
            folded,
        }
    }

    /// The middle of a column's row, from the box's top; of the head where the column is not shown.
    pub(super) fn row_of(&self, column: Option<&String>) -> i32 {
        let is = |row: &Row| Some(&row.column.name) == column;
        let found = self.rows.iter().zip(0..).find(|(row, _)| is(row));
        found.map_or(HEAD / 2, |(_, number)| HEAD + number * ROW + ROW / 2)
    }
}

/// The line that stands for columns that are not shown; nothing for none.
pub(super) fn more(count: usize) -> String {
    match count {
        0 => String::new(),
        1 => "+ 1 more column".to_owned(),
        count => format!("+ {count} more columns"),
    }
}

/// What keys a column is part of, and what keys of other tables lead to it.
fn keys(catalog: &Catalog, table: &Table, column: &Column) -> Vec<&'static str> {
    let name = &column.name;
    let foreign = table
        .foreign_keys
        .iter()
        .any(|key| key.columns.contains(name));
    let unique = table
        .unique_keys
        .iter()
        .any(|key| key.columns == [name.as_str()]);
    let leads_here =
        |key: &ForeignKey| key.references == table.name && key.referenced_columns.contains(name);
    let is_key = || {
        catalog
            .tables
            .iter()
            .flat_map(|t| &t.foreign_keys)
            .any(leads_here)
    };
    let primary = table.primary_key.contains(name);
    let unique = (unique || is_key()) && !primary;
    [(primary, "PK"), (foreign, "FK"), (unique, "UK")]
        .into_iter()
        .filter_map(|(is, key)| is.then_some(key))
        .collect()
}

fn kind(table: &Table) -> &'static str {
    match table.kind {
        TableKind::Table | TableKind::Partitioned => "",
        TableKind::View => "view",
        TableKind::MaterializedView => "materialized view",
        TableKind::Foreign => "foreign table",
    }
}
