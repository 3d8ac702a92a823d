//! What `verify` is told.

use std::path::PathBuf;

use clap::Args;
use jiff::Timestamp;

use crate::cli::failure::Failure;
use crate::cli::options::{Format, Service, SourceArguments, WriteRate, moment};
use crate::target::{ServiceOptions, TargetSpec};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dynafold verify shop.yaml --source sqlite:shop.db --target local:shop.ddb
  dynafold verify shop.yaml --source postgres://app@db/shop --target dynamodb --format json
  dynafold verify shop.yaml --source postgres://app@db/shop --target dynamodb --sample 10000
  dynafold verify shop.yaml --source postgres://app@db/shop --target dynamodb --repair
  dynafold verify shop.yaml --source sqlite:shop.db --target dynamodb --items ORDER --partition T#7
  dynafold verify shop.yaml --source postgres://app@db/shop --against-export shop-export
  dynafold verify shop.yaml --source postgres://app@db/shop --against-export s3://my-bucket/shop
  dynafold verify shop.yaml --source sqlite:shop.db --target dynamodb --patterns --values 100")]
#[command(mut_arg("max_wcu", |arg| arg.requires("repair").help(
    "Maximum write capacity units a second of a repair, indexes included [default: as fast as the table accepts]"
)))]
pub(in crate::cli) struct Verify {
    /// The mapping file
    pub(super) mapping: PathBuf,
    #[command(flatten)]
    pub(super) source: SourceArguments,
    #[command(flatten)]
    pub(super) target: VerifiedArguments,
    /// Compare only N items, from all parts of the source
    #[arg(long, value_name = "N", conflicts_with = "repair",
          value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub(super) sample: Option<u64>,
    /// Write what is missing or different; nothing is deleted
    #[arg(long)]
    pub(super) repair: bool,
    #[command(flatten)]
    pub(super) rate: WriteRate,
    /// Only this item type; may be repeated
    #[arg(long = "items", value_name = "NAME")]
    pub(super) items: Vec<String>,
    /// Only items with this value of the table's partition key, for example one tenant
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    pub(super) partition: Option<String>,
    /// Count items that the mapping does not make, but exit as if there were none
    #[arg(long)]
    pub(super) allow_unexpected: bool,
    /// Connections that read in parallel, where the database allows it [default: one per processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    pub(super) readers: Option<u16>,
    #[command(flatten)]
    pub(super) answers: Answers,
    /// The time that decides what has expired, in RFC 3339 [default: the clock at the start]
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub(super) now: Option<Timestamp>,
    /// Answer yes to the question before anything that costs money
    #[arg(short, long)]
    pub(super) yes: bool,
    /// Text for people or JSON for programs
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(super) format: Format,
}

/// What is compared with the source.
#[derive(Debug, Args)]
pub(super) struct VerifiedArguments {
    /// `dynamodb` or `local:FILE`
    #[arg(
        long,
        value_name = "TARGET",
        env = "DYNAFOLD_TARGET",
        required_unless_present = "against_export"
    )]
    target: Option<String>,
    #[command(flatten)]
    service: Service,
    /// Compare an export with the source, and no table: a folder or `s3://BUCKET/PREFIX`
    #[arg(long, value_name = "PLACE",
          conflicts_with_all = ["answers", "sample", "repair", "items", "partition", "allow_unexpected", "readers", "now"])]
    pub(super) against_export: Option<String>,
}

impl VerifiedArguments {
    /// Where an export is, as whom it is asked for.
    pub(super) fn s3(&self) -> ServiceOptions {
        self.service.options()
    }

    /// The target that they name.
    pub(super) fn spec(&self) -> Result<TargetSpec, Failure> {
        self.service
            .spec(self.target.as_deref().unwrap_or_default())
    }
}

/// What is asked where answers are compared instead of items.
#[derive(Debug, Args)]
#[group(id = "answers", multiple = true, args = ["patterns", "pattern"],
        conflicts_with_all = ["sample", "repair", "items", "partition", "allow_unexpected", "readers"])]
pub(super) struct Answers {
    /// Compare answers instead of items: those of each access pattern with those of its SQL
    #[arg(long)]
    patterns: bool,
    /// Compare only the answers of this access pattern; may be repeated
    #[arg(long = "pattern", value_name = "NAME")]
    pub(super) pattern: Vec<String>,
    /// How many values to try for each access pattern, at most 10000; all of them if there are no more
    #[arg(long, value_name = "N", requires = "answers", default_value_t = 20,
          value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub(super) values: u16,
}

impl Answers {
    /// Whether answers are compared, and not items.
    pub(super) fn are_asked_for(&self) -> bool {
        self.patterns || !self.pattern.is_empty()
    }
}
