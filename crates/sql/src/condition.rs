//! The conditions of a query: the parts of its WHERE and ON that AND connects.

use sqlparser::ast::{BinaryOperator, Expr, UnaryOperator};

use super::operand::{
    ColumnRef, Constant, Expression, FOLDS, Name, Operand, OperandValue, Wrapping, concatenation,
    has_expression, only_argument,
};
use super::text::Sql;

/// A condition that holds for every row of the result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// The condition, as far as it is understood.
    pub test: ConditionTest,
    /// The condition as the parser prints it, so that the same words always give the same text; an OR in parentheses.
    pub text: String,
    /// What OR connects, if it is an OR: each part, from left to right.
    pub alternatives: Vec<Condition>,
    /// Whether it may hold because a column in it is NULL: `IS NULL`, `IS DISTINCT FROM`, `NOT (… IS NOT NULL)`. Of functions
    /// nothing is known.
    pub accepts_null: bool,
}

impl Condition {
    pub(super) fn of(single: &Expr, sql: &Sql) -> Self {
        let test = comparison(single, sql);
        Self {
            test: test.unwrap_or_else(|| ConditionTest::Other(Expression::of(single, sql))),
            alternatives: alternatives(single, sql),
            accepts_null: accepts_null(single, false),
            // Whoever puts conditions together again puts AND between them.
            text: match single {
                Expr::BinaryOp {
                    op: BinaryOperator::Or | BinaryOperator::Xor,
                    ..
                } => format!("({single})"),
                _ => single.to_string(),
            },
        }
    }

    /// The two sides of `left = right`; `None` for any other condition.
    pub fn equal(&self) -> Option<[&Operand; 2]> {
        match &self.test {
            ConditionTest::Compare { left, op, right } if *op == Comparator::Equal => {
                Some([left, right])
            }
            _ => None,
        }
    }

    /// The column that it holds equal to a value.
    pub fn fixed(&self) -> Option<&ColumnRef> {
        let [left, right] = self.equal()?;
        let is_value = matches!(
            right.value,
            OperandValue::Parameter(_) | OperandValue::Constant(_)
        );
        left.column().filter(|_| is_value)
    }

    /// The operand and the values of an IN.
    pub(super) fn listed(&self) -> Option<(&Operand, &[Operand])> {
        match &self.test {
            ConditionTest::In {
                operand,
                negated: false,
                list,
            } => Some((operand, list)),
            _ => None,
        }
    }

    /// The column that it holds equal, as it is or in a function, to something without columns, or to one of a list of such.
    pub fn found_by(&self) -> Option<&ColumnRef> {
        fn held(side: &Operand) -> Option<&ColumnRef> {
            let is_function = |one: &Wrapping| matches!(one, Wrapping::Function(_));
            match &side.value {
                OperandValue::Column(column) if side.around.iter().all(is_function) => Some(column),
                _ => None,
            }
        }
        let is_value = |side: &Operand| side.has_query() || side.columns().is_empty();
        if let Some((operand, list)) = self.listed() {
            return held(operand).filter(|_| list.iter().all(is_value));
        }
        let [left, right] = self.equal()?;
        match (held(left), held(right)) {
            (Some(column), None) if is_value(right) => Some(column),
            (None, Some(column)) if is_value(left) => Some(column),
            _ => None,
        }
    }

    /// The same, but only of a column as it is or in lower or upper case: what another function makes of it is in no key.
    pub(super) fn found_by_value(&self) -> Option<&ColumnRef> {
        let folds = |one: &Wrapping| matches!(one, Wrapping::Function(name) if FOLDS.contains(&name.as_str()));
        let sides = self.operands().into_iter();
        let mut columns = sides.filter(|side| matches!(side.value, OperandValue::Column(_)));
        self.found_by()
            .filter(|_| columns.all(|side| side.around.iter().all(folds)))
    }

