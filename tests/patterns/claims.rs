//! `verify --patterns`: what is claimed of access patterns that are wrong, or whose SQL says more than their key.
//! `claims.yaml` holds the patterns, each with its verdict.

use dynafold::mapping::yaml::{YamlNode, parse};
use serde_json::Value;

use super::example::text;
use crate::support::cli::{command, run};
use crate::support::source::Source;
use crate::support::{mysql, postgres, sqlite};

fn word<'n>(node: &'n YamlNode, key: &str) -> Option<&'n str> {
    node.get(key).and_then(YamlNode::text)
}

/// Loads a world, and holds what is claimed of its patterns against the verdicts. Gives how many were held.
fn hold(world: &YamlNode, source: &Source) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mapping.yaml");
    let mapping = word(world, "mapping").unwrap();
    let (url, table) = (
        source.url(),
        format!("local:{}", folder.path().join("table.ddb").display()),
    );
    let ask = |name: &str, mapping: &str, further: &[&str]| {
        std::fs::write(&file, mapping).unwrap();
        let first = [
            name,
            file.to_str().unwrap(),
            "--source",
            &url,
            "--target",
            &table,
            "--format",
            "json",
        ];
        run(command(&[&first, further].concat()).env("DYNAFOLD_PSEUDONYM_KEY", "key"))
    };
    ask("migrate", mapping, &["--max-rejects", "9"]);
    let cases = world.get("cases").unwrap().elements();
    let cases = cases
        .iter()
        .filter(|case| word(case, "on").is_none_or(|on| on == source.product()));
    let mut count = 0;
    for case in cases {
        count += 1;
        let name = word(case, "name").unwrap();
        let mapping = format!(
            "{mapping}access_patterns:\n  asked: {{ accept: [parameter-form, extra-items, unproved-answer, unpadded-number], {} }}\n",
            word(case, "pattern").unwrap()
        );
        let ran = ask(
            "verify",
            &mapping,
            &[
                "--patterns",
                "--values",
                word(case, "values").unwrap_or("20"),
            ],
        );
        let wanted = word(case, "verdict").unwrap();
        let code = if ["proved", "agrees"].contains(&wanted) {
            0
        } else {
            3
        };
        let report = ran.exits(code).json();
        let claim = &report["claims"][0];
        assert_eq!(claim["claim"], "pattern_answers", "{report:#}");
        assert_eq!(claim["of"]["pattern"], "asked", "{report:#}");
        assert_eq!(
            claim["verdict"],
            wanted,
            "{name} on {}: {report:#}",
            source.product()
        );
        let notes = report["patterns"][0]["notes"].to_string();
        assert!(notes.contains(word(case, "note").unwrap_or("")), "{notes}");
        let because = word(case, "because").unwrap_or("");
        assert!(
            claim["because"].as_str().unwrap().contains(because),
            "{name}: {claim:#}"
        );
        assert_eq!(
            claim["example"].is_string(),
            wanted == "differs",
            "{name}: {claim:#}"
        );
        let example = claim["example"].as_str().unwrap_or("");
        assert!(
            example.contains(word(case, "example").unwrap_or("")),
            "{name}: {claim:#}"
        );
        assert_eq!(
            claim["asked"].is_u64(),
            wanted == "agrees",
            "{name}: {claim:#}"
        );
        assert_ne!(claim["facts"], Value::Array(Vec::new()), "{name}");
    }
    count
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_pattern_has_the_verdict_that_its_rows_allow() {
    let all = parse(&text("tests/patterns/claims.yaml")).unwrap();
    let mut count = 0;
    for world in all.get("worlds").unwrap().entries() {
        let script = word(&world.value, "script").unwrap();
        let mut sources = Vec::new();
        let on = word(&world.value, "on");
        if on.is_none_or(|on| on == "sqlite") {
            sources.push(Source::Sqlite(sqlite::Database::new(script).await));
        }
        if on.is_none_or(|on| on == "postgres") {
            sources.push(Source::Postgres(postgres::Database::with(script).await));
        }
        let servers = mysql::servers().into_iter();
        let is_on = |product: &str| on.is_some_and(|on| on.split(", ").any(|one| one == product));
        for (product, server) in servers.filter(|(product, _)| is_on(product)) {
            let database = mysql::Database::new(&server).await;
            database.run(script).await;
            sources.push(Source::Mysql(product, database));
        }
        for source in sources {
            count += hold(&world.value, &source);
            source.drop().await;
        }
    }
    assert!(count > 60, "{count}");
}
