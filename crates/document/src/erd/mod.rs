//! The ERD as a drawing: tables as boxes, foreign keys as lines between their rows.
//!
//! [`draw`] makes one SVG element that stands by itself and takes nothing from elsewhere. The page
//! around it may set its colours and act on it:
//!
//! - Colours are CSS variables: `--erd-line`, `--erd-box`, `--erd-head`, `--erd-text`,
//!   `--erd-faint`, `--erd-accent`. Without them the system's own colours are used, light or dark.
//! - Each table is a `g.erd-table` with `data-table="schema.table"`; its `g.erd-grip` shows the name and is
//!   what the page may make a button. Each foreign key is a `g.erd-edge` with `data-from`, `data-to`
//!   (tables) and `data-columns`.
//! - A table with a colour has the class `erd-color-0` and so on, which sets `--erd-own`.
//! - The classes `erd-dimmed` (set here for tables that are not migrated), and `erd-lit` and `erd-faded`
//!   (for the page to set) say how strongly a table or a line is drawn.
//!
//! The same catalog gives the same text. Names from the database are escaped, and cut where they
//! are too long for the drawing; the full name is then the element's title.

mod card;
mod layout;
mod svg;
#[cfg(test)]
mod tests;

use dynafold_relational::catalog::{Catalog, Dbms, ForeignKey, Table};

use card::Card;
use layout::{BoxLink, BoxShape, ErdLayout, READABLE, lay_out};

/// How many columns a table may have before some are folded, tried until the drawing is readable.
const BOUNDS: [usize; 5] = [14, 9, 6, 3, 0];
/// Above so many tables they are folded from the start, to so many columns.
const MANY: usize = 60;
const FOLDED: [usize; 1] = [3];

/// Colours that tables can have.
pub const COLORS: usize = 8;

/// How a table is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableDetail {
    /// Like all others.
    Full,
    /// In the colour of this number, which tables have whose rows belong together.
    Colored(usize),
    /// Faintly: it is there, but nothing becomes of it.
    Dimmed,
    /// Not at all, nor the foreign keys from and to it.
    Hidden,
}

/// Draws the catalog as one SVG element. Without a table to draw it says so. `shown` is asked about
/// views too.
pub fn draw(catalog: &Catalog, shown: &dyn Fn(&Table) -> TableDetail) -> String {
    let drawing = drawing(catalog, shown);
    drawing.map_or_else(String::new, |drawing| svg::write(catalog, &drawing))
}

/// The first drawing that is readable, else the one that is most so.
fn drawing<'a>(catalog: &'a Catalog, shown: &dyn Fn(&Table) -> TableDetail) -> Option<Drawing<'a>> {
    let tables = catalog.tables.iter().map(|table| (table, shown(table)));
    let tables: Vec<(&Table, TableDetail)> = tables
        .filter(|(_, shown)| *shown != TableDetail::Hidden)
        .collect();
    let bounds = if tables.len() > MANY {
        FOLDED.as_slice()
    } else {
        BOUNDS.as_slice()
    };
    let mut best: Option<Drawing> = None;
    for &bound in bounds {
        let drawing = Drawing::new(catalog, &tables, bound);
        let scale = drawing.layout.scale();
        if best.as_ref().is_none_or(|best| scale > best.layout.scale()) {
            best = Some(drawing);
        }
        if scale >= READABLE {
            break;
        }
    }
    best
}

/// Boxes and lines with their places.
struct Drawing<'a> {
    cards: Vec<Card<'a>>,
    edges: Vec<Edge<'a>>,
    layout: ErdLayout,
}

/// A foreign key between two tables that are drawn.
struct Edge<'a> {
    child: usize,
    parent: usize,
    key: &'a ForeignKey,
    /// What stands on the line.
    label: String,
    /// Whether a row may have no parent.
    optional: bool,
    /// Whether a parent has at most one such row.
    unique: bool,
}

impl<'a> Drawing<'a> {
    fn new(catalog: &Catalog, tables: &[(&'a Table, TableDetail)], bound: usize) -> Self {
        let cards: Vec<Card> = (tables.iter())
            .map(|(table, shown)| Card::new(catalog, table, *shown, bound))
            .collect();
        let edges = edges(&cards, catalog.dbms);
        let shapes: Vec<BoxShape> = (cards.iter())
            .map(|card| BoxShape {
                width: card.width,
                height: card.height,
            })
            .collect();
        let row = |at: usize, column| cards.get(at).map_or(0, |card: &Card| card.row_of(column));
        let links: Vec<BoxLink> = (edges.iter())
            .map(|edge| BoxLink {
                child: edge.child,
                child_row: row(edge.child, edge.key.columns.first()),
                parent: edge.parent,
                parent_row: row(edge.parent, edge.key.referenced_columns.first()),
                optional: edge.optional,
                label: card::width(&edge.label, card::SMALL),
            })
            .collect();
        let layout = lay_out(&shapes, &links);
        Self {
            cards,
            edges,
            layout,
        }
    }
}

fn edges<'a>(cards: &[Card<'a>], dbms: Dbms) -> Vec<Edge<'a>> {
    let mut edges = Vec::new();
    for (child, card) in cards.iter().enumerate() {
        let table = card.table;
        for key in &table.foreign_keys {
            let is_parent = |other: &Card| other.table.name == key.references;
            let Some(parent) = cards.iter().position(is_parent) else {
                continue;
            };
            let nullable = |name: &String| table.column(name).is_none_or(|column| column.nullable);
            edges.push(Edge {
                child,
                parent,
                key,
                label: card::fit(&key.columns.join(", "), card::SMALL, svg::LABEL_ROOM),
                optional: key.columns.iter().any(nullable),
                unique: table.is_declared_unique(&key.columns, dbms),
            });
        }
    }
    edges
}
