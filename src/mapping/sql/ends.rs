//! Whether a query takes in what equals a parameter that bounds a range.

use super::tokens::{Token, tokens};
use crate::catalog::Dbms;

/// Whether rows that equal a parameter are taken in, where the query has it as the upper or the lower
/// bound of a range; `None` where that is not plain to see.
pub(crate) fn takes_in(
    sql: &str,
    dbms: Option<Dbms>,
    parameter: &str,
    upper: bool,
) -> Option<bool> {
    let tokens = tokens(sql, dbms);
    let all = tokens.iter().enumerate();
    let mut uses = all.filter(|(_, token)| token.parameter() == Some(parameter));
    let (at, _) = uses.next()?;
    // Used twice, it may be meant twice.
    if uses.next().is_some() {
        return None;
    }
    let before = outside(&tokens, at).and_then(|at| tokens.get(at));
    let behind = tokens.get(at + 1);
    let (first, second) = if upper { ("<", ">") } else { (">", "<") };
    let is = |token: Option<&Token<'_>>, sign: &str| token.is_some_and(|token| token.is_sign(sign));
    if is(before, first) || is(behind, second) {
        return Some(false);
    }
    let or_equal = |sign: &str| format!("{sign}=");
    if is(before, &or_equal(first)) || is(behind, &or_equal(second)) {
        return Some(true);
    }
    let is_between = before.is_some_and(|token| {
        token.is_word("between") || (upper && token.is_word("and") && follows_between(&tokens, at))
    });
    is_between.then_some(true)
}

/// The place before a parameter and the functions that it stands in.
fn outside(tokens: &[Token<'_>], at: usize) -> Option<usize> {
    let mut before = at.checked_sub(1)?;
    while tokens.get(before)?.is_sign("(") {
        before = before.checked_sub(1)?;
        if tokens.get(before)?.is_name() {
            before = before.checked_sub(1)?;
        }
    }
    Some(before)
}

/// Whether the AND before a parameter is that of a BETWEEN.
fn follows_between(tokens: &[Token<'_>], at: usize) -> bool {
    let earlier = tokens.get(..at.saturating_sub(1)).unwrap_or_default();
    let mut earlier = earlier.iter().rev();
    let word = earlier.find(|token| token.is_word("and") || token.is_word("between"));
    word.is_some_and(|word| word.is_word("between"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whether_a_bound_is_taken_in_is_seen() {
        for (sql, upper, expected) in [
            ("a >= :p AND a < :q", false, Some(true)),
            ("a < :p", true, Some(false)),
            ("a <= :p", true, Some(true)),
            (":p > a", true, Some(false)),
            ("a < date(:p) + 1", true, Some(false)),
            ("a BETWEEN :o AND :p", true, Some(true)),
            ("a BETWEEN :p AND :q", false, Some(true)),
            ("a = :o AND b > 1 AND :p < c", false, Some(false)),
            ("a = :p", true, None),
            ("a < :p OR b = :p", true, None),
            ("a < ':p'", true, None),
        ] {
            let sql = format!("SELECT * FROM t WHERE {sql}");
            assert_eq!(takes_in(&sql, None, "p", upper), expected, "{sql}");
        }
    }
}
