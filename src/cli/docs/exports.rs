//! Exports: what they are made from, which is less than a definition takes, and their warnings.

use std::sync::Arc;

use super::files::DocsFormat;
use super::job::DocsJob;
use super::material::Material;
use crate::cli::failure::Failure;
use crate::cli::output::OutputStreams;
use crate::cli::{mapping, target};
use crate::document::export::{ExportFormat, ExportOptions, export};
use crate::preview::sample;

/// Checks the mapping, and reads example items where one of these exports holds any.
pub(super) async fn gather(job: &DocsJob, output: &OutputStreams) -> Result<Material, Failure> {
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

/// An export. What its format cannot say is a warning.
pub(super) fn written(
    format: ExportFormat,
    options: &ExportOptions,
    material: &Material,
    output: &OutputStreams,
) -> Result<String, Failure> {
    let made = export(format, &material.model, &material.samples, options).map_err(|error| {
        Failure::of(&error)
            .with_code("export")
            .with_help(error.help())
    })?;
    output.warnings(&made.warnings);
    Ok(made.text)
}
