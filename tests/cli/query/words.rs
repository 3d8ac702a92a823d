//! The parameters of `query`, the requests that it shows, and what it says when it cannot ask.

use serde_json::{Value, json};

use super::{Table, keys};
use crate::cli::says;
use crate::support::cli::{command, run};
use crate::support::source::Source;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parameters_are_options_that_the_list_and_the_help_tell() {
    let table = Table::new("query-options", None).await;
    let list = table.query(&[]).exits(0).stdout;
    assert!(
        list.contains("  note --grp TEXT --id NUMBER\n      One note\n"),
        "{list}"
    );
    assert!(
        list.contains("  since [--from TEXT] [--until TEXT]"),
        "{list}"
    );
    let help = table.query(&["note", "--help"]).exits(0).stdout;
    assert!(
        help.starts_with("One note\n\nUsage: dynafold query ")
            && help.contains("note --grp TEXT --id NUMBER [OPTIONS]\n\nParameters:\n")
            && help.contains("--id <NUMBER>\n          A number\n\nOptions:\n"),
        "{help}"
    );
    let help = table.query(&["ofRegion", "--help"]).exits(0).stdout;
    assert!(help.contains("give it as --param region=VALUE"), "{help}");
    assert_eq!(
        keys(&table.answer(&["ofRegion", "--param", "region=b"])).len(),
        20
    );
    let ran = run(&mut command(&["query", "nothing.yaml", "note", "--help"])).exits(0);
    let why =
        "the mapping's access patterns are not listed: cannot read the mapping `nothing.yaml`";
    ran.prints(why);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_is_wrong_with_parameters_is_said() {
    let table = Table::new("query-words", None).await;
    let of = |words: &[&str]| table.query(words).exits(2);
    says(
        &of(&["note", "--grp", "b"]),
        "`note` needs `id`",
        "note --grp TEXT --id NUMBER",
    );
    says(
        &of(&["notes", "--grp", "b"]),
        "no access pattern `notes`",
        "did you mean `note`?",
    );
    says(
        &of(&["notes", "--help"]),
        "no access pattern `notes`",
        "did you mean `note`?",
    );
    says(
        &of(&["note", "--param", "gpr=b"]),
        "no parameter `gpr`",
        "did you mean `grp`?",
    );
    says(
        &of(&["note", "--param", "grp"]),
        "there is no `=`",
        "NAME=VALUE",
    );
    says(
        &of(&["note", "--grp", "b", "--param", "grp=c"]),
        "given twice",
        "once",
    );
    says(
        &of(&["note", "--grp", "b", "--id", "x"]),
        "`id` takes a number, not `x`",
        "give digits",
    );
    says(
        &of(&["note", "--grp", "b", "--id", "1234567"]),
        "the key attribute `SK` cannot be made from the values",
        "",
    );
    says(
        &of(&["notesOfGroup", "--grp", &"x".repeat(2048)]),
        "2050 bytes",
        "shorter",
    );
    says(
        &of(&["openNotes", "--grp", "a", "--state", "open", "--least", "5"]),
        "without the schema",
        "--catalog",
    );
    says(
        &of(&["since"]),
        "how the mapping writes the time",
        "--catalog",
    );
    says(
        &of(&["byPoints", "--grp", "b", "--low", "80", "--high", "70"]),
        "the range of `points` is reversed: `{low}` sorts after `{high}`",
        "exchange",
    );
    let source = format!("--source={}", table.source());
    says(
        &of(&["withinPoints", "--grp=b", "--low=80", "--high=70", &source]),
        "the range of `points` is reversed: `:low` sorts after `:high`",
        "exchange",
    );
    let unknown = of(&["note", "--grp", "b", "--idd", "7"]).stderr;
    assert!(
        unknown.contains("--idd") && unknown.contains("--id"),
        "{unknown}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_is_wrong_with_the_mapping_or_the_target_is_said() {
    let table = Table::new("query-target", None).await;
    let mapping = table.folder.path().join("notes.yaml");
    let mapping = mapping.to_str().unwrap();
    let alone = |words: &[&str]| run(&mut command(&[&["query", mapping], words].concat()));
    says(
        &alone(&["notesOfGroup", "--grp", "b"]).exits(2),
        "no target is named",
        "--target",
    );
    let ran = run(&mut command(&["query", "nothing.yaml", "note"])).exits(1);
    says(&ran, "cannot read the mapping", "the path of the mapping");
    let memory = ["notesOfGroup", "--grp", "b", "--target", "local"];
    says(&alone(&memory).exits(2), "a table in memory", "local:FILE");
    let nothing = format!(
        "local:{}",
        table.folder.path().join("nothing.ddb").display()
    );
    let nothing = ["notesOfGroup", "--grp", "b", "--target", &nothing];
    says(
        &alone(&nothing).exits(1),
        "there is no file `",
        "`dynafold migrate … --target local:",
    );
    let elsewhere = format!("local:{}", table.folder.path().join("notes.ddb").display());
    let elsewhere = ["notesOfGroup", "--grp", "b", "--target", &elsewhere];
    says(
        &alone(&elsewhere).exits(1),
        "there is no such table",
        "`dynafold migrate` creates and fills",
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_date_for_a_moment_is_told_to_be_its_midnight() {
    let table = Table::new("query-midnight", None).await;
    let source = table.source();
    let of = |until: &str| {
        let from = "2026-01-03T00:00:00";
        let words = [
            "since", "--from", from, "--until", until, "--source", &source, "--all",
        ];
        table.query(&words).exits(0).stderr
    };
    let reported = of("2026-01-05");
    assert!(
        reported.contains("`until` is read as 2026-01-05T00:00:00"),
        "{reported}"
    );
    assert!(!of("2026-01-05T00:00:00").contains("is read as"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_day_that_no_column_can_hold_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mapping = folder.path().join("days.yaml");
    let text = r#"
dynafold: 1
table: { name: days, key: { partition: PK } }
items:
  DAY: { from: days, key: { PK: "{day}" } }
access_patterns:
  of: { items: [DAY], key: { PK: "{day}" } }
"#;
    std::fs::write(&mapping, text).unwrap();
    let script = "CREATE TABLE days (day date PRIMARY KEY NOT NULL)";
    for source in Source::each(|_| script.to_owned()).await {
        let of = |day: &str| {
            let (mapping, url) = (mapping.to_str().unwrap(), source.url());
            run(&mut command(&[
                "query",
                mapping,
                "of",
                "--day",
                day,
                "--source",
                &url,
                "--explain",
            ]))
        };
        of("2024-02-29").exits(0);
        let unreal = of("2024-02-30");
        if source.product() == "postgres" {
            let unreal = unreal.exits(2);
            says(&unreal, "`day` takes a date, not `2024-02-30`", "give it");
        } else {
            unreal.exits(0);
        }
        source.drop().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_is_shown_as_it_would_be_sent_and_an_answer_as_it_is_wanted() {
    let table = Table::new("query-shown", None).await;
    let shown = table.answer(&[
        "byPoints",
        "--grp",
        "b",
        "--low",
        "75",
        "--high",
        "120",
        "--explain",
    ]);
    assert_eq!(
        shown,
        json!({
            "pattern": "byPoints",
            "requests": [{
                "operation": "Query",
                "request": {
                    "TableName": table.name,
                    "IndexName": "by_points",
                    "KeyConditionExpression": "#k0 = :k0 AND #k1 BETWEEN :k1 AND :k2",
                    "ExpressionAttributeNames": { "#k0": "grp", "#k1": "points" },
                    "ExpressionAttributeValues": {
                        ":k0": { "S": "b" }, ":k1": { "N": "75" }, ":k2": { "N": "120" },
                    },
                },
            }],
            "merged_by": ["points"],
        })
    );
    let shown = table.answer(&["note", "--grp", "b", "--id", "8", "--explain"]);
    assert_eq!(shown["requests"][0]["operation"], "GetItem");
    assert_eq!(
        shown["requests"][0]["request"]["Key"],
        json!({ "PK": { "S": "G#b" }, "SK": { "S": "NOTE#000008" } })
    );
    let shards = table.answer(&["allShards", "--grp", "b", "--explain"]);
    assert_eq!(shards["requests"].as_array().unwrap().len(), 4);
    let asked = ["allShards", "--grp", "b", "--explain", "--format", "ndjson"];
    let stdout = table.query(&asked).exits(0).stdout;
    let lines = stdout
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    assert_eq!(
        lines.collect::<Vec<_>>(),
        *shards["requests"].as_array().unwrap()
    );

    let lines = table
        .query(&["lastNotes", "--grp", "b", "--format", "ndjson"])
        .exits(0);
    assert_eq!(lines.stdout.lines().count(), 3);
    lines.says("3 items in 1 page, 0.5 read units");
    let text = table
        .query(&["lastNotes", "--grp", "b", "--repeat", "5"])
        .exits(0);
    assert!(
        text.stdout.starts_with("body   state  grp  points\n"),
        "{}",
        text.stdout
    );
    text.says("5 calls: p50 ");
    let more = table.query(&["notesOfGroup", "--grp", "a"]).exits(0);
    more.says("there is more: --all reads it");
}
