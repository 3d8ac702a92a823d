//! The public databases, each by a mapping of ours: every table seen, every row loaded, every item
//! verified, in the embedded engine and in DynamoDB Local.

mod cases;
mod proved;

use std::collections::BTreeSet;

use dynafold::target::{TargetSpec, connect};
use serde_json::Value;

use crate::support::books::claimed;
use crate::support::cli::{Ran, command, dynafold, run};
use crate::support::contents::contents;
use crate::support::datasets::{Dataset, folder};
use crate::support::dynamodb_local;

/// What holds for a dataset and its mapping, whatever the product.
struct Case {
    mapping: &'static str,
    /// Base tables, views, primary keys and foreign keys.
    figures: [u64; 4],
    /// All rows of all base tables.
    rows: u64,
    /// Each item type with its table, and the condition that its rows fulfil.
    items: &'static [(&'static str, &'static str, &'static str)],
}

#[tokio::test]
async fn chinook_gives_the_same_items_from_every_database() {
    let Some(folder) = folder() else { return };
    let sqlite = Dataset::sqlite(&folder, "chinook/Chinook_Sqlite.sqlite");
    let first = Case::CHINOOK.items(&sqlite).await;
    assert_eq!(first.lines().count(), 15_607);
    Case::CHINOOK.answers(&sqlite, &[], &[]);
    let postgres = Dataset::postgres(&folder, "chinook/Chinook_PostgreSql.sql.gz").await;
    let second = Case::CHINOOK_SNAKE.items(&postgres).await;
    assert_same(&first, &second);
    Case::CHINOOK_SNAKE.answers(&postgres, &[], &[]);
    // The script is not written for backslashes that escape: four tracks would lose theirs.
    let before = "SET sql_mode = CONCAT(@@sql_mode, ',NO_BACKSLASH_ESCAPES');";
    let files = ["chinook/Chinook_MySql.sql.gz"];
    for mysql in Dataset::mysql(&folder, &files, "Chinook", before).await {
        let third = Case::CHINOOK.items(&mysql).await;
        assert_same(&first, &third);
        Case::CHINOOK.answers(&mysql, &[], &[]);
        mysql.drop().await;
    }
}

#[tokio::test]
async fn northwind_loads_from_sqlite_and_from_postgres() {
    let Some(folder) = folder() else { return };
    let sqlite = Dataset::sqlite(&folder, "northwind/northwind.sqlite");
    Case::NORTHWIND_SQLITE.holds_for(&sqlite).await;
    let postgres = Dataset::postgres(&folder, "northwind/northwind-pg.sql.gz").await;
    Case::NORTHWIND.holds_for(&postgres).await;
}

#[tokio::test]
async fn pagila_loads_from_postgres() {
    let Some(folder) = folder() else { return };
    let postgres = Dataset::postgres(&folder, "pagila/pagila.sql.gz").await;
    Case::PAGILA.holds_for(&postgres).await;
}

#[tokio::test]
async fn the_queries_of_northwind_are_answered_by_its_access_patterns() {
    let Some(folder) = folder() else { return };
    let also = ["listEmployeesOfTerritory"];
    let postgres = Dataset::postgres(&folder, "northwind/northwind-pg.sql.gz").await;
    Case::NORTHWIND.answers(&postgres, proved::NORTHWIND, &also);
    // The same patterns over another edition of the data, whose counts nobody has written down.
    let sqlite = Dataset::sqlite(&folder, "northwind/northwind.sqlite");
    let also: Vec<&str> = proved::NORTHWIND
        .iter()
        .map(|query| query.0)
        .chain(also)
        .collect();
    Case::NORTHWIND_SQLITE.answers(&sqlite, &[], &also);
}

#[tokio::test]
async fn the_queries_of_pagila_are_answered_by_its_access_patterns() {
    let Some(folder) = folder() else { return };
    let postgres = Dataset::postgres(&folder, "pagila/pagila.sql.gz").await;
    Case::PAGILA.answers(&postgres, proved::PAGILA, &[]);
}

