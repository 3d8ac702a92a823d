//! Why results cannot be put together.

use std::io;
use std::path::PathBuf;

use dynafold_format::counted;

use crate::load::failure::Failure;
use crate::load::handout::result::VERSION;

/// Objects that one import from S3 takes (limits.md 43).
pub(super) const MAX_IMPORT_PARTS: usize = 50_000;

/// Why results cannot be put together.
#[derive(Debug, thiserror::Error)]
pub enum FinishError {
    /// When a result is of another plan.
    #[error("a result belongs to plan {found}, not to plan {run}")]
    OtherPlan {
        /// The plan of the result.
        found: String,
        /// This plan.
        run: String,
    },
    /// When a result is of a chunk that the plan does not have.
    #[error("the plan has no chunk {0}")]
    UnknownChunk(usize),
    /// When a line of the plan was changed before a worker read it.
    #[error("the line of chunk {chunk} ({reads}) was changed before a worker loaded it")]
    ChangedLine {
        /// The chunk's number in the plan.
        chunk: usize,
        /// The rows that it reads by the plan, for people.
        reads: String,
    },
    /// When another version of the program wrote a result.
    #[error("a result is of version {0}; this program reads version {VERSION}")]
    Version(u32),
    /// When two attempts at a chunk made different items from one snapshot.
    #[error(
        "two results of chunk {chunk} ({reads}) differ, though both were read from one snapshot"
    )]
    ResultsDiffer {
        /// The chunk's number in the plan.
        chunk: usize,
        /// The rows that it reads, for people.
        reads: String,
    },
    /// When chunks went to different places.
    #[error("chunks were loaded into different places: {0} and {1}")]
    DifferentPlaces(String, String),
    /// When the table was created again between chunks, or chunks went into two tables of one name.
    #[error(
        "chunks {0} and {1} were loaded into different tables of the same name: it was deleted and created again, or there are two accounts or two files"
    )]
    DifferentTables(usize, usize),
    /// When the job did not compare each key of the chunks once.
    #[error("the job compared {}, but the chunks have {}: not every key was compared exactly once", counted(*compared, "key"), counted(*of, "key"))]
    KeysMiscounted {
        /// The keys that the job says it compared.
        compared: u64,
        /// The keys of all chunks.
        of: u64,
    },
    /// When a chunk does not have one key for each of its items.
    #[error("chunk {chunk} made {}, but its result has {}", counted(*made, "item"), counted(*keys, "key"))]
    ChunkKeys {
        /// The chunk's number in the plan.
        chunk: usize,
        /// The items that its rows made.
        made: u64,
        /// The keys in its result or its file.
        keys: u64,
    },
    /// When a chunk does not have one line for each of its rejects or archived items.
    #[error("chunk {chunk} counts {}, but its result has {lines}", counted(*expected, what))]
    ChunkLines {
        /// The chunk's number in the plan.
        chunk: usize,
        /// "reject" or "archived item".
        what: &'static str,
        /// The lines that it must have by its books.
        expected: u64,
        /// The lines in its file; none without one.
        lines: u64,
    },
    /// When a file of a chunk cannot be read.
    #[error("cannot read {}", path.display())]
    Unreadable {
        /// The file's path.
        path: PathBuf,
        /// What the system says.
        #[source]
        cause: io::Error,
    },
    /// When a file of a chunk was changed after its worker wrote it.
    #[error("the content of {} does not match the digest in its name", .0.display())]
    Altered(PathBuf),
    /// When an export has more parts than an import takes.
    #[error("the export has {0} parts, but an import takes at most {MAX_IMPORT_PARTS}")]
    TooManyParts(usize),
    /// When the parts do not hold as many items as the chunks made.
    #[error("the parts hold {}, but the chunks made {made}", counted(*held, "item"))]
    ItemsMiscounted {
        /// Items in all parts.
        held: u64,
        /// Items that the chunks made.
        made: u64,
    },
    /// When the file for rejects or archived items exists and is not from an earlier `finish`.
    #[error("cannot replace {}", path.display())]
    OtherFile {
        /// The file's path.
        path: PathBuf,
        /// Why it is not replaced.
        #[source]
        cause: io::Error,
    },
    /// When an archive exists, though the results name no archived item: it would be taken for theirs.
    #[error("{} exists, but the results name no archived item", .0.display())]
    OlderArchive(PathBuf),
    /// When keys cannot be compared, or the report's files cannot be written.
    #[error(transparent)]
    Failed(#[from] Failure),
}
