//! What a query sorts by: the columns of its own ORDER BY, where these are plain to see.

use std::ops::Range;

use super::tokens::{Kind, Token, tokens};
use crate::catalog::Dbms;

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

/// The columns that a query sorts by, outermost. Expressions are left out, and so is all of a query
/// whose ORDER BY may be of something else than its tables: with UNION, or with WITH.
pub(crate) fn sorted(sql: &str, dbms: Dbms) -> Vec<Sorted> {
    let tokens = tokens(sql, Some(dbms));
    let outer: Vec<(usize, &Token<'_>)> = tokens
        .iter()
        .enumerate()
        .filter(|(_, token)| token.depth == 0)
        .collect();
    let is = |token: &Token<'_>, words: &[&str]| words.iter().any(|word| token.is_word(word));
    let has_others = |(_, token): &(usize, &Token<'_>)| {
        is(token, &["with", "union", "intersect", "except", "minus"])
    };
    if outer.iter().any(has_others) {
        return Vec::new();
    }
    let pairs = outer.iter().zip(outer.iter().skip(1));
    let mut order =
        pairs.filter(|((_, order), (_, by))| order.is_word("order") && by.is_word("by"));
    let Some((_, (by, _))) = order.next_back() else {
        return Vec::new();
    };
    let ends = ["limit", "offset", "fetch", "for"];
    let behind = tokens.get(by + 1..).unwrap_or_default();
    let end = behind
        .iter()
        .position(|token| token.depth == 0 && (is(token, &ends) || token.is_sign(";")));
    let terms = behind
        .get(..end.unwrap_or(behind.len()))
        .unwrap_or_default();
    let results = results(&tokens);
    let terms = split(terms).filter_map(|term| {
        let term = without_direction(term);
        if let [number] = term
            && number.kind == Kind::Number
        {
            let at = number.text.parse::<usize>().ok()?.checked_sub(1)?;
            // How many columns a `*` stands for is not known here.
            let before = results.get(..=at)?;
            let is_star = |result: &Expression| result.is_star;
            return before
                .last()?
                .sorted
                .clone()
                .filter(|_| !before.iter().any(is_star));
        }
        let column = column(term)?;
        let named = results.iter().find(|result| {
            let name = result.name.as_deref();
            let same = |own: &String| name.is_some_and(|name| name.eq_ignore_ascii_case(own));
            column.collation.is_none() && matches!(column.path.as_slice(), [own] if same(own))
        });
        match named {
            Some(result) => result.sorted.clone(),
            None => Some(column),
        }
    });
    terms.collect()
}

/// The tables that a query itself reads, by what it calls each, with the parts of its name.
pub(crate) fn sources(sql: &str, dbms: Dbms) -> Vec<(String, Vec<String>)> {
    let tokens = tokens(sql, Some(dbms));
    let mut found = Vec::new();
    let mut in_list = false;
    for (at, token) in tokens
        .iter()
        .enumerate()
        .filter(|(_, token)| token.depth == 0)
    {
        let begins = token.is_word("from") || token.is_word("join");
        let goes_on = in_list && token.is_sign(",");
        if !begins && !goes_on {
            in_list &= !BEHIND.iter().any(|word| token.is_word(word));
            continue;
        }
        in_list = true;
        let rest = tokens.get(at + 1..).unwrap_or_default();
        let only = rest.first().is_some_and(|token| token.is_word("only"));
        let rest = rest.get(usize::from(only)..).unwrap_or_default();
        let mut path = Vec::new();
        let mut length = 0;
        while let Some(name) = rest.get(length).filter(|token| token.is_name()) {
            path.push(name.name());
            length += 1;
            if !rest.get(length).is_some_and(|token| token.is_sign(".")) {
                break;
            }
            length += 1;
        }
        let mut alias = rest.get(length..).unwrap_or_default().iter();
        let alias = alias.find(|token| !token.is_word("as"));
        let is_clause = |token: &&Token<'_>| BEHIND.iter().chain(&JOINS).any(|w| token.is_word(w));
        let alias = alias.filter(|token| token.is_name() && !is_clause(token));
        if let Some(own) = path.last() {
            found.push((alias.map_or_else(|| own.clone(), Token::name), path));
        }
    }
    found
}

/// What comes behind the tables of a query.
const BEHIND: [&str; 9] = [
    "where", "group", "having", "window", "order", "limit", "offset", "fetch", "for",
];

/// What may come behind a table and is no alias.
const JOINS: [&str; 10] = [
    "on",
    "using",
    "join",
    "left",
    "right",
    "inner",
    "full",
    "cross",
    "natural",
    "straight_join",
];

/// A column of the result.
struct Expression {
    name: Option<String>,
    /// The column that it is, where it is one.
    sorted: Option<Sorted>,
    is_star: bool,
}

/// The columns of the result, as the first SELECT lists them.
fn results(tokens: &[Token<'_>]) -> Vec<Expression> {
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
    let sorted = column(value);
    let own = sorted
        .as_ref()
        .and_then(|sorted| sorted.path.last().cloned());
    Expression {
        name: alias.map(Token::name).or(own),
        sorted,
        is_star: tokens.last().is_some_and(|token| token.is_sign("*")),
    }
}

/// A column, maybe with a collation; `None` for any other expression.
fn column(tokens: &[Token<'_>]) -> Option<Sorted> {
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
fn split<'t, 's>(tokens: &'t [Token<'s>]) -> impl Iterator<Item = &'t [Token<'s>]> {
    tokens.split(|token| token.depth == 0 && token.is_sign(","))
}

fn without_direction<'t, 's>(mut tokens: &'t [Token<'s>]) -> &'t [Token<'s>] {
    let words = ["asc", "desc", "nulls", "first", "last"];
    while let [before @ .., last] = tokens
        && !before.is_empty()
        && words.iter().any(|word| last.is_word(word))
    {
        tokens = before;
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a query sorts by, as `path` or `path/collation`.
    fn told(sql: &str) -> String {
        let all = sorted(sql, Dbms::Postgres).into_iter().map(|sorted| {
            let collation = sorted
                .collation
                .map_or(String::new(), |name| format!("/{name}"));
            sorted.path.join(".") + &collation
        });
        all.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn columns_of_the_outermost_order_by_are_found() {
        for (sql, expected) in [
            ("SELECT a FROM t", ""),
            (
                "SELECT a FROM t ORDER BY a DESC NULLS LAST, t.\"B c\" LIMIT 3",
                "a t.B c",
            ),
            (
                "SELECT a FROM t ORDER BY a COLLATE \"C\" DESC, b COLLATE pg_catalog.\"de\"",
                "a/C b/de",
            ),
            (
                "SELECT x, f.title AS t, count(*) FROM f ORDER BY 2, T, 3",
                "f.title f.title",
            ),
            (
                "SELECT DISTINCT ON (a, b) a, lower(b) b FROM t ORDER BY a, b",
                "a",
            ),
            ("SELECT *, a FROM t ORDER BY 2", ""),
            ("SELECT a COLLATE \"C\" x FROM t ORDER BY x", "a/C"),
            (
                "SELECT row_number() OVER (ORDER BY a) FROM (SELECT a FROM t ORDER BY b) q",
                "",
            ),
            (
                "SELECT a FROM t ORDER BY lower(a), a || b, a::text, CASE a WHEN 1 THEN 2 END",
                "",
            ),
            ("SELECT a FROM t UNION SELECT b FROM u ORDER BY a", ""),
            ("WITH t AS (SELECT 1) SELECT a FROM t ORDER BY a", ""),
        ] {
            assert_eq!(told(sql), expected, "{sql}");
        }
    }

    #[test]
    fn the_tables_of_a_query_are_those_outside_of_parentheses() {
        let sql = "SELECT a FROM public.users u, orders AS o LEFT JOIN \"Order Details\" USING (id) \
                   JOIN (SELECT 1 FROM inner_one) q ON true WHERE a IN (SELECT b FROM other), x";
        let found = sources(sql, Dbms::Postgres).into_iter();
        let found: Vec<String> = found
            .map(|(name, path)| format!("{name}={}", path.join(".")))
            .collect();
        assert_eq!(
            found,
            ["u=public.users", "o=orders", "Order Details=Order Details"]
        );
    }
}
