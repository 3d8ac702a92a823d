//! The drawing written as SVG.

use dynafold_format::{counted, each_once};
use dynafold_relational::catalog::Catalog;
use maud::{Markup, PreEscaped, html};

use super::card::{Card, CardRow, HEAD, ROW, SIDE, more, short_type};
use super::layout::{MARK, PlacedBox};
use super::{COLORS, Drawing, Edge, TableDetail};

/// The most pixels that the label of a line takes; a longer one is cut.
pub(super) const LABEL_ROOM: i32 = 84;

/// Pixels from a box to the centre of the circle on a line that means "or none".
const CIRCLE_DISTANCE: i32 = 12;

/// Free space around the drawing, in pixels.
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
                (table(card, *place, &aria_label(drawing, card, at)))
            }
        }
    };
    let xml_char = |c: char| match c {
        '\t' => ' ',
        // XML does not allow these.
        c if c != '\n' && (c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}')) => '\u{fffd}',
        c => c,
    };
    svg.into_string().chars().map(xml_char).collect::<String>() + "\n"
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
    let parent = display_name(drawing, edge.parent);
    let rows = if edge.unique {
        "at most one row"
    } else {
        "any number of rows"
    };
    let optional = if edge.optional { " or to nothing" } else { "" };
    format!(
        "{} ({}) refers to {parent} ({}){optional}; {rows} per row of {parent}",
        display_name(drawing, edge.child),
        edge.key.columns.join(", "),
        edge.key.referenced_columns.join(", "),
    )
}

fn display_name<'d>(drawing: &'d Drawing, at: usize) -> &'d str {
    drawing.cards.get(at).map_or("", |card| &card.name)
}

fn qualified_name(drawing: &Drawing, at: usize) -> String {
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
    let start_direction = direction(start, route.get(1));
    let end_direction = direction(end, route.iter().rev().nth(1));
    let ends = child_end(start, start_direction, edge.unique)
        + &parent_end(end, end_direction, edge.optional);
    let anchor = if start_direction < 0 { "end" } else { "start" };
    html! {
        g.erd-edge data-from=(qualified_name(drawing, edge.child)) data-to=(qualified_name(drawing, edge.parent))
            data-columns=(edge.key.columns.join(", ")) {
            title { (sentence(drawing, edge)) }
            path class="erd-line" d=(path(route)) {}
            path class="erd-end" d=(ends) {}
            circle class="erd-none" cx=(start.0 + start_direction * CIRCLE_DISTANCE) cy=(start.1) r="3" {}
            @if edge.optional {
                circle class="erd-none" cx=(end.0 + end_direction * CIRCLE_DISTANCE) cy=(end.1) r="3" {}
            }
            text.erd-label x=(start.0 + start_direction * MARK) y=(start.1 - 3) text-anchor=(anchor) { (edge.label) }
        }
        "\n"
    }
}

/// `aria_label` is what a screen reader says of the table. The head is an element of its own: the page's script makes it
/// a button, which is named by the text in it.
fn table(card: &Card, place: PlacedBox, aria_label: &str) -> Markup {
    let (width, height) = (place.width, card.height);
    let title = (card.title != card.name).then_some(card.name.as_str());
    let tops = (0..).map(|row| HEAD + row * ROW);
    let rows_end = card.rows.iter().fold(HEAD, |top, _| top + ROW);
    let folded = card.folded.join(", ");
    let class = match card.detail {
        TableDetail::Dimmed => "erd-table erd-dimmed".to_owned(),
        TableDetail::Colored(color) => format!("erd-table erd-color-{}", color % COLORS),
        TableDetail::Full | TableDetail::Hidden => "erd-table".to_owned(),
    };
    html! {
        g class=(class) data-table=(card.table.name.to_string()) role="group"
            aria-label=(aria_label) transform={ "translate(" (place.x) " " (place.y) ")" } {
            rect class="erd-box" width=(width) height=(height) rx="4" {}
            g.erd-grip {
                path class="erd-head" d={ "M0 " (HEAD) "V4a4 4 0 0 1 4-4H" (width - 4) "a4 4 0 0 1 4 4V" (HEAD) "z" } {}
                (text_element("erd-name", SIDE, 15, &card.title, title))
            }
            @if !card.kind.is_empty() { (text_element("erd-kind", width - SIDE, 15, card.kind, None)) }
            @for (line, top) in card.rows.iter().zip(tops) { (row(card, line, top, width)) }
            @if !card.folded.is_empty() {
                (text_element("erd-more", SIDE + card.keys_width, rows_end + 12, &more(card.folded.len()), Some(&folded)))
            }
        }
        "\n"
    }
}

