//! `dynafold verify`: the table against the source, item by item.

mod patterns;

use std::sync::Arc;

use super::args::{Format, Verify};
use super::failure::Failure;
use super::output::Output;
use super::signals::stop_on_signals;
use super::target::Use;
use super::{Outcome, mapping, progress, report, selection, target};
use crate::load::KeyCheck;
use crate::verify::{self, VerifyOutcome, VerifyReport};

/// Findings that are named; all are counted.
const EXAMPLES: usize = 20;

pub(super) async fn run(arguments: &Verify, output: &Output) -> Result<Outcome, Failure> {
    if arguments.answers.are_wanted() {
        return Box::pin(patterns::run(arguments, output)).await;
    }
    let (source, _, file) = mapping::open(&arguments.source, &arguments.mapping).await?;
    let keys = file.checked.key_check(KeyCheck::First);
    let model = selection::item_types(file.into_model(output)?, &arguments.items)?;
    let model = Arc::new(model);
    let partition = arguments.partition.as_deref();
    let nothing = partition.map(|value| selection::nothing_under(value, &model));
    let partition = selection::partition(partition, &model)?;
    let target = target::open_loaded(&arguments.target).await?;
    target::filled(target.as_ref(), &model.table).await?;
    let context = target::context(&model, arguments.now)?;
    target::confirm(
        target.as_ref(),
        &arguments.source,
        &model,
        &context,
        usage(arguments),
        arguments.yes,
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
            sample: arguments.sample,
            repair: arguments.repair,
            ceiling: target::ceiling(arguments.max_wcu, target.as_ref(), &model.table),
            readers: arguments.readers.map(usize::from),
            ..verify::Options::default()
        },
        target,
        examples: EXAMPLES,
        cancel,
        progress: progress::progress(&model),
        model,
    })
    .await;
    match arguments.format {
        Format::Text => output.text(&report::verification(&report))?,
        Format::Json => output.json(&report)?,
    }
    output.warnings(&report.warnings);
    let total = &report.total;
    if let Some(nothing) = nothing
        && report.outcome == VerifyOutcome::Equal
        && total.expected + total.rejected == 0
    {
        output.warning(&nothing);
    }
    ended(report, arguments.allow_unexpected)
}

fn usage(arguments: &Verify) -> Use {
    match arguments.sample {
        _ if arguments.repair => Use::Repairs,
        Some(sample) => Use::Samples(sample),
        None => Use::Reads,
    }
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
