//! Opens the source that a command names, reads its catalog.

use std::path::{Path, PathBuf};

use super::failure::Failure;
use crate::catalog::Catalog;
use crate::source::{self, Source};

/// Where a catalog comes from.
#[derive(Debug)]
pub(super) enum CatalogOrigin {
    /// The source with this URL.
    Source(String),
    /// What `inspect --format json` wrote.
    File(PathBuf),
}

impl CatalogOrigin {
    /// What `--catalog` names, or else the source.
    pub(super) fn of(source: Option<String>, catalog: Option<PathBuf>) -> Result<Self, Failure> {
        match (catalog, source) {
            (Some(file), _) => Ok(Self::File(file)),
            (None, Some(url)) => Ok(Self::Source(url)),
            (None, None) => Err(Failure::usage("no source is named").with_help(
                "use --source URL, set DATABASE_URL, or use --catalog FILE with the output of `dynafold inspect --format json`",
            )),
        }
    }

    /// The catalog, and the source unless the catalog is read from a file.
    pub(super) async fn read(&self) -> Result<(Option<Box<dyn Source>>, Catalog), Failure> {
        match self {
            Self::File(file) => Ok((None, from_file(file)?)),
            Self::Source(url) => {
                let (source, catalog) = read(url).await?;
                Ok((Some(source), catalog))
            }
        }
    }
}

/// Reads a catalog that `inspect --format json` wrote.
fn from_file(path: &Path) -> Result<Catalog, Failure> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::unread("the catalog ", path, &error))?;
    serde_json::from_str(&text).map_err(|error| {
        Failure::failed(format!("`{}` is not a catalog", path.display()))
            .with_cause(&error)
            .with_help("write one with `dynafold inspect --source URL --format json`")
    })
}

/// Connects and reads the catalog.
pub(super) async fn read(url: &str) -> Result<(Box<dyn Source>, Catalog), Failure> {
    let mut source = source::connect(url).await?;
    let catalog = source.catalog().await?;
    Ok((source, catalog))
}
