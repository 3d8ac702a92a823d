//! What `query` was told, and the job that it comes to. The parameters of an access pattern become options of their
//! own (`cli/flags.rs`).

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use jiff::Timestamp;

use crate::cli::catalog::CatalogOrigin;
use crate::cli::failure::Failure;
use crate::cli::options::{Service, SourceArguments, moment};
use crate::target::TargetSpec;

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
    mapping: PathBuf,
    /// The access pattern; without it all are listed
    pattern: Option<String>,
    /// A parameter's value; each parameter is an option of its own too, unless one has its name
    #[arg(short, long = "param", value_name = "NAME=VALUE")]
    params: Vec<String>,
    /// The parameters that were given as options of their own.
    #[arg(skip)]
    pub(in crate::cli) given: Vec<(String, String)>,
    /// `dynamodb` or `local:FILE`
    #[arg(long, value_name = "TARGET", env = "DYNAFOLD_TARGET")]
    target: Option<String>,
    #[command(flatten)]
    service: Service,
    /// Show the requests as the AWS CLI takes them, and send nothing
    #[arg(long)]
    explain: bool,
    /// Read every page; without it one is read, of each shard
    #[arg(long)]
    all: bool,
    /// Ask N times, and say how long it took
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with = "explain",
          value_parser = clap::value_parser!(u32).range(1..=10_000))]
    repeat: u32,
    /// A schema that `inspect --format json` wrote, for the types of parameters
    #[arg(long, value_name = "FILE", conflicts_with = "source")]
    catalog: Option<PathBuf>,
    /// The database, for the types of parameters; not needed, and `DATABASE_URL` is ignored
    #[arg(long, value_name = "URL")]
    source: Option<String>,
    /// The moment from which `params` count, in RFC 3339 [default: the clock]
    #[arg(long, value_name = "TIME", value_parser = moment)]
    now: Option<Timestamp>,
    /// Show the table's keys too
    #[arg(long)]
    keys: bool,
    /// Show every column, and whole values, however wide the table gets
    #[arg(long)]
    wide: bool,
    /// How to show the answer
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: QueryFormat,
}

/// What is to be asked.
pub(super) struct QueryJob {
    pub(super) mapping: PathBuf,
    /// Where the types of parameters are read; the mapping alone without it.
    pub(super) schema: Option<CatalogOrigin>,
    /// What is called; without it the access patterns are listed.
    pub(super) call: Option<QueryCall>,
    pub(super) format: QueryFormat,
}

/// The call of an access pattern.
pub(super) struct QueryCall {
    pub(super) pattern: String,
    /// The parameters with their values, as texts.
    pub(super) given: Vec<(String, String)>,
    pub(super) now: Option<Timestamp>,
    /// How it is sent; without it the requests are shown.
    pub(super) sending: Option<Sending>,
}

/// How a call is sent, and its answer shown.
pub(super) struct Sending {
    pub(super) target: Option<TargetSpec>,
    /// Whether every page is read.
    pub(super) all: bool,
    pub(super) repeat: u32,
    /// Whether the table's keys are shown.
    pub(super) keys: bool,
    /// Whether every column is shown, however wide.
    pub(super) wide: bool,
    pub(super) format: QueryFormat,
}

impl Query {
    /// Reads the arguments as a whole.
    pub(super) fn job(mut self) -> Result<QueryJob, Failure> {
        let call = match self.pattern.take() {
            Some(pattern) => Some(self.call(pattern)?),
            None => None,
        };
        let (source, catalog) = (self.source, self.catalog);
        let is_named = source.is_some() || catalog.is_some();
        let schema = is_named.then(|| CatalogOrigin::of(SourceArguments { source }, catalog));
        Ok(QueryJob {
            mapping: self.mapping,
            schema: schema.transpose()?,
            call,
            format: self.format,
        })
    }

    fn call(&mut self, pattern: String) -> Result<QueryCall, Failure> {
        let mut given = Vec::new();
        for param in &self.params {
            let (name, value) = param.split_once('=').ok_or_else(|| {
                Failure::usage(format!("--param {param}: there is no `=`"))
                    .with_help("write --param NAME=VALUE")
            })?;
            given.push((name.to_owned(), value.to_owned()));
        }
        given.append(&mut self.given);
        let target = || self.target.as_ref().map(|target| self.service.spec(target));
        let sending = if self.explain {
            None
        } else {
            Some(Sending {
                target: target().transpose()?,
                all: self.all,
                repeat: self.repeat,
                keys: self.keys,
                wide: self.wide,
                format: self.format,
            })
        };
        Ok(QueryCall {
            pattern,
            given,
            now: self.now,
            sending,
        })
    }
}
