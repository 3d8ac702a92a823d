//! The query itself, without parentheses around it.

use super::tokens::{Token, tokens};
use crate::catalog::Dbms;

/// The tokens of the query whose rows come back.
pub(super) struct Outer<'s> {
    /// Those outside of any subquery have the depth 0.
    pub(super) tokens: Vec<Token<'s>>,
    /// Whether a WITH stands before or in it.
    pub(super) has_with: bool,
}

/// Takes away the parentheses that enclose a whole query, behind WITH too.
pub(super) fn outer(sql: &str, dbms: Dbms) -> Outer<'_> {
    let mut tokens = tokens(sql, Some(dbms));
    let mut has_with = false;
    loop {
        while tokens.last().is_some_and(|token| token.is_sign(";")) {
            tokens.pop();
        }
        has_with |= tokens.first().is_some_and(|token| token.is_word("with"));
        let Some(open) = enclosing(&tokens) else {
            return Outer { tokens, has_with };
        };
        tokens.pop();
        tokens.drain(..=open);
        for token in &mut tokens {
            token.depth = token.depth.saturating_sub(1);
        }
    }
}

/// The parenthesis that opens around all of a query.
fn enclosing(tokens: &[Token<'_>]) -> Option<usize> {
    if !tokens.last()?.is_sign(")") {
        return None;
    }
    let is_open = |token: &Token<'_>| token.depth == 0 && token.is_sign("(");
    let open = tokens.iter().rposition(is_open)?;
    let mut before = tokens.get(..open)?.iter();
    let Some(last) = before.as_slice().last() else {
        return Some(open);
    };
    // Behind the last query of a WITH.
    let is_with = tokens.first()?.is_word("with") && last.is_sign(")");
    let is_select = |token: &Token<'_>| token.depth == 0 && token.is_word("select");
    (is_with && !before.any(is_select)).then_some(open)
}
