//! Reads PostgreSQL, version 13 and later.
//!
//! Everything is asked for through the simple query protocol and comes as text, so there is one
//! decoder for each type, no number passes through a float, and nothing is prepared that a pooler
//! such as `PgBouncer` would lose. What is said to the session is said with `SET LOCAL`, within a
//! transaction that is read-only; outside of one nothing is sent. SQL that a mapping brings is
//! planned once through the extended protocol before it runs: that protocol takes one statement
//! and no more, so a condition cannot end the transaction and start another.
//!
//! The shapes of what DynamoDB has no type for:
//!
//! | PostgreSQL | value |
//! | --- | --- |
//! | `bit(n)`, `varbit` | bytes: the first bit is the highest of the first byte, the last byte is filled with zeros; `bit(1)` is a boolean |
//! | composite | map of the fields in order; NULL fields are in it |
//! | range | `{lower, upper, lower_inclusive, upper_inclusive}`, an open end being NULL; `{empty: true}` for the empty range |
//! | multirange | list of such maps |
//! | hstore | map of text and NULL |
//! | array | list, nested as deep as it has dimensions; lower bounds are dropped |
//! | array of a type that is not separated by commas (`box`) | as PostgreSQL prints it |

mod activity;
mod catalog;
mod cut;
mod decode;
mod error;
mod lookup;
mod scan;
mod session;
mod types;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use dynafold_relational::catalog::{Catalog, Column, Dbms, TableName};
use dynafold_relational::scan::{Range, Scan};
use futures_util::stream::{self, BoxStream, StreamExt as _, TryStreamExt as _};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Row as _};

use self::cut::BY_ANY_WAY;
use self::error::ReadSubject;
use self::lookup::LookupReach;
use self::scan::cell;
use self::session::Backend;
use super::tls::Tls;
use super::watch::PATIENCE;
use super::{
    Activity, Canceller, Chunk, Dialect, Result, Row, SharedSnapshot, Source, SourceError,
    SourceIdentity, UrlError, range, server_url,
};
use crate::chunk::numbers;
use dynafold_relational::catalog::Table;

/// How long a server may take to answer before it counts as out of reach.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);

/// Opens a read-only transaction.
const BEGIN: &str = include_str!("sql/begin.sql");
/// Says how values are to be printed in it.
const SETTINGS: &str = include_str!("sql/settings.sql");
/// Both in one round trip.
const OPEN: &str = concat!(
    include_str!("sql/begin.sql"),
    include_str!("sql/settings.sql")
);

/// Has the server refuse a query of which row security would hide rows.
const UNFILTERED: &str = "SET LOCAL row_security TO off";

/// How often a snapshot is taken anew where tables were rewritten before they could be locked.
const ATTEMPTS: u32 = 10;

/// One connection to a PostgreSQL server.
pub struct Postgres {
    connection: PgConnection,
    options: PgConnectOptions,
    user: String,
    begun: bool,
    /// What decides what SQL means, as it was when the transaction began.
    meaning: Vec<SessionSetting>,
    /// The server's process behind the run's transaction.
    backend: Option<Backend>,
    /// The name under which other connections find the snapshot.
    exported: Option<String>,
    /// The snapshot of another session that is taken over.
    joined: Option<SharedSnapshot>,
    /// Whether the planner was told to keep to indexes.
    by_index: bool,
    /// Whether the server was told to refuse what row security would hide rows of.
    unfiltered: bool,
    /// The schema that the mapping was checked against.
    checked: Option<Catalog>,
    /// What the run's scans read.
    planned: Arc<[(String, Relations)]>,
    /// What their SQL may look up by name; `None`: they have none.
    lookups: Option<LookupReach>,
    patience: Duration,
}

/// The relations of a plan, each under the alias that it has there.
type Relations = BTreeSet<(String, String)>;

/// One row of `sql/meaning.sql`.
#[derive(Clone, Deserialize)]
struct SessionSetting {
    name: String,
    /// What name and value hash to.
    value: i64,
}

