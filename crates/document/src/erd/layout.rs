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

#![expect(
    clippy::indexing_slicing,
    reason = "indices number the boxes, links and layers of one drawing"
)]

mod layers;

use std::cmp::Ordering;
use std::collections::BTreeMap;

use layers::candidate_layers;

/// The space that a drawing is shaped for: what the page leaves of a window of 1280 × 800.
const PAGE: (i32, i32) = (960, 740);
/// The least scale, in thousandths, at which text is readable.
pub(super) const READABLE: i32 = 760;
/// How many layerings are drawn, of which the best is taken.
const TRIALS: usize = 12;
/// The least distance between two boxes of a layer.
pub(super) const BOX_SPACING: i32 = 26;
/// Above so many boxes only the most promising layering is drawn.
const MANY: usize = 40;

/// A box to be placed.
#[derive(Debug, Clone, Copy)]
pub(super) struct BoxShape {
    pub(super) width: i32,
    pub(super) height: i32,
}

/// A line to be drawn, from a row of the child's box to a row of the parent's.
#[derive(Debug, Clone, Copy)]
pub(super) struct BoxLink {
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
pub(super) struct PlacedBox {
    pub(super) x: i32,
    pub(super) y: i32,
    pub(super) width: i32,
}

/// The whole drawing; its upper left corner is 0, 0.
#[derive(Debug, Default)]
pub(super) struct ErdLayout {
    pub(super) width: i32,
    pub(super) height: i32,
    /// One for each shape.
    pub(super) places: Vec<PlacedBox>,
    /// One for each link: its corners, from the child to the parent.
    pub(super) routes: Vec<Vec<(i32, i32)>>,
    /// How often a line crosses another that leads elsewhere.
    pub(super) crossings: usize,
}

impl ErdLayout {
    /// The scale, in thousandths, at which the drawing fits the page; 1000 where it needs none.
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

/// Lays out any graph by the best of several layerings.
pub(super) fn lay_out(shapes: &[BoxShape], links: &[BoxLink]) -> ErdLayout {
    let trials = if shapes.len() > MANY { 1 } else { TRIALS };
    let mut sides = vec![Side::Right; links.len()];
    let tried = candidate_layers(shapes, links).into_iter().take(trials);
    let drawn = tried.map(|layers| (draw(shapes, links, &layers, &sides), layers));
    // Of equals the more promising one.
    let better = |best: (ErdLayout, _), next: (ErdLayout, _)| {
        if next.0.merit() > best.0.merit() {
            next
        } else {
            best
        }
    };
    let Some((mut best, layers)) = drawn.reduce(better) else {
        return ErdLayout::default();
    };
    // Links within a layer go round its left side, each where that is better.
    for (number, link) in links.iter().enumerate().filter(|_| trials > 1) {
        if layers[link.child] == layers[link.parent] {
            sides[number] = Side::Left;
            let turned = draw(shapes, links, &layers, &sides);
            if turned.merit() > best.merit() {
                best = turned;
            } else {
                sides[number] = Side::Right;
            }
        }
    }
    best
}

/// Draws boxes whose layers are given, and the sides of links within a layer.
fn draw(shapes: &[BoxShape], links: &[BoxLink], layers: &[usize], sides: &[Side]) -> ErdLayout {
    let mut grid = Grid::new(shapes, links, layers, sides);
    grid.order();
    grid.place();
    grid.route()
}

// The grid: boxes and passages in layers, trunks in the gaps between them.

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Side {
    Left,
    Right,
}

/// Where a trunk meets a node.
#[derive(Debug, Clone, Copy)]
struct Pin {
    node: usize,
    /// From the node's top.
    offset: i32,
    /// What must stay free beside the node, for the end's mark and the label.
    room: i32,
}

/// All that one bundle does in one gap: a line upright, and level ones to both sides.
#[derive(Debug, Default)]
struct Trunk {
    bundle: usize,
    /// At nodes of the layer to the left.
    left: Vec<Pin>,
    /// At nodes of the layer to the right.
    right: Vec<Pin>,
}

/// Bundles: the links that lead to one row of a parent, which may be missing or not, on one side of its box.
type Groups = BTreeMap<(usize, i32, bool, Side), Vec<usize>>;

struct Grid<'a> {
    shapes: &'a [BoxShape],
    links: &'a [BoxLink],
    /// For each link the side at which it leaves both boxes, where these stand in one layer.
    sides: &'a [Side],
    /// The layer of each node. The first nodes are the boxes, in their order; the others are the
    /// passages of bundles through layers.
    layer_of: Vec<usize>,
    /// The top of each node.
    y: Vec<i32>,
    /// The nodes of each layer, from top to bottom.
    layers: Vec<Vec<usize>>,
    /// Gap `n` is to the left of layer `n`; the last one is to the right of all.
    gaps: Vec<Vec<Trunk>>,
    /// The node through which a bundle passes a layer.
    passages: BTreeMap<(usize, usize), usize>,
    /// The bundle of each link.
    bundle_of: Vec<usize>,
    /// From the top of its box where each link ends at its child, then where each bundle ends at its parent.
    ends: Vec<i32>,
}

/// Room for the mark at a line's end.
pub(super) const MARK: i32 = 17;
/// Room beside a passage.
const BESIDE: i32 = 6;

impl<'a> Grid<'a> {
    fn new(
        shapes: &'a [BoxShape],
        links: &'a [BoxLink],
        layer_of: &[usize],
        sides: &'a [Side],
    ) -> Self {
        let count = layer_of.iter().max().map_or(0, |last| last + 1);
        let mut layers = vec![Vec::new(); count];
        for (node, &layer) in layer_of.iter().enumerate() {
            layers[layer].push(node);
        }
        let mut grid = Self {
            shapes,
            links,
            y: vec![0; layer_of.len()],
            layer_of: layer_of.to_vec(),
            sides,
            layers,
            gaps: (0..=count).map(|_| Vec::new()).collect(),
            passages: BTreeMap::new(),
            bundle_of: vec![0; links.len()],
            ends: Vec::new(),
        };
        let mut groups = Groups::new();
        for (number, link) in links.iter().enumerate() {
            let key = (
                link.parent,
                link.parent_row,
                link.optional,
                grid.sides(number).1,
            );
            groups.entry(key).or_default().push(number);
        }
        grid.spread(&groups);
        for (bundle, (&(parent, _, _, side), members)) in groups.iter().enumerate() {
            grid.connect(bundle, (parent, side), members);
        }
        grid
    }