    /// The column that it holds equal to one constant, or NULL, with that; as it is, or its text, as PostgreSQL prints conditions:
    /// `v::text = 'a'::text`.
    pub fn said(&self) -> Option<(&ColumnRef, Constant)> {
        if let ConditionTest::Null {
            operand,
            negated: false,
        } = &self.test
        {
            return Some((operand.column()?, Constant::Null));
        }
        let [left, right] = match self.listed() {
            Some((operand, [only])) => [operand, only],
            _ => self.equal()?,
        };
        let constant = right.constant().filter(|one| **one != Constant::Null)?;
        let is_text =
            |one: &Wrapping| matches!(one, Wrapping::Cast(to) if to.eq_ignore_ascii_case("text"));
        match &left.value {
            OperandValue::Column(column) if left.around.iter().all(is_text) => {
                Some((column, constant.clone()))
            }
            _ => None,
        }
    }

    /// The one column that it holds below something that is no column.
    pub(super) fn below(&self) -> Option<&ColumnRef> {
        let ConditionTest::Compare { left, op, right } = &self.test else {
            return None;
        };
        let sides = match op {
            Comparator::Less | Comparator::LessOrEqual => [left, right],
            Comparator::Greater | Comparator::GreaterOrEqual => [right, left],
            Comparator::Equal | Comparator::NotDistinct | Comparator::NotEqual => return None,
        };
        match sides.map(Operand::columns) {
            [[column], []] => Some(column),
            _ => None,
        }
    }

    /// What it compares; nothing for USING, and for what is not understood.
    pub fn operands(&self) -> Vec<&Operand> {
        match &self.test {
            ConditionTest::Compare { left, right, .. } => vec![left, right],
            ConditionTest::Between {
                operand, low, high, ..
            } => vec![operand, low, high],
            ConditionTest::In { operand, list, .. } => {
                std::iter::once(operand).chain(list).collect()
            }
            ConditionTest::Like {
                operand, pattern, ..
            } => vec![operand, pattern],
            ConditionTest::Null { operand, .. } => vec![operand],
            ConditionTest::Using(_) | ConditionTest::Other(_) => Vec::new(),
        }
    }

    /// The columns in it; `None` for USING, whose column belongs to both sides of a join.
    pub fn columns(&self) -> Option<Vec<&ColumnRef>> {
        match &self.test {
            ConditionTest::Using(_) => None,
            ConditionTest::Other(expression) => Some(expression.columns.iter().collect()),
            _ => Some(
                self.operands()
                    .into_iter()
                    .flat_map(Operand::columns)
                    .collect(),
            ),
        }
    }

    /// Whether it compares with what a query within it gives.
    pub fn compares_query(&self) -> bool {
        self.operands().into_iter().any(Operand::has_query)
    }

    /// Whether it searches texts for words.
    pub fn searches_words(&self) -> bool {
        let searches = |operand: &Operand| matches!(&operand.value, OperandValue::Expression(expression) if expression.searches_words);
        match &self.test {
            ConditionTest::Other(expression) => expression.searches_words,
            _ => self.operands().into_iter().any(searches),
        }
    }

    /// Whether it has a parameter.
    pub fn has_parameters(&self) -> bool {
        match &self.test {
            ConditionTest::Other(expression) => !expression.parameters.is_empty(),
            _ => self
                .operands()
                .iter()
                .any(|operand| !operand.parameters().is_empty()),
        }
    }
}

