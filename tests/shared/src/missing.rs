//! What cannot be tested here. Every test that goes without something says so through [`not_tested`], and the last lines
//! of `tests/run` list it.

use std::fs::OpenOptions;
use std::io::Write as _;

/// Records that the test that runs goes without something, wholly or in part, and why.
pub fn not_tested(what: &str, why: &str) {
    let test = std::thread::current();
    let test = test.name().unwrap_or("a test");
    // Past the test harness, which keeps what a passing test prints to itself.
    let line = format!("NOT TESTED by {test}: {what}, because {why}\n");
    std::io::stderr().write_all(line.as_bytes()).unwrap();
    if let Some(file) = std::env::var_os("DYNAFOLD_TEST_MISSING") {
        let file = OpenOptions::new().append(true).create(true).open(file);
        let line = format!("{what}\t{why}\t{test}\n");
        file.unwrap().write_all(line.as_bytes()).unwrap();
    }
}

/// What a variable names; `None`, which is recorded, where it is `none` or not set. The reason is what `tests/run` says of
/// it, in the variable with `_MISSING` behind its name.
pub fn named_by(variable: &str, what: &str) -> Option<String> {
    let named = std::env::var(variable).ok();
    let named = named.filter(|named| named != "none");
    if named.is_none() {
        let why = std::env::var(format!("{variable}_MISSING"));
        not_tested(
            what,
            &why.unwrap_or_else(|_| format!("{variable} names none")),
        );
    }
    named
}
