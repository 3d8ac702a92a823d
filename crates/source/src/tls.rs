//! Connections with TLS: what the URLs of servers say of them, and what to do where none comes about.

use std::io::ErrorKind;

use sqlx::Error;
use url::Url;

use super::{Result, UrlError};

/// What to do where no server listens.
pub(super) const NOBODY: &str =
    "nothing answers there: is the server running, and are host and port right?";

/// The words of one database. Of several names the first is told.
pub(super) struct Tls {
    /// The parameter that says how much is secured, and what it takes.
    pub(super) mode: (&'static [&'static str], &'static [&'static str]),
    /// What it takes to secure nothing, and to leave the host's name unchecked.
    pub(super) unsecured: &'static str,
    pub(super) unnamed: &'static str,
    /// The parameters that name files: the authority's certificate, the client's, and its key.
    pub(super) files: [&'static [&'static str]; 3],
}

impl Tls {
    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> {
        let lists = [self.mode.0].into_iter().chain(self.files);
        lists.flatten().copied()
    }

    /// Refuses modes that there are not, and files that hold nothing of their kind: the driver passes
    /// over these, or blames something else.
    pub(super) fn check(&self, url: &Url) -> Result<()> {
        let (modes, words) = self.mode;
        for (name, value) in url.query_pairs() {
            let word = value.to_ascii_lowercase();
            if modes.contains(&&*name) && !words.contains(&word.as_str()) {
                let name = name.into_owned();
                return Err(UrlError::Value { name, words }.into());
            }
            let Some(kind) = self.files.iter().position(|names| names.contains(&&*name)) else {
                continue;
            };
            if value.trim_start().starts_with("-----BEGIN") {
                continue;
            }
            let (mark, what) = match kind {
                2 => ("PRIVATE KEY-----", "key"),
                _ => ("-----BEGIN CERTIFICATE-----", "certificate"),
            };
            let name = name.into_owned();
            match std::fs::read(&*value) {
                Err(cause) => return Err(UrlError::File { name, cause }.into()),
                Ok(file) if !String::from_utf8_lossy(&file).contains(mark) => {
                    return Err(UrlError::NotPem { name, what }.into());
                }
                Ok(_) => {}
            }
        }
        let [_, certificate, key] = self.files;
        let is_given = |names: &[&str]| url.query_pairs().any(|(name, _)| names.contains(&&*name));
        if is_given(certificate) != is_given(key) {
            let [certificate, key] = [first(certificate), first(key)];
            return Err(UrlError::Together(certificate, key).into());
        }
        Ok(())
    }

    /// What to do about a connection that could not be made or secured, as far as it is the same for all servers.
    pub(super) fn help(&self, cause: &Error) -> Option<String> {
        let message = match cause {
            Error::Io(why) if why.kind() == ErrorKind::ConnectionRefused => {
                return Some(NOBODY.to_owned());
            }
            Error::Io(why) if why.kind() == ErrorKind::TimedOut => {
                return Some(
                    "nothing answers there: are host and port right, and does a firewall or security \
                     group let this machine in?"
                        .to_owned(),
                );
            }
            Error::Io(why) => why.to_string(),
            Error::Tls(why) => why.to_string(),
            _ => return None,
        };
        let [authority, certificate, key] = self.files.map(first);
        let mode = first(self.mode.0);
        let is = |words: &str| message.contains(words);
        Some(if is("UnknownIssuer") {
            format!(
                "this machine does not know the authority of the server's certificate: name the authority's certificate with `?{authority}=FILE`"
            )
        } else if is("not valid for name") || is("NotValidForName") {
            format!(
                "the server's certificate is for another host name: use that name, or turn off the check of names with `?{mode}={}`",
                self.unnamed
            )
        } else if is("certificate expired") || is("not valid yet") {
            "the server's certificate has expired, or a clock is wrong".to_owned()
        } else if is("does not support TLS") || is("not support SSL") {
            format!(
                "the server does not support TLS: on a network that you trust, turn it off with `?{mode}={}`",
                self.unsecured
            )
        } else if is("fatal alert: CertificateRequired") {
            format!("the server requires a client certificate: `?{certificate}=FILE&{key}=FILE`")
        } else if is("certificate") || is("fatal alert") || matches!(cause, Error::Tls(_)) {
            format!(
                "the TLS connection failed: do the server's certificate, `{authority}`, \
                 `{certificate}` and `{key}` fit together?"
            )
        } else {
            return None;
        })
    }
}

fn first<'n>(names: &[&'n str]) -> &'n str {
    names.first().copied().unwrap_or_default()
}
