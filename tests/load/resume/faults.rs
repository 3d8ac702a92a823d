//! What goes wrong around a load: each has its message, true books, and a way to go on.

use std::process::{Child, Stdio};

use super::bench::{MAPPING, script};
use super::case::Case;
use super::kills::Reference;
use super::left::{books, total};
use super::repeat::{NIGHTLY, clean, loaded, plant};
use crate::support::books::hold_loaded;
use crate::support::cli::{Ran, command, ran, run};
use crate::support::postgres;
use crate::support::source::Source;
use crate::support::sqlite::{Database, settled};
use crate::support::wait::{PATIENCE, comes};

/// So slow that there is time to disturb it.
pub(super) const SLOW: &str = "latency: { milliseconds: 40 }";
pub(super) const FEW: &[&str] = &["--concurrency", "4"];

/// Starts a load and waits until so many items have been put.
pub(super) fn begun(case: &Case, items: u64, further: &[&str]) -> Child {
    let mut child = case.start(&[FEW, further].concat());
    let mut is_over = false;
    let comes = comes(PATIENCE, || {
        is_over = child.try_wait().unwrap().is_some();
        is_over || case.storms().counts().items.put >= items
    });
    assert!(comes, "it was too slow");
    assert!(!is_over, "it was too fast: {:?}", ran(child));
    child
}

/// Starts a load and kills it when so many items have been put.
pub(super) fn killed(case: &Case, items: u64, further: &[&str]) {
    let mut child = begun(case, items, further);
    child.kill().unwrap();
    child.wait().unwrap();
}

/// So slow that a load outlives credentials of a second and a half on any machine.
const OUTLIVED: &str = "latency: { milliseconds: 120 }\ncredentials_seconds: 1.5";

/// A source, and what an undisturbed load of it leaves behind.
pub(super) async fn sqlite() -> (Source, Reference) {
    let source = Source::Sqlite(Database::new(&script("sqlite")).await);
    let reference = Reference::of(&source).await;
    (source, reference)
}

/// Fails unless the same command, said again, ends as an undisturbed load does.
pub(super) async fn goes_on(case: &Case, reference: &Reference, said: &str) -> Ran {
    case.set("");
    let ended = case.migrate(&[]).exits(3);
    hold_loaded(&ended.json());
    assert_eq!(books(&ended.json()), books(&reference.report), "{said}");
    case.left().await.hold(&reference.left, said);
    ended
}

