//! Tells the ways apart in which MySQL and MariaDB refuse, by their numbers, and says what to do about
//! each.

use sqlx::mysql::MySqlDatabaseError;
use url::Url;

use super::Server;
use crate::source::SourceError;

impl Server {
    /// Puts the driver's error into the protocol's words.
    pub(super) fn fault(&self, object: String, cause: sqlx::Error) -> SourceError {
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
}

/// The server's own error number.
fn number(cause: &sqlx::Error) -> Option<u16> {
    let error = cause.as_database_error()?;
    Some(error.try_downcast_ref::<MySqlDatabaseError>()?.number())
}

/// The URL without user, password and parameters.
pub(super) fn place(url: &Url) -> String {
    let host = url.host_str().unwrap_or("localhost");
    let port = url.port().unwrap_or(3306);
    format!("mysql://{host}:{port}{}", url.path().trim_end_matches('/'))
}

pub(super) fn timed_out() -> std::io::Error {
    std::io::Error::from(std::io::ErrorKind::TimedOut)
}

/// What to do when no connection can be made.
pub(super) fn help(cause: &sqlx::Error) -> String {
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
