//! What `preview` is told.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use jiff::Timestamp;

use crate::cli::options::{SourceArguments, moment, region};

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
    pub(super) mapping: PathBuf,
    #[command(flatten)]
    pub(super) source: SourceArguments,
    /// Rows to read for each item type
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub(super) limit: u64,
    /// Only this item type; may be repeated
    #[arg(long = "items", value_name = "NAME")]
    pub(super) items: Vec<String>,
    /// The time that decides what has expired, in RFC 3339 [default: the clock at the start]
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub(super) now: Option<Timestamp>,
    /// How to show them
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub(super) format: PreviewFormat,
    /// Write what --format says to a new file
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// Read every row: sizes, hot partitions, equal keys, cost and duration; writes nothing
    #[arg(long, conflicts_with = "limit")]
    pub(super) all: bool,
    #[command(flatten)]
    pub(super) rows: AllRows,
}

/// What is asked of all rows.
#[derive(Debug, Args)]
pub(super) struct AllRows {
    /// Where rejected rows are written, one JSON line each
    #[arg(long, value_name = "FILE", requires = "all")]
    pub(super) rejects: Option<PathBuf>,
    /// A price file, instead of the built-in prices
    #[arg(long, value_name = "FILE", requires = "all")]
    pub(super) prices: Option<PathBuf>,
    /// The AWS region whose prices are shown [default: the price file's]
    #[arg(long, alias = "region", value_name = "REGION", requires = "all", value_parser = region)]
    pub(super) price_region: Option<String>,
    /// Memory for comparing all keys, in MiB; what does not fit goes to the temporary folder
    #[arg(long, value_name = "MIB", default_value_t = 32, requires = "all",
          value_parser = clap::value_parser!(u16).range(1..=16384))]
    pub(super) key_memory: u16,
}
