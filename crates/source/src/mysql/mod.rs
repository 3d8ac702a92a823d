//! Reads MySQL 8 and later and MariaDB 10.6 and later.
//!
//! The session is read-only, in UTC and in utf8mb4; the server's SQL mode stays as it is, so that
//! the mapping's conditions and queries mean what they mean at home. The snapshot is `InnoDB`'s:
//! tables of engines without transactions are read as they are at that moment.

mod activity;
mod catalog;
mod cut;
mod decode;
mod dialect;
mod error;
mod session;
mod statement;

use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use dynafold_relational::catalog::{Catalog, Column, Dbms, TableKind, TableName};
use dynafold_relational::scan::{Range, Scan};
use dynafold_sql::SqlQuery;
use futures_util::stream::{self, BoxStream, StreamExt as _, TryStreamExt as _};
use sqlx::mysql::{MySqlConnectOptions, MySqlConnection};
use sqlx::{AssertSqlSafe, ConnectOptions as _};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use self::decode::cell;
use self::error::{UNKNOWN_TYPE, connect_help, is_unknown_type, plain_url, relation_name};
use self::session::Session;
use super::tls::Tls;
use super::watch::{PATIENCE, Watch};
use super::{
    Activity, Canceller, Chunk, Dialect, Result, Row, Source, SourceError, SourceIdentity,
    UrlError, server_url, statement,
};
use crate::chunk::{answer, chunks, numbers};
use crate::dialect::alone;
use crate::mysql::dialect::MysqlDialect;
use crate::mysql::statement::{STATEMENTS, optional, prepare, rows, text};
use crate::range;

/// How long the server may take to answer at all.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);
/// How long it may take to speak before it is asked whether it is PostgreSQL.
const FIRST_WORD: Duration = Duration::from_secs(2);
/// What PostgreSQL's clients say first: whether there is TLS, which it answers with `S` or `N`.
const SSL_REQUEST: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 47];

/// A connection to MySQL or MariaDB.
pub struct Mysql {
    connection: MySqlConnection,
    options: MySqlConnectOptions,
    /// The URL without its secrets.
    place: String,
    server: Server,
    patience: Duration,
    /// Kept for [`Source::describe`].
    catalog: Option<Catalog>,
    /// The sequences of MariaDB, in the run's snapshot.
    sequences: Vec<TableName>,
}

/// What the server said of itself.
#[derive(Clone)]
struct Server {
    dbms: Dbms,
    version: String,
    database: Option<String>,
    user: String,
    session: Session,
}

/// What it says of TLS.
const TLS: Tls = Tls {
    mode: (
        &["ssl-mode", "sslmode"],
        &[
            "disabled",
            "preferred",
            "required",
            "verify_ca",
            "verify_identity",
        ],
    ),
    unsecured: "disabled",
    unnamed: "verify_ca",
    files: [
        &["ssl-ca", "sslca"],
        &["ssl-cert", "sslcert"],
        &["ssl-key", "sslkey"],
    ],
};

impl Mysql {
    /// Connects to `mysql://user:password@host:port/database` or `mariadb://…`.
    ///
    /// # Errors
    ///
    /// [`SourceError::Url`] for a URL that says something impossible, [`SourceError::Connect`] when
    /// the server does not answer or refuses the login.
    pub async fn connect(url: &str) -> Result<Self> {
        let rest = url.split_once(':').map_or("", |(_, rest)| rest);
        let url = server_url(&format!("mysql:{rest}"), &TLS, &["socket"])?;
        let options = MySqlConnectOptions::from_url(&url)
            .map_err(UrlError::Driver)?
            .charset("utf8mb4")
            .timezone(Some("+00:00".to_owned()))
            .pipes_as_concat(false)
            .no_engine_substitution(false)
            .statement_cache_capacity(STATEMENTS)
            .disable_statement_logging();
        let (connection, server) = open(&options).await.map_err(|cause| SourceError::Connect {
            place: plain_url(&url),
            help: connect_help(&cause),
            cause,
        })?;
        Ok(Self {
            connection,
            options,
            place: plain_url(&url),
            server,
            patience: PATIENCE,
            catalog: None,
            sequences: Vec::new(),
        })
    }

    /// Says how long a scan may give nothing before it is asked, over another connection, whether
    /// the server is still at it. A minute otherwise.
    pub fn set_patience(&mut self, patience: Duration) {
        self.patience = patience;
    }

    async fn read_catalog(&mut self) -> Result<&Catalog> {
        let catalog = catalog::read(&mut self.connection, &self.server).await;
        Ok(self
            .catalog
            .insert(self.server.checked("the schema", catalog)?))
    }