/// What a URL may say after `?`, besides TLS.
const PARAMETERS: &[&str] = &[
    "host",
    "hostaddr",
    "port",
    "dbname",
    "user",
    "password",
    "application_name",
    "options",
];

/// What it says of TLS.
const TLS: Tls = Tls {
    mode: (
        &["sslmode", "ssl-mode"],
        &[
            "disable",
            "allow",
            "prefer",
            "require",
            "verify-ca",
            "verify-full",
        ],
    ),
    unsecured: "disable",
    unnamed: "verify-ca",
    files: [
        &["sslrootcert", "ssl-root-cert", "ssl-ca"],
        &["sslcert", "ssl-cert"],
        &["sslkey", "ssl-key"],
    ],
};

/// How PostgreSQL writes SQL.
struct PostgresSql;

impl Dialect for PostgresSql {
    fn dbms(&self) -> Dbms {
        Dbms::Postgres
    }

    fn types_nulls(&self) -> bool {
        true
    }

    // Without a type, so that it takes the column's. The escapes mean the same whatever
    // `standard_conforming_strings` says.
    fn literal(&self, value: &str) -> String {
        format!("E'{}'", value.replace('\\', r"\\").replace('\'', "''"))
    }

    // Whatever else the search path finds under this name.
    fn count(&self) -> &'static str {
        "pg_catalog.count(*)"
    }

    fn place(&self) -> &'static str {
        "ctid"
    }

    // What follows OFFSET is not reordered, and is asked for each parent.
    fn children(&self, derived: &str, name: &str, on: &str) -> String {
        format!("CROSS JOIN LATERAL (SELECT * FROM {derived}\nWHERE {on} OFFSET 0) AS {name}")
    }
}

impl Postgres {
    /// Connects. What the URL leaves out comes from the `PG…` variables and the password file.
    ///
    /// # Errors
    ///
    /// [`SourceError::Url`] for a URL that cannot be read, [`SourceError::Connect`] when the server
    /// cannot be reached or refuses the login.
    pub async fn connect(url: &str) -> Result<Self> {
        let url = server_url(url, &TLS, PARAMETERS)?;
        let options = PgConnectOptions::from_url(&url).map_err(UrlError::Driver)?;
        // A pooler refuses settings that it does not know in the start-up message.
        let options = options
            .application_name("dynafold")
            .extra_float_digits(None)
            .disable_statement_logging();
        Self::open(options).await
    }

    /// Says how long a scan may give nothing before it is asked, over another connection, whether
    /// the server is still at it. A minute otherwise.
    pub fn set_patience(&mut self, patience: Duration) {
        self.patience = patience;
    }

    /// Connects with the settings of a session.
    async fn open(options: PgConnectOptions) -> Result<Self> {
        let connected = tokio::time::timeout(CONNECT_TIMEOUT, options.connect()).await;
        let connection = connected
            .unwrap_or_else(|_| Err(std::io::Error::from(std::io::ErrorKind::TimedOut).into()))
            .map_err(|cause| error::connect(cause, &options))?;
        Ok(Self {
            connection,
            user: options.get_username().to_owned(),
            options,
            begun: false,
            meaning: Vec::new(),
            backend: None,
            exported: None,
            joined: None,
            by_index: false,
            unfiltered: false,
            checked: None,
            planned: Arc::default(),
            lookups: None,
            patience: PATIENCE,
        })
    }

    /// Runs statements whose results nobody wants.
    async fn execute(&mut self, sql: &'static str) -> Result<()> {
        let sent = sqlx::raw_sql(sql).execute(&mut self.connection).await;
        let refused = |cause| error::query(cause, &ReadSubject::Transaction, &self.user);
        sent.map(drop).map_err(refused)
    }

