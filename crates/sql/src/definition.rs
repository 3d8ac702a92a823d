//! Reads SQLite's stored CREATE TABLE and CREATE INDEX for what no pragma reports: generated columns, CHECKs, index
//! expressions and conditions. Also reads the values that a CHECK allows, in any dialect.

use std::collections::HashSet;

use dynafold_relational::catalog::Dbms;
use sqlparser::ast::{
    BinaryOperator, CheckConstraint, ColumnOption, Expr, Ident, Statement, TableConstraint,
    UnaryOperator, Value,
};
use sqlparser::dialect::SQLiteDialect;
use sqlparser::parser::Parser;

use super::query::on_large_stack;
use super::text::dialect;

/// The generated columns of a table, each with its expression; none if `sql` cannot be parsed.
pub fn generated_columns(sql: &str) -> Vec<(String, String)> {
    let columns = from_first_statement(sql, |statement| {
        let Statement::CreateTable(table) = statement else {
            return None;
        };
        let columns = table.columns.iter().filter_map(|column| {
            let mut options = column.options.iter();
            let expression = options.find_map(|option| match &option.option {
                ColumnOption::Generated {
                    generation_expr, ..
                } => generation_expr.as_ref(),
                _ => None,
            })?;
            Some((column.name.value.clone(), expression.to_string()))
        });
        Some(columns.collect())
    });
    columns.unwrap_or_default()
}

/// The checks of a table, each with its name, if it has one, and its expression; `None` if `sql` cannot be parsed.
pub fn check_constraints(sql: &str) -> Option<Vec<(Option<String>, String)>> {
    from_first_statement(sql, |statement| {
        let Statement::CreateTable(table) = statement else {
            return None;
        };
        let named_check = |name: Option<&Ident>, check: &CheckConstraint| {
            let name = name.or(check.name.as_ref()).map(|name| name.value.clone());
            (name, check.expr.to_string())
        };
        let options = table.columns.iter().flat_map(|column| &column.options);
        let of_columns = options.filter_map(|option| match &option.option {
            ColumnOption::Check(check) => Some(named_check(option.name.as_ref(), check)),
            _ => None,
        });
        let constraints = table.constraints.iter();
        let of_table = constraints.filter_map(|constraint| match constraint {
            TableConstraint::Check(check) => Some(named_check(None, check)),
            _ => None,
        });
        Some(of_columns.chain(of_table).collect())
    })
}

/// The condition of a partial index; `None` if there is none or `sql` cannot be parsed.
pub fn index_condition(sql: &str) -> Option<String> {
    from_first_statement(sql, |statement| match statement {
        Statement::CreateIndex(index) => index.predicate.as_ref().map(ToString::to_string),
        _ => None,
    })
}

/// The terms of an index; none if `sql` cannot be parsed.
pub fn index_terms(sql: &str) -> Vec<String> {
    let terms = from_first_statement(sql, |statement| match statement {
        Statement::CreateIndex(index) => {
            Some(index.columns.iter().map(ToString::to_string).collect())
        }
        _ => None,
    });
    terms.unwrap_or_default()
}

/// The column and the values that a CHECK allows for it, as text, for `state IN ('a', 'b')` and its equivalents; `None` if it
/// lists no values, or may allow others. NULL always passes a CHECK.
pub fn allowed_values(expression: &str, dbms: Dbms) -> Option<(String, Vec<String>)> {
    let expression = expression.to_owned();
    on_large_stack(move || {
        let dialect = dialect(Some(dbms));
        let parser = Parser::new(dialect.as_ref()).try_with_sql(&expression);
        allowed_values_of(&parser.ok()?.parse_expr().ok()?)
    })?
}

fn allowed_values_of(expression: &Expr) -> Option<(String, Vec<String>)> {
    match expression {
        Expr::Nested(inner) => allowed_values_of(inner),
        Expr::InList {
            expr,
            list,
            negated: false,
        } => Some((column_name(expr)?, constants(list)?)),
        Expr::AnyOp {
            left,
            compare_op: BinaryOperator::Eq,
            right,
            ..
        } => match without_casts(right) {
            Expr::Array(array) => Some((column_name(left)?, constants(&array.elem)?)),
            _ => None,
        },
        Expr::BinaryOp { left, op, right } => match op {
            BinaryOperator::Eq => Some((column_name(left)?, vec![constant(right)?])),
            BinaryOperator::Or => {
                let (name, mut values) = allowed_values_of(left)?;
                let (other_name, other_values) = allowed_values_of(right)?;
                values.extend(other_values);
                (name == other_name).then(|| (name, distinct(values)))
            }
            BinaryOperator::And => {
                let both = [allowed_values_of(left), allowed_values_of(right)]
                    .into_iter()
                    .flatten();
                both.min_by_key(|(_, values)| values.len())
            }
            _ => None,
        },
        _ => None,
    }
}

/// An expression without casts and parentheses.
pub(super) fn without_casts(expression: &Expr) -> &Expr {
    match expression {
        Expr::Nested(inner)
        | Expr::Cast { expr: inner, .. }
        | Expr::Prefixed { value: inner, .. } => without_casts(inner),
        other => other,
    }
}

fn column_name(expression: &Expr) -> Option<String> {
    match without_casts(expression) {
        Expr::Identifier(name) => Some(name.value.clone()),
        _ => None,
    }
}

