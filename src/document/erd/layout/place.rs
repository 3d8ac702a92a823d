//! How high each node stands: as near as it can to where its lines lead, in the order found.

#![expect(clippy::indexing_slicing, reason = "indices are the grid's own")]

use super::grid::{Grid, Pin, Trunk};

const ROUNDS: usize = 30;
/// In the first rounds lines draw their ends together from both sides; in the others straight lines
/// stay straight.
const DRAWING: usize = 22;
/// A passage that is out of line bends a long line twice.
const PASSAGE: i64 = 4;

/// Sets the tops of all nodes, the smallest being 0.
pub(super) fn place(grid: &mut Grid) {
    for round in 0..ROUNDS {
        let count = grid.layers.len();
        for step in 0..count {
            let layer = if round % 2 == 0 {
                step
            } else {
                count - 1 - step
            };
            let wishes = wishes(grid, layer, round < DRAWING);
            settle(grid, layer, &wishes);
        }
    }
    let top = grid.y.iter().copied().min().unwrap_or(0);
    grid.y.iter_mut().for_each(|y| *y -= top);
}

/// For each node of a layer the top at which half of its lines would rise and half would fall.
fn wishes(grid: &Grid, layer: usize, drawing: bool) -> Vec<i32> {
    let mut found = vec![Vec::new(); grid.nodes.len()];
    for trunk in grid.gaps[layer].iter().chain(&grid.gaps[layer + 1]) {
        for pin in pins(trunk) {
            if grid.layer_of[pin.node] != layer {
                continue;
            }
            let others = pins(trunk).filter(|other| other.node != pin.node);
            let mut heights: Vec<i32> = others.map(|other| grid.at(other)).collect();
            if let Some(middle) = median(&mut heights, grid.at(pin), drawing) {
                found[pin.node].push(middle - pin.offset);
            }
        }
    }
    let wish = |&node: &usize| {
        let now = grid.y[node];
        median(&mut found[node], now, drawing).unwrap_or(now)
    };
    grid.layers[layer].iter().map(wish).collect()
}

/// The middle one; of two middle ones their mean, or that which is nearer to `now`.
fn median(values: &mut [i32], now: i32, mean: bool) -> Option<i32> {
    values.sort_unstable();
    let upper = *values.get(values.len() / 2)?;
    let lower = values[(values.len() - 1) / 2];
    let is_lower = now.abs_diff(lower) <= now.abs_diff(upper);
    Some(match (mean, is_lower) {
        (true, _) => i32::midpoint(lower, upper),
        (false, true) => lower,
        (false, false) => upper,
    })
}

/// Gives each node of a layer the place nearest to its wish (least squares) that keeps the order
/// and the distances: nodes that push each other become one block, which stands at their mean.
fn settle(grid: &mut Grid, layer: usize, wishes: &[i32]) {
    let mut offset = 0;
    let mut offsets = Vec::new();
    let mut above = None;
    // Sum of weighted wishes, sum of weights, number of nodes.
    let mut blocks: Vec<(i64, i64, usize)> = Vec::new();
    for (&node, &wish) in grid.layers[layer].iter().zip(wishes) {
        offset += above.map_or(0, |above| grid.step(above, node));
        above = Some(node);
        offsets.push(offset);
        let weight = if grid.nodes[node].is_box { 1 } else { PASSAGE };
        let mut block = (i64::from(wish - offset) * weight, weight, 1);
        while let Some(last) = blocks.pop_if(|last| last.0 * block.1 >= block.0 * last.1) {
            block = (block.0 + last.0, block.1 + last.1, block.2 + last.2);
        }
        blocks.push(block);
    }
    let starts = blocks.iter().flat_map(|&(sum, weight, count)| {
        let mean = i32::try_from(sum.div_euclid(weight)).unwrap_or(0);
        std::iter::repeat_n(mean, count)
    });
    for ((&node, offset), start) in grid.layers[layer].iter().zip(offsets).zip(starts) {
        grid.y[node] = start + offset;
    }
}

/// All pins of a trunk.
fn pins(trunk: &Trunk) -> impl Iterator<Item = &Pin> {
    trunk.left.iter().chain(&trunk.right)
}
