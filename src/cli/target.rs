//! Opens the target that a command names, says how fast it may be written to, and asks before anything
//! that costs money.

use std::env::VarError;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::failure::Failure;
use super::format::{self, shell_word};
use super::output::OutputStreams;
use super::prices;
use crate::dynamodb::price::Prices;
use crate::dynamodb::{Billing, Table};
use crate::load::TableError;
use crate::mapping::model::Model;
use crate::mapping::sample::ItemTypeSample;
use crate::mapping::template::{Context, Filter, Secret};
use crate::target::{self, Target, TargetSpec};
use crate::{load, preview, source};

/// The environment variable that holds the key of `pseudonym`.
const PSEUDONYM_KEY: &str = "DYNAFOLD_PSEUDONYM_KEY";
/// Share of a provisioned table's capacity that is taken unless told otherwise.
const SHARE: f64 = 0.9;
/// Rows of each item type that an estimate folds.
const SAMPLE: u64 = 200;

/// What a command will use up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BilledUse {
    Writes,
    /// Reads every item, strongly consistent, and scans the keys.
    Reads,
    /// Reads so many items.
    Samples(u64),
    /// Reads every item and writes those that are not as they should be.
    Repairs,
}

/// Opens a target whose table is only read: one in memory would be empty, and a file is not made.
pub(super) async fn open_loaded(spec: &TargetSpec) -> Result<Arc<dyn Target>, Failure> {
    if let TargetSpec::Local { file } = spec {
        let Some(file) = file else {
            let message = "`--target local` is a table in memory, which is empty at every start";
            return Err(Failure::usage(message).with_help(
                "use --target local:FILE with the file that `dynafold migrate` has filled",
            ));
        };
        if !file.exists() {
            let message = format!("there is no file `{}`", file.display());
            return Err(Failure::failed(message)
                .with_code("table")
                .with_help(format!(
                    "`dynafold migrate … --target {}` creates and fills it",
                    shell_word(&format!("local:{}", file.display()))
                )));
        }
    }
    Ok(target::connect(spec).await?)
}

/// The rate at which a table is written to: what `--max-wcu` says, or a share of what a provisioned
/// one has; `None`: as fast as it takes.
pub(super) fn ceiling(max_wcu: Option<u32>, is_billed: bool, billing: Billing) -> Option<f64> {
    match billing {
        _ if max_wcu.is_some() => max_wcu.map(f64::from),
        Billing::Provisioned(capacity) if is_billed => {
            let units = u32::try_from(capacity.write).map_or(f64::from(u32::MAX), f64::from);
            Some(units * SHARE)
        }
        _ => None,
    }
}

/// Fails where there is no table as the mapping says it.
pub(super) async fn require_table(target: &dyn Target, table: &Table) -> Result<(), Failure> {
    let found = load::ensure_table(target, table, false).await;
    found.map(drop).map_err(|error| match error {
        TableError::Missing { .. } => {
            Failure::from(error).with_help("`dynafold migrate` creates and fills it")
        }
        other => Failure::from(other),
    })
}

/// What templates need besides the row. `now`: what `--now` says; the clock without it.
pub(super) fn context(model: &Model, now: Option<Timestamp>) -> Result<Context, Failure> {
    let uses_pseudonym = model.uses(&Filter::Pseudonym);
    context_of(model.time_zone.clone(), uses_pseudonym, now)
}

