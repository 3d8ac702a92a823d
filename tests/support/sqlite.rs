//! Throwaway SQLite files.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, Connection as _};

use super::wait::{PATIENCE, comes};

/// A file in a folder of its own, both gone at the end.
pub(crate) struct Database {
    folder: tempfile::TempDir,
}

impl Database {
    /// Makes a file and runs a script in it.
    pub(crate) async fn new(script: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let database = Self { folder };
        database.run(script).await;
        database
    }

    /// Runs a script and closes the file again.
    pub(crate) async fn run(&self, script: &str) {
        let connection = self.writer().await;
        self.run_on(connection, script).await.close().await.unwrap();
    }

    /// A connection that writes.
    pub(crate) async fn writer(&self) -> SqliteConnection {
        let options = SqliteConnectOptions::new()
            .filename(self.file())
            .foreign_keys(false)
            .create_if_missing(true);
        SqliteConnection::connect_with(&options).await.unwrap()
    }

    /// Runs a script on a connection.
    pub(crate) async fn run_on(
        &self,
        mut connection: SqliteConnection,
        script: &str,
    ) -> SqliteConnection {
        let script = AssertSqlSafe(script.to_owned());
        sqlx::raw_sql(script)
            .execute(&mut connection)
            .await
            .unwrap();
        connection
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.folder.path().join("shop.db")
    }

    /// The folder around it.
    pub(crate) fn folder(&self) -> PathBuf {
        self.folder.path().to_owned()
    }

    /// The URL that a user would give.
    pub(crate) fn url(&self) -> String {
        format!("sqlite:{}", self.file().display())
    }
}

/// Waits until a file and its log were left alone for so long that their times prove it.
pub(crate) fn settled(file: &Path) {
    let log = PathBuf::from(format!("{}-wal", file.display()));
    let is_old = |file: &Path| {
        let age = modified(file).map(|at| at.elapsed().unwrap_or_default());
        age.is_none_or(|age| age > Duration::from_millis(2_050))
    };
    assert!(
        comes(PATIENCE, || is_old(file) && is_old(&log)),
        "it is written to all the time"
    );
}

/// Waits until what is written now has a later time than what was last written to a file.
pub(crate) fn ticked(file: &Path) {
    let probe = file.with_extension("probe");
    let is_later = || {
        std::fs::write(&probe, "").unwrap();
        modified(&probe) > modified(file)
    };
    assert!(comes(PATIENCE, is_later), "the clock stands still");
    std::fs::remove_file(&probe).unwrap();
}

/// When a file was last written to; `None` where there is none.
fn modified(file: &Path) -> Option<SystemTime> {
    std::fs::metadata(file).ok()?.modified().ok()
}
