//! Reads every row, folds it, and adds up what comes of it. Writes nothing.
//!
//! One pass over the source; a second one, as far as needed, to name the rows that share keys.
//! Memory does not grow with the data: keys go to disk ([`crate::proof`]), partition key values
//! into sketches ([`super::Sketch`]), and rows that are named are bounded in number.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use tokio::time::Instant;

use super::failures::{sink_failure, unless_unwanted};
use super::forecast::{Forecast, ForecastOutcome};
use super::run::Run;
use crate::item::Item;
use crate::load::{Cancel, Progress, Reader, RowKey, Step, row_json};
use crate::mapping::model::{ItemType, Model};
use crate::mapping::template::Context;
use crate::proof;
use crate::source::Source;

/// A survey to be made.
pub struct Survey {
    /// The source; its snapshot is not open yet.
    pub source: Box<dyn Source>,
    /// The mapping.
    pub model: Arc<Model>,
    /// What templates need besides the row.
    pub context: Context,
    /// How to survey.
    pub options: SurveyOptions,
    /// Who takes the items, if anybody wants them.
    pub items: Option<Box<dyn ItemSink>>,
    /// The caller's way to end it.
    pub cancel: Cancel,
    /// Who hears how it goes.
    pub progress: Arc<dyn Progress>,
}

/// How to survey.
#[derive(Debug, Clone)]
pub struct SurveyOptions {
    /// Memory and disk of the comparison of keys.
    pub proof: proof::Options,
    /// Where rejects go, if they are wanted. The file is made when there is one.
    pub rejects_file: Option<PathBuf>,
    /// Keys that several items have and whose rows are named; all are counted.
    pub named: usize,
    /// Writes a second of each item type, where they are known.
    pub rates: Vec<Option<f64>>,
    /// About how many rows each pass has, for progress.
    pub estimates: Vec<Option<u64>>,
}

/// Takes the items as they are made, those of rows that share a key among them.
pub trait ItemSink: Send {
    /// Takes one item.
    ///
    /// # Errors
    ///
    /// When it cannot; the survey fails. [`io::ErrorKind::BrokenPipe`] says that nobody wants any
    /// more: the survey goes on without.
    fn item(&mut self, item: &Surveyed<'_>) -> io::Result<()>;

    /// Takes no more: everything is where it belongs afterwards.
    ///
    /// # Errors
    ///
    /// As for [`ItemSink::item`].
    fn finish(&mut self) -> io::Result<()>;
}

/// An item with what is known of it.
#[derive(Debug)]
pub struct Surveyed<'s> {
    /// Its item type.
    pub item_type: &'s ItemType,
    /// The item.
    pub item: &'s Item,
    /// The item as DynamoDB JSON.
    pub json: &'s str,
    /// Bytes that DynamoDB counts for it.
    pub size: usize,
    /// Write units, those of index entries included.
    pub units: u64,
    pub(super) row: &'s RowKey,
}

impl Surveyed<'_> {
    /// The row: row key columns and their values, as a JSON object.
    #[must_use]
    pub fn row_json(&self) -> String {
        row_json(self.item_type, self.row)
    }
}

/// Surveys and reports. Never fails but in its report.
pub async fn survey(survey: Survey) -> Forecast {
    let begun = Instant::now();
    let mut run = Run::new(&survey);
    run.sink = survey.items;
    let mut reader = Reader::spawn(survey.source, run.model.clone(), true);
    let mut end = run.read(&mut reader, &survey.options.estimates).await;
    if let (None, Some(sink)) = (&end, &mut run.sink) {
        let finished = unless_unwanted(sink.finish());
        end = finished
            .err()
            .map(|error| ForecastOutcome::Failed(sink_failure(error)));
    }
    let mut found = None;
    if end.is_none() {
        run.progress.step(Step::ComparingKeys);
        match run.prove(survey.options.named).await {
            Ok(proved) => found = Some(proved),
            Err(ended) => end = Some(ended),
        }
    }
    let again = found
        .as_ref()
        .is_some_and(|found| found.collisions.keys > 0);
    let source = tokio::select! {
        source = reader.finish(again) => source,
        () = run.cancel.cancelled(), if again => None,
    };
    let warnings = source.as_ref().map(|source| source.warnings());
    if let (true, Some(found), Some(source)) = (again, &mut found, source) {
        run.progress.step(Step::NamingDuplicates);
        if let Err(failure) = run.name(found, source).await {
            end = Some(ForecastOutcome::Failed(failure));
        }
        if run.cancel.is_cancelled() {
            end = end.or(Some(ForecastOutcome::Interrupted));
        }
    }
    let mut forecast = run.forecast(end, found, begun);
    forecast.warnings = warnings.unwrap_or_default();
    forecast
}
