//! The arguments of `query`. The parameters of an access pattern become options of their own
//! (`cli::query::flags`).

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use jiff::Timestamp;

use super::{TargetArguments, moment};

/// How an answer is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum QueryFormat {
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
pub(in crate::cli) struct Query {
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
    /// The endpoint of DynamoDB Local or another server that speaks the protocol
    #[arg(long, value_name = "URL")]
    pub(in crate::cli) endpoint_url: Option<String>,
    /// The profile of ~/.aws/config to use
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) profile: Option<String>,
    /// The AWS region
    #[arg(long, value_name = "REGION")]
    pub(in crate::cli) region: Option<String>,
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

impl Query {
    /// Where the table is, if it is said.
    pub(in crate::cli) fn target(&self) -> Option<TargetArguments> {
        Some(TargetArguments {
            target: self.target.clone()?,
            endpoint_url: self.endpoint_url.clone(),
            profile: self.profile.clone(),
            region: self.region.clone(),
        })
    }
}
