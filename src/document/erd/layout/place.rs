//! How high each node stands: as near as it can to where its lines lead, in the order found.

#![expect(clippy::indexing_slicing, reason = "indices are the grid's own")]

use std::collections::{BTreeMap, BTreeSet};

use super::grid::{Grid, Pin, Trunk};

const ROUNDS: usize = 30;
/// In the first rounds lines draw their ends together from both sides; in the others straight lines
/// stay straight.
const DRAWING: usize = 22;
/// A passage that is out of line bends a long line twice.
const PASSAGE: i64 = 4;
/// How much longer lines may become for one bend less.
const BEND: i32 = 24;
/// Farther than any drawing is high.
const FAR: i32 = i32::MAX / 4;

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
    align(grid);
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

/// Moves nodes, and groups that straight lines hold together, within the space that they have to
/// where their lines are shorter and bend less.
fn align(grid: &mut Grid) {
    let mut trunks_of: Vec<Vec<(usize, usize)>> = vec![Vec::new(); grid.nodes.len()];
    for (gap, trunks) in grid.gaps.iter().enumerate() {
        for (number, trunk) in trunks.iter().enumerate() {
            for pin in pins(trunk) {
                trunks_of[pin.node].push((gap, number));
            }
        }
    }
    for _ in 0..4 {
        for node in 0..grid.nodes.len() {
            shift(grid, &trunks_of, &[node]);
        }
        for group in straight(grid) {
            shift(grid, &trunks_of, &group);
        }
    }
}

/// The groups of nodes that are joined by straight lines, those of several nodes.
fn straight(grid: &Grid) -> Vec<Vec<usize>> {
    let mut group_of: Vec<usize> = (0..grid.nodes.len()).collect();
    for trunk in grid.gaps.iter().flatten() {
        for (a, b) in trunk
            .left
            .iter()
            .flat_map(|a| trunk.right.iter().map(move |b| (a, b)))
        {
            let (a_group, b_group) = (group_of[a.node], group_of[b.node]);
            if grid.at(a) == grid.at(b) && a_group != b_group {
                for group in group_of.iter_mut().filter(|group| **group == b_group) {
                    *group = a_group;
                }
            }
        }
    }
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (node, group) in group_of.into_iter().enumerate() {
        groups.entry(group).or_default().push(node);
    }
    groups
        .into_values()
        .filter(|members| members.len() > 1)
        .collect()
}

/// Moves nodes together by the distance that serves their lines best.
fn shift(grid: &mut Grid, trunks_of: &[Vec<(usize, usize)>], members: &[usize]) {
    let (low, high) = slack(grid, members);
    let trunks: BTreeSet<(usize, usize)> = members
        .iter()
        .flat_map(|&node| trunks_of[node].iter().copied())
        .collect();
    let mut ways = BTreeSet::from([0]);
    for &(gap, number) in &trunks {
        let trunk = &grid.gaps[gap][number];
        let (own, others): (Vec<&Pin>, Vec<&Pin>) =
            pins(trunk).partition(|pin| members.contains(&pin.node));
        let targets = others.iter().map(|pin| grid.at(pin));
        ways.extend(
            targets
                .flat_map(|to| own.iter().map(move |pin| (to, pin)))
                .map(|(to, pin)| to - grid.at(pin)),
        );
    }
    ways.extend([low, high]);
    let mut best = (i32::MAX, 0, 0);
    for way in ways
        .into_iter()
        .filter(|way| (low..=high).contains(way) && way.abs() < FAR)
    {
        move_all(grid, members, way);
        let cost = trunks
            .iter()
            .map(|&(gap, number)| bends(grid, &grid.gaps[gap][number]))
            .sum();
        move_all(grid, members, -way);
        best = best.min((cost, way.abs(), way));
    }
    move_all(grid, members, best.2);
}

fn move_all(grid: &mut Grid, members: &[usize], way: i32) {
    for &node in members {
        grid.y[node] += way;
    }
}

/// How far up and down nodes can move together before one of them meets another node.
fn slack(grid: &Grid, members: &[usize]) -> (i32, i32) {
    let (mut low, mut high) = (-FAR, FAR);
    for &node in members {
        let layer = &grid.layers[grid.layer_of[node]];
        let at = layer.iter().position(|&other| other == node).unwrap_or(0);
        let apart =
            |above: usize, below: usize| grid.y[below] - grid.y[above] - grid.step(above, below);
        let foreign = |other: &usize| !members.contains(other);
        if let Some(above) = at.checked_sub(1).map(|at| layer[at]).filter(foreign) {
            low = low.max(-apart(above, node));
        }
        if let Some(below) = layer.get(at + 1).copied().filter(foreign) {
            high = high.min(apart(node, below));
        }
    }
    (low, high)
}

/// How far a trunk is from being one straight line.
fn bends(grid: &Grid, trunk: &Trunk) -> i32 {
    let heights = || pins(trunk).map(|pin| grid.at(pin));
    let length = heights().max().unwrap_or(0) - heights().min().unwrap_or(0);
    let distinct: BTreeSet<i32> = heights().collect();
    length + i32::try_from(distinct.len()).unwrap_or(i32::MAX / BEND) * BEND
}

/// All pins of a trunk.
fn pins(trunk: &Trunk) -> impl Iterator<Item = &Pin> {
    trunk.left.iter().chain(&trunk.right)
}
