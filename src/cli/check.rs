//! `dynafold check`: everything that can be said of a mapping without reading rows.

use serde_json::json;

use super::args::{Check, Format};
use super::failure::Failure;
use super::output::Output;
use super::{Outcome, mapping, proofs};
use crate::diagnostic::{Severity, to_json};

pub(super) async fn run(arguments: &Check, output: &Output) -> Result<Outcome, Failure> {
    if arguments.catalog.is_none() && arguments.source.source.is_none() {
        // What is wrong whatever the schema is told all the same.
        if let Ok(found) = mapping::Outlined::read(&arguments.mapping) {
            found.tell(&arguments.mapping, output);
        }
    }
    let kept = arguments.catalog.as_deref();
    let opened = mapping::open_or_file(&arguments.source, kept, &arguments.mapping);
    let (mut source, catalog, mut file) = opened.await?;
    if let Some(source) = &mut source {
        let foreseen = file.checked.foresee_answers(&catalog, source.as_mut());
        Box::pin(foreseen).await?;
    }
    let checked = &file.checked;
    if checked.model.is_none() {
        output.warnings(&file.notices);
    }
    match arguments.format {
        Format::Text => {
            output.text(&file.rendered(Severity::Warning, output.color()))?;
            if let Some(proofs) = &checked.proofs {
                if !checked.diagnostics.is_empty() {
                    output.text("\n")?;
                }
                output.text(&proofs::text(proofs, arguments.proofs, output))?;
            }
            output.text(&file.summary())?;
        }
        Format::Json => {
            let path = file.path.display().to_string();
            output.json(&json!({
                "diagnostics": to_json(&path, &file.text, &checked.diagnostics),
                "accepted": to_json(&path, &file.text, &checked.accepted),
                "claims": checked.proofs.as_ref().map_or(&[][..], |proofs| &proofs.claims),
                "proofs": checked.proofs,
            }))?;
        }
    }
    match file.counts() {
        (0, warnings) if warnings == 0 || !arguments.deny_warnings => Ok(Outcome::Well),
        _ => Err(Failure::silent()),
    }
}
