//! Joins, embeds and explodes: the same items from every database, whole and sampled.

mod embed;
mod explode;
mod family;
mod join;

use dynafold::target::{TargetSpec, connect};
use serde_json::Value;

use crate::support::books::{claimed, hold_compared};
use crate::support::cli::dynafold;
use crate::support::contents::{canonical, contents};
use crate::support::source::Source;

/// What a mapping made of a database.
pub(crate) struct Loaded {
    /// The items, a line each, in canonical form.
    pub(crate) items: String,
    /// The report of the load.
    pub(crate) report: Value,
}

impl Loaded {
    /// The item with this partition key value.
    pub(crate) fn item(&self, partition: &str) -> Value {
        let items = self.items.lines();
        let items = items.map(|line| serde_json::from_str::<Value>(line).unwrap());
        let mut found = items.filter(|item| item["PK"]["S"] == partition);
        found
            .next()
            .unwrap_or_else(|| panic!("no {partition} in:\n{}", self.items))
    }
}

/// Loads a mapping from one database into an engine, verifies it, and compares it with the preview.
pub(crate) async fn load(source: &Source, mapping: &str) -> Loaded {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mapping.yaml");
    std::fs::write(&file, mapping).unwrap();
    let file = file.to_str().unwrap();
    let target = format!("local:{}", folder.path().join("table.ddb").display());
    let rejects = folder.path().join("rejects.ndjson");
    let rejects = rejects.to_str().unwrap();
    let url = source.url();
    let ran = dynafold(&[
        "migrate",
        file,
        "--source",
        &url,
        "--target",
        &target,
        "--max-rejects",
        "100",
        "--rejects",
        rejects,
        "--format",
        "json",
    ]);
    let report: Value = serde_json::from_str(&ran.stdout)
        .unwrap_or_else(|error| panic!("{}: {error}: {ran:?}", source.product()));
    assert_eq!(claimed(&report, "books_balance"), "proved", "{report:#}");
    let spec = TargetSpec::parse(&target, None, None, None).unwrap();
    let items = {
        let target = connect(&spec).await.unwrap();
        contents(target.as_ref(), "tab").await
    };
    let with = ["--source", &url, "--format"];
    let verified =
        dynafold(&[&["verify", file, "--target", &target], &with[..], &["json"]].concat());
    let verified = verified.json();
    assert_eq!(verified["outcome"]["state"], "equal", "{verified:#}");
    hold_compared(&verified);
    let preview = dynafold(
        &[
            &["preview", file, "--limit", "1000"],
            &with[..],
            &["dynamodb-json"],
        ]
        .concat(),
    );
    let previewed = preview.stdout.lines();
    let previewed = canonical(previewed.map(|line| serde_json::from_str(line).unwrap()));
    assert_eq!(previewed, items, "{}: the preview", source.product());
    Loaded { items, report }
}

/// Loads a mapping from every database, and makes sure that all give the same items.
pub(crate) async fn load_everywhere(script: impl Fn(&str) -> String, mapping: &str) -> Loaded {
    let mut first: Option<Loaded> = None;
    for source in Source::each(script).await {
        let loaded = load(&source, mapping).await;
        let product = source.product();
        source.drop().await;
        let Some(first) = &first else {
            first = Some(loaded);
            continue;
        };
        assert_eq!(first.items, loaded.items, "{product}");
        assert_eq!(counts(first), counts(&loaded), "{product}");
    }
    first.unwrap()
}

/// The books, as far as they are the same from every database.
fn counts(loaded: &Loaded) -> Vec<(&'static str, Value)> {
    let names = [
        "rows_read",
        "filtered",
        "empty",
        "expanded",
        "orphans",
        "cut",
        "rejected",
        "made",
    ];
    let total = &loaded.report["total"];
    names.map(|name| (name, total[name].clone())).to_vec()
}

/// A mapping of the table `t` with these item types.
pub(crate) fn mapping(items: &str) -> String {
    format!(
        "dynafold: 1\ntable: {{ name: tab, key: {{ partition: PK, sort: SK }}, type_attribute: false }}\nitems:\n{items}"
    )
}
