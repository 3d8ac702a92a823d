//! The same example database on every product: `migrations/` run into a throwaway database.

use std::path::Path;

use sqlx::{
    AssertSqlSafe, Connection as _, Decode, MySql, MySqlConnection, PgConnection, Postgres, Sqlite,
    SqliteConnection, Type, query_scalar,
};

use super::{mysql, postgres, sqlite};

/// A throwaway database of any product, gone at the end.
pub(crate) enum Source {
    Sqlite(sqlite::Database),
    Postgres(postgres::Database),
    Mysql(&'static str, mysql::Database),
}

impl Source {
    /// The example database of that name on every server that there is.
    pub(crate) async fn everywhere(migration: &str) -> Vec<Self> {
        Self::each(|product| script(product, migration)).await
    }

    /// The example database of that name in a SQLite file.
    pub(crate) async fn on_sqlite(migration: &str) -> Self {
        Self::Sqlite(sqlite::Database::new(&script("sqlite", migration)).await)
    }

    /// A database on every server that there is, made by the script for its dialect: `sqlite`,
    /// `postgres` or `mysql`.
    pub(crate) async fn each(script: impl Fn(&str) -> String) -> Vec<Self> {
        let mut all = vec![
            Self::Sqlite(sqlite::Database::new(&script("sqlite")).await),
            Self::Postgres(postgres::Database::with(&script("postgres")).await),
        ];
        for (product, server) in mysql::servers() {
            let database = mysql::Database::new(&server).await;
            database.run(&script("mysql")).await;
            all.push(Self::Mysql(product, database));
        }
        all
    }

    pub(crate) fn product(&self) -> &'static str {
        match self {
            Self::Sqlite(_) => "sqlite",
            Self::Postgres(_) => "postgres",
            Self::Mysql(product, _) => product,
        }
    }

    /// The URL that a user would give.
    pub(crate) fn url(&self) -> String {
        match self {
            Self::Sqlite(database) => database.url(),
            Self::Postgres(database) => database.url(),
            Self::Mysql(_, database) => database.url().to_string(),
        }
    }

    /// Runs SQL that every product understands.
    pub(crate) async fn run(&self, sql: &str) {
        match self {
            Self::Sqlite(database) => database.run(sql).await,
            Self::Postgres(database) => database.run(sql).await,
            Self::Mysql(_, database) => database.run(sql).await,
        }
    }

    /// The rows of a query, whose one column is an `integer`.
    pub(crate) async fn integers(&self, sql: &str) -> Vec<i32> {
        self.ask(sql).await
    }

    /// The rows of a query, whose one column is text.
    pub(crate) async fn texts(&self, sql: &str) -> Vec<String> {
        self.ask(sql).await
    }

    async fn ask<T>(&self, sql: &str) -> Vec<T>
    where
        T: for<'r> Decode<'r, Sqlite> + Type<Sqlite> + for<'r> Decode<'r, Postgres>,
        T: Type<Postgres> + for<'r> Decode<'r, MySql> + Type<MySql> + Send + Unpin,
    {
        let (url, query) = (self.url(), AssertSqlSafe(sql.to_owned()));
        match self {
            Self::Sqlite(_) => {
                let mut connection = SqliteConnection::connect(&url).await.unwrap();
                query_scalar(query)
                    .fetch_all(&mut connection)
                    .await
                    .unwrap()
            }
            Self::Postgres(_) => {
                let mut connection = PgConnection::connect(&url).await.unwrap();
                query_scalar(query)
                    .fetch_all(&mut connection)
                    .await
                    .unwrap()
            }
            Self::Mysql(..) => {
                let mut connection = MySqlConnection::connect(&url).await.unwrap();
                query_scalar(query)
                    .fetch_all(&mut connection)
                    .await
                    .unwrap()
            }
        }
    }

    /// Waits until a file was left alone for so long that its times prove it. Servers need no such time.
    pub(crate) fn settled(&self) {
        if let Self::Sqlite(database) = self {
            sqlite::settled(&database.file());
        }
    }

    pub(crate) async fn drop(self) {
        if let Self::Mysql(_, database) = self {
            database.drop().await;
        }
    }
}

/// The migration of that name for a product.
fn script(product: &str, migration: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("migrations")
        .join(product);
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path())
        .collect();
    files.sort();
    let named = |file: &&std::path::PathBuf| {
        file.file_stem()
            .unwrap()
            .to_string_lossy()
            .ends_with(migration)
    };
    std::fs::read_to_string(files.iter().find(named).unwrap()).unwrap()
}
