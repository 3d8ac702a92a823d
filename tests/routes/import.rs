//! `migrate --route import:…`: export, `ImportTable`, the table's settings, and a comparison of every item.

use std::process::Stdio;

use dynafold::load::state;
use serde_json::{Value, json};

use super::{Case, dynamodb};
use crate::support::sqlite::settled;
use crate::support::wait::comes;

#[tokio::test(flavor = "multi_thread")]
async fn a_new_table_is_imported_set_up_and_compared() {
    let Some(case) = Case::new("import", 2_000, 10).await else {
        return;
    };
    let report = case.route("import", &["--format", "json"]).exits(0).json();
    assert_eq!(report["operation"]["status"], "completed");
    assert_eq!(
        (&report["items"], &report["operation"]["imported_items"]),
        (&json!(2_003), &json!(2_003))
    );
    assert_eq!(report["verification"]["total"]["equal"], 2_003);
    assert_eq!(case.count(), 2_003);
    // What ImportTable does not set.
    let name = json!({ "TableName": case.table });
    let ttl = dynamodb(&case.url, "DescribeTimeToLive", &name);
    assert_eq!(ttl["TimeToLiveDescription"]["AttributeName"], "ends");
    let table = &dynamodb(&case.url, "DescribeTable", &name)["Table"];
    assert_eq!(table["GlobalSecondaryIndexes"][0]["IndexName"], "byKind");
    let tags = dynamodb(
        &case.url,
        "ListTagsOfResource",
        &json!({ "ResourceArn": table["TableArn"] }),
    );
    assert_eq!(tags["Tags"], json!([{ "Key": "team", "Value": "shop" }]));
    // The same again finds the table.
    case.route("import", &[])
        .exits(1)
        .says("exists, and ImportTable makes a new one");
}

#[tokio::test(flavor = "multi_thread")]
async fn items_that_an_import_refuses_come_back_with_the_keys_of_their_rows() {
    // An object is damaged between the export and its import.
    let Some(case) = Case::new("import-bad", 500, 10).await else {
        return;
    };
    let ran = case.route("import", &[]).exits(3);
    ran.prints("errors 2");
    ran.prints("ItemValidationError");
    ran.says("counts 501 as imported");
    let rejects = case.rejects();
    assert_eq!(rejects.len(), 2);
    for reject in &rejects {
        assert_eq!(reject["code"], "not-loaded");
        let id = reject["row"]["id"].to_string();
        assert!(
            reject["key"]["SK"]["S"].as_str().unwrap().ends_with(&id)
                || reject["item_type"] == "USER",
            "{reject}"
        );
    }
    // Their rows are loaded once more, the ordinary way.
    let file = case.rejects_file();
    let again = [
        "--target",
        "dynamodb",
        "--retry-rejects",
        file.to_str().unwrap(),
    ];
    case.run("migrate", &again).exits(0);
    assert_eq!(case.count(), 503);
    case.run("verify", &["--target", "dynamodb"]).exits(0);
}

/// A route that was killed behind the beginning of its import, which has ended.
#[cfg(unix)]
async fn with_import(name: &str) -> Option<Case> {
    let case = Case::new(name, 20, 10).await?;
    settled(&case.source.file());
    killed(&case, &[]);
    let saved: Value =
        serde_json::from_slice(&std::fs::read(case.path(".dynafold/m.route")).unwrap()).unwrap();
    let has_ended = || {
        let import = json!({ "ImportArn": saved["arn"] });
        let import = dynamodb(&case.url, "DescribeImport", &import);
        import["ImportTableDescription"]["ImportStatus"] == "COMPLETED"
    };
    assert!(comes(std::time::Duration::from_mins(1), has_ended));
    Some(case)
}