    /// Describes a query: as a scan reads it, or as it is asked alone.
    async fn describe_query(&mut self, sql: &str, alone: bool) -> Result<Vec<Column>> {
        if self.catalog.is_none() {
            self.read_catalog().await?;
        }
        let Some(catalog) = &self.catalog else {
            return Ok(Vec::new());
        };
        let described = if alone {
            catalog::describe_answer(&mut self.connection, catalog, sql).await
        } else {
            catalog::describe(&mut self.connection, catalog, sql).await
        };
        let object = "the mapping's query".to_owned();
        match described {
            Err(cause) if is_unknown_type(&cause) => {
                // The rest of the answer is still under way, so that a new session must take over;
                // there is none for a snapshot.
                let reopened = if alone {
                    Err(cause)
                } else {
                    open(&self.options).await
                };
                let cause = sqlx::Error::Decode(UNKNOWN_TYPE.into());
                let Ok(opened) = reopened else {
                    return Err(SourceError::Lost { object, cause });
                };
                (self.connection, self.server) = opened;
                Err(SourceError::Query { object, cause })
            }
            described => self.server.checked(object, described),
        }
    }

    /// Checks that SQL reads no sequence by itself: what one holds is of the moment, and not of the snapshot.
    fn check_live(&self, sql: &str) -> Result<()> {
        let read = |sql: &str| SqlQuery::read(sql, Some(self.server.dbms)).ok();
        let condition = || read(&format!("SELECT 1 WHERE {sql}"));
        if self.sequences.is_empty() {
            return Ok(());
        }
        let Some(query) = read(sql).or_else(condition) else {
            return Ok(());
        };
        let home = self.server.database.as_deref().unwrap_or_default();
        let is_read = |sequence: &&TableName| {
            query.tables.iter().any(|table| {
                let schema = table.schema.as_ref().map_or(home, |schema| &schema.text);
                sequence.name.eq_ignore_ascii_case(&table.name.text)
                    && sequence.schema.eq_ignore_ascii_case(schema)
            })
        };
        match self.sequences.iter().find(is_read) {
            Some(sequence) => Err(SourceError::Live {
                name: sequence.name.clone(),
            }),
            None => Ok(()),
        }
    }
}

#[async_trait]
impl Source for Mysql {
    fn dbms(&self) -> Dbms {
        self.server.dbms
    }

    async fn catalog(&mut self) -> Result<Catalog> {
        self.read_catalog().await.cloned()
    }

    async fn activity(&mut self) -> Result<Activity> {
        activity::read(&mut self.connection, &self.server).await
    }

    async fn describe(&mut self, sql: &str) -> Result<Vec<Column>> {
        self.describe_query(sql, false).await
    }

    async fn describe_answer(&mut self, sql: &str) -> Result<Vec<Column>> {
        self.describe_query(sql, true).await
    }

    async fn prepare(&mut self, scan: &Scan) -> Result<()> {
        // Not EXPLAIN: that wants SHOW VIEW for a view.
        let sql = statement(&MysqlDialect, scan);
        let prepared = prepare(&mut self.connection, &sql).await;
        self.server
            .checked(relation_name(&scan.from), prepared.map(drop))
    }

    // Opens a transaction that holds what the scans read, and then takes its snapshot. A name is looked up
    // when its table is opened first: by then a renamed one would be another table than the one that was
    // there at the snapshot, which shows nothing of its rows.
    async fn begin(&mut self, scans: &[&Scan]) -> Result<()> {
        let checked = self.catalog.take();
        let begun = async {
            let connection = &mut self.connection;
            rows(
                connection,
                "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ",
            )
            .await?;
            if scans.is_empty() {
                let start = "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY";
                return rows(connection, start).await.map(drop);
            }
            rows(connection, "START TRANSACTION READ ONLY").await?;
            // One statement: whatever it names is locked before anything of it is read.
            let all = scans.iter();
            let all = all.map(|scan| format!("EXISTS (\n{}\n)", statement(&MysqlDialect, scan)));
            let all = format!("SELECT {}\nLIMIT 0", all.collect::<Vec<_>>().join(", "));
            // SQL from outside: preparing takes one statement only.
            prepare(connection, &all).await?;
            rows(connection, all).await?;
            // The first read of a row takes the snapshot, of whatever table.
            let is_cheap = |name: &&&TableName| {
                let table = checked.as_ref().and_then(|catalog| catalog.table(name));
                table.is_none_or(|table| table.kind != TableKind::View && !table.live)
            };
            let tables: Vec<&TableName> = scans.iter().flat_map(|scan| scan.tables()).collect();
            if let Some(table) = tables.iter().find(is_cheap) {
                let first = format!("SELECT 1 FROM {} LIMIT 1", MysqlDialect.table(table));
                rows(connection, first).await?;
            }
            Ok(())
        };
        let begun: sqlx::Result<()> = begun.await;
        self.server.checked("the snapshot", begun)?;
        if let Some(checked) = checked {
            super::same_schema(&checked, self.read_catalog().await?, scans)?;
        }
        if self.server.dbms == Dbms::Mariadb {
            let sequences = catalog::sequences(&mut self.connection).await;
            self.sequences = self.server.checked("the schema", sequences)?;
        }
        let sql = scans.iter().flat_map(|scan| scan.foreign_sql());
        sql.into_iter().try_for_each(|sql| self.check_live(sql))
    }

