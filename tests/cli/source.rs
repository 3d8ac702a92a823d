//! What goes wrong on the relational side.

use super::{MAPPING, own_mapping, says};
use crate::support::cli::{Ran, command, dynafold, run};
use crate::support::source::Source;
use crate::support::{mysql, postgres, sqlite};

/// Takes the password out of a URL and puts a wrong one in.
fn with_password(url: &str, password: &str) -> String {
    let mut url: url::Url = url.parse().unwrap();
    url.set_password(Some(password)).unwrap();
    url.into()
}

/// Loads the example into memory.
fn migrate(url: &str, further: &[&str]) -> Ran {
    let mapping = own_mapping();
    let all = ["migrate", &mapping, "--source", url, "--target", "local"];
    dynafold(&[&all[..], further].concat())
}

#[tokio::test]
async fn a_wrong_password_is_named_and_shown_nowhere() {
    for source in Source::everywhere("personalization").await {
        if source.product() != "sqlite" {
            let ran = dynafold(&[
                "inspect",
                "--source",
                &with_password(&source.url(), "wr0ng-S3cret"),
            ])
            .exits(1);
            says(&ran, "cannot connect to", "password");
            assert!(
                !ran.stderr.contains("wr0ng") && ran.stdout.is_empty(),
                "{ran:?}"
            );
        }
        source.drop().await;
    }
}

#[test]
fn a_mistyped_url_shows_nothing_of_its_password() {
    for url in [
        "postgres:/app:hunter2secret@127.0.0.1/shop",
        "mysql:/app:hunter2secret@127.0.0.1/shop",
        "postgres:///app:hunter2secret@127.0.0.1/shop",
        "mysql:///app:hunter2secret@127.0.0.1/shop",
        "mysql://app:8/hunter2secret@127.0.0.1/shop",
        "postgres://app:8/hunter2secret@127.0.0.1/shop",
        "postgres://app:8@hunter2secret/more@127.0.0.1/shop",
        "postgres://app:8/more?hunter2secret=x@127.0.0.1/shop",
        "postgres:///shop?host=app:hunter2secret@127.0.0.1",
        "sqlite:postgres://app:hunter2secret@127.0.0.1/shop",
        "sqlite://app:hunter2secret@127.0.0.1/shop",
    ] {
        let ran = dynafold(&["inspect", "-vvv", "--source", url]).exits(2);
        says(&ran, "the source URL is not usable", "postgres://user@host");
        assert!(!ran.stderr.contains("hunter2"), "{}", ran.stderr);
    }
}

#[tokio::test]
async fn a_mistyped_target_shows_nothing_of_its_password() {
    let script = include_str!("../../migrations/sqlite/20260101000001_personalization.sql");
    let source = sqlite::Database::new(script).await;
    for target in [
        "local:postgres://app:hunter2secret@127.0.0.1/shop",
        "local:app:hunter2secret@127.0.0.1/shop",
        "postgres://app:x#hunter2secret@127.0.0.1/shop",
        "http://app:8/hunter2secret@127.0.0.1",
    ] {
        let ran = dynafold(&[
            "migrate",
            "-vvv",
            &own_mapping(),
            "--source",
            &source.url(),
            "--target",
            target,
        ])
        .exits(2);
        assert!(!ran.stderr.contains("hunter2"), "{}", ran.stderr);
    }
}

/// It would make folders of that name, with the password in it.
#[test]
fn a_url_in_the_place_of_a_file_is_refused_by_every_command() {
    let url = "postgres://app:hunter2secret@db.example/shop";
    let mapping = own_mapping();
    let mapping = mapping.as_str();
    let source = ["--source", "sqlite:none.db"];
    let folder = tempfile::tempdir().unwrap();
    for arguments in [
        &["init", "-o", url][..],
        &["design", "-o", url],
        &["design", "--report", url],
        &["design", "--workload", url],
        &["docs", mapping, "-o", url],
        &["demo", url],
        &["preview", mapping, "--rejects", url],
        &["migrate", mapping, "--target", "local", "--state", url],
        &["migrate", mapping, "--target", "local", "--archive", url],
        &["export", mapping, "--to", "out", "--spool", url],
        &["export", mapping, "--to", url],
        &["verify", mapping, "--against-export", url],
        &["finish", "--plan", "plan", "--files", url],
        &["check", url],
        &["query", url, "--target", "local"],
    ] {
        let takes_source = !matches!(arguments[0], "demo" | "query");
        let source = if takes_source { &source[..] } else { &[] };
        let mut command = command(&[arguments, source].concat());
        let ran = run(command.current_dir(&folder)).exits(2);
        assert!(
            !ran.stderr.contains("hunter2"),
            "{arguments:?}: {}",
            ran.stderr
        );
        ran.says("--source URL");
        let left = std::fs::read_dir(&folder).unwrap().count();
        assert_eq!(left, 0, "{arguments:?}");
    }
    let ran = |arguments: &[&str]| dynafold(&[arguments, &source].concat()).exits(2);
    ran(&["init", "-o", "s3://bucket/app.yaml"]).says("export --to");
    ran(&["check", "http://localhost:8000"]).says("--endpoint-url URL");
}

