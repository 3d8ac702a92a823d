//! `dynafold design`: a table proposed from a schema and its SQL.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::Args;

use super::catalog::CatalogOrigin;
use super::failure::Failure;
use super::format::shell_word;
use super::init::write;
use super::options::{Format, SourceArguments};
use super::output::OutputStreams;
use super::{Outcome, prices, report};
use crate::catalog::{Catalog, Dbms, TableName};
use crate::design::workload::{self, Statement};
use crate::design::{Design, Limits, design, guess};
use crate::scan::{Relation, Scan};
use crate::source::Source;

#[derive(Debug, Args)]
#[command(after_help = "\
The workload is a file of SQL, each statement under a comment with its name, its rate and what it is for:

  -- getOrder (500/s) an order with its lines
  SELECT o.*, l.product_id, l.quantity FROM orders o JOIN lines l ON l.order_id = o.id WHERE o.id = 7;
  -- placeOrder (20/s)
  INSERT INTO orders (customer_id, placed_at) VALUES (:customer, :at);

A literal that a column is compared with is an example, unless the statement has :parameters.

Examples:
  dynafold design --source postgres://app@db/shop --workload shop.sql
  dynafold design --catalog catalog.json --workload shop.sql -o shop.yaml --max-indexes 2
  dynafold design --source sqlite:shop.db                        from keys and foreign keys alone
  dynafold design --source sqlite:shop.db --workload shop.sql --explain getOrder")]
pub(in crate::cli) struct DesignCommand {
    #[command(flatten)]
    source: SourceArguments,
    /// A schema written by `inspect --format json`, instead of a source
    #[arg(long, value_name = "FILE")]
    catalog: Option<PathBuf>,
    /// The file of SQL statements that the table has to serve [default: guessed from keys and foreign keys]
    #[arg(long, value_name = "FILE")]
    workload: Option<PathBuf>,
    /// The mapping to write; - for standard output, and the report to standard error
    #[arg(short, long, value_name = "FILE", default_value = "design.yaml")]
    output: PathBuf,
    /// Most global indexes
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u8).range(0..=20))]
    max_indexes: u8,
    /// Only what the report says of this statement
    #[arg(long, value_name = "NAME")]
    explain: Option<String>,
    /// Overwrite the file if it exists
    #[arg(long)]
    force: bool,
    /// Text for people or JSON for programs
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
    /// A price file, instead of the built-in prices
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
    /// The AWS region whose prices are used [default: the price file's]
    #[arg(long, value_name = "REGION")]
    region: Option<String>,
}

pub(super) async fn run(
    arguments: DesignCommand,
    output: &OutputStreams,
) -> Result<Outcome, Failure> {
    let to_stdout = arguments.output == Path::new("-");
    if !to_stdout && !arguments.force && arguments.explain.is_none() && arguments.output.exists() {
        return Err(
            Failure::usage(format!("`{}` exists already", arguments.output.display()))
                .with_help("use --force to overwrite it, or --output FILE for another file"),
        );
    }
    let prices = prices::read(arguments.prices.as_deref(), arguments.region.as_deref())?;
    let origin = CatalogOrigin::of(arguments.source.source, arguments.catalog)?;
    let (source, mut catalog) = origin.read().await?;
    narrow(&mut catalog);
    output.warnings(&catalog.notices);
    let statements = match &arguments.workload {
        Some(file) => read(file)?,
        None => guess(&catalog),
    };
    if let Some(name) = &arguments.explain {
        let known = statements.iter().map(|statement| &*statement.name);
        Failure::unless_known("statement", std::slice::from_ref(name), known)?;
    }
    let mut limits = Limits {
        indexes: usize::from(arguments.max_indexes),
        escapes: false,
        signed: BTreeSet::new(),
    };
    let mut proposed = design(&catalog, &statements, &prices, &limits);
    match source {
        Some(mut source) => {
            look_up(source.as_mut(), &catalog, &proposed, &mut limits).await?;
            if limits.escapes || !limits.signed.is_empty() {
                proposed = design(&catalog, &statements, &prices, &limits);
            }
        }
        None if proposed.before_delimiters.is_empty() => {}
        None => proposed.report.warnings.push(unseen(&proposed)),
    }
    let Design {
        mapping,
        mut report,
        ..
    } = proposed;
    if let Some(name) = &arguments.explain {
        report.reads.retain(|read| read.name == *name);
        report.writes.retain(|write| write.name == *name);
    } else if to_stdout {
        output.text(&mapping)?;
    } else {
        write(&arguments.output, &mapping)?;
    }
    let is_all_served = report.reads.iter().all(|read| read.served.is_some());
    match arguments.format {
        // Beside the mapping on standard output there is no room for it.
        Format::Text if to_stdout => output.note(&report::design(&report, &prices)),
        Format::Text => output.text(&report::design(&report, &prices))?,
        Format::Json if to_stdout => {}
        Format::Json => output.json(&report)?,
    }
    if !to_stdout && arguments.explain.is_none() {
        let file = shell_word(&arguments.output.display().to_string());
        output.note(&format!(
            "wrote {file}; next: dynafold check {file}, migrate {file}, verify {file} --patterns, each with the same --source"
        ));
    }
    Ok(if is_all_served {
        Outcome::Well
    } else {
        Outcome::Differs
    })
}