fn row(card: &Card, row: &CardRow, top: i32, width: i32) -> Markup {
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
    let full_name = (row.name != column.name).then_some(column.name.as_str());
    let is_type_cut = row.data_type != short_type(&column.declared);
    let full_type = is_type_cut.then_some(column.declared.as_str());
    html! {
        @if !row.keys.is_empty() { (text_element(key, SIDE, y, &row.keys, None)) }
        (text_element(class, SIDE + card.keys_width, y, &row.name, full_name))
        (text_element("erd-type", width - SIDE, y, &row.data_type, full_type))
    }
}

/// A text element; its title is `full`, the text before it was cut.
fn text_element(class: &str, x: i32, y: i32, text: &str, full: Option<&str>) -> Markup {
    html! {
        text class=(class) x=(x) y=(y) {
            @if let Some(full) = full { title { (full) } }
            (text)
        }
    }
}

/// What a screen reader says of a table; `at` is its index among the cards.
fn aria_label(drawing: &Drawing, card: &Card, at: usize) -> String {
    let others = |own_and_other: fn(&Edge) -> (usize, usize)| {
        let ends = drawing.edges.iter().map(own_and_other);
        let others = ends.filter(|(own, _)| *own == at);
        each_once(others.map(|(_, other)| display_name(drawing, other))).join(", ")
    };
    let columns = counted(card.rows.len() + card.folded.len(), "column");
    let what = if card.kind.is_empty() {
        "table"
    } else {
        card.kind
    };
    let mut text = format!("{what} {}, {columns}", card.name);
    for (names, relation) in [
        (others(|edge| (edge.child, edge.parent)), "refers to"),
        (others(|edge| (edge.parent, edge.child)), "referred to by"),
    ] {
        if !names.is_empty() {
            text.push_str(&format!(", {relation} {names}"));
        }
    }
    text
}

// Lines and their ends, as path data of SVG.

/// The most pixels of a line that the rounding of a corner takes on each side.
const CORNER_RADIUS: i32 = 5;

/// A line's mark at the child: a crow's foot for any number of rows, a bar for at most one. `direction`: -1 to the
/// left, 1 to the right.
fn child_end((x, y): (i32, i32), direction: i32, unique: bool) -> String {
    if unique {
        let bar = x + direction * 6;
        return format!("M{bar} {}v10", y - 5);
    }
    let tip = x + direction * 9;
    format!("M{x} {}L{tip} {y}L{x} {}", y - 5, y + 5)
}

/// A line's mark at the parent: two bars for exactly one row, one bar where there may be none. [`edge`] draws the circle
/// that means none.
fn parent_end((x, y): (i32, i32), direction: i32, optional: bool) -> String {
    let bar = |at: i32| format!("M{} {}v8", x + direction * at, y - 4);
    if optional { bar(6) } else { bar(5) + &bar(8) }
}

/// A line with rounded corners; the rounding takes at most half of the way to the next corner.
fn path(route: &[(i32, i32)]) -> String {
    let mut corners: Vec<(i32, i32)> = Vec::new();
    for &corner in route {
        // A point on a straight line is not a corner.
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
                let (from, to) = (rounding_end((x, y), before), rounding_end((x, y), after));
                out.push_str(&format!("L{} {}Q{x} {y} {} {}", from.0, from.1, to.0, to.1));
            }
        }
    }
    out
}

/// The point on the way from a corner to another, `to`, where the rounding of the first ends.
fn rounding_end((x, y): (i32, i32), to: (i32, i32)) -> (i32, i32) {
    let step = |from: i32, to: i32| {
        let half = (to - from) / 2;
        from + half.clamp(-CORNER_RADIUS, CORNER_RADIUS)
    };
    (step(x, to.0), step(y, to.1))
}
