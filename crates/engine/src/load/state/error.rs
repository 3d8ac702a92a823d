//! Why a state cannot be used, and what to do about it.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::ChangedFact;

/// A state cannot be opened or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// Another process has it open.
    #[error("another run uses the state {}{}", path.display(), holder(*pid, host.as_deref(), since.as_deref()))]
    Held {
        /// The state.
        path: PathBuf,
        /// The other process; `None` where it has not said so.
        pid: Option<u32>,
        /// The machine it runs on.
        host: Option<String>,
        /// Since when.
        since: Option<String>,
    },
    /// It belongs to an unfinished run of another mapping, from another source, or with other options.
    #[error("the state {} belongs to an unfinished run with another mapping, source or options: {}", path.display(), listed(differences))]
    Differs {
        /// The state.
        path: PathBuf,
        /// What differs; never empty.
        differences: Vec<ChangedFact>,
    },
    /// Another version of the program has written it.
    #[error("the state {} has format {found}; this version writes {known}", path.display())]
    Version {
        /// The state.
        path: PathBuf,
        /// The file's format.
        found: u32,
        /// The one that this version reads and writes.
        known: u32,
    },
    /// The file holds something that is no state: it is left as it is.
    #[error("{} exists and is not a state file", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// It cannot be read or written.
    #[error("cannot read or write the state {}", path.display())]
    Unwritable {
        /// What cannot be read or written.
        path: PathBuf,
        /// What the system says.
        #[source]
        cause: io::Error,
    },
    /// A chunk is reported done that the plan does not have. A fault of the caller.
    #[error("the state's plan has no chunk {chunk} in pass {pass}")]
    Unplanned {
        /// The number of the pass.
        pass: usize,
        /// The number of the chunk in its pass.
        chunk: usize,
    },
}

impl StateError {
    /// What to do about it.
    pub fn help(&self) -> &'static str {
        match self {
            Self::Held { .. } => {
                "wait for the other run, end it, or keep this one's state elsewhere with --state"
            }
            Self::Differs { .. } => {
                "use the mapping, source and options of that run, start over with --fresh, or name another file with --state"
            }
            Self::Version { .. } => {
                "use the version that began the run, or start over with --fresh"
            }
            Self::Foreign { .. } => "name another file with --state; a missing file is created",
            Self::Unwritable { cause, .. } => in_the_way(cause.kind()),
            Self::Unplanned { .. } => "this is a fault in dynafold; please report it",
        }
    }

    pub(in crate::load) fn io(path: &Path, cause: io::Error) -> Self {
        let path = path.to_owned();
        Self::Unwritable { path, cause }
    }
}

/// What to do about it where a file cannot be read or written.
fn in_the_way(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
            "free some disk space and start the same command again: the run resumes where it stopped"
        }
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            "keep the state in a writable folder, with --state"
        }
        ErrorKind::IsADirectory => "a folder has that name: name another file with --state",
        ErrorKind::NotFound | ErrorKind::NotADirectory => {
            "create the folder first, or name another file with --state"
        }
        ErrorKind::Unsupported => {
            "the file system does not support locks: keep the state on a local disk, with --state"
        }
        _ => "keep the state elsewhere, with --state",
    }
}

fn holder(pid: Option<u32>, host: Option<&str>, since: Option<&str>) -> String {
    let parts = [
        pid.map(|pid| format!("process {pid}")),
        host.map(|host| format!("on {host}")),
        since.map(|since| format!("since {since}")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() {
        return String::new();
    }
    format!(": {}", parts.join(" "))
}

fn listed(differences: &[ChangedFact]) -> String {
    let lines: Vec<String> = differences.iter().map(ChangedFact::to_string).collect();
    lines.join("; ")
}