#[test]
fn a_host_that_is_not_there_is_named() {
    for scheme in ["postgres", "mysql"] {
        let url = format!("{scheme}://app:S3cret@no-such-host.invalid/app");
        let ran = dynafold(&["check", MAPPING, "--source", &url]).exits(1);
        says(&ran, "no-such-host.invalid", "host");
        assert!(!ran.stderr.contains("S3cret"), "{}", ran.stderr);
        let url = format!("{scheme}://app:S3cret@127.0.0.1:1/app");
        let ran = dynafold(&["check", MAPPING, "--source", &url]).exits(1);
        says(&ran, "127.0.0.1:1", "port");
    }
    let ran = dynafold(&["check", MAPPING, "--source", "sqlite:missing.db"]).exits(1);
    says(&ran, "missing.db", "no such file");
}

#[tokio::test]
async fn a_database_that_is_not_there_is_named() {
    let there = postgres::Database::create().await;
    let ran = dynafold(&["inspect", "--source", &format!("{}_not", there.url())]).exits(1);
    says(&ran, "cannot connect", "database");
}

#[tokio::test]
async fn tables_and_columns_that_are_not_there_are_named_with_their_place() {
    let source = sqlite::Database::new("CREATE TABLE user (id INTEGER PRIMARY KEY)").await;
    let ran = dynafold(&["check", MAPPING, "--source", &source.url()]).exits(1);
    ran.prints("error[unknown-table]: the source has no table `users`");
    ran.prints("did you mean `user`?");
    let ran = migrate(&source.url(), &[]).exits(1);
    ran.says("error[unknown-table]");
    assert!(ran.stdout.is_empty(), "{}", ran.stdout);
    for (_, server) in mysql::servers() {
        let mut url = server.clone();
        url.set_path("");
        let ran = dynafold(&["check", MAPPING, "--source", url.as_str()]).exits(1);
        ran.prints("the URL names no database");
    }
}

#[tokio::test]
async fn a_missing_privilege_is_named_with_the_grant() {
    let script = include_str!("../../migrations/postgres/20260101000001_personalization.sql");
    let mut database = postgres::Database::with(script).await;
    let role = database.role("reader").await;
    let url = database.url_as(&role, "secret");
    database.run("GRANT SELECT ON services TO PUBLIC").await;
    let ran = migrate(&url, &[]).exits(1);
    ran.says("users");
    ran.says("SELECT");

    let script = include_str!("../../migrations/mysql/20260101000001_personalization.sql");
    for (_, server) in mysql::servers() {
        let mut database = mysql::Database::new(&server).await;
        database.run(script).await;
        let grant = format!("SELECT ON {}.services", database.name());
        let url = database.user(&[&grant]).await.to_string();
        migrate(&url, &[]).exits(1).says("users");
        database.drop().await;
    }
}

