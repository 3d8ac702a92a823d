//! `dynafold docs`: the definition document of a mapping, and whatever else is made from its model.

mod answers;
mod files;
mod material;

use super::Outcome;
use super::args::{Docs, DocsFormat};
use super::failure::Failure;
use super::output::Output;
use crate::document;
use material::Material;

pub(super) async fn run(arguments: &Docs, output: &Output) -> Result<Outcome, Failure> {
    let places = files::places(arguments)?;
    let material = material::gather(arguments, output).await?;
    // All of them are made before the first is written.
    let mut texts = Vec::new();
    for (format, place) in &places {
        texts.push((place, written(*format, &material)?));
    }
    for (place, text) in texts {
        files::put(place, &text, output)?;
    }
    Ok(Outcome::Well)
}

/// What is written in one format.
#[expect(clippy::unnecessary_wraps, reason = "formats to come may fail")]
fn written(format: DocsFormat, material: &Material) -> Result<String, Failure> {
    Ok(match format {
        DocsFormat::Html => document::html(&material.definition),
        DocsFormat::Markdown => document::markdown(&material.definition),
    })
}