    /// The sides of the child's box and of the parent's at which a link ends.
    fn sides(&self, number: usize) -> (Side, Side) {
        let link = &self.links[number];
        match self.layer_of[link.child].cmp(&self.layer_of[link.parent]) {
            Ordering::Greater => (Side::Left, Side::Right),
            Ordering::Less => (Side::Right, Side::Left),
            Ordering::Equal => (self.sides[number], self.sides[number]),
        }
    }

    /// Finds the ends of all links. Where several meet one row on one side, they are spread over the row.
    fn spread(&mut self, groups: &Groups) {
        self.ends = vec![0; self.links.len() + groups.len()];
        let mut rows: BTreeMap<(usize, Side, i32), Vec<usize>> = BTreeMap::new();
        let bundles = self.links.len()..;
        for (bundle, (&(parent, row, _, side), members)) in bundles.zip(groups) {
            rows.entry((parent, side, row)).or_default().push(bundle);
            for &member in members {
                let link = &self.links[member];
                let key = (link.child, self.sides(member).0, link.child_row);
                rows.entry(key).or_default().push(member);
            }
        }
        for ((_, _, row), ends) in rows {
            let count = i32::try_from(ends.len()).unwrap_or(i32::MAX);
            let step = (16 / count).min(8);
            for (end, nth) in ends.into_iter().zip(0..) {
                self.ends[end] = row + (2 * nth - (count - 1)) * step / 2;
            }
        }
    }

