//! The command line of the rehearsal, its control over HTTP, and its documentation.

use std::collections::HashSet;

use aws_sdk_dynamodb::types::{AttributeValue, BillingMode};
use clap::{CommandFactory as _, Parser as _};
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::{make_table, put_batch, start};
use crate::readme::blocks::{blocks, page};
use crate::readme::console::words;
use crate::support::cli::{command, run};
use crate::support::storm::{Arguments, FaultKind, Settings, Storm};

fn arguments(words: &[&str]) -> Result<Settings, String> {
    let words = ["rehearse"].iter().chain(words);
    let arguments = Arguments::try_parse_from(words).map_err(|error| error.to_string())?;
    arguments.settings()
}

/// The status and the body of one HTTP request.
async fn ask(storm: &Storm, line: &str, body: &str) -> (String, Value) {
    let address = storm.url();
    let address = address.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!(
        "{line} HTTP/1.1\r\nhost: storm\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    stream.shutdown().await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().to_owned();
    (status, serde_json::from_str(body).unwrap())
}

#[tokio::test]
async fn counts_and_settings_go_over_http() {
    let (storm, client) = start("");
    make_table(&client, BillingMode::PayPerRequest).await;
    put_batch(&client, "a", 0..25).await.unwrap();
    let (status, counts) = ask(&storm, "GET /__storm/counts", "").await;
    assert_eq!(status, "200");
    assert_eq!(counts["items"]["put"], 25);
    assert_eq!(counts["window"]["most_units"], 25.0);
    assert_eq!(ask(&storm, "POST /__storm/reset", "").await.0, "200");
    assert_eq!(storm.counts().items.put, 0);
    let fault = "faults: [{ do: error }]";
    assert_eq!(ask(&storm, "POST /__storm/settings", fault).await.0, "200");
    put_batch(&client, "a", 0..25).await.unwrap_err();
    let (status, error) = ask(&storm, "POST /__storm/settings", "fualts: []").await;
    assert_eq!(status, "400");
    assert!(
        error["error"].as_str().unwrap().contains("fualts"),
        "{error}"
    );
    let (_, settings) = ask(&storm, "GET /__storm/settings", "").await;
    assert_eq!(settings["faults"][0]["do"], "error");
    assert_eq!(ask(&storm, "GET /__storm/other", "").await.0, "404");
    storm.set(Settings::default());
    put_batch(&client, "a", 0..25).await.unwrap();
    storm.reset();
    put_batch(&client, "a", 0..20).await.unwrap();
    assert_eq!(storm.stop().items.replaced, 20);
    put_batch(&client, "a", 0..20).await.unwrap_err();
}

#[test]
fn options_go_before_the_file() {
    let folder = tempfile::TempDir::new().unwrap();
    let file = folder.path().join("storm.yaml");
    std::fs::write(&file, "seed: 7\nlimits: { table_wcu: 500, index_wcu: 5 }\n").unwrap();
    let file = file.to_str().unwrap();
    let options = ["--table-wcu", "900", "--index-wcu", "GSI1=80", "--fault"];
    let mut words = vec!["--settings", file];
    words.extend(options);
    words.push("stall:every=100,seconds=40,operations=BatchWriteItem+PutItem");
    let settings = arguments(&words).unwrap();
    assert_eq!(settings.seed, 7);
    assert_eq!(settings.limits.table_wcu, Some(900.0));
    assert_eq!(settings.limits.index_wcu, Some(5.0));
    assert_eq!(settings.limits.indexes["GSI1"].to_bits(), 80_f64.to_bits());
    let fault = &settings.faults[0];
    assert_eq!((fault.kind, fault.every), (FaultKind::Stall, Some(100)));
    assert_eq!(fault.operations, ["BatchWriteItem", "PutItem"]);
}

#[test]
fn nonsense_is_refused_in_words() {
    for (words, part) in [
        (vec!["--fault", "rain"], "unknown variant `rain`"),
        (vec!["--fault", "stall:secs=4"], "unknown field `secs`"),
        (vec!["--fault", "error:chance=2"], "from 0 to 1"),
        (vec!["--table-wcu", "-1"], "unexpected argument"),
        (vec!["--table-wcu", "0"], "positive"),
        (vec!["--warm-up", "4000"], "UNITS:SECONDS"),
        (vec!["--settings", "no/such/file"], "no/such/file"),
    ] {
        let error = arguments(&words).unwrap_err();
        assert!(error.contains(part), "{words:?}: {error}");
    }
}

#[test]
fn settings_are_data_and_come_back_as_they_went() {
    let text = "
seed: 3
store: map
billing: on-demand
limits: { table_wcu: 10, indexes: { A: 2.5 }, warm_up: {} }
faults:
  - { do: lost-answer, chance: 0.01, operations: [PutItem] }
events: [{ after: 9, delete_table: '12' }]
clock_skew_seconds: -600
";
    let settings = Settings::read(text).unwrap();
    assert_eq!(settings.events[0].delete_table, "12");
    let json = serde_json::to_string(&settings).unwrap();
    assert_eq!(Settings::read(&json).unwrap(), settings);
    assert_eq!(Settings::read("").unwrap(), Settings::default());
}

#[tokio::test]
async fn the_map_answers_a_whole_scan_in_segments_and_pages() {
    let (_storm, client) = start("store: map");
    make_table(&client, BillingMode::PayPerRequest).await;
    for partition in ["a", "b", "c", "d"] {
        for number in 0..4 {
            put_batch(&client, partition, number * 25..number * 25 + 25)
                .await
                .unwrap();
        }
    }
    let mut seen = HashSet::new();
    for segment in 0..3 {
        let mut from = None;
        loop {
            let scan = client
                .scan()
                .table_name("app")
                .segment(segment)
                .total_segments(3);
            let scan = scan.limit(7).projection_expression("#s, PK");
            let scan = scan.expression_attribute_names("#s", "SK");
            let page = scan.set_exclusive_start_key(from).send().await.unwrap();
            for item in page.items() {
                assert_eq!(item.len(), 2);
                assert!(seen.insert(format!("{:?} {:?}", item["PK"], item["SK"])));
            }
            from = page.last_evaluated_key().cloned();
            if from.is_none() {
                break;
            }
        }
    }
    assert_eq!(seen.len(), 400);
    let query = client
        .query()
        .table_name("app")
        .key_condition_expression("#p = :p")
        .expression_attribute_names("#p", "PK")
        .expression_attribute_values(":p", AttributeValue::S("b".to_owned()));
    let answer = query.send().await.unwrap();
    let numbers: Vec<&str> = answer
        .items()
        .iter()
        .map(|i| i["SK"].as_s().unwrap().as_str())
        .collect();
    assert_eq!(numbers.len(), 100);
    assert!(numbers.is_sorted());
}

#[test]
fn the_documentation_shows_what_can_be_said() {
    let page = page("docs/rehearse.md");
    let (mut lines, mut files) = (0, 0);
    for block in blocks(&page) {
        match block.language.as_str() {
            "yaml" => {
                Settings::read(&block.text).unwrap_or_else(|e| panic!("{}: {e}", block.place));
                files += 1;
            }
            "sh" => {
                for line in block.text.lines().filter(|line| line.starts_with("cargo")) {
                    let words = words(line);
                    let dashes = words.iter().position(|word| word == "--").unwrap();
                    let all: Vec<&str> = words[dashes + 1..].iter().map(String::as_str).collect();
                    let own = all
                        .strip_prefix(&["--settings", "storm.yaml"])
                        .unwrap_or(&all);
                    if own != ["--help"] {
                        arguments(own).unwrap_or_else(|e| panic!("{}: {e}", block.place));
                    }
                    lines += 1;
                }
            }
            _ => {}
        }
    }
    assert!(lines >= 5 && files >= 2, "{lines} lines, {files} files");
    // Each setting and each fault is explained.
    let all = Settings::read("faults: [{}]\nevents: [{}]\nlimits: { warm_up: {} }").unwrap();
    let mut names = Vec::new();
    keys(&serde_json::to_value(all).unwrap(), &mut names);
    let help = Arguments::command().render_long_help().to_string();
    let faults = help.split_once("Faults: ").unwrap().1;
    let faults = faults.split_once('.').unwrap().0.replace('\n', " ");
    names.extend(faults.split(", ").map(|name| name.trim().to_owned()));
    assert!(names.len() > 50, "{names:?}");
    for name in names {
        let reported = page.text.contains(&format!("`{name}`"));
        assert!(reported, "docs/rehearse.md says nothing of `{name}`");
    }
}

/// The names of all members, at any depth.
fn keys(value: &Value, names: &mut Vec<String>) {
    for (name, value) in value.as_object().into_iter().flatten() {
        names.push(name.clone());
        keys(value, names);
    }
    for value in value.as_array().into_iter().flatten() {
        keys(value, names);
    }
}

#[test]
fn a_load_gets_through_a_storm() {
    let folder = tempfile::TempDir::new().unwrap();
    let reported = run(command(&["demo"]).current_dir(folder.path()));
    reported.exits(0);
    for store in ["engine", "map"] {
        let faults = "[{ do: lost-answer, every: 3, operations: [BatchWriteItem] }, \
                      { do: leave, every: 2, operations: [BatchWriteItem] }, \
                      { do: reset, chance: 0.1, operations: [BatchWriteItem, BatchGetItem, Scan] }, \
                      { do: error, chance: 0.2, operations: [BatchWriteItem, BatchGetItem, Scan] }]";
        let settings =
            format!("{{ store: {store}, limits: {{ table_wcu: 2000 }}, faults: {faults} }}");
        let storm = Storm::start(Settings::read(&settings).unwrap()).unwrap();
        let url = storm.url();
        for verb in ["migrate", "verify"] {
            let mut arguments = vec![verb, "dynafold-demo/portal.yaml"];
            arguments.extend(["--source", "sqlite:dynafold-demo/portal.db"]);
            arguments.extend(["--target", "dynamodb", "--endpoint-url", &url]);
            run(command(&arguments).current_dir(folder.path())).exits(0);
        }
        let counts = storm.stop();
        assert!(counts.faults["lost-answer"] >= 1, "{counts:?}");
        let items = counts.items.put - counts.items.replaced;
        let tables = counts.tables.values();
        assert_eq!(items, tables.map(|table| table.items).sum::<u64>());
    }
}

#[test]
fn the_command_line_is_sound() {
    Arguments::command().debug_assert();
}
