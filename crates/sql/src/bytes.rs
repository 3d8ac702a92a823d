//! Equalities that compare byte by byte.

use std::ops::ControlFlow;

use dynafold_relational::catalog::{Dbms, sorts_by_bytes};
use sqlparser::ast::{BinaryOperator, DataType, Expr, Query, visit_expressions_mut};

use super::operand::names;

/// Puts `left = right` in the place of what compares the two byte by byte.
pub(super) fn compare_plainly(query: &mut Query, dbms: Dbms) {
    let _: ControlFlow<()> = visit_expressions_mut(query, |one| {
        if let Expr::BinaryOp {
            left,
            op: BinaryOperator::Eq,
            right,
        } = one
            && let Some((own, other)) = compared(left, right, dbms)
        {
            (**left, **right) = (own, other);
        }
        ControlFlow::Continue(())
    });
}

/// What an equality compares byte by byte: a text by a collation of bytes, or the bytes of both.
fn compared(left: &Expr, right: &Expr, dbms: Dbms) -> Option<(Expr, Expr)> {
    if let Expr::Collate { expr, collation } = left {
        let name = names(collation, Some(dbms))?.pop()?;
        let own = cast(expr, &DataType::Text).unwrap_or(expr);
        return sorts_by_bytes(&name.text, dbms).then(|| (own.clone(), right.clone()));
    }
    let [own, other] = [left, right].map(|side| cast(side, &DataType::Binary(None)));
    match own? {
        Expr::Convert {
            expr,
            charset: Some(charset),
            ..
        } if charset.to_string().eq_ignore_ascii_case("utf8mb4") => {
            Some(((**expr).clone(), other?.clone()))
        }
        _ => None,
    }
}

/// What is cast to a type.
fn cast<'e>(expression: &'e Expr, to: &DataType) -> Option<&'e Expr> {
    match expression {
        Expr::Cast {
            expr, data_type, ..
        } if data_type == to => Some(expr),
        _ => None,
    }
}
