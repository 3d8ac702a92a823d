//! The drawing written as SVG.

use std::fmt::Write as _;

use super::card::{Card, HEAD, ROW, Row, SIDE, more};
use super::card::{escape, short_type};
use super::layout::Place;
use super::{Drawing, Edge};
use crate::catalog::Catalog;

/// The widest label of a line; longer ones are cut.
pub(super) const LABEL_ROOM: i32 = 84;

/// Free space around the drawing.
const MARGIN: i32 = 8;

const STYLE: &str = include_str!("erd.css");

/// Writes the element.
pub(super) fn write(catalog: &Catalog, drawing: &Drawing) -> String {
    let layout = &drawing.layout;
    let (wide, high) = if drawing.cards.is_empty() {
        (240, 40)
    } else {
        (layout.width, layout.height)
    };
    let (wide, high) = (wide + 2 * MARGIN, high + 2 * MARGIN);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"erd-drawing\" role=\"group\" \
         aria-labelledby=\"erd-drawing-title\" aria-describedby=\"erd-drawing-desc\" width=\"{wide}\" height=\"{high}\" \
         viewBox=\"-{MARGIN} -{MARGIN} {wide} {high}\">\n<title id=\"erd-drawing-title\">{}</title>\n\
         <desc id=\"erd-drawing-desc\">{}</desc>\n<style>{STYLE}</style>\n",
        escape(&format!("Tables of {}", catalog.database)),
        escape(&description(drawing)),
    );
    if drawing.cards.is_empty() {
        out.push_str("<text x=\"0\" y=\"20\" class=\"erd-name\">No table to draw</text>\n");
    }
    for (edge, route) in drawing.edges.iter().zip(&layout.routes) {
        write_edge(&mut out, drawing, edge, route);
    }
    for (card, place) in drawing.cards.iter().zip(&layout.places) {
        write_table(&mut out, drawing, card, *place);
    }
    out.push_str("</svg>\n");
    out
}

/// The whole in words.
fn description(drawing: &Drawing) -> String {
    let count = |count: usize, noun: &str| match count {
        0 => format!("no {noun}s"),
        1 => format!("1 {noun}"),
        count => format!("{count} {noun}s"),
    };
    let tables = count(drawing.cards.len(), "table");
    let keys = count(drawing.edges.len(), "foreign key");
    let mut text = format!("{tables} and {keys}.");
    for edge in &drawing.edges {
        // Writing to a String cannot fail.
        let _ = write!(text, " {}.", sentence(drawing, edge));
    }
    text
}

fn sentence(drawing: &Drawing, edge: &Edge) -> String {
    let name = |at: usize| drawing.cards.get(at).map_or("", |card| card.name.as_str());
    let many = if edge.unique {
        "at most one"
    } else {
        "any number"
    };
    let optional = if edge.optional { ", or to nothing" } else { "" };
    format!(
        "{} ({}) refers to {} ({}){optional}: {many} for each",
        name(edge.child),
        edge.key.columns.join(", "),
        name(edge.parent),
        edge.key.referenced_columns.join(", "),
    )
}

fn full_name(drawing: &Drawing, at: usize) -> String {
    let name = drawing
        .cards
        .get(at)
        .map(|card| card.table.name.to_string());
    escape(&name.unwrap_or_default())
}

