//! Operands: a side of a comparison, or a column of a result.

use std::ops::ControlFlow;

use dynafold_relational::catalog::Dbms;
use sqlparser::ast::{
    BinaryOperator, CastKind, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments,
    Ident, ObjectName, Query as Parsed, UnaryOperator, Value as Literal, Visit, Visitor,
    visit_expressions, visit_expressions_mut,
};

use super::text::{Sql, is_hexadecimal, unescaped};

/// A name, as the database compares it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    /// Without quotes. In PostgreSQL, a name without quotes is in lower case.
    pub text: String,
    /// Whether names that differ in case are different.
    pub is_exact: bool,
}

impl Name {
    pub(super) fn of(ident: &Ident, dbms: Option<Dbms>) -> Self {
        let is_exact = dbms == Some(Dbms::Postgres);
        let folds = is_exact && ident.quote_style.is_none();
        let text = ident.value.clone();
        Self {
            text: if folds {
                text.to_ascii_lowercase()
            } else {
                text
            },
            is_exact,
        }
    }

    /// Whether it is this name, as the database compares names.
    pub fn is(&self, other: &str) -> bool {
        if self.is_exact {
            self.text == other
        } else {
            self.text.to_lowercase() == other.to_lowercase()
        }
    }
}

/// The parts of a dotted name; `None` if one of them is not an identifier.
pub(super) fn names(name: &ObjectName, dbms: Option<Dbms>) -> Option<Vec<Name>> {
    let parts = name.0.iter();
    let parts = parts.map(|part| part.as_ident().map(|ident| Name::of(ident, dbms)));
    parts.collect()
}

/// A column as a query names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnRef {
    /// The schema of the table, if it is written.
    pub schema: Option<Name>,
    /// The alias or table before the dot, if it is written.
    pub owner: Option<Name>,
    /// The column.
    pub name: Name,
}

impl ColumnRef {
    pub(super) fn of(parts: &[Ident], sql: &Sql) -> Option<Self> {
        let name = |ident: &Ident| Name::of(ident, sql.dbms());
        let (schema, owner, column) = match parts {
            [column] => (None, None, column),
            [owner, column] => (None, Some(owner), column),
            [schema, owner, column] => (Some(schema), Some(owner), column),
            _ => return None,
        };
        Some(Self {
            schema: schema.map(name),
            owner: owner.map(name),
            name: name(column),
        })
    }
}

/// A literal in SQL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Constant {
    /// `'text'`.
    Text(String),
    /// A number as it is written, with its sign.
    Number(String),
    /// `NULL`.
    Null,
    /// `TRUE`, `FALSE`.
    Boolean(bool),
    /// `DATE '2026-01-01'`.
    Other,
}

/// The value of an operand, inside its [`Wrapping`]s.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OperandValue {
    /// A column, by its name.
    Column(ColumnRef),
    /// A parameter `:name`, without the colon.
    Parameter(String),
    /// A literal.
    Constant(Constant),
    /// Anything else.
    Expression(Expression),
}

/// What an expression uses, if it is more than a column, a parameter or a literal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Expression {
    /// It as the parser prints it with no table in front of its columns, in lower case if nothing in it is in quotes.
    pub text: String,
    /// All columns in it, also those in its subqueries.
    pub columns: Vec<ColumnRef>,
    /// All parameters in it.
    pub parameters: Vec<String>,
    /// The names of the functions that it calls, in lower case.
    pub functions: Vec<String>,
    /// Whether it has a subquery.
    pub has_query: bool,
    /// Whether it calls a window function: `… OVER (…)`.
    pub has_window: bool,
    /// Whether it searches texts for words: `MATCH (a) AGAINST ('b')`, `a @@ b`, `a MATCH 'b'`.
    pub searches_words: bool,
    /// Whether it is a row of expressions, as in `(a, b) < (1, 2)`.
    pub is_row: bool,
}

