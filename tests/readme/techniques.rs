//! The page of techniques: it names a hundred, and the tests that it names are there.

use super::blocks::page;
use super::files;

#[test]
fn a_hundred_techniques_are_listed_and_the_tests_that_show_them_exist() {
    let page = page("docs/techniques.md");
    let rows: Vec<Vec<&str>> = page
        .text
        .lines()
        .map(|line| line.split(" | ").collect())
        .filter(|cells: &Vec<&str>| cells.len() == 5 && cells[0].starts_with("| "))
        .filter(|cells| cells[0].trim_start_matches("| ").parse::<usize>().is_ok())
        .collect();
    let numbers = rows.iter().map(|cells| cells[0].trim_start_matches("| "));
    let wanted = (1..=100).map(|number: usize| number.to_string());
    assert!(numbers.eq(wanted), "{} rows", rows.len());
    let sources = ["crates", "src", "tests"]
        .into_iter()
        .flat_map(|folder| files(folder, "rs"));
    let code: String = sources
        .map(|file| std::fs::read_to_string(file).unwrap())
        .collect();
    for cells in rows {
        let missing = ["**not yet", "**left out"]
            .iter()
            .any(|mark| cells[3].contains(mark));
        let shown = cells[4].trim_end_matches('|').trim();
        assert!(missing || !shown.is_empty(), "{cells:?}");
        for name in shown.split('`').skip(1).step_by(2) {
            // Tests of the worked examples are lines of a macro.
            let is_test =
                code.contains(&format!("fn {name}(")) || code.contains(&format!(" {name}: \""));
            let is_there = name.starts_with("dynafold ") || is_test;
            assert!(is_there, "{name}: {cells:?}");
        }
    }
}
