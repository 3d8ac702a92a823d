//! What a query asks of its rows: the parts of WHERE and ON that hold one beside the other.

use sqlparser::ast::{BinaryOperator, Expr, UnaryOperator};

use super::operand::{ColumnRef, Expression, Name, Operand, OperandValue};
use super::text::Sql;

/// A condition that every row of the result meets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// What it asks.
    pub test: ConditionTest,
    /// As the parser writes it: two conditions that say the same in the same words have one text.
    pub text: String,
}

impl Condition {
    /// The two sides that it holds equal.
    #[must_use]
    pub fn equal(&self) -> Option<[&Operand; 2]> {
        match &self.test {
            ConditionTest::Compare { left, op, right } if *op == Comparator::Equal => {
                Some([left, right])
            }
            _ => None,
        }
    }

    /// The columns in it; `None` where it has one of both sides of a join.
    pub fn columns(&self) -> Option<Vec<&ColumnRef>> {
        let operands: Vec<&Operand> = match &self.test {
            ConditionTest::Compare { left, right, .. } => vec![left, right],
            ConditionTest::Between {
                operand, low, high, ..
            } => vec![operand, low, high],
            ConditionTest::In { operand, list, .. } => {
                std::iter::once(operand).chain(list).collect()
            }
            ConditionTest::Like { operand, pattern } => vec![operand, pattern],
            ConditionTest::Null { operand, .. } => vec![operand],
            ConditionTest::Using(_) => return None,
            ConditionTest::Other(expression) => return Some(expression.columns.iter().collect()),
        };
        let columns = operands.into_iter().flat_map(Operand::columns);
        Some(columns.collect())
    }
}

/// What a condition asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConditionTest {
    /// `left op right`. A column stands left, if one side is a column or made of one and the other is not.
    Compare {
        /// The one side.
        left: Operand,
        /// How they stand.
        op: Comparator,
        /// The other side.
        right: Operand,
    },
    /// `operand BETWEEN low AND high`.
    Between {
        /// What is compared.
        operand: Operand,
        /// NOT BETWEEN.
        negated: bool,
        /// Its lower bound.
        low: Operand,
        /// Its upper bound.
        high: Operand,
    },
    /// `operand IN (a, b)`.
    In {
        /// What is compared.
        operand: Operand,
        /// NOT IN.
        negated: bool,
        /// The list.
        list: Vec<Operand>,
    },
    /// `operand LIKE pattern`, NOT LIKE, and ILIKE of PostgreSQL.
    Like {
        /// What is compared.
        operand: Operand,
        /// What it has to look like, or may not.
        pattern: Operand,
    },
    /// `operand IS NULL`.
    Null {
        /// What is asked.
        operand: Operand,
        /// IS NOT NULL.
        negated: bool,
    },
    /// `USING (column)`: equal on both sides of a join.
    Using(Name),
    /// Anything else: OR, NOT, EXISTS, a query, a function.
    Other(Expression),
}

/// How two values are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparator {
    /// `=`.
    Equal,
    /// `IS NOT DISTINCT FROM`, `<=>`: NULL is equal to NULL.
    Same,
    /// `<>`.
    NotEqual,
    /// `<`.
    Less,
    /// `<=`.
    LessOrEqual,
    /// `>`.
    Greater,
    /// `>=`.
    GreaterOrEqual,
}

impl Comparator {
    /// The same with its sides changed.
    fn turned(self) -> Self {
        match self {
            Self::Less => Self::Greater,
            Self::LessOrEqual => Self::GreaterOrEqual,
            Self::Greater => Self::Less,
            Self::GreaterOrEqual => Self::LessOrEqual,
            Self::Equal | Self::Same | Self::NotEqual => self,
        }
    }
}

