//! What a query sorts by: its own ORDER BY, held against its result and its tables.

use super::outer::{Outer, outer};
use super::results::{Expression, Sorted, column, results, split};
use super::tokens::{Kind, Token};
use crate::catalog::Dbms;

/// A column of the result that a query sorts by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum OrderKey {
    /// The one of this name, where there is but one.
    Column(String),
    /// By its number from 1.
    Number(usize),
    /// Something else.
    Expression,
}

/// A term of a query's ORDER BY.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Term {
    /// What it is in the result.
    pub(crate) key: OrderKey,
    /// What it is in the tables. Nothing is known of a query whose ORDER BY may be of something else
    /// than its tables: with UNION, or with WITH.
    pub(crate) column: Option<Sorted>,
}

/// The query's own ORDER BY, not one within it; `None` where it promises no order.
pub(crate) fn order(sql: &str, dbms: Dbms) -> Option<Vec<Term>> {
    let Outer { tokens, has_with } = outer(sql, dbms);
    let is = |token: &Token<'_>, words: &[&str]| {
        token.depth == 0 && words.iter().any(|word| token.is_word(word))
    };
    let at_by = |pair: &[Token<'_>]| match pair {
        [order, by] => is(order, &["order"]) && is(by, &["by"]),
        _ => false,
    };
    let begin = tokens.windows(2).rposition(at_by)? + 2;
    let behind = tokens.get(begin..).unwrap_or_default();
    let end = behind
        .iter()
        .position(|token| is(token, &["limit", "offset", "fetch", "for", "lock"]));
    let terms = behind.get(..end.unwrap_or(behind.len()));
    let sets = ["union", "intersect", "except", "minus"];
    let is_plain = !has_with && !tokens.iter().any(|token| is(token, &sets));
    let results = results(&tokens);
    let terms = split(terms.unwrap_or_default()).map(|term| {
        let (key, column) = resolve(without_direction(term), &results);
        Term {
            key,
            column: column.filter(|_| is_plain),
        }
    });
    Some(terms.collect())
}

