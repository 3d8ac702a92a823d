//! The command lines that the program prints work when they are copied: a shell runs those of the definition document
//! against an embedded table, and their requests go to DynamoDB Local as the AWS CLI would send them.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::exports::{linters, python};
use crate::patterns::in_words_of;
use crate::support::cli::{Ran, command, run};
use crate::support::datasets::{Dataset, folder};
use crate::support::dynamodb_local::{delete_table, endpoint};
use crate::support::source::Source;
use crate::support::sqlite::Database;

/// A mapping with its rows, loaded into an embedded table; a shell that knows `dynafold`.
struct Shell {
    folder: tempfile::TempDir,
    url: String,
    /// The table's name; DynamoDB Local is shared by all tests.
    table: String,
}

/// What a document says of an access pattern.
struct Asked {
    name: String,
    line: String,
    operation: String,
    request: Value,
    /// Whether the request is one of several, each for a shard.
    sharded: bool,
    /// The items of the answer and whether there are more; `None` where the document has no answer.
    found: Option<(usize, bool)>,
}

impl Shell {
    fn new(name: &str, mapping: &str, url: String) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("bin")).unwrap();
        let program = std::env::var_os("DYNAFOLD_TEST_PROGRAM");
        let program = program.unwrap_or_else(|| env!("CARGO_BIN_EXE_dynafold").into());
        std::os::unix::fs::symlink(program, folder.path().join("bin/dynafold")).unwrap();
        std::fs::write(folder.path().join("it's a mapping.yaml"), mapping).unwrap();
        let table = format!("commands-{name}-{}", std::process::id());
        Self { folder, url, table }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A command of the program on the mapping.
    fn dynafold(&self, before: &[&str], after: &[&str]) -> Ran {
        let words = [before, &["it's a mapping.yaml"], after].concat();
        let mut command = command(&words);
        command.current_dir(self.folder.path());
        run(command.env("TABLE_NAME", &self.table))
    }

    /// A line as somebody copies it.
    fn copied(&self, line: &str) -> Ran {
        let path = std::env::var("PATH").unwrap();
        let mut shell = Command::new("sh");
        shell
            .args(["-c", line])
            .current_dir(self.folder.path())
            .env_clear()
            .env("PATH", format!("{}:{path}", self.path("bin").display()))
            .env("HOME", "/nonexistent")
            .env("TABLE_NAME", &self.table)
            .env("DATABASE_URL", &self.url);
        run(&mut shell)
    }

    /// Fails unless every line that the program prints of the mapping works; returns how many access patterns the document answers.
    async fn hold(&self, now: Option<&str>) -> usize {
        let now: Vec<&str> = now.into_iter().flat_map(|now| ["--now", now]).collect();
        let target = format!("local:{}", self.path("the table.ddb").display());
        let local = ["--source", &self.url, "--target", &target];
        self.dynafold(&["migrate"], &[&local[..], &now].concat())
            .exits(0);
        self.hold_synopses();
        let further = [&["--as", "markdown", "-o", "-"], &local[..], &now].concat();
        let document = self.dynafold(&["docs"], &further).exits(0).stdout;
        let asked = asked(&document);
        let list = self.dynafold(&["query"], &["--format", "json"]).exits(0);
        let patterns = list.json()["patterns"].as_array().unwrap().len();
        assert_eq!(asked.len(), patterns, "{document}");
        for each in &asked {
            let Some(found) = each.found else {
                self.copied(&filled(&each.line)).exits(0);
                continue;
            };
            self.copied(&each.line).exits(0);
            let answer = self.copied(&format!("{} --format json", each.line));
            let answer = answer.exits(0).json();
            let items = answer["items"].as_array().unwrap().len();
            let more = answer["more"].as_bool().unwrap();
            assert_eq!((items, more), found, "{}", each.line);
        }
        let with_values: Vec<&Asked> = asked.iter().filter(|each| each.found.is_some()).collect();
        self.hold_requests(&with_values, &now).await;
        with_values.len()
    }

    /// Fails unless each call that `query` lists is taken with values for its placeholders.
    fn hold_synopses(&self) {
        let schema = ["--source", &self.url];
        let list = self.dynafold(&["query"], &schema).exits(0).stdout;
        // A description stands below, indented further.
        for line in list.lines().filter(|line| !line.starts_with("   ")) {
            let line = filled(&line.replace(['[', ']'], ""));
            self.copied(&format!(
                "dynafold query \"it's a mapping.yaml\" {line} --explain --source \"$DATABASE_URL\""
            ))
            .exits(0);
        }
    }

    /// Fails unless DynamoDB Local answers each request, sent by the SDK that the AWS CLI is made of, as the document
    /// says.
    async fn hold_requests(&self, asked: &[&Asked], now: &[&str]) {
        let Some(linters) = linters() else { return };
        let endpoint = endpoint();
        let remote = [
            "--source",
            &self.url,
            "--target",
            "dynamodb",
            "--endpoint-url",
            &endpoint,
        ];
        self.dynafold(&["migrate"], &[&remote[..], now].concat())
            .exits(0);
        let mut lines = String::new();
        for each in asked {
            let line = json!({ "operation": each.operation, "request": each.request });
            lines.push_str(&format!("{line}\n"));
        }
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/docs/requests.py");
        let mut sender = Command::new(python(&linters));
        let mut sender = sender
            .arg(script)
            .arg(&endpoint)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = sender.stdin.take().unwrap();
        stdin.write_all(lines.as_bytes()).unwrap();
        drop(stdin);
        let ran = sender.wait_with_output().unwrap();
        delete_table(&self.table).await;
        assert!(ran.status.success(), "{}", self.table);
        let counts = String::from_utf8(ran.stdout).unwrap();
        let counts: Vec<usize> = counts.lines().map(|line| line.parse().unwrap()).collect();
        assert_eq!(counts.len(), asked.len());
        for (each, count) in asked.iter().zip(counts) {
            // A page ends where the engine says so, and a shard's request finds a part.
            let is_whole =
                matches!(each.found, Some((found, false)) if !each.sharded && found != count);
            assert!(!is_whole, "{}: {count} items", each.name);
        }
    }
}

