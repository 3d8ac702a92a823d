//! The arguments of `docs`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use jiff::Timestamp;

use super::{SourceArguments, TargetArguments, moment};
use crate::document::export::ExportFormat;

/// What is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum DocsFormat {
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
pub(in crate::cli) struct Docs {
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
    /// The endpoint of DynamoDB Local or another server that speaks the protocol
    #[arg(long, value_name = "URL", requires = "target")]
    pub(in crate::cli) endpoint_url: Option<String>,
    /// The profile of ~/.aws/config to use
    #[arg(long, value_name = "NAME", requires = "target")]
    pub(in crate::cli) profile: Option<String>,
    /// The AWS region where the target is, and of the ARNs in IAM policies [default in policies: any]
    #[arg(long, value_name = "REGION")]
    pub(in crate::cli) region: Option<String>,
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

    /// Where the table is that answers, if it is said.
    pub(in crate::cli) fn target(&self) -> Option<TargetArguments> {
        Some(TargetArguments {
            target: self.target.clone()?,
            endpoint_url: self.endpoint_url.clone(),
            profile: self.profile.clone(),
            region: self.region.clone(),
        })
    }
}

fn account(text: &str) -> Result<String, &'static str> {
    if text.len() == 12 && text.bytes().all(|byte| byte.is_ascii_digit()) {
        Ok(text.to_owned())
    } else {
        Err("an AWS account is twelve digits")
    }
}