fn write_edge(out: &mut String, drawing: &Drawing, edge: &Edge, route: &[(i32, i32)]) {
    let (Some(&start), Some(&end)) = (route.first(), route.last()) else {
        return;
    };
    // The direction in which the line leaves each box.
    let towards = |from: (i32, i32), to: Option<&(i32, i32)>| {
        if to.is_some_and(|to| to.0 < from.0) {
            -1
        } else {
            1
        }
    };
    let leaves = towards(start, route.get(1));
    let arrives = towards(end, route.iter().rev().nth(1));
    let columns = edge.key.columns.join(", ");
    let _ = write!(
        out,
        "<g class=\"erd-edge\" data-from=\"{}\" data-to=\"{}\" data-columns=\"{}\"><title>{}</title>\
         <path class=\"erd-line\" d=\"{}\"/><path class=\"erd-end\" d=\"{}{}\"/>",
        full_name(drawing, edge.child),
        full_name(drawing, edge.parent),
        escape(&columns),
        escape(&sentence(drawing, edge)),
        path(route),
        child_end(start, leaves, edge.unique),
        parent_end(end, arrives, edge.optional),
    );
    let circle = |(x, y): (i32, i32), way: i32| {
        format!(
            "<circle class=\"erd-none\" cx=\"{}\" cy=\"{y}\" r=\"3\"/>",
            x + way * 12
        )
    };
    out.push_str(&circle(start, leaves));
    if edge.optional {
        out.push_str(&circle(end, arrives));
    }
    let anchor = if leaves < 0 { "end" } else { "start" };
    let (x, y) = (start.0 + leaves * 17, start.1 - 3);
    let _ = writeln!(
        out,
        "<text class=\"erd-label\" x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\">{}</text></g>",
        escape(&edge.label)
    );
}

/// The group's label says what the lines show. The head is an element of its own, for the page to make
/// a button of: one whose name is all that it shows.
fn write_table(out: &mut String, drawing: &Drawing, card: &Card, place: Place) {
    let dimmed = if card.dimmed { " erd-dimmed" } else { "" };
    let (wide, high) = (place.width, card.height);
    let _ = write!(
        out,
        "<g class=\"erd-table{dimmed}\" data-table=\"{}\" role=\"group\" aria-label=\"{}\" \
         transform=\"translate({} {})\">\
         <rect class=\"erd-box\" width=\"{wide}\" height=\"{high}\" rx=\"4\"/>\
         <g class=\"erd-grip\"><path class=\"erd-head\" d=\"M0 {HEAD}V4a4 4 0 0 1 4-4H{}a4 4 0 0 1 4 4V{HEAD}z\"/>",
        escape(&card.table.name.to_string()),
        escape(&summary(drawing, card)),
        place.x,
        place.y,
        wide - 4,
    );
    let title = (card.title != card.name).then_some(card.name.as_str());
    let name = Words {
        class: "erd-name",
        x: SIDE,
        y: 15,
        text: &card.title,
        title,
    };
    name.write(out);
    out.push_str("</g>");
    if !card.kind.is_empty() {
        let x = wide - SIDE;
        Words {
            class: "erd-kind",
            x,
            y: 15,
            text: card.kind,
            title: None,
        }
        .write(out);
    }
    let mut top = HEAD;
    for row in &card.rows {
        write_row(out, card, row, top, wide);
        top += ROW;
    }
    if !card.folded.is_empty() {
        let names = card.folded.join(", ");
        let (text, x) = (more(card.folded.len()), SIDE + card.keys_width);
        Words {
            class: "erd-more",
            x,
            y: top + 12,
            text: &text,
            title: Some(&names),
        }
        .write(out);
    }
    out.push_str("</g>\n");
}

fn write_row(out: &mut String, card: &Card, row: &Row, top: i32, wide: i32) {
    if row.marked {
        let _ = write!(
            out,
            "<rect class=\"erd-mark\" x=\"1\" y=\"{top}\" width=\"{}\" height=\"{ROW}\"/>",
            wide - 2
        );
    }
    let y = top + 12;
    if !row.keys.is_empty() {
        let class = if row.keys.starts_with("PK") {
            "erd-key erd-primary"
        } else {
            "erd-key"
        };
        Words {
            class,
            x: SIDE,
            y,
            text: &row.keys,
            title: None,
        }
        .write(out);
    }
    let column = row.column;
    let class = if column.nullable {
        "erd-column erd-nullable"
    } else {
        "erd-column"
    };
    let title = (row.name != column.name).then_some(column.name.as_str());
    Words {
        class,
        x: SIDE + card.keys_width,
        y,
        text: &row.name,
        title,
    }
    .write(out);
    let cut = row.data_type != short_type(&column.declared);
    let title = cut.then_some(column.declared.as_str());
    Words {
        class: "erd-type",
        x: wide - SIDE,
        y,
        text: &row.data_type,
        title,
    }
    .write(out);
}

