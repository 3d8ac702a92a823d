//! How MySQL and MariaDB write SQL.

use dynafold_relational::catalog::DataType;

use crate::Dialect;
use crate::literal::{RangeLiteral, hexadecimal};

/// The SQL of MySQL and MariaDB.
#[derive(Debug, Clone, Copy)]
pub(super) struct MysqlDialect;

impl Dialect for MysqlDialect {
    fn quote(&self, identifier: &str) -> String {
        format!("`{}`", identifier.replace('`', "``"))
    }

    fn expression(&self, column: &str, data_type: &DataType) -> String {
        match data_type {
            // A single is printed with six digits, a double with all that it needs.
            DataType::Float { bits: 32 } => format!("({column} + 0e0)"),
            // With NO_ZERO_IN_DATE, MySQL makes zeros of 2020-00-10 where it puts dates aside to sort them.
            DataType::Date | DataType::Timestamp { .. } => format!("CAST({column} AS CHAR)"),
            DataType::Printed => format!("ST_AsText({column})"),
            // The driver does not know MySQL's type for a vector, which it prints as bytes.
            DataType::Array { .. } => format!("CAST({column} AS BINARY)"),
            DataType::Text { .. } => text(column),
            _ => column.to_owned(),
        }
    }

    // Hexadecimal means the same in every SQL mode.
    fn literal(&self, value: &str) -> String {
        match RangeLiteral::parse(value) {
            RangeLiteral::Text(text) => format!("_utf8mb4 x'{}'", hexadecimal(text.as_bytes())),
            // In this form bytes are equal to a BIT in MariaDB too.
            RangeLiteral::Bytes(digits) if !digits.is_empty() => format!("0x{digits}"),
            other => other.sql(),
        }
    }

    fn compares_rows(&self) -> bool {
        false
    }

    fn children(&self, derived: &str, _name: &str, on: &str) -> String {
        format!("STRAIGHT_JOIN {derived} ON {on}")
    }
}

/// Asks for a text in UTF-8. The servers turn what is no character of its set into `?` or leave it out:
/// such a text comes behind a byte that no UTF-8 has.
fn text(column: &str) -> String {
    let converted = format!("CONVERT({column} USING utf8mb4)");
    let others = |text: &str| format!("CHAR_LENGTH(REPLACE({text}, '?', ''))");
    format!(
        "CASE WHEN CHARSET({column}) IN ('utf8mb4', 'utf8mb3', 'latin1', 'binary') \
         OR CHAR_LENGTH({column}) = CHAR_LENGTH({converted}) AND {} = {} \
         THEN CAST({converted} AS BINARY) WHEN {column} IS NOT NULL \
         THEN CONCAT(x'FF', CAST({column} AS BINARY)) END",
        others(column),
        others(&converted)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_of_a_range_depends_on_what_the_sql_mode_makes_of_a_backslash() {
        for (value, sql) in [
            (r"'\'", "_utf8mb4 x'5c'"),
            ("'it''s'", "_utf8mb4 x'69742773'"),
            ("''", "_utf8mb4 x''"),
            ("x'00ff'", "0x00ff"),
            ("-1.5", "-1.5"),
        ] {
            assert_eq!(MysqlDialect.literal(value), sql);
        }
    }
}
