//! How databases are asked to sort text by bytes, as DynamoDB does.

use super::Dbms;

/// Whether a collation that a query asks for sorts by bytes.
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

/// Texts of this collation as a database sorts them by the bytes that they have in UTF-8. MySQL has a collation for that without
/// `PAD SPACE` for utf8mb4 alone: in others a text is equal to the same with blanks at the end.
pub fn sorted_by_bytes(written: &str, collation: &str, dbms: Dbms) -> String {
    // A collation begins with its character set.
    let charset = collation.split('_').next().unwrap_or_default();
    // The collation of MySQL's utf8mb3 pads.
    let is_whole = charset == "utf8mb4" || dbms == Dbms::Mariadb && charset == "utf8mb3";
    match dbms {
        Dbms::Postgres if ["citext", "bpchar"].contains(&collation) => {
            format!("{written}::text COLLATE \"C\"")
        }
        Dbms::Postgres => format!("{written} COLLATE \"C\""),
        Dbms::Sqlite => format!("{written} COLLATE BINARY"),
        Dbms::Mysql | Dbms::Mariadb if !is_whole => {
            let written = format!("CONVERT({written} USING utf8mb4)");
            sorted_by_bytes(&written, "utf8mb4", dbms)
        }
        Dbms::Mysql => format!("{written} COLLATE utf8mb4_0900_bin"),
        Dbms::Mariadb => format!("{written} COLLATE {charset}_nopad_bin"),
    }
}
