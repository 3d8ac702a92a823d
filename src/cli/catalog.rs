//! Opens the source that a command names, reads its catalog, and takes from it how long passes are.

use std::collections::BTreeSet;
use std::path::Path;

use super::args::SourceArguments;
use super::failure::Failure;
use super::output::Output;
use crate::catalog::{Catalog, Table, TableKind, TableName};
use crate::mapping::model::{ItemType, Model};
use crate::scan::{Relation, Scan};
use crate::source::{self, Source};
use crate::sql::reads_more;

/// Connects to the source that `--source` or `DATABASE_URL` names.
pub(super) async fn open(arguments: &SourceArguments) -> Result<Box<dyn Source>, Failure> {
    let Some(url) = &arguments.source else {
        return Err(Failure::usage("no source is named").with_help(
            "say --source postgres://user@host/database (or mysql://…, sqlite:FILE), or set DATABASE_URL",
        ));
    };
    Ok(source::connect(url).await?)
}

/// The catalog, and the source unless the catalog is read from a file.
pub(super) async fn source_or_file(
    source: &SourceArguments,
    file: Option<&Path>,
) -> Result<(Option<Box<dyn Source>>, Catalog), Failure> {
    if let Some(file) = file {
        return Ok((None, from_file(file)?));
    }
    if source.source.is_none() {
        return Err(Failure::usage("no source is named").with_help(
            "say --source URL or set DATABASE_URL, or say --catalog FILE with what `dynafold inspect --format json` wrote",
        ));
    }
    let (source, catalog) = read(source).await?;
    Ok((Some(source), catalog))
}

/// Reads a catalog that `inspect --format json` wrote.
fn from_file(path: &Path) -> Result<Catalog, Failure> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        Failure::failed(format!("cannot read the catalog `{}`", path.display())).with_cause(&error)
    })?;
    serde_json::from_str(&text).map_err(|error| {
        Failure::failed(format!("`{}` is no catalog", path.display()))
            .with_cause(&error)
            .with_help("write one with `dynafold inspect --source URL --format json`")
    })
}

/// Connects and reads the catalog.
pub(super) async fn read(
    arguments: &SourceArguments,
) -> Result<(Box<dyn Source>, Catalog), Failure> {
    let mut source = open(arguments).await?;
    let catalog = source.catalog().await?;
    Ok((source, catalog))
}

/// Connects, reads the catalog, and says what of it stays hidden.
pub(super) async fn show(arguments: &SourceArguments, output: &Output) -> Result<Catalog, Failure> {
    let (_, catalog) = read(arguments).await?;
    output.warnings(&catalog.notices);
    Ok(catalog)
}

/// About how many rows each pass reads.
pub(super) fn estimates(model: &Model, catalog: &Catalog) -> Vec<Option<u64>> {
    let estimate = |from: &Relation| match from {
        Relation::Table(name) => catalog.table(name).and_then(|table| table.estimated_rows),
        Relation::Query(_) => None,
    };
    model
        .passes
        .iter()
        .map(|pass| estimate(&pass.scan.from))
        .collect()
}

/// The columns in which the table of each pass never has NULL.
pub(super) fn never_null(model: &Model, catalog: &Catalog) -> Vec<BTreeSet<String>> {
    let columns = |from: &Relation| match from {
        Relation::Table(name) => catalog.table(name).map_or(&[][..], |table| &table.columns),
        Relation::Query(_) => &[],
    };
    let names = |from: &Relation| {
        let solid = columns(from).iter().filter(|column| !column.nullable);
        solid.map(|column| column.name.clone()).collect()
    };
    let passes = model.passes.iter();
    passes.map(|pass| names(&pass.scan.from)).collect()
}

/// The item types whose rows come from what may leave rows out that are there, or are joined to such: queries,
/// views, and tables of which row security may hide rows.
pub(super) fn selecting(model: &Model, catalog: &Catalog) -> BTreeSet<String> {
    let is_whole = |table: &Table| table.is_stored() && !table.row_security;
    let reads_all = |scan: &Scan| {
        let Relation::Table(name) = &scan.from else {
            return false;
        };
        let parents = scan.joins.iter().map(|join| &join.table);
        let mut names = std::iter::once(name).chain(parents);
        names.all(|name| catalog.table(name).is_some_and(is_whole))
    };
    let selects = |item: &&ItemType| {
        let pass = model.passes.get(item.pass);
        !pass.is_some_and(|pass| reads_all(&pass.scan))
    };
    let names = model.item_types.iter().filter(selects);
    names.map(|item| item.name.to_string()).collect()
}

/// The tables of which row security may hide rows from a run, by the names that people write. Of SQL that reads
/// other rows, a view and a condition among it, it is not told which tables it reads.
pub(super) fn row_security(model: &Model, catalog: &Catalog) -> Vec<String> {
    let is_view = |table: &Table| table.kind == TableKind::View;
    let reads = |scan: &Scan, table: &Table| {
        // Of a view it is told itself that row security lies behind it.
        let is_it = |name: &TableName| {
            *name == table.name || !is_view(table) && catalog.table(name).is_none_or(is_view)
        };
        let mut sql = scan.foreign_sql().into_iter();
        scan.tables().into_iter().any(is_it) || sql.any(|sql| reads_more(sql, catalog.dbms))
    };
    let hidden = catalog.tables.iter().filter(|table| table.row_security);
    let read = hidden.filter(|table| {
        let mut passes = model.passes.iter();
        passes.any(|pass| reads(&pass.scan, table))
    });
    read.map(|table| catalog.display_name(&table.name))
        .collect()
}
