//! The relational side: one trait, three databases.
//!
//! # The protocol
//!
//! [`connect`] opens a [`Source`] from a URL. It makes one connection and sends nothing that could
//! write: the session is put into read-only mode before anything else. [`Source::catalog`] and
//! [`Source::describe`] read the schema. [`Source::begin`] opens the one snapshot that every later
//! [`Source::count`] and [`Source::scan`] of the run sees; it is called once, before the first of
//! them, and ends when the source is dropped. Scans run one after the other on the same snapshot.
//!
//! A scan hands out [`Chunk`]s of rows in the order the database gives them. Each row holds one
//! value for each of the scan's columns, then one [`Value::Bool`] for each of its conditions. A scan
//! with embeds is one statement too: parents and children come in the order of the parents' keys
//! (`select.rs`), and `family.rs` puts them together. Rows
//! that meet none of the conditions are left out by the database. A value that cannot be read as
//! its column's type says is [`Value::Unfit`], never an error: an error ends the scan, and means
//! that the database refused the query or went away.
//!
//! A scan with a [`Range`] reads a part of its base relation, with the children of that part. The
//! ranges that [`Source::cut`] gives can be read one after the other or, over [`Source::forks`],
//! side by side; what they leave behind is told by [`Source::orphans`].
//!
//! Dropping the stream before its end abandons the query; the source is good for another scan
//! afterwards only if the stream was read to its end.

mod activity;
mod chunk;
mod dialect;
mod family;
mod layout;
mod literal;
mod message;
mod printed;
mod range;
mod select;
mod tls;
mod watch;

pub mod mysql;
pub mod postgres;
pub mod sqlite;

pub use activity::Activity;
pub use dialect::Dialect;
pub use message::database_message;
pub use select::{statement, values_of_no_rows};
use tls::Tls;
pub use watch::Canceller;

use async_trait::async_trait;
use dynafold_format::address::{self, AddressFault};
use dynafold_format::{has_word, nearest};
use dynafold_relational::catalog::{Catalog, Column, Dbms, Table, TableName};
use dynafold_relational::scan::{Range, Relation, Scan};
use dynafold_relational::value::Value;
use futures_util::stream::BoxStream;
use serde::{Deserialize, Serialize};
use url::Url;

/// Which database a source is, and what tells its state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceIdentity {
    /// The database without user, password and parameters: `postgres://db.example:5432/app`, or the
    /// absolute file.
    pub name: String,
    /// Two equal stamps prove that no stored row changed between the two snapshots. `None` where the
    /// database cannot prove it. It says nothing of SQL that depends on more than stored rows: the
    /// clock, chance, a setting of the session.
    pub stamp: Option<String>,
    /// The database user (PostgreSQL): row security may show other rows to another one.
    pub user: Option<String>,
}

/// One row: the scan's columns in order, then its conditions as booleans.
pub type Row = Box<[Value]>;

/// Rows that come together; a few hundred, or about a megabyte.
#[derive(Debug, Default)]
pub struct Chunk {
    /// Its rows, in the order of the scan.
    pub rows: Vec<Row>,
    /// Children that stand in none of the rows so far, told once, for those of the scan's columns
    /// that are embeds: the column's index and what was left behind since the last chunk.
    pub left: Vec<(usize, LeftBehind)>,
}

/// Children that stand in no parent.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct LeftBehind {
    /// Children whose parent is missing or not read: their reference is NULL or leads nowhere, or what it leads to is an
    /// orphan itself or is left out by a condition of its embed.
    pub orphans: u64,
    /// Children beyond the embed's limit.
    pub cut: u64,
}

/// A snapshot that sessions of other processes can take over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedSnapshot {
    /// The database's name for it.
    name: String,
    /// Which transactions it shows.
    shows: String,
    /// When the server was started: another server may have a snapshot of the same name.
    server_started: String,
}

impl SharedSnapshot {
    fn gone(&self, cause: Option<sqlx::Error>) -> SourceError {
        let name = self.name.clone();
        SourceError::SnapshotGone { name, cause }
    }
}

