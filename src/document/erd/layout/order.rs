//! The order of the nodes in each layer: swept by the places of their neighbours, then improved by
//! moving single nodes while lines cross less often.

#![expect(
    clippy::indexing_slicing,
    reason = "indices are the grid's own, and each layer has a gap on both sides"
)]

use super::grid::{Grid, Profile, Side};

/// What a crossing is worth in units of length.
const CROSSING: i64 = 150;
/// What two lines that run into each other are worth.
const CLASH: i64 = 400;
const SWEEPS: usize = 12;
/// Above so many nodes only neighbours are swapped, and above ten times as many none.
const MANY: usize = 80;

/// Orders every layer of the grid.
pub(super) fn order(grid: &mut Grid) {
    let mut best: Option<(i64, Vec<Vec<usize>>)> = None;
    for reversed in [false, true] {
        if reversed {
            grid.layers.iter_mut().for_each(|layer| layer.reverse());
        }
        (0..grid.layers.len()).for_each(|layer| stack(grid, layer));
        for sweep in 0..SWEEPS {
            let forward = sweep % 2 == 0;
            for step in 0..grid.layers.len() {
                let layer = if forward {
                    step
                } else {
                    grid.layers.len() - 1 - step
                };
                let side = if forward { Side::Left } else { Side::Right };
                sweep_layer(grid, layer, side);
            }
            if sweep + 2 >= SWEEPS {
                improve(grid);
            }
            let cost = (0..grid.gaps.len()).map(|gap| cost(grid, gap)).sum();
            if best.as_ref().is_none_or(|best| cost < best.0) {
                best = Some((cost, grid.layers.clone()));
            }
        }
        if grid.nodes.len() > MANY {
            break;
        }
    }
    if let Some((_, layers)) = best {
        grid.layers = layers;
    }
    (0..grid.layers.len()).for_each(|layer| stack(grid, layer));
}

/// Puts the nodes of a layer below each other, its middle at 0.
fn stack(grid: &mut Grid, layer: usize) {
    let nodes = std::mem::take(&mut grid.layers[layer]);
    let mut top = 0;
    let mut above = None;
    for &node in &nodes {
        top += above.map_or(0, |above| grid.step(above, node));
        grid.y[node] = top;
        above = Some(node);
    }
    let half = above.map_or(0, |last| top + grid.nodes[last].height) / 2;
    for &node in &nodes {
        grid.y[node] -= half;
    }
    grid.layers[layer] = nodes;
}

/// Sorts a layer by where the lines to one side would like their nodes to be.
fn sweep_layer(grid: &mut Grid, layer: usize, side: Side) {
    let gap = layer + usize::from(side == Side::Right);
    let mut sums = vec![(0_i64, 0_i64); grid.nodes.len()];
    for trunk in &grid.gaps[gap] {
        let (own, others) = match side {
            Side::Left => (&trunk.right, &trunk.left),
            Side::Right => (&trunk.left, &trunk.right),
        };
        let others = if others.is_empty() { own } else { others };
        let count = i64::try_from(others.len()).unwrap_or(1).max(1);
        let sum: i64 = others.iter().map(|pin| i64::from(grid.at(pin))).sum();
        for pin in own {
            let wish = sum / count - i64::from(pin.offset - grid.nodes[pin.node].height / 2);
            sums[pin.node].0 += wish;
            sums[pin.node].1 += 1;
        }
    }
    let key = |&node: &usize| match sums[node] {
        (_, 0) => i64::from(grid.y[node] + grid.nodes[node].height / 2),
        (sum, count) => sum / count,
    };
    let mut nodes = grid.layers[layer].clone();
    nodes.sort_by_key(key);
    grid.layers[layer] = nodes;
    stack(grid, layer);
}

/// Moves single nodes within their layers as long as that helps.
fn improve(grid: &mut Grid) {
    let many = grid.nodes.len() > MANY;
    if grid.nodes.len() > MANY * 10 {
        return;
    }
    for _ in 0..if many { 1 } else { 6 } {
        let mut better = false;
        for layer in 0..grid.layers.len() {
            for from in 0..grid.layers[layer].len() {
                let last = grid.layers[layer].len() - 1;
                let range = if many {
                    from..=last.min(from + 1)
                } else {
                    0..=last
                };
                for to in range {
                    better |= to != from && try_move(grid, layer, from, to);
                }
            }
        }
        if !better {
            break;
        }
    }
}

fn try_move(grid: &mut Grid, layer: usize, from: usize, to: usize) -> bool {
    let before = cost(grid, layer) + cost(grid, layer + 1);
    let kept = grid.layers[layer].clone();
    let node = grid.layers[layer].remove(from);
    grid.layers[layer].insert(to, node);
    stack(grid, layer);
    if cost(grid, layer) + cost(grid, layer + 1) < before {
        return true;
    }
    grid.layers[layer] = kept;
    stack(grid, layer);
    false
}

/// Crossings and lengths in one gap, if its trunks are then put in the best order.
fn cost(grid: &Grid, gap: usize) -> i64 {
    let trunks = grid.profiles(gap);
    let mut cost = 0;
    for (at, a) in trunks.iter().enumerate() {
        cost += i64::from(a.high - a.low);
        for b in &trunks[at + 1..] {
            if !a.is_clear_of(b) {
                cost += worth(a, b).min(worth(b, a));
            }
        }
    }
    cost
}

/// What it costs to have trunk `a` left of trunk `b`.
pub(super) fn worth(a: &Profile, b: &Profile) -> i64 {
    let (crossings, clashes) = a.conflicts(b);
    let count = |count: usize| i64::try_from(count).unwrap_or(i64::MAX / CLASH);
    count(crossings) * CROSSING + count(clashes) * CLASH
}
