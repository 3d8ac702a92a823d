//! What a comparison is given by its caller: source, target, mapping, and how to compare.

use std::sync::Arc;

use crate::item::Attribute;
use crate::load::{Cancel, KEY_MEMORY, KeyCheck, Progress, Selection, processors};
use crate::mapping::model::Model;
use crate::mapping::template::Context;
use crate::proof;
use crate::retry::Policy;
use crate::source::Source;
use crate::target::Target;

/// A comparison to be made.
pub struct Verify {
    /// The source, whose snapshot is not open yet; `None` once the run has it.
    pub source: Option<Box<dyn Source>>,
    /// The target.
    pub target: Arc<dyn Target>,
    /// The mapping. Item types that no pass makes are left aside.
    pub model: Arc<Model>,
    /// What templates need besides the row.
    pub context: Context,
    /// How to compare.
    pub options: Options,
    /// Findings that the report names.
    pub examples: usize,
    /// About how many rows each pass has, for progress.
    pub estimates: Vec<Option<u64>>,
    /// The caller's way to end it.
    pub cancel: Cancel,
    /// Who hears how it goes.
    pub progress: Arc<dyn Progress>,
}

/// How to compare.
#[derive(Debug, Clone)]
pub struct Options {
    /// Whether the keys are proved to differ; else rows that share one are found first, so that
    /// the same one of them is expected as a load writes.
    pub keys: KeyCheck,
    /// Items with this partition key value alone.
    pub partition: Option<Attribute>,
    /// So many items alone, from all over the source. What is unexpected is not looked for then.
    pub sample: Option<u64>,
    /// Whether missing and different items are written as they should be.
    pub repair: bool,
    /// Connections that read side by side; `None`: as many as the machine has processors for.
    pub readers: Option<usize>,
    /// Tables of which row security may hide rows from this reader.
    pub row_security: Vec<String>,
    /// When to write again what is repaired, and when to give up.
    pub retry: Policy,
    /// Most write units a second of what is repaired, indexes included.
    pub ceiling: Option<f64>,
    /// Memory and disk of the comparison of keys.
    pub proof: proof::Options,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            keys: KeyCheck::default(),
            partition: None,
            sample: None,
            repair: false,
            readers: None,
            row_security: Vec::new(),
            retry: Policy::default(),
            ceiling: None,
            proof: proof::Options {
                memory: KEY_MEMORY,
                folder: std::env::temp_dir(),
            },
        }
    }
}

impl Options {
    /// Connections that read side by side.
    pub(super) fn lanes(&self) -> usize {
        self.readers.unwrap_or_else(processors).max(1)
    }

    /// The items that are compared.
    pub(super) fn selection(&self) -> Selection {
        Selection {
            partition: self.partition.clone(),
            rows: None,
        }
    }
}
