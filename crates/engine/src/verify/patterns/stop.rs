//! Why a pattern's proof ends, in words that show no values of rows.

use dynafold_source::{SourceError, said};

use crate::load::Failure;

/// Why a pattern's proof ends.
pub(super) enum Stop {
    /// It cannot be proved.
    Unproved(String),
    /// The run fails.
    Failed(Failure),
}

/// A source that refuses a pattern's SQL says why; one that goes away ends the run.
pub(super) fn refused(what: &str, error: &SourceError) -> Stop {
    match error {
        SourceError::Query { cause, .. } | SourceError::Permission { cause, .. } => {
            Stop::Unproved(format!("{what}: {}", said(cause)))
        }
        error => Stop::Failed(Failure::from(error)),
    }
}
