//! What a steady load costs a month, on demand and provisioned.

use serde::Serialize;

use super::Prices;

/// Thirty days, as in AWS's own examples.
const HOURS_PER_MONTH: f64 = 720.0;

/// Units a second of the table or of an index.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Rates {
    /// Read units.
    pub reads: f64,
    /// Write units.
    pub writes: f64,
}

/// US dollars a month for rates that are used to the full all the time.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Monthly {
    /// On demand; `None` where the prices do not say it.
    pub on_demand_usd: Option<f64>,
    /// For provisioned capacity that takes them, in whole units.
    pub provisioned_usd: Option<f64>,
}

impl Monthly {
    /// The mean load, as a share of the rates, below which on demand is cheaper: 0 to 1.
    pub fn on_demand_below(&self) -> Option<f64> {
        let (on_demand, provisioned) = (self.on_demand_usd?, self.provisioned_usd?);
        Some(if on_demand > 0.0 {
            (provisioned / on_demand).min(1.0)
        } else {
            1.0
        })
    }

    /// What all cost together; `None` where one of them has no price.
    pub fn sum(costs: impl Iterator<Item = Self> + Clone) -> Self {
        Self {
            on_demand_usd: costs.clone().map(|cost| cost.on_demand_usd).sum(),
            provisioned_usd: costs.map(|cost| cost.provisioned_usd).sum(),
        }
    }
}

/// The cost of a table or an index whose rates are used to the full all the time.
pub fn monthly(rates: Rates, prices: &Prices) -> Monthly {
    let (reads, writes) = (rates.reads, rates.writes);
    let seconds = HOURS_PER_MONTH * 3600.0;
    let both = |reads: Option<f64>, writes: Option<f64>| Some(reads? + writes?);
    let provisioned =
        |units: f64, hourly: Option<f64>| Some(whole(units) * hourly? * HOURS_PER_MONTH);
    Monthly {
        on_demand_usd: both(
            prices.reads(reads * seconds),
            prices.writes(writes * seconds),
        ),
        provisioned_usd: both(
            provisioned(reads, prices.usd.usd_per_read_unit_hour),
            provisioned(writes, prices.usd.usd_per_write_unit_hour),
        ),
    }
}

/// The fewest whole units that take a rate. A rounding error in the rate adds no unit.
fn whole(units: f64) -> f64 {
    (units * (1.0 - 1e-9)).ceil()
}

/// The cost of writes at a rate that does not change.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SteadyCost {
    /// Write units a second, those of the indexes included.
    pub units_per_second: f64,
    /// US dollars a month, on demand at this rate all the time, and for provisioned capacity that
    /// takes this rate.
    #[serde(flatten)]
    pub cost: Monthly,
    /// The mean load, as a share of this rate, below which on demand is cheaper: 0 to 1.
    pub on_demand_below: Option<f64>,
}

/// The cost of steady writes, given the write units a second of the table and of each index.
pub fn steady(units_per_second: &[f64], prices: &Prices) -> SteadyCost {
    let each = units_per_second.iter().map(|writes| Rates {
        reads: 0.0,
        writes: *writes,
    });
    let cost = Monthly::sum(each.map(|rates| monthly(rates, prices)));
    SteadyCost {
        units_per_second: units_per_second.iter().sum(),
        cost,
        on_demand_below: cost.on_demand_below(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_held_for_a_month_is_2_592_000_writes() {
        let file = include_str!("prices.json");
        let prices = Prices::read(file, None).unwrap();
        let near = |found: Option<f64>, wanted: f64| (found.unwrap() - wanted).abs() < 1e-9;
        let one = steady(&[1.0], &prices);
        assert!(near(one.cost.on_demand_usd, 2.592 * 0.625));
        assert!(near(one.cost.provisioned_usd, 720.0 * 0.00065));
        assert!((one.on_demand_below.unwrap() - 0.2889).abs() < 1e-3);
        let unit = one.cost.provisioned_usd.unwrap();
        // Each of the table and its indexes is provisioned in whole units.
        let halves = steady(&[0.5, 0.5], &prices);
        assert!(near(halves.cost.provisioned_usd, 2.0 * unit));
        // What is a whole number but for rounding takes no unit more.
        let almost = steady(&[1.000_000_000_1], &prices);
        assert!(near(almost.cost.provisioned_usd, unit));
        let more = steady(&[1.000_1], &prices);
        assert!(near(more.cost.provisioned_usd, 2.0 * unit));
        assert!(near(steady(&[], &prices).cost.on_demand_usd, 0.0));
    }

    #[test]
    fn a_read_unit_held_for_a_month_is_as_many_reads() {
        let prices = Prices::read(include_str!("prices.json"), Some("ap-northeast-2"));
        let rates = Rates {
            reads: 1.0,
            writes: 0.0,
        };
        let one = monthly(rates, &prices.unwrap());
        // 2.592 million at 0.1355, against 720 hours at 0.00014098.
        assert!((one.on_demand_usd.unwrap() - 0.351_216).abs() < 1e-9);
        assert!((one.provisioned_usd.unwrap() - 0.101_505_6).abs() < 1e-9);
    }
}
