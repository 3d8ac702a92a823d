//! Sorts PostgreSQL's errors by SQLSTATE, and says what to do about each.
//!
//! The server's own message stays reachable as the error's source.

use std::fmt;
use std::io::ErrorKind;

use dynafold_relational::catalog::TableName;
use dynafold_relational::scan::{Relation, Scan};
use sqlx::postgres::{PgConnectOptions, PgDatabaseError, PgSeverity};

use super::{PostgresSql, TLS};
use crate::tls::NOBODY;
use crate::{Dialect as _, SourceError};

/// A query that was canceled: by a time limit, or by a standby that had to apply changes.
const INTERRUPTED: &[&str] = &["57014", "40001"];

/// A message that the server does not understand, such as one with too few parameters. The
/// connection stays open.
const PROTOCOL_VIOLATION: &str = "08P01";

/// The routine of the server that fails if row security would hide rows while `row_security` is off.
const ROW_SECURITY: &str = "check_enable_rls";

/// Words of a query that an error shows at most.
const SHOWN_WORDS: usize = 12;

/// What was being read, for the error's text.
pub(super) enum ReadSubject<'a> {
    Schema,
    /// The transaction itself.
    Transaction,
    /// A query that is described.
    Query(&'a str),
    /// A scan, with all the tables that it joins.
    Scan(&'a Scan),
}

impl fmt::Display for ReadSubject<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Schema => f.write_str("the system catalog"),
            Self::Transaction => f.write_str("the transaction"),
            Self::Query(sql) => {
                let words: Vec<&str> = sql.split_whitespace().collect();
                match words.get(..SHOWN_WORDS) {
                    Some(first) => write!(f, "the query `{} …`", first.join(" ")),
                    None => write!(f, "the query `{}`", words.join(" ")),
                }
            }
            Self::Scan(scan) => match &scan.from {
                Relation::Table(name) => name.fmt(f),
                Relation::Query(sql) => ReadSubject::Query(sql).fmt(f),
            },
        }
    }
}

impl ReadSubject<'_> {
    /// Which GRANTs a user needs to read this.
    fn grant(&self, user: &str) -> String {
        let user = PostgresSql.quote(user);
        let tables: Vec<&TableName> = match self {
            Self::Scan(scan) => scan.tables(),
            _ => Vec::new(),
        };
        let Some(first) = tables.first() else {
            return format!(
                "ask for GRANT SELECT on the tables that it reads, and GRANT USAGE on their \
                 schemas, TO {user}"
            );
        };
        let names: Vec<String> = tables.iter().map(|name| PostgresSql.table(name)).collect();
        format!(
            "ask for GRANT SELECT ON {} TO {user}, and for GRANT USAGE ON SCHEMA {} TO {user} if \
             that is missing",
            names.join(", "),
            PostgresSql.quote(&first.schema)
        )
    }
}

/// Sorts an error of an open connection.
pub(super) fn query(cause: sqlx::Error, subject: &ReadSubject<'_>, user: &str) -> SourceError {
    let object = subject.to_string();
    if is_lost(&cause) {
        return SourceError::Lost { object, cause };
    }
    match state(&cause) {
        // By the routine and not by the message, which is in the server's language.
        Some("42501")
            if server(&cause).and_then(PgDatabaseError::routine) == Some(ROW_SECURITY) =>
        {
            SourceError::moved(format!(
                "row security hides rows of what {object} reads: it was turned on after the snapshot was taken, or a \
                 function that a view calls reads such a table"
            ))
        }
        Some("42501") => SourceError::Permission {
            object,
            help: subject.grant(user),
            cause,
        },
        _ => SourceError::Query { object, cause },
    }
}

/// Whether the connection is gone, as opposed to a query having been refused.
fn is_lost(cause: &sqlx::Error) -> bool {
    match cause {
        sqlx::Error::Io(_) | sqlx::Error::Tls(_) | sqlx::Error::Protocol(_) => true,
        _ => server(cause).is_some_and(|error| {
            matches!(error.severity(), PgSeverity::Fatal | PgSeverity::Panic)
                || (error.code().starts_with("08") && error.code() != PROTOCOL_VIOLATION)
                || INTERRUPTED.contains(&error.code())
        }),
    }
}

fn server(cause: &sqlx::Error) -> Option<&PgDatabaseError> {
    cause.as_database_error()?.try_downcast_ref()
}

fn state(cause: &sqlx::Error) -> Option<&str> {
    server(cause).map(PgDatabaseError::code)
}

/// Sorts an error of connecting.
pub(super) fn connect(cause: sqlx::Error, options: &PgConnectOptions) -> SourceError {
    SourceError::Connect {
        place: plain_url(options),
        help: connect_help(&cause, options),
        cause,
    }
}

/// Where the server is, without user and password.
pub(super) fn plain_url(options: &PgConnectOptions) -> String {
    let database = options
        .get_database()
        .unwrap_or_else(|| options.get_username());
    match options.get_socket() {
        Some(path) => format!("postgres:///{database}?host={}", path.display()),
        None => format!(
            "postgres://{}:{}/{database}",
            options.get_host(),
            options.get_port()
        ),
    }
}

fn connect_help(cause: &sqlx::Error, options: &PgConnectOptions) -> String {
    if let Some(help) = TLS.help(cause) {
        return help;
    }
    let user = options.get_username();
    match cause {
        sqlx::Error::Io(io) => match io.kind() {
            ErrorKind::NotFound => NOBODY.into(),
            ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset => {
                "the server closed the connection: is it PostgreSQL that listens on this port?"
                    .into()
            }
            _ => "is the host's name right, and can this machine look it up and reach it?".into(),
        },
        sqlx::Error::Protocol(_) => "is it PostgreSQL that listens on this port?".into(),
        _ => match state(cause) {
            Some("28P01") => format!(
                "the password for {user} is missing, wrong, or no longer valid: put it into \
                 PGPASSWORD, into ~/.pgpass, or into the URL with special characters as %XX"
            ),
            Some("28000") => format!(
                "the server does not let {user} in from here: the role has no LOGIN, pg_hba.conf has \
                 no line for it, or demands TLS (`?sslmode=require`) or a certificate \
                 (`?sslcert=FILE&sslkey=FILE`)"
            ),
            Some("3D000") => "there is no such database: `psql -l` lists all databases".into(),
            Some("42501") => format!(
                "ask for GRANT CONNECT ON DATABASE … TO {}",
                PostgresSql.quote(user)
            ),
            Some("53300") => {
                "all of the server's connections are taken: try again later, or raise \
                 max_connections"
                    .into()
            }
            Some("57P03") => {
                "the server is starting up or shutting down: try again in a moment".into()
            }
            _ => "see what the server says below".into(),
        },
    }
}
