//! What `migrate` is told, and the job that it comes to.

use std::path::{Path, PathBuf};

use clap::Args;
use jiff::Timestamp;

use super::route::{Route, Tier};
use crate::cli::failure::Failure;
use crate::cli::options::{
    Format, RejectLimit, SourceArguments, TargetArguments, WriteRate, moment, refuse_one_file_twice,
};
use crate::load::state::{self, ResumeMode, SWITCHED_ON};
use crate::load::{ItemAction, KeyCheck, LoadOptions, Prune};
use crate::target::TargetSpec;

/// Of which rows `--prune` deletes the items.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(in crate::cli) enum StaleRows {
    /// Of those that are gone.
    Gone,
    /// Of those too that `where` leaves out, or that a view or a query does not return.
    Filtered,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dynafold migrate shop.yaml --source sqlite:shop.db --target local:shop.ddb
  dynafold migrate shop.yaml --source sqlite:shop.db --target dynamodb --endpoint-url http://db:8000
  dynafold migrate shop.yaml --source sqlite:shop.db --target dynamodb --region eu-west-1 --yes
  dynafold migrate shop.yaml --source postgres://app@db/shop --target dynamodb --max-wcu 2000
  dynafold migrate shop.yaml --source postgres://app@db/shop --target dynamodb --plan --prune
  dynafold migrate shop.yaml --source sqlite:shop.db --target dynamodb --changes-only --prune
  dynafold migrate shop.yaml --source sqlite:shop.db --target dynamodb --route import:s3://bucket/p

A load that was interrupted, by Ctrl-C or a crash, resumes when the same command is started again.")]
pub(in crate::cli) struct Migrate {
    /// The mapping file
    pub(in crate::cli) mapping: PathBuf,
    #[command(flatten)]
    pub(super) source: SourceArguments,
    #[command(flatten)]
    pub(super) target: TargetArguments,
    /// Let DynamoDB load an export in S3: `import:s3://BUCKET/PREFIX` makes a new table, `bulk:s3://BUCKET/PREFIX` fills one that
    /// exists [default: write the items from here]
    #[arg(long, value_name = "ROUTE", value_parser = Route::parse, conflicts_with_all = ["no_create", "archive", "concurrency",
          "one_pass", "changes_only", "prune", "replace", "plan", "partition", "retry_rejects", "state"])]
    pub(super) route: Option<Route>,
    /// How fast a bulk operation is, at its own price [default: standard]
    #[arg(long, value_name = "TIER", requires = "route")]
    pub(in crate::cli) tier: Option<Tier>,
    /// Where a route gathers items before they are uploaded, uncompressed [default: .dynafold/ beside the mapping]
    #[arg(long, value_name = "FOLDER", requires = "route")]
    pub(in crate::cli) spool: Option<PathBuf>,
    /// Never create the table or add indexes, for example because Terraform manages it
    #[arg(long)]
    pub(super) no_create: bool,
    #[command(flatten)]
    pub(super) reject_limit: RejectLimit,
    /// Where rejected rows are written, one JSON line each [default: beside the mapping]
    #[arg(long, value_name = "FILE")]
    pub(super) rejects: Option<PathBuf>,
    /// The time that decides what has expired, in RFC 3339 [default: the clock at the start]
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub(in crate::cli) now: Option<Timestamp>,
    /// Where `expired: archive` writes items, one JSON line each [default: beside the mapping]
    #[arg(long, value_name = "FILE")]
    archive: Option<PathBuf>,
    #[command(flatten)]
    pub(in crate::cli) rate: WriteRate,
    /// Maximum number of batches in flight [default: as many as the target accepts]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    concurrency: Option<u16>,
    /// Connections that read in parallel, on PostgreSQL [default: one per processor, at most 8]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    pub(super) readers: Option<u16>,
    /// About how many rows a chunk has; an interrupted load resumes after its complete chunks
    #[arg(long, value_name = "N", hide = true, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub(super) chunk_rows: Option<u64>,
    /// Read the source once, and find equal keys only after one item has overwritten the other
    #[arg(long)]
    one_pass: bool,
    /// Write only items that are missing from the table or differ there; costs reads instead of writes
    #[arg(long)]
    pub(super) changes_only: bool,
    /// Delete items of the mapping's item types whose rows are gone; `--prune=filtered` also
    /// deletes those whose rows `where`, a view or a query leaves out
    #[arg(long, value_name = "ROWS", num_args = 0..=1, require_equals = true,
          default_missing_value = "gone", hide_possible_values = true)]
    prune: Option<StaleRows>,
    /// Delete the table first and create it again
    #[arg(long, conflicts_with_all = ["changes_only", "prune", "append", "plan", "no_create"])]
    pub(super) replace: bool,
    /// Load into a table that already has items; those with the same keys are replaced
    #[arg(long)]
    pub(in crate::cli) append: bool,
    /// Show what would be added, changed and, with --prune, deleted; write nothing
    #[arg(long, visible_alias = "dry-run")]
    pub(super) plan: bool,
    /// Only this item type; may be repeated
    #[arg(long = "items", value_name = "NAME")]
    pub(in crate::cli) items: Vec<String>,
    /// Only items with this value of the table's partition key, for example one tenant
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    pub(super) partition: Option<String>,
    /// Load only the rows of a rejects file, after the mapping was corrected
    #[arg(long, value_name = "FILE", conflicts_with_all = ["prune", "replace"])]
    pub(super) retry_rejects: Option<PathBuf>,
    /// Where the state of the load is kept [default: .dynafold/ beside the mapping]
    #[arg(long, value_name = "FILE")]
    pub(super) state: Option<PathBuf>,
    /// Start over instead of resuming an interrupted load
    #[arg(long)]
    pub(in crate::cli) fresh: bool,
    /// Answer yes to the questions before anything that costs money, adds indexes or deletes the table
    #[arg(short, long)]
    pub(in crate::cli) yes: bool,
    /// Text for people or JSON for programs
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(in crate::cli) format: Format,
}

