//! How a survey fails.

use std::io;

use crate::load::Failure;
use crate::proof::ProofError;

/// Whether items are still wanted.
pub(super) fn unless_unwanted(written: io::Result<()>) -> io::Result<bool> {
    match written {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(error),
    }
}

/// The items could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write the items")]
struct SinkError(#[source] io::Error);

pub(super) fn sink_failure(error: io::Error) -> Failure {
    Failure::new("items", &SinkError(error), None)
}

pub(super) fn proof_failure(error: &ProofError) -> Failure {
    Failure::new("proof", error, Some(error.help()))
}