fn read(path: &Path) -> Result<Vec<Statement>, Failure> {
    let file = path.display();
    let text = std::fs::read_to_string(path).map_err(|error| {
        Failure::usage(format!("cannot read the workload `{file}`")).with_cause(&error)
    })?;
    workload::read(&text).map_err(|error| {
        Failure::usage(format!("the workload `{file}` cannot be used"))
            .with_cause(&error)
            .with_help("docs/design.md shows what such a file looks like")
    })
}

/// A server of MySQL or MariaDB shows all of its databases: the one that is named is meant.
fn narrow(catalog: &mut Catalog) {
    let is_mysql = matches!(catalog.dbms, Dbms::Mysql | Dbms::Mariadb);
    if is_mysql && !catalog.search_path.is_empty() {
        let path = &catalog.search_path;
        catalog
            .tables
            .retain(|table| path.contains(&table.name.schema));
    }
}

/// What is not known without the source.
fn unseen(proposed: &Design) -> String {
    let columns = proposed.before_delimiters.iter();
    let columns: Vec<String> = columns
        .map(|(table, column)| format!("{}.{column}", table.name))
        .collect();
    format!(
        "values of {} stand before `#` in keys: if one may hold `#`, set `key_escape: percent` (with --source it is looked up)",
        columns.join(", ")
    )
}

/// Rows of each table in which values are looked for.
const LOOKED_AT: u32 = 100_000;

/// Looks up what keys depend on, in the first rows: whether a text that stands before a delimiter holds it, and which padded
/// numbers are negative.
async fn look_up(
    source: &mut dyn Source,
    catalog: &Catalog,
    proposed: &Design,
    limits: &mut Limits,
) -> Result<(), Failure> {
    let is_text = |(table, column): &&(TableName, String)| {
        let table = catalog.table(table);
        let column = table.and_then(|table| table.column(column));
        column.is_some_and(|column| column.is_plain_text(catalog.dbms))
    };
    let texts = proposed.before_delimiters.iter().filter(is_text);
    let texts = texts.map(|column| (column, "LIKE '%#%'"));
    let numbers = proposed.padded.iter().map(|column| (column, "< 0"));
    let asked: Vec<(&(TableName, String), &str)> = texts.chain(numbers).collect();
    let scan =
        |(table, _): &(TableName, String)| Scan::of(Relation::Table(table.clone()), Vec::new());
    let scans: Vec<Scan> = asked.iter().map(|(column, _)| scan(column)).collect();
    let all: Vec<&Scan> = scans.iter().collect();
    if all.is_empty() {
        return Ok(());
    }
    source.begin(&all).await?;
    for ((place, condition), scan) in asked.into_iter().zip(&scans) {
        let dialect = source.dialect();
        let relation = dialect.relation(&scan.from);
        let column = dialect.quote(&place.1);
        let sql = format!(
            "SELECT {} FROM (SELECT {column} FROM {relation} LIMIT {LOOKED_AT}) AS q WHERE {column} {condition}",
            dialect.count()
        );
        let found = source.numbers(&sql, scan).await?;
        if found.iter().flatten().all(|count| *count == 0) {
            continue;
        }
        if condition == "< 0" {
            limits.signed.insert(place.clone());
        } else {
            limits.escapes = true;
        }
    }
    Ok(())
}
