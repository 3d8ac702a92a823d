//! The commands of the command line. A command's own arguments are in its file, or in `job.rs` in its folder, and do not
//! leave the command: other code gets the values that the command reads from them.

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;

use super::check::Check;
use super::demo::Demo;
use super::design::DesignCommand;
use super::diff::Diff;
use super::docs::Docs;
use super::erase::Erase;
use super::export::Export;
use super::finish::Finish;
use super::init::Init;
use super::inspect::Inspect;
use super::migrate::Migrate;
use super::options::Color;
use super::plan::Plan;
use super::preview::Preview;
use super::query::Query;
use super::verify::Verify;
use super::work::Work;

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
  dynafold demo                                   all steps on example data, no server needed
  dynafold init --source postgres://app@db/shop   a first mapping from a schema
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
    /// Log what happens to stderr; repeat for more
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(super) verbose: u8,
    /// When to use colours
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(super) color: Color,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Runs all steps on example data; needs no server and no account
    Demo(Demo),
    /// Writes a first mapping from a schema
    Init(Init),
    /// Proposes a table from a schema and the SQL that it has to serve
    Design(DesignCommand),
    /// Prints the relational schema: tables, columns, keys, foreign keys, sizes
    Inspect(Inspect),
    /// Proves a mapping against the schema and DynamoDB's rules without reading rows
    Check(Check),
    /// Shows what two mappings change, and what a migration between them writes and deletes
    Diff(Diff),
    /// Shows the items that the first rows, or all of them, would become; writes nothing
    Preview(Preview),
    /// Creates the table if it is missing, loads it, and reports
    Migrate(Migrate),
    /// Cuts a load into chunks that `work` loads elsewhere: on Spark, on job arrays
    Plan(Plan),
    /// Loads chunks of a plan, and prints a line about each
    Work(Work),
    /// Ends a load that `plan` began: compares the keys of all workers, and reports
    Finish(Finish),
    /// Writes the items into files, for `ImportTable` and other programs
    Export(Export),
    /// Makes every item again from the source and compares it with the table, or with an export
    Verify(Verify),
    /// Runs one of the mapping's access patterns against the table
    Query(Query),
    /// Deletes all items of a partition, for example one tenant's; needs no source
    Erase(Erase),
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
