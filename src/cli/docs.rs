//! `dynafold docs`: the definition document of a mapping, and whatever else is made from its model.

mod files;
mod material;

use super::Outcome;
use super::args::{Docs, DocsFormat};
use super::failure::Failure;
use super::output::Output;
use crate::document;
use crate::document::export::{ExportFormat, ExportOptions, Tenant, export};
use material::Material;

pub(super) async fn run(arguments: &Docs, output: &Output) -> Result<Outcome, Failure> {
    let places = files::places(arguments)?;
    let material = material::gather(arguments, output).await?;
    // All of them are made before the first is written.
    let mut texts = Vec::new();
    for (format, place) in &places {
        texts.push((place, written(*format, arguments, &material, output)?));
    }
    for (place, text) in texts {
        files::put(place, &text, output)?;
    }
    Ok(Outcome::Well)
}

/// What is written in one format. What the format cannot say is a warning.
fn written(
    format: DocsFormat,
    arguments: &Docs,
    material: &Material,
    output: &Output,
) -> Result<String, Failure> {
    let format = match format {
        DocsFormat::Html => return Ok(document::html(&material.definition)),
        DocsFormat::Markdown => return Ok(document::markdown(&material.definition)),
        DocsFormat::Cloudformation => ExportFormat::Cloudformation,
        DocsFormat::Terraform => ExportFormat::Terraform,
        DocsFormat::Workbench => ExportFormat::Workbench,
        DocsFormat::IamMigration => ExportFormat::IamMigration,
        DocsFormat::IamApplication => ExportFormat::IamApplication,
    };
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
    let made = export(format, &material.model, &material.samples, &options).map_err(|error| {
        Failure::failed(error.to_string())
            .with_code("export")
            .with_help(error.help())
    })?;
    for warning in &made.warnings {
        output.warning(warning);
    }
    Ok(made.text)
}