/// Adds the conditions that stand side by side in an expression.
pub(super) fn conditions(expression: &Expr, sql: &Sql, into: &mut Vec<Condition>) {
    let mut rest = vec![expression];
    while let Some(next) = rest.pop() {
        match next {
            Expr::Nested(inner) => rest.push(inner),
            Expr::BinaryOp {
                left,
                op: BinaryOperator::And,
                right,
            } => {
                rest.push(right);
                rest.push(left);
            }
            one => into.push(Condition {
                test: simple(one, sql)
                    .unwrap_or_else(|| ConditionTest::Other(Expression::of(one, sql))),
                text: one.to_string(),
            }),
        }
    }
}

/// What one condition asks, if it is none of the others.
pub(super) fn simple(expression: &Expr, sql: &Sql) -> Option<ConditionTest> {
    let operand = |expression: &Expr| {
        // Databases differ in how they read a comparison within another.
        (!is_test(expression)).then(|| Operand::of(expression, sql))
    };
    let compare = |left: &Expr, op: Comparator, right: &Expr| {
        let (left, right) = (operand(left)?, operand(right)?);
        let is_column = |operand: &Operand| matches!(operand.value, OperandValue::Column(_));
        if is_column(&right) && !is_column(&left) {
            return Some(ConditionTest::Compare {
                left: right,
                op: op.turned(),
                right: left,
            });
        }
        Some(ConditionTest::Compare { left, op, right })
    };
    match expression {
        Expr::BinaryOp { left, op, right } => compare(left, comparator(op)?, right),
        Expr::IsNotDistinctFrom(left, right) => compare(left, Comparator::Same, right),
        Expr::Between {
            expr,
            negated,
            low,
            high,
        } => Some(ConditionTest::Between {
            operand: operand(expr)?,
            negated: *negated,
            low: operand(low)?,
            high: operand(high)?,
        }),
        Expr::InList {
            expr,
            list,
            negated,
        } => Some(ConditionTest::In {
            operand: operand(expr)?,
            negated: *negated,
            list: list.iter().map(operand).collect::<Option<_>>()?,
        }),
        Expr::Like { expr, pattern, .. } | Expr::ILike { expr, pattern, .. } => {
            Some(ConditionTest::Like {
                operand: operand(expr)?,
                pattern: Operand::of(pattern, sql),
            })
        }
        Expr::IsNull(expr) | Expr::IsNotNull(expr) => Some(ConditionTest::Null {
            operand: operand(expr)?,
            negated: matches!(expression, Expr::IsNotNull(_)),
        }),
        _ => None,
    }
}

fn comparator(op: &BinaryOperator) -> Option<Comparator> {
    Some(match op {
        BinaryOperator::Eq => Comparator::Equal,
        BinaryOperator::Spaceship => Comparator::Same,
        BinaryOperator::NotEq => Comparator::NotEqual,
        BinaryOperator::Lt => Comparator::Less,
        BinaryOperator::LtEq => Comparator::LessOrEqual,
        BinaryOperator::Gt => Comparator::Greater,
        BinaryOperator::GtEq => Comparator::GreaterOrEqual,
        _ => return None,
    })
}

/// Whether an expression is true or false, without parentheses around it.
fn is_test(expression: &Expr) -> bool {
    use BinaryOperator::{And, Or, Xor};
    match expression {
        Expr::BinaryOp { op, .. } => matches!(op, And | Or | Xor) || comparator(op).is_some(),
        Expr::UnaryOp { op, .. } => *op == UnaryOperator::Not,
        Expr::Between { .. }
        | Expr::InList { .. }
        | Expr::InSubquery { .. }
        | Expr::Like { .. }
        | Expr::ILike { .. }
        | Expr::IsNull(_)
        | Expr::IsNotNull(_)
        | Expr::IsDistinctFrom(..)
        | Expr::IsNotDistinctFrom(..)
        | Expr::IsTrue(_)
        | Expr::IsNotTrue(_)
        | Expr::IsFalse(_)
        | Expr::IsNotFalse(_) => true,
        _ => false,
    }
}
