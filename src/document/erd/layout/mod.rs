//! Where boxes and lines go: layers from left to right, parents before their children.
//!
//! The method is Sugiyama's with three changes that suit diagrams of tables. Lines begin and end at
//! rows of a table, not at its middle. Foreign keys that lead to the same row share one trunk, so
//! that a table with ten children has one line leaving it. And layers are merged or split until the
//! drawing has the shape of a page; two tables that refer to each other may then stand in one layer.
//!
//! Lines run upright only between layers and level only between boxes, so that none can pass
//! through a box. All of it is whole numbers and ordered collections: the same input gives the same
//! drawing.

mod grid;

use std::collections::{BTreeMap, BTreeSet};

use grid::{Grid, Side};

/// The space that a drawing is shaped for: what the page leaves of a window of 1280 × 800.
const PAGE: (i32, i32) = (960, 740);
/// By how many thousandths a drawing may shrink and still be readable.
pub(super) const READABLE: i32 = 760;
/// How many layerings of one component are tried.
const TRIALS: usize = 12;
/// And of how many of them links within a layer are turned round.
const FINALISTS: usize = 3;
/// Above so many boxes a component is laid out once, by the layering that looks best beforehand.
const MANY: usize = 40;

/// A box to be placed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    pub(super) width: i32,
    pub(super) height: i32,
}

/// A line to be drawn, from a row of the child's box to a row of the parent's.
#[derive(Debug, Clone, Copy)]
pub(super) struct Link {
    pub(super) child: usize,
    /// The middle of the row, from the box's top.
    pub(super) child_row: i32,
    pub(super) parent: usize,
    pub(super) parent_row: i32,
    /// Whether the parent may be missing: such lines do not share a trunk with the others.
    pub(super) optional: bool,
    /// How wide the text is that stands on the line beside the child.
    pub(super) label: i32,
}

/// A placed box. Boxes of one layer are equally wide.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Place {
    pub(super) x: i32,
    pub(super) y: i32,
    pub(super) width: i32,
}

/// The whole drawing; its upper left corner is 0, 0.
#[derive(Debug, Default)]
pub(super) struct Layout {
    pub(super) width: i32,
    pub(super) height: i32,
    /// One for each shape.
    pub(super) places: Vec<Place>,
    /// One for each link: its corners, from the child to the parent.
    pub(super) routes: Vec<Vec<(i32, i32)>>,
    /// How often a line crosses another that leads elsewhere.
    pub(super) crossings: usize,
}

impl Layout {
    /// By how many thousandths the drawing must shrink to fit the page; 1000 where it fits.
    pub(super) fn scale(&self) -> i32 {
        scale(self.width, self.height)
    }

    /// Readable first, then without crossings, then large.
    fn merit(&self) -> i32 {
        let crossings = i32::try_from(self.crossings).unwrap_or(i32::MAX);
        let scale = self.scale();
        let readable = scale.min(READABLE) + (scale - READABLE).max(0) / 8;
        readable.saturating_sub(crossings.saturating_mul(30))
    }
}

fn scale(width: i32, height: i32) -> i32 {
    let fit = |page: i32, size: i32| page.saturating_mul(1000) / size.max(1);
    fit(PAGE.0, width).min(fit(PAGE.1, height)).min(1000)
}

/// Lays out any graph: connected parts each for itself, then packed onto one page.
pub(super) fn lay_out(shapes: &[Shape], links: &[Link]) -> Layout {
    let mut parts = Vec::new();
    for members in components(shapes.len(), links) {
        let inner: BTreeMap<usize, usize> = members.iter().copied().zip(0..).collect();
        let own: Vec<Shape> = (members.iter())
            .filter_map(|&member| shapes.get(member).copied())
            .collect();
        let mut within = Vec::new();
        let mut numbers = Vec::new();
        for (number, link) in links.iter().enumerate() {
            if let (Some(&child), Some(&parent)) = (inner.get(&link.child), inner.get(&link.parent))
            {
                numbers.push(number);
                within.push(Link {
                    child,
                    parent,
                    ..*link
                });
            }
        }
        parts.push((component(&own, &within), members, numbers));
    }
    pack(&parts, shapes.len(), links.len())
}

/// The connected parts, each in order, the first by its first member.
fn components(count: usize, links: &[Link]) -> Vec<Vec<usize>> {
    let mut beside = vec![Vec::new(); count];
    for link in links {
        for (from, to) in [(link.child, link.parent), (link.parent, link.child)] {
            if let Some(list) = beside.get_mut(from) {
                list.push(to);
            }
        }
    }
    let mut left: BTreeSet<usize> = (0..count).collect();
    let mut parts = Vec::new();
    while let Some(first) = left.pop_first() {
        let mut part = vec![first];
        let mut next = vec![first];
        while let Some(here) = next.pop() {
            for &other in beside.get(here).into_iter().flatten() {
                if left.remove(&other) {
                    part.push(other);
                    next.push(other);
                }
            }
        }
        part.sort_unstable();
        parts.push(part);
    }
    parts
}