/// Fails unless a load ended with this, once, on the standard error, and with books that balance.
#[track_caller]
pub(super) fn says(ran: Ran, code: i32, words: &[&str]) -> Ran {
    eprintln!("{}", ran.stderr);
    let ran = ran.exits(code);
    for word in words {
        assert!(
            ran.stderr.contains(word),
            "`{word}` is not in:\n{}",
            ran.stderr
        );
    }
    assert!(ran.stderr.matches("error:").count() <= 1, "{}", ran.stderr);
    let reported = ran.json();
    if reported["outcome"]["state"] == "failed" && reported.get("total").is_none() {
        // It had not begun.
        assert!(reported["outcome"]["message"].is_string(), "{reported:#}");
    } else {
        hold_loaded(&reported);
    }
    ran
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_that_is_deleted_meanwhile_is_told_and_not_gone_on_with() {
    let (source, reference) = sqlite().await;
    let case = Case::storm(&source.url(), "events: [{ after: 60, delete_table: app }]");
    let ended = says(case.migrate(&[]), 1, &["app"]);
    assert!(
        ended.stderr.contains("no table") || ended.stderr.contains("ResourceNotFound"),
        "{}",
        ended.stderr
    );
    case.set("");
    for _ in 0..2 {
        says(case.migrate(&[]), 1, &["was deleted since", "--fresh"]);
    }
    let other = case.path("other.state").display().to_string();
    case.migrate(&["--state", &other]).exits(3);
    says(case.migrate(&[]), 1, &["created again", "--fresh"]);
    let anew = ["--fresh", "--replace", "--yes"];
    case.migrate(&anew).exits(3);
    case.left().await.hold(&reference.left, "afresh");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_that_is_being_deleted_is_told_and_replaced_once_it_is_gone() {
    let database = clean().await;
    let case = loaded(&database);
    let before = case.contents().await;
    // Its deletion begins with the first request of the load.
    let goes = |seconds: u32| {
        case.set(&format!(
            "delete_seconds: {seconds}\nevents: [{{ delete_table: app }}]"
        ));
    };
    goes(3);
    let reported = case.migrate(&["--replace", "--yes"]);
    let reported = says(reported, 0, &["created the table"]);
    // It was deleted by another.
    assert!(
        !reported.stderr.contains("deleted the table"),
        "{}",
        reported.stderr
    );
    let requests = case.storms().counts().requests;
    assert_eq!(requests["DeleteTable"].errors["ResourceInUseException"], 1);
    assert_eq!(requests["DeleteTable"].received, 1);
    assert_eq!(case.contents().await, before);
    case.verify().exits(0);

    goes(3_600);
    let ways: [&[&str]; 4] = [&[], &["--append"], NIGHTLY, &["--plan"]];
    for way in ways {
        let words = ["the table `app`", "is DELETING", "until it is gone"];
        says(case.migrate(way), 1, &words);
    }
    let requests = case.storms().counts().requests;
    for operation in ["CreateTable", "DeleteTable", "BatchWriteItem", "PutItem"] {
        assert!(!requests.contains_key(operation), "{requests:?}");
    }
}

/// Waits until a command is held by a fault after three requests of a kind, and then replaces the table by an empty one.
async fn replace_beside(case: &Case, mut child: Child, operation: &str) -> Child {
    let mut is_over = false;
    let is_held = comes(PATIENCE, || {
        is_over = child.try_wait().unwrap().is_some();
        let counts = case.storms().counts();
        let done = counts.requests.get(operation);
        let done = done.map_or(0, |requests| requests.answered);
        is_over || (done == 3 && counts.faults.contains_key("unavailable"))
    });
    assert!(is_held && !is_over, "{:?}", ran(child));
    // The other load reads no row, so it has no batch that would wait.
    let empty = Database::new(&script("sqlite")).await;
    let tables = "addresses, orders, order_lines, events, docs, sessions, customers";
    for table in tables.split(", ") {
        empty.run(&format!("DELETE FROM {table}")).await;
    }
    let mapping = empty.folder().join("app.yaml");
    std::fs::write(&mapping, MAPPING).unwrap();
    let mapping = mapping.display().to_string();
    let other = run(&mut command(&[
        "migrate",
        &mapping,
        "--source",
        &empty.url(),
        "--target",
        "dynamodb",
        "--endpoint-url",
        &case.storms().url(),
        "--replace",
        "--yes",
    ]));
    other.exits(0).says("deleted the table");
    case.set("");
    child
}

#[tokio::test(flavor = "multi_thread")]
async fn a_load_finds_at_its_end_that_another_has_replaced_its_table() {
    let (source, reference) = sqlite().await;
    // The first three batches are written, and the others wait until the table is another.
    let holds = "faults: [{ do: unavailable, operations: [BatchWriteItem, PutItem], after: 3 }]";
    let case = Case::storm(&source.url(), holds);
    let child = replace_beside(&case, case.start(&[]), "BatchWriteItem").await;
    let words = ["deleted and created again", "--fresh"];
    let reported = says(ran(child), 1, &words).json();
    assert_eq!(reported["outcome"]["code"], "table");
    assert_eq!(total(&reported, "written"), 0);
    assert!(total(&reported, "unwritten") > 0);
    // What was written before is gone.
    assert!(case.contents().await.len() < reference.left.items.len());
    says(case.migrate(&[]), 1, &["created again", "--fresh"]);
    let anew = ["--fresh", "--replace", "--yes"];
    case.migrate(&anew).exits(3);
    case.left().await.hold(&reference.left, "afresh");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_load_whose_table_was_replaced_says_how_many_deletions_the_new_one_may_have_taken() {
    let database = clean().await;
    let case = loaded(&database);
    let delete = "DELETE FROM order_lines WHERE order_id <= 100";
    database.run(delete).await;
    case.set("faults: [{ do: unavailable, operations: [BatchWriteItem], after: 3 }]");
    let child = replace_beside(&case, case.start(NIGHTLY), "BatchWriteItem").await;
    let words = [
        "created again",
        "300 deletions of this run may have deleted",
    ];
    let reported = says(ran(child), 1, &words).json();
    assert_eq!(reported["outcome"]["code"], "table");
    assert_eq!(total(&reported, "deleted"), 300);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_comparison_finds_at_its_end_that_a_load_has_replaced_its_table() {
    let (source, _) = sqlite().await;
    // The first pattern agrees before the table is replaced.
    let patterns = r#"access_patterns:
  customer: { key: { PK: "CUSTOMER#{id | pad(8)}", SK: "CUSTOMER#" }, sql: "SELECT * FROM customers WHERE id = :id" }
  lines: { key: { PK: "ORDER#{id | pad(10)}" }, sql: "SELECT * FROM order_lines WHERE order_id = :id" }
"#;
    let failed = "the run failed, so that not all of its checks were made or passed";
    for (compared, operation, becauses) in [
        ("--repair", "BatchGetItem", &["created again"][..]),
        ("--patterns", "Query", &[failed, failed][..]),
    ] {
        let case = Case::storm(&source.url(), "");
        case.map(&[MAPPING, patterns].concat());
        case.migrate(&[]).exits(3);
        case.set(&format!(
            "faults: [{{ do: unavailable, operations: [{operation}], after: 3 }}]"
        ));
        let mut verify = case.command("verify", &[compared, "--yes"]);
        verify.stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = replace_beside(&case, verify.spawn().unwrap(), operation).await;
        let ended = ran(child).exits(1);
        ended.says("deleted and created again");
        let reported = ended.json();
        assert_eq!(reported["outcome"]["code"], "table");
        let claims = reported["claims"].as_array().unwrap();
        assert_eq!(claims.len(), becauses.len());
        // The other table, if any, was searched.
        assert!(reported["unexpected"].is_null(), "{reported:#}");
        for (claim, because) in claims.iter().zip(becauses) {
            assert_eq!(claim["verdict"], "not_proved", "{claim:#}");
            assert!(
                claim["because"].as_str().unwrap().contains(because),
                "{claim:#}"
            );
        }
        if let Some(first) = reported.pointer("/patterns/0") {
            assert!(first["calls"].as_u64() > Some(0), "{first:#}");
            assert_eq!(first["different_calls"], 0);
        }
    }
}

/// Compares, and has a partition erased between the comparison of its items and the reading of the table's keys. Gives how
/// many items were erased.
fn erased_meanwhile(case: &Case, further: &[&str], partition: &str) -> (Ran, u64) {
    case.set("faults: [{ do: unavailable, operations: [Scan] }]");
    let mut verify = case.command("verify", further);
    verify.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = verify.spawn().unwrap();
    // All items are compared before the keys are read.
    let mut is_over = false;
    let is_held = comes(PATIENCE, || {
        is_over = child.try_wait().unwrap().is_some();
        is_over || case.storms().counts().faults.contains_key("unavailable")
    });
    assert!(is_held && !is_over, "{:?}", ran(child));
    let mapping = case.path("app.yaml").display().to_string();
    let mut erase = command(&["erase", &mapping, "--partition", partition]);
    erase.args(["--target", "dynamodb", "--endpoint-url"]);
    erase.args([&case.storms().url(), "--yes", "--format", "json"]);
    let erased = run(&mut erase).exits(0).json();
    case.set("");
    let types = erased["item_types"].as_array().unwrap().iter();
    let items: u64 = types.map(|one| one["deleted"].as_u64().unwrap()).sum();
    assert!(items > 0, "{erased:#}");
    (ran(child), items)
}

/// Fails unless a comparison ended because so many items were deleted meanwhile.
fn hold_gone(ended: Ran, items: u64) {
    let ended = ended.exits(1);
    let reported = ended.json();
    assert_eq!(reported["outcome"]["code"], "items-gone");
    assert_eq!(
        reported["claims"][0]["verdict"], "not_proved",
        "{reported:#}"
    );
    ended.says(&format!("{items} item"));
    ended.says("equal or repaired");
    ended.says("deleted before the run ended");
    ended.says("it names them as missing");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_comparison_finds_at_its_end_that_items_which_were_equal_are_gone() {
    let (source, _) = sqlite().await;
    let case = Case::storm(&source.url(), "");
    case.migrate(&[]).exits(3);
    // What is unexpected, too, says nothing of what is gone.
    plant(&case, "CUSTOMER#77777777", "CUSTOMER#", Some("CUSTOMER")).await;
    let unexpected = ["--allow-unexpected"];
    let (ended, items) = erased_meanwhile(&case, &unexpected, "CUSTOMER#00000001");
    hold_gone(ended, items);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_item_whose_ttl_is_over_may_go_after_it_was_compared_but_not_if_it_ended_years_ago() {
    let ended = jiff::Timestamp::now().as_second() - 3600;
    let years_ago = ended - 6 * 365 * 24 * 3600;
    let database = Database::new(&format!(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, ends INTEGER);
         INSERT INTO t VALUES (1, {ended}), (2, {years_ago}), (3, 4102444800);"
    ))
    .await;
    let case = Case::storm(&database.url(), "");
    case.map(
        "dynafold: 1
table: { name: app, key: { partition: PK, sort: SK }, ttl: ends }
items: { T: { from: t, key: { PK: \"T#{id}\", SK: \"-\" }, columns: [ends] } }
",
    );
    case.migrate(&[]).exits(0);
    let (compared, _) = erased_meanwhile(&case, &[], "T#1");
    let reported = compared.exits(0).json();
    assert_eq!(reported["total"]["equal"], 3);
    assert_eq!(reported["expired_meanwhile"], 1);
    let claim = &reported["claims"][0];
    assert_eq!(claim["verdict"], "agrees", "{claim:#}");
    assert_eq!(claim["asked"], 3);
    assert_eq!(claim["possible"], 3);
    // DynamoDB deletes no item whose TTL ended more than five years ago.
    let (compared, items) = erased_meanwhile(&case, &[], "T#2");
    hold_gone(compared, items);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_index_that_is_deleted_meanwhile_is_added_by_the_next_load() {
    let (source, _) = sqlite().await;
    let event = "events: [{ after: 60, delete_table: app, index: GSI1 }]";
    let case = Case::storm(&source.url(), event);
    let ended = case.migrate(&[]).exits(3);
    hold_loaded(&ended.json());
    says(case.migrate(&["--changes-only"]), 2, &["GSI1", "--yes"]);
    let added = "the global index GSI1 is ready";
    says(case.migrate(&["--changes-only", "--yes"]), 3, &[added]);
}

#[tokio::test(flavor = "multi_thread")]
async fn credentials_that_expire_end_a_load_that_can_go_on() {
    let (source, reference) = sqlite().await;
    let case = Case::storm(&source.url(), OUTLIVED);
    let ended = run(&mut case.command("migrate", FEW));
    says(ended, 1, &["expired"]);
    goes_on(&case, &reference, "with new credentials").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn credentials_that_are_refreshed_go_on() {
    let (source, reference) = sqlite().await;
    let case = Case::storm(&source.url(), OUTLIVED);
    let script = case.path("keys.sh");
    // Each asking gives another key, of which its giver thinks that it is good for an hour.
    let text = r#"#!/bin/sh
echo "{\"Version\":1,\"AccessKeyId\":\"key-$(date +%s%N)\",\"SecretAccessKey\":\"s\",\"SessionToken\":\"t\",\"Expiration\":\"$(date -u -d '+1 hour' +%Y-%m-%dT%H:%M:%SZ)\"}"
"#;
    std::fs::write(&script, text).unwrap();
    let config = format!(
        "[default]\nregion = us-east-1\ncredential_process = sh {}\n",
        script.display()
    );
    std::fs::write(case.path("config"), config).unwrap();
    let mut command = case.command("migrate", FEW);
    let ended = run(command.env("AWS_CONFIG_FILE", case.path("config"))).exits(3);
    hold_loaded(&ended.json());
    let counts = case.storms().counts();
    let expired = counts
        .requests
        .values()
        .flat_map(|requests| &requests.errors);
    assert!(
        expired
            .map(|(code, _)| code)
            .any(|code| code.contains("Expired")),
        "{counts:?}"
    );
    case.left().await.hold(&reference.left, "with fresh keys");
}

/// Three users, and an endpoint that is told to refuse all that is written.
async fn users() -> (Database, Case) {
    let script = "CREATE TABLE users (id INTEGER PRIMARY KEY);
        INSERT INTO users VALUES (1), (2), (3);";
    let database = Database::new(script).await;
    let case = Case::storm(&database.url(), "");
    case.map(
        "dynafold: 1
table: { name: app, key: { partition: PK, sort: SK } }
items:
  USER: { from: users, key: { PK: \"USER#{id}\", SK: \"USER#\" } }
",
    );
    (database, case)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_that_is_there_when_it_is_to_be_created_is_not_taken_for_an_empty_one() {
    let (_database, case) = users().await;
    // It is our own, and empty, but the answer says that it was there.
    case.set("faults: [{ do: lost-answer, operations: [CreateTable], most: 1 }]");
    case.migrate(&[]).exits(0);
    let before = case.contents().await;
    // Another run creates and fills it behind our looks.
    case.set("faults: [{ do: not-found, operations: [DescribeTable], most: 4 }]");
    let ended = case.migrate(&[]).exits(1);
    ended.says("already has items");
    assert!(
        !ended.stderr.contains("created the table"),
        "{}",
        ended.stderr
    );
    let counts = case.storms().counts();
    assert!(counts.requests.contains_key("CreateTable"), "{counts:?}");
    assert_eq!(counts.items.put, 0);
    assert_eq!(case.contents().await, before);
}

const REFUSES: &str =
    "faults: [{ do: error, code: ValidationException, status: 400, operations: [BatchWriteItem] }]";

#[tokio::test(flavor = "multi_thread")]
async fn one_reject_too_many_is_one_too_many_the_next_time_too() {
    let (database, mut case) = users().await;
    case.options = vec!["--max-rejects".to_owned(), "0".to_owned()];
    // So that the file proves that nothing has changed, and what is done is not read again.
    settled(&database.file());
    case.set(REFUSES);
    for _ in 0..2 {
        says(case.migrate(&[]), 1, &["more rejects", "--max-rejects"]);
    }
    case.set("");
    let report = case.migrate(&[]).exits(0).json();
    hold_loaded(&report);
    assert_eq!(report["total"]["written"], 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_item_that_cannot_be_deleted_is_a_reject_and_the_books_balance() {
    let (database, case) = users().await;
    case.migrate(&[]).exits(0);
    database.run("DELETE FROM users WHERE id = 2").await;
    case.set(REFUSES);
    let report = case.migrate(&["--changes-only", "--prune"]).exits(3).json();
    hold_loaded(&report);
    let figures =
        ["unchanged", "deleted", "rejected", "undeleted"].map(|name| &report["total"][name]);
    assert_eq!(figures, [2, 0, 1, 1]);
    case.set("");
    let report = case.migrate(&["--changes-only", "--prune"]).exits(0).json();
    assert_eq!(report["total"]["deleted"], 1);
}

/// It would count rows that it does not read as gone.
#[tokio::test(flavor = "multi_thread")]
async fn a_load_does_not_resume_where_the_user_or_the_schema_is_another() {
    let mut database = postgres::Database::with(
        "CREATE TABLE users (id int PRIMARY KEY, owner text); INSERT INTO users VALUES (1, 'a'), (2, 'b'), (3, 'c');
         ALTER TABLE users ENABLE ROW LEVEL SECURITY; CREATE POLICY own ON users USING (id > 1 OR current_user LIKE '%one')",
    )
    .await;
    let [one, two] = [database.role("one").await, database.role("two").await];
    let grant = format!("GRANT SELECT ON users TO {one}, {two}");
    database.run(&grant).await;
    let mut case = Case::storm(&database.url_as(&one, "secret"), "");
    case.map(
        "dynafold: 1
table: { name: app, key: { partition: PK, sort: SK } }
items: { USER: { from: users, columns: [owner], key: { PK: \"USER#{id}\", SK: \"USER#\" } } }
",
    );
    case.options = APPENDS.map(str::to_owned).to_vec();
    stops(&case);
    case.source = database.url_as(&two, "secret");
    case.migrate(&[]).exits(1).says(OTHER_SCHEMA);
    assert_eq!(case.storms().counts().items.put, 0);
    case.source = database.url_as(&one, "secret");
    // What decides on no value changes nothing.
    let index = "CREATE INDEX ON users (owner); CREATE TABLE other (id int)";
    database.run(index).await;
    assert_eq!(case.migrate(&[]).exits(0).json()["total"]["written"], 3);
    stops(&case);
    let width = "ALTER TABLE users ALTER COLUMN owner TYPE varchar(9)";
    database.run(width).await;
    case.migrate(&[]).exits(1).says(OTHER_SCHEMA);
    case.migrate(&["--fresh"]).exits(0);
}

/// Nothing but the mapping's SQL leads to what these functions read.
#[tokio::test(flavor = "multi_thread")]
async fn a_load_by_functions_does_not_resume_for_a_user_to_whom_they_may_show_other_rows() {
    let mut database = postgres::Database::with(
        "CREATE TABLE users (id int PRIMARY KEY, owner text); INSERT INTO users VALUES (1, 'a'), (2, 'b'), (3, 'c');
         CREATE SCHEMA mine; CREATE SCHEMA yours; GRANT USAGE ON SCHEMA mine, yours TO PUBLIC;
         CREATE FUNCTION mine.is_shown(int) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT true';
         CREATE FUNCTION yours.is_shown(int) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT $1 > 1';
         CREATE FUNCTION all_users() RETURNS SETOF users LANGUAGE sql STABLE AS 'SELECT * FROM users'",
    )
    .await;
    let [one, two] = [database.role("one").await, database.role("two").await];
    let grant = format!(
        "GRANT SELECT ON users TO {one}, {two};
         ALTER ROLE {one} SET search_path = public, mine; ALTER ROLE {two} SET search_path = public, yours"
    );
    database.run(&grant).await;
    let secured = format!(
        "ALTER ROLE {one} SET search_path = public; ALTER ROLE {two} SET search_path = public;
         ALTER TABLE users ENABLE ROW LEVEL SECURITY; CREATE POLICY own ON users USING (id > 1 OR current_user LIKE '%one')"
    );
    for (sql, from) in [
        ("SELECT 1", "users, where: is_shown(id)"),
        (&*secured, "{ sql: SELECT * FROM all_users(), key: [id] }"),
    ] {
        database.run(sql).await;
        let mut case = Case::storm(&database.url_as(&one, "secret"), "");
        case.map(&format!(
            "dynafold: 1
table: {{ name: app, key: {{ partition: PK, sort: SK }} }}
items: {{ USER: {{ from: {from}, columns: [owner], key: {{ PK: \"USER#{{id}}\", SK: \"USER#\" }} }} }}
"
        ));
        case.options = APPENDS.map(str::to_owned).to_vec();
        stops(&case);
        case.source = database.url_as(&two, "secret");
        case.migrate(&[]).exits(1).says(OTHER_SCHEMA);
        case.source = database.url_as(&one, "secret");
        assert_eq!(case.migrate(&[]).exits(0).json()["total"]["written"], 3);
    }
}

const APPENDS: [&str; 3] = ["--max-rejects", "0", "--append"];

const OTHER_SCHEMA: &str = "the source's schema (its tables and columns, or what the database user may read of them) has changed";

/// Begins a load whose items are refused.
fn stops(case: &Case) {
    case.set(REFUSES);
    says(case.migrate(&["--fresh"]), 1, &["more rejects"]);
    case.set("");
}
