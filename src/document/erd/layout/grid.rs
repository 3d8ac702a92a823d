//! A layered graph: boxes and passages in layers, trunks in the gaps between them.

#![expect(
    clippy::indexing_slicing,
    reason = "indices number the boxes, links and layers that this grid was made from"
)]

use std::collections::{BTreeMap, BTreeSet};

use super::{Layout, Link, Place, Shape, scale};

/// A side of a box or of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Side {
    Left,
    Right,
}

/// A box, or the passage of a trunk through a layer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node {
    pub(super) is_box: bool,
    pub(super) height: i32,
}

/// Where a trunk meets a node.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pin {
    pub(super) node: usize,
    /// From the node's top.
    pub(super) offset: i32,
    /// What must stay free beside the node, for the end's mark and the label.
    pub(super) room: i32,
}

/// All that one bundle does in one gap: a line upright, and level ones to both sides.
#[derive(Debug, Clone, Default)]
pub(super) struct Trunk {
    pub(super) bundle: usize,
    /// At nodes of the layer to the left.
    pub(super) left: Vec<Pin>,
    /// At nodes of the layer to the right.
    pub(super) right: Vec<Pin>,
}

/// The links that lead to one row, on one side of its box.
#[derive(Debug)]
pub(super) struct Bundle {
    pub(super) side: Side,
    /// The node through which it passes a layer.
    pub(super) passages: BTreeMap<usize, usize>,
}

/// How a link ends.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Ends {
    pub(super) bundle: usize,
    /// From the tops of the boxes.
    pub(super) child: i32,
    pub(super) parent: i32,
}

/// Nodes in layers. The first nodes are the boxes, in their order.
pub(super) struct Grid {
    pub(super) nodes: Vec<Node>,
    /// The layer of each node.
    pub(super) layer_of: Vec<usize>,
    /// The nodes of each layer, from top to bottom.
    pub(super) layers: Vec<Vec<usize>>,
    /// Gap `n` is to the left of layer `n`; the last one is to the right of all.
    pub(super) gaps: Vec<Vec<Trunk>>,
    pub(super) bundles: Vec<Bundle>,
    pub(super) ends: Vec<Ends>,
    /// The top of each node.
    pub(super) y: Vec<i32>,
}

/// Room for the mark at a line's end.
const MARK: i32 = 17;
/// Level lines that are nearer than this look like one.
const NEAR: i32 = 4;
/// Room beside a passage.
const BESIDE: i32 = 6;

impl Grid {
    /// Builds the layers; `sides` says where links within one layer go.
    pub(super) fn new(shapes: &[Shape], links: &[Link], layers: &[usize], sides: &[Side]) -> Self {
        let side = |number: usize| {
            let link = &links[number];
            match layers[link.child].cmp(&layers[link.parent]) {
                std::cmp::Ordering::Greater => Side::Right,
                std::cmp::Ordering::Less => Side::Left,
                std::cmp::Ordering::Equal => sides[number],
            }
        };
        let mut groups: BTreeMap<(usize, i32, bool, Side), Vec<usize>> = BTreeMap::new();
        for (number, link) in links.iter().enumerate() {
            let key = (link.parent, link.parent_row, link.optional, side(number));
            groups.entry(key).or_default().push(number);
        }
        let count = layers.iter().max().map_or(0, |last| last + 1);
        let mut grid = Self {
            nodes: shapes
                .iter()
                .map(|shape| Node {
                    is_box: true,
                    height: shape.height,
                })
                .collect(),
            layer_of: layers.to_vec(),
            layers: vec![Vec::new(); count],
            gaps: vec![Vec::new(); count + 1],
            bundles: Vec::new(),
            ends: spread(links, &groups, layers),
            y: Vec::new(),
        };
        for (node, &layer) in layers.iter().enumerate() {
            grid.layers[layer].push(node);
        }
        for (bundle, (&(parent, _, _, side), members)) in groups.iter().enumerate() {
            grid.add(bundle, (parent, side), members, links);
        }
        grid.y = vec![0; grid.nodes.len()];
        grid
    }

    fn add(&mut self, number: usize, of: (usize, Side), members: &[usize], links: &[Link]) {
        let (parent, side) = of;
        let home = self.layer_of[parent];
        let mut trunks: BTreeMap<usize, Trunk> = BTreeMap::new();
        let mut pin = |gap: usize, at: Side, pin: Pin| {
            let trunk = trunks.entry(gap).or_default();
            match at {
                Side::Left => trunk.left.push(pin),
                Side::Right => trunk.right.push(pin),
            }
        };
        let beside = |layer: usize, side: Side| match side {
            Side::Left => (layer, Side::Right),
            Side::Right => (layer + 1, Side::Left),
        };
        let mut far = home;
        for (at, &member) in members.iter().enumerate() {
            let (link, ends) = (&links[member], &mut self.ends[member]);
            ends.bundle = number;
            let layer = self.layer_of[link.child];
            if (layer.abs_diff(home)) > far.abs_diff(home) {
                far = layer;
            }
            if at == 0 {
                let (gap, end) = beside(home, side);
                let (node, offset) = (parent, ends.parent);
                pin(
                    gap,
                    end,
                    Pin {
                        node,
                        offset,
                        room: MARK,
                    },
                );
            }
            let own = child_side(layer, home, side);
            let (gap, end) = beside(layer, own);
            let (node, offset, room) = (link.child, ends.child, MARK + link.label + BESIDE);
            pin(gap, end, Pin { node, offset, room });
        }
        let mut passages = BTreeMap::new();
        for layer in home.min(far) + 1..home.max(far) {
            let node = self.nodes.len();
            self.nodes.push(Node {
                is_box: false,
                height: 0,
            });
            self.layer_of.push(layer);
            self.layers[layer].push(node);
            passages.insert(layer, node);
            for side in [Side::Left, Side::Right] {
                let (gap, end) = beside(layer, side);
                pin(
                    gap,
                    end,
                    Pin {
                        node,
                        offset: 0,
                        room: BESIDE,
                    },
                );
            }
        }
        self.bundles.push(Bundle { side, passages });
        for (gap, mut trunk) in trunks {
            trunk.bundle = number;
            self.gaps[gap].push(trunk);
        }
    }