/// Lays out a connected part by the best of several layerings.
fn component(shapes: &[Shape], links: &[Link]) -> Layout {
    let mut layerings = grid::layerings(shapes, links);
    layerings.truncate(if shapes.len() > MANY { 1 } else { TRIALS });
    let sides = vec![Side::Right; links.len()];
    let mut tried: Vec<(Layout, Vec<usize>)> = (layerings.into_iter())
        .map(|layers| (layered(shapes, links, &layers, &sides), layers))
        .collect();
    // A stable sort: of equals the more promising one.
    tried.sort_by_key(|(layout, _)| std::cmp::Reverse(layout.merit()));
    if shapes.len() <= MANY {
        for (layout, layers) in tried.iter_mut().take(FINALISTS) {
            turn(layout, shapes, links, layers);
        }
    }
    let best = tried.into_iter().map(|(layout, _)| layout);
    best.reduce(|best, next| {
        if next.merit() > best.merit() {
            next
        } else {
            best
        }
    })
    .unwrap_or_default()
}

/// Lays out a connected part whose layers are given, and the sides of links within a layer.
fn layered(shapes: &[Shape], links: &[Link], layers: &[usize], sides: &[Side]) -> Layout {
    let mut grid = Grid::new(shapes, links, layers, sides);
    grid::order(&mut grid);
    grid::place(&mut grid);
    grid::route(&grid, shapes, links)
}

/// Lets links within a layer go round its left side, each where that is better.
fn turn(best: &mut Layout, shapes: &[Shape], links: &[Link], layers: &[usize]) {
    let mut sides = vec![Side::Right; links.len()];
    for (number, link) in links.iter().enumerate() {
        if layers.get(link.child) != layers.get(link.parent) {
            continue;
        }
        let mut turned = sides.clone();
        if let Some(side) = turned.get_mut(number) {
            *side = Side::Left;
        }
        let other = layered(shapes, links, layers, &turned);
        if other.merit() > best.merit() {
            *best = other;
            sides = turned;
        }
    }
}

// Parts that are not connected, packed onto one page.

/// Between two parts.
const SPACE: i32 = 36;

/// A part: its layout, the numbers of its shapes, the numbers of its links.
type Part = (Layout, Vec<usize>, Vec<usize>);

/// Puts all parts into one layout of so many shapes and links, at the width that gives the largest
/// drawing.
fn pack(parts: &[Part], shapes: usize, links: usize) -> Layout {
    let mut order: Vec<usize> = (0..parts.len()).collect();
    let size = |part: &usize| {
        parts
            .get(*part)
            .map_or((0, 0), |(l, _, _)| (l.height, l.width))
    };
    order.sort_by_key(|part| std::cmp::Reverse(size(part)));
    let sizes: Vec<(i32, i32)> = (order.iter().map(size))
        .map(|(height, width)| (width + SPACE, height + SPACE))
        .collect();
    let widest = sizes.iter().map(|size| size.0).max().unwrap_or(0);
    let widths = (0..40).map(|more| widest + more * 80);
    let shaped = widths.map(|width| {
        let (places, extent) = fill(&sizes, width);
        (scale(extent.0 - SPACE, extent.1 - SPACE), places, extent)
    });
    // Of equals the first, which is the narrowest.
    let best = shaped.reduce(|best, next| if next.0 > best.0 { next } else { best });
    let (_, corners, extent) = best.unwrap_or_default();

    let mut whole = Layout {
        width: (extent.0 - SPACE).max(0),
        height: (extent.1 - SPACE).max(0),
        places: vec![Place::default(); shapes],
        routes: vec![Vec::new(); links],
        crossings: 0,
    };
    for (part, (x, y)) in order.into_iter().zip(corners) {
        let Some((layout, members, numbers)) = parts.get(part) else {
            continue;
        };
        whole.crossings += layout.crossings;
        for (member, place) in members.iter().zip(&layout.places) {
            if let Some(slot) = whole.places.get_mut(*member) {
                *slot = Place {
                    x: place.x + x,
                    y: place.y + y,
                    ..*place
                };
            }
        }
        for (number, route) in numbers.iter().zip(&layout.routes) {
            if let Some(slot) = whole.routes.get_mut(*number) {
                *slot = route
                    .iter()
                    .map(|corner| (corner.0 + x, corner.1 + y))
                    .collect();
            }
        }
    }
    whole
}

/// Puts the rectangles, the highest first, into rows within the width.
fn fill(sizes: &[(i32, i32)], width: i32) -> (Vec<(i32, i32)>, (i32, i32)) {
    let (mut x, mut y, mut below) = (0, 0, 0);
    let mut extent = (0, 0);
    let places = sizes.iter().map(|&(wide, high)| {
        if x > 0 && x + wide > width {
            (x, y) = (0, below);
        }
        let place = (x, y);
        x += wide;
        below = below.max(y + high);
        extent = (extent.0.max(x), below);
        place
    });
    (places.collect(), extent)
}
