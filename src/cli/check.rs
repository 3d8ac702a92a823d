//! `dynafold check`: everything that can be said of a mapping without reading rows.

use serde_json::json;

use super::args::{Check, Format};
use super::failure::Failure;
use super::output::Output;
use super::{Outcome, catalog, mapping, proofs};
use crate::diagnostic::{Severity, to_json};

pub(super) async fn run(arguments: &Check, output: &Output) -> Result<Outcome, Failure> {
    let checked = match &arguments.catalog {
        Some(path) => {
            let catalog = catalog::from_file(path)?;
            mapping::check(&arguments.mapping, &catalog, None).await?
        }
        None if arguments.source.source.is_none() => {
            // What is wrong whatever the schema is told all the same.
            if let Ok(found) = mapping::Outlined::read(&arguments.mapping) {
                found.tell(&arguments.mapping, output);
            }
            return Err(Failure::usage("no source is named").with_help(
                "say --source URL or set DATABASE_URL, or say --catalog FILE with what `dynafold inspect --format json` wrote",
            ));
        }
        None => {
            let (mut source, catalog) = catalog::read(&arguments.source).await?;
            mapping::check(&arguments.mapping, &catalog, Some(source.as_mut())).await?
        }
    };
    if checked.model.is_none() {
        catalog::tell(&checked.notices, output);
    }
    match arguments.format {
        Format::Text => {
            output.text(&checked.rendered(Severity::Warning, output.color()))?;
            if let Some(proofs) = &checked.proofs {
                if !checked.diagnostics.is_empty() {
                    output.text("\n")?;
                }
                output.text(&proofs::text(proofs, arguments.proofs, output))?;
            }
            output.text(&checked.summary())?;
        }
        Format::Json => {
            let path = checked.path.display().to_string();
            output.json(&json!({
                "diagnostics": to_json(&path, &checked.text, &checked.diagnostics),
                "accepted": to_json(&path, &checked.text, &checked.accepted),
                "proofs": checked.proofs,
            }))?;
        }
    }
    match checked.counts() {
        (0, warnings) if warnings == 0 || !arguments.deny_warnings => Ok(Outcome::Well),
        _ => Err(Failure::silent()),
    }
}
