//! The definition document in a real browser: Chromium, driven by `tests/browser/check.mjs`, which
//! `tests/setup/browser.sh` makes ready.

use std::path::Path;
use std::process::{Command, Stdio};

use dynafold_testing::missing::named_by;

use crate::support::cli::{dynafold, ran};
use crate::support::datasets::{Dataset, folder};
use crate::support::sqlite::Database;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
const PERSONALIZATION: &str =
    include_str!("../migrations/sqlite/20260101000001_personalization.sql");

/// Names, values and texts that would like to be something else on the page.
const HOSTILE: &str = r#"
    CREATE TABLE "<script>alert(1)</script>" (id INTEGER PRIMARY KEY, "a&b""c'<i>" TEXT, "שם עברי" TEXT);
    CREATE TABLE notes (
        id INTEGER PRIMARY KEY,
        body TEXT NOT NULL,
        "</style><b onclick=alert(2)>" TEXT,
        a_column_with_a_name_that_goes_on_and_on_until_nobody_can_remember_how_it_began INTEGER
            REFERENCES "<script>alert(1)</script>" (id)
    );
    INSERT INTO notes (id, body) VALUES
        (1, '</script><script>alert(3)</script><img src=x onerror=alert(4)>'),
        (2, '"onload="alert(5)" ''quoted'' &amp; &lt;'),
        (3, 'שלום עולם مرحبا بالعالم ' || char(8238) || 'backwards'),
        (5, '😀👩‍👩‍👧‍👦 한국어 日本語 z͑ͫ̓a̴̜l̸g̷o'),
        (6, 'javascript:alert(6)'),
        (7, char(1, 8, 27, 127, 8232));
    INSERT INTO notes (id, body) SELECT 4, replace(hex(zeroblob(10000)), '0', 'x');
"#;

const HOSTILE_MAPPING: &str = r#"
dynafold: 1
table: { name: notes, key: { partition: PK, sort: SK }, type_attribute: false }
items:
  NOTE:
    from: notes
    where: "body <> '</pre><b>'"
    key: { PK: "<b>&NOTE#{id | pad(3)}", SK: "<i>NOTE" }
access_patterns:
  note:
    description: "One <i>note</i> by `id` </td></table><script>alert(7)</script>"
    items: [NOTE]
    key: { PK: "<b>&NOTE#{id | pad(3)}", SK: "<i>NOTE" }
    sql: "SELECT '</pre></details><script>alert(8)</script>' FROM notes"
"#;

/// The browser that `tests/run` found.
fn browser() -> Option<String> {
    named_by("DYNAFOLD_BROWSER", "the definition document in a browser")
}

/// Writes the document of a mapping and has the browser check it.
fn holds_in(browser: &str, mapping: &Path, source: &str) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("definition.html");
    let file = file.to_str().unwrap();
    let mapping = mapping.to_str().unwrap();
    let arguments = [
        "docs", mapping, "--source", source, "--as", "html", "-o", file,
    ];
    dynafold(&arguments).exits(0);
    let mut command = Command::new("node");
    command
        .arg(format!("{ROOT}/tests/browser/check.mjs"))
        .args([browser, file])
        .current_dir(format!("{ROOT}/target/test-browser"));
    command.stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let ran = ran(command.spawn().unwrap()).exits(0);
    assert!(!ran.stdout.contains("FAILED"), "{}", ran.stdout);
    assert!(
        ran.stdout
            .lines()
            .filter(|line| line.starts_with("ok "))
            .count()
            >= 10
    );
}

#[tokio::test]
async fn the_document_of_the_first_example_works() {
    let Some(browser) = browser() else { return };
    let database = Database::new(PERSONALIZATION).await;
    let mapping = format!("{ROOT}/mappings/personalization.yaml");
    holds_in(&browser, Path::new(&mapping), &database.url());
}

#[tokio::test]
async fn the_document_of_pagila_works() {
    let Some(browser) = browser() else { return };
    let Some(folder) = folder() else { return };
    let postgres = Dataset::postgres(&folder, "pagila/pagila.sql.gz").await;
    let mapping = format!("{ROOT}/mappings/pagila.yaml");
    holds_in(&browser, Path::new(&mapping), &postgres.url());
}

#[tokio::test]
async fn hostile_names_and_values_stay_text() {
    let Some(browser) = browser() else { return };
    let database = Database::new(HOSTILE).await;
    let mapping = database.folder().join("notes.yaml");
    std::fs::write(&mapping, HOSTILE_MAPPING).unwrap();
    holds_in(&browser, &mapping, &database.url());
}
