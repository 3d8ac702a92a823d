//! What is kept of a route between two runs: which operation of DynamoDB's is under way.

use std::fs;
use std::path::Path;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::cli::failure::Failure;
use crate::cli::mapping::hash;
use crate::target::ServiceLoad;
use crate::target::parts::{ExportPlace, Manifest};
use crate::target::private::{if_there, write_whole};

/// A route that was begun.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SavedRoute {
    /// The export, its table, and where that is: what tells one route from another.
    pub(super) of: String,
    /// By it DynamoDB knows a request that is repeated, for eight hours.
    pub(super) token: String,
    /// Whether the request may have been sent.
    pub(super) sent: bool,
    /// The operation, once there is one.
    pub(super) arn: Option<String>,
    /// Whether it has ended, and the table was compared with the source.
    #[serde(default)]
    pub(super) is_complete: bool,
    /// Whether something differed then: not every item of the source was in the table, or DynamoDB reported errors.
    #[serde(default)]
    pub(super) differs: bool,
    /// Items of item types that are not loaded, whose keys exported items have.
    #[serde(default)]
    pub(super) shared_outside: u64,
}

/// What to do where it is not known whether an operation is under way.
pub(super) fn look(path: &Path) -> String {
    format!(
        "look whether an operation is under way in that account and region (`aws dynamodb list-imports`, `list-bulk-operations`); if none is, delete `{}`",
        path.display()
    )
}

impl SavedRoute {
    /// A route that is to begin. `account`: of AWS, where the table that is loaded tells it.
    pub(super) fn of(
        kind: ServiceLoad,
        place: &ExportPlace,
        (target, account): (&str, Option<&str>),
        manifest: &Manifest,
    ) -> Self {
        let kind = match kind {
            ServiceLoad::Import => "import",
            ServiceLoad::Bulk => "bulk",
        };
        let parts = manifest.parts.iter().map(|part| part.sha256.as_str());
        let parts = hash(parts.collect::<String>().as_bytes());
        let account = account.map(|account| format!(", account {account}"));
        let of = format!(
            "{kind} of {place} ({parts}) into {} at {target}{}",
            manifest.table,
            account.unwrap_or_default()
        );
        let token = hash(format!("{of} {}", Timestamp::now()).as_bytes());
        Self {
            of,
            token,
            ..Self::default()
        }
    }

    /// Where DynamoDB reports what a bulk operation did not write, below the export's place.
    pub(super) fn reports(&self) -> String {
        format!("reports/{}/", self.token)
    }

    /// Reads what is kept; `None` where nothing is.
    pub(super) fn read(path: &Path) -> Result<Option<Self>, Failure> {
        let text = if_there(fs::read(path)).map_err(|error| Failure::unread("", path, &error))?;
        let read = text.map(|text| serde_json::from_slice(&text));
        read.transpose().map_err(|error| {
            let message = format!(
                "`{}` is damaged: it is not the saved state of a route",
                path.display()
            );
            Failure::failed(message)
                .with_cause(&error)
                .with_help(look(path))
        })
    }

    /// Why another load does not begin: what is kept of this one is what tells that it may be under way.
    pub(super) fn under_way(&self, path: &Path) -> Failure {
        let message = format!("another load of this mapping may be under way: {}", self.of);
        Failure::failed(message)
            .with_code("route")
            .with_help(look(path))
    }

    /// Whether DynamoDB may have been asked to begin, and what comes of it is not known.
    pub(super) fn begun(&self) -> bool {
        !self.is_complete && (self.sent || self.arn.is_some())
    }

    /// Writes it: whole, or not at all.
    pub(super) fn write(&self, path: &Path) -> Result<(), Failure> {
        let write = || -> std::io::Result<()> {
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder)?;
            }
            write_whole(path, &serde_json::to_vec(self)?)
        };
        write().map_err(|error| Failure::unwritten(path, &error))
    }
}
