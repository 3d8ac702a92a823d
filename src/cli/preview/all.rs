//! `preview --all`: every row is read, and nothing written but what was asked for.

use std::sync::Arc;

use serde::Serialize;

use super::cost::{Cost, cost};
use super::items::Lines;
use super::{NAMED, forecast, put};
use crate::catalog::Catalog;
use crate::cli::args::{Preview, PreviewFormat};
use crate::cli::failure::Failure;
use crate::cli::output::Output;
use crate::cli::signals::stop_on_signals;
use crate::cli::{Outcome, catalog, prices, progress, target};
use crate::load::{self, Cancel};
use crate::mapping::model::Model;
use crate::preview::{Forecast, ForecastOutcome, ItemSink, Survey, SurveyOptions, survey};
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
    catalog: &Catalog,
    model: Model,
    output: &Output,
) -> Result<Outcome, Failure> {
    let prices = prices::read(
        arguments.prices.as_deref(),
        arguments.price_region.as_deref(),
    )?;
    let context = target::context(&model, arguments.now)?;
    let model = Arc::new(narrowed(model, &arguments.items));
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
    let cancel = Cancel::default();
    stop_on_signals(cancel.clone());
    let forecast = survey(Survey {
        source,
        context,
        options: SurveyOptions {
            proof: proof::Options {
                memory: usize::from(arguments.key_memory) << 20,
                folder: std::env::temp_dir(),
            },
            rejects_file: arguments.rejects.clone(),
            named: if arguments.rejects.is_some() {
                NAMED_IN_FILE
            } else {
                NAMED
            },
            rates: rates(&model),
            estimates: catalog::estimates(&model, catalog),
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
        (PreviewFormat::Json, None) => output.json(&Document {
            forecast: &forecast,
            cost: &cost,
        })?,
        (PreviewFormat::Json, Some(_)) => {
            let document = Document {
                forecast: &forecast,
                cost: &cost,
            };
            let json = serde_json::to_string_pretty(&document)
                .map_err(|error| Failure::failed("cannot write the report").with_cause(&error))?;
            put(file, &format!("{json}\n"), output)?;
        }
        (PreviewFormat::Table, _) => put(file, &text(), output)?,
        // The items are on standard output already.
        (_, None) => output.note(&text()),
        (_, Some(_)) => output.text(&text())?,
    }
    for warning in &forecast.warnings {
        output.warning(warning);
    }
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

/// Writes a second of each item type, where the mapping says them.
fn rates(model: &Model) -> Vec<Option<f64>> {
    let item_types = model.item_types.iter();
    item_types.map(|item_type| item_type.write_rate).collect()
}

/// A model of some item types alone; of all without a name. The item types keep their places, the
/// passes do not.
fn narrowed(mut model: Model, wanted: &[String]) -> Model {
    if wanted.is_empty() {
        return model;
    }
    let item_types = &model.item_types;
    for pass in &mut model.passes {
        pass.item_types.retain(|index| {
            let item_type = item_types.get(*index);
            item_type.is_some_and(|item| wanted.iter().any(|name| *name == *item.name))
        });
    }
    model.passes.retain(|pass| !pass.item_types.is_empty());
    model
}
