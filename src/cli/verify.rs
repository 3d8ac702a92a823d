//! `dynafold verify`: the table against the source, item by item.

mod job;
mod patterns;

use std::sync::Arc;

pub(super) use self::job::Verify;
use self::job::{ComparisonJob, ItemsJob, VerifyJob};
use super::failure::Failure;
use super::options::Format;
use super::output::OutputStreams;
use super::signals::stop_on_signals;
use super::{Outcome, mapping, progress, report, selection, target};
use crate::load::KeyCheck;
use crate::verify::{self, VerifyOutcome, VerifyReport};

/// Findings that are named; all are counted.
const EXAMPLES: usize = 20;

pub(super) async fn run(arguments: Verify, output: &OutputStreams) -> Result<Outcome, Failure> {
    let job = arguments.job()?;
    match &job.comparison {
        ComparisonJob::Items(items) => Box::pin(compare(&job, items, output)).await,
        ComparisonJob::Answers(answers) => Box::pin(patterns::run(&job, answers, output)).await,
    }
}

async fn compare(
    job: &VerifyJob,
    which: &ItemsJob,
    output: &OutputStreams,
) -> Result<Outcome, Failure> {
    let (source, _, file) = mapping::open(&job.source, &job.mapping).await?;
    let keys = file.checked.key_check(KeyCheck::First);
    let model = selection::item_types(file.into_model(output)?, &which.items)?;
    let model = Arc::new(model);
    let partition = which.partition.as_deref();
    let nothing = partition.map(|value| selection::nothing_under(value, &model));
    let partition = selection::partition(partition, &model)?;
    let target = target::open_loaded(&job.target).await?;
    target::filled(target.as_ref(), &model.table).await?;
    let context = target::context(&model, job.now)?;
    target::confirm(
        target.as_ref(),
        &job.source,
        &model,
        &context,
        which.usage,
        job.yes,
        output,
    )
    .await?;
    let cancel = stop_on_signals();
    let report = verify::verify(verify::Verify {
        source: Some(source),
        context,
        options: verify::Options {
            keys,
            partition,
            ceiling: target::ceiling(which.max_wcu, target.as_ref(), &model.table),
            ..which.options.clone()
        },
        target,
        examples: EXAMPLES,
        cancel,
        progress: progress::progress(&model),
        model,
    })
    .await;
    match job.format {
        Format::Text => output.text(&report::verification(&report))?,
        Format::Json => output.json(&report)?,
    }
    output.warnings(&report.warnings);
    let total = &report.total;
    if let Some(nothing) = nothing
        && matches!(report.outcome, VerifyOutcome::Equal)
        && total.expected + total.rejected == 0
    {
        output.warning(&nothing);
    }
    ended(report, which.allow_unexpected)
}

/// The outcome of a report.
fn ended(report: VerifyReport, allow_unexpected: bool) -> Result<Outcome, Failure> {
    let total = &report.total;
    let well = match report.outcome {
        VerifyOutcome::Interrupted => return Ok(Outcome::Interrupted),
        VerifyOutcome::Failed(failure) => return Err(failure.into()),
        _ if !report.balanced => return Err(Failure::failed("the books do not balance")),
        VerifyOutcome::Equal | VerifyOutcome::Repaired => true,
        VerifyOutcome::Different => allow_unexpected && total.amiss() == 0,
    };
    if well && total.rejected == 0 {
        Ok(Outcome::Well)
    } else {
        Ok(Outcome::Differs)
    }
}
