//! The state of a run on disk: what was planned, what is done, and whose it is.
//!
//! One file beside the mapping, with one writer: see [`State::open`]. A load opens it before it
//! reads, plans, and reports each chunk when every item of it is written, unchanged or rejected.
//! Killed at any moment and opened again, the state says what was reported; a file that the power
//! or a disk has damaged is found out, set aside and begun anew: it never says that something is
//! done that is not.
//!
//! Synchronous: the caller runs it where blocking is allowed. Nothing here knows an item or a secret.

mod error;
mod log;
mod model;
mod paths;
mod state_file;
#[cfg(test)]
mod tests;

pub use error::StateError;
pub use model::{
    ChangedFact, CommittedExtent, EarlierRun, IdentityFact, PruneSelection, ResumeMode, RunAttempt,
    RunIdentity, SWITCHED_ON, TableAtStart,
};
pub(super) use paths::{first_bytes, with_suffix};
pub use state_file::{StateLock, default_path};

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::books::Books;
use super::plan::{ChunkId, ChunkPlan};
use log::{LogContents, LogEntry, StateLog, UnreadableLog};

/// The facts of a run that say to which part of which table it writes.
const PART: [&str; 5] = [
    "the target",
    "the table",
    "--items",
    "--partition",
    "--retry-rejects",
];

/// The books of a chunk: indices of item types, and theirs.
pub(super) type ChunkBooks = Vec<(usize, Books)>;

/// The state of a run, open and locked. Dropping it frees the lock; what was reported is on disk.
#[derive(Debug)]
pub struct State {
    // Before the lock: it is closed while the lock is held.
    log: StateLog,
    path: PathBuf,
    _lock: StateLock,
}

/// What was found where a state was opened.
#[derive(Debug)]
pub enum Opened {
    /// No run, a finished one, or one that is to be forgotten.
    New(State),
    /// An unfinished run with the same identity; or one that begins anew and takes over what an
    /// unfinished one has written.
    Again(State, EarlierRun),
    /// A damaged state, and how that shows. It was set aside under another name and begun anew:
    /// what the table holds of its run has to be reconciled.
    Damaged(State, String),
}

impl Opened {
    /// The state, however it was found.
    pub fn state(&self) -> &State {
        match self {
            Self::New(state) | Self::Again(state, _) | Self::Damaged(state, _) => state,
        }
    }
}

/// What the last full run of a table selected, by the state at a path, which is neither locked nor
/// changed. `None`: there is none that is known.
pub fn selection(path: &Path, place: &str) -> Option<String> {
    StateLog::peek(path)
        .ok()?
        .selection(place)
        .map(str::to_owned)
}

/// What a run that resumes does otherwise than one that begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResumedWork {
    /// It skips chunks that it has done.
    Skips,
    /// It deletes items that it has sent and whose rows are gone.
    Deletes,
}

/// What the run with this identity does if it resumes from the state at a path, which is neither locked nor changed, where
/// the source's state is told by `stamp`. `None`: it does not resume, or does nothing else.
pub fn resumed(path: &Path, identity: &RunIdentity, stamp: Option<&str>) -> Option<ResumedWork> {
    let contents = StateLog::peek(path).ok()?;
    if contents.complete || !identity.differences(&contents.identity).is_empty() {
        return None;
    }
    let mut attempts = contents.attempts.iter();
    if stamp.is_some() && attempts.all(|attempt| attempt.stamp.as_deref() == stamp) {
        return (!contents.done.is_empty()).then_some(ResumedWork::Skips);
    }
    let at_start = EarlierRun::of(&contents).table_at_start();
    (at_start == TableAtStart::Empty).then_some(ResumedWork::Deletes)
}

/// Locks a path at which a run keeps what it is at in a form of its own, as a state is locked: by a file beside it.
///
/// # Errors
///
/// [`StateError::Held`] at once when another process has it; [`StateError::Foreign`] and [`StateError::Unwritable`].
pub fn hold(path: &Path) -> Result<StateLock, StateError> {
    let path = state_file::prepare(path)?;
    state_file::has_lock_file(&path)?;
    StateLock::take(&path)
}

/// Whether [`hold`] has locked a path, now or before.
///
/// # Errors
///
/// [`StateError::Foreign`] where another file has the lock's name; [`StateError::Unwritable`].
pub fn is_held_or_was(path: &Path) -> Result<bool, StateError> {
    state_file::has_lock_file(path)
}

