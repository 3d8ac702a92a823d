//! The command line of `examples/rehearse.rs`.

use std::path::PathBuf;

use clap::Parser;
use serde_json::{Map, Value};

use super::settings::{Billing, Settings, Store, WarmUp};

/// A DynamoDB that misbehaves, for rehearsals: limits, partial batches, lost answers, stalls.
///
/// It listens on 127.0.0.1 and keeps its tables in memory until it ends. Without options it has no
/// limit and no fault. On Ctrl-C it prints what it counted, as JSON.
#[derive(Debug, Parser)]
#[command(name = "rehearse", max_term_width = 100)]
#[command(after_help = "\
Examples:
  rehearse --port 8001 --throttle
      the limits of a new on-demand table, and of partitions
  rehearse --port 8001 --table-wcu 1000 --partition-wcu 1000 --partitions 4
  rehearse --port 8001 --index-wcu GSI1=100
      an index that throttles its table
  rehearse --port 8001 --fault lost-answer:chance=0.01 --fault stall:every=500,seconds=40
  rehearse --port 8001 --event after=1000,delete_table=app
  rehearse --settings storm.yaml

Faults: error, unavailable, lost-answer, reset, hang-up, stall, slow, garbage, half, leave, throttle,
request-limit, not-found, access-denied.

Then, elsewhere: dynafold migrate ... --target dynamodb --endpoint-url http://127.0.0.1:8001
The counts so far: curl http://127.0.0.1:8001/__storm/counts")]
pub(crate) struct Arguments {
    /// Settings in a YAML or JSON file; options go before what it says
    #[arg(long, value_name = "FILE")]
    settings: Option<PathBuf>,
    /// The port; 0 is any free one
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,
    /// What all chance follows from
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
    /// What keeps the items: the embedded engine, or a map, which is faster and knows less
    #[arg(long, value_name = "engine|map", value_parser = word::<Store>)]
    store: Option<Store>,
    /// The billing mode that throttling speaks of, whatever the table's is
    #[arg(long, value_name = "provisioned|on-demand", value_parser = word::<Billing>)]
    billing: Option<Billing>,
    /// DynamoDB's own limits: 1,000 units a partition, what provisioned tables declare, and 4,000
    /// units at first for on-demand tables, doubling every 30 minutes
    #[arg(long)]
    throttle: bool,
    /// Write units a second of each table
    #[arg(long, value_name = "UNITS")]
    table_wcu: Option<f64>,
    /// Write units a second of each global index, or of one
    #[arg(long, value_name = "[INDEX=]UNITS")]
    index_wcu: Vec<String>,
    /// Write units a second of each table with all its indexes
    #[arg(long, value_name = "UNITS")]
    account_wcu: Option<f64>,
    /// Write units a second of each partition
    #[arg(long, value_name = "UNITS")]
    partition_wcu: Option<f64>,
    /// Partitions of a table; without it, each key is its own
    #[arg(long, value_name = "NUMBER")]
    partitions: Option<u32>,
    /// Splits a partition that has been too hot for so long
    #[arg(long, value_name = "SECONDS")]
    split_after: Option<f64>,
    /// How many seconds' units may be saved up
    #[arg(long, value_name = "SECONDS")]
    burst: Option<f64>,
    /// What on-demand tables take at first, and how soon that doubles
    #[arg(long, value_name = "UNITS:SECONDS", value_parser = warm_up)]
    warm_up: Option<WarmUp>,
    /// How long answers about items take
    #[arg(long, value_name = "MILLISECONDS")]
    latency: Option<u64>,
    /// A fault; see below
    #[arg(long, value_name = "KIND[:KEY=VALUE,...]", value_parser = fault)]
    fault: Vec<Value>,
    /// Deletes a table, or its index, after so many requests
    #[arg(long, value_name = "after=N,delete_table=NAME[,index=NAME]", value_parser = pairs)]
    event: Vec<Value>,
    /// How long an access key is good for
    #[arg(long, value_name = "SECONDS")]
    credentials: Option<f64>,
    /// How far the endpoint's clock is ahead
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    clock_skew: Option<i64>,
}

