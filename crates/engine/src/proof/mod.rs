//! Finds every key that two items share, exactly, in memory that does not grow with the data.
//!
//! [`Proof::push`] takes the fingerprint of each item's key (see [`dynafold_dynamodb::fingerprint`]) with
//! a locator: a number of the caller's own that says where the item came from. Fingerprints are
//! gathered until the memory is full, sorted, and written to a file as one run. [`Proof::finish`]
//! merges the runs, and [`DuplicateGroups`] hands out the fingerprints that came more than once, each with
//! all its locators. Where everything fits into the memory, no file is made.
//!
//! The file has no name: the operating system takes it back when the process ends, however it
//! ends. It holds hashes and locators, 24 bytes for each item, and nothing of a row.
//!
//! Equal fingerprints count as equal keys, as they do everywhere.

mod merge;

use std::path::PathBuf;

pub use merge::{DuplicateGroup, DuplicateGroups};

use merge::SortedRuns;

/// How much memory and disk a proof takes, and where.
#[derive(Debug, Clone)]
pub struct ProofOptions {
    /// Bytes of memory. Below [`LEAST_MEMORY`] counts as that.
    pub memory: usize,
    /// The folder of the file for what does not fit into the memory: 24 bytes for each item.
    pub folder: PathBuf,
}

impl ProofOptions {
    /// So much memory, and the folder for temporary files.
    pub fn of(memory: usize) -> Self {
        Self {
            memory,
            folder: std::env::temp_dir(),
        }
    }
}

/// Little beside what a load takes anyway, so that a large load takes no more than a small one. The merge
/// holds to a hundred million items.
impl Default for ProofOptions {
    fn default() -> Self {
        Self::of(4 << 20)
    }
}

/// Fewest bytes of memory that a proof works with.
pub const LEAST_MEMORY: usize = 64 << 10;

/// Why a proof could not be made. The keys are neither proved nor refuted then.
#[derive(Debug, thiserror::Error)]
pub enum ProofError {
    /// When the file for the keys cannot be made.
    #[error("cannot make a file for the keys in {}", folder.display())]
    Make {
        /// The folder for temporary files.
        folder: PathBuf,
        /// The operating system's reason.
        #[source]
        cause: std::io::Error,
    },
    /// When it cannot be written: the disk is full, or a quota is.
    #[error("cannot write the keys to a file in {}, after {written} bytes", folder.display())]
    Write {
        /// The folder for temporary files.
        folder: PathBuf,
        /// Bytes that had been written.
        written: u64,
        /// The operating system's reason.
        #[source]
        cause: std::io::Error,
    },
    /// When it cannot be read back.
    #[error("cannot read the keys back from a file in {}", folder.display())]
    Read {
        /// The folder for temporary files.
        folder: PathBuf,
        /// The operating system's reason.
        #[source]
        cause: std::io::Error,
    },
}

impl ProofError {
    /// What to do about it.
    pub fn help(&self) -> &'static str {
        match self {
            Self::Make { .. } => "set TMPDIR to a writable folder",
            Self::Write { .. } => {
                "it takes 24 bytes for each item: free some disk space, or set TMPDIR to a folder on a larger disk"
            }
            Self::Read { .. } => "the disk may be failing; set TMPDIR to a folder on another disk",
        }
    }
}

/// A fingerprint and its locator, ordered by both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Record {
    /// The fingerprint's halves: as one `u128`, alignment would make 32 bytes of 24.
    high: u64,
    low: u64,
    locator: u64,
}

/// Bytes of a record, in memory and on disk.
const RECORD: usize = 24;

impl Record {
    fn new(fingerprint: u128, locator: u64) -> Self {
        let [high, low] = [fingerprint >> 64, fingerprint & u128::from(u64::MAX)];
        Self {
            high: u64::try_from(high).unwrap_or_default(),
            low: u64::try_from(low).unwrap_or_default(),
            locator,
        }
    }

    fn fingerprint(self) -> u128 {
        u128::from(self.high) << 64 | u128::from(self.low)
    }
}

/// Gathers the keys of a pass.
#[derive(Debug)]
pub struct Proof {
    gathered: Vec<Record>,
    /// Records that the memory holds.
    room: usize,
    memory: usize,
    runs: SortedRuns,
    keys: u64,
}

impl Proof {
    /// A proof without keys yet. Takes no memory until there are some, and no disk until they are
    /// too many for it.
    pub fn new(options: ProofOptions) -> Self {
        Self::with(options.memory, SortedRuns::in_folder(options.folder))
    }

    /// A proof that spills into a file of the caller's instead of one without a name.
    #[cfg(test)]
    fn with_file(memory: usize, file: std::fs::File, folder: PathBuf) -> Self {
        Self::with(memory, SortedRuns::in_file(file, folder))
    }

    fn with(memory: usize, runs: SortedRuns) -> Self {
        let memory = memory.max(LEAST_MEMORY);
        Self {
            gathered: Vec::new(),
            room: memory / RECORD,
            memory,
            runs,
            keys: 0,
        }
    }

    /// Takes in the key of an item. Locators decide the order within a [`DuplicateGroup`].
    ///
    /// # Errors
    ///
    /// [`ProofError`] when the memory is full and the file cannot take what it holds.
    pub fn push(&mut self, fingerprint: u128, locator: u64) -> Result<(), ProofError> {
        if self.gathered.len() >= self.room {
            self.spill()?;
        }
        if self.gathered.len() == self.gathered.capacity() {
            // Doubling from half the room on would take more than the room.
            let more = self.gathered.len().clamp(1024, self.room);
            let more = more.min(self.room - self.gathered.len());
            self.gathered.reserve_exact(more);
        }
        self.gathered.push(Record::new(fingerprint, locator));
        self.keys += 1;
        Ok(())
    }

    /// How many keys were taken in.
    pub fn keys(&self) -> u64 {
        self.keys
    }

    /// Bytes that went to disk so far.
    pub fn spilled(&self) -> u64 {
        self.runs.bytes()
    }

    /// Ends the gathering. The groups come in the order of their fingerprints.
    ///
    /// # Errors
    ///
    /// [`ProofError`] when the file cannot be written, or read back.
    pub fn finish(mut self) -> Result<DuplicateGroups, ProofError> {
        if self.runs.is_empty() {
            self.gathered.sort_unstable();
            return Ok(DuplicateGroups::of_memory(self.gathered));
        }
        if !self.gathered.is_empty() {
            self.spill()?;
        }
        drop(self.gathered);
        DuplicateGroups::of_runs(self.runs, self.memory)
    }

    fn spill(&mut self) -> Result<(), ProofError> {
        self.gathered.sort_unstable();
        self.runs.write(&self.gathered)?;
        self.gathered.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests;
