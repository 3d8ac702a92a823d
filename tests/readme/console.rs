//! The commands in the documentation are run where they are local, and taken by the command line
//! where they are not.
//!
//! In a documented output a line `…` stands for any lines, and `…` within a line for any text.
//! Rates and times are whatever they are.

use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

use super::blocks::{Block, blocks, pages};
use super::root;

/// A command with what the documentation says that it prints.
struct Shown<'b> {
    command: &'b str,
    output: Vec<&'b str>,
    place: &'b str,
}

/// Splits a console block. The demo prints commands itself, so all that follows it is its output.
fn shown(block: &Block) -> Vec<Shown<'_>> {
    let mut all: Vec<Shown<'_>> = Vec::new();
    for line in block.text.lines() {
        let is_demo = |shown: &Shown<'_>| shown.command.ends_with("dynafold demo");
        match line.strip_prefix("$ ") {
            Some(command) if !all.last().is_some_and(is_demo) => all.push(Shown {
                command,
                output: Vec::new(),
                place: &block.place,
            }),
            _ => {
                let last = all.last_mut();
                let last = last.unwrap_or_else(|| panic!("{}: output of nothing", block.place));
                last.output.push(line.trim_end());
            }
        }
    }
    all
}

/// The words of a command line, as a shell splits them.
pub(crate) fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut quote = None;
    let mut begun = false;
    for sign in line.chars() {
        match (sign, quote) {
            ('"' | '\'', None) => {
                quote = Some(sign);
                begun = true;
            }
            (sign, Some(open)) if sign == open => quote = None,
            (' ', None) => {
                if begun {
                    words.push(std::mem::take(&mut word));
                }
                begun = false;
            }
            (sign, _) => {
                word.push(sign);
                begun = true;
            }
        }
    }
    if begun {
        words.push(word);
    }
    words
}

/// The arguments of the program, if a line calls it.
fn arguments(line: &str) -> Option<Vec<String>> {
    let words = words(line);
    match words.first()?.as_str() {
        "dynafold" => Some(words[1..].to_vec()),
        // The rehearsal's own arguments are read by its own test.
        "cargo" if words.iter().any(|word| word == "rehearse") => None,
        "cargo" => {
            let end = words.iter().position(|word| word == "--")?;
            Some(words[end + 1..].to_vec())
        }
        _ => None,
    }
}

/// Whether a command needs nothing but the demo's files.
fn is_local(arguments: &[String]) -> bool {
    let remote = ["dynamodb", "--endpoint-url"];
    let demo = arguments.iter().any(|word| word.contains("dynafold-demo/"));
    let first = arguments.first().map(String::as_str);
    (demo || first == Some("demo")) && !arguments.iter().any(|w| remote.contains(&w.as_str()))
}

/// Runs the program; `> file` at the end takes what it prints.
fn run(folder: &Path, arguments: &[String]) -> Output {
    let (arguments, file) = match arguments {
        [arguments @ .., sign, file] if sign == ">" => (arguments, Some(file)),
        arguments => (arguments, None),
    };
    let output = Command::new(env!("CARGO_BIN_EXE_dynafold"))
        .args(arguments)
        .current_dir(folder)
        .env_remove("DATABASE_URL")
        .env_remove("DYNAFOLD_TARGET")
        .env_remove("TABLE_NAME")
        .env_remove("NO_COLOR")
        .output()
        .unwrap();
    if let Some(file) = file {
        std::fs::write(folder.join(file), &output.stdout).unwrap();
    }
    output
}

#[test]
fn every_local_command_prints_what_the_documentation_says() {
    let folder = TempDir::new().unwrap();
    let demo = run(folder.path(), &["demo".to_owned()]);
    assert!(demo.status.success(), "{demo:?}");
    let mut ran = 0;
    for page in pages() {
        for block in blocks(&page).iter().filter(|b| b.language == "console") {
            for shown in shown(block) {
                let Some(arguments) = arguments(shown.command).filter(|a| is_local(a)) else {
                    continue;
                };
                let is_demo = arguments == ["demo"];
                let output = if is_demo {
                    demo.clone()
                } else {
                    run(folder.path(), &arguments)
                };
                compare(&shown, &output);
                ran += 1;
            }
        }
    }
    assert!(ran >= 4, "only {ran} commands were run");
}

