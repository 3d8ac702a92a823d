//! The PostgreSQL source against a real server.

mod catalog;
mod kinds;
mod moving;
mod reading;

use dynafold::catalog::{Catalog, ForeignKey, ReferentialAction, Table, TableName};
use dynafold::scan::Scan;
use dynafold::source::{self, Chunk, Row, Source, SourceError};
use futures_util::TryStreamExt as _;

use crate::support::postgres::Database;
use crate::support::types::{cases, compare, compare_relations, script};

fn name(schema: &str, table: &str) -> TableName {
    TableName {
        schema: schema.to_owned(),
        name: table.to_owned(),
    }
}

async fn rows(source: &mut dyn Source, scan: &Scan) -> Result<Vec<Row>, SourceError> {
    source.begin(&[]).await?;
    let chunks: Vec<Chunk> = source.scan(scan).try_collect().await?;
    Ok(chunks.into_iter().flat_map(|chunk| chunk.rows).collect())
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

fn foreign_key(name: &str, columns: &[&str], to: TableName, referenced: &[&str]) -> ForeignKey {
    ForeignKey {
        name: name.to_owned(),
        columns: strings(columns),
        references: to,
        referenced_columns: strings(referenced),
        on_update: Some(ReferentialAction::NoAction),
        ..ForeignKey::default()
    }
}

#[tokio::test]
async fn every_type_arrives_as_the_file_of_cases_says() {
    let file = include_str!("../types/postgres.txt");
    let database = Database::create().await;
    let version = catalog(&database).await.version;
    let tags: &[&str] = if version.starts_with("13.") {
        &[]
    } else {
        &["14+"]
    };
    let cases = cases(file, tags);
    database.run(&script(file, &cases)).await;
    let mut source = connect(&database.url()).await;
    compare(source.as_mut(), &cases).await;
    compare_relations(source.as_mut(), &cases).await;
}
