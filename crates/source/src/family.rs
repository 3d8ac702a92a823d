//! Puts parents and children together, which come one behind the other.
//!
//! One family is held at a time: a parent, its children, and theirs. It is complete when the next
//! parent begins.

use std::cmp::Ordering;

use dynafold_relational::scan::ScanColumn;
use dynafold_relational::value::{UnfitReason, Value, compare};

use super::layout::{LayoutNode, ScanLayout};
use super::{Chunk, LeftBehind, Row};

/// Bytes of children, as the decoder counts them, beyond which their parent could be no item and
/// nobody wants to hold them: 16 MiB.
const MOST_BYTES: usize = 16 << 20;
/// Children beyond which those past an embed's limit are let go at once.
const MANY: usize = 1024;

/// How a row could not be taken.
#[derive(Debug, thiserror::Error)]
#[error(
    "children were not read in the order of their parents; the columns that identify the parents are ordered by one collation and unique under another"
)]
struct OutOfOrder;

/// Rows of a scan on their way into chunks.
pub(super) struct Family<'a> {
    layout: ScanLayout<'a>,
    parent: Option<Row>,
    key: Vec<Value>,
    /// Whether several parents have this key, so that nobody knows whose the children are.
    shared: bool,
    /// The children by node; of the first node there are none.
    children: Vec<Vec<Child>>,
    bytes: usize,
    left: Vec<LeftBehind>,
}

/// The key of a parent and its children's rows.
type ChildGroup = (Vec<Value>, Vec<Value>);

struct Child {
    /// The key of the row that it belongs to, within the family; empty below the parent itself.
    parent: Vec<Value>,
    row: Vec<Value>,
}

impl<'a> Family<'a> {
    pub(super) fn new(layout: ScanLayout<'a>) -> Self {
        let nodes = layout.nodes.len();
        Self {
            layout,
            parent: None,
            key: Vec::new(),
            shared: false,
            children: (0..nodes).map(|_| Vec::new()).collect(),
            bytes: 0,
            left: vec![LeftBehind::default(); nodes],
        }
    }

    /// Takes one row of the statement. `cell` reads an output and says its bytes. What is complete
    /// goes into the chunk; returns the bytes read.
    pub(super) fn take(
        &mut self,
        chunk: &mut Chunk,
        mut cell: impl FnMut(usize) -> sqlx::Result<(Value, usize)>,
    ) -> sqlx::Result<usize> {
        let Some(tag) = self.layout.tag else {
            let (row, bytes) = self.read(0, &mut cell)?;
            chunk.rows.push(row.into_boxed_slice());
            return Ok(bytes);
        };
        let tag = match cell(tag)?.0 {
            Value::Number(number) => number.to_i64().unwrap_or_default(),
            _ => 0,
        };
        let node = usize::try_from(tag.unsigned_abs()).unwrap_or_default();
        if tag < 0 {
            if let Some(left) = self.left.get_mut(node) {
                left.orphans += 1;
            }
            return Ok(0);
        }
        if node == 0 {
            return self.begin(chunk, &mut cell);
        }
        self.add(node, &mut cell)
    }

    /// Hands out the last family and what was left behind.
    pub(super) fn end(&mut self, chunk: &mut Chunk) {
        self.complete(chunk);
        self.report_left_behind(chunk);
    }

    /// Tells what was left behind since the last time.
    pub(super) fn report_left_behind(&mut self, chunk: &mut Chunk) {
        for (left, node) in self.left.iter_mut().zip(&self.layout.nodes) {
            if *left != LeftBehind::default() {
                chunk.left.push((node.root, std::mem::take(left)));
            }
        }
    }

    fn read(
        &self,
        node: usize,
        cell: &mut impl FnMut(usize) -> sqlx::Result<(Value, usize)>,
    ) -> sqlx::Result<(Vec<Value>, usize)> {
        let Some(node) = self.layout.nodes.get(node) else {
            return Ok((Vec::new(), 0));
        };
        let mut bytes = 0;
        let mut row = Vec::with_capacity(node.width);
        for (output, place) in &node.cells {
            while row.len() < *place {
                row.push(unread(node, row.len()));
            }
            let (value, size) = cell(*output)?;
            bytes += size;
            row.push(value);
        }
        while row.len() < node.width {
            row.push(unread(node, row.len()));
        }
        Ok((row, bytes))
    }

