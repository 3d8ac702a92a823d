//! Items that no row makes any more: which are named, and which are deleted. And what a load does that
//! meets rows without an item before it writes.

use dynafold::target::{TargetSpec, connect};
use serde_json::{Value, json};

use super::alone::{Case, total};
use super::says;
use crate::support::books::{claimed, hold_compared};
use crate::support::cli::{dynafold, reported};
use crate::support::contents;
use crate::support::postgres;

/// Users of whom all make an item.
const USERS: &str = "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT, active INTEGER, count TEXT, ends INTEGER);
    INSERT INTO users VALUES (1, 'one', 1, '1', 4102444800), (2, 'two', 1, '2', 4102444800),
      (3, 'three', 1, '3', 4102444800), (4, 'four', 1, '4', 4102444800), (5, 'five', 1, '5', 4102444800);";

fn users(condition: &str, key: &str) -> String {
    format!(
        "  USER:
    from: users
{condition}    key: {{ PK: \"USER#{{name}}\", SK: \"{key}\" }}
    columns: [ends]
    attributes: {{ count: \"{{count | number}}\" }}
    expired: skip
"
    )
}

/// What `verify` says is stale, and why.
fn stale(report: &Value) -> Vec<(String, String)> {
    let findings = report["findings"].as_array().unwrap().iter();
    let stale = findings.filter(|finding| finding["kind"] == "stale");
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let mut all: Vec<_> = stale
        .map(|finding| (text(&finding["key"]["PK"]["S"]), text(&finding["stale"])))
        .collect();
    all.sort();
    all
}

/// Puts an item without a type attribute; its `data` is what that of users may be, too.
async fn plant(case: &Case, partition: &str, sort: &str) {
    let spec = TargetSpec::parse(&case.target(), None, None, None).unwrap();
    let item = json!({ "PK": { "S": partition }, "SK": { "S": sort }, "data": { "S": "USER" } });
    contents::plant(&*connect(&spec).await.unwrap(), "app", &[item]).await;
}

/// Adds settings to the table of a case's mapping.
fn set(case: &Case, settings: &str) {
    let text = std::fs::read_to_string(case.path("t.yaml")).unwrap();
    let text = text.replace("sort: SK }", &format!("sort: SK }}, {settings}"));
    std::fs::write(case.path("t.yaml"), text).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_load_that_can_never_delete_leaves_the_files_of_the_one_before() {
    let script = "CREATE TABLE t (id INTEGER PRIMARY KEY, k TEXT, j TEXT);
        INSERT INTO t VALUES (1, 'a', '[1]'), (2, 'b', '[2]'), (3, NULL, '[1]');";
    let items = "  A:
    from: t
    explode: { x: \"j | json\" }
    key: { PK: \"{k | lower}\", SK: \"{x | string}\" }
";
    let case = Case::new(script, items).await;
    set(&case, "type_attribute: false");
    case.migrate(&["--max-rejects", "5"], 3);
    let rejects = || std::fs::read_to_string(case.path("t.rejects.ndjson")).unwrap();
    let before = rejects();
    for way in [&["--prune"][..], &["--changes-only", "--prune=filtered"]] {
        let ran = case.run("migrate", &[&["--max-rejects", "5"], way].concat());
        let ran = ran.exits(1);
        says(
            &ran,
            "items of A cannot be distinguished from others",
            "give the table a `type_attribute`",
        );
        assert!(!ran.stderr.contains("again"), "{}", ran.stderr);
        assert_eq!(ran.json()["outcome"]["code"], "unowned");
        assert_eq!(rejects(), before);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_old_item_of_a_row_that_makes_none_is_stale() {
    let case = Case::new(USERS, &users("    where: active = 1\n", "-")).await;
    case.migrate(&[], 0);
    let spoil =
        "UPDATE users SET active = 0 WHERE id = 1; UPDATE users SET count = 'x' WHERE id = 2;
        UPDATE users SET name = NULL WHERE id = 3; UPDATE users SET ends = 1 WHERE id = 4;
        DELETE FROM users WHERE id = 5;";
    case.source.run(spoil).await;
    let expected = [
        ("USER#five", "no row makes it"),
        ("USER#four", "its row has expired, and its TTL is not over"),
        ("USER#one", "no row makes it"),
        ("USER#three", "no row makes it"),
        ("USER#two", "its row makes no item"),
    ];
    let expected = expected.map(|(key, why)| (key.to_owned(), why.to_owned()));
    for further in [&[][..], &["--repair"]] {
        let ran = case.run("verify", further).exits(3);
        let report = ran.json();
        hold_compared(&report);
        assert_eq!(stale(&report), expected);
        assert_eq!(claimed(&report, "table_equal"), "differs");
    }
    assert_eq!(case.keys().await.len(), 5);
    // What is deleted of them, and what is said of the others, is the same each time.
    for (prune, deleted, left) in [
        ("--prune", 2, [1, 0, 1, 1]),
        ("--prune", 0, [1, 0, 1, 1]),
        ("--prune=filtered", 1, [0, 0, 1, 1]),
        ("--prune=filtered", 0, [0, 0, 1, 1]),
    ] {
        let report = case.migrate(&["--changes-only", prune, "--max-rejects", "9"], 3);
        assert_eq!(total(&report, "deleted"), deleted, "{prune} {report:#}");
        let kinds = ["filtered", "not_returned", "rejected", "expired"];
        assert_eq!(
            kinds.map(|kind| report["left"][kind].as_u64().unwrap()),
            left
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pruning_twice_deletes_what_pruning_once_deletes() {
    let case = Case::new(USERS, &users("", "-")).await;
    case.migrate(&[], 0);
    case.source.run("DELETE FROM users WHERE id = 5").await;
    case.map(&users("    where: id > 2\n", "-"));
    for deleted in [1, 0, 0] {
        let plan = case.run("migrate", &["--plan", "--prune"]).json();
        assert_eq!(total(&plan, "deleted"), deleted);
        let report = case.migrate(&["--changes-only", "--prune"], 0);
        assert_eq!(
            (total(&report, "deleted"), &report["left"]["filtered"]),
            (deleted, &json!(2))
        );
        // Nor does a load in between decide.
        case.migrate(&["--changes-only"], 0);
    }
    case.migrate(&["--changes-only", "--prune=filtered"], 0);
    let report = case.run("verify", &[]).exits(0).json();
    assert_eq!(claimed(&report, "table_equal"), "proved");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_that_a_view_does_not_return_is_not_taken_for_gone() {
    let items = users("", "-").replace(
        "from: users",
        "from: { sql: \"SELECT * FROM few\", key: [id] }",
    );
    let view = format!("{USERS} CREATE VIEW few AS SELECT * FROM users;");
    let case = Case::new(&view, &items).await;
    case.migrate(&[], 0);
    let fewer = "DROP VIEW few; CREATE VIEW few AS SELECT * FROM users WHERE id < 3;";
    case.source.run(fewer).await;
    for _ in 0..2 {
        let report = case.migrate(&["--changes-only", "--prune"], 0);
        assert_eq!(
            (total(&report, "deleted"), &report["left"]["not_returned"]),
            (0, &json!(3))
        );
    }
    let report = case.migrate(&["--changes-only", "--prune=filtered"], 0);
    assert_eq!(total(&report, "deleted"), 3);
    case.run("verify", &[]).exits(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_that_row_security_hides_is_not_taken_for_gone() {
    let mut database = postgres::Database::with(
        "CREATE TABLE teams (id int PRIMARY KEY, name text);
        CREATE TABLE members (id int PRIMARY KEY, team int NOT NULL REFERENCES teams);
        INSERT INTO teams VALUES (1, 'red'), (2, 'blue');
        INSERT INTO members VALUES (1, 1), (2, 2), (3, 2);",
    )
    .await;
    let reader = database.role("reader").await;
    let grant = format!("GRANT SELECT ON teams, members TO {reader}");
    database.run(&grant).await;
    let items = "  TEAM: { from: teams, key: { PK: \"TEAM#{id}\", SK: \"-\" } }
  MEMBER: { from: members, join: { t: team }, key: { PK: \"OF#{t.name}\", SK: \"M#{id}\" } }
";
    let case = Case::new("", items).await;
    let (mapping, target) = (case.path("t.yaml").display().to_string(), case.target());
    let url = database.url_as(&reader, "secret");
    let run =
        |command: &str, further: &[&str]| reported(command, [&mapping, &url, &target], further);
    let hidden = "row security may hide rows of teams from this user";
    assert!(!run("migrate", &[]).exits(0).stderr.contains(hidden));
    assert_eq!(case.keys().await.len(), 5);
    // The policy hides the blue team, so that its members have no key.
    let hide =
        "ALTER TABLE teams ENABLE ROW LEVEL SECURITY; CREATE POLICY few ON teams USING (id = 1)";
    database.run(hide).await;
    for _ in 0..2 {
        let ran = run(
            "migrate",
            &["--changes-only", "--prune", "--max-rejects", "2"],
        )
        .exits(3);
        ran.says(hidden);
        assert_eq!(total(&ran.json(), "deleted"), 0);
        assert_eq!(case.keys().await.len(), 5);
    }
    let ran = run("verify", &[]).exits(3);
    ran.says(hidden);
    let report = ran.json();
    assert_eq!(
        report["claims"][0]["because"],
        "of the rows that row security lets this reader see: the table differs from what the source makes"
    );
    let why = "no row that row security lets this reader see makes it";
    let expected = ["OF#blue", "OF#blue", "TEAM#2"].map(|key| (key.to_owned(), why.to_owned()));
    assert_eq!(stale(&report), expected);
    // Who sees all rows is not concerned.
    database
        .run(&format!("ALTER ROLE {reader} BYPASSRLS"))
        .await;
    database.run("DELETE FROM members WHERE id = 3").await;
    let ran = run("migrate", &["--changes-only", "--prune"]).exits(0);
    assert_eq!(total(&ran.json(), "deleted"), 1);
    let ran = run("verify", &[]).exits(0);
    let because = &ran.json()["claims"][0]["because"];
    assert_eq!(because, "the table holds exactly what the source makes");
}

#[tokio::test(flavor = "multi_thread")]
async fn columns_that_the_user_may_not_read_are_told_by_every_command() {
    let mut database = postgres::Database::with(
        "CREATE TABLE members (id int PRIMARY KEY, name text, secret text);
        INSERT INTO members VALUES (1, 'red', 'a'), (2, 'blue', 'b');",
    )
    .await;
    let reader = database.role("reader").await;
    let grant = format!("GRANT SELECT (id, name) ON members TO {reader}");
    database.run(&grant).await;
    let case = Case::new("", "").await;
    let (mapping, target) = (case.path("t.yaml").display().to_string(), case.target());
    let url = database.url_as(&reader, "secret");
    let map = |more: &str| {
        case.map(&format!(
            "  MEMBER: {{ from: members, key: {{ PK: \"M#{{id}}\", SK: \"-\" }}{more} }}\n"
        ));
    };
    let hidden = "members has columns that this user may not read: secret";
    map("");
    let checked = dynafold(&["check", &mapping, "--source", &url]).exits(0);
    checked.prints(hidden);
    checked.prints("2 of 3 columns are in items");
    let previewed = dynafold(&["preview", &mapping, "--source", &url]).exits(0);
    previewed.says(hidden);
    let run = |url: &str, command: &str, code: i32| {
        reported(command, [&mapping, url, &target], &[]).exits(code)
    };
    run(&url, "migrate", 0).says(hidden);
    let because =
        "of the columns that this reader may read: the table holds exactly what the source makes";
    let claims = |more: &str, warns: bool| {
        map(more);
        let ran = run(&url, "verify", 0);
        assert_eq!(ran.stderr.contains(hidden), warns, "{more}: {}", ran.stderr);
        ran.json()["claims"][0].clone()
    };
    for (more, warns) in [("", true), (", accept: [hidden-columns]", false)] {
        let claim = claims(more, warns);
        assert_eq!(claim["because"], because, "{more}");
        let facts = claim["facts"].as_array().unwrap();
        assert!(facts.contains(&json!(hidden)), "{more}: {facts:?}");
    }
    // Who leaves such a column out has nothing hidden.
    for more in [", omit: [secret]", ", columns: [id, name]"] {
        let claim = claims(more, false);
        assert_eq!(
            claim["because"],
            "the table holds exactly what the source makes"
        );
    }
    map("");
    run(&database.url(), "verify", 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn row_security_of_a_table_that_only_a_condition_reads_is_told() {
    let mut database = postgres::Database::with(
        "CREATE TABLE teams (id int PRIMARY KEY);
        CREATE TABLE members (id int PRIMARY KEY, team int NOT NULL);
        INSERT INTO teams VALUES (1), (2);
        INSERT INTO members VALUES (1, 1), (2, 2), (3, 2);
        ALTER TABLE teams ENABLE ROW LEVEL SECURITY;
        CREATE POLICY few ON teams USING (id = 1);",
    )
    .await;
    let reader = database.role("reader").await;
    let grant = format!("GRANT SELECT ON teams, members TO {reader}");
    database.run(&grant).await;
    let case = Case::new("", "").await;
    let (mapping, target) = (case.path("t.yaml").display().to_string(), case.target());
    let url = database.url_as(&reader, "secret");
    let run = |url: &str, command: &str, further: &[&str]| {
        reported(command, [&mapping, url, &target], further).exits(0)
    };
    let seen = "of the rows that row security lets this reader see: ";
    for (condition, caveat) in [
        (
            "where: EXISTS (SELECT 1 FROM teams t WHERE t.id = members.team)",
            seen,
        ),
        (
            "attributes: { of: { $value: \"{team}\", $when: \"team IN (SELECT id FROM teams)\" } }",
            seen,
        ),
        // What other functions read is not known.
        ("where: team > 1 AND quote_ident('a') = 'a'", seen),
        ("where: team > 1 AND lower('A') = 'a'", ""),
        ("where: team > 1 AND 'A' <> 'a'", ""),
    ] {
        case.map(&format!(
            "  MEMBER:\n    from: members\n    key: {{ PK: \"M#{{id}}\", SK: \"-\" }}\n    {condition}\n"
        ));
        run(&url, "migrate", &["--replace", "--yes", "--fresh"]);
        let because = run(&url, "verify", &[]).json()["claims"][0]["because"].clone();
        let expected = format!("{caveat}the table holds exactly what the source makes");
        assert_eq!(because, expected, "{condition}");
    }
    // A view shows what its owner may see, whoever reads it.
    let view = format!(
        "CREATE VIEW few AS SELECT id FROM teams; ALTER VIEW few OWNER TO {reader};
        CREATE VIEW all_members AS SELECT id FROM members;
        CREATE VIEW all_teams AS SELECT id FROM teams;
        GRANT SELECT ON all_members, all_teams TO {reader}"
    );
    database.run(&view).await;
    let owner = database.url();
    for (url, from, caveat) in [
        (&owner, "few", seen),
        (&owner, "all_members", ""),
        (&url, "few", seen),
        (&url, "all_members", ""),
        (&url, "all_teams", ""),
    ] {
        case.map(&format!(
            "  ONE:\n    from: {from}\n    key: {{ PK: \"O#{{id}}\", SK: \"-\" }}\n"
        ));
        run(url, "migrate", &["--replace", "--yes", "--fresh"]);
        let because = run(url, "verify", &[]).json()["claims"][0]["because"].clone();
        let expected = format!("{caveat}the table holds exactly what the source makes");
        assert_eq!(because, expected, "{from}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_type_attribute_a_key_that_no_template_can_make_is_somebody_elses() {
    let items = "  USER:
    from: users
    key: { PK: \"USER#{id | pad(3)}\", SK: \"-\" }
    columns: [name]
    attributes: { data: USER }
";
    let case = Case::new(USERS, items).await;
    set(&case, "type_attribute: false");
    case.migrate(&[], 0);
    for (partition, sort) in [
        ("USER#settings", "-"),
        ("USER#0042", "-"),
        ("USER#042", "x"),
        ("USER#042", "-"),
    ] {
        plant(&case, partition, sort).await;
    }
    let report = case.run("verify", &[]).exits(3).json();
    assert_eq!(stale(&report).len(), 1, "{report:#}");
    assert_eq!(
        (&report["unexpected"], &report["elsewhere"]),
        (&json!(1), &json!(3))
    );
    let report = case.migrate(&["--changes-only", "--prune=filtered"], 0);
    assert_eq!(total(&report, "deleted"), 1);
    let left = case.keys().await;
    assert!(
        left.contains("USER#settings -") && !left.contains("USER#042 -"),
        "{left:?}"
    );
    let report = case.run("verify", &[]).exits(0).json();
    let claim = &report["claims"][0];
    assert_eq!(
        claim["because"],
        "the table holds what the source makes, and 3 items that are not from the mapping"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_beyond_what_its_column_holds_is_somebody_elses() {
    let database = postgres::Database::with(
        "CREATE TYPE state AS ENUM ('a', 'b', 'c', 'd', 'e', 'f', 'g', 'set', 'tings');
        CREATE TABLE t (id int PRIMARY KEY, c varchar(3), n numeric(6,2), d date, ts timestamp, f real,
            u uuid, b boolean, fixed char(3), state state, address inet, span interval, hundreds numeric(3,-2), tiny numeric(2,5));
        INSERT INTO t VALUES (1, 'abc', 1.5, '2020-01-01', '2020-01-01', 1.5,
            '00000000-0000-0000-0000-000000000001', true, 'abc', 'a', '10.0.0.1', '1 day', 12300, 0.00012);
        CREATE VIEW v AS SELECT * FROM t",
    )
    .await;
    let case = Case::new("", "").await;
    let (mapping, target) = (case.path("t.yaml").display().to_string(), case.target());
    let url = database.url();
    let run = |command: &str, further: &[&str], code: i32| {
        let ran = reported(command, [&mapping, &url, &target], further);
        ran.exits(code).json()
    };
    let load = |from: &str, column: &str| {
        case.map(&format!(
            "  T:\n    from: {from}\n    key: {{ PK: \"X#{{{column}}}\", SK: \"-\" }}\n    columns: [id]\n"
        ));
        set(&case, "type_attribute: false");
        run("migrate", &["--replace", "--yes", "--fresh"], 0);
    };
    for (from, column, own, others) in [
        ("t", "c", "ab äöü", "abcd settings"),
        (
            "t",
            "n",
            "9999.99 -0.5",
            "20260101123456 12345.67 1.555 1.50",
        ),
        ("t", "d", "2024-02-29", "2023-02-29 2026-04-31"),
        (
            "t",
            "ts",
            "2026-01-01T23:59:59.000000",
            "2026-01-01T24:00:00.000000 2026-01-01T23:59:60.000000",
        ),
        ("t", "f", "16777216", "16777217 0.123456789"),
        ("t", "fixed", "xyz äöü", "a abcd"),
        ("t", "state", "b tings", "settings ab"),
        ("t", "b", "false", "FALSE settings"),
        ("t", "b | map('true': yes, 'false': no)", "no", "settings"),
        ("t", "id | shard(20)", "07 19", "20 7"),
        (
            "t",
            "u | string",
            "00000000-0000-0000-0000-00000000000a",
            "00000000-0000-0000-0000-00000000000A settings",
        ),
        // A view holds what its query gives.
        ("v", "c", "abcd", ""),
    ] {
        load(from, column);
        let all = || own.split_whitespace().chain(others.split_whitespace());
        for value in all() {
            plant(&case, &format!("X#{value}"), "-").await;
        }
        let report = run("verify", &[], 3);
        let found = stale(&report).into_iter();
        let mut found: Vec<String> = found.map(|(key, _)| key).collect();
        let mut expected: Vec<String> = own.split(' ').map(|own| format!("X#{own}")).collect();
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "{column}");
        let others = others.split_whitespace().count();
        assert_eq!(report["elsewhere"], json!(others), "{column}");
    }
    // Which texts they have only the server knows.
    for (column, key) in [
        ("address", "settings"),
        ("span", "settings"),
        ("hundreds", "12345"),
        ("tiny", "0.99999"),
        ("id | string", "007"),
        ("d | string", "settings"),
        ("d | format('%Y%m%d')", "20209999"),
        ("c | lower", "settings"),
        ("b | string", "settings"),
        ("state | upper", "SETTINGS"),
        ("id | default(0)", "007"),
        ("id | ordered", "p9991."),
        ("id | pad(4,2)", "0007.00"),
        // A CHAR of MySQL and MariaDB ends in no blank, and PostgreSQL has no NUL.
        ("c", "a "),
        ("c", "\0b"),
    ] {
        load("t", column);
        plant(&case, &format!("X#{key}"), "-").await;
        let report = run("verify", &[], 0);
        assert_eq!(claimed(&report, "table_equal"), "not_proved", "{column}");
        let report = run("migrate", &["--changes-only", "--prune"], 0);
        assert_eq!(total(&report, "deleted"), 0, "{column}");
        assert_eq!(report["left"]["unclear"], 1, "{column}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_whose_digits_are_escaped_is_the_mappings() {
    let items = "  V: { from: users, key: { PK: \"V15#{id}\", SK: \"-\" }, columns: [name] }\n";
    let case = Case::new(USERS, items).await;
    set(&case, "key_escape: percent, type_attribute: false");
    case.source.run("UPDATE users SET id = id + 10").await;
    case.migrate(&[], 0);
    plant(&case, "V15#16", "-").await;
    case.source.run("DELETE FROM users WHERE id > 12").await;
    let report = case.run("verify", &[]).exits(3).json();
    let keys = ["V15#%31%35", "V15#%313", "V15#%314"];
    let expected = keys.map(|key| (key.to_owned(), "no row makes it".to_owned()));
    assert_eq!(stale(&report), expected, "{report:#}");
    let report = case.migrate(&["--changes-only", "--prune"], 0);
    assert_eq!(total(&report, "deleted"), 3);
    let left = ["V15#%31%31 -", "V15#%312 -", "V15#16 -"].map(str::to_owned);
    assert_eq!(case.keys().await, left.into());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_item_that_text_in_a_column_of_numbers_may_have_made_is_nobodys_for_sure() {
    let script = "CREATE TABLE t (code INT NOT NULL PRIMARY KEY, v INT) WITHOUT ROWID;
        INSERT INTO t VALUES (1, 1), ('abc', 2);";
    let items = "  X: { from: t, key: { PK: \"K#{code}\", SK: \"-\" }, columns: [v] }
";
    let case = Case::new(script, items).await;
    set(&case, "type_attribute: false");
    case.migrate(&[], 0);
    plant(&case, "ELSEWHERE", "-").await;
    let proved = case.run("verify", &[]).exits(0).json();
    assert_eq!(claimed(&proved, "table_equal"), "proved");
    case.source.run("DELETE FROM t WHERE code = 'abc'").await;
    let report = case.run("verify", &[]).exits(0).json();
    assert_eq!(claimed(&report, "table_equal"), "not_proved");
    assert_eq!(
        (
            &report["unexpected"],
            &report["elsewhere"],
            &report["unclear"]
        ),
        (&json!(0), &json!(1), &json!(1))
    );
    let because = report["claims"][0]["because"].as_str().unwrap();
    assert!(because.contains("text in numeric columns"), "{because}");
    let report = case.migrate(&["--changes-only", "--prune=filtered"], 0);
    assert_eq!(total(&report, "deleted"), 0);
    assert_eq!(report["left"]["unclear"], 1);
    assert!(
        report["warnings"]
            .to_string()
            .contains("1 item that no row of this run makes stays")
    );
    assert!(case.keys().await.contains("K#abc -"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_item_whose_key_two_item_types_can_make_is_not_gone_where_one_is_selected() {
    let script = "CREATE TABLE t (code INT NOT NULL PRIMARY KEY) WITHOUT ROWID;
        CREATE TABLE names (name TEXT NOT NULL PRIMARY KEY);
        INSERT INTO t VALUES (1), ('Nabc');
        INSERT INTO names VALUES ('x');";
    let items = "  X: { from: t, key: { PK: \"K#{code}\", SK: \"-\" } }
  Y: { from: names, key: { PK: \"K#N{name}\", SK: \"-\" } }
";
    let case = Case::new(script, items).await;
    set(&case, "type_attribute: false");
    case.migrate(&[], 0);
    // By its form, `K#Nabc` is a key of Y.
    let report = case.run("verify", &["--items", "X"]).exits(0).json();
    hold_compared(&report);
    assert_eq!(report["total"]["equal"], 2);
    // And a row of X may have made `K#Nx`. That one of Y makes it, which is not read, is not denied.
    assert_eq!(report["unclear"], 1);
    let because = report["claims"][0]["because"].as_str().unwrap();
    assert!(because.contains("the item types of this run"), "{because}");
    let report = case.run("verify", &["--items", "Y"]).exits(0).json();
    let counts = (&report["unexpected"], &report["unclear"]);
    assert_eq!(counts, (&json!(0), &json!(1)), "{report:#}");
    let prune = ["--items", "Y", "--changes-only", "--prune"];
    let report = case.migrate(&prune, 0);
    assert_eq!(total(&report, "deleted"), 0);
    assert_eq!(report["left"]["unclear"], 1);
    case.run("verify", &[]).exits(0);
    case.source.run("DELETE FROM t WHERE code = 'Nabc'").await;
    let report = case.run("verify", &["--items", "X"]).exits(0).json();
    assert_eq!(report["unclear"], 2, "{report:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_item_beside_those_of_a_rowid_is_somebody_elses() {
    let script = "CREATE TABLE t (id INTEGER PRIMARY KEY, v INT); INSERT INTO t VALUES (1, 1);";
    let items = "  X: { from: t, key: { PK: \"K#{id}\", SK: \"-\" }, columns: [v] }\n";
    let case = Case::new(script, items).await;
    set(&case, "type_attribute: false");
    case.migrate(&[], 0);
    plant(&case, "K#settings", "-").await;
    let proved = case.run("verify", &[]).exits(0).json();
    assert_eq!(claimed(&proved, "table_equal"), "proved");
    assert_eq!(proved["elsewhere"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn items_with_the_keys_of_another_template_are_the_mappings() {
    let case = Case::new(USERS, &users("", "USER#{id}")).await;
    case.migrate(&[], 0);
    case.map(&users("", "PROFILE#{id | pad(4)}"));
    case.migrate(&["--changes-only"], 0);
    let report = case.run("verify", &[]).exits(3).json();
    assert_eq!(stale(&report).len(), 5, "{report:#}");
    let report = case.migrate(&["--changes-only", "--prune"], 0);
    assert_eq!(total(&report, "deleted"), 5);
    case.run("verify", &[]).exits(0);
}

/// What `preview --all` says of rows of which some are rejected.
fn previewed(case: &Case) -> Value {
    let (mapping, source) = (case.path("t.yaml").display().to_string(), case.source.url());
    let all = [
        "preview", &mapping, "--source", &source, "--all", "--format", "json",
    ];
    dynafold(&all).exits(3).json()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rejected_row_holds_no_key() {
    let items = "  USER:
    from: users
    key: { PK: \"USER#{active}\", SK: \"-\" }
    columns: [id]
    attributes: { count: \"{count | number}\" }
";
    let case = Case::new(USERS, items).await;
    case.source
        .run("DELETE FROM users WHERE id > 3; UPDATE users SET count = 'none' WHERE id = 1")
        .await;
    let report = previewed(&case);
    assert_eq!(claimed(&report, "keys_differ"), "differs");
    let report = case.migrate(&["--max-rejects", "2"], 3);
    assert_eq!(
        (total(&report, "rejected"), total(&report, "written")),
        (2, 1)
    );
    assert_eq!(report["keys"]["shared"], 1);
    assert!(case.items().await.contains(r#""id":{"N":"2"}"#));
    let message = |report: &Value, code: &str| {
        let rejects = report["rejects"].as_array().unwrap().iter();
        let mut found = rejects.filter(|reject| reject["code"] == code);
        let found = found.next().unwrap();
        (
            found["row"]["id"].clone(),
            found["message"].as_str().unwrap().to_owned(),
        )
    };
    let (row, said) = message(&report, "duplicate-key");
    assert_eq!(
        (row, said.ends_with(r#"USER {"id":2}"#)),
        (json!(3), true),
        "{said}"
    );
    // Where only the row that makes an item has the key, no two share one.
    case.source.run("DELETE FROM users WHERE id = 3").await;
    let report = case.migrate(&["--changes-only", "--max-rejects", "1"], 3);
    assert_eq!(
        (total(&report, "unchanged"), &report["keys"]["shared"]),
        (1, &json!(0))
    );
    assert_eq!(claimed(&report, "keys_differ"), "proved");
    let report = previewed(&case);
    assert_eq!(claimed(&report, "keys_differ"), "proved");
}

/// Rows of which the last 101 have more digits than their key takes, and share their names.
const MANY: &str = "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT);
    WITH RECURSIVE n (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < 1100)
    INSERT INTO users SELECT id, 'name' FROM n;";

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_written_once_the_keys_have_shown_too_many_rejects() {
    let items = "  USER:
    from: users
    key: { PK: \"USER#{id | pad(3)}\", SK: \"-\" }
    columns: [name]
";
    // Without a key of the table nothing proves that theirs differ, and they are read first.
    let many = MANY.replace("INTEGER PRIMARY KEY", "INTEGER");
    let case = Case::new(&many, items).await;
    for most in ["0", "100"] {
        let ran = case.run("migrate", &["--max-rejects", most]).exits(1);
        let report = ran.json();
        assert_eq!(
            (total(&report, "written"), &report["keys"]["faults"]),
            (0, &json!(101))
        );
        assert_eq!(claimed(&report, "books_balance"), "not_proved");
        ran.says("nothing was written");
        let file = std::fs::read_to_string(case.path("t.rejects.ndjson")).unwrap();
        assert_eq!(file.lines().count(), 101);
    }
    // The same command, once the mapping is mended.
    case.map(&items.replace("pad(3)", "pad(4)"));
    case.migrate(&[], 0);
    case.run("verify", &[]).exits(0);
    assert!(!case.path("t.rejects.ndjson").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_load_that_stopped_begins_anew_by_the_command_that_its_message_names() {
    let items = |key: &str, name: &str| {
        format!(
            "  USER:
    from: users
    key: {{ PK: \"{key}\", SK: \"-\" }}
    columns: []
    attributes: {{ name: \"{{id | pad({name})}}\" }}
"
        )
    };
    let case = Case::new(MANY, &items("USER#{id}", "3")).await;
    let ran = case.run("migrate", &["--chunk-rows", "100"]).exits(1);
    let report = ran.json();
    assert_eq!(claimed(&report, "books_balance"), "not_proved");
    assert!(total(&report, "written") > 0, "{report:#}");
    let (_, named) = ran.stderr.split_once("the same command with `").unwrap();
    let (option, _) = named.split_once('`').unwrap();
    // Another key too: what was written before has the old one.
    case.map(&items("PERSON#{id}", "4"));
    let report = case.migrate(&[option], 0);
    assert_eq!(total(&report, "written"), 1100);
    assert!(total(&report, "deleted") > 0);
    assert_eq!(case.keys().await.len(), 1100);
    case.run("verify", &[]).exits(0);
}
