//! Addresses as users write them, where a secret may stand: which are safe to go on with, and how
//! much of one may be shown.
//!
//! A bare `/`, `?`, `#` or `@` in a password, or a slash too few, moves its rest into what is taken
//! for the host, the path or the database, and these are shown. Such addresses are refused here
//! before anything is made of them, in words that hold nothing of them. Sources and targets ask
//! here.

use url::Url;

/// Parameters whose values name a place, and are shown with it.
const PLACES: [&str; 4] = ["host", "hostaddr", "dbname", "socket"];

/// Schemes of databases.
const DATABASES: [&str; 5] = ["postgres", "postgresql", "mysql", "mariadb", "sqlite"];

/// Why an address is not used. Its text holds nothing of the address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AddressFault {
    /// When what follows the scheme is no `//`.
    #[error("its scheme must be followed by `//`, the user and the host")]
    MissingSlashes,
    /// When a bare `@` stands behind where the host ends.
    #[error(
        "it has an unescaped `@` after its host; write `/` in a password as %2F, and `@` in a database's name as %40"
    )]
    UnescapedAt,
    /// When a bare `#` stands in it.
    #[error("it has an unescaped `#`; write it as %23")]
    UnescapedHash,
    /// When what follows a bare `?` is no parameter.
    #[error("it has an unescaped `?` without a parameter after it; in a password, write it as %3F")]
    UnescapedQuestionMark,
    /// When another address, or a user and a password, stand where a file's name belongs.
    #[error(
        "it has a URL in place of a file's name; if the file has this name, write `./` before it"
    )]
    UrlAsFile,
}

/// Refuses a URL of a server that would be shown with a part of its password.
///
/// # Errors
///
/// [`AddressFault`], except [`AddressFault::UrlAsFile`].
pub fn check_server(text: &str, url: &Url) -> Result<(), AddressFault> {
    if !text
        .split_once(':')
        .is_some_and(|(_, rest)| rest.starts_with("//"))
    {
        return Err(AddressFault::MissingSlashes);
    }
    // No driver reads a fragment: it is the rest of a password, and what stands before it would be
    // taken for a host.
    if url.fragment().is_some() {
        return Err(AddressFault::UnescapedHash);
    }
    if url.path().contains('@') {
        return Err(AddressFault::UnescapedAt);
    }
    let query = url.query().unwrap_or_default();
    let pairs = query.split('&').map(|pair| pair.split_once('='));
    if pairs
        .flatten()
        .any(|(name, value)| PLACES.contains(&name) && value.contains('@'))
    {
        return Err(AddressFault::UnescapedAt);
    }
    // A bare `?` in a password makes the rest of it and the host a parameter's name.
    let is_word = |c: char| c.is_ascii_alphanumeric() || "-_.[]".contains(c);
    if url
        .query_pairs()
        .any(|(name, _)| !name.chars().all(is_word))
    {
        return Err(AddressFault::UnescapedQuestionMark);
    }
    Ok(())
}

/// Refuses as a file's name what is another address: one with a scheme, or with a user and a
/// password.
///
/// # Errors
///
/// [`AddressFault::UrlAsFile`].
pub fn check_file(name: &str) -> Result<(), AddressFault> {
    let name = name.trim_start_matches('/');
    let Some((first, rest)) = name.split_once(':') else {
        return Ok(());
    };
    let is_drive = cfg!(windows) && first.len() == 1;
    let is_scheme = DATABASES.contains(&first);
    let is_first = !first.contains('/') && !is_drive;
    if is_first && (is_scheme || rest.starts_with("//") || rest.contains('@')) {
        return Err(AddressFault::UrlAsFile);
    }
    Ok(())
}

/// As much of a text that may be an address as may be shown: nothing behind `?` or `#`, and of one
/// that may hold a password its scheme alone.
pub fn shown(text: &str) -> String {
    if text.contains('@') {
        let is_scheme = |scheme: &str| scheme.chars().all(|c| c.is_ascii_alphanumeric());
        return match text.split_once("://") {
            Some((scheme, _)) if is_scheme(scheme) => format!("{scheme}://…"),
            _ => "…".to_owned(),
        };
    }
    text.split(['?', '#']).next().unwrap_or_default().to_owned()
}

