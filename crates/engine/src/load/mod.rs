//! The load: reads the source, folds rows into items, writes them, and keeps the books.
//!
//! # Shape
//!
//! The source's passes are cut into chunks ([`plan`]). [`lanes`] read them side by side on one
//! snapshot; workers ([`worker`]) fold the rows into items and gather these into batches; writers
//! ([`writer`]) deliver the batches at the pace that the table takes ([`pace`]), and items of
//! partitions that take no more wait apart. Every chunk has a ticket ([`Ticket`]) that
//! follows its rows and items; when all of them are accounted for, the [`ledger`] enters the chunk
//! into the state, with its books and rejects, at one time. Nothing grows with the data.
//!
//! Before the first write the keys are proved to differ: by `check`, from the schema, or else by a
//! pass over the same snapshot ([`prove`]). Only then ([`BegunLoad`]) the caller makes the table, or
//! deletes one that is to be replaced: no table is lost to a load that cannot be.
//!
//! # Ends
//!
//! A run ends at the end of the source, at one reject too many, at the caller's [`Cancel`], or at
//! a failure. In all cases but the last what was in flight is delivered first; in all cases the
//! target's load is finished, the rejects are on disk and the books are true. A run with a state
//! goes on where it ended, or was killed.

mod books;
mod claims;
mod differ;
mod ending;
pub mod erase;
mod failure;
mod feed;
mod files;
mod handed;
pub mod handout;
mod journal;
mod lanes;
mod ledger;
mod ordered_lines;
mod outbox;
mod pace;
mod plan;
mod prove;
mod prune;
mod rejects;
mod report;
mod resumable_file;
mod row;
mod run;
mod scope;
mod start;
pub mod state;
mod table;
mod ticket;
mod worker;
mod writer;

pub use books::{Books, LargestItem};
pub use ending::Cancel;
pub use failure::{Failure, Indistinguishable, OutputFile};
pub use files::{check_archive, check_rejects, clear_rejects};
pub use handed::{HandedChunk, KeyFile};
pub use prune::ItemTypeMarks;
pub use report::{
    KeyComparer, KeysReport, LimitedBy, Outcome, RejectNote, RemainingStale, Report, Traffic,
    UNCLEAR_WHY, WaitTimes,
};
pub use report::{NoProgress, Progress, RunStep};
pub use run::{UnclosedRun, run};
pub use scope::{ItemAction, RunSelection, SelectedRows};
pub use start::{BegunLoad, ReadyTable, begin};
pub use table::{
    EnsuredTable, FoundTable, IndexStep, TableError, add_indexes, ensure_table, find_table,
};
pub(crate) use table::{require_same_table, table_id};

pub(crate) use books::{RowCounts, add_fields};
pub(crate) use claims::subject;
pub(crate) use differ::{DifferenceReader, PageLookup, deletes_expired, is_same, may_be_deleted};
pub(crate) use ending::{EndReason, RunHalt};
pub(crate) use failure::shared;
pub(crate) use feed::{FeedEnd, RowFeed, RowOutcome, RowOutcomes};
pub(crate) use files::LineFile;
pub(crate) use lanes::{IssueTicket, LaneMessage, Lanes, Reader, RowBlock, spread};
pub(crate) use ledger::ClosedLedger;
pub(crate) use outbox::{Outbox, RepairWriter};
pub(crate) use plan::{ChunkId, ChunkPart, ChunkPlan, names, not_compared, rivals, selected};
pub(crate) use prove::{
    ContestedKeys, KeyPass, SharingRow, item_type_of, locator, narrow, shares_key,
};
pub(crate) use prune::{STRANGER, StaleCause, StrayItem, TableScan, compare};
pub(crate) use rejects::{MAX_NOTED, Rejected, reject_note};
pub(crate) use report::{is_zero, rate};
pub(crate) use row::{RowKey, key_json, raw, row_json, row_key};
pub(crate) use scope::{EXPIRED, REJECTED, made_locator};
pub(crate) use ticket::Ticket;
pub(crate) use worker::{BlockFolder, crew, take_keys};

use std::path::PathBuf;
use std::sync::Arc;

use dynafold_mapping::model::Model;
use dynafold_mapping::template::Context;
use dynafold_source::Source;
use dynafold_target::Target;
use dynafold_target::retry::Policy;
use serde::{Deserialize, Serialize};

