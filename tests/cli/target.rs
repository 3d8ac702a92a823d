//! What goes wrong on the DynamoDB side, and rows that cannot be items.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use super::{own_mapping, says};
use crate::support::books::claimed;
use crate::support::cli::{Ran, command, dynafold, run};
use crate::support::endpoint::{Endpoint, Request, Step};
use crate::support::sqlite;

const PORTAL: &str = include_str!("../../migrations/sqlite/20260101000001_personalization.sql");

async fn portal() -> sqlite::Database {
    sqlite::Database::new(PORTAL).await
}

/// A folder with a mapping of `users` alone.
fn mapping_of_users(folder: &Path, key: &str, rest: &str) -> String {
    let file = folder.join("users.yaml");
    let text = format!(
        "dynafold: 1\ntable: {{ name: users, key: {{ partition: PK }} }}\nitems:\n  USER:\n    from: users\n    key: {{ PK: \"{key}\" }}\n{rest}"
    );
    std::fs::write(&file, text).unwrap();
    file.display().to_string()
}

/// A load of the example into DynamoDB.
fn into_dynamodb(source: &sqlite::Database, further: &[&str]) -> Command {
    let (mapping, url) = (own_mapping(), source.url());
    let all = ["migrate", &mapping, "--source", &url, "--target"];
    command(&[&all[..], &["dynamodb"], further].concat())
}

/// Asks the example's table at an endpoint for a user.
fn find_user(endpoint: &Endpoint) -> Ran {
    let mapping = own_mapping();
    let user = ["query", &mapping, "findUserByUserId", "--userId", "1"];
    let target = ["--target", "dynamodb", "--endpoint-url", &endpoint.url];
    dynafold(&[user.as_slice(), &target].concat())
}

#[tokio::test]
async fn without_a_region_or_credentials_nothing_is_tried() {
    let source = portal().await;
    let ran = run(&mut into_dynamodb(&source, &["--yes"])).exits(1);
    says(&ran, "region", "--region");
    let mut migrate = into_dynamodb(&source, &["--yes"]);
    let ran = run(migrate.env("AWS_REGION", "eu-west-1")).exits(1);
    says(&ran, "credentials", "AWS");
}

#[tokio::test(flavor = "multi_thread")]
async fn expired_credentials_are_told_from_others_and_shown_nowhere() {
    let source = portal().await;
    let refusal = r#"{"__type":"com.amazon.coral.service#ExpiredTokenException","message":"The security token included in the request is expired"}"#;
    let endpoint = Endpoint::start([Step::Answer(400, refusal.to_owned())]).await;
    let mut command = into_dynamodb(&source, &["--endpoint-url", &endpoint.url]);
    command
        .arg("-vvv")
        .env("AWS_REGION", "eu-west-1")
        .env("AWS_ACCESS_KEY_ID", "AKIAEXAMPLEKEYID")
        .env("AWS_SECRET_ACCESS_KEY", "S3cretAccessKey")
        .env("AWS_SESSION_TOKEN", "S3cretToken");
    let ran = run(&mut command).exits(1);
    says(&ran, "expired", "aws sso login");
    for secret in ["AKIAEXAMPLEKEYID", "S3cretAccessKey", "S3cretToken"] {
        assert!(
            !ran.stderr.contains(secret) && !ran.stdout.contains(secret),
            "{ran:?}"
        );
    }
}

