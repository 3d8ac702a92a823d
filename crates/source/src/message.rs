//! What a database says when it refuses a query, in words that show no values of rows.

/// Why a query was refused, in the database's words, without the values of rows: class 22 of SQLSTATE is of data, and
/// quotes what it could not take. SQLite has no such classes, and quotes the paths of documents.
pub fn database_message(cause: &sqlx::Error) -> String {
    match cause.as_database_error() {
        Some(error) => without_values(error.message(), &error.code().unwrap_or_default()),
        None => cause.to_string(),
    }
}

fn without_values(message: &str, code: &str) -> String {
    let is_of_data = code.len() == 5 && code.starts_with("22");
    if !is_of_data && !message.contains("JSON path") {
        return message.to_owned();
    }
    let is_quote = |c: char| matches!(c, '"' | '\'');
    match (message.find(is_quote), message.rfind(is_quote)) {
        (Some(first), Some(last)) => {
            let before = message.get(..first).unwrap_or_default();
            format!("{before}…{}", message.get(last + 1..).unwrap_or_default())
        }
        _ => message.to_owned(),
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
