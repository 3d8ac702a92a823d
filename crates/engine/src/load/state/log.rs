//! The state file: a log with one entry on each line, and a chain of seals by which damage is found.
//!
//! The first line names the format. Every other line is a seal and an entry as JSON. The seal is a hash of the entry and of
//! the seal of the line before. An entry counts only when it is on disk. A killed process, a full disk or a power cut leaves
//! an incomplete last line: it never counted, and the next entry overwrites it. Any other line whose seal does not match is
//! damage. A file without its last lines is an earlier state of the run, from which it can go on too.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use dynafold_format::whole;
use dynafold_target::private;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use super::{
    ChunkBooks, CommittedExtent, PruneSelection, RunAttempt, RunIdentity, StateError, hex,
};
use crate::load::plan::{ChunkId, ChunkPlan};

/// The format that this version reads and writes.
pub(super) const FORMAT: u32 = 1;
/// How the file begins, in every version of the format.
pub(super) const BEGINNING: &str = "dynafold state ";

/// One entry of the log: a step of a run.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum LogEntry {
    /// The first entry: the run that the state is for, what earlier complete runs selected, and the attempt of another run
    /// whose items this one takes over.
    Begun {
        identity: RunIdentity,
        selections: Vec<PruneSelection>,
        taken_over: Option<RunAttempt>,
    },
    /// A new plan. It replaces an earlier plan and its finished chunks.
    Planned(ChunkPlan),
    /// Another attempt at the run has begun.
    AttemptBegun(RunAttempt),
    /// Chunks are done. `extents`: how much of each file beside the table belongs to the finished chunks.
    Done {
        chunks: Vec<(ChunkId, ChunkBooks)>,
        extents: Vec<(String, CommittedExtent)>,
    },
    /// The attempts so far no longer count.
    AttemptsForgotten,
    /// The files beside the table no longer count.
    ExtentsForgotten,
    /// The run is complete. What it selected, if it loaded everything.
    Complete(Option<PruneSelection>),
}

