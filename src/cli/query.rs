//! `dynafold query`: runs one of the mapping's access patterns against the table. The parameters of a pattern become options
//! of their own (`cli/flags.rs`).

pub(super) mod patterns;
mod table;

use std::collections::HashSet;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use jiff::Timestamp;
use serde_json::{Value as Json, json};

use super::catalog::CatalogOrigin;
use super::failure::Failure;
use super::format::{counted, joined, whole};
use super::options::{Service, moment};
use super::output::OutputStreams;
use super::{Outcome, target};
use crate::access::{clock_default, has_option, plan, read};
use crate::catalog::Dbms;
use crate::diagnostic::did_you_mean;
use crate::dynamodb::{CallPlan, Table, item_value, request_value, write_item};
use crate::mapping::model::{AccessPattern, Parameter, ParameterKind};
use crate::mapping::template::Context;
use crate::target::{CallResult, Target, TargetError, TargetErrorKind, TargetSpec, answer};
use crate::value::Value;
use patterns::QueryContext;

/// The width where there is no terminal, in terminal columns.
const DEFAULT_WIDTH: u16 = 100;

/// How an answer is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum QueryFormat {
    /// A table for people
    Table,
    /// Everything as one JSON document, the items as DynamoDB JSON
    Json,
    /// The items as DynamoDB JSON, one a line; with --explain the requests
    Ndjson,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dynafold query shop.yaml                                   lists the access patterns
  dynafold query shop.yaml ordersOfCustomer --help           lists its parameters
  dynafold query shop.yaml ordersOfCustomer --customerId 7 --target local:shop.ddb
  dynafold query shop.yaml ordersOfCustomer --customerId 7 --explain
  dynafold query shop.yaml ordersOfCustomer -p customerId=7 --target dynamodb --all --format ndjson")]
pub(in crate::cli) struct Query {
    /// The mapping file
    mapping: PathBuf,
    /// The access pattern to run; without one, all are listed
    pattern: Option<String>,
    /// A parameter's value; each parameter is also an option of its own, unless an option has its name
    #[arg(short, long = "param", value_name = "NAME=VALUE")]
    params: Vec<String>,
    /// The parameters that were given as options of their own.
    #[arg(skip)]
    pub(in crate::cli) given: Vec<(String, String)>,
    /// `dynamodb` or `local:FILE`
    #[arg(long, value_name = "TARGET", env = "DYNAFOLD_TARGET")]
    target: Option<String>,
    #[command(flatten)]
    service: Service,
    /// Show the requests as the AWS CLI takes them, and send nothing
    #[arg(long)]
    explain: bool,
    /// Read every page, not only the first one of each shard
    #[arg(long)]
    all: bool,
    /// Run it N times and show how long it took
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with = "explain",
          value_parser = clap::value_parser!(u32).range(1..=10_000))]
    repeat: u32,
    /// A schema written by `inspect --format json`, for the types of parameters
    #[arg(long, value_name = "FILE", conflicts_with = "source")]
    catalog: Option<PathBuf>,
    /// The database, for the types of parameters; optional, and `DATABASE_URL` is ignored
    #[arg(long, value_name = "URL")]
    source: Option<String>,
    /// The time that `now` in `params` means, in RFC 3339 [default: the clock]
    #[arg(long, value_name = "TIME", value_parser = moment)]
    now: Option<Timestamp>,
    /// Show the table's keys too
    #[arg(long)]
    keys: bool,
    /// Show every column, and whole values, however wide the table gets
    #[arg(long)]
    wide: bool,
    /// How to show the answer
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: QueryFormat,
}

impl Query {
    /// The parameters with their values, as texts.
    fn parameters(&self) -> Result<Vec<(String, String)>, Failure> {
        let mut parameters = Vec::new();
        for param in &self.params {
            let (name, value) = param.split_once('=').ok_or_else(|| {
                Failure::usage(format!("--param {param}: there is no `=`"))
                    .with_help("write --param NAME=VALUE")
            })?;
            parameters.push((name.to_owned(), value.to_owned()));
        }
        parameters.extend(self.given.iter().cloned());
        Ok(parameters)
    }

    /// The table that is asked, where one is named and anything is sent.
    fn target(&self) -> Result<Option<TargetSpec>, Failure> {
        let target = self.target.as_ref().filter(|_| !self.explain);
        target.map(|target| self.service.spec(target)).transpose()
    }

    /// Where the types of parameters are read; `None`: in the mapping alone.
    fn schema(&self) -> Result<Option<CatalogOrigin>, Failure> {
        let (source, catalog) = (self.source.clone(), self.catalog.clone());
        let is_named = source.is_some() || catalog.is_some();
        let schema = is_named.then(|| CatalogOrigin::of(source, catalog));
        schema.transpose()
    }
}

