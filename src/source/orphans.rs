//! Tells the children that stand in no parent, for a pass that is read in ranges.

use super::layout::Layout;
use super::{Dialect, LeftBehind, Scan, union};

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
        let roots = Layout::new(&whole)
            .nodes
            .iter()
            .map(|node| node.root)
            .collect();
        Some(Self {
            sql: union::orphans(dialect, &whole)?,
            roots,
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
