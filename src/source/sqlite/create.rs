//! Makes a SQLite file from scripts: the demo's source. Nothing else here ever writes.

use std::path::Path;

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _};

use crate::source::SourceError;

/// Makes a new database file and runs scripts in it.
///
/// # Errors
///
/// [`SourceError::Connect`] when the file cannot be made, [`SourceError::Query`] when a script
/// fails.
pub async fn create(file: &Path, scripts: &[&str]) -> Result<(), SourceError> {
    let options = SqliteConnectOptions::new()
        .filename(file)
        .create_if_missing(true);
    let place = format!("sqlite:{}", file.display());
    let mut connection = options
        .connect()
        .await
        .map_err(|cause| SourceError::Connect {
            place: place.clone(),
            help: "choose a folder that can be written".to_owned(),
            cause,
        })?;
    for script in scripts {
        let script = AssertSqlSafe((*script).to_owned());
        sqlx::raw_sql(script)
            .execute(&mut connection)
            .await
            .map_err(|cause| SourceError::Query {
                object: place.clone(),
                cause,
            })?;
    }
    connection
        .close()
        .await
        .map_err(|cause| SourceError::Query {
            object: place,
            cause,
        })
}
