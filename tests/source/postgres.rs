//! The PostgreSQL source against a real server.

mod catalog;
mod reading;

use std::fmt::Write as _;

use dynafold::catalog::{Catalog, Table, TableName};
use dynafold::item::{to_attribute, write_attribute};
use dynafold::source::{self, Relation, Row, Scan, ScanColumn, Source, SourceError};
use dynafold::value::Value;
use futures_util::TryStreamExt as _;

use crate::support::postgres::Database;

fn name(schema: &str, table: &str) -> TableName {
    TableName {
        schema: schema.to_owned(),
        name: table.to_owned(),
    }
}

/// A scan of all of a table's columns.
fn whole(table: &Table) -> Scan {
    Scan {
        from: Relation::Table(table.name.clone()),
        columns: (table.columns.iter())
            .map(|column| ScanColumn {
                join: None,
                name: column.name.clone(),
                data_type: column.data_type.clone(),
            })
            .collect(),
        joins: Vec::new(),
        conditions: Vec::new(),
        keep_unmatched: false,
        limit: None,
    }
}

async fn rows(source: &mut dyn Source, scan: &Scan) -> Result<Vec<Row>, SourceError> {
    source.begin().await?;
    source.scan(scan).try_concat().await
}

async fn connect(url: &str) -> Box<dyn Source> {
    source::connect(url).await.expect("a connection")
}

async fn catalog(database: &Database) -> Catalog {
    let mut source = connect(&database.url()).await;
    source.catalog().await.expect("a catalog")
}

fn table<'c>(catalog: &'c Catalog, name: &str) -> &'c Table {
    catalog
        .find(name)
        .unwrap_or_else(|| panic!("no table {name}"))
}

fn strings(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// What `tests/types/postgres.txt` expects of a value.
fn outcome(value: &Value) -> String {
    match to_attribute(value, false) {
        Ok(None) => "absent".to_owned(),
        Ok(Some(attribute)) => {
            let mut json = String::new();
            write_attribute(&mut json, &attribute);
            json
        }
        Err(why) => format!("unfit: {why}"),
    }
}

#[tokio::test]
async fn every_type_has_its_place() {
    let database = Database::create().await;
    let mut version = connect(&database.url()).await;
    let version = version.catalog().await.expect("a catalog").version;
    let has_14 = !version.starts_with("13.");
    let mut setup = String::new();
    let mut cases = Vec::new();
    for line in include_str!("../types/postgres.txt").lines() {
        let case = match line.strip_prefix("14+ ") {
            Some(_) if !has_14 => continue,
            Some(case) => case,
            None => line,
        };
        if let Some(sql) = line.strip_prefix('!') {
            let _ = writeln!(setup, "{sql};");
        } else if !line.is_empty() && !line.starts_with('#') {
            let mut parts = case.splitn(3, " | ");
            let mut part = || parts.next().unwrap_or_else(|| panic!("not a case: {line}"));
            cases.push((part(), part(), part()));
        }
    }
    for (number, (data_type, literal, _)) in cases.iter().enumerate() {
        let table = format!("case_{number:03}");
        let _ = writeln!(
            setup,
            "CREATE TABLE {table} (value {data_type}); INSERT INTO {table} VALUES ({literal});"
        );
    }
    database.run(&setup).await;

    let mut source = connect(&database.url()).await;
    let catalog = source.catalog().await.expect("a catalog");
    source.begin().await.expect("a snapshot");
    assert_eq!(catalog.tables.len(), cases.len());
    assert!(cases.len() > 100);
    let mut wrong = Vec::new();
    for ((data_type, literal, wanted), table) in cases.into_iter().zip(&catalog.tables) {
        let read = rows(source.as_mut(), &whole(table)).await.expect(data_type);
        let got = outcome(&read[0][0]);
        if got != wanted {
            wrong.push(format!(
                "{data_type} {literal}\n  got    {got}\n  wanted {wanted}"
            ));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}
