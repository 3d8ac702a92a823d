//! What the fuzzer has found, run once more through the same functions: `fuzz/corpus`, and what once failed.

#[path = "../fuzz/checks/document.rs"]
mod document;
#[path = "../fuzz/checks/mapping_file.rs"]
mod mapping_file;
#[path = "../fuzz/checks/nested.rs"]
mod nested;
#[path = "../fuzz/checks/number.rs"]
mod number;
#[path = "../fuzz/checks/template.rs"]
mod template;

use std::path::Path;

/// Runs a check on every file of a target's corpus, and says which one it fails on.
fn replay(target: &str, check: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus");
    let mut files = 0;
    for file in std::fs::read_dir(folder.join(target)).unwrap() {
        let path = file.unwrap().path();
        let input = std::fs::read(&path).unwrap();
        if let Err(panic) = std::panic::catch_unwind(|| check(&input)) {
            eprintln!("{}", path.display());
            std::panic::resume_unwind(panic);
        }
        files += 1;
    }
    assert!(files > 20, "{target}: {files} files");
}

#[test]
fn the_corpus_of_documents_is_read_as_serde_json_reads_it() {
    replay("document", document::check);
}

#[test]
fn the_corpus_of_mappings_is_checked_and_folded_without_a_panic() {
    replay("mapping_file", mapping_file::check);
}

#[test]
fn the_corpus_of_what_is_nested_deep_ends_with_a_value_or_a_fault() {
    replay("nested", nested::check);
}

#[test]
fn the_corpus_of_numbers_is_read_as_the_reference_reads_it() {
    replay("number", number::check);
}

#[test]
fn the_corpus_of_templates_prints_back_and_evaluates() {
    replay("template", template::check);
}

#[test]
fn the_corpus_stays_small() {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus")];
    let mut bytes = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            } else {
                bytes += entry.metadata().unwrap().len();
            }
        }
    }
    assert!(bytes < 300_000, "{bytes} bytes: see CONTRIBUTING.md");
}
