//! What the IAM policies allow.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{bench, docs, root};
use crate::support::source::Source;

/// The statements of a policy of a worked example.
async fn statements(name: &str, format: &str, further: &[&str]) -> (Vec<Value>, String) {
    let (_, migration, _) = crate::patterns::EXAMPLES
        .iter()
        .find(|example| example.0 == name)
        .unwrap();
    let source = Source::on_sqlite(migration).await;
    let mapping = root().join(format!("mappings/{name}.yaml"));
    let arguments = [&["--as", format, "-o", "-"], further].concat();
    let made = docs(&mapping, &source.url(), &arguments).exits(0);
    let mut policy = made.json();
    assert_eq!(policy["Version"], "2012-10-17");
    let statements = policy["Statement"].as_array_mut().unwrap();
    (std::mem::take(statements), made.stderr)
}

fn actions(statements: &[Value]) -> BTreeSet<String> {
    let all = statements
        .iter()
        .flat_map(|s| s["Action"].as_array().unwrap());
    let names = all.map(|action| action.as_str().unwrap());
    names
        .map(|action| action.strip_prefix("dynamodb:").unwrap().to_owned())
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_migration_may_do_what_the_target_calls_and_no_more() {
    let (mapping, source) = bench("global").await;
    let arguments = ["--as", "iam-migration", "-o", "-"];
    let policy = docs(&mapping, &source.url(), &arguments).exits(0).json();
    let statements = policy["Statement"].as_array().unwrap().iter();
    let (replicate, own): (Vec<Value>, Vec<Value>) = statements
        .cloned()
        .partition(|statement| statement["Sid"] == "DynafoldMigrationReplicate");
    let mut called = crate::readme::called();
    // What other calls do in passing.
    called.extend(["TagResource", "CreateTableReplica"].map(str::to_owned));
    assert_eq!(actions(&own), called);
    let table = |region: &str| format!("arn:aws:dynamodb:{region}:*:table/shop-global");
    let replicas = ["*", "eu-west-1", "us-west-2"].map(table);
    assert_eq!(replicate[0]["Resource"], json!(replicas));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_mapping_without_settings_needs_no_permission_for_them() {
    let further = ["--region", "eu-west-1", "--account", "111122223333"];
    let (statements, _) = statements("personalization", "iam-migration", &further).await;
    let table = "arn:aws:dynamodb:eu-west-1:111122223333:table/personalization";
    let expected = json!([
        {
            "Sid": "DynafoldMigrationLoadAndVerify",
            "Effect": "Allow",
            "Action": [
                "dynamodb:BatchGetItem", "dynamodb:BatchWriteItem", "dynamodb:DeleteItem",
                "dynamodb:DescribeTable", "dynamodb:DescribeTimeToLive", "dynamodb:PutItem",
                "dynamodb:Query", "dynamodb:Scan",
            ],
            "Resource": [table],
        },
        {
            "Sid": "DynafoldMigrationMakeTheTable",
            "Effect": "Allow",
            "Action": ["dynamodb:CreateTable", "dynamodb:UpdateTable"],
            "Resource": [table],
        },
        {
            "Sid": "DynafoldMigrationReplaceTheTable",
            "Effect": "Allow",
            "Action": ["dynamodb:DeleteTable"],
            "Resource": [table],
        },
        {
            "Sid": "DynafoldMigrationAskTheTable",
            "Effect": "Allow",
            "Action": ["dynamodb:GetItem", "dynamodb:Query"],
            "Resource": [table],
        },
        {
            "Sid": "DynafoldMigrationAskTheIndexes",
            "Effect": "Allow",
            "Action": ["dynamodb:Query"],
            "Resource": [format!("{table}/index/GSI1"), format!("{table}/index/GSI2")],
        },
    ]);
    assert_eq!(json!(statements), expected);
    // Without global indexes none is added to a table.
    let (statements, _) = self::statements("cart", "iam-migration", &further).await;
    assert!(!actions(&statements).contains("UpdateTable"));
}

/// Operator and values of the conditions, by the statements' ids.
fn conditions(statements: &[Value]) -> Vec<(String, Value)> {
    let of = |statement: &Value| {
        let sid = statement["Sid"].as_str().unwrap();
        let sid = sid.strip_prefix("DynafoldApplication").unwrap();
        (sid.to_owned(), statement["Condition"].clone())
    };
    statements.iter().map(of).collect()
}

fn like(operator: &str, keys: &[&str]) -> Value {
    json!({ format!("ForAllValues:{operator}"): { "dynamodb:LeadingKeys": keys } })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tenant_is_bound_to_its_own_partition() {
    let own = like("StringEquals", &["USER#${aws:PrincipalTag/userId}"]);
    let bound = vec![
        ("QueryOnTable".to_owned(), own.clone()),
        ("GetItemOnTable".to_owned(), own),
    ];
    let (inferred, said) = statements("photos", "iam-application", &[]).await;
    assert_eq!(conditions(&inferred), bound);
    assert!(said.contains("use the tenant `none`"), "{said}");
    let (named, said) = statements("photos", "iam-application", &["--tenant", "userId"]).await;
    assert_eq!(conditions(&named), bound);
    assert!(!said.contains("tenant"), "{said}");
    let anybody = like("StringLike", &["USER#*"]);
    let (free, _) = statements("photos", "iam-application", &["--tenant", "none"]).await;
    assert_eq!(conditions(&free)[0].1, anybody);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_application_is_bound_to_the_partitions_that_its_patterns_ask_for() {
    let (personal, said) = statements("personalization", "iam-application", &[]).await;
    assert!(!said.contains("--tenant"), "{said}");
    let user = "USER#${aws:PrincipalTag/userId}";
    assert_eq!(
        conditions(&personal),
        [
            ("GetItemOnTable", like("StringLike", &["USER#*"])),
            ("QueryOnTable", like("StringLike", &["SERVICE#*", "USER#*"])),
            (
                "QueryOnIndexGSI1",
                like("StringEquals", &["SERVICE#", "SUBSCRIBE#"])
            ),
            (
                "QueryOnIndexGSI1No2",
                like("StringLike", &["SUBSCRIBE#*#*#*"])
            ),
            (
                "QueryOnIndexGSI2",
                like("StringEquals", &["SUBSCRIBE_USER"])
            ),
        ]
        .map(|(sid, condition)| (sid.to_owned(), condition))
    );
    let tenant = ["--tenant", "userId"];
    let (personal, _) = statements("personalization", "iam-application", &tenant).await;
    assert_eq!(
        conditions(&personal)[..3],
        [
            ("GetItemOnTable", like("StringEquals", &[user])),
            ("QueryOnTable", like("StringEquals", &[user])),
            ("QueryOnTableNo2", like("StringLike", &["SERVICE#*"])),
        ]
        .map(|(sid, condition)| (sid.to_owned(), condition))
    );
    // A whole partition key value of the caller's choice, with or without a shard.
    let (votes, _) = statements("votes", "iam-application", &[]).await;
    let sids = conditions(&votes);
    assert_eq!(sids[0].1, like("StringLike", &["*.??"]));
    assert_eq!(sids[1].1, Value::Null);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_condition_takes_no_text_for_a_pattern_and_no_key_for_a_text() {
    let (mapping, source) = bench("full").await;
    let text = std::fs::read_to_string(mapping).unwrap();
    let text = text.replace("PK: \"USER#{user_id}\"", "PK: \"A*?${{#{user_id}\"");
    let (before, _) = text.split_once("access_patterns:").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let changed = folder.path().join("changed.yaml");
    let own = r"A${*}${?}${$}{#${aws:PrincipalTag/userId}";
    let (exact, local) = ("PK: \"A*?${{#{userId}\"", "index: LSI1, key: { PK");
    for (pattern, expected) in [
        (exact.to_owned(), vec![like("StringEquals", &[own])]),
        // Another order of the same partitions: an index of the table's own.
        (
            format!("{exact} }} }}\n  b: {{ {local}: \"A*?${{{{#{{userId}}\""),
            {
                let bound = like("StringEquals", &[own]);
                vec![bound.clone(), bound]
            },
        ),
        (
            "PK: \"{whole}\"".to_owned(),
            vec![like("StringEquals", &["${aws:PrincipalTag/whole}"])],
        ),
        ("PK: \"{a}{b}\"".to_owned(), vec![Value::Null]),
    ] {
        let patterns = format!("{before}access_patterns:\n  a: {{ key: {{ {pattern} }} }}\n");
        std::fs::write(&changed, patterns).unwrap();
        let arguments = ["--as", "iam-application", "-o", "-"];
        let made = docs(&changed, &source.url(), &arguments).exits(0);
        let policy = made.json();
        let found = policy["Statement"].as_array().unwrap().iter();
        let found: Vec<Value> = found.map(|s| s["Condition"].clone()).collect();
        assert_eq!(found, expected, "{pattern}");
    }
}