/// A line with values for its placeholders.
fn filled(line: &str) -> String {
    let words = line.split(' ').map(|word| {
        let (before, placeholder) = match word.split_once('=') {
            Some((name, rest)) => (format!("{name}="), rest),
            None => (String::new(), word),
        };
        let value = match placeholder.trim_start_matches('\'') {
            "TEXT" => "a",
            "NUMBER" => "1",
            "BOOL" => "true",
            "DATE" => "2026-01-31",
            "TIME" => "2026-01-31T14:05:00",
            "BASE64" => "AAEC",
            "HEX" => "0001",
            _ => return word.to_owned(),
        };
        let quote = if placeholder.starts_with('\'') {
            "'"
        } else {
            ""
        };
        format!("{before}{quote}{value}")
    });
    words.collect::<Vec<_>>().join(" ")
}

/// The blocks `How to ask` of a document in Markdown.
fn asked(document: &str) -> Vec<Asked> {
    let sections = document.split("\n### Pattern ").skip(1);
    let of = |section: &str| {
        let section = section.split("\n### ").next().unwrap();
        let block = |language: &str| {
            let begin = format!("```{language}\n");
            let (_, rest) = section.split_once(&begin)?;
            Some(rest.split_once("\n```").unwrap().0.to_owned())
        };
        let (_, operation) = section.split_once("The request, a ").unwrap();
        let found = section.split_once("A real answer\n").map(|(_, rest)| {
            let line = rest.trim_start().lines().next().unwrap();
            let count = line.split(' ').next().unwrap().replace(',', "");
            (count.parse().unwrap(), line.contains("further pages"))
        });
        Asked {
            name: section.lines().next().unwrap().to_owned(),
            line: block("sh").unwrap(),
            operation: operation.split('<').next().unwrap().to_owned(),
            request: serde_json::from_str(&block("json").unwrap()).unwrap(),
            sharded: section.contains("one for each shard."),
            found,
        }
    };
    sections.map(of).collect()
}