/// What a screen reader says of a table.
fn summary(drawing: &Drawing, card: &Card) -> String {
    let is_own = |at: usize| {
        drawing
            .cards
            .get(at)
            .is_some_and(|other| std::ptr::eq(other, card))
    };
    let others = |way: fn(&Edge) -> (usize, usize)| {
        let mut names: Vec<&str> = (drawing.edges.iter())
            .filter(|edge| is_own(way(edge).0))
            .filter_map(|edge| {
                drawing
                    .cards
                    .get(way(edge).1)
                    .map(|card| card.name.as_str())
            })
            .collect();
        names.dedup();
        names.join(", ")
    };
    let columns = card.rows.len() + card.folded.len();
    let noun = if columns == 1 { "column" } else { "columns" };
    let what = if card.kind.is_empty() {
        "table"
    } else {
        card.kind
    };
    let mut text = format!("{what} {}, {columns} {noun}", card.name);
    for (names, words) in [
        (others(|edge| (edge.child, edge.parent)), "refers to"),
        (others(|edge| (edge.parent, edge.child)), "referred to by"),
    ] {
        if !names.is_empty() {
            let _ = write!(text, ", {words} {names}");
        }
    }
    text
}

/// A piece of text, with its full form as title where it was cut.
struct Words<'a> {
    class: &'static str,
    x: i32,
    y: i32,
    text: &'a str,
    title: Option<&'a str>,
}

impl Words<'_> {
    fn write(&self, out: &mut String) {
        let Self { class, x, y, .. } = self;
        let _ = write!(out, "<text class=\"{class}\" x=\"{x}\" y=\"{y}\">");
        if let Some(title) = self.title {
            let _ = write!(out, "<title>{}</title>", escape(title));
        }
        let _ = write!(out, "{}</text>", escape(self.text));
    }
}

// Lines and their ends, as path data of SVG.

/// How far a line's corners are rounded.
const ROUND: i32 = 5;

/// A crow's foot, or a bar where there is at most one.
pub(super) fn child_end((x, y): (i32, i32), way: i32, unique: bool) -> String {
    if unique {
        let bar = x + way * 6;
        return format!("M{bar} {}v10", y - 5);
    }
    let tip = x + way * 9;
    format!("M{x} {}L{tip} {y}L{x} {}", y - 5, y + 5)
}

/// Two bars for exactly one; one where there may be none, whose circle is drawn apart.
pub(super) fn parent_end((x, y): (i32, i32), way: i32, optional: bool) -> String {
    let bar = |at: i32| format!("M{} {}v8", x + way * at, y - 4);
    if optional { bar(6) } else { bar(5) + &bar(8) }
}

/// A line along its corners, which are rounded as far as there is room.
pub(super) fn path(route: &[(i32, i32)]) -> String {
    let mut corners: Vec<(i32, i32)> = Vec::new();
    for &corner in route {
        // A corner on a straight line is none.
        while let [.., a, b] = corners.as_slice()
            && ((a.0 == b.0 && b.0 == corner.0) || (a.1 == b.1 && b.1 == corner.1))
        {
            corners.pop();
        }
        if corners.last() != Some(&corner) {
            corners.push(corner);
        }
    }
    let mut out = String::new();
    for (at, &(x, y)) in corners.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| corners.get(at));
        match (before, corners.get(at + 1)) {
            (None, _) => out.push_str(&format!("M{x} {y}")),
            (Some(_), None) => out.push_str(&format!("L{x} {y}")),
            (Some(&before), Some(&after)) => {
                let (from, to) = (towards((x, y), before), towards((x, y), after));
                out.push_str(&format!("L{} {}Q{x} {y} {} {}", from.0, from.1, to.0, to.1));
            }
        }
    }
    out
}

/// The point on the way to another corner where the rounding ends.
fn towards((x, y): (i32, i32), to: (i32, i32)) -> (i32, i32) {
    let step = |from: i32, to: i32| {
        let half = (to - from) / 2;
        from + half.clamp(-ROUND, ROUND)
    };
    (step(x, to.0), step(y, to.1))
}
