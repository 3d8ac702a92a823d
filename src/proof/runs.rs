//! Sorted runs of records, one after the other in one file.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::PathBuf;

use super::{ProofError, RECORD, Record};

/// Bytes that are written at once.
const WRITE: usize = 256 << 10;

/// The file and where its runs begin and end.
#[derive(Debug)]
pub(super) struct Runs {
    folder: PathBuf,
    /// Made with the first run.
    file: Option<File>,
    /// Where each run ends, in bytes; it begins where the one before it ends.
    ends: Vec<u64>,
}

/// Where a run's unread records stand.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extent {
    pub(super) from: u64,
    pub(super) to: u64,
}

impl Runs {
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

    /// Where each run stands.
    pub(super) fn extents(&self) -> Vec<Extent> {
        let begins = std::iter::once(0).chain(self.ends.iter().copied());
        let extents = begins.zip(&self.ends);
        extents.map(|(from, to)| Extent { from, to: *to }).collect()
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

    /// Reads the next records of an extent, as many as `most`, into `into`, which is empty.
    pub(super) fn read(
        &mut self,
        extent: &mut Extent,
        most: usize,
        into: &mut Vec<Record>,
    ) -> Result<(), ProofError> {
        let wanted = u64::try_from(most * RECORD).unwrap_or(u64::MAX);
        let bytes = wanted.min(extent.to - extent.from);
        let Some(file) = &mut self.file else {
            return Ok(());
        };
        read(file, extent.from, bytes, into).map_err(|cause| ProofError::Read {
            folder: self.folder.clone(),
            cause,
        })?;
        extent.from += bytes;
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
