//! `dynafold docs`: the definition document of a mapping, and whatever else is made from its model.

mod answers;
mod exports;
mod files;
mod material;

use super::Outcome;
use super::args::{Docs, DocsFormat};
use super::failure::Failure;
use super::output::Output;
use crate::document::{self, Definition};

pub(super) async fn run(arguments: &Docs, output: &Output) -> Result<Outcome, Failure> {
    let places = files::places(arguments)?;
    let formats: Vec<DocsFormat> = places.iter().map(|(format, _)| *format).collect();
    let (material, definition) = if formats.iter().all(|format| format.export().is_some()) {
        (exports::gather(arguments, &formats, output).await?, None)
    } else {
        let (material, definition) = material::gather(arguments, output).await?;
        (material, Some(definition))
    };
    // All of them are made before the first is written.
    let mut texts = Vec::new();
    for (format, place) in &places {
        let text = match (format.export(), &definition) {
            (Some(format), _) => exports::written(format, arguments, &material, output)?,
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
