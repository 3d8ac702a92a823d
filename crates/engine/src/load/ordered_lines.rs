//! Puts lines of parallel blocks back into the order of the blocks.
//!
//! Blocks are folded at the same time and end in any order.

use std::collections::BTreeMap;
use std::io::{Seek as _, SeekFrom, Write as _};

use dynafold_format::whole;
use tempfile::SpooledTempFile;

/// Bytes of lines that are kept in memory; more go to a file without a name.
const MAX_BYTES_IN_MEMORY: usize = 1 << 20;

/// The lines of one chunk: rejects, or archived items.
#[derive(Debug)]
pub(super) struct OrderedLines {
    /// The block whose turn it is.
    next: u64,
    early: BTreeMap<u64, String>,
    text: SpooledTempFile,
    length: u64,
}

impl Default for OrderedLines {
    fn default() -> Self {
        Self {
            next: 0,
            early: BTreeMap::new(),
            text: SpooledTempFile::new(MAX_BYTES_IN_MEMORY),
            length: 0,
        }
    }
}

impl OrderedLines {
    /// Adds a block's lines; call it for a block without lines too.
    pub(super) fn put(&mut self, block: u64, lines: String) -> std::io::Result<()> {
        self.early.insert(block, lines);
        while let Some(lines) = self.early.remove(&self.next) {
            self.next += 1;
            self.append(&lines)?;
        }
        Ok(())
    }

    /// Adds a line that belongs to no block: one of an item that the service refused.
    pub(super) fn append(&mut self, lines: &str) -> std::io::Result<()> {
        self.length += whole(lines.len());
        self.text.write_all(lines.as_bytes())
    }

    /// Returns all lines for reading, including blocks that are out of turn; `None` if there are none. There may be as many
    /// as a chunk has rows: they are not held in memory.
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
