//! `dynafold verify`: the table against the source, item by item.

mod patterns;

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use jiff::Timestamp;

use super::failure::Failure;
use super::options::{Format, Service, SourceArguments, WriteRate, moment};
use super::output::OutputStreams;
use super::signals::stop_on_signals;
use super::target::BilledUse;
use super::{Outcome, export, mapping, progress, report, selection, target};
use crate::load::KeyCheck;
use crate::target::TargetSpec;
use crate::verify::{self, VerifyOutcome, VerifyReport};

/// Findings that are named; all are counted.
const EXAMPLES: usize = 20;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dynafold verify shop.yaml --source sqlite:shop.db --target local:shop.ddb
  dynafold verify shop.yaml --source postgres://app@db/shop --target dynamodb --format json
  dynafold verify shop.yaml --source postgres://app@db/shop --target dynamodb --sample 10000
  dynafold verify shop.yaml --source postgres://app@db/shop --target dynamodb --repair
  dynafold verify shop.yaml --source sqlite:shop.db --target dynamodb --items ORDER --partition T#7
  dynafold verify shop.yaml --source postgres://app@db/shop --against-export shop-export
  dynafold verify shop.yaml --source postgres://app@db/shop --against-export s3://my-bucket/shop
  dynafold verify shop.yaml --source sqlite:shop.db --target dynamodb --patterns --values 100")]
#[command(mut_arg("max_wcu", |arg| arg.requires("repair").help(
    "Maximum write capacity units a second of a repair, indexes included [default: as fast as the table accepts]"
)))]
pub(in crate::cli) struct Verify {
    /// The mapping file
    mapping: PathBuf,
    #[command(flatten)]
    source: SourceArguments,
    /// `dynamodb` or `local:FILE`
    #[arg(
        long,
        value_name = "TARGET",
        env = "DYNAFOLD_TARGET",
        required_unless_present = "against_export"
    )]
    target: Option<String>,
    #[command(flatten)]
    service: Service,
    /// Compare an export with the source, and no table: a folder or `s3://BUCKET/PREFIX`
    #[arg(long, value_name = "PLACE",
          conflicts_with_all = ["answers", "sample", "repair", "items", "partition", "allow_unexpected", "readers", "now"])]
    against_export: Option<String>,
    /// Compare only N items, from all parts of the source
    #[arg(long, value_name = "N", conflicts_with = "repair",
          value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    sample: Option<u64>,
    /// Write what is missing or different; nothing is deleted
    #[arg(long)]
    repair: bool,
    #[command(flatten)]
    rate: WriteRate,
    /// Only this item type; may be repeated
    #[arg(long = "items", value_name = "NAME")]
    items: Vec<String>,
    /// Only items with this value of the table's partition key, for example one tenant
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    partition: Option<String>,
    /// Count items that the mapping does not make, but exit as if there were none
    #[arg(long)]
    allow_unexpected: bool,
    /// Connections that read in parallel, where the database allows it [default: one per processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    readers: Option<u16>,
    #[command(flatten)]
    answers: Answers,
    /// The time that decides what has expired, in RFC 3339 [default: the clock at the start]
    #[arg(long, value_name = "TIME", value_parser = moment)]
    now: Option<Timestamp>,
    /// Answer yes to the question before anything that costs money
    #[arg(short, long)]
    yes: bool,
    /// Text for people or JSON for programs
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

impl Verify {
    /// The target that is named.
    fn target(&self) -> Result<TargetSpec, Failure> {
        let target = self.target.as_deref().unwrap_or_default();
        self.service.spec(target)
    }
}

/// What is asked where answers are compared instead of items.
#[derive(Debug, Args)]
#[group(id = "answers", multiple = true, args = ["patterns", "pattern"],
        conflicts_with_all = ["sample", "repair", "items", "partition", "allow_unexpected", "readers"])]
