//! The drawing written as SVG.

use dynafold_format::{counted, each_once};
use dynafold_relational::catalog::Catalog;
use maud::{Markup, PreEscaped, html};

use super::card::{Card, CardRow, HEAD, ROW, SIDE, more, short_type};
use super::layout::{MARK, PlacedBox};
use super::{COLORS, Drawing, Edge, TableDetail};

/// The widest label of a line; longer ones are cut.
pub(super) const LABEL_ROOM: i32 = 84;

/// From a box to the middle of the circle for "or none" on a line.
const CIRCLE: i32 = 12;

/// Free space around the drawing.
const MARGIN: i32 = 8;

const STYLE: &str = include_str!("erd.css");

pub(super) fn write(catalog: &Catalog, drawing: &Drawing) -> String {
    let layout = &drawing.layout;
    let is_empty = drawing.cards.is_empty();
    let (inner_width, inner_height) = if is_empty {
        (240, 40)
    } else {
        (layout.width, layout.height)
    };
    let (width, height) = (inner_width + 2 * MARGIN, inner_height + 2 * MARGIN);
    let title = format!("Tables of {}", catalog.database);
    let edges = drawing.edges.iter().zip(&layout.routes);
    let tables = drawing.cards.iter().zip(&layout.places).enumerate();
    let svg = html! {
        svg xmlns="http://www.w3.org/2000/svg" class="erd-drawing" role="group"
            aria-labelledby="erd-drawing-title" aria-describedby="erd-drawing-desc" width=(width) height=(height)
            viewBox={ "-" (MARGIN) " -" (MARGIN) " " (width) " " (height) } {
            "\n" title id="erd-drawing-title" { (title) }
            "\n" desc id="erd-drawing-desc" { (description(drawing)) }
            "\n" style { (PreEscaped(STYLE)) } "\n"
            @if is_empty { text x="0" y="20" class="erd-name" { "No table to draw" } "\n" }
            @for (line, route) in edges { (edge(drawing, line, route)) }
            @for (at, (card, place)) in tables {
                (table(card, *place, &summary(drawing, card, at)))
            }
        }
    };
    let sign = |c: char| match c {
        '\t' => ' ',
        // What XML cannot hold.
        c if c != '\n' && (c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}')) => '\u{fffd}',
        c => c,
    };
    svg.into_string().chars().map(sign).collect::<String>() + "\n"
}

/// The drawing in words, for those who cannot see it.
fn description(drawing: &Drawing) -> String {
    let count = |number: usize, noun: &str| match number {
        0 => format!("no {noun}s"),
        _ => counted(number, noun),
    };
    let tables = count(drawing.cards.len(), "table");
    let keys = count(drawing.edges.len(), "foreign key");
    let mut text = format!("{tables} and {keys}.");
    for edge in &drawing.edges {
        text.push_str(&format!(" {}.", sentence(drawing, edge)));
    }
    text
}

fn sentence(drawing: &Drawing, edge: &Edge) -> String {
    let name = |at: usize| name(drawing, at);
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

fn name<'d>(drawing: &'d Drawing, at: usize) -> &'d str {
    drawing.cards.get(at).map_or("", |card| &card.name)
}

fn full_name(drawing: &Drawing, at: usize) -> String {
    let card = drawing.cards.get(at);
    card.map_or(String::new(), |card| card.table.name.to_string())
}

fn edge(drawing: &Drawing, edge: &Edge, route: &[(i32, i32)]) -> Markup {
    let (Some(&start), Some(&end)) = (route.first(), route.last()) else {
        return Markup::default();
    };
    // -1 where a line leaves its box to the left, 1 to the right.
    let direction = |from: (i32, i32), to: Option<&(i32, i32)>| {
        if to.is_some_and(|to| to.0 < from.0) {
            -1
        } else {
            1
        }
    };
    let leaves = direction(start, route.get(1));
    let arrives = direction(end, route.iter().rev().nth(1));
    let ends = child_end(start, leaves, edge.unique) + &parent_end(end, arrives, edge.optional);
    let anchor = if leaves < 0 { "end" } else { "start" };
    html! {
        g.erd-edge data-from=(full_name(drawing, edge.child)) data-to=(full_name(drawing, edge.parent))
            data-columns=(edge.key.columns.join(", ")) {
            title { (sentence(drawing, edge)) }
            path class="erd-line" d=(path(route)) {}
            path class="erd-end" d=(ends) {}
            circle class="erd-none" cx=(start.0 + leaves * CIRCLE) cy=(start.1) r="3" {}
            @if edge.optional { circle class="erd-none" cx=(end.0 + arrives * CIRCLE) cy=(end.1) r="3" {} }
            text.erd-label x=(start.0 + leaves * MARK) y=(start.1 - 3) text-anchor=(anchor) { (edge.label) }
        }
        "\n"
    }
}

