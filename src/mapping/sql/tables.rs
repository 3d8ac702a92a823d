//! The tables that a query reads.

use super::outer::outer;
use super::tokens::{Token, tokens};
use crate::catalog::Dbms;

/// A table that a query reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Read {
    /// What the query calls it.
    pub(crate) called: String,
    /// The parts of its name.
    pub(crate) path: Vec<String>,
    /// Whether the query itself reads it, and no query within it.
    pub(crate) is_own: bool,
}

/// What comes behind the tables of a query.
const BEHIND: [&str; 12] = [
    "where",
    "group",
    "having",
    "window",
    "order",
    "limit",
    "offset",
    "fetch",
    "for",
    "union",
    "intersect",
    "except",
];

/// What may come behind a table and is no alias.
const JOINS: [&str; 11] = [
    "on",
    "using",
    "join",
    "left",
    "right",
    "inner",
    "outer",
    "full",
    "cross",
    "natural",
    "straight_join",
];

/// The tables that a query reads, those of its subqueries too.
pub(crate) fn tables(sql: &str, dbms: Dbms) -> Vec<Read> {
    let tokens = tokens(sql, Some(dbms));
    let own = outer(sql, dbms).tokens;
    let is_own = |token: &Token<'_>| {
        let mut own = own.iter();
        own.any(|own| own.depth == 0 && own.span == token.span)
    };
    let mut found = Vec::new();
    // For each depth whether a list of tables is being read.
    let mut lists = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        lists.resize(token.depth + 1, false);
        let Some(in_list) = lists.last_mut() else {
            continue;
        };
        let begins = ["from", "join", "straight_join"];
        let begins = begins.iter().any(|word| token.is_word(word));
        let goes_on = *in_list && token.is_sign(",");
        if !begins && !goes_on {
            *in_list &= !BEHIND.iter().any(|word| token.is_word(word));
            continue;
        }
        *in_list = true;
        let rest = tokens.get(at + 1..).unwrap_or_default();
        let only = rest.first().is_some_and(|token| token.is_word("only"));
        let rest = rest.get(usize::from(only)..).unwrap_or_default();
        if let Some((called, path)) = table(rest) {
            found.push(Read {
                called,
                path,
                is_own: is_own(token),
            });
        }
    }
    found
}

/// The table that stands at the beginning: what it is called by, and the parts of its name.
fn table(tokens: &[Token<'_>]) -> Option<(String, Vec<String>)> {
    let mut path = Vec::new();
    let mut length = 0;
    while let Some(name) = tokens.get(length).filter(|token| token.is_name()) {
        path.push(name.name());
        length += 1;
        if !tokens.get(length).is_some_and(|token| token.is_sign(".")) {
            break;
        }
        length += 1;
    }
    let own = path.last()?.clone();
    let mut alias = tokens.get(length..).unwrap_or_default().iter();
    let alias = alias.find(|token| !token.is_word("as"));
    let is_clause = |token: &&Token<'_>| BEHIND.iter().chain(&JOINS).any(|w| token.is_word(w));
    let alias = alias.filter(|token| token.is_name() && !is_clause(token));
    Some((alias.map_or(own, Token::name), path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(sql: &str) -> String {
        let all = tables(sql, Dbms::Postgres).into_iter().map(|read| {
            let within = if read.is_own { "" } else { " within" };
            format!("{}={}{within}", read.called, read.path.join("."))
        });
        all.collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn tables_are_found_with_their_aliases() {
        for (sql, expected) in [
            (
                "SELECT a, b FROM public.users u, orders AS o LEFT JOIN \"Order Details\" USING (id) \
                 JOIN (SELECT 1 FROM inner_one) q ON true, late WHERE a IN (SELECT b FROM other), x",
                "u=public.users, o=orders, Order Details=Order Details, inner_one=inner_one within, \
                 late=late, other=other within",
            ),
            (
                "WITH q AS (SELECT 1 FROM a) (SELECT 1 FROM ONLY b ORDER BY x, y)",
                "a=a within, b=b",
            ),
        ] {
            assert_eq!(told(sql), expected, "{sql}");
        }
    }
}
