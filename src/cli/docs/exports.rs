//! Exports: what they are made from, which is less than a definition takes, and their warnings.

use std::sync::Arc;

use super::material::Material;
use crate::cli::args::{Docs, DocsFormat};
use crate::cli::failure::Failure;
use crate::cli::output::Output;
use crate::cli::{mapping, target};
use crate::document::export::{ExportFormat, ExportOptions, Tenant, export};
use crate::preview::sample;

/// Checks the mapping, and reads example items where one of these exports holds any.
pub(super) async fn gather(
    arguments: &Docs,
    formats: &[DocsFormat],
    output: &Output,
) -> Result<Material, Failure> {
    let holds_items = formats.contains(&DocsFormat::Workbench) && !arguments.no_examples;
    let kept = arguments.catalog.as_deref();
    let opened = mapping::open_or_file(&arguments.source, kept, &arguments.mapping);
    let (mut source, _, file) = opened.await?;
    let model = file.into_model(output)?;
    let mut samples = Vec::new();
    if let Some(source) = source.as_mut().filter(|_| holds_items) {
        let context = target::context(&model, arguments.now)?;
        let rows = u64::from(arguments.limit);
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
    arguments: &Docs,
    material: &Material,
    output: &Output,
) -> Result<String, Failure> {
    let options = ExportOptions {
        region: arguments.service.region.clone(),
        account: arguments.account.clone(),
        tenant: match arguments.tenant.as_deref() {
            None => Tenant::Inferred,
            Some("none") => Tenant::Nobody,
            Some(name) => Tenant::Parameter(name.to_owned()),
        },
        now: arguments.now,
    };
    let made = export(format, &material.model, &material.samples, &options).map_err(|error| {
        Failure::failed(error.to_string())
            .with_code("export")
            .with_help(error.help())
    })?;
    output.warnings(&made.warnings);
    Ok(made.text)
}
