//! Merges the runs and gathers what is equal.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::PathBuf;

use super::{ProofError, RECORD, Record};

/// Fewest records that are read of a run at once: 4 KiB of them.
const FEWEST: usize = 170;

/// A fingerprint that came more than once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DuplicateGroup {
    /// The fingerprint.
    pub fingerprint: u128,
    /// How often it came: at least twice.
    pub count: u64,
    /// The smallest locators, in their order, as many as were asked for.
    pub locators: Vec<u64>,
}

/// The fingerprints that came more than once, in their order.
#[derive(Debug)]
pub struct DuplicateGroups {
    records: Records,
    /// The first record of the next fingerprint.
    ahead: Option<Record>,
    begun: bool,
    spilled: u64,
}

#[derive(Debug)]
enum Records {
    Memory(std::vec::IntoIter<Record>),
    Merge(Merge),
}

impl DuplicateGroups {
    pub(super) fn of_memory(sorted: Vec<Record>) -> Self {
        Self::new(Records::Memory(sorted.into_iter()), 0)
    }

    pub(super) fn of_runs(runs: SortedRuns, memory: usize) -> Result<Self, ProofError> {
        let spilled = runs.bytes();
        Ok(Self::new(
            Records::Merge(Merge::new(runs, memory)?),
            spilled,
        ))
    }

    fn new(records: Records, spilled: u64) -> Self {
        Self {
            records,
            ahead: None,
            begun: false,
            spilled,
        }
    }

    /// Bytes that are on disk.
    pub fn spilled(&self) -> u64 {
        self.spilled
    }

    /// The next group, or `None` after the last. `each` hears every locator of the group but the
    /// first, in order: a group may be as large as the data, and is never held.
    ///
    /// # Errors
    ///
    /// [`ProofError::Read`] when the file cannot be read back.
    pub fn next_group(
        &mut self,
        most_locators: usize,
        mut each: impl FnMut(u64),
    ) -> Result<Option<DuplicateGroup>, ProofError> {
        loop {
            let mut group: Option<DuplicateGroup> = None;
            let mut first = None;
            let is_there = self.next_same(|record| {
                let Some(first) = first else {
                    first = Some(record);
                    return;
                };
                let group = group.get_or_insert_with(|| DuplicateGroup {
                    fingerprint: first.fingerprint(),
                    count: 1,
                    locators: std::iter::once(first.locator).take(most_locators).collect(),
                });
                group.count += 1;
                if group.locators.len() < most_locators {
                    group.locators.push(record.locator);
                }
                each(record.locator);
            })?;
            if group.is_some() || !is_there {
                return Ok(group);
            }
        }
    }

    /// Goes to the next fingerprint, be it in one record or in many; `each` hears every locator of
    /// it, in order. `false` after the last. Not to be mixed with [`DuplicateGroups::next_group`].
    ///
    /// # Errors
    ///
    /// [`ProofError::Read`] when the file cannot be read back.
    pub fn next_any(&mut self, mut each: impl FnMut(u64)) -> Result<bool, ProofError> {
        self.next_same(|record| each(record.locator))
    }

    /// Hands out every key with its locator, in the order of the keys, equal ones too. Not to be mixed with the others.
    ///
    /// # Errors
    ///
    /// [`ProofError::Read`] when the file cannot be read back.
    pub fn next_key(&mut self) -> Result<Option<(u128, u64)>, ProofError> {
        let record = self.records.next()?;
        Ok(record.map(|record| (record.fingerprint(), record.locator)))
    }

    /// Goes over all records of the next fingerprint; `false` after the last.
    fn next_same(&mut self, mut each: impl FnMut(Record)) -> Result<bool, ProofError> {
        if !self.begun {
            self.begun = true;
            self.ahead = self.records.next()?;
        }
        let Some(first) = self.ahead.take() else {
            return Ok(false);
        };
        each(first);
        loop {
            self.ahead = self.records.next()?;
            match self.ahead {
                Some(next) if (next.high, next.low) == (first.high, first.low) => {
                    each(next);
                }
                _ => return Ok(true),
            }
        }
    }
}

impl Records {
    fn next(&mut self) -> Result<Option<Record>, ProofError> {
        match self {
            Self::Memory(records) => Ok(records.next()),
            Self::Merge(merge) => merge.next(),
        }
    }
}

/// A k-way merge. Its memory is half of the proof's: as many records of each run at a time as fit,
/// and 4 KiB of each at least. With 32 MiB that holds to 4,000 runs, or five thousand million
/// items; with 4 MiB to 500, or ninety million, and a thousand million take 20 MiB more.
#[derive(Debug)]
struct Merge {
    runs: SortedRuns,
    cursors: Vec<RunCursor>,
    heads: BinaryHeap<Reverse<(Record, usize)>>,
    at_once: usize,
}

/// A run that is read.
#[derive(Debug)]
struct RunCursor {
    /// Where its unread records begin and end, in bytes.
    from: u64,
    to: u64,
    /// Records that are read and not handed out, the next one last.
    ready: Vec<Record>,
}

