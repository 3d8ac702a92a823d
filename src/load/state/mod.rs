//! The state of a run on disk: what was planned, what is done, and whose it is.
//!
//! One file beside the mapping, with one writer: see [`State::open`]. A load opens it before it
//! reads, plans, and reports each chunk when every item of it is written, unchanged or rejected.
//! Killed at any moment and opened again, the state says what was reported; a file that the power
//! or a disk has damaged is found out, set aside and begun anew: it never says that something is
//! done that is not.
//!
//! Synchronous: the caller runs it where blocking is allowed. Nothing here knows a row, an item or
//! a secret; ranges and books are the caller's JSON.

mod annex;
mod error;
mod model;
mod place;
mod store;
#[cfg(test)]
mod tests;

pub use annex::{Annex, AnnexError, Extent};
pub use error::{Obstacle, StateError};
pub use model::{
    Attempt, Chunk, ChunkDone, Done, Earlier, Ending, Ground, Mode, PassPlan, Selection,
};
pub use model::{Difference, Fact, Identity};
pub use place::default_path;
pub(super) use place::sync_folder;

use std::path::{Path, PathBuf};

use place::Found;
use place::Lock;
use store::{Store, Unread};

/// The facts of a run that say to which part of which table it writes.
const PART: [&str; 5] = [
    "the target",
    "the table",
    "--items",
    "--partition",
    "--retry-rejects",
];

/// The state of a run, open and locked. Dropping it frees the lock; what was reported is on disk.
#[derive(Debug)]
pub struct State {
    // Before the lock: it is closed while the lock is held.
    store: Store,
    path: PathBuf,
    attempt: u32,
    _lock: Lock,
}

/// What was found where a state was opened.
#[derive(Debug)]
#[must_use]
pub enum Opened {
    /// No run, a finished one, or one that is to be forgotten.
    New(State),
    /// An unfinished run with the same identity; or one that begins anew and takes over what an
    /// unfinished one has written.
    Again(State, Earlier),
    /// A damaged state, and how that shows. It was set aside under another name and begun anew:
    /// what the table holds of its run has to be reconciled.
    Damaged(State, String),
}

impl Opened {
    /// The state, however it was found.
    #[must_use]
    pub fn state(&self) -> &State {
        match self {
            Self::New(state) | Self::Again(state, _) | Self::Damaged(state, _) => state,
        }
    }
}

