//! `dynafold docs`: the definition document of a mapping, and whatever else is made from its model.

mod answers;
pub(super) mod files;
mod job;
mod material;

use std::sync::Arc;

use self::files::DocsFormat;
pub(super) use self::job::Docs;
use self::job::DocsJob;
use self::material::Material;
use super::failure::Failure;
use super::output::OutputStreams;
use super::{Outcome, mapping, target};
use crate::document;
use crate::document::export::export;
use crate::preview::sample;

pub(super) async fn run(arguments: Docs, output: &OutputStreams) -> Result<Outcome, Failure> {
    let job = arguments.job()?;
    let mut formats = job.places.iter().map(|(format, _)| format);
    let (material, definition) = if formats.all(|format| format.export().is_some()) {
        (gather_for_exports(&job, output).await?, None)
    } else {
        let (material, definition) = material::gather(&job, output).await?;
        (material, Some(definition))
    };
    // All of them are made before the first is written.
    let options = job.arguments.export_options();
    let mut texts = Vec::new();
    for (format, place) in &job.places {
        let text = match (format.export(), &definition) {
            (Some(format), _) => {
                let (model, samples) = (&material.model, &material.samples);
                let made = export(format, model, samples, &options).map_err(|error| {
                    Failure::of(&error)
                        .with_code("export")
                        .with_help(error.help())
                })?;
                // What the format cannot say.
                output.warnings(&made.warnings);
                made.text
            }
            (None, Some(definition)) if *format == DocsFormat::Markdown => {
                document::markdown(definition)
            }
            (None, Some(definition)) => document::html(definition),
            (None, None) => continue,
        };
        texts.push((place, text));
    }
    for (place, text) in texts {
        files::put(place, &text, output)?;
    }
    Ok(Outcome::Well)
}

/// What exports are made from, which is less than a definition takes: checks the mapping, and reads example items where one
/// of these exports holds any.
async fn gather_for_exports(job: &DocsJob, output: &OutputStreams) -> Result<Material, Failure> {
    let mut formats = job.places.iter().map(|(format, _)| *format);
    let holds_items =
        !job.arguments.no_examples && formats.any(|format| format == DocsFormat::Workbench);
    let (mut source, _, file) = mapping::open_any(&job.origin, &job.arguments.mapping).await?;
    let model = file.into_model(output)?;
    let mut samples = Vec::new();
    if let Some(source) = source.as_mut().filter(|_| holds_items) {
        let context = target::context(&model, job.arguments.now)?;
        let rows = u64::from(job.arguments.limit);
        samples = sample(source.as_mut(), &model, context, rows, &|_| true).await?;
    }
    Ok(Material {
        model: Arc::new(model),
        samples,
    })
}
