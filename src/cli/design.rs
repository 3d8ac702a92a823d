//! `dynafold design`: a table proposed from a schema and its SQL.

mod counted;
mod sample;
mod update;

use std::path::{Path, PathBuf};

use clap::Args;

use super::catalog::CatalogOrigin;
use super::failure::Failure;
use super::files::{refuse_existing, write};
use super::format::shell_word;
use super::options::{Format, SourceArguments, region};
use super::output::{OutputStreams, as_json};
use super::{Outcome, mapping, prices, report};
use crate::catalog::{Catalog, Dbms, TableName};
use crate::design::workload::{self, Statement};
use crate::design::{
    Design, Expiries, Limits, Observed, Pins, Warning, check_expiries, check_pins, conditions_of,
    design, guess, price,
};
use crate::dynamodb::MAX_GLOBAL_INDEXES;
use crate::dynamodb::price::Prices;
use crate::scan::{Relation, Scan};
use crate::source::Source;

/// The argument of `--workload` for the statements that the source has counted.
const COUNTED: &str = "source:";

#[derive(Debug, Args)]
#[command(after_help = "\
The workload is a file of SQL, each statement under a comment with its name, its rate and what it is for:

  -- getOrder (500/s) an order with its lines
  SELECT o.*, l.product_id, l.quantity FROM orders o JOIN lines l ON l.order_id = o.id WHERE o.id = 7;
  -- placeOrder (20/s)
  INSERT INTO orders (customer_id, placed_at) VALUES (:customer, :at);

A literal that is compared with a column is an example value and becomes a parameter. In a statement
with :parameters, literals are constants.

Examples:
  dynafold design --source postgres://app@db/shop --workload shop.sql
  dynafold design --catalog catalog.json --workload shop.sql -o shop.yaml --max-indexes 2
  dynafold design --source sqlite:shop.db                        from keys and foreign keys alone
  dynafold design --source postgres://app@db/shop --workload source:
  dynafold design --source sqlite:shop.db --workload shop.sql --explain getOrder
  dynafold design --source sqlite:shop.db --workload shop.sql --compare mine.yaml design.yaml
  dynafold design --source sqlite:shop.db --workload new.sql --update shop.yaml -o shop2.yaml")]
pub(in crate::cli) struct DesignCommand {
    #[command(flatten)]
    source: SourceArguments,
    /// A schema written by `inspect --format json`, instead of a source
    #[arg(long, value_name = "FILE")]
    catalog: Option<PathBuf>,
    /// The statements that the table has to serve: a file of SQL, a mapping whose access patterns have SQL, or `source:`, those that
    /// the source has counted (`pg_stat_statements`, MySQL's statement digests) [default: guessed from keys and foreign keys]
    #[arg(long, value_name = "FILE")]
    workload: Option<PathBuf>,
    /// The mapping to write; - for standard output, and the report to standard error
    #[arg(short, long, value_name = "FILE", default_value = "design.yaml")]
    output: PathBuf,
    /// Show what these mappings serve of the workload, and what that costs; write nothing
    #[arg(long, value_name = "MAPPING", num_args = 1.., conflicts_with_all = ["explain", "max_indexes"])]
    compare: Vec<PathBuf>,
    /// Extend this mapping so that it serves the workload too. Existing keys do not change; the result is written to --output
    #[arg(long, value_name = "MAPPING", requires = "workload", conflicts_with_all = ["explain", "compare"])]
    update: Option<PathBuf>,
    /// Maximum number of global indexes
    #[arg(long, value_name = "N", default_value_t = MAX_GLOBAL_INDEXES, value_parser = clap::value_parser!(u8).range(0..=i64::from(MAX_GLOBAL_INDEXES)))]
    max_indexes: u8,
    /// Show only what the report says about this statement
    #[arg(long, value_name = "NAME")]
    explain: Option<String>,
    /// Also write the report to this file, as JSON: `docs --proposal` shows it in the document
    #[arg(long, value_name = "FILE", conflicts_with_all = ["explain", "compare", "update"])]
    report: Option<PathBuf>,
    /// Overwrite files that exist
    #[arg(long)]
    force: bool,
    /// Text for people or JSON for programs
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
    /// A price file, instead of the built-in prices
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
    /// The AWS region whose prices are used [default: the price file's]
    #[arg(long, value_name = "REGION", value_parser = region)]
    region: Option<String>,
}