pub(super) async fn run(arguments: Query, output: &OutputStreams) -> Result<Outcome, Failure> {
    let (given, target) = (arguments.parameters()?, arguments.target()?);
    let schema = arguments.schema()?;
    let query_context = patterns::read(&arguments.mapping, schema.as_ref(), output).await?;
    let Some(name) = &arguments.pattern else {
        print_patterns(&query_context, arguments.format, output)?;
        return Ok(Outcome::Well);
    };
    let pattern = query_context.find(name)?;
    let context = query_context.context(pattern, arguments.now)?;
    let values = values(&given, pattern, &context, query_context.dbms, output)?;
    let plan = plan(pattern, &values, &context)
        .map_err(|error| Failure::of(&error).into_usage().with_help(error.help()))?;
    if arguments.explain {
        print_plan(&plan, &query_context, pattern, arguments.format, output)?;
        return Ok(Outcome::Well);
    }
    let Some(target) = target else {
        return Err(Failure::usage("no target is named").with_help(
            "use --target dynamodb or --target local:FILE; --explain shows the request and sends nothing",
        ));
    };
    let target = target::open_loaded(&target).await?;
    let call = RepeatedCall::run(target.as_ref(), &query_context.table, &plan, &arguments).await?;
    call.print(&query_context.table, &pattern.name, &arguments, output)?;
    let is_text = |parameter: &Parameter| parameter.kind == ParameterKind::Text;
    let mut sort = pattern.sort.iter();
    let is_range = sort.any(|(_, condition)| !condition.bounds().is_empty());
    // A text in another form than the items' finds nothing, or in a range other items.
    let may_mislead = call.last.items.is_empty() || is_range;
    if may_mislead && schema.is_none() && pattern.parameters.iter().any(is_text) {
        output.note(
            "without the schema, TEXT parameters are used exactly as given; with --catalog FILE or --source URL they are read as values of their columns' types",
        );
    }
    Ok(Outcome::Well)
}

/// The failure for an error of a call. It has help where the table may not be loaded yet, or be another mapping's.
pub(super) fn call_failure(error: TargetError) -> Failure {
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
    dbms: Option<Dbms>,
    output: &OutputStreams,
) -> Result<Vec<Value>, Failure> {
    let names = || pattern.parameters.iter().map(|parameter| &*parameter.name);
    let mut seen = HashSet::new();
    for (name, _) in given {
        if names().all(|known| known != name) {
            let failure = Failure::usage(format!("`{}` has no parameter `{name}`", pattern.name));
            let help = did_you_mean(name, names());
            return Err(failure.with_help(help.unwrap_or_else(|| usage_help(pattern))));
        }
        if !seen.insert(name) {
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
        let usage_failure = |error: crate::access::ParameterError| {
            Failure::of(&error).into_usage().with_help(error.help())
        };
        match given.iter().find(|(name, _)| **name == *parameter.name) {
            Some((_, text)) => {
                let value = read(parameter, text, dbms).map_err(usage_failure)?;
                if let Value::Time(time) = &value
                    && may_be_date(text)
                    && time.as_str() != text
                {
                    output.note(&format!("`{}` is read as {time}", parameter.name));
                }
                values.push(value);
            }
            None => match clock_default(parameter, context).map_err(usage_failure)? {
                Some(value) => values.push(value),
                None => missing.push(parameter),
            },
        }
    }
    if missing.is_empty() {
        return Ok(values);
    }
    let mut help = usage_help(pattern);
    let mut parameters = missing.iter();
    if let Some(shadowed) = parameters.find(|parameter| !has_option(&parameter.name)) {
        help += &format!("; `--{}` is an option of `query` itself", shadowed.name);
    }
    let names = missing.iter();
    let names = joined(names.map(|parameter| format!("`{}`", parameter.name)), ", ");
    Err(Failure::usage(format!("`{}` needs {names}", pattern.name)).with_help(help))
}

fn usage_help(pattern: &AccessPattern) -> String {
    format!("usage: {}", patterns::synopsis(pattern))
}

/// Whether a text has the length of a date. Where a time is expected, a date is read as its midnight.
fn may_be_date(text: &str) -> bool {
    text.len() == "2026-01-31".len()
}

fn print_patterns(
    query_context: &QueryContext,
    format: QueryFormat,
    output: &OutputStreams,
) -> Result<(), Failure> {
    let pattern_json = |pattern: &AccessPattern| {
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
            &json!({ "patterns": query_context.patterns.iter().map(pattern_json).collect::<Vec<_>>() }),
        ),
        QueryFormat::Ndjson => {
            let lines = query_context
                .patterns
                .iter()
                .map(|pattern| format!("{}\n", pattern_json(pattern)));
            output.text(&lines.collect::<String>())
        }
    }
}

