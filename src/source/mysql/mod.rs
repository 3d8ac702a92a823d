//! Reads MySQL 8 and later and MariaDB 10.6 and later.
//!
//! The session is read-only, in UTC and in utf8mb4; the server's SQL mode stays as it is, so that
//! the mapping's conditions and queries mean what they mean at home. The snapshot is `InnoDB`'s:
//! tables of engines without transactions are read as they are at that moment.

mod catalog;
mod decode;
mod describe;
mod scan;

use std::fmt;
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use sqlx::mysql::{MySqlConnectOptions, MySqlConnection, MySqlDatabaseError};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Executor as _, SqlSafeStr as _};
use url::Url;

use self::catalog::{optional, rows, text};
use self::scan::{MysqlDialect, object};
use super::{
    Chunk, Dialect as _, Relation, Scan, Source, SourceError, check_parameters, statement,
};
use crate::catalog::{Catalog, Column, Dbms};

/// How long the server may take to answer at all.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);

/// A connection to MySQL or MariaDB.
pub struct Mysql {
    connection: MySqlConnection,
    server: Server,
    /// Kept for [`Source::describe`].
    catalog: Option<Catalog>,
}

/// What the server said of itself.
#[derive(Debug, Clone)]
struct Server {
    dbms: Dbms,
    version: String,
    database: Option<String>,
    user: String,
}

impl fmt::Debug for Mysql {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mysql")
            .field("server", &self.server)
            .finish_non_exhaustive()
    }
}

/// What a URL may say after `?`.
const PARAMETERS: &[&str] = &[
    "sslmode", "ssl-mode", "sslca", "ssl-ca", "sslcert", "ssl-cert", "sslkey", "ssl-key", "socket",
];

impl Mysql {
    /// Connects to `mysql://user:password@host:port/database` or `mariadb://…`.
    ///
    /// # Errors
    ///
    /// [`SourceError::Url`] for a URL that says something impossible, [`SourceError::Connect`] when
    /// the server does not answer or refuses the login.
    pub async fn connect(url: &str) -> Result<Self, SourceError> {
        let rest = url.split_once(':').map_or("", |(_, rest)| rest);
        let url = Url::parse(&format!("mysql:{rest}"))
            .map_err(|error| SourceError::Url(error.to_string()))?;
        check_parameters(&url, PARAMETERS)?;
        let options = MySqlConnectOptions::from_url(&url)
            .map_err(|error| SourceError::Url(error.to_string()))?
            .charset("utf8mb4")
            .timezone(Some("+00:00".to_owned()))
            .pipes_as_concat(false)
            .no_engine_substitution(false)
            .statement_cache_capacity(0)
            .disable_statement_logging();
        let opened = async {
            let mut connection = options.connect().await?;
            let server = open_session(&mut connection).await?;
            Ok((connection, server))
        };
        let opened = tokio::time::timeout(CONNECT_TIMEOUT, opened).await;
        let opened = opened.unwrap_or_else(|_| Err(sqlx::Error::Io(timed_out())));
        let (connection, server) = opened.map_err(|cause| SourceError::Connect {
            place: place(&url),
            help: help(&cause),
            cause,
        })?;
        Ok(Self {
            connection,
            server,
            catalog: None,
        })
    }

    async fn read_catalog(&mut self) -> Result<&Catalog, SourceError> {
        let catalog = match catalog::read(&mut self.connection, &self.server).await {
            Ok(catalog) => catalog,
            Err(cause) => return Err(self.server.fault("the schema".to_owned(), cause)),
        };
        Ok(self.catalog.insert(catalog))
    }

    async fn describe_query(&mut self, sql: &str) -> Result<Vec<Column>, SourceError> {
        if self.catalog.is_none() {
            self.read_catalog().await?;
        }
        let Some(catalog) = &self.catalog else {
            return Ok(Vec::new());
        };
        let described = describe::describe(&mut self.connection, catalog, sql).await;
        described.map_err(|cause| self.server.fault("the mapping's query".to_owned(), cause))
    }

    async fn count_rows(&mut self, from: &Relation) -> Result<u64, SourceError> {
        let from_sql = match from {
            Relation::Table(name) => MysqlDialect.table(name),
            Relation::Query(sql) => format!("({}\n) AS q", sql.trim().trim_end_matches(';')),
        };
        let counted = async {
            let sql = format!("SELECT COUNT(*) FROM {from_sql}");
            let rows = rows(&mut self.connection, sql).await?;
            let row = rows.first().ok_or(sqlx::Error::RowNotFound)?;
            text(row, 0)?
                .parse()
                .map_err(|error| sqlx::Error::Decode(Box::new(error)))
        };
        let counted = counted.await;
        counted.map_err(|cause| self.server.fault(object(from), cause))
    }
}

impl Source for Mysql {
    fn dbms(&self) -> Dbms {
        self.server.dbms
    }

