//! Throwaway SQLite files.

use std::path::PathBuf;

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, Connection as _};

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

    /// The file.
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
