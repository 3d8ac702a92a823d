//! `preview --all`: every row is read, and nothing written but what was asked for.

use std::sync::Arc;

use serde::Serialize;

use super::cost::{Cost, cost};
use super::items::Lines;
use super::{NAMED, forecast, put, put_json};
use crate::cli::args::{Preview, PreviewFormat};
use crate::cli::failure::Failure;
use crate::cli::output::Output;
use crate::cli::{Outcome, prices, progress, selection, target};
use crate::load::{self, Cancel};
use crate::mapping::model::Model;
use crate::preview::{Forecast, ForecastOutcome, ItemSink, Survey, survey};
use crate::proof;
use crate::source::Source;

/// Keys whose rows are named where a rejects file takes the rows.
const NAMED_IN_FILE: usize = 10_000;

/// The report as JSON.
#[derive(Serialize)]
struct Document<'r> {
    #[serde(flatten)]
    forecast: &'r Forecast,
    cost: &'r Cost,
}

pub(super) async fn run(
    arguments: &Preview,
    source: Box<dyn Source>,
    model: Model,
    cancel: Cancel,
    output: &Output,
) -> Result<Outcome, Failure> {
    let prices = prices::read(
        arguments.prices.as_deref(),
        arguments.price_region.as_deref(),
    )?;
    let context = target::context(&model, arguments.now)?;
    let mut model = selection::item_types(model, &arguments.items)?;
    model.passes.retain(|pass| !pass.item_types.is_empty());
    let model = Arc::new(model);
    let streams = matches!(
        arguments.format,
        PreviewFormat::DynamodbJson | PreviewFormat::Ndjson
    );
    let file = arguments.output.as_deref();
    let items: Option<Box<dyn ItemSink>> = if streams {
        Some(Box::new(Lines::new(file, arguments.format)?))
    } else {
        None
    };
    if let Some(rejects) = &arguments.rejects {
        load::clear_rejects(rejects)?;
    }
    let forecast = survey(Survey {
        source,
        context,
        proof: proof::Options::of(usize::from(arguments.key_memory) << 20),
        rejects_file: arguments.rejects.clone(),
        named: if arguments.rejects.is_some() {
            NAMED_IN_FILE
        } else {
            NAMED
        },
        items,
        cancel,
        progress: progress::progress(&model),
        model: model.clone(),
    })
    .await;
    // Figures of a part of the rows, and a price of them, would be taken for those of all. The
    // JSON document says that it failed, and why.
    let failed = match &forecast.outcome {
        ForecastOutcome::Failed(failure) if arguments.format != PreviewFormat::Json => {
            Some(failure.clone())
        }
        _ => None,
    };
    if let Some(failure) = failed {
        return Err(failure.into());
    }
    let cost = cost(&forecast, &model, prices);
    let text = || forecast::text(&forecast, &cost, output);
    match (arguments.format, file) {
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
