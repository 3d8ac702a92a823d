//! `migrate --route bulk:…` against a server that answers bulk operations by the service model: what is written, what is left as
//! it was, what is refused, and operations that fail, are cancelled, or whose start nobody has heard of.

use std::collections::BTreeMap;
use std::process::Stdio;

use serde_json::{Value, json};

use super::{Case, dynamodb};
use crate::support::cli::{ran, signal};
use crate::support::sqlite::settled;
use crate::support::wait::comes;

/// A case whose table is there, with its users.
async fn with_table(name: &str, events: u64) -> Option<Case> {
    let case = Case::new(name, events, 10).await?;
    case.run("migrate", &["--target", "dynamodb", "--items", "USER"])
        .exits(0);
    Some(case)
}

#[tokio::test(flavor = "multi_thread")]
async fn items_that_are_there_are_left_and_told_unless_they_are_to_be_replaced() {
    let Some(case) = with_table("bulk", 300).await else {
        return;
    };
    // One of three users is another now; all three are there.
    case.source
        .run("UPDATE users SET name = 'Bob' WHERE id = 2")
        .await;
    let report = case
        .route(
            "bulk",
            &[
                "--max-wcu",
                "2000",
                "--tier",
                "accelerated",
                "--format",
                "json",
            ],
        )
        .exits(3)
        .json();
    assert_eq!(report["operation"]["status"], "completed");
    assert_eq!(report["operation"]["processed_items"], 303);
    assert_eq!(report["reports"]["condition_failures"], 3);
    let total = &report["verification"]["total"];
    assert_eq!(
        (&total["equal"], &total["different"]),
        (&json!(302), &json!(1)),
        "{total}"
    );
    let rejects = case.rejects();
    assert_eq!(rejects.len(), 1);
    assert_eq!(
        (&rejects[0]["code"], &rejects[0]["row"]),
        (&json!("exists"), &json!({ "id": 2 }))
    );
    // The other way, from another prefix.
    let route = format!("bulk:{}", case.place("again"));
    let further = [
        "--target", "dynamodb", "--route", &route, "--append", "--format", "json",
    ];
    let report = case.run("migrate", &further).exits(0).json();
    assert_eq!(
        (
            &report["reports"]["condition_failures"],
            &report["verification"]["total"]["equal"]
        ),
        (&json!(0), &json!(303))
    );
}

/// An export that no operation has begun with is not loaded any more once its rows have changed; and items of the mapping
/// that no row makes are a difference.
#[tokio::test(flavor = "multi_thread")]
async fn an_export_of_rows_that_have_changed_since_is_not_loaded() {
    let Some(case) = with_table("bulk-changed", 10).await else {
        return;
    };
    settled(&case.source.file());
    // The operation cannot be kept, as on a full disk.
    let blocked = case.path(".dynafold/m.tmp");
    std::fs::create_dir_all(&blocked).unwrap();
    case.route("bulk", &[]).exits(1);
    std::fs::remove_dir(&blocked).unwrap();
    case.source
        .run("DELETE FROM events WHERE id > 5; DELETE FROM users WHERE id = 3")
        .await;
    settled(&case.source.file());
    let ran = case.route("bulk", &[]).exits(1);
    ran.says("the source has changed since the export");
    let route = format!("bulk:{}", case.place("again"));
    let further = [
        "--target", "dynamodb", "--route", &route, "--format", "json",
    ];
    let report = case.run("migrate", &further).exits(3).json();
    assert_eq!(report["verification"]["unexpected"], 1, "{report}");
}

/// Started again, it would go over all items once more; and what the source holds since then is no reason.
#[tokio::test(flavor = "multi_thread")]
async fn a_load_that_has_ended_is_not_begun_again_and_says_so() {
    let Some(case) = with_table("bulk-ended", 20).await else {
        return;
    };
    settled(&case.source.file());
    case.route("bulk", &[]).exits(0);
    let ended = case.route("bulk", &[]).exits(1);
    ended.says("this load has ended: all items of the export in");
    ended.says("dynafold verify");
    case.source.run("DELETE FROM events WHERE id > 5").await;
    settled(&case.source.file());
    let ended = case.route("bulk", &[]).exits(1);
    ended.says("this load has ended: all items of the export in");
    // As its help says.
    std::fs::remove_file(case.path(".dynafold/m.route")).unwrap();
    let ran = case.route("bulk", &[]).exits(1);
    ran.says("the source has changed since the export");
    ran.says("no load of it is under way");
}

