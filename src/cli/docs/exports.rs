//! Exports: what they are made from, which is less than a definition takes, and their warnings.

use std::sync::Arc;

use super::material::Material;
use crate::cli::args::{Docs, DocsFormat};
use crate::cli::failure::Failure;
use crate::cli::output::Output;
use crate::cli::{catalog, mapping, target};
use crate::document::export::{ExportFormat, ExportOptions, Tenant, export};
use crate::mapping::model::Model;
use crate::preview::{ItemTypeSample, sample};

/// What exports are made from.
pub(super) struct Ground {
    model: Arc<Model>,
    /// Example items, if any are to be shown.
    samples: Vec<ItemTypeSample>,
}

/// Checks the mapping, and reads example items where an export holds any. What a definition has
/// gathered is not gathered again.
pub(super) async fn ground(
    arguments: &Docs,
    formats: &[DocsFormat],
    gathered: Option<&Material>,
    output: &Output,
) -> Result<Ground, Failure> {
    let holds_items = formats.contains(&DocsFormat::Workbench) && !arguments.no_examples;
    if let Some(material) = gathered {
        let mut samples = Vec::new();
        if holds_items {
            samples.clone_from(&material.samples);
            for sample in &mut samples {
                sample.items.truncate(usize::from(arguments.limit));
            }
        }
        return Ok(Ground {
            model: material.model.clone(),
            samples,
        });
    }
    let (mut source, catalog) =
        catalog::source_or_file(&arguments.source, arguments.catalog.as_deref()).await?;
    let model = mapping::check(&arguments.mapping, &catalog, source.as_deref_mut()).await?;
    let model = model.into_model(output)?;
    let mut samples = Vec::new();
    if let Some(source) = source.as_mut().filter(|_| holds_items) {
        let context = target::context(&model, arguments.now)?;
        let rows = u64::from(arguments.limit);
        samples = sample(source.as_mut(), &model, context, rows, &|_| true).await?;
    }
    Ok(Ground {
        model: Arc::new(model),
        samples,
    })
}

/// An export. What its format cannot say is a warning.
pub(super) fn written(
    format: ExportFormat,
    arguments: &Docs,
    ground: &Ground,
    output: &Output,
) -> Result<String, Failure> {
    let options = ExportOptions {
        region: arguments.region.clone(),
        account: arguments.account.clone(),
        tenant: match arguments.tenant.as_deref() {
            None => Tenant::Inferred,
            Some("none") => Tenant::Nobody,
            Some(name) => Tenant::Parameter(name.to_owned()),
        },
        now: arguments.now,
    };
    let made = export(format, &ground.model, &ground.samples, &options).map_err(|error| {
        Failure::failed(error.to_string())
            .with_code("export")
            .with_help(error.help())
    })?;
    for warning in &made.warnings {
        output.warning(warning);
    }
    Ok(made.text)
}