/// A cast, a function or a collation around a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wrapping {
    /// `CAST(x AS type)`, `x::type`: the type as written.
    Cast(String),
    /// A function of one argument: its name in lower case.
    Function(String),
    /// `COLLATE name`: the last part of the name.
    Collate(Name),
}

/// A side of a comparison, or a column of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operand {
    /// The value.
    pub value: OperandValue,
    /// What is around the value, outermost first.
    pub around: Vec<Wrapping>,
}

/// Functions that take the case out of a text.
pub(super) const FOLDS: [&str; 2] = ["lower", "upper"];

/// Functions that give the time or the date at which a statement runs.
const CLOCKS: &str = "\
    clock_timestamp curdate current_date current_timestamp localtimestamp now statement_timestamp \
    sysdate transaction_timestamp utc_date utc_timestamp";

impl Operand {
    pub(super) fn of(expression: &Expr, sql: &Sql) -> Self {
        let mut around = Vec::new();
        let mut inner = expression;
        let value = loop {
            inner = match inner {
                Expr::Nested(inner) => inner,
                Expr::Cast {
                    kind: CastKind::Cast | CastKind::DoubleColon,
                    expr,
                    data_type,
                    format: None,
                } => {
                    around.push(Wrapping::Cast(data_type.to_string()));
                    expr
                }
                Expr::Collate { expr, collation } => {
                    let name = names(collation, sql.dbms()).and_then(|mut names| names.pop());
                    let Some(name) = name else {
                        break complex_value(inner, sql);
                    };
                    around.push(Wrapping::Collate(name));
                    expr
                }
                Expr::Function(function) => {
                    let Some(argument) = only_argument(function) else {
                        break complex_value(inner, sql);
                    };
                    around.push(Wrapping::Function(function.name.to_string().to_lowercase()));
                    argument
                }
                _ => break simple_value(inner, sql).unwrap_or_else(|| complex_value(inner, sql)),
            };
        };
        Self { value, around }
    }

    /// The column, if the operand is nothing else.
    pub fn column(&self) -> Option<&ColumnRef> {
        match &self.value {
            OperandValue::Column(column) if self.around.is_empty() => Some(column),
            _ => None,
        }
    }

    /// The parameter, if the operand is nothing else.
    pub fn parameter(&self) -> Option<&str> {
        match &self.value {
            OperandValue::Parameter(name) if self.around.is_empty() => Some(name),
            _ => None,
        }
    }

    /// The constant that the operand is, as it is or in a cast.
    pub(super) fn constant(&self) -> Option<&Constant> {
        let is_cast = |one: &Wrapping| matches!(one, Wrapping::Cast(_));
        match &self.value {
            OperandValue::Constant(constant) if self.around.iter().all(is_cast) => Some(constant),
            _ => None,
        }
    }

    /// Whether it is the time or the date at which a statement runs, or computed from that alone: `CURRENT_DATE`, `now()::date`,
    /// `date('now')`.
    pub(super) fn is_now(&self) -> bool {
        match &self.value {
            OperandValue::Constant(Constant::Text(text)) => {
                text == "now" && !self.around.is_empty()
            }
            OperandValue::Expression(expression) => {
                let mut functions = expression.functions.iter();
                expression.columns.is_empty()
                    && expression.parameters.is_empty()
                    && !expression.has_query
                    && !expression.functions.is_empty()
                    && functions.all(|name| CLOCKS.split(' ').any(|clock| clock == name))
            }
            OperandValue::Constant(_) | OperandValue::Column(_) | OperandValue::Parameter(_) => {
                false
            }
        }
    }

    /// Whether it is more than a column, a row of columns, a parameter or a constant.
    pub fn is_computed(&self) -> bool {
        match &self.value {
            OperandValue::Expression(expression) => !expression.is_row,
            _ => !self.around.is_empty(),
        }
    }

    /// The same with no table in front of its columns.
    #[must_use]
    pub fn without_owners(&self) -> Self {
        let mut own = self.clone();
        let columns = match &mut own.value {
            OperandValue::Column(column) => std::slice::from_mut(column),
            OperandValue::Expression(expression) => &mut expression.columns[..],
            OperandValue::Parameter(_) | OperandValue::Constant(_) => &mut [],
        };
        for column in columns {
            (column.schema, column.owner) = (None, None);
        }
        own
    }

