//! The first three invariants of ARCHITECTURE.md: who may do I/O, speak to databases and to AWS,
//! and print.

use std::process::Command;

use super::{files, root};

/// Crates that do no I/O. Cargo holds the wall: they can use only what they depend on.
const PURE_CRATES: [&str; 5] = [
    "dynafold-dynamodb",
    "dynafold-format",
    "dynafold-mapping",
    "dynafold-relational",
    "dynafold-sql",
];

#[test]
fn pure_crates_depend_on_no_runtime_no_driver_and_no_sdk() {
    for name in PURE_CRATES {
        let tree = Command::new(env!("CARGO"))
            .args(["tree", "--offline", "--locked", "--edges", "normal"])
            .args(["--prefix", "none", "--package", name])
            .current_dir(root())
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&tree.stderr);
        assert!(tree.status.success(), "{told}");
        let tree = String::from_utf8(tree.stdout).unwrap();
        assert!(tree.starts_with(name), "{tree}");
        let impure = ["tokio", "sqlx", "aws-", "rusqlite", "dynoxide"];
        let found = tree
            .lines()
            .find(|line| impure.iter().any(|word| line.starts_with(word)));
        assert_eq!(found, None, "{name} depends on it");
    }
}

/// Rooms that do no I/O.
const PURE: [&str; 4] = ["document/", "throttle/", "batch.rs", "retry.rs"];

/// What only some rooms name: the words, and where they may stand.
const WORDS: [(&[&str], &[&str]); 4] = [
    (&["sqlx"], &["source/"]),
    (
        &[
            "aws_config::",
            "aws_sdk",
            "aws_smithy",
            "aws_types::",
            "dynoxide::",
        ],
        &["target/"],
    ),
    (&["rusqlite::"], &["target/"]),
    (
        &[
            "println!",
            "print!(",
            "std::env::var",
            "process::exit",
            "ExitCode",
        ],
        &["cli/", "cli.rs", "main.rs"],
    ),
];

/// What pure rooms do not name.
const IMPURE: [&str; 5] = ["std::fs", "std::net", "std::io", "tokio::", "SystemTime"];

#[test]
fn each_room_keeps_to_itself() {
    let mut strays = Vec::new();
    let is_test = |path: &str| path.ends_with("tests.rs") || path.contains("/tests/");
    for file in files("crates", "rs") {
        if is_test(&file.to_string_lossy()) {
            continue;
        }
        let text = std::fs::read_to_string(&file).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap();
        let found = IMPURE.iter().filter(|word| code.contains(**word));
        strays.extend(found.map(|word| format!("{} names `{word}`", file.display())));
    }
    for file in files("src", "rs") {
        let relative = file.strip_prefix(root().join("src")).unwrap();
        let path = relative.to_str().unwrap().replace('\\', "/");
        if is_test(&path) {
            continue;
        }
        let text = std::fs::read_to_string(&file).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap();
        let lines = code.lines().filter(|l| !l.trim_start().starts_with("//"));
        let code: String = lines.flat_map(|line| [line, "\n"]).collect();
        let within = |rooms: &[&str]| rooms.iter().any(|room| path.starts_with(room));
        for (words, rooms) in WORDS {
            if !within(rooms) {
                let found = words.iter().filter(|word| code.contains(**word));
                strays.extend(found.map(|word| format!("src/{path} names `{word}`")));
            }
        }
        if within(&PURE) {
            let found = IMPURE.iter().filter(|word| code.contains(**word));
            strays.extend(found.map(|word| format!("src/{path} names `{word}`")));
        }
    }
    assert!(strays.is_empty(), "{}", strays.join("\n"));
}