/// Kills a route once it knows its import.
#[cfg(unix)]
fn killed(case: &Case, further: &[&str]) {
    let mut command = case.route_command("import", further);
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let saved = case.path(".dynafold/m.route");
    let has_arn = || std::fs::read_to_string(&saved).is_ok_and(|text| text.contains("/import/"));
    assert!(comes(std::time::Duration::from_mins(1), has_arn));
    child.kill().unwrap();
    child.wait().unwrap();
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_table_that_was_deleted_after_its_import_is_told_at_once() {
    let Some(case) = with_import("import-gone").await else {
        return;
    };
    dynamodb(
        &case.url,
        "DeleteTable",
        &json!({ "TableName": case.table }),
    );
    let begun = std::time::Instant::now();
    let ran = case.route("import", &[]).exits(1);
    ran.says("but it was deleted since");
    ran.says("start the same command again");
    assert!(begun.elapsed() < std::time::Duration::from_mins(1));
    // As its help says.
    case.route("import", &[]).exits(0);
    assert_eq!(case.count(), 23);
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_set_on_a_table_that_has_taken_the_name_of_an_imported_one() {
    let Some(case) = with_import("import-replaced").await else {
        return;
    };
    let name = json!({ "TableName": case.table });
    dynamodb(&case.url, "DeleteTable", &name);
    let other = json!({
        "TableName": case.table, "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{ "AttributeName": "PK", "AttributeType": "S" }, { "AttributeName": "SK", "AttributeType": "S" }],
        "KeySchema": [{ "AttributeName": "PK", "KeyType": "HASH" }, { "AttributeName": "SK", "KeyType": "RANGE" }],
    });
    dynamodb(&case.url, "CreateTable", &other);
    let ran = case.route("import", &[]).exits(1);
    ran.says("another table has its name, and its settings were not changed");
    let ttl = dynamodb(&case.url, "DescribeTimeToLive", &name);
    assert_eq!(ttl["TimeToLiveDescription"]["TimeToLiveStatus"], "DISABLED");
    case.route("import", &[])
        .exits(1)
        .says("exists, and ImportTable makes a new one");
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_route_that_is_killed_waits_for_the_import_that_it_began() {
    let Some(case) = Case::new("import-killed", 1_000, 10).await else {
        return;
    };
    killed(&case, &[]);
    let saved = case.path(".dynafold/m.route");
    let ran = case.route("import", &[]).exits(0);
    ran.says("an earlier run has started the operation");
    ran.says("continuing with the complete export");
    assert_eq!(case.count(), 1_003);
    assert!(!saved.exists());
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_route_that_goes_on_still_tells_of_keys_that_it_shares_with_left_out_item_types() {
    let Some(case) = Case::new("import-outside", 20, 10).await else {
        return;
    };
    // The first user has the key of the third event, and is loaded before it.
    let text = std::fs::read_to_string(case.path("m.yaml")).unwrap();
    let text = text.replace("SK: USER }", "SK: \"EVENT#000003\" }");
    std::fs::write(case.path("m.yaml"), text).unwrap();
    settled(&case.source.file());
    let some = ["--items", "USER", "--max-rejects", "1"];
    killed(&case, &some);
    let again = [&some[..], &["--format", "json"]].concat();
    let ran = case.route("import", &again).exits(3);
    ran.says("an earlier run has started the operation");
    let report = ran.json();
    assert_eq!(report["shared_outside"], 1);
    assert_eq!(report["verification"]["outcome"]["state"], "equal");
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn an_import_of_another_account_is_told_as_one() {
    let Some(case) = with_import("import-account").await else {
        return;
    };
    case.elsewhere(case.route_command("import", &[]))
        .exits(1)
        .says("the operation was begun in the AWS account 000000000000");
    case.route("import", &[]).exits(0);
}

/// DynamoDB finds no object, and the import would fail however often it is started.
#[tokio::test(flavor = "multi_thread")]
async fn an_export_without_items_is_not_imported() {
    let Some(case) = Case::new("import-nothing", 1, 10).await else {
        return;
    };
    case.source
        .run("DELETE FROM events; DELETE FROM users")
        .await;
    settled(&case.source.file());
    for _ in 0..2 {
        let ran = case.route("import", &[]).exits(1);
        ran.says("has no items: there is nothing to load");
        ran.says("`dynafold migrate` without --route makes an empty table");
    }
    assert!(!case.path(".dynafold/m.route").exists());
    // As its help says.
    case.run("migrate", &["--target", "dynamodb"]).exits(0);
    assert_eq!(case.count(), 0);
    case.route("bulk", &[])
        .exits(1)
        .says("holds another export");
    let route = format!("bulk:{}", case.place("again"));
    case.run("migrate", &["--target", "dynamodb", "--route", &route])
        .exits(1)
        .says("there is nothing to load");
}

/// `ImportTable` would read it too.
#[tokio::test(flavor = "multi_thread")]
async fn a_complete_export_with_an_object_that_is_of_none_is_not_imported() {
    let Some(case) = Case::new("import-more", 10, 10).await else {
        return;
    };
    case.export("load", &[]).exits(0);
    case.put("load/data/sub/zz.json.gz", b"somebody else's");
    let refused = case.route("import", &[]).exits(1);
    refused.says("has changed since it was written");
    refused.says("zz.json.gz");
    let exists = || dynamodb(&case.url, "ListTables", &json!({}))["TableNames"].to_string();
    assert!(!exists().contains(&case.table), "{}", exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn two_routes_of_one_mapping_do_not_meet() {
    let Some(case) = Case::new("import-twice", 100, 10).await else {
        return;
    };
    let lock = state::hold(&case.path(".dynafold/m.route")).unwrap();
    let refused = case.route("import", &[]).exits(1);
    assert!(
        refused.stderr.contains("another run uses")
            && refused.stderr.contains("wait for the other"),
        "{}",
        refused.stderr
    );
    assert_eq!(case.keys("load"), Vec::<String>::new());
    drop(lock);
    case.route("import", &[]).exits(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_route_cannot_do_is_refused_before_a_row_is_read() {
    let Some(case) = Case::new("refused", 10, 10).await else {
        return;
    };
    case.put("load/data/part-00001.json.gz", b"not ours");
    case.route("import", &[]).exits(1).says("not begun here");
    let mapping = case.path("m.yaml");
    let text = std::fs::read_to_string(&mapping).unwrap();
    std::fs::write(
        &mapping,
        text.replace(
            "ttl: ends,",
            "ttl: ends, local_indexes: { byName: { sort: name } },",
        ),
    )
    .unwrap();
    case.route("import", &[])
        .exits(1)
        .says("ImportTable creates no local indexes");
    case.route("bulk", &[]).exits(1).says("there is no table");
    case.route("import", &["--append"])
        .exits(2)
        .says("go with `--route bulk");
    case.route("bulk", &["--max-wcu", "100"])
        .exits(2)
        .says("--max-wcu 1024 or more");
    assert!(case.keys("load").len() == 1);
}
