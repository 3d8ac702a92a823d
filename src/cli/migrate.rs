//! `dynafold migrate`: the load.

mod apart;
mod ending;
mod ground;
mod keys;
mod rows;
mod state;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use self::ground::Ground;
use self::keys::Keys;
use super::args::{Format, Migrate, StaleRows};
use super::failure::Failure;
use super::output::Output;
use super::signals::stop_on_signals;
use super::target::Use;
use super::{Outcome, mapping, progress, report, selection, target};
use crate::load::state::Selection;
use crate::load::{self, Doing, KeyCheck, Load, Options, Prune};
use crate::mapping::model::{Expired, Model};
use crate::mapping::template::Context;
use crate::source::Source;
use crate::target::Target;

pub(super) async fn run(arguments: &Migrate, output: &Output) -> Result<Outcome, Failure> {
    let ready = Ready::of(arguments, output).await?;
    let partition = arguments.partition.as_deref();
    let nothing = partition.map(|value| selection::nothing_under(value, &ready.model));
    let (mut report, resumable) = Box::pin(ready.load(arguments, output)).await?;
    if !arguments.items.is_empty() {
        // The others were not looked at, and have no books.
        report
            .item_types
            .retain(|books| arguments.items.contains(&books.item_type));
    }
    match arguments.format {
        Format::Text => output.text(&report::migration(&report))?,
        Format::Json => output.json(&report)?,
    }
    output.warnings(&report.warnings);
    let total = &report.total;
    if let Some(nothing) = nothing
        && matches!(report.outcome, load::Outcome::Complete)
        && total.made + total.rejected + total.deleted == 0
    {
        output.warning(&nothing);
    }
    ending::ended(report, resumable, output)
}

/// A mapping as it is written.
struct Written {
    text: String,
    /// What it takes from the environment, by the names of the variables.
    variables: Vec<(String, String)>,
}

/// Everything that was checked, asked and opened before anything is changed.
struct Ready {
    /// Its snapshot is open.
    source: Box<dyn Source>,
    mapping: Written,
    model: Arc<Model>,
    keys: KeyCheck,
    context: Context,
    files: Files,
    selection: load::Selection,
    target: Arc<dyn Target>,
}

impl Ready {
    async fn of(arguments: &Migrate, output: &Output) -> Result<Self, Failure> {
        let (mut source, _, file) = mapping::open(&arguments.source, &arguments.mapping).await?;
        let keys = file.checked.key_check(if arguments.one_pass {
            KeyCheck::Late
        } else {
            KeyCheck::First
        });
        let mapping = Written {
            text: file.text.clone(),
            variables: file.checked.variables.clone(),
        };
        let whole = file.into_model(output)?;
        let model = Arc::new(selection::item_types(whole, &arguments.items)?);
        let context = target::context(&model, arguments.now)?;
        let files = Files::of(arguments, &model)?;
        let selection = rows::of(arguments, &model)?;
        let target = target::open(&arguments.target).await?;
        let usage = if arguments.plan {
            Use::Reads
        } else {
            Use::Writes
        };
        target::confirm(
            target.as_ref(),
            &arguments.source,
            &model,
            &context,
            usage,
            arguments.yes,
            output,
        )
        .await?;
        source.begin(&model.scans()).await?;
        Ok(Self {
            source,
            mapping,
            model,
            keys,
            context,
            files,
            selection,
            target,
        })
    }

