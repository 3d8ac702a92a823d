//! `--help`, wrong usage, completions, and results that nobody reads.

use std::process::Stdio;

use crate::support::cli::{command, dynafold, run};

const COMMANDS: [&str; 18] = [
    "demo",
    "init",
    "design",
    "inspect",
    "check",
    "diff",
    "preview",
    "migrate",
    "plan",
    "work",
    "finish",
    "export",
    "verify",
    "query",
    "erase",
    "docs",
    "schema",
    "completions",
];

#[test]
fn every_example_of_a_help_text_is_taken() {
    let mut taken = 0;
    for name in COMMANDS {
        let text = dynafold(&[name, "--help"]).exits(0).stdout;
        let Some((_, examples)) = text.split_once("Examples:\n") else {
            continue;
        };
        for line in examples.lines().take_while(|line| !line.is_empty()) {
            let line = line.strip_prefix("  dynafold ");
            let line = line.unwrap_or_else(|| panic!("{name}: an example is wrapped\n{examples}"));
            // What it is for stands behind two spaces, a file for the output behind `>`.
            let line = line.split("  ").next().unwrap();
            let line = line.split(" > ").next().unwrap();
            // Without the mapping a parameter has no option of its own.
            let line = line.replace("--customerId 7", "--param customerId=7");
            let words: Vec<&str> = line.split(' ').filter(|word| !word.is_empty()).collect();
            dynafold(&[&words[..], &["--help"]].concat()).exits(0);
            taken += 1;
        }
    }
    assert!(taken > 30, "only {taken} examples were taken");
}

#[test]
fn every_help_text_is_as_reviewed() {
    let mut all = dynafold(&["--help"]).exits(0).stdout;
    for name in COMMANDS {
        let text = dynafold(&[name, "--help"]).exits(0).stdout;
        all.push_str(&format!("\n===== dynafold {name} --help\n\n{text}"));
    }
    insta::assert_snapshot!(all);
}

#[test]
fn help_shows_no_value_of_the_environment() {
    let mut command = command(&["check", "--help"]);
    command.env("DATABASE_URL", "postgres://app:S3cret@db/app");
    let ran = run(&mut command).exits(0);
    assert!(!ran.stdout.contains("S3cret"), "{}", ran.stdout);
    ran.prints("DATABASE_URL");
}

#[test]
fn wrong_usage_exits_with_2() {
    for arguments in [
        &["migrate"][..],
        &["chek", "m.yaml"],
        &["preview", "m.yaml", "--limit", "many"],
        &["check", super::MAPPING],
        &["check", super::MAPPING, "--source", "oracle://db/app"],
    ] {
        dynafold(arguments).exits(2);
    }
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let mut child = command(&["schema"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_result_that_cannot_be_written_is_a_failure() {
    let full = std::fs::File::options()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let output = command(&["schema"]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("cannot write to standard output"), "{said}");
}

#[test]
fn the_schema_and_the_completions_are_printed() {
    let schema = dynafold(&["schema"]).exits(0).json();
    assert_eq!(schema, dynafold::mapping::schema());
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let ran = dynafold(&["completions", shell]).exits(0);
        assert!(ran.stdout.contains("dynafold"), "{shell}");
    }
}

#[test]
fn a_missing_argument_comes_with_a_tip() {
    dynafold(&["check", "--source", "sqlite:x.db"])
        .exits(2)
        .says("tip: `dynafold init");
    let ran = dynafold(&["migrate", "x.yaml", "--source", "sqlite:x.db"]).exits(2);
    let targets = "tip: targets are `dynamodb`, `local` and `local:FILE`";
    ran.says(targets);
}
