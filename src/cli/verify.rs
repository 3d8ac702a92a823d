//! `dynafold verify`: the table against the source, item by item.

use std::sync::Arc;

use super::args::{Format, Verify};
use super::failure::Failure;
use super::output::Output;
use super::target::Use;
use super::{Outcome, catalog, mapping, migrate, progress, report, target};
use crate::load::{self, Cancel};
use crate::verify::{self, VerifyOutcome};

/// Findings that are named; all are counted.
const EXAMPLES: usize = 20;

pub(super) async fn run(arguments: &Verify, output: &Output) -> Result<Outcome, Failure> {
    let (mut source, catalog) = catalog::read(&arguments.source).await?;
    let checked = mapping::check(&arguments.mapping, &catalog, Some(source.as_mut())).await?;
    let model = Arc::new(checked.into_model(output)?);
    let target = target::open(&arguments.target).await?;
    load::ensure_table(target.as_ref(), &model.table, false)
        .await
        .map_err(|error| Failure {
            help: Some("`dynafold migrate` makes and fills it".to_owned()),
            ..Failure::from(error)
        })?;
    let context = target::context(&model, arguments.now)?;
    target::confirm(
        target.as_ref(),
        &arguments.source,
        &model,
        &context,
        Use::Reads,
        arguments.yes,
        output,
    )
    .await?;
    let cancel = Cancel::default();
    migrate::stop_on_signals(cancel.clone());
    let report = verify::verify(verify::Verify {
        source,
        target,
        context,
        examples: EXAMPLES,
        estimates: migrate::estimates(&model, &catalog),
        cancel,
        progress: progress::progress(&model),
        model,
    })
    .await;
    match arguments.format {
        Format::Text => output.text(&report::verification(&report))?,
        Format::Json => output.json(&report)?,
    }
    let total = &report.total;
    let only_unexpected = arguments.allow_unexpected && total.missing == 0 && total.different == 0;
    match report.outcome {
        VerifyOutcome::Equal if total.rejected == 0 => Ok(Outcome::Well),
        VerifyOutcome::Different if only_unexpected && total.rejected == 0 => Ok(Outcome::Well),
        VerifyOutcome::Equal | VerifyOutcome::Different => Ok(Outcome::Differs),
        VerifyOutcome::Interrupted => Ok(Outcome::Interrupted),
        VerifyOutcome::Failed(failure) => Err(failure.into()),
    }
}