/// What the last full run of a table selected, by the state at a path, which is neither locked nor
/// changed. `None`: there is none that is known.
#[must_use]
pub fn selection(path: &Path, place: &str) -> Option<String> {
    let store = Store::open(path).ok()?;
    let all = store::selections(&store).ok()?;
    let found = all.into_iter().find(|selection| selection.place == place);
    found.map(|selection| selection.json)
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
    pub fn open(path: &Path, identity: &Identity, mode: Mode) -> Result<Opened, StateError> {
        let path = place::prepare(path)?;
        let before = place::look(&path)?;
        let lock = Lock::take(&path)?;
        match place::look_again(&path, before)? {
            Found::State => {}
            Found::Nothing => return Self::begin(path, lock, identity, &[], None).map(Opened::New),
            Found::Remains => {
                return Self::mend(path, lock, identity, String::from("its file is gone"));
            }
        }
        let store = match Store::open(&path) {
            Ok(store) => store,
            Err(Unread::Failed(cause)) => return Err(StateError::sqlite(&path, cause)),
            Err(Unread::Damaged(what)) => return Self::mend(path, lock, identity, what),
            Err(Unread::Format(_)) if mode != Mode::Resume => {
                return Self::begin(path, lock, identity, &[], None).map(Opened::New);
            }
            Err(Unread::Format(found)) => {
                let known = store::FORMAT;
                return Err(StateError::Version { path, found, known });
            }
        };
        let earlier = store::earlier(&store)?;
        let over = earlier.attempts.is_empty() || earlier.ending == Some(Ending::Complete);
        if over || mode != Mode::Resume {
            let selections = store::selections(&store)?;
            let same = identity.agrees(&store::identity(&store)?, &PART);
            let taken_over = (!over && mode == Mode::Fresh && same).then(|| earlier.taken_over());
            store.close()?;
            let state = Self::begin(path, lock, identity, &selections, taken_over.as_ref())?;
            return Ok(match taken_over {
                Some(attempt) => Opened::Again(state, Earlier::from(attempt)),
                None => Opened::New(state),
            });
        }
        let differences = identity.differences(&store::identity(&store)?);
        if !differences.is_empty() {
            return Err(StateError::Differs { path, differences });
        }
        let attempt = earlier.attempts.last().map_or(0, |last| last.number);
        let state = Self {
            store,
            path,
            attempt,
            _lock: lock,
        };
        Ok(Opened::Again(state, earlier))
    }

    /// Plans the run's passes and chunks, all of them open, in the place of an earlier plan.
    ///
    /// # Errors
    ///
    /// [`StateError::Unwritable`]; the earlier plan stands then.
    pub fn plan(&mut self, passes: &[PassPlan]) -> Result<(), StateError> {
        self.store.change(|change| store::plan(change, passes))
    }

    /// Begins this process's work. `stamp` tells the source's state, `now` is the time that items
    /// are made for, `ground` what the table holds. Gives the attempt's number, counted from 1.
    ///
    /// # Errors
    ///
    /// [`StateError::Unwritable`].
    pub fn begin_attempt(
        &mut self,
        stamp: Option<&str>,
        now: &str,
        ground: Ground,
    ) -> Result<u32, StateError> {
        let attempt = Attempt {
            number: self.attempt + 1,
            stamp: stamp.map(str::to_owned),
            now: now.to_owned(),
            ground,
            begun: store::clock(),
            table_id: None,
        };
        self.store
            .change(|change| store::begin_attempt(change, &attempt))?;
        self.attempt = attempt.number;
        Ok(attempt.number)
    }

    /// Reports that chunks are done, all of them or none: on disk when this returns. One that was
    /// done before is done again, with new books.
    ///
    /// # Errors
    ///
    /// [`StateError::Unplanned`]; [`StateError::Unwritable`], and the chunks are to be taken for
    /// open.
    pub fn chunks_done(&mut self, done: &[ChunkDone<'_>]) -> Result<(), StateError> {
        let attempt = self.attempt;
        self.store
            .change(|change| store::chunks_done(change, attempt, done))
    }

    /// Notes what tells the table that this attempt writes to from others of its name, in the place
    /// of what was noted before.
    ///
    /// # Errors
    ///
    /// [`StateError::Unwritable`].
    pub fn note_table(&mut self, id: &str) -> Result<(), StateError> {
        let attempt = self.attempt;
        self.store
            .change(|change| store::note_table(change, attempt, id))
    }

    /// Takes nothing over from an earlier run: what it wrote to is gone.
    ///
    /// # Errors
    ///
    /// [`StateError::Unwritable`].
    pub fn forget_attempts(&mut self) -> Result<(), StateError> {
        self.attempt = 0;
        self.store.change(store::forget_attempts)
    }

    /// Forgets how far the annexes count: everything that is in them will be appended again.
    ///
    /// # Errors
    ///
    /// [`StateError::Unwritable`].
    pub fn forget_annexes(&mut self) -> Result<(), StateError> {
        self.store.change(store::forget_annexes)
    }

    /// Says how the run ended; `selection` is that of a full run, kept over the runs to come.
    ///
    /// # Errors
    ///
    /// [`StateError::Unwritable`].
    pub fn finish(
        &mut self,
        ending: Ending,
        selection: Option<&Selection>,
    ) -> Result<(), StateError> {
        self.store
            .change(|change| store::finish(change, ending, selection))
    }

    /// The plan's chunks, by passes, and how they were done.
    ///
    /// # Errors
    ///
    /// [`StateError::Unwritable`] when the file cannot be read.
    pub fn chunks(&self) -> Result<Vec<Chunk>, StateError> {
        store::chunks(&self.store)
    }

    /// What the last full run of a table selected; `None`: there is none that is known.
    ///
    /// # Errors
    ///
    /// [`StateError::Unwritable`] when the file cannot be read.
    pub fn selection(&self, place: &str) -> Result<Option<String>, StateError> {
        let all = store::selections(&self.store)?;
        let found = all.into_iter().find(|selection| selection.place == place);
        Ok(found.map(|selection| selection.json))
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn mend(
        path: PathBuf,
        lock: Lock,
        identity: &Identity,
        what: String,
    ) -> Result<Opened, StateError> {
        // Under its own name until the new one takes its place: a run that is killed in between finds
        // it again.
        place::set_aside(&path)?;
        let unknown = Attempt::taken_over(Ground::Held);
        let state = Self::begin(path, lock, identity, &[], Some(&unknown))?;
        Ok(Opened::Damaged(state, what))
    }

    fn begin(
        path: PathBuf,
        lock: Lock,
        identity: &Identity,
        selections: &[Selection],
        taken_over: Option<&Attempt>,
    ) -> Result<Self, StateError> {
        let store = place::begin(&path, |change| {
            store::begin(change, identity, selections, taken_over)
        })?;
        Ok(Self {
            store,
            path,
            attempt: taken_over.map_or(0, |attempt| attempt.number),
            _lock: lock,
        })
    }
}
