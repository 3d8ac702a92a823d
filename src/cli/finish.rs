//! `dynafold finish`: ends a load that was handed out.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use clap::Args;

use super::failure::Failure;
use super::handed::HandedSource;
use super::options::{Format, Service, SourceArguments};
use super::output::OutputStreams;
use super::signals::stop_on_signals;
use super::{Outcome, ending, export, format, report};
use crate::load;
use crate::load::handout::finish::{FinishError, Finished, PlanResults};
use crate::load::handout::{HandedPlan, PlanError, PlannedExport};
use crate::proof::ProofOptions;
use crate::target::parts::{ExportPlace, IMPORT_TABLE, Manifest, WrittenPart};

/// Missing chunks, and shared keys, that are named on a terminal; JSON names all.
const NAMED_ON_TERMINAL: usize = 20;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dynafold finish --plan plan.ndjson --files chunks results.ndjson
  dynafold finish --plan plan.ndjson --files chunks results-0.ndjson results-1.ndjson
  dynafold finish --plan plan.ndjson --files chunks --source postgres://app@db/shop results.ndjson

Each chunk counts once, however often it was loaded. With --source, `finish` names the rows that share a key.")]
#[command(mut_arg("endpoint_url", |arg| arg.help("The endpoint of a server that speaks S3's protocol, for an export")))]
pub(super) struct Finish {
    /// Files with the lines that `work` has written [default: standard input]
    results: Vec<PathBuf>,
    /// The file that `dynafold plan` wrote
    #[arg(long, value_name = "FILE")]
    plan: PathBuf,
    /// The folder that `work --files` names
    #[arg(long, value_name = "FOLDER")]
    files: PathBuf,
    #[command(flatten)]
    source: SourceArguments,
    #[command(flatten)]
    service: Service,
    /// Text for people or JSON for programs
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

pub(super) async fn run(arguments: Finish, output: &OutputStreams) -> Result<Outcome, Failure> {
    let plan = HandedPlan::read(BufReader::new(open(&arguments.plan)?))
        .map_err(|error| unplanned(&error))?;
    let mut results = PlanResults::new(plan.clone());
    if arguments.results.is_empty() {
        take(&mut results, io::stdin().lock())?;
    }
    for path in &arguments.results {
        take(&mut results, BufReader::new(open(path)?))?;
    }
    let (folder, proof) = (arguments.files.clone(), ProofOptions::default());
    let ended = tokio::task::spawn_blocking(move || {
        let [rejects, archive] =
            ["rejects", "archive"].map(|of| folder.join(format!("{of}.ndjson")));
        results.combine(&folder, (&rejects, &archive), proof)
    });
    let ended = ended.await.map_err(|error| Failure::of(&error))?;
    let mut finished = ended.map_err(unfinished)?;
    if !finished.shared_keys.is_empty() && arguments.source.source.is_some() {
        // The shared keys are reported even if their rows cannot be named.
        if let Err(failure) = name_rows(&mut finished, &plan, &arguments, output).await {
            output.warning(&format!(
                "cannot name the rows that share keys: {}",
                failure.one_line()
            ));
        }
    }
    let ended = match (&plan.facts.export, &finished.export) {
        (Some(planned), Some(manifest)) => {
            end_export(planned, manifest, &finished.written, &arguments)
                .await
                .map(Some)
        }
        _ => Ok(None),
    };
    if ended.is_err() {
        finished.export = None;
        let warning = "the export is not closed: its place has no manifest";
        finished.report.warnings.push(warning.to_owned());
    }
    print(finished, ended, &arguments, output)
}

/// Names the rows that share keys.
async fn name_rows(
    finished: &mut Finished,
    plan: &HandedPlan,
    arguments: &Finish,
    output: &OutputStreams,
) -> Result<(), Failure> {
    let opening = HandedSource::of(&plan.facts, arguments.source.url()?, output);
    let handed = Box::pin(opening).await?;
    let cancel = stop_on_signals();
    let naming = finished.name_rows(plan, &handed.model, &handed.context, handed.source, &cancel);
    Ok(Box::pin(naming).await?)
}

/// Writes the manifest of an export, if its place holds its parts and nothing else.
async fn end_export(
    planned: &PlannedExport,
    manifest: &Manifest,
    written: &[WrittenPart],
    arguments: &Finish,
) -> Result<ExportPlace, Failure> {
    let place = export::place(&planned.place, &arguments.service.options()).await?;
    if let Some(change) = place.changes_of(written).await?.into_iter().next() {
        let message = format!("`{place}` does not hold the parts of the chunks: {change}");
        return Err(Failure::failed(message).with_code("results").with_help(
            "if a part is missing or changed, give the line of its chunk to a worker again; if an object is not of this export, delete it; or make a new plan for another place",
        ));
    }
    place.abort_uploads().await?;
    place
        .write_json(IMPORT_TABLE, &planned.import_table)
        .await?;
    manifest.write(&place).await?;
    Ok(place)
}

/// Prints the report, then why the export was not closed. `ended`: its place.
fn print(
    finished: Finished,
    ended: Result<Option<ExportPlace>, Failure>,
    arguments: &Finish,
    output: &OutputStreams,
) -> Result<Outcome, Failure> {
    match arguments.format {
        Format::Text => {
            let mut lines = vec![report::migration(&finished.report)];
            let chunks = format::counted(finished.chunks, "chunk");
            lines.push(format!(
                "{chunks}, {} given again and counted once; {}",
                format::counted(finished.repeated, "result"),
                finished.consistency
            ));
            lines.extend(named(&finished.missing, |missing| {
                let why = missing.why.as_ref();
                let why = why.map_or_else(String::new, |why| {
                    format!("; its last attempt failed: {}", why.one_line())
                });
                format!(
                    "chunk {} has no result: {}{why}",
                    missing.chunk, missing.reads
                )
            }));
            lines.extend(named(&finished.shared_keys, |shared| {
                let chunks: Vec<String> = shared.chunks.iter().map(ToString::to_string).collect();
                format!(
                    "key {}: {} in chunks {}",
                    shared.key,
                    format::counted(shared.items, "item"),
                    chunks.join(", ")
                )
            }));
            let place = ended.as_ref().ok().and_then(Option::as_ref);
            let export = finished.export.as_ref().zip(place);
            lines.extend(export.map(|(manifest, place)| report::export(manifest, place)));
            output.text(&lines.join("\n"))?;
        }
        Format::Json => output.json(&finished)?,
    }
    output.warnings(&finished.report.warnings);
    if !finished.shared_keys.is_empty() && arguments.source.source.is_none() {
        output.note("to name the rows that share a key, give the source: --source URL");
    }
    ended?;
    match finished.report.outcome {
        load::Outcome::Stopped { reason } => Err(Failure::failed(format!("stopped: {reason}"))
            .with_help("correct the mapping or the rows, make a new plan, and load again; for a table that holds items, `plan` needs --append")),
        _ => ending::ended(finished.report, false, None, output),
    }
}

/// A line for each of the first [`NAMED_ON_TERMINAL`], and one that counts the others.
fn named<T>(all: &[T], line: impl Fn(&T) -> String) -> Vec<String> {
    let mut lines: Vec<String> = all.iter().take(NAMED_ON_TERMINAL).map(line).collect();
    if all.len() > NAMED_ON_TERMINAL {
        lines.push(format!(
            "  and {} more, which --format json names",
            all.len() - NAMED_ON_TERMINAL
        ));
    }
    lines
}

fn take(results: &mut PlanResults, lines: impl BufRead) -> Result<(), Failure> {
    for line in lines.lines() {
        let line =
            line.map_err(|error| Failure::failed("cannot read the results").with_cause(&error))?;
        results.take(&line).map_err(unfinished)?;
    }
    Ok(())
}

fn open(path: &Path) -> Result<File, Failure> {
    File::open(path).map_err(|error| Failure::unread("", path, &error))
}

fn unplanned(error: &PlanError) -> Failure {
    Failure::of(error)
        .with_code("plan")
        .with_help("name the file with the complete, unchanged output of `dynafold plan`")
}

fn unfinished(error: FinishError) -> Failure {
    let help = match error {
        FinishError::Failed(failure) => return failure.into(),
        FinishError::OtherPlan { .. } | FinishError::UnknownChunk(_) => {
            "give it results of this plan alone"
        }
        FinishError::Version(_) => {
            "finish with the version of dynafold that loaded the chunks, or load them again with this one"
        }
        FinishError::ChangedLine { .. } => {
            "make a new plan for a new table or an empty prefix, and give workers its lines unchanged: this load may have left out rows, or written items that are not in the plan"
        }
        FinishError::ResultsDiffer { .. } => {
            "the snapshot, the mapping or the program was not the same for both: make a new plan, and load into a new table"
        }
        FinishError::TooManyParts(_) => "make a new plan of larger chunks: `plan --chunk-rows`",
        FinishError::ItemsMiscounted { .. } => "make a new plan, and export to another place",
        FinishError::DifferentPlaces(..) | FinishError::DifferentTables(..) => {
            "load all chunks of one plan into one table, which stays until they are loaded"
        }
        FinishError::ChunkKeys { .. }
        | FinishError::ChunkLines { .. }
        | FinishError::Altered(_) => {
            "give the chunk's line to a worker again, and name the folder with the files of all workers by --files"
        }
        FinishError::OtherFile { .. } => "move the file elsewhere: `finish` writes it anew",
        FinishError::OlderArchive(_) => {
            "move the file elsewhere: it would be taken for the archive of these results"
        }
        FinishError::Unreadable { .. } => {
            "name the folder that holds the files of all workers by --files"
        }
        FinishError::KeysMiscounted { .. } => {
            "compare the keys of each chunk once: those of the attempt whose result is given"
        }
    };
    Failure::of(&error).with_code("results").with_help(help)
}
