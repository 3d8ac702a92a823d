//! Parts that are not connected, packed onto one page.

use super::{Layout, Place, scale};

/// Between two parts.
const SPACE: i32 = 36;

/// A part: its layout, the numbers of its shapes, the numbers of its links.
pub(super) type Part = (Layout, Vec<usize>, Vec<usize>);

/// Puts all parts into one layout of so many shapes and links, at the width that gives the largest
/// drawing.
pub(super) fn pack(parts: &[Part], shapes: usize, links: usize) -> Layout {
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
