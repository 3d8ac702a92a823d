//! What ends a run before its time.

use std::error::Error as _;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dynafold_format::{causes, counted, counted_as};
use dynafold_source::SourceError;
use dynafold_target::TargetError;
use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};

use super::state::StateError;
use crate::proof::ProofError;

/// What ended a run before its time, for programs to match on. Its causes are its sources.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// When the source cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// When the target cannot be written or read; its kind tells how.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// When a table that is throttled left items unprocessed for too long.
    #[error("{} of a batch stayed unprocessed until the deadline", counted(*items, "item"))]
    Throttled {
        /// Items that stayed unprocessed.
        items: usize,
    },
    /// When the keys can be neither proved nor refuted.
    #[error(transparent)]
    Keys(#[from] ProofError),
    /// When the state cannot be kept.
    #[error(transparent)]
    State(#[from] StateError),
    /// When the rejects or the archive cannot be written.
    #[error("cannot write the {} file {}", which.name(), path.display())]
    File {
        /// The rejects, the archive, or the keys of a chunk.
        which: OutputFile,
        /// The file's path.
        path: PathBuf,
        /// What the system says.
        #[source]
        cause: io::Error,
    },
    /// When somebody has changed the rejects or the archive since the run wrote them.
    #[error("the file {} has been changed since the run wrote it: {what}", path.display())]
    FileChanged {
        /// The rejects, the archive, or the keys of a chunk.
        which: OutputFile,
        /// The file's path.
        path: PathBuf,
        /// By what the change is noticed.
        what: &'static str,
    },
    /// When a file in the temporary folder cannot be written or read back: what does not fit into the memory is there.
    #[error("cannot write to the temporary folder")]
    Scratch(#[from] io::Error),
    /// When a preview's items cannot be written where its caller wants them.
    #[error("cannot write the items")]
    Items(#[source] io::Error),
    /// When items cannot be told apart, so that none of them may be deleted.
    #[error(transparent)]
    Unowned(#[from] Indistinguishable),
    /// When the table at the end of a run is not the one that it began with.
    #[error(
        "the table `{table}` was deleted, or deleted and created again, during this run: none of the items is known to be there{}",
        misled(*deletions)
    )]
    TableReplaced {
        /// The table's name.
        table: String,
        /// Items that the run has deleted by their keys, in the old table or in a new one.
        deletions: u64,
    },
    /// When items that a comparison found equal, or wrote, were no longer there at its end.
    #[error(
        "{} deleted before the run ended: somebody else changes the table",
        counted_as(
            *items,
            "item that was equal or repaired was",
            "items that were equal or repaired were"
        )
    )]
    ItemsGone {
        /// Items that are gone.
        items: u64,
    },
    /// When chunks of a plan have no result.
    #[error("no result for {missing} of {}", counted(*of, "chunk"))]
    MissingChunks {
        /// Chunks without a result.
        missing: u64,
        /// All chunks of the plan.
        of: u64,
    },
    /// When something happens that cannot: a task of ours died.
    #[error("{0}")]
    Internal(&'static str),
}

impl Failure {
    /// A stable code, as reports have it: `source`, `table`, `rejects-file`, `internal`, or the target's error code.
    pub fn code(&self) -> &str {
        match self {
            Self::Source(SourceError::SnapshotGone { .. }) => "snapshot",
            Self::Source(_) => "source",
            Self::Target(error) => &error.code,
            Self::Throttled { .. } => "Throttled",
            Self::Keys(_) => "proof",
            Self::State(_) => "state",
            Self::File { which, .. } | Self::FileChanged { which, .. } => which.code(),
            Self::Scratch(_) => "scratch",
            Self::Items(_) => "items",
            Self::Unowned(_) => "unowned",
            Self::TableReplaced { .. } => "table",
            Self::ItemsGone { .. } => "items-gone",
            Self::MissingChunks { .. } => "missing-chunks",
            Self::Internal(_) => "internal",
        }
    }

    /// What to do about it.
    pub fn help(&self) -> Option<&str> {
        Some(match self {
            Self::Source(error) => return error.help(),
            Self::Target(error) => return error.help.as_deref(),
            Self::Throttled { .. } => {
                "the table accepts too few writes: raise its write capacity, or use fewer writers"
            }
            Self::Keys(error) => error.help(),
            Self::State(error) => error.help(),
            Self::File { which, cause, .. } => which.help(is_full(cause)),
            Self::FileChanged { .. } => "put the file back as it was, or start over with --fresh",
            Self::Scratch(_) => "free some disk space there, or set TMPDIR to another folder",
            Self::Items(_) => return None,
            Self::Unowned(_) => {
                "give the table a `type_attribute`, or begin the keys of each item type with a text of its own"
            }
            Self::TableReplaced { .. } => {
                "did a load with --replace run at the same time? Start over with --fresh when nobody else changes the table"
            }
            Self::ItemsGone { .. } => {
                "run `dynafold verify` again: it names them as missing, unless somebody has written them again"
            }
            Self::MissingChunks { .. } => {
                "load their lines of the plan with `dynafold work`, and finish again with all results"
            }
            Self::Internal(_) => "this is a fault in dynafold; please report it",
        })
    }
}

/// Says that deletions may have reached the new table.
fn misled(deletions: u64) -> String {
    if deletions == 0 {
        return String::new();
    }
    let deletions = counted(deletions, "deletion");
    format!("; {deletions} of this run may have deleted items of the new table with this name")
}

/// As reports have it: `code`, `message`, `causes`, the nearest first, and `help`.
impl Serialize for Failure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let message = self.to_string();
        let mut report = serializer.serialize_struct("Failure", 4)?;
        report.serialize_field("code", self.code())?;
        report.serialize_field("message", &message)?;
        report.serialize_field("causes", &causes(&message, self.source()))?;
        report.serialize_field("help", &self.help())?;
        report.end()
    }
}

