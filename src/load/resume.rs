//! What earlier attempts at a run have done, and how much of it still counts.
//!
//! A chunk that is done is skipped where the database proves that nothing has changed since. Where
//! it cannot, the chunk is read again and only what differs is written.

use std::collections::{HashMap, HashSet};

use super::books::Books;
use super::failure::Failure;
use super::plan::{Part, Plan};
use super::start::Before;
use super::state::{Chunk, Earlier, Extent, Ground, Opened};
use super::ticket::ChunkId;
use crate::catalog::Dbms;
use crate::source::By;

/// The books of a chunk: indices of item types, and theirs.
type ChunkBooks = Vec<(usize, Books)>;

/// What earlier attempts have done.
#[derive(Debug, Default)]
pub(super) struct Done {
    /// The plan they followed; `None`: there is none to go on with.
    pub(super) plan: Option<Plan>,
    /// Chunks that need not be read.
    pub(super) skip: HashMap<ChunkId, ChunkBooks>,
    /// Chunks that are read again, and written where the table differs.
    pub(super) again: HashSet<ChunkId>,
    /// Whether that is so of all chunks of a plan that is still to be made.
    pub(super) everything_again: bool,
    /// Whether rows may have changed since an earlier attempt wrote their items.
    pub(super) changed: bool,
    /// What the table held before the first attempt; `None` where this is the first.
    pub(super) ground: Option<Ground>,
    stamps: Vec<Option<String>>,
    /// How far the files beside the table count, by their names.
    extents: Vec<(String, Extent)>,
}

impl Before {
    /// Takes a state that was opened.
    pub(super) fn take(&mut self, opened: Opened) -> Result<(), Failure> {
        match opened {
            Opened::New(state) => {
                self.state = Some(state);
                Ok(())
            }
            Opened::Damaged(state, _) => {
                self.state = Some(state);
                self.done = Done {
                    everything_again: true,
                    ground: Some(Ground::Held),
                    ..Done::default()
                };
                Ok(())
            }
            Opened::Again(state, earlier) => {
                let chunks = state.chunks().map_err(|error| Failure::of_state(&error))?;
                self.state = Some(state);
                self.done = Done::of(&chunks, &earlier);
                Ok(())
            }
        }
    }

    /// Goes on with the files beside the table. Where no chunk is skipped they begin anew: each of
    /// their lines comes again.
    pub(super) fn go_on(&mut self, done: &Done) -> Result<(), Failure> {
        if !done.is_there() {
            return Ok(());
        }
        let anew = done.skip.is_empty();
        if anew && let Some(state) = &mut self.state {
            // The state first: a file that is shorter than it says was changed by somebody else.
            let forgotten = state.forget_annexes();
            forgotten.map_err(|error| Failure::of_state(&error))?;
        }
        for file in [&mut self.rejects, &mut self.archive] {
            let mut extents = done.extents.iter().filter(|_| !anew);
            let found = extents.find(|(name, _)| name == file.which().name());
            file.resume(&found.map_or_else(Extent::default, |(_, extent)| extent.clone()))?;
        }
        Ok(())
    }
}

impl Done {
    fn of(chunks: &[Chunk], earlier: &Earlier) -> Self {
        let mut plan = Plan {
            passes: vec![Vec::new(); earlier.passes.len()],
        };
        let mut skip = HashMap::new();
        let mut readable = !chunks.is_empty();
        for chunk in chunks {
            let part = match &chunk.range {
                None => Some(Part::Whole),
                Some(json) => serde_json::from_str(json).ok(),
            };
            let pass = plan.passes.get_mut(chunk.pass);
            let (Some(part), Some(pass)) = (part, pass) else {
                readable = false;
                break;
            };
            pass.push(part);
            let id = ChunkId {
                pass: chunk.pass,
                chunk: chunk.chunk,
            };
            if let Some(done) = &chunk.done {
                // Books that cannot be read are made again.
                if let Ok(books) = serde_json::from_str::<ChunkBooks>(&done.books) {
                    skip.insert(id, books);
                }
            }
        }
        Self {
            everything_again: !readable,
            plan: readable.then_some(plan),
            skip,
            again: HashSet::new(),
            ground: Some(earlier.ground()),
            changed: false,
            extents: earlier.annexes.clone(),
            stamps: earlier
                .attempts
                .iter()
                .map(|attempt| attempt.stamp.clone())
                .collect(),
        }
    }

    /// Whether there was an earlier attempt.
    pub(super) fn is_there(&self) -> bool {
        self.ground.is_some()
    }

    /// What of it counts under the snapshot of now.
    pub(super) fn under(mut self, stamp: Option<&str>, dbms: Dbms) -> Self {
        let unchanged = stamp.is_some() && self.stamps.iter().all(|then| then.as_deref() == stamp);
        if self.stamps.is_empty() || unchanged {
            return self;
        }
        self.changed = true;
        self.read_again();
        let places = self
            .plan
            .iter()
            .flat_map(Plan::chunks)
            .any(|(_, part)| matches!(part, Part::Range(range) if range.by == By::Place));
        if places && dbms == Dbms::Postgres {
            // Places of rows live and die with their snapshot.
            self.plan = None;
            self.everything_again = true;
        }
        self
    }

    /// Skips nothing: what was done is read again.
    pub(super) fn read_again(&mut self) {
        self.again.extend(self.skip.drain().map(|(id, _)| id));
    }
}