struct Answers {
    /// Compare answers instead of items: those of each access pattern with those of its SQL
    #[arg(long)]
    patterns: bool,
    /// Compare only the answers of this access pattern; may be repeated
    #[arg(long = "pattern", value_name = "NAME")]
    pattern: Vec<String>,
    /// Values to try for each access pattern, 1 to 10000; where there are fewer, all of them
    #[arg(long, value_name = "N", requires = "answers", default_value_t = 20,
          value_parser = clap::value_parser!(u16).range(1..=10_000))]
    values: u16,
}

pub(super) async fn run(arguments: Verify, output: &OutputStreams) -> Result<Outcome, Failure> {
    if let Some(export) = &arguments.against_export {
        let url = arguments.source.url()?;
        let how = (arguments.format, EXAMPLES);
        let export = Box::pin(export::place(export, &arguments.service.options())).await?;
        Box::pin(export::compare(
            &arguments.mapping,
            url,
            &export,
            how,
            output,
        ))
        .await
    } else if arguments.answers.patterns || !arguments.answers.pattern.is_empty() {
        Box::pin(patterns::run(&arguments, output)).await
    } else {
        Box::pin(compare(&arguments, output)).await
    }
}

async fn compare(arguments: &Verify, output: &OutputStreams) -> Result<Outcome, Failure> {
    let (spec, url) = (arguments.target()?, arguments.source.url()?);
    let (source, _, file) = mapping::open(url, &arguments.mapping).await?;
    let keys = file.checked.key_check(KeyCheck::First);
    let model = selection::item_types(file.into_model(output)?, &arguments.items)?;
    let model = Arc::new(model);
    let partition = arguments.partition.as_deref();
    let nothing = partition.map(|value| selection::nothing_under(value, &model));
    let partition = selection::partition(partition, &model.table)?;
    let target = target::open_loaded(&spec).await?;
    target::require_table(target.as_ref(), &model.table).await?;
    let context = target::context(&model, arguments.now)?;
    target::confirm(
        target.as_ref(),
        url,
        &model,
        &context,
        match arguments.sample {
            _ if arguments.repair => BilledUse::Repairs,
            Some(sample) => BilledUse::Samples(sample),
            None => BilledUse::Reads,
        },
        arguments.yes,
        output,
    )
    .await?;
    let cancel = stop_on_signals();
    let report = verify::verify(verify::Verify {
        source: Some(source),
        context,
        options: verify::VerifyOptions {
            keys,
            partition,
            ceiling: target::ceiling(
                arguments.rate.max_wcu,
                target.is_billed(),
                model.table.billing,
            ),
            sample: arguments.sample,
            repair: arguments.repair,
            readers: arguments.readers.map(usize::from),
            ..verify::VerifyOptions::default()
        },
        target,
        examples: EXAMPLES,
        cancel,
        progress: progress::progress(&model),
        model,
    })
    .await;
    output.report(arguments.format, &report, report::verification)?;
    output.warnings(&report.warnings);
    let total = &report.total;
    if let Some(nothing) = nothing
        && matches!(
            report.outcome,
            VerifyOutcome::Equal | VerifyOutcome::NothingCompared
        )
        && total.expected + total.rejected == 0
    {
        output.warning(&nothing);
    }
    ended(report, arguments.allow_unexpected)
}

/// The outcome of a report.
fn ended(report: VerifyReport, allow_unexpected: bool) -> Result<Outcome, Failure> {
    let total = &report.total;
    let well = match report.outcome {
        VerifyOutcome::Interrupted => return Ok(Outcome::Interrupted),
        VerifyOutcome::Failed(failure) => return Err(failure.into()),
        _ if !report.balanced => return Err(Failure::unbalanced()),
        VerifyOutcome::Equal | VerifyOutcome::Repaired => true,
        VerifyOutcome::NothingCompared => false,
        VerifyOutcome::Different => allow_unexpected && total.amiss() == 0,
    };
    Ok(Outcome::of(well && total.rejected == 0))
}