/// The condition by its operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConditionTest {
    /// `left op right`. If one side alone is made from a column, it is on the left: `5 < a` is stored as `a > 5`.
    Compare {
        /// The left operand; the one that is made from a column, if only one is.
        left: Operand,
        /// The operator between them.
        op: Comparator,
        /// The right operand.
        right: Operand,
    },
    /// `operand BETWEEN low AND high`.
    Between {
        /// The operand on the left of BETWEEN.
        operand: Operand,
        /// Whether it is NOT BETWEEN.
        negated: bool,
        /// The lower bound, included.
        low: Operand,
        /// The upper bound, included.
        high: Operand,
    },
    /// `operand IN (a, b)`.
    In {
        /// The operand on the left of IN.
        operand: Operand,
        /// Whether it is NOT IN.
        negated: bool,
        /// The values in parentheses; never a query.
        list: Vec<Operand>,
    },
    /// `operand LIKE pattern`, NOT LIKE, and PostgreSQL's ILIKE and NOT ILIKE, which are not distinguished.
    Like {
        /// The operand on the left of LIKE.
        operand: Operand,
        /// The pattern, with `%` and `_`.
        pattern: Operand,
        /// What the texts begin with, where nothing but a `%` stands behind it, and LIKE has neither NOT nor ESCAPE.
        beginning: Option<Operand>,
    },
    /// `operand IS NULL`.
    Null {
        /// The operand on the left of IS.
        operand: Operand,
        /// Whether it is IS NOT NULL.
        negated: bool,
    },
    /// `USING (column)`: equal on both sides of a join.
    Using(Name),
    /// Any other condition: OR, NOT, EXISTS, a subquery, a function.
    Other(Expression),
}

/// The operator of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Comparator {
    /// `=`.
    Equal,
    /// `IS NOT DISTINCT FROM`, `<=>`: NULL is equal to NULL.
    NotDistinct,
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
    /// Whether it asks for what is below or above something.
    pub fn is_range(self) -> bool {
        self.flipped() != self
    }

    /// Whether it is `<` or `<=`.
    pub fn is_less(self) -> bool {
        matches!(self, Self::Less | Self::LessOrEqual)
    }

    /// The operator that gives the same result when the two sides change places.
    fn flipped(self) -> Self {
        match self {
            Self::Less => Self::Greater,
            Self::LessOrEqual => Self::GreaterOrEqual,
            Self::Greater => Self::Less,
            Self::GreaterOrEqual => Self::LessOrEqual,
            Self::Equal | Self::NotDistinct | Self::NotEqual => self,
        }
    }
}

/// The parts of an expression that an operator connects, from left to right; the expression itself without it.
fn connected<'e>(expression: &'e Expr, operator: &BinaryOperator) -> Vec<&'e Expr> {
    let (mut parts, mut rest) = (Vec::new(), vec![expression]);
    while let Some(next) = rest.pop() {
        match next {
            Expr::Nested(inner) => rest.push(inner),
            Expr::BinaryOp { left, op, right } if op == operator => {
                rest.extend([&**right, &**left]);
            }
            part => parts.push(part),
        }
    }
    parts
}

/// The conditions that AND connects.
pub(super) fn conditions(expression: &Expr, sql: &Sql) -> Vec<Condition> {
    let parts = connected(expression, &BinaryOperator::And).into_iter();
    parts.map(|part| Condition::of(part, sql)).collect()
}

/// The conditions that OR connects; none if an expression is not an OR.
fn alternatives(expression: &Expr, sql: &Sql) -> Vec<Condition> {
    match connected(expression, &BinaryOperator::Or).as_slice() {
        [_] => Vec::new(),
        parts => parts.iter().map(|part| Condition::of(part, sql)).collect(),
    }
}

/// Whether an expression, or NOT of it, may hold because a column in it is NULL.
fn accepts_null(expression: &Expr, negated: bool) -> bool {
    match expression {
        Expr::Nested(inner) => accepts_null(inner, negated),
        Expr::UnaryOp {
            op: UnaryOperator::Not,
            expr,
        } => accepts_null(expr, !negated),
        Expr::BinaryOp {
            left,
            op: BinaryOperator::And | BinaryOperator::Or,
            right,
        } => accepts_null(left, negated) || accepts_null(right, negated),
        Expr::IsNull(_) | Expr::IsDistinctFrom(..) => !negated,
        Expr::IsNotNull(_) | Expr::IsNotDistinctFrom(..) => negated,
        Expr::IsTrue(inner) if !negated => accepts_null(inner, false),
        Expr::IsFalse(inner) if !negated => accepts_null(inner, true),
        // Anywhere in it: within queries, CASE and what is computed of tests.
        other => has_expression(other, |part| {
            matches!(
                part,
                Expr::Case { .. }
                    | Expr::IsNull(_)
                    | Expr::IsNotNull(_)
                    | Expr::IsDistinctFrom(..)
                    | Expr::IsNotDistinctFrom(..)
                    | Expr::IsTrue(_)
                    | Expr::IsFalse(_)
                    | Expr::IsNotTrue(_)
                    | Expr::IsNotFalse(_)
                    | Expr::IsUnknown(_)
                    | Expr::IsNotUnknown(_)
            )
        }),
    }
}

