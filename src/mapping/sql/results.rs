//! The columns of a query's result, as its first SELECT lists them.

use std::ops::Range;

use super::tokens::{Kind, Token};

/// A column by which a query sorts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sorted {
    /// The column, behind what the query calls its table by.
    pub(crate) path: Vec<String>,
    /// The collation that the query asks for.
    pub(crate) collation: Option<String>,
    /// The bytes of the query that say it.
    pub(crate) span: Range<usize>,
}

/// A column of the result.
pub(super) struct Expression {
    pub(super) name: Option<String>,
    /// The column that it is, where it is one.
    pub(super) column: Option<Sorted>,
    pub(super) is_star: bool,
    /// What stands before the point of a `*`; nothing for one without.
    pub(super) owner: Option<Vec<String>>,
}

impl Expression {
    pub(super) fn is_called(&self, name: &str) -> bool {
        let own = self.name.as_ref();
        own.is_some_and(|own| own.eq_ignore_ascii_case(name))
    }
}

/// The columns of the result, as the first SELECT lists them.
pub(super) fn results(tokens: &[Token<'_>]) -> Vec<Expression> {
    let place = |word: &str| {
        let mut all = tokens.iter();
        all.position(|token| token.depth == 0 && token.is_word(word))
    };
    let Some(begin) = place("select") else {
        return Vec::new();
    };
    let end = place("from").unwrap_or(tokens.len());
    let mut list = tokens.get(begin + 1..end).unwrap_or_default();
    if let [first, rest @ ..] = list
        && (first.is_word("distinct") || first.is_word("all"))
    {
        list = rest;
        if rest.first().is_some_and(|token| token.is_word("on")) {
            let close = rest
                .iter()
                .position(|token| token.depth == 0 && token.is_sign(")"));
            list = rest
                .get(close.map_or(rest.len(), |at| at + 1)..)
                .unwrap_or_default();
        }
    }
    split(list).map(expression).collect()
}

fn expression(tokens: &[Token<'_>]) -> Expression {
    let (value, alias) = match tokens {
        [value @ .., r#as, name] if r#as.is_word("as") && name.is_name() => (value, Some(name)),
        [value @ .., name] if name.is_name() => {
            let is_value = |last: &Token<'_>| {
                (last.kind != Kind::Sign || last.is_sign(")")) && !last.is_word("collate")
            };
            match value.last() {
                Some(last) if is_value(last) => (value, Some(name)),
                _ => (tokens, None),
            }
        }
        tokens => (tokens, None),
    };
    let column = column(value);
    let own = column.as_ref();
    let own = own.and_then(|column| column.path.last().cloned());
    let owner = match tokens {
        [star] if star.is_sign("*") => Some(Vec::new()),
        [owner @ .., dot, star] if dot.is_sign(".") && star.is_sign("*") => path(owner),
        _ => None,
    };
    Expression {
        name: alias.map(Token::name).or(own),
        column,
        is_star: tokens.last().is_some_and(|token| token.is_sign("*")),
        owner,
    }
}

/// A column, maybe with a collation; `None` for any other expression.
pub(super) fn column(tokens: &[Token<'_>]) -> Option<Sorted> {
    let span = tokens.first()?.span.start..tokens.last()?.span.end;
    let collate = tokens.iter().position(|token| token.is_word("collate"));
    let (tokens, collation) = match collate {
        Some(at) => (tokens.get(..at)?, Some(path(tokens.get(at + 1..)?)?.pop()?)),
        None => (tokens, None),
    };
    Some(Sorted {
        path: path(tokens)?,
        collation,
        span,
    })
}

/// Names with points between them.
fn path(tokens: &[Token<'_>]) -> Option<Vec<String>> {
    let is_path = tokens.len() % 2 == 1
        && tokens.iter().enumerate().all(|(at, token)| match at % 2 {
            0 => token.is_name(),
            _ => token.is_sign("."),
        });
    let names = tokens.iter().step_by(2).map(Token::name);
    is_path.then(|| names.collect())
}

/// What stands between the commas.
pub(super) fn split<'t, 's>(tokens: &'t [Token<'s>]) -> impl Iterator<Item = &'t [Token<'s>]> {
    tokens.split(|token| token.depth == 0 && token.is_sign(","))
}
