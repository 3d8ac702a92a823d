//! `preview --all`: every row is read, and nothing written but what was asked for.

use std::sync::Arc;

use serde::Serialize;

use super::cost::Cost;
use super::items::ItemLines;
use super::{NAMED_KEYS, Preview, PreviewFormat, forecast, put, put_json};
use crate::cli::failure::Failure;
use crate::cli::options::refuse_one_file_twice;
use crate::cli::output::OutputStreams;
use crate::cli::signals::stop_on_signals;
use crate::cli::{Outcome, catalog, mapping, prices, progress, selection, target};
use crate::load;
use crate::preview::{Forecast, ForecastOutcome, ItemSink, Survey, survey};
use crate::proof;

/// Keys whose rows are named where a rejects file takes the rows.
const NAMED_IN_FILE: usize = 10_000;

/// The report as JSON.
#[derive(Serialize)]
struct Document<'r> {
    #[serde(flatten)]
    forecast: &'r Forecast,
    cost: &'r Cost,
}

pub(super) async fn run(arguments: &Preview, output: &OutputStreams) -> Result<Outcome, Failure> {
    let format = arguments.format;
    refuse_one_file_twice(&[
        ("--output", arguments.output.as_deref()),
        ("--rejects", arguments.rejects.as_deref()),
    ])?;
    let (mut source, catalog) = catalog::read(arguments.source.url()?).await?;
    // Signals are heard before the database is asked about any SQL: that may take long, too.
    let cancel = stop_on_signals();
    let file = mapping::check(&arguments.mapping, &catalog, Some(source.as_mut())).await?;
    // Of a part of the item types no shares are known.
    let proofs = file
        .checked
        .proofs
        .as_ref()
        .filter(|_| arguments.items.is_empty());
    let patterns = proofs.map_or_else(Vec::new, |proofs| proofs.patterns.clone());
    let mut model = selection::item_types(file.into_model(output)?, &arguments.items)?;
    let prices = prices::read(
        arguments.prices.as_deref(),
        arguments.price_region.as_deref(),
    )?;
    let context = target::context(&model, arguments.now)?;
    model.passes.retain(|pass| !pass.item_types.is_empty());
    let model = Arc::new(model);
    let file = arguments.output.as_deref();
    let items: Option<Box<dyn ItemSink>> = match format {
        PreviewFormat::DynamodbJson | PreviewFormat::Ndjson => {
            Some(Box::new(ItemLines::new(file, format)?))
        }
        PreviewFormat::Table | PreviewFormat::Json => None,
    };
    if let Some(rejects) = &arguments.rejects {
        load::clear_rejects(rejects)?;
    }
    let forecast = survey(Survey {
        source,
        patterns,
        context,
        proof: proof::ProofOptions::of(usize::from(arguments.key_memory) << 20),
        rejects_file: arguments.rejects.clone(),
        named: if arguments.rejects.is_some() {
            NAMED_IN_FILE
        } else {
            NAMED_KEYS
        },
        items,
        cancel,
        progress: progress::progress(&model),
        model: model.clone(),
    })
    .await;
    // Figures of a part of the rows, and a price of them, would be taken for those of all. The
    // JSON document says that it failed, and why.
    if let ForecastOutcome::Failed(failure) = &forecast.outcome
        && format != PreviewFormat::Json
    {
        return Err(failure.clone().into());
    }
    let cost = Cost::of(&forecast, &model, prices);
    let text = || forecast::text(&forecast, &cost, output);
    match (format, file) {
        (PreviewFormat::Json, _) => {
            let (forecast, cost) = (&forecast, &cost);
            put_json(file, &Document { forecast, cost }, output)?;
        }
        (PreviewFormat::Table, _) => put(file, &text(), output)?,
        // The items are on standard output already.
        (_, None) => output.note(&text()),
        (_, Some(_)) => output.text(&text())?,
    }
    output.warnings(&forecast.warnings);
    match forecast.outcome {
        ForecastOutcome::Complete if forecast.total.rejected == 0 => Ok(Outcome::Well),
        ForecastOutcome::Complete => Ok(Outcome::Differs),
        ForecastOutcome::Interrupted => {
            output.warning("interrupted: the figures are of the rows read until then");
            Ok(Outcome::Interrupted)
        }
        ForecastOutcome::Failed(failure) => Err(failure.into()),
    }
}
