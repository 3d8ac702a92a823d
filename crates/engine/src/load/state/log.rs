//! The file: a line for each thing that was said of a run, under a seal that runs from line to line.
//!
//! The first line names the format. Every other one is an entry as JSON behind its seal: a hash of the
//! entry and of the seal before it. An entry is on disk before it counts. A process that is killed, a disk
//! that is full or a power cut leaves a last line that is not whole: it never counted, and the next entry
//! takes its place. Every other line that does not have its seal is damage. A file that lost its last
//! lines is an earlier state, which is true as well.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use dynafold_target::private;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use super::{
    ChunkBooks, CommittedExtent, PruneSelection, RunAttempt, RunIdentity, StateError, hex,
};
use crate::load::count;
use crate::load::plan::{ChunkId, ChunkPlan};

/// The format that this version reads and writes.
pub(super) const FORMAT: u32 = 3;
/// How the file begins, in every version of the format.
pub(super) const BEGINNING: &str = "dynafold state ";

/// What is said of a run at one time.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum LogEntry {
    /// The first: whose the state is, what earlier full runs selected, and which attempt stands for those of
    /// a run whose items are taken over.
    Begun {
        identity: RunIdentity,
        selections: Vec<PruneSelection>,
        taken_over: Option<RunAttempt>,
    },
    /// In the place of an earlier plan and of all that was done of it.
    Planned(ChunkPlan),
    AttemptBegun(RunAttempt),
    /// Chunks are done, and so far the files beside the table count with them.
    Done {
        chunks: Vec<(ChunkId, ChunkBooks)>,
        #[serde(rename = "annexes")]
        extents: Vec<(String, CommittedExtent)>,
    },
    AttemptsForgotten,
    #[serde(rename = "annexes_forgotten")]
    ExtentsForgotten,
    /// The run is complete; what it selected, where that was everything.
    Complete(Option<PruneSelection>),
}

/// What all entries together say.
#[derive(Debug, Clone, Default)]
pub(super) struct LogContents {
    pub(super) identity: RunIdentity,
    pub(super) selections: Vec<PruneSelection>,
    pub(super) attempts: Vec<RunAttempt>,
    pub(super) plan: ChunkPlan,
    pub(super) done: BTreeMap<ChunkId, ChunkBooks>,
    pub(super) extents: BTreeMap<String, CommittedExtent>,
    pub(super) complete: bool,
}

impl LogContents {
    fn take(&mut self, entry: LogEntry) {
        match entry {
            LogEntry::Begun {
                identity,
                selections,
                taken_over,
            } => {
                self.identity = identity;
                self.selections = selections;
                self.attempts = taken_over.into_iter().collect();
            }
            LogEntry::Planned(plan) => {
                self.plan = plan;
                self.done.clear();
            }
            LogEntry::AttemptBegun(attempt) => self.attempts.push(attempt),
            LogEntry::Done { chunks, extents } => {
                self.done.extend(chunks);
                self.extents.extend(extents);
            }
            LogEntry::AttemptsForgotten => self.attempts.clear(),
            LogEntry::ExtentsForgotten => self.extents.clear(),
            LogEntry::Complete(selection) => {
                self.complete = true;
                if let Some(new) = selection {
                    self.selections.retain(|old| old.place != new.place);
                    self.selections.push(new);
                }
            }
        }
    }
}

#[derive(Debug)]
pub(super) struct StateLog {
    file: File,
    path: PathBuf,
    /// Bytes that count.
    length: u64,
    /// The last line's seal.
    seal: u128,
    pub(super) contents: LogContents,
}

/// Why a file is not read.
#[derive(Debug)]
pub(super) enum UnreadableLog {
    /// It is not what was written.
    Damaged(String),
    /// Another version's.
    Format(u32),
    /// The system is in the way; the file may be whole.
    Failed(io::Error),
}

impl From<io::Error> for UnreadableLog {
    fn from(error: io::Error) -> Self {
        Self::Failed(error)
    }
}

impl StateLog {
    /// Makes a file with its first entry, on disk when this returns, that is to be moved to `path`.
    pub(super) fn create(new: &Path, path: &Path, begun: LogEntry) -> Result<Self, StateError> {
        let failed = |cause| StateError::io(path, cause);
        let mut options = private::options();
        let file = options.write(true).create(true).truncate(true).open(new);
        let (head, seal) = head(FORMAT);
        let mut log = Self {
            file: file.map_err(failed)?,
            path: path.to_owned(),
            length: count(head.len()),
            seal,
            contents: LogContents::default(),
        };
        log.file.write_all(head.as_bytes()).map_err(failed)?;
        log.enter(begun)?;
        Ok(log)
    }

