//! How a command fails: what the user reads, and the exit code.

use std::error::Error;
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::diagnostic::did_you_mean;
use crate::format::address::without_logins;
use crate::format::{causes, in_one_line};
use crate::load::{self, TableError};
use crate::source::SourceError;
use crate::target::TargetError;

/// Exit code: the command failed.
pub(super) const FAILED: u8 = 1;
/// Exit code: the user ended the command.
pub(super) const INTERRUPTED: u8 = 130;
/// Exit code: the command was used wrongly.
const USAGE: u8 = 2;

/// How a program reads why a command failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FailureFormat {
    /// As a JSON document.
    Document,
    /// As a line of JSON, after the lines that were printed before.
    Line,
}

impl FailureFormat {
    /// Reads `--format` from any command line, also from one that clap refuses; `None` for output for people.
    pub(super) fn form_of_arguments(words: &[OsString]) -> Option<Self> {
        let mut words = words.iter().filter_map(|word| word.to_str());
        let format = words.find(|word| *word == "--format" || word.starts_with("--format="))?;
        let value = format.strip_prefix("--format=");
        match value.or_else(|| words.next())? {
            "json" => Some(Self::Document),
            "ndjson" => Some(Self::Line),
            _ => None,
        }
    }
}

/// A failure, for the user to read.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) exit: u8,
    /// Stable code, for programs: as reports have it.
    pub(super) code: String,
    /// One line; empty when the command has already printed why it failed.
    pub(super) message: String,
    /// The messages of its causes, from the nearest on.
    pub(super) causes: Vec<String>,
    pub(super) help: Option<String>,
    /// The diagnostics of the mapping as JSON, when the command failed because of them.
    pub(super) diagnostics: Option<Box<Value>>,
}

impl Failure {
    /// Something went wrong: exit code 1.
    pub(super) fn failed(message: impl Into<String>) -> Self {
        Self {
            exit: FAILED,
            code: "failed".to_owned(),
            message: without_logins(&message.into()),
            causes: Vec::new(),
            help: None,
            diagnostics: None,
        }
    }

    /// An error of the library, with its causes: exit code 1.
    pub(super) fn of(error: &dyn Error) -> Self {
        let failure = Self::failed(error.to_string());
        match error.source() {
            Some(cause) => failure.with_cause(cause),
            None => failure,
        }
    }

    /// Rows or items are not accounted for: exit code 1.
    pub(super) fn unbalanced() -> Self {
        Self::failed("the books do not balance")
            .with_help("this is a fault in dynafold; please report it")
    }

    /// The command was used wrongly: exit code 2.
    pub(super) fn usage(message: impl Into<String>) -> Self {
        Self::failed(message).into_usage()
    }

    /// The same failure as wrong usage: exit code 2.
    pub(super) fn into_usage(self) -> Self {
        Self {
            exit: USAGE,
            ..self.with_code("usage")
        }
    }

    /// Refuses the first of these names that is not there. `of`: what should have it, with `the`.
    pub(super) fn unless_known<'n>(
        (of, what): (&str, &str),
        names: &[String],
        known: impl Iterator<Item = &'n str> + Clone,
    ) -> Result<(), Self> {
        let is_unknown = |name: &&String| known.clone().all(|other| other != *name);
        match names.iter().find(is_unknown) {
            Some(name) => Err(Self::unknown((of, what), name, known)),
            None => Ok(()),
        }
    }

    /// A name that is not there. The help gives the nearest name, or all names that are.
    pub(super) fn unknown<'n>(
        (of, what): (&str, &str),
        name: &str,
        known: impl Iterator<Item = &'n str> + Clone,
    ) -> Self {
        let help = did_you_mean(name, known.clone()).unwrap_or_else(|| {
            match known.collect::<Vec<_>>().as_slice() {
                [] => format!("it has no {what} at all"),
                known => format!("it has {}", known.join(", ")),
            }
        });
        Self::usage(format!("{of} has no {what} `{name}`")).with_help(help)
    }

    /// A file that cannot be read. `what`: what it is, in front of its name.
    pub(super) fn unread(what: &str, path: &Path, error: &io::Error) -> Self {
        Self::failed(format!("cannot read {what}`{}`", path.display())).with_cause(error)
    }

    /// A file that cannot be written.
    pub(super) fn unwritten(path: &Path, error: &io::Error) -> Self {
        Self::failed(format!("cannot write `{}`", path.display()))
            .with_cause(error)
            .with_help("does the folder exist, is it writable, and does the disk have space left?")
    }

    /// Exit code 1, when the command has already printed why.
    pub(super) fn silent() -> Self {
        Self::failed("")
    }

    pub(super) fn with_code(mut self, code: impl Into<String>) -> Self {
        self.code = code.into();
        self
    }

    /// The JSON report of a command that did nothing but fail.
    pub(super) fn report(&self) -> Value {
        let mut report = json!({
            "outcome": {
                "state": "failed",
                "code": self.code,
                "message": self.message,
                "causes": self.causes,
                "help": self.help,
            },
        });
        if let (Value::Object(members), Some(diagnostics)) = (&mut report, &self.diagnostics) {
            members.insert("diagnostics".to_owned(), Value::clone(diagnostics));
        }
        report
    }

    /// The message and its causes in one line, for a place that has room for no more.
    pub(super) fn one_line(&self) -> String {
        in_one_line(&self.message, &self.causes)
    }

    pub(super) fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    pub(super) fn with_cause(mut self, error: &dyn Error) -> Self {
        self.causes = causes(&self.message, Some(error));
        self
    }
}

impl From<SourceError> for Failure {
    fn from(error: SourceError) -> Self {
        let failure = Self {
            help: error.help().map(str::to_owned),
            ..Self::of(&error)
        };
        match error {
            SourceError::Url(_) => failure.into_usage(),
            SourceError::SnapshotGone { .. } => failure.with_code("snapshot"),
            _ => failure.with_code("source"),
        }
    }
}

impl From<TargetError> for Failure {
    fn from(error: TargetError) -> Self {
        let failure = Self::of(&error);
        Self {
            help: error.help,
            ..failure.with_code(error.code)
        }
    }
}

impl From<load::Failure> for Failure {
    fn from(failure: load::Failure) -> Self {
        Arc::new(failure).into()
    }
}

impl From<Arc<load::Failure>> for Failure {
    fn from(failure: Arc<load::Failure>) -> Self {
        Self {
            help: failure.help().map(str::to_owned),
            ..Self::of(&*failure).with_code(failure.code())
        }
    }
}

impl From<TableError> for Failure {
    fn from(error: TableError) -> Self {
        let help = error.help().map(str::to_owned);
        match error {
            TableError::Target(error) => error.into(),
            error => Self {
                help,
                ..Self::of(&error).with_code("table")
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_unknown_where_there_is_none_at_all_too() {
        let help = |known: &[&str]| {
            let known = known.iter().copied();
            Failure::unknown(("the mapping", "access pattern"), "x", known)
                .help
                .unwrap()
        };
        assert_eq!(help(&[]), "it has no access pattern at all");
        assert_eq!(help(&["orders", "users"]), "it has orders, users");
    }
}
