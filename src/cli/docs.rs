//! `dynafold docs`: the definition document of a mapping, and whatever else is made from its model.

mod answers;
mod exports;
pub(super) mod files;
mod job;
mod material;

use self::files::DocsFormat;
pub(super) use self::job::Docs;
use super::Outcome;
use super::failure::Failure;
use super::output::OutputStreams;
use crate::document::{self, Definition};

pub(super) async fn run(arguments: Docs, output: &OutputStreams) -> Result<Outcome, Failure> {
    let job = arguments.job()?;
    let mut formats = job.places.iter().map(|(format, _)| format);
    let (material, definition) = if formats.all(|format| format.export().is_some()) {
        (exports::gather(&job, output).await?, None)
    } else {
        let (material, definition) = material::gather(&job, output).await?;
        (material, Some(definition))
    };
    // All of them are made before the first is written.
    let options = job.arguments.export_options();
    let mut texts = Vec::new();
    for (format, place) in &job.places {
        let text = match (format.export(), &definition) {
            (Some(format), _) => exports::written(format, &options, &material, output)?,
            (None, Some(definition)) => written(*format, definition),
            (None, None) => continue,
        };
        texts.push((place, text));
    }
    for (place, text) in texts {
        files::put(place, &text, output)?;
    }
    Ok(Outcome::Well)
}

/// The definition document in one format.
fn written(format: DocsFormat, definition: &Definition) -> String {
    match format {
        DocsFormat::Markdown => document::markdown(definition),
        _ => document::html(definition),
    }
}
