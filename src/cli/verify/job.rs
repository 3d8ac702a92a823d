//! What `verify` was told, and the job that it comes to.

use std::path::PathBuf;

use clap::Args;
use jiff::Timestamp;

use crate::cli::failure::Failure;
use crate::cli::options::{Format, SourceArguments, TargetArguments, moment};
use crate::cli::target::BilledUse;
use crate::target::TargetSpec;
use crate::verify::Options;

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
    mapping: PathBuf,
    #[command(flatten)]
    source: SourceArguments,
    #[command(flatten)]
    target: TargetArguments,
    /// Compare only N items, from all parts of the source
    #[arg(long, value_name = "N", conflicts_with = "repair",
          value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    sample: Option<u64>,
    /// Write what is missing or different; nothing is deleted
    #[arg(long)]
    repair: bool,
    /// Maximum write capacity units a second of a repair, indexes included [default: as the table takes]
    #[arg(long, value_name = "UNITS", requires = "repair",
          value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    max_wcu: Option<u32>,
    /// Only this item type; may be repeated
    #[arg(long = "items", value_name = "NAME")]
    items: Vec<String>,
    /// Only items with this value of the table's partition key, for example one tenant
    #[arg(long, value_name = "VALUE")]
    partition: Option<String>,
    /// Count items that the mapping does not make, but exit as if there were none
    #[arg(long)]
    allow_unexpected: bool,
    /// Connections that read in parallel, where the database allows it [default: one a processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    readers: Option<u16>,
    #[command(flatten)]
    answers: Answers,
    /// The time that decides what has expired, in RFC 3339 [default: the clock at the start]
    #[arg(long, value_name = "TIME", value_parser = moment)]
    now: Option<Timestamp>,
    /// Answer yes to the question before anything that costs money
    #[arg(short, long)]
    yes: bool,
    /// Text for people or JSON for programs
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

/// What is asked where answers are compared instead of items.
#[derive(Debug, Args)]
#[group(id = "answers", multiple = true, args = ["patterns", "pattern"],
        conflicts_with_all = ["sample", "repair", "items", "partition", "allow_unexpected", "readers"])]
struct Answers {
    /// Compare answers instead of items: those of each access pattern with those of its SQL
    #[arg(long)]
    patterns: bool,
    /// Compare only the answers of this access pattern; may be repeated
    #[arg(long = "pattern", value_name = "NAME")]
    pattern: Vec<String>,
    /// How many values to ask each access pattern with, at most 10000; all of them if there are no
    /// more
    #[arg(long, value_name = "N", requires = "answers", default_value_t = 20,
          value_parser = clap::value_parser!(u16).range(1..=10_000))]
    values: u16,
}

/// What is to be verified, and against what.
pub(super) struct VerifyJob {
    pub(super) mapping: PathBuf,
    /// The URL of the source.
    pub(super) source: String,
    pub(super) target: TargetSpec,
    pub(super) now: Option<Timestamp>,
    /// Whether questions are answered with yes.
    pub(super) yes: bool,
    pub(super) format: Format,
    pub(super) comparison: ComparisonJob,
}

pub(super) enum ComparisonJob {
    Items(Box<ItemsJob>),
    Answers(AnswersJob),
}

/// Which items are compared, and how.
pub(super) struct ItemsJob {
    /// Those of these item types; all without any.
    pub(super) items: Vec<String>,
    /// Those with this partition key value.
    pub(super) partition: Option<String>,
    pub(super) options: Options,
    /// Most write units a second of a repair.
    pub(super) max_wcu: Option<u32>,
    /// What it uses up.
    pub(super) usage: BilledUse,
    /// Whether the table may hold items that the mapping does not make.
    pub(super) allow_unexpected: bool,
}

/// Which answers are compared.
pub(super) struct AnswersJob {
    /// Those of these access patterns; of all without any.
    pub(super) patterns: Vec<String>,
    /// Values that each access pattern is asked with.
    pub(super) values: u16,
}

impl Verify {
    /// Reads the arguments as a whole.
    pub(super) fn job(self) -> Result<VerifyJob, Failure> {
        let answers = self.answers;
        let comparison = if answers.patterns || !answers.pattern.is_empty() {
            ComparisonJob::Answers(AnswersJob {
                patterns: answers.pattern,
                values: answers.values,
            })
        } else {
            ComparisonJob::Items(Box::new(ItemsJob {
                items: self.items,
                partition: self.partition,
                usage: match self.sample {
                    _ if self.repair => BilledUse::Repairs,
                    Some(sample) => BilledUse::Samples(sample),
                    None => BilledUse::Reads,
                },
                options: Options {
                    sample: self.sample,
                    repair: self.repair,
                    readers: self.readers.map(usize::from),
                    ..Options::default()
                },
                max_wcu: self.max_wcu,
                allow_unexpected: self.allow_unexpected,
            }))
        };
        Ok(VerifyJob {
            mapping: self.mapping,
            target: self.target.spec()?,
            source: self.source.url()?,
            now: self.now,
            yes: self.yes,
            format: self.format,
            comparison,
        })
    }
}
