//! A layered graph: boxes and passages in layers, trunks in the gaps between them.

#![expect(
    clippy::indexing_slicing,
    reason = "indices number the boxes, links and layers that this grid was made from"
)]

use std::collections::BTreeMap;

use super::{Link, Shape};

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
