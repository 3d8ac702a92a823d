//! Loads that are handed out: cut into chunks, loaded by processes on other machines, and put together at the end.
//!
//! [`HandedPlan`] cuts a load into [`ChunkLine`]s: each has everything that a worker needs except credentials. [`work`] loads
//! the chunk of one line with the same engine as any load, and answers with a [`ResultLine`]. A chunk may be loaded again, even
//! at the same time: on one snapshot it makes the same items. [`finish::PlanResults`] takes the results of all chunks,
//! counts each chunk once, compares the keys of all workers, and makes the report of the load.
//!
//! A chunk's keys, rejects and archived items go into files whose names contain the digest of their content: nothing counts
//! of an attempt that was killed, and a repeated attempt leaves the same files.

pub mod finish;
mod plan;
mod result;
mod work;

pub use plan::{ChunkLine, HandedPlan, PlanError, PlanFacts, PlannedExport, consistency};
pub use result::{ChunkOutcome, DoneChunk, FailedChunk, JobLine, ResultLine, SharedKey};
pub use work::{ChunkJob, ChunkTarget, WorkedChunk, work};
