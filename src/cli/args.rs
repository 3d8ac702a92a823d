//! The arguments of all commands; those of `migrate` and `verify`, which are many, have files of their
//! own.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use jiff::Timestamp;

use crate::document::export::ExportFormat;

/// Folds a relational database into one DynamoDB table.
///
/// It reads PostgreSQL, MySQL, MariaDB or SQLite, applies a mapping (a YAML file that turns rows
/// into items), and writes the items to DynamoDB, to DynamoDB Local, or into a file with an
/// embedded engine. It never writes to the source.
#[derive(Debug, Parser)]
#[command(
    version,
    max_term_width = 100,
    propagate_version = true,
    arg_required_else_help = true
)]
#[command(after_help = "\
Examples:
  dynafold demo                                   the whole way on example data, no server needed
  dynafold init --source postgres://app@db/shop   a starter mapping from a schema
  dynafold check shop.yaml --source postgres://app@db/shop
  dynafold migrate shop.yaml --source postgres://app@db/shop --target dynamodb

Exit codes: 0 all is well, 1 failed, 2 wrong usage, 3 finished but something differs, 130 interrupted.")]
pub(super) struct Arguments {
    #[command(flatten)]
    pub(super) global: Global,
    #[command(subcommand)]
    pub(super) command: Command,
}

/// Arguments that every command takes.
#[derive(Debug, Args)]
pub(super) struct Global {
    /// Log what happens to stderr; twice or three times for more
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(super) verbose: u8,
    /// When to use colours
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(super) color: Color,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Goes the whole way on example data: no server, no account
    Demo(Demo),
    /// Writes a starter mapping from a schema
    Init(Init),
    /// Prints the relational schema: tables, columns, keys, foreign keys, sizes
    Inspect(Inspect),
    /// Proves a mapping against the schema and DynamoDB's rules without reading rows
    Check(Check),
    /// Shows the items that the first rows, or all of them, would become; writes nothing
    Preview(Preview),
    /// Makes the table if it is missing, loads it, and reports
    Migrate(Migrate),
    /// Makes every item again and compares it with what is in the table
    Verify(Verify),
    /// Asks the table as one of the mapping's access patterns does
    Query(Query),
    /// Writes the definition document: keys, indexes, access patterns, examples, cost
    Docs(Docs),
    /// Prints the JSON Schema of the mapping language, for editors
    Schema,
    /// Prints a completion script for a shell
    #[command(after_help = "\
Examples:
  dynafold completions bash > ~/.local/share/bash-completion/completions/dynafold
  dynafold completions zsh > ~/.zfunc/_dynafold           a folder of $fpath
  dynafold completions fish > ~/.config/fish/completions/dynafold.fish")]
    Completions {
        /// The shell
        shell: Shell,
    },
}

/// Where rows come from.
#[derive(Debug, Args)]
pub(super) struct SourceArguments {
    /// The database: postgres://…, mysql://…, mariadb://… or sqlite:FILE
    #[arg(long, value_name = "URL", env = "DATABASE_URL", hide_env_values = true)]
    pub(super) source: Option<String>,
}

/// Where items go.
#[derive(Debug, Args)]
pub(super) struct TargetArguments {
    /// `dynamodb`, `local` (in memory) or `local:FILE`
    #[arg(long, value_name = "TARGET", env = "DYNAFOLD_TARGET")]
    pub(super) target: String,
    #[command(flatten)]
    pub(super) service: Service,
}

impl TargetArguments {
    /// Where the table is, if it is said.
    pub(super) fn said(target: Option<&String>, service: &Service) -> Option<Self> {
        let (target, service) = (target?.clone(), service.clone());
        Some(Self { target, service })
    }
}

/// Which DynamoDB is meant, and as whom.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct Service {
    /// The endpoint of DynamoDB Local or another server that speaks the protocol
    #[arg(long, value_name = "URL")]
    pub(super) endpoint_url: Option<String>,
    /// The profile of ~/.aws/config to use
    #[arg(long, value_name = "NAME")]
    pub(super) profile: Option<String>,
    /// The AWS region
    #[arg(long, value_name = "REGION")]
    pub(super) region: Option<String>,
}

/// Reports are text for people, or JSON for programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    Text,
    Json,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dynafold demo            writes into ./dynafold-demo
  dynafold demo /tmp/try   writes into another folder")]
