//! What the parameters of a query are compared with.

use super::tokens::{Kind, Token, tokens};
use crate::catalog::Dbms;

/// A column as a query names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ColumnName {
    /// The alias or table before the point.
    pub(crate) owner: Option<String>,
    /// The column.
    pub(crate) name: String,
}

/// How a parameter stands to the column that it is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// They are equal.
    Equal,
    /// The column is not below it.
    Low,
    /// The column is not above it.
    High,
    /// Otherwise: LIKE, unequal.
    Other,
}

/// A parameter with the column that it is compared with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Comparison {
    /// The parameter.
    pub(crate) parameter: String,
    /// The column.
    pub(crate) column: ColumnName,
    /// How the two stand.
    pub(crate) side: Side,
}

/// The columns that parameters are compared with, where that is plain to see.
pub(crate) fn compared(sql: &str, dbms: Dbms) -> Vec<Comparison> {
    let tokens = tokens(sql, Some(dbms));
    let all = tokens.iter().enumerate();
    let all = all.filter_map(|(at, token)| {
        let parameter = token.parameter()?.to_owned();
        let (column, side) = before(&tokens, at).or_else(|| behind(&tokens, at))?;
        Some(Comparison {
            parameter,
            column,
            side,
        })
    });
    all.collect()
}

/// `column = :p`, `column BETWEEN :p AND :q`, `date(column) = date(:p)`, `column IN (:p, :q)`.
fn before(tokens: &[Token<'_>], at: usize) -> Option<(ColumnName, Side)> {
    let mut at = at;
    // Out of the functions and lists that the parameter stands in.
    while let Some(token) = tokens.get(at.checked_sub(1)?) {
        if token.is_sign("(") {
            at -= 1;
            let call = tokens.get(at.checked_sub(1)?)?;
            if call.kind == Kind::Word && !call.is_word("in") && !is_operator(call) {
                at -= 1;
            }
        } else if token.is_sign(",") {
            at = opening(tokens, at)? + 1;
        } else {
            break;
        }
    }
    let operator = at.checked_sub(1)?;
    let token = tokens.get(operator)?;
    if token.is_word("and") {
        let depth = token.depth;
        let mut earlier = (0..operator).rev().take(8);
        let between = earlier.find(|at| {
            let token = tokens.get(*at);
            token.is_some_and(|token| token.depth == depth && token.is_word("between"))
        })?;
        let within = tokens.get(between + 1..operator)?;
        let single = !within.iter().any(|token| token.is_word("and"));
        return single.then(|| Some((ending(tokens, between)?, Side::High)))?;
    }
    let side = side(token)?;
    Some((ending(tokens, operator)?, side))
}

/// `:p = column`.
fn behind(tokens: &[Token<'_>], at: usize) -> Option<(ColumnName, Side)> {
    let mut at = at + 1;
    while tokens.get(at)?.is_sign(")") {
        at += 1;
    }
    let side = match side(tokens.get(at)?)? {
        Side::Low => Side::High,
        Side::High => Side::Low,
        side => side,
    };
    let mut from = at + 1;
    // Into one function.
    if tokens.get(from + 1).is_some_and(|token| token.is_sign("(")) {
        from += 2;
    }
    let first = tokens.get(from).filter(|token| token.is_name())?;
    let (owner, name) = match (tokens.get(from + 1), tokens.get(from + 2)) {
        (Some(dot), Some(name)) if dot.is_sign(".") && name.is_name() => (Some(first), name),
        _ => (None, first),
    };
    Some((
        ColumnName {
            owner: owner.map(Token::name),
            name: name.name(),
        },
        side,
    ))
}

fn is_operator(token: &Token<'_>) -> bool {
    let words = [
        "and", "or", "not", "on", "where", "like", "ilike", "between", "any",
    ];
    words.iter().any(|word| token.is_word(word))
}

fn side(token: &Token<'_>) -> Option<Side> {
    if token.kind == Kind::Sign {
        return match token.text {
            "=" | "==" => Some(Side::Equal),
            ">" | ">=" => Some(Side::Low),
            "<" | "<=" => Some(Side::High),
            "<>" | "!=" => Some(Side::Other),
            _ => None,
        };
    }
    match token.text.to_ascii_lowercase().as_str() {
        "in" => Some(Side::Equal),
        "between" => Some(Side::Low),
        "like" | "ilike" => Some(Side::Other),
        _ => None,
    }
}

/// The place of the parenthesis that opens around a place.
fn opening(tokens: &[Token<'_>], at: usize) -> Option<usize> {
    let depth = tokens.get(at)?.depth.checked_sub(1)?;
    let is_open = |at: &usize| {
        let token = tokens.get(*at);
        token.is_some_and(|token| token.is_sign("(") && token.depth == depth)
    };
    (0..at).rev().find(is_open)
}

/// The column whose name, or whose function, ends before a place.
fn ending(tokens: &[Token<'_>], at: usize) -> Option<ColumnName> {
    let mut last = at.checked_sub(1)?;
    if tokens.get(last)?.is_word("not") {
        last = last.checked_sub(1)?;
    }
    // `column::date = …`
    if last >= 2 && tokens.get(last - 1)?.is_sign("::") {
        last -= 2;
    }
    while tokens.get(last)?.is_sign(")") {
        last = last.checked_sub(1)?;
    }
    let name = tokens.get(last).filter(|token| token.is_name())?;
    let dot = last.checked_sub(1).and_then(|at| tokens.get(at));
    let owner = last.checked_sub(2).and_then(|at| tokens.get(at));
    let owner = match (owner, dot) {
        (Some(owner), Some(dot)) if dot.is_sign(".") && owner.is_name() => Some(owner.name()),
        _ => None,
    };
    Some(ColumnName {
        owner,
        name: name.name(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(sql: &str) -> String {
        let all = compared(sql, Dbms::Postgres).into_iter();
        let all = all.map(|c| {
            let owner = c.column.owner.map_or(String::new(), |owner| owner + ".");
            format!("{} {owner}{} {:?}", c.parameter, c.column.name, c.side)
        });
        all.collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn what_parameters_are_compared_with_is_seen() {
        for (sql, expected) in [
            (
                "SELECT 1 WHERE t.a = :a AND b <> :b",
                "a t.a Equal, b b Other",
            ),
            ("SELECT 1 WHERE :a <= x.\"Odd name\"", "a x.Odd name Low"),
            (
                "SELECT 1 WHERE a BETWEEN :a AND :b AND c >= :c",
                "a a Low, b a High, c c Low",
            ),
            ("SELECT 1 WHERE date(t.a) = date(:a)", "a t.a Equal"),
            ("SELECT 1 WHERE a::date < :a", "a a High"),
            (
                "SELECT 1 WHERE a IN (:a, :b) AND n LIKE :n",
                "a a Equal, b a Equal, n n Other",
            ),
            ("SELECT :a, f(x) FROM t", ""),
        ] {
            assert_eq!(told(sql), expected, "{sql}");
        }
    }
}
