//! What the formats of `docs` are made from: the mapping checked, the source read, the table asked.

use std::path::Path;
use std::sync::Arc;

use serde_json::Value as Json;

use super::{DocsJob, answers};
use crate::cli::catalog::CatalogOrigin;
use crate::cli::failure::{Failure, INTERRUPTED};
use crate::cli::format::shell_word;
use crate::cli::mapping::MappingFile;
use crate::cli::output::OutputStreams;
use crate::cli::signals::stop_on_signals;
use crate::cli::{mapping, prices, progress, target};
use crate::design::Report;
use crate::diagnostic::{Diagnostic, to_json};
use crate::document::{Definition, DefinitionInputs, Examples, ForecastTotals, Warning, define};
use crate::mapping::PatternProof;
use crate::mapping::model::Model;
use crate::mapping::template::Context;
use crate::preview::{
    Forecast, ForecastOutcome, ItemTypeSample, SampleLimits, Survey, sample_within, survey,
};
use crate::{proof, source};

/// Rows of each item type that are read: enough for parameters that find something.
const ROWS: u64 = 1_000;
/// Rows that are read of all item types together, where that is more.
const ALL_ROWS: usize = 20_000;
/// Bytes of the items that are kept, all item types together.
const BYTES: usize = 64 << 20;
/// Memory for comparing all keys.
const KEY_MEMORY: usize = 32 << 20;

/// A checked mapping, and what its source says.
pub(super) struct Material {
    pub(super) model: Arc<Model>,
    /// The first items of each item type, as many as are to be shown, in the order of the mapping;
    /// empty where there is no source, or none is to be shown.
    pub(super) samples: Vec<ItemTypeSample>,
}

/// Checks the mapping and reads what the definition needs. A mapping with errors ends here.
pub(super) async fn gather(
    job: &DocsJob,
    output: &OutputStreams,
) -> Result<(Material, Definition), Failure> {
    let arguments = &job.arguments;
    let prices = prices::read(arguments.prices.as_deref(), arguments.price_region())?;
    let proposal = arguments.proposal.as_deref().map(reported).transpose()?;
    let (mut source, catalog, file) = mapping::open_any(&job.origin, &arguments.mapping).await?;
    let warnings = document_warnings(&file, &file.checked.diagnostics);
    let accepted = document_warnings(&file, &file.checked.accepted);
    let proofs = file.checked.proofs.clone();
    let model = Arc::new(file.into_model(output)?);
    let proofs = proofs.ok_or_else(Failure::silent)?;
    let context = target::context(&model, arguments.now)?;
    let share = ALL_ROWS / model.item_types.len().max(1);
    let rows = ROWS.max(u64::try_from(share).unwrap_or(ROWS));
    let mut samples = Vec::new();
    if let Some(source) = &mut source {
        output.note("reading the first rows of each item type");
        let own = context.clone();
        let most = SampleLimits {
            rows,
            bytes: BYTES,
            by_key: true,
        };
        samples = sample_within(source.as_mut(), &model, own, most, &|_| true).await?;
        output.warnings(source.warnings());
    }
    drop(source);
    let mut examples = None;
    let mut found = Vec::new();
    if !samples.is_empty() && !arguments.no_examples {
        output.note("asking the access patterns");
        let asked = answers::ask(job.target.as_ref(), &model, &proofs, &samples, &context).await?;
        found = asked.answers;
        examples = Some(Examples {
            rows,
            whole: (samples.iter()).all(|sample| sample.read < rows && !sample.is_cut),
            asked: asked.place,
        });
    }
    let forecast = match &job.origin {
        CatalogOrigin::Source(url) if arguments.all => {
            Some(all_rows(url, &model, proofs.patterns.clone(), context.clone()).await?)
        }
        _ => None,
    };
    let name = arguments
        .mapping
        .file_name()
        .unwrap_or_default()
        .to_string_lossy();
    let definition = define(&DefinitionInputs {
        mapping: &name,
        model: &model,
        catalog: &catalog,
        proofs: &proofs,
        context: &context,
        samples: &samples,
        row_limit: rows,
        examples,
        example_limit: usize::from(arguments.limit),
        answers: found,
        forecast: forecast.as_ref().map(|forecast| ForecastTotals {
            item_types: &forecast.item_types,
            places: &forecast.places,
            wide: &forecast.wide,
            import_bytes: forecast.import_bytes,
        }),
        target: &arguments.target_options(),
        schema: match &job.origin {
            CatalogOrigin::File(file) => {
                format!("--catalog {}", shell_word(&file.display().to_string()))
            }
            // The URL may hold a password.
            CatalogOrigin::Source(_) => r#"--source "$DATABASE_URL""#.to_owned(),
        },
        needs_schema: needs_schema(&arguments.mapping)?,
        prices: &prices,
        proposal: proposal.as_ref(),
        warnings,
        accepted,
    });
    if arguments.no_examples {
        samples.clear();
    }
    for sample in &mut samples {
        sample.items.truncate(usize::from(arguments.limit));
    }
    Ok((Material { model, samples }, definition))
}

/// Reads what `design` reported.
fn reported(path: &Path) -> Result<Report, Failure> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::unread("the report ", path, &error))?;
    serde_json::from_str(&text).map_err(|error| {
        Failure::usage(format!("`{}` is no report of `design`", path.display()))
            .with_cause(&error)
            .with_help("write one with `dynafold design --report FILE`")
    })
}

/// The access patterns with parameters that `query` cannot read without the schema.
fn needs_schema(mapping: &Path) -> Result<Vec<Arc<str>>, Failure> {
    let patterns = mapping::outlined(mapping, None)?.patterns.into_iter();
    let unread = patterns.filter(|pattern| pattern.parameters.iter().any(|it| it.needs_schema));
    Ok(unread.map(|pattern| pattern.name).collect())
}

/// Diagnostics as the document has them.
fn document_warnings(file: &MappingFile, diagnostics: &[Diagnostic]) -> Vec<Warning> {
    match to_json("", &file.text, diagnostics) {
        Json::Array(all) => all
            .into_iter()
            .filter_map(|json| serde_json::from_value(json).ok())
            .collect(),
        _ => Vec::new(),
    }
}

async fn all_rows(
    url: &str,
    model: &Arc<Model>,
    patterns: Vec<PatternProof>,
    context: Context,
) -> Result<Forecast, Failure> {
    let source = source::connect(url).await?;
    let cancel = stop_on_signals();
    let forecast = survey(Survey {
        source,
        patterns,
        context,
        proof: proof::ProofOptions::of(KEY_MEMORY),
        rejects_file: None,
        named: 0,
        items: None,
        cancel,
        progress: progress::progress(model),
        model: model.clone(),
    })
    .await;
    match forecast.outcome {
        ForecastOutcome::Complete => Ok(forecast),
        ForecastOutcome::Interrupted => Err(Failure {
            exit: INTERRUPTED,
            ..Failure::failed("interrupted; nothing was written").with_code("interrupted")
        }),
        ForecastOutcome::Failed(failure) => Err(failure.into()),
    }
}
