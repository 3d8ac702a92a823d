//! Connections with TLS: what the URLs of servers say of them, and what to do where none comes about.

use sqlx::Error;
use url::Url;

use super::SourceError;

/// The words of one database. Of several names the first is told.
pub(super) struct Tls {
    /// The parameter that says how much is secured, and what it takes.
    pub(super) mode: (&'static [&'static str], &'static [&'static str]),
    /// What it takes to secure nothing, and to leave the host's name unchecked.
    pub(super) unsecured: &'static str,
    /// See above.
    pub(super) unnamed: &'static str,
    /// The parameters that name files: the authority's certificate, the client's, and its key.
    pub(super) files: [&'static [&'static str]; 3],
}

impl Tls {
    /// Refuses modes that there are not, and files that hold nothing of their kind: the driver passes
    /// over these, or blames something else.
    pub(super) fn check(&self, url: &Url) -> Result<(), SourceError> {
        let refuse = |why: String| Err(SourceError::Parameter(why));
        let (modes, words) = self.mode;
        for (name, value) in url.query_pairs() {
            let word = value.to_ascii_lowercase();
            if modes.contains(&&*name) && !words.contains(&word.as_str()) {
                return refuse(format!("its `{name}` is none of {}", words.join(", ")));
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
            match std::fs::read(&*value) {
                Err(why) => {
                    return refuse(format!("the file of its `{name}` cannot be read: {why}"));
                }
                Ok(file) if !String::from_utf8_lossy(&file).contains(mark) => {
                    return refuse(format!("the file of its `{name}` holds no {what} in PEM"));
                }
                Ok(_) => {}
            }
        }
        let [_, certificate, key] = self.files;
        let said = |names: &[&str]| url.query_pairs().any(|(name, _)| names.contains(&&*name));
        if said(certificate) != said(key) {
            let [certificate, key] = [first(certificate), first(key)];
            return refuse(format!("`{certificate}` and `{key}` go together"));
        }
        Ok(())
    }

    /// What to do about a connection that could not be secured.
    pub(super) fn help(&self, cause: &Error) -> Option<String> {
        let said = match cause {
            Error::Tls(why) => why.to_string(),
            Error::Io(why) => why.to_string(),
            _ => return None,
        };
        let [authority, certificate, key] = self.files.map(first);
        let mode = first(self.mode.0);
        let is = |words: &str| said.contains(words);
        Some(if is("UnknownIssuer") {
            format!(
                "the server's certificate is of an authority that this machine does not know: \
                 `?{authority}=FILE` names the authority's own"
            )
        } else if is("not valid for name") || is("NotValidForName") {
            format!(
                "the server's certificate is not for this host name: write the name that it is for, \
                 or leave names unchecked with `?{mode}={}`",
                self.unnamed
            )
        } else if is("certificate expired") || is("not valid yet") {
            "the server's certificate has expired, or a clock is wrong".to_owned()
        } else if is("does not support TLS") || is("not support SSL") {
            format!(
                "the server has no TLS: on a network that you trust, do without it with \
                 `?{mode}={}`",
                self.unsecured
            )
        } else if is("fatal alert: CertificateRequired") {
            format!(
                "the server wants a certificate of the client: `?{certificate}=FILE&{key}=FILE`"
            )
        } else if is("certificate") || is("fatal alert") || matches!(cause, Error::Tls(_)) {
            format!(
                "no secured connection could be made: do the server's certificate, `{authority}`, \
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
