//! Lines that blocks of rows leave behind, put back into the blocks' order.
//!
//! Blocks are folded at the same time and end in any order. What they leave goes to memory first,
//! and to a file without a name when it is more than a little.

use std::collections::BTreeMap;
use std::io::{Seek as _, SeekFrom, Write as _};

use tempfile::SpooledTempFile;

/// Bytes of lines in memory.
const MEMORY: usize = 1 << 20;

/// The lines of one chunk.
#[derive(Debug)]
pub(super) struct Lines {
    /// The block whose turn it is.
    next: u64,
    early: BTreeMap<u64, String>,
    text: SpooledTempFile,
    length: u64,
}

impl Default for Lines {
    fn default() -> Self {
        Self {
            next: 0,
            early: BTreeMap::new(),
            text: SpooledTempFile::new(MEMORY),
            length: 0,
        }
    }
}

impl Lines {
    /// Takes all that a block leaves behind, be it nothing.
    pub(super) fn put(&mut self, block: u64, lines: String) -> std::io::Result<()> {
        self.early.insert(block, lines);
        while let Some(lines) = self.early.remove(&self.next) {
            self.next += 1;
            self.append(&lines)?;
        }
        Ok(())
    }

    /// Takes a line that belongs to no block: one of an item that the service refused.
    pub(super) fn append(&mut self, lines: &str) -> std::io::Result<()> {
        self.length += u64::try_from(lines.len()).unwrap_or(u64::MAX);
        self.text.write_all(lines.as_bytes())
    }

    /// All lines, those of blocks whose turn never came too, to be read; `None` without any. They
    /// may be as many as a chunk has rows, and are not held in memory.
    pub(super) fn take(&mut self) -> std::io::Result<Option<SpooledTempFile>> {
        for (_, lines) in std::mem::take(&mut self.early) {
            self.append(&lines)?;
        }
        let Self {
            mut text, length, ..
        } = std::mem::take(self);
        text.seek(SeekFrom::Start(0))?;
        Ok((length > 0).then_some(text))
    }
}