/// A text without the user, the password and the parameters of each URL in it: an address may stand anywhere on a command
/// line by mistake, with slashes too few as well. A URL in quotes ends with them, any other with a blank.
pub fn without_logins(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, slashes, behind)) = address(rest) {
        let quote = before.trim_end_matches(in_scheme).chars().next_back();
        let quote = quote.filter(|quote| matches!(quote, '\'' | '"' | '`'));
        // A password may hold the quote: the last one ends the URL.
        let line = behind.lines().next().unwrap_or_default();
        let quoted = quote.and_then(|quote| line.rsplit_once(quote));
        let word = line.split(char::is_whitespace).next();
        let url = quoted.map_or(word.unwrap_or_default(), |(url, _)| url);
        out.push_str(before);
        out.push_str(slashes);
        let login = url.rfind('@').unwrap_or(0);
        let host = url.get(login..).unwrap_or_default();
        let parameters = host.find('?').map_or(host.len(), |at| at + 1);
        out.push_str(if login > 0 { "…" } else { "" });
        out.push_str(host.get(..parameters).unwrap_or_default());
        out.push_str(if parameters < host.len() { "…" } else { "" });
        rest = behind.get(url.len()..).unwrap_or_default();
    }
    out.push_str(rest);
    without_passwords(&without_bare_logins(&out))
}

/// A text without logins of addresses that have no scheme: `me:s3cret@host`.
fn without_bare_logins(text: &str) -> String {
    let is_end = |sign: char| sign.is_whitespace() || "'\"`".contains(sign);
    let words = text.split_inclusive(is_end).map(|word| {
        let login = word.rfind('@').unwrap_or(0);
        let (own, host) = word.split_at(login);
        let is_shown = own.contains('…') || !own.contains(':');
        if is_shown {
            word.to_owned()
        } else {
            format!("…{host}")
        }
    });
    words.collect()
}

/// A text without what stands behind `password=` or `pwd=`, as `libpq` and ADO take it, quoted or not.
fn without_passwords(text: &str) -> String {
    let lower = text.to_ascii_lowercase();
    let mut words: Vec<(usize, &str)> = lower.match_indices("password").collect();
    words.extend(lower.match_indices("pwd"));
    words.sort_unstable();
    let mut out = String::with_capacity(text.len());
    let mut shown = 0;
    for (at, word) in words {
        let Some(behind) = text.get(at + word.len()..).and_then(|rest| {
            let value = rest
                .trim_start()
                .strip_prefix('=')?
                .trim_start_matches([' ', '\t']);
            (at >= shown).then_some(value)
        }) else {
            continue;
        };
        let quote = behind
            .chars()
            .next()
            .filter(|sign| matches!(sign, '\'' | '"'));
        let inner = behind
            .get(quote.map_or(0, char::len_utf8)..)
            .unwrap_or_default();
        let ends = |sign: char| match quote {
            Some(quote) => sign == quote,
            None => sign.is_whitespace() || "'\"`&;".contains(sign),
        };
        let mut before = ' ';
        let end = inner.char_indices().find(|&(_, sign)| {
            let is_end = ends(sign) && before != '\\';
            before = sign;
            is_end
        });
        let length = end.map_or(inner.len(), |(at, _)| at);
        let start = text.len() - behind.len();
        out.push_str(text.get(shown..start).unwrap_or_default());
        out.push('…');
        shown = text.len() - inner.len()
            + length
            + usize::from(quote.is_some() && length < inner.len());
    }
    out.push_str(text.get(shown..).unwrap_or_default());
    out
}

/// The first address in a text: what stands before its colon, the colon with up to two slashes, and the text behind. With
/// fewer slashes only one of a database, since a colon alone stands in any sentence.
fn address(text: &str) -> Option<(&str, &str, &str)> {
    text.match_indices(':').find_map(|(at, _)| {
        let (before, rest) = text.split_at(at);
        let scheme = before.rsplit(|c| !in_scheme(c)).next()?;
        let slashes = [("://", true), (":/", false), (":", false)];
        let (slashes, is_whole) = slashes.into_iter().find(|(one, _)| rest.starts_with(one))?;
        let behind = rest.get(slashes.len()..)?;
        let is_address =
            is_whole || DATABASES.contains(&scheme) && !behind.starts_with(char::is_whitespace);
        is_address.then_some((before, slashes, behind))
    })
}

