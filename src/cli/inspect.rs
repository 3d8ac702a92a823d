//! `dynafold inspect`: the relational schema.

use clap::{Args, ValueEnum};

use super::failure::Failure;
use super::options::SourceArguments;
use super::output::OutputStreams;
use super::{Outcome, catalog};
use crate::catalog::{Catalog, Dbms, Table};
use crate::diagnostic::did_you_mean;
use crate::document::schema::{mermaid, tree};

/// How a schema is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum InspectFormat {
    Tree,
    Mermaid,
    Json,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dynafold inspect --source postgres://app@db/shop
  dynafold inspect --source sqlite:shop.db --table orders --table users
  dynafold inspect --source mysql://app@db/shop --format mermaid > erd.mmd
  dynafold inspect --source mysql://app@db/shop --format json > catalog.json")]
pub(in crate::cli) struct Inspect {
    #[command(flatten)]
    source: SourceArguments,
    /// Only this table; may be repeated
    #[arg(long = "table", value_name = "NAME")]
    tables: Vec<String>,
    /// Only this schema; may be repeated
    #[arg(long = "schema", value_name = "NAME")]
    schemas: Vec<String>,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "tree")]
    format: InspectFormat,
}

pub(super) async fn run(arguments: Inspect, output: &OutputStreams) -> Result<Outcome, Failure> {
    let (_, all) = catalog::read(arguments.source.url()?).await?;
    output.warnings(&all.notices);
    let mut catalog = all.clone();
    narrow(&mut catalog, &arguments.tables, &arguments.schemas, output)?;
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

/// Leaves only the tables and schemas that were asked for. A MySQL server shows all its databases:
/// where the URL names one, the others are there only for those who name them.
pub(super) fn narrow(
    catalog: &mut Catalog,
    tables: &[String],
    schemas: &[String],
    output: &OutputStreams,
) -> Result<(), Failure> {
    let home = match catalog.dbms {
        Dbms::Mysql | Dbms::Mariadb if schemas.is_empty() => catalog.search_path.clone(),
        _ => Vec::new(),
    };
    let is_home = |table: &Table| home.is_empty() || home.contains(&table.name.schema);
    let is_named = |table: &Table, name: &String| {
        (table.name.name == *name && is_home(table)) || table.name.to_string() == *name
    };
    for name in tables {
        if !catalog.tables.iter().any(|table| is_named(table, name)) {
            let names = catalog.tables.iter().map(|table| table.name.name.as_str());
            return Err(unknown("table", name, names));
        }
    }
    let shown: Vec<String> = (catalog.tables.iter())
        .map(|table| table.name.schema.clone())
        .collect();
    for name in schemas {
        if !shown.contains(name) {
            return Err(unknown("schema", name, shown.iter().map(String::as_str)));
        }
    }
    catalog.tables.retain(|table| match tables {
        [] if schemas.is_empty() => is_home(table),
        [] => schemas.contains(&table.name.schema),
        _ => {
            tables.iter().any(|name| is_named(table, name))
                && (schemas.is_empty() || schemas.contains(&table.name.schema))
        }
    });
    if tables.is_empty() && schemas.is_empty() && !home.is_empty() {
        let mut others: Vec<String> = shown;
        others.retain(|schema| !home.contains(schema));
        others.sort_unstable();
        others.dedup();
        if !others.is_empty() {
            output.note(&format!(
                "not shown: the databases {}; `inspect --schema NAME` shows them",
                others.join(", ")
            ));
        }
    }
    Ok(())
}

fn unknown<'n>(what: &str, name: &str, known: impl Iterator<Item = &'n str>) -> Failure {
    let failure = Failure::failed(format!("the source shows no {what} `{name}`"));
    failure.with_help(
        did_you_mean(name, known)
            .unwrap_or_else(|| "`dynafold inspect` without filters shows all there is".to_owned()),
    )
}
