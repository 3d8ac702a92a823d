//! `dynafold verify`: the table against the source, item by item.

mod arguments;
mod patterns;

use std::sync::Arc;

pub(super) use self::arguments::Verify;
use super::failure::Failure;
use super::output::OutputStreams;
use super::signals::stop_on_signals;
use super::target::BilledUse;
use super::{Outcome, export, mapping, progress, report, selection, target};
use crate::load::KeyCheck;
use crate::verify::{self, VerifyOutcome, VerifyReport};

/// Findings that are named; all are counted.
const EXAMPLES: usize = 20;

pub(super) async fn run(arguments: Verify, output: &OutputStreams) -> Result<Outcome, Failure> {
    if let Some(export) = &arguments.target.against_export {
        let url = arguments.source.url()?;
        let how = (arguments.format, EXAMPLES);
        let export = Box::pin(export::place(export, &arguments.target.s3())).await?;
        Box::pin(export::compare(
            &arguments.mapping,
            url,
            &export,
            how,
            output,
        ))
        .await
    } else if arguments.answers.are_asked_for() {
        Box::pin(patterns::run(&arguments, output)).await
    } else {
        Box::pin(compare(&arguments, output)).await
    }
}

async fn compare(arguments: &Verify, output: &OutputStreams) -> Result<Outcome, Failure> {
    let (spec, url) = (arguments.target.spec()?, arguments.source.url()?);
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
        _ if !report.balanced => return Err(Failure::failed("the books do not balance")),
        VerifyOutcome::Equal | VerifyOutcome::Repaired => true,
        VerifyOutcome::NothingCompared => false,
        VerifyOutcome::Different => allow_unexpected && total.amiss() == 0,
    };
    Ok(Outcome::of(well && total.rejected == 0))
}
