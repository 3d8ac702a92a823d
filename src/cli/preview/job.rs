//! What `preview` was told, and the job that it comes to.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use jiff::Timestamp;

use crate::cli::failure::Failure;
use crate::cli::options::{SourceArguments, moment};

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
  dynafold preview shop.yaml --source postgres://app@db/shop --all --price-region ap-northeast-2 --format json")]
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
    /// How to show them
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: PreviewFormat,
    /// Write what --format says to a new file
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Read every row: sizes, hot partitions, equal keys, cost and duration; writes nothing
    #[arg(long, conflicts_with = "limit")]
    all: bool,
    /// Where rejected rows are written, one JSON line each
    #[arg(long, value_name = "FILE", requires = "all")]
    rejects: Option<PathBuf>,
    /// A file of prices, instead of the built-in ones
    #[arg(long, value_name = "FILE", requires = "all")]
    prices: Option<PathBuf>,
    /// The AWS region whose prices are shown [default: the price file's]
    #[arg(long, alias = "region", value_name = "REGION", requires = "all")]
    price_region: Option<String>,
    /// Memory for comparing all keys, in MiB; what does not fit goes to the temporary folder
    #[arg(long, value_name = "MIB", default_value_t = 32, requires = "all",
          value_parser = clap::value_parser!(u16).range(1..=16384))]
    key_memory: u16,
}

/// What is to be shown.
pub(super) struct PreviewJob {
    pub(super) mapping: PathBuf,
    /// The URL of the source.
    pub(super) source: String,
    /// The item types that are shown; all without any.
    pub(super) items: Vec<String>,
    pub(super) now: Option<Timestamp>,
    pub(super) format: PreviewFormat,
    /// The new file that is written; standard output without it.
    pub(super) output: Option<PathBuf>,
    pub(super) rows: PreviewRows,
}

/// The rows that are read.
pub(super) enum PreviewRows {
    /// So many of each item type.
    First(u64),
    All(AllRows),
}

/// What is asked of all rows.
pub(super) struct AllRows {
    /// The file that rejected rows are written to.
    pub(super) rejects: Option<PathBuf>,
    pub(super) prices: Option<PathBuf>,
    pub(super) price_region: Option<String>,
    /// Bytes of memory for comparing all keys.
    pub(super) key_memory: usize,
}

impl Preview {
    /// Reads the arguments as a whole.
    pub(super) fn job(self) -> Result<PreviewJob, Failure> {
        Ok(PreviewJob {
            source: self.source.url()?,
            mapping: self.mapping,
            items: self.items,
            now: self.now,
            format: self.format,
            output: self.output,
            rows: if self.all {
                PreviewRows::All(AllRows {
                    rejects: self.rejects,
                    prices: self.prices,
                    price_region: self.price_region,
                    key_memory: usize::from(self.key_memory) << 20,
                })
            } else {
                PreviewRows::First(self.limit)
            },
        })
    }
}
