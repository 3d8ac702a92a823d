//! What the formats of `docs` are made from.

use std::sync::Arc;

use crate::catalog::Catalog;
use crate::cli::args::Docs;
use crate::cli::failure::Failure;
use crate::cli::output::Output;
use crate::cli::{catalog, mapping, target};
use crate::document::Definition;
use crate::mapping::Proofs;
use crate::mapping::model::Model;
use crate::preview::{ItemTypeSample, sample};

/// A checked mapping, and what its source says.
pub(super) struct Material {
    pub(super) model: Arc<Model>,
    pub(super) catalog: Catalog,
    pub(super) proofs: Proofs,
    /// The first items of each item type, in the order of the mapping; none where no data is to be
    /// shown or there is no source.
    pub(super) samples: Vec<ItemTypeSample>,
    pub(super) definition: Definition,
}

/// Checks the mapping and reads what is needed. A mapping with errors ends here.
pub(super) async fn gather(arguments: &Docs, output: &Output) -> Result<Material, Failure> {
    let (mut source, catalog) = match &arguments.catalog {
        Some(file) => (None, catalog::from_file(file)?),
        None if arguments.source.source.is_none() => {
            return Err(Failure::usage("no source is named").with_help(
                "say --source URL or set DATABASE_URL, or say --catalog FILE with what `dynafold inspect --format json` wrote",
            ));
        }
        None => {
            let (source, catalog) = catalog::read(&arguments.source).await?;
            (Some(source), catalog)
        }
    };
    let checked = match &mut source {
        Some(source) => mapping::check(&arguments.mapping, &catalog, Some(source.as_mut())).await?,
        None => mapping::check(&arguments.mapping, &catalog, None).await?,
    };
    let proofs = checked.proofs.clone();
    let model = Arc::new(checked.into_model(output)?);
    let samples = match &mut source {
        Some(source) if !arguments.no_examples => {
            let context = target::context(&model, arguments.now)?;
            let rows = u64::from(arguments.limit);
            sample(source.as_mut(), &model, context, rows, &|_| true).await?
        }
        _ => Vec::new(),
    };
    let definition = Definition {
        table: model.table.name.clone(),
    };
    Ok(Material {
        proofs: proofs.ok_or_else(Failure::silent)?,
        model,
        catalog,
        samples,
        definition,
    })
}
