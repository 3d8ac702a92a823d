//! The arguments of `verify`.

use std::path::PathBuf;

use clap::Args;
use jiff::Timestamp;

use super::{Format, SourceArguments, TargetArguments, moment};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dynafold verify shop.yaml --source sqlite:shop.db --target local:shop.ddb
  dynafold verify shop.yaml --source postgres://app@db/shop --target dynamodb --format json
  dynafold verify shop.yaml --source postgres://app@db/shop --target dynamodb --sample 10000
  dynafold verify shop.yaml --source postgres://app@db/shop --target dynamodb --repair
  dynafold verify shop.yaml --source postgres://app@db/shop --target dynamodb --items ORDER --partition TENANT#7
  dynafold verify shop.yaml --source postgres://app@db/shop --target dynamodb --patterns --values 100")]
pub(in crate::cli) struct Verify {
    /// The mapping file
    pub(in crate::cli) mapping: PathBuf,
    #[command(flatten)]
    pub(in crate::cli) source: SourceArguments,
    #[command(flatten)]
    pub(in crate::cli) target: TargetArguments,
    /// Compare only so many items, from all over the source
    #[arg(long, value_name = "N", conflicts_with = "repair",
          value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub(in crate::cli) sample: Option<u64>,
    /// Write what is missing or different; nothing is deleted
    #[arg(long)]
    pub(in crate::cli) repair: bool,
    /// Most write capacity units a second of a repair, indexes included [default: as the table takes]
    #[arg(long, value_name = "UNITS", requires = "repair",
          value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub(in crate::cli) max_wcu: Option<u32>,
    /// Only this item type; may be said several times
    #[arg(long = "items", value_name = "NAME")]
    pub(in crate::cli) items: Vec<String>,
    /// Only items with this value of the table's partition key, a tenant say
    #[arg(long, value_name = "VALUE")]
    pub(in crate::cli) partition: Option<String>,
    /// Do not mind items that the mapping does not make
    #[arg(long)]
    pub(in crate::cli) allow_unexpected: bool,
    /// Connections that read side by side, where the database allows it [default: one a processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    pub(in crate::cli) readers: Option<u16>,
    #[command(flatten)]
    pub(in crate::cli) answers: Answers,
    /// The moment by which items have expired, in RFC 3339 [default: the clock at the start]
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub(in crate::cli) now: Option<Timestamp>,
    /// Answer yes to the question before anything that costs money
    #[arg(short, long)]
    pub(in crate::cli) yes: bool,
    /// Text for people or JSON for programs
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(in crate::cli) format: Format,
}

/// What is asked where answers are compared instead of items.
#[derive(Debug, Args)]
#[group(id = "answers", multiple = true, args = ["patterns", "pattern"],
        conflicts_with_all = ["sample", "repair", "items", "partition", "allow_unexpected", "readers"])]
pub(in crate::cli) struct Answers {
    /// Compare answers instead of items: each access pattern's with those of its SQL
    #[arg(long)]
    pub(in crate::cli) patterns: bool,
    /// Compare the answers of this access pattern alone; may be said several times
    #[arg(long = "pattern", value_name = "NAME")]
    pub(in crate::cli) pattern: Vec<String>,
    /// Values that each access pattern is asked with; all that there are, where they are no more
    #[arg(long, value_name = "N", requires = "answers", default_value_t = 20,
          value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(in crate::cli) values: u16,
}

impl Answers {
    /// Whether answers are compared.
    pub(in crate::cli) fn are_wanted(&self) -> bool {
        self.patterns || !self.pattern.is_empty()
    }
}
