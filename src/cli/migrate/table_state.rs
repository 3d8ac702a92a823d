//! The table before a load: looked at first, and made or emptied once the load is known to be able to
//! begin.

use std::sync::Arc;
use std::time::Instant;

use super::indexes::TableIndexes;
use super::job::MigrateJob;
use super::state;
use crate::cli::failure::Failure;
use crate::cli::format::counted;
use crate::cli::output::OutputStreams;
use crate::dynamodb::{Billing, Table};
use crate::load::state::{Opened, TableAtStart};
use crate::load::{self, EnsuredTable, FoundTable};
use crate::mapping::model::Model;
use crate::mapping::template::Context;
use crate::target::{ScanRequest, Target};

/// Write units a second that a new table takes on demand (limits.md 27).
const NEW_TABLE: f64 = 4_000.0;

/// What a load finds, before anything is changed.
pub(super) struct TableState {
    /// What the table holds; nothing, where it is to be emptied.
    pub(super) held: TableAtStart,
    target: Arc<dyn Target>,
    model: Arc<Model>,
    /// Whether the table may be made.
    create: bool,
    /// Whether the user has agreed that the table is deleted.
    replace: bool,
    /// That table, where it is known.
    agreed_id: Option<String>,
    /// Whether the table may hold items.
    may_hold_items: bool,
    /// The table of the attempts that are gone on with, where it is known.
    earlier_table_id: Option<String>,
    /// The table that is loaded as it is, save for the indexes that it lacks.
    found: Option<FoundTable>,
    /// What becomes of indexes.
    indexes: Arc<TableIndexes>,
}

impl TableState {
    /// Looks at the table. Refuses one that cannot be loaded, or that holds items from elsewhere
    /// unless told to write among them; asks before one is to be emptied.
    pub(super) async fn look(
        job: &MigrateJob,
        target: &Arc<dyn Target>,
        model: &Arc<Model>,
        opened: Option<&Opened>,
    ) -> Result<Self, Failure> {
        let again = match opened {
            Some(Opened::Again(_, earlier)) => Some(earlier),
            _ => None,
        };
        let mut table_state = Self {
            held: TableAtStart::Empty,
            target: target.clone(),
            model: model.clone(),
            create: !job.arguments.no_create && !job.arguments.plan,
            replace: false,
            agreed_id: None,
            may_hold_items: job.arguments.may_hold_items() || state::goes_on(opened),
            earlier_table_id: again.and_then(|earlier| earlier.table_id().map(str::to_owned)),
            found: None,
            indexes: Arc::default(),
        };
        let table = &model.table;
        let there = target.describe(&table.name).await?;
        match there {
            None if table_state.earlier_table_id.is_some() => return Err(table_state.deleted()),
            // What was deleted to be replaced is made again.
            None if table_state.create => {}
            Some(found) if job.arguments.replace && again.is_none() => {
                table_state.agree(job.arguments.yes, found.item_count)?;
                table_state.replace = true;
                table_state.agreed_id = found.id;
            }
            None if job.arguments.plan => {
                let message = format!("there is no table {} at {}", table.name, target.place());
                return Err(Failure::failed(message).with_code("table").with_help(
                    "without --plan the load creates it and writes every item; `dynafold preview --all` counts them",
                ));
            }
            _ => {
                let found = load::find_table(target.as_ref(), table).await?;
                let ensured = if job.arguments.no_create {
                    found.clone().whole(target.as_ref(), table)?
                } else {
                    found.clone().as_it_is()
                };
                table_state.held = table_state.holds(&ensured).await?;
                table_state.found = Some(found);
            }
        }
        Ok(table_state)
    }

    /// What becomes of the table's indexes. Asks before some are added.
    pub(super) async fn agreed_indexes(
        &self,
        job: &MigrateJob,
        context: &Context,
        output: &OutputStreams,
    ) -> Result<Arc<TableIndexes>, Failure> {
        if let Some(found) = &self.found {
            let (target, model) = (self.target.as_ref(), self.model.as_ref());
            let indexes = &self.indexes;
            indexes
                .look(found, job, target, model, context, output)
                .await?;
        }
        Ok(self.indexes.clone())
    }