    /// Makes the passages and the trunks of a bundle.
    fn connect(&mut self, bundle: usize, (parent, side): (usize, Side), members: &[usize]) {
        let links = self.links;
        let home = self.layer_of[parent];
        let (node, offset, room) = (parent, self.ends[links.len() + bundle], MARK);
        self.pin(bundle, side, Pin { node, offset, room });
        let mut far = home;
        for &member in members {
            let link = &links[member];
            let layer = self.layer_of[link.child];
            if layer.abs_diff(home) > far.abs_diff(home) {
                far = layer;
            }
            self.bundle_of[member] = bundle;
            let (node, offset) = (link.child, self.ends[member]);
            let room = MARK + link.label + BESIDE;
            self.pin(bundle, self.sides(member).0, Pin { node, offset, room });
        }
        for layer in home.min(far) + 1..home.max(far) {
            let (node, offset, room) = (self.y.len(), 0, BESIDE);
            self.y.push(0);
            self.layer_of.push(layer);
            self.layers[layer].push(node);
            self.passages.insert((bundle, layer), node);
            for side in [Side::Left, Side::Right] {
                self.pin(bundle, side, Pin { node, offset, room });
            }
        }
    }

    /// Adds what a bundle has on one side of a node.
    fn pin(&mut self, bundle: usize, side: Side, pin: Pin) {
        let trunks = &mut self.gaps[self.layer_of[pin.node] + usize::from(side == Side::Right)];
        // Bundles come one after the other.
        if trunks.last().is_none_or(|last| last.bundle != bundle) {
            trunks.push(Trunk {
                bundle,
                ..Trunk::default()
            });
        }
        if let Some(trunk) = trunks.last_mut() {
            match side {
                Side::Left => trunk.right.push(pin),
                Side::Right => trunk.left.push(pin),
            }
        }
    }

    fn is_box(&self, node: usize) -> bool {
        node < self.shapes.len()
    }

    fn height(&self, node: usize) -> i32 {
        self.shapes.get(node).map_or(0, |shape| shape.height)
    }

    /// The height at which a pin is.
    fn at(&self, pin: &Pin) -> i32 {
        self.y[pin.node] + pin.offset
    }

    /// What must lie between the tops of two nodes, one below the other.
    fn step(&self, above: usize, below: usize) -> i32 {
        let space = match (self.is_box(above), self.is_box(below)) {
            (true, true) => BOX_SPACING,
            (false, false) => 12,
            _ => 16,
        };
        self.height(above) + space
    }
}

// How often lines cross.

/// Level lines that are nearer than this look like one.
const NEAR: i32 = 4;
/// What a crossing is worth in units of length.
const CROSSING: i64 = 150;
/// What two lines that run into each other are worth.
const CLASH: i64 = 400;

/// A trunk as it stands: the y of its pins, and of its upper and its lower end.
struct Profile {
    left: Vec<i32>,
    right: Vec<i32>,
    top: i32,
    bottom: i32,
}

impl Profile {
    /// How often two trunks cross, with the upright line of this one to the left.
    fn crossings(&self, other: &Self) -> usize {
        let crossed = |trunk: &Self, pins: &[i32]| {
            let within = pins.iter().filter(|&&y| trunk.top < y && y < trunk.bottom);
            within.count()
        };
        crossed(other, &self.right) + crossed(self, &other.left)
    }

    /// What crossings cost, and lines that run into each other.
    fn cost(&self, other: &Self) -> i64 {
        if self.bottom + NEAR < other.top || other.bottom + NEAR < self.top {
            return 0;
        }
        let near = |y: &&i32| self.right.iter().any(|own| (own - **y).abs() < NEAR);
        let clashes = other.left.iter().filter(near).count();
        let count = |count: usize| i64::try_from(count).unwrap_or(i64::MAX / CLASH);
        count(self.crossings(other)) * CROSSING + count(clashes) * CLASH
    }
}

impl Grid<'_> {
    /// All trunks of a gap, with the heights of their pins.
    fn profiles(&self, gap: usize) -> Vec<Profile> {
        let heights = |pins: &[Pin]| pins.iter().map(|pin| self.at(pin)).collect();
        let profile = |trunk: &Trunk| {
            let (left, right): (Vec<i32>, Vec<i32>) = (heights(&trunk.left), heights(&trunk.right));
            let all = || left.iter().chain(&right).copied();
            let (top, bottom) = (all().min().unwrap_or(0), all().max().unwrap_or(0));
            Profile {
                left,
                right,
                top,
                bottom,
            }
        };
        self.gaps[gap].iter().map(profile).collect()
    }

