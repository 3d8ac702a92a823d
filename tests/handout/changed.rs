//! Lines that were changed on their way from `plan` to a worker.

use serde_json::Value;

use super::{Handed, MAPPING, says, script};
use crate::support::sqlite::Database;

/// Lines as another program writes them: keys in another order, and some changed.
fn written_again(lines: &[String], change: fn(&mut Value)) -> Vec<String> {
    let again = lines.iter().map(|line| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        change(&mut line);
        let fields = line.as_object().unwrap().clone();
        Value::Object(fields.into_iter().rev().collect()).to_string()
    });
    again.collect()
}

/// Chunks with a beginning begin where they end.
fn change_bounds(line: &mut Value) {
    if let Some(range) = line["part"].get_mut("range")
        && range["after"].is_array()
        && range["to"].is_array()
    {
        range["after"] = range["to"].clone();
    }
}

fn change_mapping(line: &mut Value) {
    let mapping = line["plan"]["mapping"].as_str().unwrap();
    let changed = mapping.replace("ORDER#{number}", "O#{number}");
    line["plan"]["mapping"] = changed.into();
}

/// The number of a chunk says where its result counts.
fn change_number(line: &mut Value) {
    let of = line["of"].as_u64().unwrap();
    line["chunk"] = ((line["chunk"].as_u64().unwrap() + 1) % of).into();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_result_of_a_changed_line_is_refused() {
    let source = Database::new(&script("sqlite", 1_000)).await;
    let handed = Handed::new(source.url(), MAPPING);
    let lines = handed.planned(&["--accept-inconsistent", "--chunk-rows", "300"]);
    let results = handed.work(&written_again(&lines, |_| {})).exits(0).stdout;
    handed.finish(&results, &[]).exits(0);
    for change in [change_bounds, change_mapping, change_number] {
        let changed = handed.work(&written_again(&lines, change)).exits(0).stdout;
        for given in [changed.clone(), results.clone() + &changed] {
            let refused = handed.finish(&given, &[]).exits(1);
            says(&refused, "was changed before a worker loaded it");
        }
    }
}

/// It does not say which line the worker read.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_result_of_an_older_version_is_refused() {
    let source = Database::new(&script("sqlite", 10)).await;
    let handed = Handed::new(source.url(), MAPPING);
    let lines = handed.planned(&["--accept-inconsistent"]);
    let results = handed.work(&lines).exits(0).stdout;
    let older = results.lines().map(|line| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        line["dynafold_result"] = 1.into();
        line.as_object_mut().unwrap().remove("line").unwrap();
        format!("{line}\n")
    });
    let older: Vec<String> = older.collect();
    let refused = handed.finish(&older.concat(), &[]).exits(1);
    says(&refused, "a result is of version 1");
    says(&refused, "load them again with this one");
}
