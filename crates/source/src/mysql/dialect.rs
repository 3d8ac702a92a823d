//! The SQL of MySQL and MariaDB, where it differs from that of the other databases.

use dynafold_format::hex;
use dynafold_relational::catalog::{DataType, Dbms};

use crate::Dialect;
use crate::literal::RangeLiteral;

/// The SQL of MySQL and MariaDB.
#[derive(Debug, Clone, Copy)]
pub(super) struct MysqlDialect;

impl Dialect for MysqlDialect {
    fn dbms(&self) -> Dbms {
        Dbms::Mysql
    }

    fn quote(&self, identifier: &str) -> String {
        format!("`{}`", identifier.replace('`', "``"))
    }

    /// A WHERE finds the zero dates of a NOT NULL column by `IS NULL` (MySQL's manual, "IS NULL") and an index the error value of
    /// an ENUM by `''`, which an expression does not; and MariaDB's WHERE does not where it is behind a LEFT JOIN. This form is
    /// a WHERE that no index serves, and means the same wherever it stands.
    fn condition(&self, condition: &str, plain: bool) -> String {
        if plain {
            format!("({condition}\n)")
        } else {
            format!("EXISTS (SELECT 1 FROM DUAL WHERE ({condition}\n))")
        }
    }

    fn expression(&self, column: &str, data_type: &DataType) -> String {
        match data_type {
            // The servers print a FLOAT with six digits, and a DOUBLE with as many as it needs.
            DataType::Float { bits: 32 } => format!("({column} + 0e0)"),
            // With NO_ZERO_IN_DATE, MySQL turns 2020-00-10 into zeros when it stores dates to sort them.
            DataType::Date | DataType::Timestamp { .. } => format!("CAST({column} AS CHAR)"),
            DataType::Printed => format!("ST_AsText({column})"),
            // The driver does not know MySQL's VECTOR, so its bytes are asked for.
            DataType::Array { .. } => format!("CAST({column} AS BINARY)"),
            DataType::Text { .. } => utf8_or_bytes(column),
            _ => column.to_owned(),
        }
    }

    // Hexadecimal literals mean the same in every SQL mode.
    fn literal(&self, value: &str) -> String {
        match RangeLiteral::parse(value) {
            RangeLiteral::Text(text) => format!("_utf8mb4 x'{}'", hex(text.as_bytes())),
            // In this form, MariaDB too finds a BIT equal to its bytes.
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

/// Asks for a text in UTF-8. The servers replace bytes that are no character of its set by `?`, or leave them out. A text
/// that would change so is asked for as it is stored, after a byte that UTF-8 does not have.
fn utf8_or_bytes(column: &str) -> String {
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
    use dynafold_relational::catalog::TableName;
    use dynafold_relational::scan::{Relation, Scan, ScanColumn};

    use super::*;
    use crate::statement;

    #[test]
    fn a_condition_is_one_expression_in_every_read_and_a_where_for_an_index_where_it_is_plain() {
        let table = TableName {
            schema: "a".into(),
            name: "t".into(),
        };
        let mut scan = Scan {
            conditions: vec!["d IS NULL".into()],
            ..Scan::of(
                Relation::Table(table),
                vec![ScanColumn::base("id", DataType::Json)],
            )
        };
        let asked = "EXISTS (SELECT 1 FROM DUAL WHERE (d IS NULL\n))";
        let one = statement(&MysqlDialect, &scan);
        assert!(one.starts_with("SELECT `t`.`id` AS c0, 1 AS c1\n"), "{one}");
        assert!(one.ends_with(&format!("\nWHERE {asked}")), "{one}");
        scan.keep_unmatched = true;
        let all = statement(&MysqlDialect, &scan);
        let value = format!("CASE WHEN {asked} THEN 1 ELSE 0 END AS c1\nFROM `a`.`t` AS `t`");
        assert!(all.ends_with(&value), "{all}");
        scan.keep_unmatched = false;
        scan.plain = scan.conditions.clone();
        let plain = statement(&MysqlDialect, &scan);
        assert!(plain.ends_with("\nWHERE (d IS NULL\n)"), "{plain}");
    }

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
