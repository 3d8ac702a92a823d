//! The table before a load: made if it is missing, compared with the mapping if it is there, and given the global
//! indexes that it lacks.

use std::fmt;
use std::time::Duration;

use dynafold_dynamodb::Table;
use dynafold_target::{
    Difference, DifferenceWeight, IndexChange, TableDescription, Target, TargetError,
    TargetErrorKind, UnreadyIndex, compare,
};
use tokio::time::{Instant, sleep};

use super::failure::Failure;

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
    #[error("there is no table `{name}` at {place}")]
    Missing {
        /// The table's name.
        name: String,
        /// Where it was looked for.
        place: String,
    },
    /// When the table that is there is not the mapping's.
    #[error(
        "the table `{name}` at {place} is not the one that the mapping describes{}",
        DifferenceList(differences)
    )]
    Differs {
        /// The table's name.
        name: String,
        /// The target, as people read it: `dynamodb in eu-west-1`.
        place: String,
        /// What differs, each with what it is and what it should be.
        differences: Vec<Difference>,
    },
    /// When the table is being deleted, or does not become usable.
    #[error("the table `{name}` at {place} is {status}")]
    NotActive {
        /// The table's name.
        name: String,
        /// The target, as people read it: `dynamodb in eu-west-1`.
        place: String,
        /// DynamoDB's word, such as `DELETING`.
        status: String,
    },
    /// When an index that was asked for does not come, or is gone again.
    #[error("the table `{name}` at {place} does not show the requested index `{index}`")]
    IndexGone {
        /// The table's name.
        name: String,
        /// The target, as people read it: `dynamodb in eu-west-1`.
        place: String,
        /// The index's name.
        index: String,
    },
    /// When the target could not be asked.
    #[error(transparent)]
    Target(#[from] TargetError),
}

impl TableError {
    /// What the user can do about it.
    pub fn help(&self) -> Option<&str> {
        match self {
            Self::Missing { .. } => {
                Some("create it first, or leave out --no-create so that Dynafold creates it")
            }
            Self::Differs { differences, .. } => {
                let weights = differences.iter().map(|difference| difference.weight);
                Some(match weights.max() {
                    Some(DifferenceWeight::Fixed) => {
                        "keys and local indexes of a table cannot be changed or added later: name another table in the mapping, delete this one first (`dynafold migrate --replace` does), or change the mapping to what the table has"
                    }
                    Some(DifferenceWeight::Breaking) => {
                        "an index cannot be changed: give it another name in the mapping, or delete it from the table, and `dynafold migrate` adds it as the mapping says; or change the mapping to what the table has"
                    }
                    _ => {
                        "`dynafold migrate` without --no-create adds the global indexes that are missing; with --changes-only it writes only the items that the new indexes change"
                    }
                })
            }
            Self::NotActive { status, .. } if status.starts_with("DELETING") => Some(
                "wait until it is gone, then start the same command again; or name another table",
            ),
            Self::NotActive { .. } => Some("wait until it is ACTIVE, or name another table"),
            Self::IndexGone { .. } => Some(
                "the index may have been deleted meanwhile: look at the table in the console, then start the same command again, which adds missing indexes",
            ),
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

/// Makes sure that the mapping's table is there and usable. `create`: whether it may be made. To one that
/// is there nothing is added: see [`add_indexes`].
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
    let mut found = active(target, table, true).await?;
    if found.is_none() && create {
        if let Some(differences) = target.create(table).await? {
            let there = target.describe(&table.name).await?;
            return Ok(EnsuredTable {
                made: true,
                id: there.and_then(|there| there.id),
                differences,
            });
        }
        // It may hold another run's items.
        found = active(target, table, true).await?;
    }
    let there = found.ok_or_else(|| missing(target, table))?;
    let differences = compare(table, &there);
    if differences.iter().any(Difference::is_breaking) {
        return Err(differs(target, table, differences));
    }
    Ok(EnsuredTable {
        made: false,
        id: there.id,
        differences,
    })
}

/// What tells a table from others that had its name, or will have it. `None` where there is none or it is being deleted, and
/// where the target has no ids.
pub(crate) async fn table_id(
    target: &dyn Target,
    name: &str,
) -> Result<Option<String>, TargetError> {
    let there = target.describe(name).await?;
    let stays = there.filter(|there| there.status != "DELETING");
    Ok(stays.and_then(|there| there.id))
}

/// Fails a run whose table is not the one that it began with. `id`: as [`table_id`] gave it then.
pub(crate) async fn require_same_table(
    target: &dyn Target,
    name: &str,
    id: Option<&str>,
) -> Result<(), Failure> {
    if table_id(target, name).await?.as_deref() != id {
        return Err(Failure::TableReplaced {
            table: name.to_owned(),
            deletions: 0,
        });
    }
    Ok(())
}

/// A table that is there and fits the mapping, save that it may lack global indexes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundTable {
    /// What tells it from another of its name, at another time.
    pub id: Option<String>,
    /// Items, as the service counts them now and then.
    pub item_count: Option<u64>,
    /// Global indexes of the mapping that it lacks, in the mapping's order. One that is being deleted is among them.
    pub lacking: Vec<String>,
    /// Global indexes that are being made or deleted, be they the mapping's or not.
    pub unready: Vec<UnreadyIndex>,
    /// Indexes that it has and the mapping does not.
    pub others: Vec<String>,
    /// In what it is not as the mapping says.
    differences: Vec<Difference>,
}

/// Looks at the mapping's table, and which global indexes could be added to it. Does not wait for indexes.
///
/// # Errors
///
/// [`TableError`] when it is missing, when it differs in what cannot be added, or when the target cannot be
/// asked.
pub async fn find_table(target: &dyn Target, table: &Table) -> Result<FoundTable, TableError> {
    match active(target, table, false).await? {
        Some(there) => FoundTable::of(target, table, there),
        None => Err(missing(target, table)),
    }
}

fn missing(target: &dyn Target, table: &Table) -> TableError {
    TableError::Missing {
        name: table.name.clone(),
        place: target.place(),
    }
}

fn differs(target: &dyn Target, table: &Table, differences: Vec<Difference>) -> TableError {
    TableError::Differs {
        name: table.name.clone(),
        place: target.place(),
        differences,
    }
}

impl FoundTable {
    fn of(
        target: &dyn Target,
        table: &Table,
        mut there: TableDescription,
    ) -> Result<Self, TableError> {
        let unready = there.unready_indexes.clone();
        let goes = |name: &str| {
            let mut unready = unready.iter();
            unready.any(|index| index.name == name && index.change == IndexChange::Delete)
        };
        there.table.indexes.retain(|index| !goes(&index.name));
        let differences = compare(table, &there);
        let is_grave = |difference: &Difference| difference.weight > DifferenceWeight::Lacking;
        if differences.iter().any(is_grave) {
            return Err(differs(target, table, differences));
        }
        let without = |one: &Table, other: &Table| -> Vec<String> {
            let names = one.all_indexes().map(|index| index.name.clone());
            names.filter(|name| other.index(name).is_none()).collect()
        };
        Ok(Self {
            // Of local indexes none is lacking: that would be grave.
            lacking: without(table, &there.table),
            others: without(&there.table, table),
            unready,
            id: there.id,
            item_count: there.item_count,
            differences,
        })
    }

