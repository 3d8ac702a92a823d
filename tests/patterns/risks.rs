//! What `check` says of a pattern that is written almost right.

use super::bench::Bench;
use super::example::Example;

/// The codes and messages of `check`, for an example with other texts in its mapping.
async fn warned(name: &'static str, changes: &[(&str, &str)]) -> Vec<(String, String)> {
    let mut example = Example::read(name, name, name);
    for (from, to) in changes {
        assert_eq!(example.mapping.matches(from).count(), 1, "{from}");
        example.mapping = example.mapping.replace(from, to);
    }
    let mut sources = example.sources().await.into_iter();
    let source = sources.next().unwrap();
    for other in sources {
        other.drop().await;
    }
    let bench = Bench::new(&example, &source);
    let report = bench.run("check", &["--format", "json"]).exits(0).json();
    let warnings = report["diagnostics"].as_array().unwrap().iter();
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    warnings
        .map(|warning| (text(&warning["code"]), text(&warning["message"])))
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_prefix_without_its_colon_finds_log_ins_too() {
    // Of a server called LOG the mapping as it is says it too.
    for (prefix, found) in [
        (r#"begins_with: "LOG:""#, "`CHARACTER`"),
        ("begins_with: LOG", "`LOGIN`, `CHARACTER`"),
    ] {
        let warnings = warned("game", &[(r#"begins_with: "LOG:""#, prefix)]).await;
        let message = format!("`listLogs` also finds {found}");
        assert_eq!(warnings, [("extra-items".to_owned(), message)]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn likes_that_are_not_padded_are_out_of_order() {
    let changes = [("like_count | pad(8)", "like_count")];
    let warnings = warned("reviews", &changes).await;
    let likes = |(code, message): &&(String, String)| {
        code == "unpadded-number" && message.starts_with("`like_count`")
    };
    assert_eq!(warnings.iter().filter(likes).count(), 1, "{warnings:?}");
}
