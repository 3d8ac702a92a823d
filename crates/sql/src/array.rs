//! `column = ANY(array)` of PostgreSQL, which says what an IN with the array's values says.

use std::ops::ControlFlow;

use dynafold_relational::catalog::Dbms;
use sqlparser::ast::{BinaryOperator, Expr, Value, visit_expressions_mut};

use super::definition::without_casts;
use super::operand::placeholder;

/// The array of `left = ANY(array)`.
pub(super) struct Array {
    /// What is compared with its values.
    pub(super) left: Box<Expr>,
    /// The values, one at least.
    pub(super) values: Vec<Expr>,
    /// Whether it is a parameter, which then is its only value here: nobody knows how many it has.
    pub(super) is_parameter: bool,
    /// Whether it has texts of a type of its own: `ARRAY['a']`, `'{a}'::text[]`. In an IN a text takes the column's type.
    pub(super) has_typed_texts: bool,
}

impl Array {
    /// Reads `left = ANY(array)`; `None` of anything else, and of an array whose values are not plain to see.
    pub(super) fn of(expression: &Expr, dbms: Dbms) -> Option<Self> {
        if dbms != Dbms::Postgres {
            return None;
        }
        let Expr::AnyOp {
            left,
            compare_op: BinaryOperator::Eq,
            right,
            ..
        } = expression
        else {
            return None;
        };
        let inner = without_casts(right);
        let (values, is_typed): (Vec<Expr>, bool) = match inner {
            Expr::Array(array) => (array.elem.iter().map(plain).collect(), true),
            Expr::Value(literal) => match &literal.value {
                Value::Placeholder(_) => (vec![inner.clone()], false),
                Value::SingleQuotedString(text) => (elements(text)?, **right != *inner),
                _ => return None,
            },
            _ => return None,
        };
        (!values.is_empty()).then(|| Self {
            left: left.clone(),
            is_parameter: placeholder(inner).is_some(),
            has_typed_texts: is_typed && values.iter().any(is_text),
            values,
        })
    }

    pub(super) fn into_list(self) -> Expr {
        Expr::InList {
            expr: self.left,
            list: self.values,
            negated: false,
        }
    }
}

/// A condition with an IN in the place of each `= ANY(array)`. That of a parameter has no values.
pub(super) fn with_lists(condition: &Expr, dbms: Dbms) -> Expr {
    let mut condition = condition.clone();
    let _: ControlFlow<()> = visit_expressions_mut(&mut condition, |expression| {
        if let Some(mut array) = Array::of(expression, dbms) {
            if array.is_parameter {
                array.values.clear();
            }
            *expression = array.into_list();
        }
        ControlFlow::Continue(())
    });
    condition
}

/// A parameter without its cast, and any other value as it is.
fn plain(value: &Expr) -> Expr {
    let inner = without_casts(value);
    let found = placeholder(inner).map_or(value, |_| inner);
    found.clone()
}

/// The values of `{1,2}`; `None` where one is NULL, an array, or in quotes.
fn elements(text: &str) -> Option<Vec<Expr>> {
    let inner = text.trim().strip_prefix('{')?.strip_suffix('}')?;
    let values = inner.split(',').map(|value| {
        let value = value.trim();
        let is_plain = !value.is_empty()
            && !value.eq_ignore_ascii_case("null")
            && !value.contains(['"', '\'', '\\', '{', '}']);
        is_plain.then(|| Expr::Value(Value::SingleQuotedString(value.to_owned()).into()))
    });
    values.collect()
}

fn is_text(value: &Expr) -> bool {
    match value {
        Expr::Value(literal) => !matches!(
            literal.value,
            Value::Number(..) | Value::Boolean(_) | Value::Placeholder(_) | Value::Null
        ),
        _ => false,
    }
}
