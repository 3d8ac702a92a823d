//! The archive of what expires: its function at work, and the templates that have one.

use serde_json::json;

use super::{answered_by, at, bench, docs, template};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_function_of_a_template_keeps_each_item_on_a_line() {
    let (mapping, source) = bench("full").await;
    let made = docs(
        &mapping,
        &source.url(),
        &["--as", "cloudformation", "-o", "-"],
    )
    .exits(0);
    let template = template(&made.stdout);
    let function = at(&template, &["Resources", "ArchiveFunction", "Properties"]);
    let code = at(function, &["Code", "ZipFile"]).text().unwrap();
    assert!(code.len() <= 4_096, "CloudFormation takes no more inline");
    let Some(put) = answered_by("archive_test.py", code) else {
        return;
    };
    let lines = [
        r#"{"PK":{"S":"USER#1"},"SK":{"S":"a\n안녕"},"blob":{"B":"AAEC"}}"#,
        r#"{"PK":{"S":"USER#2"},"expires_at":{"N":"1578441600"}}"#,
        "",
    ];
    assert_eq!(
        put,
        json!({
            "Bucket": "bucket",
            "Key": "messages/2020/01/01/event-1.ndjson",
            "Body": lines.join("\n"),
            "ContentType": "application/x-ndjson",
        })
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn there_is_an_archive_where_expired_rows_are_archived_and_the_stream_tells_what_went() {
    let (mapping, source) = bench("full").await;
    let text = std::fs::read_to_string(mapping).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let changed = folder.path().join("changed.yaml");
    let stream = "stream: new-and-old-images";
    for (from, to, archives, view) in [
        (stream, "# no stream", true, Some("OLD_IMAGE")),
        (stream, "stream: old-image", true, Some("OLD_IMAGE")),
        (stream, stream, true, Some("NEW_AND_OLD_IMAGES")),
        (stream, "stream: keys-only", false, Some("KEYS_ONLY")),
        (stream, "stream: new-image", false, Some("NEW_IMAGE")),
        (
            "expired: archive",
            "expired: skip",
            false,
            Some("NEW_AND_OLD_IMAGES"),
        ),
    ] {
        std::fs::write(&changed, text.replace(from, to)).unwrap();
        for format in ["cloudformation", "terraform"] {
            let made = docs(&changed, &source.url(), &["--as", format, "-o", "-"]).exits(0);
            assert_eq!(made.stdout.contains("archive"), archives, "{to}");
            let said = made.stdout.contains(view.unwrap());
            assert!(said, "{to}: {}", made.stdout);
            let warned = made.stderr.contains("there is no archive of expired items");
            assert_eq!(warned, !archives && from == stream, "{}", made.stderr);
        }
    }
}