pub(super) struct Demo {
    /// The folder that the example is written into
    #[arg(default_value = "dynafold-demo")]
    pub(super) folder: PathBuf,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dynafold init --source sqlite:shop.db                     writes mapping.yaml
  dynafold init --source postgres://app@db/shop -o shop.yaml
  dynafold init --source mysql://app@db/shop --output -     prints it")]
pub(super) struct Init {
    #[command(flatten)]
    pub(super) source: SourceArguments,
    /// The file to write; - for standard output
    #[arg(short, long, value_name = "FILE", default_value = "mapping.yaml")]
    pub(super) output: PathBuf,
    /// Tables to take, all without it
    #[arg(long = "table", value_name = "NAME")]
    pub(super) tables: Vec<String>,
    /// Overwrite the file if it is there
    #[arg(long)]
    pub(super) force: bool,
}

/// How a schema is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum InspectFormat {
    Tree,
    Mermaid,
    Json,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dynafold inspect --source postgres://app@db/shop
  dynafold inspect --source sqlite:shop.db --table orders --table users
  dynafold inspect --source mysql://app@db/shop --format mermaid > erd.mmd
  dynafold inspect --source mysql://app@db/shop --format json > catalog.json")]
pub(super) struct Inspect {
    #[command(flatten)]
    pub(super) source: SourceArguments,
    /// Only this table; may be said several times
    #[arg(long = "table", value_name = "NAME")]
    pub(super) tables: Vec<String>,
    /// Only this schema; may be said several times
    #[arg(long = "schema", value_name = "NAME")]
    pub(super) schemas: Vec<String>,
    /// How to print it
    #[arg(long, value_name = "FORMAT", default_value = "tree")]
    pub(super) format: InspectFormat,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dynafold check shop.yaml --source postgres://app@db/shop
  dynafold check shop.yaml --source postgres://app@db/shop --proofs
  dynafold inspect --source postgres://app@db/shop --format json > catalog.json
  dynafold check shop.yaml --catalog catalog.json           works offline")]
pub(super) struct Check {
    /// The mapping file
    pub(super) mapping: PathBuf,
    #[command(flatten)]
    pub(super) source: SourceArguments,
    /// A schema that `inspect --format json` wrote, instead of a source
    #[arg(long, value_name = "FILE")]
    pub(super) catalog: Option<PathBuf>,
    /// Fail on warnings too
    #[arg(long)]
    pub(super) deny_warnings: bool,
    /// Show every proof with its reason
    #[arg(long)]
    pub(super) proofs: bool,
    /// Text for people or JSON for programs
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(super) format: Format,
}

/// How items, or the report on all of them, are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum PreviewFormat {
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
pub(super) struct Preview {
    /// The mapping file
    pub(super) mapping: PathBuf,
    #[command(flatten)]
    pub(super) source: SourceArguments,
    /// Rows to read for each item type
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub(super) limit: u64,
    /// Only this item type; may be said several times
    #[arg(long = "items", value_name = "NAME")]
    pub(super) items: Vec<String>,
    /// The moment by which items have expired, in RFC 3339 [default: the clock at the start]
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
    /// Where rejected rows are written, one JSON line each
    #[arg(long, value_name = "FILE", requires = "all")]
    pub(super) rejects: Option<PathBuf>,
    /// A file of prices, instead of the built-in ones
    #[arg(long, value_name = "FILE", requires = "all")]
    pub(super) prices: Option<PathBuf>,
    /// The AWS region whose prices are shown [default: the price file's]
    #[arg(long, alias = "region", value_name = "REGION", requires = "all")]
    pub(super) price_region: Option<String>,
    /// Memory for comparing all keys, in MiB; what does not fit goes to the temporary folder
    #[arg(long, value_name = "MIB", default_value_t = 32, requires = "all",
          value_parser = clap::value_parser!(u16).range(1..=16384))]
    pub(super) key_memory: u16,
}

fn moment(text: &str) -> Result<Timestamp, &'static str> {
    text.parse()
        .map_err(|_| "write it in RFC 3339, with its offset: 2026-01-31T09:00:00Z")
}

// The arguments of `docs`.

/// What is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum DocsFormat {
    /// The definition document as one self-contained page
    Html,
    /// The definition document for review in a pull request
    Markdown,
    /// The table and what belongs to it as a CloudFormation template
    Cloudformation,
    /// The same as a Terraform configuration
    Terraform,
    /// A NoSQL Workbench data model with the example items
    Workbench,
    /// The IAM policy that migrates, verifies and asks this table
    IamMigration,
    /// The IAM policy of an application that asks the access patterns
    IamApplication,
}

impl DocsFormat {
    /// What is written where nothing is said.
    const USUAL: [Self; 2] = [Self::Html, Self::Markdown];