    /// The height at which a pin is.
    pub(super) fn at(&self, pin: &Pin) -> i32 {
        self.y[pin.node] + pin.offset
    }

    /// All trunks of a gap, with the heights of their pins.
    pub(super) fn profiles(&self, gap: usize) -> Vec<Profile> {
        let heights = |pins: &[Pin]| pins.iter().map(|pin| self.at(pin)).collect();
        let profile = |trunk: &Trunk| Profile::new(heights(&trunk.left), heights(&trunk.right));
        self.gaps[gap].iter().map(profile).collect()
    }

    /// What must lie between the tops of two nodes, one below the other.
    pub(super) fn step(&self, above: usize, below: usize) -> i32 {
        let space = match (self.nodes[above].is_box, self.nodes[below].is_box) {
            (true, true) => 26,
            (false, false) => 12,
            _ => 16,
        };
        self.nodes[above].height + space
    }
}

/// A trunk as it stands: the heights of its pins, and the highest and the lowest of them.
pub(super) struct Profile {
    left: Vec<i32>,
    right: Vec<i32>,
    pub(super) low: i32,
    pub(super) high: i32,
}

impl Profile {
    fn new(left: Vec<i32>, right: Vec<i32>) -> Self {
        let all = || left.iter().chain(&right).copied();
        let (low, high) = (all().min().unwrap_or(0), all().max().unwrap_or(0));
        Self {
            left,
            right,
            low,
            high,
        }
    }

    /// Whether two trunks are so far from each other that nothing can happen between them.
    pub(super) fn is_clear_of(&self, other: &Self) -> bool {
        self.high + NEAR < other.low || other.high + NEAR < self.low
    }

    /// How often two trunks cross, and how often they run into each other, with the upright line of
    /// this one to the left.
    pub(super) fn conflicts(&self, other: &Self) -> (usize, usize) {
        if self.is_clear_of(other) {
            return (0, 0);
        }
        let within = |trunk: &Self, pins: &[i32]| {
            pins.iter()
                .filter(|&&y| trunk.low < y && y < trunk.high)
                .count()
        };
        let crossings = within(other, &self.right) + within(self, &other.left);
        let near = |y: &i32| {
            self.right
                .iter()
                .filter(|own| own.abs_diff(*y) < NEAR.unsigned_abs())
                .count()
        };
        (crossings, other.left.iter().map(near).sum())
    }
}

/// The side of a child at which its link ends.
pub(super) fn child_side(layer: usize, home: usize, bundle: Side) -> Side {
    match layer.cmp(&home) {
        std::cmp::Ordering::Greater => Side::Left,
        std::cmp::Ordering::Less => Side::Right,
        std::cmp::Ordering::Equal => bundle,
    }
}

/// What meets a row: whether links begin there, and which; of a bundle that ends there all of them.
type Meeting<'a> = (bool, &'a [usize]);

/// The ends of all links. Where several meet one row on one side, they are spread over the row.
fn spread(
    links: &[Link],
    groups: &BTreeMap<(usize, i32, bool, Side), Vec<usize>>,
    layers: &[usize],
) -> Vec<Ends> {
    let mut at: BTreeMap<(usize, Side, i32), Vec<Meeting>> = BTreeMap::new();
    for (&(parent, row, _, side), members) in groups {
        at.entry((parent, side, row))
            .or_default()
            .push((false, members));
        for member in members {
            let link = &links[*member];
            let own = child_side(layers[link.child], layers[parent], side);
            let key = (link.child, own, link.child_row);
            at.entry(key)
                .or_default()
                .push((true, std::slice::from_ref(member)));
        }
    }
    let mut ends = vec![Ends::default(); links.len()];
    for ((_, _, row), meeting) in at {
        let count = i32::try_from(meeting.len()).unwrap_or(i32::MAX);
        let step = (16 / count).min(8);
        for ((is_child, members), nth) in meeting.into_iter().zip(0..) {
            let offset = row + (2 * nth - (count - 1)) * step / 2;
            for &member in members {
                if is_child {
                    ends[member].child = offset;
                } else {
                    ends[member].parent = offset;
                }
            }
        }
    }
    ends
}

// Which layer each box stands in.

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

// The order of the nodes in each layer: swept by the places of their neighbours, then improved by
// moving single nodes while lines cross less often.

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

// How high each node stands: as near as it can to where its lines lead, in the order found.

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

// The tracks of upright lines in each gap, the widths that follow, and every link's corners.

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