    /// Crossings and lengths in one gap, if its trunks are then put in the best order.
    fn cost(&self, gap: usize) -> i64 {
        let trunks = self.profiles(gap);
        let mut cost = 0;
        for (at, a) in trunks.iter().enumerate() {
            cost += i64::from(a.bottom - a.top);
            let others = trunks[at + 1..].iter();
            cost += others.map(|b| a.cost(b).min(b.cost(a))).sum::<i64>();
        }
        cost
    }
}

// The order of the nodes in each layer: swept by the places of their neighbours, then improved by
// moving single nodes while lines cross less often.

/// Passes over all layers, to the right and back in turn, from each of the two orders to begin with.
const SWEEPS: usize = 6;
/// Above so many nodes only neighbours are swapped, and above ten times as many none.
const CROWD: usize = 80;

impl Grid<'_> {
    /// Orders every layer, beginning with the boxes as they are numbered, and with the reverse.
    fn order(&mut self) {
        let mut best: Option<(i64, Vec<Vec<usize>>)> = None;
        for sweep in 0..2 * SWEEPS {
            if sweep == SWEEPS {
                self.layers.iter_mut().for_each(|layer| layer.reverse());
            }
            if sweep.is_multiple_of(SWEEPS) {
                (0..self.layers.len()).for_each(|layer| self.stack(layer));
            }
            for (layer, gap) in self.pass(sweep) {
                let wishes = self.wishes(layer, &[gap]);
                let middle = |node: usize, top: i32| top + self.height(node) / 2;
                let nodes = self.layers[layer].iter().zip(wishes);
                let mut by_middle: Vec<(i32, usize)> = nodes
                    .map(|(&node, top)| (middle(node, top), node))
                    .collect();
                by_middle.sort_by_key(|(middle, _)| *middle);
                self.layers[layer] = by_middle.into_iter().map(|(_, node)| node).collect();
                self.stack(layer);
            }
            if sweep % SWEEPS + 2 >= SWEEPS {
                self.improve();
            }
            let cost = (0..self.gaps.len()).map(|gap| self.cost(gap)).sum();
            if best.as_ref().is_none_or(|best| cost < best.0) {
                best = Some((cost, self.layers.clone()));
            }
        }
        if let Some((_, layers)) = best {
            self.layers = layers;
        }
        (0..self.layers.len()).for_each(|layer| self.stack(layer));
    }

    /// The layers from left to right, or back, each with the gap on the side from which the pass comes.
    fn pass(&self, number: usize) -> Vec<(usize, usize)> {
        let layers = 0..self.layers.len();
        if number.is_multiple_of(2) {
            layers.map(|layer| (layer, layer)).collect()
        } else {
            layers.rev().map(|layer| (layer, layer + 1)).collect()
        }
    }

    /// Puts the nodes of a layer below each other, its middle at 0.
    fn stack(&mut self, layer: usize) {
        let wishes = vec![0; self.layers[layer].len()];
        self.settle(layer, &wishes);
    }

    /// Moves single nodes within their layers as long as that helps.
    fn improve(&mut self) {
        let many = self.y.len() > CROWD;
        if self.y.len() > CROWD * 10 {
            return;
        }
        for _ in 0..if many { 1 } else { 6 } {
            let mut better = false;
            for layer in 0..self.layers.len() {
                let count = self.layers[layer].len();
                for from in 0..count {
                    let others = if many {
                        from..count.min(from + 2)
                    } else {
                        0..count
                    };
                    for to in others {
                        better |= to != from && self.try_move(layer, from, to);
                    }
                }
            }
            if !better {
                break;
            }
        }
    }

    fn try_move(&mut self, layer: usize, from: usize, to: usize) -> bool {
        let before = self.cost(layer) + self.cost(layer + 1);
        let kept = self.layers[layer].clone();
        let node = self.layers[layer].remove(from);
        self.layers[layer].insert(to, node);
        self.stack(layer);
        let better = self.cost(layer) + self.cost(layer + 1) < before;
        if !better {
            self.layers[layer] = kept;
            self.stack(layer);
        }
        better
    }
}

// How high each node stands: as near as it can to where its lines lead, in the order found.

