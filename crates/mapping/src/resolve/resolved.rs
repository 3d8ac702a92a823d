//! What becomes of an item type before it is in the model.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use dynafold_relational::scan::Scan;

use crate::model::ItemType;
use crate::proof::Facts;
use crate::raw::Spanned;

/// An item type on its way into the model, with the places that later checks point at.
#[derive(Debug)]
pub(super) struct Resolved {
    pub(super) item: ItemType,
    pub(super) name_span: Range<usize>,
    /// The conditions, its own and those of `$when` and of embeds, each as a scan of its own.
    pub(super) conditions: Vec<Spanned<Scan>>,
    /// Where each attribute was written.
    pub(super) spans: HashMap<Arc<str>, Range<usize>>,
    /// What the schema tells of the rows.
    pub(super) facts: Facts,
    /// Columns of the row that may be NULL.
    pub(super) nullable: Vec<usize>,
    /// Whether the relation is a table whose constraints are known.
    pub(super) is_table: bool,
    /// About how many items there are at most, where the catalog knows.
    pub(super) rows: Option<u64>,
}

impl Resolved {
    /// Where an attribute was written.
    pub(super) fn place(&self, attribute: &str) -> Range<usize> {
        let written = self.spans.get(attribute).cloned();
        written.unwrap_or_else(|| self.name_span.clone())
    }
}