    /// Runs one of our own queries and reads each row as a `T`, by the names of its columns.
    async fn entries<T: DeserializeOwned>(&mut self, sql: &str) -> Result<Vec<T>> {
        let sql = format!("SELECT pg_catalog.row_to_json(entry) FROM (\n{sql}\n) AS entry");
        let mut rows = sqlx::raw_sql(AssertSqlSafe(sql)).fetch(&mut self.connection);
        let mut entries = Vec::new();
        loop {
            let entry = match rows.try_next().await {
                Ok(None) => return Ok(entries),
                Ok(Some(row)) => row.try_get_raw(0).and_then(|raw| {
                    let bytes = raw.as_bytes().map_err(sqlx::Error::Decode)?;
                    serde_json::from_slice(bytes).map_err(|e| sqlx::Error::Decode(e.into()))
                }),
                Err(cause) => Err(cause),
            };
            entries.push(
                entry.map_err(|cause| error::query(cause, &ReadSubject::Schema, &self.user))?,
            );
        }
    }

    /// Opens a transaction for one look aside, within the run's snapshot if that is open already.
    async fn step_aside(&mut self) -> Result<()> {
        let sql = if self.begun {
            "SAVEPOINT dynafold"
        } else {
            OPEN
        };
        self.execute(sql).await
    }

    /// Ends what [`Self::step_aside`] opened, whether or not the look failed.
    async fn step_back<T>(&mut self, seen: Result<T>) -> Result<T> {
        let sql = if self.begun {
            "ROLLBACK TO SAVEPOINT dynafold; RELEASE SAVEPOINT dynafold"
        } else {
            "ROLLBACK"
        };
        let back = self.execute(sql).await;
        let seen = seen?;
        back.map(|()| seen)
    }

    /// Has the server plan one statement. More than one are refused. Gives the plan, as YAML.
    async fn explain(&mut self, sql: &str, subject: &ReadSubject<'_>) -> Result<String> {
        let sql = format!("EXPLAIN (VERBOSE, FORMAT YAML) {sql}");
        let planned = sqlx::query_scalar(AssertSqlSafe(sql))
            .persistent(false)
            .fetch_one(&mut self.connection)
            .await;
        planned.map_err(|cause| error::query(cause, subject, &self.user))
    }

    /// Has the server plan a scan within the transaction that there is.
    async fn prepare_here(&mut self, scan: &Scan) -> Result<(String, String)> {
        let sql = super::statement(&PostgresSql, scan);
        let plan = self.explain(&sql, &ReadSubject::Scan(scan)).await?;
        Ok((sql, plan))
    }

    async fn open_snapshot(&mut self) -> Result<()> {
        if self.begun {
            return Ok(());
        }
        let joined = self.joined.clone();
        match &joined {
            None => self.execute(OPEN).await?,
            Some(snapshot) => self.take_over(snapshot).await?,
        }
        self.begun = true;
        self.meaning = self.entries(include_str!("sql/meaning.sql")).await?;
        self.backend = self.backend().await?;
        match joined.filter(|snapshot| !self.shows(snapshot)) {
            Some(other) => Err(other.gone(None)),
            None => Ok(()),
        }
    }

    /// Checks that the schema in the snapshot is the one that the mapping was checked against. Where row
    /// security hides nothing of what is read, the server is to refuse it rather than hide rows from now on. Says
    /// whether SQL of the database's own is behind what is read: a view, a policy.
    async fn check_schema(&mut self, scans: &[&Scan]) -> Result<bool> {
        let Some(checked) = self.checked.take() else {
            return Ok(true);
        };
        let now = self.catalog().await?;
        super::same_schema(&checked, &now, scans)?;
        let names: Vec<&TableName> = scans.iter().flat_map(|scan| scan.tables()).collect();
        // Of SQL it is not told what it reads.
        let has_sql = scans.iter().any(|scan| scan.has_foreign_sql());
        let mut hidden = now.tables.iter().filter(|table| table.row_security);
        if !hidden.any(|table| has_sql || names.contains(&&table.name)) {
            self.execute(UNFILTERED).await?;
            self.unfiltered = true;
        }
        let is_plain = |table: &Table| table.is_stored() && !table.row_security;
        let mut names = names.into_iter();
        Ok(!names.all(|name| now.table(name).is_some_and(is_plain)))
    }