/// A condition that is understood; `None` for one that is [`ConditionTest::Other`].
pub(super) fn comparison(expression: &Expr, sql: &Sql) -> Option<ConditionTest> {
    let operand = |expression: &Expr| {
        // A comparison whose operand is a comparison, such as `a = b = c`, means different things in different databases.
        (!is_boolean(expression)).then(|| Operand::of(expression, sql))
    };
    let compare = |left: &Expr, op: Comparator, right: &Expr| {
        let (left, right) = (operand(left)?, operand(right)?);
        let is_column = |operand: &Operand| matches!(operand.value, OperandValue::Column(_));
        if is_column(&right) && !is_column(&left) {
            return Some(ConditionTest::Compare {
                left: right,
                op: op.flipped(),
                right: left,
            });
        }
        Some(ConditionTest::Compare { left, op, right })
    };
    match expression {
        Expr::BinaryOp { left, op, right } => compare(left, comparator(op)?, right),
        Expr::IsNotDistinctFrom(left, right) => compare(left, Comparator::NotDistinct, right),
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
        Expr::Like {
            negated,
            any,
            expr,
            pattern,
            escape_char,
        }
        | Expr::ILike {
            negated,
            any,
            expr,
            pattern,
            escape_char,
        } => Some(ConditionTest::Like {
            operand: operand(expr)?,
            pattern: Operand::of(pattern, sql),
            beginning: beginning(pattern, sql)
                .filter(|_| !negated && !any && escape_char.is_none()),
        }),
        Expr::IsNull(expr) | Expr::IsNotNull(expr) => Some(ConditionTest::Null {
            operand: operand(expr)?,
            negated: matches!(expression, Expr::IsNotNull(_)),
        }),
        _ => None,
    }
}

/// What stands before the only `%` of a pattern, at its end: `:a || '%'`, `concat(:a, '%')`, and either of them in a function.
fn beginning(pattern: &Expr, sql: &Sql) -> Option<Operand> {
    if let Some((left, rest)) = concatenation(pattern) {
        let rest = Operand::of(rest, sql);
        let is_rest = rest.around.is_empty()
            && rest.value == OperandValue::Constant(Constant::Text("%".to_owned()));
        return (is_rest && !left.to_string().contains('%')).then(|| Operand::of(left, sql));
    }
    match pattern {
        Expr::Nested(inner) => beginning(inner, sql),
        Expr::Function(function) => {
            let mut found = beginning(only_argument(function)?, sql)?;
            let name = function.name.to_string().to_lowercase();
            found.around.insert(0, Wrapping::Function(name));
            Some(found)
        }
        _ => None,
    }
}

fn comparator(op: &BinaryOperator) -> Option<Comparator> {
    Some(match op {
        BinaryOperator::Eq => Comparator::Equal,
        BinaryOperator::Spaceship => Comparator::NotDistinct,
        BinaryOperator::NotEq => Comparator::NotEqual,
        BinaryOperator::Lt => Comparator::Less,
        BinaryOperator::LtEq => Comparator::LessOrEqual,
        BinaryOperator::Gt => Comparator::Greater,
        BinaryOperator::GtEq => Comparator::GreaterOrEqual,
        _ => return None,
    })
}

/// Whether an expression is a boolean one that stands without parentheses.
fn is_boolean(expression: &Expr) -> bool {
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
