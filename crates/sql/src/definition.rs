//! What the text of a table or an index of SQLite says and nothing else tells: its expressions.

use sqlparser::ast::{ColumnOption, Statement};
use sqlparser::dialect::SQLiteDialect;
use sqlparser::parser::Parser;

use super::query::on_large_stack;

/// The generated columns of a table, each with its expression; none where the parser does not take the text.
#[must_use]
pub fn generated(sql: &str) -> Vec<(String, String)> {
    read(sql, |statement| {
        let Statement::CreateTable(table) = statement else {
            return Vec::new();
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
        columns.collect()
    })
}

/// The terms of an index; none where the parser does not take the text.
#[must_use]
pub fn terms(sql: &str) -> Vec<String> {
    read(sql, |statement| match statement {
        Statement::CreateIndex(index) => index.columns.iter().map(ToString::to_string).collect(),
        _ => Vec::new(),
    })
}

fn read<T: Send + 'static>(sql: &str, tell: fn(&Statement) -> Vec<T>) -> Vec<T> {
    let sql = sql.to_owned();
    let read = on_large_stack(move || {
        let statements = Parser::parse_sql(&SQLiteDialect {}, &sql).unwrap_or_default();
        statements.first().map(tell).unwrap_or_default()
    });
    read.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_expressions_of_generated_columns_and_of_indexes_are_told() {
        let sql = "CREATE TABLE t(a INT, -- AS (no),\n \"b c\" TEXT DEFAULT '),(' GENERATED ALWAYS \
                   AS (a || ')' || (a + 1)) STORED, [d] AS (a), PRIMARY KEY (a))";
        let pair = |name: &str, expression: &str| (name.to_owned(), expression.to_owned());
        let expected = [pair("b c", "a || ')' || (a + 1)"), pair("d", "a")];
        assert_eq!(generated(sql), expected);
        assert!(generated("CREATE TABLE t(a INT, (").is_empty());
        let sql = "CREATE INDEX i ON \"t(\" (a, lower(b, 'x,y') DESC, c) WHERE a IN (1, 2)";
        assert_eq!(terms(sql), ["a", "lower(b, 'x,y') DESC", "c"]);
    }
}
