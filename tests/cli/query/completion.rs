//! Completion in the shells themselves: access patterns and parameters are those of the mapping.

use std::path::Path;
use std::process::Command;

use dynafold_testing::missing::not_tested;
use tempfile::TempDir;

use crate::support::cli::{command, dynafold};

const MAPPING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/mappings/personalization.yaml");

/// Asks bash what its function for the program gives.
const BASH: &str = r#"
source ./script
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
$(complete -p dynafold | sed 's/.*-F \([^ ]*\).*/\1/') dynafold "${COMP_WORDS[COMP_CWORD]}" ""
printf '%s\n' "${COMPREPLY[@]}"
"#;

/// Asks zsh the same: what the function hands to `_describe` is what is shown.
const ZSH: &str = r#"
function compdef() { completer=$1 }
function _describe() { print -rl -- ${(P)${@[-1]}} }
source ./script
words=("$@") CURRENT=$#
$completer
"#;

/// Asks fish, which takes a line.
const FISH: &str = r#"
source ./script
complete --do-complete "$argv"
"#;

/// What a shell offers behind the words of a line, the last of which is unfinished; nothing where the
/// shell is not installed.
fn offered(shell: &str, folder: &Path, words: &[&str]) -> Option<Vec<String>> {
    std::fs::write(folder.join("script"), script(shell)).unwrap();
    let words = [&["dynafold"], words].concat();
    let line = words.join(" ");
    let arguments: Vec<&str> = match shell {
        "bash" => [&["--norc", "-c", BASH, "bash"], words.as_slice()].concat(),
        "zsh" => [&["-f", "-c", ZSH, "zsh"], words.as_slice()].concat(),
        _ => vec!["--no-config", "-c", FISH, &line],
    };
    let program = command(&[]);
    let programs = Path::new(program.get_program()).parent().unwrap();
    let path = std::env::var("PATH").unwrap();
    let output = Command::new(shell)
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .env("HOME", folder)
        .env("PATH", format!("{}:{path}", programs.display()))
        .output();
    let output = match output {
        Err(_) if shell != "bash" => {
            not_tested(&format!("completion in {shell}"), "it is not installed");
            return None;
        }
        output => output.unwrap(),
    };
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.is_empty(), "{shell}: {said}");
    let text = String::from_utf8(output.stdout).unwrap();
    let offered = text.lines().filter(|line| !line.is_empty());
    Some(offered.map(str::to_owned).collect())
}

fn script(shell: &str) -> String {
    dynafold(&["completions", shell]).exits(0).stdout
}

/// What is offered, without what it is for.
fn values(offered: &[String]) -> Vec<&str> {
    let value = |line: &'_ String| line.find([':', '\t']).unwrap_or(line.len());
    offered.iter().map(|line| &line[..value(line)]).collect()
}

#[test]
fn shells_offer_the_patterns_of_the_mapping_and_the_parameters_of_a_pattern() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    std::fs::copy(MAPPING, folder.join("portal.yaml")).unwrap();
    std::fs::write(folder.join("broken.yaml"), "dynafold: 1\ntable: [").unwrap();
    for shell in ["bash", "zsh", "fish"] {
        let Some(patterns) = offered(shell, folder, &["query", "portal.yaml", ""]) else {
            continue;
        };
        let names = values(&patterns);
        assert_eq!(names.first(), Some(&"findUserByUserId"), "{shell}");
        assert!(
            names.len() == 10 && names.iter().all(|name| name.starts_with("find")),
            "{names:?}"
        );
        if shell != "bash" {
            assert!(
                patterns[0].ends_with("A user's profile"),
                "{shell}: {patterns:?}"
            );
        }
        let of = |words: &[&str]| offered(shell, folder, words).unwrap();
        let personal = "findPersonalByUserIdAndService";
        let begun = of(&["query", "portal.yaml", "findP"]);
        assert!(
            values(&begun).contains(&personal) && begun.len() < 7,
            "{begun:?}"
        );
        let options = of(&["query", "portal.yaml", personal, "--"]);
        let options = values(&options);
        assert_eq!(options[..2], ["--userId", "--service"], "{shell}");
        assert!(options.contains(&"--explain"), "{shell}: {options:?}");
        assert_eq!(
            values(&of(&["query", "portal.yaml", personal, "--serv"])),
            ["--service"]
        );
        assert_eq!(
            values(&of(&["query", "portal.yaml", personal, "--param", ""])),
            ["userId=", "service="]
        );
        assert_eq!(values(&of(&["compl"])), ["completions"], "{shell}");
        // What is not there or has faults offers its options and is silent.
        for mapping in ["broken.yaml", "nothing.yaml"] {
            let offered = of(&["query", mapping, "--repe"]);
            assert_eq!(values(&offered), ["--repeat"], "{shell}");
            assert!(of(&["query", mapping, "find"]).is_empty(), "{shell}");
        }
    }
}