/// The group's label says what the lines show. The head is an element of its own, so that the page can make
/// a button of it whose name is what it shows.
fn table(card: &Card, place: PlacedBox, summary: &str) -> Markup {
    let (wide, high) = (place.width, card.height);
    let title = (card.title != card.name).then_some(card.name.as_str());
    let tops = (0..).map(|row| HEAD + row * ROW);
    let below = card.rows.iter().fold(HEAD, |top, _| top + ROW);
    let folded = card.folded.join(", ");
    let class = match card.detail {
        TableDetail::Dimmed => "erd-table erd-dimmed".to_owned(),
        TableDetail::Colored(color) => format!("erd-table erd-color-{}", color % COLORS),
        TableDetail::Full | TableDetail::Hidden => "erd-table".to_owned(),
    };
    html! {
        g class=(class) data-table=(card.table.name.to_string()) role="group"
            aria-label=(summary) transform={ "translate(" (place.x) " " (place.y) ")" } {
            rect class="erd-box" width=(wide) height=(high) rx="4" {}
            g.erd-grip {
                path class="erd-head" d={ "M0 " (HEAD) "V4a4 4 0 0 1 4-4H" (wide - 4) "a4 4 0 0 1 4 4V" (HEAD) "z" } {}
                (words("erd-name", SIDE, 15, &card.title, title))
            }
            @if !card.kind.is_empty() { (words("erd-kind", wide - SIDE, 15, card.kind, None)) }
            @for (line, top) in card.rows.iter().zip(tops) { (row(card, line, top, wide)) }
            @if !card.folded.is_empty() {
                (words("erd-more", SIDE + card.keys_width, below + 12, &more(card.folded.len()), Some(&folded)))
            }
        }
        "\n"
    }
}

fn row(card: &Card, row: &CardRow, top: i32, wide: i32) -> Markup {
    let y = top + 12;
    let key = if row.keys.starts_with("PK") {
        "erd-key erd-primary"
    } else {
        "erd-key"
    };
    let column = row.column;
    let class = if column.nullable {
        "erd-column erd-nullable"
    } else {
        "erd-column"
    };
    let name = (row.name != column.name).then_some(column.name.as_str());
    let is_cut = row.data_type != short_type(&column.declared);
    let declared = is_cut.then_some(column.declared.as_str());
    html! {
        @if !row.keys.is_empty() { (words(key, SIDE, y, &row.keys, None)) }
        (words(class, SIDE + card.keys_width, y, &row.name, name))
        (words("erd-type", wide - SIDE, y, &row.data_type, declared))
    }
}

/// A piece of text, with its full form as title where it was cut.
fn words(class: &str, x: i32, y: i32, text: &str, full: Option<&str>) -> Markup {
    html! {
        text class=(class) x=(x) y=(y) {
            @if let Some(full) = full { title { (full) } }
            (text)
        }
    }
}

/// What a screen reader says of a table; `at` is its place among the cards.
fn summary(drawing: &Drawing, card: &Card, at: usize) -> String {
    let others = |own_and_other: fn(&Edge) -> (usize, usize)| {
        let ends = drawing.edges.iter().map(own_and_other);
        let others = ends.filter(|(own, _)| *own == at);
        each_once(others.map(|(_, other)| name(drawing, other))).join(", ")
    };
    let columns = counted(card.rows.len() + card.folded.len(), "column");
    let what = if card.kind.is_empty() {
        "table"
    } else {
        card.kind
    };
    let mut text = format!("{what} {}, {columns}", card.name);
    for (names, words) in [
        (others(|edge| (edge.child, edge.parent)), "refers to"),
        (others(|edge| (edge.parent, edge.child)), "referred to by"),
    ] {
        if !names.is_empty() {
            text.push_str(&format!(", {words} {names}"));
        }
    }
    text
}

// Lines and their ends, as path data of SVG.

/// How far a line's corners are rounded.
const ROUND: i32 = 5;

/// A crow's foot, or a bar where there is at most one. `direction`: -1 to the left, 1 to the right.
fn child_end((x, y): (i32, i32), direction: i32, unique: bool) -> String {
    if unique {
        let bar = x + direction * 6;
        return format!("M{bar} {}v10", y - 5);
    }
    let tip = x + direction * 9;
    format!("M{x} {}L{tip} {y}L{x} {}", y - 5, y + 5)
}

/// Two bars for exactly one; one where there may be none, whose circle is drawn apart.
fn parent_end((x, y): (i32, i32), direction: i32, optional: bool) -> String {
    let bar = |at: i32| format!("M{} {}v8", x + direction * at, y - 4);
    if optional { bar(6) } else { bar(5) + &bar(8) }
}

/// A line along its corners, which are rounded as far as there is room.
fn path(route: &[(i32, i32)]) -> String {
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
                let (from, to) = (rounding((x, y), before), rounding((x, y), after));
                out.push_str(&format!("L{} {}Q{x} {y} {} {}", from.0, from.1, to.0, to.1));
            }
        }
    }
    out
}

/// The point on the way to another corner where the rounding ends.
fn rounding((x, y): (i32, i32), to: (i32, i32)) -> (i32, i32) {
    let step = |from: i32, to: i32| {
        let half = (to - from) / 2;
        from + half.clamp(-ROUND, ROUND)
    };
    (step(x, to.0), step(y, to.1))
}