    /// Opens a file and proves that it is what was written.
    pub(super) fn open(path: &Path) -> Result<Self, UnreadableLog> {
        Self::read(OpenOptions::new().read(true).write(true).open(path)?, path)
    }

    /// What a file says that another process may be writing to.
    pub(super) fn peek(path: &Path) -> Result<LogContents, UnreadableLog> {
        Ok(Self::read(File::open(path)?, path)?.contents)
    }

    fn read(mut file: File, path: &Path) -> Result<Self, UnreadableLog> {
        let mut text = Vec::new();
        file.read_to_end(&mut text)?;
        let mut lines = text.split_inclusive(|byte| *byte == b'\n').enumerate();
        let first = lines.next().map_or(&[][..], |(_, first)| first);
        let format = format(first).ok_or_else(|| {
            UnreadableLog::Damaged("it does not begin like a state file".to_owned())
        })?;
        let (head, seal) = head(format);
        if format != FORMAT {
            return Err(UnreadableLog::Format(format));
        }
        let mut log = Self {
            file,
            path: path.to_owned(),
            length: count(head.len()),
            seal,
            contents: LogContents::default(),
        };
        let mut lines = lines.peekable();
        while let Some((number, line)) = lines.next() {
            let Some((entry, seal)) = opened(line, log.seal) else {
                // The state took its place when the first entry was whole.
                if number > 1 && lines.peek().is_none() {
                    break;
                }
                let what = format!("line {} is not what was written", number + 1);
                return Err(UnreadableLog::Damaged(what));
            };
            log.contents.take(entry);
            log.length += count(line.len());
            log.seal = seal;
        }
        if count(head.len()) == log.length {
            return Err(UnreadableLog::Damaged(
                "it ends after its first line".to_owned(),
            ));
        }
        Ok(log)
    }

    /// Says something more of the run: on disk when this returns, or not said.
    pub(super) fn enter(&mut self, entry: LogEntry) -> Result<(), StateError> {
        let (line, seal) =
            sealed(&entry, self.seal).map_err(|cause| StateError::io(&self.path, cause.into()))?;
        let mut write = || {
            self.file.seek(SeekFrom::Start(self.length))?;
            self.file.write_all(line.as_bytes())?;
            self.file.sync_data()
        };
        if let Err(cause) = write() {
            // Where that fails too, what is left is a last line without its seal.
            let _ = self.file.set_len(self.length);
            return Err(StateError::io(&self.path, cause));
        }
        self.contents.take(entry);
        self.length += count(line.len());
        self.seal = seal;
        Ok(())
    }
}

/// The line that names a format, sealed as well: a version is told from damage.
pub(super) fn head(format: u32) -> (String, u128) {
    let name = format!("{BEGINNING}{format}");
    let seal = xxh3_128(name.as_bytes());
    (format!("{name} {}\n", hex(seal)), seal)
}

/// The format that a first line names.
fn format(first: &[u8]) -> Option<u32> {
    let first = std::str::from_utf8(first).ok()?;
    let (format, _) = first.strip_prefix(BEGINNING)?.split_once(' ')?;
    let format = format.parse().ok()?;
    (head(format).0 == first).then_some(format)
}

fn sealed(entry: &LogEntry, before: u128) -> serde_json::Result<(String, u128)> {
    let json = serde_json::to_string(entry)?;
    let seal = seal(json.as_bytes(), before);
    Ok((format!("{} {json}\n", hex(seal)), seal))
}

/// The entry of a line, and its seal; `None` where they do not belong together.
fn opened(line: &[u8], before: u128) -> Option<(LogEntry, u128)> {
    let line = line.strip_suffix(b"\n")?;
    let at = line.iter().position(|byte| *byte == b' ')?;
    let (found, json) = line.split_at_checked(at)?;
    let json = json.strip_prefix(b" ")?;
    let seal = seal(json, before);
    let entry = serde_json::from_slice(json).ok()?;
    (hex(seal).as_bytes() == found).then_some((entry, seal))
}

fn seal(json: &[u8], before: u128) -> u128 {
    let mut hasher = Xxh3::new();
    hasher.update(&before.to_le_bytes());
    hasher.update(json);
    hasher.digest128()
}