    /// The table as one that lacks nothing.
    ///
    /// # Errors
    ///
    /// [`TableError::Differs`] where it lacks an index.
    pub fn whole(self, target: &dyn Target, table: &Table) -> Result<EnsuredTable, TableError> {
        if self.lacking.is_empty() {
            return Ok(self.as_it_is());
        }
        Err(differs(target, table, self.differences))
    }

    /// The table as it is, even if it lacks indexes.
    pub fn as_it_is(self) -> EnsuredTable {
        let mut differences = self.differences;
        differences.retain(|difference| !difference.is_breaking());
        EnsuredTable {
            made: false,
            id: self.id,
            differences,
        }
    }

    /// The change of an index that must end before indexes are added, if some are to be, and before the table is
    /// loaded.
    fn blocked_by(&self, table: &Table, adds: bool) -> Option<&UnreadyIndex> {
        let mut unready = self.unready.iter();
        unready.find(|index| adds || table.index(&index.name).is_some())
    }

    /// Whether the table has an index of this name that can be queried.
    fn is_ready(&self, name: &String) -> bool {
        !self.lacking.contains(name) && self.unready.iter().all(|index| index.name != *name)
    }
}

/// Describes the table once it can be written; `None` where there is none. `whole`: once its indexes of the mapping can
/// be queried too.
async fn active(
    target: &dyn Target,
    table: &Table,
    whole: bool,
) -> Result<Option<TableDescription>, TableError> {
    let begun = Instant::now();
    loop {
        let Some(there) = target.describe(&table.name).await? else {
            return Ok(None);
        };
        let mut unready_indexes = there.unready_indexes.iter();
        let unready = unready_indexes.find(|index| whole && table.index(&index.name).is_some());
        match (there.status.as_str(), unready) {
            // A table that is being updated takes reads and writes.
            ("ACTIVE" | "UPDATING", None) => return Ok(Some(there)),
            ("ACTIVE" | "UPDATING" | "CREATING", _) if begun.elapsed() < PATIENCE => {
                sleep(POLL).await;
            }
            _ => {
                let index = unready.map(|index| format!(", and its {index}"));
                return Err(TableError::NotActive {
                    name: table.name.clone(),
                    place: target.place(),
                    status: there.status + &index.unwrap_or_default(),
                });
            }
        }
    }
}

// Adding the global indexes that a table lacks. DynamoDB makes or deletes one index of a table at a time, and fills
// it from the items that are there. What is being made goes on if nobody waits for it any more: whoever comes next
// finds it in the description, waits, and adds the rest.

/// Between two looks at an index that is being made: at first, and at most.
const LOOK: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(5));
/// How long an index that was asked for may be missing from the description, which is eventually consistent.
const APPEARS: Duration = Duration::from_mins(1);
/// How long a table that shows no change of its own may refuse one.
const BUSY: Duration = Duration::from_mins(2);