impl Arguments {
    /// The settings of the file, and over them those of the options.
    pub(crate) fn settings(self) -> Result<Settings, String> {
        let mut all = match &self.settings {
            Some(file) => {
                let text = std::fs::read_to_string(file);
                let text = text.map_err(|error| format!("{}: {error}", file.display()))?;
                Settings::read(&text).map_err(|error| format!("{}: {error}", file.display()))?
            }
            None => Settings::default(),
        };
        let limits = &mut all.limits;
        if self.throttle {
            limits.partition_wcu.get_or_insert(1_000.0);
            limits.declared = true;
            limits.warm_up.get_or_insert_default();
        }
        for word in self.index_wcu {
            let (name, units) = word.split_once('=').unwrap_or(("", &word));
            let units: f64 = units.parse().map_err(|_| format!("`{word}`: no units"))?;
            if name.is_empty() {
                limits.index_wcu = Some(units);
            } else {
                limits.indexes.insert(name.to_owned(), units);
            }
        }
        limits.table_wcu = self.table_wcu.or(limits.table_wcu);
        limits.account_wcu = self.account_wcu.or(limits.account_wcu);
        limits.partition_wcu = self.partition_wcu.or(limits.partition_wcu);
        limits.partitions = self.partitions.or(limits.partitions);
        limits.split_after_seconds = self.split_after.or(limits.split_after_seconds);
        limits.burst_seconds = self.burst.unwrap_or(limits.burst_seconds);
        limits.warm_up = self.warm_up.or(limits.warm_up);
        all.port = self.port.unwrap_or(all.port);
        all.seed = self.seed.unwrap_or(all.seed);
        all.store = self.store.unwrap_or(all.store);
        all.billing = self.billing.or(all.billing);
        all.latency.milliseconds = self.latency.unwrap_or(all.latency.milliseconds);
        all.credentials_seconds = self.credentials.or(all.credentials_seconds);
        all.clock_skew_seconds = self.clock_skew.unwrap_or(all.clock_skew_seconds);
        for fault in self.fault {
            let fault = serde_json::from_value(fault).map_err(|error| error.to_string())?;
            all.faults.push(fault);
        }
        for event in self.event {
            let event = serde_json::from_value(event).map_err(|error| error.to_string())?;
            all.events.push(event);
        }
        all.checked()
    }
}

/// A word of settings.
fn word<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_value(Value::from(text)).map_err(|error| error.to_string())
}

fn warm_up(text: &str) -> Result<WarmUp, String> {
    let number = |text: &str| text.parse().map_err(|_| format!("`{text}` is no number"));
    let (start, seconds) = text.split_once(':').ok_or("UNITS:SECONDS is meant")?;
    Ok(WarmUp {
        start_wcu: number(start)?,
        doubling_seconds: number(seconds)?,
        ..WarmUp::default()
    })
}

/// `KIND:key=value,key=value`.
fn fault(text: &str) -> Result<Value, String> {
    let (kind, rest) = text.split_once(':').unwrap_or((text, ""));
    let mut fault = pairs(rest)?;
    if let Some(fault) = fault.as_object_mut() {
        fault.insert("do".to_owned(), Value::from(kind));
    }
    serde_json::from_value::<super::settings::Fault>(fault.clone())
        .map_err(|error| error.to_string())?;
    Ok(fault)
}

/// `key=value,key=value`; several operations are joined by `+`.
fn pairs(text: &str) -> Result<Value, String> {
    let mut all = Map::new();
    for pair in text.split(',').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair
            .split_once('=')
            .ok_or_else(|| format!("`{pair}` is no KEY=VALUE"))?;
        let value = match key {
            "operations" => value.split('+').map(Value::from).collect(),
            "code" | "delete_table" | "index" => Value::from(value),
            _ => serde_json::from_str(value).map_err(|_| format!("`{pair}`: no number"))?,
        };
        all.insert(key.to_owned(), value);
    }
    Ok(Value::Object(all))
}
