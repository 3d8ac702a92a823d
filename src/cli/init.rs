//! `dynafold init`: a first mapping, proposed from a schema alone.

use std::path::{Path, PathBuf};

use clap::Args;

use super::catalog::CatalogOrigin;
use super::design::{propose, sampled};
use super::failure::Failure;
use super::files::{refuse_existing, write};
use super::format::{counted, counted_as, shell_word, text_if};
use super::options::SourceArguments;
use super::output::OutputStreams;
use super::{Outcome, inspect, prices};
use crate::design::{Design, Limits, guess};

#[derive(Debug, Args)]
#[command(after_help = "\
It writes what `design` proposes without a workload, and guesses the reads from keys and foreign keys.
With a source, the database counts values, NULL and lengths in up to 100,000 rows of each table.

Examples:
  dynafold init --source sqlite:shop.db                     writes mapping.yaml
  dynafold init --source postgres://app@db/shop -o shop.yaml
  dynafold init --source mysql://app@db/shop --output -     prints it
  dynafold init --catalog catalog.json --table orders --table order_lines")]
pub(in crate::cli) struct Init {
    #[command(flatten)]
    source: SourceArguments,
    /// A schema written by `inspect --format json`, instead of a source
    #[arg(long, value_name = "FILE")]
    catalog: Option<PathBuf>,
    /// The file to write; - for standard output
    #[arg(short, long, value_name = "FILE", default_value = "mapping.yaml")]
    output: PathBuf,
    /// Only this table; may be repeated
    #[arg(long = "table", value_name = "NAME")]
    tables: Vec<String>,
    /// Overwrite the file if it exists
    #[arg(long)]
    force: bool,
}

pub(super) async fn run(arguments: Init, output: &OutputStreams) -> Result<Outcome, Failure> {
    let file = &arguments.output;
    refuse_existing(file, arguments.force)?;
    let prices = prices::read(None, None)?;
    let origin = CatalogOrigin::of(arguments.source.source.clone(), arguments.catalog.clone())?;
    let (mut source, mut catalog) = origin.read().await?;
    output.warnings(&catalog.notices);
    inspect::narrow(&mut catalog, &arguments.tables, &[], output)?;
    let statements = guess(&catalog);
    let mut limits = Limits::default();
    if let Some(source) = &mut source {
        limits.observed = sampled(source.as_mut(), &catalog, &statements).await?;
        limits.observed.give_rows(&mut catalog);
    }
    let Design {
        mapping, report, ..
    } = propose(source, &catalog, &statements, &prices, limits).await?;
    for table in &report.left_out {
        output.note(&format!("left out: {table}"));
    }
    for read in &report.not_guessed {
        output.note(&format!("not guessed: {read}"));
    }
    output.warnings(report.fault_text());
    let warnings = report.warnings.iter();
    let about_delimiters = warnings.filter(|warning| warning.is_about_delimiters());
    output.warnings(about_delimiters.map(ToString::to_string));
    if file == Path::new("-") {
        output.text(&mapping)?;
        return Ok(Outcome::Well);
    }
    write(file, &mapping)?;
    let served = report.reads.iter().filter(|read| read.served.is_some());
    output.text(&format!(
        "wrote {}: {} guessed from keys and foreign keys, {}",
        file.display(),
        counted(served.count(), "access pattern"),
        counted_as(report.indexes.len(), "index", "indexes"),
    ))?;
    output.note(&next_commands(&arguments));
    Ok(Outcome::Well)
}

/// The commands that go on with the mapping.
fn next_commands(arguments: &Init) -> String {
    let file = shell_word(&arguments.output.display().to_string());
    if let Some(catalog) = &arguments.catalog {
        let catalog = shell_word(&catalog.display().to_string());
        return format!("next:\n  dynafold check {file} --catalog {catalog}");
    }
    let source = arguments.source.shown_option();
    let hint = text_if(
        source.contains("DATABASE_URL"),
        ", with the URL in DATABASE_URL",
    );
    format!("next{hint}:\n  dynafold check {file} {source}\n  dynafold preview {file} {source}")
}