#[tokio::test]
async fn the_source_is_untouched_by_a_user_who_may_only_select() {
    let script = include_str!("../../migrations/postgres/20260101000001_personalization.sql");
    let mut database = postgres::Database::with(script).await;
    let role = database.role("reader").await;
    database
        .run("GRANT SELECT ON ALL TABLES IN SCHEMA public TO PUBLIC")
        .await;
    // Even the owner's connections can only read: the server refuses writes.
    database
        .run(&format!(
            "ALTER DATABASE {} SET default_transaction_read_only = on",
            database.url().rsplit('/').next().unwrap()
        ))
        .await;
    let url = database.url_as(&role, "secret");
    let ran = migrate(&url, &["--format", "json"]).exits(0);
    assert_eq!(ran.json()["total"]["written"], 17);

    let script = include_str!("../../migrations/mysql/20260101000001_personalization.sql");
    for (_, server) in mysql::servers() {
        let mut database = mysql::Database::new(&server).await;
        database.run(script).await;
        let grant = format!("SELECT ON {}.*", database.name());
        let url = database.user(&[&grant]).await.to_string();
        let ran = migrate(&url, &["--format", "json"]).exits(0);
        assert_eq!(ran.json()["total"]["written"], 17);
        database.drop().await;
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_sqlite_source_is_not_changed_by_a_byte() {
    let script = include_str!("../../migrations/sqlite/20260101000001_personalization.sql");
    let source = sqlite::Database::new(script).await;
    let before = std::fs::read(source.file()).unwrap();
    migrate(&source.url(), &[]).exits(0);
    assert_eq!(std::fs::read(source.file()).unwrap(), before);
    let beside = std::fs::read_dir(source.folder()).unwrap().count();
    assert_eq!(beside, 1, "nothing was left beside the source");
}

#[tokio::test]
async fn a_condition_that_is_not_sql_is_shown_in_the_mapping() {
    let source =
        sqlite::Database::new("CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT)").await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("m.yaml");
    let mapping = "dynafold: 1\ntable: { name: portal, key: { partition: PK } }\nitems:\n  USER:\n    from: users\n    where: nme IS NOT NULL\n    key: { PK: \"USER#{id}\" }\n  COUNT:\n    from: { sql: SELECT count(*) AS n FROM usrs, key: [n] }\n    key: { PK: \"COUNT#{n}\" }\n";
    std::fs::write(&file, mapping).unwrap();
    let file = file.display().to_string();
    let ran = dynafold(&["check", &file, "--source", &source.url()]).exits(1);
    ran.prints("error[sql]");
    ran.prints("no such table: usrs");
    std::fs::write(&file, mapping.replace("usrs", "users")).unwrap();
    let ran = dynafold(&["check", &file, "--source", &source.url()]).exits(1);
    ran.prints("no such column: nme");
    ran.prints("m.yaml:6:12");
}

/// An aggregate in a subquery, over columns of the rows around it alone, is one of these rows: SQLite and MariaDB made one row of all.
#[tokio::test]
async fn a_condition_that_would_make_one_row_of_all_is_refused() {
    let script = |_: &str| {
        "CREATE TABLE orders (id INTEGER PRIMARY KEY, at INTEGER, n INTEGER);
         CREATE TABLE parts (id INTEGER PRIMARY KEY, order_id INTEGER, at INTEGER, FOREIGN KEY (order_id) REFERENCES orders (id));
         INSERT INTO orders VALUES (1, 10, 1), (2, 20, 1), (3, 30, 2);
         INSERT INTO parts VALUES (1, 1, 1), (2, 2, 2);"
            .to_owned()
    };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("m.yaml");
    let shown = file.display().to_string();
    let with = |condition: &str| {
        let mapping = format!(
            "dynafold: 1\ntable: {{ name: orders, key: {{ partition: PK }} }}\nitems:\n  O:\n    from: orders\n    where: \"{condition}\"\n    key: {{ PK: \"O#{{id}}\" }}\n  Q:\n    from: orders\n    where: n = 1\n    key: {{ PK: \"Q#{{id}}\" }}\n"
        );
        std::fs::write(&file, mapping).unwrap();
    };
    let with_child = |column: &str| {
        let condition =
            format!("EXISTS (SELECT max({column}) FROM orders o WHERE o.id = parts.order_id)");
        let mapping = format!(
            "dynafold: 1\ntable: {{ name: orders, key: {{ partition: PK }} }}\nitems:\n  O:\n    from: orders\n    key: {{ PK: \"O#{{id}}\" }}\n    attributes:\n      parts:\n        $embed: parts\n        $each: {{ id: \"{{id}}\", at: {{ $value: \"{{at}}\", $when: \"{condition}\" }} }}\n"
        );
        std::fs::write(&file, mapping).unwrap();
    };
    for source in Source::each(script).await {
        with("EXISTS (SELECT max(orders.at) FROM parts l WHERE l.order_id = orders.id)");
        let ran = dynafold(&["check", &shown, "--source", &source.url()]).exits(1);
        assert!(
            ran.stdout.contains("error[sql]"),
            "{}: {}",
            source.product(),
            ran.stdout
        );
        with("EXISTS (SELECT max(l.at) FROM parts l WHERE l.order_id = orders.id)");
        dynafold(&["check", &shown, "--source", &source.url()]).exits(0);
        with_child("parts.at");
        let ran = dynafold(&["check", &shown, "--source", &source.url()]).exits(1);
        let is_reported = ran.stdout.contains("error[sql]");
        assert!(is_reported, "{}: {}", source.product(), ran.stdout);
        with_child("o.at");
        dynafold(&["check", &shown, "--source", &source.url()]).exits(0);
        source.drop().await;
    }
}

#[tokio::test]
async fn sql_of_an_access_pattern_that_the_source_refuses_is_an_error_of_check() {
    let source =
        sqlite::Database::new("CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT)").await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("m.yaml");
    let mapping = |sql: &str| {
        format!(
            "dynafold: 1\ntable: {{ name: portal, key: {{ partition: PK }} }}\nitems:\n  USER: {{ from: users, key: {{ PK: \"USER#{{id}}\" }} }}\naccess_patterns:\n  p: {{ items: [USER], key: {{ PK: \"USER#{{id}}\" }}, sql: \"{sql}\" }}\n"
        )
    };
    let shown = file.display().to_string();
    std::fs::write(&file, mapping("SELECT id, nme FROM users WHERE id = :id")).unwrap();
    let ran = dynafold(&["check", &shown, "--source", &source.url()]).exits(1);
    ran.prints("error[sql]");
    ran.prints("no such column: nme");
    std::fs::write(&file, mapping("SELECT id, name FROM users WHERE id = :id")).unwrap();
    dynafold(&["check", &shown, "--source", &source.url()]).exits(0);
}

#[test]
fn what_the_system_says_comes_without_the_drivers_preamble() {
    for (url, cause, help) in [
        (
            "postgres://app@127.0.0.1:1/app",
            "Connection refused",
            "is the server running",
        ),
        (
            "mysql://app@127.0.0.1:1/app",
            "Connection refused",
            "is the server running",
        ),
        ("sqlite:missing.db", "No such file", "there is no such file"),
    ] {
        let ran = dynafold(&["inspect", "--source", url]).exits(1);
        says(&ran, "cannot connect to", help);
        let cause = format!("because: {cause}");
        ran.says(&cause);
    }
}