    /// Locks the state, proves that the load can be, prepares the table, and loads. Says too whether
    /// the load could go on.
    async fn load(
        mut self,
        arguments: &Migrate,
        output: &Output,
    ) -> Result<(load::Report, bool), Failure> {
        let identity = self.source.identity().await?;
        let (target, model) = (self.target, self.model);
        // The lock first: of two runs that start at one time, the second must not touch anything.
        let state = state::open(
            arguments,
            &self.mapping,
            &identity,
            target.as_ref(),
            &model,
            &self.context,
        )?;
        let state = state::of_this_table(state, arguments, target.as_ref(), &model).await?;
        let context = state::context(self.context, state.as_ref(), output);
        let place = state::place(&model, target.as_ref());
        let keys = Keys::of(&model);
        if arguments.retry_rejects.is_some() {
            keys.are_those_of(state::last(arguments, state.as_ref(), &place), output)?;
        }
        let ground = Ground::look(arguments, &target, &model, state.as_ref(), output).await?;
        if !arguments.plan && !state::goes_on(state.as_ref()) {
            load::clear_rejects(&self.files.rejects)?;
        }
        let prune = arguments.prune.map(|stale| Prune {
            filtered: stale == StaleRows::Filtered,
        });
        let remember = is_full(arguments).then(|| Selection {
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
            options: Options {
                max_rejects: Some(arguments.max_rejects),
                rejects_file: self.files.rejects,
                archive_file: self.files.archive,
                writers: arguments.concurrency.map(usize::from),
                keys: self.keys,
                doing: doing(arguments),
                selection: self.selection,
                readers: arguments.readers.map(usize::from),
                chunk_rows: arguments.chunk_rows,
                ceiling: target::ceiling(arguments.max_wcu, target.as_ref(), &model.table),
                prune,
                remember,
                ..Options::default()
            },
            cancel: cancel.clone(),
            progress: progress::progress(&model),
            model,
            state,
        })
        .await;
        let ready = if begun.goes_on() {
            tokio::select! {
                ready = ground.prepare(output) => ready?,
                () = cancel.cancelled() => load::Ready::default(),
            }
        } else {
            load::Ready::default()
        };
        Ok((begun.run(ready).await, resumable))
    }
}

/// Whether everything that the mapping says is loaded, so that a later load may go by its keys.
fn is_full(arguments: &Migrate) -> bool {
    arguments.items.is_empty() && arguments.partition.is_none() && arguments.retry_rejects.is_none()
}

fn doing(arguments: &Migrate) -> Doing {
    if arguments.plan {
        Doing::Plan
    } else if arguments.changes_only {
        Doing::Changes
    } else {
        Doing::Put
    }
}

/// The files beside the table.
struct Files {
    rejects: PathBuf,
    archive: PathBuf,
}

impl Files {
    fn of(arguments: &Migrate, model: &Model) -> Result<Self, Failure> {
        let files = Self {
            rejects: rejects_file(arguments)?,
            archive: archive_file(arguments),
        };
        apart::files(arguments, &files.rejects, &files.archive)?;
        let mut item_types = model.item_types.iter();
        if item_types.any(|item| item.expired == Expired::Archive) {
            load::check_archive(&files.archive, &model.table)?;
        }
        Ok(files)
    }
}

/// Beside the mapping, under its name, unless `--rejects` says otherwise. Never the file whose rows
/// are loaded again: it is read by each attempt.
fn rejects_file(arguments: &Migrate) -> Result<PathBuf, Failure> {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let again = arguments.retry_rejects.as_deref();
    let is_read = |path: &Path| again.is_some_and(|read| real(read) == real(path));
    match &arguments.rejects {
        Some(path) if is_read(path) => Err(Failure::usage(
            "--retry-rejects and --rejects name one file",
        )
        .with_help("give the rows that are rejected again a file of their own")),
        Some(path) => Ok(path.clone()),
        None => {
            let beside = arguments.mapping.with_extension("rejects.ndjson");
            Ok(if is_read(&beside) {
                arguments.mapping.with_extension("rejects-again.ndjson")
            } else {
                beside
            })
        }
    }
}

/// Beside the mapping, under its name, unless `--archive` says otherwise.
fn archive_file(arguments: &Migrate) -> PathBuf {
    let beside = || arguments.mapping.with_extension("archive.ndjson");
    arguments.archive.clone().unwrap_or_else(beside)
}
