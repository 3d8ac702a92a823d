//! Whom an application's policy binds to its own partitions, and what would let it reach others'.

use serde_json::Value;

use super::{bench, docs};
use crate::support::cli::Ran;

/// The policy of an application with an item type of this partition key and these access patterns.
async fn asked(item: &str, patterns: &[&str], further: &[&str], code: i32) -> Ran {
    let patterns = ["first", "second"].iter().zip(patterns);
    let patterns =
        patterns.map(|(name, key)| format!("  {name}: {{ key: {{ PK: \"{key}\" }} }}\n"));
    with_patterns(item, &patterns.collect::<String>(), further, code).await
}

/// The same with access patterns as they are written.
async fn with_patterns(item: &str, patterns: &str, further: &[&str], code: i32) -> Ran {
    let (mapping, source) = bench("full").await;
    let text = std::fs::read_to_string(mapping).unwrap();
    let (before, _) = text.split_once("access_patterns:").unwrap();
    let key = format!("accept: [key-unproved]\n    key: {{ PK: \"{item}\"");
    let mut text = before.replace("key: { PK: \"USER#{user_id}\"", &key);
    text.push_str("access_patterns:\n");
    text.push_str(patterns);
    let folder = tempfile::tempdir().unwrap();
    let changed = folder.path().join("changed.yaml");
    std::fs::write(&changed, text).unwrap();
    let arguments = [&["--as", "iam-application", "-o", "-"], further].concat();
    docs(&changed, &source.url(), &arguments).exits(code)
}

/// The values of the first statement's condition.
fn keys(made: &Ran) -> Vec<String> {
    let policy = made.json();
    let condition = policy["Statement"][0]["Condition"].as_object();
    let operators = condition
        .into_iter()
        .flat_map(|operators| operators.values());
    let values = operators.flat_map(|keys| keys["dynamodb:LeadingKeys"].as_array().unwrap());
    values
        .map(|value: &Value| value.as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tenant_is_inferred_only_where_its_tag_tells_the_partition() {
    for (item, patterns, expected, words) in [
        (
            "V#{user_id | shard(20)}",
            &["V#{voterId | shard(20)}"][..],
            &["V#??"][..],
            "`first`: its partition key has a shard number made from `voterId`",
        ),
        (
            "D#{body | lower}",
            &["D#{email | lower}"],
            &["D#*"],
            "`first`: a filter in its partition key maps several values of `email` to one text",
        ),
        (
            "U#{user_id}",
            &["U#{userId}", "{email}"],
            &[],
            "access patterns find their partitions by `email`, `userId`",
        ),
        (
            "U#{user_id | pad(8)}",
            &["U#{userId | pad(8)}"],
            &["U#${aws:PrincipalTag/userId}"],
            "the tag `userId` must hold the value as it is in the key",
        ),
    ] {
        let made = asked(item, patterns, &[], 0).await;
        assert_eq!(keys(&made), expected, "{item}");
        assert!(made.stderr.contains(words), "{item}: {}", made.stderr);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tenant_that_does_not_bind_every_statement_is_refused() {
    for (item, patterns, tenant, words) in [
        (
            "V#{user_id | shard(20)}",
            &["V#{voterId | shard(20)}"][..],
            "voterId",
            "`first`: its partition key has a shard number made from `voterId`",
        ),
        (
            "D#{body | lower}",
            &["D#{email | lower}"],
            "email",
            "`first`: a filter in its partition key maps several values of `email` to one text",
        ),
        (
            "U#{user_id}",
            &["U#{userId}", "{email}"],
            "userId",
            "`second`: it asks for any partition",
        ),
        (
            "U#{user_id}",
            &["U#{userId}", "U#{other}"],
            "userId",
            "`second`: it asks for `U#*`, which includes every tenant's partition of `first`",
        ),
        (
            "U#{user_id}{message_id}",
            &["U#{userId}{month}"],
            "userId",
            "`first`: no text separates `userId` from another value",
        ),
        (
            "U#{user_id}{message_id | shard(10)}",
            &["U#{userId}{* | shard(10)}"],
            "userId",
            "`first`: no text separates `userId` from another value",
        ),
    ] {
        let ran = asked(item, patterns, &["--tenant", tenant], 1).await;
        assert_eq!(ran.stdout, "");
        assert!(ran.stderr.contains(words), "{item}: {}", ran.stderr);
        ran.says("use the tenant `none`");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shard_behind_a_tenant_is_as_wide_as_its_number() {
    let item = "U#{user_id}.{message_id | shard(20)}";
    let tenant = ["--tenant", "userId"];
    let made = asked(item, &["U#{userId}.{* | shard(20)}"], &tenant, 0).await;
    assert_eq!(keys(&made), ["U#${aws:PrincipalTag/userId}.??"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_tenant_shares_with_others_is_told_by_name() {
    let tenant = ["--tenant", "userId"];
    let made = asked("{body}", &["U#{userId}", "SERVICE#{name}"], &tenant, 0).await;
    let words = "`second` is not restricted to a tenant";
    made.says(words);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn items_that_are_read_by_the_keys_of_an_index_are_bound_to_nobody() {
    let patterns = "  first: { key: { PK: \"U#{userId}\" } }
  second: { index: by-date, key: { day: \"{day}\", region: \"{r}\" }, fetch: true }\n";
    let item = "U#{user_id}";
    let made = with_patterns(item, patterns, &["--tenant", "none"], 0).await;
    let policy = made.json();
    let statements = policy["Statement"].as_array().unwrap().iter();
    let mut fetching = statements.filter(|one| one["Action"].to_string().contains("BatchGetItem"));
    let fetching = fetching.next().unwrap();
    assert!(fetching["Condition"].is_null(), "{fetching:#}");
    assert!(
        fetching["Resource"].to_string().ends_with("shop.v1-x\"]"),
        "{fetching:#}"
    );
    made.says("allows `BatchGetItem` of all items of the table");
    let refused = with_patterns(item, patterns, &["--tenant", "userId"], 1).await;
    refused.says("`second`: its `fetch` reads items by keys that are known only when");
    let inferred = with_patterns(item, patterns, &[], 0).await;
    inferred.says("the policy does not restrict callers to a tenant");
}
