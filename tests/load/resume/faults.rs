//! What goes wrong around a load: each has its message, true books, and a way to go on.

use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use sqlx::Connection as _;

use super::bench::{Case, books, ran, script};
use super::kills::Reference;
use crate::support::books::hold_loaded;
use crate::support::cli::{Ran, run};
use crate::support::source::Source;
use crate::support::sqlite::Database;

/// So slow that there is time to disturb it.
const SLOW: &str = "latency: { milliseconds: 40 }";
const FEW: &[&str] = &["--concurrency", "4"];

/// Starts a load and waits until so many items have been put.
fn begun(case: &Case, items: u64, further: &[&str]) -> Child {
    let mut child = case.start(&[FEW, further].concat());
    let begun = Instant::now();
    while case.storms().counts().items.put < items {
        assert!(
            child.try_wait().unwrap().is_none(),
            "it was too fast: {:?}",
            ran(child)
        );
        assert!(begun.elapsed() < Duration::from_secs(60), "it was too slow");
        std::thread::sleep(Duration::from_millis(1));
    }
    child
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill")
        .args([name, &child.id().to_string()])
        .status();
    assert!(sent.unwrap().success());
}

/// A source, and what an undisturbed load of it leaves behind.
async fn sqlite() -> (Source, Reference) {
    let source = Source::Sqlite(Database::new(&script("sqlite")).await);
    let reference = Reference::of(&source).await;
    (source, reference)
}

/// Fails unless the same command, said again, ends as an undisturbed load does.
async fn goes_on(case: &Case, reference: &Reference, said: &str) -> Ran {
    case.set("");
    let ended = case.migrate(&[]).exits(3);
    hold_loaded(&ended.json());
    assert_eq!(books(&ended.json()), books(&reference.report), "{said}");
    case.left().await.hold(&reference.left, said);
    ended
}