/// A workload, and the schema, prices and arguments to serve it by.
struct DesignRequest<'r> {
    catalog: &'r Catalog,
    statements: &'r [Statement],
    prices: &'r Prices,
    arguments: &'r DesignCommand,
}

/// What a workload file fixes: beside which items others are stored, and which items expire.
type Fixed = (Pins, Expiries);

/// A column with its table.
type TableColumn = (TableName, String);

pub(super) async fn run(
    arguments: DesignCommand,
    output: &OutputStreams,
) -> Result<Outcome, Failure> {
    check_files(&arguments)?;
    let prices = prices::read(arguments.prices.as_deref(), arguments.region.as_deref())?;
    let origin = CatalogOrigin::of(arguments.source.source.clone(), arguments.catalog.clone())?;
    let (mut source, mut catalog) = origin.read().await?;
    keep_named_databases(&mut catalog);
    output.warnings(&catalog.notices);
    let read = read_workload(&arguments, &catalog, source.as_deref_mut(), output).await?;
    let (statements, (pins, expiries)) = read;
    if let Some(name) = &arguments.explain {
        let known = statements.iter().map(|statement| &*statement.name);
        let what = ("the workload", "statement");
        Failure::unless_known(what, std::slice::from_ref(name), known)?;
    }
    let mut limits = Limits {
        indexes: usize::from(arguments.max_indexes),
        pins,
        expiries,
        ..Limits::default()
    };
    let mappings = arguments.compare.iter().chain(&arguments.update);
    let counted_for = with_mappings(&statements, mappings, &catalog);
    if let Some(source) = &mut source {
        limits.observed = sampled(source.as_mut(), &catalog, &counted_for).await?;
        limits.observed.give_rows(&mut catalog);
    }
    let request = DesignRequest {
        catalog: &catalog,
        statements: &statements,
        prices: &prices,
        arguments: &arguments,
    };
    if !arguments.compare.is_empty() {
        return compare(&request, &counted_for, limits.observed, source, output).await;
    }
    if let Some(path) = &arguments.update {
        return update::run(path, &request, limits, source, output).await;
    }
    let proposed = propose(source, &catalog, &statements, &prices, limits).await?;
    write_and_report(&request, proposed, output)
}

/// Refuses mappings that cannot be read, and files that would be overwritten.
fn check_files(arguments: &DesignCommand) -> Result<(), Failure> {
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    if arguments.explain.is_none() && arguments.compare.is_empty() {
        if let Some(report) = &arguments.report
            && (report == Path::new("-") || absolute(report) == absolute(&arguments.output))
        {
            return Err(Failure::usage("--report needs a file of its own")
                .with_help("name another file than --output; --format json prints the report"));
        }
        for file in std::iter::once(&arguments.output).chain(&arguments.report) {
            refuse_existing(file, arguments.force)?;
        }
    }
    for path in arguments.compare.iter().chain(&arguments.update) {
        std::fs::File::open(path)
            .map_err(|error| Failure::unread("", path, &error).into_usage())?;
    }
    Ok(())
}