#[tokio::test]
async fn sakila_loads_from_mysql() {
    let Some(folder) = folder() else { return };
    let files = [
        "sakila-mysql/01-sakila-schema.sql.gz",
        "sakila-mysql/02-sakila-data.sql.gz",
    ];
    for mysql in Dataset::mysql(&folder, &files, "sakila", "").await {
        Case::SAKILA.holds_for(&mysql).await;
        Case::SAKILA.answers(&mysql, &[], &[]);
        mysql.drop().await;
    }
}

impl Case {
    /// Asserts all of it, and leaves what the embedded engine holds in a file of this folder.
    async fn holds_for(&self, dataset: &Dataset) -> tempfile::TempDir {
        let tables = self.all_is_seen(dataset).await;
        self.every_column_of_every_row_makes_an_item(dataset, &tables);
        self.has_no_faults(dataset);
        crate::exports::hold_mapping(self.mapping, &dataset.url());
        let mut expected = Vec::new();
        for (item_type, table, condition) in self.items {
            let mut sql = format!("SELECT count(*) FROM {}", quoted(dataset, table));
            if !condition.is_empty() {
                sql = format!("{sql} WHERE {condition}");
            }
            expected.push((*item_type, dataset.number(&sql).await));
        }
        let folder = tempfile::tempdir().unwrap();
        let file = format!("local:{}", folder.path().join("table.ddb").display());
        let endpoint = dynamodb_local::endpoint();
        let name = self.table(dataset);
        let remote = ["--target", "dynamodb", "--endpoint-url", &endpoint];
        for target in [&["--target", &file][..], &remote] {
            self.loads_and_verifies(dataset, target, &name, &expected);
        }
        let items: u64 = expected.iter().map(|(_, count)| count).sum();
        let spec = TargetSpec::parse("dynamodb", Some(&endpoint), None, None).unwrap();
        let there = connect(&spec).await.unwrap().describe(&name).await.unwrap();
        assert_eq!(there.unwrap().item_count, Some(items), "{name}");
        dynamodb_local::delete_table(&name).await;
        folder
    }

    /// The same, and everything that the embedded engine holds.
    async fn items(&self, dataset: &Dataset) -> String {
        let folder = self.holds_for(dataset).await;
        let file = Some(folder.path().join("table.ddb"));
        let target = connect(&TargetSpec::Local { file }).await.unwrap();
        contents(target.as_ref(), &self.table(dataset)).await
    }

    fn table(&self, dataset: &Dataset) -> String {
        let process = std::process::id();
        format!("{}-{}-{process}", self.mapping, dataset.product())
    }

    /// `inspect` shows what the database itself counts. Returns the base tables' names.
    async fn all_is_seen(&self, dataset: &Dataset) -> Vec<String> {
        let ran = dynafold(&["inspect", "--source", &dataset.url(), "--format", "json"]);
        let catalog = ran.exits(0).json();
        let tables = catalog["tables"].as_array().unwrap();
        let is_base = |table: &&Value| table["kind"] == "table" || table["kind"] == "partitioned";
        let bases: Vec<&Value> = tables.iter().filter(is_base).collect();
        let keyed = |table: &&&Value| table["primary_key"] != serde_json::json!([]);
        let foreign = |table: &&Value| table["foreign_keys"].as_array().unwrap().len();
        let seen = [
            bases.len(),
            tables.len() - bases.len(),
            bases.iter().filter(keyed).count(),
            bases.iter().map(foreign).sum(),
        ];
        assert_eq!(
            seen.map(|count| u64::try_from(count).unwrap()),
            self.figures
        );
        assert_eq!(dataset.figures().await, self.figures);
        let names: Vec<String> = (bases.iter())
            .map(|table| table["name"].as_str().unwrap().to_owned())
            .collect();
        let mapped: BTreeSet<&str> = self.items.iter().map(|(_, table, _)| *table).collect();
        let all: BTreeSet<&str> = names.iter().map(String::as_str).collect();
        assert_eq!(mapped, all, "every table is mapped");
        names
    }