    /// The first name that a query of ours gives.
    async fn first_name(&mut self, sql: &str) -> Result<Option<String>> {
        let row = self.ask(sql.to_owned(), &ReadSubject::Schema).await?;
        Ok(row.and_then(|row| row.into_iter().next()))
    }

    /// Checks that no sequence is read: what it holds is of the moment, and not of the snapshot.
    async fn check_live(&mut self) -> Result<()> {
        let live = self.first_name(include_str!("sql/live.sql")).await?;
        live.map_or(Ok(()), |name| Err(SourceError::Live { name }))
    }

    /// Checks that a query of ours names nothing that was changed.
    async fn check_unchanged(&mut self, sql: &str, what: &str) -> Result<()> {
        match self.first_name(sql).await? {
            None => Ok(()),
            Some(name) => Err(SourceError::moved(format!(
                "{name} was {what} after the snapshot was taken"
            ))),
        }
    }

    /// Checks that whatever the transaction holds is as the snapshot shows it.
    async fn check_held(&mut self) -> Result<()> {
        self.check_unchanged(
            include_str!("sql/moved.sql"),
            "emptied, rewritten or renamed",
        )
        .await
    }

    /// Checks that the plans of the scans read the relations that they read in the beginning.
    async fn check_plans(&mut self) -> Result<()> {
        for (sql, before) in &*self.planned.clone() {
            let now = self.explain(sql, &ReadSubject::Transaction).await?;
            if let Some((name, _)) = relations(&now).difference(before).next() {
                return Err(SourceError::moved(format!(
                    "{name} became a partition or an heir of what is read after the snapshot was taken"
                )));
            }
        }
        Ok(())
    }
}

/// The relations of a plan in YAML: the name is followed by the schema and the alias.
fn relations(plan: &str) -> Relations {
    let mut lines = plan.lines().filter_map(|line| line.trim().split_once(": "));
    let mut found = Relations::new();
    while let Some((label, name)) = lines.next() {
        if label == "Relation Name"
            && let (Some((_, schema)), Some((_, alias))) = (lines.next(), lines.next())
        {
            found.insert((format!("{schema}.{name}"), alias.to_owned()));
        }
    }
    found
}

#[async_trait]
impl Source for Postgres {
    async fn catalog(&mut self) -> Result<Catalog> {
        self.step_aside().await?;
        let catalog = catalog::read(self).await;
        let catalog = self.step_back(catalog).await?;
        self.checked = Some(catalog.clone());
        Ok(catalog)
    }

    async fn activity(&mut self) -> Result<Activity> {
        self.step_aside().await?;
        let activity = activity::read(self).await;
        self.step_back(activity).await
    }

    async fn describe(&mut self, sql: &str) -> Result<Vec<Column>> {
        self.step_aside().await?;
        let columns = types::columns(self, sql).await;
        self.step_back(columns).await
    }

    async fn prepare(&mut self, scan: &Scan) -> Result<()> {
        self.step_aside().await?;
        let planned = self.prepare_here(scan).await.map(drop);
        self.step_back(planned).await
    }

    // Opens a snapshot that shows what the scans read as it is, and locks that until the run ends.
    // TRUNCATE and whatever rewrites a table leave nothing of it for older snapshots, and a name is
    // looked up as it is now. Planning takes the lock of a SELECT on every table, view and partition. A plan
    // shows the partitions and heirs that there are now: they are the snapshot's where the plans before it
    // and in it have the same.
    async fn begin(&mut self, scans: &[&Scan]) -> Result<()> {
        for attempt in 0.. {
            self.open_snapshot().await?;
            let mut planned = Vec::new();
            for scan in scans {
                planned.push(self.prepare_here(scan).await?);
                planned.push(self.prepare_here(&scan.bare()).await?);
            }
            let planned = planned.into_iter();
            let planned = planned.map(|(sql, plan)| (sql, relations(&plan))).collect();
            let before = std::mem::replace(&mut self.planned, planned);
            match self.check_held().await {
                Ok(()) if before == self.planned => break,
                Err(error) if attempt > ATTEMPTS || !matches!(error, SourceError::Moved { .. }) => {
                    return Err(error);
                }
                Ok(()) if attempt > ATTEMPTS => {
                    return Err(SourceError::moved(
                        "the tables behind what is read change again and again",
                    ));
                }
                Ok(()) | Err(_) => {}
            }
            self.execute("ROLLBACK").await?;
            self.begun = false;
        }
        self.check_live().await?;
        let views = self.check_schema(scans).await?;
        let sql: Vec<&str> = scans.iter().flat_map(|scan| scan.foreign_sql()).collect();
        if views || !sql.is_empty() {
            self.lookups = Some(self.reach(views, &sql).await?);
        }
        Ok(())
    }