/// The state of the run after all entries.
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
    fn apply(&mut self, entry: LogEntry) {
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

/// The open log of a run.
#[derive(Debug)]
pub(super) struct StateLog {
    file: File,
    path: PathBuf,
    /// Bytes of the complete lines; what follows is overwritten.
    length: u64,
    /// The seal of the last complete line.
    seal: u128,
    pub(super) contents: LogContents,
}

/// Why a state file cannot be used.
#[derive(Debug)]
pub(super) enum UnreadableLog {
    /// It does not hold what was written. How that shows.
    Damaged(String),
    /// It has another format, of another version of the program.
    Format(u32),
    /// The operating system refuses to read it; the file may be undamaged.
    Failed(io::Error),
}

impl From<io::Error> for UnreadableLog {
    fn from(error: io::Error) -> Self {
        Self::Failed(error)
    }
}

impl StateLog {
    /// Creates a log with its first entry in the file `temporary`, which the caller then moves to `path`. The entry is on disk
    /// when this returns.
    pub(super) fn create(
        temporary: &Path,
        path: &Path,
        begun: LogEntry,
    ) -> Result<Self, StateError> {
        let failed = |cause| StateError::io(path, cause);
        let mut options = private::options();
        let file = options
            .write(true)
            .create(true)
            .truncate(true)
            .open(temporary);
        let mut log = Self::at_first_line(file.map_err(failed)?, path);
        let (head, _) = first_line(FORMAT);
        log.file.write_all(head.as_bytes()).map_err(failed)?;
        log.append(begun)?;
        Ok(log)
    }

    /// A log of which only the first line is complete.
    fn at_first_line(file: File, path: &Path) -> Self {
        let (head, seal) = first_line(FORMAT);
        Self {
            file,
            path: path.to_owned(),
            length: whole(head.len()),
            seal,
            contents: LogContents::default(),
        }
    }

    /// Opens a log and checks every line.
    pub(super) fn open(path: &Path) -> Result<Self, UnreadableLog> {
        Self::read(OpenOptions::new().read(true).write(true).open(path)?, path)
    }

    /// Reads a log that another process may be writing to.
    pub(super) fn peek(path: &Path) -> Result<LogContents, UnreadableLog> {
        Ok(Self::read(File::open(path)?, path)?.contents)
    }

    fn read(mut file: File, path: &Path) -> Result<Self, UnreadableLog> {
        let mut text = Vec::new();
        file.read_to_end(&mut text)?;
        let mut lines = text
            .split_inclusive(|byte| *byte == b'\n')
            .enumerate()
            .peekable();
        let first = lines.next().map_or(&[][..], |(_, first)| first);
        let format = format_of(first).ok_or_else(|| {
            UnreadableLog::Damaged("it does not begin like a state file".to_owned())
        })?;
        if format != FORMAT {
            return Err(UnreadableLog::Format(format));
        }
        let mut log = Self::at_first_line(file, path);
        let head = log.length;
        while let Some((number, line)) = lines.next() {
            let Some((entry, seal)) = unsealed(line, log.seal) else {
                // The second line was complete before the file got its name, so it cannot be an incomplete one.
                if number > 1 && lines.peek().is_none() {
                    break;
                }
                let what = format!("line {} is not what was written", number + 1);
                return Err(UnreadableLog::Damaged(what));
            };
            log.contents.apply(entry);
            log.length += whole(line.len());
            log.seal = seal;
        }
        if log.length == head {
            return Err(UnreadableLog::Damaged(
                "it ends after its first line".to_owned(),
            ));
        }
        Ok(log)
    }

    /// Appends an entry. It is on disk when this returns; after an error it is not part of the log.
    pub(super) fn append(&mut self, entry: LogEntry) -> Result<(), StateError> {
        let (line, seal) =
            sealed(&entry, self.seal).map_err(|cause| StateError::io(&self.path, cause.into()))?;
        let mut write = || {
            self.file.seek(SeekFrom::Start(self.length))?;
            self.file.write_all(line.as_bytes())?;
            self.file.sync_data()
        };
        if let Err(cause) = write() {
            // If this fails too, an incomplete last line is left, which does not count.
            let _ = self.file.set_len(self.length);
            return Err(StateError::io(&self.path, cause));
        }
        self.contents.apply(entry);
        self.length += whole(line.len());
        self.seal = seal;
        Ok(())
    }
}

/// The line that names a format, and its seal. It is sealed as well, so that another version is not taken for damage.
pub(super) fn first_line(format: u32) -> (String, u128) {
    let name = format!("{BEGINNING}{format}");
    let seal = xxh3_128(name.as_bytes());
    (format!("{name} {}\n", hex(seal)), seal)
}

/// The format that a first line names; `None` if it is not one, or its seal does not match.
fn format_of(first: &[u8]) -> Option<u32> {
    let first = std::str::from_utf8(first).ok()?;
    let (number, _) = first.strip_prefix(BEGINNING)?.split_once(' ')?;
    let format = number.parse().ok()?;
    (first_line(format).0 == first).then_some(format)
}

/// An entry as a line, and the line's seal. `before`: the seal of the line before.
fn sealed(entry: &LogEntry, before: u128) -> serde_json::Result<(String, u128)> {
    let json = serde_json::to_string(entry)?;
    let seal = seal_of(json.as_bytes(), before);
    Ok((format!("{} {json}\n", hex(seal)), seal))
}

/// The entry of a line, and its seal; `None` if the seal does not match.
fn unsealed(line: &[u8], before: u128) -> Option<(LogEntry, u128)> {
    let line = line.strip_suffix(b"\n")?;
    let at = line.iter().position(|byte| *byte == b' ')?;
    let (found, rest) = line.split_at_checked(at)?;
    let json = rest.strip_prefix(b" ")?;
    let seal = seal_of(json, before);
    let entry = serde_json::from_slice(json).ok()?;
    (hex(seal).as_bytes() == found).then_some((entry, seal))
}

fn seal_of(json: &[u8], before: u128) -> u128 {
    let mut hasher = Xxh3::new();
    hasher.update(&before.to_le_bytes());
    hasher.update(json);
    hasher.digest128()
}
