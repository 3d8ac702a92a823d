//! Work that is handed out: a load in chunks that processes on other machines load, and its end.
//!
//! [`HandedPlan`] cuts a load into [`ChunkLine`]s: each says all that a worker needs but credentials. [`work`] loads
//! the chunk of one line by the engine of every load, and answers with a [`ResultLine`]. A chunk may be loaded
//! again, at the same time too: on one snapshot it makes the same items. [`finish::Finish`] takes the results of all chunks,
//! counts each chunk once, compares the keys of all workers, and makes the report of the load.
//!
//! What a chunk leaves beside the table, its keys, rejects and archived items, goes into files that are called by
//! what they hold: an attempt that was killed leaves nothing that is counted, and one that is repeated leaves the same.

pub mod finish;
mod plan;
mod result;
mod work;

pub use plan::{ChunkLine, HandedPlan, PlanError, PlanFacts, PlannedExport, consistency};
pub use result::{ChunkOutcome, DoneChunk, FailedChunk, JobLine, ResultLine, SharedKey};
pub use work::{ChunkJob, ChunkTarget, WorkedChunk, work};
