//! The arguments of all commands; those of `migrate` and `verify`, which are many, have files of their
//! own.

mod docs;
mod migrate;
mod query;
mod verify;

pub(super) use docs::{Docs, DocsFormat};
pub(super) use query::{Query, QueryFormat};

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use jiff::Timestamp;

use super::failure::Form;
pub(super) use migrate::{Migrate, StaleRows};
pub(super) use verify::Verify;

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

impl Command {
    /// How the command's results are for programs; `None` where they are for people.
    pub(super) fn form(&self) -> Option<Form> {
        let is_json = match self {
            Self::Inspect(arguments) => arguments.format == InspectFormat::Json,
            Self::Check(arguments) => arguments.format == Format::Json,
            Self::Migrate(arguments) => arguments.format == Format::Json,
            Self::Verify(arguments) => arguments.format == Format::Json,
            Self::Preview(arguments) => match arguments.format {
                PreviewFormat::Json => true,
                PreviewFormat::Ndjson => return Some(Form::Line),
                PreviewFormat::Table | PreviewFormat::DynamodbJson => false,
            },
            Self::Query(arguments) => match arguments.format {
                QueryFormat::Json => true,
                QueryFormat::Ndjson => return Some(Form::Line),
                QueryFormat::Table => false,
            },
            Self::Demo(_)
            | Self::Init(_)
            | Self::Docs(_)
            | Self::Schema
            | Self::Completions { .. } => false,
        };
        is_json.then_some(Form::Document)
    }
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