/// The statements to serve, and what their file fixes.
async fn read_workload(
    arguments: &DesignCommand,
    catalog: &Catalog,
    source: Option<&mut (dyn Source + 'static)>,
    output: &OutputStreams,
) -> Result<(Vec<Statement>, Fixed), Failure> {
    match &arguments.workload {
        Some(file) if file == Path::new(COUNTED) => {
            let source = source.ok_or_else(|| {
                Failure::usage(format!("`--workload {COUNTED}` needs a source"))
                    .with_help("name it by --source, instead of --catalog")
            })?;
            let counted = counted::read(source, catalog, output).await?;
            Ok((counted, Fixed::default()))
        }
        Some(file) => read_file(file, catalog),
        None => Ok((guess(catalog), Fixed::default())),
    }
}

/// Prices the workload under each mapping of `--compare`. `counted_for`: the statements whose tables are sampled.
async fn compare(
    request: &DesignRequest<'_>,
    counted_for: &[Statement],
    mut observed: Observed,
    mut source: Option<Box<dyn Source>>,
    output: &OutputStreams,
) -> Result<Outcome, Failure> {
    let (catalog, prices) = (request.catalog, request.prices);
    let mut priced = Vec::new();
    for path in &request.arguments.compare {
        let file = mapping::check(path, catalog, source.as_deref_mut()).await?;
        let model = file.into_model(output)?;
        if let Some(source) = &mut source {
            let scans = sample::scans(catalog, counted_for);
            let conditions = conditions_of(&model, catalog);
            sample::count(source.as_mut(), &scans, conditions, &mut observed).await?;
        }
        let name = path.display().to_string();
        let statements = request.statements;
        priced.push(price(&name, catalog, &model, statements, prices, &observed));
    }
    output.report(request.arguments.format, &priced, |priced| {
        report::comparison(priced, prices)
    })?;
    Ok(Outcome::Well)
}

/// Writes the proposed mapping and its report; with `--explain`, only prints a part of the report.
fn write_and_report(
    request: &DesignRequest<'_>,
    proposed: Design,
    output: &OutputStreams,
) -> Result<Outcome, Failure> {
    let (arguments, prices) = (request.arguments, request.prices);
    let to_stdout = arguments.output == Path::new("-") && arguments.explain.is_none();
    let Design {
        mapping,
        mut report,
        ..
    } = proposed;
    output.warnings(report.fault_text());
    if let Some(name) = &arguments.explain {
        report = report.for_statement(name);
    } else if to_stdout {
        output.text(&mapping)?;
    } else {
        write(&arguments.output, &mapping)?;
    }
    if let Some(file) = &arguments.report {
        write(file, &as_json(&report)?)?;
    }
    match arguments.format {
        Format::Text if arguments.explain.is_some() => output.text(&report::statements(&report))?,
        Format::Text if to_stdout => output.note(&report::design(&report, prices)),
        Format::Text => output.text(&report::design(&report, prices))?,
        Format::Json if to_stdout => output.note(&as_json(&report)?),
        Format::Json => output.json(&report)?,
    }
    if !to_stdout && arguments.explain.is_none() {
        let file = shell_word(&arguments.output.display().to_string());
        output.note(&format!(
            "wrote {file}; next: dynafold check {file}, migrate {file}, verify {file} --patterns, each with the same --source"
        ));
    }
    Ok(Outcome::of(report.serves_all()))
}

/// Proposes a table. With a source, looks in the rows for values that its keys depend on.
pub(super) async fn propose(
    source: Option<Box<dyn Source>>,
    catalog: &Catalog,
    statements: &[Statement],
    prices: &Prices,
    mut limits: Limits,
) -> Result<Design, Failure> {
    let mut proposed = design(catalog, statements, prices, &limits);
    match source {
        Some(mut source) => {
            // Other keys may depend on further columns.
            loop {
                let known = (limits.delimited.len(), limits.signed.len());
                let texts = [&*proposed.before_delimiters, &*proposed.escaped].concat();
                let looked = (&*texts, &*proposed.padded);
                look_up(source.as_mut(), catalog, looked, &mut limits).await?;
                if known == (limits.delimited.len(), limits.signed.len()) {
                    break;
                }
                proposed = design(catalog, statements, prices, &limits);
            }
            let looked = proposed.before_delimiters.iter().chain(&proposed.padded);
            let is_partly = |place: &&TableColumn| {
                let most = u64::from(sample::ROWS);
                match limits.observed.columns.get(*place) {
                    Some(sample) => !sample.is_all,
                    None => catalog
                        .table(&place.0)
                        .and_then(|table| table.estimated_rows)
                        .is_none_or(|rows| rows >= most),
                }
            };
            let partly: Vec<&TableColumn> = looked.filter(is_partly).collect();
            let warning = Warning::of_further_rows(&partly, sample::ROWS);
            proposed.report.warnings.extend(warning);
        }
        None => {
            let warnings = &mut proposed.report.warnings;
            if !proposed.before_delimiters.is_empty() {
                let unseen = Warning::of_unseen_delimiters(&proposed.before_delimiters);
                warnings.push(unseen);
            }
            if catalog.dbms == Dbms::Sqlite {
                warnings.push(Warning::of_unseen_values());
            }
        }
    }
    Ok(proposed)
}

/// Opens the source's snapshot, and samples the tables that a workload names.
pub(super) async fn sampled(
    source: &mut dyn Source,
    catalog: &Catalog,
    statements: &[Statement],
) -> Result<Observed, Failure> {
    let scans = sample::scans(catalog, statements);
    let all: Vec<&Scan> = scans.iter().collect();
    if !all.is_empty() {
        source.begin(&all).await?;
    }
    sample::observe(source, catalog, &scans, statements).await
}

/// The statements of a workload file, and what it fixes.
fn read_file(path: &Path, catalog: &Catalog) -> Result<(Vec<Statement>, Fixed), Failure> {
    let file = path.display();
    let text = std::fs::read_to_string(path).map_err(|error| {
        Failure::usage(format!("cannot read the workload `{file}`")).with_cause(&error)
    })?;
    let is_mapping = path
        .extension()
        .is_some_and(|end| end == "yaml" || end == "yml");
    let refused = |error: &(dyn std::error::Error + 'static)| {
        Failure::usage(format!("the workload `{file}` cannot be used"))
            .with_cause(error)
            .with_help("docs/design.md shows what such a file looks like")
    };
    if is_mapping {
        let statements = workload::of_mapping(&text, catalog).map_err(|error| refused(&error))?;
        return Ok((statements, Fixed::default()));
    }
    let statements = workload::read(&text, catalog.dbms).map_err(|error| refused(&error))?;
    let pins = workload::pins(&text).map_err(|error| refused(&error))?;
    let pins = check_pins(catalog, &pins).map_err(|error| refused(&error))?;
    let expiries = workload::expiries(&text).map_err(|error| refused(&error))?;
    let expiries = check_expiries(catalog, &expiries).map_err(|error| refused(&error))?;
    Ok((statements, (pins, expiries)))
}

/// The statements of a workload, and those of mappings: the tables of both are sampled.
fn with_mappings<'p>(
    statements: &[Statement],
    mappings: impl Iterator<Item = &'p PathBuf>,
    catalog: &Catalog,
) -> Vec<Statement> {
    // A pipe can be read only once.
    let texts = mappings.filter(|path| path.is_file());
    let texts = texts.filter_map(|path| std::fs::read_to_string(path).ok());
    let known = texts.filter_map(|text| workload::of_mapping(&text, catalog).ok());
    statements.iter().cloned().chain(known.flatten()).collect()
}