/// What a term is: in the result, and in the tables.
fn resolve(term: &[Token<'_>], results: &[Expression]) -> (OrderKey, Option<Sorted>) {
    if let [number] = term
        && number.kind == Kind::Number
    {
        let Ok(number) = number.text.parse::<usize>() else {
            return (OrderKey::Expression, None);
        };
        // How many columns a `*` stands for is not known here.
        let before = results.get(..number).unwrap_or_default();
        let is_star = before.iter().any(|result| result.is_star);
        let column = before.last().filter(|_| !is_star);
        let column = column.and_then(|result| result.column.clone());
        return (OrderKey::Number(number), column);
    }
    let Some(column) = column(term) else {
        return (OrderKey::Expression, None);
    };
    // A name alone is one of the result's, where there is one; as part of an expression it is not.
    if let ([name], None) = (column.path.as_slice(), &column.collation) {
        let key = OrderKey::Column(name.clone());
        return match results.iter().find(|result| result.is_called(name)) {
            Some(result) => (key, result.column.clone()),
            None => (key, Some(column)),
        };
    }
    (passed_on(&column, results), Some(column))
}

/// What a column of a table is in the result, if the result has it as it is.
fn passed_on(column: &Sorted, results: &[Expression]) -> OrderKey {
    let Some((name, owner)) = column.path.split_last() else {
        return OrderKey::Expression;
    };
    let is_it = |result: &Expression| {
        let own = result.column.as_ref();
        own.is_some_and(|own| is_same(&own.path, &column.path))
    };
    let is_other = |result: &Expression| result.is_called(name) && !is_it(result);
    let hides = results.iter().any(is_other);
    let place = results.iter().position(is_it);
    let before = results.get(..place.unwrap_or(results.len()));
    let mut stars = before.unwrap_or_default().iter().filter(|one| one.is_star);
    match place.and_then(|at| results.get(at)) {
        Some(_) if hides && owner.is_empty() => OrderKey::Expression,
        Some(result) => match (stars.next(), place) {
            (None, Some(at)) => OrderKey::Number(at + 1),
            _ => OrderKey::Column(result.name.clone().unwrap_or_default()),
        },
        None => {
            let has = |of: &Vec<String>| of.is_empty() || owner.is_empty() || is_same(of, owner);
            let is_there = stars.any(|star| star.owner.as_ref().is_some_and(has));
            if is_there && !hides {
                OrderKey::Column(name.clone())
            } else {
                OrderKey::Expression
            }
        }
    }
}

/// Whether two names are of one thing: one may say more of where that is.
fn is_same(one: &[String], other: &[String]) -> bool {
    let pairs = one.iter().rev().zip(other.iter().rev());
    let mut pairs = pairs.map(|(one, other)| one.eq_ignore_ascii_case(other));
    pairs.all(|same| same)
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
        let terms = order(sql, Dbms::Postgres).unwrap_or_default().into_iter();
        let all = terms.filter_map(|term| term.column).map(|sorted| {
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

    /// What a query sorts by, as names, numbers or `?` of its result.
    fn keys(sql: &str) -> Option<String> {
        let keys = order(sql, Dbms::Postgres)?.into_iter();
        let keys = keys.map(|term| match term.key {
            OrderKey::Column(name) => name,
            OrderKey::Number(number) => number.to_string(),
            OrderKey::Expression => "?".to_owned(),
        });
        Some(keys.collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn the_order_of_a_query_is_its_outermost() {
        for (sql, expected) in [
            ("SELECT row_number() OVER (ORDER BY a) FROM t", None),
            ("SELECT a FROM (SELECT a FROM t ORDER BY a) q", None),
            (
                "SELECT a, b FROM t ORDER BY t.a DESC NULLS LAST, B COLLATE \"C\", 2, lower(a), \"B\" LIMIT 3",
                Some("1 2 2 ? B"),
            ),
            ("(SELECT a FROM t ORDER BY a DESC);", Some("a")),
            (
                "((SELECT a FROM t) UNION (SELECT b FROM u) ORDER BY 1)",
                Some("1"),
            ),
            ("(SELECT a FROM t) UNION (SELECT b FROM u ORDER BY b)", None),
            (
                "WITH q AS (SELECT 1) (SELECT a FROM q ORDER BY a DESC)",
                Some("a"),
            ),
            (
                "WITH q AS (SELECT 1 ORDER BY 1) SELECT a FROM q WHERE a IN (SELECT b FROM q ORDER BY b)",
                None,
            ),
        ] {
            assert_eq!(keys(sql).as_deref(), expected, "{sql}");
        }
    }

    #[test]
    fn a_column_of_a_table_is_the_results_only_as_it_is() {
        for (sql, expected) in [
            (
                "SELECT o.id, c.name, o.name FROM o JOIN c ORDER BY o.name",
                "3",
            ),
            (
                "SELECT id, date(placed) AS placed FROM o ORDER BY o.placed",
                "?",
            ),
            (
                "SELECT id, date(placed) AS placed FROM o ORDER BY placed",
                "placed",
            ),
            (
                "SELECT id, date(placed) AS placed FROM o ORDER BY placed COLLATE \"C\"",
                "?",
            ),
            ("SELECT placed AS day FROM o ORDER BY s.o.placed", "1"),
            ("SELECT * FROM o ORDER BY o.placed", "placed"),
            ("SELECT c.*, o.* FROM o JOIN c ORDER BY o.placed", "placed"),
            (
                "SELECT c.*, date(placed) AS placed FROM o JOIN c ORDER BY o.placed",
                "?",
            ),
            (
                "SELECT c.*, o.placed AS day FROM o JOIN c ORDER BY o.placed",
                "day",
            ),
            ("SELECT c.* FROM o JOIN c ORDER BY o.placed", "?"),
            ("SELECT id FROM o ORDER BY o.placed", "?"),
        ] {
            assert_eq!(keys(sql).as_deref(), Some(expected), "{sql}");
        }
    }
}