/// DynamoDB keeps operations that have ended for a while.
#[tokio::test(flavor = "multi_thread")]
async fn an_operation_that_is_not_known_any_more_is_told_as_one() {
    let Some(case) = with_table("bulk-gone", 20).await else {
        return;
    };
    settled(&case.source.file());
    case.route("bulk", &[]).exits(0);
    let saved = case.path(".dynafold/m.route");
    let text = std::fs::read_to_string(&saved).unwrap();
    let mut kept: Value = serde_json::from_str(&text).unwrap();
    let unknown = format!("{}0", kept["arn"].as_str().unwrap());
    kept["arn"] = json!(unknown);
    kept["is_complete"] = json!(false);
    std::fs::write(&saved, kept.to_string()).unwrap();
    let gone = case.route("bulk", &[]).exits(1);
    gone.says(&format!("DynamoDB does not know the operation {unknown}"));
    gone.says("the operation was begun in the AWS account 000000000000, in the region ");
    gone.says("DynamoDB has forgotten it");
    let help = "was the table deleted meanwhile";
    assert!(!gone.stderr.contains(help), "{}", gone.stderr);
    assert!(saved.is_file());
}

#[tokio::test(flavor = "multi_thread")]
async fn rejects_of_a_run_take_the_place_of_those_before_and_of_nothing_else() {
    let Some(case) = with_table("bulk-again", 20).await else {
        return;
    };
    case.source
        .run("UPDATE users SET name = 'Bob' WHERE id = 2")
        .await;
    settled(&case.source.file());
    // An operation that has ended is begun again only if nothing is kept of it.
    let forget = || std::fs::remove_file(case.path(".dynafold/m.route")).unwrap();
    for _ in 0..2 {
        case.route("bulk", &[]).exits(3);
        assert_eq!(case.rejects().len(), 1);
        forget();
    }
    let notes = case.path("notes.txt");
    std::fs::write(&notes, "my notes\n").unwrap();
    let refused = case.route("bulk", &["--rejects", notes.to_str().unwrap()]);
    refused.exits(1).says("is not a rejects file");
    assert_eq!(std::fs::read_to_string(&notes).unwrap(), "my notes\n");
    // What was said of the table is no longer so.
    case.run("migrate", &["--target", "dynamodb", "--changes-only"])
        .exits(0);
    case.route("bulk", &[]).exits(0);
    assert!(case.beside("rejects.ndjson").is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn items_that_are_refused_come_back_with_the_keys_of_their_rows_and_what_was_said() {
    let Some(case) = with_table("bulk-bad", 300).await else {
        return;
    };
    let ran = case.route("bulk", &[]).exits(3);
    ran.prints("errors 3");
    // An item of a user may be among those that are refused: it is there all the same.
    let rejects = case.rejects();
    assert!((1..=3).contains(&rejects.len()), "{rejects:?}");
    for reject in rejects {
        assert_eq!(reject["code"], "refused");
        assert_eq!(reject["message"], "planted: the item is refused");
        let key: BTreeMap<String, Value> = serde_json::from_value(reject["key"].clone()).unwrap();
        let id = reject["row"]["id"].as_u64().unwrap();
        assert_eq!(key["SK"]["S"], format!("EVENT#{id:06}"));
    }
}

/// A line that names no item is counted all the same.
#[tokio::test(flavor = "multi_thread")]
async fn a_report_with_more_lines_than_dynamodb_counts_is_told() {
    let Some(case) = with_table("bulk-unsaid", 20).await else {
        return;
    };
    let ran = case.route("bulk", &["--format", "json"]).exits(3);
    ran.says("DynamoDB counts 0 refused items, but its reports have 1 line about one");
    let report = ran.json();
    assert_eq!(report["operation"]["failed_items"], 0);
    let reports = &report["reports"];
    assert_eq!(
        (&reports["errors"], &reports["unread"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(report["verification"]["total"]["equal"], 23);
    // It is not begun, and paid, once more.
    for _ in 0..2 {
        let ended = case.route("bulk", &[]).exits(1);
        ended.says("this load has ended, and something differed: the bulk operation arn:");
        ended.says("/load/reports/");
        ended.says("dynafold verify");
        ended.says("to load this export once more");
    }
    let keys = case.keys("load/reports/");
    let operations = keys.iter().filter_map(|key| key.split('/').nth(2));
    let operations: std::collections::BTreeSet<&str> = operations.collect();
    assert_eq!(operations.len(), 1, "{keys:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operation_that_fails_is_told_with_its_reason() {
    let Some(case) = with_table("bulk-failed", 100).await else {
        return;
    };
    let ran = case.route("bulk", &[]).exits(1);
    ran.says("the bulk operation failed (S3AccessDenied) after 10 of 103 items");
    ran.says("access to the input was lost");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_whose_answer_is_lost_begins_one_operation() {
    let Some(case) = with_table("bulk-lost", 100).await else {
        return;
    };
    let report = case.route("bulk", &["--format", "json"]).exits(0).json();
    // Of two, the second would find every item.
    assert_eq!(report["reports"]["condition_failures"], 3);
    assert_eq!(case.count(), 103);
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_run_leaves_the_operation_and_one_that_is_cancelled_is_told() {
    let Some(case) = with_table("bulk-slow", 100).await else {
        return;
    };
    let saved = case.path(".dynafold/m.route");
    let arn = || {
        let text = std::fs::read_to_string(&saved).unwrap_or_default();
        let saved: Value = serde_json::from_str(&text).unwrap_or_default();
        saved["arn"].as_str().map(str::to_owned)
    };
    let begin = || {
        let mut command = case.route_command("bulk", &[]);
        command.stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    let child = begin();
    assert!(comes(std::time::Duration::from_mins(1), || arn().is_some()));
    signal(&child, "-INT");
    ran(child).exits(130).says("the bulk operation continues");
    // The same command waits for it, and hears that somebody has cancelled it.
    let child = begin();
    let cancelled = dynamodb(
        &case.url,
        "CancelBulkOperation",
        &json!({ "BulkOperationArn": arn().unwrap() }),
    );
    assert_eq!(cancelled["BulkOperationStatus"], "CANCELLING");
    let ended = ran(child).exits(1);
    ended.says("the bulk operation was cancelled");
    ended.says("an earlier run has started the operation");
    assert!(!saved.exists());
}

/// What is kept of a load in one account says nothing of a table of the same name in another.
#[tokio::test(flavor = "multi_thread")]
async fn a_load_into_a_table_of_another_account_is_not_gone_on_with() {
    let Some(case) = with_table("bulk-account", 20).await else {
        return;
    };
    settled(&case.source.file());
    case.route("bulk", &[]).exits(0);
    let table = ["--target", "dynamodb", "--items", "USER"];
    case.elsewhere(case.command("migrate", &table)).exits(0);
    let saved = case.path(".dynafold/m.route");
    let ended = std::fs::read_to_string(&saved).unwrap();
    // As if it were under way.
    let begun = ended.replace("\"is_complete\":true", "\"is_complete\":false");
    assert_ne!(ended, begun);
    std::fs::write(&saved, begun).unwrap();
    let refused = case.elsewhere(case.route_command("bulk", &[])).exits(1);
    refused.says("another load of this mapping may be under way");
    refused.says("account 000000000000");
    std::fs::write(&saved, ended).unwrap();
    let other = case.elsewhere(case.route_command("bulk", &[]));
    assert!(!other.stderr.contains("this load has ended"), "{other:?}");
}

/// A run was killed before it heard of its operation; the next may not start one, and must not forget it either.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn an_operation_that_may_have_begun_is_forgotten_by_no_later_run() {
    let Some(case) = with_table("bulk-slow-shut", 10).await else {
        return;
    };
    let saved = case.path(".dynafold/m.route");
    let read = || -> Value {
        let text = std::fs::read_to_string(&saved).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    };
    // Gives the operation that it has started or found.
    let killed = || {
        let mut command = case.route_command("bulk", &[]);
        command.stdin(Stdio::null());
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let has_arn = || read()["arn"].is_string();
        assert!(comes(std::time::Duration::from_mins(1), has_arn));
        child.kill().unwrap();
        child.wait().unwrap();
        read()["arn"].clone()
    };
    let first = killed();
    let mut unheard = read();
    unheard["arn"] = Value::Null;
    std::fs::write(&saved, unheard.to_string()).unwrap();
    case.shut();
    let refused = case.route("bulk", &[]).exits(1);
    refused.says("look whether an operation is under way");
    assert!(saved.is_file());
    case.open();
    // Nor does a load from elsewhere begin.
    let route = format!("bulk:{}", case.place("again"));
    case.run("migrate", &["--target", "dynamodb", "--route", &route])
        .exits(1)
        .says("another load of this mapping may be under way");
    // And nothing was read for it.
    assert_eq!(case.keys("again"), Vec::<String>::new());
    assert_eq!(killed(), first);
    dynamodb(
        &case.url,
        "CancelBulkOperation",
        &json!({ "BulkOperationArn": first }),
    );
}