fn print_plan(
    plan: &CallPlan,
    query_context: &QueryContext,
    pattern: &AccessPattern,
    format: QueryFormat,
    output: &OutputStreams,
) -> Result<(), Failure> {
    let requests: Vec<(&str, Json)> = plan
        .requests
        .iter()
        .map(|request| request_value(request, &query_context.table.name))
        .collect();
    let request_json =
        |(operation, request): &(&str, Json)| json!({ "operation": operation, "request": request });
    let with_fetch = |mut explained: Json| {
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
                "requests": requests.iter().map(request_json).collect::<Vec<_>>(),
                "merged_by": plan.order.iter().map(|name| &**name).collect::<Vec<_>>(),
            });
            output.json(&with_fetch(explained))
        }
        QueryFormat::Ndjson => {
            let explained = requests.iter().map(request_json).map(with_fetch);
            let lines = explained.map(|request| format!("{request}\n"));
            output.text(&lines.collect::<String>())
        }
        QueryFormat::Table => {
            let Some((operation, first)) = requests.first() else {
                return Ok(());
            };
            output.text(&format!("{operation}\n{first:#}\n"))?;
            if plan.fetch.is_some() {
                output.text("then BatchGetItem for the keys found, 100 per request\n")?;
            }
            match requests.len() {
                1 => Ok(()),
                all => output.text(&format!(
                    "and {} more, one per shard; the answers are merged in the order of {}\n",
                    counted(all - 1, "request"),
                    joined(plan.order.iter().map(|name| &**name), ", "),
                )),
            }
        }
    }
}

/// One call, made as often as `--repeat` says.
struct RepeatedCall {
    /// The result of the last call.
    last: CallResult,
    /// How long each call took, the shortest first.
    times: Vec<Duration>,
    /// How messages name the target.
    place: String,
}

impl RepeatedCall {
    async fn run(
        target: &dyn Target,
        table: &Table,
        plan: &CallPlan,
        arguments: &Query,
    ) -> Result<Self, Failure> {
        let call = async || {
            answer(target, table, plan, arguments.all)
                .await
                .map_err(call_failure)
        };
        let mut last = call().await?;
        let mut times = vec![last.elapsed];
        for _ in 1..arguments.repeat {
            last = call().await?;
            times.push(last.elapsed);
        }
        times.sort_unstable();
        Ok(Self {
            last,
            times,
            place: target.place(),
        })
    }

    /// Prints items to stdout, and counts and times to stderr; with `--format json` everything to stdout.
    fn print(
        &self,
        table: &Table,
        pattern: &str,
        arguments: &Query,
        output: &OutputStreams,
    ) -> Result<(), Failure> {
        let Self { last, times, place } = self;
        let [p50, p90, p99, max] =
            [50, 90, 99, 100].map(|percent| milliseconds(percentile(times, percent)));
        match arguments.format {
            QueryFormat::Table => {
                if !last.items.is_empty() {
                    let width = comfy_table::Table::new().width().unwrap_or(DEFAULT_WIDTH);
                    let room = (!arguments.wide).then(|| usize::from(width));
                    let table = table::table(&last.items, table, arguments.keys, room);
                    output.text(&table)?;
                }
            }
            QueryFormat::Ndjson => {
                let mut lines = String::new();
                for item in &last.items {
                    write_item(&mut lines, item);
                    lines.push('\n');
                }
                output.text(&lines)?;
            }
            QueryFormat::Json => {
                return output.json(&json!({
                    "pattern": pattern,
                    "table": table.name,
                    "place": place,
                    "items": last.items.iter().map(item_value).collect::<Vec<_>>(),
                    "pages": last.pages,
                    "read_units": last.units,
                    "more": last.more,
                    "calls": times.len(),
                    "latency_ms": { "p50": p50, "p90": p90, "p99": p99, "max": max },
                }));
            }
        }
        let units = last
            .units
            .map_or_else(String::new, |units| format!(", {units} read units"));
        output.note(&format!(
            "{pattern} at {place}: {} in {}{units}",
            counted(last.items.len(), "item"),
            counted(last.pages, "page"),
        ));
        if last.more {
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
}

/// The nearest-rank percentile of sorted call times.
fn percentile(times: &[Duration], percent: u64) -> Duration {
    let rank = (whole(times.len()) * percent)
        .div_ceil(100)
        .saturating_sub(1);
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