/// What asking a source gives.
pub type Result<T, E = SourceError> = std::result::Result<T, E>;

/// How a source failed.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// When the URL is not one of a database that Dynafold reads.
    #[error("the source URL is not usable")]
    Url(#[source] UrlError),
    /// When no connection could be made or the login was refused.
    #[error("cannot connect to {place}")]
    Connect {
        /// The place without user and password, such as `postgres://db.example:5432/app`.
        place: String,
        /// What to do about it.
        help: String,
        /// The driver's error.
        #[source]
        cause: sqlx::Error,
    },
    /// When the database refuses because a privilege is missing.
    #[error("no permission on {object}")]
    Permission {
        /// What was read.
        object: String,
        /// What to do about it.
        help: String,
        /// The driver's error.
        #[source]
        cause: sqlx::Error,
    },
    /// When a query fails for another reason: a condition that is not SQL, a table that is gone.
    #[error("the database refused the query on {object}")]
    Query {
        /// What was read.
        object: String,
        /// The driver's error.
        #[source]
        cause: sqlx::Error,
    },
    /// When what is read is not what the mapping was checked against, or not what the snapshot shows.
    #[error("{what}")]
    Moved {
        /// What has changed, and since when.
        what: String,
    },
    /// When the snapshot that another session was to share has ended, or is another server's.
    #[error("the shared snapshot {name} is gone")]
    SnapshotGone {
        /// The name under which it was shared.
        name: String,
        /// What the database says; `None` where it is another server, or a database that shares none.
        #[source]
        cause: Option<sqlx::Error>,
    },
    /// When SQL reads what no snapshot holds still.
    #[error("the sequence {name} is read, and its value is not part of the snapshot")]
    Live {
        /// The sequence.
        name: String,
    },
    /// When the database does not count its statements, or does not show what it has counted.
    #[error("{what}")]
    Uncounted {
        /// What is missing.
        what: String,
        /// What to do about it.
        help: String,
    },
    /// When the connection broke while rows were read.
    #[error("the connection to the database was lost while reading {object}")]
    Lost {
        /// What was read.
        object: String,
        /// The driver's error.
        #[source]
        cause: sqlx::Error,
    },
}

/// Why a source's URL is not usable. No text holds a password.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UrlError {
    /// When it is no URL.
    #[error("it cannot be read (special characters in user and password are written as %XX)")]
    Unread(#[from] url::ParseError),
    /// When the driver does not take it.
    #[error(
        "the driver cannot read it (special characters in user and password are written as %XX)"
    )]
    Driver(#[source] sqlx::Error),
    /// When a part of its password would be shown.
    #[error(transparent)]
    Address(#[from] AddressFault),
    /// When it is of no database that is known. The scheme, where it is short enough to be one.
    #[error("its scheme must be postgres, mysql, mariadb or sqlite{}", .0.as_ref().map_or_else(String::new, |scheme| format!(" (it is `{scheme}`)")))]
    Scheme(Option<String>),
    /// When it names a SQLite database in memory.
    #[error("it names no file, and a database in memory would be empty")]
    InMemory,
    /// When it has a parameter that the driver would pass over in silence.
    #[error("it has an unknown parameter `{name}`; {mend}")]
    UnknownParameter {
        /// The parameter.
        name: String,
        /// The nearest name, or all of them.
        mend: String,
    },
    /// When a parameter has a value that is none of its words.
    #[error("its `{name}` must be one of {}", words.join(", "))]
    Value {
        /// The parameter.
        name: String,
        /// The values that it can have.
        words: &'static [&'static str],
    },
    /// When the file that a parameter names cannot be read.
    #[error("the file of its `{name}` cannot be read")]
    File {
        /// The parameter.
        name: String,
        /// What the system says.
        #[source]
        cause: std::io::Error,
    },
    /// When the file that a parameter names holds something else.
    #[error("the file of its `{name}` has no {what} in PEM format")]
    NotPem {
        /// The parameter.
        name: String,
        /// What it should hold.
        what: &'static str,
    },
    /// When one of two parameters that need each other is missing.
    #[error("`{0}` needs `{1}`, and `{1}` needs `{0}`: give both or neither")]
    Together(&'static str, &'static str),
}

