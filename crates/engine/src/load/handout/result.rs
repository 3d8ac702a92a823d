//! What a worker answers, and what the job that has handed chunks out may say.

use dynafold_format::in_one_line;
use dynafold_target::parts::{Part, WrittenPart};
use serde::{Deserialize, Serialize};

use super::plan::ChunkLine;
use crate::load::books::Books;
use crate::load::handed::KeyFile;
use crate::load::report::{LimitedBy, RejectNote, Traffic, WaitTimes};

/// The format of the lines.
pub(super) const VERSION: u32 = 2;

/// What became of a chunk.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ResultLine {
    /// The format of the line.
    pub(super) dynafold_result: u32,
    /// Its plan.
    pub run: String,
    /// The chunk's number, from 0.
    pub chunk: usize,
    /// A hash of the chunk's line, as the worker has read it. Version 1 has none.
    #[serde(default)]
    pub(super) line: String,
    /// What became of it.
    pub outcome: ChunkOutcome,
}

impl ResultLine {
    /// The answer to a line.
    pub fn of(line: &ChunkLine, outcome: ChunkOutcome) -> Self {
        Self {
            dynafold_result: VERSION,
            run: line.run.clone(),
            chunk: line.chunk,
            line: line.hash(),
            outcome,
        }
    }
}

/// What became of a chunk.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChunkOutcome {
    /// All of its rows are accounted for.
    Done(Box<DoneChunk>),
    /// It is to be loaded again.
    Failed(FailedChunk),
}

/// A chunk that is loaded.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct DoneChunk {
    /// Items that are in the table, or in parts.
    pub items: u64,
    /// Their bytes, as DynamoDB counts them.
    pub bytes: u64,
    /// Their write units, by their sizes.
    pub write_units: u64,
    /// Rows that make no item, and items that the service has refused.
    pub rejected: u64,
    /// Where the table or the export is.
    pub place: String,
    /// DynamoDB's id of the table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table_id: Option<String>,
    /// The database that was read.
    pub source: String,
    /// A hash of what tells its state, where the database can tell.
    pub stamp: Option<String>,
    /// When it began, in RFC 3339.
    pub began: String,
    /// When it ended.
    pub ended: String,
    /// Rows that were read, once for all item types.
    pub(super) rows: u64,
    /// The books, by the numbers of item types in the mapping.
    pub(super) books: Vec<(usize, Books)>,
    pub(super) traffic: Traffic,
    pub(super) waits: WaitTimes,
    /// How often each reason was given for throttling, and for what.
    pub(super) throttled_by: Vec<(String, String, u64)>,
    pub(super) limited_by: LimitedBy,
    /// The keys of its items, where they are compared.
    pub keys: Option<KeyFile>,
    /// The file of its rejects, where it has any.
    pub rejects: Option<String>,
    /// The file of its archived items, where it has any.
    pub archive: Option<String>,
    /// The parts of its items, where they go into an export.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<WrittenPart>,
    /// The first rejects.
    pub(super) notes: Vec<RejectNote>,
    pub(super) warnings: Vec<String>,
}

impl DoneChunk {
    /// The parts of its items.
    pub(super) fn parts(&self) -> impl Iterator<Item = &Part> {
        self.parts.iter().map(|written| &written.part)
    }

    /// Items that its rows were folded into, and so their keys.
    pub(super) fn made(&self) -> u64 {
        self.books.iter().map(|(_, books)| books.made).sum()
    }

    /// Its rejects, by its books.
    pub(super) fn rejects(&self) -> FileLines<'_> {
        let rejected = self.books.iter().map(|(_, books)| books.rejected);
        FileLines {
            file: self.rejects.as_ref(),
            lines: rejected.sum(),
        }
    }

    /// Its archived items, by its books.
    pub(super) fn archived(&self) -> FileLines<'_> {
        let archived = self.books.iter().map(|(_, books)| books.archived);
        FileLines {
            file: self.archive.as_ref(),
            lines: archived.sum(),
        }
    }

    /// Whether another attempt at the chunk has made the same of it.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let made = |done: &Self| {
            let rejected = (done.rejects.clone(), done.archive.clone());
            (
                done.items,
                done.bytes,
                done.keys.clone(),
                rejected,
                // A second object of the same bytes may have another ETag.
                done.parts().cloned().collect::<Vec<_>>(),
            )
        };
        made(self) == made(other)
    }
}

/// A file of a chunk, and the lines that it must have.
#[derive(Debug, Clone, Copy)]
pub(super) struct FileLines<'d> {
    /// Its name, where there is one.
    pub(super) file: Option<&'d String>,
    pub(super) lines: u64,
}

/// Why a chunk is not loaded.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FailedChunk {
    /// A stable code, as reports have it.
    pub code: String,
    /// What failed, in one line, without its causes.
    pub message: String,
    /// The messages of its causes, the nearest first.
    #[serde(default)]
    pub causes: Vec<String>,
    /// What to do about it.
    pub help: Option<String>,
}

impl FailedChunk {
    /// The message and its causes in one line.
    pub fn one_line(&self) -> String {
        in_one_line(&self.message, &self.causes)
    }
}

/// What the job that has handed the chunks out says of their keys, where it has compared them itself.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct JobLine {
    /// Its plan.
    pub run: String,
    /// How many keys it has compared: all of all chunks, each chunk's once.
    pub keys_compared: u64,
    /// How many of them are different keys.
    pub distinct_keys: u64,
    /// The first keys that several items have.
    pub shared_keys: Vec<SharedKey>,
}

/// A key that several items have.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SharedKey {
    /// The key's fingerprint, as 32 hexadecimal digits.
    pub key: String,
    /// Items that have it.
    pub items: u64,
    /// The chunks that they are of.
    pub chunks: Vec<usize>,
}