fn in_scheme(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '+'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(text: &str) -> Result<(), AddressFault> {
        check_server(text, &Url::parse(text).unwrap())
    }

    #[test]
    fn an_address_whose_password_reaches_beyond_its_host_is_refused() {
        for (text, why) in [
            (
                "postgres:/app:s3cret@127.0.0.1/shop",
                AddressFault::MissingSlashes,
            ),
            (
                "postgres:app:s3cret@127.0.0.1/shop",
                AddressFault::MissingSlashes,
            ),
            (
                "postgres:///app:s3cret@db.example/shop",
                AddressFault::UnescapedAt,
            ),
            (
                "mysql://app:8/s3cret@127.0.0.1/shop",
                AddressFault::UnescapedAt,
            ),
            (
                "postgres://app:8@s3cret/more@127.0.0.1/shop",
                AddressFault::UnescapedAt,
            ),
            (
                "postgres:///shop?host=app:s3cret@db",
                AddressFault::UnescapedAt,
            ),
            (
                "postgres://app:1@s3#cret@db.example/shop",
                AddressFault::UnescapedHash,
            ),
            (
                "postgres://app:1?s3cret@db.example/shop",
                AddressFault::UnescapedQuestionMark,
            ),
            (
                "postgres://app@db.example/shop?s3cret@x=1",
                AddressFault::UnescapedQuestionMark,
            ),
        ] {
            assert_eq!(server(text), Err(why), "{text}");
        }
    }

    #[test]
    fn an_address_that_says_what_it_means_is_taken() {
        for text in [
            "postgres://app:s3%23%2F%40@db.example/shop?sslmode=require",
            "postgres://app:s3@cret@db.example/shop",
            "postgres://app@db.example/a%40b",
            "postgres:///shop?host=/run/postgresql&user=me@tenant",
        ] {
            assert_eq!(server(text), Ok(()), "{text}");
        }
    }

    #[test]
    fn a_files_name_is_no_address() {
        for name in [
            "postgres://u:pw@h/d",
            "//postgres://u:pw@h/d",
            "postgres:/u",
            "http://h/x",
            "u:pw@h/d",
            "/u:p/w@h/d",
        ] {
            assert_eq!(check_file(name), Err(AddressFault::UrlAsFile), "{name}");
        }
        for name in [
            "shop@2026.db",
            "./u:pw@h",
            "out/a:b@c.ddb",
            "a:b.db",
            "/tmp/x.db",
        ] {
            assert_eq!(check_file(name), Ok(()), "{name}");
        }
    }

    #[test]
    fn no_login_is_left_in_a_text() {
        assert_eq!(
            without_logins("'postgres://me:s3://cret@pw@host/db' and http://host:8000 for me@host"),
            "'postgres://…@host/db' and http://host:8000 for me@host"
        );
        for text in [
            "no address, a@b",
            "sqlite: me@host",
            "sqlite:a.db and me@host",
        ] {
            assert_eq!(without_logins(text), text);
        }
        for secret in [
            "'postgres://me:s3 cret@host/db'",
            "`postgres://host/db?user=me&password=s3cret`",
            "'postgres://me:s3'cret@host/db'",
            "postgres://host/db?password=s3cret and more",
            "--catalog sqlite:me:s3cret@host/db",
            "`postgres:/me:s3cret@host/db`",
            "mysql:me:s3cret@host",
            "`host=db user=me password=s3cret`",
            "\"host=db password='s3 cret' user=me\"",
            "host=db password='s3\\'cret'",
            "host=db password = s3cret",
            "HOST=db PASSWORD=s3cret",
            "Server=db;Uid=me;Pwd=s3cret;",
            "me:s3cret@db:5432/shop",
            "`//me:s3cret@db/shop`",
        ] {
            assert!(!without_logins(secret).contains("cret"), "{secret}");
        }
    }

    #[test]
    fn nothing_that_may_be_a_password_is_shown() {
        assert_eq!(shown("postgres://me:s3#cret@host/db?x=1"), "postgres://…");
        assert_eq!(shown("http://host:8000/?token=a@b"), "http://…");
        assert_eq!(shown("me:s3cret@host"), "…");
        assert_eq!(shown("http://host:8000/?token=s3cret"), "http://host:8000/");
        assert_eq!(shown("dynamo"), "dynamo");
    }
}