impl<E> From<E> for SourceError
where
    UrlError: From<E>,
{
    fn from(error: E) -> Self {
        Self::Url(error.into())
    }
}

impl SourceError {
    fn moved(what: impl Into<String>) -> Self {
        Self::Moved { what: what.into() }
    }

    /// What the user can do about it, where there is something to say.
    pub fn help(&self) -> Option<&str> {
        match self {
            Self::Connect { help, .. }
            | Self::Permission { help, .. }
            | Self::Uncounted { help, .. } => Some(help),
            Self::Lost { .. } => Some(
                "start the same command again; items already written are written again unchanged",
            ),
            Self::Moved { .. } => Some("start the same command again when this change is finished"),
            Self::SnapshotGone { .. } => Some(
                "the session that shares it must live until the last chunk is loaded: keep `dynafold plan --hold` running, and start over with the chunks of a new plan",
            ),
            Self::Live { .. } => Some(
                "use a constant, or a value from a table; a run that reads a sequence cannot claim anything",
            ),
            Self::Url(
                UrlError::Unread(_)
                | UrlError::Driver(_)
                | UrlError::Address(_)
                | UrlError::Scheme(_)
                | UrlError::InMemory,
            ) => {
                Some("use postgres://user@host/database, mysql://user@host/database or sqlite:FILE")
            }
            // What is said of a parameter says all.
            Self::Url(_) | Self::Query { .. } => None,
        }
    }

    /// Whether reading the same again, over another connection, may succeed.
    pub fn is_lost(&self) -> bool {
        matches!(self, Self::Lost { .. })
    }
}

/// A relational database, open for reading. See the module's text for the protocol.
#[async_trait]
pub trait Source: Send {
    /// The product behind the connection.
    fn dbms(&self) -> Dbms {
        self.dialect().dbms()
    }

    /// Reads the schema of everything that the connection can see, system schemas left out.
    /// Objects without permission are listed with `readable: false` or named in the notices.
    async fn catalog(&mut self) -> Result<Catalog>;

    /// The columns that a query would give, without running it.
    async fn describe(&mut self, sql: &str) -> Result<Vec<Column>>;

    /// The columns that a query gives where it is asked as it stands, by [`Self::ask`]: several may
    /// have one name.
    async fn describe_answer(&mut self, sql: &str) -> Result<Vec<Column>> {
        self.describe(sql).await
    }

    /// Has the database parse and plan a scan without reading rows, so that a bad condition is
    /// found before the run.
    async fn prepare(&mut self, scan: &Scan) -> Result<()>;

    /// Opens the run's snapshot: read-only, and the same for every scan that follows. What these scans
    /// read is held as the snapshot shows it: nobody can empty, rewrite or rename it until the run ends.
    /// [`SourceError::Moved`] where its schema in the snapshot is not the one that [`Self::catalog`] gave.
    async fn begin(&mut self, scans: &[&Scan]) -> Result<()>;

    /// Runs a query of ours about a scan's relations, which gives whole numbers only, and reads its rows.
    /// SQL of the mapping's may be in it: more than one statement are refused.
    async fn numbers(&mut self, sql: &str, scan: &Scan) -> Result<Vec<Vec<u64>>>;

    /// Counts the rows of a relation, conditions left aside.
    async fn count(&mut self, from: &Relation) -> Result<u64> {
        let dialect = self.dialect();
        let sql = format!(
            "SELECT {} FROM {} AS q",
            dialect.count(),
            dialect.relation(from)
        );
        let whole = Scan::of(from.clone(), Vec::new());
        let counted = self.numbers(&sql, &whole).await?;
        let counted = counted.first().and_then(|row| row.first()).copied();
        counted.ok_or_else(|| SourceError::Query {
            object: "the number of rows".to_owned(),
            cause: sqlx::Error::RowNotFound,
        })
    }

