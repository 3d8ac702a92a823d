//! Text sorted by its bytes, as DynamoDB sorts it: which collations do so, and how SQL asks for it.

use super::Dbms;

/// Whether the collation of this name, as a query writes it, sorts by bytes.
pub fn sorts_by_bytes(name: &str, dbms: Dbms) -> bool {
    let name = name.to_ascii_lowercase();
    match dbms {
        Dbms::Postgres => matches!(
            name.as_str(),
            "c" | "posix" | "ucs_basic" | "c.utf8" | "c.utf-8" | "pg_c_utf8" | "pg_unicode_fast"
        ),
        Dbms::Mysql | Dbms::Mariadb => {
            let is_unicode = name.starts_with("utf8") || name.starts_with("ascii");
            is_unicode && name.ends_with("_bin") || name == "binary"
        }
        Dbms::Sqlite => name == "binary",
    }
}

/// An SQL expression that sorts a text expression of this collation by its bytes in UTF-8. MySQL has a binary collation without
/// `PAD SPACE` only for utf8mb4; in the others, a text is equal to the same text with blanks at its end.
pub fn in_byte_order(expression: &str, collation: &str, dbms: Dbms) -> String {
    // A collation begins with its character set.
    let charset = collation.split('_').next().unwrap_or_default();
    // MySQL's binary collation of utf8mb3 pads.
    let has_unpadded = charset == "utf8mb4" || dbms == Dbms::Mariadb && charset == "utf8mb3";
    match dbms {
        Dbms::Postgres if ["citext", "bpchar"].contains(&collation) => {
            format!("{expression}::text COLLATE \"C\"")
        }
        Dbms::Postgres => format!("{expression} COLLATE \"C\""),
        Dbms::Sqlite => format!("{expression} COLLATE BINARY"),
        Dbms::Mysql | Dbms::Mariadb if !has_unpadded => {
            let converted = format!("CONVERT({expression} USING utf8mb4)");
            in_byte_order(&converted, "utf8mb4", dbms)
        }
        Dbms::Mysql => format!("{expression} COLLATE utf8mb4_0900_bin"),
        Dbms::Mariadb => format!("{expression} COLLATE {charset}_nopad_bin"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_database_is_asked_for_the_order_of_bytes_in_utf8() {
        for (dbms, collation, sql) in [
            (Dbms::Postgres, "en-x-icu", "c COLLATE \"C\""),
            (Dbms::Postgres, "citext", "c::text COLLATE \"C\""),
            (Dbms::Sqlite, "NOCASE", "c COLLATE BINARY"),
            (
                Dbms::Mysql,
                "utf8mb4_0900_ai_ci",
                "c COLLATE utf8mb4_0900_bin",
            ),
            (
                Dbms::Mysql,
                "utf8mb3_general_ci",
                "CONVERT(c USING utf8mb4) COLLATE utf8mb4_0900_bin",
            ),
            (
                Dbms::Mariadb,
                "utf8mb3_general_ci",
                "c COLLATE utf8mb3_nopad_bin",
            ),
            (
                Dbms::Mariadb,
                "latin1_swedish_ci",
                "CONVERT(c USING utf8mb4) COLLATE utf8mb4_nopad_bin",
            ),
        ] {
            assert_eq!(in_byte_order("c", collation, dbms), sql);
        }
    }

    #[test]
    fn only_binary_collations_of_unicode_sort_by_bytes() {
        assert!(sorts_by_bytes("C", Dbms::Postgres));
        assert!(!sorts_by_bytes("en_US", Dbms::Postgres));
        assert!(sorts_by_bytes("utf8mb4_bin", Dbms::Mysql));
        assert!(!sorts_by_bytes("latin1_bin", Dbms::Mysql));
        assert!(!sorts_by_bytes("nocase", Dbms::Sqlite));
    }
}
