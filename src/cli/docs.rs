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
    let formats = places.iter().map(|(format, _)| *format);
    let exported: Vec<DocsFormat> = formats.filter(|f| f.export().is_some()).collect();
    let material = if exported.len() < places.len() {
        Some(material::gather(arguments, output).await?)
    } else {
        None
    };
    let ground = if exported.is_empty() {
        None
    } else {
        Some(exports::ground(arguments, &exported, material.as_ref(), output).await?)
    };
    // All of them are made before the first is written.
    let mut texts = Vec::new();
    for (format, place) in &places {
        let text = match (format.export(), &ground, &material) {
            (Some(format), Some(ground), _) => exports::written(format, arguments, ground, output)?,
            (None, _, Some(material)) => written(*format, &material.definition),
            _ => continue,
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
