//! What the statement of a scan puts into its output columns, and where a row wants it.
//!
//! A scan without embeds has one node: its own rows. Otherwise each embed is a node too, every
//! output row belongs to one of them, and a tag says to which.

use dynafold_relational::catalog::DataType;
use dynafold_relational::scan::{Embed, Scan, ScanColumn};

/// The type of a whole number that is ours, such as the tag.
pub(super) static NUMBER: DataType = DataType::Integer {
    bits: 64,
    unsigned: false,
};
/// The type of a condition: 1 or 0.
static FLAG: DataType = DataType::Boolean;

/// The outputs of a scan's statement, by node.
pub(super) struct ScanLayout<'a> {
    /// What stands in each output column.
    pub(super) outputs: Vec<OutputColumn<'a>>,
    /// The scan itself, then its embeds, each before those within it.
    pub(super) nodes: Vec<LayoutNode<'a>>,
    /// The output that says to which node a row belongs; negative for a child without a parent.
    pub(super) tag: Option<usize>,
}

/// What stands in an output column.
pub(super) struct OutputColumn<'a> {
    pub(super) data_type: &'a DataType,
    /// The scan, the index into its joins and the name of a column; `None` for a condition and the tag.
    pub(super) column: Option<(&'a Scan, Option<usize>, &'a str)>,
}

impl<'a> OutputColumn<'a> {
    fn of_ours(data_type: &'a DataType) -> Self {
        Self {
            data_type,
            column: None,
        }
    }
}

/// The rows of a scan or of an embed.
pub(super) struct LayoutNode<'a> {
    pub(super) scan: &'a Scan,
    /// The embed; `None` for the scan itself.
    pub(super) embed: Option<&'a Embed>,
    /// The node of the parents.
    pub(super) parent: usize,
    /// The place of these rows in their parent's row.
    pub(super) slot: usize,
    /// The column of the scan itself under which this embed stands, at whatever depth.
    pub(super) root: usize,
    /// Output columns with their places in the row.
    pub(super) cells: Vec<(usize, usize)>,
    /// The outputs that tell these rows apart.
    pub(super) key: Vec<usize>,
    /// Values of a row.
    pub(super) width: usize,
}

impl<'a> ScanLayout<'a> {
    pub(super) fn new(scan: &'a Scan) -> Self {
        let mut layout = Self {
            outputs: Vec::new(),
            nodes: Vec::new(),
            tag: None,
        };
        layout.add(scan, None, 0, 0, 0);
        layout
    }

    /// The statement's column of each output, where a column may hold values of several types: an embed's rows have theirs
    /// in columns that are not asked for them otherwise. So all rows are narrower.
    pub(super) fn shared_columns(&self) -> Vec<usize> {
        let own = self.tag.map_or(self.outputs.len(), |tag| tag + 1);
        let mut columns: Vec<usize> = (0..own).collect();
        for node in self.nodes.iter().skip(1) {
            let mut taken: Vec<usize> = self.tag.into_iter().collect();
            let mut above = node.parent;
            while let Some(parent) = self.nodes.get(above) {
                taken.extend(parent.key.iter().filter_map(|key| columns.get(*key)));
                if above == 0 {
                    break;
                }
                above = parent.parent;
            }
            let free = (0..).filter(|column| !taken.contains(column));
            columns.extend(free.take(node.cells.len()));
        }
        columns
    }

    fn add(
        &mut self,
        scan: &'a Scan,
        embed: Option<&'a Embed>,
        parent: usize,
        slot: usize,
        root: usize,
    ) {
        let index = self.nodes.len();
        let mut cells = Vec::with_capacity(scan.columns.len());
        for (place, column) in scan.columns.iter().enumerate() {
            let output = match column {
                ScanColumn::Column {
                    join,
                    name,
                    data_type,
                } => OutputColumn {
                    data_type,
                    column: Some((scan, *join, name)),
                },
                ScanColumn::Flag(_) => OutputColumn::of_ours(&FLAG),
                ScanColumn::Embed(_) | ScanColumn::Slot => continue,
            };
            cells.push((self.outputs.len(), place));
            self.outputs.push(output);
        }
        let mut width = scan.columns.len();
        let place_of = |column: &usize| cells.iter().find(|(_, place)| place == column);
        let key = scan.key.iter().filter_map(place_of).map(|cell| cell.0);
        let key = key.collect();
        // The conditions of children only leave out rows.
        if embed.is_none() {
            for _ in &scan.conditions {
                cells.push((self.outputs.len(), width));
                self.outputs.push(OutputColumn::of_ours(&FLAG));
                width += 1;
            }
            if scan.embeds().next().is_some() {
                self.tag = Some(self.outputs.len());
                self.outputs.push(OutputColumn::of_ours(&NUMBER));
            }
        }
        self.nodes.push(LayoutNode {
            scan,
            embed,
            parent,
            slot,
            root,
            cells,
            key,
            width,
        });
        for (slot, embed) in scan.embeds() {
            let root = if index == 0 { slot } else { root };
            self.add(&embed.rows, Some(embed), index, slot, root);
        }
    }
}
