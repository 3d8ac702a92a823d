//! The documentation is tested: every fenced block is run, checked or parsed, and every link is
//! followed. What it says of the source's layout is held against the source.

pub(crate) mod blocks;
mod circles;
pub(crate) mod console;
mod links;
mod mappings;
mod rooms;
mod techniques;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use dynafold::diagnostic::Code;
use serde_json::Value;

use blocks::{blocks, headings, page, pages};

/// Languages of fenced blocks, and what is done with each: `yaml` is checked, `json` parsed,
/// `console` and `sh` run or parsed, `sql` and `text` only read by people.
const LANGUAGES: [&str; 6] = ["yaml", "json", "console", "sh", "sql", "text"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The files below a folder of the repository with this extension.
fn files(folder: &str, extension: &str) -> Vec<PathBuf> {
    let mut found = walk(&root().join(folder), &|_| true);
    found.retain(|path| path.extension().is_some_and(|other| other == extension));
    found
}

/// The files below a folder, in order; of files and folders only those that are wanted.
fn walk(folder: &Path, wanted: &dyn Fn(&Path) -> bool) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if !wanted(&path) {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

#[test]
fn every_block_says_what_it_is() {
    for page in pages() {
        for block in blocks(&page) {
            assert!(
                LANGUAGES.contains(&block.language.as_str()),
                "{}: a block of the language `{}`; the tests know {LANGUAGES:?}",
                block.place,
                block.language
            );
        }
    }
}

#[test]
fn every_json_block_is_json() {
    for page in pages() {
        for block in blocks(&page) {
            if block.language == "json"
                && let Err(error) = serde_json::from_str::<Value>(&block.text)
            {
                panic!("{}: {error}", block.place);
            }
        }
    }
}

#[test]
fn no_file_holds_what_a_merge_left_undecided() {
    const MARKS: [&str; 3] = ["<<<<<<< ", "||||||| ", ">>>>>>> "];
    let ours = |path: &Path| {
        let made = [
            "target",
            "fuzz/target",
            "fuzz/work",
            "dynafold-demo",
            ".git",
        ];
        made.iter().all(|name| path != root().join(name))
    };
    let mut left = Vec::new();
    for path in walk(root(), &ours) {
        // What is not text was never merged.
        let Ok(text) = std::fs::read_to_string(&path) else {
            continue;
        };
        let lines = text.lines().zip(1..);
        let marked = lines.filter(|(line, _)| MARKS.iter().any(|mark| line.starts_with(mark)));
        left.extend(marked.map(|(line, number)| format!("{}:{number}: {line}", path.display())));
    }
    assert!(left.is_empty(), "{left:#?}");
}

#[test]
fn every_guard_that_the_hunter_takes_away_stands_in_its_file_once() {
    let mutants = std::fs::read_to_string(root().join("tests/hunter/mutants/mutants.json"));
    let mutants: Vec<Value> = serde_json::from_str(&mutants.unwrap()).unwrap();
    for mutant in mutants {
        let file = mutant["file"].as_str().unwrap();
        let text = std::fs::read_to_string(root().join(file)).unwrap();
        let times = text.matches(mutant["old"].as_str().unwrap()).count();
        assert_eq!(times, 1, "{}: {file}", mutant["name"]);
    }
}

#[test]
fn the_readme_is_short() {
    let lines = page("README.md").text.lines().count();
    assert!(lines < 250, "the README has {lines} lines");
}

#[test]
fn every_diagnostic_has_its_section_and_no_other_has_one() {
    let page = page("docs/diagnostics.md");
    let documented = headings(&page, 2);
    let codes: Vec<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
    assert_eq!(documented, codes);
}

#[test]
fn the_schema_in_the_repository_is_the_programs() {
    let file = root().join("docs/mapping.schema.json");
    let kept: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    assert!(
        kept == dynafold::mapping::schema(),
        "write it anew: dynafold schema > docs/mapping.schema.json"
    );
}

#[test]
fn every_key_of_the_language_is_documented() {
    let mut keys = BTreeSet::new();
    collect_keys(&dynafold::mapping::schema(), &mut keys);
    let pages = [
        "mapping",
        "mapping-nested",
        "mapping-table",
        "access-patterns",
    ];
    let text = pages.map(|name| page(&format!("docs/{name}.md")).text);
    let text = text.concat();
    let missing: Vec<&String> = keys
        .iter()
        .filter(|key| !text.contains(&format!("`{key}`")))
        .collect();
    assert!(
        missing.is_empty(),
        "the pages of the mapping language lack {missing:?}"
    );
}

fn collect_keys(schema: &Value, keys: &mut BTreeSet<String>) {
    match schema {
        Value::Object(members) => {
            if let Some(Value::Object(properties)) = members.get("properties") {
                keys.extend(properties.keys().cloned());
            }
            members.values().for_each(|each| collect_keys(each, keys));
        }
        Value::Array(elements) => elements.iter().for_each(|each| collect_keys(each, keys)),
        _ => {}
    }
}

/// The operations that the target calls, by its own words.
pub(crate) fn called() -> BTreeSet<String> {
    let files = files("crates/target/src", "rs");
    let called = files.iter().flat_map(|file| {
        let text = std::fs::read_to_string(file).unwrap();
        let calls = ["self.action(\"", "self.control(\""];
        let calls = calls.iter().flat_map(|call| text.split(call).skip(1));
        let names = calls.filter_map(|rest| rest.split('"').next().map(str::to_owned));
        names.collect::<Vec<String>>()
    });
    called.collect()
}

#[test]
fn the_policy_allows_what_the_target_calls_and_no_more() {
    let page = page("docs/aws.md");
    let policy = blocks(&page)
        .into_iter()
        .find(|block| block.text.contains("\"Statement\""))
        .unwrap();
    let allowed: BTreeSet<String> = policy
        .text
        .split("\"dynamodb:")
        .skip(1)
        .filter_map(|rest| rest.split('"').next().map(str::to_owned))
        .collect();
    assert_eq!(allowed, called());
}
