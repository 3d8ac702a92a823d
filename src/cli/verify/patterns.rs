//! `dynafold verify --patterns`: the answers of access patterns against those of their SQL.

use super::Verify;
use crate::cli::failure::Failure;
use crate::cli::format::whole;
use crate::cli::output::{OutputStreams, write_to_stderr};
use crate::cli::signals::stop_on_signals;
use crate::cli::{Outcome, mapping, report, target};
use crate::target::connect;
use crate::verify::patterns::{DrawContext, PatternsOutcome, PatternsReport, Proving, prove};

/// Differences that the report names, for each pattern and each call. It counts all of them.
const EXAMPLES: usize = 5;
/// Calls of a pattern with other values than those that occur: absent ones, bounds beyond all values, variants. For the estimate
/// of what the calls cost.
const EXTRA_CALLS: u64 = 10;

pub(super) async fn run(arguments: &Verify, output: &OutputStreams) -> Result<Outcome, Failure> {
    let answers = &arguments.answers;
    let (spec, url) = (arguments.target()?, arguments.source.url()?);
    let (mut source, catalog, file) = mapping::open(url, &arguments.mapping).await?;
    let finds = file.checked.finds();
    let proofs = file.checked.proofs.as_ref();
    let proofs = proofs.map_or(Vec::new(), |proofs| proofs.patterns.clone());
    let model = file.into_model(output)?;
    let known = model.patterns.iter().map(|pattern| &*pattern.name);
    Failure::unless_known(("the mapping", "access pattern"), &answers.pattern, known)?;
    let target = connect(&spec).await?;
    target::require_table(target.as_ref(), &model.table).await?;
    let context = target::context(&model, arguments.now)?;
    let names = &answers.pattern;
    let patterns = model.patterns.iter();
    let asked: Vec<&str> = patterns
        .filter(|pattern| pattern.sql.is_some())
        .map(|pattern| &*pattern.name)
        .filter(|name| names.is_empty() || names.iter().any(|wanted| wanted == name))
        .collect();
    let units_of_each: f64 = proofs
        .iter()
        .filter(|proof| asked.contains(&&*proof.pattern))
        .map(|proof| proof.least_units)
        .sum();
    let calls = u64::from(answers.values) + EXTRA_CALLS;
    let call_count = u32::try_from(calls).map_or(f64::MAX, f64::from);
    target::confirm_calls(
        target.as_ref(),
        &model.table,
        calls.saturating_mul(whole(asked.len())),
        units_of_each * call_count,
        arguments.yes,
        output,
    )
    .await?;
    let cancel = stop_on_signals();
    let progress = |number: usize, all: usize, pattern: &str, calls: usize| {
        write_to_stderr(&format!("{number} of {all}: {pattern}, {calls} calls"));
    };
    let proving = Proving {
        draw_context: DrawContext {
            catalog: &catalog,
            model: &model,
            context: &context,
        },
        finds,
        names,
        values: usize::from(answers.values),
        examples: EXAMPLES,
        cancel: &cancel,
        progress: &progress,
    };
    let report = prove(&proving, source.as_mut(), target.as_ref()).await;
    output.report(arguments.format, &report, report::patterns)?;
    ended(report)
}

fn ended(report: PatternsReport) -> Result<Outcome, Failure> {
    match report.outcome {
        PatternsOutcome::Proved | PatternsOutcome::Agrees => Ok(Outcome::Well),
        PatternsOutcome::NotProved | PatternsOutcome::Different => Ok(Outcome::Differs),
        PatternsOutcome::Interrupted => Ok(Outcome::Interrupted),
        PatternsOutcome::Failed(failure) => Err(failure.into()),
    }
}
