//! What is checked of a drawing: its geometry, and its text.

use std::collections::BTreeSet;

use super::super::card::{ROW, SMALL};
use super::super::{Drawing, Edge, card};

type Point = (i32, i32);

/// Left, top, right, bottom.
fn rectangles(drawing: &Drawing) -> Vec<[i32; 4]> {
    let places = drawing.layout.places.iter().zip(&drawing.cards);
    places
        .map(|(place, card)| {
            [
                place.x,
                place.y,
                place.x + place.width,
                place.y + card.height,
            ]
        })
        .collect()
}

fn segments(route: &[Point]) -> impl Iterator<Item = (Point, Point)> {
    route.windows(2).map(|pair| (pair[0], pair[1]))
}

pub(super) fn assert_sound(drawing: &Drawing) {
    let boxes = rectangles(drawing);
    let (width, height) = (drawing.layout.width, drawing.layout.height);
    for (at, a) in boxes.iter().enumerate() {
        assert!(
            a[0] >= 0 && a[1] >= 0 && a[2] <= width && a[3] <= height,
            "{a:?}"
        );
        for b in &boxes[at + 1..] {
            let apart = a[2] < b[0] || b[2] < a[0] || a[3] < b[1] || b[3] < a[1];
            assert!(apart, "boxes {a:?} and {b:?} overlap");
        }
    }
    for (edge, route) in drawing.edges.iter().zip(&drawing.layout.routes) {
        assert_begins_and_ends(drawing, edge, route, &boxes);
        for (from, to) in segments(route) {
            assert!(
                from.0 == to.0 || from.1 == to.1,
                "{from:?} to {to:?} is slanting"
            );
            assert!((0..=width).contains(&to.0) && (0..=height).contains(&to.1));
            let line = [
                from.0.min(to.0),
                from.1.min(to.1),
                from.0.max(to.0),
                from.1.max(to.1),
            ];
            for other in &boxes {
                assert!(!meets(&line, other), "{line:?} passes through {other:?}");
            }
        }
        let label = label(edge, route);
        assert!(label[0] >= 0 && label[2] <= width, "{label:?} is cut");
        for other in &boxes {
            assert!(
                !meets(&label, other),
                "the label {label:?} overlaps {other:?}"
            );
        }
    }
}

/// Whether they share more than an edge.
fn meets(a: &[i32; 4], b: &[i32; 4]) -> bool {
    a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3]
}

fn assert_begins_and_ends(drawing: &Drawing, edge: &Edge, route: &[Point], boxes: &[[i32; 4]]) {
    let ends = [
        (route.first(), edge.child, edge.key.columns.first()),
        (
            route.last(),
            edge.parent,
            edge.key.referenced_columns.first(),
        ),
    ];
    for (point, table, column) in ends {
        let (x, y) = *point.unwrap();
        let [left, top, right, _] = boxes[table];
        assert!(
            x == left || x == right,
            "{x} is no side of {:?}",
            boxes[table]
        );
        let row = top + drawing.cards[table].row_of(column);
        assert!(
            y.abs_diff(row) <= ROW.unsigned_abs() / 2,
            "{y} is not the row at {row}"
        );
    }
}

fn label(edge: &Edge, route: &[Point]) -> [i32; 4] {
    let wide = card::width(&edge.label, SMALL);
    let (x, y) = route[0];
    let [left, right] = if route[1].0 < x {
        [x - 17 - wide, x - 17]
    } else {
        [x + 17, x + 17 + wide]
    };
    [left, y - 11, right, y - 3]
}

/// The points at which lines cross that do not end at the same place.
pub(super) fn crossings(drawing: &Drawing) -> usize {
    let routes = &drawing.layout.routes;
    let mut points = BTreeSet::new();
    for (a, b) in routes
        .iter()
        .flat_map(|a| routes.iter().map(move |b| (a, b)))
    {
        if a.last() == b.last() {
            continue;
        }
        for ((level, end), (upright, bottom)) in
            segments(a).flat_map(|s| segments(b).map(move |t| (s, t)))
        {
            let is_level = level.1 == end.1 && upright.0 == bottom.0;
            let crosses = |x: i32, y: i32| {
                let (left, right) = (level.0.min(end.0), level.0.max(end.0));
                let (top, low) = (upright.1.min(bottom.1), upright.1.max(bottom.1));
                left < x && x < right && top < y && y < low
            };
            if is_level && crosses(upright.0, level.1) {
                points.insert((upright.0, level.1));
            }
        }
    }
    points.len()
}

/// Elements are closed in order, and nothing else stands where only text may.
pub(super) fn assert_well_formed(svg: &str) {
    let mut open: Vec<&str> = Vec::new();
    for piece in svg.split('<').skip(1) {
        let (tag, text) = piece.split_once('>').expect(piece);
        assert!(!text.contains('>'), "{text}");
        if let Some(closed) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(closed), "{svg}");
        } else if !tag.ends_with('/') {
            open.push(tag.split_whitespace().next().unwrap());
        }
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        for entity in piece.split('&').skip(1) {
            let known = ["amp;", "lt;", "gt;", "quot;", "#39;"];
            assert!(
                known.iter().any(|known| entity.starts_with(known)),
                "&{entity}"
            );
        }
    }
    assert!(open.is_empty(), "{open:?}");
    assert!(!svg.contains(|c: char| c.is_control() && c != '\n'));
}