#[tokio::test]
async fn an_endpoint_that_is_down_is_named() {
    let source = portal().await;
    let down = ["--endpoint-url", "http://127.0.0.1:1"];
    let ran = run(&mut into_dynamodb(&source, &down)).exits(1);
    says(&ran, "127.0.0.1:1", "endpoint");
    let cause = "\n  because: Connection refused (os error 111)\n";
    ran.says(cause);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_service_says_stands_below_what_was_done() {
    let refused = Step::Error(400, "AccessDeniedException", "not authorized: 'geheim'");
    let endpoint = Endpoint::start([refused.clone(), refused]).await;
    let ran = find_user(&endpoint).exits(1);
    assert_eq!(
        ran.stderr,
        "error: GetItem on table personalization: access denied (AccessDeniedException)
  because: not authorized: '…'
   help: allow dynamodb:GetItem on the table; docs/aws.md has the smallest policy that is enough
"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_tried_again_and_again_is_told_once() {
    let mut steps = vec![Step::CutOff; 15];
    steps.push(Step::Answer(200, "{}".to_owned()));
    let endpoint = Endpoint::start(steps).await;
    let ran = find_user(&endpoint).exits(0);
    let reported = ran.stderr.lines().filter(|line| {
        line.contains("was cut off or damaged: ") && line.contains("; retrying for")
    });
    assert_eq!(reported.count(), 1, "{}", ran.stderr);
}

#[tokio::test]
async fn a_table_with_other_keys_is_not_touched() {
    let source = portal().await;
    let folder = tempfile::tempdir().unwrap();
    let target = format!("local:{}", folder.path().join("t.ddb").display());
    let other = mapping_of_users(folder.path(), "USER#{id}", "");
    let migrate = |mapping: &str| {
        let source = source.url();
        let mut command = command(&["migrate", mapping, "--source", &source, "--target", &target]);
        run(command.env("TABLE_NAME", "users"))
    };
    migrate(&other).exits(0);
    let ran = migrate(&own_mapping()).exits(1);
    says(&ran, "users", "name another table");
    assert!(
        ran.stderr.contains("PK") && ran.stderr.contains("SK"),
        "{}",
        ran.stderr
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_that_was_created_again_since_its_deletion_was_agreed_to_is_not_deleted() {
    let source = portal().await;
    let folder = tempfile::tempdir().unwrap();
    let mapping = mapping_of_users(folder.path(), "USER#{id}", "");
    let table = |id: &str| {
        let described = serde_json::json!({"Table": {
            "TableName": "users",
            "TableId": id,
            "TableStatus": "ACTIVE",
            "KeySchema": [{"AttributeName": "PK", "KeyType": "HASH"}],
            "AttributeDefinitions": [{"AttributeName": "PK", "AttributeType": "S"}],
        }});
        Step::Answer(200, described.to_string())
    };
    let no_ttl = Step::Answer(200, "{}".to_owned());
    let endpoint = Endpoint::start([table("agreed to"), no_ttl, table("another")]).await;
    let url = source.url();
    let migrate = ["migrate", &mapping, "--source", &url, "--replace", "--yes"];
    let target = ["--target", "dynamodb", "--endpoint-url", &endpoint.url];
    let ran = dynafold(&[&migrate[..], &target].concat()).exits(1);
    let again = "was created again since its deletion was agreed to";
    says(&ran, again, "nothing was deleted");
    let requests = endpoint.requests();
    let operations: Vec<&str> = requests.iter().map(Request::operation).collect();
    let expected = ["DescribeTable", "DescribeTimeToLive", "DescribeTable"];
    assert_eq!(operations, expected);
}

#[tokio::test]
async fn a_missing_table_with_no_create_is_named() {
    let source = portal().await;
    let folder = tempfile::tempdir().unwrap();
    let mapping = own_mapping();
    let target = format!("local:{}", folder.path().join("t.ddb").display());
    // Where nothing is written, the file itself is not made.
    for (name, missing) in [
        ("migrate", "there is no table `personalization`"),
        ("verify", "there is no file "),
    ] {
        let mut arguments = vec![name, &mapping, "--source"];
        let url = source.url();
        arguments.extend([&url, "--target", &target]);
        if name == "migrate" {
            arguments.push("--no-create");
        }
        says(&dynafold(&arguments).exits(1), missing, "create");
    }
}

/// Migrates `users` into memory with some options.
fn migrate(source: &sqlite::Database, mapping: &str, options: &[&str]) -> Ran {
    let url = source.url();
    let mut arguments = vec![
        "migrate", mapping, "--source", &url, "--target", "local", "--format", "json",
    ];
    arguments.extend(options);
    dynafold(&arguments)
}

#[tokio::test]
async fn two_rows_with_one_key_are_both_named() {
    let source = portal().await;
    let folder = tempfile::tempdir().unwrap();
    source
        .run("INSERT INTO users VALUES (40, 'twin@example.com', 'Sam O''Hara', NULL)")
        .await;
    let mapping = mapping_of_users(folder.path(), "USER#{name}", "");
    let ran = migrate(&source, &mapping, &[]).exits(1);
    says(&ran, "stopped", "--max-rejects");
    let report = ran.json();
    assert_eq!(report["outcome"]["state"], "stopped");
    assert_eq!(claimed(&report, "books_balance"), "not_proved");
    assert_eq!(claimed(&report, "keys_differ"), "differs");
    let note = &report["rejects"][0];
    assert_eq!(note["code"], "duplicate-key");
    let both = format!("{} {}", note["row"], note["message"]);
    assert!(both.contains("31") && both.contains("40"), "{both}");

    let ran = migrate(&source, &mapping, &["--max-rejects", "5"]).exits(3);
    let report = ran.json();
    assert_eq!(report["outcome"]["state"], "complete_with_rejects");
    assert_eq!(report["total"]["written"], 3);
    assert_eq!(report["total"]["rejected"], 1);
    let rejects = std::fs::read_to_string(folder.path().join("users.rejects.ndjson")).unwrap();
    let line: serde_json::Value = serde_json::from_str(rejects.trim()).unwrap();
    assert_eq!(line["code"], "duplicate-key");
    assert_eq!(line["item_type"], "USER");
}

#[tokio::test]
async fn of_many_rejects_the_first_are_told_and_all_are_in_the_file() {
    let source = sqlite::Database::new(
        "CREATE TABLE users (id INTEGER PRIMARY KEY, code TEXT);
         WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50)
         INSERT INTO users SELECT i, CASE WHEN i > 45 THEN 'c' || i END FROM n;",
    )
    .await;
    let folder = tempfile::tempdir().unwrap();
    let mapping = mapping_of_users(folder.path(), "USER#{code}", "");
    let target = format!("local:{}", folder.path().join("t.ddb").display());
    let url = source.url();
    let ends = |name: &str, further: &[&str]| {
        let all = [name, &mapping, "--source", &url, "--target", &target];
        dynafold(&[&all, further].concat()).exits(3)
    };
    let ran = ends("migrate", &["--max-rejects", "45"]);
    let file = folder.path().join("users.rejects.ndjson");
    ran.prints("45 rows rejected:\n");
    assert_eq!(ran.stdout.matches("[key-null]").count(), 20, "{ran:?}");
    ran.prints(&format!(
        "\n  and 25 more\nall of them, with their items, are in {}",
        file.display()
    ));
    let lines = std::fs::read_to_string(&file).unwrap();
    let ids: BTreeSet<u64> = lines
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .map(|reject| reject["row"]["id"].as_u64().unwrap())
        .collect();
    assert_eq!(ids, (1..=45).collect::<BTreeSet<u64>>());
    assert_eq!(lines.lines().count(), 45);

    let ran = ends("verify", &[]);
    assert_eq!(ran.stdout.matches("[key-null]").count(), 20, "{ran:?}");
    ran.prints("\n  and 25 more were rejected\n");
}

#[tokio::test]
async fn an_item_over_400_kb_is_rejected_with_its_row_and_the_rest_is_written() {
    let source = portal().await;
    let folder = tempfile::tempdir().unwrap();
    source
        .run("INSERT INTO users VALUES (41, 'big@example.com', hex(zeroblob(205000)), NULL)")
        .await;
    let mapping = mapping_of_users(folder.path(), "USER#{id}", "");
    let ran = migrate(&source, &mapping, &["--max-rejects", "1"]).exits(3);
    let report = ran.json();
    assert_eq!(report["total"]["written"], 3);
    let note = &report["rejects"][0];
    assert_eq!(note["row"]["id"], 41);
    assert!(
        note["message"].as_str().unwrap().contains("409600"),
        "{note}"
    );
    assert!(note["help"].is_string(), "{note}");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_full_disk_for_rejects_stops_the_run() {
    let source = portal().await;
    let folder = tempfile::tempdir().unwrap();
    let mapping = mapping_of_users(folder.path(), "USER#{gender}", "");
    let ran = migrate(
        &source,
        &mapping,
        &["--max-rejects", "9", "--rejects", "/dev/full"],
    )
    .exits(1);
    says(&ran, "/dev/full", "--rejects");
    assert_eq!(ran.json()["outcome"]["state"], "failed");
}

#[tokio::test]
async fn what_costs_money_is_estimated_and_asked_about() {
    let source = portal().await;
    let ran = run(&mut into_dynamodb(&source, &["--region", "eu-west-1"])).exits(2);
    says(&ran, "costs money", "--yes");
    ran.says("at most 17 items, about 37 write units");
    assert!(ran.stdout.is_empty(), "{ran:?}");
}
