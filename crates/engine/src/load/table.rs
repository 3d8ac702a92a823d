//! The table before a load: made if it is missing, compared with the mapping if it is there.

use std::fmt;
use std::time::Duration;

use dynafold_dynamodb::Table;
use dynafold_target::{
    Difference, DifferenceWeight, TableDescription, Target, TargetError, compare,
};
use tokio::time::{Instant, sleep};

/// How often a table that is being made is asked for.
const POLL: Duration = Duration::from_secs(2);
/// How long a table may take to become usable.
const PATIENCE: Duration = Duration::from_mins(10);

/// A table that can be loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnsuredTable {
    /// Whether this call has made it: then it is empty.
    pub made: bool,
    /// What tells it from another of its name, at another time.
    pub id: Option<String>,
    /// In what it is not as the mapping says, where that harms neither items nor access patterns.
    pub differences: Vec<Difference>,
}

/// Why a table cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// When there is no such table and none may be made.
    #[error("there is no table {name} at {place}")]
    Missing {
        /// The table's name.
        name: String,
        /// Where it was looked for.
        place: String,
    },
    /// When the table that is there is not the mapping's.
    #[error(
        "the table {name} at {place} is not the one that the mapping describes{}",
        DifferenceList(differences)
    )]
    Differs {
        /// The table's name.
        name: String,
        /// Where it is.
        place: String,
        /// What differs, each with what it is and what it should be.
        differences: Vec<Difference>,
    },
    /// When the table is being deleted, or does not become usable.
    #[error("the table {name} at {place} is {status}")]
    NotActive {
        /// The table's name.
        name: String,
        /// Where it is.
        place: String,
        /// Its status.
        status: String,
    },
    /// When the target could not be asked.
    #[error(transparent)]
    Target(#[from] TargetError),
}

impl TableError {
    /// What the user can do about it.
    #[must_use]
    pub fn help(&self) -> Option<&str> {
        match self {
            Self::Missing { .. } => {
                Some("create it first, or leave out --no-create so that Dynafold creates it")
            }
            Self::Differs { differences, .. } => {
                let fixed = |difference: &Difference| difference.weight == DifferenceWeight::Fixed;
                Some(if differences.iter().any(fixed) {
                    "keys and local indexes of a table cannot be changed: name another table in \
                     the mapping, delete this one first, or change the mapping to what it has"
                } else {
                    "create the indexes that are missing, delete and create those that differ, or change the mapping to what the table has"
                })
            }
            Self::NotActive { .. } => Some("wait until it is ACTIVE, or name another table"),
            Self::Target(error) => error.help.as_deref(),
        }
    }
}

/// Differences, one a line.
struct DifferenceList<'d>(&'d [Difference]);

impl fmt::Display for DifferenceList<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|d| write!(f, "\n  {d}"))
    }
}

/// Makes sure that the mapping's table is there and usable. `create`: whether it may be made.
///
/// # Errors
///
/// [`TableError`] when it is missing and may not be made, when items or access patterns would not
/// fit it, or when the target cannot be asked.
pub async fn ensure_table(
    target: &dyn Target,
    table: &Table,
    create: bool,
) -> Result<EnsuredTable, TableError> {
    let Some(there) = active(target, table).await? else {
        if create {
            let differences = target.create(table).await?;
            let there = target.describe(&table.name).await?;
            return Ok(EnsuredTable {
                made: true,
                id: there.and_then(|there| there.id),
                differences,
            });
        }
        return Err(TableError::Missing {
            name: table.name.clone(),
            place: target.place(),
        });
    };
    let differences = compare(table, &there);
    if differences.iter().any(Difference::is_breaking) {
        return Err(TableError::Differs {
            name: table.name.clone(),
            place: target.place(),
            differences,
        });
    }
    Ok(EnsuredTable {
        made: false,
        id: there.id,
        differences,
    })
}

/// Describes the table once it can be written; `None` where there is none.
async fn active(
    target: &dyn Target,
    table: &Table,
) -> Result<Option<TableDescription>, TableError> {
    let begun = Instant::now();
    loop {
        let Some(there) = target.describe(&table.name).await? else {
            return Ok(None);
        };
        let mut unready = there.unready_indexes.iter();
        let unready = unready.find(|name| table.index(name).is_some());
        match (there.status.as_str(), unready) {
            // A table that is being updated takes reads and writes.
            ("ACTIVE" | "UPDATING", None) => return Ok(Some(there)),
            ("ACTIVE" | "UPDATING" | "CREATING", _) if begun.elapsed() < PATIENCE => {
                sleep(POLL).await;
            }
            _ => {
                let index = unready
                    .map(|name| format!(", and its index {name} is being created or deleted"));
                return Err(TableError::NotActive {
                    name: table.name.clone(),
                    place: target.place(),
                    status: there.status + &index.unwrap_or_default(),
                });
            }
        }
    }
}