/// The command lines of the program in a text, each alone on its line: of the demo's steps, and indented ones.
fn lines_of<'t>(text: &'t str, program: &str) -> Vec<&'t str> {
    let lines = text.lines().filter_map(|line| {
        let line = line.strip_prefix("$ ").or(line.strip_prefix("  "))?;
        line.starts_with(&format!("{program} ")).then_some(line)
    });
    lines.collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_command_of_the_demo_works_when_it_is_copied() {
    let shell = Shell::new("demo", "", "sqlite:nothing.db".to_owned());
    let ran = shell.copied("dynafold demo \"it's a demo\"").exits(0);
    let lines = lines_of(&ran.stdout, "dynafold");
    let (last, lines) = lines.split_last().unwrap();
    // An example of a database that is somewhere else.
    assert!(last.starts_with("dynafold init --source postgres://user@host/database "));
    assert_eq!(lines.len(), 12, "{}", ran.stdout);
    // The demo's own design and load began with no mapping and no table.
    for made in ["portal.yaml", "portal.design.json", "portal.ddb"] {
        std::fs::remove_file(shell.path(&format!("it's a demo/{made}"))).unwrap();
    }
    for line in lines {
        shell.copied(line).exits(0);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_commands_that_follow_init_work_when_they_are_copied() {
    let shell = Shell::new("init", "", "sqlite:it's a shop.db".to_owned());
    let file = shell.path("it's a shop.db");
    let schema = "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT NOT NULL);";
    dynafold::source::sqlite::create(&file, &[schema])
        .await
        .unwrap();
    for (source, expected) in [
        (
            "--source \"sqlite:it's a shop.db\"",
            r"--source 'sqlite:it'\''s a shop.db'",
        ),
        ("", r"--source 'sqlite:it'\''s a shop.db'"),
    ] {
        let init = format!("dynafold init {source} --force -o \"it's a first.yaml\"");
        let ran = shell.copied(&init).exits(0);
        let lines = lines_of(&ran.stderr, "dynafold");
        assert_eq!(lines.len(), 2, "{}", ran.stderr);
        for line in lines {
            assert!(line.ends_with(expected), "{line}");
            shell.copied(line).exits(0);
        }
    }
    // What may hold a password is not printed: the shell has it.
    let ran =
        shell.copied("dynafold init --source \"sqlite:it's a shop.db?mode=ro\" --force -o s.yaml");
    let ran = ran.exits(0);
    for line in lines_of(&ran.stderr, "dynafold") {
        assert!(
            line.ends_with("s.yaml --source \"$DATABASE_URL\""),
            "{line}"
        );
        shell.copied(line).exits(0);
    }
}

/// Stands for the AWS CLI: fails unless what it is to upload and to read is there.
const AWS: &str = r#"#!/bin/sh
set -e
case "$1 $2 $3" in
"s3 cp --recursive") ls "$4"/part-* ;;
"dynamodb import-table --cli-input-json") grep TableName "${4#file://}" ;;
*) exit 9 ;;
esac
"#;

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_commands_that_follow_an_export_work_when_they_are_copied() {
    use std::os::unix::fs::PermissionsExt as _;

    let source = Source::on_sqlite("votes").await;
    let shell = Shell::new("export", &mapping("votes"), source.url());
    let aws = shell.path("bin/aws");
    std::fs::write(&aws, AWS).unwrap();
    std::fs::set_permissions(&aws, std::fs::Permissions::from_mode(0o755)).unwrap();
    let export = "dynafold export \"it's a mapping.yaml\" --to \"it's an export\"";
    let ran = shell.copied(export).exits(0);
    let lines = lines_of(&ran.stdout, "aws");
    assert_eq!(lines.len(), 2, "{}", ran.stdout);
    for line in lines {
        shell.copied(line).exits(0);
    }
    let query = "dynafold query \"it's a mapping.yaml\" getTotalOfCandidate --candidate kim --target \"local:it's none.ddb\"";
    let ran = shell.copied(query);
    ran.says(r"--target 'local:it'\''s none.ddb'");
}

