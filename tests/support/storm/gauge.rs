//! What a table, or one of its global indexes, takes: as a whole, and in each partition.

use std::time::Duration;

use serde_json::{Value, json};

use super::bucket::Bucket;
use super::parts::{Load, Parts};
use super::schema::{IndexSchema, Schema};
use super::settings::{Limits, WarmUp};

/// Why a write was refused, as the exceptions tell it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Reason {
    pub(crate) reason: String,
    /// The ARN of the table or the index.
    pub(crate) resource: String,
}

impl Reason {
    pub(crate) fn json(&self) -> Value {
        json!({ "reason": self.reason, "resource": self.resource })
    }
}

/// The limits of one table or one index.
#[derive(Debug)]
pub(crate) struct Gauge {
    what: &'static str,
    arn: String,
    on_demand: bool,
    ceiling: Option<Bucket>,
    warm_up: Option<Warm>,
    pub(crate) parts: Option<Parts>,
}

#[derive(Debug)]
struct Warm {
    how: WarmUp,
    begun: Option<Duration>,
    bucket: Bucket,
}

impl Gauge {
    pub(crate) fn of_table(
        limits: &Limits,
        schema: &Schema,
        on_demand: bool,
        now: Duration,
    ) -> Self {
        let declared = schema
            .declared_wcu
            .filter(|_| limits.declared && !on_demand);
        let wcu = limits.table_wcu.or(declared);
        Self {
            what: "Table",
            arn: schema.arn.clone(),
            on_demand,
            ceiling: wcu.map(|wcu| Bucket::new(wcu, limits.burst_seconds, now)),
            warm_up: Warm::new(limits, on_demand, now),
            parts: Parts::new(limits, limits.partition_wcu, now),
        }
    }

    pub(crate) fn of_index(
        limits: &Limits,
        schema: &Schema,
        index: &IndexSchema,
        on_demand: bool,
        now: Duration,
    ) -> Self {
        let declared = index.declared_wcu.filter(|_| limits.declared && !on_demand);
        let named = limits.indexes.get(&index.name).copied();
        let wcu = named.or(limits.index_wcu).or(declared);
        let partition = limits.index_partition_wcu.or(limits.partition_wcu);
        Self {
            what: "Index",
            arn: format!("{}/index/{}", schema.arn, index.name),
            on_demand,
            ceiling: wcu.map(|wcu| Bucket::new(wcu, limits.burst_seconds, now)),
            warm_up: Warm::new(limits, on_demand, now),
            parts: Parts::new(limits, partition, now),
        }
    }

    /// Adds why these loads cannot be taken together; nothing where they can.
    pub(crate) fn refusals(&mut self, now: Duration, loads: &[Load<'_>], out: &mut Vec<Reason>) {
        let units = loads.iter().map(|load| load.units).sum();
        let mut refuse = |limit: &str| {
            let reason = format!("{}Write{limit}ThroughputExceeded", self.what);
            let resource = self.arn.clone();
            out.push(Reason { reason, resource });
        };
        if self
            .ceiling
            .as_mut()
            .is_some_and(|bucket| !bucket.has(now, units))
        {
            refuse(if self.on_demand {
                "MaxOnDemand"
            } else {
                "Provisioned"
            });
        }
        // DynamoDB tells a table that has yet to grow by its partitions.
        let cold = self
            .warm_up
            .as_mut()
            .is_some_and(|warm| !warm.has(now, units));
        let mut hot = false;
        if let Some(parts) = &mut self.parts {
            for load in loads {
                if !parts.has(now, load) {
                    parts.refused(now, load);
                    hot = true;
                }
            }
        }
        if cold || hot {
            refuse("KeyRange");
        }
    }

    /// Takes what was not refused.
    pub(crate) fn take(&mut self, now: Duration, loads: &[Load<'_>]) {
        for load in loads {
            if let Some(bucket) = &mut self.ceiling {
                bucket.take(load.units);
            }
            if let Some(warm) = &mut self.warm_up {
                warm.bucket.take(load.units);
            }
            if let Some(parts) = &mut self.parts {
                parts.take(now, load);
            }
        }
    }
}

impl Warm {
    fn new(limits: &Limits, on_demand: bool, now: Duration) -> Option<Self> {
        let how = limits.warm_up.filter(|_| on_demand)?;
        Some(Self {
            how,
            begun: None,
            bucket: Bucket::new(how.start_wcu, limits.burst_seconds, now),
        })
    }

    fn has(&mut self, now: Duration, units: f64) -> bool {
        let begun = *self.begun.get_or_insert(now);
        let periods = now.saturating_sub(begun).as_secs_f64() / self.how.doubling_seconds;
        let rate = self.how.start_wcu * periods.floor().min(64.0).exp2();
        self.bucket.set_rate(now, rate.min(self.how.most_wcu));
        self.bucket.has(now, units)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cold_table_doubles_what_it_takes_from_its_first_write_on() {
        let limits = Limits {
            warm_up: Some(WarmUp {
                start_wcu: 100.0,
                doubling_seconds: 10.0,
                most_wcu: 300.0,
            }),
            ..Limits::default()
        };
        let mut warm = Warm::new(&limits, true, Duration::ZERO).unwrap();
        let mut granted = Vec::new();
        for period in 0..4 {
            let mut units = 0.0;
            for millisecond in 0..10_000 {
                let now = Duration::from_millis(50_000 + period * 10_000 + millisecond);
                if warm.has(now, 1.0) {
                    warm.bucket.take(1.0);
                    units += 1.0;
                }
            }
            granted.push(units);
        }
        for (units, wanted) in granted.iter().zip([1_100.0, 2_000.0, 3_000.0, 3_000.0]) {
            assert!((units / wanted - 1.0_f64).abs() < 0.02, "{granted:?}");
        }
        assert!(Warm::new(&limits, false, Duration::ZERO).is_none());
    }
}
