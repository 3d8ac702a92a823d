//! Throwaway databases on the MariaDB and MySQL servers that `tests/run` names.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use sqlx::mysql::{MySqlConnectOptions, MySqlConnection};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _};
use url::Url;

use super::servers;

/// A database of its own, with the users that were made for it.
pub(crate) struct Database {
    server: Url,
    name: String,
    also: Vec<String>,
    users: Vec<String>,
    last: Vec<String>,
}

/// The servers to test against, by product. MySQL runs unless `tests/servers` says why not.
pub(crate) fn servers() -> Vec<(&'static str, Url)> {
    let mut all = vec![("mariadb", servers::url("mariadb").parse().unwrap())];
    all.extend(servers::url_if_any("mysql").map(|url| ("mysql", url.parse().unwrap())));
    all
}

impl Database {
    /// Makes an empty database.
    pub(crate) async fn new(server: &Url) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let database = Self {
            server: server.clone(),
            name: format!("dynafold_{}_{number}", std::process::id()),
            also: Vec::new(),
            users: Vec::new(),
            last: Vec::new(),
        };
        let sql = format!("CREATE DATABASE {} CHARACTER SET utf8mb4", database.name);
        run_at(server, &sql).await;
        database
    }

    /// Runs a script in it, in a session that takes zero dates.
    pub(crate) async fn run(&self, script: &str) {
        let script = format!("SET sql_mode = '', time_zone = '+09:00';\n{script}");
        run_at(&self.url(), &script).await;
    }

    /// Loads a packed dump with the products' own client, which knows DELIMITER. The dump's
    /// database is renamed to this one. `before` is SQL that comes first.
    pub(crate) fn load(&self, file: &Path, named: &str, before: &str) {
        let script = r#"{ echo "$7"; zcat -f "$1"; } | sed -e 's#/\*!50705#/*!50500#g' -e "s/\b$2\b/$3/g" |
            mariadb --no-defaults --protocol=tcp --host="$4" --port="$5" --user="$6" "$3""#;
        let port = self.server.port().unwrap_or(3306).to_string();
        let host = self.server.host_str().unwrap();
        let user = self.server.username();
        let loaded = std::process::Command::new("sh")
            .args(["-ec", script, "sh"])
            .arg(file)
            .args([named, &self.name, host, &port, user, before])
            .env("MYSQL_PWD", self.server.password().unwrap_or_default())
            .status();
        assert!(loaded.unwrap().success(), "{}", file.display());
    }

    /// Makes a second database beside it, and returns its name.
    pub(crate) async fn beside(&mut self) -> String {
        let name = format!("{}_{}", self.name, self.also.len());
        self.run(&format!("CREATE DATABASE {name}")).await;
        self.also.push(name.clone());
        name
    }

    /// Makes a user with some grants (`SELECT ON t`), and returns the URL to connect with.
    pub(crate) async fn user(&mut self, grants: &[&str]) -> Url {
        let user = format!("u{}_{}", self.users.len(), self.name);
        self.run(&format!("CREATE USER {user} IDENTIFIED BY 'S3cret!word'"))
            .await;
        for grant in grants {
            self.run(&format!("GRANT {grant} TO {user}")).await;
        }
        let mut url = self.url();
        url.set_username(&user).unwrap();
        url.set_password(Some("S3cret!word")).unwrap();
        self.users.push(user);
        url
    }

    /// Runs this when it is dropped.
    pub(crate) fn drop_later(&mut self, sql: String) {
        self.last.push(sql);
    }

    /// The URL that a user would give.
    pub(crate) fn url(&self) -> Url {
        let mut url = self.server.clone();
        url.set_path(&self.name);
        url
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Drops it, its neighbours and its users. Sources must be dropped before: the server waits for
    /// the end of their snapshots.
    pub(crate) async fn drop(self) {
        let mut sql = String::from("SET foreign_key_checks = 0;");
        for name in self.also.iter().chain([&self.name]) {
            writeln!(sql, "DROP DATABASE {name};").unwrap();
        }
        for user in &self.users {
            writeln!(sql, "DROP USER {user};").unwrap();
        }
        for last in &self.last {
            writeln!(sql, "{last};").unwrap();
        }
        run_at(&self.server, &sql).await;
    }
}

async fn run_at(url: &Url, script: &str) {
    let mut connection: MySqlConnection = MySqlConnectOptions::from_url(url)
        .unwrap()
        .connect()
        .await
        .unwrap();
    let script = AssertSqlSafe(script.to_owned());
    sqlx::raw_sql(script)
        .execute(&mut connection)
        .await
        .unwrap();
    connection.close().await.unwrap();
}