use crate::proof;

/// A load to be run. Its table is not looked at before [`begin`] has proved that it can be: see
/// [`ensure_table`].
pub struct Load {
    /// The source; `None` once the run has it.
    pub source: Option<Box<dyn Source>>,
    /// Whether the source's snapshot is open already.
    pub begun: bool,
    /// Where the items are written.
    pub target: Arc<dyn Target>,
    /// The mapping.
    pub model: Arc<Model>,
    /// What templates need besides the row.
    pub context: Context,
    /// How fast to load, what to do with rejects, and other choices of the caller.
    pub options: LoadOptions,
    /// The caller's way to end it.
    pub cancel: Cancel,
    /// Who hears how it goes.
    pub progress: Arc<dyn Progress>,
    /// What is remembered from one attempt to the next; `None` for a run that cannot be resumed.
    pub state: Option<state::Opened>,
}

impl Load {
    /// Whether the rows that are loaded may be others than those whose keys were compared before.
    fn compares_again(&self) -> bool {
        self.options.keys == KeyCheck::First && self.model.passes.iter().any(|pass| pass.fickle)
    }
}

/// How it is known that no two items have one key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyCheck {
    /// It was proved from the schema.
    Proved,
    /// By reading all keys before the first write.
    #[default]
    First,
    /// By comparing all keys after the last write: one item may have overwritten another.
    Late,
}

/// Which stale items are deleted: items of the mapping that no row makes any more.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Prune {
    /// Delete those too whose rows `where` leaves out, or a view, a query or a table with row security does not return.
    pub filtered: bool,
}

/// How to load.
#[derive(Debug, Clone)]
pub struct LoadOptions {
    /// Rejects that are allowed; `None`: any number.
    pub max_rejects: Option<u64>,
    /// Where rejects go. The file is made when there is one. A plan makes neither file.
    pub rejects_file: PathBuf,
    /// Where the items of expired rows go that are to be archived; `FILE.part` while the run goes
    /// on. The file is made when there is one.
    pub archive_file: PathBuf,
    /// Batches in flight; `None`: what the target advises.
    pub writers: Option<usize>,
    /// When to send again, and when to give up.
    pub retry: Policy,
    /// How shared keys are found.
    pub keys: KeyCheck,
    /// Memory and disk of the comparison of keys.
    pub proof: proof::ProofOptions,
    /// What is done with items.
    pub doing: ItemAction,
    /// Whether a plan is that of a load with [`ItemAction::Changes`], which does not write an expired item that DynamoDB may
    /// have deleted.
    pub plans_changes: bool,
    /// Which rows and items the run is about.
    pub selection: RunSelection,
    /// Whether stale items are deleted, and which.
    pub prune: Option<Prune>,
    /// How this run makes its keys: what a state remembers when it has ended well.
    pub remember: Option<state::PruneSelection>,
    /// Connections that read side by side; `None`: as many as the machine has processors for.
    pub readers: Option<usize>,
    /// About how many rows a chunk has; `None`: as the tables' sizes suggest.
    pub chunk_rows: Option<u64>,
    /// Most write units a second, indexes included.
    pub ceiling: Option<f64>,
    /// What is read instead of everything, for a load of which others do other parts.
    pub handed: Option<HandedChunk>,
}

impl Default for LoadOptions {
    fn default() -> Self {
        Self {
            max_rejects: Some(0),
            rejects_file: PathBuf::from("rejects.ndjson"),
            archive_file: PathBuf::from("archive.ndjson"),
            writers: None,
            retry: Policy::default(),
            keys: KeyCheck::default(),
            proof: proof::ProofOptions::default(),
            doing: ItemAction::default(),
            plans_changes: false,
            selection: RunSelection::default(),
            prune: None,
            remember: None,
            readers: None,
            chunk_rows: None,
            ceiling: None,
            handed: None,
        }
    }
}

/// Connections that read side by side, of as many as were asked for.
pub(crate) fn lane_count(readers: Option<usize>) -> usize {
    readers.unwrap_or_else(processors).max(1)
}

/// Tasks that fold side by side, and connections that read.
pub(crate) fn processors() -> usize {
    let all = std::thread::available_parallelism().map_or(1, usize::from);
    // More of them gain nothing: the database, or the table, is slower.
    all.min(8)
}