/// Passes over all layers, to the right and back in turn.
const ROUNDS: usize = 30;
/// A passage that is out of line bends a long line twice.
const PASSAGE: i64 = 4;

impl Grid<'_> {
    /// Sets the tops of all nodes, the smallest being 0.
    fn place(&mut self) {
        for round in 0..ROUNDS {
            for (layer, _) in self.pass(round) {
                let wishes = self.wishes(layer, &[layer, layer + 1]);
                self.settle(layer, &wishes);
            }
        }
        let top = self.y.iter().copied().min().unwrap_or(0);
        self.y.iter_mut().for_each(|y| *y -= top);
    }

    /// For each node of a layer the top at which half of its lines in these gaps would rise and half
    /// would fall.
    fn wishes(&self, layer: usize, gaps: &[usize]) -> Vec<i32> {
        let mut found = vec![Vec::new(); self.y.len()];
        for &gap in gaps {
            for trunk in &self.gaps[gap] {
                let (own, others) = if gap == layer {
                    (&trunk.right, &trunk.left)
                } else {
                    (&trunk.left, &trunk.right)
                };
                let targets = if others.is_empty() { own } else { others };
                let heights = targets.iter().map(|pin| self.at(pin)).collect();
                let Some(middle) = median(heights) else {
                    continue;
                };
                for pin in own {
                    found[pin.node].push(middle - pin.offset);
                }
            }
        }
        let nodes = self.layers[layer].iter();
        nodes
            .map(|&node| median(std::mem::take(&mut found[node])).unwrap_or(self.y[node]))
            .collect()
    }

    /// Gives each node of a layer the place nearest to its wish (least squares) that keeps the order
    /// and the distances: nodes that push each other become one block, which stands at their mean.
    fn settle(&mut self, layer: usize, wishes: &[i32]) {
        let mut offset = 0;
        let mut offsets = Vec::new();
        let mut above = None;
        // Sum of weighted wishes, sum of weights, number of nodes.
        let mut blocks: Vec<(i64, i64, usize)> = Vec::new();
        for (&node, &wish) in self.layers[layer].iter().zip(wishes) {
            offset += above.map_or(0, |above| self.step(above, node));
            above = Some(node);
            offsets.push(offset);
            let weight = if self.is_box(node) { 1 } else { PASSAGE };
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
        for ((&node, offset), start) in self.layers[layer].iter().zip(offsets).zip(starts) {
            self.y[node] = start + offset;
        }
    }
}

/// The middle one; of two middle ones their mean.
fn median(mut values: Vec<i32>) -> Option<i32> {
    values.sort_unstable();
    let upper = *values.get(values.len() / 2)?;
    let lower = values[(values.len() - 1) / 2];
    Some(i32::midpoint(lower, upper))
}

// The tracks of upright lines in each gap, the widths that follow, and every link's corners.

/// Between two upright lines.
const TRACK: i32 = 9;
/// The least that two layers keep from each other.
const LEAST: i32 = 44;
/// Upright lines on one track keep so much between their ends.
const APART: i32 = 8;

