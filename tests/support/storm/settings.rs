//! What the endpoint does wrong, as data: written as YAML or JSON, or made in a test.

use std::collections::BTreeMap;

use dynafold::mapping::yaml;
use dynafold_testing::cases::plain;
use serde::{Deserialize, Serialize};

/// Everything that can be set. The default is an endpoint without any fault or limit.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Settings {
    /// The port on 127.0.0.1; 0 is any free one. Only read at the start.
    pub(crate) port: u16,
    /// What all chance follows from.
    pub(crate) seed: u64,
    /// What keeps the items. Only read at the start.
    pub(crate) store: Store,
    /// The billing mode that throttling speaks of; without it, that of each table.
    pub(crate) billing: Option<Billing>,
    pub(crate) limits: Limits,
    pub(crate) latency: Latency,
    pub(crate) consumed: ReportedUnits,
    /// Of several that would strike a request, the first one does.
    pub(crate) faults: Vec<Fault>,
    pub(crate) events: Vec<Event>,
    /// How long an access key is good for, from its first request on.
    pub(crate) credentials_seconds: Option<f64>,
    /// How long an index that is added to a table is being made.
    pub(crate) index_seconds: Option<f64>,
    /// How long a table that is deleted is DELETING.
    pub(crate) delete_seconds: Option<f64>,
    /// How far the endpoint's clock is ahead. Signatures older or newer than five minutes by that
    /// clock are refused, which happens only where this is not 0.
    pub(crate) clock_skew_seconds: i64,
}

/// What keeps the items.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Store {
    /// The embedded engine, in memory.
    #[default]
    Engine,
    /// A map of the items' JSON: much faster, and it answers only what a load and `verify` ask.
    Map,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Billing {
    Provisioned,
    OnDemand,
}

/// What answers to writes say of the units that these used. What is counted is always the truth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ReportedUnits {
    #[default]
    Truth,
    /// One unit a request, and nothing of indexes, as emulators do.
    One,
    Nothing,
    /// Ten times as much.
    Much,
}

/// Limits of write throughput, in write capacity units a second. What is not set has none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Limits {
    /// Of each table, without its global indexes.
    pub(crate) table_wcu: Option<f64>,
    /// Of each global index; an index that has none left throttles its table.
    pub(crate) index_wcu: Option<f64>,
    /// Of global indexes by name, before `index_wcu`.
    pub(crate) indexes: BTreeMap<String, f64>,
    /// Holds provisioned tables and indexes to what they were made with, where nothing is said above.
    pub(crate) declared: bool,
    /// Of each table with all its indexes.
    pub(crate) account_wcu: Option<f64>,
    /// Of each partition.
    pub(crate) partition_wcu: Option<f64>,
    /// Of each partition of an index; without it, `partition_wcu`.
    pub(crate) index_partition_wcu: Option<f64>,
    /// Over how many partitions the keys are spread by their hash; without it, each key is its own.
    pub(crate) partitions: Option<u32>,
    /// Splits a partition in two that has refused writes for so long without a pause.
    pub(crate) split_after_seconds: Option<f64>,
    /// How many seconds' units may be saved up. One second's are there at the beginning.
    pub(crate) burst_seconds: f64,
    /// What on-demand tables and indexes take at first.
    pub(crate) warm_up: Option<WarmUp>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            table_wcu: None,
            index_wcu: None,
            indexes: BTreeMap::new(),
            declared: false,
            account_wcu: None,
            partition_wcu: None,
            index_partition_wcu: None,
            partitions: None,
            split_after_seconds: None,
            burst_seconds: 1.0,
            warm_up: None,
        }
    }
}

/// A rate that doubles again and again, from the first write on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct WarmUp {
    pub(crate) start_wcu: f64,
    pub(crate) doubling_seconds: f64,
    pub(crate) most_wcu: f64,
}

impl Default for WarmUp {
    fn default() -> Self {
        Self {
            start_wcu: 4_000.0,
            doubling_seconds: 1_800.0,
            most_wcu: 40_000.0,
        }
    }
}

/// How long each answer of the data plane takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Latency {
    pub(crate) milliseconds: u64,
    /// Up to so many more, by chance.
    pub(crate) jitter_milliseconds: u64,
    /// So many more for each other request in flight.
    pub(crate) crowd_milliseconds: u64,
}