    fn begin(
        &mut self,
        chunk: &mut Chunk,
        cell: &mut impl FnMut(usize) -> sqlx::Result<(Value, usize)>,
    ) -> sqlx::Result<usize> {
        let (row, bytes) = self.read(0, cell)?;
        let key = self.layout.nodes.first().map(|node| key_of(node, &row));
        let key = key.unwrap_or_default();
        let shared = self.parent.is_some() && key == self.key;
        self.shared |= shared;
        self.complete(chunk);
        self.shared = shared;
        self.parent = Some(row.into_boxed_slice());
        self.key = key;
        Ok(bytes)
    }

    fn add(
        &mut self,
        node: usize,
        cell: &mut impl FnMut(usize) -> sqlx::Result<(Value, usize)>,
    ) -> sqlx::Result<usize> {
        for (output, known) in self.key_outputs(0).iter().zip(&self.key) {
            if cell(*output)?.0 != *known {
                return Err(sqlx::Error::Decode(Box::new(OutOfOrder)));
            }
        }
        if self.parent.is_none() {
            return Err(sqlx::Error::Decode(Box::new(OutOfOrder)));
        }
        if self.shared || self.bytes > MOST_BYTES {
            return Ok(0);
        }
        let above = self.layout.nodes.get(node).map_or(0, |node| node.parent);
        let parent = match above {
            0 => Vec::new(),
            above => {
                let outputs = self.key_outputs(above).iter();
                let values = outputs.map(|output| Ok(cell(*output)?.0));
                values.collect::<sqlx::Result<_>>()?
            }
        };
        let (row, bytes) = self.read(node, cell)?;
        self.bytes += bytes;
        if let Some(children) = self.children.get_mut(node) {
            children.push(Child { parent, row });
        }
        self.prune(node, above);
        Ok(bytes)
    }

    fn key_outputs(&self, node: usize) -> &[usize] {
        self.layout
            .nodes
            .get(node)
            .map_or(&[], |node| node.key.as_slice())
    }

    /// Lets go of children that are past their embed's limit already.
    fn prune(&mut self, index: usize, above: usize) {
        let (Some(node), Some(children), Some(left)) = (
            self.layout.nodes.get(index),
            self.children.get_mut(index),
            self.left.get_mut(index),
        ) else {
            return;
        };
        let most = most(node);
        if above != 0 || children.len() < MANY.max(most.saturating_mul(2)) {
            return;
        }
        children.sort_by(|a, b| order(node, &a.row, &b.row));
        left.cut += u64::try_from(children.len() - most).unwrap_or_default();
        let bytes: usize = children.drain(most..).map(|child| size(&child.row)).sum();
        self.bytes = self.bytes.saturating_sub(bytes);
    }

    /// Hands out the parent with its children.
    fn complete(&mut self, chunk: &mut Chunk) {
        let Some(mut parent) = self.parent.take() else {
            return;
        };
        let unfit = if self.shared {
            Some(UnfitReason::SharedKey)
        } else if self.bytes > MOST_BYTES {
            Some(UnfitReason::TooManyChildren)
        } else {
            None
        };
        for index in (1..self.layout.nodes.len()).rev() {
            let children = self.children.get_mut(index).map(std::mem::take);
            let Some(node) = self.layout.nodes.get(index) else {
                continue;
            };
            if let Some(why) = unfit {
                if node.parent == 0
                    && let Some(place) = parent.get_mut(node.slot)
                {
                    *place = Value::unfit("", why);
                }
                continue;
            }
            let (groups, cut) = group(node, children.unwrap_or_default());
            if let Some(left) = self.left.get_mut(index) {
                left.cut += cut;
            }
            if node.parent == 0 {
                for (_, rows) in groups {
                    if let Some(place) = parent.get_mut(node.slot) {
                        *place = Value::List(rows);
                    }
                }
                continue;
            }
            let above = self.layout.nodes.get(node.parent);
            let parents = self.children.get_mut(node.parent);
            if let (Some(above), Some(parents)) = (above, parents) {
                hand_out(groups, above, node.slot, parents);
            }
        }
        self.bytes = 0;
        chunk.rows.push(parent);
    }
}

