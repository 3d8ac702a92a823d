//! The pages of the patterns cannot go stale: what they show stands in the files of the examples, or is
//! what the other tests expect of them.

use std::path::Path;

use serde_json::Value;

use crate::readme::blocks::{Block, Page, blocks, headings, page};

use super::all;
use super::example::{Example, Item, text};

const PAGES: [&str; 2] = ["docs/patterns.md", "docs/patterns-8-to-14.md"];

/// The section of one pattern: its blocks, and the examples that it links to.
struct Section {
    title: String,
    blocks: Vec<Block>,
    examples: Vec<Example>,
}

fn all_sections() -> Vec<Section> {
    PAGES
        .iter()
        .flat_map(|path| sections(&page(path)))
        .collect()
}

fn sections(page: &Page) -> Vec<Section> {
    let all_blocks = blocks(page);
    let parts = page.text.split("\n## ").skip(1);
    let section = |part: &str| {
        let title = part.lines().next().unwrap().to_owned();
        let links =
            |example: &Example| part.contains(&format!("(../mappings/{}.yaml)", example.name));
        Section {
            blocks: all_blocks
                .iter()
                .filter(|block| block.section == title)
                .cloned()
                .collect(),
            examples: all().filter(links).collect(),
            title,
        }
    };
    parts.map(section).collect()
}

impl Section {
    /// The blocks of a language, of which there has to be one.
    fn of(&self, language: &str) -> Vec<&Block> {
        let found: Vec<&Block> = self
            .blocks
            .iter()
            .filter(|b| b.language == language)
            .collect();
        assert!(!found.is_empty(), "{}: no {language}", self.title);
        found
    }

    /// Fails unless a block stands in one of the files, line for line.
    fn stands_in(&self, block: &Block, files: &[String]) {
        let found = files.iter().any(|file| {
            let file = format!("\n{file}");
            file.contains(&format!("\n{}", block.text))
        });
        assert!(
            found,
            "{}: stands in no file of {}:\n{}",
            block.place, self.title, block.text
        );
    }

    fn items(&self) -> Vec<Item> {
        self.examples.iter().flat_map(Example::items).collect()
    }
}

/// The migration of an example for PostgreSQL, whose types are those of the page.
fn migration(example: &Example) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations/postgres");
    let mut files = std::fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path());
    let ending = format!("_{}.sql", example.migration);
    let file = files.find(|file| file.to_str().unwrap().ends_with(&ending));
    std::fs::read_to_string(file.unwrap()).unwrap()
}

#[test]
fn the_cookbook_has_a_section_for_each_pattern_and_shows_each_example() {
    let sections = all_sections();
    let pages = PAGES.map(page);
    let numbers: Vec<usize> = pages
        .iter()
        .flat_map(|page| headings(page, 2))
        .filter_map(|title| title.split_once(". "))
        .map(|(number, _)| number.parse().unwrap())
        .collect();
    assert_eq!(numbers, (1..=14).collect::<Vec<_>>());
    let mut shown: Vec<&str> = sections
        .iter()
        .flat_map(|s| &s.examples)
        .map(|e| e.name)
        .collect();
    let mut expected: Vec<&str> = super::EXAMPLES.iter().map(|example| example.0).collect();
    shown.sort_unstable();
    expected.sort_unstable();
    assert_eq!(shown, expected);
}

#[test]
fn the_cookbooks_tables_and_mappings_stand_in_the_files() {
    for section in all_sections() {
        let migrations: Vec<String> = section.examples.iter().map(migration).collect();
        for block in section.of("sql") {
            section.stands_in(block, &migrations);
        }
        let mappings = section.examples.iter();
        let mappings: Vec<String> = mappings
            .map(|example| text(&format!("mappings/{}.yaml", example.name)))
            .collect();
        for block in section.of("yaml") {
            section.stands_in(block, &mappings);
        }
    }
}

#[test]
fn the_cookbooks_items_queries_and_answers_are_those_of_the_tests() {
    for section in all_sections() {
        let golden = section.items();
        let cases = section
            .examples
            .iter()
            .flat_map(|e| e.cases.iter().map(move |case| (e, case)));
        let cases: Vec<_> = cases.collect();
        let (mut items, mut queries) = (0, Vec::new());
        for block in section.of("json") {
            match serde_json::from_str(&block.text).unwrap() {
                Value::Array(shown) => {
                    for item in shown {
                        let known = item.as_object().is_some_and(|item| golden.contains(item));
                        assert!(known, "{}: not an item: {item}", block.place);
                        items += 1;
                    }
                }
                query if query.get("KeyConditionExpression").is_some() => {
                    let mut known = cases.iter();
                    let asked = known.find(|(e, case)| case.request(e.name) == query);
                    queries
                        .push(asked.unwrap_or_else(|| panic!("{}: nobody asks this", block.place)));
                }
                // A policy, or a filter of a stream.
                _ => {}
            }
        }
        assert!(items > 0, "{}: no items", section.title);
        let answers = section.of("text");
        assert_eq!(answers.len(), queries.len(), "{}", section.title);
        for (answer, (_, case)) in answers.iter().zip(queries) {
            let keys = answer
                .text
                .lines()
                .map(|line| line.split("  ").map(str::trim));
            let keys = keys.map(|parts| parts.filter(|part| !part.is_empty()).map(str::to_owned));
            let keys: Vec<Vec<String>> = keys.map(Iterator::collect).collect();
            assert_eq!(keys, case.answer, "{}", answer.place);
        }
    }
}