    async fn numbers(&mut self, sql: &str, scan: &Scan) -> Result<Vec<Vec<u64>>> {
        self.open_snapshot().await?;
        let subject = ReadSubject::Scan(scan);
        self.step_aside().await?;
        let reading = async {
            self.explain(sql, &subject).await?;
            // The order of nothing hangs on it, so it may use the server's workers.
            let sql = format!("SET LOCAL max_parallel_workers_per_gather TO DEFAULT; {sql}");
            let rows = sqlx::raw_sql(AssertSqlSafe(sql)).fetch_all(&mut self.connection);
            let numbers = rows.await.and_then(|rows| numbers(&rows, cell));
            numbers.map_err(|cause| error::query(cause, &subject, &self.user))
        };
        let numbers = reading.await;
        // Going back to the savepoint also takes the setting back.
        self.step_back(numbers).await
    }

    fn scan<'a>(&'a mut self, scan: &'a Scan) -> BoxStream<'a, Result<Chunk>> {
        stream::once(scan::open(self, scan)).try_flatten().boxed()
    }

    fn dialect(&self) -> &'static dyn Dialect {
        &PostgresSql
    }

    async fn ask(&mut self, sql: &str, columns: &[Column]) -> Result<Vec<Row>> {
        self.open_snapshot().await?;
        self.step_aside().await?;
        let reading = async {
            let rows = scan::ask(self, sql, columns).await?;
            self.check_held().await?;
            self.check_live().await?;
            Ok(rows)
        };
        let rows = reading.await;
        // What its SQL calls is not looked into.
        self.lookups = Some(LookupReach::Tables);
        self.step_back(rows).await
    }

    async fn cut(&mut self, scan: &Scan, rows: u64) -> Result<Vec<Range>> {
        range::cut(self, scan, rows).await
    }

    async fn forks(&mut self, most: usize) -> Result<Vec<Box<dyn Source>>> {
        let forks = self.open_forks(most).await?.into_iter();
        Ok(forks
            .map(|fork| -> Box<dyn Source> { Box::new(fork) })
            .collect())
    }

    async fn share(&mut self) -> Result<Option<SharedSnapshot>> {
        self.shared().await
    }

    fn join(&mut self, snapshot: &SharedSnapshot) -> Result<()> {
        self.joined = Some(snapshot.clone());
        Ok(())
    }

    async fn identity(&mut self) -> Result<SourceIdentity> {
        self.identify().await
    }

    async fn confirm(&mut self) -> Result<()> {
        if std::mem::take(&mut self.by_index) {
            self.execute(BY_ANY_WAY).await?;
        }
        self.step_aside().await?;
        if let Err(error) = self.check_plans().await {
            let is_refused = matches!(error, SourceError::Query { .. });
            let refused = self.step_back(Err(error)).await;
            if is_refused {
                // What it has called may be gone.
                self.check_lookups().await?;
            }
            return refused;
        }
        // What planning has locked is held on to, and looked at.
        let on = "RELEASE SAVEPOINT dynafold";
        self.execute(on).await?;
        self.check_held().await?;
        self.check_live().await?;
        self.check_unchanged(include_str!("sql/redefined.sql"), "changed")
            .await?;
        self.check_lookups().await
    }

    fn canceller(&self) -> Option<Canceller> {
        let backend = self.backend.clone()?;
        Some(Canceller(Arc::new((self.options.clone(), backend))))
    }
}
