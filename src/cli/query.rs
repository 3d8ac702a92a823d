//! `dynafold query`: asks the table as one of the mapping's access patterns does.

mod arguments;
pub(super) mod patterns;
mod table;

use std::time::Duration;

use serde_json::{Value as Json, json};

pub(super) use self::arguments::Query;
use self::arguments::QueryFormat;
use super::failure::Failure;
use super::format::{counted, whole};
use super::output::OutputStreams;
use super::{Outcome, target};
use crate::access::{has_option, moment, plan, read};
use crate::diagnostic::did_you_mean;
use crate::dynamodb::{CallPlan, item_value, request_value, write_item};
use crate::mapping::model::{AccessPattern, Parameter, ParameterKind};
use crate::mapping::template::Context;
use crate::target::{CallResult, TargetError, TargetErrorKind, answer};
use crate::value::Value;
use patterns::QueryContext;

/// The width of a table where there is no terminal.
const COLUMNS: u16 = 100;

pub(super) async fn run(arguments: Query, output: &OutputStreams) -> Result<Outcome, Failure> {
    let (given, target) = (arguments.parameters()?, arguments.target()?);
    let schema = arguments.schema()?;
    let query_context = patterns::read(&arguments.mapping, schema.as_ref(), output).await?;
    let Some(name) = &arguments.pattern else {
        listed(&query_context, arguments.format, output)?;
        return Ok(Outcome::Well);
    };
    let pattern = query_context.find(name)?;
    let context = query_context.context(pattern, arguments.now)?;
    let values = values(&given, pattern, &context, output)?;
    let plan = plan(pattern, &values, &context)
        .map_err(|error| Failure::of(&error).into_usage().with_help(error.help()))?;
    if arguments.explain {
        explain(&plan, &query_context, pattern, arguments.format, output)?;
        return Ok(Outcome::Well);
    }
    let Some(target) = target else {
        return Err(Failure::usage("no target is named").with_help(
            "use --target dynamodb or --target local:FILE; --explain shows the request and sends nothing",
        ));
    };
    let target = target::open_loaded(&target).await?;
    let mut times = Vec::new();
    let answer = loop {
        let answer = answer(target.as_ref(), &query_context.table, &plan, arguments.all).await;
        let answer = answer.map_err(refused)?;
        times.push(answer.elapsed);
        if times.len() >= usize::try_from(arguments.repeat).unwrap_or(usize::MAX) {
            break answer;
        }
    };
    times.sort_unstable();
    let place = target.place();
    show(
        &answer,
        &times,
        &query_context,
        pattern,
        &place,
        &arguments,
        output,
    )?;
    let is_text = |parameter: &Parameter| parameter.kind == ParameterKind::Text;
    if answer.items.is_empty() && schema.is_none() && pattern.parameters.iter().any(is_text) {
        output.note(
            "without the schema, parameters were used as plain text: with --catalog FILE or --source URL they are read by the types of their columns",
        );
    }
    Ok(Outcome::Well)
}

/// A table that is not there may not have been loaded yet, and one that is there may be of another mapping.
pub(super) fn refused(error: TargetError) -> Failure {
    let help = match error.kind {
        TargetErrorKind::TableMissing => {
            "`dynafold migrate` creates and fills the table; is this the right target, and does the index exist?"
        }
        TargetErrorKind::Refused => {
            "does the table have the keys and indexes of this mapping? `dynafold migrate` adds global indexes that it lacks"
        }
        _ => return error.into(),
    };
    Failure::from(error).with_help(help)
}