/// serde writes no `Arc` unless every crate that uses it is built so.
pub(crate) fn shared<S: Serializer>(
    failure: &Arc<Failure>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    failure.serialize(serializer)
}

/// A file that a run writes beside the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputFile {
    /// Rows that make no item.
    Rejects,
    /// Items that have expired already.
    Archive,
    /// The keys of a chunk that was handed out.
    Keys,
}

impl OutputFile {
    /// The failure to write it.
    pub(super) fn unwritable(self, path: &Path, cause: io::Error) -> Failure {
        let path = path.to_owned();
        Failure::File {
            which: self,
            path,
            cause,
        }
    }

    /// Its name in the state.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Rejects => "rejects",
            Self::Archive => "archive",
            Self::Keys => "keys",
        }
    }

    pub(super) fn code(self) -> &'static str {
        match self {
            Self::Rejects => "rejects-file",
            Self::Archive => "archive-file",
            Self::Keys => "keys-file",
        }
    }

    fn help(self, is_full: bool) -> &'static str {
        match (self, is_full) {
            (Self::Rejects, true) => {
                "free some disk space, or name another file with --rejects; without it a rejected row would be lost"
            }
            (Self::Rejects, false) => {
                "name another file with --rejects; without it a rejected row would be lost"
            }
            (Self::Archive, true) => {
                "free some disk space, or name another file with --archive; without it an item would be lost"
            }
            (Self::Archive, false) => {
                "name another file with --archive; without it an item would be lost"
            }
            (Self::Keys, true) => {
                "free some disk space, or name another folder with --files; without it the keys cannot be compared"
            }
            (Self::Keys, false) => {
                "name another folder with --files; without it the keys cannot be compared"
            }
        }
    }
}

/// Whether a file cannot be written for want of space.
fn is_full(cause: &io::Error) -> bool {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(cause.kind(), StorageFull | QuotaExceeded | FileTooLarge)
}

/// Why items cannot be told apart.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Indistinguishable {
    /// When nothing is common to the items of a type.
    #[error(
        "items of {0} cannot be distinguished from others: they have no type attribute, and their keys do not begin with a text of their own"
    )]
    Anything(Arc<str>),
    /// When two item types have everything in common.
    #[error("items of {0} and {1} cannot be distinguished by their attributes or by their keys")]
    Alike(Arc<str>, Arc<str>),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disk_space_is_freed_only_where_it_is_full() {
        for (kind, begins) in [
            (
                io::ErrorKind::StorageFull,
                "free some disk space, or name another file with --rejects",
            ),
            (
                io::ErrorKind::AlreadyExists,
                "name another file with --rejects",
            ),
            (
                io::ErrorKind::PermissionDenied,
                "name another file with --rejects",
            ),
        ] {
            let failure = Failure::File {
                which: OutputFile::Rejects,
                path: PathBuf::from("rejects.ndjson"),
                cause: kind.into(),
            };
            assert!(failure.help().unwrap().starts_with(begins));
        }
    }

    #[test]
    fn a_file_that_was_changed_is_put_back_or_the_load_starts_over() {
        let failure = Failure::FileChanged {
            which: OutputFile::Rejects,
            path: PathBuf::from("rejects.ndjson"),
            what: "it is shorter",
        };
        assert!(failure.help().unwrap().ends_with("start over with --fresh"));
    }
}
