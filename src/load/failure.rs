//! What ends a run before its time, in the words of a report: every error that gets that far becomes
//! one of these, with its causes and its mend.

use serde::Serialize;

use super::owner::Unowned;
use super::state::StateError;
use crate::source::SourceError;
use crate::target::TargetError;

/// What ended a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// Stable code: `source`, `rejects-file`, `internal`, or the target's error code.
    pub code: String,
    /// One line: what happened.
    pub message: String,
    /// What caused it, the nearest cause first.
    pub causes: Vec<String>,
    /// What to do about it.
    pub help: Option<String>,
}

impl Failure {
    /// Takes an error with its causes.
    pub(crate) fn new(code: &str, error: &dyn std::error::Error, help: Option<&str>) -> Self {
        let mut causes = Vec::new();
        let mut next = error.source();
        while let Some(cause) = next {
            let text = cause.to_string();
            // Drivers repeat their causes in their own text.
            if !causes.iter().any(|told: &String| told.contains(&text)) {
                causes.push(text);
            }
            next = cause.source();
        }
        Self {
            code: code.to_owned(),
            message: error.to_string(),
            causes,
            help: help.map(str::to_owned),
        }
    }

    /// A file without a name, for what does not fit into the memory, could not be written.
    pub(super) fn scratch(error: &std::io::Error) -> Self {
        Self {
            code: "scratch".to_owned(),
            message: format!("cannot write to the temporary folder: {error}"),
            causes: Vec::new(),
            help: Some("make room there, or name another folder in TMPDIR".to_owned()),
        }
    }

    /// The state of the run cannot be kept.
    pub(super) fn of_state(error: &StateError) -> Self {
        Self::new("state", error, Some(error.help()))
    }

    /// Items of the table cannot be told apart, so that none of them can be deleted.
    pub(super) fn unowned(error: &Unowned) -> Self {
        let help = "give the table a `type_attribute`, or the keys texts to begin with";
        Self::new("unowned", error, Some(help))
    }

    /// Something that cannot happen did: a task of ours died.
    pub(crate) fn internal(message: &str) -> Self {
        Self {
            code: "internal".to_owned(),
            message: message.to_owned(),
            causes: Vec::new(),
            help: Some("this is a fault in dynafold; please report it".to_owned()),
        }
    }
}

impl From<&SourceError> for Failure {
    fn from(error: &SourceError) -> Self {
        Self::new("source", error, error.help())
    }
}

impl From<&TargetError> for Failure {
    fn from(error: &TargetError) -> Self {
        Self::new(&error.code, error, error.help.as_deref())
    }
}