/// The values of a pattern's parameters, in their order.
fn values(
    given: &[(String, String)],
    pattern: &AccessPattern,
    context: &Context,
    output: &OutputStreams,
) -> Result<Vec<Value>, Failure> {
    let names = || pattern.parameters.iter().map(|parameter| &*parameter.name);
    for (at, (name, _)) in given.iter().enumerate() {
        if names().all(|known| known != name) {
            let failure = Failure::usage(format!("`{}` has no parameter `{name}`", pattern.name));
            let called = || format!("it is called as {}", patterns::synopsis(pattern));
            return Err(failure.with_help(did_you_mean(name, names()).unwrap_or_else(called)));
        }
        if given.iter().take(at).any(|(other, _)| other == name) {
            let failure = Failure::usage(format!("the parameter `{name}` is given twice"));
            return Err(failure.with_help("give it once"));
        }
    }
    let mut values = Vec::new();
    let mut missing = Vec::new();
    for parameter in &pattern.parameters {
        if parameter.needs_schema {
            let message = format!(
                "the type of `{}` is not known without the schema",
                parameter.name
            );
            return Err(Failure::usage(message).with_help(
                "use --catalog FILE with the output of `dynafold inspect --format json`, or --source URL",
            ));
        }
        let refused = |error: crate::access::ParameterError| {
            Failure::of(&error).into_usage().with_help(error.help())
        };
        match given.iter().find(|(name, _)| **name == *parameter.name) {
            Some((_, text)) => {
                let value = read(parameter, text).map_err(refused)?;
                if let (Value::Time(time), true) = (&value, is_day(text))
                    && time.as_str() != text
                {
                    output.note(&format!("`{}` is read as {time}", parameter.name));
                }
                values.push(value);
            }
            None => match moment(parameter, context).map_err(refused)? {
                Some(value) => values.push(value),
                None => missing.push(parameter),
            },
        }
    }
    if missing.is_empty() {
        return Ok(values);
    }
    let called = format!("it is called as {}", patterns::synopsis(pattern));
    let mut taken = missing.iter();
    let help = match taken.find(|parameter| !has_option(&parameter.name)) {
        Some(taken) => format!(
            "{called}; `--{}` is an option of `query` itself",
            taken.name
        ),
        None => called,
    };
    let names = missing
        .iter()
        .map(|parameter| format!("`{}`", parameter.name));
    let names = names.collect::<Vec<_>>().join(", ");
    Err(Failure::usage(format!("`{}` needs {names}", pattern.name)).with_help(help))
}

/// Whether a text has the length of a date, which is its midnight where a moment is wanted.
fn is_day(text: &str) -> bool {
    text.len() == "2026-01-31".len()
}

fn listed(
    query_context: &QueryContext,
    format: QueryFormat,
    output: &OutputStreams,
) -> Result<(), Failure> {
    let of = |pattern: &AccessPattern| {
        let parameters = pattern.parameters.iter().map(|parameter| {
            json!({
                "name": &*parameter.name,
                "type": parameter.kind.placeholder().to_lowercase(),
                "optional": parameter.from_clock.is_some(),
            })
        });
        json!({
            "pattern": &*pattern.name,
            "description": pattern.description,
            "index": pattern.index.as_deref(),
            "parameters": parameters.collect::<Vec<_>>(),
        })
    };
    match format {
        QueryFormat::Table if query_context.patterns.is_empty() => {
            output.text("the mapping has no access patterns")
        }
        QueryFormat::Table => output.text(&patterns::list(query_context)),
        QueryFormat::Json => output.json(
            &json!({ "patterns": query_context.patterns.iter().map(of).collect::<Vec<_>>() }),
        ),
        QueryFormat::Ndjson => {
            let lines = query_context
                .patterns
                .iter()
                .map(|pattern| format!("{}\n", of(pattern)));
            output.text(&lines.collect::<String>())
        }
    }
}

