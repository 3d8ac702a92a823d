//! The tracks of upright lines in each gap, the widths that follow, and every link's corners.

#![expect(
    clippy::indexing_slicing,
    reason = "indices are the grid's own, and each layer has a gap on both sides"
)]

use std::collections::BTreeMap;

use super::grid::{Grid, Side, Trunk, child_side};
use super::order::worth;
use super::{Layout, Link, Place, Shape};

/// Between two upright lines.
const TRACK: i32 = 9;
/// The least that two layers keep from each other.
const LEAST: i32 = 44;
/// Upright lines on one track keep so much between their ends.
const APART: i32 = 8;

/// Draws the grid.
pub(super) fn route(grid: &Grid, shapes: &[Shape], links: &[Link]) -> Layout {
    let mut layout = Layout {
        places: vec![Place::default(); shapes.len()],
        ..Layout::default()
    };
    // Where each bundle's upright line is in each gap.
    let mut tracks: BTreeMap<(usize, usize), i32> = BTreeMap::new();
    let mut x = 0;
    for gap in 0..grid.gaps.len() {
        let order = track_order(grid, gap);
        layout.crossings += crossings(grid, gap, &order);
        let (width, places) = assign(grid, gap, &order);
        let outer = gap == 0 || gap == grid.layers.len();
        for (bundle, track) in places {
            tracks.insert((gap, bundle), x + track);
        }
        x += if outer { width } else { width.max(LEAST) };
        let Some(layer) = grid.layers.get(gap) else {
            continue;
        };
        let boxes = || layer.iter().filter(|&&node| grid.nodes[node].is_box);
        let width = boxes().map(|&node| shapes[node].width).max().unwrap_or(0);
        for &node in boxes() {
            let y = grid.y[node];
            layout.places[node] = Place { x, y, width };
            layout.height = layout.height.max(y + shapes[node].height);
        }
        x += width;
    }
    layout.width = x;
    layout.routes = (links.iter().enumerate())
        .map(|(number, link)| corners(grid, &layout.places, &tracks, number, link))
        .collect();
    let ends = layout.routes.iter().flatten().map(|corner| corner.1);
    layout.height = layout.height.max(ends.max().unwrap_or(0));
    layout
}

/// The trunks of a gap from left to right, so that few lines cross.
fn track_order(grid: &Grid, gap: usize) -> Vec<usize> {
    let trunks = grid.profiles(gap);
    let costs: Vec<Vec<i64>> = (trunks.iter())
        .map(|a| trunks.iter().map(|b| worth(a, b)).collect())
        .collect();
    let mut order: Vec<usize> = Vec::new();
    for trunk in 0..trunks.len() {
        insert_best(&mut order, trunk, &costs);
    }
    // Each once more, now that all others are there.
    for _ in 0..3 {
        for trunk in 0..trunks.len() {
            order.retain(|&other| other != trunk);
            insert_best(&mut order, trunk, &costs);
        }
    }
    order
}

fn insert_best(order: &mut Vec<usize>, trunk: usize, costs: &[Vec<i64>]) {
    let mut cost: i64 = order.iter().map(|&other| costs[trunk][other]).sum();
    let mut best = (cost, 0);
    for (at, &other) in order.iter().enumerate() {
        cost += costs[other][trunk] - costs[trunk][other];
        best = best.min((cost, at + 1));
    }
    order.insert(best.1, trunk);
}

fn crossings(grid: &Grid, gap: usize, order: &[usize]) -> usize {
    let trunks = grid.profiles(gap);
    let pairs = (order.iter().enumerate())
        .flat_map(|(at, a)| order[at + 1..].iter().map(move |b| (*a, *b)));
    pairs.map(|(a, b)| trunks[a].conflicts(&trunks[b]).0).sum()
}

/// The gap's width, and for each bundle how far into the gap its upright line stands. Lines that do
/// not pass each other share a track.
fn assign(grid: &Grid, gap: usize, order: &[usize]) -> (i32, Vec<(usize, i32)>) {
    let (trunks, profiles) = (&grid.gaps[gap], grid.profiles(gap));
    let room = |pins: fn(&Trunk) -> &Vec<super::grid::Pin>| {
        let rooms = trunks
            .iter()
            .flat_map(|trunk| pins(trunk).iter().map(|pin| pin.room));
        rooms.max().unwrap_or(0)
    };
    let (left, right) = (room(|trunk| &trunk.left), room(|trunk| &trunk.right));
    let mut taken: Vec<(i32, (i32, i32))> = Vec::new();
    let mut places = Vec::new();
    for &number in order {
        let (low, high) = (profiles[number].low, profiles[number].high);
        let upright = low < high;
        let passes = |(_, (other_low, other_high)): &&(i32, (i32, i32))| {
            *other_low < high + APART && low < *other_high + APART
        };
        let before = taken.iter().filter(passes).map(|(track, _)| track + 1);
        let track = if upright {
            before.max().unwrap_or(0)
        } else {
            0
        };
        if upright {
            taken.push((track, (low, high)));
        }
        places.push((trunks[number].bundle, left + track * TRACK));
    }
    let last = taken.iter().map(|(track, _)| *track).max().unwrap_or(0);
    (left + last * TRACK + right, places)
}

/// A link's way: level from the child to its trunk, along the trunk from gap to gap, level to the
/// parent.
fn corners(
    grid: &Grid,
    places: &[Place],
    tracks: &BTreeMap<(usize, usize), i32>,
    number: usize,
    link: &Link,
) -> Vec<(i32, i32)> {
    let ends = grid.ends[number];
    let bundle = &grid.bundles[ends.bundle];
    let (layer, home) = (grid.layer_of[link.child], grid.layer_of[link.parent]);
    let edge = |node: usize, side: Side| match side {
        Side::Left => places[node].x,
        Side::Right => places[node].x + places[node].width,
    };
    let start = edge(link.child, child_side(layer, home, bundle.side));
    let mut level = grid.y[link.child] + ends.child;
    let mut corners = vec![(start, level)];
    let mut turn = |gap: usize, to: i32| {
        let x = tracks.get(&(gap, ends.bundle)).copied().unwrap_or(start);
        if to != level {
            corners.extend([(x, level), (x, to)]);
        }
        level = to;
    };
    let passage = |layer: usize| bundle.passages.get(&layer).map_or(0, |&node| grid.y[node]);
    let arrival = grid.y[link.parent] + ends.parent;
    match bundle.side {
        Side::Right => {
            for layer in (home + 1..layer).rev() {
                turn(layer + 1, passage(layer));
            }
            turn(home + 1, arrival);
        }
        Side::Left => {
            for layer in layer + 1..home {
                turn(layer, passage(layer));
            }
            turn(home, arrival);
        }
    }
    corners.push((edge(link.parent, bundle.side), arrival));
    corners
}