    /// How the file's name goes on after the mapping's stem.
    pub(in crate::cli) fn ending(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Markdown => "md",
            Self::Cloudformation => "cloudformation.yaml",
            Self::Terraform => "tf",
            Self::Workbench => "workbench.json",
            Self::IamMigration => "iam-migration.json",
            Self::IamApplication => "iam-application.json",
        }
    }

    /// What stands near the beginning of each file of this format, so that it is known again.
    pub(in crate::cli) fn marker(self) -> &'static str {
        match (self, self.export()) {
            (_, Some(export)) => export.marker(),
            (Self::Markdown, _) => crate::document::MARKDOWN_MARKER,
            _ => crate::document::HTML_MARKER,
        }
    }

    /// The export that it is; `None` for the definition document.
    pub(in crate::cli) fn export(self) -> Option<ExportFormat> {
        match self {
            Self::Html | Self::Markdown => None,
            Self::Cloudformation => Some(ExportFormat::Cloudformation),
            Self::Terraform => Some(ExportFormat::Terraform),
            Self::Workbench => Some(ExportFormat::Workbench),
            Self::IamMigration => Some(ExportFormat::IamMigration),
            Self::IamApplication => Some(ExportFormat::IamApplication),
        }
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dynafold docs shop.yaml --source postgres://app@db/shop            writes shop.html and shop.md
  dynafold docs shop.yaml --source postgres://app@db/shop --all -o docs/
  dynafold docs shop.yaml --source sqlite:shop.db --as html -o definition.html
  dynafold docs shop.yaml --catalog catalog.json --as markdown -o -  works offline, without examples
  dynafold docs shop.yaml --source postgres://app@db/shop --target dynamodb --region eu-west-1
  dynafold docs shop.yaml --catalog catalog.json --as cloudformation --as iam-application -o infra/")]
// Without a target the region is that of the policies alone.
#[command(
    mut_arg("endpoint_url", |arg| arg.requires("target")),
    mut_arg("profile", |arg| arg.requires("target")),
    mut_arg("region", |arg| arg.help(
        "The AWS region where the target is, and of the ARNs in IAM policies [default in policies: any]"
    ))
)]
pub(super) struct Docs {
    /// The mapping file
    pub(in crate::cli) mapping: PathBuf,
    #[command(flatten)]
    pub(in crate::cli) source: SourceArguments,
    /// A schema that `inspect --format json` wrote, instead of a source; there are no examples then
    #[arg(long, value_name = "FILE", conflicts_with_all = ["all", "target"])]
    pub(in crate::cli) catalog: Option<PathBuf>,
    /// What to write; may be said several times [default: html and markdown]
    #[arg(long = "as", value_name = "FORMAT")]
    pub(in crate::cli) formats: Vec<DocsFormat>,
    /// The folder to write into, files are named after the mapping; with one --as the file, or -
    /// for standard output [default: the current folder]
    #[arg(short, long, value_name = "PATH")]
    pub(in crate::cli) output: Option<PathBuf>,
    /// Overwrite files that `docs` did not write
    #[arg(long)]
    pub(in crate::cli) force: bool,
    /// Example items of each item type
    #[arg(long, value_name = "N", default_value_t = 5,
          value_parser = clap::value_parser!(u16).range(1..=100))]
    pub(in crate::cli) limit: u16,
    /// Show no value of any row: no example items, answers or partition keys
    #[arg(long)]
    pub(in crate::cli) no_examples: bool,
    /// Read every row: exact sizes, write units and hot partitions, instead of estimates
    #[arg(long)]
    pub(in crate::cli) all: bool,
    /// Ask the access patterns' example answers of this table, `dynamodb` or `local:FILE`, instead
    /// of one that is made from the first rows
    #[arg(long, value_name = "TARGET")]
    pub(in crate::cli) target: Option<String>,
    #[command(flatten)]
    pub(in crate::cli) service: Service,
    /// The AWS region whose prices are shown [default: --region, else the price file's]
    #[arg(long, value_name = "REGION")]
    pub(in crate::cli) price_region: Option<String>,
    /// The AWS account in IAM policies [default: any]
    #[arg(long, value_name = "ID", value_parser = account)]
    pub(in crate::cli) account: Option<String>,
    /// The parameter by which partitions belong to a caller of the application, or `none` [default:
    /// the one by which all access patterns find theirs]
    #[arg(long, value_name = "PARAMETER")]
    pub(in crate::cli) tenant: Option<String>,
    /// A file of prices, instead of the built-in ones
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) prices: Option<PathBuf>,
    /// The moment by which items have expired, in RFC 3339 [default: the clock at the start]
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub(in crate::cli) now: Option<Timestamp>,
}

impl Docs {
    /// What is to be written, each format once.
    pub(in crate::cli) fn formats(&self) -> Vec<DocsFormat> {
        let mut formats = Vec::new();
        let said = match self.formats.as_slice() {
            [] => &DocsFormat::USUAL,
            said => said,
        };
        for format in said {
            if !formats.contains(format) {
                formats.push(*format);
            }
        }
        formats
    }
}