fn compare(shown: &Shown<'_>, output: &Output) {
    let (stdout, stderr) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    let message = || {
        format!(
            "{}: `{}` printed otherwise:\n{stdout}\n{stderr}",
            shown.place, shown.command
        )
    };
    assert!(output.status.success(), "{}", message());
    let lines: Vec<&str> = stdout.lines().map(str::trim_end).collect();
    let wanted = shown.output.as_slice();
    assert!(wanted.is_empty() || fits(wanted, &lines), "{}", message());
}

/// Whether lines are as documented.
fn fits(wanted: &[&str], lines: &[&str]) -> bool {
    match wanted {
        [] => lines.is_empty(),
        ["…", rest @ ..] => (0..=lines.len()).any(|skipped| fits(rest, &lines[skipped..])),
        [first, rest @ ..] => match lines {
            [line, others @ ..] => line_fits(first, line) && fits(rest, others),
            [] => false,
        },
    }
}

fn line_fits(wanted: &str, line: &str) -> bool {
    let (wanted, line) = (steady(wanted), steady(line));
    let parts: Vec<&str> = wanted.split('…').collect();
    let [first, middle @ .., last] = parts.as_slice() else {
        return wanted == line;
    };
    let Some(mut rest) = line.strip_prefix(first) else {
        return false;
    };
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// A line without what differs from run to run: times, rates, and what limited it.
fn steady(line: &str) -> String {
    if !line.contains("rows/s") && !line.contains("items/s") {
        return line.to_owned();
    }
    let line = line.split("; limited by").next().unwrap_or(line);
    let mut out = String::new();
    for sign in line.chars() {
        if sign.is_ascii_digit() || matches!(sign, '.' | ',') {
            if !out.ends_with('#') {
                out.push('#');
            }
        } else {
            out.push(sign);
        }
    }
    out
}

#[test]
fn every_other_command_is_one_that_the_program_takes() {
    let folder = TempDir::new().unwrap();
    let mut taken = 0;
    for page in pages() {
        for block in blocks(&page) {
            let lines: Vec<&str> = match block.language.as_str() {
                "console" => shown(&block).iter().map(|shown| shown.command).collect(),
                "sh" => block.text.lines().collect(),
                _ => continue,
            };
            for line in lines {
                let Some(mut arguments) = arguments(line).filter(|a| !is_local(a)) else {
                    scripts(line, &block);
                    continue;
                };
                let end = arguments.iter().position(|word| word == ">");
                arguments.truncate(end.unwrap_or(arguments.len()));
                // The command line is read up to here, and then its help is printed.
                arguments.push("--help".to_owned());
                let output = run(folder.path(), &arguments);
                let reported = String::from_utf8_lossy(&output.stderr);
                assert!(
                    output.status.success(),
                    "{}: `{line}`\n{reported}",
                    block.place
                );
                taken += 1;
            }
        }
    }
    assert!(taken >= 10, "only {taken} commands were taken");
}

/// A script of the repository's that a line calls is there.
fn scripts(line: &str, block: &Block) {
    let word = line.split(' ').next().unwrap_or_default();
    if ["tests/", "scripts/", ".ci/"]
        .iter()
        .any(|folder| word.starts_with(folder))
    {
        assert!(root().join(word).exists(), "{}: `{word}`", block.place);
    }
}

#[test]
fn documented_lines_stand_for_printed_ones() {
    let printed = [
        "a 1",
        "b",
        "c",
        "in 0.70 s, 7,214 rows/s; limited by the target",
    ];
    assert!(fits(
        &["a …", "…", "in 1 s, 9 rows/s; limited by the source"],
        &printed
    ));
    assert!(fits(&["…"], &printed));
    assert!(!fits(&["a 1", "c", "…"], &printed));
    assert_eq!(words("a 'b c' \"d\" > e"), ["a", "b c", "d", ">", "e"]);
}