    /// Makes the table if it is missing, empties it if that was agreed to, or adds the indexes that were agreed
    /// to. What was refused before is refused again: time has passed.
    pub(super) async fn prepare(
        self,
        job: &MigrateJob,
        output: &OutputStreams,
    ) -> Result<load::ReadyTable, Failure> {
        let (target, table) = (self.target.as_ref(), &self.model.table);
        let begun = Instant::now();
        let agreed = self.agreed_id.as_deref();
        if self.replace && target.delete_table(&table.name, agreed).await? {
            output.note(&format!("deleted the table `{}`", table.name));
        }
        if self.earlier_table_id.is_some() && target.describe(&table.name).await?.is_none() {
            return Err(self.deleted());
        }
        let ensured = if job.arguments.plan {
            load::find_table(target, table).await?.as_it_is()
        } else {
            if self.found.is_some() {
                let found = load::find_table(target, table).await?.as_it_is();
                self.same(&found)?;
                self.indexes.add(target, table, output).await?;
            }
            load::ensure_table(target, table, self.create).await?
        };
        tell_ensured(target, table, &ensured, output).await;
        let made = ensured.made && target.is_billed();
        Ok(load::ReadyTable {
            table_at_start: self.holds(&ensured).await?,
            table_id: ensured.id,
            start: (made && matches!(table.billing, Billing::OnDemand)).then_some(NEW_TABLE),
            took: begun.elapsed(),
        })
    }

    /// What a table holds; refuses it where that must not be.
    async fn holds(&self, ensured: &EnsuredTable) -> Result<TableAtStart, Failure> {
        let (target, table) = (self.target.as_ref(), &self.model.table);
        self.same(ensured)?;
        if ensured.made || is_empty(target, table).await? {
            return Ok(TableAtStart::Empty);
        }
        if self.may_hold_items {
            return Ok(TableAtStart::Held);
        }
        let message = format!(
            "the table `{}` at {} already has items",
            table.name,
            target.place()
        );
        Err(Failure::failed(message).with_help(
            "choose what happens to them: --append keeps them and replaces those with the \
             same keys, --changes-only writes only what differs, with --prune it deletes items that no row makes any more, --replace deletes the table and creates it again, --plan shows what would change",
        ))
    }

    /// Refuses another table than that of the attempts that are gone on with.
    fn same(&self, ensured: &EnsuredTable) -> Result<(), Failure> {
        match (&self.earlier_table_id, &ensured.id) {
            (Some(earlier), Some(now)) if earlier != now => {
                let name = &self.model.table.name;
                let message =
                    format!("the table `{name}` was created again since the unfinished load");
                Err(Failure::failed(message).with_help("start over with --fresh"))
            }
            _ => Ok(()),
        }
    }

    /// The table of a load that goes on is not made: what is done was done in one that is gone.
    fn deleted(&self) -> Failure {
        let name = &self.model.table.name;
        let message = format!("the table `{name}` was deleted since the unfinished load");
        Failure::failed(message).with_help("start over with --fresh")
    }

    /// Asks whether the table may be deleted.
    fn agree(&self, yes: bool, items: Option<u64>) -> Result<(), Failure> {
        let name = &self.model.table.name;
        let place = self.target.place();
        let items = items.map_or("its items".to_owned(), |count| {
            format!("about {}", counted(count, "item"))
        });
        let table = format!("the table `{name}` at {place} with {items}");
        let why = format!("this deletes {table}");
        let question = format!("Delete {table} and create it again?");
        OutputStreams::agree(yes, &why, &question, "nothing was deleted")
    }
}

/// Tells where a table is not as the mapping has it, and whether it was created.
pub(in crate::cli) async fn tell_ensured(
    target: &dyn Target,
    table: &Table,
    ensured: &EnsuredTable,
    output: &OutputStreams,
) {
    let settings = if ensured.made {
        Vec::new()
    } else {
        target.compare_settings(table).await
    };
    let differences = ensured.differences.iter().chain(&settings);
    output.warnings(differences.map(ToString::to_string));
    if ensured.made {
        let place = target.place();
        output.note(&format!("created the table `{}` at {place}", table.name));
    }
}

/// Whether a table holds no item.
pub(in crate::cli) async fn is_empty(target: &dyn Target, table: &Table) -> Result<bool, Failure> {
    let page = target.scan(table, &ScanRequest::keys(table), None).await?;
    Ok(page.items.is_empty() && page.next.is_none())
}
