//! `dynafold docs`: the definition document of a mapping, and whatever else is made from its model.

mod answers;
pub(super) mod files;
mod material;

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use jiff::Timestamp;

use self::files::DocsFormat;
use self::material::Material;
use super::catalog::CatalogOrigin;
use super::failure::Failure;
use super::format::each_once;
use super::options::{Service, SourceArguments, moment, region};
use super::output::OutputStreams;
use super::{Outcome, mapping, target};
use crate::document::export::{ExportOptions, Tenant, export};
use crate::preview::sample;
use crate::target::TargetSpec;
use crate::{address, document};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dynafold docs shop.yaml --source postgres://app@db/shop            writes shop.html and shop.md
  dynafold docs shop.yaml --source postgres://app@db/shop --all -o docs/
  dynafold docs shop.yaml --source sqlite:shop.db --as html -o definition.html
  dynafold docs shop.yaml --source sqlite:shop.db --proposal shop.design.json
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
pub(in crate::cli) struct Docs {
    /// The mapping file
    mapping: PathBuf,
    #[command(flatten)]
    source: SourceArguments,
    /// A schema written by `inspect --format json`, instead of a source; the document then has no examples
    #[arg(long, value_name = "FILE", conflicts_with_all = ["all", "target"])]
    catalog: Option<PathBuf>,
    /// The report that `design --report` wrote of this mapping, as pages of the document
    #[arg(long, value_name = "FILE")]
    proposal: Option<PathBuf>,
    /// What to write; may be repeated [default: html and markdown]
    #[arg(long = "as", value_name = "FORMAT")]
    formats: Vec<DocsFormat>,
    /// The folder to write into, with files named after the mapping; with one --as, the file, or - for standard output [default: the current folder]
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
    /// Overwrite files that `docs` did not write
    #[arg(long)]
    force: bool,
    /// Example items of each item type
    #[arg(long, value_name = "N", default_value_t = 5,
          value_parser = clap::value_parser!(u16).range(1..=100))]
    limit: u16,
    /// Leave out everything that shows values of rows: example items, answers, partition keys
    #[arg(long)]
    no_examples: bool,
    /// Read every row: exact sizes, write units and hot partitions, instead of estimates
    #[arg(long)]
    all: bool,
    /// Read the example answers from this table, `dynamodb` or `local:FILE`, instead of a table made from the first rows
    #[arg(long, value_name = "TARGET")]
    target: Option<String>,
    #[command(flatten)]
    service: Service,
    /// The AWS region whose prices are shown [default: --region, else the price file's]
    #[arg(long, value_name = "REGION", value_parser = region)]
    price_region: Option<String>,
    /// The AWS account in IAM policies [default: any]
    #[arg(long, value_name = "ID", value_parser = account)]
    account: Option<String>,
    /// The parameter that names the tenant to which a partition belongs, or `none` [default:
    /// the one by which all access patterns find their partition]
    #[arg(long, value_name = "PARAMETER")]
    tenant: Option<String>,
    /// A price file, instead of the built-in prices
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
    /// The time that decides what has expired, in RFC 3339 [default: the clock at the start]
    #[arg(long, value_name = "TIME", value_parser = moment)]
    now: Option<Timestamp>,
}

fn account(text: &str) -> Result<String, &'static str> {
    if text.len() == 12 && text.bytes().all(|byte| byte.is_ascii_digit()) {
        Ok(text.to_owned())
    } else {
        Err("an AWS account is twelve digits")
    }
}

/// What is to be written, and from what: the arguments, and what they come to.
struct DocsJob {
    arguments: Docs,
    origin: CatalogOrigin,
    /// Each format, with where it goes.
    places: Vec<(DocsFormat, PathBuf)>,
    /// The loaded table that is asked, instead of one made from the first rows.
    target: Option<TargetSpec>,
}