/// What a load is to do: the arguments, and what they come to.
pub(super) struct MigrateJob {
    pub(super) arguments: Migrate,
    /// The URL of the source.
    pub(super) source: String,
    pub(super) target: TargetSpec,
    /// The file of the load's state.
    pub(super) state_file: PathBuf,
    /// How the rows are read and written.
    pub(super) options: LoadOptions,
}

impl Migrate {
    /// Reads the arguments as a whole: their defaults, and whether they go with each other.
    pub(super) fn job(self) -> Result<MigrateJob, Failure> {
        let default_state = || state::default_path(&self.mapping);
        let state_file = self.state.clone().unwrap_or_else(default_state);
        let target = self.target.spec()?;
        let rejects_file = self.rejects_file()?;
        let beside = || self.mapping.with_extension("archive.ndjson");
        let archive_file = self.archive.clone().unwrap_or_else(beside);
        let target_file = match &target {
            TargetSpec::Local { file } => file.as_deref(),
            TargetSpec::Dynamodb { .. } => None,
        };
        refuse_one_file_twice(&[
            ("--target", target_file),
            ("--state", Some(state_file.as_path())),
            ("--rejects", Some(rejects_file.as_path())),
            ("--archive", Some(archive_file.as_path())),
        ])?;
        Ok(MigrateJob {
            options: LoadOptions {
                max_rejects: Some(self.reject_limit.max_rejects),
                rejects_file,
                archive_file,
                writers: self.concurrency.map(usize::from),
                keys: if self.one_pass {
                    KeyCheck::Late
                } else {
                    KeyCheck::First
                },
                doing: match (self.plan, self.changes_only) {
                    (true, _) => ItemAction::Plan,
                    (false, true) => ItemAction::Changes,
                    (false, false) => ItemAction::Put,
                },
                plans_changes: self.changes_only,
                readers: self.readers.map(usize::from),
                chunk_rows: self.chunk_rows,
                prune: self.prune.map(|stale| Prune {
                    filtered: stale == StaleRows::Filtered,
                }),
                ..LoadOptions::default()
            },
            source: self.source.url()?.to_owned(),
            target,
            state_file,
            arguments: self,
        })
    }

    /// What becomes of a load that did not end.
    pub(super) fn resume_mode(&self) -> ResumeMode {
        match (self.fresh, self.replace) {
            (true, true) => ResumeMode::Replace,
            (true, false) => ResumeMode::Fresh,
            (false, _) => ResumeMode::Resume,
        }
    }

    /// Whether everything that the mapping says is loaded, so that a later load may go by its keys.
    pub(super) fn is_full(&self) -> bool {
        self.items.is_empty() && self.partition.is_none() && self.retry_rejects.is_none()
    }

    /// Whether the table may hold items before the load.
    pub(super) fn may_hold_items(&self) -> bool {
        let keeps = self.append || self.changes_only || self.prune.is_some() || self.plan;
        keeps || self.retry_rejects.is_some()
    }

    /// Beside the mapping, under its name, unless `--rejects` says otherwise. Never the file whose rows
    /// are loaded again: it is read by each attempt.
    fn rejects_file(&self) -> Result<PathBuf, Failure> {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let again = self.retry_rejects.as_deref();
        let is_read = |path: &Path| again.is_some_and(|read| real(read) == real(path));
        match &self.rejects {
            Some(path) if is_read(path) => Err(Failure::usage(
                "--retry-rejects and --rejects name the same file",
            )
            .with_help("name another file for the rows that are rejected again")),
            Some(path) => Ok(path.clone()),
            None => {
                let beside = self.mapping.with_extension("rejects.ndjson");
                Ok(if is_read(&beside) {
                    self.mapping.with_extension("rejects-again.ndjson")
                } else {
                    beside
                })
            }
        }
    }

    /// The options by which one run is told from another; the file of `--retry-rejects` is told by what it
    /// holds.
    pub(super) fn identity(&self) -> Vec<(&'static str, String)> {
        let flag = |is_given: bool| is_given.then(|| SWITCHED_ON.to_owned());
        let stale = self.prune.map(|rows| match rows {
            StaleRows::Gone => SWITCHED_ON.to_owned(),
            StaleRows::Filtered => "filtered".to_owned(),
        });
        let options = [
            (
                "--items",
                (!self.items.is_empty()).then(|| self.items.join(", ")),
            ),
            ("--partition", self.partition.clone()),
            ("--now", self.now.map(|now| now.to_string())),
            ("--changes-only", flag(self.changes_only)),
            ("--prune", stale),
            ("--replace", flag(self.replace)),
        ];
        options
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?)))
            .collect()
    }
}
