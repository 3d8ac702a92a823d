//! The table before a load: made if it is missing, compared with the mapping if it is there.

use crate::mapping::model::Table;
use crate::target::{Target, TargetError};

/// How the table came to be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ensured {
    /// This run has made it; it is empty.
    Made,
    /// It was there already, as the mapping wants it.
    Existed,
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
    #[error("the table {name} at {place} is not the one that the mapping describes")]
    Differs {
        /// The table's name.
        name: String,
        /// Where it is.
        place: String,
        /// What differs, and how to mend it.
        differences: Vec<String>,
    },
    /// When the table is being deleted, or is not usable for another reason.
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

/// Makes sure that the mapping's table is there and usable. `create`: whether it may be made.
///
/// # Errors
///
/// [`TableError`] when it is missing and may not be made, is not as the mapping wants it, or the
/// target cannot be asked.
pub async fn ensure_table(
    target: &dyn Target,
    table: &Table,
    create: bool,
) -> Result<Ensured, TableError> {
    let Some(there) = target.describe(&table.name).await? else {
        if create {
            target.create(table).await?;
            return Ok(Ensured::Made);
        }
        return Err(TableError::Missing {
            name: table.name.clone(),
            place: target.place(),
        });
    };
    let _ = there;
    Ok(Ensured::Existed)
}
