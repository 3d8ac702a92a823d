//! `dynafold init`: a starter mapping.

use std::path::{Path, PathBuf};

use clap::Args;

use super::failure::Failure;
use super::options::SourceArguments;
use super::output::OutputStreams;
use super::{Outcome, catalog, inspect};
use crate::format::shell_word;
use crate::mapping::{Starter, starter};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dynafold init --source sqlite:shop.db                     writes mapping.yaml
  dynafold init --source postgres://app@db/shop -o shop.yaml
  dynafold init --source mysql://app@db/shop --output -     prints it")]
pub(in crate::cli) struct Init {
    #[command(flatten)]
    source: SourceArguments,
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
    let to_stdout = arguments.output == Path::new("-");
    if !to_stdout && !arguments.force && arguments.output.exists() {
        return Err(
            Failure::usage(format!("`{}` exists already", arguments.output.display()))
                .with_help("use --force to overwrite it, or --output FILE for another file"),
        );
    }
    let mut catalog = catalog::show(arguments.source.url()?, output).await?;
    inspect::narrow(&mut catalog, &arguments.tables, &[], output)?;
    let Starter { text, left_out } = starter(&catalog);
    if to_stdout {
        output.text(&text)?;
        return Ok(Outcome::Well);
    }
    write(&arguments.output, &text)?;
    output.text(&format!("wrote {}", arguments.output.display()))?;
    for left in left_out {
        output.note(&format!("left out: {left}"));
    }
    let file = shell_word(&arguments.output.display().to_string());
    let source = arguments.source.shown_option();
    let set = if source.contains("DATABASE_URL") {
        ", with the URL in DATABASE_URL"
    } else {
        ""
    };
    output.note(&format!(
        "next{set}:\n  dynafold check {file} {source}\n  dynafold preview {file} {source}"
    ));
    Ok(Outcome::Well)
}

/// Writes a file, or says which one could not be written.
pub(super) fn write(path: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(path, text).map_err(|error| Failure::unwritten(path, &error))
}
