//! `dynafold inspect`: the relational schema.

use super::args::{Inspect, InspectFormat};
use super::failure::Failure;
use super::output::Output;
use super::{Outcome, catalog};
use crate::catalog::{Catalog, mermaid, tree};
use crate::diagnostic::nearest;

pub(super) async fn run(arguments: &Inspect, output: &Output) -> Result<Outcome, Failure> {
    let (_, all) = catalog::read(&arguments.source, output).await?;
    let mut catalog = all.clone();
    narrow(&mut catalog, &arguments.tables, &arguments.schemas)?;
    match arguments.format {
        // The tree calls tables that are not in it by the names that the whole catalog gives them.
        InspectFormat::Tree => {
            output.text(&tree(&all, |table| catalog.table(&table.name).is_some()))?;
        }
        InspectFormat::Mermaid => output.text(&mermaid(&catalog))?,
        InspectFormat::Json => output.json(&catalog)?,
    }
    Ok(Outcome::Well)
}

/// Leaves only the tables and schemas that were asked for.
pub(super) fn narrow(
    catalog: &mut Catalog,
    tables: &[String],
    schemas: &[String],
) -> Result<(), Failure> {
    let is_named = |table: &crate::catalog::Table, name: &String| {
        table.name.name == *name || table.name.to_string() == *name
    };
    for name in tables {
        if !catalog.tables.iter().any(|table| is_named(table, name)) {
            let names = catalog.tables.iter().map(|table| table.name.name.as_str());
            return Err(unknown("table", name, names));
        }
    }
    for name in schemas {
        if !catalog
            .tables
            .iter()
            .any(|table| table.name.schema == *name)
        {
            let names = catalog
                .tables
                .iter()
                .map(|table| table.name.schema.as_str());
            return Err(unknown("schema", name, names));
        }
    }
    catalog.tables.retain(|table| {
        (tables.is_empty() || tables.iter().any(|name| is_named(table, name)))
            && (schemas.is_empty() || schemas.contains(&table.name.schema))
    });
    Ok(())
}

fn unknown<'n>(what: &str, name: &str, known: impl Iterator<Item = &'n str>) -> Failure {
    let failure = Failure::failed(format!("the source shows no {what} `{name}`"));
    match nearest(name, known) {
        Some(near) => failure.with_help(format!("did you mean `{near}`?")),
        None => failure.with_help("`dynafold inspect` without filters shows all there is"),
    }
}