impl Docs {
    /// Reads the arguments as a whole. Says so now if one of the files must not be written.
    fn job(self) -> Result<DocsJob, Failure> {
        let (formats, output) = (self.formats(), self.output.as_deref());
        let places = files::places(&formats, &self.mapping, output, self.force)?;
        let target = self.target.as_ref();
        let target = target.map(|target| self.service.spec(target)).transpose()?;
        Ok(DocsJob {
            origin: CatalogOrigin::of(self.source.source.clone(), self.catalog.clone())?,
            places,
            target,
            arguments: self,
        })
    }

    /// How `query` is told the table that is asked, without secrets.
    fn target_options(&self) -> Vec<(&'static str, String)> {
        let service = &self.service;
        let options = [
            ("target", &self.target),
            ("endpoint-url", &service.endpoint_url),
            ("region", &service.region),
        ];
        let given = options.into_iter().filter(|_| self.target.is_some());
        let given = given.filter_map(|(name, value)| Some((name, address::shown(value.as_ref()?))));
        given.collect()
    }

    /// The region whose prices are shown.
    fn price_region(&self) -> Option<&str> {
        let region = self.price_region.as_deref();
        region.or(self.service.region.as_deref())
    }

    fn export_options(&self) -> ExportOptions {
        ExportOptions {
            region: self.service.region.clone(),
            account: self.account.clone(),
            tenant: match self.tenant.as_deref() {
                None => Tenant::Inferred,
                Some("none") => Tenant::Nobody,
                Some(name) => Tenant::Parameter(name.to_owned()),
            },
            now: self.now,
        }
    }

    /// What is to be written, each format once.
    fn formats(&self) -> Vec<DocsFormat> {
        let given = match self.formats.as_slice() {
            [] => &DocsFormat::USUAL,
            given => given,
        };
        each_once(given.iter().copied())
    }
}

pub(super) async fn run(arguments: Docs, output: &OutputStreams) -> Result<Outcome, Failure> {
    let job = arguments.job()?;
    let mut formats = job.places.iter().map(|(format, _)| format);
    let (material, definition) = if formats.all(|format| format.export().is_some()) {
        (gather_for_exports(&job, output).await?, None)
    } else {
        let (material, definition) = material::gather(&job, output).await?;
        (material, Some(definition))
    };
    // All of them are made before the first is written.
    let options = job.arguments.export_options();
    let mut texts = Vec::new();
    for (format, place) in &job.places {
        let text = match (format.export(), &definition) {
            (Some(format), _) => {
                let (model, samples) = (&material.model, &material.samples);
                let made = export(format, model, samples, &options).map_err(|error| {
                    Failure::of(&error)
                        .with_code("export")
                        .with_help(error.help())
                })?;
                // What the format cannot say.
                output.warnings(&made.warnings);
                made.text
            }
            (None, Some(definition)) if *format == DocsFormat::Markdown => {
                document::markdown(definition)
            }
            (None, Some(definition)) => document::html(definition),
            (None, None) => continue,
        };
        texts.push((place, text));
    }
    for (place, text) in texts {
        files::put(place, &text, output)?;
    }
    Ok(Outcome::Well)
}

/// What exports are made from, which is less than a definition takes: checks the mapping, and reads example items where one
/// of these exports holds any.
async fn gather_for_exports(job: &DocsJob, output: &OutputStreams) -> Result<Material, Failure> {
    let mut formats = job.places.iter().map(|(format, _)| *format);
    let holds_items =
        !job.arguments.no_examples && formats.any(|format| format == DocsFormat::Workbench);
    let (mut source, _, file) = mapping::open_any(&job.origin, &job.arguments.mapping).await?;
    let model = file.into_model(output)?;
    let mut samples = Vec::new();
    if let Some(source) = source.as_mut().filter(|_| holds_items) {
        let context = target::context(&model, job.arguments.now)?;
        let rows = u64::from(job.arguments.limit);
        samples = sample(source.as_mut(), &model, context, rows, &|_| true).await?;
    }
    Ok(Material {
        model: Arc::new(model),
        samples,
    })
}
