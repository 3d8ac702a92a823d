//! Opens the source that a command names, reads its catalog, and takes from it how long passes are.

use std::path::Path;

use super::args::SourceArguments;
use super::failure::Failure;
use super::output::Output;
use crate::catalog::Catalog;
use crate::mapping::model::Model;
use crate::source::{self, Relation, Source};

/// Connects to the source that `--source` or `DATABASE_URL` names.
pub(super) async fn open(arguments: &SourceArguments) -> Result<Box<dyn Source>, Failure> {
    let Some(url) = &arguments.source else {
        return Err(Failure::usage("no source is named").with_help(
            "say --source postgres://user@host/database (or mysql://…, sqlite:FILE), or set DATABASE_URL",
        ));
    };
    Ok(source::connect(url).await?)
}

/// Reads a catalog that `inspect --format json` wrote.
pub(super) fn from_file(path: &Path) -> Result<Catalog, Failure> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        Failure::failed(format!("cannot read the catalog `{}`", path.display())).with_cause(&error)
    })?;
    serde_json::from_str(&text).map_err(|error| {
        Failure::failed(format!("`{}` is no catalog", path.display()))
            .with_cause(&error)
            .with_help("write one with `dynafold inspect --source URL --format json`")
    })
}

/// Connects and reads the catalog.
pub(super) async fn read(
    arguments: &SourceArguments,
) -> Result<(Box<dyn Source>, Catalog), Failure> {
    let mut source = open(arguments).await?;
    let catalog = source.catalog().await?;
    Ok((source, catalog))
}

/// Connects, reads the catalog, and says what of it stays hidden.
pub(super) async fn show(arguments: &SourceArguments, output: &Output) -> Result<Catalog, Failure> {
    let (_, catalog) = read(arguments).await?;
    tell(&catalog.notices, output);
    Ok(catalog)
}

/// Says what of a catalog stays hidden.
pub(super) fn tell(notices: &[String], output: &Output) {
    for notice in notices {
        output.warning(notice);
    }
}

/// About how many rows each pass reads.
pub(super) fn estimates(model: &Model, catalog: &Catalog) -> Vec<Option<u64>> {
    let estimate = |from: &Relation| match from {
        Relation::Table(name) => catalog.table(name).and_then(|table| table.estimated_rows),
        Relation::Query(_) => None,
    };
    model
        .passes
        .iter()
        .map(|pass| estimate(&pass.scan.from))
        .collect()
}
