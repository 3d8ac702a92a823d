//! What `query` is told. The parameters of an access pattern become options of their
//! own (`cli/flags.rs`).

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use jiff::Timestamp;

use crate::cli::catalog::CatalogOrigin;
use crate::cli::failure::Failure;
use crate::cli::options::{Service, moment};
use crate::target::TargetSpec;

/// How an answer is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum QueryFormat {
    /// A table for people
    Table,
    /// Everything as one JSON document, the items as DynamoDB JSON
    Json,
    /// The items as DynamoDB JSON, one a line; with --explain the requests
    Ndjson,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dynafold query shop.yaml                                   lists the access patterns
  dynafold query shop.yaml ordersOfCustomer --help           lists its parameters
  dynafold query shop.yaml ordersOfCustomer --customerId 7 --target local:shop.ddb
  dynafold query shop.yaml ordersOfCustomer --customerId 7 --explain
  dynafold query shop.yaml ordersOfCustomer -p customerId=7 --target dynamodb --all --format ndjson")]
pub(in crate::cli) struct Query {
    /// The mapping file
    pub(super) mapping: PathBuf,
    /// The access pattern; without it all are listed
    pub(super) pattern: Option<String>,
    /// A parameter's value; each parameter is also an option of its own, unless an option has its name
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
    pub(super) explain: bool,
    /// Read every page, not only the first one of each shard
    #[arg(long)]
    pub(super) all: bool,
    /// Run it N times and show how long it took
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with = "explain",
          value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(super) repeat: u32,
    /// A schema written by `inspect --format json`, for the types of parameters
    #[arg(long, value_name = "FILE", conflicts_with = "source")]
    catalog: Option<PathBuf>,
    /// The database, for the types of parameters; optional, and `DATABASE_URL` is ignored
    #[arg(long, value_name = "URL")]
    source: Option<String>,
    /// The time that `now` in `params` means, in RFC 3339 [default: the clock]
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub(super) now: Option<Timestamp>,
    /// Show the table's keys too
    #[arg(long)]
    pub(super) keys: bool,
    /// Show every column, and whole values, however wide the table gets
    #[arg(long)]
    pub(super) wide: bool,
    /// How to show the answer
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub(super) format: QueryFormat,
}

impl Query {
    /// The parameters with their values, as texts.
    pub(super) fn parameters(&self) -> Result<Vec<(String, String)>, Failure> {
        let mut parameters = Vec::new();
        for param in &self.params {
            let (name, value) = param.split_once('=').ok_or_else(|| {
                Failure::usage(format!("--param {param}: there is no `=`"))
                    .with_help("write --param NAME=VALUE")
            })?;
            parameters.push((name.to_owned(), value.to_owned()));
        }
        parameters.extend(self.given.iter().cloned());
        Ok(parameters)
    }

    /// The table that is asked, where one is named and anything is sent.
    pub(super) fn target(&self) -> Result<Option<TargetSpec>, Failure> {
        let target = self.target.as_ref().filter(|_| !self.explain);
        target.map(|target| self.service.spec(target)).transpose()
    }

    /// Where the types of parameters are read; `None`: in the mapping alone.
    pub(super) fn schema(&self) -> Result<Option<CatalogOrigin>, Failure> {
        let (source, catalog) = (self.source.clone(), self.catalog.clone());
        let is_named = source.is_some() || catalog.is_some();
        let schema = is_named.then(|| CatalogOrigin::of(source, catalog));
        schema.transpose()
    }
}