impl Grid<'_> {
    fn route(&self) -> ErdLayout {
        let mut layout = ErdLayout {
            places: vec![PlacedBox::default(); self.shapes.len()],
            ..ErdLayout::default()
        };
        // Where each bundle's upright line is in each gap.
        let mut tracks: BTreeMap<(usize, usize), i32> = BTreeMap::new();
        let mut x = 0;
        for (gap, trunks) in self.gaps.iter().enumerate() {
            let profiles = self.profiles(gap);
            let order = track_order(&profiles);
            for (at, &a) in order.iter().enumerate() {
                let others = order[at + 1..].iter();
                let crossings = others.map(|&b| profiles[a].crossings(&profiles[b]));
                layout.crossings += crossings.sum::<usize>();
            }
            let room = |side: fn(&Trunk) -> &Vec<Pin>| {
                let rooms = trunks.iter().flat_map(side).map(|pin| pin.room);
                rooms.max().unwrap_or(0)
            };
            let numbers = track_numbers(&profiles, &order);
            let left = x + room(|trunk| &trunk.left);
            let last = numbers.iter().copied().max().unwrap_or(0);
            for (trunk, number) in trunks.iter().zip(numbers) {
                tracks.insert((gap, trunk.bundle), left + number * TRACK);
            }
            let right = left + last * TRACK + room(|trunk| &trunk.right);
            let Some(layer) = self.layers.get(gap) else {
                layout.width = right;
                break;
            };
            x = if gap == 0 {
                right
            } else {
                right.max(x + LEAST)
            };
            let boxes = || layer.iter().copied().filter(|&node| self.is_box(node));
            let widths = boxes().map(|node| self.shapes[node].width);
            let width = widths.max().unwrap_or(0);
            for node in boxes() {
                let y = self.y[node];
                layout.places[node] = PlacedBox { x, y, width };
                layout.height = layout.height.max(y + self.height(node));
            }
            x += width;
        }
        let numbers = 0..self.links.len();
        layout.routes = numbers
            .map(|link| self.corners(&layout.places, &tracks, link))
            .collect();
        let corners = layout.routes.iter().flatten().map(|corner| corner.1);
        layout.height = layout.height.max(corners.max().unwrap_or(0));
        layout
    }

    /// A link's way: level from the child to its trunk, along the trunk from gap to gap, level to the
    /// parent.
    fn corners(
        &self,
        places: &[PlacedBox],
        tracks: &BTreeMap<(usize, usize), i32>,
        number: usize,
    ) -> Vec<(i32, i32)> {
        let (link, bundle) = (&self.links[number], self.bundle_of[number]);
        let (layer, home) = (self.layer_of[link.child], self.layer_of[link.parent]);
        let (from, to) = self.sides(number);
        let edge = |node: usize, side: Side| match side {
            Side::Left => places[node].x,
            Side::Right => places[node].x + places[node].width,
        };
        let arrival = self.y[link.parent] + self.ends[self.links.len() + bundle];
        let (between, beside): (Vec<usize>, usize) = match to {
            Side::Right => ((home + 1..layer).rev().collect(), 1),
            Side::Left => ((layer + 1..home).collect(), 0),
        };
        // The gaps on the way, each with the height at which it is left.
        let passages = between.into_iter().map(|layer| {
            let passage = self.passages.get(&(bundle, layer));
            (layer + beside, passage.map_or(0, |&node| self.y[node]))
        });
        let mut level = self.y[link.child] + self.ends[number];
        let mut corners = vec![(edge(link.child, from), level)];
        for (gap, height) in passages.chain([(home + beside, arrival)]) {
            if height != level {
                let x = tracks.get(&(gap, bundle)).copied().unwrap_or(0);
                corners.extend([(x, level), (x, height)]);
                level = height;
            }
        }
        corners.push((edge(link.parent, to), arrival));
        corners
    }
}

/// The trunks of a gap from left to right, so that few lines cross.
fn track_order(trunks: &[Profile]) -> Vec<usize> {
    let mut order: Vec<usize> = Vec::new();
    // Each is inserted, and three times more when all others are there.
    for _ in 0..4 {
        for (number, trunk) in trunks.iter().enumerate() {
            order.retain(|&other| other != number);
            let mut cost: i64 = order.iter().map(|&other| trunk.cost(&trunks[other])).sum();
            let mut best = (cost, 0);
            for (at, &other) in order.iter().enumerate() {
                cost += trunks[other].cost(trunk) - trunk.cost(&trunks[other]);
                best = best.min((cost, at + 1));
            }
            order.insert(best.1, number);
        }
    }
    order
}

/// For each trunk the number of its track: lines that do not pass each other share one.
fn track_numbers(trunks: &[Profile], order: &[usize]) -> Vec<i32> {
    let mut numbers = vec![0; trunks.len()];
    for (at, &number) in order.iter().enumerate() {
        let this = &trunks[number];
        let passes = |other: &Profile| {
            other.top < other.bottom
                && other.top < this.bottom + APART
                && this.top < other.bottom + APART
        };
        let before = order[..at].iter().filter(|&&other| passes(&trunks[other]));
        if this.top < this.bottom {
            numbers[number] = before.map(|&other| numbers[other] + 1).max().unwrap_or(0);
        }
    }
    numbers
}
