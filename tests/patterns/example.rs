//! One worked example as data: its mapping, its databases, the items and the answers that must
//! come out.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use dynafold::mapping::yaml::{YamlNode, parse};
use serde_json::{Map, Value};

use crate::support::books::claimed;
use crate::support::source::Source;

use super::query::{Case, cases, words};

/// An item in DynamoDB's JSON.
pub(super) type Item = Map<String, Value>;

pub(super) struct Example {
    pub(super) name: &'static str,
    pub(super) migration: &'static str,
    /// The mapping's text, and what the tests need of it.
    pub(super) mapping: String,
    root: YamlNode,
    /// The items in canonical form.
    pub(super) golden: String,
    /// The moment of the run, where it matters.
    pub(super) now: Option<String>,
    /// What the books must count, besides rows that become items.
    pub(super) books: Vec<(String, u64)>,
    /// The codes that `check` may warn of, with one database or another; what the mapping accepts
    /// is none of them.
    pub(super) warnings: BTreeSet<String>,
    /// What the access patterns must answer.
    pub(super) cases: Vec<Case>,
}

/// What the books count besides rows that become items; what an example does not name is zero.
pub(super) const LEFT_OUT: [&str; 7] = [
    "filtered", "expired", "archived", "empty", "orphans", "cut", "rejected",
];

impl Example {
    /// Reads the files of an example: `mappings/NAME.yaml`, and below `tests/patterns` the items
    /// and answers of the example that `like` names.
    pub(super) fn read(name: &'static str, migration: &'static str, like: &str) -> Self {
        let mapping = text(&format!("mappings/{name}.yaml"));
        let root = parse(&mapping).unwrap();
        let expected = parse(&text(&format!("tests/patterns/{name}.queries.yaml"))).unwrap();
        let mut example = Self {
            name,
            migration,
            mapping,
            root,
            golden: text(&format!("tests/patterns/{like}.ndjson")),
            now: None,
            books: Vec::new(),
            warnings: BTreeSet::new(),
            cases: Vec::new(),
        };
        for entry in expected.entries() {
            match entry.key.as_str() {
                "now" => example.now = entry.value.text().map(str::to_owned),
                "books" => {
                    let counts = entry.value.entries().iter();
                    let counts = counts.map(|count| {
                        assert!(LEFT_OUT.contains(&count.key.as_str()), "{}", count.key);
                        (
                            count.key.clone(),
                            count.value.text().unwrap().parse().unwrap(),
                        )
                    });
                    example.books = counts.collect();
                }
                "warnings" => example.warnings = words(&entry.value).into_iter().collect(),
                "queries" => example.cases = cases(&entry.value),
                "queries_of" => {
                    let other = entry.value.text().unwrap();
                    let other = text(&format!("tests/patterns/{other}.queries.yaml"));
                    example.cases = cases(parse(&other).unwrap().get("queries").unwrap());
                }
                other => panic!("{name}: {other}"),
            }
        }
        example
    }

    /// Its database on every server that there is.
    pub(super) async fn sources(&self) -> Vec<Source> {
        Source::everywhere(self.migration).await
    }

    pub(super) fn items(&self) -> Vec<Item> {
        let lines = self.golden.lines();
        lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// The names of the table's key attributes.
    pub(super) fn key(&self) -> Vec<&str> {
        let key = self.root.get("table").unwrap().get("key").unwrap();
        let names = ["partition", "sort"].into_iter();
        names.filter_map(|name| key.get(name)?.text()).collect()
    }

    /// The mapping's access patterns: names and what is said of each.
    pub(super) fn patterns(&self) -> impl Iterator<Item = (&str, &YamlNode)> {
        let patterns = self.root.get("access_patterns").unwrap().entries();
        patterns
            .iter()
            .map(|entry| (entry.key.as_str(), &entry.value))
    }

    /// Fails unless the books of a report say what they must.
    pub(super) fn hold_books(&self, report: &Value) {
        assert_eq!(report["outcome"]["state"], "complete", "{report:#}");
        assert_eq!(claimed(report, "books_balance"), "proved", "{report:#}");
        for count in LEFT_OUT {
            let named = self.books.iter().find(|(name, _)| name == count);
            let expected = named.map_or(0, |(_, count)| *count);
            assert_eq!(report["total"][count], expected, "{count}: {report:#}");
        }
        let items = self.golden.lines().count();
        assert_eq!(report["total"]["written"], items, "{report:#}");
    }
}

/// A file of the repository.
pub(super) fn text(path: &str) -> String {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