    /// Counts the rows of a scan's relation within its range, conditions left aside.
    async fn count_range(&mut self, scan: &Scan) -> Result<u64> {
        let rows = Relation::Query(statement(self.dialect(), &scan.bare()));
        self.count(&rows).await
    }

    /// Reads rows.
    fn scan<'a>(&'a mut self, scan: &'a Scan) -> BoxStream<'a, Result<Chunk>>;

    /// How this database writes SQL.
    fn dialect(&self) -> &'static dyn Dialect;

    /// Runs one query of the mapping's as it stands, so that its own order is kept, and reads all of
    /// its rows under these columns: what [`Self::describe_answer`] gives for it. After [`Self::begin`]. A
    /// query that would write is refused by the database, and the snapshot goes on after it.
    async fn ask(&mut self, sql: &str, columns: &[Column]) -> Result<Vec<Row>>;

    /// Cuts a scan's base relation into ranges of about `rows` rows, in the order of their keys, that
    /// cover every row exactly once: rows that are added later too. Empty: it cannot be cut and is
    /// read in one piece. That is so for queries and views, without a usable key, with a limit, and
    /// where a range would have to read all children of an embed. After [`Self::begin`].
    async fn cut(&mut self, scan: &Scan, rows: u64) -> Result<Vec<Range>>;

    /// Opens other connections onto the same snapshot, as many as `most`, fewer where the server takes no more; none
    /// where the database cannot: no session of MySQL takes over another one's, and nothing keeps writers of SQLite from
    /// coming between the first reads of two transactions. They must not outlive this one. After [`Self::begin`].
    async fn forks(&mut self, _most: usize) -> Result<Vec<Box<dyn Source>>> {
        Ok(Vec::new())
    }

    /// A name under which sessions of other processes take over this one's snapshot, for as long as this one
    /// lives; `None` where the database cannot, as in [`Self::forks`]. After [`Self::begin`].
    async fn share(&mut self) -> Result<Option<SharedSnapshot>> {
        Ok(None)
    }

    /// Has [`Self::begin`] take over a snapshot that another session shares. Before it.
    ///
    /// # Errors
    ///
    /// [`SourceError::SnapshotGone`], here or from [`Self::begin`], where that has ended.
    fn join(&mut self, snapshot: &SharedSnapshot) -> Result<()> {
        Err(snapshot.gone(None))
    }

    /// Which database this is, and what tells its state. After [`Self::begin`].
    async fn identity(&mut self) -> Result<SourceIdentity>;

    /// Children of a scan's embeds that find no parent, with the index of the embed's column. Of a
    /// pass that is read in ranges nobody else tells them.
    async fn orphans(&mut self, scan: &Scan) -> Result<Vec<(usize, LeftBehind)>> {
        let Some((sql, roots)) = select::orphans(self.dialect(), scan) else {
            return Ok(Vec::new());
        };
        let counted = self.numbers(&sql, scan).await?;
        let left = counted.iter().filter_map(|row| {
            let &[node, orphans] = row.as_slice() else {
                return None;
            };
            let root = roots.get(usize::try_from(node).ok()?)?;
            (orphans > 0).then_some((*root, LeftBehind { orphans, cut: 0 }))
        });
        Ok(left.collect())
    }

    /// What the database has counted of the statements that ran in the connected database, and of the rows that were written.
    ///
    /// # Errors
    ///
    /// [`SourceError::Uncounted`] where it counts none, or the user may see none of them.
    async fn activity(&mut self) -> Result<Activity> {
        Err(SourceError::Uncounted {
            what: format!("{} counts no statements", self.dbms()),
            help: "write the statements into a file: --workload FILE".to_owned(),
        })
    }

    /// Checks, after the last scan of this connection and before anything is claimed, that all that was read
    /// is what the snapshot shows, what SQL has read by itself too.
    async fn confirm(&mut self) -> Result<()> {
        Ok(())
    }

    /// A way to cancel what this connection is at. `None`: dropping is enough. After
    /// [`Self::begin`].
    fn canceller(&self) -> Option<Canceller>;

