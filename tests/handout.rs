//! Work that is handed out: `plan` cuts a load, workers load its chunks, are killed and load them again, and `finish` counts each chunk once.

mod changed;
mod export;
mod spark;

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};

use dynafold::load::KeyCheck;
use dynafold::load::handout::{HandedPlan, PlanFacts};
use dynafold::target::{TargetSpec, connect};
use dynafold::{check, source};
use serde_json::Value;

use crate::support::books::claimed;
use crate::support::cli::{Ran, command, ran, run};
use crate::support::contents::contents;
use crate::support::source::Source;
use crate::support::sqlite::Database;
use crate::support::storm::{Settings, Storm};
use crate::support::{postgres, wait};

/// Users and their orders; the key of an order is its number alone.
const MAPPING: &str = "dynafold: 1
table: { name: \"${TABLE:-app}\", key: { partition: PK, sort: SK } }
items:
  USER:
    from: users
    key: { PK: \"USER#{id}\", SK: USER }
  ORDER:
    from: orders
    key: { PK: \"ORDER#{number}\", SK: ORDER }
";

/// So many orders, whose numbers no constraint keeps apart.
fn script(product: &str, orders: u64) -> String {
    let digits: Vec<String> = (0..10)
        .map(|digit| format!("SELECT {digit} AS d"))
        .collect();
    let digits = format!("({})", digits.join(" UNION ALL "));
    let body = match product {
        "sqlite" => "printf('%.*c', 20, 'x')",
        _ => "repeat('x', 20)",
    };
    format!(
        "CREATE TABLE users (id INTEGER PRIMARY KEY, name VARCHAR(40));
         CREATE TABLE orders (id INTEGER PRIMARY KEY, number INTEGER NOT NULL, user_id INTEGER NOT NULL REFERENCES users (id), body VARCHAR(90));
         INSERT INTO users VALUES (1, 'Ada'), (2, NULL), (3, 'Eve');
         INSERT INTO orders SELECT id, 1000000 + id, 1 + id % 3, {body}
         FROM (SELECT 1 + a.d + 10 * b.d + 100 * c.d + 1000 * e.d + 10000 * f.d AS id
               FROM {digits} AS a, {digits} AS b, {digits} AS c, {digits} AS e, {digits} AS f) AS n
         WHERE id <= {orders};"
    )
}

/// A source, an endpoint, and a folder for what is written.
pub(super) struct Handed {
    url: String,
    storm: Storm,
    folder: tempfile::TempDir,
}

/// A plan whose snapshot is held.
struct Held {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Vec<String>,
}

impl Held {
    fn end(mut self) -> Ran {
        drop(self.stdin.take());
        ran(self.child)
    }
}

impl Handed {
    pub(super) fn new(url: String, mapping: &str) -> Self {
        let settings = Settings::read("store: map").unwrap();
        let handed = Self {
            url,
            storm: Storm::start(settings).unwrap(),
            folder: tempfile::tempdir().unwrap(),
        };
        std::fs::write(handed.path("m.yaml"), mapping).unwrap();
        handed
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    pub(super) fn target(&self) -> [String; 4] {
        ["--target", "dynamodb", "--endpoint-url", &self.storm.url()].map(str::to_owned)
    }

    /// A command with the source in its environment.
    pub(super) fn command(&self, words: &[&str]) -> Command {
        let mut command = command(words);
        command.env("DATABASE_URL", &self.url);
        command.current_dir(self.folder.path());
        command
    }

    fn with_target(&self, words: &[&str], further: &[&str]) -> Command {
        let target = self.target();
        let target = target.iter().map(String::as_str);
        let words: Vec<&str> = words
            .iter()
            .copied()
            .chain(target)
            .chain(further.iter().copied())
            .collect();
        self.command(&words)
    }

    fn plan(&self, further: &[&str]) -> Ran {
        run(&mut self.with_target(&["plan", &self.text("m.yaml")], further))
    }

    /// Plans, and keeps the lines in a file.
    fn planned(&self, further: &[&str]) -> Vec<String> {
        let lines = self.plan(further).exits(0).stdout;
        std::fs::write(self.path("plan.ndjson"), &lines).unwrap();
        lines.lines().map(str::to_owned).collect()
    }

    /// Plans, and holds the snapshot.
    fn held(&self, further: &[&str]) -> Held {
        let further = [&["--hold"], further].concat();
        self.holding(&mut self.with_target(&["plan", &self.text("m.yaml")], &further))
    }

    fn holding(&self, command: &mut Command) -> Held {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stdin = child.stdin.take();
        let mut lines = Vec::new();
        {
            let mut out = BufReader::new(child.stdout.as_mut().unwrap());
            loop {
                let mut line = String::new();
                let read = out.read_line(&mut line).unwrap();
                assert!(read > 0, "`plan --hold` ended early");
                let json: Value = serde_json::from_str(&line).unwrap();
                lines.push(line.trim_end().to_owned());
                if json["of"] == lines.len() {
                    break;
                }
            }
        }
        std::fs::write(self.path("plan.ndjson"), lines.join("\n") + "\n").unwrap();
        Held {
            child,
            stdin,
            lines,
        }
    }

    fn worker(&self, lines: &[String]) -> Child {
        Self::fed(
            &mut self.with_target(&["work", "--files", &self.text("files")], &[]),
            lines,
        )
    }

    /// Starts a worker and gives it lines.
    fn fed(command: &mut Command, lines: &[String]) -> Child {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let text = lines.join("\n") + "\n";
        std::thread::spawn(move || {
            // A worker that is killed reads no further.
            let _ = stdin.write_all(text.as_bytes());
        });
        child
    }

    fn work(&self, lines: &[String]) -> Ran {
        ran(self.worker(lines))
    }

    fn finish(&self, results: &str, further: &[&str]) -> Ran {
        std::fs::write(self.path("results.ndjson"), results).unwrap();
        let (plan, files, results) = (
            self.text("plan.ndjson"),
            self.text("files"),
            self.text("results.ndjson"),
        );
        let words = [
            "finish", "--plan", &plan, "--files", &files, &results, "--format", "json",
        ];
        run(&mut self.command(&[&words[..], further].concat()))
    }

    fn verify(&self) -> Ran {
        run(&mut self.with_target(&["verify", &self.text("m.yaml")], &[]))
    }

    pub(super) async fn contents(&self) -> String {
        table_at(&self.storm.url()).await
    }

    /// What a load by one process makes of the same source, and its report.
    pub(super) async fn alone(&self) -> (String, Value) {
        let other = Storm::start(Settings::read("store: map").unwrap()).unwrap();
        let words = [
            "migrate",
            &self.text("m.yaml"),
            "--target",
            "dynamodb",
            "--endpoint-url",
            &other.url(),
            "--format",
            "json",
        ];
        let report = run(&mut self.command(&words)).exits(0).json();
        (table_at(&other.url()).await, report)
    }
}

async fn table_at(url: &str) -> String {
    let spec = TargetSpec::parse("dynamodb", Some(url), None, None).unwrap();
    contents(connect(&spec).await.unwrap().as_ref(), "app").await
}

#[track_caller]
fn says(ran: &Ran, text: &str) {
    assert!(ran.stderr.contains(text), "{text}: {ran:?}");
}

/// What is counted, whoever has loaded it.
fn counted(report: &Value) -> Value {
    let mut total = report["total"].clone();
    total["largest"] = Value::Null;
    total
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_load_in_chunks_is_the_load_of_one_process_on_every_database() {
    for source in Source::each(|product| script(product, 3_000)).await {
        let handed = Handed::new(source.url(), MAPPING);
        let (product, rows) = (source.product(), ["--chunk-rows", "500"]);
        if let Source::Sqlite(database) = &source {
            // A file that was written just now cannot tell whether it is again.
            crate::support::sqlite::settled(&database.file());
        }
        let held = (product == "postgres").then(|| handed.held(&rows));
        let lines = match &held {
            Some(held) => held.lines.clone(),
            None => handed.planned(&[&rows[..], &["--accept-inconsistent"]].concat()),
        };
        assert!(lines.len() > 5, "{product}: {}", lines.len());
        // The two of a chunk that two workers have loaded count once.
        let (one, two) = (&lines[..3], &lines[2..]);
        let one = handed.work(one).exits(0);
        assert_eq!(one.stdout.lines().count(), 3, "{product}");
        let two = handed.work(two).exits(0);
        let ended = handed.finish(&(one.stdout + &two.stdout), &[]).exits(0);
        let report = ended.json();
        let (alone, single) = handed.alone().await;
        assert_eq!(counted(&report), counted(&single), "{product}");
        assert_eq!(report["repeated"], 1);
        assert_eq!(report["keys"]["compared"], 3_003);
        assert_eq!(report["keys"]["compared_by"], "finish");
        // MySQL and MariaDB do not say whether rows changed.
        let differ = match product {
            "postgres" | "sqlite" => "proved",
            _ => "not_proved",
        };
        assert_eq!(
            claimed(&report, "keys_differ"),
            differ,
            "{product}: {report}"
        );
        assert_eq!(handed.contents().await, alone, "{product}");
        handed.verify().exits(0);
        let consistency = report["consistency"].as_str().unwrap();
        match product {
            "postgres" => assert_eq!(consistency, "all chunks were read from one snapshot"),
            "sqlite" => assert!(
                consistency.contains("no stored row changed"),
                "{consistency}"
            ),
            _ => says(&ended, "items of deleted rows"),
        }
        if let Some(held) = held {
            says(&held.end().exits(0), "was held until now");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plan_says_what_is_left_where_no_snapshot_is_shared_and_cuts_the_same_chunks_each_time() {
    for source in Source::each(|product| script(product, 1_000)).await {
        let handed = Handed::new(source.url(), MAPPING);
        let refused = handed.plan(&[]).exits(2);
        says(&refused, "If rows change during the load");
        says(&refused, "--accept-inconsistent");
        if source.product() != "postgres" {
            handed.plan(&["--hold"]).exits(2);
        }
        let one = handed
            .plan(&["--accept-inconsistent", "--chunk-rows", "200"])
            .exits(0);
        says(&one, "items of deleted rows");
        let two = handed
            .plan(&["--accept-inconsistent", "--chunk-rows", "200"])
            .exits(0);
        // But for what tells one plan from another, and what tells the state: a transaction of another test changes it on PostgreSQL,
        // and SQLite does not know it of a file that was written just now.
        let chunks = |ran: &Ran| -> Vec<Value> {
            let lines = ran.stdout.lines().map(serde_json::from_str::<Value>);
            let cut = lines.map(|line| {
                let mut line = line.unwrap();
                line["run"] = Value::Null;
                line["plan"]["mark"] = Value::Null;
                line["plan"]["stamp"] = Value::Null;
                line
            });
            cut.collect()
        };
        assert_eq!(chunks(&one), chunks(&two));
        assert_ne!(one.stdout, two.stdout);
        assert!(
            !one.stdout.contains("secret") && !one.stdout.contains('@'),
            "{}",
            one.stdout
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_worker_leaves_chunks_that_are_named_and_loaded_again() {
    let database = postgres::Database::with(&script("postgres", 20_000)).await;
    let handed = Handed::new(database.url(), MAPPING);
    let held = handed.held(&["--chunk-rows", "1000"]);
    handed
        .storm
        .set(Settings::read("latency: { milliseconds: 4 }").unwrap());
    let mut killed = handed.worker(&held.lines);
    let mut first = String::new();
    {
        let mut out = BufReader::new(killed.stdout.as_mut().unwrap());
        for _ in 0..3 {
            out.read_line(&mut first).unwrap();
        }
    }
    killed.kill().unwrap();
    killed.wait().unwrap();
    handed.storm.set(Settings::default());
    // A line that was cut off is no result.
    let cut = first.clone() + &first[..40];
    let ended = handed.finish(&cut, &[]).exits(1);
    let report = ended.json();
    assert_eq!(report["outcome"]["state"], "failed");
    assert_eq!(report["outcome"]["code"], "missing-chunks");
    assert_eq!(
        report["missing"].as_array().unwrap().len(),
        held.lines.len() - 3
    );
    let named = report["missing"][0]["reads"].as_str().unwrap();
    assert!(named.starts_with("orders: id after "), "{named}");
    assert_eq!(report["claims"][1]["verdict"], "not_proved", "{report}");
    says(&ended, "1 line of the results is not readable");
    // All again, by two workers at once.
    let workers = [handed.worker(&held.lines), handed.worker(&held.lines)];
    let again = workers.map(|worker| ran(worker).exits(0).stdout).concat();
    let report = handed.finish(&(first + &again), &[]).exits(0).json();
    assert_eq!(report["repeated"], 3 + held.lines.len());
    let (alone, single) = handed.alone().await;
    assert_eq!(counted(&report), counted(&single));
    assert_eq!(handed.contents().await, alone);
    handed.verify().exits(0);
    held.end().exits(0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_that_share_a_key_across_workers_are_found_and_named() {
    let database = postgres::Database::with(&script("postgres", 3_000)).await;
    // One in the first chunk, one in the last; and two of one chunk.
    database.run("UPDATE orders SET number = 1000010 WHERE id = 2990; UPDATE orders SET number = 1000701 WHERE id = 702").await;
    let handed = Handed::new(database.url(), MAPPING);
    let held = handed.held(&["--chunk-rows", "500"]);
    let results = handed.work(&held.lines).exits(0).stdout;
    let ended = handed.finish(&results, &[]).exits(3);
    let report = ended.json();
    assert_eq!(report["keys"]["overwritten"], 2);
    assert_eq!(report["claims"][1]["verdict"], "differs");
    let shared = report["shared_keys"].as_array().unwrap();
    let mut chunks: Vec<usize> = shared
        .iter()
        .map(|key| key["chunks"].as_array().unwrap().len())
        .collect();
    chunks.sort_unstable();
    assert_eq!(chunks, [1, 2]);
    says(
        &ended,
        r#"ORDER {"id":2990} has the same key as ORDER {"id":10}"#,
    );
    says(
        &ended,
        r#"ORDER {"id":702} has the same key as ORDER {"id":701}"#,
    );
    // What a job says it has compared must be all.
    let first: Value = serde_json::from_str(results.lines().next().unwrap()).unwrap();
    let run = first["run"].as_str().unwrap();
    let job_of = |run: &str, compared: u64| {
        format!(
            "{results}{{\"run\":\"{run}\",\"keys_compared\":{compared},\"distinct_keys\":3001,\"shared_keys\":[]}}\n"
        )
    };
    let job = |compared: u64| job_of(run, compared);
    says(
        &handed.finish(&job_of("another", 3_003), &[]).exits(1),
        "a result belongs to plan",
    );
    let report = handed.finish(&job(3_003), &[]).exits(3).json();
    assert_eq!(report["keys"]["compared_by"], "job");
    says(
        &handed.finish(&job(3_002), &[]).exits(1),
        "the job compared 3,002 keys, but the chunks have 3,003 keys",
    );
    says(
        &held.end().exits(0),
        "finds items with the same key, after the load: by then the table holds only one of them",
    );
}

/// What `finish` has archived it writes anew, and no file of somebody else.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn finish_replaces_its_own_archive_and_no_other_file() {
    let database = Database::new(
        "CREATE TABLE tokens (id INTEGER PRIMARY KEY, ends INTEGER NOT NULL);
         INSERT INTO tokens VALUES (1, 1000000000), (2, 4000000000);",
    )
    .await;
    let mapping = "dynafold: 1
table: { name: app, key: { partition: PK, sort: SK }, ttl: ends }
items: { TOKEN: { from: tokens, key: { PK: \"T#{id}\", SK: T }, expired: archive } }
";
    let handed = Handed::new(database.url(), mapping);
    let lines = handed.planned(&["--accept-inconsistent"]);
    let results = handed.work(&lines).exits(0).stdout;
    let archive = handed.path("files/archive.ndjson");
    handed.finish(&results, &[]).exits(0);
    let archived = std::fs::read_to_string(&archive).unwrap();
    assert_eq!(archived.lines().count(), 1, "{archived}");
    handed.finish(&results, &[]).exits(0);
    assert_eq!(std::fs::read_to_string(&archive).unwrap(), archived);

    // A part of an export.
    let other = "{\"Item\":{\"PK\":{\"S\":\"T#9\"}}}\n";
    std::fs::write(&archive, other).unwrap();
    let refused = handed.finish(&results, &[]);
    says(&refused, "it is not an archive of this table");
    assert_eq!(std::fs::read_to_string(&archive).unwrap(), other);

    // Another plan, of which nothing has expired: an archive that is there is not its own.
    database
        .run("UPDATE tokens SET ends = 4000000000 WHERE id = 1")
        .await;
    let lines = handed.planned(&["--accept-inconsistent", "--append"]);
    let results = handed.work(&lines).exits(0).stdout;
    std::fs::write(&archive, &archived).unwrap();
    let refused = handed.finish(&results, &[]).exits(1);
    says(&refused, "the results name no archived item");
    says(&refused, "move the file elsewhere");
    assert_eq!(std::fs::read_to_string(&archive).unwrap(), archived);
    std::fs::remove_file(&archive).unwrap();
    let report = handed.finish(&results, &[]).exits(0).json();
    assert_eq!(report["archive_file"], Value::Null);
    assert!(!archive.exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn workers_that_lose_the_snapshot_fail_by_name() {
    let database = postgres::Database::with(&script("postgres", 2_000)).await;
    let handed = Handed::new(database.url(), MAPPING);
    let mut held = handed.held(&["--chunk-rows", "500"]);
    held.child.kill().unwrap();
    held.child.wait().unwrap();
    let is_gone = || {
        let ran = handed.work(&held.lines[..1]);
        ran.code == 1 && ran.stdout.contains(r#""code":"snapshot""#)
    };
    assert!(wait::comes(wait::PATIENCE, is_gone));
    let lost = handed.work(&held.lines).exits(1);
    assert_eq!(lost.stdout.lines().count(), held.lines.len());
    says(&lost, "the shared snapshot");
    let ended = handed.finish(&lost.stdout, &[]).exits(1);
    let missing = &ended.json()["missing"];
    assert_eq!(missing.as_array().unwrap().len(), held.lines.len());
    assert_eq!(missing[0]["why"]["code"], "snapshot");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn results_and_lines_of_something_else_are_refused() {
    let source = Source::Sqlite(Database::new(&script("sqlite", 1_000)).await);
    let handed = Handed::new(source.url(), MAPPING);
    let further = ["--accept-inconsistent", "--chunk-rows", "300"];
    let lines = handed.planned(&further);
    let results = handed.work(&lines).exits(0).stdout;
    // Another environment makes other items.
    let mut other = handed.with_target(&["work", "--files", "files", "--plan", "plan.ndjson"], &[]);
    let failed = run(other.env("TABLE", "other")).exits(1);
    says(&failed, "do not have the values that they had for the plan");
    // A line that is missing, or that somebody has changed.
    let file =
        |lines: &[String]| std::fs::write(handed.path("plan.ndjson"), lines.join("\n")).unwrap();
    file(&lines[1..]);
    says(&handed.finish(&results, &[]).exits(1), "lines");
    let mut changed = lines.clone();
    let ranged = changed
        .iter_mut()
        .find(|line| line.contains("up to"))
        .unwrap();
    *ranged = ranged.replace("up to", "down to");
    file(&changed);
    says(
        &handed.finish(&results, &[]).exits(1),
        "changed since they were written",
    );
    // A mapping that was changed makes another plan.
    std::fs::write(handed.path("m.yaml"), MAPPING.replace("ORDER#", "O#")).unwrap();
    let other = handed.planned(&["--accept-inconsistent", "--chunk-rows", "300", "--append"]);
    assert_ne!(lines, other);
    says(
        &handed.finish(&results, &[]).exits(1),
        "a result belongs to plan",
    );
    // Without --append a table with items is none to load into.
    says(&handed.plan(&further).exits(1), "already has items");
}

/// What one worker loaded is gone, or is in another table than what the other loaded.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chunks_of_two_tables_of_one_name_are_not_one_load() {
    let source = Database::new(&script("sqlite", 1_000)).await;
    let handed = Handed::new(source.url(), MAPPING);
    let target = ["--target", "local:a.ddb"];
    let plan = [
        "plan",
        "m.yaml",
        "--accept-inconsistent",
        "--chunk-rows",
        "300",
    ];
    let plan = [&plan[..], &target].concat();
    let lines = run(&mut handed.command(&plan)).exits(0).stdout;
    std::fs::write(handed.path("plan.ndjson"), lines).unwrap();
    let work = [
        "work",
        "--files",
        "files",
        "--plan",
        "plan.ndjson",
        "--shard",
    ];
    let work = |shard: &str| {
        let words = [&work[..], &[shard], &target].concat();
        run(&mut handed.command(&words)).exits(0).stdout
    };
    let one = work("0/2");
    std::fs::remove_file(handed.path("a.ddb")).unwrap();
    run(&mut handed.command(&plan)).exits(0);
    let two = work("1/2");
    let ended = handed.finish(&(one.clone() + &two), &[]).exits(1);
    let differ = "were loaded into different tables of the same name";
    says(&ended, differ);
    // Of two attempts at a chunk the later is in the table that is there.
    let again = work("0/2");
    for results in [[&*again, &*one, &*two], [&*one, &*two, &*again]] {
        handed.finish(&results.concat(), &[]).exits(0);
    }
    std::fs::remove_file(handed.path("a.ddb")).unwrap();
    run(&mut handed.command(&plan)).exits(0);
    let results = again + &two + &work("0/2");
    says(&handed.finish(&results, &[]).exits(1), differ);
}

/// MySQL and MariaDB tell no state, so nothing but its mark tells a plan from that of an earlier load.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn results_of_an_earlier_load_do_not_count_for_a_new_plan() {
    for source in Source::each(|product| script(product, 100)).await {
        let handed = Handed::new(source.url(), MAPPING);
        let target = ["--target", "local:a.ddb"];
        let plan = || {
            let words = ["plan", "m.yaml", "--accept-inconsistent"];
            let lines = run(&mut handed.command(&[&words[..], &target].concat())).exits(0);
            std::fs::write(handed.path("plan.ndjson"), lines.stdout).unwrap();
        };
        plan();
        let words = ["work", "--files", "files", "--plan", "plan.ndjson"];
        let results = run(&mut handed.command(&[&words[..], &target].concat())).exits(0);
        handed.finish(&results.stdout, &[]).exits(0);
        // The table is made anew, and nobody has loaded it.
        std::fs::remove_file(handed.path("a.ddb")).unwrap();
        plan();
        let ended = handed.finish(&results.stdout, &[]).exits(1);
        says(&ended, "a result belongs to plan");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_chunk_counts_only_with_the_keys_of_all_its_items() {
    let source = Source::Sqlite(Database::new(&script("sqlite", 1_000)).await);
    let handed = Handed::new(source.url(), MAPPING);
    let lines = handed.planned(&["--accept-inconsistent", "--chunk-rows", "300"]);
    let results = handed.work(&lines).exits(0).stdout;
    let (first, others) = results.split_once('\n').unwrap();
    let mut keyless: Value = serde_json::from_str(first).unwrap();
    let done = &mut keyless["outcome"]["done"];
    let file = done["keys"]["file"].as_str().unwrap().to_owned();
    done["keys"] = Value::Null;
    let ran = handed.finish(&format!("{keyless}\n{others}"), &[]).exits(1);
    says(&ran, "but its result has 0 keys");
    // A file that is not as it was written, or gone.
    let file = handed.path("files").join(file);
    let keys = std::fs::read(&file).unwrap();
    std::fs::write(&file, vec![0; keys.len()]).unwrap();
    says(
        &handed.finish(&results, &[]).exits(1),
        "the digest in its name",
    );
    std::fs::remove_file(&file).unwrap();
    says(&handed.finish(&results, &[]).exits(1), "cannot read");
    std::fs::write(&file, keys).unwrap();
    handed.finish(&results, &[]).exits(0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_chunk_counts_only_with_all_its_rejects_and_archived_items() {
    let database = Database::new(
        "CREATE TABLE tokens (id INTEGER PRIMARY KEY, name TEXT NOT NULL, ends INTEGER NOT NULL);
         INSERT INTO tokens VALUES (1, 'a', 1000000000), (2, '', 4000000000), (3, 'c', 4000000000);",
    )
    .await;
    let mapping = "dynafold: 1
table: { name: app, key: { partition: PK, sort: SK }, ttl: ends }
items: { TOKEN: { from: tokens, key: { PK: \"{name}\", SK: T }, expired: archive } }
";
    let handed = Handed::new(database.url(), mapping);
    let lines = handed.planned(&["--accept-inconsistent", "--max-rejects", "1"]);
    let results = handed.work(&lines).exits(0).stdout;
    for (file, why) in [
        ("rejects", "chunk 0 counts 1 reject, but its result has 0"),
        (
            "archive",
            "chunk 0 counts 1 archived item, but its result has 0",
        ),
    ] {
        let mut altered: Value = serde_json::from_str(results.trim()).unwrap();
        altered["outcome"]["done"][file] = Value::Null;
        let ran = handed.finish(&format!("{altered}\n"), &[]).exits(1);
        says(&ran, why);
    }
    handed.finish(&results, &[]).exits(3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_without_a_line_says_so() {
    let source = Source::Sqlite(Database::new(&script("sqlite", 10)).await);
    let handed = Handed::new(source.url(), MAPPING);
    says(&handed.work(&[]).exits(0), "there was no line of a plan");
    let lines = handed.planned(&["--accept-inconsistent"]);
    let of = format!("{0}/{1}", lines.len(), lines.len() + 1);
    let words = [
        "work",
        "--files",
        "files",
        "--plan",
        "plan.ndjson",
        "--shard",
        &of,
    ];
    says(
        &run(&mut handed.with_target(&words, &[])).exits(0),
        "so nothing was loaded",
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_that_change_between_chunks_are_said() {
    for source in Source::each(|product| script(product, 1_000)).await {
        let handed = Handed::new(source.url(), MAPPING);
        let lines = handed.planned(&["--accept-inconsistent", "--chunk-rows", "300"]);
        let first = handed.work(&lines[..2]).exits(0).stdout;
        let change = "UPDATE users SET name = 'Bea' WHERE id = 2";
        match &source {
            Source::Sqlite(database) => database.run(change).await,
            Source::Postgres(database) => database.run(change).await,
            Source::Mysql(_, database) => database.run(change).await,
        }
        let rest = handed.work(&lines[2..]).exits(0).stdout;
        let ended = handed.finish(&(first + &rest), &[]).exits(0);
        says(&ended, "If rows change during the load");
        says(&ended, "`dynafold verify` finds what differs");
        // What a killed worker wrote before the change has no result.
        assert_eq!(claimed(&ended.json(), "keys_differ"), "not_proved");
    }
}

/// Two results of one chunk look the same where a row of the same size has changed between them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_chunk_that_is_loaded_again_after_a_change_is_said() {
    let database = Database::new(&script("sqlite", 10)).await;
    crate::support::sqlite::settled(&database.file());
    let handed = Handed::new(database.url(), MAPPING);
    let lines = handed.planned(&["--accept-inconsistent"]);
    let first = handed.work(&lines).exits(0).stdout;
    database
        .run("UPDATE users SET name = 'Bea' WHERE id = 2")
        .await;
    crate::support::sqlite::settled(&database.file());
    let again = handed.work(&lines).exits(0).stdout;
    let results = first + &again;
    let ended = handed.finish(&results, &[]).exits(0);
    says(&ended, "loaded again after the source had changed");
    says(&ended, "`dynafold verify` finds what differs");
    let report = ended.json();
    assert_eq!(claimed(&report, "keys_differ"), "not_proved", "{report:#}");
}

/// A snapshot does not hold what its rows come from: here another value at each reading.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_held_snapshot_of_a_foreign_table_is_not_said_to_be_of_one_moment() {
    let ticks = "CREATE EXTENSION file_fdw; CREATE SERVER clock FOREIGN DATA WRAPPER file_fdw;
         CREATE FOREIGN TABLE tick (id int NOT NULL, at text) SERVER clock OPTIONS (program 'echo 1,$(date +%s%N)', format 'csv');
         CREATE VIEW seen AS SELECT * FROM tick;";
    let kept = "CREATE TABLE kept (id int PRIMARY KEY); INSERT INTO kept VALUES (1);";
    for (sql, table, is_held) in [
        (ticks, "tick", false),
        (ticks, "seen", false),
        (kept, "kept", true),
    ] {
        let database = postgres::Database::with(sql).await;
        let mapping = format!(
            "dynafold: 1\ntable: {{ name: app, key: {{ partition: PK, sort: SK }} }}\nitems: {{ T: {{ from: {table}, key: {{ PK: \"T#{{id}}\", SK: T }} }} }}\n"
        );
        let handed = Handed::new(database.url(), &mapping);
        let held = handed.held(&[]);
        let results = handed.work(&held.lines).exits(0).stdout;
        let ended = handed.finish(&results, &[]).exits(0);
        held.end();
        let what = "foreign tables, and functions that read elsewhere, are not in it";
        assert_eq!(ended.stderr.contains(what), !is_held, "{table}: {ended:?}");
    }
}

/// Such a worker would load other rows, or less of them, and its books would balance.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_whose_user_reads_something_else_than_the_plans_is_refused() {
    let mut database = postgres::Database::with(
        "CREATE TABLE t (id int PRIMARY KEY, name text, secret text); INSERT INTO t VALUES (1, 'a', 'x'), (2, 'b', 'y');
         ALTER TABLE t ENABLE ROW LEVEL SECURITY",
    )
    .await;
    let [alike, own, columns, rows] = [
        database.role("alike").await,
        database.role("own").await,
        database.role("columns").await,
        database.role("rows").await,
    ];
    database
        .run(&format!(
            "GRANT SELECT ON t TO {alike}, {own}, {rows}; GRANT SELECT (id, name) ON t TO {columns};
             ALTER ROLE {alike} BYPASSRLS; ALTER ROLE {own} BYPASSRLS; ALTER ROLE {columns} BYPASSRLS;
             CREATE SCHEMA AUTHORIZATION {own}; CREATE TABLE {own}.t (LIKE t); ALTER TABLE {own}.t OWNER TO {own}"
        ))
        .await;
    let mapping = "dynafold: 1
table: { name: app, key: { partition: PK, sort: SK } }
items: { T: { from: t, key: { PK: \"T#{id}\", SK: T } } }
";
    let handed = Handed::new(database.url(), mapping);
    // By this snapshot the keys are proved, and in the table without a key they are not: that is not the reason.
    let held = handed.held(&[]);
    let words = ["work", "--files", "files", "--plan", "plan.ndjson"];
    let work = |role: &str| {
        let mut command = handed.with_target(&words, &[]);
        run(command.env("DATABASE_URL", database.url_as(role, "secret")))
    };
    for role in [&own, &columns, &rows] {
        let refused = work(role).exits(1);
        refused.says("may read other tables, columns or rows than the user of the plan");
    }
    let results = work(&alike).exits(0).stdout;
    handed.finish(&results, &[]).exits(0);
    held.end();
    // Policies may show other rows to each of two users.
    let role = format!("ALTER ROLE {own} NOBYPASSRLS; ALTER ROLE {own} SET search_path = public");
    database.run(&role).await;
    let handed = Handed::new(database.url_as(&rows, "secret"), mapping);
    handed.planned(&["--accept-inconsistent"]);
    for (role, code) in [(&own, 1), (&rows, 0)] {
        let mut command = handed.with_target(&words, &[]);
        let url = database.url_as(role, "secret");
        run(command.env("DATABASE_URL", url)).exits(code);
    }
}

/// A copy has the rows of another moment.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn results_that_were_read_from_another_database_are_named() {
    let source = Database::new(&script("sqlite", 10)).await;
    let other = Database::new(&script("sqlite", 20)).await;
    let handed = Handed::new(source.url(), MAPPING);
    handed.planned(&["--accept-inconsistent"]);
    let words = ["work", "--files", "files", "--plan", "plan.ndjson"];
    for (url, is_other) in [(source.url(), false), (other.url(), true)] {
        let mut work = handed.with_target(&words, &[]);
        let results = run(work.env("DATABASE_URL", url)).exits(0).stdout;
        let ended = handed.finish(&results, &[]).exits(0).stderr;
        let is_named = ended.contains(", but chunks were read from ");
        assert_eq!(is_named, is_other, "{ended}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn shards_load_all_chunks_and_rejects_come_together() {
    let source = Database::new(&script("sqlite", 1_000)).await;
    let mapping = MAPPING.replace("ORDER#{number}", "{body}");
    source
        .run("UPDATE orders SET body = 'b' || id; UPDATE orders SET body = '' WHERE id IN (7, 888)")
        .await;
    let handed = Handed::new(source.url(), &mapping);
    let lines = handed.planned(&[
        "--accept-inconsistent",
        "--chunk-rows",
        "300",
        "--max-rejects",
        "2",
    ]);
    let mut results = String::new();
    for shard in ["0/3", "1/3", "2/3"] {
        let words = [
            "work",
            "--files",
            "files",
            "--plan",
            "plan.ndjson",
            "--shard",
            shard,
        ];
        results += &run(&mut handed.with_target(&words, &[])).exits(0).stdout;
    }
    assert_eq!(results.lines().count(), lines.len());
    // A file of that name is somebody's.
    let file = handed.path("files/rejects.ndjson");
    std::fs::write(&file, "my own notes").unwrap();
    let refused = handed.finish(&results, &[]).exits(1);
    let why = "is not a rejects file";
    refused.says(why);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "my own notes");
    std::fs::remove_file(&file).unwrap();
    let report = handed.finish(&results, &[]).exits(3).json();
    assert_eq!(report["total"]["rejected"], 2);
    let rejects = std::fs::read_to_string(handed.path("files/rejects.ndjson")).unwrap();
    let rows: Vec<Value> = rejects
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(
        (rows[0]["row"]["id"].as_u64(), rows[1]["row"]["id"].as_u64()),
        (Some(7), Some(888))
    );
    // The ceiling of all workers is divided by their slots, and said.
    let slots = handed
        .plan(&[
            "--accept-inconsistent",
            "--append",
            "--slots",
            "4",
            "--max-wcu",
            "1000",
        ])
        .exits(0);
    says(
        &slots,
        "each of 4 slots may use at most 250 write units a second",
    );
    handed
        .plan(&["--accept-inconsistent", "--slots", "4", "--max-wcu", "3"])
        .exits(2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_snapshot_gives_one_plan_and_others_take_it_over() {
    let database = postgres::Database::with(&script("postgres", 2_000)).await;
    let mut source = source::connect(&database.url()).await.unwrap();
    let catalog = source.catalog().await.unwrap();
    let checked = check::check(MAPPING, &|_| None, &catalog, Some(source.as_mut()))
        .await
        .unwrap();
    let model = checked.model.unwrap();
    source.begin(&model.scans()).await.unwrap();
    let snapshot = source.share().await.unwrap();
    assert!(snapshot.is_some());
    let facts = PlanFacts {
        mark: String::new(),
        mapping: MAPPING.to_owned(),
        environment: None,
        schema: String::new(),
        items: Vec::new(),
        table: model.table.name.clone(),
        source: "a database".to_owned(),
        dbms: source.dbms(),
        snapshot: snapshot.clone(),
        stamp: None,
        now: None,
        keys: KeyCheck::Late,
        not_compared: Vec::new(),
        max_rejects: 0,
        slots: 1,
        max_wcu: None,
        export: None,
    };
    let mut plans = Vec::new();
    for _ in 0..2 {
        let plan = HandedPlan::cut(source.as_mut(), &model, facts.clone(), Some(300))
            .await
            .unwrap();
        let lines = plan
            .lines()
            .map(|line| serde_json::to_string(&line).unwrap());
        plans.push(lines.collect::<Vec<_>>().join("\n"));
    }
    assert_eq!(plans[0], plans[1]);
    let read = HandedPlan::read(plans[0].as_bytes()).unwrap();
    assert_eq!(read.len(), plans[0].lines().count());
    assert!(read.len() > 5, "{}", read.len());
    // What comes later is not in the snapshot, for whoever has taken it over.
    database.run("INSERT INTO users VALUES (4, 'late')").await;
    let mut other = source::connect(&database.url()).await.unwrap();
    other.join(&snapshot.unwrap()).unwrap();
    other.catalog().await.unwrap();
    other.begin(&model.scans()).await.unwrap();
    assert_eq!(other.count(&model.passes[0].scan.from).await.unwrap(), 3);
}

#[test]
fn the_program_runs_with_glibc_2_34() {
    let program = std::env::var_os("DYNAFOLD_TEST_PROGRAM");
    let program = program.unwrap_or_else(|| env!("CARGO_BIN_EXE_dynafold").into());
    let bytes = std::fs::read(program).unwrap();
    let newest = needed_glibc(&bytes);
    // Amazon Linux 2023, on which EMR and Glue run.
    assert!(
        newest.is_none_or(|newest| newest <= 34),
        "it needs glibc 2.{}",
        newest.unwrap()
    );
    assert_eq!(needed_glibc(b"..GLIBC_2.2.5\0GLIBC_2.17\0x"), Some(17));
}

/// The newest minor version of glibc 2 that a program names; `None` where it is linked to none.
fn needed_glibc(program: &[u8]) -> Option<u32> {
    let name = b"GLIBC_2.";
    let names = program
        .windows(name.len())
        .enumerate()
        .filter(|(_, window)| window == name);
    let minors = names.filter_map(|(at, _)| {
        let rest = &program[at + name.len()..];
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        std::str::from_utf8(&rest[..digits]).ok()?.parse().ok()
    });
    minors.max()
}