/// A mapping of ours.
fn mapping(name: &str) -> String {
    std::fs::read_to_string(format!("{}/{name}.yaml", super::MAPPINGS)).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_command_of_every_worked_example_works_when_it_is_copied() {
    for (name, migration, _) in crate::patterns::EXAMPLES {
        let source = Source::on_sqlite(migration).await;
        let text = in_words_of("sqlite", &mapping(name));
        let shell = Shell::new(name, &text, source.url());
        let answered = shell.hold(Some("2020-01-08T00:00:00Z")).await;
        assert!(answered > 0, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_command_of_the_public_databases_works_when_it_is_copied() {
    let Some(folder) = folder() else { return };
    let mut all = vec![
        (
            "chinook",
            Dataset::sqlite(&folder, "chinook/Chinook_Sqlite.sqlite"),
        ),
        (
            "northwind-sqlite",
            Dataset::sqlite(&folder, "northwind/northwind.sqlite"),
        ),
    ];
    for (name, file) in [
        ("chinook-snake", "chinook/Chinook_PostgreSql.sql.gz"),
        ("northwind", "northwind/northwind-pg.sql.gz"),
        ("pagila", "pagila/pagila.sql.gz"),
    ] {
        all.push((name, Dataset::postgres(&folder, file).await));
    }
    let files = [
        "sakila-mysql/01-sakila-schema.sql.gz",
        "sakila-mysql/02-sakila-data.sql.gz",
    ];
    let servers = Dataset::mysql(&folder, &files, "sakila", "").await;
    all.extend(servers.into_iter().map(|dataset| ("sakila", dataset)));
    for (name, dataset) in all {
        let shell = Shell::new(name, &mapping(name), dataset.url());
        shell.hold(None).await;
        dataset.drop().await;
    }
}

#[test]
fn no_mapping_of_ours_is_left_out() {
    let public = [
        "chinook",
        "chinook-snake",
        "northwind",
        "northwind-sqlite",
        "pagila",
        "sakila",
    ];
    let worked = crate::patterns::EXAMPLES.iter().map(|example| example.0);
    let mut tested: Vec<String> = worked.chain(public).map(str::to_owned).collect();
    tested.sort();
    let files = std::fs::read_dir(super::MAPPINGS).unwrap();
    let names = files.map(|file| {
        file.unwrap()
            .path()
            .file_stem()
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned()
    });
    let mut names: Vec<String> = names.collect();
    names.sort();
    assert_eq!(tested, names);
}

/// Parameters that are called as options of `query` are, or as a shell does not take without quotes; values too.
const AWKWARD: &str = r#"
dynafold: 1
table:
  name: ${TABLE_NAME:-awkward}
  key: { partition: PK, sort: SK }
  indexes:
    SEEN: { partition: region, sort: { name: amount, type: N } }
    BYTES: { partition: { name: raw, type: B } }
items:
  SALE:
    from: sales
    accept: [key-unproved, empty-key]
    key: { PK: "R#{region}", SK: "SALE#{target}#{at | iso}#{id | pad(4)}" }
access_patterns:
  taken:
    key: { PK: "R#{region}", SK: { begins_with: "SALE#{target}#" } }
  dated:
    key: { PK: "R#{now}", SK: { begins_with: "SALE#{limit}#" } }
  formats:
    index: SEEN
    key: { region: "{format}", amount: { ge: "{limit}" } }
    limit: 1
  "it's $HOME":
    key: { PK: "R#{`the region`}", SK: { begins_with: "SALE#{`it's $(id)`}#" } }
  help:
    key: { PK: "R#{help}", SK: { begins_with: "SALE#{all}#" } }
  bytes:
    index: BYTES
    key: { raw: "{raw}" }
  since:
    key: { PK: "R#{source}", SK: { begins_with: "SALE#" } }
    filter: "amount >= :least"
"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parameters_with_the_names_of_options_and_awkward_values_are_given_so_that_they_are_taken()
{
    let script =
        "CREATE TABLE sales (id INTEGER PRIMARY KEY, region TEXT NOT NULL, target TEXT NOT NULL,
            at TIMESTAMP NOT NULL, amount NUMERIC NOT NULL, raw BLOB NOT NULL);
        INSERT INTO sales VALUES
            (1, '-r \"$HOME\" `id`', '--all', '2026-01-01 00:00:00', -3, x'00ff'),
            (2, 'it''s', '-n=5', '2026-01-02 00:00:00', 2.5, x'01')";
    let database = Database::new(script).await;
    let shell = Shell::new("awkward", AWKWARD, database.url());
    // Bytes have no example.
    assert_eq!(shell.hold(None).await, 6);
}

/// Patterns whose SQL answers nothing.
const DIFFERENT: &str = r#"
dynafold: 1
table:
  name: ${TABLE_NAME:-different}
  key: { partition: PK, sort: SK }
items:
  SALE:
    from: sales
    accept: [key-unproved]
    key: { PK: "R#{region}", SK: "SALE#{target}#{id | pad(4)}" }
access_patterns:
  taken:
    items: [SALE]
    key: { PK: "R#{region}", SK: { begins_with: "SALE#{target}#" } }
    sql: SELECT id FROM sales WHERE region = :region AND target = :target AND id < 0
  dated:
    items: [SALE]
    key: { PK: "R#{now}", SK: { begins_with: "SALE#{limit}#" } }
    sql: SELECT id FROM sales WHERE region = :now AND target = :limit AND id < 0
  formats:
    items: [SALE]
    key: { PK: "R#{format}" }
    sql: SELECT id FROM sales WHERE region = :format AND id < 0
"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_calls_that_verify_names_are_taken_when_they_are_copied() {
    let script =
        "CREATE TABLE sales (id INTEGER PRIMARY KEY, region TEXT NOT NULL, target TEXT NOT NULL);
        INSERT INTO sales VALUES (1, 'it''s', '--all'), (2, '$HOME', '-n=5')";
    let database = Database::new(script).await;
    let shell = Shell::new("different", DIFFERENT, database.url());
    let target = format!("local:{}", shell.path("t.ddb").display());
    let places = ["--source", &shell.url, "--target", &target];
    shell.dynafold(&["migrate"], &places).exits(0);
    let patterns = [&["--patterns"], &places[..]].concat();
    let reported = shell.dynafold(&["verify"], &patterns).exits(3).stdout;
    let (mut pattern, mut asked) = ("", BTreeSet::new());
    for line in reported.lines() {
        if let Some(rest) = line.strip_prefix("differs: ") {
            pattern = rest.split(": ").next().unwrap();
        }
        let Some((call, _)) = line.split_once(" by SQL, ") else {
            continue;
        };
        let (options, _) = call.rsplit_once(": ").unwrap();
        let command = format!(
            "dynafold query \"it's a mapping.yaml\" {pattern}{options} --target local:t.ddb --format json"
        );
        let answer = shell.copied(&command).exits(0).json();
        assert_eq!(answer["items"].as_array().unwrap().len(), 1, "{command}");
        asked.insert(pattern);
    }
    assert_eq!(asked.len(), 3, "{reported}");
}
