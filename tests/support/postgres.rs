//! Throwaway PostgreSQL databases on the server that `DYNAFOLD_TEST_POSTGRES` names.

use std::sync::atomic::{AtomicU32, Ordering};

use sqlx::{AssertSqlSafe, Connection as _, PgConnection};
use url::Url;

use super::servers;

/// A database of its own for one test, dropped with it.
pub(crate) struct Database {
    server: Url,
    name: String,
    roles: Vec<String>,
}

impl Database {
    /// Creates an empty database.
    pub(crate) async fn create() -> Self {
        Self::encoded("UTF8").await
    }

    /// Creates an empty database in one of the server's encodings: in others than UTF-8 with the collation `C`.
    pub(crate) async fn encoded(encoding: &str) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let server = servers::url("postgres");
        let database = Self {
            server: server.parse().expect("a URL"),
            name: format!(
                "dynafold_{}_{}",
                std::process::id(),
                NEXT.fetch_add(1, Ordering::Relaxed)
            ),
            roles: Vec::new(),
        };
        run(
            database.server.as_str(),
            &format!(
                "CREATE DATABASE {} TEMPLATE template0 ENCODING '{encoding}'{}",
                database.name,
                if encoding == "UTF8" {
                    ""
                } else {
                    " LC_COLLATE 'C' LC_CTYPE 'C'"
                }
            ),
        )
        .await;
        database
    }

    /// Creates a database and runs SQL in it.
    pub(crate) async fn with(sql: &str) -> Self {
        let database = Self::create().await;
        database.run(sql).await;
        database
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The URL for the server's owner.
    pub(crate) fn url(&self) -> String {
        let mut url = self.server.clone();
        url.set_path(&self.name);
        url.into()
    }

    /// The URL for another role.
    pub(crate) fn url_as(&self, role: &str, password: &str) -> String {
        let mut url: Url = self.url().parse().expect("a URL");
        url.set_username(role).expect("a user");
        url.set_password(Some(password)).expect("a password");
        url.into()
    }

    /// Creates a login role with the password `secret`, dropped with the database. Roles belong to
    /// the whole server, so the name is made unique and given back.
    pub(crate) async fn role(&mut self, name: &str) -> String {
        let role = format!("{}_{name}", self.name);
        self.run(&format!("CREATE ROLE {role} LOGIN PASSWORD 'secret'"))
            .await;
        self.roles.push(role.clone());
        role
    }

    /// Runs SQL in it.
    pub(crate) async fn run(&self, sql: &str) {
        run(&self.url(), sql).await;
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let drop_database = format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name);
        let drop_roles = self.roles.iter().map(|role| format!("DROP ROLE {role}"));
        let statements: Vec<String> = std::iter::once(drop_database).chain(drop_roles).collect();
        let server = self.server.to_string();
        // A test's own runtime cannot be waited for from within it.
        let dropped = std::thread::spawn(move || {
            tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("a runtime")
                .block_on(async {
                    for statement in statements {
                        run(&server, &statement).await;
                    }
                });
        });
        assert!(dropped.join().is_ok() || std::thread::panicking());
    }
}

async fn run(url: &str, sql: &str) {
    let mut connection = PgConnection::connect(url).await.expect("a connection");
    if let Err(error) = sqlx::raw_sql(AssertSqlSafe(sql.to_owned()))
        .execute(&mut connection)
        .await
    {
        panic!("{error}\n{sql}");
    }
    connection.close().await.expect("the connection closes");
}
