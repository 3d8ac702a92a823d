//! Tells the children that stand in no parent, for a pass that is read in ranges.

use super::layout::Layout;
use super::union::Union;
use super::{Dialect, LeftBehind, Scan};

/// The statement that counts them, and whose they are.
pub(super) struct Count {
    /// Gives rows of a node's number and its orphans.
    pub(super) sql: String,
    /// The embed's column for each node.
    roots: Vec<usize>,
}

impl Count {
    /// Prepares to count; `None` where a scan has no embeds.
    pub(super) fn new(dialect: &dyn Dialect, scan: &Scan) -> Option<Self> {
        let whole = Scan {
            range: None,
            ..scan.clone()
        };
        let layout = Layout::new(&whole);
        layout.tag?;
        let union = Union::new(dialect, &whole, &layout);
        let nodes = 1..layout.nodes.len();
        let counts: Vec<String> = nodes.map(|node| count(&union, node)).collect();
        Some(Self {
            sql: counts.join("\nUNION ALL\n"),
            roots: layout.nodes.iter().map(|node| node.root).collect(),
        })
    }

    /// Puts rows of the statement together.
    pub(super) fn left(&self, rows: &[(u64, u64)]) -> Vec<(usize, LeftBehind)> {
        let left = rows.iter().filter(|(_, orphans)| *orphans > 0);
        left.filter_map(|(node, orphans)| {
            let root = self.roots.get(usize::try_from(*node).ok()?)?;
            let left = LeftBehind {
                orphans: *orphans,
                cut: 0,
            };
            Some((*root, left))
        })
        .collect()
    }
}

/// Counts the children of one node that find no parent, as a row of its number and theirs.
fn count(union: &Union<'_>, node: usize) -> String {
    let chain = union.chain(node);
    let mut sql = format!(
        "SELECT {node} AS c0, count(*) AS c1\nFROM {}",
        union.derived(node, &chain)
    );
    for pair in chain.windows(2) {
        let [child, parent] = pair else { continue };
        let derived = union.derived(*parent, &chain);
        let on = union.on(*child, *parent);
        sql.push_str(&format!("\nLEFT JOIN {derived} ON {on}"));
    }
    sql.push_str("\nWHERE e0.wanted IS NULL");
    sql
}