/// [`context`] without a model.
pub(super) fn context_of(
    time_zone: TimeZone,
    uses_pseudonym: bool,
    now: Option<Timestamp>,
) -> Result<Context, Failure> {
    let key = std::env::var(PSEUDONYM_KEY);
    let secret = key.as_ref().ok();
    let secret = secret.and_then(|key| Secret::new(key.as_bytes()));
    if secret.is_none() && uses_pseudonym {
        let fault = match key {
            Ok(_) => format!(", and {PSEUDONYM_KEY} is empty"),
            Err(VarError::NotUnicode(_)) => format!(", and {PSEUDONYM_KEY} is not UTF-8"),
            Err(VarError::NotPresent) => String::new(),
        };
        let message = format!("the mapping uses `pseudonym`, which needs a pseudonym key{fault}");
        return Err(Failure::usage(message).with_help(format!(
            "set {PSEUDONYM_KEY} in the environment; the same key gives the same stand-ins"
        )));
    }
    let now = now.unwrap_or_else(Timestamp::now);
    Ok(Context {
        // Without fractions of a second: TTL has none, and so a report can name the moment exactly.
        now: Timestamp::from_second(now.as_second()).unwrap_or(now),
        time_zone,
        secret,
    })
}

/// Says what a command will cost on real AWS and asks whether to go on.
pub(super) async fn confirm(
    target: &dyn Target,
    source: &str,
    model: &Model,
    context: &Context,
    usage: BilledUse,
    yes: bool,
    output: &OutputStreams,
) -> Result<(), Failure> {
    let Some(prices) = priced(target, &model.table, yes).await? else {
        return Ok(());
    };
    let estimate = estimate(source, model, context, usage, &prices).await?;
    let question = match usage {
        BilledUse::Writes => format!("Write to the table `{}`?", model.table.name),
        BilledUse::Reads | BilledUse::Samples(_) => {
            format!("Read the table `{}`?", model.table.name)
        }
        BilledUse::Repairs => format!(
            "Read the table `{}` and write what is missing or different?",
            model.table.name
        ),
    };
    agree(target, &estimate, &question, yes, output)
}

/// Says what so many calls of access patterns cost at least and asks whether to go on.
pub(super) async fn confirm_calls(
    target: &dyn Target,
    table: &Table,
    calls: u64,
    least: f64,
    yes: bool,
    output: &OutputStreams,
) -> Result<(), Failure> {
    let Some(prices) = priced(target, table, yes).await? else {
        return Ok(());
    };
    let estimate = format!(
        "about {} of access patterns, at least {} read units{} on demand ({}), plus a Scan of the whole table if all values of a pattern are asked",
        format::counted(calls, "call"),
        format::count(format::rounded(least.ceil())),
        dollars(prices.reads(least)),
        prices.dated_source(),
    );
    let question = format!("Ask the table `{}`?", table.name);
    agree(target, &estimate, &question, yes, output)
}

/// What so many write units cost on demand, as the end of a sentence; empty where the target costs nothing.
pub(super) fn price_of_writes(target: &dyn Target, units: u64) -> Result<String, Failure> {
    if !target.is_billed() {
        return Ok(String::new());
    }
    let prices = prices::of(target)?;
    let usd = dollars(prices.writes(format::float(units)));
    Ok(format!("{usd} on demand ({})", prices.dated_source()))
}

/// The prices of a target that costs money.
async fn priced(target: &dyn Target, table: &Table, yes: bool) -> Result<Option<Prices>, Failure> {
    if !target.is_billed() {
        return Ok(None);
    }
    if yes || OutputStreams::can_ask() {
        // Whoever cannot log in should not be asked about money first.
        target.describe(&table.name).await?;
    }
    prices::of(target).map(Some)
}

/// Shows an estimate and asks, unless that was answered already.
fn agree(
    target: &dyn Target,
    estimate: &str,
    question: &str,
    yes: bool,
    output: &OutputStreams,
) -> Result<(), Failure> {
    output.note(&format!("{}: {estimate}", target.place()));
    OutputStreams::agree(yes, "this costs money", question, "nothing was done")
}

/// Rows that are counted, and what the first of them become.
pub(super) struct CountedSample {
    rows: u64,
    pub(super) sample: ItemTypeSample,
}

impl CountedSample {
    /// What all rows come to, if they are as those that were folded.
    pub(super) fn of_all(&self, sampled: u64) -> u64 {
        match format::whole(self.sample.items.len()) {
            0 => self.rows,
            folded => self.rows.saturating_mul(sampled).div_ceil(folded),
        }
    }
}