fn explain(
    plan: &CallPlan,
    query_context: &QueryContext,
    pattern: &AccessPattern,
    format: QueryFormat,
    output: &OutputStreams,
) -> Result<(), Failure> {
    let requests = plan.requests.iter();
    let requests: Vec<(&str, Json)> = requests
        .map(|request| request_value(request, &query_context.table.name))
        .collect();
    let of =
        |(operation, request): &(&str, Json)| json!({ "operation": operation, "request": request });
    let then = |mut explained: Json| {
        if plan.fetch.is_some()
            && let Some(members) = explained.as_object_mut()
        {
            members.insert("then".to_owned(), json!("BatchGetItem"));
        }
        explained
    };
    match format {
        QueryFormat::Json => {
            let explained = json!({
                "pattern": &*pattern.name,
                "requests": requests.iter().map(of).collect::<Vec<_>>(),
                "merged_by": plan.order.iter().map(|name| &**name).collect::<Vec<_>>(),
            });
            output.json(&then(explained))
        }
        QueryFormat::Ndjson => {
            let lines = requests.iter().map(of);
            let lines = lines.map(|request| format!("{}\n", then(request)));
            output.text(&lines.collect::<String>())
        }
        QueryFormat::Table => {
            let Some((operation, first)) = requests.first() else {
                return Ok(());
            };
            output.text(&format!("{operation}\n{first:#}\n"))?;
            if plan.fetch.is_some() {
                output.text("and then BatchGetItem of the keys that are found, 100 a request\n")?;
            }
            match requests.len() {
                1 => Ok(()),
                all => output.text(&format!(
                    "and {} more, one for each shard; the answers are merged by {}\n",
                    all - 1,
                    plan.order
                        .iter()
                        .map(|name| &**name)
                        .collect::<Vec<_>>()
                        .join(", "),
                )),
            }
        }
    }
}

/// Shows an answer: items to stdout, and what they took to stderr unless it is all JSON.
fn show(
    answer: &CallResult,
    times: &[Duration],
    query_context: &QueryContext,
    pattern: &AccessPattern,
    place: &str,
    arguments: &Query,
    output: &OutputStreams,
) -> Result<(), Failure> {
    let [p50, p90, p99, max] = [50, 90, 99, 100].map(|part| milliseconds(percentile(times, part)));
    match arguments.format {
        QueryFormat::Table => {
            if !answer.items.is_empty() {
                let width = comfy_table::Table::new().width().unwrap_or(COLUMNS);
                let room = (!arguments.wide).then(|| usize::from(width));
                let table = table::table(&answer.items, &query_context.table, arguments.keys, room);
                output.text(&table)?;
            }
        }
        QueryFormat::Ndjson => {
            let mut lines = String::new();
            for item in &answer.items {
                write_item(&mut lines, item);
                lines.push('\n');
            }
            output.text(&lines)?;
        }
        QueryFormat::Json => {
            return output.json(&json!({
                "pattern": &*pattern.name,
                "table": query_context.table.name,
                "place": place,
                "items": answer.items.iter().map(item_value).collect::<Vec<_>>(),
                "pages": answer.pages,
                "read_units": answer.units,
                "more": answer.more,
                "calls": times.len(),
                "latency_ms": { "p50": p50, "p90": p90, "p99": p99, "max": max },
            }));
        }
    }
    let units = answer
        .units
        .map_or_else(String::new, |units| format!(", {units} read units"));
    output.note(&format!(
        "{} at {place}: {} in {}{units}",
        pattern.name,
        counted(answer.items.len(), "item"),
        counted(answer.pages, "page"),
    ));
    if answer.more {
        output.note("there is more: --all reads it");
    }
    if times.len() > 1 {
        let calls = counted(times.len(), "call");
        output.note(&format!(
            "{calls}: p50 {p50:.2} ms, p90 {p90:.2} ms, p99 {p99:.2} ms, at most {max:.2} ms"
        ));
    }
    Ok(())
}

/// The time within which so many of a hundred calls were answered, by the nearest rank. The times
/// are sorted.
fn percentile(times: &[Duration], part: u64) -> Duration {
    let rank = (whole(times.len()) * part).div_ceil(100).saturating_sub(1);
    let rank = usize::try_from(rank).unwrap_or(usize::MAX);
    times.get(rank).copied().unwrap_or_default()
}

/// Milliseconds, to the microsecond.
fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_the_nearest_rank() {
        let times: Vec<Duration> = (1..=10).map(Duration::from_millis).collect();
        let part = |part| percentile(&times, part).as_millis();
        assert_eq!((part(50), part(90), part(99), part(100)), (5, 9, 10, 10));
        assert_eq!(percentile(&times[..1], 50), Duration::from_millis(1));
    }
}