fn account(text: &str) -> Result<String, &'static str> {
    if text.len() == 12 && text.bytes().all(|byte| byte.is_ascii_digit()) {
        Ok(text.to_owned())
    } else {
        Err("an AWS account is twelve digits")
    }
}

// The arguments of `migrate`.

/// Of which rows `--prune` deletes the items.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum StaleRows {
    /// Of those that are gone.
    Gone,
    /// Of those too that `where` leaves out, or that a view or a query does not return.
    Filtered,
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
pub(super) struct Migrate {
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
    #[arg(
        long,
        value_name = "N",
        default_value_t = 0,
        allow_negative_numbers = true
    )]
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
    #[arg(long, visible_alias = "dry-run")]
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

// The arguments of `query`. The parameters of an access pattern become options of their own
// (`cli::query::flags`).

/// How an answer is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum QueryFormat {
    /// A table for people
    Table,
    /// Everything as one JSON document, the items as DynamoDB JSON
    Json,
    /// The items as DynamoDB JSON, one a line
    Ndjson,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dynafold query shop.yaml                                   lists the access patterns
  dynafold query shop.yaml ordersOfCustomer --help           lists its parameters
  dynafold query shop.yaml ordersOfCustomer --customerId 7 --target local:shop.ddb
  dynafold query shop.yaml ordersOfCustomer --customerId 7 --explain
  dynafold query shop.yaml ordersOfCustomer --param customerId=7 --target dynamodb --all --format ndjson")]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line"
)]
pub(super) struct Query {
    /// The mapping file
    pub(in crate::cli) mapping: PathBuf,
    /// The access pattern; without it all are listed
    pub(in crate::cli) pattern: Option<String>,
    /// A parameter's value; each parameter is an option of its own too, unless one has its name
    #[arg(short, long = "param", value_name = "NAME=VALUE")]
    pub(in crate::cli) params: Vec<String>,
    /// The parameters that were given as options of their own.
    #[arg(skip)]
    pub(in crate::cli) given: Vec<(String, String)>,
    /// `dynamodb` or `local:FILE`
    #[arg(long, value_name = "TARGET", env = "DYNAFOLD_TARGET")]
    pub(in crate::cli) target: Option<String>,
    #[command(flatten)]
    pub(in crate::cli) service: Service,
    /// Show the requests as the AWS CLI takes them, and send nothing
    #[arg(long)]
    pub(in crate::cli) explain: bool,
    /// Read every page; without it one is read, of each shard
    #[arg(long)]
    pub(in crate::cli) all: bool,
    /// Ask so many times, and say how long it took
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with = "explain",
          value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(in crate::cli) repeat: u32,
    /// A schema that `inspect --format json` wrote, for the types of parameters
    #[arg(long, value_name = "FILE", conflicts_with = "source")]
    pub(in crate::cli) catalog: Option<PathBuf>,
    /// The database, for the types of parameters; not needed, and `DATABASE_URL` is not heeded
    #[arg(long, value_name = "URL")]
    pub(in crate::cli) source: Option<String>,
    /// The moment from which `params` count, in RFC 3339 [default: the clock]
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub(in crate::cli) now: Option<Timestamp>,
    /// Show the table's keys too
    #[arg(long)]
    pub(in crate::cli) keys: bool,
    /// Show every column, and whole values, however wide the table gets
    #[arg(long)]
    pub(in crate::cli) wide: bool,
    /// How to show the answer
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub(in crate::cli) format: QueryFormat,
}

// The arguments of `verify`.

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dynafold verify shop.yaml --source sqlite:shop.db --target local:shop.ddb
  dynafold verify shop.yaml --source postgres://app@db/shop --target dynamodb --format json
  dynafold verify shop.yaml --source postgres://app@db/shop --target dynamodb --sample 10000
  dynafold verify shop.yaml --source postgres://app@db/shop --target dynamodb --repair
  dynafold verify shop.yaml --source postgres://app@db/shop --target dynamodb --items ORDER --partition TENANT#7
  dynafold verify shop.yaml --source postgres://app@db/shop --target dynamodb --patterns --values 100")]
pub(super) struct Verify {
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
    /// Values that each access pattern is asked with, at most 10000; all that there are, where
    /// they are no more
    #[arg(long, value_name = "N", requires = "answers", default_value_t = 20,
          value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub(in crate::cli) values: u16,
}

impl Answers {
    /// Whether answers are compared.
    pub(in crate::cli) fn are_wanted(&self) -> bool {
        self.patterns || !self.pattern.is_empty()
    }
}
