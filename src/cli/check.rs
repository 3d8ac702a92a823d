//! `dynafold check`: everything that can be said of a mapping without reading rows.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use super::catalog::CatalogOrigin;
use super::failure::Failure;
use super::options::{Format, SourceArguments};
use super::output::OutputStreams;
use super::{Outcome, mapping, proofs};
use crate::diagnostic::{Severity, to_json};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dynafold check shop.yaml --source postgres://app@db/shop
  dynafold check shop.yaml --source postgres://app@db/shop --proofs
  dynafold check shop.yaml --source postgres://app@db/shop --guarantees
  dynafold inspect --source postgres://app@db/shop --format json > catalog.json
  dynafold check shop.yaml --catalog catalog.json           works offline")]
pub(in crate::cli) struct Check {
    /// The mapping file
    mapping: PathBuf,
    #[command(flatten)]
    source: SourceArguments,
    /// A schema written by `inspect --format json`, instead of a source
    #[arg(long, value_name = "FILE")]
    catalog: Option<PathBuf>,
    /// Fail on warnings too
    #[arg(long)]
    deny_warnings: bool,
    /// Show every proof with its reason
    #[arg(long)]
    proofs: bool,
    /// Show what the database guarantees and what takes its place: keys, guard items, the application
    #[arg(long)]
    guarantees: bool,
    /// Text for people or JSON for programs
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

pub(super) async fn run(arguments: Check, output: &OutputStreams) -> Result<Outcome, Failure> {
    if arguments.catalog.is_none() && arguments.source.source.is_none() {
        // Without a schema the command fails, but faults that no schema could mend are shown first.
        if let Ok(found) = mapping::Outlined::read(&arguments.mapping) {
            found.print_errors(&arguments.mapping, output);
        }
    }
    let origin = CatalogOrigin::of(arguments.source.source, arguments.catalog)?;
    let (mut source, catalog, mut file) = mapping::open_any(&origin, &arguments.mapping).await?;
    if let Some(source) = &mut source {
        let checked = file
            .checked
            .warn_of_unprovable_answers(&catalog, source.as_mut());
        Box::pin(checked).await?;
    }
    let checked = &file.checked;
    if checked.model.is_none() {
        output.warnings(&file.notices);
    }
    match arguments.format {
        Format::Text => {
            output.text(&file.rendered(Severity::Warning, output.color))?;
            if let Some(proofs) = &checked.proofs {
                if !checked.diagnostics.is_empty() {
                    output.text("\n")?;
                }
                output.text(&proofs::text(proofs, arguments.proofs, output))?;
                if arguments.guarantees {
                    output.text(&proofs::guarantees(&proofs.guarantees, output))?;
                }
            }
            output.text(&file.summary())?;
        }
        Format::Json => {
            let path = file.path.display().to_string();
            let mut report = json!({
                "diagnostics": to_json(&path, &file.text, &checked.diagnostics),
                "accepted": to_json(&path, &file.text, &checked.accepted),
                "claims": checked.proofs.as_ref().map_or(&[][..], |proofs| &proofs.claims),
                "proofs": checked.proofs,
            });
            if let (true, Some(report)) = (arguments.guarantees, report.as_object_mut()) {
                let guarantees = checked.proofs.as_ref().map(|proofs| &proofs.guarantees);
                report.insert("guarantees".to_owned(), json!(guarantees));
            }
            output.json(&report)?;
        }
    }
    match file.counts() {
        (0, warnings) if warnings == 0 || !arguments.deny_warnings => Ok(Outcome::Well),
        _ => Err(Failure::silent()),
    }
}
