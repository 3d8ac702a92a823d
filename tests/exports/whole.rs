//! Whole exports as they were reviewed, and what each warns of.

use std::path::Path;

use serde_json::json;

use super::{at, bench, docs, root, template};
use crate::support::cli::dynafold;
use crate::support::source::Source;

/// An export of a mapping of these tests, and what was warned of below it.
async fn whole(name: &str, format: &str) -> String {
    let (mapping, source) = bench(name).await;
    let made = docs(&mapping, &source.url(), &["--as", format, "-o", "-"]).exits(0);
    let again = docs(&mapping, &source.url(), &["--as", format, "-o", "-"]).exits(0);
    assert_eq!(made.stdout, again.stdout);
    format!("{}\n{}", made.stdout, made.stderr)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn templates_and_configurations_are_as_reviewed() {
    insta::assert_snapshot!("full.cloudformation", whole("full", "cloudformation").await);
    insta::assert_snapshot!("full.terraform", whole("full", "terraform").await);
    insta::assert_snapshot!(
        "global.cloudformation",
        whole("global", "cloudformation").await
    );
    insta::assert_snapshot!("global.terraform", whole("global", "terraform").await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_workbench_model_is_as_reviewed() {
    let source = Source::on_sqlite("personalization").await;
    let mapping = root().join("mappings/personalization.yaml");
    let arguments = ["--as", "workbench", "--limit", "2", "-o", "-"];
    let made = docs(&mapping, &source.url(), &arguments).exits(0);
    insta::assert_snapshot!(
        "personalization.workbench",
        format!("{}\n{}", made.stdout, made.stderr)
    );
    let dated = [&arguments[..], &["--now", "2026-01-31T15:04:05Z"]].concat();
    let dated = docs(&mapping, &source.url(), &dated).exits(0).json();
    assert_eq!(
        dated["ModelMetadata"]["DateCreated"],
        "Jan 31, 2026, 03:04 PM"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn awkward_texts_come_through_a_template_as_they_are() {
    let (mapping, source) = bench("full").await;
    let made = docs(
        &mapping,
        &source.url(),
        &["--as", "cloudformation", "-o", "-"],
    )
    .exits(0);
    let template = template(&made.stdout);
    let table = at(&template, &["Resources", "Table", "Properties"]);
    let tags = at(table, &["Tags"]).elements().iter();
    let tags: Vec<&str> = tags
        .map(|tag| at(tag, &["Value"]).text().unwrap())
        .collect();
    assert_eq!(tags, [r#"a "b" \ ${c} %{d} $${e} 안녕: #x"#, "no", ""]);
    let index = &at(table, &["GlobalSecondaryIndexes"]).elements()[1];
    let names = at(index, &["Projection", "NonKeyAttributes"]).elements();
    assert_eq!(names[1].text(), Some("it's ${y} a:b"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_workbench_model_without_examples_tells_types_from_the_mapping() {
    let source = Source::on_sqlite("personalization").await;
    let mapping = root().join("mappings/personalization.yaml");
    let folder = tempfile::tempdir().unwrap();
    let catalog = folder.path().join("catalog.json");
    let inspected = dynafold(&["inspect", "--source", &source.url(), "--format", "json"]).exits(0);
    std::fs::write(&catalog, inspected.stdout).unwrap();
    let (mapping, catalog) = (mapping.to_str().unwrap(), catalog.to_str().unwrap());
    let offline = [
        "docs",
        mapping,
        "--catalog",
        catalog,
        "--as",
        "workbench",
        "-o",
        "-",
    ];
    let offline = dynafold(&offline).exits(0).json();
    let hidden = ["--as", "workbench", "--no-examples", "-o", "-"];
    let hidden = docs(Path::new(mapping), &source.url(), &hidden)
        .exits(0)
        .json();
    assert_eq!(offline, hidden);
    let table = &offline["DataModel"][0];
    for facet in table["TableFacets"].as_array().unwrap() {
        assert_eq!(facet["TableData"], json!([]));
    }
    let types: Vec<(&str, &str)> = table["NonKeyAttributes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|a| {
            (
                a["AttributeName"].as_str().unwrap(),
                a["AttributeType"].as_str().unwrap(),
            )
        })
        .collect();
    let expected = ["data", "email", "name", "gender", "title"].map(|name| (name, "S"));
    assert_eq!(types, expected);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn long_names_of_indexes_fit_what_is_made_of_them() {
    let (mapping, source) = bench("full").await;
    let text = std::fs::read_to_string(mapping).unwrap();
    let mut indexes = String::from("  indexes:\n");
    for number in 10..28 {
        let name = format!("{}{number}", "a".repeat(253));
        indexes.push_str(&format!("    {name}: {{ partition: day }}\n"));
    }
    let folder = tempfile::tempdir().unwrap();
    let changed = folder.path().join("long.yaml");
    let text = text.replace("  indexes:\n", &indexes);
    let (text, _) = text.split_once("access_patterns:").unwrap();
    std::fs::write(&changed, text).unwrap();
    let made = |format: &str| docs(&changed, &source.url(), &["--as", format, "-o", "-"]).exits(0);
    let cloudformation = made("cloudformation");
    let template = template(&cloudformation.stdout);
    let resources = at(&template, &["Resources"]).entries();
    assert!(resources.len() > 18 * 4);
    assert!(resources.iter().all(|entry| entry.key.len() <= 255));
    let warned = "use `aws cloudformation deploy --s3-bucket BUCKET`";
    let said = &cloudformation.stderr;
    assert!(said.contains(warned), "{said}");
    let terraform = made("terraform").stdout;
    let policies = terraform.split("resource \"aws_appautoscaling_policy\" \"");
    let names = policies.skip(1).filter_map(|rest| rest.split('"').next());
    let names: Vec<&str> = names.collect();
    let apart: std::collections::BTreeSet<&str> = names.iter().copied().collect();
    assert_eq!((names.len(), apart.len()), (21 * 2, 21 * 2));
    assert!(names.iter().all(|name| name.len() <= 256));
}
