//! Commands that fail before they have a report: what programs read, and files that cannot be used.

use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::{MAPPING, own_mapping, says};
use crate::support::cli::{Ran, command, dynafold, run};
use crate::support::sqlite::Database;

const USERS: &str =
    "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO users VALUES (1, 'Ada')";

/// A source with a mapping beside it.
async fn case(key: &str) -> (Database, String) {
    let source = Database::new(USERS).await;
    let file = source.folder().join("users.yaml");
    let text = format!(
        "dynafold: 1\ntable: {{ name: users, key: {{ partition: PK }} }}\nitems:\n  USER:\n    from: users\n    key: {{ PK: \"{key}\" }}\n"
    );
    std::fs::write(&file, text).unwrap();
    (source, file.display().to_string())
}

/// Asserts that a failure is told to programs as it is to people.
#[track_caller]
fn tells(ran: &Ran, code: &str) -> serde_json::Value {
    let report = ran.json();
    let outcome = &report["outcome"];
    assert_eq!(outcome["state"], "failed", "{report}");
    assert_eq!(outcome["code"], code, "{report}");
    let message = outcome["message"].as_str().unwrap();
    let line = format!("error: {message}\n");
    assert!(ran.stderr.contains(&line), "{report}\n{}", ran.stderr);
    for cause in outcome["causes"].as_array().unwrap() {
        assert!(ran.stderr.contains(cause.as_str().unwrap()), "{report}");
    }
    assert!(outcome["help"].is_string(), "{report}");
    report
}

#[tokio::test]
async fn every_command_that_fails_early_says_so_as_json() {
    let (source, mapping) = case("USER#{id}").await;
    let url = source.url();
    let json = ["--format", "json"];
    let run = |first: &[&str], code: i32| {
        let all: Vec<&str> = first.iter().copied().chain(json).collect();
        dynafold(&all).exits(code)
    };
    let missing = "sqlite:missing.db";
    tells(
        &run(&["check", "nope.yaml", "--source", &url], 1),
        "mapping",
    );
    tells(&run(&["inspect", "--source", missing], 1), "source");
    tells(&run(&["query", "nope.yaml", "all"], 1), "mapping");
    tells(
        &run(&["preview", MAPPING, "--source", missing], 1),
        "source",
    );
    let target = ["--target", "local"];
    for name in ["migrate", "verify"] {
        let first = [name, &mapping, "--source", missing];
        let all: Vec<&str> = first.into_iter().chain(target).collect();
        tells(&run(&all, 1), "source");
        let first = [name, &mapping, "--source", "oracle:x"];
        let all: Vec<&str> = first.into_iter().chain(target).collect();
        tells(&run(&all, 2), "usage");
    }
    let all = ["verify", &mapping, "--source", &url, "--target", "local"];
    tells(&run(&all, 2), "usage");
    let nothing = format!("local:{mapping}.ddb");
    let all = ["verify", &mapping, "--source", &url, "--target", &nothing];
    tells(&run(&all, 1), "table");
    let lines = [
        "preview", MAPPING, "--source", missing, "--format", "ndjson",
    ];
    let ran = dynafold(&lines).exits(1);
    tells(&ran, "source");
    assert_eq!(ran.stdout.lines().count(), 1, "{}", ran.stdout);
}

#[tokio::test]
async fn faults_of_the_mapping_are_told_to_programs_by_every_command() {
    let (source, mapping) = case("USER#{nme}").await;
    let url = source.url();
    for further in [
        &["migrate", &mapping, "--target", "local"][..],
        &["verify", &mapping, "--target", "local"],
        &["preview", &mapping],
    ] {
        let mut all = further.to_vec();
        all.extend(["--source", &url, "--format", "json"]);
        let report = tells(&dynafold(&all).exits(1), "mapping");
        let faults = report["diagnostics"].as_array().unwrap();
        assert!(
            faults.iter().any(|fault| fault["code"] == "unknown-column"),
            "{report}"
        );
        // Warnings are named only where there are any.
        let warns = faults.iter().any(|fault| fault["severity"] == "warning");
        let help = report["outcome"]["help"].as_str().unwrap();
        assert_eq!(help.contains("the warnings too"), warns, "{report}");
    }
}

#[tokio::test]
async fn a_report_that_says_that_it_failed_is_the_only_one() {
    let (source, mapping) = case("USER#{id}").await;
    let twice = format!("{mapping}.twice.yaml");
    let text = std::fs::read_to_string(&mapping).unwrap();
    std::fs::write(&twice, text.replace("USER#{id}", "USER")).unwrap();
    source.run("INSERT INTO users VALUES (2, 'Eve')").await;
    let url = source.url();
    let ran = dynafold(&[
        "migrate", &twice, "--source", &url, "--target", "local", "--format", "json",
    ])
    .exits(1);
    assert_eq!(ran.json()["outcome"]["state"], "stopped");
    let ran = dynafold(&["check", &twice, "--source", &url, "--format", "json"]);
    assert!(ran.json()["outcome"].is_null(), "{}", ran.stdout);
}