    /// The columns in it.
    pub fn columns(&self) -> &[ColumnRef] {
        match &self.value {
            OperandValue::Column(column) => std::slice::from_ref(column),
            OperandValue::Expression(expression) => &expression.columns,
            OperandValue::Parameter(_) | OperandValue::Constant(_) => &[],
        }
    }

    /// Whether it has a subquery.
    pub fn has_query(&self) -> bool {
        matches!(&self.value, OperandValue::Expression(expression) if expression.has_query)
    }

    /// The parameters in it.
    pub fn parameters(&self) -> &[String] {
        match &self.value {
            OperandValue::Parameter(name) => std::slice::from_ref(name),
            OperandValue::Expression(expression) => &expression.parameters,
            OperandValue::Column(_) | OperandValue::Constant(_) => &[],
        }
    }
}

/// The arguments of a function call; empty if one has a name or is `*`, or if the call has more, such as DISTINCT, FILTER or OVER.
pub(super) fn arguments(function: &Function) -> Vec<&Expr> {
    let FunctionArguments::List(list) = &function.args else {
        return Vec::new();
    };
    let is_plain = function.over.is_none()
        && function.filter.is_none()
        && function.within_group.is_empty()
        && function.null_treatment.is_none()
        && list.duplicate_treatment.is_none()
        && list.clauses.is_empty()
        && matches!(function.parameters, FunctionArguments::None);
    let plain_argument = |argument| match argument {
        &FunctionArg::Unnamed(FunctionArgExpr::Expr(ref argument)) if is_plain => Some(argument),
        _ => None,
    };
    let arguments: Option<Vec<&Expr>> = list.args.iter().map(plain_argument).collect();
    arguments.unwrap_or_default()
}

/// The argument of a function of one.
pub(super) fn only_argument(function: &Function) -> Option<&Expr> {
    match *arguments(function).as_slice() {
        [argument] => Some(argument),
        _ => None,
    }
}

/// The two texts that an expression puts together: `a || b`, `concat(a, b)`.
pub(super) fn concatenation(expression: &Expr) -> Option<(&Expr, &Expr)> {
    match expression {
        Expr::Nested(inner) => concatenation(inner),
        Expr::BinaryOp {
            left,
            op: BinaryOperator::StringConcat,
            right,
        } => Some((&**left, &**right)),
        Expr::Function(function) => match *arguments(function).as_slice() {
            [left, right] if function.name.to_string().eq_ignore_ascii_case("concat") => {
                Some((left, right))
            }
            _ => None,
        },
        _ => None,
    }
}

/// A column, a parameter or a literal.
fn simple_value(expression: &Expr, sql: &Sql) -> Option<OperandValue> {
    let constant = |constant| Some(OperandValue::Constant(constant));
    match expression {
        Expr::Identifier(name) => {
            ColumnRef::of(std::slice::from_ref(name), sql).map(OperandValue::Column)
        }
        Expr::CompoundIdentifier(names) => ColumnRef::of(names, sql).map(OperandValue::Column),
        Expr::UnaryOp {
            op: UnaryOperator::Minus,
            expr,
        } => match literal(expr)? {
            Literal::Number(number, _) if !is_hexadecimal(number) => {
                constant(Constant::Number(format!("-{number}")))
            }
            _ => None,
        },
        Expr::TypedString(_) => constant(Constant::Other),
        expression => match literal(expression)? {
            Literal::Placeholder(name) => {
                Some(OperandValue::Parameter(name.strip_prefix(':')?.to_owned()))
            }
            Literal::SingleQuotedString(text) | Literal::NationalStringLiteral(text) => {
                constant(Constant::Text(unescaped(text, '\'', sql.dbms())))
            }
            Literal::EscapedStringLiteral(text) => constant(Constant::Text(text.clone())),
            Literal::DollarQuotedString(text) => constant(Constant::Text(text.value.clone())),
            Literal::Number(number, _) if !is_hexadecimal(number) => {
                constant(Constant::Number(number.clone()))
            }
            Literal::Boolean(value) => constant(Constant::Boolean(*value)),
            Literal::Null => constant(Constant::Null),
            // In MySQL, `"…"` is a text or a name, depending on the server's settings.
            _ => None,
        },
    }
}

