//! Relational queries that sort text otherwise than DynamoDB does, and those that do not or of which
//! it cannot be told.

use dynafold_mapping::diagnostic::Code;
use dynafold_relational::catalog::{Catalog, Dbms};

use super::check_with;
use super::refused::{asked, with};

/// The catalog as a product has it: the text of `note` is sorted by this collation, all other by bytes.
fn catalog(dbms: Dbms, collation: &str) -> Catalog {
    let mut catalog = asked();
    catalog.dbms = dbms;
    let columns = catalog
        .tables
        .iter_mut()
        .flat_map(|table| &mut table.columns);
    for column in columns.filter(|column| column.name == "note") {
        column.collation = Some(collation.to_owned());
    }
    catalog
}

/// What is said of a query, and how it is mended.
fn reported(catalog: &Catalog, sql: &str, limit: &str) -> Option<(String, String)> {
    let sql = sql.replace('"', "\\\"");
    let text = with(&format!(
        "items: [EVENT]\nkey: {{ PK: \"USER#{{userId | pad(6)}}\", SK: {{ begins_with: \"EVENT#\" }} }}\n{limit}\nsql: \"{sql}\""
    ));
    let (model, mut diagnostics) = check_with(&text, catalog);
    assert!(model.is_some(), "{sql}: {diagnostics:?}");
    // The sort key of the events holds none of these columns, and not every query asks for the user.
    let others = [Code::OtherOrder, Code::UnusedParameter];
    diagnostics.retain(|diagnostic| !others.contains(&diagnostic.code));
    let [diagnostic] = diagnostics.as_slice() else {
        assert!(diagnostics.is_empty(), "{sql}: {diagnostics:?}");
        return None;
    };
    assert_eq!(diagnostic.code, Code::TextOrder, "{sql}");
    Some((diagnostic.message.clone(), diagnostic.help.clone().unwrap()))
}

#[test]
fn text_that_the_source_sorts_otherwise_is_told_with_what_a_limit_does() {
    let catalog = catalog(Dbms::Postgres, "en_US.utf8");
    let sql = "SELECT id FROM events WHERE user_id = :userId ORDER BY note LIMIT 5";
    let (message, help) = reported(&catalog, sql, "limit: 5").unwrap();
    assert_eq!(
        message,
        "`note` is sorted by `en_US.utf8`, and DynamoDB sorts by bytes: with a limit of 5, other items may be returned"
    );
    assert!(
        help.starts_with("use ORDER BY note COLLATE \"C\";"),
        "{help}"
    );
    let (message, _) = reported(&catalog, sql, "").unwrap();
    assert!(
        message.ends_with("the same items may be returned in another order"),
        "{message}"
    );
    for sql in [
        "SELECT e.id, e.note AS n FROM events AS e ORDER BY day, n DESC NULLS LAST",
        "SELECT id, note FROM main.events ORDER BY 2",
        "SELECT id FROM users u JOIN events ev ON ev.user_id = u.id ORDER BY ev.\"note\"",
        "SELECT id FROM events ORDER BY code COLLATE \"de-x-icu\"",
    ] {
        assert!(reported(&catalog, sql, "").is_some(), "{sql}");
    }
}

#[test]
fn the_mend_is_in_the_words_of_the_product() {
    for (dbms, collation, mend) in [
        (Dbms::Postgres, "citext", "note::text COLLATE \"C\""),
        (
            Dbms::Mysql,
            "utf8mb4_0900_ai_ci",
            "note COLLATE utf8mb4_0900_bin",
        ),
        (
            Dbms::Mysql,
            "utf8mb3_general_ci",
            "CONVERT(note USING utf8mb4) COLLATE utf8mb4_0900_bin",
        ),
        (
            Dbms::Mariadb,
            "utf8mb3_general_ci",
            "note COLLATE utf8mb3_nopad_bin",
        ),
        (
            Dbms::Mariadb,
            "latin1_swedish_ci",
            "CONVERT(note USING utf8mb4) COLLATE utf8mb4_nopad_bin",
        ),
        (Dbms::Sqlite, "NOCASE", "note COLLATE BINARY"),
        (Dbms::Sqlite, "BINARY of UTF-16le", "no collation of SQLite"),
    ] {
        let said = reported(
            &catalog(dbms, collation),
            "SELECT id FROM events ORDER BY note",
            "",
        );
        let (_, help) = said.unwrap();
        assert!(help.contains(mend), "{help}");
    }
}

#[test]
fn what_is_sorted_by_bytes_or_cannot_be_told_is_not_told_of() {
    for (dbms, sql) in [
        (Dbms::Postgres, "SELECT id FROM events ORDER BY code, id"),
        (
            Dbms::Postgres,
            "SELECT id, note FROM events ORDER BY note COLLATE \"C\" DESC",
        ),
        (
            Dbms::Postgres,
            "SELECT id, note COLLATE \"C\" AS n FROM events ORDER BY n",
        ),
        (
            Dbms::Postgres,
            "SELECT id, lower(note) AS note FROM events ORDER BY note",
        ),
        (Dbms::Postgres, "SELECT id FROM events ORDER BY lower(note)"),
        (
            Dbms::Postgres,
            "SELECT id FROM events WHERE id IN (SELECT id FROM events ORDER BY note)",
        ),
        (
            Dbms::Postgres,
            "SELECT note FROM (SELECT upper(note) AS note FROM events) e ORDER BY note",
        ),
        (
            Dbms::Postgres,
            "SELECT note FROM events UNION SELECT code FROM events ORDER BY note",
        ),
        (
            Dbms::Postgres,
            "SELECT id, note FROM events -- ORDER BY note",
        ),
        (
            Dbms::Mysql,
            "SELECT id FROM events ORDER BY `note` COLLATE utf8mb4_bin",
        ),
        (Dbms::Mysql, "SELECT id FROM events ORDER BY BINARY note"),
        (
            Dbms::Sqlite,
            "SELECT id FROM events ORDER BY [note] COLLATE binary",
        ),
    ] {
        assert_eq!(
            reported(&catalog(dbms, "other"), sql, "limit: 5"),
            None,
            "{sql}"
        );
    }
}
