//! `design --update`: extends a mapping without changing its keys.

use std::path::Path;

use serde::Serialize;

use super::{DesignRequest, look_up, sample};
use crate::check;
use crate::cli::failure::Failure;
use crate::cli::files::write;
use crate::cli::format::shell_word;
use crate::cli::options::Format;
use crate::cli::output::OutputStreams;
use crate::cli::{Outcome, mapping, report};
use crate::design::workload;
use crate::design::{
    Limits, Mapping, PricedMapping, Update, UpdatedRead, Warning, conditions_of, dear_additions,
    price, second_requests, update,
};
use crate::mapping::model::Model;
use crate::mapping::{Described, Raw};
use crate::source::Source;

pub(super) async fn run(
    path: &Path,
    request: &DesignRequest<'_>,
    mut limits: Limits,
    mut source: Option<Box<dyn Source>>,
    output: &OutputStreams,
) -> Result<Outcome, Failure> {
    let (catalog, arguments) = (request.catalog, request.arguments);
    let file = mapping::check(path, catalog, source.as_deref_mut()).await?;
    let text = file.text.clone();
    let old = file.into_model(output)?;
    let variables = |name: &str| std::env::var(name).ok();
    let (raw, _) = Raw::read(&text, &variables);
    let described = match (&raw, source.as_deref_mut()) {
        (Some(raw), Some(source)) => check::describe_queries(raw, source).await?,
        _ => Described::new(),
    };
    let mapping = Mapping {
        text: &text,
        variables: &variables,
        described: &described,
    };
    let updated = |limits: &Limits| {
        let updated = update(
            &mapping,
            catalog,
            request.statements,
            request.prices,
            limits,
        );
        updated.map_err(|error| {
            let shown = path.display();
            Failure::usage(format!("the mapping `{shown}` cannot be updated")).with_cause(&error)
        })
    };
    let mut found = updated(&limits)?;
    match source.as_deref_mut() {
        Some(source) => {
            let columns = (&*found.before_delimiters, &*found.padded);
            look_up(source, catalog, columns, &mut limits).await?;
            if limits.escapes() || !limits.signed.is_empty() {
                found = updated(&limits)?;
            }
        }
        None if found.before_delimiters.is_empty() => {}
        None => {
            let warning = Warning::of_unseen_delimiters(&found.before_delimiters);
            output.note(&warning.to_string());
        }
    }
    let named = found.mapping.clone();
    let new = mapping::check_text(&arguments.output, named, catalog, source.as_deref_mut()).await?;
    let new = new.into_model(output)?;
    // The new mapping still has to serve what the old one serves.
    let mut known = workload::of_mapping(&text, catalog).unwrap_or_default();
    let seconds = second_requests(&old, catalog, &limits.observed, request.statements);
    known.retain(|one| !seconds.contains(&one.name));
    let statements = workload::with_mapping(request.statements, known, catalog);
    if let Some(source) = &mut source {
        let scans = sample::scans(catalog, &statements);
        for model in [&old, &new] {
            let conditions = conditions_of(model, catalog);
            sample::count(source.as_mut(), &scans, conditions, &mut limits.observed).await?;
        }
    }
    let priced = |path: &Path, model: &Model| {
        let name = path.display().to_string();
        price(
            &name,
            catalog,
            model,
            &statements,
            request.prices,
            &limits.observed,
        )
    };
    let (before, after) = (priced(path, &old), priced(&arguments.output, &new));
    let dear = dear_additions([&old, &new], &statements, &|model| priced(path, model));
    write_and_report(
        path,
        request,
        (&found, dear.as_ref()),
        [&before, &after],
        output,
    )
}

/// Writes the mapping, and reports what was added.
fn write_and_report(
    path: &Path,
    request: &DesignRequest<'_>,
    (found, dear): (&Update, Option<&Warning>),
    [before, after]: [&PricedMapping; 2],
    output: &OutputStreams,
) -> Result<Outcome, Failure> {
    let arguments = request.arguments;
    let to_stdout = arguments.output == Path::new("-");
    if to_stdout {
        output.text(&found.mapping)?;
    } else {
        write(&arguments.output, &found.mapping)?;
    }
    let shown = report::update((found, dear), [before, after], request.prices);
    match arguments.format {
        Format::Text if to_stdout => output.note(&shown),
        Format::Text => output.text(&shown)?,
        Format::Json if to_stdout => {}
        Format::Json => output.json(&UpdateJson {
            reads: &found.reads,
            expensive_index: dear,
            before,
            after,
        })?,
    }
    if !to_stdout {
        let [old, new] =
            [path, &arguments.output].map(|path| shell_word(&path.display().to_string()));
        output.note(&format!(
            "wrote {new}; next: dynafold diff {old} {new}, migrate {new} --changes-only, verify {new} --patterns, each with the same --source"
        ));
    }
    let is_all_served = found.reads.iter().all(|read| read.why_not.is_none());
    Ok(Outcome::of(is_all_served))
}

/// What is printed for programs.
#[derive(Serialize)]
struct UpdateJson<'u> {
    reads: &'u [UpdatedRead],
    /// The added entries that cost far more than the reads by them.
    #[serde(skip_serializing_if = "Option::is_none")]
    expensive_index: Option<&'u Warning>,
    /// The workload under the mapping as it was.
    before: &'u PricedMapping,
    /// The workload under the mapping as it is written.
    after: &'u PricedMapping,
}