/// Counts the rows of each item type that is loaded, and folds the first.
pub(super) async fn counted_samples(
    source: &str,
    model: &Model,
    context: &Context,
) -> Result<Vec<CountedSample>, Failure> {
    // A connection of its own: the run's snapshot begins with the run.
    let mut source = source::connect(source).await?;
    let samples =
        preview::sample(source.as_mut(), model, context.clone(), SAMPLE, &|_| true).await?;
    let mut counted = Vec::new();
    for (index, sample) in samples.into_iter().enumerate() {
        let item_type = model.item_types.get(index);
        let pass = item_type.and_then(|item_type| model.passes.get(item_type.pass));
        // Others are left out by a selection.
        if let Some(pass) = pass.filter(|pass| pass.item_types.contains(&index)) {
            let rows = source.count(&pass.scan.from).await?;
            counted.push(CountedSample { rows, sample });
        }
    }
    Ok(counted)
}

/// Items, units and price, from exact row counts and a sample of the items.
async fn estimate(
    source: &str,
    model: &Model,
    context: &Context,
    usage: BilledUse,
    prices: &Prices,
) -> Result<String, Failure> {
    let (mut items, mut writes, mut reads) = (0_u64, 0_u64, 0_u64);
    for counted in counted_samples(source, model, context).await? {
        let sampled = || counted.sample.items.iter();
        items += counted.rows;
        writes += counted.of_all(sampled().map(|item| item.units).sum());
        reads += counted.of_all(sampled().map(|item| read_units(item.size)).sum());
    }
    if let BilledUse::Samples(most) = usage
        && items > most
    {
        reads = reads.saturating_mul(most).div_ceil(items);
        items = most;
    }
    let read = || units(reads, "read", |units| prices.reads(units));
    let write = || units(writes, "write", |units| prices.writes(units));
    let what = match usage {
        BilledUse::Writes => write(),
        BilledUse::Reads | BilledUse::Samples(_) => read(),
        BilledUse::Repairs => format!(
            "{}, and if all of them are to be written {}",
            read(),
            write()
        ),
    };
    Ok(format!(
        "at most {}, {what} on demand ({})",
        format::counted(items, "item"),
        prices.dated_source(),
    ))
}

/// Units and their price, for people.
fn units(units: u64, what: &str, price: impl Fn(f64) -> Option<f64>) -> String {
    let usd = price(format::float(units));
    format!(
        "about {} {what} units{}",
        format::count(units),
        dollars(usd)
    )
}

/// A price as the end of a sentence; empty where the prices do not say it.
pub(super) fn dollars(usd: Option<f64>) -> String {
    usd.map_or_else(String::new, |usd| format!(", about {usd:.2} USD"))
}

/// Read units of a strongly consistent read: one per 4 KB.
fn read_units(size: usize) -> u64 {
    format::whole(size.div_ceil(4096))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dynamodb::Throughput;

    #[test]
    fn a_strongly_consistent_read_takes_a_unit_for_each_4_kb_begun() {
        assert_eq!([1, 4096, 4097].map(read_units), [1, 1, 2]);
    }

    #[test]
    fn a_provisioned_table_is_written_at_nine_tenths_of_its_capacity() {
        assert_eq!(ceiling(None, true, Billing::OnDemand), None);
        let provisioned = Billing::Provisioned(Throughput {
            read: 5,
            write: 200,
        });
        assert_eq!(ceiling(None, true, provisioned), Some(180.0));
        assert_eq!(ceiling(Some(250), true, provisioned), Some(250.0));
        // Local engines take no notice of it.
        assert_eq!(ceiling(None, false, provisioned), None);
    }

    #[test]
    fn a_price_stands_behind_its_units_where_there_is_one() {
        let million =
            |price: Option<f64>| units(2_000_000, "read", |units| Some(units / 1e6 * price?));
        assert_eq!(
            million(Some(0.125)),
            "about 2,000,000 read units, about 0.25 USD"
        );
        assert_eq!(million(None), "about 2,000,000 read units");
    }
}
