//! The way from what `--target` says to a target.

use std::sync::Arc;

use super::spec::TargetSpec;
use super::{Result, Target, dynamodb, local};

/// Opens a target. Sends nothing to a service yet; a `local` file that exists is opened, one that
/// does not is made by [`Target::create`].
///
/// # Errors
///
/// [`TargetError`] with the code `Region`, `Credentials`, `Connection` or `File`.
pub async fn connect(spec: &TargetSpec) -> Result<Arc<dyn Target>> {
    Ok(Arc::new(match spec {
        TargetSpec::Dynamodb(options) => dynamodb::open(options).await?,
        TargetSpec::Local { file } => local::open(file.as_deref()).await?,
    }))
}
