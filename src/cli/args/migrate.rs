//! The arguments of `migrate`.

use std::fmt;
use std::path::PathBuf;

use clap::Args;
use jiff::Timestamp;

use super::{Format, SourceArguments, TargetArguments, moment};

/// Of which rows `--prune` deletes the items.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(in crate::cli) enum StaleRows {
    /// Of those that are gone.
    Gone,
    /// Of those too that `where` leaves out, or that a view or a query does not return.
    Filtered,
}

impl fmt::Display for StaleRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Gone => "gone",
            Self::Filtered => "filtered",
        })
    }
}

#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option of its own"
)]
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dynafold migrate shop.yaml --source sqlite:shop.db --target local:shop.ddb
  dynafold migrate shop.yaml --source mysql://app@db/shop --target dynamodb --endpoint-url http://127.0.0.1:8000
  dynafold migrate shop.yaml --source postgres://app@db/shop --target dynamodb --region eu-west-1 --yes
  dynafold migrate shop.yaml --source postgres://app@db/shop --target dynamodb --max-wcu 2000
  dynafold migrate shop.yaml --source postgres://app@db/shop --target dynamodb --plan --prune
  dynafold migrate shop.yaml --source postgres://app@db/shop --target dynamodb --changes-only --prune

A load that was interrupted, by Ctrl-C or a crash, goes on when the same command is started again.")]
pub(in crate::cli) struct Migrate {
    /// The mapping file
    pub(in crate::cli) mapping: PathBuf,
    #[command(flatten)]
    pub(in crate::cli) source: SourceArguments,
    #[command(flatten)]
    pub(in crate::cli) target: TargetArguments,
    /// Never make the table: it belongs to Terraform, say
    #[arg(long)]
    pub(in crate::cli) no_create: bool,
    /// Go on until more rows than this are rejected
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(in crate::cli) max_rejects: u64,
    /// Where rejected rows are written, one JSON line each [default: beside the mapping]
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) rejects: Option<PathBuf>,
    /// The moment by which items have expired, in RFC 3339 [default: the clock at the start]
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub(in crate::cli) now: Option<Timestamp>,
    /// Where `expired: archive` writes items, one JSON line each [default: beside the mapping]
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) archive: Option<PathBuf>,
    /// Most write capacity units a second, indexes included [default: as the table takes]
    #[arg(long, value_name = "UNITS", value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub(in crate::cli) max_wcu: Option<u32>,
    /// Batches in flight at once, at most [default: as the target can take]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(in crate::cli) concurrency: Option<u16>,
    /// Connections that read side by side, on PostgreSQL [default: one a processor, 8 at most]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    pub(in crate::cli) readers: Option<u16>,
    /// About how many rows are read, entered and gone on with as one
    #[arg(long, value_name = "N", hide = true, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub(in crate::cli) chunk_rows: Option<u64>,
    /// Read the source once, and find equal keys only after they have overwritten each other
    #[arg(long)]
    pub(in crate::cli) one_pass: bool,
    /// Write only what the table does not hold as it should be; costs reads instead of writes
    #[arg(long)]
    pub(in crate::cli) changes_only: bool,
    /// Delete items of the mapping's item types whose rows are gone; `--prune=filtered`: those too
    /// whose rows `where`, a view or a query leaves out
    #[arg(long, value_name = "ROWS", num_args = 0..=1, require_equals = true,
          default_missing_value = "gone", hide_possible_values = true)]
    pub(in crate::cli) prune: Option<StaleRows>,
    /// Empty the table first: it is deleted and made again
    #[arg(long, conflicts_with_all = ["changes_only", "prune", "append", "plan", "no_create"])]
    pub(in crate::cli) replace: bool,
    /// Load into a table that holds items already; those with the same keys are replaced
    #[arg(long)]
    pub(in crate::cli) append: bool,
    /// Say what would be added, changed and, with --prune, deleted; write nothing
    #[arg(long)]
    pub(in crate::cli) plan: bool,
    /// Only this item type; may be said several times
    #[arg(long = "items", value_name = "NAME")]
    pub(in crate::cli) items: Vec<String>,
    /// Only items with this value of the table's partition key, a tenant say
    #[arg(long, value_name = "VALUE")]
    pub(in crate::cli) partition: Option<String>,
    /// Load only the rows of a rejects file, after the mapping was mended
    #[arg(long, value_name = "FILE", conflicts_with_all = ["prune", "replace"])]
    pub(in crate::cli) retry_rejects: Option<PathBuf>,
    /// Where the state of the load is kept [default: .dynafold/ beside the mapping]
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) state: Option<PathBuf>,
    /// Forget the state of an interrupted load and begin anew
    #[arg(long)]
    pub(in crate::cli) fresh: bool,
    /// Answer yes to the questions before anything that costs money or deletes the table
    #[arg(short, long)]
    pub(in crate::cli) yes: bool,
    /// Text for people or JSON for programs
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(in crate::cli) format: Format,
}
