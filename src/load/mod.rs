//! The load: reads the source, folds rows into items, writes them, and keeps the books.
//!
//! # Shape
//!
//! A reader task scans the passes in the mapping's order on one snapshot and hands chunks to the
//! fold, which runs in order on the task of [`run`] itself: items, duplicates and rejects are the
//! same in every run. Batches go through a channel that is bounded in bytes to the writers, which
//! deliver out of order. Nothing but the set of keys grows with the data.
//!
//! # Ends
//!
//! A run ends at the end of the source, at one reject too many, at the caller's [`Cancel`], or at
//! a failure. In all cases but the last what was in flight is delivered first; in all cases the
//! target's load is finished, the rejects are on disk and the books are true.

mod archive;
mod books;
mod duplicates;
mod feed;
mod halt;
mod keys;
mod ledger;
mod progress;
mod rejects;
mod run;
pub mod state;
mod table;
mod writer;

pub use archive::check_archive;
pub use books::{Books, Failure, Largest, LimitedBy, Outcome, RejectNote, Report, Traffic, Waits};
pub use halt::Cancel;
pub use keys::Keys;
pub use progress::{Progress, Silent, Step};
pub use rejects::clear_rejects;
pub use run::run;
pub use table::{Ensured, TableError, ensure_table};

pub(crate) use books::rate;
pub(crate) use feed::{Fate, Read, Reader, RowKey, Sieve, meets, row_key, take_row_key};
pub(crate) use keys::Fold64;
pub(crate) use rejects::{Rejected, Rejects, json, raw, row_json};

use std::path::PathBuf;
use std::sync::Arc;

use crate::mapping::model::Model;
use crate::mapping::template::Context;
use crate::retry::Policy;
use crate::source::Source;
use crate::target::Target;

/// A load to be run. The table is there already: see [`ensure_table`].
pub struct Load {
    /// The source; its snapshot is not open yet.
    pub source: Box<dyn Source>,
    /// The target.
    pub target: Arc<dyn Target>,
    /// The mapping.
    pub model: Arc<Model>,
    /// What templates need besides the row.
    pub context: Context,
    /// How to load.
    pub options: Options,
    /// The caller's way to end it.
    pub cancel: Cancel,
    /// Who hears how it goes.
    pub progress: Arc<dyn Progress>,
}

/// How to load.
#[derive(Debug, Clone)]
pub struct Options {
    /// Rejects that are allowed; `None`: any number.
    pub max_rejects: Option<u64>,
    /// Where rejects go. The file is made when there is one.
    pub rejects_file: PathBuf,
    /// Where the items of expired rows go that are to be archived; `FILE.part` while the run goes
    /// on. The file is made when there is one.
    pub archive_file: PathBuf,
    /// Batches in flight; `None`: what the target advises.
    pub writers: Option<usize>,
    /// Whether this run has just made the table.
    pub fresh: bool,
    /// About how many rows each pass has, for progress.
    pub estimates: Vec<Option<u64>>,
    /// When to send again, and when to give up.
    pub retry: Policy,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            max_rejects: Some(0),
            rejects_file: PathBuf::from("rejects.ndjson"),
            archive_file: PathBuf::from("archive.ndjson"),
            writers: None,
            fresh: false,
            estimates: Vec::new(),
            retry: Policy::default(),
        }
    }
}