    async fn numbers(&mut self, sql: &str, scan: &Scan) -> Result<Vec<Vec<u64>>> {
        let reading = async {
            // SQL from outside may be in it: preparing takes one statement only.
            prepare(&mut self.connection, sql).await?;
            numbers(&rows(&mut self.connection, sql).await?, cell)
        };
        let numbers = reading.await;
        self.server.checked(relation_name(&scan.from), numbers)
    }

    // In the text protocol: what the server prints is exact for every type but FLOAT, and the same in both products.
    fn scan<'a>(&'a mut self, scan: &'a Scan) -> BoxStream<'a, Result<Chunk>> {
        let (connection, server) = (&mut self.connection, &self.server);
        let watch = Watch {
            patience: self.patience,
            work: Arc::new((self.options.clone(), server.session.clone())),
        };
        let opened = async move {
            let sql = statement(&MysqlDialect, scan);
            if scan.has_foreign_sql() {
                // SQL from outside: preparing takes one statement only, the text protocol takes many,
                // and a second one could make the session writable.
                prepare(connection, &sql).await?;
            }
            Ok::<_, sqlx::Error>(sqlx::raw_sql(AssertSqlSafe(sql)).fetch(connection))
        };
        let rows = stream::once(opened).try_flatten().boxed();
        let fault = |cause| server.fault(relation_name(&scan.from), cause);
        chunks(rows, Some(watch), scan, cell, fault)
    }

    fn dialect(&self) -> &'static dyn Dialect {
        &MysqlDialect
    }

    async fn ask(&mut self, sql: &str, columns: &[Column]) -> Result<Vec<Row>> {
        self.check_live(sql)?;
        let sql = alone(sql);
        let reading = async {
            // SQL from outside: preparing takes one statement only. Without the sign there is but one.
            if sql.contains(';') {
                prepare(&mut self.connection, sql).await?;
            }
            answer(&rows(&mut self.connection, sql).await?, columns, cell)
        };
        let rows = reading.await;
        self.server.checked("the mapping's query", rows)
    }

    async fn cut(&mut self, scan: &Scan, rows: u64) -> Result<Vec<Range>> {
        range::cut(self, scan, rows).await
    }

    // A place in the binary log proves nothing: a session may write past the log, and what is in the
    // log already may not be in the snapshot yet.
    async fn identity(&mut self) -> Result<SourceIdentity> {
        let name = self.place.clone();
        Ok(SourceIdentity {
            name,
            stamp: None,
            user: None,
        })
    }

    fn canceller(&self) -> Option<Canceller> {
        let session = self.server.session.clone();
        Some(Canceller(Arc::new((self.options.clone(), session))))
    }
}

/// Makes a connection, with the settings of a session.
async fn open(options: &MySqlConnectOptions) -> sqlx::Result<(MySqlConnection, Server)> {
    let opened = async {
        let mut connection = options.connect().await?;
        let server = open_session(&mut connection).await?;
        Ok((connection, server))
    };
    tokio::select! {
        opened = tokio::time::timeout(CONNECT_TIMEOUT, opened) => {
            opened.unwrap_or_else(|_| Err(sqlx::Error::Io(ErrorKind::TimedOut.into())))
        }
        error = finds_postgres(options) => Err(error),
    }
}

/// Ends, with what to say, where PostgreSQL answers: it waits for its client to speak, and MySQL's client for its
/// server. A server that speaks first is left alone.
async fn finds_postgres(options: &MySqlConnectOptions) -> sqlx::Error {
    let first_byte = async {
        tokio::time::sleep(FIRST_WORD).await;
        let mut stream = TcpStream::connect((options.get_host(), options.get_port())).await?;
        stream.write_all(&SSL_REQUEST).await?;
        stream.read_u8().await
    };
    match first_byte.await {
        Ok(b'S' | b'N') => sqlx::Error::Protocol("PostgreSQL answers there".to_owned()),
        _ => std::future::pending().await,
    }
}

async fn open_session(connection: &mut MySqlConnection) -> sqlx::Result<Server> {
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
        session: Session {
            number: text(row, 3)?.parse().unwrap_or_default(),
            server: text(row, 4)?,
        },
    };
    let own = match dbms {
        Dbms::Mariadb => include_str!("sql/session_mariadb.sql"),
        _ => include_str!("sql/session_mysql.sql"),
    };
    rows(connection, own).await?;
    Ok(server)
}
