//! Which layer each box stands in.

#![expect(
    clippy::indexing_slicing,
    reason = "all indices number the boxes of one component, and every list has an entry for each"
)]

use std::collections::BTreeSet;

use super::{Link, Shape, scale};

/// What a gap between two layers is taken to be wide, before it is known.
const GAP: i32 = 110;
/// What a box is taken to keep from the next one below.
const SPACE: i32 = 26;

/// Layers for each box, the most promising shape first.
///
/// The first idea is one layer for each step from parent to child. From there layers are merged
/// while the drawing is too wide, or split while it is too tall.
pub(super) fn layerings(shapes: &[Shape], links: &[Link]) -> Vec<Vec<usize>> {
    let ranks = ranks(shapes.len(), links);
    let mut all = vec![ranks.clone()];
    let mut merged = ranks.clone();
    while let Some(fewer) = merge(shapes, &merged) {
        all.push(fewer.clone());
        merged = fewer;
    }
    let mut split = ranks;
    for _ in 0..8 {
        let Some(more) = divide(shapes, &split) else {
            break;
        };
        all.push(more.clone());
        split = more;
    }
    // A stable sort: of equals the layering with more layers, which has more lines of one direction.
    all.sort_by_key(|layers| std::cmp::Reverse(promise(shapes, layers)));
    all
}

fn promise(shapes: &[Shape], layers: &[usize]) -> i32 {
    let sizes = sizes(shapes, layers);
    let width: i32 = sizes.iter().map(|size| size.0 + GAP).sum();
    let height = sizes.iter().map(|size| size.1).max().unwrap_or(0);
    scale(width - GAP, height)
}

/// Width and height of each layer.
fn sizes(shapes: &[Shape], layers: &[usize]) -> Vec<(i32, i32)> {
    let count = layers.iter().max().map_or(0, |last| last + 1);
    let mut sizes = vec![(0, 0); count];
    for (shape, &layer) in shapes.iter().zip(layers) {
        sizes[layer].0 = sizes[layer].0.max(shape.width);
        sizes[layer].1 += shape.height + SPACE;
    }
    sizes
}

/// Puts the two neighbouring layers together that are least tall together.
fn merge(shapes: &[Shape], layers: &[usize]) -> Option<Vec<usize>> {
    let sizes = sizes(shapes, layers);
    let pairs = sizes.windows(2).map(|pair| pair[0].1 + pair[1].1);
    let (_, at) = pairs.zip(0..).min()?;
    let fewer = |&layer: &usize| if layer > at { layer - 1 } else { layer };
    Some(layers.iter().map(fewer).collect())
}

/// Makes two layers of the tallest.
fn divide(shapes: &[Shape], layers: &[usize]) -> Option<Vec<usize>> {
    let sizes = sizes(shapes, layers);
    let tallest = (0..sizes.len()).max_by_key(|&layer| sizes[layer].1)?;
    let mut members = layers.iter().filter(|&&layer| layer == tallest);
    members.nth(1)?;
    let half = sizes[tallest].1 / 2;
    let mut above = 0;
    let more = |(shape, &layer): (&Shape, &usize)| {
        if layer != tallest {
            return layer + usize::from(layer > tallest);
        }
        above += shape.height + SPACE;
        layer + usize::from(above > half)
    };
    Some(shapes.iter().zip(layers).map(more).collect())
}

/// The steps from the first parents, with cycles broken and boxes moved next to those they are
/// tied to.
fn ranks(count: usize, links: &[Link]) -> Vec<usize> {
    let edges: BTreeSet<(usize, usize)> = (links.iter())
        .filter(|link| link.parent != link.child)
        .map(|link| (link.parent, link.child))
        .collect();
    let sequence = sequence(count, &edges);
    let mut position = vec![0; count];
    for (at, &node) in sequence.iter().enumerate() {
        position[node] = at;
    }
    let mut after = vec![BTreeSet::new(); count];
    let mut before = vec![BTreeSet::new(); count];
    for &(a, b) in &edges {
        let (first, second) = if position[a] < position[b] {
            (a, b)
        } else {
            (b, a)
        };
        after[first].insert(second);
        before[second].insert(first);
    }
    let mut rank = vec![0; count];
    for &node in &sequence {
        rank[node] = before[node].iter().map(|&b| rank[b] + 1).max().unwrap_or(0);
    }
    // A box with more children than parents moves to its children, as far as it can.
    for _ in 0..count.min(20) {
        let mut moved = false;
        for &node in sequence.iter().rev() {
            let Some(nearest) = after[node].iter().map(|&a| rank[a] - 1).min() else {
                continue;
            };
            if nearest > rank[node] && after[node].len() > before[node].len() {
                rank[node] = nearest;
                moved = true;
            }
        }
        if !moved {
            break;
        }
    }
    let used: BTreeSet<usize> = rank.iter().copied().collect();
    rank.iter().map(|rank| used.range(..rank).count()).collect()
}

/// All nodes in an order in which few edges lead backwards (Eades, Lin and Smyth): ends are taken
/// away first, then the node that leads to most and is led to by fewest.
fn sequence(count: usize, edges: &BTreeSet<(usize, usize)>) -> Vec<usize> {
    let mut left: BTreeSet<usize> = (0..count).collect();
    let mut into = vec![0_i32; count];
    let mut out = vec![0_i32; count];
    let mut beside = vec![Vec::new(); count];
    for &(a, b) in edges {
        out[a] += 1;
        into[b] += 1;
        beside[a].push((b, true));
        beside[b].push((a, false));
    }
    let mut front = Vec::new();
    let mut back = Vec::new();
    while !left.is_empty() {
        let last = left.iter().copied().find(|&n| out[n] == 0 && into[n] > 0);
        let first = || left.iter().copied().find(|&n| into[n] == 0);
        let most = || {
            left.iter()
                .copied()
                .max_by_key(|&n| (out[n] - into[n], std::cmp::Reverse(n)))
        };
        let Some(node) = last.or_else(first).or_else(most) else {
            break;
        };
        if last.is_some() {
            back.push(node);
        } else {
            front.push(node);
        }
        left.remove(&node);
        for &(other, is_child) in &beside[node] {
            if is_child {
                into[other] -= 1;
            } else {
                out[other] -= 1;
            }
        }
    }
    back.reverse();
    front.extend(back);
    front
}