    /// What the scans so far found that a person should know although no row fails for it, a line
    /// each and without values: columns whose values are not as their declared type says (SQLite).
    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }
}

/// The tables that these scans name or their SQL may name.
pub fn tables_read<'c>(catalog: &'c Catalog, scans: &[&Scan]) -> Vec<&'c Table> {
    let plain = |text: &str| text.replace(['"', '`'], "").to_lowercase();
    let named: Vec<&TableName> = scans.iter().flat_map(|scan| scan.tables()).collect();
    let sql = scans.iter().flat_map(|scan| scan.foreign_sql());
    let sql: Vec<String> = sql.map(plain).collect();
    let is_read = |table: &&Table| {
        let (name, schema) = (plain(&table.name.name), plain(&table.name.schema));
        // SQL must name the schema of a table that the search path does not find.
        let is_found = catalog.finds(&table.name);
        let may_name = |sql: &String| has_word(sql, &name) && (is_found || has_word(sql, &schema));
        named.contains(&&table.name) || sql.iter().any(may_name)
    };
    catalog.tables.iter().filter(is_read).collect()
}

/// Checks that the schema in the run's snapshot is the one that the mapping was checked against, in what these
/// scans read: what was proved of another schema does not hold of these rows.
fn same_schema(checked: &Catalog, now: &Catalog, scans: &[&Scan]) -> Result<()> {
    for table in tables_read(checked, scans) {
        let shown = checked.display_name(&table.name);
        let what = match now.table(&table.name) {
            None => format!("{shown} was dropped or renamed"),
            Some(_) if now.display_name(&table.name) != shown => {
                format!("{shown} is another table")
            }
            Some(other) => match table.first_difference(other) {
                Some(what) => format!("the {what} of {shown} changed"),
                None => continue,
            },
        };
        return Err(SourceError::moved(format!(
            "{what} after the mapping was checked against the schema"
        )));
    }
    Ok(())
}

/// Reads the URL of a server. Refuses one that would be shown with a part of its password, and
/// parameters that the driver would pass over in silence: a mistyped `sslmode` must not leave a
/// connection without TLS. Values may be secrets and are not shown.
fn server_url(text: &str, tls: &Tls, others: &[&'static str]) -> Result<Url> {
    let url = Url::parse(text)?;
    address::check_server(text, &url)?;
    let known: Vec<&str> = tls.names().chain(others.iter().copied()).collect();
    // Behind a bare `?` in a password the rest of it may look like a parameter.
    let stray = url.query().is_some_and(|query| query.contains('@'));
    for (name, _) in url.query_pairs() {
        if known.contains(&name.as_ref()) || name.starts_with("options[") {
            continue;
        }
        if stray {
            return Err(AddressFault::UnescapedQuestionMark.into());
        }
        let near = nearest(&name, known.iter().copied());
        let mend = near.map_or_else(
            || format!("parameters are {}", known.join(", ")),
            |near| format!("did you mean `{near}`?"),
        );
        let name = name.into_owned();
        return Err(UrlError::UnknownParameter { name, mend }.into());
    }
    tls.check(&url)?;
    Ok(url)
}

/// Opens a source.
///
/// # Errors
///
/// [`SourceError::Url`] for a URL of no known database, [`SourceError::Connect`] when the database
/// cannot be reached or refuses the login.
pub async fn connect(url: &str) -> Result<Box<dyn Source>> {
    let scheme = url.split_once(':').map_or(url, |(scheme, _)| scheme);
    match scheme {
        "postgres" | "postgresql" => Ok(Box::new(postgres::Postgres::connect(url).await?)),
        "mysql" | "mariadb" => Ok(Box::new(mysql::Mysql::connect(url).await?)),
        "sqlite" => Ok(Box::new(sqlite::Sqlite::connect(url).await?)),
        _ => {
            let is_scheme = scheme.len() <= 12 && url.contains(':');
            Err(UrlError::Scheme(is_scheme.then(|| scheme.to_owned())).into())
        }
    }
}
