//! A case: an endpoint, a load, and what is expected.

use serde::Deserialize;

/// A case: what the endpoint grants, what is asked of it, and what is expected.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    #[expect(dead_code, reason = "for the reader")]
    pub(crate) about: String,
    #[serde(default)]
    pub(crate) seed: u64,
    pub(crate) seconds: f64,
    /// What happens before is not counted.
    #[serde(default)]
    pub(crate) settle: f64,
    #[serde(default)]
    pub(crate) gate: Limits,
    pub(crate) endpoint: Endpoint,
    #[serde(default)]
    pub(crate) load: Load,
    pub(crate) expect: Expect,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Limits {
    pub(crate) ceiling: Option<f64>,
    pub(crate) start: Option<f64>,
    pub(crate) most: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            ceiling: None,
            start: None,
            most: 32,
        }
    }
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Endpoint {
    pub(crate) latency_ms: f64,
    /// How much of the latency is chance: it is multiplied by up to e to this power, or divided.
    pub(crate) noise: f64,
    /// One in a hundred answers takes so many times as long.
    pub(crate) spikes: f64,
    /// Microseconds of the one processor that each request takes.
    pub(crate) processor_us: f64,
    /// Units a second from a time on; none: no limit.
    pub(crate) wcu: Vec<(f64, f64)>,
    /// Seconds' units that may be saved up; there is one at the begin.
    pub(crate) burst: Option<f64>,
    /// The same of each partition.
    pub(crate) partition_wcu: Vec<(f64, f64)>,
    /// Units that an item takes for each that was estimated: items of this share of all.
    pub(crate) dearer: Vec<(f64, f64)>,
    /// The share of requests that fail, whose items were taken or not.
    pub(crate) failures: f64,
    /// The share of items that are left unprocessed for no reason.
    pub(crate) left: f64,
    /// The share of requests that are throttled whole for no reason.
    pub(crate) throttled: f64,
}

impl Case {
    /// The units that a limit grants after settling, in steps each with the time from which it holds.
    pub(crate) fn granted(&self, steps: &[(f64, f64)]) -> f64 {
        let mut granted = 0.0;
        for (at, (from, wcu)) in steps.iter().enumerate() {
            let to = steps.get(at + 1).map_or(self.seconds, |(next, _)| *next);
            granted += (to.min(self.seconds) - from.max(self.settle)).max(0.0) * wcu;
        }
        granted
    }
}

impl Endpoint {
    /// The step of a limit that holds at a time.
    pub(crate) fn at(steps: &[(f64, f64)], now: f64) -> Option<f64> {
        let mut begun = steps.iter().rev().filter(|(from, _)| *from <= now);
        begun.next().map(|(_, wcu)| *wcu)
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Load {
    /// Units of an item, one or the other by chance.
    pub(crate) units: Vec<f64>,
    pub(crate) partitions: u64,
    /// The share of items in one partition.
    pub(crate) hot: f64,
    /// Units a second that the source gives.
    pub(crate) offered: Option<f64>,
}

impl Default for Load {
    fn default() -> Self {
        Self {
            units: vec![1.0],
            partitions: 100_000,
            hot: 0.0,
            offered: None,
        }
    }
}

/// Bounds, inclusive.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Expect {
    /// Accepted of the granted units, at least.
    pub(crate) accepted: Option<f64>,
    /// Refused units for each accepted, at most.
    pub(crate) refused: Option<f64>,
    /// Requests of which anything was refused, of all requests, at most.
    pub(crate) requests: Option<f64>,
    /// Used of the ceiling, at least.
    pub(crate) used: Option<f64>,
    /// Items a second, of 25 for each request in flight and latency, at least.
    pub(crate) speed: Option<f64>,
    /// Requests a second, of what the endpoint's processor can do, at least.
    pub(crate) busy: Option<f64>,
    /// Units accepted of partitions that are not hot, of those offered, at least.
    pub(crate) cold: Option<f64>,
    /// Units accepted of the hot partition, of what it takes, at least.
    pub(crate) hot: Option<f64>,
    /// Answers while a partition was thought to be hot, at most.
    pub(crate) heated: Option<f64>,
}
