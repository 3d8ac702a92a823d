//! Opens the source that a command names, reads its catalog.

use std::path::Path;

use super::args::SourceArguments;
use super::failure::Failure;
use super::output::Output;
use crate::catalog::Catalog;
use crate::source::{self, Source};

/// Connects to the source that `--source` or `DATABASE_URL` names.
pub(super) async fn open(arguments: &SourceArguments) -> Result<Box<dyn Source>, Failure> {
    let Some(url) = &arguments.source else {
        return Err(Failure::usage("no source is named").with_help(
            "say --source postgres://user@host/database (or mysql://…, sqlite:FILE), or set DATABASE_URL",
        ));
    };
    Ok(source::connect(url).await?)
}

/// The catalog, and the source unless the catalog is read from a file.
pub(super) async fn source_or_file(
    source: &SourceArguments,
    file: Option<&Path>,
) -> Result<(Option<Box<dyn Source>>, Catalog), Failure> {
    if let Some(file) = file {
        return Ok((None, from_file(file)?));
    }
    if source.source.is_none() {
        return Err(Failure::usage("no source is named").with_help(
            "say --source URL or set DATABASE_URL, or say --catalog FILE with what `dynafold inspect --format json` wrote",
        ));
    }
    let (source, catalog) = read(source).await?;
    Ok((Some(source), catalog))
}

/// Reads a catalog that `inspect --format json` wrote.
fn from_file(path: &Path) -> Result<Catalog, Failure> {
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
    output.warnings(&catalog.notices);
    Ok(catalog)
}