    /// A proposed mapping carries all columns of all tables: none of them makes a row unfit.
    fn every_column_of_every_row_makes_an_item(&self, dataset: &Dataset, tables: &[String]) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("proposed.yaml");
        let (file, url) = (file.to_str().unwrap(), dataset.url());
        let mut arguments = vec!["init", "--source", &url, "--output", file];
        for table in tables {
            arguments.extend(["--table", table]);
        }
        dynafold(&arguments).exits(0);
        let mut arguments = vec!["migrate", file, "--source", &url, "--target", "local"];
        arguments.extend(["--format", "json"]);
        let report = dynafold(&arguments).exits(0).json();
        assert_eq!(claimed(&report, "books_balance"), "proved");
        for figure in ["rows_read", "made", "written"] {
            assert_eq!(report["total"][figure], self.rows, "{figure} {report:#}");
        }
    }

    fn has_no_faults(&self, dataset: &Dataset) {
        let found = self.run(&["check"], dataset, "").exits(0).json();
        let all = found["diagnostics"].as_array().unwrap().iter();
        // Whether rows are many for one partition is told by estimates, which a database may not have
        // made yet.
        let codes = all.map(|diagnostic| &diagnostic["code"]);
        let codes: Vec<&Value> = codes.filter(|code| *code != "single-partition").collect();
        assert!(codes.is_empty(), "{found:#}");
    }

    fn loads_and_verifies(
        &self,
        dataset: &Dataset,
        target: &[&str],
        table: &str,
        expected: &[(&str, u64)],
    ) {
        let items: u64 = expected.iter().map(|(_, count)| count).sum();
        let with = |command: &str| {
            let mut arguments = vec![command];
            arguments.extend(target);
            self.run(&arguments, dataset, table).exits(0).json()
        };
        let report = with("migrate");
        assert_eq!(report["outcome"]["state"], "complete", "{report:#}");
        assert_eq!(claimed(&report, "books_balance"), "proved", "{report:#}");
        assert_eq!(counts(&report, "written"), sorted(expected), "{report:#}");
        for (figure, count) in [("made", items), ("written", items), ("rejected", 0)] {
            assert_eq!(report["total"][figure], count, "{figure} {report:#}");
        }
        let report = with("verify");
        assert_eq!(report["outcome"]["state"], "equal", "{report:#}");
        assert_eq!(counts(&report, "equal"), sorted(expected), "{report:#}");
        assert_eq!(report["unexpected"], 0, "{report:#}");
    }

    /// Runs a command with the mapping, the source and the table's name.
    fn run(&self, arguments: &[&str], dataset: &Dataset, table: &str) -> Ran {
        let mapping = format!(
            "{}/mappings/{}.yaml",
            env!("CARGO_MANIFEST_DIR"),
            self.mapping
        );
        let url = dataset.url();
        let mut arguments = arguments.to_vec();
        arguments.extend([mapping.as_str(), "--source", &url, "--format", "json"]);
        let state = tempfile::tempdir().unwrap();
        let state = state.path().join("state");
        if arguments[0] == "migrate" {
            arguments.extend(["--state", state.to_str().unwrap()]);
        }
        let mut command = command(&arguments);
        if !table.is_empty() {
            command.env("TABLE_NAME", table);
        }
        run(&mut command)
    }
}

/// A figure of a report for each item type, by their names.
fn counts(report: &Value, figure: &str) -> Vec<(String, u64)> {
    let all = report["item_types"].as_array().unwrap().iter();
    let count = |item: &Value| {
        let name = item["item_type"].as_str().unwrap().to_owned();
        (name, item[figure].as_u64().unwrap())
    };
    let mut counts: Vec<(String, u64)> = all.map(count).collect();
    counts.sort_unstable();
    counts
}

fn sorted(expected: &[(&str, u64)]) -> Vec<(String, u64)> {
    let all = expected.iter();
    let mut counts: Vec<(String, u64)> = all.map(|(name, n)| ((*name).to_owned(), *n)).collect();
    counts.sort_unstable();
    counts
}

fn quoted(dataset: &Dataset, table: &str) -> String {
    match dataset {
        Dataset::Mysql(..) => format!("`{table}`"),
        _ => format!("\"{table}\""),
    }
}

/// Says the first difference only: the whole is megabytes.
fn assert_same(a: &str, b: &str) {
    let mut pairs = a.lines().zip(b.lines());
    assert_eq!(pairs.find(|(a, b)| a != b), None);
    assert_eq!(a.len(), b.len());
}
