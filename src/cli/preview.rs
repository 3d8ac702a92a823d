//! `dynafold preview`: the items that the first rows would become, or what all rows come to.

mod all;
mod collections;
mod cost;
mod forecast;
mod heat;
mod items;

use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use comfy_table::Table;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::json;

use super::failure::Failure;
use super::options::{SourceArguments, moment, region};
use super::output::{OutputStreams, as_json, shown};
use super::report::attribute;
use super::{Outcome, mapping, selection, target};
use crate::dynamodb::write_item;
use crate::mapping::model::Expired;
use crate::preview::{ItemTypeSample, SampleReject, sample};

/// Columns of a table where there is no terminal.
const COLUMNS: u16 = 100;
/// Keys that several items have and whose rows a report shows.
const NAMED_KEYS: usize = 20;

/// How items, or the report on all of them, are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum PreviewFormat {
    /// A table laid out by item collection; with --all a report
    Table,
    /// The items as DynamoDB JSON, one a line
    DynamodbJson,
    /// The items with their item type, row, size and write units, one a line
    Ndjson,
    /// Everything as one JSON document; with --all the report
    Json,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dynafold preview shop.yaml --source sqlite:shop.db
  dynafold preview shop.yaml --source sqlite:shop.db --items ORDER --limit 20
  dynafold preview shop.yaml --source sqlite:shop.db --format dynamodb-json > items.ndjson
  dynafold preview shop.yaml --source postgres://app@db/shop --all
  dynafold preview shop.yaml --source sqlite:shop.db --all --price-region eu-west-1 --format json")]
pub(in crate::cli) struct Preview {
    /// The mapping file
    mapping: PathBuf,
    #[command(flatten)]
    source: SourceArguments,
    /// Rows to read for each item type
    #[arg(long, value_name = "N", default_value_t = 5)]
    limit: u64,
    /// Only this item type; may be repeated
    #[arg(long = "items", value_name = "NAME")]
    items: Vec<String>,
    /// The time that decides what has expired, in RFC 3339 [default: the clock at the start]
    #[arg(long, value_name = "TIME", value_parser = moment)]
    now: Option<Timestamp>,
    /// How to show the items
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: PreviewFormat,
    /// Write to this new file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Read every row: sizes, hot partitions, equal keys, cost and duration; writes nothing
    #[arg(long, conflicts_with = "limit")]
    all: bool,
    /// Where rejected rows are written, one JSON line each
    #[arg(long, value_name = "FILE", requires = "all")]
    rejects: Option<PathBuf>,
    /// A price file, instead of the built-in prices
    #[arg(long, value_name = "FILE", requires = "all")]
    prices: Option<PathBuf>,
    /// The AWS region whose prices are shown [default: the price file's]
    #[arg(long, alias = "region", value_name = "REGION", requires = "all", value_parser = region)]
    price_region: Option<String>,
    /// Memory for comparing all keys, in MiB; what does not fit goes to the temporary folder
    #[arg(long, value_name = "MIB", default_value_t = 32, requires = "all",
          value_parser = clap::value_parser!(u16).range(1..=16384))]
    key_memory: u16,
}

pub(super) async fn run(arguments: Preview, output: &OutputStreams) -> Result<Outcome, Failure> {
    if arguments.all {
        Box::pin(all::run(&arguments, output)).await
    } else {
        first(&arguments, output).await
    }
}

/// Shows what the first rows become.
async fn first(arguments: &Preview, output: &OutputStreams) -> Result<Outcome, Failure> {
    let (url, items) = (arguments.source.url()?, &arguments.items);
    let (mut source, _, file) = mapping::open(url, &arguments.mapping).await?;
    let model = file.into_model(output)?;
    selection::check(items, &model)?;
    let wanted = |name: &str| items.is_empty() || items.iter().any(|item| item == name);
    let context = target::context(&model, arguments.now)?;
    let samples = sample(source.as_mut(), &model, context, arguments.limit, &wanted).await?;
    let file = arguments.output.as_deref();
    match arguments.format {
        PreviewFormat::Table => {
            let table = collections::table(&samples, &model.table, width(file), output);
            put(file, &table, output)?;
        }
        PreviewFormat::DynamodbJson | PreviewFormat::Ndjson => {
            let mut lines = String::new();
            for sample in &samples {
                for item in &sample.items {
                    match arguments.format {
                        PreviewFormat::Ndjson => items::sampled(&mut lines, sample, item),
                        _ => write_item(&mut lines, &item.item),
                    }
                    lines.push('\n');
                }
            }
            put(file, &lines, output)?;
            for sample in &samples {
                for line in life(sample) {
                    output.note(&line);
                }
                let rejects = sample.rejects.iter();
                output.warnings(rejects.map(|reject| rejected(&sample.item_type, reject)));
            }
        }
        PreviewFormat::Json => put_json(file, &json!({ "item_types": samples }), output)?,
    }
    output.warnings(source.warnings());
    let is_well = samples.iter().all(|sample| sample.rejects.is_empty());
    Ok(Outcome::of(is_well))
}

/// Columns that a table may take.
fn width(file: Option<&Path>) -> usize {
    let terminal = match file {
        None => Table::new().width(),
        Some(_) => None,
    };
    usize::from(terminal.unwrap_or(COLUMNS))
}

/// Prints a result, or writes it to a new file.
fn put(file: Option<&Path>, text: &str, output: &OutputStreams) -> Result<(), Failure> {
    let Some(path) = file else {
        return output.text(text);
    };
    let mut file = items::create_new_file(path)?;
    let written = file.write_all(shown(text, false).as_bytes());
    written.map_err(|error| Failure::unwritten(path, &error))
}

/// Prints a document, or writes it to a new file.
fn put_json(
    file: Option<&Path>,
    document: &impl Serialize,
    output: &OutputStreams,
) -> Result<(), Failure> {
    match file {
        None => output.json(document),
        Some(_) => put(file, &(as_json(document)? + "\n"), output),
    }
}

fn rejected(item_type: &str, reject: &SampleReject) -> String {
    let SampleReject { row, reject } = reject;
    let attribute = attribute(reject.attribute.as_deref());
    let help = reject.help.as_ref();
    let help = help.map_or(String::new(), |help| format!("\n    help: {help}"));
    format!(
        "rejected {item_type} {row}: [{}]{attribute} {}{help}",
        reject.code, reject.message
    )
}

/// What would be skipped or archived because it has expired, and what would be compressed.
fn life(sample: &ItemTypeSample) -> Vec<String> {
    let what = match sample.on_expiry {
        Expired::Archive => "archived",
        Expired::Load | Expired::Skip => "skipped",
    };
    let expired = sample.expired.iter();
    let expired =
        expired.map(|item| format!("{what} {} {}: it has expired", sample.item_type, item.row));
    let compressed = sample
        .items
        .iter()
        .filter(|item| !item.compressed.is_empty());
    let compressed = compressed.map(|item| {
        format!(
            "compressed {} {}: `{}`",
            sample.item_type,
            item.row,
            item.compressed.join("`, `")
        )
    });
    expired.chain(compressed).collect()
}
