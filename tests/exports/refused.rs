//! What cannot be exported is refused in words, and nothing is written.

use super::{bench, docs};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_said_is_refused() {
    let (mapping, source) = bench("full").await;
    let text = std::fs::read_to_string(mapping).unwrap();
    let patterns = text.find("access_patterns:").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let changed = folder.path().join("changed.yaml");
    let resolved = text.replace(
        "cost-center\": \"no\"",
        "cost-center\": \"{{resolve:ssm:x}}\"",
    );
    for (text, arguments, code, words) in [
        (
            resolved.as_str(),
            &["--as", "cloudformation"][..],
            1,
            "in the tag `cost-center`",
        ),
        (
            &text[..patterns],
            &["--as", "iam-application"],
            1,
            "the mapping has no access patterns",
        ),
        (
            &text,
            &["--as", "iam-application", "--tenant", "user"],
            1,
            "use one of day, r, userId, or `none`",
        ),
        (
            &text,
            &["--as", "iam-application", "--account", "1"],
            2,
            "an AWS account is twelve digits",
        ),
    ] {
        std::fs::write(&changed, text).unwrap();
        let further = [arguments, &["-o", "-"]].concat();
        let ran = docs(&changed, &source.url(), &further).exits(code);
        assert_eq!(ran.stdout, "");
        ran.says(words);
    }
    // What Terraform would find out only while it applies.
    let (global, _) = bench("global").await;
    let global = std::fs::read_to_string(global).unwrap();
    let scaled = ", autoscale: { min: 5, max: 100, target: 70 }";
    for (text, words) in [
        (
            global.replace(scaled, ""),
            "only if its write capacity is autoscaled",
        ),
        (
            text.replace("read: 13000", "read: 11999"),
            "a warm throughput of at least 12000 reads and 4000 writes a second, and the mapping has 11999 and 5000",
        ),
    ] {
        std::fs::write(&changed, text).unwrap();
        docs(&changed, &source.url(), &["--as", "terraform", "-o", "-"])
            .exits(1)
            .says(words);
    }
    // Terraform resolves nothing.
    std::fs::write(&changed, resolved).unwrap();
    let ran = docs(&changed, &source.url(), &["--as", "terraform", "-o", "-"]).exits(0);
    ran.prints("\"{{resolve:ssm:x}}\"");
}