impl State {
    /// Opens the state at a path, or begins one, and locks it for this process.
    ///
    /// # Errors
    ///
    /// [`StateError::Held`] at once when another process has it; [`StateError::Differs`] and
    /// [`StateError::Version`] when an unfinished run cannot be gone on with, unless it is to be
    /// forgotten; [`StateError::Foreign`] and [`StateError::Unwritable`] before anything is
    /// changed.
    pub fn open(
        path: &Path,
        identity: &RunIdentity,
        mode: ResumeMode,
    ) -> Result<Opened, StateError> {
        let path = state_file::prepare(path)?;
        let before = state_file::is_present(&path)?;
        let lock = StateLock::take(&path)?;
        if !state_file::is_present_under_lock(&path, before)? {
            return Self::begin(path, lock, identity, Vec::new(), None).map(Opened::New);
        }
        let log = match StateLog::open(&path) {
            Ok(log) => log,
            Err(UnreadableLog::Failed(cause)) => return Err(StateError::io(&path, cause)),
            Err(UnreadableLog::Damaged(what)) => {
                // Under its own name until the new one takes its place: a run that is killed in between
                // finds it again.
                state_file::set_aside(&path)?;
                let unknown = RunAttempt::taken_over(TableAtStart::Held);
                let state = Self::begin(path, lock, identity, Vec::new(), Some(unknown))?;
                return Ok(Opened::Damaged(state, what));
            }
            Err(UnreadableLog::Format(_)) if mode != ResumeMode::Resume => {
                return Self::begin(path, lock, identity, Vec::new(), None).map(Opened::New);
            }
            Err(UnreadableLog::Format(found)) => {
                let known = log::FORMAT;
                return Err(StateError::Version { path, found, known });
            }
        };
        let contents = &log.contents;
        let over = contents.attempts.is_empty() || contents.complete;
        if over || mode != ResumeMode::Resume {
            let differences = identity.differences(&contents.identity);
            let same_part = differences.iter().all(|it| !PART.contains(&&*it.what));
            let taken_over = (!over && mode == ResumeMode::Fresh && same_part)
                .then(|| EarlierRun::of(contents).taken_over());
            let selections = contents.selections.clone();
            drop(log);
            let state = Self::begin(path, lock, identity, selections, taken_over)?;
            return Ok(match EarlierRun::of(&state.log.contents) {
                nothing if nothing.attempts.is_empty() => Opened::New(state),
                earlier => Opened::Again(state, earlier),
            });
        }
        let differences = identity.differences(&contents.identity);
        if !differences.is_empty() {
            return Err(StateError::Differs { path, differences });
        }
        let earlier = EarlierRun::of(contents);
        let state = Self {
            log,
            path,
            _lock: lock,
        };
        Ok(Opened::Again(state, earlier))
    }

    /// Plans the run's chunks, all of them open, in the place of an earlier plan.
    ///
    /// # Errors
    ///
    /// [`StateError::Unwritable`]; the earlier plan stands then.
    pub(super) fn plan(&mut self, plan: ChunkPlan) -> Result<(), StateError> {
        self.log.append(LogEntry::Planned(plan))
    }

    /// Begins this process's work.
    ///
    /// # Errors
    ///
    /// [`StateError::Unwritable`].
    pub fn begin_attempt(&mut self, attempt: RunAttempt) -> Result<(), StateError> {
        self.log.append(LogEntry::AttemptBegun(attempt))
    }

    /// Reports that chunks are done, all of them or none: on disk when this returns. One that was
    /// done before is done again, with new books. `extents`: how far the files beside the table count with
    /// them, by their names; they are on disk that far already.
    ///
    /// # Errors
    ///
    /// [`StateError::Unplanned`]; [`StateError::Unwritable`], and the chunks are to be taken for
    /// open.
    pub(super) fn chunks_done(
        &mut self,
        chunks: Vec<(ChunkId, ChunkBooks)>,
        extents: Vec<(String, CommittedExtent)>,
    ) -> Result<(), StateError> {
        let plan = &self.log.contents.plan;
        let unplanned = chunks.iter().find(|(id, _)| !plan.holds(*id));
        if let Some((id, _)) = unplanned {
            let (pass, chunk) = (id.pass, id.chunk);
            return Err(StateError::Unplanned { pass, chunk });
        }
        self.log.append(LogEntry::Done { chunks, extents })
    }

    /// Takes nothing over from an earlier run: what it wrote to is gone.
    ///
    /// # Errors
    ///
    /// [`StateError::Unwritable`].
    pub fn forget_attempts(&mut self) -> Result<(), StateError> {
        self.log.append(LogEntry::AttemptsForgotten)
    }

    /// Forgets how far the files beside the table count: everything that is in them will be appended again.
    ///
    /// # Errors
    ///
    /// [`StateError::Unwritable`].
    pub fn forget_extents(&mut self) -> Result<(), StateError> {
        self.log.append(LogEntry::ExtentsForgotten)
    }

    /// Says that everything is done: the next run begins anew. `selection` is that of a full run, kept
    /// over the runs to come.
    ///
    /// # Errors
    ///
    /// [`StateError::Unwritable`].
    pub fn complete(&mut self, selection: Option<PruneSelection>) -> Result<(), StateError> {
        self.log.append(LogEntry::Complete(selection))
    }

    pub(super) fn planned(&self) -> &ChunkPlan {
        &self.log.contents.plan
    }

    /// The chunks that are done, and their books.
    pub(super) fn done(&self) -> &BTreeMap<ChunkId, ChunkBooks> {
        &self.log.contents.done
    }

    /// What the last full run of a table selected; `None`: there is none that is known.
    pub fn selection(&self, place: &str) -> Option<&str> {
        self.log.contents.selection(place)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn begin(
        path: PathBuf,
        lock: StateLock,
        identity: &RunIdentity,
        selections: Vec<PruneSelection>,
        taken_over: Option<RunAttempt>,
    ) -> Result<Self, StateError> {
        let begun = LogEntry::Begun {
            identity: identity.clone(),
            selections,
            taken_over,
        };
        Ok(Self {
            log: state_file::begin(&path, begun)?,
            path,
            _lock: lock,
        })
    }
}

impl EarlierRun {
    fn of(contents: &LogContents) -> Self {
        Self {
            attempts: contents.attempts.clone(),
            extents: contents.extents.clone(),
        }
    }
}

impl LogContents {
    fn selection(&self, place: &str) -> Option<&str> {
        let mut selections = self.selections.iter();
        let found = selections.find(|selection| selection.place == place);
        found.map(|selection| &*selection.json)
    }
}

/// A hash as it is kept.
fn hex(hash: u128) -> String {
    format!("{hash:032x}")
}
