//! The first three invariants of ARCHITECTURE.md: who may do I/O, speak to databases and to AWS,
//! and print.

use std::process::Command;

use super::{files, root};

/// Crates that do no I/O. Cargo holds the wall: they can use only what they depend on.
const PURE_CRATES: [&str; 7] = [
    "dynafold-design",
    "dynafold-document",
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
        let reported = String::from_utf8_lossy(&tree.stderr);
        assert!(tree.status.success(), "{reported}");
        let tree = String::from_utf8(tree.stdout).unwrap();
        assert!(tree.starts_with(name), "{tree}");
        let impure = ["tokio", "sqlx", "aws-", "rusqlite", "dynoxide"];
        let found = tree
            .lines()
            .find(|line| impure.iter().any(|word| line.starts_with(word)));
        assert_eq!(found, None, "{name} depends on it");
    }
}

/// Rooms of other crates that do no I/O either.
const PURE_ROOMS: [&str; 3] = [
    "crates/target/src/batcher.rs",
    "crates/target/src/retry.rs",
    "crates/target/src/throttle/",
];

/// What nothing pure names.
const IMPURE: [&str; 5] = ["std::fs", "std::net", "std::io", "tokio::", "SystemTime"];

/// What only some rooms name: the words, and where they may stand.
const WORDS: [(&[&str], &[&str]); 3] = [
    (&["sqlx"], &["crates/source/"]),
    (
        &[
            "aws_config::",
            "aws_sdk",
            "aws_smithy",
            "aws_types::",
            "dynoxide::",
            "rusqlite::",
        ],
        &["crates/target/"],
    ),
    (
        &[
            "println!",
            "print!(",
            "std::env::var",
            "process::exit",
            "ExitCode",
        ],
        &["src/cli/", "src/main.rs"],
    ),
];

#[test]
fn each_room_keeps_to_itself() {
    let pure = PURE_CRATES.map(|name| format!("crates/{}/", name.replace("dynafold-", "")));
    let pure: Vec<&str> = pure.iter().map(String::as_str).chain(PURE_ROOMS).collect();
    let mut strays = Vec::new();
    let files = [files("crates", "rs"), files("src", "rs")].concat();
    for file in files {
        let relative = file.strip_prefix(root()).unwrap();
        let path = relative.to_str().unwrap().replace('\\', "/");
        if path.ends_with("tests.rs") || path.contains("/tests/") {
            continue;
        }
        let text = std::fs::read_to_string(&file).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap();
        let lines = code.lines().filter(|l| !l.trim_start().starts_with("//"));
        let code: String = lines.flat_map(|line| [line, "\n"]).collect();
        let within = |rooms: &[&str]| rooms.iter().any(|room| path.starts_with(room));
        let named = |words: &[&'static str]| -> Vec<String> {
            let found = words.iter().filter(|word| code.contains(**word));
            found.map(|word| format!("{path} names `{word}`")).collect()
        };
        for (words, rooms) in WORDS {
            if !within(rooms) {
                strays.extend(named(words));
            }
        }
        if within(&pure) {
            strays.extend(named(&IMPURE));
        }
    }
    assert!(strays.is_empty(), "{}", strays.join("\n"));
}
