//! What a steady load costs a month, on demand and provisioned.

use serde::Serialize;

use super::Prices;

/// Hours of a month, as AWS bills them in its examples: thirty days.
const HOURS: f64 = 720.0;

/// Units a second of the table or of an index.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Rates {
    /// Read units.
    pub reads: f64,
    /// Write units.
    pub writes: f64,
}

/// US dollars a month for rates that are used all the time.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Monthly {
    /// On demand.
    pub on_demand_usd: f64,
    /// For provisioned capacity that takes them, in whole units.
    pub provisioned_usd: f64,
}

impl Monthly {
    /// The mean load, as a share of the rates, below which on demand is cheaper: 0 to 1.
    #[must_use]
    pub fn on_demand_below(&self) -> f64 {
        if self.on_demand_usd > 0.0 {
            (self.provisioned_usd / self.on_demand_usd).min(1.0)
        } else {
            1.0
        }
    }
}

/// What rates cost that are used all the time.
#[must_use]
pub fn monthly(rates: Rates, prices: &Prices) -> Monthly {
    let (reads, writes) = (rates.reads, rates.writes);
    let seconds = HOURS * 3600.0;
    let provisioned_hour = whole(reads) * prices.usd.usd_per_read_unit_hour
        + whole(writes) * prices.usd.usd_per_write_unit_hour;
    Monthly {
        on_demand_usd: prices.reads(reads * seconds) + prices.writes(writes * seconds),
        provisioned_usd: provisioned_hour * HOURS,
    }
}

/// Whole units that take a rate. What a rate has beyond them by rounding is no unit.
fn whole(units: f64) -> f64 {
    (units * (1.0 - 1e-9)).ceil()
}

/// What a steady load costs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Steady {
    /// Write units a second, those of the indexes included.
    pub units_per_second: f64,
    /// US dollars a month on demand, at this rate all the time.
    pub on_demand_usd: f64,
    /// US dollars a month for provisioned capacity that takes this rate.
    pub provisioned_usd: f64,
    /// The mean load, as a share of this rate, below which on demand is cheaper: 0 to 1.
    pub on_demand_below: f64,
}

/// The costs of a steady load, given the write units a second of the table and each index.
#[must_use]
pub fn steady(units_per_second: &[f64], prices: &Prices) -> Steady {
    let each = units_per_second.iter().map(|writes| Rates {
        reads: 0.0,
        writes: *writes,
    });
    let mut all = Monthly::default();
    for cost in each.map(|rates| monthly(rates, prices)) {
        all.on_demand_usd += cost.on_demand_usd;
        all.provisioned_usd += cost.provisioned_usd;
    }
    Steady {
        units_per_second: units_per_second.iter().sum(),
        on_demand_usd: all.on_demand_usd,
        provisioned_usd: all.provisioned_usd,
        on_demand_below: all.on_demand_below(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_held_for_a_month_is_2_592_000_writes() {
        let file = include_str!("../cli/prices.json");
        let prices = Prices::read(file, None).unwrap();
        let one = steady(&[1.0], &prices);
        assert!((one.on_demand_usd - 2.592 * 0.625).abs() < 1e-9);
        assert!((one.provisioned_usd - 720.0 * 0.00065).abs() < 1e-9);
        assert!((one.on_demand_below - 0.2889).abs() < 1e-3);
        // Each of the table and its indexes is provisioned in whole units.
        let halves = steady(&[0.5, 0.5], &prices);
        assert!((halves.provisioned_usd - 2.0 * one.provisioned_usd).abs() < 1e-9);
        // What is a whole number but for rounding takes no unit more.
        let almost = steady(&[1.000_000_000_1], &prices);
        assert!((almost.provisioned_usd - one.provisioned_usd).abs() < 1e-9);
        let more = steady(&[1.000_1], &prices);
        assert!((more.provisioned_usd - 2.0 * one.provisioned_usd).abs() < 1e-9);
        assert!(steady(&[], &prices).on_demand_usd.abs() < 1e-12);
    }

    #[test]
    fn a_read_unit_held_for_a_month_is_as_many_reads() {
        let prices = Prices::read(include_str!("../cli/prices.json"), Some("ap-northeast-2"));
        let rates = Rates {
            reads: 1.0,
            writes: 0.0,
        };
        let one = monthly(rates, &prices.unwrap());
        // 2.592 million at 0.1355, against 720 hours at 0.00014098.
        assert!((one.on_demand_usd - 0.351_216).abs() < 1e-9);
        assert!((one.provisioned_usd - 0.101_505_6).abs() < 1e-9);
    }
}
