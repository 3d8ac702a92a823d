//! `dynafold migrate`: the load.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::args::{Format, Migrate};
use super::failure::Failure;
use super::output::Output;
use super::target::Use;
use super::{Outcome, catalog, mapping, progress, report, target};
use crate::catalog::Catalog;
use crate::load::{self, Cancel, Load, Options, TableError};
use crate::mapping::model::{Expired, Model};
use crate::source::Relation;
use crate::target::{Target, Wanted};

pub(super) async fn run(arguments: &Migrate, output: &Output) -> Result<Outcome, Failure> {
    let (mut source, catalog) = catalog::read(&arguments.source).await?;
    let checked = mapping::check(&arguments.mapping, &catalog, Some(source.as_mut())).await?;
    let model = Arc::new(checked.into_model(output)?);
    let context = target::context(&model, arguments.now)?;
    let rejects_file = rejects_file(arguments);
    let target = target::open(&arguments.target).await?;
    target::confirm(
        target.as_ref(),
        &arguments.source,
        &model,
        &context,
        Use::Writes,
        arguments.yes,
        output,
    )
    .await?;
    load::clear_rejects(&rejects_file)?;
    let archive_file = archive_file(arguments);
    if model
        .item_types
        .iter()
        .any(|item| item.expired == Expired::Archive)
    {
        if archive_file == rejects_file {
            return Err(Failure::usage("--archive and --rejects name one file")
                .with_help("give each a file of its own"));
        }
        load::check_archive(&archive_file, &model.table)?;
    }
    let ensured = load::ensure_table(target.as_ref(), &model.table, !arguments.no_create).await?;
    let settings = if ensured.made {
        Vec::new()
    } else {
        target.compare_settings(&model.table).await
    };
    for difference in ensured.differences.iter().chain(&settings) {
        output.warning(&difference.to_string());
    }
    if ensured.made {
        output.note(&format!(
            "made the table `{}` at {}",
            model.table.name,
            target.place()
        ));
    }
    if !ensured.made && !is_empty(&*target, &model).await? {
        output.warning(&format!(
            "the table `{}` holds items already; those with the keys of this load are replaced",
            model.table.name
        ));
    }
    let cancel = Cancel::default();
    stop_on_signals(cancel.clone());
    let report = load::run(Load {
        source,
        target,
        context,
        options: Options {
            max_rejects: Some(arguments.max_rejects),
            rejects_file,
            archive_file,
            writers: arguments.concurrency.map(usize::from),
            fresh: ensured.made,
            estimates: estimates(&model, &catalog),
            ..Options::default()
        },
        cancel,
        progress: progress::progress(&model),
        model,
    })
    .await;
    match arguments.format {
        Format::Text => output.text(&report::migration(&report))?,
        Format::Json => output.json(&report)?,
    }
    for warning in &report.warnings {
        output.warning(warning);
    }
    let line = report::migration_outcome(&report);
    match report.outcome {
        load::Outcome::Complete if report.balanced => Ok(Outcome::Well),
        load::Outcome::Complete => Err(Failure::failed("the books do not balance")),
        load::Outcome::CompleteWithRejects => {
            output.warning(&line);
            Ok(Outcome::Differs)
        }
        load::Outcome::Interrupted => {
            output.warning(&line);
            output.note("start the same command again to finish; items that are written already are written again unchanged");
            Ok(Outcome::Interrupted)
        }
        load::Outcome::Stopped { .. } => Err(Failure::failed(line).with_help(
            "mend the mapping or the rows; --max-rejects N goes on past N rejected rows",
        )),
        load::Outcome::Failed(failure) => Err(failure.into()),
    }
}

async fn is_empty(target: &dyn Target, model: &Model) -> Result<bool, Failure> {
    let keys = Wanted::keys(&model.table);
    let page = target.scan(&model.table, &keys, None).await?;
    Ok(page.items.is_empty())
}

/// About how many rows each pass reads.
pub(super) fn estimates(model: &Model, catalog: &Catalog) -> Vec<Option<u64>> {
    let estimate = |from: &Relation| match from {
        Relation::Table(name) => catalog.table(name).and_then(|table| table.estimated_rows),
        Relation::Query(_) => None,
    };
    model
        .passes
        .iter()
        .map(|pass| estimate(&pass.scan.from))
        .collect()
}

/// Ctrl-C, or SIGTERM, once: finish what is in flight and report. Twice: stop at once.
pub(super) fn stop_on_signals(cancel: Cancel) {
    tokio::spawn(async move {
        stop_signal().await;
        cancel.cancel();
        say("stopping: finishing what is in flight; once more stops at once");
        stop_signal().await;
        #[expect(
            clippy::exit,
            reason = "the user asked twice; every answered write is safe"
        )]
        std::process::exit(130);
    });
}

#[cfg(unix)]
async fn stop_signal() {
    use tokio::signal::unix::{SignalKind, signal};
    match signal(SignalKind::terminate()) {
        Ok(mut terminate) => tokio::select! {
            _ = tokio::signal::ctrl_c() => {}
            _ = terminate.recv() => {}
        },
        Err(_) => drop(tokio::signal::ctrl_c().await),
    }
}

#[cfg(not(unix))]
async fn stop_signal() {
    drop(tokio::signal::ctrl_c().await);
}

#[expect(clippy::print_stderr, reason = "the answer to a signal")]
fn say(text: &str) {
    eprintln!("{text}");
}

/// Beside the mapping, under its name, unless `--rejects` says otherwise.
fn rejects_file(arguments: &Migrate) -> PathBuf {
    let beside = |mapping: &Path| mapping.with_extension("rejects.ndjson");
    arguments
        .rejects
        .clone()
        .unwrap_or_else(|| beside(&arguments.mapping))
}

/// Beside the mapping, under its name, unless `--archive` says otherwise.
fn archive_file(arguments: &Migrate) -> PathBuf {
    let beside = || arguments.mapping.with_extension("archive.ndjson");
    arguments.archive.clone().unwrap_or_else(beside)
}

impl From<load::Failure> for Failure {
    fn from(failure: load::Failure) -> Self {
        let mut told = Self::failed(failure.message);
        told.causes = failure.causes;
        told.help = failure.help;
        told
    }
}

impl From<TableError> for Failure {
    fn from(error: TableError) -> Self {
        let help = error.help().map(str::to_owned);
        match error {
            TableError::Target(error) => error.into(),
            error => Self {
                help,
                ..Self::failed(error.to_string())
            },
        }
    }
}
