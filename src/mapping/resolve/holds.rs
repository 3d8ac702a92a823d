//! Conditions of `where` and `$when` that no row can meet, by the types of their columns.

use super::bind::Binder;
use super::scope::Scope;
use crate::catalog::{Column, DataType, Dbms, Family};
use crate::diagnostic::{Code, Diagnostic};
use crate::mapping::raw::Spanned;
use crate::sql::{Around, ColumnRef, Comparator, Condition, Constant, Operand, Query, Test, Value};

impl Binder<'_> {
    /// Tells of a condition that never holds, and what comes of it.
    pub(super) fn check_holds(&mut self, written: &Spanned<String>, outcome: &str) {
        let dbms = self.catalog.dbms;
        let query = format!("SELECT 1 FROM t WHERE {}", written.value);
        // What cannot be read, the database judges.
        let Ok(query) = Query::read(&query, Some(dbms)) else {
            return;
        };
        let conditions = query.select().map(|select| select.conditions.as_slice());
        let mut conditions = conditions.unwrap_or_default().iter();
        let why = conditions.find_map(|condition| never(condition, self.scope, dbms));
        if let Some((why, help)) = why {
            let message = format!("the condition never holds, so that {outcome}: {why}");
            self.diagnostics.push(
                Diagnostic::new(Code::NeverMatches, written.span.clone(), message).with_help(help),
            );
        }
    }
}

/// Why a condition never holds, and what to do about it, if that is plain to see.
fn never(condition: &Condition, scope: &Scope<'_>, dbms: Dbms) -> Option<(String, String)> {
    match &condition.test {
        Test::Compare { left, op, right } if *op != Comparator::Same => {
            if [left, right].iter().any(|side| is_null(side)) {
                return Some((
                    "nothing is equal to NULL, nor unequal".to_owned(),
                    "say IS NULL or IS NOT NULL".to_owned(),
                ));
            }
            let column = column(left, scope)?;
            let is_equal = *op == Comparator::Equal;
            (is_equal && !may_be(column, right)).then(|| no_member(column))
        }
        Test::In {
            operand,
            negated: false,
            list,
        } => {
            let column = column(operand, scope)?;
            let is_none = list.iter().all(|value| !may_be(column, value));
            (is_none && !list.is_empty()).then(|| no_member(column))
        }
        Test::Null {
            operand,
            negated: false,
        } => {
            let column = column(operand, scope)?;
            // No key and no NOT NULL says that a joined parent is there. MySQL takes 0000-00-00 for NULL here.
            let is_zero = dbms != Dbms::Postgres && column.data_type.family() == Family::Time;
            (is_own(operand) && !column.nullable && !is_zero).then(|| {
                (
                    format!("`{}` is never NULL", column.name),
                    "take the condition away, or ask for another column".to_owned(),
                )
            })
        }
        _ => None,
    }
}

fn no_member(column: &Column) -> (String, String) {
    let values = match &column.data_type {
        DataType::Enum { values } => values.join(", "),
        _ => String::new(),
    };
    (
        format!("`{}` has no such value", column.name),
        format!("its values are {values}"),
    )
}

fn is_null(operand: &Operand) -> bool {
    operand.value == Value::Constant(Constant::Null)
        && !operand
            .around
            .iter()
            .any(|around| matches!(around, Around::Function(_)))
}

/// Whether a column of an enum may be equal to a value, in whatever case; any other may.
fn may_be(column: &Column, value: &Operand) -> bool {
    match (&column.data_type, &value.value) {
        (DataType::Enum { values }, Value::Constant(Constant::Text(text)))
            if value.around.is_empty() =>
        {
            let text = text.trim_end().to_lowercase();
            text.is_empty() || values.iter().any(|value| value.to_lowercase() == text)
        }
        _ => true,
    }
}

/// Whether a column is the base table's.
fn is_own(operand: &Operand) -> bool {
    matches!(&operand.value, Value::Column(ColumnRef { owner: None, .. }))
}

/// The column of the table or of a joined parent.
fn column<'a>(operand: &Operand, scope: &Scope<'a>) -> Option<&'a Column> {
    let Value::Column(ColumnRef { owner, name, .. }) = &operand.value else {
        return None;
    };
    if !operand.around.is_empty() || !scope.is_table() {
        return None;
    }
    let table = match owner {
        None => scope.table?,
        Some(owner) => {
            let mut parents = scope.joins.iter();
            parents.find(|parent| owner.is(&parent.alias))?.table
        }
    };
    table.columns.iter().find(|column| name.is(&column.name))
}
