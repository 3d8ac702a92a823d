//! `dynafold migrate`: the load.

mod indexes;
mod job;
mod keys;
mod route;
mod rows;
mod state;
mod table_state;

use std::sync::Arc;

use serde::Serialize;

use self::indexes::{IndexReport, TableIndexes};
pub(super) use self::job::Migrate;
use self::job::MigrateJob;
use self::keys::KeyTemplateTexts;
use self::table_state::TableState;
pub(super) use self::table_state::{is_empty, tell_ensured};
use super::ending::ended;
use super::failure::Failure;
use super::mapping::WrittenMapping;
use super::options::Format;
use super::output::OutputStreams;
use super::signals::stop_on_signals;
use super::target::BilledUse;
use super::{Outcome, mapping, progress, report, selection, target};
use crate::catalog::Catalog;
use crate::load::state::PruneSelection;
use crate::load::{self, ItemTypeMarks, Load, LoadOptions};
use crate::mapping::model::Model;
use crate::mapping::template::Context;
use crate::source::Source;
use crate::target::{Target, connect};

pub(super) async fn run(arguments: Migrate, output: &OutputStreams) -> Result<Outcome, Failure> {
    if let Some(route) = arguments.route.clone() {
        return Box::pin(route::run(arguments, route, output)).await;
    }
    let job = arguments.job()?;
    let ready = PreparedLoad::of(&job, output).await?;
    let partition = job.arguments.partition.as_deref();
    let nothing = partition.map(|value| selection::nothing_under(value, &ready.model));
    let Loaded {
        mut report,
        unclosed,
        indexes,
        resumable,
    } = Box::pin(ready.load(&job, output)).await?;
    if !job.arguments.items.is_empty() {
        // The others were not looked at, and have no books.
        (report.item_types).retain(|books| job.arguments.items.contains(&books.item_type));
    }
    match job.arguments.format {
        Format::Text => {
            let mut lines = vec![report::migration(&report)];
            lines.extend(indexes.lines(job.arguments.plan));
            output.text(&lines.join("\n"))?;
        }
        Format::Json => output.json(&MigrationJson {
            report: &report,
            indexes: indexes.reports(),
        })?,
    }
    unclosed.close(&mut report);
    output.warnings(&report.warnings);
    let total = &report.total;
    if job.arguments.plan && !job.arguments.changes_only && total.unchanged > 0 {
        output.note("without --changes-only, the load writes the unchanged items again, too");
    }
    if let Some(nothing) = nothing
        && matches!(report.outcome, load::Outcome::Complete)
        && total.made + total.rejected + total.deleted == 0
    {
        output.warning(&nothing);
    }
    let would_change = report.would_change() || (job.arguments.plan && indexes.would_change());
    let fresh = resumable.then_some("keeps the items that are written already");
    ended(report, would_change, fresh, output)
}

/// What is printed for programs.
#[derive(Serialize)]
struct MigrationJson<'r> {
    #[serde(flatten)]
    report: &'r load::Report,
    /// Indexes that the table lacked, and those that only the table has.
    indexes: Vec<IndexReport>,
}

/// What a load came to.
struct Loaded {
    report: load::Report,
    /// Its end, which the state is told once the report is printed.
    unclosed: load::UnclosedRun,
    indexes: Arc<TableIndexes>,
    /// Whether the load could go on.
    resumable: bool,
}

/// Everything that was checked, asked and opened before anything is changed.
struct PreparedLoad {
    /// Its snapshot is open.
    source: Box<dyn Source>,
    mapping: WrittenMapping,
    model: Arc<Model>,
    context: Context,
    target: Arc<dyn Target>,
    options: LoadOptions,
    catalog: Catalog,
}

impl PreparedLoad {
    async fn of(job: &MigrateJob, output: &OutputStreams) -> Result<Self, Failure> {
        let (mut source, catalog, file) =
            mapping::open(&job.source, &job.arguments.mapping).await?;
        let keys = file.checked.key_check(job.options.keys);
        let mapping = file.written();
        let whole = file.into_model(output)?;
        let model = Arc::new(selection::item_types(whole, &job.arguments.items)?);
        let context = target::context(&model, job.arguments.now)?;
        load::check_archive(&job.options.archive_file, &model)?;
        if job.options.prune.is_some() {
            ItemTypeMarks::of(&model).map_err(load::Failure::from)?;
        }
        let selection = rows::of(job, &model)?;
        let target = connect(&job.target).await?;
        let usage = if job.arguments.plan {
            BilledUse::Reads
        } else {
            BilledUse::Writes
        };
        target::confirm(
            target.as_ref(),
            &job.source,
            &model,
            &context,
            usage,
            job.arguments.yes,
            output,
        )
        .await?;
        source.begin(&model.scans()).await?;
        Ok(Self {
            options: LoadOptions {
                keys,
                selection,
                ceiling: target::ceiling(
                    job.arguments.rate.max_wcu,
                    target.is_billed(),
                    model.table.billing,
                ),
                ..job.options.clone()
            },
            source,
            mapping,
            model,
            context,
            target,
            catalog,
        })
    }

    /// Locks the state, proves that the load can be, prepares the table, and loads.
    async fn load(mut self, job: &MigrateJob, output: &OutputStreams) -> Result<Loaded, Failure> {
        let source = self.source.identity().await?;
        let (target, model) = (self.target, self.model);
        let identity = state::identity(
            job,
            &self.mapping,
            &source,
            &self.catalog,
            target.as_ref(),
            &model,
            &self.context,
        )?;
        if job.arguments.plan {
            let is_fickle = model.passes.iter().any(|pass| pass.fickle);
            let stamp = source.stamp.as_deref().filter(|_| !is_fickle);
            state::warn_of_unfinished(job, &identity, stamp, self.options.keys, output);
        }
        // The lock first: of two runs that start at one time, the second must not touch anything.
        let state = state::open(job, &identity, target.as_ref())?;
        let state =
            state::of_this_table(state, job.arguments.resume_mode(), target.as_ref(), &model)
                .await?;
        let context = state::context(self.context, state.as_ref(), output);
        let place = state::place(&model, target.as_ref());
        let keys = KeyTemplateTexts::of(&model);
        if job.arguments.retry_rejects.is_some() {
            keys.are_those_of(state::last(&job.state_file, state.as_ref(), &place), output)?;
        }
        let table_state = TableState::look(job, &target, &model, state.as_ref()).await?;
        let indexes = table_state.agreed_indexes(job, &context, output).await?;
        if !job.arguments.plan && !state::goes_on(state.as_ref()) {
            load::clear_rejects(&self.options.rejects_file)?;
        }
        let remember = job.arguments.is_full().then(|| PruneSelection {
            place,
            json: keys.json(),
        });
        let resumable = state.is_some();
        let cancel = stop_on_signals();
        let begun = load::begin(Load {
            source: Some(self.source),
            begun: true,
            target: target.clone(),
            context,
            options: LoadOptions {
                remember,
                ..self.options
            },
            cancel: cancel.clone(),
            progress: progress::progress(&model),
            model,
            state,
        })
        .await;
        let ready = if begun.goes_on() {
            tokio::select! {
                ready = table_state.prepare(job, output) => ready?,
                () = cancel.cancelled() => load::ReadyTable::default(),
            }
        } else {
            load::ReadyTable::default()
        };
        let (report, unclosed) = begun.run_unclosed(ready).await;
        Ok(Loaded {
            report,
            unclosed,
            indexes,
            resumable,
        })
    }
}
