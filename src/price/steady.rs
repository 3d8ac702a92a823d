//! What a steady load costs a month, on demand and provisioned.

use serde::Serialize;

use super::Prices;

/// Hours of a month, as AWS bills them in its examples: thirty days.
const HOURS: f64 = 720.0;

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
    let all: f64 = units_per_second.iter().sum();
    let whole: f64 = units_per_second.iter().map(|units| units.ceil()).sum();
    let on_demand_usd = prices.writes(all * HOURS * 3600.0);
    let provisioned_usd = whole * HOURS * prices.usd.usd_per_write_unit_hour;
    Steady {
        units_per_second: all,
        on_demand_usd,
        provisioned_usd,
        on_demand_below: if on_demand_usd > 0.0 {
            (provisioned_usd / on_demand_usd).min(1.0)
        } else {
            1.0
        },
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
        assert!(steady(&[], &prices).on_demand_usd.abs() < 1e-12);
    }
}
