//! Nothing is deleted, and nothing left out, that nobody asked for.

use super::bench::{MAPPING, script};
use super::case::Case;
use super::faults::{FEW, SLOW, killed, says, sqlite};
use super::left::total;
use super::repeat::{NIGHTLY, clean, gone, keys, loaded, plant};
use crate::support::books::hold_loaded;
use crate::support::cli::run;
use crate::support::source::Source;
use crate::support::sqlite::Database;

const REPLACE: &[&str] = &["--replace", "--yes"];

#[tokio::test(flavor = "multi_thread")]
async fn a_table_is_not_deleted_for_a_load_that_cannot_begin() {
    let database = clean().await;
    let mut case = loaded(&database);
    plant(&case, "ELSEWHERE", "1", None).await;
    let before = keys(&case).await;
    let other = case.path("precious.db");
    std::fs::write(&other, "precious").unwrap();
    let other = other.display().to_string();
    let rejects = [REPLACE, &["--rejects", &other]].concat();
    let ended = says(case.migrate(&rejects), 1, &["precious.db", "--rejects"]);
    assert!(!ended.stderr.contains("deleted"), "{}", ended.stderr);
    assert_eq!(keys(&case).await, before);
    case.map(&MAPPING.replace("SK: \"ORDER#{id | pad(10)}\"", "SK: \"ORDER#\""));
    case.options = Vec::new();
    let ended = says(
        case.migrate(REPLACE),
        1,
        &["share keys", "nothing was written"],
    );
    assert!(!ended.stderr.contains("deleted"), "{}", ended.stderr);
    assert_eq!(keys(&case).await, before);
    case.map(MAPPING);
    case.migrate(REPLACE).exits(0);
    assert_eq!(gone(&case, &before).await, ["ELSEWHERE 1"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_is_not_made_for_a_load_that_cannot_begin() {
    let database = clean().await;
    let mut case = Case::storm(&database.url(), "");
    case.options = Vec::new();
    let other = case.path("precious.db");
    std::fs::write(&other, "precious").unwrap();
    let other = other.display().to_string();
    says(
        case.migrate(&["--rejects", &other]),
        1,
        &["precious.db", "--rejects"],
    );
    case.map(&MAPPING.replace("SK: \"ORDER#{id | pad(10)}\"", "SK: \"ORDER#\""));
    says(case.migrate(&[]), 1, &["share keys", "nothing was written"]);
    let there = case.open().await.describe("app").await.unwrap();
    assert!(there.is_none(), "the table was made");
    case.map(MAPPING);
    case.migrate(&[]).exits(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replacing_load_that_was_cut_short_goes_on_and_deletes_once() {
    let (source, reference) = sqlite().await;
    let case = Case::storm(&source.url(), "");
    case.migrate(&[]).exits(3);
    plant(&case, "ELSEWHERE", "1", None).await;
    // Between the deletion and the making.
    case.set("faults: [{ do: error, code: LimitExceededException, status: 400, operations: [CreateTable] }]");
    case.migrate(REPLACE).exits(1).says("deleted the table");
    case.set(SLOW);
    killed(&case, 1600, REPLACE);
    let held = keys(&case).await;
    assert!(!held.contains("ELSEWHERE 1"));
    case.set("");
    let ended = case.migrate(REPLACE).exits(3);
    assert!(
        !ended.stderr.contains("deleted the table"),
        "{}",
        ended.stderr
    );
    hold_loaded(&ended.json());
    let deleted = case.storms().counts().requests.contains_key("DeleteTable");
    assert!(!deleted);
    case.left().await.hold(&reference.left, "replaced");
}

#[tokio::test(flavor = "multi_thread")]
async fn going_on_does_not_take_replace_for_something_else() {
    let (source, _) = sqlite().await;
    let case = Case::storm(&source.url(), "");
    case.migrate(&[]).exits(3);
    plant(&case, "ELSEWHERE", "1", None).await;
    case.set(SLOW);
    killed(&case, 1600, &["--append"]);
    case.set("");
    says(case.migrate(REPLACE), 1, &["--replace", "--fresh"]);
    assert!(keys(&case).await.contains("ELSEWHERE 1"));
    case.migrate(&[REPLACE, &["--fresh"]].concat()).exits(3);
    assert!(!keys(&case).await.contains("ELSEWHERE 1"));
}

#[tokio::test(flavor = "multi_thread")]
async fn going_on_deletes_nothing_that_somebody_else_may_have_written() {
    for source in Source::each(script).await {
        let said = source.product();
        let case = Case::storm(&source.url(), SLOW);
        killed(&case, 1600, &["--append"]);
        plant(&case, "CUSTOMER#planted", "CUSTOMER#", Some("CUSTOMER")).await;
        let before = keys(&case).await;
        // One whose item is there already.
        let line = before.iter().find_map(|key| {
            let key = key.strip_prefix("ORDER#")?;
            key.split_once(" LINE#")
        });
        let (order, line) = line.expect("no line was put yet");
        let gone_since =
            format!("DELETE FROM order_lines WHERE order_id = {order} AND line_no = {line};");
        source.run(&gone_since).await;
        case.set("");
        let ended = case.migrate(&["--append"]).exits(3);
        hold_loaded(&ended.json());
        // What it has written itself, and no row makes any more, goes.
        assert_eq!(total(&ended.json(), "deleted"), 1, "{said}");
        let own = format!("ORDER#{order} LINE#{line}");
        assert_eq!(gone(&case, &before).await, [own], "{said}");
        let reported = ended.json()["warnings"].to_string();
        for word in ["1 item of", "--prune"] {
            assert!(reported.contains(word), "{said}: {reported}");
        }
        let pruned = case.migrate(NIGHTLY).exits(3).json();
        assert_eq!(total(&pruned, "deleted"), 1, "{said}");
        source.drop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn going_on_deletes_no_item_that_somebody_else_has_put_in_the_place_of_its_own() {
    let (source, _) = sqlite().await;
    let case = Case::storm(&source.url(), SLOW);
    killed(&case, 1600, &["--append"]);
    let held = keys(&case).await;
    let lines = held.iter().filter_map(|key| {
        let (order, line) = key.strip_prefix("ORDER#")?.split_once(" LINE#")?;
        Some((order.to_owned(), line.to_owned()))
    });
    let lines: Vec<_> = lines.take(4).collect();
    for (order, line) in &lines {
        let gone = "DELETE FROM order_lines WHERE order_id =";
        source
            .run(&format!("{gone} {order} AND line_no = {line};"))
            .await;
    }
    // Of another item type, of none, of the mapping's own; the last is as the load has put it.
    let types = [Some("BILLING"), None, Some("LINE")];
    for ((order, line), item_type) in lines.iter().zip(types) {
        plant(
            &case,
            &format!("ORDER#{order}"),
            &format!("LINE#{line}"),
            item_type,
        )
        .await;
    }
    case.set("");
    let ended = case.migrate(&["--append"]).exits(3).json();
    hold_loaded(&ended);
    assert_eq!(total(&ended, "deleted"), 1, "{ended:#}");
    let (order, line) = lines.last().expect("four lines were put");
    assert_eq!(
        gone(&case, &held).await,
        [format!("ORDER#{order} LINE#{line}")]
    );
    let reported = ended["warnings"].to_string();
    assert!(
        reported.contains("1 item of the mapping's item types"),
        "{reported}"
    );
    assert!(!reported.contains("of unknown item types"), "{reported}");
}

#[tokio::test(flavor = "multi_thread")]
async fn going_on_deletes_only_what_is_gone() {
    let (source, _) = sqlite().await;
    source
        .run("CREATE VIEW seen AS SELECT id FROM orders")
        .await;
    let case = Case::storm(&source.url(), SLOW);
    let seen = "from: order_lines\n    where: order_id IN (SELECT id FROM seen)";
    case.map(&MAPPING.replace("from: order_lines", seen));
    killed(&case, 1600, &[]);
    let before = keys(&case).await;
    let is_of = |prefix: &'static str| before.iter().filter(move |key| key.starts_with(prefix));
    let lines: Vec<&String> = is_of("ORDER#").collect();
    let sessions: Vec<&String> = is_of("SESSION#").collect();
    let gone_line = *lines.last().expect("lines were put");
    let (order, line) = gone_line
        .strip_prefix("ORDER#")
        .and_then(|key| key.split_once(" LINE#"))
        .expect("a line");
    source
        .run(&format!(
            "DROP VIEW seen; CREATE VIEW seen AS SELECT id FROM orders WHERE id = {order};
             DELETE FROM order_lines WHERE order_id = {order} AND line_no = {line};
             UPDATE sessions SET ends = 1700000000"
        ))
        .await;
    case.set("");
    let ran = case.migrate(&[]).exits(3);
    let report = ran.json();
    hold_loaded(&report);
    assert_eq!(gone(&case, &before).await, std::slice::from_ref(gone_line));
    assert_eq!(total(&report, "deleted"), 1, "{report:#}");
    let of_the_order = format!("ORDER#{order} ");
    let hidden = lines.iter().filter(|key| !key.starts_with(&of_the_order));
    let left = |kind: &str| report["left"][kind].clone();
    assert_eq!(left("filtered"), hidden.count(), "{report:#}");
    assert_eq!(left("expired"), sessions.len(), "{report:#}");
    assert_eq!(left("not_returned"), 0, "{report:#}");
    ran.says("--prune=filtered");
}

/// Items of which nothing tells the item type, because `code` may hold text.
const UNTYPED: &str = r#"dynafold: 1
table: { name: app, key: { partition: PK, sort: SK }, type_attribute: false }
items:
  LINE:
    from: t
    explode: { l: lines }
    key: { PK: "L#{code}", SK: "E#{l.$index}" }
    columns: []
"#;

#[tokio::test(flavor = "multi_thread")]
async fn going_on_deletes_no_item_that_a_row_rejected_without_a_key_may_have_made() {
    let lines = ["1"; 60].join(", ");
    let script = format!(
        "CREATE TABLE t (code INT NOT NULL PRIMARY KEY, lines JSON) WITHOUT ROWID;
         INSERT INTO t VALUES (1, '[1]'), ('abc', '[{lines}]')"
    );
    for (change, code, stays) in [
        ("UPDATE t SET lines = '{\"a\": 1}'", 3, true),
        ("DELETE FROM t", 0, false),
    ] {
        let source = Database::new(&script).await;
        // The first batch is written, and no other.
        let denies =
            "faults: [{ do: access-denied, operations: [BatchWriteItem, PutItem], after: 1 }]";
        let case = Case::storm(&source.url(), denies);
        case.map(UNTYPED);
        case.migrate(&["--concurrency", "1"]).exits(1);
        let before = keys(&case).await;
        let sent = before.iter().filter(|key| key.starts_with("L#abc "));
        let sent = sent.count();
        assert!(sent > 1, "{before:?}");
        source.run(&format!("{change} WHERE code = 'abc'")).await;
        case.set("");
        let report = case.migrate(&[]).exits(code).json();
        hold_loaded(&report);
        let reported = report["warnings"].to_string();
        let deleted = format!("deleted {sent} items equal to what an earlier attempt");
        assert_eq!(reported.contains(&deleted), !stays, "{reported}");
        let spared = reported.contains("LINE: stale items were not deleted");
        assert_eq!(spared, stays, "{reported}");
        let why = "rows were rejected before their keys were made, and it is unknown whether these make such items";
        assert_eq!(reported.contains(why), stays, "{reported}");
        let (stay, deleted) = if stays { (sent, 0) } else { (0, sent) };
        assert_eq!(report["left"]["may_be_rejected"], stay);
        assert_eq!(report["left"]["unclear"], 0);
        assert_eq!(gone(&case, &before).await.len(), deleted);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn another_value_of_a_variable_is_another_load() {
    let (source, _) = sqlite().await;
    let case = Case::storm(&source.url(), SLOW);
    let mapping = MAPPING.replace(
        "  ttl: ends\n",
        "  ttl: ends\n  type_attribute: ${KIND:-_type}\n",
    );
    case.map(&mapping);
    killed(&case, 1600, &[]);
    case.set("");
    let with = |kind: &str| run(case.command("migrate", FEW).env("KIND", kind));
    says(with("kind"), 1, &["KIND", "--fresh"]);
    // What stands in the mapping is the same.
    with("_type").exits(3).says("resuming");
    case.verify().exits(3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_narrower_from_deletes_nothing() {
    let database = clean().await;
    database
        .run("CREATE VIEW few AS SELECT * FROM order_lines WHERE order_id < 10")
        .await;
    let query = "from: { sql: \"SELECT * FROM order_lines WHERE order_id < 10\", key: [order_id, line_no] }";
    for from in [query, "from: few"] {
        let case = loaded(&database);
        plant(&case, "CUSTOMER#planted", "CUSTOMER#", Some("CUSTOMER")).await;
        let before = keys(&case).await;
        case.map(&MAPPING.replace("from: order_lines", from));
        let plan = case.migrate(&["--plan", "--prune"]).exits(3);
        assert_eq!(total(&plan.json(), "deleted"), 1, "{from}");
        for pruned in [1, 0] {
            let ended = case.migrate(NIGHTLY).exits(0);
            ended.says("--prune=filtered");
            assert_eq!(total(&ended.json(), "deleted"), pruned, "{from}");
        }
        assert_eq!(gone(&case, &before).await, ["CUSTOMER#planted CUSTOMER#"]);
        // A load without it changes nothing of that: only the named form deletes.
        case.migrate(&["--changes-only"]).exits(0);
        let ended = case.migrate(NIGHTLY).exits(0).json();
        assert_eq!(total(&ended, "deleted"), 0, "{from}");
        let whole = ["--changes-only", "--prune=filtered"];
        let ended = case.migrate(&whole).exits(0).json();
        assert!(total(&ended, "deleted") > 100, "{from}: {ended:#}");
    }
}
