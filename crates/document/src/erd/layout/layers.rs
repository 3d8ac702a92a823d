//! Which layer each box stands in.

#![expect(
    clippy::indexing_slicing,
    reason = "indices number the boxes of one drawing"
)]

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::{BoxLink, BoxShape, scale};

/// What a gap between two layers is taken to be wide, before it is known.
const GAP: i32 = 110;
/// What a box is taken to keep from the next one below.
const SPACE: i32 = 26;
/// The most layers of about equal height.
const MOST: i32 = 12;

/// Layers for each box, the most promising shape first: one for each step from parent to child, and the
/// boxes in that order cut into so many layers of about equal height.
pub(super) fn layerings(shapes: &[BoxShape], links: &[BoxLink]) -> Vec<Vec<usize>> {
    let ranks = ranks(shapes.len(), links);
    let cuts = (1..=MOST).map(|count| cut(shapes, &ranks, count));
    let mut all: Vec<Vec<usize>> = cuts.collect();
    all.insert(0, numbered(&ranks));
    // A stable sort: of equals the steps, which have more lines of one direction.
    all.sort_by_key(|layers| Reverse(promise(shapes, layers)));
    all
}

/// The scale that a drawing of these layers may have.
fn promise(shapes: &[BoxShape], layers: &[usize]) -> i32 {
    let mut sizes: BTreeMap<usize, (i32, i32)> = BTreeMap::new();
    for (shape, &layer) in shapes.iter().zip(layers) {
        let (width, height) = sizes.entry(layer).or_default();
        *width = shape.width.max(*width);
        *height += shape.height + SPACE;
    }
    let width: i32 = sizes.values().map(|size| size.0 + GAP).sum();
    let height = sizes.values().map(|size| size.1).max().unwrap_or(0);
    scale(width - GAP, height)
}

/// Layers of about equal height, with the boxes in the order of their ranks.
fn cut(shapes: &[BoxShape], ranks: &[usize], count: i32) -> Vec<usize> {
    let tall = |node: usize| shapes[node].height + SPACE;
    let whole: i32 = (0..shapes.len()).map(tall).sum();
    let mut nodes: Vec<usize> = (0..shapes.len()).collect();
    nodes.sort_by_key(|&node| ranks[node]);
    let mut layers = vec![0; shapes.len()];
    let mut above = 0;
    for node in nodes {
        let middle = above + tall(node) / 2;
        layers[node] = usize::try_from(middle * count / whole).unwrap_or(0);
        above += tall(node);
    }
    numbered(&layers)
}

/// The same layers without those that are empty.
fn numbered(layers: &[usize]) -> Vec<usize> {
    let used: BTreeSet<usize> = layers.iter().copied().collect();
    layers
        .iter()
        .map(|layer| used.range(..layer).count())
        .collect()
}

/// The steps from the first parents.
fn ranks(count: usize, links: &[BoxLink]) -> Vec<usize> {
    let mut parents = vec![BTreeSet::new(); count];
    let mut children = parents.clone();
    for link in links.iter().filter(|link| link.parent != link.child) {
        parents[link.child].insert(link.parent);
        children[link.parent].insert(link.child);
    }
    // Parents before their children; in a cycle the box that waits for fewest and leads to most.
    let mut left: BTreeSet<usize> = (0..count).collect();
    let mut rank = vec![0; count];
    let waits = |node: usize, left: &BTreeSet<usize>| {
        let leads = children[node].intersection(left).count();
        (
            parents[node].intersection(left).count(),
            Reverse(leads),
            node,
        )
    };
    while let Some((.., node)) = left.iter().map(|&node| waits(node, &left)).min() {
        left.remove(&node);
        let before = parents[node]
            .difference(&left)
            .map(|&parent: &usize| rank[parent] + 1);
        rank[node] = before.max().unwrap_or(0);
    }
    rank
}