/// What happens while indexes are added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IndexStep {
    /// An index was asked for.
    Asked(String),
    /// Nothing can be added or loaded before this change of an index has ended.
    Waiting(UnreadyIndex),
    /// The table refuses changes: it, or another table of the account, is being changed.
    Busy,
    /// An index of the mapping that was asked for, or waited for, can be queried.
    Ready(String),
}

/// Adds these global indexes of the mapping, one after the other, and waits until they and all others that the
/// mapping has can be queried, however long that takes: nothing tells when an index will be filled. Indexes that are
/// there are not asked for. `on_step` is called with what each look found.
///
/// # Errors
///
/// [`TableError`] when the table is gone or differs in what cannot be added, when an index does not come, or when
/// the target refuses it.
pub async fn add_indexes(
    target: &dyn Target,
    table: &Table,
    names: &[String],
    on_step: &(dyn Fn(&IndexStep) + Send + Sync),
) -> Result<(), TableError> {
    let (mut pause, mut awaited) = (LOOK.0, Vec::<String>::new());
    let (mut asked, mut refused) = (None::<(&str, Instant)>, None::<Instant>);
    loop {
        let Some(there) = active(target, table, false).await? else {
            return Err(missing(target, table));
        };
        let found = FoundTable::of(target, table, there.clone())?;
        awaited.retain(|name| {
            let ready = found.is_ready(name);
            if ready {
                on_step(&IndexStep::Ready(name.clone()));
            }
            !ready
        });
        let lacks = |name: &str| found.lacking.iter().any(|lacking| lacking == name);
        let next = table
            .indexes
            .iter()
            .find(|index| lacks(&index.name) && names.contains(&index.name));
        let adds = next.is_some();
        match (found.blocked_by(table, adds), next) {
            (Some(index), _) => {
                let is_made = index.change != IndexChange::Delete;
                let is_ours = is_made && table.index(&index.name).is_some();
                if is_ours && !awaited.contains(&index.name) {
                    awaited.push(index.name.clone());
                }
                on_step(&IndexStep::Waiting(index.clone()));
            }
            (None, None) => return Ok(()),
            (None, Some(index)) => match asked {
                Some((name, since)) if lacks(name) => {
                    if since.elapsed() > APPEARS {
                        return Err(TableError::IndexGone {
                            name: table.name.clone(),
                            place: target.place(),
                            index: name.to_owned(),
                        });
                    }
                }
                // It is being changed otherwise, and would refuse.
                _ if there.status != "ACTIVE" => on_step(&IndexStep::Busy),
                _ => match target.add_index(&there.table, table, index).await {
                    Ok(()) => {
                        on_step(&IndexStep::Asked(index.name.clone()));
                        awaited.push(index.name.clone());
                        asked = Some((&index.name, Instant::now()));
                        (pause, refused) = (LOOK.0, None);
                    }
                    Err(error) if is_busy(&error) => {
                        if refused.get_or_insert_with(Instant::now).elapsed() > BUSY {
                            return Err(error.into());
                        }
                        on_step(&IndexStep::Busy);
                    }
                    Err(error) => {
                        // The answer to a first request may have been lost.
                        let there = target.describe(&table.name).await?;
                        if there.is_none_or(|there| there.table.index(&index.name).is_none()) {
                            return Err(error.into());
                        }
                        awaited.push(index.name.clone());
                    }
                },
            },
        }
        sleep(pause).await;
        pause = (pause * 2).min(LOOK.1);
    }
}

/// Whether a table refuses a change because of another.
fn is_busy(error: &TargetError) -> bool {
    matches!(
        error.kind,
        TargetErrorKind::TableInUse | TargetErrorKind::Quota
    )
}
