//! Tells the ways apart in which MySQL and MariaDB refuse, by their numbers, and says what to do about
//! each.

use dynafold_relational::scan::Relation;
use sqlx::mysql::MySqlDatabaseError;
use url::Url;

use super::super::{Result, SourceError};
use super::{Server, TLS};

impl Server {
    /// Puts the error of what was done with something into the protocol's words.
    pub(super) fn checked<T>(&self, object: impl Into<String>, done: sqlx::Result<T>) -> Result<T> {
        done.map_err(|cause| self.fault(object.into(), cause))
    }

    /// Puts the driver's error into the protocol's words.
    pub(super) fn fault(&self, object: String, cause: sqlx::Error) -> SourceError {
        match error_number(&cause) {
            // Access denied: to a schema, a table, a column, a routine.
            Some(1044 | 1142 | 1143 | 1370) => {
                let help = self.grant_help(&object);
                SourceError::Permission {
                    object,
                    help,
                    cause,
                }
            }
            // Shutdown, killed, out of time, timed out between rows, a network error that the server
            // saw.
            Some(1053 | 1152 | 1158..=1161 | 1317 | 1927 | 1969 | 2006 | 2013 | 3024 | 4031) => {
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

    /// What to do where the user may not read something.
    pub(super) fn grant_help(&self, object: &str) -> String {
        let (user, host) = self.user.rsplit_once('@').unwrap_or((&self.user, "%"));
        format!("let an administrator GRANT SELECT ON {object} TO '{user}'@'{host}'")
    }
}

/// Whether the server refused something because the user may not read a table or a column.
pub(super) fn is_refusal(cause: &sqlx::Error) -> bool {
    matches!(error_number(cause), Some(1142 | 1143))
}

/// A relation as messages name it.
pub(super) fn relation_name(from: &Relation) -> String {
    match from {
        Relation::Table(name) => name.to_string(),
        Relation::Query(_) => "the mapping's query".to_owned(),
    }
}

/// The server's own error number.
fn error_number(cause: &sqlx::Error) -> Option<u16> {
    let error = cause.as_database_error()?;
    Some(error.try_downcast_ref::<MySqlDatabaseError>()?.number())
}

/// What is said of a query with a column of a type that the driver does not know.
pub(super) const UNKNOWN_TYPE: &str = "the query gives a column of a type that cannot be read as it is, such as VECTOR; give it \
     another one: CAST(v AS BINARY), VECTOR_TO_STRING(v)";

/// Whether the driver does not know the type of a column.
pub(super) fn is_unknown_type(cause: &sqlx::Error) -> bool {
    matches!(cause, sqlx::Error::Protocol(why) if why.contains("unknown column type"))
}

/// The URL without user, password and parameters.
pub(super) fn plain_url(url: &Url) -> String {
    let host = url.host_str().unwrap_or("localhost");
    let port = url.port().unwrap_or(3306);
    format!("mysql://{host}:{port}{}", url.path().trim_end_matches('/'))
}

/// What to do when no connection can be made.
pub(super) fn connect_help(cause: &sqlx::Error) -> String {
    if let Some(help) = TLS.help(cause) {
        return help;
    }
    let known = match (cause, error_number(cause)) {
        (_, Some(1045 | 1698)) => {
            "the server refuses this user or password; in a URL, write special characters of the \
             password as %XX. It says the same where the account requires TLS, which \
             `?ssl-mode=required` brings, or a certificate: `?ssl-cert=FILE&ssl-key=FILE`"
        }
        (_, Some(1044)) => {
            "this user may not use the database; let an administrator GRANT SELECT on its tables; if the user has a role, make it the default: SET DEFAULT ROLE"
        }
        (_, Some(1820 | 1862)) => {
            "the user's password has expired; give it a new one by ALTER USER, with the server's \
             own client"
        }
        (_, Some(3118 | 4151)) => {
            "the account is locked; let an administrator ALTER USER … ACCOUNT UNLOCK"
        }
        (_, Some(3159)) => {
            "the server accepts only encrypted connections; add `?ssl-mode=required`"
        }
        (_, Some(1049)) => "the server has no database of this name; SHOW DATABASES lists them",
        (_, Some(1040 | 1203 | 1226)) => "the server has no free connections now; try again later",
        (_, Some(1129 | 1130)) => "the server accepts no connections from this machine",
        (sqlx::Error::Io(error), _) if error.kind() == std::io::ErrorKind::NotFound => {
            "there is no such socket; check the URL's `socket`"
        }
        (sqlx::Error::Io(error), _) if error.to_string().contains("lookup") => {
            "is the host's name right, and can this machine look it up and reach it?"
        }
        (sqlx::Error::Configuration(_), _) => {
            "the server requires an encrypted connection for the password; add `?ssl-mode=required`"
        }
        (sqlx::Error::Protocol(why), _) if why.contains("authentication plugin") => {
            "the account uses a login plugin that Dynafold does not support; use one with \
             caching_sha2_password or mysql_native_password"
        }
        (_, Some(_)) => "see what the server says",
        _ => "is it MySQL or MariaDB that answers on this port?",
    };
    known.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_servers_url_holds_no_secret() {
        let url = Url::parse("mysql://app:s3cret@db.example/shop?ssl-mode=required&password=x");
        assert_eq!(plain_url(&url.unwrap()), "mysql://db.example:3306/shop");
    }

    #[test]
    fn help_tells_a_missing_socket_from_an_unknown_host_and_from_another_server() {
        let socket = sqlx::Error::Io(std::io::ErrorKind::NotFound.into());
        assert!(connect_help(&socket).starts_with("there is no such socket"));
        let unknown = "failed to lookup address information: Name or service not known";
        let host = sqlx::Error::Io(std::io::Error::other(unknown));
        assert!(connect_help(&host).starts_with("is the host's name right"));
        let other = sqlx::Error::Protocol("unexpected packet".to_owned());
        assert!(connect_help(&other).starts_with("is it MySQL or MariaDB"));
    }
}