/// What stands in a place that the database was not asked for.
fn unread(node: &LayoutNode<'_>, place: usize) -> Value {
    match node.scan.columns.get(place) {
        Some(ScanColumn::Embed(_)) => Value::List(Vec::new()),
        _ => Value::Null,
    }
}

fn key_of(node: &LayoutNode<'_>, row: &[Value]) -> Vec<Value> {
    let key = node.scan.key.iter().filter_map(|place| row.get(*place));
    key.cloned().collect()
}

fn compare_all<'v>(
    a: impl IntoIterator<Item = &'v Value>,
    b: impl IntoIterator<Item = &'v Value>,
) -> Ordering {
    let pairs = a.into_iter().zip(b);
    let mut orders = pairs.map(|(a, b)| compare(a, b));
    orders
        .find(|order| order.is_ne())
        .unwrap_or(Ordering::Equal)
}

/// The order of an embed's rows: as it says, then by their key, then by all that is in them.
fn order(node: &LayoutNode<'_>, a: &[Value], b: &[Value]) -> Ordering {
    let wanted = node.embed.map_or(&[][..], |embed| &embed.order);
    for (place, descends) in wanted {
        let (Some(a), Some(b)) = (a.get(*place), b.get(*place)) else {
            continue;
        };
        let order = compare(a, b);
        let order = if *descends { order.reverse() } else { order };
        if order.is_ne() {
            return order;
        }
    }
    let key = |row| {
        node.scan
            .key
            .iter()
            .filter_map(move |at| <[Value]>::get(row, *at))
    };
    compare_all(key(a), key(b)).then_with(|| compare_all(a, b))
}

/// Most children of one parent.
fn most(node: &LayoutNode<'_>) -> usize {
    let most = node.embed.and_then(|embed| embed.most);
    most.map_or(usize::MAX, |most| {
        usize::try_from(most).unwrap_or(usize::MAX)
    })
}

/// Children by their parents' keys, in the order of both; and how many are past the limit.
fn group(node: &LayoutNode<'_>, mut children: Vec<Child>) -> (Vec<ChildGroup>, u64) {
    children.sort_by(|a, b| {
        compare_all(&a.parent, &b.parent).then_with(|| order(node, &a.row, &b.row))
    });
    let most = most(node);
    let mut groups: Vec<ChildGroup> = Vec::new();
    let mut cut = 0;
    for child in children {
        let row = Value::List(child.row);
        match groups.last_mut() {
            Some((parent, rows)) if *parent == child.parent => {
                if rows.len() < most {
                    rows.push(row);
                } else {
                    cut += 1;
                }
            }
            _ => groups.push((child.parent, vec![row])),
        }
    }
    (groups, cut)
}

/// Puts groups into the rows that they belong to. Where several rows have one key, it is not known which.
fn hand_out(
    mut groups: Vec<ChildGroup>,
    above: &LayoutNode<'_>,
    slot: usize,
    parents: &mut [Child],
) {
    let parents = parents.iter_mut();
    let keyed = parents.filter_map(|parent| {
        let key = key_of(above, &parent.row);
        Some((key, parent.row.get_mut(slot)?))
    });
    let mut places: Vec<(Vec<Value>, &mut Value)> = keyed.collect();
    places.sort_by(|(a, _), (b, _)| compare_all(a, b));
    for places in places.chunk_by_mut(|(a, _), (b, _)| a == b) {
        let key = places.first().map_or(&[][..], |(key, _)| key);
        let found = groups.binary_search_by(|(other, _)| compare_all(other, key));
        let Some((_, rows)) = found.ok().and_then(|found| groups.get_mut(found)) else {
            continue;
        };
        if let [(_, place)] = places {
            **place = Value::List(std::mem::take(rows));
        } else {
            for (_, place) in places {
                **place = Value::unfit("", UnfitReason::SharedKey);
            }
        }
    }
}

/// About as many bytes as the decoder counted.
fn size(row: &[Value]) -> usize {
    row.iter().map(Value::size).sum()
}
