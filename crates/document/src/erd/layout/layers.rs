//! Which layer each box stands in.

#![expect(
    clippy::indexing_slicing,
    reason = "indices number the boxes of one drawing"
)]

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::{BOX_SPACING, BoxLink, BoxShape, scale};

/// Assumed width of the gap between two layers, in pixels.
const ASSUMED_GAP: i32 = 110;
/// Most layers that are tried.
const MAX_LAYERS: i32 = 12;

/// Layers for each box, the most promising shape first: one for each step from parent to child, and the
/// boxes in that order cut into so many layers of about equal height.
pub(super) fn candidate_layers(shapes: &[BoxShape], links: &[BoxLink]) -> Vec<Vec<usize>> {
    let ranks = ranks(shapes.len(), links);
    let cuts = (1..=MAX_LAYERS).map(|count| split_by_height(shapes, &ranks, count));
    let mut all: Vec<Vec<usize>> = cuts.collect();
    all.insert(0, without_empty_layers(&ranks));
    // Stable: on a tie, ranks come first, because more lines then run in one direction.
    all.sort_by_key(|layers| Reverse(expected_scale(shapes, layers)));
    all
}

/// The scale that a drawing of these layers may have.
fn expected_scale(shapes: &[BoxShape], layers: &[usize]) -> i32 {
    let mut sizes: BTreeMap<usize, (i32, i32)> = BTreeMap::new();
    for (shape, &layer) in shapes.iter().zip(layers) {
        let (width, height) = sizes.entry(layer).or_default();
        *width = shape.width.max(*width);
        *height += shape.height + BOX_SPACING;
    }
    let width: i32 = sizes.values().map(|size| size.0 + ASSUMED_GAP).sum();
    let height = sizes.values().map(|size| size.1).max().unwrap_or(0);
    scale(width - ASSUMED_GAP, height)
}

/// Layers of about equal height, with the boxes in the order of their ranks.
fn split_by_height(shapes: &[BoxShape], ranks: &[usize], count: i32) -> Vec<usize> {
    let tall = |node: usize| shapes[node].height + BOX_SPACING;
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
    without_empty_layers(&layers)
}

/// The same layers without those that are empty.
fn without_empty_layers(layers: &[usize]) -> Vec<usize> {
    let used: BTreeSet<usize> = layers.iter().copied().collect();
    layers
        .iter()
        .map(|layer| used.range(..layer).count())
        .collect()
}

/// Each box's distance from the root tables.
fn ranks(count: usize, links: &[BoxLink]) -> Vec<usize> {
    let mut parents = vec![BTreeSet::new(); count];
    let mut children = parents.clone();
    for link in links.iter().filter(|link| link.parent != link.child) {
        parents[link.child].insert(link.parent);
        children[link.parent].insert(link.child);
    }
    // Parents before their children; in a cycle, the box with the fewest unplaced parents and the most unplaced children.
    let mut unplaced: BTreeSet<usize> = (0..count).collect();
    let mut rank = vec![0; count];
    let priority = |node: usize, unplaced: &BTreeSet<usize>| {
        let unplaced_children = children[node].intersection(unplaced).count();
        (
            parents[node].intersection(unplaced).count(),
            Reverse(unplaced_children),
            node,
        )
    };
    while let Some((.., node)) = unplaced.iter().map(|&node| priority(node, &unplaced)).min() {
        unplaced.remove(&node);
        let before = parents[node]
            .difference(&unplaced)
            .map(|&parent: &usize| rank[parent] + 1);
        rank[node] = before.max().unwrap_or(0);
    }
    rank
}