impl Merge {
    fn new(runs: SortedRuns, memory: usize) -> Result<Self, ProofError> {
        let cursors = runs.cursors();
        // Half of the memory: the allocator may still hold what the gathering gave back.
        let at_once = memory / 2 / RECORD / cursors.len().max(1);
        let mut merge = Self {
            runs,
            heads: BinaryHeap::with_capacity(cursors.len()),
            cursors,
            at_once: at_once.max(FEWEST),
        };
        for run in 0..merge.cursors.len() {
            merge.advance(run)?;
        }
        Ok(merge)
    }

    fn next(&mut self) -> Result<Option<Record>, ProofError> {
        let Some(Reverse((record, run))) = self.heads.pop() else {
            return Ok(None);
        };
        self.advance(run)?;
        Ok(Some(record))
    }

    /// Puts a run's next record among the heads.
    fn advance(&mut self, run: usize) -> Result<(), ProofError> {
        let Some(cursor) = self.cursors.get_mut(run) else {
            return Ok(());
        };
        if cursor.ready.is_empty() {
            self.runs.read(cursor, self.at_once)?;
            cursor.ready.reverse();
        }
        if let Some(record) = cursor.ready.pop() {
            self.heads.push(Reverse((record, run)));
        }
        Ok(())
    }
}

// Sorted runs of records, one after the other in one file.

/// Bytes that are written at once.
const WRITE: usize = 256 << 10;

/// The file and where its runs begin and end.
#[derive(Debug)]
pub(super) struct SortedRuns {
    folder: PathBuf,
    /// Made with the first run.
    file: Option<File>,
    /// Where each run ends, in bytes; it begins where the one before it ends.
    ends: Vec<u64>,
}

impl SortedRuns {
    pub(super) fn in_folder(folder: PathBuf) -> Self {
        Self {
            folder,
            file: None,
            ends: Vec::new(),
        }
    }

    #[cfg(test)]
    pub(super) fn in_file(file: File, folder: PathBuf) -> Self {
        Self {
            folder,
            file: Some(file),
            ends: Vec::new(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Bytes of all runs.
    pub(super) fn bytes(&self) -> u64 {
        self.ends.last().copied().unwrap_or(0)
    }

    /// Each run at its beginning.
    fn cursors(&self) -> Vec<RunCursor> {
        let begins = std::iter::once(0).chain(self.ends.iter().copied());
        let cursors = begins.zip(&self.ends).map(|(from, to)| RunCursor {
            from,
            to: *to,
            ready: Vec::new(),
        });
        cursors.collect()
    }

    /// Writes one more run.
    pub(super) fn write(&mut self, records: &[Record]) -> Result<(), ProofError> {
        if self.file.is_none() {
            let made = tempfile::tempfile_in(&self.folder);
            self.file = Some(made.map_err(|cause| ProofError::Make {
                folder: self.folder.clone(),
                cause,
            })?);
        }
        let mut written = self.bytes();
        let mut buffer = Vec::with_capacity(WRITE + RECORD);
        for chunk in records.chunks(WRITE / RECORD) {
            buffer.clear();
            for record in chunk {
                for half in [record.high, record.low, record.locator] {
                    buffer.extend_from_slice(&half.to_le_bytes());
                }
            }
            let put = self.file.as_mut().map(|file| file.write_all(&buffer));
            put.transpose().map_err(|cause| ProofError::Write {
                folder: self.folder.clone(),
                written,
                cause,
            })?;
            written += u64::try_from(buffer.len()).unwrap_or(u64::MAX);
        }
        self.ends.push(written);
        Ok(())
    }

    /// Reads the next records of a run, as many as `most`, where none is ready.
    fn read(&mut self, run: &mut RunCursor, most: usize) -> Result<(), ProofError> {
        let wanted = u64::try_from(most * RECORD).unwrap_or(u64::MAX);
        let bytes = wanted.min(run.to - run.from);
        let Some(file) = &mut self.file else {
            return Ok(());
        };
        read(file, run.from, bytes, &mut run.ready).map_err(|cause| ProofError::Read {
            folder: self.folder.clone(),
            cause,
        })?;
        run.from += bytes;
        Ok(())
    }
}

fn read(file: &mut File, from: u64, bytes: u64, into: &mut Vec<Record>) -> io::Result<()> {
    file.seek(SeekFrom::Start(from))?;
    let mut left = usize::try_from(bytes).unwrap_or(usize::MAX) / RECORD;
    into.reserve_exact(left);
    let mut buffer = [0; RECORD * 170];
    while left > 0 {
        let taken = left.min(buffer.len() / RECORD);
        let part = buffer.get_mut(..taken * RECORD).unwrap_or_default();
        file.read_exact(part)?;
        into.extend(part.chunks_exact(RECORD).map(record));
        left -= taken;
    }
    Ok(())
}

fn record(bytes: &[u8]) -> Record {
    let mut halves = bytes.chunks_exact(8).map(|half| {
        let mut eight = [0; 8];
        eight.copy_from_slice(half);
        u64::from_le_bytes(eight)
    });
    let mut next = || halves.next().unwrap_or_default();
    Record {
        high: next(),
        low: next(),
        locator: next(),
    }
}