/// Fails unless a load ended with this, once, on the standard error, and with books that balance.
#[track_caller]
fn says(ran: Ran, code: i32, words: &[&str]) -> Ran {
    eprintln!("{}", ran.stderr);
    let ran = ran.exits(code);
    for word in words {
        assert!(
            ran.stderr.contains(word),
            "`{word}` is not in:\n{}",
            ran.stderr
        );
    }
    assert!(ran.stderr.matches("error:").count() <= 1, "{}", ran.stderr);
    if !ran.stdout.is_empty() {
        hold_loaded(&ran.json());
    }
    ran
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_loads_with_one_state_the_second_does_not_begin() {
    let (source, reference) = sqlite().await;
    let case = Case::storm(&source.url(), SLOW);
    let first = begun(&case, 200, &[]);
    let at = Instant::now();
    let process = format!("process {}", first.id());
    says(case.migrate(&[]), 1, &[&process, "another run"]);
    assert!(at.elapsed() < Duration::from_secs(5));
    ran(first).exits(3);
    case.left().await.hold(&reference.left, "the first");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupt_drains_and_says_how_to_go_on() {
    let (source, reference) = sqlite().await;
    let case = Case::storm(&source.url(), SLOW);
    let child = begun(&case, 1000, &[]);
    signal(&child, "-INT");
    let ended = says(
        ran(child),
        130,
        &["stopping", "start the same command again"],
    );
    let report = ended.json();
    assert_eq!(report["outcome"]["state"], "interrupted");
    // What was sent is counted: nothing is in the table that the books do not know.
    let held = case.contents().await.len();
    assert_eq!(
        super::bench::total(&report, "written"),
        u64::try_from(held).unwrap()
    );
    assert_eq!(super::bench::total(&report, "unwritten"), 0);
    goes_on(&case, &reference, "after an interrupt").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_interrupt_ends_at_once_and_loses_nothing() {
    let (source, reference) = sqlite().await;
    let case = Case::storm(&source.url(), "latency: { milliseconds: 3000 }");
    let mut child = case.start(FEW);
    while !case
        .storms()
        .counts()
        .requests
        .contains_key("BatchWriteItem")
    {
        assert!(child.try_wait().unwrap().is_none());
        std::thread::sleep(Duration::from_millis(5));
    }
    signal(&child, "-INT");
    std::thread::sleep(Duration::from_millis(300));
    let at = Instant::now();
    signal(&child, "-INT");
    ran(child).exits(130);
    assert!(at.elapsed() < Duration::from_secs(2), "{:?}", at.elapsed());
    goes_on(&case, &reference, "after two interrupts").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_state_that_is_damaged_is_found_out_and_nothing_is_skipped() {
    let (source, reference) = sqlite().await;
    let case = Case::storm(&source.url(), SLOW);
    let mut child = begun(&case, 1000, &[]);
    child.kill().unwrap();
    child.wait().unwrap();
    let state = case.path(".dynafold/app.state");
    let length = std::fs::metadata(&state).unwrap().len();
    for (name, length) in [("app.state", length / 2), ("app.state-wal", 0)] {
        let path = case.path(".dynafold").join(name);
        if let Ok(file) = std::fs::OpenOptions::new().write(true).open(path) {
            file.set_len(length).unwrap();
        }
    }
    let ended = goes_on(&case, &reference, "after damage").await;
    assert!(ended.stderr.contains("damaged"), "{}", ended.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_state_that_cannot_be_kept_is_told_before_anything_is_written() {
    let source = Database::new(&script("sqlite")).await;
    let case = Case::storm(&source.url(), "");
    let in_a_file = case
        .path("app.yaml")
        .join("app.state")
        .display()
        .to_string();
    let nowhere = case.path("nowhere/app.state").display().to_string();
    let no_state = case.path("app.yaml").display().to_string();
    for state in ["/proc/app.state", &in_a_file, &nowhere, &no_state] {
        says(case.migrate(&["--state", state]), 1, &["state", "help"]);
    }
    assert!(
        !case
            .storms()
            .counts()
            .requests
            .contains_key("BatchWriteItem")
    );
}

/// A small file system; `None` where we may not make one.
struct Small<'p>(&'p Path);

impl<'p> Small<'p> {
    fn mount(path: &'p Path) -> Option<Self> {
        std::fs::create_dir_all(path).unwrap();
        let mut command = Command::new("mount");
        let mounted = command
            .args(["-t", "tmpfs", "-o", "size=200k", "tmpfs"])
            .arg(path)
            .output();
        mounted
            .is_ok_and(|mounted| mounted.status.success())
            .then_some(Self(path))
    }

    fn remount(&self, options: &str) {
        let options = format!("remount,{options}");
        let mounted = Command::new("mount")
            .args(["-o", &options])
            .arg(self.0)
            .status();
        assert!(mounted.unwrap().success());
    }
}

impl Drop for Small<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0).status();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_or_read_only_disk_ends_a_load_that_can_go_on() {
    let (source, reference) = sqlite().await;
    let case = Case::storm(&source.url(), SLOW);
    let folder = case.path(".dynafold");
    let Some(small) = Small::mount(&folder) else {
        eprintln!("no file system can be made here: skipped");
        return;
    };
    let child = begun(&case, 500, &[]);
    let filler = folder.join("filler");
    // It fails when there is no room left.
    let _ = std::fs::write(&filler, vec![0; 1 << 20]);
    says(ran(child), 1, &["room on the disk"]);
    std::fs::remove_file(&filler).unwrap();
    small.remount("ro");
    says(case.migrate(&[]), 1, &["state", "help"]);
    small.remount("rw,size=10m");
    goes_on(&case, &reference, "after a full disk").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_that_is_deleted_meanwhile_is_told_and_not_gone_on_with() {
    let (source, reference) = sqlite().await;
    let case = Case::storm(&source.url(), "events: [{ after: 60, delete_table: app }]");
    let ended = says(case.migrate(&[]), 1, &["app"]);
    assert!(
        ended.stderr.contains("no table") || ended.stderr.contains("ResourceNotFound"),
        "{}",
        ended.stderr
    );
    case.set("");
    says(case.migrate(&[]), 1, &["made again", "--fresh"]);
    case.migrate(&["--fresh"]).exits(3);
    case.left().await.hold(&reference.left, "afresh");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_index_that_is_deleted_meanwhile_is_told_by_the_next_load() {
    let (source, _) = sqlite().await;
    let event = "events: [{ after: 60, delete_table: app, index: GSI1 }]";
    let case = Case::storm(&source.url(), event);
    let ended = case.migrate(&[]).exits(3);
    hold_loaded(&ended.json());
    says(case.migrate(&["--changes-only"]), 1, &["GSI1"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn credentials_that_expire_end_a_load_that_can_go_on() {
    let (source, reference) = sqlite().await;
    let settings = format!("{SLOW}\ncredentials_seconds: 1.5");
    let case = Case::storm(&source.url(), &settings);
    let ended = run(&mut case.command("migrate", FEW));
    says(ended, 1, &["expired"]);
    goes_on(&case, &reference, "with new credentials").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn credentials_that_are_refreshed_go_on() {
    let (source, reference) = sqlite().await;
    let settings = format!("{SLOW}\ncredentials_seconds: 1.5");
    let case = Case::storm(&source.url(), &settings);
    let script = case.path("keys.sh");
    // Each asking gives another key, of which its giver thinks that it is good for an hour.
    let text = r#"#!/bin/sh
echo "{\"Version\":1,\"AccessKeyId\":\"key-$(date +%s%N)\",\"SecretAccessKey\":\"s\",\"SessionToken\":\"t\",\"Expiration\":\"$(date -u -d '+1 hour' +%Y-%m-%dT%H:%M:%SZ)\"}"
"#;
    std::fs::write(&script, text).unwrap();
    let config = format!(
        "[default]\nregion = us-east-1\ncredential_process = sh {}\n",
        script.display()
    );
    std::fs::write(case.path("config"), config).unwrap();
    let mut command = case.command("migrate", FEW);
    let ended = run(command.env("AWS_CONFIG_FILE", case.path("config"))).exits(3);
    hold_loaded(&ended.json());
    let counts = case.storms().counts();
    let expired = counts
        .requests
        .values()
        .flat_map(|requests| &requests.errors);
    assert!(
        expired
            .map(|(code, _)| code)
            .any(|code| code.contains("Expired")),
        "{counts:?}"
    );
    case.left().await.hold(&reference.left, "with fresh keys");
}

/// Has the server end connections to a database but our own: all, or the youngest.
async fn end_connections(source: &Source, all: bool) -> usize {
    match source {
        Source::Postgres(database) => {
            let mut connection = sqlx::PgConnection::connect(&database.url()).await.unwrap();
            let some = if all {
                ""
            } else {
                "ORDER BY backend_start DESC LIMIT 1"
            };
            let sql = format!(
                "SELECT pg_terminate_backend(pid) FROM (SELECT pid FROM pg_stat_activity
                 WHERE datname = current_database() AND pid <> pg_backend_pid() {some}) ours"
            );
            let ended: Vec<bool> = sqlx::query_scalar(sqlx::AssertSqlSafe(sql))
                .fetch_all(&mut connection)
                .await
                .unwrap();
            ended.len()
        }
        Source::Mysql(_, database) => {
            let mut connection = sqlx::MySqlConnection::connect(database.url().as_str())
                .await
                .unwrap();
            let sql = "SELECT id FROM information_schema.processlist
                       WHERE db = DATABASE() AND id <> CONNECTION_ID()";
            let all: Vec<i64> = sqlx::query_scalar(sql)
                .fetch_all(&mut connection)
                .await
                .unwrap();
            for id in &all {
                let kill = sqlx::AssertSqlSafe(format!("KILL CONNECTION {id}"));
                sqlx::raw_sql(kill).execute(&mut connection).await.unwrap();
            }
            all.len()
        }
        Source::Sqlite(_) => 0,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_that_drops_all_connections_ends_a_load_that_can_go_on() {
    for source in Source::each(script).await {
        if source.product() != "sqlite" {
            let reference = Reference::of(&source).await;
            let case = Case::storm(&source.url(), SLOW);
            let child = begun(&case, 500, &["--readers", "3"]);
            assert!(end_connections(&source, true).await > 0);
            says(ran(child), 1, &["start the same command again"]);
            goes_on(&case, &reference, source.product()).await;
        }
        source.drop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chunk_whose_connection_breaks_is_read_again_on_the_same_snapshot() {
    for source in Source::each(script).await {
        if source.product() == "postgres" {
            let reference = Reference::of(&source).await;
            let case = Case::storm(&source.url(), SLOW);
            let child = begun(&case, 500, &["--readers", "3"]);
            assert_eq!(end_connections(&source, false).await, 1);
            let ended = ran(child).exits(3);
            hold_loaded(&ended.json());
            assert_eq!(books(&ended.json()), books(&reference.report));
            case.left()
                .await
                .hold(&reference.left, "with another connection");
        }
        source.drop().await;
    }
}
