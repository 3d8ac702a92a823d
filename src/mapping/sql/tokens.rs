//! The words and signs of a query.

use std::ops::Range;

use crate::catalog::Dbms;
use crate::mapping::expression::word;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A keyword or a name.
    Word,
    /// A name in quotes.
    Quoted,
    /// A text in quotes.
    Text,
    /// Digits.
    Number,
    /// `:name`.
    Parameter,
    /// Anything else.
    Sign,
}

/// A word or sign of a query, outside of comments.
#[derive(Debug, Clone)]
pub(crate) struct Token<'s> {
    pub(super) kind: Kind,
    /// As it is written.
    pub(super) text: &'s str,
    /// Bytes of the query.
    pub(crate) span: Range<usize>,
    /// Parentheses around it.
    pub(super) depth: usize,
}

impl Token<'_> {
    /// The name of a parameter.
    pub(crate) fn parameter(&self) -> Option<&str> {
        self.text
            .strip_prefix(':')
            .filter(|_| self.kind == Kind::Parameter)
    }

    pub(super) fn is_word(&self, word: &str) -> bool {
        self.kind == Kind::Word && self.text.eq_ignore_ascii_case(word)
    }

    pub(super) fn is_sign(&self, sign: &str) -> bool {
        self.kind == Kind::Sign && self.text == sign
    }

    pub(super) fn is_name(&self) -> bool {
        matches!(self.kind, Kind::Word | Kind::Quoted)
    }

    /// A name without its quotes.
    pub(super) fn name(&self) -> String {
        if self.kind != Kind::Quoted {
            return self.text.to_owned();
        }
        let inner = self.text.get(1..self.text.len().saturating_sub(1));
        let inner = inner.unwrap_or_default();
        match self.text.as_bytes().first() {
            Some(b'"') => inner.replace("\"\"", "\""),
            Some(b'`') => inner.replace("``", "`"),
            _ => inner.to_owned(),
        }
    }
}

/// Signs of more than one letter.
const LONG: [&str; 10] = ["::", "<=", ">=", "<>", "!=", "==", "||", "->", ":=", "@>"];

/// Takes a query apart. Without a product what all of them understand in one way is told apart.
pub(crate) fn tokens(sql: &str, dbms: Option<Dbms>) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    let mut depth = 0_usize;
    let mut at = 0;
    let mut escapes = false;
    while let Some(rest) = sql.get(at..).filter(|rest| !rest.is_empty()) {
        let letter = rest.chars().next().unwrap_or(' ');
        if let Some(length) = blank(rest, letter, dbms) {
            at += length.min(rest.len());
            continue;
        }
        let (kind, length) = match letter {
            '\'' => (Kind::Text, quoted(rest, '\'', escapes || is_mysql(dbms))),
            // Unless the server's SQL mode is ANSI_QUOTES, which then hides a name and nothing else.
            '"' if is_mysql(dbms) => (Kind::Text, quoted(rest, '"', true)),
            '"' => (Kind::Quoted, quoted(rest, '"', false)),
            '`' => (Kind::Quoted, quoted(rest, '`', false)),
            '[' if dbms == Some(Dbms::Sqlite) => (
                Kind::Quoted,
                rest.find(']').map_or(rest.len(), |end| end + 1),
            ),
            '$' => match dollars(rest).filter(|_| dbms.is_none_or(|d| d == Dbms::Postgres)) {
                Some(length) => (Kind::Text, length),
                None => (Kind::Sign, 1),
            },
            ':' if is_parameter(rest) => {
                let name = word(rest.get(1..).unwrap_or_default());
                (Kind::Parameter, 1 + name.len())
            }
            '0'..='9' => {
                let inner = |c: char| c.is_ascii_alphanumeric() || c == '.';
                (Kind::Number, rest.find(|c| !inner(c)).unwrap_or(rest.len()))
            }
            letter if letter == '_' || letter.is_alphabetic() => (Kind::Word, word(rest).len()),
            letter => {
                let long = LONG.iter().find(|sign| rest.starts_with(**sign));
                (
                    Kind::Sign,
                    long.map_or(letter.len_utf8(), |sign| sign.len()),
                )
            }
        };
        let length = length.clamp(1, rest.len());
        let text = rest.get(..length).unwrap_or(rest);
        // `E'…'` of PostgreSQL.
        escapes = kind == Kind::Word
            && text.eq_ignore_ascii_case("e")
            && rest.get(length..).is_some_and(|r| r.starts_with('\''));
        if text == ")" {
            depth = depth.saturating_sub(1);
        }
        found.push(Token {
            kind,
            text,
            span: at..at + text.len(),
            depth,
        });
        if text == "(" {
            depth += 1;
        }
        at += text.len();
    }
    found
}

fn is_mysql(dbms: Option<Dbms>) -> bool {
    matches!(dbms, Some(Dbms::Mysql | Dbms::Mariadb))
}

/// How long the space or comment is that a text begins with.
fn blank(rest: &str, letter: char, dbms: Option<Dbms>) -> Option<usize> {
    let line = || rest.find('\n').map_or(rest.len(), |end| end + 1);
    if letter.is_whitespace() {
        return Some(letter.len_utf8());
    }
    // `5--2` is 7 in MySQL.
    let is_comment = rest.strip_prefix("--").is_some_and(|behind| {
        !is_mysql(dbms) || behind.is_empty() || behind.starts_with(|c: char| c <= ' ')
    });
    if is_comment || (letter == '#' && is_mysql(dbms)) {
        return Some(line());
    }
    rest.starts_with("/*").then(|| {
        let (mut depth, mut at) = (0_usize, 0);
        while let Some(inner) = rest.get(at..).filter(|inner| !inner.is_empty()) {
            at += if inner.starts_with("/*") && (depth == 0 || dbms == Some(Dbms::Postgres)) {
                depth += 1;
                2
            } else if inner.starts_with("*/") {
                depth -= 1;
                2
            } else {
                inner.chars().next().map_or(1, char::len_utf8)
            };
            if depth == 0 {
                break;
            }
        }
        at
    })
}

/// The length of a text in quotes, which are doubled within it.
fn quoted(rest: &str, quote: char, escapes: bool) -> usize {
    let mut letters = rest.char_indices().skip(1).peekable();
    while let Some((at, letter)) = letters.next() {
        if escapes && letter == '\\' {
            letters.next();
        } else if letter == quote && letters.next_if(|(_, next)| *next == quote).is_none() {
            return at + 1;
        }
    }
    rest.len()
}

/// The length of a text in dollar quotes.
fn dollars(rest: &str) -> Option<usize> {
    let tag = word(rest.get(1..)?);
    let open = rest
        .get(..tag.len() + 2)
        .filter(|open| open.ends_with('$'))?;
    if tag.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let inner = rest.get(open.len()..)?;
    let end = inner.find(open);
    Some(end.map_or(rest.len(), |end| open.len() + end + open.len()))
}

fn is_parameter(rest: &str) -> bool {
    let name = word(rest.get(1..).unwrap_or_default());
    name.starts_with(|c: char| !c.is_ascii_digit())
}