fn constants(list: &[Expr]) -> Option<Vec<String>> {
    let values: Option<Vec<String>> = list.iter().map(constant).collect();
    values.map(distinct)
}

fn distinct(mut values: Vec<String>) -> Vec<String> {
    let mut seen = HashSet::new();
    values.retain(|value| seen.insert(value.clone()));
    values
}

fn constant(expression: &Expr) -> Option<String> {
    match without_casts(expression) {
        Expr::Value(value) => literal_text(&value.value),
        Expr::UnaryOp {
            op: UnaryOperator::Minus,
            expr,
        } => Some(format!("-{}", constant(expr)?)),
        _ => None,
    }
}

/// A literal without its quotes; `None` for NULL and for a parameter.
pub(super) fn literal_text(literal: &Value) -> Option<String> {
    match literal {
        Value::Number(number, _) => Some(number.clone()),
        Value::Boolean(truth) => Some(truth.to_string()),
        text => text.clone().into_string(),
    }
}

/// What `extract` finds in the first statement of `sql`, in SQLite's dialect.
fn from_first_statement<T: Send + 'static>(
    sql: &str,
    extract: fn(&Statement) -> Option<T>,
) -> Option<T> {
    let sql = sql.to_owned();
    let extracted = on_large_stack(move || {
        let statements = Parser::parse_sql(&SQLiteDialect {}, &sql).unwrap_or_default();
        statements.first().and_then(extract)
    });
    extracted.flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_expressions_of_generated_columns_and_of_indexes_are_read() {
        let sql = "CREATE TABLE t(a INT, -- AS (no),\n \"b c\" TEXT DEFAULT '),(' GENERATED ALWAYS \
                   AS (a || ')' || (a + 1)) STORED, [d] AS (a), PRIMARY KEY (a))";
        let pair = |name: &str, expression: &str| (name.to_owned(), expression.to_owned());
        let expected = [pair("b c", "a || ')' || (a + 1)"), pair("d", "a")];
        assert_eq!(generated_columns(sql), expected);
        assert!(generated_columns("CREATE TABLE t(a INT, (").is_empty());
        let sql = "CREATE INDEX i ON \"t(\" (a, lower(b, 'x,y') DESC, c) WHERE a IN (1, 2)";
        assert_eq!(index_terms(sql), ["a", "lower(b, 'x,y') DESC", "c"]);
        assert_eq!(index_condition(sql).as_deref(), Some("a IN (1, 2)"));
        assert_eq!(index_condition("CREATE INDEX i ON t (a)"), None);
    }

    #[test]
    fn the_checks_of_columns_and_of_the_table_are_read() {
        let sql = "CREATE TABLE t(a INT CONSTRAINT high CHECK (a > 0) CHECK (a <> 5), b TEXT DEFAULT 'CHECK (x)',
                   CONSTRAINT both CHECK (a < length(b)), CHECK (b IN ('x', 'y'))) STRICT";
        let check =
            |name: Option<&str>, expression: &str| (name.map(str::to_owned), expression.to_owned());
        let expected = [
            check(Some("high"), "a > 0"),
            check(None, "a <> 5"),
            check(Some("both"), "a < length(b)"),
            check(None, "b IN ('x', 'y')"),
        ];
        assert_eq!(check_constraints(sql).unwrap(), expected);
        assert_eq!(check_constraints("CREATE TABLE t(a INT)"), Some(Vec::new()));
        assert_eq!(check_constraints("CREATE TABLE t(a INT, ("), None);
    }

    #[test]
    fn the_values_that_a_check_lists_are_read() {
        let shown = |expression: &str, dbms| {
            allowed_values(expression, dbms)
                .map(|(column, values)| format!("{column}: {}", values.join(" ")))
        };
        let expected = |text: &str| Some(text.to_owned());
        // As each DBMS prints them.
        let postgres = |text: &str| shown(text, Dbms::Postgres);
        assert_eq!(
            postgres(
                "((state)::text = ANY ((ARRAY['open'::character varying, 'it''s'::character varying])::text[]))"
            ),
            expected("state: open it's")
        );
        assert_eq!(
            postgres("(VALUE = ANY (ARRAY[1, '-2'::integer]))"),
            expected("VALUE: 1 -2")
        );
        assert_eq!(
            postgres("((a = 'x'::bpchar) OR (a = 'y'::bpchar) OR (a = 'x'::bpchar))"),
            expected("a: x y")
        );
        assert_eq!(
            postgres("((a > 0) AND (a = ANY (ARRAY[1, 2])))"),
            expected("a: 1 2")
        );
        assert_eq!(
            shown("(`state` in (_utf8mb4'open',_utf8mb4'shut'))", Dbms::Mysql),
            expected("state: open shut")
        );
        assert_eq!(
            shown("`a` in (-1,0,1)", Dbms::Mariadb),
            expected("a: -1 0 1")
        );
        // These list no values, or allow others too.
        for other in [
            "a > 3",
            "a NOT IN (1, 2)",
            "a IN (1, b)",
            "a = 1 OR b = 2",
            "a = 1 OR a > 7",
            "lower(a) IN ('x')",
            "a IN (SELECT 1)",
            "a IN (1",
        ] {
            assert_eq!(postgres(other), None, "{other}");
        }
    }
}