/// As one that is killed before it has printed its report.
#[tokio::test]
async fn a_load_whose_report_nobody_has_seen_is_ended_by_the_same_command() {
    for change in ["", "UPDATE users SET name = 'Eve' WHERE id = 2"] {
        let (source, mapping) = case("USER#{id}").await;
        let more = "INSERT INTO users VALUES (2, 'Bob'), (3, 'Cid')";
        source.run(more).await;
        let (url, target) = (source.url(), format!("local:{mapping}.ddb"));
        let all = ["migrate", &mapping, "--source", &url, "--target", &target];
        let full = std::fs::File::options().write(true).open("/dev/full");
        let mut unseen = command(&all).stdout(full.unwrap()).spawn().unwrap();
        assert_eq!(unseen.wait().unwrap().code(), Some(1));
        if !change.is_empty() {
            source.run(change).await;
        }
        let seen = dynafold(&all).exits(0);
        seen.says("resuming the unfinished load (attempt 2)");
        seen.prints("3 items in all");
        let verify = ["verify"].into_iter().chain(all[1..].iter().copied());
        dynafold(&verify.collect::<Vec<_>>()).exits(0);
        let again = dynafold(&all).exits(1);
        again.says("already has items");
    }
}

#[tokio::test]
async fn a_template_of_very_many_faults_is_refused_at_once() {
    let (source, mapping) = case(&"[{id}".repeat(20_000)).await;
    let begun = Instant::now();
    let ran = dynafold(&["check", &mapping, "--source", &source.url()]).exits(1);
    assert!(ran.stdout.contains("do not nest"), "{}", ran.stdout.len());
    assert!(
        begun.elapsed() < Duration::from_secs(8),
        "{:?}",
        begun.elapsed()
    );
}

#[tokio::test]
async fn a_table_that_may_not_be_written_is_refused_before_a_row_is_read() {
    let (source, mapping) = case("USER#{id}").await;
    let folder = source.folder().join("out");
    std::fs::create_dir(&folder).unwrap();
    let file = folder.join("t.ddb");
    let url = source.url();
    let target = format!("local:{}", file.display());
    let state = folder.join("s.state").display().to_string();
    let mut all = vec!["migrate", &mapping, "--source", &url, "--target", &target];
    all.extend(["--append", "--format", "json", "--state", &state]);
    dynafold(&all).exits(0);

    let allow = |path: &Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    for path in [source.folder(), folder.clone()] {
        allow(&path, 0o777);
    }
    for entry in std::fs::read_dir(&folder).unwrap() {
        allow(&entry.unwrap().path(), 0o666);
    }
    allow(&file, 0o444);
    let mut migrate = command(&all);
    // Permissions hold for everybody but the administrator.
    if is_root() {
        migrate.uid(65_534).gid(65_534);
    }
    let ran = run(&mut migrate).exits(1);
    let report = ran.json();
    let message = report["outcome"]["message"].as_str().unwrap();
    assert!(message.contains("cannot be opened for writing"), "{report}");
    let help = report["outcome"]["help"].as_str().unwrap();
    assert!(help.contains("permissions"), "{report}");
    assert_eq!(report["total"]["rows_read"], 0, "{report}");
}

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt as _;
    std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}

#[tokio::test]
async fn options_that_name_one_file_are_refused_and_make_none() {
    let (source, _) = case("USER#{id}").await;
    let mapping = own_mapping();
    let file = source.folder().join("x.ddb");
    let beside: PathBuf = source.folder().join(".").join("x.ddb");
    let (one, other) = (file.display().to_string(), beside.display().to_string());
    let local = format!("local:{one}");
    for (further, message) in [
        (
            vec!["--target", &local, "--state", &other],
            "--target and --state name the same file",
        ),
        (
            vec!["--target", &local, "--rejects", &other],
            "--target and --rejects name the same file",
        ),
        (
            vec!["--target", "local", "--state", &one, "--rejects", &other],
            "--state and --rejects name the same file",
        ),
        (
            vec!["--target", "local", "--archive", &one, "--rejects", &other],
            "--rejects and --archive name the same file",
        ),
    ] {
        let portal = Database::new(include_str!(
            "../../migrations/sqlite/20260101000001_personalization.sql"
        ))
        .await;
        let url = portal.url();
        let mut all = vec!["migrate", &mapping, "--source", &url];
        all.extend(further);
        let ran = dynafold(&all).exits(2);
        says(&ran, message, "a file of its own");
        assert!(!file.exists(), "{message}");
    }
}

/// Whoever read what was said may have gone: the work goes on.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_load_to_which_nobody_listens_ends_well() {
    let (source, mapping) = case("USER#{id}").await;
    let table = source.folder().join("users.ddb");
    let target = format!("local:{}", table.display());
    let url = source.url();
    for more in [&["--format", "json"][..], &["--changes-only"]] {
        let full = std::fs::File::options().write(true).open("/dev/full");
        let arguments = [
            "migrate", &mapping, "--source", &url, "--target", &target, "--yes",
        ];
        let mut command = command(&[&arguments, more].concat());
        let ended = command.stderr(full.unwrap()).output().unwrap();
        assert_eq!(ended.status.code(), Some(0), "{ended:?}");
        assert!(!ended.stdout.is_empty());
    }
}

#[test]
fn a_check_without_a_source_tells_what_is_wrong_whatever_the_schema() {
    let mapping = own_mapping();
    let text = std::fs::read_to_string(&mapping).unwrap();
    let name = "${TABLE_NAME:-personalization}";
    assert!(text.contains(name));
    std::fs::write(&mapping, text.replace(name, "ab")).unwrap();
    let ran = dynafold(&["check", &mapping]).exits(2);
    ran.says("error[name]: `ab` cannot be a table's name");
    ran.says("no source is named");
    let whole = dynafold(&["check", MAPPING]).exits(2);
    assert!(!whole.stderr.contains("error["), "{}", whole.stderr);
}