    fn catalog(&mut self) -> BoxFuture<'_, Result<Catalog, SourceError>> {
        Box::pin(async { self.read_catalog().await.cloned() })
    }

    fn describe<'a>(&'a mut self, sql: &'a str) -> BoxFuture<'a, Result<Vec<Column>, SourceError>> {
        Box::pin(self.describe_query(sql))
    }

    fn prepare<'a>(&'a mut self, scan: &'a Scan) -> BoxFuture<'a, Result<(), SourceError>> {
        Box::pin(async {
            // Not EXPLAIN: that wants SHOW VIEW for a view. Preparing takes one statement only, so
            // that no condition can bring a second one along.
            let sql = AssertSqlSafe(statement(&MysqlDialect, scan)).into_sql_str();
            let prepared = self.connection.prepare(sql).await;
            prepared
                .map(drop)
                .map_err(|cause| self.server.fault(object(&scan.from), cause))
        })
    }

    fn begin(&mut self) -> BoxFuture<'_, Result<(), SourceError>> {
        Box::pin(async {
            let begun = async {
                let isolation = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ";
                rows(&mut self.connection, isolation).await?;
                let start = "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY";
                rows(&mut self.connection, start).await
            };
            let begun = begun.await;
            begun
                .map(drop)
                .map_err(|cause| self.server.fault("the snapshot".to_owned(), cause))
        })
    }

    fn count<'a>(&'a mut self, from: &'a Relation) -> BoxFuture<'a, Result<u64, SourceError>> {
        Box::pin(self.count_rows(from))
    }

    fn scan<'a>(&'a mut self, scan: &'a Scan) -> BoxStream<'a, Result<Chunk, SourceError>> {
        let server = &self.server;
        scan::scan(&mut self.connection, scan, |object, cause| {
            server.fault(object, cause)
        })
    }
}

async fn open_session(connection: &mut MySqlConnection) -> Result<Server, sqlx::Error> {
    rows(connection, include_str!("sql/session.sql")).await?;
    let answer = rows(connection, include_str!("sql/server.sql")).await?;
    let row = answer.first().ok_or(sqlx::Error::RowNotFound)?;
    let version = text(row, 0)?;
    let dbms = if version.contains("MariaDB") {
        Dbms::Mariadb
    } else {
        Dbms::Mysql
    };
    let server = Server {
        dbms,
        version,
        database: optional(row, 1)?,
        user: text(row, 2)?,
    };
    let own = match dbms {
        Dbms::Mariadb => include_str!("sql/session_mariadb.sql"),
        _ => include_str!("sql/session_mysql.sql"),
    };
    rows(connection, own).await?;
    Ok(server)
}

impl Server {
    /// Puts the driver's error into the protocol's words.
    fn fault(&self, object: String, cause: sqlx::Error) -> SourceError {
        match number(&cause) {
            // Access denied: to a schema, a table, a column, a routine.
            Some(1044 | 1142 | 1143 | 1370) => {
                let (user, host) = self.user.rsplit_once('@').unwrap_or((&self.user, "%"));
                let help =
                    format!("let an administrator GRANT SELECT ON {object} TO '{user}'@'{host}'");
                SourceError::Permission {
                    object,
                    help,
                    cause,
                }
            }
            // Shutdown, killed, timed out between rows, a network error that the server saw.
            Some(1053 | 1152 | 1158..=1161 | 1927 | 2006 | 2013 | 4031) => {
                SourceError::Lost { object, cause }
            }
            Some(_) => SourceError::Query { object, cause },
            None => match &cause {
                sqlx::Error::Io(_) | sqlx::Error::Tls(_) | sqlx::Error::Protocol(_) => {
                    SourceError::Lost { object, cause }
                }
                _ => SourceError::Query { object, cause },
            },
        }
    }
}

/// The server's own error number.
fn number(cause: &sqlx::Error) -> Option<u16> {
    let error = cause.as_database_error()?;
    Some(error.try_downcast_ref::<MySqlDatabaseError>()?.number())
}

/// The URL without user, password and parameters.
fn place(url: &Url) -> String {
    let host = url.host_str().unwrap_or("localhost");
    let port = url.port().unwrap_or(3306);
    format!("mysql://{host}:{port}{}", url.path().trim_end_matches('/'))
}

fn timed_out() -> std::io::Error {
    std::io::Error::from(std::io::ErrorKind::TimedOut)
}

/// What to do when no connection can be made.
fn help(cause: &sqlx::Error) -> String {
    use std::io::ErrorKind::{ConnectionRefused, NotFound, TimedOut};
    let known = match (cause, number(cause)) {
        (_, Some(1045 | 1698)) => {
            "the server refuses this user or password; in a URL, write special characters of the \
             password as %XX"
        }
        (_, Some(1044)) => {
            "this user may not use the database; let an administrator GRANT SELECT on its tables"
        }
        (_, Some(1049)) => "the server has no database of this name; SHOW DATABASES lists them",
        (_, Some(1040 | 1203 | 1226)) => {
            "the server takes no more connections now; try again later"
        }
        (_, Some(1129 | 1130)) => "the server takes no connections from this machine",
        (sqlx::Error::Io(error), _) if error.kind() == ConnectionRefused => {
            "nothing answers there: is the server running, and are host and port right?"
        }
        (sqlx::Error::Io(error), _) if error.kind() == TimedOut => {
            "nothing answers there: is the host right, and does a firewall or security group let \
             this machine in?"
        }
        (sqlx::Error::Io(error), _) if error.kind() == NotFound => {
            "there is no such socket; check the URL's `socket`"
        }
        (sqlx::Error::Io(error), _) if error.to_string().contains("lookup") => {
            "the host's name is not known; check its spelling"
        }
        (sqlx::Error::Tls(_), _) => {
            "no encrypted connection could be made; `?ssl-ca=FILE` names the authority, \
             `?ssl-mode=disabled` does without encryption on a network that you trust"
        }
        (sqlx::Error::Configuration(_), _) => {
            "the server wants the password over an encrypted connection; add `?ssl-mode=required`"
        }
        _ => "check the URL, and that this is a MySQL or MariaDB server",
    };
    known.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_holds_no_secret() {
        let url = Url::parse("mysql://app:s3cret@db.example/shop?ssl-mode=required&password=x");
        assert_eq!(place(&url.unwrap()), "mysql://db.example:3306/shop");
    }
}
