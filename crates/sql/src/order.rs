//! What a query sorts by: its own ORDER BY, held against its result and its tables.

use std::ops::Range;

use sqlparser::ast::{Expr, OrderBy, OrderByExpr, OrderByKind, OrderBySort, Spanned};

use super::operand::{ColumnRef, Name, Operand, OperandValue, Wrapping};
use super::select::{Select, SelectOutput};
use super::text::Sql;

/// A term of a query's ORDER BY.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SortKey {
    /// What it is in the result.
    pub result: InResult,
    /// The column of a table that it is, as it is. Nothing is known of a query whose ORDER BY may be of something else
    /// than its tables: with UNION, or with WITH.
    pub column: Option<ColumnRef>,
    /// The column of a table that it is in lower case, by `lower()`.
    pub in_lower: Option<ColumnRef>,
    /// The columns in it, where it is no name or number of the result's.
    pub columns: Vec<ColumnRef>,
    /// The collation that the query asks for.
    pub collation: Option<Name>,
    /// DESC.
    pub descending: bool,
    /// Whether it is computed from parameters.
    pub has_parameters: bool,
    /// Bytes of the text.
    pub span: Range<usize>,
}

/// What a term sorts by, as a column of the result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InResult {
    /// The one of this name, where there is but one.
    Named(String),
    /// By its number from 1.
    Number(usize),
    /// Something else: an expression, or a column of a table, whatever the result calls it.
    Expression,
}

/// The terms of a query's own ORDER BY. `of`: the SELECT whose result it sorts; `None` where there is more to it.
/// Gives `None` where it is not understood.
pub(super) fn order(
    by: &OrderBy,
    outputs: &[SelectOutput],
    of: Option<&Select>,
    sql: &Sql,
) -> Option<Vec<SortKey>> {
    let OrderByKind::Expressions(terms) = &by.kind else {
        return None;
    };
    let terms = terms.iter().map(|term| {
        let (result, sorted) = resolve(&term.expr, outputs, sql);
        let operand = Operand::of(&term.expr, sql);
        let is_computed = result == InResult::Expression;
        let (column, collation) = sorted.filter(|_| of.is_some()).unzip();
        let descending = direction(term)?;
        Some(SortKey {
            result,
            column,
            in_lower: lowered(&term.expr, outputs, sql).filter(|_| of.is_some()),
            columns: (operand.columns().iter().filter(|_| is_computed))
                .cloned()
                .collect(),
            collation: collation.flatten(),
            descending,
            has_parameters: !operand.parameters().is_empty(),
            span: sql.range(term.expr.span()),
        })
    });
    let is_plain = by.interpolate.is_none();
    terms.collect::<Option<Vec<_>>>().filter(|_| is_plain)
}

/// Whether a term sorts downwards; `None` where an operator decides.
fn direction(term: &OrderByExpr) -> Option<bool> {
    match &term.options.sort {
        None | Some(OrderBySort::Asc) => Some(false),
        Some(OrderBySort::Desc) => Some(true),
        Some(OrderBySort::Using(_)) => None,
    }
}

/// A column, and the collation that is asked for.
type SortedColumn = (ColumnRef, Option<Name>);

/// What a term is: in the result, and in the tables.
fn resolve(term: &Expr, outputs: &[SelectOutput], sql: &Sql) -> (InResult, Option<SortedColumn>) {
    let operand = Operand::of(term, sql);
    if let (Expr::Value(_), OperandValue::Constant(super::Constant::Number(number))) =
        (term, &operand.value)
    {
        let Ok(number) = number.parse::<usize>() else {
            return (InResult::Expression, None);
        };
        // How many columns a `*` stands for is not known here.
        let before = outputs.get(..number).unwrap_or_default();
        let is_star = before
            .iter()
            .any(|output| !matches!(output, SelectOutput::One { .. }));
        let column = before.last().filter(|_| !is_star).and_then(sorted_output);
        return (InResult::Number(number), column);
    }
    let Some((column, collation)) = sorted(&operand) else {
        return (InResult::Expression, None);
    };
    // A name alone is one of the result's, where there is one; as part of an expression it is not.
    if column.owner.is_none() && collation.is_none() {
        let key = InResult::Named(column.name.text.clone());
        let is_it = |output: &&SelectOutput| is_called(output, &column.name);
        return match outputs.iter().find(is_it) {
            Some(output) => (key, sorted_output(output)),
            None => (key, Some((column, None))),
        };
    }
    (InResult::Expression, Some((column, collation)))
}

/// A column, maybe with a collation; `None` for any other expression.
fn sorted(operand: &Operand) -> Option<SortedColumn> {
    let OperandValue::Column(column) = &operand.value else {
        return None;
    };
    match operand.around.as_slice() {
        [] => Some((column.clone(), None)),
        [Wrapping::Collate(name)] => Some((column.clone(), Some(name.clone()))),
        _ => None,
    }
}

/// The column in `lower(column)`. SQLite takes a name for that of the result first: one that is not the column's is none.
fn lowered(term: &Expr, outputs: &[SelectOutput], sql: &Sql) -> Option<ColumnRef> {
    let operand = Operand::of(term, sql);
    let OperandValue::Column(column) = &operand.value else {
        return None;
    };
    let is_lower =
        matches!(operand.around.as_slice(), [Wrapping::Function(name)] if name == "lower");
    let mut named = outputs
        .iter()
        .filter(|output| is_called(output, &column.name));
    let is_own = column.owner.is_some()
        || named
            .all(|output| sorted_output(output).is_some_and(|(own, _)| own.name == column.name));
    (is_lower && is_own).then(|| column.clone())
}

fn sorted_output(output: &SelectOutput) -> Option<SortedColumn> {
    match output {
        SelectOutput::One { value, .. } => sorted(value),
        SelectOutput::All | SelectOutput::AllOf(_) => None,
    }
}

fn is_called(output: &SelectOutput, name: &Name) -> bool {
    matches!(output, SelectOutput::One { name: Some(own), .. } if own.is(&name.text))
}