/// Keeps only the tables of the databases that the URL names: MySQL and MariaDB list those of all.
fn keep_named_databases(catalog: &mut Catalog) {
    let is_mysql = matches!(catalog.dbms, Dbms::Mysql | Dbms::Mariadb);
    if is_mysql && !catalog.search_path.is_empty() {
        let path = &catalog.search_path;
        catalog
            .tables
            .retain(|table| path.contains(&table.name.schema));
    }
}

/// Looks in the first rows for values that keys depend on: texts that contain the delimiter that follows them, and padded numbers
/// that are negative. Adds their columns to `limits`.
async fn look_up(
    source: &mut dyn Source,
    catalog: &Catalog,
    (before_delimiters, padded): (&[TableColumn], &[TableColumn]),
    limits: &mut Limits,
) -> Result<(), Failure> {
    let is_text = |(table, column): &&TableColumn| {
        let table = catalog.table(table);
        let column = table.and_then(|table| table.column(column));
        column.is_some_and(|column| column.is_plain_text(catalog.dbms))
    };
    let texts = before_delimiters.iter().filter(is_text);
    // PostgreSQL refuses LIKE in some collations.
    let holds = match catalog.dbms {
        Dbms::Postgres => "COLLATE \"C\" LIKE '%#%'",
        _ => "LIKE '%#%'",
    };
    let texts = texts.map(|column| (column, holds));
    let numbers = padded.iter().map(|column| (column, "< 0"));
    let asked: Vec<(&TableColumn, &str)> = texts.chain(numbers).collect();
    let scan = |(table, _): &TableColumn| Scan::of(Relation::Table(table.clone()), Vec::new());
    let scans: Vec<Scan> = asked.iter().map(|(column, _)| scan(column)).collect();
    for ((place, condition), scan) in asked.into_iter().zip(&scans) {
        let dialect = source.dialect();
        let relation = dialect.relation(&scan.from);
        let column = dialect.quote(&place.1);
        let sql = format!(
            "SELECT {} FROM (SELECT {column} FROM {relation} LIMIT {}) AS q WHERE {column} {condition}",
            dialect.count(),
            sample::ROWS
        );
        let found = source.numbers(&sql, scan).await?;
        if found.iter().flatten().all(|count| *count == 0) {
            continue;
        }
        if condition == "< 0" {
            limits.signed.insert(place.clone());
        } else {
            limits.delimited.insert(place.clone());
        }
    }
    Ok(())
}