/// A fault, and which requests it strikes: all, where nothing is said.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Fault {
    #[serde(rename = "do")]
    pub(crate) kind: FaultKind,
    /// Only these operations; requests are counted among them.
    pub(crate) operations: Vec<String>,
    /// Of each request, between 0 and 1.
    pub(crate) chance: Option<f64>,
    /// Every so many requests.
    pub(crate) every: Option<u64>,
    /// Not the first so many requests.
    pub(crate) after: u64,
    /// Only the first so many requests, those before `after` among them.
    pub(crate) until: Option<u64>,
    /// At most so many times.
    pub(crate) most: Option<u64>,
    /// Does first what is asked, for the faults that can do both.
    pub(crate) applied: bool,
    /// How long: stalls and slow answers.
    pub(crate) seconds: Option<f64>,
    /// Which share of a batch is left unprocessed, between 0 and 1; half without it.
    pub(crate) share: Option<f64>,
    /// Another error code and status than the fault's own.
    pub(crate) code: Option<String>,
    pub(crate) status: Option<u16>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum FaultKind {
    /// 500 `InternalServerError`, or the `code` and `status` that are said.
    #[default]
    Error,
    /// 503 `ServiceUnavailable`.
    Unavailable,
    /// Done, and then the connection is reset.
    LostAnswer,
    /// The connection is reset.
    Reset,
    /// The connection is closed.
    HangUp,
    /// Silence for some seconds (an hour), and then the connection is closed.
    Stall,
    /// Done, and answered after some seconds (one).
    Slow,
    /// An answer that is no JSON.
    Garbage,
    /// Done, and the connection is closed in the middle of the answer.
    Half,
    /// A share of a batch is left unprocessed without any reason.
    Leave,
    /// `ThrottlingException` without reasons.
    Throttle,
    /// `RequestLimitExceeded`.
    RequestLimit,
    /// `ResourceNotFoundException`.
    NotFound,
    /// `AccessDeniedException`.
    AccessDenied,
}

/// What happens to a table once.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Event {
    /// After so many requests.
    pub(crate) after: u64,
    /// The table that is deleted, or whose index is.
    pub(crate) delete_table: String,
    /// Only this index.
    pub(crate) index: Option<String>,
}

impl Settings {
    /// Reads YAML, of which JSON is a part.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        if text.trim().is_empty() {
            return Ok(Self::default());
        }
        let node = yaml::parse(text).map_err(|fault| fault.message)?;
        let settings = serde_json::from_value(plain(&node));
        let settings: Self = settings.map_err(|error| error.to_string())?;
        settings.checked()
    }

    /// Refuses numbers that make no sense.
    pub(crate) fn checked(self) -> Result<Self, String> {
        let limits = &self.limits;
        let warm_up = limits.warm_up.unwrap_or_default();
        let rates = [limits.table_wcu, limits.index_wcu, limits.partition_wcu];
        let more = [
            limits.account_wcu,
            limits.index_partition_wcu,
            limits.split_after_seconds,
            self.credentials_seconds,
            self.index_seconds,
            self.delete_seconds,
            Some(limits.burst_seconds),
            Some(warm_up.start_wcu),
            Some(warm_up.doubling_seconds),
        ];
        let named = limits.indexes.values().copied();
        let mut all = rates.into_iter().chain(more).flatten().chain(named);
        if !all.all(|number| number.is_finite() && number > 0.0) {
            return Err("rates and seconds are positive numbers".to_owned());
        }
        let share = |number: f64| (0.0..=1.0).contains(&number);
        for fault in &self.faults {
            if !fault.chance.is_none_or(share) || !fault.share.is_none_or(share) {
                return Err("`chance` and `share` are numbers from 0 to 1".to_owned());
            }
            if fault.every == Some(0) {
                return Err("`every` is 1 or more".to_owned());
            }
            let seconds = fault.seconds.unwrap_or_default();
            if !(0.0..=1e6).contains(&seconds) {
                return Err("`seconds` is a number from 0 to a million".to_owned());
            }
        }
        Ok(self)
    }
}