/// The name of a parameter, without the colon.
pub(super) fn placeholder(expression: &Expr) -> Option<String> {
    match literal(expression)? {
        Literal::Placeholder(name) => Some(name.trim_start_matches(':').to_owned()),
        _ => None,
    }
}

/// Whether an expression in it meets a condition, also within subqueries.
pub(super) fn has_expression(part: &impl Visit, condition: impl Fn(&Expr) -> bool) -> bool {
    let found = visit_expressions(part, |expression| {
        if condition(expression) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    found.is_break()
}

/// The columns in a part of a query, those of queries within it too.
pub(super) fn columns(part: &impl Visit, sql: &Sql) -> Vec<ColumnRef> {
    let found = Expression::default();
    let mut visitor = ExpressionVisitor { sql, found };
    let _ = part.visit(&mut visitor);
    visitor.found.columns
}

fn literal(expression: &Expr) -> Option<&Literal> {
    match expression {
        Expr::Value(value) => Some(&value.value),
        _ => None,
    }
}

fn complex_value(expression: &Expr, sql: &Sql) -> OperandValue {
    OperandValue::Expression(Expression {
        is_row: matches!(expression, Expr::Tuple(_)),
        ..Expression::of(expression, sql)
    })
}

impl Expression {
    pub(super) fn of(expression: &Expr, sql: &Sql) -> Self {
        let mut bare = expression.clone();
        let _: ControlFlow<()> = visit_expressions_mut(&mut bare, |one| {
            if let Expr::CompoundIdentifier(parts) = one
                && let Some(column) = parts.pop()
            {
                *one = Expr::Identifier(column);
            }
            ControlFlow::Continue(())
        });
        let mut text = bare.to_string();
        if !text.contains(['\'', '"', '`']) {
            text = text.to_lowercase();
        }
        let mut visitor = ExpressionVisitor {
            sql,
            found: Self {
                text,
                ..Self::default()
            },
        };
        let _ = expression.visit(&mut visitor);
        visitor.found
    }
}

struct ExpressionVisitor<'s> {
    sql: &'s Sql,
    found: Expression,
}

impl Visitor for ExpressionVisitor<'_> {
    type Break = ();

    fn pre_visit_query(&mut self, _query: &Parsed) -> ControlFlow<()> {
        self.found.has_query = true;
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expression: &Expr) -> ControlFlow<()> {
        match simple_value(expression, self.sql) {
            Some(OperandValue::Column(column)) => self.found.columns.push(column),
            Some(OperandValue::Parameter(name)) => self.found.parameters.push(name),
            _ => {}
        }
        match expression {
            Expr::Function(function) => {
                let name = function.name.to_string().to_lowercase();
                self.found.functions.push(name);
                self.found.has_window |= function.over.is_some();
            }
            // Its columns and its value are no expressions.
            Expr::MatchAgainst {
                columns,
                match_value,
                ..
            } => {
                self.found.searches_words = true;
                let sql = self.sql;
                let columns = columns.iter().filter_map(|column| {
                    let parts = column.0.iter().map(|part| part.as_ident().cloned());
                    ColumnRef::of(&parts.collect::<Option<Vec<_>>>()?, sql)
                });
                self.found.columns.extend(columns);
                if let Literal::Placeholder(name) = &match_value.value {
                    let name = name.trim_start_matches(':').to_owned();
                    self.found.parameters.push(name);
                }
            }
            Expr::BinaryOp {
                op: BinaryOperator::AtAt | BinaryOperator::Match,
                ..
            } => self.found.searches_words = true,
            _ => {}
        }
        ControlFlow::Continue(())
    }
}
