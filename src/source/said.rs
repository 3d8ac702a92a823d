//! What a database says when it refuses a query, in words that show no values of rows.

use sqlx::error::DatabaseError;

/// Why a query was refused, in the database's words.
pub(crate) fn said(cause: &sqlx::Error) -> String {
    match cause.as_database_error() {
        Some(error) => shown(error),
        None => cause.to_string(),
    }
}

/// What a database says of a query, without the values of rows: class 22 of SQLSTATE is of data, and
/// quotes what it could not take. SQLite has no such classes, and quotes the paths of documents.
fn shown(error: &dyn DatabaseError) -> String {
    let code = error.code();
    without_values(error.message(), code.as_deref().unwrap_or_default())
}

fn without_values(said: &str, code: &str) -> String {
    let is_of_data = code.len() == 5 && code.starts_with("22");
    if !is_of_data && !said.contains("JSON path") {
        return said.to_owned();
    }
    let is_quote = |c: char| matches!(c, '"' | '\'');
    match (said.find(is_quote), said.rfind(is_quote)) {
        (Some(first), Some(last)) => {
            let before = said.get(..first).unwrap_or_default();
            format!("{before}…{}", said.get(last + 1..).unwrap_or_default())
        }
        _ => said.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::without_values;

    #[test]
    fn what_a_database_says_of_data_is_shown_without_the_data() {
        for (said, code, shown) in [
            (
                "invalid input syntax for type integer: \"a\"b\"",
                "22P02",
                "invalid input syntax for type integer: …",
            ),
            (
                "value \"9\" is out of range for type integer",
                "22003",
                "value … is out of range for type integer",
            ),
            ("bad JSON path: 'x'", "1", "bad JSON path: …"),
            ("division by zero", "22012", "division by zero"),
            (
                "column \"x\" does not exist",
                "42703",
                "column \"x\" does not exist",
            ),
        ] {
            assert_eq!(without_values(said, code), shown);
        }
    }
}
